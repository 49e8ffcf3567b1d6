//! Fits a drive's parameters to measured times: the rotation and the skews from the platter's
//! phase, the seek curve from the rotations that requests waited for, and then each time parameter
//! by itself.
//!
//! The cost to minimize has two terms. The first is the error of each request when the platter's
//! angle is known from the request before ([`one_step`]), bounded so that retries and
//! recalibrations do not count. The second is the distance between the distributions in a free run.
//! The first alone would leave the mean wrong; the second alone cannot see rotation.

use crate::Error;
use crate::command::DiskOptions;
use crate::compare::{Agreement, agreement, within_doubt};
use crate::drive::{Drive, Parameters, Status};
use crate::job::{Arrivals, Configuration, Job};
use crate::knobs::{KNOBS, Knob, ROTATION, TO_DRIVE, TO_HOST};
use crate::seen::Seen;
use crate::simulate::{one_step, simulate, tells_angle};
use crate::{phase, seeks, skews};
use ioscape_schema::SimulationAgreement;
use std::fmt;

pub use crate::halves::halves;

/// Bound on the error of one request: beyond it, the drive did something that the model does not
/// cover.
const BOUND_NS: u64 = 4_000_000;

/// A change of a parameter must reduce the cost to this share of it or less.
const LESS: f64 = 0.999;

/// The share by which a rotation time that the platter's phase shows may miss the true one.
const ROUNDED: f64 = 1e-5;

/// Why a drive is not calibrated if the platter's phase shows no rotation time.
const ROTATION_UNTOLD: &str = "the completions show no rotation time near that of the start, that of the fit or the usual speeds, so that it may stand for other errors; give the right one in the start";

/// How many times at most the seek curve is fitted, each time starting from the last fit.
const FITS: u32 = 4;

/// Weight of the distance between the distributions, relative to the bounded error of pairs.
const WEIGHT: f64 = 1.0;

/// How well a drive explains a measured trace.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fit {
    /// Physical times of a free run: requests issued as recorded, the angle never corrected.
    pub free: Agreement,
    /// Requests soon after another, predicted one by one with the angle known.
    pub paired: Agreement,
    /// The cost that the search minimizes, in nanoseconds.
    pub cost_ns: f64,
}

impl Fit {
    /// Says why a drive that explains held-out requests this well is not calibrated; `None` if it
    /// is.
    pub fn doubt(&self) -> Option<String> {
        if self.paired.count == 0 {
            return Some("no held-out request comes soon after another".to_owned());
        }
        if self.free.demerit > SimulationAgreement::DEMERIT_MOST {
            let [demerit, most] =
                [self.free.demerit, SimulationAgreement::DEMERIT_MOST].map(|share| 100.0 * share);
            return Some(format!(
                "the demerit of the held-out requests is {demerit:.2} %, over {most} %"
            ));
        }
        within_doubt(self.paired.count, self.paired.within_1ms, "soon after another")
    }
}

/// Compares a drive with the recorded times of one disk's jobs, in order of issue.
pub fn judge(drive: &Drive, jobs: &[Job]) -> Fit {
    let disk = drive.buffer.usual();
    let options = Configuration { disk, arrivals: Arrivals::Issued, ..Configuration::default() };
    let free_run = simulate(drive, jobs, &options);
    let both = jobs.iter().zip(&free_run.rows).filter(|(job, _)| job.io.is_timed());
    let (measured, simulated): (Vec<u64>, Vec<u64>) =
        both.map(|(job, row)| (job.io.physical_ns(), row.physical_ns())).unzip();
    let free = agreement(&measured, &simulated);
    let (paired, bounded_ns) = paired(drive, disk, jobs);
    Fit { free, paired, cost_ns: bounded_ns + WEIGHT * free.rms_ns }
}

/// Returns how well requests soon after another are predicted one by one, and the mean of their
/// bounded errors.
pub fn paired(drive: &Drive, disk: DiskOptions, jobs: &[Job]) -> (Agreement, f64) {
    let predicted = one_step(drive, disk, jobs);
    let rows: Vec<usize> =
        (1..jobs.len()).filter(|&i| tells_angle(&jobs[i - 1], &jobs[i])).collect();
    let left: Vec<u64> = rows.iter().map(|&i| jobs[i].io.physical_ns()).collect();
    let right: Vec<u64> = rows.iter().map(|&i| predicted[i]).collect();
    let bounded: u64 = left.iter().zip(&right).map(|(a, b)| a.abs_diff(*b).min(BOUND_NS)).sum();
    (agreement(&left, &right), bounded as f64 / rows.len().max(1) as f64)
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "demerit {:.2} %, mean {:.3} ms for {:.3} ms measured; paired error of {} requests: median {:.3} ms, {:.1} % within 1 ms",
            100.0 * self.free.demerit,
            self.free.simulated_mean_ns / 1e6,
            self.free.measured_mean_ns / 1e6,
            self.paired.count,
            self.paired.paired_median_ns / 1e6,
            100.0 * self.paired.within_1ms
        )
    }
}

