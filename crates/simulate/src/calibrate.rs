//! Fits a drive's parameters to measured times: the rotation and the skews by the platter's phase, the seek curve by the
//! rotations that requests waited for, and then every time by itself.
//!
//! What is made small is the error of each request when the angle of the platter is known from the request before
//! ([`one_step`]), bounded so that retries and recalibrations do not count, plus the distance of the distributions in a
//! free run. The first alone would leave the mean wrong, the second alone cannot see rotation.

use crate::Error;
use crate::command::DiskOptions;
use crate::compare::{Agreement, agreement};
use crate::drive::{Drive, Parameters, Status};
use crate::job::{Arrivals, Configuration, Job};
use crate::seek::SeekCurve;
use crate::simulate::{one_step, simulate};
use crate::{phase, seeks};
use ioscape_schema::SimulationAgreement;
use std::fmt;

pub use crate::halves::halves;

/// Requests that come later than this after the one before say nothing of the angle.
pub const SHORT_GAP_NS: u64 = 30_000_000;

/// An error counts up to here: beyond it the drive did something else.
const BOUND_NS: u64 = 4_000_000;

/// A parameter is moved for no less than this.
const LESS: f64 = 0.999;

/// Times the seek curve is fitted, each from the one before.
const FITS: u32 = 4;

/// How the distance of the distributions is weighed against the bounded error of pairs.
const WEIGHT: f64 = 1.0;

/// How well a drive explains a measured trace.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fit {
    /// Physical times of a free run: requests issued as recorded, the angle never corrected.
    pub free: Agreement,
    /// Requests soon after another, predicted one by one with the angle known.
    pub paired: Agreement,
    /// What the search makes small, in nanoseconds.
    pub cost_ns: f64,
}

impl Fit {
    /// Why a drive that explains held-out requests like this is not calibrated; `None` when it is.
    pub fn doubt(&self) -> Option<String> {
        let (demerit, within) = (100.0 * self.free.demerit, 100.0 * self.paired.within_1ms);
        if self.paired.count == 0 {
            return Some("no held-out request comes soon after another".to_owned());
        }
        if self.free.demerit > SimulationAgreement::DEMERIT_MOST {
            let most = 100.0 * SimulationAgreement::DEMERIT_MOST;
            return Some(format!(
                "the demerit of the held-out requests is {demerit:.2} %, over {most} %"
            ));
        }
        let least = 100.0 * SimulationAgreement::WITHIN_1MS_LEAST;
        if self.paired.within_1ms < SimulationAgreement::WITHIN_1MS_LEAST {
            return Some(format!(
                "{within:.1} % of the held-out requests are within 1 ms, under {least} %"
            ));
        }
        if share_at_least(self.paired) < SimulationAgreement::WITHIN_1MS_LEAST {
            return Some(format!(
                "{within:.1} % of the held-out requests soon after another are within 1 ms, but these are only {}, which does not rule out a share under {least} %",
                self.paired.count
            ));
        }
        None
    }
}

/// The low end of the 95 % interval of the share of requests within 1 ms (E. B. Wilson, "Probable inference", 1927), 0 to 1.
fn share_at_least(paired: Agreement) -> f64 {
    const NORMAL95: f64 = 1.96;
    let (share, count) = (paired.within_1ms, paired.count as f64);
    let by = NORMAL95 * NORMAL95 / count;
    let half = NORMAL95 * ((share * (1.0 - share) + by / 4.0) / count).sqrt();
    (share + by / 2.0 - half) / (1.0 + by)
}

/// Compares a drive with the recorded times of one disk's jobs in the order they were issued.
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

/// Whether the measured time of a request can be predicted from that of the one before: the platter's angle is still known.
fn tells_angle(before: &Job, job: &Job) -> bool {
    let gap_ns = job.io.issued_ns.saturating_sub(before.io.completed_ns);
    before.io.is_timed() && job.io.is_timed() && gap_ns < SHORT_GAP_NS
}

/// How well requests soon after another are predicted one by one, and the mean of their errors, each counted up to a bound.
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

/// What a calibration found.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The fitted drive.
    pub parameters: Parameters,
    /// Whether skews were to be found but could not: with several zones only the phase of the platter tells them, and the requests have
    /// no common phase, or the search was ended before; and runs of tracks have none.
    pub skews_left: bool,
}

/// A sentence for the start and for the fit on each half of the jobs: the one that was fitted, and the one held out.
fn sentences(fits: &[[Fit; 2]; 2]) -> Vec<String> {
    let halves = ["first half (fitted)", "second half (held out)"];
    let of = |(what, fits): (&'static str, &[Fit; 2])| {
        [0, 1].map(|half| format!("{what}, {}: {}", halves[half], fits[half]))
    };
    ["start", "fit"].into_iter().zip(fits).flat_map(of).collect()
}

