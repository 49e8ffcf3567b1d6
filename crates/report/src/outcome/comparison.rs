//! Systems compared on the same workloads, and the cheapest that is fast enough.

use super::render::{Render, Section};
use crate::terminal::{Style, models as terminal};
use crate::text::listed;
use crate::{csv::models as csv, html::models as html};
use ioscape_schema::SystemComparison;

impl Render for SystemComparison {
    fn kind(&self) -> &'static str {
        "comparison"
    }

    fn subject(&self) -> Option<String> {
        let base = &self.comparison.first()?.systems[1];
        let systems = listed(self.comparison.iter().map(|one| one.systems[0].as_str()));
        Some(format!("{systems} against {base}"))
    }

    fn text(&self, style: &Style) -> String {
        terminal::comparison(&self.comparison, style) + &terminal::cheapest(&self.cheapest, style)
    }

    fn sections(&self) -> Vec<Section> {
        vec![
            Section::new("comparison", "Comparison", html::comparison(&self.comparison)),
            Section::new("cheapest", "Cheapest", html::cheapest(&self.cheapest)),
        ]
    }

    fn csv(&self) -> Option<String> {
        Some(csv::comparison(&self.comparison))
    }
}
