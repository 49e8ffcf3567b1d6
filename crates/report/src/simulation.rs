//! Charts of disk simulations: distributions, times by cache size, and writes absorbed at the host.

use crate::figures::{system_class, system_shape};
use crate::plot::{Axis, Chart, Drawn, Mark, Scale, Series, Unit};
use crate::text::{none, percent, told_time};
use ioscape_schema::statistics::{least_for, sort_by_number};
use ioscape_schema::units::{Bytes, Nanos};
use ioscape_schema::{
    HostCacheAbsorption, HostCachePoint, SimulatedCell, SimulatedParts, SimulatedTimes, Simulation,
    SimulationAgreement,
};

/// The cost of garbage collection in solid-state drives, in words; by name if there are other
/// cells.
pub fn amplification(simulation: &Simulation) -> Option<String> {
    let cells = simulation.cells.iter();
    let all: Vec<(String, f64)> =
        cells.filter_map(|cell| Some((policy(cell), cell.write_amplification?))).collect();
    let found = match all.as_slice() {
        [] => return None,
        [(_, found)] if simulation.cells.len() == 1 => {
            format!("{found:.3} bytes go to the flash for every byte written by the host")
        }
        each => {
            let each = each.iter().map(|(name, found)| format!("{found:.3} ({name})"));
            let each = each.collect::<Vec<_>>().join(", ");
            format!("bytes that go to the flash for every byte written by the host: {each}")
        }
    };
    // As shown, with three digits.
    let less = if all.iter().any(|(_, found)| *found < 0.9995) {
        " Below 1, the rest was written again or discarded while it was in the write buffer."
    } else {
        ""
    };
    Some(format!("Write amplification: {found}.{less}{}", uncollected(simulation)))
}

/// Says that a write amplification has no garbage collection in it, which begins once the spare
/// flash is written.
fn uncollected(simulation: &Simulation) -> &'static str {
    let is_spared =
        |cell: &SimulatedCell| cell.write_amplification.is_some() && cell.erased_blocks == Some(0);
    match simulation.cells.iter().any(is_spared) {
        true if simulation.cells.len() == 1 => {
            " No garbage was collected yet: this figure holds for no longer trace, which may have to collect some (unless it was given, --precondition steady-state begins closer to that)."
        }
        true => {
            " Where it is about 1, no garbage may have been collected yet, as a longer trace may have to (unless it was given, --precondition steady-state begins closer to that)."
        }
        false => "",
    }
}

/// What was specified but not simulated, in a sentence.
pub fn left_out(simulation: &Simulation) -> Option<String> {
    let all = &simulation.left_out;
    (!all.is_empty()).then(|| format!("Not simulated: {}.", all.join("; ")))
}

/// The write policy of a cell without its cache size, after the drive if drives are compared.
pub fn policy(cell: &SimulatedCell) -> String {
    match &cell.drive {
        Some(drive) => format!("{drive}: {}", policy_alone(cell)),
        None => policy_alone(cell),
    }
}

/// The write policy of a cell without its cache size.
pub fn policy_alone(cell: &SimulatedCell) -> String {
    let mut name = match cell.destage.as_deref() {
        Some(destage) => format!("{} {destage}", cell.cache),
        None => cell.cache.clone(),
    };
    name.push_str(&format!(", {}", cell.scheduler));
    if cell.read_ahead {
        name.push_str(", read-ahead");
    }
    if let Some(depth) = cell.queue_depth {
        name.push_str(&format!(", queue of {depth}"));
    }
    if let Some(array) = &cell.array {
        name.push_str(&format!(", {array}"));
    }
    name
}

/// The share of time in which the drives of a cell are busy with a command: the mean, and that of
/// the busiest.
pub fn busy(cell: &SimulatedCell) -> Option<String> {
    let mean = percent(cell.utilization?);
    Some(match cell.utilization_most {
        Some(most) => format!("{mean} (busiest {})", percent(most)),
        None => mean,
    })
}

/// The 99th percentile of response times; a dash if there are too few requests.
pub fn p99(times: &SimulatedTimes) -> String {
    told_time((times.requests >= least_for(990)).then_some(times.p99_ns))
}

