//! The tracks of a disk without zones, in consecutive runs; some places on them hold no block.

use super::plan::{Plan, TrackRun};

/// A track of a run.
pub(super) struct RunTrack {
    pub(super) cylinder: u32,
    pub(super) head: u16,
    /// Sectors that pass in one rotation.
    pub(super) sectors: u32,
    /// Angle of its sector 0, expressed as rotation time.
    pub(super) angle_ns: u32,
    pub(super) first_sector: u32,
    /// Number of places for blocks from `first_sector` on; `lost` lists those that hold none.
    pub(super) places: u32,
    pub(super) lost: Vec<u32>,
}

/// Calls `take` for each track of the runs, in order.
pub(super) fn each(plan: &Plan<'_>, take: &mut dyn FnMut(RunTrack)) -> Result<(), String> {
    let mut slips = Slips::of(plan.slipped_places);
    for (number, run) in plan.track_runs.iter().enumerate() {
        check(run, plan).map_err(|why| format!("run {number} (from 0): {why}"))?;
        for nth in 0..run.tracks {
            take(track(run, nth, plan.rotation_ns, slips.next(run.blocks_per_track)));
        }
    }
    Ok(())
}

fn track(run: &TrackRun, nth: u32, rotation_ns: u64, lost: Vec<u32>) -> RunTrack {
    let first = run.angle + f64::from(nth) * run.angle_step
        - f64::from(run.first_sector) / f64::from(run.sectors_per_track);
    let turn = first - libm::floor(first);
    let angle = libm::round(turn * rotation_ns as f64) as u64 % rotation_ns;
    let cylinder = i64::from(run.cylinder) + i64::from(nth) * i64::from(run.cylinder_step);
    RunTrack {
        cylinder: cylinder as u32,
        head: run.head,
        sectors: run.sectors_per_track,
        angle_ns: angle as u32,
        first_sector: run.first_sector,
        places: run.blocks_per_track,
        lost,
    }
}

/// The places that the numbering skips, in one pass from the disk's first place to its last.
struct Slips {
    /// Each range's first place and the place after its last; sorted and disjoint.
    ranges: Vec<[u64; 2]>,
    /// Number of ranges passed so far.
    passed: usize,
    /// The next place.
    place: u64,
}

impl Slips {
    fn of(slipped: &[[u64; 2]]) -> Self {
        let mut sorted = slipped.to_vec();
        sorted.sort_unstable();
        let mut ranges: Vec<[u64; 2]> = Vec::with_capacity(sorted.len());
        for [first, count] in sorted {
            // If two slipped ranges overlap, the second begins after the first.
            let first = ranges.last().map_or(first, |[_, end]| first.max(*end));
            ranges.push([first, first.saturating_add(count)]);
        }
        Self { ranges, passed: 0, place: 0 }
    }

    /// Passes the next `count` places; returns those that hold no block, relative to the first.
    fn next(&mut self, count: u32) -> Vec<u32> {
        let (first, end) = (self.place, self.place + u64::from(count));
        self.place = end;
        let mut lost = Vec::new();
        while let Some([from, to]) = self.ranges.get(self.passed).filter(|range| range[0] < end) {
            lost.extend((*from.max(&first)..*to.min(&end)).map(|place| (place - first) as u32));
            if *to > end {
                break;
            }
            self.passed += 1;
        }
        lost
    }
}

fn check(run: &TrackRun, plan: &Plan<'_>) -> Result<(), String> {
    let sectors = run.sectors_per_track;
    if run.tracks == 0 || run.blocks_per_track == 0 {
        return Err("no sectors are left for data".into());
    }
    if u64::from(run.first_sector) + u64::from(run.blocks_per_track) > u64::from(sectors) {
        return Err(format!(
            "{} blocks from sector {} on are not on a track of {sectors}",
            run.blocks_per_track, run.first_sector
        ));
    }
    if run.head >= plan.heads {
        return Err(format!("head {} of {}", run.head, plan.heads));
    }
    let first = i64::from(run.cylinder);
    let last = first + i64::from(run.tracks - 1) * i64::from(run.cylinder_step);
    if [first, last].iter().any(|at| !(0..i64::from(plan.cylinders)).contains(at)) {
        return Err(format!("cylinders {first} to {last} of {}", plan.cylinders));
    }
    if ![run.angle, run.angle_step].iter().all(|angle| angle.abs() <= 1e6) {
        return Err(format!("angles of {} and {} rotations", run.angle, run.angle_step));
    }
    Ok(())
}
