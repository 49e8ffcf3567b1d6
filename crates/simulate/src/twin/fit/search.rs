//! The search for a drive: candidates, what each leaves unexplained, and steps from one to a nearer one.

use super::moved::{Moved, Part};
use super::steps::{EXACT, cost, is_worth, known_to, open, slopes, stepped};
use super::trials::Trials;
use super::ways::Ways;
use crate::Error;
use crate::ssd::Parameters;
use ioscape_schema::Measurement;
use ioscape_schema::statistics::sort_by_number;
use nalgebra::DMatrix;

/// A part of the search.
pub struct Pass {
    /// What is moved; without writes only reads are simulated.
    pub part: Part,
    /// The best candidates so far that it takes, and its steps.
    pub kept: usize,
    pub rounds: u32,
    /// What a throughput leaves open at least, relative, of requests one at a time.
    pub open_least: f64,
    /// Whether throughputs are simulated roughly.
    pub is_rough: bool,
}

/// Steps of the numerical derivatives, in logarithms: as far as there is to go, since pages come and go in whole numbers, and what many requests
/// in flight come to is rough where one looks closely.
const STEPS: [f64; 2] = [0.0003, 0.03];
/// They are not closer than so many times what is far on average.
const CLOSER: f64 = 30.0;
/// A candidate whose score is worse by more is out: one is e^10 times as likely as the other.
const APART: f64 = 20.0;
/// See [`unlikely`].
const TAILS: f64 = 4.0;
/// What is unexplained is one of so many standard deviations, each the next one divided by a step, or nothing.
const BESIDES: i32 = 32;
const BESIDE_MOST: f64 = 1.0;
const BESIDE_STEP: f64 = 1.25;

/// A drive that was fitted, and how far its throughputs are from those that it was fitted to.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The drive, as large as the set.
    pub parameters: Parameters,
    /// Of each workload, the logarithm of simulated over measured throughput.
    pub residuals: Vec<f64>,
    /// Which other shapes were looked at, and what came of that.
    pub looked: Looked,
    /// Times and rates that the measurements do not tell within a factor of 1.5, with 95 % certainty; within 2 % where they leave nothing open, as of
    /// a simulated drive, and all where the drive does not explain them.
    pub untold: Vec<&'static str>,
    /// Why the search ended with this drive.
    pub ended: Ended,
    /// Workloads that were simulated to find it, however long each took.
    pub simulated: u64,
}

/// Why a search for a drive ended. A search is bounded by candidates and steps, never by time: the same measurements always give the same drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// This drive explains what was measured, as far as that is known.
    Explained,
    /// All candidates were tried to the end, and this one is the nearest.
    Tried,
}

/// Among which shapes a drive was looked for; a shape is channels, dies of a channel, and pages that a die programs at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Looked {
    /// Among all that explain what was read, which was measured exactly.
    Everywhere,
    /// Noise leaves many alike: all were compared roughly, and only the nearest were fitted to all that was measured.
    Near {
        /// Shapes that were fitted and explain the measurements as well.
        as_good: Vec<[u32; 3]>,
        /// Shapes that were fitted and came less near.
        farther: Vec<[u32; 3]>,
    },
    /// It is not its shape that explains what was measured.
    Nowhere,
}

impl Fitted {
    /// A drive of such residuals, of which nothing more is known.
    pub fn new(parameters: Parameters, residuals: Vec<f64>) -> Self {
        let (looked, untold) = (Looked::Nowhere, Vec::new());
        Self { parameters, residuals, looked, untold, ended: Ended::Tried, simulated: 0 }
    }

    /// Channels, dies of a channel, and pages that a die programs at once.
    pub fn shape(&self) -> [u32; 3] {
        let flash = &self.parameters.flash;
        [flash.channels, flash.dies_per_channel, flash.batch_pages()]
    }
}

/// Measurements and what is done with them.
pub struct Search<'a> {
    pub trials: Trials<'a>,
    /// Whether writes were measured.
    pub writes: bool,
    /// Whether all was measured exactly, as only a simulated drive is.
    pub is_exact: bool,
    /// The part of the search that goes on.
    pub pass: &'static Pass,
}