/// A part of the mean time, and what takes it.
type Part = (&'static str, fn(&SimulatedParts) -> f64);

/// Where the mean time goes: for each part that takes time in any cell its name, and its time in
/// each.
pub fn parts(simulation: &Simulation) -> Vec<(&'static str, Vec<String>)> {
    const PARTS: [Part; 7] = [
        ("Queue", |parts| parts.queue_ns),
        ("Wait", |parts| parts.wait_ns),
        ("Overhead", |parts| parts.overhead_ns),
        ("Bus", |parts| parts.bus_ns),
        ("Seek", |parts| parts.seek_ns),
        ("Rotation", |parts| parts.rotation_ns),
        ("Transfer", |parts| parts.transfer_ns),
    ];
    let of = |part: fn(&SimulatedParts) -> f64| {
        simulation.cells.iter().map(move |cell| part(&cell.parts))
    };
    let taken = PARTS.into_iter().filter(|(_, part)| of(*part).any(|ns| ns > 0.0));
    taken.map(|(name, part)| (name, of(part).map(|ns| Nanos(ns).to_string()).collect())).collect()
}

/// The size of a cell's cache.
pub fn cache(cell: &SimulatedCell) -> String {
    cell.cache_bytes.map_or_else(none, |bytes| Bytes(bytes as f64).to_string())
}

/// Energy in joules, kilojoules or kilowatt-hours.
pub fn energy(joules: f64) -> String {
    match joules {
        j if j < 1e3 => format!("{j:.3} J"),
        j if j < 1e6 => format!("{:.1} kJ", j / 1e3),
        j => format!("{:.2} kWh", j / 3.6e6),
    }
}

fn line(name: String, index: usize, drawn: Drawn, marks: Vec<Mark>) -> Series {
    Series::new(name, system_class(index), system_shape(index), drawn, marks)
}

fn percent_axis(label: &str) -> Axis {
    Axis::new(label, Scale::Linear, Unit::Percent, [0.0, 1.02])
}

fn fitted(label: &str, scale: Scale, unit: Unit, series: &[Series]) -> Axis {
    Axis::fitted(label, scale, unit, series.iter().flat_map(|one| &one.marks).map(|mark| mark.x))
}

/// Distributions of times. The curve of a single time rises from 0, so that it is visible.
fn distributions(label: &str, all: Vec<(String, &Vec<[f64; 2]>)>) -> Chart {
    let series: Vec<Series> = all
        .into_iter()
        .enumerate()
        .map(|(index, (name, points))| {
            let title = |p: &[f64; 2]| format!("{:.1} % within {}", 100.0 * p[1], Nanos(p[0]));
            let foot = if let [[at, _]] = points[..] { Some([at, 0.0]) } else { None };
            let marks = foot.iter().chain(points).map(|p| Mark::plain(p[0], p[1], title(p)));
            line(name, index, Drawn::Line, marks.collect())
        })
        .collect();
    let x = fitted("physical time", Scale::Log10, Unit::Nanos, &series);
    Chart::new(label, x, percent_axis("share of requests"), series)
}

/// Recorded and simulated physical times (figure 14 of Ruemmler & Wilkes 1993).
pub fn measured_and_simulated(simulation: &Simulation) -> Option<Chart> {
    let agreement = simulation.agreement.as_ref()?;
    let all = vec![
        ("measured".to_owned(), &agreement.measured_distribution),
        ("simulated".to_owned(), &agreement.simulated_distribution),
    ];
    Some(distributions("Distribution of recorded and simulated physical times", all))
}

/// Physical times by policy (figure 15): for every policy the cell whose cache is closest to the
/// paper's 128 KB.
pub fn by_policy(simulation: &Simulation) -> Chart {
    let mut chosen: Vec<(String, &SimulatedCell)> = Vec::new();
    let far = |cell: &SimulatedCell| cell.cache_bytes.unwrap_or(128 << 10).abs_diff(128 << 10);
    for cell in &simulation.cells {
        let name = policy(cell);
        match chosen.iter_mut().find(|(known, _)| *known == name) {
            Some((_, other)) if far(cell) < far(other) => *other = cell,
            Some(_) => {}
            None => chosen.push((name, cell)),
        }
    }
    let named = chosen.into_iter().map(|(name, cell)| {
        let size = cell.cache_bytes.map_or(String::new(), |b| format!(" ({})", Bytes(b as f64)));
        (name + &size, &cell.physical_distribution)
    });
    distributions("Distribution of physical times by write policy", named.collect())
}

/// The times of a cell's writes: at the disk or, if `elapsed`, with the host's queue.
fn writes(cell: &SimulatedCell, elapsed: bool) -> &SimulatedTimes {
    if elapsed { &cell.elapsed.write } else { &cell.physical.write }
}

/// Mean times of writes by cache size (figure 16), physical or elapsed.
///
/// Policies without a cache size are level lines. Cells without writes are left out.
pub fn by_size(simulation: &Simulation, elapsed: bool) -> Option<Chart> {
    let cells = simulation.cells.iter().filter(|cell| writes(cell, elapsed).requests > 0);
    let cells: Vec<&SimulatedCell> = cells.collect();
    let sized = cells.iter().filter(|cell| cell.cache == "nvram");
    let sizes: Vec<u64> = sized.filter_map(|cell| cell.cache_bytes).collect();
    let (least, most) = (*sizes.iter().min()?, *sizes.iter().max()?);
    if least == most {
        return None;
    }
    let mut groups: Vec<(String, Vec<Mark>)> = Vec::new();
    for cell in cells {
        let name = policy(cell);
        let at = match (cell.cache == "nvram", cell.cache_bytes) {
            (true, Some(bytes)) => vec![bytes],
            _ => vec![least, most],
        };
        let time = writes(cell, elapsed).mean_ns;
        let marks = at.into_iter().map(|bytes| {
            let size = bytes as f64;
            Mark::plain(size, time, format!("{}, {}", Bytes(size), Nanos(time)))
        });
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, group)) => group.extend(marks),
            None => groups.push((name, marks.collect())),
        }
    }
    let series: Vec<Series> = groups
        .into_iter()
        .enumerate()
        .map(|(index, (name, mut marks))| {
            sort_by_number(&mut marks, |one| one.x);
            line(name, index, Drawn::Both, marks)
        })
        .collect();
    let x = fitted("size of the cache", Scale::Log2, Unit::Bytes, &series);
    let label =
        if elapsed { "mean elapsed time of writes" } else { "mean physical time of writes" };
    let y = Axis::new(label, Scale::Linear, Unit::Nanos, [0.0, 1.0]);
    Some(Chart::new(format!("{label} by cache size"), x, y, series).with_y_scale(Scale::Linear))
}

