//! The residual of the structural model: a Gaussian process over where the time goes.
//!
//! The error of a component's cost changes ln(throughput) by that component's share of the time. So
//! the covariance of two places is, summed over components, the product of their shares times a
//! covariance over request size, sequentiality, processes and set size (Matérn, smoothness 5/2;
//! Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, equation 4.17).
//! Linearization adds the uncertainty of the structural parameters themselves, so that one
//! posterior holds both. Leave-one-out residuals come in closed form (ibid., equations 5.10 to
//! 5.12).

use super::fit::weight;
use super::input::{ModelInput, Observation};
use super::parameters::Layout;
use super::structure::Structure;
use ioscape_schema::Parameter;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// Length scales: natural logarithms, or fractions, over which errors are correlated.
const LENGTHS: [(Parameter, f64); 4] = [
    (Parameter::SizeMean, 1.5),
    (Parameter::SeqFrac, 0.5),
    (Parameter::ProcessNum, 1.0),
    (Parameter::UniqueBytes, 1.5),
];
/// Length scale of the fraction of reads in the part of the residual that belongs to no component.
const READ_LENGTH: f64 = 0.5;

/// The steepest slope by a parameter that counts: within an onset the slope is useless, and
/// [`Posterior::step`] covers it.
const STEEPEST: f64 = 20.0;

/// Correlation of the residuals with and without advice against read-ahead.
const ADVISED_ALIKE: f64 = 0.8;

/// The size of each kind of residual, as standard deviations of ln(throughput).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Amplitudes {
    /// Errors along one parameter.
    pub(super) single: f64,
    /// Errors that depend on several parameters at once.
    pub(super) joint: f64,
    /// Noise between two runs of the same workload.
    pub(super) noise: f64,
}

/// A place as the posterior sees it.
#[derive(Clone, Debug)]
struct Features {
    place: ModelInput,
    /// Share of the time that each component takes.
    shares: Vec<f64>,
    /// Derivatives by the parameters, times the root of their prior covariance.
    slopes: DVector<f64>,
    /// ln(throughput) with the structure's most probable parameters.
    plain: f64,
    /// Prior mean of ln(throughput), linearized around the fit.
    mean: f64,
}

fn matern(distance: f64) -> f64 {
    let x = 5f64.sqrt() * distance;
    (1.0 + x + x * x / 3.0) * (-x).exp()
}

/// Covariance of the residual at unit amplitude: along single parameters, and in all of them
/// jointly.
fn residual(a: &Features, b: &Features) -> [f64; 2] {
    let alike = |parameter: Parameter, length: f64| {
        matern((a.place.scaled(parameter) - b.place.scaled(parameter)).abs() / length)
    };
    let each = LENGTHS.map(|(parameter, length)| alike(parameter, length));
    let known = if a.place.advised == b.place.advised { 1.0 } else { ADVISED_ALIKE };
    let shared = known * a.shares.iter().zip(&b.shares).map(|(x, y)| x * y).sum::<f64>();
    let mixed = alike(Parameter::ReadFrac, READ_LENGTH) * each[3];
    let single = shared * each.iter().sum::<f64>() / 4.0 + 0.5 * mixed;
    [single, (0.5 * shared + 0.5 * mixed) * each.iter().product::<f64>()]
}

/// One observation predicted from all others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LeftOut {
    /// Measured minus predicted ln(throughput).
    pub(super) error: f64,
    /// Standard deviation of the workload that the others leave open, without the noise of a run.
    pub(super) unknown: f64,
    /// Whether the observation lies off all curves.
    pub(super) extra: bool,
}

/// The structural model and its residual, given all observations.
#[derive(Clone, Debug)]
pub(super) struct Posterior {
    structure: Structure,
    root: DMatrix<f64>,
    offset: DVector<f64>,
    amplitudes: Amplitudes,
    known: Vec<Features>,
    cholesky: Cholesky<f64, Dyn>,
    alpha: DVector<f64>,
    left_out: Vec<LeftOut>,
    /// The least and the greatest residual with the structure's most probable parameters.
    missed: [f64; 2],
}

struct Prepared {
    structure: Structure,
    root: DMatrix<f64>,
    offset: DVector<f64>,
    known: Vec<Features>,
    residuals: DVector<f64>,
    parametric: DMatrix<f64>,
    single: DMatrix<f64>,
    joint: DMatrix<f64>,
    noise: Vec<f64>,
}

