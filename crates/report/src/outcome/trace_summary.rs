//! What a block trace holds.

use super::render::{Render, Section};
use crate::terminal::Style;
use crate::trace;
use ioscape_schema::TraceSummary;

impl Render for TraceSummary {
    fn kind(&self) -> &'static str {
        "trace"
    }

    fn subject(&self) -> Option<String> {
        Some(self.name.clone())
    }

    fn text(&self, style: &Style) -> String {
        trace::text(self, style)
    }

    fn sections(&self) -> Vec<Section> {
        trace::sections(self)
    }
}
