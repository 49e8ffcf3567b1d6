//! The seek curve and the controller's times, from the rotation that requests waited for.
//!
//! Once the phase of the platter is known, a request's time says exactly how long before its first sector the head would
//! have been there if it took no time to get there. What is left after the true time is a wait between nothing and one
//! rotation, evenly spread. So over requests with seeks of about the same length, the least and the longest wait tell how
//! far the assumed time is off, without the error of a mean.

use crate::disk::Disk;
use crate::drive::{Drive, Parameters};
use crate::job::Job;
use crate::seek::SeekCurve;
use ioscape_schema::statistics::mean;
use ioscape_schema::units::Bytes;
use std::collections::BTreeMap;

/// Groups of seeks of about the same length, and the fewest requests of one.
const GROUPS: usize = 40;
const GROUP_LEAST: usize = 25;

/// A seek over this share of the cylinders tests the seek curve; shorter ones say nothing of longer ones.
const FAR: f64 = 0.1;
const FAR_IN_WORDS: &str = "seek over a tenth of the cylinders or more";

/// A seek over at most this share of the cylinders tells short ones.
const NEAR: f64 = 0.01;
const NEAR_IN_WORDS: &str = "seek over a hundredth of the cylinders or less";

/// Requests further than this from the platter's phase were not served by the medium alone, in nanoseconds.
const OFF_PHASE_NS: f64 = 60_000.0;

/// The share by which a rate is changed first to fit it.
pub const RATE_STEP: f64 = 0.05;

/// The rate of the bus and an overhead explain the same times unless such a step moves the longest requests against the shortest by more than
/// the mean of a group (the root of its number is 5) can be off the phase: so much longer at least, in nanoseconds, must they take the bus.
const TELLING_NS: f64 = OFF_PHASE_NS / 5.0 / RATE_STEP;

/// Rounds of fitting a line, and the error that counts as none, in milliseconds.
const ROUNDS: usize = 30;
const EXACT_MS: f64 = 0.002;

/// One request that went to the medium after another.
#[derive(Clone, Copy, Debug)]
struct Wait {
    distance: u32,
    write: bool,
    after_write: bool,
    /// Whether the arm had neither to move nor to switch heads.
    stays: bool,
    /// Rotation that it waited for, if the assumed times are right.
    wait_ns: f64,
    /// How far its completion is from the phase of the one before.
    off_phase_ns: f64,
}

/// `near` with times that explain the waits better; `None` when too few requests tell them.
pub fn fitted(near: &Parameters, drive: &Drive, jobs: &[Job]) -> Option<Parameters> {
    let rotation_ns = drive.mechanism.layout.rotation_ns() as f64;
    let mut all = waits(drive, jobs, rotation_ns);
    let mut fitted = near.clone();
    let later_ns = later_writes(&all)?;
    shift_after(&mut fitted, later_ns);
    for wait in &mut all {
        let from = f64::from(u8::from(wait.write)) - f64::from(u8::from(wait.after_write));
        wait.off_phase_ns -= from * later_ns;
        wait.wait_ns -= from * later_ns;
    }
    all.retain(|wait| wait.off_phase_ns.abs() < OFF_PHASE_NS);
    let still: Vec<Wait> = all.iter().copied().filter(|wait| wait.stays).collect();
    let mut before_ns = [0.0; 2];
    for write in [false, true] {
        let of_kind = still.iter().filter(|wait| wait.write == write).map(|wait| wait.wait_ns);
        before_ns[usize::from(write)] = off(of_kind.collect(), rotation_ns).unwrap_or(0.0);
    }
    let mut moved: Vec<Wait> = all.into_iter().filter(|wait| wait.distance > 0).collect();
    moved.sort_by_key(|wait| wait.distance);
    if still.len() < 2 * GROUP_LEAST {
        // The controller's time cannot be separated from the arm's, only how much longer writes take than reads.
        before_ns = [0.0, longer_writes(&moved, rotation_ns)];
    }
    fitted.controller.read_before_ms =
        (fitted.controller.read_before_ms + before_ns[0] / 1e6).max(0.0);
    fitted.controller.write_before_ms =
        (fitted.controller.write_before_ms + before_ns[1] / 1e6).max(0.0);
    for wait in &mut moved {
        wait.wait_ns -= before_ns[usize::from(wait.write)];
    }
    let points = points(&moved, drive, rotation_ns);
    fitted.seek = curve(&near.seek, drive, &points)?;
    Some(fitted)
}

