//! The last steps to a drive that was measured exactly: least squares in times, since a request's
//! times add up.

use super::moved::{Moved, Part};
use super::search::{Fitted, Pass, Search, beside, distance, scaled};
use super::told::{WHOLE_NS, explains_exactly};
use super::ways::{Ways, per_open};
use crate::Error;
use crate::ssd::Parameters;
use ioscape_schema::statistics::sort_by_number;
use nalgebra::{DMatrix, DVector};

/// The pass of the last steps. Its uncertainty is that of whole nanoseconds.
pub const EXACTLY: Pass =
    Pass { part: Part::All, kept: 1, rounds: 14, open_least: WHOLE_NS, is_rough: false };

/// First and last step of the derivatives; each step is smaller than the one before by the factor
/// [`FINER`].
const STEPS: [f64; 2] = [0.01, 0.003];
const FINER: f64 = 3.0;
/// Smaller residuals come from rounding to whole nanoseconds.
const EXPLAINED: f64 = 1e-5;
/// Every time is lengthened by this share of the shortest request, so that steps can lead away from
/// a time near zero.
const SHARE: f64 = 0.02;
/// Largest factor by which one step changes a time.
const LONGEST: f64 = 20.0;

/// A moved time in milliseconds; for a rate, the time of a page.
struct Time {
    moved: &'static Moved,
    /// Its value and its lower bound, both with the added length, and that length.
    is: f64,
    least: f64,
    longer: f64,
}

impl Time {
    fn of(moved: &'static Moved, of: &Parameters, longer: f64) -> Self {
        let mut of = of.clone();
        let time = |value: f64| moved.time_ms(value) + longer;
        let least = moved.bounds.map(time).into_iter().fold(f64::INFINITY, f64::min);
        Self { moved, is: time(*(moved.of)(&mut of)), least, longer }
    }

    /// Multiplies the time by `factor` within its bounds; returns the factor that was reached.
    fn make(&self, parameters: &mut Parameters, factor: f64) -> f64 {
        let value = self.moved.time_ms((self.is * factor).max(self.least) - self.longer);
        let [least, most] = self.moved.bounds;
        let value = value.clamp(least, most);
        *(self.moved.of)(parameters) = value;
        (self.moved.time_ms(value) + self.longer) / self.is
    }

    /// The largest share of it that can be subtracted.
    fn most_off(&self) -> f64 {
        (1.0 - self.least / self.is).min(1.0 - 1.0 / LONGEST)
    }
}