/// The result of a calibration.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The fitted drive.
    pub parameters: Parameters,
    /// A remark on skews that were searched for but not found, because too few requests show them
    /// or the search was ended early, and on runs of tracks, which have none.
    pub skews_left: Option<String>,
    /// Whether the rotation time was searched for and the phase of the platter shows none, so that
    /// it may stand for other errors.
    pub rotation_untold: bool,
}

/// One sentence for the start and one for the fit, on each half of the jobs: the fitted half and
/// the held-out half.
fn sentences(fits: &[[Fit; 2]; 2]) -> Vec<String> {
    let halves = ["first half (fitted)", "second half (held out)"];
    let of = |(what, fits): (&'static str, &[Fit; 2])| {
        [0, 1].map(|half| format!("{what}, {}: {}", halves[half], fits[half]))
    };
    ["start", "fit"].into_iter().zip(fits).flat_map(of).collect()
}

/// Returns the better of start and fit on the held-out half, with the status it deserves, and
/// remarks on it.
///
/// # Errors
/// One of the two does not describe a drive.
pub fn verdict(
    start: &Parameters,
    fitted: Fitted,
    halves: [&[Job]; 2],
) -> Result<(Parameters, Vec<String>), Error> {
    let Fitted { parameters: fitted, skews_left, rotation_untold } = fitted;
    let [begun, ended] = [start.build()?, fitted.build()?];
    let fits = [&begun, &ended].map(|drive| halves.map(|jobs| judge(drive, jobs)));
    let mut lines = sentences(&fits);
    lines.extend(skews_left);
    let [[_, before], [_, mut fit]] = fits;
    let (mut kept, mut drive) = (fitted, &ended);
    if LESS * before.cost_ns <= fit.cost_ns {
        lines.push("the start explains the held-out half as well or better: it is kept".to_owned());
        (kept, drive, fit) = (start.clone(), &begun, before);
    }
    let [fitted, held_out] = halves.map(|jobs| Seen::of(drive, jobs));
    lines.extend(fitted.untold(&begun, drive));
    kept.status = Status::Calibrated;
    let untold = || rotation_untold.then(|| ROTATION_UNTOLD.to_owned());
    if let Some(doubt) = fit.doubt().or_else(|| held_out.doubt()).or_else(untold) {
        kept.status = Status::NotCalibrated;
        lines.push(format!("not calibrated: {doubt}"));
    }
    Ok((kept, lines))
}

/// How long to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// Rounds through all times; the steps are halved after each round.
    pub rounds: u32,
    /// Whether skews are searched for first.
    pub skews: bool,
    /// How many jobs are used at first to try skews one by one; more if these do not determine the
    /// skews.
    pub sample: usize,
}

impl Default for Search {
    fn default() -> Self {
        Self { rounds: 6, skews: true, sample: 6000 }
    }
}

/// Fits `start` to the jobs of one disk, in order of issue.
///
/// `step` is called repeatedly with the name of what is being fitted and the cost so far; if it
/// returns `false`, the search ends early.
///
/// # Errors
/// `start` does not describe a drive.
pub fn calibrate(
    start: &Parameters,
    jobs: &[Job],
    search: Search,
    step: &mut dyn FnMut(&str, f64) -> bool,
) -> Result<Fitted, Error> {
    let mut best = start.clone();
    let (mut told, mut skews_left) = (false, None);
    if search.skews {
        let Some(found) = skews_fitted(&mut best, jobs, search, step)? else {
            let all: Vec<usize> = (0..best.zones.len()).collect();
            let skews_left = skews::left(start, &all);
            return Ok(Fitted { parameters: best, skews_left, rotation_untold: false });
        };
        (told, skews_left) = found;
    }
    let parameters = costs_fitted(best, jobs, search, told, step)?;
    let rotation_untold = search.skews && !told && hides_rotation(&parameters, jobs, step)?;
    Ok(Fitted { parameters, skews_left, rotation_untold })
}

/// Whether the phase of the platter shows no rotation time near this one: one that lowers the cost
/// must show there as well. False if `step` ended the search.
fn hides_rotation(
    fitted: &Parameters,
    jobs: &[Job],
    step: &mut dyn FnMut(&str, f64) -> bool,
) -> Result<bool, Error> {
    let cost = cost(fitted, jobs)?;
    let mut is_ended = false;
    let mut go_on = || {
        is_ended = is_ended || !step(ROTATION, cost);
        !is_ended
    };
    let shows = phase::found(fitted, &fitted.build()?, jobs, &mut go_on).is_some();
    Ok(!shows && !is_ended)
}

