//! The operating-system micro-benchmarks.

use super::render::{PlacedWarning, Render, Section};
use crate::csv::os as csv;
use crate::html::os as html;
use crate::os::{case, figure1};
use crate::plot::Chart;
use crate::terminal::{Style, os as terminal};
use ioscape_schema::OsResults;

impl Render for OsResults {
    fn kind(&self) -> &'static str {
        "operating-system benchmarks"
    }

    fn subject(&self) -> Option<String> {
        Some("operating system against processor".to_owned())
    }

    fn text(&self, style: &Style) -> String {
        terminal::text(self, style)
    }

    fn sections(&self) -> Vec<Section> {
        vec![
            Section::new("os", "Operating system", html::summary(self)),
            Section::new("benchmarks", "Benchmarks", html::benchmarks(self)),
            Section::new("of-1990", "Tables of 1990", html::of_1990(self)),
        ]
    }

    fn csv(&self) -> Option<String> {
        Some(csv::results(self))
    }

    fn chart(&self, _: crate::quantity::Quantity) -> Option<Chart> {
        figure1(self)
    }

    fn warnings(&self) -> Vec<PlacedWarning<'_>> {
        let mut all = Vec::new();
        for one in &self.benchmarks {
            let place = format!("{} {}", one.name, case(one));
            all.extend(one.warnings.iter().map(|warning| (place.clone(), warning)));
        }
        all
    }
}