/// Intervals whose writes a cache at the host absorbs (figure 17).
pub fn intervals(all: &[HostCacheAbsorption]) -> Chart {
    let of = |one: &HostCacheAbsorption| points(one, |p| p.intervals);
    let series = all.iter().enumerate();
    let series: Vec<Series> =
        series.map(|(index, one)| line(words(&one.writes), index, Drawn::Both, of(one))).collect();
    let x = fitted("size of the cache", Scale::Log2, Unit::Bytes, &series);
    Chart::new("Intervals fully absorbed", x, percent_axis("share of intervals"), series)
}

/// Writes that a cache at the host absorbs (figure 18).
pub fn absorbed(all: &[HostCacheAbsorption]) -> Chart {
    let Some(one) = all.first() else { return intervals(all) };
    let series = vec![
        line("total".into(), 0, Drawn::Both, points(one, |p| p.total)),
        line("overwrites".into(), 1, Drawn::Both, points(one, |p| p.overwrites)),
    ];
    let x = fitted("size of the cache", Scale::Log2, Unit::Bytes, &series);
    Chart::new("Writes absorbed", x, percent_axis("share of bytes written"), series)
}

/// The mean of these times; a dash without requests.
pub fn mean(of: &SimulatedTimes) -> String {
    if of.requests > 0 { Nanos(of.mean_ns).to_string() } else { none() }
}

