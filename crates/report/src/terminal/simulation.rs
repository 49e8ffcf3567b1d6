//! Simulations of disks, for a terminal: a table of all combinations and what is known of their truth.

use super::ink::Style;
use super::tables::{Column, table};
use crate::simulation as charts;
use crate::text::percent;
use ioscape_schema::units::{Bytes, Nanos};
use ioscape_schema::{SimulatedCell, Simulation, SimulationAgreement};

/// The simulation as text.
pub fn text(simulation: &Simulation, style: &Style) -> String {
    let lead = format!(
        "{} requests of {} (devices {}) on {}, {}; arrivals: {}.",
        simulation.requests,
        style.clean(&simulation.trace),
        style.clean(&simulation.devices.join(", ")),
        style.clean(&simulation.drive),
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
    let each = |pick: fn(&SimulatedCell) -> String| simulation.cells.iter().map(pick);
    let columns = [
        Column::words("Policy", each(charts::policy)),
        Column::numbers(
            "Cache",
            each(|c| c.cache_bytes.map_or(String::new(), |b| Bytes(b as f64).to_string())),
        ),
        Column::numbers("Physical", each(|c| Nanos(c.physical.all.mean_ns).to_string())),
        Column::numbers("reads", each(|c| Nanos(c.physical.read.mean_ns).to_string())),
        Column::numbers("writes", each(|c| Nanos(c.physical.write.mean_ns).to_string())),
        Column::numbers("Elapsed", each(|c| Nanos(c.elapsed.all.mean_ns).to_string())),
        Column::numbers("p50", each(|c| Nanos(c.elapsed.all.p50_ns as f64).to_string())),
        Column::numbers("p99", each(|c| Nanos(c.elapsed.all.p99_ns as f64).to_string())),
        Column::numbers("Busy", each(|c| percent(c.utilization))),
        Column::numbers(
            "Absorbed",
            each(|c| percent(c.absorbed_bytes as f64 / c.written_bytes.max(1) as f64)),
        ),
    ];
    let agreements = simulation.cells.iter().any(|c| c.agreement.is_some());
    let against = |pick: fn(&SimulationAgreement) -> String| {
        let of = move |c: &SimulatedCell| c.agreement.as_ref().map_or(String::new(), pick);
        simulation.cells.iter().map(of)
    };
    let compared = agreements.then(|| {
        [
            Column::numbers("Measured", against(|a| Nanos(a.measured_mean_ns).to_string())),
            Column::numbers("rms", against(|a| Nanos(a.rms_ns).to_string())),
            Column::numbers("demerit", against(|a| percent(a.demerit))),
        ]
    });
    let energy = |c: &SimulatedCell| c.energy_j.map_or(String::new(), charts::energy);
    let columns: Vec<Column> = columns
        .into_iter()
        .chain(
            simulation
                .cells
                .iter()
                .any(|c| c.energy_j.is_some())
                .then(|| Column::numbers("Energy", each(energy))),
        )
        .chain(compared.into_iter().flatten())
        .collect();
    out += &table(&columns.iter().collect::<Vec<_>>(), style);
    out
}
