//! The tables of the page: warnings, machine, all points, and how to read it.

use crate::clients::curve;
use crate::columns::{Column, fields, heads};
use crate::curve::{is_unknown, range};
use crate::plot::Unit;
use crate::text::{NONE, axis_label, cached, esc, kind, none, value_of};
use ioscape_schema::units::{Bytes, Count, Rate, counted};
use ioscape_schema::{Environment, Evaluation, Measurement, Parameter, Point, Warning};
use std::fmt::Write as _;

/// A table of plain texts.
///
/// The class `words` aligns all columns to the left. On a narrow screen, `cards` turns every row
/// into a block of lines with the names of the columns.
pub fn table(class: &str, head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    table_with_own(class, head, rows, |_| false)
}

/// A table of plain texts, given by its columns.
pub fn table_of<T>(
    class: &str,
    columns: &[Column<'_, T>],
    rows: impl Iterator<Item = T>,
) -> String {
    let head: Vec<&str> = heads(columns).collect();
    table(class, &head, rows.map(|row| fields(columns, &row).collect()))
}

/// A table of plain texts in which the rows that `is_own` selects by their first cell are
/// highlighted.
pub fn table_with_own(
    class: &str,
    head: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
    is_own: impl Fn(&str) -> bool,
) -> String {
    let mut out = format!(r#"<div class="scroll" tabindex="0"><table class="{class}"><thead><tr>"#);
    for name in head {
        let _ = write!(out, r#"<th scope="col">{}</th>"#, esc(name));
    }
    out.push_str("</tr></thead><tbody>");
    for row in rows {
        let own = row.first().is_some_and(|cell| is_own(cell));
        out.push_str(if own { r#"<tr class="own">"# } else { "<tr>" });
        for (cell, name) in row.iter().zip(head.iter().map(Some).chain(std::iter::repeat(None))) {
            let cell = esc(cell);
            let _ = match name.filter(|_| class.contains("cards")) {
                Some(name) => write!(out, r#"<td data-label="{}">{cell}</td>"#, esc(name)),
                None => write!(out, "<td>{cell}</td>"),
            };
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
    out
}

/// All warnings, each with the part of the result that it is about; empty for the whole result.
pub fn warnings<'a>(all: impl Iterator<Item = (String, &'a Warning)>) -> String {
    let all: Vec<_> = all.collect();
    if all.is_empty() {
        return String::new();
    }
    let mut out = r#"<h2>Warnings</h2><p class="lead">What may limit the results above.</p><ul class="warnings">"#.to_owned();
    for (place, warning) in all {
        let place = if place.is_empty() { "the whole result".to_owned() } else { place };
        let _ = write!(
            out,
            "<li>{}<small>{}, {}</small></li>",
            esc(&warning.message),
            esc(&kind(warning.kind)),
            esc(&place)
        );
    }
    out + "</ul>"
}

/// The machine.
pub fn machine(environment: &Environment) -> String {
    let bytes = |value: Option<u64>| value.map(|value| Bytes(value as f64).to_string());
    let text = |value: &Option<String>| value.clone();
    let Environment { clock, .. } = environment;
    let rotational = rotational(environment).map(str::to_owned);
    // 0 means not measured: commands that time nothing do not measure the clock.
    let clock = (clock.cost_ns > 0.0).then(|| {
        let [steps, cost] = [clock.precision_ns, clock.cost_ns].map(|ns| Unit::Nanos.show(ns));
        format!("steps of {steps}, {cost} per reading")
    });
    let overhead = environment.harness_overhead_ns_per_io;
    let overhead = (overhead > 0.0).then(|| format!("{} per I/O", Unit::Nanos.show(overhead)));
    let dirty = environment.vm_dirty.iter().map(|(name, value)| format!("{name} = {value}"));
    let dirty: Vec<String> = dirty.collect();
    let rows = [
        ("Kernel", text(&environment.kernel)),
        ("Processor", text(&environment.cpu_model)),
        ("Processors", environment.processors()),
        ("Memory", bytes(environment.memory_bytes)),
        ("Memory limit", bytes(environment.memory_limit_bytes)),
        ("File system", text(&environment.file_system)),
        ("Mount options", text(&environment.mount_options)),
        ("Size of the file system", bytes(environment.file_system_bytes)),
        ("Free before the run", bytes(environment.free_bytes)),
        ("Device", text(&environment.device)),
        ("Model", text(&environment.device_model)),
        ("Firmware", text(&environment.device_firmware)),
        ("Link", text(&environment.device_link)),
        ("Scheduler", text(&environment.scheduler)),
        ("Rotational", rotational),
        ("Loop device that caches", text(&environment.cached_below)),
        ("I/O limit", text(&environment.io_limit)),
        ("Read-ahead", bytes(environment.read_ahead_bytes)),
        ("Dirty pages", (!dirty.is_empty()).then(|| dirty.join(", "))),
        ("Mitigations", text(&environment.mitigations)),
        ("Virtualization", virtualization(environment)),
        ("Clock", clock),
        ("Harness overhead", overhead),
        ("Load before the run", environment.load_before.map(|load| format!("{load:.2}"))),
    ];
    let known = rows.into_iter().filter_map(|(name, value)| Some(vec![name.to_owned(), value?]));
    format!("<h2>Machine</h2>{}", table("words", &["Property", "Value"], known))
}

/// The hypervisor or container, and what a hypervisor hides.
fn virtualization(environment: &Environment) -> Option<String> {
    let name = environment.virtualization.clone()?;
    Some(environment.unseen_host().map_or(name.clone(), |what| format!("{name}: {what}")))
}

/// Whether the device says that it rotates, and what that is worth.
fn rotational(environment: &Environment) -> Option<&'static str> {
    let is_on_usb = environment.device_link.as_deref() == Some("USB");
    Some(match environment.rotational? {
        true if is_on_usb => "says so, as USB flash often does",
        true if environment.has_hypervisor() != Some(false) => {
            "says so, as most disks of virtual machines do"
        }
        true => "yes",
        false => "no",
    })
}

/// Every point of every curve, collapsed; if there are several accesses, under the name of each.
pub fn points(evaluation: &Evaluation) -> String {
    let is_alone = evaluation.other_accesses.is_empty();
    let heading = |one: &Evaluation| match is_alone {
        true => "All points".to_owned(),
        false => format!("All points of access {}", one.way()),
    };
    let each = evaluation.each_access().map(|one| (heading(one), points_of(one)));
    let shown = each.filter(|(_, points)| !points.is_empty());
    shown.map(|(heading, points)| format!("<h2>{heading}</h2>{points}")).collect()
}

/// The points of one access.
fn points_of(evaluation: &Evaluation) -> String {
    let mut out = String::new();
    let unique_bytes = Parameter::UniqueBytes;
    for (name, curve) in [
        ("Mixed", &evaluation.unique_bytes_curve),
        ("Pure reads", &evaluation.unique_bytes_read_curve),
        ("Pure writes", &evaluation.unique_bytes_write_curve),
    ] {
        out += &of_parameter(name, unique_bytes, curve);
    }
    for region in &evaluation.regions {
        for parameter in Parameter::WITH_DEPTH {
            if let Some(curve) = region.curves.get(parameter) {
                out += &of_parameter(&region.name, parameter, curve);
            }
        }
        let (counted, names) = (Parameter::ProcessNum, [curve::NAME, curve::AXIS]);
        out += &folded(&region.name, counted, names, &region.curves.client_num);
    }
    for range in evaluation.all_parameters.iter().flat_map(|all| &all.ranges) {
        out += &of_parameter("Where it performs well", range.parameter, &range.curve);
    }
    out
}

fn of_parameter(name: &str, parameter: Parameter, curve: &[Point]) -> String {
    folded(name, parameter, [parameter.word(), axis_label(parameter)], curve)
}

/// A collapsed curve: `varied` and `axis` name its parameter, `parameter` decides how values are
/// written.
fn folded(name: &str, parameter: Parameter, [varied, axis]: [&str; 2], curve: &[Point]) -> String {
    if curve.is_empty() {
        return String::new();
    }
    let columns: [Column<(Parameter, &Point)>; 11] = [
        (varied, |(parameter, point)| value_of(*parameter, point.value)),
        ("Throughput", |(_, point)| Rate(point.throughput()).to_string()),
        ("From", |(_, point)| end_of(point, 0)),
        ("To", |(_, point)| end_of(point, 1)),
        ("Rounds", |(_, point)| point.rounds.len().to_string()),
        ("IOPS", |(_, point)| Count(point.iops()).to_string()),
        ("Mean response", |(_, point)| {
            time_of(&point.measurement, point.measurement.response_time_ns.mean)
        }),
        ("99 %", |(_, point)| p99_of(&point.measurement)),
        ("CPU per I/O", |(_, point)| time_of(&point.measurement, point.measurement.cpu_ns_per_io)),
        ("Cached", |(_, point)| cached(&point.measurement, NONE)),
        ("Stop", |(_, point)| state(&point.measurement)),
    ];
    let rows = curve.iter().map(|point| (parameter, point));
    format!(
        "<details><summary>{}, {}<small>{}</small></summary>{}</details>",
        esc(name),
        axis,
        counted(curve.len() as u64, "point"),
        table_of("", &columns, rows)
    )
}

/// The low (0) or high (1) end of a point's error bar; a dash if no request completed.
fn end_of(point: &Point, end: usize) -> String {
    if is_unknown(point) { none() } else { Rate(range(point)[end]).to_string() }
}

/// A response time of a run, in nanoseconds; a dash if no request completed.
pub fn time_of(run: &Measurement, ns: f64) -> String {
    if run.ios == 0 { none() } else { Unit::Nanos.show(ns) }
}

/// The 99th percentile of a run's response times; a dash if its requests are too few.
pub fn p99_of(run: &Measurement) -> String {
    run.response_time_ns.p99_of(run.ios).map_or_else(none, |ns| Unit::Nanos.show(ns as f64))
}

/// The 95 % interval of a run's throughput; a dash if no data was moved.
pub fn interval_of(run: &Measurement) -> String {
    let [low, high] = run.throughput_ci95.map(Rate);
    if run.relative_error().is_finite() { format!("{low} to {high}") } else { none() }
}

/// Why the run ended, and all doubts about it.
fn state(measurement: &Measurement) -> String {
    let mut words = vec![measurement.stop.word().to_owned()];
    if measurement.disturbed {
        words.push("disturbed".to_owned());
    }
    words.extend(measurement.warnings.iter().map(|warning| kind(warning.kind)));
    words.dedup();
    words.join(", ")
}

/// The meaning of the terms and marks on the page.
pub fn how() -> String {
    let entries = [
        (
            "Set (unique_bytes)",
            "The working set: distinct bytes that all processes together read and write. \
             What fits into a cache is fast.",
        ),
        (
            "Region",
            "A plateau of the curve over the size of the set: one level of the storage hierarchy.",
        ),
        (
            "Focal vector",
            "The workload from which one parameter at a time is varied: the middle of its region, half reads, half \
             sequential, and size and processes half-way between slowest and fastest.",
        ),
        (
            "Border",
            "Where throughput falls from one plateau to the next. With pure reads it is the effective cache for reads, \
             with pure writes that for writes.",
        ),
        (
            "Error bars",
            "From the slowest to the fastest round of a point; with a single round, its 95 % confidence interval. \
             A bar without an end goes on beyond the picture.",
        ),
        (
            "Other load",
            "The throughput of runs in memory leaves out the time in which other programs had the processors; response \
             times include it.",
        ),
        ("Units", "Sizes are in powers of 1024 (MiB), rates in powers of 1000 (MB/s)."),
        (
            "Method",
            "P. M. Chen and D. A. Patterson, A New Approach to I/O Performance Evaluation, and Unix I/O \
             Performance in Workstations and Mainframes (both 1994).",
        ),
    ];
    let mut out = r#"<h2>How to read it</h2><dl class="how">"#.to_owned();
    for (term, meaning) in entries {
        let _ = write!(out, "<div><dt>{term}</dt><dd>{meaning}</dd></div>");
    }
    out + "</dl>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_measured_clock_has_no_row_of_it() {
        let mut environment = Environment { cpu_count: Some(2), ..Environment::default() };
        let shown = machine(&environment);
        assert!(shown.contains("Processors") && !shown.contains("0 ns"), "{shown}");
        environment.clock.cost_ns = 20.0;
        environment.harness_overhead_ns_per_io = 52.0;
        let shown = machine(&environment);
        assert!(shown.contains("20 ns per reading") && shown.contains("52 ns per I/O"), "{shown}");
    }

    /// Once, the page called nearly every disk of a virtual machine rotational.
    #[test]
    fn only_a_disk_of_bare_metal_that_is_not_on_usb_is_known_to_rotate() {
        let of = |virtualization: Option<&str>, link: &str| {
            let virtualization = virtualization.map(str::to_owned);
            let (rotational, device_link) = (Some(true), Some(link.to_owned()));
            let told =
                Environment { virtualization, device_link, rotational, ..Environment::default() };
            super::rotational(&told).unwrap_or_default()
        };
        assert_eq!([Some("none"), Some("docker")].map(|on| of(on, "6.0 Gbps")), ["yes"; 2]);
        let told = [of(Some("kvm"), "6.0 Gbps"), of(None, "6.0 Gbps"), of(Some("none"), "USB")];
        assert!(told.iter().all(|told| told.starts_with("says so")), "{told:?}");
    }

    /// Once, the page showed 64 processors for a container with a quota of one and a half.
    #[test]
    fn a_quota_stands_beside_the_processors() {
        let mut environment = Environment { cpu_count: Some(64), ..Environment::default() };
        assert!(!machine(&environment).contains("quota"));
        environment.cpu_quota = Some(1.5);
        let shown = machine(&environment);
        assert!(shown.contains("64, of which a quota allows 1.50"), "{shown}");
    }
}
