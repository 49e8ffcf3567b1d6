//! An application as the calls it made.

use super::render::{Render, Section};
use crate::html::characterization as html;
use crate::terminal::{Style, characterization as terminal};
use crate::text::command;
use ioscape_schema::Characterization;

impl Render for Characterization {
    fn kind(&self) -> &'static str {
        "characterization"
    }

    fn subject(&self) -> Option<String> {
        Some(format!("the I/O of {}", command(&self.command)))
    }

    fn text(&self, style: &Style) -> String {
        terminal::text(self, style)
    }

    fn sections(&self) -> Vec<Section> {
        vec![Section::new("application", "Application", html::section(self))]
    }
}
