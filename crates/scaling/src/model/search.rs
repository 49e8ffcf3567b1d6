//! The search for the structural model: which borders there are, and the most probable parameters
//! with them.
//!
//! The posterior has several maxima: an onset is a step, and levels may exchange their parts. So
//! fits start at several places. Structures nearly as probable as the best are kept, each with its
//! weight: where they differ, the observations hardly tell which is right, and their mean is nearer
//! to it (Hoeting, Madigan, Raftery and Volinsky, "Bayesian Model Averaging", Statistical Science
//! 14, 1999).

use super::candidates::{Borders, Guess, candidates, with_one_more};
use super::input::{Observation, base};
use super::parameters::{BorderParameters, Layout};
use super::structure::{NARROW, Shape, Structure};
use ioscape_schema::statistics::sort_by_number;
use ioscape_schema::{Access, Evaluation};
use nalgebra::DVector;
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64Mcg;

/// Width in ln(bytes) of an overflow that is not sharp.
const WIDE: f64 = 0.4;
/// Powers of the share of reads with which a fit may start: one for pages that are dropped one by
/// one, one for whole files.
const DROPPING_STARTS: [f64; 2] = [0.5, 4.0];
/// The additional cost of a byte in memory, relative to the processors' own caches, with which a
/// fit may start.
const BEYOND_START: f64 = 3.0;
/// Distance of other starts from the usual ones, in standard deviations of the prior.
const ELSEWHERE: f64 = 0.5;
/// Misfit per observation up to which a structure counts as found.
const MISFIT_MAX: f64 = 3.0;
/// The gain in twice the log evidence that a border no curve showed needs to count as much as none
/// (Kass and Raftery, "Bayes Factors", J. Am. Stat. Assoc. 90, 1995: from 10 on the evidence is
/// very strong).
const EVIDENCE_MIN: f64 = 10.0;
/// The most structures that are kept, and the most among which these are chosen.
const KEPT: usize = 3;
const LOOKED_AT: usize = 5;
/// How many times more probable than a kept structure the best may be: Occam's window (Madigan and
/// Raftery, J. Am. Stat. Assoc. 89, 1994).
const ODDS_MOST: f64 = 20.0;
/// Structures count as one if their predictions for the observations differ by less than this, as
/// ln(throughput).
const SAME: f64 = 0.01;

/// The starts of the fits: share kept (logit), width of the overflow, and how much of the suggested
/// shift of the mixed border is taken.
fn starts(guesses: &[(BorderParameters<usize>, Guess)]) -> Vec<(f64, f64, f64)> {
    let mut starts = vec![(2.0, NARROW, 0.0)];
    if !guesses.is_empty() {
        starts.extend([(-2.0, NARROW, 0.0), (1.0, WIDE, 0.0)]);
    }
    if guesses.iter().any(|(_, guess)| guess.mixed != 0.0) {
        starts.push((2.0, NARROW, 1.0));
    }
    starts
}

/// Further starts: the best fit of the others with one effect turned on, because near its absence
/// an effect has no slope that a descent could follow.
fn further(layout: &Layout, found: &DVector<f64>) -> Vec<DVector<f64>> {
    let with = |parameter: usize, value: f64| {
        let mut start = found.clone();
        start[parameter] = value;
        start
    };
    let dropping = layout.mix().ln_dropping;
    let is_cached = layout.levels[0] > 1;
    let powers = DROPPING_STARTS.iter().filter(|_| is_cached);
    let beyond = with(layout.processors().ln_beyond, BEYOND_START.ln());
    powers.map(|power| with(dropping, power.ln())).chain([beyond]).collect()
}

/// A structure that was found.
#[derive(Clone, Debug)]
struct Found {
    structure: Structure,
    shape: Shape,
    borders: Borders,
    /// The penalty for its borders, in twice the log evidence.
    price: f64,
    /// Whether further starts were tried.
    refined: bool,
}

impl Found {
    fn improbable(&self) -> f64 {
        self.structure.improbable + self.price
    }
}

struct Search<'a> {
    observations: &'a [Observation],
    start_seed: u64,
    writers_wait: bool,
}

