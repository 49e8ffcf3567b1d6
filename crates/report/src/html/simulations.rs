//! Several simulations on one page: mean times side by side, and figures with a line for each.

use super::alike::overlaid;
use super::simulation::{AT_THE_DISK, AT_THE_HOST, Picture};
use super::tables::table;
use crate::overlay::NamedChart;
use crate::simulation::{self as charts, mean};
use ioscape_schema::{SimulatedCell, Simulation};

const AGREEMENT: Picture = (
    "agreement",
    "Measured and simulated",
    "Distributions of recorded and simulated physical times.",
    charts::measured_and_simulated,
);

/// The section; empty for fewer than two simulations.
pub fn section(all: &[(&str, &Simulation)]) -> String {
    if all.len() < 2 {
        return String::new();
    }
    let figure = |(id, title, caption, chart): Picture| {
        // A simulation without this figure keeps its place, so that colours stay the same.
        let none = || charts::by_policy(&Simulation::default());
        let named = all.iter().map(|(name, one)| (*name, chart(one).unwrap_or_else(none)));
        let named: Vec<NamedChart> = named.collect();
        overlaid(&format!("simulations-{id}"), title, caption, &named)
    };
    let pictures = [AGREEMENT].into_iter().chain(AT_THE_DISK).chain(AT_THE_HOST);
    format!("<h2>Simulations</h2>{}{}", cells(all), pictures.map(figure).collect::<String>())
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
    let p99 = charts::p99(&elapsed.all);
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
    use crate::text::none;

    #[test]
    fn requests_that_there_are_none_of_have_no_time() {
        let simulation = sample::simulation();
        let mut cell = simulation.cells[0].clone();
        cell.physical.write = Default::default();
        let shown = row("a", &simulation, &cell);
        assert_eq!(shown[5..8], ["25.1 ms".to_owned(), "27.4 ms".to_owned(), none()]);
    }
}