/// The share of the written bytes that never reached the medium; `None` if nothing was written.
pub fn absorbed_share(cell: &SimulatedCell) -> Option<String> {
    let share = cell.absorbed_bytes as f64 / cell.written_bytes as f64;
    (cell.written_bytes > 0).then(|| percent(share))
}

fn words(writes: &str) -> String {
    writes.replace('_', " ")
}

fn points(one: &HostCacheAbsorption, pick: fn(&HostCachePoint) -> f64) -> Vec<Mark> {
    let title =
        |p: &HostCachePoint| format!("{}: {:.1} %", Bytes(p.cache_bytes as f64), 100.0 * pick(p));
    one.points.iter().map(|p| Mark::plain(p.cache_bytes as f64, pick(p), title(p))).collect()
}

/// A remark if the drive's file is called calibrated but does not explain these requests.
fn doubt(simulation: &Simulation) -> Option<&'static str> {
    let a = simulation.agreement.as_ref()?;
    let is_close = a.demerit <= SimulationAgreement::DEMERIT_MOST
        && (a.paired_requests == 0 || a.paired_within_1ms >= SimulationAgreement::WITHIN_1MS_LEAST);
    // Only the first of several drives is compared with the recording; its status comes first.
    let status = simulation.drive_status.split("; ").next();
    (status == Some("calibrated") && !is_close).then_some(
        " The drive's file is called calibrated; for these requests, with these options, it is not: over 4 % demerit, or under 80 % within 1 ms.",
    )
}

