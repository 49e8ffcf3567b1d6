//! The search for a drive: candidates, the error that each leaves unexplained, and steps to nearer
//! ones.

use super::moved::{Moved, Part};
use super::steps::{EXACT, cost, is_worth, known_to, open, slopes, stepped};
use super::trials::Trials;
use super::ways::Ways;
use crate::Error;
use crate::ssd::Parameters;
use ioscape_schema::Measurement;
use ioscape_schema::statistics::sort_by_number;
use nalgebra::DMatrix;

/// A pass of the search.
pub struct Pass {
    /// The parameters to move; the part of reads simulates only reads.
    pub part: Part,
    /// How many of the best candidates it keeps, and its number of steps.
    pub kept: usize,
    pub rounds: u32,
    /// Least relative uncertainty of a throughput with one request in flight.
    pub open_least: f64,
    /// Whether throughputs are simulated roughly.
    pub is_rough: bool,
}

/// Least and greatest step of the numerical derivatives, in logarithms. Steps are about as wide as
/// the remaining error, since pages come in whole numbers, and throughput with many requests in
/// flight is rough on a small scale.
const STEPS: [f64; 2] = [0.0003, 0.03];
/// Steps are no smaller than the mean residual divided by this.
const CLOSER: f64 = 30.0;
/// A candidate whose score is worse by more is dropped: the best one is e^10 times as likely.
const APART: f64 = 20.0;
/// Degrees of freedom; see [`unlikely`].
const TAILS: f64 = 4.0;
/// Candidates for the unexplained standard deviation: zero, or one of [`BESIDES`] values, which
/// fall from [`BESIDE_MOST`] by a factor of [`BESIDE_STEP`] each.
const BESIDES: i32 = 32;
const BESIDE_MOST: f64 = 1.0;
const BESIDE_STEP: f64 = 1.25;

/// A fitted drive, and how far its throughputs are from the measured ones.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The drive, of the set's size.
    pub parameters: Parameters,
    /// For each workload, the logarithm of simulated over measured throughput.
    pub residuals: Vec<f64>,
    /// Which other shapes were tried, and with what result.
    pub looked: Looked,
    /// Times and rates that the measurements do not determine to within a factor of 1.5 with 95 %
    /// certainty, or to within 2 % if the measurements are exact, as of a simulated drive; with
    /// exact measurements that the drive does not explain, all times and rates.
    pub untold: Vec<&'static str>,
    /// Why the search ended with this drive.
    pub ended: Ended,
    /// Number of workloads simulated to find it, regardless of their length.
    pub simulated: u64,
}

/// Why a search for a drive ended. Candidates and steps bound a search, never time, so the same
/// measurements always give the same drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// This drive explains the measurements to within their uncertainty.
    Explained,
    /// All candidates were tried to the end; this one is the nearest.
    Tried,
}

/// The shapes among which a drive was searched; a shape is the number of channels, of dies per
/// channel, and of pages that a die programs at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Looked {
    /// All shapes that explain the reads, which were measured exactly.
    Everywhere,
    /// As [`Self::Everywhere`], but this drive does not explain the measurements to the last
    /// nanosecond, so the true shape may be another.
    Alike {
        /// Other shapes that explain the measurements as well.
        as_good: Vec<[u32; 3]>,
    },
    /// With noise, many shapes are alike: all were compared roughly, and only the nearest were
    /// fitted to all measurements.
    Near {
        /// Fitted shapes that explain the measurements as well.
        as_good: Vec<[u32; 3]>,
        /// Fitted shapes that came less near.
        farther: Vec<[u32; 3]>,
    },
    /// No shape: the drive's shape does not explain the measurements.
    Nowhere,
}

impl Fitted {
    /// A drive with these residuals, of which nothing else is known yet.
    pub fn new(parameters: Parameters, residuals: Vec<f64>) -> Self {
        let (looked, untold) = (Looked::Nowhere, Vec::new());
        Self { parameters, residuals, looked, untold, ended: Ended::Tried, simulated: 0 }
    }

    /// The numbers of channels, of dies per channel, and of pages that a die programs at once.
    pub fn shape(&self) -> [u32; 3] {
        let flash = &self.parameters.flash;
        [flash.channels, flash.dies_per_channel, flash.batch_pages()]
    }
}

/// The state of the search.
pub struct Search<'a> {
    pub trials: Trials<'a>,
    /// Whether writes were measured.
    pub writes: bool,
    /// Whether all measurements are exact, as only those of a simulated drive are.
    pub is_exact: bool,
    /// The current pass.
    pub pass: &'static Pass,
}

