//! Fits a drive, such as a virtual disk, that dies alone do not explain: all workloads together,
//! from the beginning.

use super::moved::Part;
use super::search::Fitted;
use super::seen::{CHANNELS, DIES, Seen};
use super::steps::{EXACT, cost, is_worth, open, slopes, stepped};
use super::trials::Trials;
use crate::Error;
use crate::ssd::Parameters;
use ioscape_schema::Measurement;
use ioscape_schema::statistics::{median, sort_by_number};

/// A pass of the search.
struct Pass {
    /// How many of the best candidates it keeps, and its number of steps.
    kept: usize,
    rounds: u32,
    /// Step of the numerical derivatives, in logarithms: wide at first, since pages come in whole
    /// numbers.
    step: f64,
    /// Least relative uncertainty of a throughput with one request in flight.
    open_least: f64,
    /// Whether throughputs are simulated roughly.
    is_rough: bool,
    /// Whether to try each shape also with channels that limit large reads: no steps lead there
    /// from a link that does.
    is_narrowed: bool,
}

/// All shapes roughly, some of them well, and one to the end.
const PASSES: [Pass; 6] = [
    Pass { kept: 16, rounds: 1, step: 0.03, open_least: 0.01, is_rough: true, is_narrowed: false },
    Pass { kept: 6, rounds: 3, step: 0.03, open_least: 0.01, is_rough: true, is_narrowed: false },
    Pass { kept: 3, rounds: 10, step: 0.03, open_least: 0.01, is_rough: true, is_narrowed: false },
    Pass { kept: 2, rounds: 10, step: 0.003, open_least: 0.01, is_rough: false, is_narrowed: true },
    Pass {
        kept: 1,
        rounds: 10,
        step: 0.001,
        open_least: 0.001,
        is_rough: false,
        is_narrowed: false,
    },
    Pass {
        kept: 1,
        rounds: 10,
        step: 0.0003,
        open_least: 0.001,
        is_rough: false,
        is_narrowed: false,
    },
];
/// Half of all normally distributed numbers are within this many standard deviations of 0.
const QUARTILE: f64 = 0.6745;

/// A step that gains less, in squared standard deviations, is the last: the measurements cannot
/// distinguish the drives before and after it.
const LEAST_GAIN: f64 = 0.1;

/// A tried drive: for each workload the logarithm of simulated over measured throughput, and the
/// total distance.
struct Tried {
    parameters: Parameters,
    residuals: Vec<f64>,
    cost: f64,
}

/// Finds the drive nearest to the measurements.
///
/// # Errors
/// No drive can be built, or the user wants to stop.
pub fn fit(seen: &Seen, trials: Trials<'_>) -> Result<Fitted, Error> {
    let writes = trials.measured.iter().any(|m| m.workload.read_frac < 1.0);
    let mut search = Search { trials, writes, pass: &PASSES[0], unexplained: 0.0 };
    let mut shapes = Vec::new();
    for channels in CHANNELS {
        for dies in DIES {
            for start in seen.starts([channels, dies]) {
                shapes.push(search.judged(start)?);
            }
        }
    }
    for pass in &PASSES {
        if !is_worth(pass.open_least, &search.trials.measured) {
            continue;
        }
        sort_by_number(&mut shapes, |one| one.cost);
        shapes.truncate(pass.kept);
        search.pass = pass;
        search.unexplained = shapes.first().map_or(0.0, |best| search.unexplained(&best.residuals));
        if pass.is_narrowed {
            let other = |shape: &Tried| search.judged(seen.narrow(&shape.parameters));
            let others: Vec<Tried> = shapes.iter().map(other).collect::<Result<_, _>>()?;
            shapes.extend(others);
        }
        for shape in &mut shapes {
            *shape = search.descend(shape.parameters.clone())?;
        }
    }
    let best = shapes.into_iter().min_by(|a, b| a.cost.total_cmp(&b.cost));
    let best = best.ok_or_else(|| Error::Configuration("no shape was tried".to_owned()))?;
    let simulated = search.trials.simulated.get();
    Ok(Fitted { simulated, ..Fitted::new(best.parameters, best.residuals) })
}

struct Search<'a> {
    trials: Trials<'a>,
    writes: bool,
    pass: &'static Pass,
    /// Relative error that no drive of this kind explains: if the model is off by 10 %, a
    /// throughput known to 1 % counts no more than one known to 3 %.
    unexplained: f64,
}

impl Search<'_> {
    /// The residuals; skips the simulation of those that `known` returns for an index and
    /// measurement.
    fn residuals(
        &self,
        parameters: &Parameters,
        known: impl Fn(usize, &Measurement) -> Option<f64>,
    ) -> Result<Vec<f64>, Error> {
        self.trials.residuals(parameters, |_| self.pass.is_rough, known)
    }

    /// Residuals in units of the measurements' uncertainty, including the unexplained error.
    fn scaled(&self, residuals: &[f64]) -> Vec<f64> {
        let open = |m: &&Measurement| open(m, self.pass.open_least).hypot(self.unexplained);
        residuals.iter().zip(&self.trials.measured).map(|(r, m)| r / open(m)).collect()
    }

    /// The standard deviation that must be added to the measurements' uncertainty so that half of
    /// the residuals lie within the quartiles of a normal distribution.
    fn unexplained(&self, residuals: &[f64]) -> f64 {
        let middle = |beside: f64| {
            let open =
                self.trials.measured.iter().map(|m| open(m, self.pass.open_least).hypot(beside));
            let scaled: Vec<f64> = residuals.iter().zip(open).map(|(r, o)| r.abs() / o).collect();
            median(&scaled)
        };
        if middle(0.0) <= QUARTILE {
            return 0.0;
        }
        let mut bounds = [0.0, residuals.iter().fold(1.0_f64, |most, r| most.max(2.0 * r.abs()))];
        for _ in 0..40 {
            let half = (bounds[0] + bounds[1]) / 2.0;
            bounds[usize::from(middle(half) <= QUARTILE)] = half;
        }
        bounds[1]
    }

    fn judged(&self, parameters: Parameters) -> Result<Tried, Error> {
        let residuals = self.residuals(&parameters, |_, _| None)?;
        let cost = self.cost(&residuals);
        Ok(Tried { parameters, residuals, cost })
    }

    fn cost(&self, residuals: &[f64]) -> f64 {
        self.scaled(residuals).iter().map(|z| cost(*z)).sum()
    }

    fn descend(&self, from: Parameters) -> Result<Tried, Error> {
        let mut damping = 1e-3;
        let mut here = self.judged(from)?;
        for _ in 0..self.pass.rounds {
            let z = self.scaled(&here.residuals);
            let moved = || Part::All.moved(&here.parameters, self.writes);
            let slopes = slopes(&here.parameters, moved(), &z, self.pass.step, |other, moved| {
                let known = |at, m: &Measurement| (!moved.changes(m)).then(|| here.residuals[at]);
                Ok(self.scaled(&self.residuals(other, known)?))
            })?;
            let mut settled = true;
            for _ in 0..4 {
                let tried =
                    self.judged(stepped(&here.parameters, moved(), z.clone(), &slopes, damping))?;
                if tried.cost < here.cost {
                    settled = here.cost - tried.cost < LEAST_GAIN;
                    (here, damping) = (tried, damping / 10.0);
                    break;
                }
                damping *= 10.0;
            }
            if settled || here.cost < EXACT {
                break;
            }
        }
        Ok(here)
    }
}