/// How well simulation and recording agree, in a sentence or two.
pub fn agreement(simulation: &Simulation) -> Option<String> {
    let a = simulation.agreement.as_ref()?;
    let of = match simulation.cells.as_slice() {
        [first, _, ..] => format!(" ({})", policy(first)),
        _ => String::new(),
    };
    let apart = if a.rms_ns > 0.0 { format!(", rms {}", Nanos(a.rms_ns)) } else { String::new() };
    let paired = match a.paired_requests {
        0 => "Request by request it cannot be told: none came soon after another.".to_owned(),
        some => format!(
            "Request by request, over {some} requests soon after another: median error {}, {:.1} % within 1 ms.",
            Nanos(a.paired_median_ns),
            100.0 * a.paired_within_1ms
        ),
    };
    Some(format!(
        "Recorded physical times of {} requests: mean {}, simulated{of} {}; demerit {:.2} %{apart}. {paired}{}",
        a.requests,
        Nanos(a.measured_mean_ns),
        Nanos(a.simulated_mean_ns),
        100.0 * a.demerit,
        doubt(simulation).unwrap_or_default()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::SimulatedOperations;
    use std::collections::BTreeSet;

    fn doubted(status: &str, demerit: f64, paired_within_1ms: f64, paired_requests: u64) -> bool {
        let agreement = SimulationAgreement {
            demerit,
            paired_within_1ms,
            paired_requests,
            ..SimulationAgreement::default()
        };
        let drive_status = status.to_owned();
        let simulation =
            Simulation { drive_status, agreement: Some(agreement), ..Simulation::default() };
        agreement_of(&simulation).contains("it is not")
    }

    fn agreement_of(simulation: &Simulation) -> String {
        agreement(simulation).unwrap()
    }

    #[test]
    fn each_of_several_write_amplifications_has_its_drive() {
        let cell = |drive: &str, write_amplification| SimulatedCell {
            drive: Some(drive.to_owned()),
            cache: "write buffer".to_owned(),
            scheduler: "no host queue".to_owned(),
            write_amplification,
            ..SimulatedCell::default()
        };
        let of = |cells: &[SimulatedCell]| {
            amplification(&Simulation { cells: cells.to_vec(), ..Simulation::default() })
        };
        let (a, b, disk) = (cell("a", Some(1.5)), cell("b", Some(0.5)), cell("disk", None));
        assert_eq!(of(std::slice::from_ref(&disk)), None);
        let said = of(std::slice::from_ref(&a)).unwrap();
        assert_eq!(
            said,
            "Write amplification: 1.500 bytes go to the flash for every byte written by the host."
        );
        let said = of(&[disk, a, b]).unwrap();
        assert!(said.contains("1.500 (a: write buffer, no host queue), 0.500 (b: "), "{said}");
        assert!(said.contains("Below 1") && !said.contains("garbage"), "{said}");
        let told = |write_amplification, erased_blocks| {
            let one = SimulatedCell { erased_blocks, ..cell("a", write_amplification) };
            of(std::slice::from_ref(&one)).unwrap()
        };
        assert!(
            told(Some(0.9997), Some(0))
                .contains("flash for every byte written by the host. No garbage")
        );
        assert!(!told(Some(0.9997), Some(3)).contains("garbage"));
    }

    /// A simulation of writes with this many policies, all with the same time.
    fn constant(policies: usize) -> Simulation {
        let cell = |number: usize| SimulatedCell {
            scheduler: format!("order {number}"),
            physical_distribution: vec![[5e6, 1.0]],
            ..SimulatedCell::default()
        };
        Simulation { cells: (0..policies).map(cell).collect(), ..Simulation::default() }
    }

    #[test]
    fn twelve_policies_have_lines_of_twelve_looks_and_a_single_time_is_a_line_too() {
        let chart = by_policy(&constant(12));
        let classes: BTreeSet<&str> = chart.series.iter().map(|one| &*one.class).collect();
        assert_eq!(classes.len(), 12, "{classes:?}");
        let places = chart.series[0].marks.iter().map(|mark| [mark.x, mark.y]);
        assert_eq!(places.collect::<Vec<_>>(), [[5e6, 0.0], [5e6, 1.0]]);
    }

    #[test]
    fn of_writes_that_there_are_none_of_no_time_and_no_share_is_told() {
        let times = |requests| SimulatedTimes { requests, mean_ns: 4e6, ..Default::default() };
        let cell = |cache_bytes, requests| {
            let write = times(requests);
            let elapsed = SimulatedOperations { write, ..SimulatedOperations::default() };
            let cache_bytes = Some(cache_bytes);
            SimulatedCell { cache: "nvram".into(), cache_bytes, elapsed, ..Default::default() }
        };
        let of = |cells: Vec<SimulatedCell>| {
            by_size(&Simulation { cells, ..Simulation::default() }, true)
        };
        let drawn = of(vec![cell(1, 0), cell(2, 9), cell(4, 9)]).expect("two sizes");
        assert_eq!(drawn.series[0].marks.len(), 2);
        assert!(of(vec![cell(1, 0), cell(2, 0), cell(4, 9)]).is_none());
        let written = |written_bytes| SimulatedCell {
            written_bytes,
            absorbed_bytes: written_bytes / 4,
            ..SimulatedCell::default()
        };
        let shares = [0, 4096].map(|bytes| absorbed_share(&written(bytes)));
        assert_eq!(shares, [None, Some("25 %".to_owned())]);
    }

    #[test]
    fn nothing_is_said_of_single_requests_where_none_can_be_predicted() {
        let of = |paired_requests| {
            let agreement =
                SimulationAgreement { paired_requests, ..SimulationAgreement::default() };
            agreement_of(&Simulation { agreement: Some(agreement), ..Simulation::default() })
        };
        assert!(
            of(0).contains("Request by request it cannot be told")
                && !of(0).contains("within 1 ms")
        );
        assert!(of(7).contains("over 7 requests"));
    }

    #[test]
    fn a_calibrated_drive_that_does_not_explain_these_requests_is_said_to() {
        assert!(!doubted("calibrated", 0.02, 0.92, 100));
        assert!(doubted("calibrated", 0.21, 0.92, 100));
        assert!(doubted("calibrated", 0.02, 0.3, 100));
        assert!(!doubted("calibrated", 0.02, 0.0, 0));
        assert!(!doubted("generic", 0.9, 0.0, 100));
        // Only the first of two drives is compared with the recording.
        assert!(doubted("calibrated; from published parameters", 0.21, 0.92, 100));
        assert!(!doubted("from published parameters; calibrated", 0.21, 0.92, 100));
    }
}
