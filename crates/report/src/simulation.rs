//! Charts of disk simulations: distributions, times by cache size, and writes absorbed at the host.

use crate::figures::{system_class, system_shape};
use crate::plot::{Axis, Chart, Drawn, Mark, Scale, Series, Unit};
use crate::text::{none, percent, told_time};
use ioscape_schema::statistics::{least_for, sort_by_number};
use ioscape_schema::units::{Bytes, Nanos};
use ioscape_schema::{
    DeviceAgreement, HostCacheAbsorption, HostCachePoint, SimulatedCell, SimulatedParts,
    SimulatedTimes, Simulation, SimulationAgreement,
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

/// The most devices that are named with their agreement, and the fewest requests of one of several
/// by which its drive is judged.
const NAMED: usize = 5;
const JUDGED: u64 = 100;

/// Whether a drive explains requests as one that is called calibrated should.
fn is_close(demerit: f64, paired_requests: u64, paired_within_1ms: f64) -> bool {
    demerit <= SimulationAgreement::DEMERIT_MOST
        && (paired_requests == 0 || paired_within_1ms >= SimulationAgreement::WITHIN_1MS_LEAST)
}

/// A remark if the drive's file is called calibrated but does not explain these requests.
fn doubt(simulation: &Simulation) -> Option<String> {
    let a = simulation.agreement.as_ref()?;
    let far = a.devices.iter().filter(|one| {
        let is_close = is_close(one.demerit, one.paired_requests, one.paired_within_1ms);
        one.requests >= JUDGED && !is_close
    });
    let far: Vec<&str> = far.map(|one| one.device.as_str()).collect();
    let of = match (a.devices.len(), far.as_slice()) {
        (0, _) if is_close(a.demerit, a.paired_requests, a.paired_within_1ms) => return None,
        (0, _) => "these requests".to_owned(),
        (_, []) => return None,
        (..=NAMED, few) => format!("the requests of {}", few.join(", ")),
        (all, many) => format!("the requests of {} of {all} devices", many.len()),
    };
    // Only the first combination is compared with the recording; its drives' status comes first.
    let status = simulation.drive_status.split("; ").next();
    (status == Some("calibrated")).then(|| {
        format!(
            " The drive's file is called calibrated; for {of}, with these options, it is not: over 4 % demerit, or under 80 % within 1 ms."
        )
    })
}

/// How well the devices other than the first agree, in a sentence.
fn others(devices: &[DeviceAgreement]) -> Option<String> {
    let of = |one: &DeviceAgreement| {
        let within = format!("{:.1} % within 1 ms", 100.0 * one.paired_within_1ms);
        let paired =
            if one.paired_requests > 0 { within } else { "none soon after another".into() };
        let demerit = 100.0 * one.demerit;
        format!(
            "on device {}: {demerit:.2} % over {} requests ({paired})",
            one.device, one.requests
        )
    };
    let (_, others) = devices.split_first()?;
    if devices.len() <= NAMED {
        let all = others.iter().map(of).collect::<Vec<_>>().join("; ");
        return (!all.is_empty()).then(|| format!(" Demerit {all}."));
    }
    let others = others.iter().filter(|one| one.requests >= JUDGED);
    let worst = others.clone().max_by(|one, other| one.demerit.total_cmp(&other.demerit))?;
    let is_near = |one: &&DeviceAgreement| one.demerit <= SimulationAgreement::DEMERIT_MOST;
    let (all, near, worst) = (others.clone().count(), others.filter(is_near).count(), of(worst));
    Some(format!(
        " Of {all} other devices with {JUDGED} requests or more, {near} have at most 4 % demerit; the worst, {worst}."
    ))
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
    let device =
        a.devices.first().map(|one| format!(" of device {}, which has the most", one.device));
    Some(format!(
        "Recorded physical times of {} requests{}: mean {}, simulated{of} {}; demerit {:.2} %{apart}. {paired}{}{}",
        a.requests,
        device.unwrap_or_default(),
        Nanos(a.measured_mean_ns),
        Nanos(a.simulated_mean_ns),
        100.0 * a.demerit,
        others(&a.devices).unwrap_or_default(),
        doubt(simulation).unwrap_or_default()
    ))
}

#[cfg(test)]
#[path = "simulation_tests.rs"]
mod tests;