/// What requests tell of a drive: how many of them came from or went to the medium behind another one that did, and how long they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Reads and writes.
    of_kind: [usize; 2],
    /// With a seek over a good part of the cylinders.
    far: usize,
    /// With a seek over a few of them.
    near: usize,
    /// Blocks of the shortest and of the longest reads and writes, wherever their data were.
    lengths: [Option<[u64; 2]>; 2],
}

/// What `jobs` tell of `drive`.
pub fn seen(drive: &Drive, jobs: &[Job]) -> Seen {
    let all = waits(drive, jobs, drive.mechanism.layout.rotation_ns() as f64);
    let writes = all.iter().filter(|wait| wait.write).count();
    let last = drive.mechanism.layout.tracks().iter().map(|track| track.cylinder).max();
    let last = f64::from(last.unwrap_or(0));
    let (far, near) = ((FAR * last).max(1.0), (NEAR * last).max(1.0));
    let distances = || all.iter().map(|wait| f64::from(wait.distance));
    Seen {
        of_kind: [all.len() - writes, writes],
        far: distances().filter(|distance| *distance >= far).count(),
        near: distances().filter(|distance| (1.0..=near).contains(distance)).count(),
        lengths: [false, true].map(|write| lengths(jobs, write)),
    }
}

/// Blocks that a group of the shortest reads or writes has at most, and one of the longest at least: a few odd ones tell no rate.
fn lengths(jobs: &[Job], write: bool) -> Option<[u64; 2]> {
    let of_kind = jobs.iter().filter(|job| job.io.is_timed() && job.command.write == write);
    let mut counts: Vec<u64> = of_kind.map(|job| job.command.count).collect();
    counts.sort_unstable();
    let group = GROUP_LEAST.min(counts.len() / 4);
    Some([*counts.get(group.checked_sub(1)?)?, *counts.get(counts.len() - group)?])
}

/// Time of a seek over one cylinder, in milliseconds.
fn single_ms(drive: &Drive) -> f64 {
    drive.mechanism.seek_ns.get(1).map_or(0.0, |ns| f64::from(*ns) / 1e6)
}

impl Seen {
    /// By how much longer than the shortest the longest reads and writes take a drive's bus, in nanoseconds.
    fn apart_ns(self, drive: &Drive) -> [Option<u64>; 2] {
        [false, true].map(|write| {
            let [short, long] = self.lengths[usize::from(write)]?;
            Some(drive.bus.time_ns(long, write) - drive.bus.time_ns(short, write))
        })
    }

    /// Whether reads, and writes, tell the rate of the bus, beginning with that of `start`.
    pub fn tells_rates(self, start: &Drive) -> [bool; 2] {
        self.apart_ns(start).map(|apart_ns| apart_ns.is_some_and(|ns| ns as f64 > TELLING_NS))
    }

    /// What requests that a drive was fitted to from a start do not tell, a sentence each.
    pub fn untold(self, start: &Drive, fitted: &Drive) -> Vec<String> {
        let mut untold = self.few();
        if self.far >= GROUP_LEAST && self.near < GROUP_LEAST {
            let moved_ms = single_ms(fitted) - single_ms(start);
            untold.push(format!(
                "short seeks are those of the start, moved by {moved_ms:+.3} ms at one cylinder: only {} of the fitted requests {NEAR_IN_WORDS}",
                self.near
            ));
        }
        untold.extend(self.rates(start));
        untold
    }

    /// The rates of the bus that stay those of the start.
    fn rates(self, start: &Drive) -> impl Iterator<Item = String> {
        let (told, apart_ns) = (self.tells_rates(start), self.apart_ns(start));
        let block_bytes = u64::from(start.sector_bytes);
        ["reads", "writes"].into_iter().enumerate().filter_map(move |(at, kind)| {
            let lengths = self.lengths[at].filter(|_| !told[at])?;
            let [short, long] = lengths.map(|blocks| Bytes((blocks * block_bytes) as f64));
            let apart_ms = apart_ns[at]? as f64 / 1e6;
            let why = match short == long {
                true => format!("all {kind} are about {long}"),
                false => format!("on it, {kind} of {short} and {long} differ by {apart_ms:.3} ms"),
            };
            Some(format!("the bus rate of {kind} is as at the start: {why}"))
        })
    }

