//! Disk simulations for a terminal: a table of all combinations, and their match with recordings.

use super::ink::Style;
use super::tables::{Column, table};
use crate::simulation::{self as charts, mean};
use crate::text::{none, percent};
use ioscape_schema::units::{Bytes, Nanos, Seconds};
use ioscape_schema::{
    HostCacheAbsorption, HostCachePoint, SimulatedCell, Simulation, SimulationAgreement,
};
use std::collections::BTreeMap;

/// The simulation as text.
pub fn text(simulation: &Simulation, style: &Style) -> String {
    let lead = format!(
        "{} requests of {} (devices {}) on {}, {}; arrivals: {}.",
        simulation.requests,
        simulation.trace,
        simulation.devices.join(", "),
        simulation.drive,
        simulation.drive_status,
        simulation.arrivals
    );
    let mut out =
        format!("\n{}\n{}", style.heading("Simulation"), style.paragraph("  ", "  ", &lead));
    if let Some(words) = charts::agreement(simulation) {
        out += &style.paragraph("  ", "  ", &words);
    }
    let more = [charts::amplification(simulation), charts::left_out(simulation)];
    for words in more.into_iter().flatten() {
        out += &style.paragraph("  ", "  ", &words);
    }
    let columns = match simulation.cells.iter().any(|cell| cell.drive.is_some()) {
        true => drives(simulation),
        false => policies(simulation),
    };
    out += &table(&columns, style);
    let parts = charts::parts(simulation);
    if !parts.is_empty() {
        out += &format!("\n{}\n", style.heading("Where the mean time goes"));
        out += &table(&where_time_goes(simulation, parts), style);
    }
    if let Some(all) = simulation.absorption.first() {
        let every = Seconds(all.interval_s);
        let what = format!("What of the writes a cache takes that is emptied every {every}:");
        out += &format!("\n{}\n", style.heading("Writes absorbed at the host"));
        out += &style.paragraph("  ", "  ", &what);
        out += &table(&at_the_host(all), style);
    }
    out
}

/// The columns of the table of caches at the host.
fn at_the_host(all: &HostCacheAbsorption) -> Vec<Column> {
    let numbers = |head: &str, pick: fn(&HostCachePoint) -> String| {
        Column::numbers(head, all.points.iter().map(pick))
    };
    vec![
        numbers("Cache", |p| Bytes(p.cache_bytes as f64).to_string()),
        numbers("Intervals", |p| percent(p.intervals)),
        numbers("Bytes written", |p| percent(p.total)),
        numbers("Overwrites", |p| percent(p.overwrites)),
    ]
}

/// The columns of the table of parts.
fn where_time_goes(simulation: &Simulation, parts: Vec<(&str, Vec<String>)>) -> Vec<Column> {
    let mut columns = vec![Column::words("Policy", each(simulation, charts::policy))];
    if differs_in_size(simulation) {
        columns.push(Column::numbers("Cache", each(simulation, size)));
    }
    columns.extend(parts.into_iter().map(|(name, texts)| Column::numbers(name, texts.into_iter())));
    columns
}

/// A text for every cell.
fn each<'a>(
    simulation: &'a Simulation,
    pick: impl Fn(&SimulatedCell) -> String + 'a,
) -> impl Iterator<Item = String> + 'a {
    simulation.cells.iter().map(pick)
}

/// The columns of the table of policies.
fn policies(simulation: &Simulation) -> Vec<Column> {
    let numbers = |head: &str, pick: fn(&SimulatedCell) -> String| {
        Column::numbers(head, each(simulation, pick))
    };
    let mut columns = vec![
        Column::words("Policy", each(simulation, charts::policy)),
        numbers("Cache", size),
        numbers("Physical", |c| mean(&c.physical.all)),
        numbers("reads", |c| mean(&c.physical.read)),
        numbers("writes", |c| mean(&c.physical.write)),
        numbers("Elapsed", |c| mean(&c.elapsed.all)),
        numbers("p99", |c| charts::p99(&c.elapsed.all)),
        numbers("Absorbed", |c| charts::absorbed_share(c).unwrap_or_else(none)),
    ];
    if simulation.cells.iter().any(|c| c.utilization.is_some()) {
        columns.push(numbers("Busy", busy));
    }
    columns
}

/// The size of a cell's cache.
fn size(cell: &SimulatedCell) -> String {
    cell.cache_bytes.map_or(String::new(), |bytes| Bytes(bytes as f64).to_string())
}