/// What the phase of the platter shows about a drive.
enum Phase {
    /// The rotation time and the skews, except those of these zones.
    Told(Vec<usize>),
    /// Skews that explain the jobs no better than those of the start.
    Others,
    /// No skews.
    Silent,
}

/// Finds the rotation time and the skews. Returns whether the phase of the platter showed them, and
/// a remark on skews that keep their start values; `None` if `step` ended the search.
fn skews_fitted(
    best: &mut Parameters,
    jobs: &[Job],
    search: Search,
    step: &mut dyn FnMut(&str, f64) -> bool,
) -> Result<Option<(bool, Option<String>)>, Error> {
    let cost = cost(best, jobs)?;
    let mut is_ended = false;
    let mut go_on = || {
        is_ended = is_ended || !step("rotation_ms and zones", cost);
        !is_ended
    };
    let found = if go_on() { by_phase(best, jobs, &mut go_on)? } else { Phase::Silent };
    if is_ended {
        return Ok(None);
    }
    match found {
        Phase::Told(untold) => Ok(Some((true, skews::left(best, &untold)))),
        _ if best.zones.len() == 1 => {
            let left = skews::tried(best, jobs, search.sample, BOUND_NS, step)?;
            Ok(left.map(|left| (false, skews::left_of_one(&left))))
        }
        Phase::Others => Ok(Some((false, Some(skews::OTHERS.to_owned())))),
        Phase::Silent => {
            let all: Vec<usize> = (0..best.zones.len()).collect();
            Ok(Some((false, skews::left(best, &all))))
        }
    }
}

/// Fits the seek curve and the times; `told` means that the phase of the platter showed the
/// rotation time.
fn costs_fitted(
    mut best: Parameters,
    jobs: &[Job],
    search: Search,
    told: bool,
    step: &mut dyn FnMut(&str, f64) -> bool,
) -> Result<Parameters, Error> {
    let begun = best.build()?;
    let mut lowest = judge(&begun, jobs).cost_ns;
    let [to_host, to_drive] = Seen::of(&begun, jobs).tells_rates(&begun);
    let is_fitted = |name: &str| match name {
        // A rotation time known from the phase must not be traded for other errors.
        ROTATION => !told,
        TO_HOST => to_host,
        TO_DRIVE => to_drive,
        _ => true,
    };
    for _ in 0..search.rounds.min(FITS) {
        if !step("seek", lowest) {
            return Ok(best);
        }
        let Some(other) = seeks::fitted(&best, &best.build()?, jobs) else { break };
        let found = cost(&other, jobs)?;
        if found >= lowest {
            break;
        }
        (lowest, best) = (found, other);
    }
    for round in 0..search.rounds {
        for knob in KNOBS.iter().filter(|knob| is_fitted(knob.name)) {
            if !step(knob.name, lowest) {
                return Ok(best);
            }
            lowest = turn(&mut best, knob, 0.5f64.powi(round as i32), jobs, lowest)?;
        }
    }
    Ok(best)
}

