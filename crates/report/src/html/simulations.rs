//! Several simulations on one page: mean times side by side, and their figures with a line for each.

use super::alike::overlaid;
use super::tables::table;
use crate::overlay::NamedChart;
use crate::plot::Chart;
use crate::simulation as charts;
use crate::text::none;
use ioscape_schema::units::Nanos;
use ioscape_schema::{SimulatedCell, Simulation};

/// A figure: identifier, heading, caption, and its chart where a simulation has one.
type Picture = (&'static str, &'static str, &'static str, fn(&Simulation) -> Option<Chart>);

const PICTURES: [Picture; 6] = [
    (
        "simulations-agreement",
        "Measured and simulated",
        "Distributions of recorded and simulated physical times.",
        charts::measured_and_simulated,
    ),
    (
        "simulations-policies",
        "Physical times by policy",
        "Share of requests that took at most this long at the disk.",
        |one| Some(charts::by_policy(one)),
    ),
    (
        "simulations-sizes",
        "Physical times of writes",
        "Mean service time of a write at the disk, by the size of its cache.",
        |one| charts::by_size(one, false),
    ),
    (
        "simulations-sizes-elapsed",
        "Elapsed times of writes",
        "Mean time of a write including its wait in the host's queue, by the size of the disk's cache.",
        |one| charts::by_size(one, true),
    ),
    (
        "simulations-intervals",
        "Intervals absorbed at the host",
        "Share of the 30-second intervals with writes in which a cache at the host takes all of them.",
        |one| Some(charts::intervals(&one.absorption)),
    ),
    (
        "simulations-absorbed",
        "Writes absorbed at the host",
        "Share of the bytes written that a cache at the host takes when it is emptied every 30 seconds.",
        |one| Some(charts::absorbed(&one.absorption)),
    ),
];

/// The section; empty of fewer than two simulations.
pub fn section(all: &[(&str, &Simulation)]) -> String {
    if all.len() < 2 {
        return String::new();
    }
    let figure = |(id, title, caption, chart): &Picture| {
        // One without it keeps its place, and so its colour.
        let none = || charts::by_policy(&Simulation::default());
        let named = all.iter().map(|(name, one)| (*name, chart(one).unwrap_or_else(none)));
        overlaid(id, title, caption, &named.collect::<Vec<NamedChart>>())
    };
    let figures: String = PICTURES.iter().map(figure).collect();
    format!("<h2>Simulations</h2>{}{figures}", cells(all))
}

fn cells(all: &[(&str, &Simulation)]) -> String {
    let head = [
        "System", "Trace", "Drive", "Policy", "Cache", "Physical", "Reads", "Writes", "Elapsed",
        "p99",
    ];
    let rows =
        all.iter().flat_map(|(name, one)| one.cells.iter().map(move |cell| row(name, one, cell)));
    table("runs", &head, rows)
}

fn row(system: &str, simulation: &Simulation, cell: &SimulatedCell) -> Vec<String> {
    let (physical, elapsed) = (&cell.physical, &cell.elapsed);
    let mean = |of| charts::mean(of).unwrap_or_else(none);
    let p99 = match elapsed.all.requests {
        0 => none(),
        _ => Nanos(elapsed.all.p99_ns as f64).to_string(),
    };
    vec![
        system.to_owned(),
        simulation.trace.clone(),
        cell.drive.clone().unwrap_or_else(|| simulation.drive.clone()),
        charts::policy_alone(cell),
        charts::cache(cell),
        mean(&physical.all),
        mean(&physical.read),
        mean(&physical.write),
        mean(&elapsed.all),
        p99,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn requests_that_there_are_none_of_have_no_time() {
        let simulation = sample::simulation();
        let mut cell = simulation.cells[0].clone();
        cell.physical.write = Default::default();
        let shown = row("a", &simulation, &cell);
        assert_eq!(shown[5..8], ["25.1 ms".to_owned(), "27.4 ms".to_owned(), none()]);
    }
}
