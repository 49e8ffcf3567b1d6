//! Runs of `vxbench`, in the terms of its white paper.

use super::render::{Render, Section};
use crate::csv;
use crate::html::vxbench as html;
use crate::terminal::{Style, vxbench as terminal};
use ioscape_schema::Vxbench;

impl Render for Vxbench {
    fn kind(&self) -> &'static str {
        "vxbench"
    }

    fn subject(&self) -> Option<String> {
        Some(match self.runs.first() {
            Some(run) => format!("vxbench {}", run.job.workload),
            None => "concurrent writers".to_owned(),
        })
    }

    fn text(&self, style: &Style) -> String {
        terminal::text(self, style)
    }

    fn is_titled(&self) -> bool {
        false
    }

    fn csv(&self) -> Option<String> {
        Some(csv::vxbench::files(self))
    }

    fn sections(&self) -> Vec<Section> {
        vec![Section::new("vxbench", "vxbench", html::vxbench(self))]
    }
}
