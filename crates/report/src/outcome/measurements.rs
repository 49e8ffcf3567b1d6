//! The measurements of single runs.

use super::render::{PlacedWarning, Render, Section};
use crate::terminal::{Style, tables};
use crate::text::{described, run_name};
use crate::{clients, csv, html, sustained, verify};
use ioscape_schema::Measurement;

/// Words that identify one of several runs; empty for a single run.
fn which(all: &[Measurement], run: &Measurement, number: usize) -> String {
    if all.len() == 1 { String::new() } else { format!(" of run {}", run_name(number, run)) }
}

impl Render for Vec<Measurement> {
    fn kind(&self) -> &'static str {
        "runs"
    }

    fn subject(&self) -> Option<String> {
        Some(match &self[..] {
            [only] => described(&only.workload),
            all => format!("{} runs", all.len()),
        })
    }

    fn text(&self, style: &Style) -> String {
        if self.is_empty() {
            return String::new();
        }
        let told = self.iter().zip(1..).map(|(run, n)| {
            let name = which(self, run, n);
            clients::text(run.clients.as_ref(), &name, style)
                + &verify::text(run.verify.as_ref(), &name, style)
                + &sustained::text(run, &name, style)
        });
        format!("\n{}{}", tables::runs(self, style), told.collect::<String>())
    }

    fn sections(&self) -> Vec<Section> {
        let told = self.iter().zip(1..).map(|(run, n)| {
            let name = which(self, run, n);
            clients::html(run.clients.as_ref(), &name)
                + &verify::html(run.verify.as_ref(), &name)
                + &sustained::html(run, &name, n)
        });
        vec![Section::new("runs", "Runs", html::sections::runs(self) + &told.collect::<String>())]
    }

    fn csv(&self) -> Option<String> {
        Some(csv::points::measurements(self))
    }

    fn warnings(&self) -> Vec<PlacedWarning<'_>> {
        let mut all = Vec::new();
        for (index, run) in self.iter().enumerate() {
            let place = match run_name(index + 1, run) {
                // A workload given by options alone.
                name if name == "run" => name,
                name => format!("run {name}"),
            };
            all.extend(run.warnings.iter().map(|warning| (place.clone(), warning)));
        }
        all
    }
}