fn features(
    layout: &Layout,
    theta: &[f64],
    (root, offset): (&DMatrix<f64>, &DVector<f64>),
    place: &ModelInput,
) -> Features {
    let outcome = layout.outcome(theta, place);
    let mut slopes = DVector::from_vec(layout.gradient(theta, place));
    slopes.apply(|slope| *slope = slope.clamp(-STEEPEST, STEEPEST));
    let plain = outcome.log_throughput;
    let mean = plain + slopes.dot(offset);
    Features { place: *place, shares: outcome.shares, slopes: root.tr_mul(&slopes), plain, mean }
}

/// The least and the greatest ln(measured over the structure's own prediction).
fn missed(known: &[Features], observations: &[Observation]) -> [f64; 2] {
    let off = observations.iter().zip(known).map(|(o, at)| o.log_throughput - at.plain);
    off.fold([0.0, 0.0], |[least, most]: [f64; 2], one| [least.min(one), most.max(one)])
}

impl Prepared {
    fn new(structure: Structure, observations: &[Observation]) -> Option<Self> {
        let root = structure.prior.root()?;
        let offset = structure.prior.mean()? - &structure.theta;
        let (layout, theta) = (&structure.layout, structure.theta.as_slice());
        let at = |o: &Observation| features(layout, theta, (&root, &offset), &o.place);
        let known: Vec<Features> = observations.iter().map(at).collect();
        let n = known.len();
        let residuals = DVector::from_fn(n, |i, _| observations[i].log_throughput - known[i].mean);
        let pairs = |f: &dyn Fn(&Features, &Features) -> f64| {
            DMatrix::from_fn(n, n, |i, j| f(&known[i.max(j)], &known[i.min(j)]))
        };
        let parametric = pairs(&|a, b| a.slopes.dot(&b.slopes));
        let (single, joint) = (pairs(&|a, b| residual(a, b)[0]), pairs(&|a, b| residual(a, b)[1]));
        let noise = observations.iter().map(|o| o.sd * o.sd).collect();
        Some(Self { structure, root, offset, known, residuals, parametric, single, joint, noise })
    }

    fn covariance(&self, amplitudes: Amplitudes, inflation: &[f64]) -> DMatrix<f64> {
        let Amplitudes { single, joint, noise } = amplitudes;
        let mut matrix =
            &self.parametric + &self.single * (single * single) + &self.joint * (joint * joint);
        for (i, own) in self.noise.iter().enumerate() {
            matrix[(i, i)] += (own + noise * noise) * inflation[i] + 1e-8;
        }
        matrix
    }

    /// Every observation predicted from the others.
    fn left_out(&self, amplitudes: Amplitudes, inflation: &[f64]) -> Option<Vec<(f64, f64)>> {
        let cholesky = self.covariance(amplitudes, inflation).cholesky()?;
        let alpha = cholesky.solve(&self.residuals);
        let inverse = cholesky.inverse();
        let each = |i: usize| (alpha[i] / inverse[(i, i)], inverse[(i, i)].recip().sqrt());
        Some((0..alpha.len()).map(each).collect())
    }

    /// Mean log density of the observations, each predicted from the others; outliers count as 4
    /// sigma at most.
    fn score(&self, amplitudes: Amplitudes, inflation: &[f64]) -> f64 {
        let density = |(error, sd): &(f64, f64)| -sd.ln() - 0.5 * (error / sd).powi(2).min(16.0);
        let left_out = self.left_out(amplitudes, inflation);
        let total = left_out.map_or(f64::NEG_INFINITY, |l| l.iter().map(density).sum());
        if f64::is_nan(total) { f64::NEG_INFINITY } else { total }
    }

    fn best(&self, inflation: &[f64]) -> Amplitudes {
        let mut best = (f64::NEG_INFINITY, Amplitudes { single: 0.1, joint: 0.1, noise: 0.03 });
        for single in [0.02, 0.05, 0.1, 0.2, 0.4] {
            for noise in [0.003, 0.01, 0.03, 0.06, 0.12] {
                let amplitudes = Amplitudes { single, joint: (0.7 * single).max(0.03), noise };
                let score = self.score(amplitudes, inflation);
                if score > best.0 {
                    best = (score, amplitudes);
                }
            }
        }
        best.1
    }
}

