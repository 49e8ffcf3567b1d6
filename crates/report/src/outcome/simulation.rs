//! A simulation of disks.

use super::render::{Render, Section};
use crate::html::simulation as html;
use crate::terminal::{Style, simulation as terminal};
use ioscape_schema::Simulation;

impl Render for Simulation {
    fn kind(&self) -> &'static str {
        "simulation"
    }

    fn subject(&self) -> Option<String> {
        Some(format!("{} on {}", self.trace, self.drive))
    }

    fn text(&self, style: &Style) -> String {
        terminal::text(self, style)
    }

    fn sections(&self) -> Vec<Section> {
        vec![Section::new("simulation", "Simulation", html::section(self))]
    }
}
