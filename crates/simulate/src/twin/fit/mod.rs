//! Fits a solid-state drive to measured workloads: shapes are tried, and the times and rates of each are moved until the
//! simulated throughputs are the measured ones. What reads alone tell is found first: they are simulated in a tenth of the time, and tell most
//! of the shapes apart.
//!
//! The distance is that of the logarithms, in units of what the measurement leaves open; a workload far off pulls with a constant
//! force (Huber). Times and rates are found by damped Gauss-Newton steps with numerical derivatives (Levenberg 1944,
//! Marquardt 1963). Shapes are compared by their distance and the number of parameters (Schwarz 1978).

mod joint;
mod moved;
mod seen;
mod steps;
mod ways;

pub use seen::sized;

use super::replica::{Replica, Requests};
use crate::Error;
use crate::ssd::Parameters;
use ioscape_schema::Measurement;
use joint::Tried;
use moved::Part;
use nalgebra::DMatrix;
use seen::{BATCHES, CHANNELS, DIES, Seen};
use steps::{EXACT, cost, known_to, open, residual, slopes, stepped, stepped_in_times};
use ways::{Ways, per_open};

/// A part of the search.
struct Pass {
    /// What is moved; without writes only reads are simulated.
    part: Part,
    /// The best candidates so far that it takes, and its steps.
    kept: usize,
    rounds: u32,
    /// What a throughput leaves open at least, relative, of requests one at a time.
    open_least: f64,
    /// Whether throughputs are simulated roughly.
    is_rough: bool,
}

/// Many shapes roughly, some well: with what was read, for each kind of start, and the best of all.
const READING: [Pass; 3] = [
    Pass { part: Part::Reads, kept: 40, rounds: 2, open_least: 0.01, is_rough: true },
    Pass { part: Part::Reads, kept: 15, rounds: 3, open_least: 0.01, is_rough: true },
    Pass { part: Part::Reads, kept: 6, rounds: 6, open_least: 0.01, is_rough: false },
];
const READ: [Pass; 2] = [
    Pass { part: Part::Reads, kept: 5, rounds: 10, open_least: 0.01, is_rough: false },
    Pass { part: Part::Reads, kept: 6, rounds: 10, open_least: 0.001, is_rough: false },
];
/// What was written.
const WRITING: [Pass; 3] = [
    Pass { part: Part::Writes, kept: 10, rounds: 2, open_least: 0.01, is_rough: true },
    Pass { part: Part::Writes, kept: 5, rounds: 4, open_least: 0.01, is_rough: true },
    Pass { part: Part::Writes, kept: 2, rounds: 8, open_least: 0.01, is_rough: false },
];
/// So many shapes of each kind are tried with what was written.
const SHAPES: usize = 4;
/// One to the end.
const BOTH: [Pass; 3] = [
    Pass { part: Part::All, kept: 3, rounds: 10, open_least: 0.01, is_rough: false },
    Pass { part: Part::All, kept: 1, rounds: 20, open_least: 0.001, is_rough: false },
    Pass { part: Part::All, kept: 1, rounds: 10, open_least: 0.0001, is_rough: false },
];
/// The best once more, where all was measured exactly: steps of the derivatives at first and at last, of which each is so much smaller than the one before, and
/// steps in all. A throughput leaves so much open: whole nanoseconds.
const EXACTLY: Pass =
    Pass { part: Part::All, kept: 1, rounds: 14, open_least: 1e-4, is_rough: false };
