//! The most probable parameters of the structural model: observations weighed against prior knowledge.

use super::input::Observation;
use super::parameters::Layout;
use nalgebra::{DMatrix, DVector};

/// The farthest that a parameter may move from its prior mean.
const FARTHEST: f64 = 30.0;
/// Relative gain of a step below which the descent has converged.
const SETTLED: f64 = 1e-4;
/// How far around its first estimate an onset is searched again, in ln(bytes).
const ONSET_REACH: f64 = 0.4;

/// Standard deviation between the share of reads that a cache holds and the share of the set that
/// is resident: requests are not quite uniform, and the cache changes while it is inspected.
const RESIDENT_SD: f64 = 0.05;

/// Gaussian knowledge about linear combinations of the parameters.
#[derive(Clone, Debug)]
pub(super) struct Prior {
    precision: DMatrix<f64>,
    weighted: DVector<f64>,
}

impl Prior {
    /// No knowledge about `len` parameters.
    pub(super) fn new(len: usize) -> Self {
        Self { precision: DMatrix::zeros(len, len), weighted: DVector::zeros(len) }
    }

    /// Adds the knowledge that the sum of coefficient times parameter has mean `mean` and standard
    /// deviation `sd`.
    pub(super) fn add(&mut self, terms: &[(usize, f64)], mean: f64, sd: f64) {
        let weight = 1.0 / (sd * sd);
        for &(i, a) in terms {
            self.weighted[i] += weight * a * mean;
            for &(j, b) in terms {
                self.precision[(i, j)] += weight * a * b;
            }
        }
    }

    /// The mean of the parameters; `None` when some combination is undetermined.
    pub(super) fn mean(&self) -> Option<DVector<f64>> {
        let mean = self.precision.clone().cholesky()?.solve(&self.weighted);
        mean.iter().all(|m| m.is_finite()).then_some(mean)
    }

    /// A matrix whose product with its transpose is the covariance; `None` when some combination is
    /// undetermined.
    pub(super) fn root(&self) -> Option<DMatrix<f64>> {
        Some(self.precision.clone().cholesky()?.inverse().cholesky()?.l())
    }

    fn cost(&self, offset: &DVector<f64>) -> f64 {
        (offset.transpose() * &self.precision * offset)[(0, 0)]
    }
}

/// The weight of a residual of `z` standard deviations: outliers beyond 3 pull with constant force
/// (Huber).
pub(super) fn weight(z: f64) -> f64 {
    (3.0 / z.abs()).min(1.0)
}

struct Problem<'a> {
    layout: &'a Layout,
    prior: &'a Prior,
    prior_mean: &'a DVector<f64>,
    observations: &'a [Observation],
    sd: f64,
}

impl Problem<'_> {
    fn residuals(&self, theta: &DVector<f64>) -> Vec<f64> {
        let log_throughput =
            |o: &Observation| self.layout.log_throughput(theta.as_slice(), &o.place);
        self.observations
            .iter()
            .map(|o| (o.log_throughput - log_throughput(o)) / self.sd.hypot(o.sd))
            .collect()
    }

    /// The second witness: observations of reads whose residency the kernel reported, each with its
    /// deviation in standard deviations.
    fn witnessed(&self, theta: &DVector<f64>) -> Vec<(&Observation, f64)> {
        let off = |o: &Observation| {
            let held = self.layout.held_reads(theta.as_slice(), &o.place);
            o.resident.map(|resident| (resident - held) / RESIDENT_SD)
        };
        let reads = self.observations.iter().filter(|o| o.place.read_frac > 0.0);
        reads.filter_map(|o| Some((o, off(o)?))).collect()
    }

    fn objective(&self, theta: &DVector<f64>) -> f64 {
        let huber = |z: &f64| if z.abs() <= 3.0 { z * z } else { 6.0 * z.abs() - 9.0 };
        let misfit: f64 = self.residuals(theta).iter().map(huber).sum();
        let witnessed: f64 = self.witnessed(theta).iter().map(|(_, z)| huber(z)).sum();
        let misfit = misfit + witnessed;
        let objective = misfit + self.prior.cost(&(theta - self.prior_mean));
        if objective.is_finite() { objective } else { f64::INFINITY }
    }

    /// Normal equations at `theta`: matrix and right-hand side.
    fn normal(&self, theta: &DVector<f64>) -> (DMatrix<f64>, DVector<f64>) {
        let mut matrix = self.prior.precision.clone();
        let mut side = &self.prior.precision * (self.prior_mean - theta);
        for (o, z) in self.observations.iter().zip(self.residuals(theta)) {
            let slopes = DVector::from_vec(self.layout.gradient(theta.as_slice(), &o.place));
            let sd = self.sd.hypot(o.sd);
            let w = weight(z);
            side.axpy(w * z / sd, &slopes, 1.0);
            // Most levels do not matter at most places.
            let felt: Vec<(usize, f64)> =
                slopes.iter().copied().enumerate().filter(|(_, slope)| *slope != 0.0).collect();
            let w = w / (sd * sd);
            for &(i, slope) in &felt {
                felt.iter().for_each(|&(j, other)| matrix[(i, j)] += w * slope * other);
            }
        }
        for (o, z) in self.witnessed(theta) {
            let slopes = self.layout.gradient_of_held(theta.as_slice(), &o.place);
            let w = weight(z) / (RESIDENT_SD * RESIDENT_SD);
            for &(i, slope) in &slopes {
                side[i] += w * z * RESIDENT_SD * slope;
                slopes.iter().for_each(|&(j, other)| matrix[(i, j)] += w * slope * other);
            }
        }
        (matrix, side)
    }

    /// Descends by Levenberg and Marquardt's damped steps.
    fn descend(&self, mut theta: DVector<f64>, steps: usize) -> (DVector<f64>, f64) {
        let (mut objective, mut damping) = (self.objective(&theta), 1e-3);
        for _ in 0..steps {
            let (matrix, side) = self.normal(&theta);
            let before = objective;
            while damping < 1e8 {
                let mut damped = matrix.clone();
                for i in 0..damped.nrows() {
                    damped[(i, i)] *= 1.0 + damping;
                }
                let step = damped.cholesky().map(|c| c.solve(&side));
                let candidate = step.map(|step| self.confined(&theta + step));
                let better = candidate.map(|c| (self.objective(&c), c));
                if let Some((value, candidate)) = better.filter(|(value, _)| *value < objective) {
                    (theta, objective) = (candidate, value);
                    damping = (damping * 0.3).max(1e-9);
                    break;
                }
                damping *= 4.0;
            }
            if before - objective <= SETTLED * before.abs().max(1e-9) {
                break;
            }
        }
        (theta, objective)
    }

    fn confined(&self, theta: DVector<f64>) -> DVector<f64> {
        theta.zip_map(self.prior_mean, |t, m| {
            if t.is_finite() { t.clamp(m - FARTHEST, m + FARTHEST) } else { m }
        })
    }
}