/// Adopts the rotation time and the skews that the platter's phase shows, if they explain the jobs
/// better. If the phase shows the skews of the start, they are right, and so is the rotation time
/// found: other wrong times of the start may be what makes it cost more. It is rounded, so one close
/// to it is kept.
fn by_phase(
    best: &mut Parameters,
    jobs: &[Job],
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Phase, Error> {
    let drive = best.build()?;
    let Some(found) = phase::found(best, &drive, jobs, go_on) else { return Ok(Phase::Silent) };
    let is_told = found.untold.len() < best.zones.len();
    let is_start = is_told && found.parameters.zones == best.zones;
    let is_rounded = (found.parameters.rotation_ms / best.rotation_ms - 1.0).abs() < ROUNDED;
    if is_start && !is_rounded
        || found.parameters == *best
        || cost(&found.parameters, jobs)? < judge(&drive, jobs).cost_ns
    {
        *best = found.parameters;
        return Ok(Phase::Told(found.untold));
    }
    Ok(match is_told {
        true if is_start => Phase::Told(found.untold),
        true => Phase::Others,
        false => Phase::Silent,
    })
}

fn cost(parameters: &Parameters, jobs: &[Job]) -> Result<f64, Error> {
    Ok(judge(&parameters.build()?, jobs).cost_ns)
}

/// Moves one parameter downhill: in the better direction while the cost falls, at most eight steps.
fn turn(
    best: &mut Parameters,
    knob: &Knob,
    scale: f64,
    jobs: &[Job],
    mut lowest: f64,
) -> Result<f64, Error> {
    for direction in [1.0, -1.0] {
        let before = lowest;
        for _ in 0..8 {
            let turned = knob.turned(best, direction * scale);
            let Some(other) = turned else { return Ok(lowest) };
            let cost = cost(&other, jobs)?;
            if cost >= LESS * lowest {
                break;
            }
            (lowest, *best) = (cost, other);
        }
        if lowest < before {
            break;
        }
    }
    Ok(lowest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knobs::write_settle;
    use crate::testing::{io, simple_parameters, timed};
    use ioscape_schema::{Io, Op};
    use rand_pcg::Pcg64Mcg;
    use rand_pcg::rand_core::Rng;

    #[test]
    fn a_fit_is_told_by_demerit_and_paired_error() {
        let free = Agreement {
            count: 21_126,
            measured_mean_ns: 25.409e6,
            simulated_mean_ns: 25.3994e6,
            demerit: 0.02254,
            ..Agreement::default()
        };
        let paired = Agreement {
            count: 17_000,
            paired_median_ns: 78_400.0,
            within_1ms: 0.9241,
            ..Agreement::default()
        };
        assert_eq!(
            Fit { free, paired, cost_ns: 1.0 }.to_string(),
            "demerit 2.25 %, mean 25.399 ms for 25.409 ms measured; paired error of 17000 requests: median 0.078 ms, 92.4 % within 1 ms"
        );
    }

    #[test]
    fn few_requests_do_not_make_a_drive_calibrated() {
        let doubt = |count, within_1ms| {
            let paired = Agreement { count, within_1ms, ..Agreement::default() };
            let free = Agreement { count: 100, demerit: 0.001, ..Agreement::default() };
            Fit { free, paired, cost_ns: 1.0 }.doubt()
        };
        assert!(doubt(0, 0.0).is_some_and(|why| why.contains("soon after another")));
        assert!(doubt(10, 1.0).is_some_and(|why| why.contains("only 10")));
        assert!(doubt(100, 0.85).is_some_and(|why| why.contains("does not rule out")));
        assert_eq!([doubt(20, 1.0), doubt(17_000, 0.82)], [None, None]);
    }

    /// Requests of one block, scattered over a drive of a hundred cylinders, far enough apart in
    /// time never to queue.
    fn scattered(truth: &Parameters, blocks: u64) -> Vec<Job> {
        let mut dice = Pcg64Mcg::new(5);
        let row = |n: u64| {
            let op = if n.is_multiple_of(2) { Op::Read } else { Op::Write };
            let at_ns = n * 25_000_000 + dice.next_u64() % 1_000_000;
            io(op, dice.next_u64() % blocks * 512, 512, at_ns)
        };
        let rows: Vec<Io> = (0..2000).map(row).collect();
        timed(truth, &rows)
    }

    #[test]
    fn a_drive_of_one_surface_has_no_track_skew_to_be_found() {
        let truth = Parameters { heads: 1, ..simple_parameters() };
        let jobs = scattered(&truth, 9_900);
        for cylinder_skew in [20, 63] {
            let mut start = truth.clone();
            start.zones[0].cylinder_skew = cylinder_skew;
            let search = Search { rounds: 0, ..Search::default() };
            let fitted = calibrate(&start, &jobs, search, &mut |_, _| true).unwrap();
            assert_eq!(fitted.parameters.zones, truth.zones, "from {cylinder_skew}");
            assert_eq!(fitted.skews_left, None, "from {cylinder_skew}");
        }
    }

    /// Once, a rotation time 2 % off, which only the cost showed, was called calibrated.
    #[test]
    fn a_rotation_that_the_phase_does_not_show_is_not_calibrated() {
        let truth = simple_parameters();
        let jobs = scattered(&truth, 19_000);
        let status = |rotation_untold| {
            let fitted = Fitted { parameters: truth.clone(), skews_left: None, rotation_untold };
            let (kept, lines) = verdict(&truth, fitted, [&jobs, &jobs]).unwrap();
            (kept.status, lines.concat().contains("no rotation time"))
        };
        assert_eq!(status(false), (Status::Calibrated, false));
        assert_eq!(status(true), (Status::NotCalibrated, true));
    }

    #[test]
    fn a_write_that_settles_sooner_than_a_read_is_found() {
        let mut truth = simple_parameters();
        truth.mechanism.write_settle_ms = -0.3;
        let all = scattered(&truth, 19_000);
        let (mut best, knob) = (simple_parameters(), write_settle(0.2));
        let mut lowest = cost(&best, &all).unwrap();
        for scale in [1.0, 0.5, 0.25] {
            lowest = turn(&mut best, &knob, scale, &all, lowest).unwrap();
        }
        let found = best.mechanism.write_settle_ms;
        assert!((found + 0.3).abs() < 0.05, "{found}");
    }
}