const CLOSE: [f64; 2] = [0.01, 0.003];
const FINER: f64 = 3.0;
/// Reads of which no more is unexplained, relative, are those of a drive whose dies alone limit what is in flight.
const EXPLAINED: f64 = 0.02;
/// Steps of the numerical derivatives, in logarithms: as far as there is to go, since pages come and go in whole numbers, and what many requests
/// in flight come to is rough where one looks closely.
const STEPS: [f64; 2] = [0.0003, 0.03];
/// They are not closer than so many times what is far on average.
const CLOSER: f64 = 30.0;
/// A time or rate is told if it is known to within this factor with 95 % certainty; where all was measured exactly, to within that.
const TOLD: f64 = 1.5;
const TOLD_EXACTLY: f64 = 1.02;
/// A residual of more times what is left open is not explained.
const STUCK: f64 = 5.0;
/// A candidate whose score is worse by less explains as much: one is at most e^3 = 20 times as likely as the other.
const ALIKE: f64 = 6.0;
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
    /// Shapes that explain the measurements as well, as far as they were tried: channels, dies of a channel, and pages that a die programs at once.
    pub as_good: Vec<[u32; 3]>,
    /// Times and rates that the measurements do not tell within a factor of 1.5, with 95 % certainty; within 2 % where they leave nothing open, as of
    /// a simulated drive, and all where the drive does not explain them.
    pub untold: Vec<&'static str>,
}

/// Fits a drive to measured workloads, all on one set. `requests` makes the requests that were measured; `stop` says whether the user wants to
/// stop, and is asked several times a second.
///
/// # Errors
/// Nothing was measured, no drive can be built, or the user wants to stop.
pub fn fit(
    measured: &[Measurement],
    requests: &Requests<'_>,
    stop: &dyn Fn() -> bool,
) -> Result<Fitted, Error> {
    let measured: Vec<&Measurement> =
        measured.iter().filter(|m| m.throughput_bytes_per_s > 0.0).collect();
    let Some(seen) = Seen::of(&measured) else {
        return Err(Error::Configuration("no read of 4 KiB was measured".to_owned()));
    };
    let reads = measured.iter().copied().filter(|m| m.workload.read_frac >= 1.0).collect();
    let mut search = Search { measured: reads, requests, stop, writes: false, pass: &READING[0] };
    let mut found = search.readers(&seen)?;
    let unexplained = found.first().map_or(1.0, |best| search.unexplained(&best.residuals, false));
    if unexplained > EXPLAINED {
        let Tried { parameters, residuals, .. } = joint::fit(&seen, measured, requests, stop)?;
        return Ok(Fitted { parameters, residuals, as_good: Vec::new(), untold: Vec::new() });
    }
    if measured.len() > search.measured.len() {
        search = Search { measured, writes: true, pass: &WRITING[0], ..search };
        let starts = found.iter().take(SHAPES).flat_map(|one| seen.writers(&one.parameters));
        found = starts.map(|start| search.judged(start)).collect::<Result<_, _>>()?;
        search.through(&WRITING, &mut found)?;
    }
    found = best_of_each_shape(found, &search);
    search.through(&BOTH[..1], &mut found)?;
    let as_good = search.as_good(&found);
    // Only a simulated drive is known exactly.
    let is_exact = search.measured.iter().all(|m| known_to(m) == 0.0);
    let is_well_known = search.measured.iter().any(|m| known_to(m) < BOTH[0].open_least);
    search.through(if is_well_known && !is_exact { &BOTH[1..] } else { &[] }, &mut found)?;
    let best = found.into_iter().next();
    let best = best.ok_or_else(|| Error::Configuration("no shape was tried".to_owned()))?;
    let best = if is_exact { search.nearer(best)? } else { best };
    let untold = search.untold(&best, is_exact)?;
    Ok(Fitted { as_good, untold, ..best })
}

/// All shapes that are tried: channels, dies of a channel, and pages that a die programs at once.
fn shapes() -> impl Iterator<Item = [u32; 3]> {
    let dies = |channels| DIES.map(|dies| [channels, dies]);
    let all = CHANNELS.into_iter().flat_map(dies);
    all.flat_map(|[channels, dies]| BATCHES.map(|batch| [channels, dies, batch]))
}

/// The best of each shape.
fn best_of_each_shape(mut found: Vec<Fitted>, search: &Search<'_>) -> Vec<Fitted> {
    found.sort_by(|a, b| search.score(a).total_cmp(&search.score(b)));
    let mut known = Vec::new();
    found.retain(|one| {
        let shape = one.shape();
        let is_new = !known.contains(&shape);
        known.push(shape);
        is_new
    });
    found
}

