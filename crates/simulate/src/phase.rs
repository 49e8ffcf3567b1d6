//! The time of a rotation and the skews, from the phase of the platter at the completion of requests.
//!
//! A request served from the medium completes a fixed time after its last sector has passed the
//! head. So with the right rotation time and skews, the completions less the angles of the last
//! sectors all fall on one phase; with wrong ones they spread over the circle. The length of their
//! mean as unit vectors measures how close they are (Rayleigh's test of uniformity). Requests
//! answered by a buffer only add noise.

use crate::drive::{BusTransfer, Drive, Parameters};
use crate::job::Job;
use crate::seeks::GROUP_LEAST;
use ioscape_schema::statistics::sort_by_number;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// How far from an assumed rotation time the search extends, as a share; and the usual speeds, in
/// rotations a minute, that are assumed if the completions show no rotation near the start's.
const RANGE: f64 = 0.01;
const USUAL_RPM: [f64; 8] = [3600.0, 4002.0, 4500.0, 5400.0, 5900.0, 7200.0, 10_000.0, 15_000.0];

/// Number of requests used in the first search, and number used to settle the skews.
const FIRST: usize = 240;
const MANY: usize = 3000;

/// Requests in each of the short parts that settle the rotation time, and the number of parts.
const PART: usize = 40;
const PARTS: usize = 60;

/// Least length of the mean vector for a phase to be believed: chance alone gives a third in the
/// first search.
const COHERENT: f64 = 0.45;

/// Least number of requests of a zone that determine its skews, or a rotation time.
const LEAST: usize = 40;

/// Determines the step of the coarse search for track skews: one step turns the last track of a
/// cylinder by this fraction of a rotation. Near the right skew, the mean vector then keeps nearly
/// all of its length.
const PARTS_OF_TURN: u32 = 16;
/// Cylinder skews that reach this share of the best are searched again, with every track skew near
/// the best one.
const NEAR_BEST: f64 = 0.9;

/// One completed request.
#[derive(Clone, Copy, Debug)]
struct Mark {
    at_ns: f64,
    zone: usize,
    /// End of its last sector on the track, in turns.
    sector: f64,
    /// Position of the track on its cylinder, and of the cylinder in its zone.
    track: i64,
    cylinder: i64,
    write: bool,
}

/// The skews of a zone, in sectors: of each track against the one before, and of each cylinder
/// against the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Skews {
    track: u32,
    cylinder: u32,
}

/// What the phases of completions show.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The start, with the rotation time found, and the skews and offsets of zones that follow.
    pub parameters: Parameters,
    /// The zones, from 0, whose skews and offsets could not be determined.
    pub untold: Vec<usize>,
}

