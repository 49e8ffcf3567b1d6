//! The seek curve and the controller's times, from the rotational latency of requests.
//!
//! Once the phase of the platter is known, a request's time shows exactly how long before its first
//! sector the head would have arrived if it took no time to get there. What remains after the true
//! time is a wait between zero and one rotation, evenly distributed. So over requests with seeks of
//! similar length, the least and the longest wait show how far the assumed time is off, without the
//! error of a mean.

use crate::disk::Disk;
use crate::drive::{Drive, Parameters};
use crate::job::Job;
use crate::seek::SeekCurve;
use crate::simulate::tells_angle;
use crate::stream::{on_disk, wants_flush};
use ioscape_schema::statistics::mean;
use std::collections::BTreeMap;

/// Most groups of seeks of similar length.
const GROUPS: usize = 40;
/// Least number of requests in a group.
pub const GROUP_LEAST: usize = 25;
/// Least number of requests without a seek that tell the controller's times from the arm's.
pub const STILL_LEAST: usize = 2 * GROUP_LEAST;

/// Requests farther than this from the platter's phase, in nanoseconds, were not served by the
/// medium alone.
pub const OFF_PHASE_NS: f64 = 60_000.0;

/// Largest share of all distances between those of two neighbouring groups of seeks, up to which a
/// curve is drawn through them.
const UNSEEN_MOST: f64 = 0.5;

/// Rounds of fitting a line, and the least error that counts, in milliseconds.
const ROUNDS: usize = 30;
const EXACT_MS: f64 = 0.002;

/// A request that was served from the medium right after another that was.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// Distance in cylinders that the arm had to move.
    pub distance: u32,
    /// Whether it wrote.
    pub write: bool,
    after_write: bool,
    /// Whether it came so soon that the platter's angle was still known.
    pub soon: bool,
    /// How much later it completed than the assumed times predict, in nanoseconds.
    pub late_ns: f64,
    /// Whether the arm had neither to move nor to switch heads.
    pub stays: bool,
    /// Rotational latency, if the assumed times are right.
    wait_ns: f64,
    /// How far its completion is from the phase of the request before.
    off_phase_ns: f64,
}