impl Posterior {
    /// Conditions the structure on all observations; `None` when that is numerically impossible.
    pub(super) fn new(structure: Structure, observations: &[Observation]) -> Option<Self> {
        let prepared = Prepared::new(structure, observations)?;
        let mut inflation = vec![1.0; observations.len()];
        let first = prepared.best(&inflation);
        for (own, (error, sd)) in
            inflation.iter_mut().zip(prepared.left_out(first, &vec![1.0; observations.len()])?)
        {
            *own = weight(error / sd).recip().powi(2).clamp(1.0, 1e4);
        }
        let amplitudes = prepared.best(&inflation);
        let left_out = prepared
            .left_out(amplitudes, &inflation)?
            .into_iter()
            .zip(observations.iter().zip(&inflation))
            .map(|((error, sd), (o, inflation))| {
                let noise = o.sd.hypot(amplitudes.noise);
                let unknown = (sd * sd - noise * noise * inflation).max(0.0).sqrt();
                LeftOut { error, unknown, extra: o.extra }
            })
            .collect();
        let cholesky = prepared.covariance(amplitudes, &inflation).cholesky()?;
        let alpha = cholesky.solve(&prepared.residuals);
        let Prepared { structure, root, offset, known, .. } = prepared;
        let missed = missed(&known, observations);
        Some(Self { structure, root, offset, amplitudes, known, cholesky, alpha, left_out, missed })
    }

    /// Every observation predicted from the others.
    pub(super) fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The structural model's shape and most probable parameters.
    pub(super) fn structure(&self) -> (&Layout, &[f64]) {
        (&self.structure.layout, self.structure.theta.as_slice())
    }

    /// Which parameters are onsets, and the standard deviation of each.
    pub(super) fn onsets(&self) -> &[(usize, f64)] {
        &self.structure.onsets
    }

    /// The fitted size of the residual.
    pub(super) fn amplitudes(&self) -> Amplitudes {
        self.amplitudes
    }

    /// The features of `place` on a system with the parameters `theta`.
    fn features(&self, theta: &[f64], place: &ModelInput) -> Features {
        features(&self.structure.layout, theta, (&self.root, &self.offset), place)
    }

    fn covariance(&self, a: &Features, b: &Features) -> f64 {
        let [single, joint] = residual(a, b);
        let Amplitudes { single: s, joint: j, .. } = self.amplitudes;
        a.slopes.dot(&b.slopes) + s * s * single + j * j * joint
    }

    /// Share of the time at `place` that is spent where the smallest sets are served, with the
    /// parameters `theta`.
    pub(super) fn near_share(&self, theta: &[f64], place: &ModelInput) -> f64 {
        let layout = &self.structure.layout;
        let shares = layout.outcome(theta, place).shares;
        shares.iter().zip(layout.near_components()).filter(|(_, near)| *near).map(|(s, _)| s).sum()
    }

    /// Mean and variance of ln(throughput) at `place`, without the noise of a single run, on a
    /// system with the parameters `theta`: the structure's own, or those with caches of other
    /// sizes. A workload is corrected to the extent that it spends its time where the observations
    /// spent theirs.
    pub(super) fn at(&self, theta: &[f64], place: &ModelInput) -> (f64, f64) {
        let here = self.features(theta, place);
        let cross =
            DVector::from_fn(self.known.len(), |i, _| self.covariance(&here, &self.known[i]));
        let variance = self.covariance(&here, &here) - cross.dot(&self.cholesky.solve(&cross));
        let corrected = here.mean + cross.dot(&self.alpha) - here.plain;
        // A place on the step of an onset is so steep that a linear shift of the onset would carry
        // it far past both levels.
        let [least, most] = self.missed;
        (here.plain + corrected.clamp(least, most), variance.max(0.0))
    }

    /// How much ln(throughput) at `place` changes when an onset moves within its bounds, with the
    /// parameters `theta`: the part that linearization misses.
    pub(super) fn step(&self, theta: &[f64], place: &ModelInput) -> f64 {
        let Structure { layout, onsets, .. } = &self.structure;
        let here = layout.log_throughput(theta, place);
        let moved = onsets.iter().flat_map(|&(i, sd)| {
            [-1.6, 1.6].map(|sign| {
                let mut theta = theta.to_vec();
                theta[i] += sign * sd;
                (layout.log_throughput(&theta, place) - here).abs()
            })
        });
        moved.fold(0.0, f64::max)
    }

    /// Covariance of ln(throughput) at `places`, given all observations.
    pub(super) fn covariances(&self, places: &[ModelInput]) -> DMatrix<f64> {
        let theta = self.structure.theta.as_slice();
        let here: Vec<Features> = places.iter().map(|place| self.features(theta, place)).collect();
        let (n, m) = (self.known.len(), here.len());
        let cross = DMatrix::from_fn(n, m, |i, j| self.covariance(&self.known[i], &here[j]));
        let prior =
            DMatrix::from_fn(m, m, |i, j| self.covariance(&here[i.max(j)], &here[i.min(j)]));
        let explained = self.cholesky.l().solve_lower_triangular(&cross);
        explained.map_or(prior.clone(), |e| prior - e.tr_mul(&e))
    }
}