impl Search<'_> {
    /// Descends from each candidate in order, until one explains all measurements to the last
    /// nanosecond; returns the drives, the best first.
    pub fn explaining(&mut self, candidates: Vec<Fitted>) -> Result<Vec<Fitted>, Error> {
        let (mut explain, mut others) = (Vec::<Fitted>::new(), Vec::<Fitted>::new());
        for one in candidates {
            // Once a drive explains all, another candidate of a tried shape is no new answer.
            let is_tried = |other: &Fitted| other.shape() == one.shape();
            if !explain.is_empty() && explain.iter().chain(&others).any(is_tried) {
                continue;
            }
            let near = self.nearer(one)?;
            if explains_exactly(&near) {
                return Ok(vec![near]);
            }
            let some = if self.explains(&near)? { &mut explain } else { &mut others };
            some.push(near);
        }
        self.sort(&mut explain);
        self.sort(&mut others);
        if explain.is_empty() {
            explain.extend((!others.is_empty()).then(|| others.remove(0)));
        }
        let mut found = self.once_more(explain)?;
        if !found.iter().any(explains_exactly) {
            found.append(&mut others);
        }
        Ok(found)
    }

    /// Descends again from drives that are already near: with the roughness estimated anew there,
    /// steps lead farther.
    fn once_more(&mut self, near: Vec<Fitted>) -> Result<Vec<Fitted>, Error> {
        let mut found = Vec::new();
        for one in near {
            let nearer = self.nearer(one)?;
            if explains_exactly(&nearer) {
                return Ok(vec![nearer]);
            }
            found.push(nearer);
        }
        self.sort(&mut found);
        Ok(found)
    }

    /// Sorts the drives, the best first.
    fn sort(&mut self, found: &mut [Fitted]) {
        self.pass = &EXACTLY;
        sort_by_number(found, |one| self.score(one));
    }

    /// The drive near this one that explains all, or this one if there is none: least squares would
    /// then spread the unexplained error over all workloads.
    pub fn nearer(&mut self, than: Fitted) -> Result<Fitted, Error> {
        let found = self.settled(than.clone())?;
        Ok(if self.score(&found) < self.score(&than) { found } else { than })
    }

    /// Descends by least-squares steps until the drive explains all, as far as its throughputs
    /// change smoothly. Exact measurements have no outliers, so no robust weights are needed.
    pub fn settled(&mut self, from: Fitted) -> Result<Fitted, Error> {
        self.pass = &EXACTLY;
        let mut here = from;
        let (mut step, mut damping) = (STEPS[0], 1e-4);
        let mut rough = vec![0.0; here.residuals.len()];
        for _ in 0..EXACTLY.rounds {
            if here.residuals.iter().all(|r| r.abs() < EXPLAINED) {
                break;
            }
            let times = self.times(&here.parameters);
            let ways = self.ways_in_times(&here, &times, step)?;
            rough = rough.iter().zip(ways.rough()).map(|(one, other)| other.max(*one)).collect();
            let mut open = beside(&self.known_exactly(), &rough);
            let z = scaled(&here.residuals, &open);
            // Scale so that no residual is large enough to pull with a constant force.
            let most = z.iter().fold(1.0_f64, |most, z| most.max(z.abs()));
            open.iter_mut().for_each(|open| *open *= most);
            let slopes = per_open(ways.central(), &open);
            let before = distance(&here.residuals, &open);
            let mut after = before;
            for _ in 0..6 {
                let z = scaled(&here.residuals, &open);
                let tried = self.judged(stepped(&here.parameters, &times, z, &slopes, damping))?;
                let there = distance(&tried.residuals, &open);
                if there < before {
                    (here, after, damping) = (tried, there, (damping / 10.0).max(1e-9));
                    break;
                }
                damping *= 10.0;
            }
            if after < 0.5 * before {
                rough.fill(0.0);
            } else if step > STEPS[1] {
                (step, damping) = ((step / FINER).max(STEPS[1]), 1e-4);
            } else if after > 0.9 * before {
                break;
            }
        }
        Ok(here)
    }

    /// The times that are moved.
    fn times(&self, of: &Parameters) -> Vec<Time> {
        let alone = self.trials.measured.iter().filter(|m| m.workload.queue_depth == 1);
        let shortest = alone.map(|m| m.workload.size_mean as f64 / m.throughput_bytes_per_s);
        let longer = 1e3 * SHARE * shortest.fold(1.0, f64::min);
        self.moved(of).map(|moved| Time::of(moved, of, longer)).collect()
    }

    /// How the residuals change with the logarithm of each time, by steps in both directions, or in
    /// one if a bound prevents the other.
    fn ways_in_times(&self, here: &Fitted, times: &[Time], step: f64) -> Result<Ways, Error> {
        let (mut up, mut down) = (Vec::new(), Vec::new());
        for time in times {
            let way = |step: f64| -> Result<Option<DVector<f64>>, Error> {
                let mut other = here.parameters.clone();
                let by = time.make(&mut other, step.exp()).ln();
                if by.abs() < 0.1 * step.abs() {
                    return Ok(None);
                }
                let there = self.residuals_since(&here.residuals, &other, time.moved)?;
                let slopes =
                    there.iter().zip(&here.residuals).map(|(there, here)| (there - here) / by);
                Ok(Some(DVector::from_iterator(there.len(), slopes)))
            };
            let (longer, shorter) = (way(step)?, way(-step)?);
            let none = || DVector::zeros(here.residuals.len());
            let either = longer.clone().or_else(|| shorter.clone()).unwrap_or_else(none);
            up.push(longer.unwrap_or_else(|| either.clone()));
            down.push(shorter.unwrap_or(either));
        }
        Ok(Ways { up: DMatrix::from_columns(&up), down: DMatrix::from_columns(&down), step })
    }
}