/// Returns `near` with times that explain the waits better; `None` if too few requests determine
/// them.
pub fn fitted(near: &Parameters, drive: &Drive, jobs: &[Job]) -> Option<Parameters> {
    let rotation_ns = drive.mechanism.layout.rotation_ns() as f64;
    let mut all = waits(drive, jobs);
    let mut fitted = near.clone();
    let later_ns = shift_after(&mut fitted, later_writes(&all)?);
    for wait in &mut all {
        let own_ns = later_ns[usize::from(wait.write)];
        wait.off_phase_ns -= own_ns - later_ns[usize::from(wait.after_write)];
        // The head had to arrive as much sooner.
        wait.wait_ns -= own_ns;
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
    if still.len() < STILL_LEAST {
        // The controller's time cannot be separated from the arm's; only how much longer writes
        // take than reads is known.
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

/// Returns every request that follows one served from the medium and was served from it too,
/// predicted from the recorded state of the disk.
pub fn waits(drive: &Drive, jobs: &[Job]) -> Vec<Wait> {
    let rotation_ns = drive.mechanism.layout.rotation_ns() as f64;
    let layout = &drive.mechanism.layout;
    let mut disk = Disk::new(drive, drive.buffer.usual());
    let mut before: Option<&Job> = None;
    let mut waits = Vec::new();
    for job in jobs {
        let done = on_disk(&mut disk, job.io.issued_ns, job.command, job.io.flags);
        let flushes = wants_flush(job.command, job.io.flags);
        if done.parts.cached || job.command.count == 0 || !job.io.is_timed() {
            if flushes && job.io.is_timed() {
                disk.was_flushed(job.io.completed_ns);
            }
            before = None;
            continue;
        }
        let late_ns = job.io.completed_ns as f64 - done.completed_ns as f64;
        // How long a flush before the request took is not recorded.
        let is_known = |last: &&Job| !flushes && last.io.completed_ns <= job.io.issued_ns;
        if let Some(last) = before.filter(is_known) {
            let end = last.command.block + last.command.count.max(1) - 1;
            let [from, to] =
                [end, job.command.block].map(|b| layout.tracks()[layout.locate(b).track]);
            waits.push(Wait {
                distance: from.cylinder.abs_diff(to.cylinder),
                write: job.command.write,
                after_write: last.command.write,
                soon: tells_angle(last, job),
                late_ns,
                stays: done.parts.seek_ns == 0,
                wait_ns: done.parts.rotation_ns as f64 + late_ns,
                off_phase_ns: late_ns - rotation_ns * libm::round(late_ns / rotation_ns),
            });
        }
        let blocks = [job.command.block, job.command.count];
        disk.resynchronize(blocks, done.completed_ns, job.io.completed_ns);
        before = Some(job);
    }
    waits
}

/// How much later after the medium writes complete than reads, beyond the assumed times; 0 if all
/// are of one kind.
fn later_writes(waits: &[Wait]) -> Option<f64> {
    let changed = waits.iter().filter(|wait| wait.write != wait.after_write);
    let mut late: Vec<f64> = changed
        .map(|wait| if wait.write { wait.off_phase_ns } else { -wait.off_phase_ns })
        .collect();
    late.sort_by(f64::total_cmp);
    if waits.is_empty() { None } else { Some(late.get(late.len() / 2).copied().unwrap_or(0.0)) }
}

/// Shifts the completion of writes by `later_ns` against that of reads. If this would make the
/// time after writes negative, the remainder is added to the time after reads instead. Returns by
/// how much later reads and writes complete, in nanoseconds.
fn shift_after(fitted: &mut Parameters, later_ns: f64) -> [f64; 2] {
    let controller = &mut fitted.controller;
    let after = controller.write_after_ms + later_ns / 1e6;
    let later_ms = [(-after).max(0.0), after.max(0.0) - controller.write_after_ms];
    controller.read_after_ms += later_ms[0];
    controller.write_after_ms += later_ms[1];
    later_ms.map(|ms| ms * 1e6)
}

/// How much the assumed time to the first sector is too short. The remaining waits lie between this
/// and one rotation more. The rotation that holds most of them counts, so a few requests that
/// waited for something else do no harm.
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

/// Groups of similar distance, all of about the same size.
fn groups(waits: &[Wait]) -> impl Iterator<Item = &[Wait]> {
    let count = (waits.len() / (2 * GROUP_LEAST)).clamp(waits.len().min(1), GROUPS);
    (0..count).map(move |n| &waits[n * waits.len() / count..(n + 1) * waits.len() / count])
}

/// How much longer writes take to their first sector than reads, beyond the assumed times, over
/// seeks of similar length.
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

/// Distances and their seek times in milliseconds, as the waits show them.
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

/// A curve through the points: in two parts if `near` has two and the points show both, otherwise
/// `near` moved to the points.
fn curve(near: &SeekCurve, drive: &Drive, points: &[(u32, f64)]) -> Option<SeekCurve> {
    const PART: usize = 4;
    if points.len() < 3 {
        return None;
    }
    let longest = drive.mechanism.layout.cylinders() - 1;
    let SeekCurve::TwoPart { short, divider, .. } = near else {
        return Some(moved_to(near, drive, points));
    };
    if !covers(points, longest) {
        return Some(moved_to(near, drive, points));
    }
    let parts = |at: usize| {
        let (a, b, near_error) = line(&points[..at], |d| libm::sqrt(f64::from(d)));
        let (c, e, far_error) = line(&points[at..], f64::from);
        (near_error + far_error, at, [a, b, c, e])
    };
    let cut = (PART..points.len().saturating_sub(PART)).map(parts);
    let (_, at, [a, b, c, e]) = cut.min_by(|x, y| x.0.total_cmp(&y.0))?;
    // The divider stays if it can; otherwise it is where the two parts come closest between the two
    // groups.
    let between = points[at - 1].0 + 1..points[at].0 + 1;
    let gap = |d: u32| (a + b * libm::sqrt(f64::from(d)) - c - e * f64::from(d)).abs();
    let met = between.clone().min_by(|x, y| gap(*x).total_cmp(&gap(*y)))?;
    let divider = if between.contains(divider) { *divider } else { met };
    if [a, b, c, e].iter().any(|value| !value.is_finite() || *value < 0.0) {
        return Some(moved_to(near, drive, points));
    }
    Some(SeekCurve::TwoPart { divider, a, b, c, e, short: short.clone() })
}

/// Whether no distances up to the longest seek lie far from all points: a line through points that
/// are near one another reveals nothing about others.
fn covers(points: &[(u32, f64)], longest: u32) -> bool {
    let ends = points.iter().map(|point| point.0);
    let apart = ends.clone().chain([longest]).zip([0].into_iter().chain(ends));
    apart.map(|(to, from)| to.saturating_sub(from)).max()
        <= Some((UNSEEN_MOST * f64::from(longest)) as u32)
}

/// Returns the curve of the start, moved to the points. It keeps its shape between them, and above
/// all beyond them, for seeks shorter or longer than any group's. It never falls more steeply than
/// it did.
fn moved_to(near: &SeekCurve, drive: &Drive, points: &[(u32, f64)]) -> SeekCurve {
    let assumed = |distance: u32| f64::from(drive.mechanism.seek_ns[distance as usize]) / 1e6;
    let mut start: BTreeMap<u32, f64> = match near {
        SeekCurve::Table { points } => points.iter().copied().collect(),
        _ => bends(drive.mechanism.layout.cylinders()).map(|d| (d, assumed(d))).collect(),
    };
    // A table ends at the longest seek: a line through two groups near one another reveals nothing
    // about longer ones.
    let longest = drive.mechanism.layout.cylinders() - 1;
    for distance in points.iter().map(|point| point.0).chain([longest]) {
        start.entry(distance).or_insert_with(|| assumed(distance));
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

/// Distances between which straight lines approximate a smooth curve; denser where distances are
/// short.
fn bends(cylinders: u32) -> impl Iterator<Item = u32> {
    let steps = std::iter::successors(Some(1u32), |last| Some(last + last.div_ceil(8)));
    steps.take_while(move |distance| *distance < cylinders).chain([cylinders - 1])
}

/// Interpolates between the two nearest of these points, or returns the value of the only one.
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

/// Fits a line of time against a function of the distance, with the least sum of absolute errors,
/// so that an outlying group does not distort it. Returns the constant, the factor and that sum.
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
    use crate::testing::{io, simple, simple_parameters, timed};
    use ioscape_schema::{Io, IoFlags, Op};
    use rand_pcg::Pcg64Mcg;
    use rand_pcg::rand_core::Rng;

    /// Once, requests to two places at 60 % of the disk from one another, and those to its first
    /// fifth, moved seeks that were never seen by up to 12 ms, away from the right start.
    #[test]
    fn no_line_is_drawn_far_from_all_points() {
        let covered = |distances: &[u32]| {
            let points: Vec<(u32, f64)> = distances.iter().map(|d| (*d, 5.0)).collect();
            covers(&points, 6000)
        };
        assert!(covered(&[100, 2000, 4500]));
        assert!(!covered(&[10, 20, 3600]), "two places");
        assert!(!covered(&[100, 500, 1200]), "the first fifth");
        assert!(!covered(&[3200, 4000, 5900]), "far places alone");
    }

    #[test]
    fn a_write_past_a_volatile_buffer_tells_of_the_medium_and_one_with_a_flush_does_not() {
        let mut truth = simple_parameters();
        truth.buffer.write_back = true;
        let drive = truth.build().unwrap();
        let count = |flags: IoFlags| {
            let write = |n: u64| Io {
                flags,
                ..io(Op::Write, n * 37 % 100 * 200 * 512, 512, n * 50_000_000)
            };
            let rows: Vec<Io> = (0..100).map(write).collect();
            waits(&drive, &timed(&truth, &rows)).len()
        };
        let flags = [IoFlags::empty(), IoFlags::FUA, IoFlags::FUA | IoFlags::FLUSH];
        assert_eq!(flags.map(count), [0, 99, 0]);
    }

    /// Guards against a defect: of requests behind writes, the head seemed to come later.
    #[test]
    fn writes_that_complete_later_than_assumed_are_no_longer_seeks() {
        let start = simple_parameters();
        let mut truth = start.clone();
        truth.controller.write_after_ms += 1.0;
        let mut dice = Pcg64Mcg::new(5);
        let row = |n: u64| {
            let op = if dice.next_u64() % 5 < 3 { Op::Write } else { Op::Read };
            let at_ns = n * 40_000_000 + dice.next_u64() % 10_000_000;
            io(op, dice.next_u64() % 19_000 * 512, 512, at_ns)
        };
        let rows: Vec<Io> = (0..4000).map(row).collect();
        let drive = start.build().unwrap();
        let found = fitted(&start, &drive, &timed(&truth, &rows)).unwrap();
        let after_ms = found.controller.write_after_ms - truth.controller.write_after_ms;
        assert!(after_ms.abs() < 0.01, "{after_ms}");
        let seeks = found.build().unwrap().mechanism.seek_ns;
        let off = seeks.iter().zip(&drive.mechanism.seek_ns).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(off < Some(500_000), "{off:?}");
    }

    #[test]
    fn no_request_on_the_phase_gives_no_group_and_no_point() {
        let drive = simple();
        assert_eq!(groups(&[]).count(), 0);
        assert!(points(&[], &drive, 1e7).is_empty());
        assert_eq!(fitted(&simple_parameters(), &drive, &[]), None);
    }

    /// How much longer the fitted seeks are than those of `seek`, if `groups` are off by these
    /// times; in milliseconds.
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
        // A group that is off in the other direction does not make longer seeks shorter.
        let found = longer(seek, &[(20, 0.9), (21, 0.0), (60, 0.0)]);
        assert!((0.8..0.9).contains(&found[21]) && found[60].abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn noise_between_the_last_groups_is_no_slope_of_longer_seeks() {
        let seek = SeekCurve::Table { points: vec![(1, 1.0), (50, 6.0)] };
        let found = longer(seek, &[(20, 0.0), (74, 0.0), (75, 0.05)]);
        assert!((found[75] - 0.05).abs() < 1e-5, "{found:?}");
        assert!((found[99] - 0.05).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn a_curve_that_is_no_table_keeps_its_shape_in_one() {
        let seek = SeekCurve::ThreePoints { single: 1.0, average: 5.0, full: 9.0 };
        let found = longer(seek, &[(20, 0.5), (40, 0.5), (60, 0.5)]);
        assert!(found[1..].iter().all(|by| (by - 0.5).abs() < 0.01), "{found:?}");
    }
}