/// The share of time in which the drives of a cell are busy, if known.
fn busy(cell: &SimulatedCell) -> String {
    charts::busy(cell).unwrap_or_default()
}

/// Whether any cells of the same drive and policy have caches of different sizes.
fn differs_in_size(simulation: &Simulation) -> bool {
    let mut sizes = BTreeMap::new();
    let is_other = |cell: &SimulatedCell| {
        *sizes.entry(charts::policy(cell)).or_insert(cell.cache_bytes) != cell.cache_bytes
    };
    simulation.cells.iter().any(is_other)
}

/// The columns of the table of drives.
///
/// They are response times, utilization, and energy and agreement if known. Cache sizes appear only
/// if nothing else tells cells apart.
fn drives(simulation: &Simulation) -> Vec<Column> {
    let numbers = |head: &str, pick: fn(&SimulatedCell) -> String| {
        Column::numbers(head, each(simulation, pick))
    };
    let drive = |c: &SimulatedCell| c.drive.clone().unwrap_or_default();
    let mut columns = vec![
        Column::words("Drive", each(simulation, drive)),
        Column::words("Policy", each(simulation, charts::policy_alone)),
    ];
    if differs_in_size(simulation) {
        columns.push(numbers("Cache", size));
    }
    columns.extend([
        numbers("Response", |c| mean(&c.elapsed.all)),
        numbers("p50", |c| Nanos(c.elapsed.all.p50_ns as f64).to_string()),
        numbers("p99", |c| charts::p99(&c.elapsed.all)),
        numbers("Busy", busy),
    ]);
    if simulation.cells.iter().any(|c| c.energy_j.is_some()) {
        let energy = |c: &SimulatedCell| c.energy_j.map_or(String::new(), charts::energy);
        columns.push(numbers("Energy", energy));
    }
    if simulation.cells.iter().any(|c| c.agreement.is_some()) {
        columns.extend([
            numbers("Measured", |c| compared(c, |a| Nanos(a.measured_mean_ns).to_string())),
            numbers("rms", |c| compared(c, |a| Nanos(a.rms_ns).to_string())),
            numbers("Demerit", |c| compared(c, |a| percent(a.demerit))),
        ]);
    }
    columns
}

fn compared(cell: &SimulatedCell, pick: fn(&SimulationAgreement) -> String) -> String {
    cell.agreement.as_ref().map_or(String::new(), pick)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn combinations_that_differ_in_the_size_of_a_cache_alone_are_told_apart() {
        let cell = |drive: &str, kib: u64| SimulatedCell {
            drive: Some(drive.to_owned()),
            cache: "nvram".to_owned(),
            cache_bytes: Some(kib << 10),
            ..SimulatedCell::default()
        };
        let shown = |cells: Vec<SimulatedCell>| {
            let simulation = Simulation { cells, ..Simulation::default() };
            text(&simulation, &Style { width: 160, ..Style::default() })
        };
        let all = shown(["a", "b"].map(|drive| [8, 16].map(|kib| cell(drive, kib))).concat());
        let rows: BTreeSet<&str> = all.lines().filter(|line| line.contains("nvram")).collect();
        assert_eq!(rows.len(), 4, "{all}");
        assert!(!shown(vec![cell("a", 8), cell("b", 16)]).contains("Cache"));
    }

    #[test]
    fn parts_that_take_time_are_shown() {
        let mut cell = SimulatedCell::default();
        let shown = |cell: &SimulatedCell| {
            let simulation = Simulation { cells: vec![cell.clone()], ..Simulation::default() };
            text(&simulation, &Style { width: 160, ..Style::default() })
        };
        assert!(!shown(&cell).contains("Where the mean time goes"));
        cell.parts.seek_ns = 7.6e6;
        let all = shown(&cell);
        assert!(all.contains("Seek") && all.contains("7.6 ms") && !all.contains("Wait"), "{all}");
    }

    #[test]
    fn how_busy_the_drives_are_is_shown_and_the_busiest_of_several() {
        let shown = |utilization_most| {
            let cell = SimulatedCell { utilization: Some(0.25), ..SimulatedCell::default() };
            let cells = vec![SimulatedCell { utilization_most, ..cell }];
            let style = Style { width: 160, ..Style::default() };
            text(&Simulation { cells, ..Simulation::default() }, &style)
        };
        assert!(shown(Some(1.0)).contains("25 % (busiest 100 %)"));
        assert!(shown(None).contains("25 %") && !shown(None).contains("busiest"));
    }
}