impl Fitted {
    /// Channels, dies of a channel, and pages that a die programs at once.
    pub fn shape(&self) -> [u32; 3] {
        let flash = &self.parameters.flash;
        [flash.channels, flash.dies_per_channel, flash.batch_pages()]
    }
}

struct Search<'a> {
    measured: Vec<&'a Measurement>,
    requests: &'a Requests<'a>,
    stop: &'a dyn Fn() -> bool,
    writes: bool,
    pass: &'static Pass,
}

impl Search<'_> {
    /// Drives that explain what was read, the best of each shape.
    fn readers(&mut self, seen: &Seen) -> Result<Vec<Fitted>, Error> {
        let mut found = Vec::new();
        for is_narrow in [false, true] {
            self.pass = &READING[0];
            let starts = shapes().map(|shape| seen.reader(shape, is_narrow));
            let mut some = starts.map(|start| self.judged(start)).collect::<Result<_, _>>()?;
            self.through(&READING, &mut some)?;
            found.append(&mut some);
        }
        found = best_of_each_shape(found, self);
        self.through(&READ[..1], &mut found)?;
        let others = found.iter().flat_map(|one| seen.otherwise_limited(&one.parameters));
        let others = others.map(|other| self.descend(other)).collect::<Result<Vec<_>, _>>()?;
        found.extend(others);
        self.through(&READ[1..], &mut found)?;
        self.drop_unlikely(&mut found);
        Ok(best_of_each_shape(found, self))
    }

    /// Takes candidates through these passes.
    fn through(&mut self, passes: &'static [Pass], found: &mut Vec<Fitted>) -> Result<(), Error> {
        for pass in passes {
            self.pass = pass;
            found.sort_by(|a, b| self.score(a).total_cmp(&self.score(b)));
            found.truncate(pass.kept);
            if !pass.is_rough {
                self.drop_unlikely(found);
            }
            for one in found.iter_mut() {
                *one = self.descend(one.parameters.clone())?;
            }
            found.sort_by(|a, b| self.score(a).total_cmp(&self.score(b)));
        }
        Ok(())
    }

    /// Leaves out what is far less likely than the first.
    fn drop_unlikely(&self, found: &mut Vec<Fitted>) {
        let least = found.first().map_or(0.0, |best| self.score(best));
        found.retain(|one| self.score(one) < least + APART);
    }

    /// Shapes of candidates that are as likely as the best.
    fn as_good(&self, found: &[Fitted]) -> Vec<[u32; 3]> {
        let mut scores: Vec<(f64, [u32; 3])> =
            found.iter().map(|one| (self.score(one), one.shape())).collect();
        scores.sort_by(|a, b| a.0.total_cmp(&b.0));
        let least = scores.first().map_or(0.0, |(score, _)| *score);
        let alike = scores.into_iter().skip(1).filter(|(score, _)| *score < least + ALIKE);
        alike.map(|(_, shape)| shape).collect()
    }

    /// Times and rates that the measurements do not tell, by how the residuals change with them.
    fn untold(&self, of: &Fitted, is_exact: bool) -> Result<Vec<&'static str>, Error> {
        let factor: f64 = if is_exact { TOLD_EXACTLY } else { TOLD };
        let ways = self.ways(of, factor.ln())?;
        let all = self.moved(&of.parameters);
        let open = if is_exact {
            let open = beside(&self.known_exactly(), &ways.rough());
            if is_stuck(&of.residuals, &open) {
                return Ok(all.map(|moved| moved.name).collect());
            }
            self.open_beside(&of.residuals, open)
        } else {
            self.open(&of.residuals)
        };
        let untold = all.zip(ways.known_to(&open)).filter(|(_, known)| *known > factor.ln());
        Ok(untold.map(|(moved, _)| moved.name).collect())
    }

    /// What is left open where all was measured exactly: `open`, what is rough, and how far the others of its kind, reads or what writes, are from all that.
    fn open_beside(&self, residuals: &[f64], open: Vec<f64>) -> Vec<f64> {
        let stuck = [false, true].map(|kind| {
            let all =
                residuals.iter().zip(&open).zip(&self.measured).filter(|(_, m)| writes(m) == kind);
            let more: Vec<f64> =
                all.map(|((r, open), _)| (r.abs() - 2.0 * open).max(0.0)).collect();
            far(&more)
        });
        self.measured
            .iter()
            .zip(open)
            .map(|(m, open)| open.hypot(stuck[usize::from(writes(m))]))
            .collect()
    }

    /// The drive that explains all which is near this one; this one where none is, since least squares then spread what is not explained over all.
    fn nearer(&mut self, than: Fitted) -> Result<Fitted, Error> {
        let found = self.settled(than.clone())?;
        Ok(if self.score(&found) < self.score(&than) { found } else { than })
    }

    /// Descends to where a drive explains all, as far as what it comes to is smooth: in steps of least squares, since nothing that is measured exactly is far off by chance.
    fn settled(&mut self, from: Fitted) -> Result<Fitted, Error> {
        self.pass = &EXACTLY;
        let mut here = from;
        let (mut step, mut damping) = (CLOSE[0], 1e-4);
        let mut rough = vec![0.0; here.residuals.len()];
        for _ in 0..self.pass.rounds {
            let ways = self.ways(&here, step)?;
            rough = rough.iter().zip(ways.rough()).map(|(one, other)| other.max(*one)).collect();
            let mut open = beside(&self.known_exactly(), &rough);
            let z = scaled(&here.residuals, &open);
            // None pulls with a constant force.
            let most = z.iter().fold(1.0_f64, |most, z| most.max(z.abs()));
            open.iter_mut().for_each(|open| *open *= most);
            let slopes = per_open(ways.central(), &open);
            let before = distance(&here.residuals, &open);
            let mut after = before;
            for _ in 0..6 {
                let z = scaled(&here.residuals, &open);
                let moved = self.moved(&here.parameters);
                let tried =
                    self.judged(stepped_in_times(&here.parameters, moved, z, &slopes, damping))?;
                let there = distance(&tried.residuals, &open);
                if there < before {
                    (here, after, damping) = (tried, there, (damping / 10.0).max(1e-9));
                    break;
                }
                damping *= 10.0;
            }
            if after < 0.5 * before {
                rough.fill(0.0);
            } else if step > CLOSE[1] {
                (step, damping) = ((step / FINER).max(CLOSE[1]), 1e-4);
            } else if after > 0.9 * before {
                break;
            }
        }
        Ok(here)
    }

    /// What the measurements leave open, however many were in flight: what is rough of these is looked at.
    fn known_exactly(&self) -> Vec<f64> {
        self.measured.iter().map(|m| known_to(m).max(self.pass.open_least)).collect()
    }

    /// How residuals change with each time and rate, by steps both ways.
    fn ways(&self, here: &Fitted, step: f64) -> Result<Ways, Error> {
        let [up, down] = [step, -step].map(|step| {
            slopes(&here.parameters, self.moved(&here.parameters), &here.residuals, step, |other| {
                self.residuals(other)
            })
        });
        Ok(Ways { up: up?, down: down?, step })
    }

    /// By which candidates are compared: twice the logarithm of how unlikely the measurements are, what is unexplained included, and as many
    /// parameters more have to explain so much more.
    fn score(&self, of: &Fitted) -> f64 {
        let open = self.open(&of.residuals);
        let far: f64 = of.residuals.iter().zip(&open).map(|(r, open)| unlikely(*r, *open)).sum();
        let moved = Part::All.moved(&of.parameters, self.writes).count();
        far + moved as f64 * (self.measured.len() as f64).ln()
    }

    fn moved(&self, of: &Parameters) -> impl Iterator<Item = &'static moved::Moved> {
        self.pass.part.moved(of, self.writes)
    }

    fn residuals(&self, parameters: &Parameters) -> Result<Vec<f64>, Error> {
        if (self.stop)() {
            return Err(Error::Interrupted);
        }
        let model = parameters.build()?;
        let [whole, rough] = [Replica::new, Replica::rough].map(|of| of(&model, self.requests));
        let one = |m: &&Measurement| {
            let is_rough = self.pass.is_rough && (!self.writes || writes(m));
            residual(if is_rough { &rough } else { &whole }, m)
        };
        Ok(self.measured.iter().map(one).collect())
    }

    /// What each measurement leaves open, and no drive of this kind explains: what is known to 1 % counts no more than what is known to 3 % where
    /// the drive is off by 10 %.
    fn open(&self, residuals: &[f64]) -> Vec<f64> {
        let beside = [false, true].map(|writes| self.unexplained(residuals, writes));
        self.measured.iter().map(|m| self.known(m).hypot(beside[usize::from(writes(m))])).collect()
    }

    /// What a measurement leaves open.
    fn known(&self, m: &Measurement) -> f64 {
        open(m, self.pass.open_least)
    }

    /// The standard deviation beside what the measurements leave open with which the residuals are likeliest, of reads alone or of what writes.
    fn unexplained(&self, residuals: &[f64], of_writes: bool) -> f64 {
        let all = residuals.iter().zip(&self.measured).filter(|(_, m)| writes(m) == of_writes);
        let each: Vec<[f64; 2]> = all.map(|(r, m)| [*r, self.known(m)]).collect();
        let unlikely = |beside: f64| -> f64 {
            each.iter().map(|[r, known]| unlikely(*r, known.hypot(beside))).sum()
        };
        let some = (0..BESIDES).map(|n| BESIDE_MOST * BESIDE_STEP.powi(-n));
        let all = some.map(|beside| (unlikely(beside), beside)).chain([(unlikely(0.0), 0.0)]);
        all.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0.0, |(_, beside)| beside)
    }

    fn judged(&self, parameters: Parameters) -> Result<Fitted, Error> {
        let residuals = self.residuals(&parameters)?;
        Ok(Fitted { parameters, residuals, as_good: Vec::new(), untold: Vec::new() })
    }

    fn descend(&self, from: Parameters) -> Result<Fitted, Error> {
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
                let tried = self.judged(self.moved_by(&here, &open, &slopes, damping))?;
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
        slopes(&here.parameters, self.moved(&here.parameters), &base, step, |other| {
            Ok(scaled(&self.residuals(other)?, open))
        })
    }

    /// The parameters after a damped step.
    fn moved_by(
        &self,
        here: &Fitted,
        open: &[f64],
        slopes: &DMatrix<f64>,
        damping: f64,
    ) -> Parameters {
        let z = scaled(&here.residuals, open);
        stepped(&here.parameters, self.moved(&here.parameters), z, slopes, damping)
    }
}