    /// Which times too few requests tell.
    fn few(self) -> Vec<String> {
        let [reads, writes] = self.of_kind;
        let all = [
            ("times of reads are", reads, "read from the medium"),
            ("times of writes are", writes, "write to the medium"),
            ("the seek curve is", self.far, FAR_IN_WORDS),
        ];
        let few = all.into_iter().filter(|(_, count, _)| *count < GROUP_LEAST);
        few.map(|(told, count, what)| {
            format!(
                "{told} as at the start, or hardly better known: only {count} of the fitted requests {what} behind another"
            )
        })
        .collect()
    }

    /// Why a drive that explains these requests may still be another; `None` where seeks test it.
    pub fn doubt(self) -> Option<String> {
        (self.far < GROUP_LEAST).then(|| {
            format!(
                "only {} of the held-out requests {FAR_IN_WORDS}, so that neither the seek curve nor the rotation is tested",
                self.far
            )
        })
    }
}

/// Every request behind one that the medium served too, from the recorded state of the disk.
fn waits(drive: &Drive, jobs: &[Job], rotation_ns: f64) -> Vec<Wait> {
    let layout = &drive.mechanism.layout;
    let mut disk = Disk::new(drive, drive.buffer.usual());
    let mut before: Option<&Job> = None;
    let mut waits = Vec::new();
    for job in jobs {
        let done = disk.serve(job.io.issued_ns, job.command);
        if done.parts.cached || !job.io.is_timed() {
            before = None;
            continue;
        }
        let late_ns = job.io.completed_ns as f64 - done.completed_ns as f64;
        if let Some(last) = before.filter(|last| last.io.completed_ns <= job.io.issued_ns) {
            let end = last.command.block + last.command.count.max(1) - 1;
            let [from, to] =
                [end, job.command.block].map(|b| layout.tracks()[layout.locate(b).track]);
            waits.push(Wait {
                distance: from.cylinder.abs_diff(to.cylinder),
                write: job.command.write,
                after_write: last.command.write,
                stays: done.parts.seek_ns == 0,
                wait_ns: done.parts.rotation_ns as f64 + late_ns,
                off_phase_ns: late_ns - rotation_ns * libm::round(late_ns / rotation_ns),
            });
        }
        let after_media = done.completed_ns - disk.free_ns().min(done.completed_ns);
        let media_ns = job.io.completed_ns.saturating_sub(after_media);
        disk.resynchronize([job.command.block, job.command.count], media_ns);
        before = Some(job);
    }
    waits
}

/// By how much more after the medium writes complete than reads do, beyond what is assumed; 0 where there is but one kind.
fn later_writes(waits: &[Wait]) -> Option<f64> {
    let changed = waits.iter().filter(|wait| wait.write != wait.after_write);
    let mut late: Vec<f64> = changed
        .map(|wait| if wait.write { wait.off_phase_ns } else { -wait.off_phase_ns })
        .collect();
    late.sort_by(f64::total_cmp);
    if waits.is_empty() { None } else { Some(late.get(late.len() / 2).copied().unwrap_or(0.0)) }
}

/// Lets writes complete that much later, or reads earlier.
fn shift_after(fitted: &mut Parameters, later_ns: f64) {
    let controller = &mut fitted.controller;
    let after = controller.write_after_ms + later_ns / 1e6;
    controller.write_after_ms = after.max(0.0);
    controller.read_after_ms += (-after).max(0.0);
}

/// By how much the assumed time to the first sector is too short, from the waits that are left: they lie between this and
/// a rotation more. The rotation that holds most of them counts, so a few that waited for something else do no harm.
fn off(mut waits: Vec<f64>, rotation_ns: f64) -> Option<f64> {
    if waits.len() < GROUP_LEAST {
        return None;
    }
    waits.sort_by(f64::total_cmp);
    let (mut most, mut found, mut end) = (0, Vec::new(), 0);
    for (begin, &low) in waits.iter().enumerate() {
        while waits.get(end).is_some_and(|&high| high < low + rotation_ns) {
            end += 1;
        }
        if end - begin > most {
            (most, found) = (end - begin, Vec::new());
        }
        if end - begin == most {
            found.push((low + waits[end - 1] - rotation_ns) / 2.0);
        }
    }
    Some(mean(&found))
}

/// Groups of about the same distance, as large as one another.
fn groups(waits: &[Wait]) -> impl Iterator<Item = &[Wait]> {
    let count = (waits.len() / (2 * GROUP_LEAST)).clamp(waits.len().min(1), GROUPS);
    (0..count).map(move |n| &waits[n * waits.len() / count..(n + 1) * waits.len() / count])
}

