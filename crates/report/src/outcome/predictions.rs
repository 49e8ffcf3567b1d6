//! The predicted performance of workloads that were not measured.

use super::render::{Render, Section};
use crate::terminal::{Style, models as terminal};
use crate::text::listed;
use crate::{csv::models as csv, html::models as html};
use ioscape_schema::Prediction;

impl Render for Vec<Prediction> {
    fn kind(&self) -> &'static str {
        "predictions"
    }

    fn subject(&self) -> Option<String> {
        let systems = listed(self.iter().map(|one| one.system.as_str()));
        Some(format!("predictions for {systems}"))
    }

    fn text(&self, style: &Style) -> String {
        terminal::predictions(self, style)
    }

    fn sections(&self) -> Vec<Section> {
        vec![Section::new("predictions", "Predictions", html::predictions(self))]
    }

    fn csv(&self) -> Option<String> {
        Some(csv::predictions(self))
    }
}
