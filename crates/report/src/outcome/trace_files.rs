//! Traces that were imported, exported or recorded.

use super::render::{Render, Section};
use crate::terminal::{Style, trace_files as terminal};
use crate::text::listed;
use ioscape_schema::TraceFile;

impl Render for Vec<TraceFile> {
    fn kind(&self) -> &'static str {
        "trace files"
    }

    fn subject(&self) -> Option<String> {
        (!self.is_empty()).then(|| listed(self.iter().map(|file| file.path.as_str())))
    }

    fn text(&self, style: &Style) -> String {
        terminal::text(self, style)
    }

    fn sections(&self) -> Vec<Section> {
        Vec::new()
    }
}