/// By how much longer than assumed writes take than reads to their first sector, over seeks of the same length.
fn longer_writes(moved: &[Wait], rotation_ns: f64) -> f64 {
    let of_kind = |group: &[Wait], write: bool| {
        let waits = group.iter().filter(|wait| wait.write == write).map(|wait| wait.wait_ns);
        off(waits.collect(), rotation_ns)
    };
    let longer = |group| Some(of_kind(group, true)? - of_kind(group, false)?);
    let mut found: Vec<f64> = groups(moved).filter_map(longer).collect();
    found.sort_by(f64::total_cmp);
    found.get(found.len() / 2).copied().unwrap_or(0.0)
}

/// Distances and their seek times in milliseconds, as the waits have them.
fn points(moved: &[Wait], drive: &Drive, rotation_ns: f64) -> Vec<(u32, f64)> {
    let mut points: Vec<(u32, f64)> = Vec::new();
    for group in groups(moved) {
        let distance = group[group.len() / 2].distance;
        let Some(off_ns) = off(group.iter().map(|wait| wait.wait_ns).collect(), rotation_ns) else {
            continue;
        };
        let assumed = f64::from(drive.mechanism.seek_ns[distance as usize]);
        if points.last().is_none_or(|(last, _)| *last < distance) {
            points.push((distance, (assumed + off_ns).max(0.0) / 1e6));
        }
    }
    points
}

/// A curve through the points: of two parts where it had two, otherwise the one of the start moved there.
fn curve(near: &SeekCurve, drive: &Drive, points: &[(u32, f64)]) -> Option<SeekCurve> {
    const PART: usize = 4;
    if points.len() < 3 {
        return None;
    }
    let SeekCurve::TwoPart { short, divider, .. } = near else {
        return Some(moved_to(near, drive, points));
    };
    let parts = |at: usize| {
        let (a, b, near_error) = line(&points[..at], |d| libm::sqrt(f64::from(d)));
        let (c, e, far_error) = line(&points[at..], f64::from);
        (near_error + far_error, at, [a, b, c, e])
    };
    let cut = (PART..points.len().saturating_sub(PART)).map(parts);
    let (_, at, [a, b, c, e]) = cut.min_by(|x, y| x.0.total_cmp(&y.0))?;
    // Where both parts are equal between two groups they meet; otherwise the divider stays if it can.
    let between = points[at - 1].0 + 1..points[at].0 + 1;
    let gap = |d: u32| (a + b * libm::sqrt(f64::from(d)) - c - e * f64::from(d)).abs();
    let met = between.clone().min_by(|x, y| gap(*x).total_cmp(&gap(*y)))?;
    let divider = if between.contains(divider) { *divider } else { met };
    if [a, b, c, e].iter().any(|value| !value.is_finite() || *value < 0.0) {
        return Some(moved_to(near, drive, points));
    }
    Some(SeekCurve::TwoPart { divider, a, b, c, e, short: short.clone() })
}

/// The curve of the start, moved to the points: its shape between them stays, above all that of seeks shorter than any group's. It falls from one
/// distance to a longer one by no more than it did.
fn moved_to(near: &SeekCurve, drive: &Drive, points: &[(u32, f64)]) -> SeekCurve {
    let assumed = |distance: u32| f64::from(drive.mechanism.seek_ns[distance as usize]) / 1e6;
    let mut start: BTreeMap<u32, f64> = match near {
        SeekCurve::Table { points } => points.iter().copied().collect(),
        _ => bends(drive.mechanism.layout.cylinders()).map(|d| (d, assumed(d))).collect(),
    };
    for (distance, _) in points {
        start.entry(*distance).or_insert_with(|| assumed(*distance));
    }
    let offset_at = |(distance, time): &(u32, f64)| (*distance, time - assumed(*distance));
    let offsets: Vec<(u32, f64)> = points.iter().map(offset_at).collect();
    let mut found: Vec<(u32, f64)> = Vec::with_capacity(start.len());
    let mut before: Option<f64> = None;
    for (distance, time) in start {
        let falls = before.map_or(0.0, |before| (time - before).min(0.0));
        let least = found.last().map_or(0.0, |(_, last)| last + falls);
        found.push((distance, (time + offset(&offsets, distance)).max(least).max(0.0)));
        before = Some(time);
    }
    SeekCurve::Table { points: found }
}

