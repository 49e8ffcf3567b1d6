//! A block trace as workloads of five parameters.

use super::render::{Render, Section};
use crate::terminal::Style;
use crate::trace;
use ioscape_schema::TraceCharacterization;

impl Render for TraceCharacterization {
    fn kind(&self) -> &'static str {
        "trace as workloads"
    }

    fn subject(&self) -> Option<String> {
        Some(self.name.clone())
    }

    fn text(&self, style: &Style) -> String {
        trace::workloads_text(self, style)
    }

    fn sections(&self) -> Vec<Section> {
        vec![Section::new("workloads", "Workloads", trace::workloads(self))]
    }
}