/// The better of start and fit on the held-out half, with the status that it deserves, and all that is to be said of it.
///
/// # Errors
/// One of them is no drive.
pub fn verdict(
    start: &Parameters,
    fitted: Fitted,
    halves: [&[Job]; 2],
) -> Result<(Parameters, Vec<String>), Error> {
    let Fitted { parameters: fitted, skews_left } = fitted;
    let [begun, ended] = [start.build()?, fitted.build()?];
    let fits = [&begun, &ended].map(|drive| halves.map(|jobs| judge(drive, jobs)));
    let mut lines = sentences(&fits);
    if skews_left {
        let why = if fitted.zones.is_empty() { ANGLES_LEFT } else { SKEWS_LEFT };
        lines.push(why.to_owned());
    }
    let [[_, before], [_, mut fit]] = fits;
    let (mut kept, mut drive) = (fitted, &ended);
    if LESS * before.cost_ns <= fit.cost_ns {
        lines.push("the start explains the held-out half as well or better: it is kept".to_owned());
        (kept, drive, fit) = (start.clone(), &begun, before);
    }
    let [fitted, held_out] = halves.map(|jobs| seeks::seen(drive, jobs));
    lines.extend(fitted.untold(&begun, drive));
    kept.status = Status::Calibrated;
    if let Some(doubt) = fit.doubt().or_else(|| held_out.doubt()) {
        kept.status = Status::NotCalibrated;
        lines.push(format!("not calibrated: {doubt}"));
    }
    Ok((kept, lines))
}

/// One parameter that can be moved.
#[derive(Clone, Copy)]
struct Knob {
    name: &'static str,
    /// First step: a share of the value for rates, a time in milliseconds otherwise.
    step: f64,
    relative: bool,
    at: fn(&mut Parameters) -> Option<&mut f64>,
}

const fn time(name: &'static str, step: f64, at: fn(&mut Parameters) -> Option<&mut f64>) -> Knob {
    Knob { name, step, relative: false, at }
}

const ROTATION: &str = "rotation_ms";
const TO_HOST: &str = "bus.to_host_bytes_per_s";
const TO_DRIVE: &str = "bus.to_drive_bytes_per_s";

/// The times and rates that are fitted, in the order they are tried.
const KNOBS: [Knob; 16] = [
    Knob { name: ROTATION, step: 0.002, relative: true, at: |p| Some(&mut p.rotation_ms) },
    time("controller.write_before_ms", 0.4, |p| Some(&mut p.controller.write_before_ms)),
    time("controller.write_after_ms", 0.2, |p| Some(&mut p.controller.write_after_ms)),
    time("controller.read_before_ms", 0.4, |p| Some(&mut p.controller.read_before_ms)),
    time("controller.read_after_ms", 0.4, |p| Some(&mut p.controller.read_after_ms)),
    time("mechanism.write_settle_ms", 0.2, |p| Some(&mut p.mechanism.write_settle_ms)),
    time("mechanism.head_switch_ms", 0.3, |p| Some(&mut p.mechanism.head_switch_ms)),
    time("bus.arbitration_ms", 0.3, |p| Some(&mut p.bus.arbitration_ms)),
    Knob {
        name: TO_HOST,
        step: seeks::RATE_STEP,
        relative: true,
        at: |p| Some(&mut p.bus.to_host_bytes_per_s),
    },
    Knob {
        name: TO_DRIVE,
        step: seeks::RATE_STEP,
        relative: true,
        at: |p| Some(&mut p.bus.to_drive_bytes_per_s),
    },
    time("seek.short", 0.3, |p| match &mut p.seek {
        SeekCurve::TwoPart { short, .. } => short.first_mut(),
        _ => None,
    }),
    time("seek.a", 0.3, |p| match &mut p.seek {
        SeekCurve::TwoPart { a, .. } => Some(a),
        _ => None,
    }),
    time("seek.b", 0.02, |p| match &mut p.seek {
        SeekCurve::TwoPart { b, .. } => Some(b),
        _ => None,
    }),
    time("seek.c", 0.3, |p| match &mut p.seek {
        SeekCurve::TwoPart { c, .. } => Some(c),
        _ => None,
    }),
    time("seek.e", 0.001, |p| match &mut p.seek {
        SeekCurve::TwoPart { e, .. } => Some(e),
        _ => None,
    }),
    time("mechanism.write_settle_ms", 0.05, |p| Some(&mut p.mechanism.write_settle_ms)),
];

/// How long to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// Rounds through all times; steps are halved after each.
    pub rounds: u32,
    /// Whether skews are searched first, by trying all of them.
    pub skews: bool,
    /// Jobs used while skews are searched.
    pub sample: usize,
}

impl Default for Search {
    fn default() -> Self {
        Self { rounds: 6, skews: true, sample: 6000 }
    }
}

