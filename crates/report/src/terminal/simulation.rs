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
        numbers("p99", |c| Nanos(c.elapsed.all.p99_ns as f64).to_string()),
        numbers("Absorbed", |c| charts::absorbed_share(c).unwrap_or_else(none)),
    ];
    // No mean shows which array is overloaded.
    if simulation.cells.iter().any(|c| c.array.is_some()) {
        columns.push(numbers("Busy", busy));
    }
    columns
}

/// The size of a cell's cache.
fn size(cell: &SimulatedCell) -> String {
    cell.cache_bytes.map_or(String::new(), |bytes| Bytes(bytes as f64).to_string())
}

/// The mean share of time in which a drive of a cell is busy with a command.
fn busy(cell: &SimulatedCell) -> String {
    cell.utilization.map_or(String::new(), percent)
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
        numbers("p99", |c| Nanos(c.elapsed.all.p99_ns as f64).to_string()),
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
    fn how_busy_the_drives_of_an_array_are_is_shown() {
        let cell = SimulatedCell { utilization: Some(0.25), ..SimulatedCell::default() };
        let shown = |array: Option<&str>| {
            let cells = vec![SimulatedCell { array: array.map(str::to_owned), ..cell.clone() }];
            text(&Simulation { cells, ..Simulation::default() }, &Style::default())
        };
        assert!(shown(Some("raid1:2")).contains("25 %") && !shown(None).contains("Busy"));
    }
}
