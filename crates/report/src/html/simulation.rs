//! Disk simulations on the page: figures 14 to 18 of Ruemmler & Wilkes (1993), and a table of all
//! cells.

use super::figure::{Figure, legend, two_sizes};
use super::tables::table;
use super::values::Values;
use crate::plot::{Chart, Frame, Scale};
use crate::simulation::{self as charts, mean};
use crate::text::{esc, none, percent};
use ioscape_schema::units::Nanos;
use ioscape_schema::{Simulation, SimulationAgreement};

fn figure(id: &str, title: &str, caption: &str, chart: &Chart) -> String {
    if !chart.has_points() {
        return String::new();
    }
    let figure = Figure { id, title, caption, scales: &[Scale::Linear] };
    let values = Values::of(&[chart]);
    figure.html(|_| two_sizes(chart, Frame::WIDE), &legend(&chart.series, ""), &values)
}

/// A figure: identifier, heading, caption, and a function that returns a simulation's chart, if
/// any.
pub type Picture = (&'static str, &'static str, &'static str, fn(&Simulation) -> Option<Chart>);

/// The figures about the disk: 15 and 16.
pub const AT_THE_DISK: [Picture; 3] = [
    (
        "policies",
        "Physical times by policy",
        "Share of requests that took at most this long at the disk.",
        |one| Some(charts::by_policy(one)),
    ),
    (
        "sizes",
        "Physical times of writes",
        "Mean service time of a write at the disk, by the size of its cache.",
        |one| charts::by_size(one, false),
    ),
    (
        "sizes-elapsed",
        "Elapsed times of writes",
        "Mean time of a write including its wait in the host's queue, by the size of the disk's cache.",
        |one| charts::by_size(one, true),
    ),
];

/// The figures about the host: 17 and 18.
pub const AT_THE_HOST: [Picture; 2] = [
    (
        "intervals",
        "Intervals absorbed at the host",
        "Share of the 30-second intervals with writes in which a cache at the host takes all of them.",
        |one| Some(charts::intervals(&one.absorption)),
    ),
    (
        "absorbed",
        "Writes absorbed at the host",
        "Share of the bytes written that a cache at the host takes when it is emptied every 30 seconds.",
        |one| Some(charts::absorbed(&one.absorption)),
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
    let more = [charts::amplification(simulation), charts::left_out(simulation)];
    for words in more.into_iter().flatten() {
        out += &format!("<p>{}</p>", esc(&words));
    }
    let drawn = |(id, title, caption, chart): Picture| {
        chart(simulation).map(|chart| figure(id, title, caption, &chart))
    };
    out.extend(AT_THE_DISK.into_iter().filter_map(drawn));
    out += &cells(simulation);
    out.extend(AT_THE_HOST.into_iter().filter_map(drawn));
    out
}

fn cells(simulation: &Simulation) -> String {
    let mut head = vec![
        "Policy", "Cache", "Physical", "Reads", "Writes", "Elapsed", "Reads", "Writes", "p50",
        "p99", "Busy", "Absorbed", "Energy",
    ];
    let is_compared = simulation.cells.iter().any(|cell| cell.agreement.is_some());
    if is_compared {
        head.extend(["Measured", "rms", "Demerit"]);
    }
    let rows = simulation.cells.iter().map(|cell| {
        let (physical, elapsed) = (&cell.physical, &cell.elapsed);
        let time = |ns: u64| Nanos(ns as f64).to_string();
        let mut row = vec![
            charts::policy(cell),
            charts::cache(cell),
            mean(&physical.all),
            mean(&physical.read),
            mean(&physical.write),
            mean(&elapsed.all),
            mean(&elapsed.read),
            mean(&elapsed.write),
            time(elapsed.all.p50_ns),
            charts::p99(&elapsed.all),
            charts::busy(cell).unwrap_or_else(none),
            charts::absorbed_share(cell).unwrap_or_else(none),
            cell.energy_j.map_or_else(none, charts::energy),
        ];
        if is_compared {
            row.extend(compared(cell.agreement.as_ref()));
        }
        row
    });
    let parts = where_time_goes(simulation);
    format!("<h3>All combinations</h3>{}{parts}", table("runs", &head, rows))
}

/// The parts of the mean time of all combinations.
fn where_time_goes(simulation: &Simulation) -> String {
    let parts = charts::parts(simulation);
    if parts.is_empty() {
        return String::new();
    }
    let head: Vec<&str> =
        ["Policy", "Cache"].into_iter().chain(parts.iter().map(|(name, _)| *name)).collect();
    let rows = simulation.cells.iter().enumerate().map(|(at, cell)| {
        let each = parts.iter().map(|(_, texts)| texts[at].clone());
        [charts::policy(cell), charts::cache(cell)].into_iter().chain(each).collect()
    });
    format!("<h3>Where the mean time goes</h3>{}", table("runs", &head, rows))
}

/// The recorded mean time of a trace with a drive of its own, and the error of the simulated times.
fn compared(agreement: Option<&SimulationAgreement>) -> [String; 3] {
    let told = |pick: fn(&SimulationAgreement) -> String| agreement.map_or_else(none, pick);
    [
        told(|a| Nanos(a.measured_mean_ns).to_string()),
        told(|a| Nanos(a.rms_ns).to_string()),
        told(|a| percent(a.demerit)),
    ]
}