/// Fits `start` to the jobs of one disk in the order they were issued; `step` hears the name of what is fitted next and the
/// cost so far, and ends the search early by answering `false`.
///
/// # Errors
/// The start is no drive.
pub fn calibrate(
    start: &Parameters,
    jobs: &[Job],
    search: Search,
    step: &mut dyn FnMut(&str, f64) -> bool,
) -> Result<Fitted, Error> {
    let mut best = start.clone();
    let mut told = false;
    if search.skews {
        // Within a cylinder the track skew alone decides, so it is found first.
        if !step("rotation_ms and zones", cost(&best, jobs)?) {
            return Ok(Fitted { parameters: best, skews_left: true });
        }
        told = by_phase(&mut best, jobs)?;
        if !told && best.zones.len() == 1 {
            let sample = &jobs[..jobs.len().min(search.sample)];
            for name in [TRACK_SKEW, CYLINDER_SKEW] {
                let cost = skew_cost(&best, sample, name)?;
                if !step(name, cost) {
                    return Ok(Fitted { parameters: best, skews_left: true });
                }
                try_skews(&mut best, sample, name, cost)?;
            }
        }
    }
    let skews_left = search.skews && !told && best.zones.len() != 1;
    let parameters = costs_fitted(best, jobs, search, told, step)?;
    Ok(Fitted { parameters, skews_left })
}

/// Fits the seek curve and the times; `told` says that the phase of the platter told the time of rotation.
fn costs_fitted(
    mut best: Parameters,
    jobs: &[Job],
    search: Search,
    told: bool,
    step: &mut dyn FnMut(&str, f64) -> bool,
) -> Result<Parameters, Error> {
    let begun = best.build()?;
    let mut lowest = judge(&begun, jobs).cost_ns;
    let [to_host, to_drive] = seeks::seen(&begun, jobs).tells_rates(&begun);
    let is_fitted = |name: &str| match name {
        // A rotation that the phase tells is not traded for other errors.
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

/// Takes the time of rotation and the skews that the platter's phase tells, if they explain the jobs better.
fn by_phase(best: &mut Parameters, jobs: &[Job]) -> Result<bool, Error> {
    let drive = best.build()?;
    let Some(found) = phase::found(best, &drive, jobs) else { return Ok(false) };
    if found == *best {
        return Ok(true);
    }
    let is_better = cost(&found, jobs)? < judge(&drive, jobs).cost_ns;
    if is_better {
        *best = found;
    }
    Ok(is_better)
}

fn cost(parameters: &Parameters, jobs: &[Job]) -> Result<f64, Error> {
    Ok(judge(&parameters.build()?, jobs).cost_ns)
}

const SKEWS_LEFT: &str = "the skews are those of the start: these requests do not tell them; more requests, one at a time, would";
const ANGLES_LEFT: &str = "the angles of track runs are not fitted: they are those of the start";
const TRACK_SKEW: &str = "zones.track_skew";
const CYLINDER_SKEW: &str = "zones.cylinder_skew";

/// Bounded error of the requests that tell this skew: for the track skew those on the cylinder of the one before.
fn skew_cost(parameters: &Parameters, jobs: &[Job], name: &str) -> Result<f64, Error> {
    let drive = parameters.build()?;
    let layout = &drive.mechanism.layout;
    let cylinder = |block: u64| layout.tracks()[layout.locate(block).track].cylinder;
    let predicted = one_step(&drive, drive.buffer.usual(), jobs);
    let (mut sum, mut count) = (0, 0u64);
    for (pair, predicted) in jobs.windows(2).zip(&predicted[1.min(predicted.len())..]) {
        let [before, job] = pair else { continue };
        let last = before.command.block + before.command.count.max(1) - 1;
        let near = cylinder(last) == cylinder(job.command.block);
        if tells_angle(before, job) && (near || name == CYLINDER_SKEW) {
            let measured = job.io.physical_ns();
            sum += measured.abs_diff(*predicted).min(BOUND_NS);
            count += 1;
        }
    }
    Ok(sum as f64 / count.max(1) as f64)
}

/// Tries every skew of a drive of one zone.
fn try_skews(
    best: &mut Parameters,
    jobs: &[Job],
    name: &str,
    mut lowest: f64,
) -> Result<(), Error> {
    for skew in 0..best.zones[0].sectors_per_track {
        let mut other = best.clone();
        let zone = &mut other.zones[0];
        if name == TRACK_SKEW {
            zone.track_skew = skew;
        } else {
            zone.cylinder_skew = skew;
        }
        let cost = skew_cost(&other, jobs, name)?;
        if cost < lowest {
            (lowest, *best) = (cost, other);
        }
    }
    Ok(())
}

/// Moves one parameter downhill: in the better direction as long as it gets better, at most eight steps.
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
            let mut other = best.clone();
            let Some(value) = (knob.at)(&mut other) else { return Ok(lowest) };
            let by = direction * scale * knob.step;
            *value = if knob.relative { *value * (1.0 + by) } else { (*value + by).max(0.0) };
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
}