impl Search<'_> {
    /// Takes the candidates through these passes, skipping passes that are not worthwhile.
    pub fn through(
        &mut self,
        passes: &'static [Pass],
        found: &mut Vec<Fitted>,
    ) -> Result<(), Error> {
        for pass in passes {
            if !is_worth(pass.open_least, &self.trials.measured) {
                continue;
            }
            self.pass = pass;
            sort_by_number(found, |one| self.score(one));
            if self.is_exact && !self.writes {
                *found = distinct(std::mem::take(found));
            }
            found.truncate(pass.kept);
            if !pass.is_rough {
                self.drop_unlikely(found);
            }
            for one in found.iter_mut() {
                *one = self.descend(one.parameters.clone())?;
            }
            sort_by_number(found, |one| self.score(one));
        }
        Ok(())
    }

    /// Drops candidates that are far less likely than the first.
    pub fn drop_unlikely(&self, found: &mut Vec<Fitted>) {
        let least = found.first().map_or(0.0, |best| self.score(best));
        found.retain(|one| self.score(one) < least + APART);
    }

    /// The measurements' uncertainty regardless of the queue depth: callers account for roughness
    /// separately.
    pub fn known_exactly(&self) -> Vec<f64> {
        self.trials.measured.iter().map(|m| known_to(m).max(self.pass.open_least)).collect()
    }

    /// How the residuals change with each time and rate, by steps in both directions.
    pub fn ways(&self, here: &Fitted, step: f64) -> Result<Ways, Error> {
        let [up, down] = [step, -step].map(|step| {
            let moved = self.moved(&here.parameters);
            slopes(&here.parameters, moved, &here.residuals, step, |other, moved| {
                self.residuals_since(&here.residuals, other, moved)
            })
        });
        Ok(Ways { up: up?, down: down?, step })
    }

    /// The score by which candidates are compared; lower is better. It is twice the negative
    /// log-likelihood of the measurements, including unexplained error, plus a penalty per
    /// parameter.
    pub fn score(&self, of: &Fitted) -> f64 {
        let open = self.open(&of.residuals);
        let far: f64 = of.residuals.iter().zip(&open).map(|(r, open)| unlikely(*r, *open)).sum();
        let moved = Part::All.moved(&of.parameters, self.writes).count();
        far + moved as f64 * (self.trials.measured.len() as f64).ln()
    }

    pub fn moved(&self, of: &Parameters) -> impl Iterator<Item = &'static Moved> {
        self.pass.part.moved(of, self.writes)
    }

    /// The residuals of a drive that differs only in `moved` from one with the residuals `base`.
    pub fn residuals_since(
        &self,
        base: &[f64],
        parameters: &Parameters,
        moved: &Moved,
    ) -> Result<Vec<f64>, Error> {
        self.simulate(parameters, |at, m| (!moved.changes(m)).then(|| base[at]))
    }

    /// The residuals; skips the simulation of those that `known` returns for an index and
    /// measurement.
    fn simulate(
        &self,
        parameters: &Parameters,
        known: impl Fn(usize, &Measurement) -> Option<f64>,
    ) -> Result<Vec<f64>, Error> {
        let is_rough = |m: &Measurement| self.pass.is_rough && (!self.writes || writes(m));
        self.trials.residuals(parameters, is_rough, known)
    }

    /// The uncertainty of each measurement, combined with the unexplained error: if the drive is
    /// off by 10 %, a throughput known to 1 % counts no more than one known to 3 %.
    pub fn open(&self, residuals: &[f64]) -> Vec<f64> {
        let beside = [false, true].map(|writes| self.unexplained(residuals, writes));
        self.trials
            .measured
            .iter()
            .map(|m| self.known(m).hypot(beside[usize::from(writes(m))]))
            .collect()
    }

    /// The uncertainty of a measurement in this pass.
    fn known(&self, m: &Measurement) -> f64 {
        let least = self.pass.open_least;
        if self.is_exact { known_to(m).max(least) } else { open(m, least) }
    }

    /// The standard deviation, in addition to the measurements' uncertainty, that makes the
    /// residuals most likely; for workloads with writes if `of_writes`, else for those without.
    pub fn unexplained(&self, residuals: &[f64], of_writes: bool) -> f64 {
        let all =
            residuals.iter().zip(&self.trials.measured).filter(|(_, m)| writes(m) == of_writes);
        let each: Vec<[f64; 2]> = all.map(|(r, m)| [*r, self.known(m)]).collect();
        let unlikely = |beside: f64| -> f64 {
            each.iter().map(|[r, known]| unlikely(*r, known.hypot(beside))).sum()
        };
        let some = (0..BESIDES).map(|n| BESIDE_MOST * BESIDE_STEP.powi(-n));
        let all = some.map(|beside| (unlikely(beside), beside)).chain([(unlikely(0.0), 0.0)]);
        all.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0.0, |(_, beside)| beside)
    }

    pub fn judged(&self, parameters: Parameters) -> Result<Fitted, Error> {
        let residuals = self.simulate(&parameters, |_, _| None)?;
        Ok(Fitted::new(parameters, residuals))
    }

    /// Judges a drive that differs from one with the residuals `reader` only in times and rates of
    /// writes.
    pub fn judged_as(&self, reader: &[f64], parameters: Parameters) -> Result<Fitted, Error> {
        let residuals = self.simulate(&parameters, |at, m| (!writes(m)).then(|| reader[at]))?;
        Ok(Fitted::new(parameters, residuals))
    }

    /// Descends from a drive by the steps of this pass.
    pub fn descend(&self, from: Parameters) -> Result<Fitted, Error> {
        self.descend_from(self.judged(from)?)
    }

    /// Descends from a drive with known residuals.
    pub fn descend_from(&self, from: Fitted) -> Result<Fitted, Error> {
        let mut damping = 1e-3;
        let mut here = from;
        let open = self.open(&here.residuals);
        let mut cost = distance(&here.residuals, &open);
        let mut step = STEPS[1];
        for _ in 0..self.pass.rounds {
            let away = far(&here.residuals);
            let least = STEPS[0].max(away / CLOSER);
            step = step.min(away).max(least);
            let slopes = self.slopes(&here, &open, step)?;
            let before = cost;
            for _ in 0..5 {
                let moved = self.moved(&here.parameters);
                let z = scaled(&here.residuals, &open);
                let next = stepped(&here.parameters, moved, z, &slopes, damping);
                let tried = match self.pass.part {
                    Part::Writes => self.judged_as(&here.residuals, next),
                    Part::Reads | Part::All => self.judged(next),
                }?;
                let there = distance(&tried.residuals, &open);
                if there < cost {
                    (here, cost, damping) = (tried, there, damping / 10.0);
                    break;
                }
                damping *= 10.0;
            }
            let is_at_rest = cost > 0.999 * before;
            if cost < EXACT || is_at_rest && step <= least {
                break;
            }
            if is_at_rest {
                (step, damping) = (step / 4.0, 1e-3);
            }
        }
        Ok(here)
    }

    /// The derivatives of the residuals, in units of their uncertainty, by the logarithm of each
    /// moved parameter.
    fn slopes(&self, here: &Fitted, open: &[f64], step: f64) -> Result<DMatrix<f64>, Error> {
        let base = scaled(&here.residuals, open);
        slopes(&here.parameters, self.moved(&here.parameters), &base, step, |other, moved| {
            Ok(scaled(&self.residuals_since(&here.residuals, other, moved)?, open))
        })
    }
}

