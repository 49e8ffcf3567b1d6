//! Outcome of single runs: their measurements.

use super::render::{PlacedWarning, Render, Section};
use crate::terminal::{Style, tables};
use crate::text::{mix, run_name};
use crate::{csv, html};
use ioscape_schema::Measurement;

impl Render for Vec<Measurement> {
    fn kind(&self) -> &'static str {
        "runs"
    }

    fn subject(&self) -> Option<String> {
        Some(match &self[..] {
            [only] => mix(&only.workload),
            all => format!("{} runs", all.len()),
        })
    }

    fn text(&self, style: &Style) -> String {
        if self.is_empty() {
            return String::new();
        }
        format!("\n{}", tables::runs(self, style))
    }

    fn sections(&self) -> Vec<Section> {
        vec![Section::new("runs", "Runs", html::sections::runs(self))]
    }

    fn csv(&self) -> Option<String> {
        Some(csv::points::measurements(self))
    }

    fn warnings(&self) -> Vec<PlacedWarning<'_>> {
        let mut all = Vec::new();
        for (index, run) in self.iter().enumerate() {
            let place = format!("run {}", run_name(index + 1, run));
            all.extend(run.warnings.iter().map(|warning| (place.clone(), warning)));
        }
        all
    }
}