/// How unlikely a residual is where so much is left open, of a distribution of Student with [`TAILS`] degrees of freedom: a stall of the drive is
/// likelier than all else being known badly (Lange, Little & Taylor 1989).
fn unlikely(residual: f64, open: f64) -> f64 {
    (TAILS + 1.0) * ((residual / open).powi(2) / TAILS).ln_1p() + 2.0 * open.ln()
}

/// Whether a drive does not explain what was measured exactly: it is not the right one, whatever its numbers change.
fn is_stuck(residuals: &[f64], open: &[f64]) -> bool {
    scaled(residuals, open).iter().any(|z| z.abs() > STUCK)
}

/// What is left open by one and by the other.
fn beside(open: &[f64], other: &[f64]) -> Vec<f64> {
    open.iter().zip(other).map(|(one, other)| one.hypot(*other)).collect()
}

/// Residuals in units of what is left open.
fn scaled(residuals: &[f64], open: &[f64]) -> Vec<f64> {
    residuals.iter().zip(open).map(|(r, open)| r / open).collect()
}

/// How far simulated throughputs are from measured ones.
fn distance(residuals: &[f64], open: &[f64]) -> f64 {
    scaled(residuals, open).iter().map(|z| cost(*z)).sum()
}

/// How far there is to go.
fn far(residuals: &[f64]) -> f64 {
    let squares = residuals.iter().map(|r| r.min(1.0).powi(2)).sum::<f64>();
    (squares / residuals.len().max(1) as f64).sqrt()
}

/// Whether a workload has writes.
fn writes(m: &Measurement) -> bool {
    m.workload.read_frac < 1.0
}