/// Whether two drives have the same channels and dies and the same residuals: most reads do not
/// show how many pages a die programs at once.
pub fn reads_the_same(one: &Fitted, other: &Fitted) -> bool {
    let [ours, theirs] = [one, other].map(Fitted::shape);
    ours[..2] == theirs[..2] && one.residuals == other.residuals
}

/// Keeps one of several drives that read the same, since duplicates would only take the places of
/// others.
pub fn distinct(found: Vec<Fitted>) -> Vec<Fitted> {
    let mut kept: Vec<Fitted> = Vec::new();
    for one in found {
        if !kept.iter().any(|other| reads_the_same(&one, other)) {
            kept.push(one);
        }
    }
    kept
}

/// How unlikely a residual is, given its uncertainty, by Student's t distribution with [`TAILS`]
/// degrees of freedom: an outlier such as a stall is likelier than a large error in all other
/// measurements (Lange, Little & Taylor 1989).
fn unlikely(residual: f64, open: f64) -> f64 {
    (TAILS + 1.0) * ((residual / open).powi(2) / TAILS).ln_1p() + 2.0 * open.ln()
}

/// Combines two independent uncertainties of each residual.
pub fn beside(open: &[f64], other: &[f64]) -> Vec<f64> {
    open.iter().zip(other).map(|(one, other)| one.hypot(*other)).collect()
}

/// Residuals in units of their uncertainty.
pub fn scaled(residuals: &[f64], open: &[f64]) -> Vec<f64> {
    residuals.iter().zip(open).map(|(r, open)| r / open).collect()
}

/// How far simulated throughputs are from measured ones.
pub fn distance(residuals: &[f64], open: &[f64]) -> f64 {
    scaled(residuals, open).iter().map(|z| cost(*z)).sum()
}

/// The root mean square residual, with each capped at 1.
pub fn far(residuals: &[f64]) -> f64 {
    let squares = residuals.iter().map(|r| r.min(1.0).powi(2)).sum::<f64>();
    (squares / residuals.len().max(1) as f64).sqrt()
}

/// Whether a workload has writes.
pub fn writes(m: &Measurement) -> bool {
    m.workload.read_frac < 1.0
}
