//! The order of parts, what is between them, and what does not fit.

use super::Header;
use super::tables::Tables;
use crate::analyze::absorption::interval_of;
use crate::clock::TraceClock;
use ioscape_schema::units::{Nanos, Seconds};
use ioscape_schema::{Warning, WarningKind};
use std::collections::HashMap;

/// A part, with what the user calls its file.
pub(super) type Named<'a> = (&'a str, &'a Header);

/// Parts by the time of their first request; those without requests come last.
pub(super) fn by_time(parts: &[Named<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|&at| {
        let (name, header) = parts[at];
        (header.ios == 0, header.first_ns, header.last_ns, name)
    });
    order
}

/// Refuses parts that are not of one trace, or were analyzed differently.
pub(super) fn check_alike(parts: &[Named<'_>]) -> Result<(), String> {
    let Some(((first, begin), rest)) = parts.split_first() else {
        return Err("name the states of the parts".to_owned());
    };
    for (name, header) in rest {
        if !header.options.merges_with(&begin.options) {
            return Err(format!(
                "{first} and {name} were not analyzed alike: give both the same --block, --block-align, --interleave and --exact-blocks"
            ));
        }
        // Only traces of one format can share a clock that is not recorded.
        let is_untold = header.clock == TraceClock::Machine;
        let differs = is_untold && header.info.format != begin.info.format;
        if header.clock != begin.clock || differs {
            return Err(format!(
                "{first} and {name} count time from different beginnings: one of the traces does not tell when it began"
            ));
        }
    }
    Ok(())
}

/// The time span of one disk in one part.
struct Stretch<'a> {
    part: Named<'a>,
    first_ns: u64,
    last_ns: u64,
}

/// Refuses ordered parts that hold the same time of a disk, or that are cut at different times on
/// different disks.
pub(super) fn check_apart(parts: &[Named<'_>], tables: &Tables) -> Result<(), String> {
    let mut before: HashMap<u16, Stretch<'_>> = HashMap::new();
    for (&part, numbers) in parts.iter().zip(&tables.devices) {
        for disk in &part.1.disks {
            let number = numbers.get(usize::from(disk.device)).copied().unwrap_or(disk.device);
            let this = Stretch { part, first_ns: disk.first_ns, last_ns: disk.last_ns };
            if let Some(last) = before.get(&number) {
                let device = &tables.info.devices.get(usize::from(number));
                let device = device.map_or("a disk", |device| device.name.as_str());
                check_pair(last, &this, device)?;
            }
            before.insert(number, this);
        }
    }
    Ok(())
}

fn check_pair(early: &Stretch<'_>, late: &Stretch<'_>, device: &str) -> Result<(), String> {
    let (first, second) = (early.part.0, late.part.0);
    if late.first_ns < early.last_ns {
        return Err(format!(
            "{first} and {second} both hold requests to {device} between {} and {} after the first request of {first}: each request must be in one part (the files of one rotated recording overlap by what was under way: analyze them together)",
            since(late.first_ns, early.part.1.first_ns),
            since(early.last_ns.min(late.last_ns), early.part.1.first_ns),
        ));
    }
    let meets = interval_of(early.last_ns) == interval_of(late.first_ns);
    let within = interval_of(early.part.1.last_ns) != interval_of(early.last_ns)
        || interval_of(late.part.1.first_ns) != interval_of(late.first_ns);
    if meets && within {
        return Err(format!(
            "{first} and {second} meet on {device} at another time than on their other disks: cut all disks of a part at the same times"
        ));
    }
    Ok(())
}

/// Refuses a part that is given twice; a part of a single instant overlaps with nothing, so it
/// needs this check.
pub(super) fn check_once(parts: &[Named<'_>]) -> Result<(), String> {
    for (at, (first, one)) in parts.iter().enumerate() {
        let later = parts[at + 1..].iter();
        let mut alike = later.take_while(|(_, other)| begins_and_ends_with(one, other));
        if let Some((second, _)) = alike.find(|(_, other)| is_same(one, other)) {
            return Err(format!(
                "{first} and {second} hold the same requests: name each part once"
            ));
        }
    }
    Ok(())
}

fn begins_and_ends_with(one: &Header, other: &Header) -> bool {
    one.first_ns == other.first_ns && one.last_ns == other.last_ns
}

fn is_same(one: &Header, other: &Header) -> bool {
    let requests = one.ios > 0 && one.ios == other.ios && one.disks == other.disks;
    requests && one.name == other.name && one.asked == other.asked && one.info == other.info
}

fn since(ns: u64, origin_ns: u64) -> String {
    let ns = ns.saturating_sub(origin_ns) as f64;
    if ns < 60e9 { Nanos(ns).to_string() } else { Seconds(ns / 1e9).to_string() }
}

/// Time spans that no part covers, or that may be missing.
pub(super) fn gaps(parts: &[Named<'_>]) -> Vec<Warning> {
    let pause = parts.iter().map(|(_, header)| header.longest_pause_ns).max().unwrap_or(0);
    let mut warnings = Vec::new();
    let mut before: Option<(Named<'_>, u64, Option<u64>)> = None;
    for &(name, header) in parts.iter().filter(|(_, header)| header.ios > 0) {
        if let Some(((early, begun), last_ns, to_ns)) = before {
            let to_ns = to_ns.map(|to| through_idle(parts, to));
            let origin = begun.options.origin_ns;
            let gap = header.first_ns.saturating_sub(last_ns);
            match (to_ns, header.asked.from_ns) {
                (Some(to), Some(from)) if from > to => warnings.push(incomplete(format!(
                    "no part holds the time from {} to {} of the trace, between {early} and {name}",
                    since(to, origin),
                    since(from, origin),
                ))),
                (Some(_), Some(_)) => {}
                _ if gap > pause => warnings.push(incomplete(format!(
                    "between {early} and {name} {} pass without a request, longer than any pause within the parts ({}): whether a part is missing there cannot be told",
                    since(gap, 0),
                    since(pause, 0),
                ))),
                _ => {}
            }
        }
        let ended = before.is_none_or(|(_, last, _)| header.last_ns >= last);
        if ended {
            before = Some(((name, header), header.last_ns, header.asked.to_ns));
        }
    }
    warnings
}

/// How far the parts without requests reach, from `to_ns` on.
fn through_idle(parts: &[Named<'_>], to_ns: u64) -> u64 {
    let mut idle: Vec<[u64; 2]> = parts
        .iter()
        .filter(|(_, header)| header.ios == 0)
        .filter_map(|(_, header)| Some([header.asked.from_ns?, header.asked.to_ns?]))
        .collect();
    idle.sort_unstable();
    idle.into_iter().fold(to_ns, |to, [from, end]| if from <= to { to.max(end) } else { to })
}

fn incomplete(text: String) -> Warning {
    Warning::new(WarningKind::TraceIncomplete, text).at("trace")
}
