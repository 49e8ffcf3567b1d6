//! A self-scaling evaluation.

use super::render::{Render, Section};
use crate::html::{findings, sections, tables};
use crate::plot::Chart;
use crate::quantity::Quantity;
use crate::terminal::{self, Style};
use crate::{csv, figures};
use ioscape_schema::Evaluation;
use ioscape_schema::units::Seconds;

impl Render for Evaluation {
    fn kind(&self) -> &'static str {
        "self-scaling evaluation"
    }

    fn subject(&self) -> Option<String> {
        (!self.target.is_empty()).then(|| self.target.clone())
    }

    fn fact(&self) -> Option<String> {
        Some(format!("{} points in {}", self.points_measured, Seconds(self.elapsed_s)))
    }

    fn text(&self, style: &Style) -> String {
        terminal::evaluation::text(self, style)
    }

    fn sections(&self) -> Vec<Section> {
        vec![
            Section::new("findings", "Findings", findings::findings(self)),
            Section::new("landscape", "Landscape", sections::landscape(self)),
            Section::new("regions", "Regions", sections::regions(self)),
            Section::new("mix", "Reads and writes", sections::reads_and_writes(self)),
            Section::new("well", "Where it performs well", sections::well(self)),
            Section::new("drift", "Steadiness", sections::drift(self)),
        ]
    }

    fn appendix(&self) -> Vec<Section> {
        vec![
            Section::new("points", "All points", tables::points(self)),
            Section::new("how", "How to read it", tables::how()),
        ]
    }

    fn csv(&self) -> Option<String> {
        Some(csv::points::evaluation(self))
    }

    fn chart(&self, quantity: Quantity) -> Option<Chart> {
        Some(figures::landscape(self, quantity))
    }
}
