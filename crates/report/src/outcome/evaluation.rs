//! A self-scaling evaluation.

use super::render::{Render, Section};
use crate::clients::measured::number;
use crate::html::section::nested;
use crate::html::{clients, findings, joint, sections, tables};
use crate::overlay::EvaluatedSystem;
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
        let points: u32 = self.each_access().map(|one| one.points_measured).sum();
        let elapsed_s = self.each_access().map(|one| one.elapsed_s).sum();
        let clients = number(self).map(|number| format!(", {number} clients"));
        Some(format!("{points} points in {}{}", Seconds(elapsed_s), clients.unwrap_or_default()))
    }

    fn text(&self, style: &Style) -> String {
        if self.other_accesses.is_empty() {
            return terminal::evaluation::text(self, style);
        }
        let one = |one: &Self| {
            let heading = style.long_heading(&format!("Access {}", one.way()));
            format!("\n{heading}\n{}", terminal::evaluation::text(one, style))
        };
        self.each_access().map(one).collect()
    }

    fn sections(&self) -> Vec<Section> {
        let mut all = vec![Section::new("accesses", "Accesses", accesses(self))];
        all.extend(of_one(self));
        all.extend((2..).zip(&self.other_accesses).map(further));
        all
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

/// The sections of one access.
fn of_one(evaluation: &Evaluation) -> Vec<Section> {
    vec![
        Section::new("findings", "Findings", findings::findings(evaluation)),
        Section::new("landscape", "Landscape", sections::landscape(evaluation)),
        Section::new("regions", "Regions", sections::regions(evaluation)),
        Section::new("clients", "Clients", clients::section(evaluation)),
        Section::new("mix", "Reads and writes", sections::reads_and_writes(evaluation)),
        Section::new("well", "Where it performs well", sections::well(evaluation)),
        Section::new("drift", "Steadiness", sections::drift(evaluation)),
    ]
}

/// The sections of an access other than the first, merged into one under its name; counts from 1.
fn further((number, evaluation): (usize, &Evaluation)) -> Section {
    let (id, name) = (format!("access-{number}"), format!("Access {}", evaluation.way()));
    let all = nested(&of_one(evaluation), &format!("{id}-"));
    let body = format!(r#"<div class="result"><h2>{name}</h2>{all}</div>"#);
    Section::new(id, name, body)
}

/// The accesses side by side. The page then shows the first in detail, followed by the others.
fn accesses(evaluation: &Evaluation) -> String {
    if evaluation.other_accesses.is_empty() {
        return String::new();
    }
    let names: Vec<String> = evaluation.each_access().map(Evaluation::way).collect();
    let of = |(name, evaluation)| EvaluatedSystem {
        name,
        evaluation,
        memory_bytes: Evaluation::memory_limit_bytes(evaluation),
    };
    let each = names.iter().map(String::as_str).zip(evaluation.each_access());
    let all: Vec<EvaluatedSystem> = each.map(of).collect();
    let parts = [joint::findings(&all), joint::landscapes(&all), joint::parameters(&all)];
    format!(
        "<h2>Accesses</h2><p class=\"lead\">The same target with {}; what follows below is of access {}, then of the others.</p>{}",
        all.iter().map(|one| format!("access {}", one.name)).collect::<Vec<_>>().join(", "),
        evaluation.way(),
        parts.map(|part| part.replace("<h2>", "<h3>").replace("</h2>", "</h3>")).concat()
    )
}
