//! A simulation of disks.

use super::render::{Render, Section};
use crate::csv;
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

    fn csv(&self) -> Option<String> {
        Some(csv::simulation::cells(self))
    }

    fn sections(&self) -> Vec<Section> {
        vec![Section::new("simulation", "Simulation", html::section(self))]
    }
}
