//! Systems compared on the same workloads, and the cheapest that is fast enough.

use super::render::{Render, Section};
use crate::html::measured as html_measured;
use crate::terminal::{Style, measured, models as terminal};
use crate::text::listed;
use crate::{csv::models as csv, html::models as html};
use ioscape_schema::SystemComparison;

impl Render for SystemComparison {
    fn kind(&self) -> &'static str {
        "comparison"
    }

    fn subject(&self) -> Option<String> {
        let predicted = self.comparison.iter().map(|one| &one.systems);
        let all: Vec<_> = predicted.chain(self.measured.iter().map(|one| &one.systems)).collect();
        let base = &all.first()?[1];
        let mut systems: Vec<&str> = all.iter().map(|pair| pair[0].as_str()).collect();
        systems.sort_unstable();
        Some(format!("{} against {base}", listed(systems.into_iter())))
    }

    fn text(&self, style: &Style) -> String {
        terminal::comparison(&self.comparison, style)
            + &terminal::cheapest(&self.cheapest, style)
            + &measured::text(&self.measured, style)
    }

    fn sections(&self) -> Vec<Section> {
        vec![
            Section::new("comparison", "Comparison", html::comparison(&self.comparison)),
            Section::new("cheapest", "Cheapest", html::cheapest(&self.cheapest)),
            Section::new("measured", "Measured", html_measured::section(&self.measured)),
        ]
    }

    fn csv(&self) -> Option<String> {
        Some(match (&self.comparison[..], &self.measured[..]) {
            (all, []) => csv::comparison(all),
            ([], measured) => csv::measured(measured),
            (all, measured) => csv::predicted_and_measured(all, measured),
        })
    }
}