impl Search<'_> {
    /// Takes candidates through these passes, as far as they are worth it.
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

    /// Leaves out what is far less likely than the first.
    pub fn drop_unlikely(&self, found: &mut Vec<Fitted>) {
        let least = found.first().map_or(0.0, |best| self.score(best));
        found.retain(|one| self.score(one) < least + APART);
    }

    /// What the measurements leave open, however many were in flight: what is rough of these is looked at.
    pub fn known_exactly(&self) -> Vec<f64> {
        self.trials.measured.iter().map(|m| known_to(m).max(self.pass.open_least)).collect()
    }

    /// How residuals change with each time and rate, by steps both ways.
    pub fn ways(&self, here: &Fitted, step: f64) -> Result<Ways, Error> {
        let [up, down] = [step, -step].map(|step| {
            let moved = self.moved(&here.parameters);
            slopes(&here.parameters, moved, &here.residuals, step, |other, moved| {
                self.residuals_since(&here.residuals, other, moved)
            })
        });
        Ok(Ways { up: up?, down: down?, step })
    }

    /// By which candidates are compared: twice the logarithm of how unlikely the measurements are, what is unexplained included, and as many
    /// parameters more have to explain so much more.
    pub fn score(&self, of: &Fitted) -> f64 {
        let open = self.open(&of.residuals);
        let far: f64 = of.residuals.iter().zip(&open).map(|(r, open)| unlikely(*r, *open)).sum();
        let moved = Part::All.moved(&of.parameters, self.writes).count();
        far + moved as f64 * (self.trials.measured.len() as f64).ln()
    }

    pub fn moved(&self, of: &Parameters) -> impl Iterator<Item = &'static Moved> {
        self.pass.part.moved(of, self.writes)
    }

    /// The residuals of a drive that differs from one of residuals `base` in what was moved.
    pub fn residuals_since(
        &self,
        base: &[f64],
        parameters: &Parameters,
        moved: &Moved,
    ) -> Result<Vec<f64>, Error> {
        self.simulate(parameters, |at, m| (!moved.changes(m)).then(|| base[at]))
    }

    /// Residuals, of which those need not be simulated that are `known` by their number and measurement.
    fn simulate(
        &self,
        parameters: &Parameters,
        known: impl Fn(usize, &Measurement) -> Option<f64>,
    ) -> Result<Vec<f64>, Error> {
        let is_rough = |m: &Measurement| self.pass.is_rough && (!self.writes || writes(m));
        self.trials.residuals(parameters, is_rough, known)
    }

    /// What each measurement leaves open, and no drive of this kind explains: what is known to 1 % counts no more than what is known to 3 % where
    /// the drive is off by 10 %.
    pub fn open(&self, residuals: &[f64]) -> Vec<f64> {
        let beside = [false, true].map(|writes| self.unexplained(residuals, writes));
        self.trials
            .measured
            .iter()
            .map(|m| self.known(m).hypot(beside[usize::from(writes(m))]))
            .collect()
    }

    /// What a measurement leaves open.
    fn known(&self, m: &Measurement) -> f64 {
        let least = self.pass.open_least;
        if self.is_exact { known_to(m).max(least) } else { open(m, least) }
    }

    /// The standard deviation beside what the measurements leave open with which the residuals are likeliest, of reads alone or of what writes.
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

    pub fn descend(&self, from: Parameters) -> Result<Fitted, Error> {
        let mut damping = 1e-3;
        let mut here = self.judged(from)?;
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
                let tried = self.judged(stepped(&here.parameters, moved, z, &slopes, damping))?;
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

    /// Derivatives of the residuals, in units of what is left open, by the logarithm of each parameter that is moved.
    fn slopes(&self, here: &Fitted, open: &[f64], step: f64) -> Result<DMatrix<f64>, Error> {
        let base = scaled(&here.residuals, open);
        slopes(&here.parameters, self.moved(&here.parameters), &base, step, |other, moved| {
            Ok(scaled(&self.residuals_since(&here.residuals, other, moved)?, open))
        })
    }
}

/// How unlikely a residual is where so much is left open, of a distribution of Student with [`TAILS`] degrees of freedom: a stall of the drive is
/// likelier than all else being known badly (Lange, Little & Taylor 1989).
fn unlikely(residual: f64, open: f64) -> f64 {
    (TAILS + 1.0) * ((residual / open).powi(2) / TAILS).ln_1p() + 2.0 * open.ln()
}

/// What is left open by one and by the other.
pub fn beside(open: &[f64], other: &[f64]) -> Vec<f64> {
    open.iter().zip(other).map(|(one, other)| one.hypot(*other)).collect()
}

/// Residuals in units of what is left open.
pub fn scaled(residuals: &[f64], open: &[f64]) -> Vec<f64> {
    residuals.iter().zip(open).map(|(r, open)| r / open).collect()
}

/// How far simulated throughputs are from measured ones.
pub fn distance(residuals: &[f64], open: &[f64]) -> f64 {
    scaled(residuals, open).iter().map(|z| cost(*z)).sum()
}

/// How far there is to go.
pub fn far(residuals: &[f64]) -> f64 {
    let squares = residuals.iter().map(|r| r.min(1.0).powi(2)).sum::<f64>();
    (squares / residuals.len().max(1) as f64).sqrt()
}

/// Whether a workload has writes.
pub fn writes(m: &Measurement) -> bool {
    m.workload.read_frac < 1.0
}
