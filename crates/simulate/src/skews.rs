//! Finds the skews of a drive of one zone by trying all of them, and words the remarks on skews
//! that stay unknown.

use crate::Error;
use crate::drive::Parameters;
use crate::job::Job;
use crate::seeks::GROUP_LEAST;
use crate::simulate::{one_step, tells_angle};

const ALL_LEFT: &str = "the skews are those of the start: these requests do not tell them; more requests, one at a time and to more tracks and cylinders, would, unless the drive turns at a speed over 1 % from the start's and from every usual one: then correct rotation_ms";
/// The remark for when the phase of the platter shows skews that explain the requests no better
/// than those of the start.
pub const OTHERS: &str = "the skews are those of the start: the phase of the platter tells others, which explain these requests no better";
const ANGLES_LEFT: &str = "the angles of track runs are not fitted: they are those of the start";
const TRACK: &str = "zones.track_skew";
const CYLINDER: &str = "zones.cylinder_skew";

/// The remark on zones, from 0, whose skews were searched for but remain those of the start; runs
/// of tracks have angles instead.
pub fn left(start: &Parameters, zones: &[usize]) -> Option<String> {
    if start.zones.is_empty() {
        return Some(ANGLES_LEFT.to_owned());
    }
    if zones.len() == start.zones.len() {
        return Some(ALL_LEFT.to_owned());
    }
    let numbers: Vec<String> = zones.iter().map(usize::to_string).collect();
    (!numbers.is_empty()).then(|| {
        format!(
            "the skews or angles of some zones ({}, counted from 0) are those of the start: these requests do not tell them; more requests there, one at a time and to more tracks and cylinders, would",
            numbers.join(", ")
        )
    })
}

/// The remark on those skews of a drive of one zone that remain those of the start.
pub fn left_of_one(names: &[&str]) -> Option<String> {
    match names {
        [] => None,
        [one] => Some(format!(
            "{one} is that of the start: these requests do not tell it; more requests, one at a time and to more tracks and cylinders, would"
        )),
        _ => Some(ALL_LEFT.to_owned()),
    }
}

/// Tries every skew of a drive of one zone on the first jobs, or on all jobs if the first do not
/// determine it; errors count up to `bound_ns`. `step` is called before each trial. Returns the
/// names of the skews that too few jobs determine, which keep their values; `None` if `step` ended
/// the search.
///
/// # Errors
/// The parameters do not describe a drive.
pub fn tried(
    best: &mut Parameters,
    jobs: &[Job],
    first: usize,
    bound_ns: u64,
    step: &mut dyn FnMut(&str, f64) -> bool,
) -> Result<Option<Vec<&'static str>>, Error> {
    let mut left = Vec::new();
    let has = best.zones[0].has_skews(best.heads);
    // Within a cylinder only the track skew matters, so it is found first.
    for (name, _) in [TRACK, CYLINDER].into_iter().zip(has).filter(|(_, has)| *has) {
        let mut sample = &jobs[..jobs.len().min(first)];
        let (mut lowest, mut telling) = cost(best, sample, name, bound_ns)?;
        if telling < GROUP_LEAST {
            sample = jobs;
            (lowest, telling) = cost(best, sample, name, bound_ns)?;
        }
        // Between cylinders the track skew matters, too: if it is wrong, no cylinder skew is right.
        if !left.is_empty() || telling < GROUP_LEAST {
            left.push(name);
            continue;
        }
        for skew in 0..best.zones[0].sectors_per_track {
            if !step(name, lowest) {
                return Ok(None);
            }
            let mut other = best.clone();
            let zone = &mut other.zones[0];
            if name == TRACK {
                zone.track_skew = skew;
            } else {
                zone.cylinder_skew = skew;
            }
            let (cost, _) = cost(&other, sample, name, bound_ns)?;
            if cost < lowest {
                (lowest, *best) = (cost, other);
            }
        }
    }
    Ok(Some(left))
}

/// Returns the mean error of the requests by which this skew is chosen, and how many of them
/// determine it because the arm went to another track or cylinder. The track skew is chosen by
/// requests on the same cylinder as the one before.
fn cost(
    parameters: &Parameters,
    jobs: &[Job],
    name: &str,
    bound_ns: u64,
) -> Result<(f64, usize), Error> {
    let drive = parameters.build()?;
    let layout = &drive.mechanism.layout;
    let predicted = one_step(&drive, drive.buffer.usual(), jobs);
    let (mut sum, mut count, mut telling) = (0, 0u64, 0);
    for (pair, predicted) in jobs.windows(2).zip(&predicted[1.min(predicted.len())..]) {
        let [before, job] = pair else { continue };
        let last = before.command.block + before.command.count.max(1) - 1;
        let tracks = [last, job.command.block].map(|block| layout.locate(block).track);
        let [from, to] = tracks.map(|track| layout.tracks()[track].cylinder);
        if tells_angle(before, job) && (from == to || name == CYLINDER) {
            let measured = job.io.physical_ns();
            sum += measured.abs_diff(*predicted).min(bound_ns);
            count += 1;
            let tells = if name == CYLINDER { from != to } else { tracks[0] != tracks[1] };
            telling += usize::from(tells);
        }
    }
    Ok((sum as f64 / count.max(1) as f64, telling))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{io, simple_parameters, timed};
    use ioscape_schema::{Io, Op};

    /// Two hundred writes to these blocks, with the times of this drive.
    fn served(truth: &Parameters, block: impl Fn(u64) -> u64) -> Vec<Job> {
        let row = |n: u64| io(Op::Write, block(n) * 512, 512, n * 25_000_000);
        let rows: Vec<Io> = (0..200).map(row).collect();
        timed(truth, &rows)
    }

    /// The track skew found on the first hundred jobs or on all, starting from a wrong one, and
    /// which skews remain unknown.
    fn found(jobs: &[Job]) -> (u32, Option<Vec<&'static str>>) {
        let mut best = simple_parameters();
        best.zones[0].track_skew = 70;
        let left = tried(&mut best, jobs, 100, 4_000_000, &mut |_, _| true).unwrap();
        assert_eq!(best.zones[0].cylinder_skew, 20);
        (best.zones[0].track_skew, left)
    }

    #[test]
    fn requests_behind_the_first_ones_tell_a_skew_that_these_do_not_tell() {
        // First on one track, then on both tracks of its cylinder.
        let jobs = served(&simple_parameters(), |n| n / 100 * (n % 2) * 100 + n * 37 % 100);
        assert_eq!(found(&jobs), (10, Some(vec![CYLINDER])));
    }

    #[test]
    fn no_cylinder_skew_is_tried_with_a_track_skew_that_nothing_tells() {
        // Each on the first track of another cylinder.
        let jobs = served(&simple_parameters(), |n| n * 7 % 100 * 200 + n * 37 % 100);
        assert_eq!(found(&jobs), (70, Some(vec![TRACK, CYLINDER])));
    }

    #[test]
    fn a_skew_that_a_drive_cannot_have_is_neither_tried_nor_left() {
        let one_surface = Parameters { heads: 1, ..simple_parameters() };
        let jobs = served(&one_surface, |n| n * 7 % 100 * 100 + n * 37 % 100);
        let mut best = one_surface.clone();
        best.zones[0].cylinder_skew = 70;
        let left = tried(&mut best, &jobs, 200, 4_000_000, &mut |_, _| true).unwrap();
        assert_eq!((best, left), (one_surface, Some(Vec::new())));
    }
}
