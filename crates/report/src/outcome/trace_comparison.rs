//! Two traces side by side.

use super::render::{Render, Section};
use crate::terminal::Style;
use crate::trace;
use ioscape_schema::TraceComparison;

impl Render for TraceComparison {
    fn kind(&self) -> &'static str {
        "comparison of traces"
    }

    fn subject(&self) -> Option<String> {
        let [first, second] = &self.traces;
        Some(format!("{} and {}", first.name, second.name))
    }

    fn text(&self, style: &Style) -> String {
        trace::comparison_text(self, style)
    }

    fn sections(&self) -> Vec<Section> {
        trace::comparison_sections(self)
    }
}
