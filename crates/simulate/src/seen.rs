//! What the requests of a trace reveal about a drive, and what they leave open.

use crate::compare::within_doubt;
use crate::drive::Drive;
use crate::job::Job;
use crate::seeks::{GROUP_LEAST, OFF_PHASE_NS, STILL_LEAST, Wait, waits};
use ioscape_schema::units::Bytes;

/// A seek over this share of the cylinders tests the seek curve; shorter ones reveal nothing about
/// longer ones.
const FAR: f64 = 0.1;
const FAR_IN_WORDS: &str = "seek over a tenth of the cylinders or more";

/// A seek over at most this share of the cylinders determines short seeks.
const NEAR: f64 = 0.01;
const NEAR_IN_WORDS: &str = "seek over a hundredth of the cylinders or less";

/// A seek over this share of the cylinders determines long seeks.
const LONG: f64 = 0.5;
const LONG_IN_WORDS: &str = "seek over half of the cylinders or more";

/// A request counts as foretold if it completed within this of the prediction, in nanoseconds.
const FORETOLD_NS: f64 = 1e6;

/// The share by which a rate is changed in the first step of its fit.
pub const RATE_STEP: f64 = 0.05;

/// Least difference, in nanoseconds, between the bus times of the longest and the shortest requests
/// for the bus rate to be told apart from an overhead. A step of [`RATE_STEP`] must move them
/// against each other by more than the error of a group's mean: the deviation from the phase,
/// divided by 5, the root of the group's size.
const TELLING_NS: f64 = OFF_PHASE_NS / 5.0 / RATE_STEP;

/// What requests reveal about a drive: how many were served from the medium right after another
/// that was, and how long they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Reads and writes.
    of_kind: [usize; 2],
    /// With a seek over a good part of the cylinders.
    far: usize,
    /// Those of `far` that came while the platter's angle was known, which test a drive; and those
    /// of them that were foretold.
    far_soon: usize,
    far_foretold: usize,
    /// Without a seek, with one over few cylinders, and over most of them.
    still: usize,
    near: usize,
    long: usize,
    /// Lengths in blocks of the shortest and of the longest reads and writes, wherever their data
    /// came from.
    lengths: [Option<[u64; 2]>; 2],
}

/// The most blocks of a group of the shortest reads or writes, and the least of a group of the
/// longest: a few outliers must not decide whether the rate is known.
fn lengths(jobs: &[Job], write: bool) -> Option<[u64; 2]> {
    let of_kind = jobs.iter().filter(|job| job.io.is_timed() && job.command.write == write);
    let mut counts: Vec<u64> = of_kind.map(|job| job.command.count).collect();
    counts.sort_unstable();
    let group = GROUP_LEAST.min(counts.len() / 4);
    Some([*counts.get(group.checked_sub(1)?)?, *counts.get(counts.len() - group)?])
}

/// How much longer a seek over `distance` cylinders takes the fitted drive than the start, in
/// milliseconds.
fn moved_ms(start: &Drive, fitted: &Drive, distance: usize) -> f64 {
    let ms = |drive: &Drive| {
        drive.mechanism.seek_ns.get(distance).map_or(0.0, |ns| f64::from(*ns) / 1e6)
    };
    ms(fitted) - ms(start)
}