/// The positions of one onset that the observations distinguish: between neighbouring sets near
/// `at`, in ln(bytes).
fn gaps(observations: &[Observation], at: f64) -> Vec<f64> {
    let mut sets: Vec<f64> = observations.iter().map(|o| o.place.unique_bytes.ln()).collect();
    sets.retain(|set| (set - at).abs() < ONSET_REACH);
    sets.sort_by(f64::total_cmp);
    sets.windows(2).filter(|w| w[1] - w[0] > 1e-6).map(|w| (w[0] + w[1]) / 2.0).collect()
}

impl Problem<'_> {
    /// Moves every onset to the gap between sets that fits best: a step has no slope to follow.
    fn settle_onsets(&self, mut theta: DVector<f64>, mut objective: f64) -> (DVector<f64>, f64) {
        for operation in 0..2 {
            for level in 0..self.layout.levels[operation] - 1 {
                let i = self.layout.border(operation, level).ln_onset;
                let start = theta[i];
                for gap in gaps(self.observations, start) {
                    let mut candidate = theta.clone();
                    candidate[i] = gap;
                    let value = self.objective(&candidate);
                    if value < objective * 0.99 {
                        (theta, objective) = (candidate, value);
                    }
                }
            }
        }
        (theta, objective)
    }
}

/// The most probable parameters from the start `theta`, and their remaining objective: smaller is
/// better.
///
/// The first pass is coarse, so that no observation far from the start is treated as an outlier.
pub(super) fn fit(
    layout: &Layout,
    prior: &Prior,
    observations: &[Observation],
    theta: &DVector<f64>,
    sd: f64,
) -> Option<(DVector<f64>, f64)> {
    let prior_mean = prior.mean()?;
    let mut problem = Problem { layout, prior, prior_mean: &prior_mean, observations, sd: 0.5 };
    let (theta, objective) = problem.descend(theta.clone(), 20);
    let (theta, _) = problem.settle_onsets(theta, objective);
    problem.sd = sd;
    let (theta, objective) = problem.descend(theta, 30);
    let (theta, objective) = problem.settle_onsets(theta, objective);
    let (again, better) = problem.descend(theta.clone(), 15);
    Some(if better < objective { (again, better) } else { (theta, objective) })
}

/// The cost of a structure's freedom: the log of how much the observations narrow its prior down.
/// Added to the objective, it gives minus twice the log evidence in Laplace's approximation
/// (MacKay, "Information Theory, Inference, and Learning Algorithms", 2003, chapter 28). Infinite
/// when the fit is not at a minimum.
pub(super) fn occam(
    layout: &Layout,
    prior: &Prior,
    observations: &[Observation],
    theta: &DVector<f64>,
    sd: f64,
) -> f64 {
    let Some(prior_mean) = prior.mean() else { return f64::INFINITY };
    let problem = Problem { layout, prior, prior_mean: &prior_mean, observations, sd };
    let log_determinant = |matrix: DMatrix<f64>| {
        matrix.cholesky().map(|c| 2.0 * c.l_dirty().diagonal().iter().map(|d| d.ln()).sum::<f64>())
    };
    let (posterior, _) = problem.normal(theta);
    let both = log_determinant(posterior).zip(log_determinant(prior.precision.clone()));
    both.map_or(f64::INFINITY, |(posterior, prior)| posterior - prior)
}