impl Search<'_> {
    /// The best fit from several starts with these borders.
    fn with_borders(&self, borders: &Borders, price: f64) -> Option<Found> {
        let shape = Shape::new(borders, self.observations, self.writers_wait);
        let (mean, root) = (shape.prior.mean()?, shape.prior.root()?);
        let mut generator = Pcg64Mcg::seed_from_u64(self.start_seed);
        let mut best: Option<Structure> = None;
        for (kept, width, shift) in starts(&shape.guesses) {
            let mut start = mean.clone();
            if self.start_seed > 0 {
                let normal = |_, _| -> f64 { StandardNormal.sample(&mut generator) };
                start += &root * DVector::from_fn(root.ncols(), normal) * ELSEWHERE;
            }
            for (border, guess) in &shape.guesses {
                start[border.logit_kept] = kept;
                start[border.ln_width] = width.ln();
                start[border.mixed_shift] = shift * guess.mixed;
            }
            let Some(found) = shape.fitted(self.observations, &start) else { continue };
            if best.as_ref().is_none_or(|best| found.misfit < best.misfit) {
                best = Some(found);
            }
        }
        let borders = borders.clone();
        Some(Found { structure: best?, shape, borders, price, refined: false })
    }

    fn all(&self, borders: &[Borders], price: f64) -> Vec<Found> {
        borders.iter().filter_map(|borders| self.with_borders(borders, price)).collect()
    }

    /// The same borders with a better fit, if a further start leads to one. A fit takes long, so
    /// few structures are refined.
    fn refined(&self, mut found: Found) -> Found {
        if found.refined {
            return found;
        }
        let starts = further(&found.structure.layout, &found.structure.theta);
        for start in &starts {
            let other = found.shape.fitted(self.observations, start);
            if let Some(other) = other.filter(|other| other.misfit < found.structure.misfit) {
                found.structure = other;
            }
        }
        found.refined = true;
        found
    }

    /// Whether both predict the same for the observed workloads.
    fn are_one(&self, first: &Structure, second: &Structure) -> bool {
        let at = |one: &Structure, o: &Observation| {
            one.layout.log_throughput(one.theta.as_slice(), &o.place)
        };
        let apart = |o: &Observation| (at(first, o) - at(second, o)).powi(2);
        let sum: f64 = self.observations.iter().map(apart).sum();
        sum < SAME * SAME * self.observations.len() as f64
    }

    /// The most probable of `pool`, at most `count`, each with its weight, the best first.
    fn best(&self, mut pool: Vec<Found>, count: usize) -> Vec<(Structure, f64)> {
        sort_by_number(&mut pool, Found::improbable);
        let mut kept: Vec<Found> = Vec::new();
        for one in pool.into_iter().take(LOOKED_AT) {
            if kept.len() == count {
                break;
            }
            let one = self.refined(one);
            if kept.iter().all(|other| !self.are_one(&other.structure, &one.structure)) {
                kept.push(one);
            }
        }
        sort_by_number(&mut kept, Found::improbable);
        let all =
            kept.iter().map(|one| [one.improbable(), one.structure.misfit]).collect::<Vec<_>>();
        let weights = weights(&all);
        kept.into_iter().map(|one| one.structure).zip(weights).filter(|(_, w)| *w > 0.0).collect()
    }
}

/// The weight of each structure from minus twice its log evidence and its misfit, the most probable
/// first: its probability, with all together 1, or 0 outside Occam's window.
///
/// Where the best structure misfits, observations err more than was assumed, or alike, and carry
/// that many times less information. So the evidence is divided by the misfit (the variance
/// inflation factor of Burnham and Anderson, "Model Selection and Multimodel Inference", 2002,
/// section 2.5).
fn weights(all: &[[f64; 2]]) -> Vec<f64> {
    let [best, misfit] = all.first().copied().unwrap_or([0.0, 1.0]);
    let relative = |[improbable, _]: &[f64; 2]| {
        let relative = (-(improbable - best) / (2.0 * misfit.max(1.0))).exp();
        if relative * ODDS_MOST >= 1.0 { relative } else { 0.0 }
    };
    let relative: Vec<f64> = all.iter().map(relative).collect();
    let total: f64 = relative.iter().sum();
    relative.iter().map(|one| one / total).collect()
}

/// The structural models of `evaluation` with their weights, the most probable first: those with
/// the greatest evidence among all candidate borders. Where even they fit badly, one more border
/// that no curve showed is tried. With a `start_seed` other than 0 the fits start elsewhere. `None`
/// when no fit is finite.
pub(super) fn structures(
    evaluation: &Evaluation,
    observations: &[Observation],
    start_seed: u64,
) -> Vec<(Structure, f64)> {
    let writers_wait = base(evaluation).is_some_and(|base| base.access == Access::Buffered);
    let search = Search { observations, start_seed, writers_wait };
    let mut pool = search.all(&candidates(evaluation), 0.0);
    sort_by_number(&mut pool, |one| one.improbable());
    if let Some(first) = pool.first_mut() {
        *first = search.refined(first.clone());
        if first.structure.misfit >= MISFIT_MAX {
            let more = with_one_more(&first.borders, observations);
            pool.extend(search.all(&more, EVIDENCE_MIN));
        }
    }
    search.best(pool, KEPT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_structure_counts_as_much_as_it_is_probable_and_a_poor_one_not_at_all() {
        assert_eq!(weights(&[]), Vec::<f64>::new());
        assert_eq!(weights(&[[128.0, 0.8]]), [1.0]);
        let twice = 2.0 * 2f64.ln();
        let found = weights(&[[100.0, 0.9], [100.0 + twice, 1.0], [107.0, 1.1]]);
        assert!((found[0] - 2.0 / 3.0).abs() < 1e-9 && (found[1] - 1.0 / 3.0).abs() < 1e-9);
        assert_eq!(found[2], 0.0, "more than twenty times less probable");
        // Observations that err more than was assumed carry less information.
        let found = weights(&[[100.0, 3.0], [100.0 + twice, 1.0], [107.0, 4.0]]);
        assert!(found[1] / found[0] > 0.7 && found[2] > 0.1, "{found:?}");
    }
}