impl Seen {
    /// Returns what `jobs` reveal about `drive`.
    pub fn of(drive: &Drive, jobs: &[Job]) -> Self {
        let all = waits(drive, jobs);
        let writes = all.iter().filter(|wait| wait.write).count();
        let last = drive.mechanism.layout.tracks().iter().map(|track| track.cylinder).max();
        let part = |share: f64| (share * f64::from(last.unwrap_or(0))).max(1.0);
        let [far, near, long] = [FAR, NEAR, LONG].map(part);
        let count = |is_one: &dyn Fn(&Wait, f64) -> bool| {
            all.iter().filter(|wait| is_one(wait, f64::from(wait.distance))).count()
        };
        let is_far_soon = |wait: &Wait, distance: f64| wait.soon && distance >= far;
        Self {
            of_kind: [all.len() - writes, writes],
            far: count(&|_, distance| distance >= far),
            far_soon: count(&is_far_soon),
            far_foretold: count(&|wait, distance| {
                is_far_soon(wait, distance) && wait.late_ns.abs() <= FORETOLD_NS
            }),
            still: count(&|wait, _| wait.stays),
            near: count(&|_, distance| (1.0..=near).contains(&distance)),
            long: count(&|_, distance| distance >= long),
            lengths: [false, true].map(|write| lengths(jobs, write)),
        }
    }

    /// How much longer than the shortest the longest reads and writes occupy a drive's bus, in
    /// nanoseconds.
    fn apart_ns(self, drive: &Drive) -> [Option<u64>; 2] {
        [false, true].map(|write| {
            let [short, long] = self.lengths[usize::from(write)]?;
            Some(drive.bus.time_ns(long, write) - drive.bus.time_ns(short, write))
        })
    }

    /// Whether reads, and writes, determine the rate of the bus, starting from that of `start`.
    pub fn tells_rates(self, start: &Drive) -> [bool; 2] {
        self.apart_ns(start).map(|apart_ns| apart_ns.is_some_and(|ns| ns as f64 > TELLING_NS))
    }

    /// Returns one sentence for each property that the fitted requests do not determine.
    pub fn untold(self, start: &Drive, fitted: &Drive) -> Vec<String> {
        let mut untold = self.few();
        let is_curve_told = self.far >= GROUP_LEAST;
        if is_curve_told {
            let arm = if self.still < STILL_LEAST { "seeks and " } else { "" };
            untold.push(format!(
                "of {arm}the controller's times before and after the medium only the sum is known"
            ));
        }
        if is_curve_told && self.near < GROUP_LEAST {
            let moved_ms = moved_ms(start, fitted, 1);
            untold.push(format!(
                "short seeks are those of the start, moved by {moved_ms:+.3} ms at one cylinder: only {} of the fitted requests {NEAR_IN_WORDS}",
                self.near
            ));
        }
        if is_curve_told && self.long < GROUP_LEAST {
            let longest = start.mechanism.seek_ns.len().saturating_sub(1);
            let moved_ms = moved_ms(start, fitted, longest);
            untold.push(format!(
                "long seeks are those of the start or follow from shorter ones; the one over all cylinders is moved by {moved_ms:+.3} ms: only {} of the fitted requests {LONG_IN_WORDS}",
                self.long
            ));
        }
        untold.extend(self.rates(start));
        untold
    }

    /// Says which bus rates remain those of the start.
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

    /// Says which times too few requests determine.
    fn few(self) -> Vec<String> {
        let [reads, writes] = self.of_kind;
        let all = [
            ("times of reads are", reads, "read from the medium behind another"),
            ("times of writes are", writes, "write to the medium behind another"),
            ("the seek curve is", self.far, FAR_IN_WORDS),
        ];
        let few = all.into_iter().filter(|(_, count, _)| *count < GROUP_LEAST);
        few.map(|(told, count, what)| {
            format!(
                "{told} as at the start, or hardly better known: only {count} of the fitted requests {what}"
            )
        })
        .collect()
    }

    /// Says why a drive that explains these requests may still be another; `None` if seeks test it.
    pub fn doubt(self) -> Option<String> {
        let kind = format!("{FAR_IN_WORDS} soon after another");
        if self.far_soon < GROUP_LEAST {
            return Some(format!(
                "only {} of the held-out requests {kind}, so that neither the seek curve nor the rotation is tested",
                self.far_soon
            ));
        }
        let share = self.far_foretold as f64 / self.far_soon as f64;
        within_doubt(self.far_soon, share, &format!("that {kind}"))
    }
}
