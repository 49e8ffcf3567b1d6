//! What a machine allows.

use super::render::{Render, Section};
use crate::html::tables::table;
use crate::terminal::{Style, doctor as terminal};
use ioscape_schema::Doctor;

impl Render for Doctor {
    fn kind(&self) -> &'static str {
        "what the machine allows"
    }

    fn subject(&self) -> Option<String> {
        Some(self.directory.clone())
    }

    fn text(&self, style: &Style) -> String {
        terminal::text(self, style)
    }

    fn sections(&self) -> Vec<Section> {
        let rows = self.checks.iter().map(|check| {
            let advice = check.advice.clone().unwrap_or_default();
            let state = check.state.word().to_owned();
            vec![check.name.clone(), state, check.found.clone(), check.needed_for.clone(), advice]
        });
        let head = ["Ability", "State", "Found", "Needed for", "What to do"];
        vec![Section::new(
            "checks",
            "Checks",
            format!("<h2>Checks</h2>{}", table("words side", &head, rows)),
        )]
    }
}
