//! Simulations of disks, for a terminal: a table of all combinations and what is known of their truth.

use super::ink::Style;
use super::tables::{Column, table};
use crate::simulation::{self as charts, mean};
use crate::text::{none, percent};
use ioscape_schema::units::{Bytes, Nanos, Seconds};
use ioscape_schema::{
    HostCacheAbsorption, HostCachePoint, SimulatedCell, Simulation, SimulationAgreement,
};

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
    if let Some(words) = charts::amplification(simulation) {
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

/// The columns of a table of caches at the host.
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

/// What is told of every cell by words.
fn each<'a>(
    simulation: &'a Simulation,
    pick: impl Fn(&SimulatedCell) -> String + 'a,
) -> impl Iterator<Item = String> + 'a {
    simulation.cells.iter().map(pick)
}

/// The columns of a table of policies.
fn policies(simulation: &Simulation) -> Vec<Column> {
    let numbers = |head: &str, pick: fn(&SimulatedCell) -> String| {
        Column::numbers(head, each(simulation, pick))
    };
    vec![
        Column::words("Policy", each(simulation, charts::policy)),
        numbers("Cache", |c| c.cache_bytes.map_or(String::new(), |b| Bytes(b as f64).to_string())),
        numbers("Physical", |c| mean(&c.physical.all)),
        numbers("reads", |c| mean(&c.physical.read)),
        numbers("writes", |c| mean(&c.physical.write)),
        numbers("Elapsed", |c| mean(&c.elapsed.all)),
        numbers("p99", |c| Nanos(c.elapsed.all.p99_ns as f64).to_string()),
        numbers("Absorbed", |c| charts::absorbed_share(c).unwrap_or_else(none)),
    ]
}

/// The columns of a table of drives: response times, utilization, and energy and agreement where they are known.
fn drives(simulation: &Simulation) -> Vec<Column> {
    let numbers = |head: &str, pick: fn(&SimulatedCell) -> String| {
        Column::numbers(head, each(simulation, pick))
    };
    let drive = |c: &SimulatedCell| c.drive.clone().unwrap_or_default();
    let mut columns = vec![
        Column::words("Drive", each(simulation, drive)),
        Column::words("Policy", each(simulation, charts::policy_alone)),
        numbers("Response", |c| mean(&c.elapsed.all)),
        numbers("p50", |c| Nanos(c.elapsed.all.p50_ns as f64).to_string()),
        numbers("p99", |c| Nanos(c.elapsed.all.p99_ns as f64).to_string()),
        numbers("Busy", |c| c.utilization.map_or(String::new(), percent)),
    ];
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
