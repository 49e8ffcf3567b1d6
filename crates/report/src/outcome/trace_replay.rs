//! A trace that was replayed.

use super::render::{Render, Section};
use crate::html::replay as html;
use crate::terminal::{Style, replay as terminal};
use ioscape_schema::TraceReplay;

impl Render for TraceReplay {
    fn kind(&self) -> &'static str {
        "replay"
    }

    fn subject(&self) -> Option<String> {
        Some(format!("{} on {}", self.trace, self.target))
    }

    fn text(&self, style: &Style) -> String {
        terminal::text(self, style)
    }

    fn sections(&self) -> Vec<Section> {
        vec![Section::new("replay", "Replay", html::section(self))]
    }
}