/// The parameters after a damped step from the residuals `z`, in units of their uncertainty.
fn stepped(
    here: &Parameters,
    times: &[Time],
    z: Vec<f64>,
    slopes: &DMatrix<f64>,
    damping: f64,
) -> Parameters {
    let mut parameters = here.clone();
    let most: Vec<f64> = times.iter().map(Time::most_off).collect();
    for (time, off) in times.iter().zip(off(DVector::from_vec(z), slopes, damping, &most)) {
        time.make(&mut parameters, (1.0 - off).clamp(1.0 / LONGEST, LONGEST));
    }
    parameters
}

/// The damped least-squares step, at most `most` for each parameter; if one reaches its bound, the
/// others make up for it.
fn off(z: DVector<f64>, slopes: &DMatrix<f64>, damping: f64, most: &[f64]) -> Vec<f64> {
    let count = most.len();
    let mut fixed: Vec<Option<f64>> = vec![None; count];
    loop {
        let (mut normal, mut left) = (slopes.transpose() * slopes, z.clone());
        for (at, off) in fixed.iter().enumerate() {
            if let Some(off) = off {
                left -= slopes.column(at) * *off;
            }
        }
        let mut wanted = slopes.transpose() * left;
        for at in 0..count {
            normal[(at, at)] += damping * (normal[(at, at)] + 1.0);
            if fixed[at].is_some() {
                normal.row_mut(at).fill(0.0);
                normal.column_mut(at).fill(0.0);
                (normal[(at, at)], wanted[at]) = (1.0, 0.0);
            }
        }
        let Some(solved) = normal.cholesky().map(|normal| normal.solve(&wanted)) else {
            return vec![0.0; count];
        };
        let beyond: Vec<usize> =
            (0..count).filter(|at| fixed[*at].is_none() && solved[*at] > most[*at]).collect();
        if beyond.is_empty() {
            return (0..count).map(|at| fixed[at].unwrap_or(solved[at])).collect();
        }
        beyond.into_iter().for_each(|at| fixed[at] = Some(most[at]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_one_time_is_at_its_bound_the_others_make_up_for_it() {
        let slopes = DMatrix::from_row_slice(2, 2, &[1.0, 1.0, 0.0, 1.0]);
        let off = |most: [f64; 2]| off(DVector::from_vec(vec![1.0, 1.0]), &slopes, 0.0, &most);
        let is = |found: Vec<f64>, wanted: [f64; 2]| {
            found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-12)
        };
        assert!(is(off([9.0, 9.0]), [0.0, 1.0]));
        assert!(is(off([9.0, 0.5]), [0.5, 0.5]), "the second takes off no more than that");
    }

    #[test]
    fn a_rate_moves_by_the_time_of_a_page_and_stays_within_its_bounds() {
        let mut drive = crate::ssd::find("generic-ssd").expect("it is shipped");
        let is_rate = |moved: &&Moved| moved.name == "flash.channel_bytes_per_s";
        let moved = Part::Reads.moved(&drive, false).find(is_rate).expect("it is moved");
        drive.flash.channel_bytes_per_s = 4096e3;
        // A page takes 1 ms and, with the added length, counts as 2 ms.
        let time = Time::of(moved, &drive, 1.0);
        assert!((time.make(&mut drive, 1.5) - 1.5).abs() < 1e-9);
        assert!((drive.flash.channel_bytes_per_s - 2048e3).abs() < 1e-3);
        let shortest = time.make(&mut drive, 0.1);
        assert!((drive.flash.channel_bytes_per_s / moved.bounds[1] - 1.0).abs() < 1e-6);
        assert!((shortest - (1.0 - time.most_off())).abs() < 1e-9, "{shortest}");
    }
}