/// Returns what the phases of completions show; `None` if they show nothing, or if `go_on`, which
/// is called repeatedly, ended the search.
pub fn found(
    start: &Parameters,
    drive: &Drive,
    jobs: &[Job],
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Found> {
    if start.zones.is_empty() {
        return None;
    }
    let (marks, missing) = marks(start, drive, jobs);
    // The time that a read spends on the bus can differ between zones; a write completes a fixed
    // time after the medium.
    let writes = 5 * marks.iter().filter(|mark| mark.write).count() > marks.len();
    let mut zones: Vec<Vec<Mark>> = vec![Vec::new(); start.zones.len()];
    for mark in marks {
        zones[mark.zone].push(mark);
    }
    let most = (0..zones.len()).max_by_key(|&z| zones[z].len())?;
    let sectors = |zone: usize| start.zones[zone].sectors_per_track;
    let mut fitted = start.clone();
    let usual_ns = USUAL_RPM.map(|rpm| 60e9 / rpm);
    let rotation_ns = std::iter::once(start.rotation_ms * 1e6)
        .chain(usual_ns)
        .find_map(|near_ns| rotation(&zones[most], sectors(most), near_ns, go_on))?;
    fitted.rotation_ms = libm::round(rotation_ns) / 1e6;
    let mut phases = vec![None; zones.len()];
    for (zone, marks) in zones.iter().enumerate() {
        if !go_on() {
            return None;
        }
        let some = densest(marks, MANY).unwrap_or(marks);
        let circle = circle(sectors(zone));
        let spec = &mut fitted.zones[zone];
        let switches = u32::from(start.heads - spec.spare_tracks_per_cylinder).saturating_sub(1);
        let has = spec.has_skews(start.heads);
        if some.len() < LEAST || !tells_skews(some, has) {
            continue;
        }
        let Some((length, skews)) = best_skews(some, &circle, rotation_ns) else { continue };
        if length < COHERENT {
            continue;
        }
        if has[0] {
            spec.track_skew = skews.track;
        }
        if has[1] {
            let all = i64::from(skews.cylinder) - i64::from(switches) * i64::from(skews.track);
            spec.cylinder_skew = all.rem_euclid(i64::from(spec.sectors_per_track)) as u32;
        }
        let skipped = f64::from(missing[zone] * skews.track) / f64::from(sectors(zone));
        phases[zone] = phase(some, &circle, skews, rotation_ns, writes).map(|p| p + skipped);
    }
    offsets(&mut fitted, &phases);
    let untold = (0..phases.len()).filter(|&zone| phases[zone].is_none()).collect();
    Some(Found { parameters: fitted, untold })
}

/// The rotation time that the marks of a zone show.
fn rotation(
    marks: &[Mark],
    sectors: u32,
    near_ns: f64,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<f64> {
    let circle = circle(sectors);
    let (rotation_ns, skews) = search(densest(marks, FIRST)?, &circle, near_ns, go_on)?;
    let settled = settled(marks, &circle, skews, near_ns, go_on).unwrap_or(rotation_ns);
    Some(refined(marks, &circle, skews, settled, go_on))
}

/// Sets the angles between zones from their phases. Only differences can be known, so the first
/// known zone keeps its angle: drives count angles from there, and counted from another zone they
/// would not be whole sectors.
fn offsets(fitted: &mut Parameters, phases: &[Option<f64>]) {
    let known = phases.iter().enumerate().find_map(|(zone, phase)| phase.map(|p| (zone, p)));
    let Some((fixed, origin)) = known else { return };
    let base =
        f64::from(fitted.zones[fixed].offset) / f64::from(fitted.zones[fixed].sectors_per_track);
    for (zone, phase) in phases.iter().enumerate() {
        let Some(phase) = phase else { continue };
        let spec = &mut fitted.zones[zone];
        let sectors = f64::from(spec.sectors_per_track);
        let turns = (base + phase - origin).rem_euclid(1.0);
        spec.offset = libm::round(turns * sectors) as u32 % spec.sectors_per_track;
    }
}

/// Returns the requests with measured times, each with the place of its last block without skews
/// and offsets; and how many tracks the first cylinder of each zone lacks, since it is counted as
/// if it were whole.
fn marks(start: &Parameters, drive: &Drive, jobs: &[Job]) -> (Vec<Mark>, Vec<u32>) {
    let layout = &drive.mechanism.layout;
    let tracks = layout.tracks();
    let mut places: Vec<(i64, i64)> = Vec::with_capacity(tracks.len());
    for (at, track) in tracks.iter().enumerate() {
        let place = match at.checked_sub(1).map(|before| (tracks[before], places[before])) {
            Some((before, _)) if before.zone != track.zone => (0, 0),
            Some((before, (_, cylinder))) if before.cylinder != track.cylinder => (0, cylinder + 1),
            Some((_, (nth, cylinder))) => (nth + 1, cylinder),
            None => (0, 0),
        };
        places.push(place);
    }
    let mut marks = Vec::with_capacity(jobs.len());
    for job in jobs.iter().filter(|job| job.io.is_timed() && job.command.count > 0) {
        let address = layout.locate(job.command.block + job.command.count - 1);
        let track = &tracks[address.track];
        let (nth, cylinder) = places[address.track];
        let span = layout.span_ns(address.track, address.slot + 1) as f64;
        // Slips turn a track as well, and no skew of its zone includes them.
        let zone = &start.zones[usize::from(track.zone)];
        let before = tracks.partition_point(|other| other.zone < track.zone);
        let sectors = f64::from(zone.sectors_per_track);
        let pushed = zone.pushed((address.track - before) as u64) as f64 / sectors;
        // What a read still has to transfer over the bus after the medium.
        let crossing = match drive.bus.transfer {
            BusTransfer::Overlapped => drive.bus.time_ns(1, false),
            _ => drive.bus.time_ns(job.command.count, false),
        };
        let after = if job.command.write { 0 } else { crossing };
        marks.push(Mark {
            at_ns: job.io.completed_ns.saturating_sub(after) as f64,
            zone: usize::from(track.zone),
            sector: span / layout.rotation_ns() as f64 + pushed,
            track: nth,
            cylinder,
            write: job.command.write,
        });
    }
    let missing = lacking(drive);
    for mark in marks.iter_mut().filter(|mark| mark.cylinder == 0) {
        mark.track += i64::from(missing[mark.zone]);
    }
    (marks, missing)
}

/// How many tracks fewer than the fullest cylinder the first cylinder of each zone has.
fn lacking(drive: &Drive) -> Vec<u32> {
    let mut counts: BTreeMap<(u16, u32), u32> = BTreeMap::new();
    for track in drive.mechanism.layout.tracks() {
        *counts.entry((track.zone, track.cylinder)).or_insert(0) += 1;
    }
    let mut found: Vec<[u32; 2]> = Vec::new();
    for ((zone, _), count) in counts {
        match found.get_mut(usize::from(zone)) {
            Some([_, most]) => *most = count.max(*most),
            None => found.push([count, count]),
        }
    }
    found.into_iter().map(|[first, most]| most - first).collect()
}

/// The `count` consecutive marks that take the least time.
fn densest(marks: &[Mark], count: usize) -> Option<&[Mark]> {
    if marks.len() < count {
        return (marks.len() >= LEAST).then_some(marks);
    }
    let span = |part: &&[Mark]| part[count - 1].at_ns - part[0].at_ns;
    marks.windows(count).min_by(|a, b| span(a).total_cmp(&span(b)))
}

/// Unit vectors of all turns that are whole sectors.
fn circle(sectors: u32) -> Vec<[f64; 2]> {
    (0..sectors).map(|n| unit(f64::from(n) / f64::from(sectors))).collect()
}

/// The unit vector of some turns.
fn unit(turns: f64) -> [f64; 2] {
    let (sin, cos) = libm::sincos(TAU * (turns - libm::floor(turns)));
    [cos, sin]
}

/// The vector that turns back by `by` sectors.
fn back(circle: &[[f64; 2]], by: i64) -> [f64; 2] {
    circle[(-by).rem_euclid(circle.len() as i64) as usize]
}

fn times(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

fn plus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

/// Completion less the sector's angle, as a unit vector.
fn vector(mark: &Mark, rotation_ns: f64) -> [f64; 2] {
    unit(mark.at_ns / rotation_ns - mark.sector)
}

/// The marks of each track, at one rotation time.
struct Tracks<'a> {
    circle: &'a [[f64; 2]],
    /// For each mark its vector, its cylinder, the index of its track in `numbers`, and whether it
    /// is a write.
    marks: Vec<([f64; 2], i64, usize, bool)>,
    /// Numbers of the tracks.
    numbers: Vec<i64>,
}

impl<'a> Tracks<'a> {
    fn new(marks: &[Mark], circle: &'a [[f64; 2]], rotation_ns: f64) -> Self {
        let mut numbers: Vec<i64> = marks.iter().map(|mark| mark.track).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let of = |mark: &Mark| {
            let rank = numbers.binary_search(&mark.track).unwrap_or(0);
            (vector(mark, rotation_ns), mark.cylinder, rank, mark.write)
        };
        Self { circle, marks: marks.iter().map(of).collect(), numbers }
    }

    /// The step between the track skews that are tried first.
    fn step(&self) -> u32 {
        let apart = self.numbers.last().zip(self.numbers.first()).map_or(1, |(b, a)| b - a);
        let tracks = u32::try_from(apart.max(1)).unwrap_or(u32::MAX);
        (self.circle.len() as u32 / tracks.saturating_mul(PARTS_OF_TURN)).max(1)
    }

    /// Sum vectors of each track, with reads and writes apart, since they complete different times
    /// after the medium.
    fn sums(&self, cylinder: u32) -> Vec<[[f64; 2]; 2]> {
        let mut sums = vec![[[0.0; 2]; 2]; self.numbers.len()];
        for &(vector, at, rank, write) in &self.marks {
            let turned = times(vector, back(self.circle, at * i64::from(cylinder)));
            let sum = &mut sums[rank][usize::from(write)];
            *sum = plus(*sum, turned);
        }
        sums
    }

    /// Of these track skews, the one with which the marks are closest, and how close they are.
    fn best(&self, sums: &[[[f64; 2]; 2]], skews: impl Iterator<Item = u32>) -> Option<(f64, u32)> {
        let mut best: Option<(f64, u32)> = None;
        for track in skews {
            let mut all = [[0.0; 2]; 2];
            for (sum, &nth) in sums.iter().zip(&self.numbers) {
                let by = back(self.circle, nth * i64::from(track));
                all = [plus(all[0], times(sum[0], by)), plus(all[1], times(sum[1], by))];
            }
            let length = all.iter().map(|v| libm::hypot(v[0], v[1])).sum::<f64>();
            let length = length / self.marks.len() as f64;
            if best.is_none_or(|(most, _)| length > most) {
                best = Some((length, track));
            }
        }
        best
    }
}

/// The skews with which the marks are closest, and how close they are, from 0 to 1.
fn best_skews(marks: &[Mark], circle: &[[f64; 2]], rotation_ns: f64) -> Option<(f64, Skews)> {
    let tracks = Tracks::new(marks, circle, rotation_ns);
    let (sectors, step) = (circle.len() as u32, tracks.step());
    let at =
        |cylinder: u32| tracks.best(&tracks.sums(cylinder), (0..sectors).step_by(step as usize));
    let coarse: Vec<(f64, u32)> = (0..sectors).filter_map(at).collect();
    let most = coarse.iter().map(|(length, _)| *length).fold(0.0, f64::max);
    let mut best: Option<(f64, Skews)> = None;
    for (cylinder, (coarsely, near)) in (0..sectors).zip(coarse) {
        if coarsely < NEAR_BEST * most {
            continue;
        }
        // Track skews are circular: what is before the first is behind the last.
        let around = (sectors + near + 1 - step..sectors + near + step).map(|skew| skew % sectors);
        let Some((length, track)) = tracks.best(&tracks.sums(cylinder), around) else { continue };
        if best.is_none_or(|(most, _)| length > most) {
            best = Some((length, Skews { track, cylinder }));
        }
    }
    best
}

/// Whether the marks of a zone determine the skews that it has, of tracks and of cylinders: half a
/// turn more of either, or of both, must turn enough marks against the others. Marks on one track
/// are equally close with any skews.
fn tells_skews(marks: &[Mark], [tracks, cylinders]: [bool; 2]) -> bool {
    // How many times each mark's track and cylinder count.
    let asked = [(tracks, [1, 0]), (cylinders, [0, 1]), (tracks && cylinders, [1, 1])];
    asked.into_iter().filter(|(has, _)| *has).all(|(_, [track, cylinder])| {
        let is_odd = |mark: &&Mark| (track * mark.track + cylinder * mark.cylinder) % 2 != 0;
        let odd = marks.iter().filter(is_odd).count();
        odd.min(marks.len() - odd) >= GROUP_LEAST
    })
}

/// Sum vectors of reads and writes, and how close the marks are.
fn mean(
    marks: &[Mark],
    circle: &[[f64; 2]],
    skews: Skews,
    rotation_ns: f64,
) -> ([[f64; 2]; 2], f64) {
    let mut sums = [[0.0; 2]; 2];
    for mark in marks {
        let by = mark.cylinder * i64::from(skews.cylinder) + mark.track * i64::from(skews.track);
        let turned = times(vector(mark, rotation_ns), back(circle, by));
        let sum = &mut sums[usize::from(mark.write)];
        *sum = plus(*sum, turned);
    }
    let length = sums.iter().map(|v| libm::hypot(v[0], v[1])).sum::<f64>();
    (sums, length / marks.len().max(1) as f64)
}

/// The angle, in turns, at which a zone would begin if its first cylinder were whole, from its
/// reads or its writes.
fn phase(
    marks: &[Mark],
    circle: &[[f64; 2]],
    skews: Skews,
    rotation_ns: f64,
    writes: bool,
) -> Option<f64> {
    let (sums, _) = mean(marks, circle, skews, rotation_ns);
    let sum = sums[usize::from(writes)];
    (sum != [0.0; 2]).then(|| libm::atan2(sum[1], sum[0]) / TAU)
}

/// The first search, for rotation time and skews together.
fn search(
    marks: &[Mark],
    circle: &[[f64; 2]],
    near_ns: f64,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<(f64, Skews)> {
    let span = marks.last()?.at_ns - marks.first()?.at_ns;
    let step = (0.35 * near_ns * near_ns / span.max(near_ns)).max(near_ns * 2e-6);
    let steps = ((RANGE * near_ns / step) as i64).min(400);
    let mut best: Option<(f64, f64, Skews)> = None;
    for n in -steps..=steps {
        if !go_on() {
            return None;
        }
        let rotation_ns = near_ns + n as f64 * step;
        let (length, skews) = best_skews(marks, circle, rotation_ns)?;
        if best.is_none_or(|(most, _, _)| length > most) {
            best = Some((length, rotation_ns, skews));
        }
    }
    best.filter(|(length, _, _)| *length >= COHERENT).map(|(_, rotation, skews)| (rotation, skews))
}

/// The rotation time with which many short parts of the marks are close, each at its own phase. One
/// part alone can be close by chance with another rotation time, and a real spindle does not keep
/// its phase for long.
fn settled(
    marks: &[Mark],
    circle: &[[f64; 2]],
    skews: Skews,
    near_ns: f64,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<f64> {
    let span = |part: &[Mark]| part[part.len() - 1].at_ns - part[0].at_ns;
    let mut parts: Vec<&[Mark]> = marks.chunks_exact(PART).collect();
    sort_by_number(&mut parts, |part| span(part));
    parts.truncate(PARTS);
    let longest = span(parts.last()?);
    let step = 0.2 * near_ns * near_ns / longest.max(near_ns);
    let steps = ((RANGE * near_ns / step) as i64).min(2000);
    let closeness = |rotation_ns: f64| {
        parts.iter().map(|part| mean(part, circle, skews, rotation_ns).1).sum::<f64>()
    };
    let tried = (-steps..=steps).take_while(|_| go_on()).map(|n| near_ns + n as f64 * step);
    let best = tried.map(|t| (closeness(t), t)).max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(peak(&closeness, best.1, step))
}

/// Refines the rotation time with longer and longer parts of the marks, as long as they stay close.
fn refined(
    marks: &[Mark],
    circle: &[[f64; 2]],
    skews: Skews,
    rotation_ns: f64,
    go_on: &mut dyn FnMut() -> bool,
) -> f64 {
    let (mut best, mut count, mut before) = (rotation_ns, FIRST, 0.0);
    let mut step = 0.0;
    loop {
        let Some(part) = densest(marks, count.min(marks.len())) else { return best };
        let span = (part[part.len() - 1].at_ns - part[0].at_ns).max(best);
        let fine = 0.1 * best * best / span;
        // The first part was searched in steps of its own; later ones begin within the peak of the part before.
        let reach = if step == 0.0 { 6 } else { libm::ceil(step / fine) as i64 + 2 };
        let closeness = |rotation| mean(part, circle, skews, rotation).1;
        let tried = (-reach.min(200)..=reach.min(200)).take_while(|_| go_on());
        let Some((most, near)) = tried
            .map(|n| best + n as f64 * fine)
            .map(|rotation| (closeness(rotation), rotation))
            .max_by(|a, b| a.0.total_cmp(&b.0))
        else {
            return best;
        };
        if most < 0.8 * before {
            return best;
        }
        best = peak(&closeness, near, fine);
        (before, step) = (most, 2.0 * fine);
        if count >= marks.len() {
            return best;
        }
        count *= 2;
    }
}

/// The maximum between two steps, by halving.
fn peak(height: &dyn Fn(f64) -> f64, near: f64, step: f64) -> f64 {
    let (mut best, mut step) = (near, step);
    let mut top = height(best);
    for _ in 0..24 {
        step /= 2.0;
        for other in [best - step, best + step] {
            let found = height(other);
            if found > top {
                (best, top) = (other, found);
                break;
            }
        }
    }
    best
}

#[cfg(test)]
#[path = "phase_tests.rs"]
mod tests;