/// Distances that straight lines can follow a smooth curve by: closer where they are short.
fn bends(cylinders: u32) -> impl Iterator<Item = u32> {
    let steps = std::iter::successors(Some(1u32), |last| Some(last + last.div_ceil(8)));
    steps.take_while(move |distance| *distance < cylinders).chain([cylinders - 1])
}

/// What lies between the two nearest of these points, or is the same as at the only one.
fn offset(points: &[(u32, f64)], distance: u32) -> f64 {
    let behind = points.partition_point(|point| point.0 < distance);
    match (points[..behind].last(), points.get(behind)) {
        (Some((low, below)), Some((high, above))) => {
            below + (above - below) * f64::from(distance - low) / f64::from(high - low)
        }
        (Some((_, only)), None) | (None, Some((_, only))) => *only,
        (None, None) => 0.0,
    }
}

/// The line of time against a function of the distance that has the least sum of errors, whichever their sign, so that a
/// outlying group does not distort it: constant, factor, and that sum.
fn line(points: &[(u32, f64)], of: impl Fn(u32) -> f64) -> (f64, f64, f64) {
    let (mut constant, mut factor) = (0.0, 0.0);
    let mut weights = vec![1.0; points.len()];
    for _ in 0..ROUNDS {
        let mean = |value: &dyn Fn(&(u32, f64)) -> f64| {
            let sum = points.iter().zip(&weights).map(|(point, w)| w * value(point)).sum::<f64>();
            sum / weights.iter().sum::<f64>()
        };
        let (x, y) = (mean(&|p| of(p.0)), mean(&|p| p.1));
        let spread = mean(&|p| (of(p.0) - x) * (of(p.0) - x));
        let common = mean(&|p| (of(p.0) - x) * (p.1 - y));
        factor = if spread > 0.0 { common / spread } else { 0.0 };
        constant = y - factor * x;
        for ((distance, time), weight) in points.iter().zip(&mut weights) {
            *weight = 1.0 / (time - constant - factor * of(*distance)).abs().max(EXACT_MS);
        }
    }
    let error = |(distance, time): &(u32, f64)| (time - constant - factor * of(*distance)).abs();
    (constant, factor, points.iter().map(error).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{simple, simple_parameters};

    #[test]
    fn no_request_on_the_phase_gives_no_group_and_no_point() {
        let drive = simple();
        assert_eq!(groups(&[]).count(), 0);
        assert!(points(&[], &drive, 1e7).is_empty());
        assert_eq!(fitted(&simple_parameters(), &drive, &[]), None);
    }

    /// By how much longer the fitted seeks are than those of a start, where groups are off by so much; in milliseconds.
    fn longer(seek: SeekCurve, groups: &[(u32, f64)]) -> Vec<f64> {
        let near = Parameters { seek, ..simple_parameters() };
        let drive = near.build().unwrap();
        let ns = &drive.mechanism.seek_ns;
        let at = |(d, by): &(u32, f64)| (*d, f64::from(ns[*d as usize]) / 1e6 + by);
        let points: Vec<(u32, f64)> = groups.iter().map(at).collect();
        let found = curve(&near.seek, &drive, &points).unwrap().table(100).unwrap();
        found.iter().zip(ns).map(|(to, from)| (f64::from(*to) - f64::from(*from)) / 1e6).collect()
    }

    #[test]
    fn a_table_keeps_its_shape_between_the_groups_and_before_the_first() {
        let seek = SeekCurve::Table { points: vec![(1, 2.0), (2, 1.5), (10, 3.0), (99, 9.0)] };
        let found = longer(seek.clone(), &[(20, 0.5), (40, 0.7), (60, 0.9)]);
        for (distance, by) in
            [(1, 0.5), (2, 0.5), (10, 0.5), (20, 0.5), (30, 0.6), (40, 0.7), (60, 0.9), (99, 0.9)]
        {
            assert!((found[distance] - by).abs() < 1e-5, "{distance}: {found:?}");
        }
        // A group that is off the other way does not make longer seeks shorter.
        let found = longer(seek, &[(20, 0.9), (21, 0.0), (60, 0.0)]);
        assert!((0.8..0.9).contains(&found[21]) && found[60].abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn a_curve_that_is_no_table_keeps_its_shape_in_one() {
        let seek = SeekCurve::ThreePoints { single: 1.0, average: 5.0, full: 9.0 };
        let found = longer(seek, &[(20, 0.5), (40, 0.5), (60, 0.5)]);
        assert!(found[1..].iter().all(|by| (by - 0.5).abs() < 0.01), "{found:?}");
    }
}
