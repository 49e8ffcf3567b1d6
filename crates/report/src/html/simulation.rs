//! Simulations of disks on the page: figures 14 to 18 of Ruemmler & Wilkes (1993), and all cells as a table.

use super::figure::{Figure, legend, two_sizes};
use super::tables::table;
use super::values::Values;
use crate::plot::{Chart, Frame, Scale};
use crate::simulation as charts;
use crate::text::{esc, none, percent};
use ioscape_schema::Simulation;
use ioscape_schema::units::Nanos;

fn figure(id: &str, title: &str, caption: &str, chart: &Chart) -> String {
    if !chart.has_points() {
        return String::new();
    }
    let figure = Figure { id, title, caption, scales: &[Scale::Linear] };
    let values = Values::of(&[chart]);
    figure.html(|_| two_sizes(chart, Frame::WIDE), &legend(&chart.series, ""), &values)
}

/// Figure 16: whether the host's queue counts, identifier, heading and caption.
const SIZES: [(bool, &str, &str, &str); 2] = [
    (
        false,
        "sizes",
        "Physical times of writes",
        "Mean service time of a write at the disk, by the size of its cache.",
    ),
    (
        true,
        "sizes-elapsed",
        "Elapsed times of writes",
        "Mean time of a write including its wait in the host's queue, by the size of the disk's cache.",
    ),
];

/// The section.
pub fn section(simulation: &Simulation) -> String {
    let mut out = format!(
        r#"<h2>Simulation</h2><p class="lead">{} requests of {} (devices {}) on the drive {}, {}; arrivals: {}.</p>"#,
        simulation.requests,
        esc(&simulation.trace),
        esc(&simulation.devices.join(", ")),
        esc(&simulation.drive),
        esc(&simulation.drive_status),
        esc(&simulation.arrivals)
    );
    if let (Some(chart), Some(words)) =
        (charts::measured_and_simulated(simulation), charts::agreement(simulation))
    {
        let caption = format!(
            "{} The demerit compares distributions only; the paired error compares single requests.",
            esc(&words)
        );
        out += &figure("agreement", "Measured and simulated", &caption, &chart);
    }
    if let Some(words) = charts::amplification(simulation) {
        out += &format!("<p>{}</p>", esc(&words));
    }
    let caption = "Share of requests that took at most this long at the disk.";
    out += &figure("policies", "Physical times by policy", caption, &charts::by_policy(simulation));
    for (elapsed, id, title, caption) in SIZES {
        if let Some(chart) = charts::by_size(simulation, elapsed) {
            out += &figure(id, title, caption, &chart);
        }
    }
    out += &cells(simulation);
    if !simulation.absorption.is_empty() {
        let caption = "Share of the 30-second intervals with writes in which a cache at the host takes all of them.";
        let chart = charts::intervals(&simulation.absorption);
        out += &figure("intervals", "Intervals absorbed at the host", caption, &chart);
        let caption = "Share of the bytes written that a cache at the host takes when it is emptied every 30 seconds.";
        let chart = charts::absorbed(&simulation.absorption);
        out += &figure("absorbed", "Writes absorbed at the host", caption, &chart);
    }
    out
}

fn cells(simulation: &Simulation) -> String {
    let head = [
        "Policy", "Cache", "Physical", "Reads", "Writes", "Elapsed", "Reads", "Writes", "p50",
        "p99", "Busy", "Absorbed", "Energy",
    ];
    let rows = simulation.cells.iter().map(|cell| {
        let (physical, elapsed) = (&cell.physical, &cell.elapsed);
        let time = |ns: u64| Nanos(ns as f64).to_string();
        let mean = |of| charts::mean(of).unwrap_or_else(none);
        vec![
            charts::policy(cell),
            charts::cache(cell),
            mean(&physical.all),
            mean(&physical.read),
            mean(&physical.write),
            mean(&elapsed.all),
            mean(&elapsed.read),
            mean(&elapsed.write),
            time(elapsed.all.p50_ns),
            time(elapsed.all.p99_ns),
            cell.utilization.map_or_else(none, percent),
            charts::absorbed_share(cell).unwrap_or_else(none),
            cell.energy_j.map_or_else(none, charts::energy),
        ]
    });
    format!("<h3>All combinations</h3>{}", table("runs", &head, rows))
}
