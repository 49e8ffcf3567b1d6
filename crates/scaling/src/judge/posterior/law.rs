//! The law of time per byte against the size of the set, and its most probable parameters for one curve.

use super::added::Added;
use super::decline::{self, Decline, PIECES, pieces};
use super::overflow::{Overflow, Requested};
use nalgebra::{SMatrix, SVector};

/// Most levels that end in one curve.
pub(crate) const ENDS_MOST: usize = 4;
/// Parameters: memory's time per byte, its decline by pieces, and one time per level.
const LEN: usize = 1 + PIECES + ENDS_MOST;

type Vector = SVector<f64, LEN>;
type Matrix = SMatrix<f64, LEN, LEN>;
type Cholesky = nalgebra::Cholesky<f64, nalgebra::Const<LEN>>;

/// How far disturbed points scatter, in log time.
const DISTURBED_BY: f64 = 0.8;
/// Standard deviation added to every point, in log time, in the search for a curve's first law.
const BLUR: f64 = 0.3;
/// Most steps of the climb to the most probable parameters.
const STEPS: usize = 16;
/// Run-to-run standard deviation of the size of a level that ends for writes alone, in log bytes:
/// the kernel regulates how many dirty pages it allows by the speed of write-back.
const SIZE_VARIES: f64 = 0.03;
/// Most that this may add to the uncertainty of a point, in log time.
const VARIES_MOST: f64 = 0.7;
/// Standard deviation, in log time, of the total cost of misses for sets just beyond an end; for
/// larger sets it falls as the share that hits.
///
/// Requests of several pages wait for any of them and fetch others in vain, and the level beyond is
/// slower where they are further apart. In control groups of 128 MiB to 2 GiB over one virtual
/// disk, reads and mixes of sets up to twice the file cache were off by 0.2 in the median from the
/// kind of [`Overflow`] that best fits those of four times; larger ones were off by half of that.
const ROUGHLY: f64 = 0.2;
/// In mixes beyond an end of writes alone, it falls as this power of that share. In simulated
/// systems with a dirty-page limit, such mixes were off by 0.16 in sets of twice the limit, and by
/// 0.12 in sets of five times.
const OF_WRITES: f64 = 0.5;
/// With several requests at once, those that hit can use the processors while few miss. As long as
/// the processors are the busiest station, misses cost nothing (operational analysis, asymptotic
/// bounds); where storage is as busy, half of the time is hidden. So half of the cost of misses
/// counts as unknown; that cost is taken as at least half of the time.
const HIDDEN: f64 = 0.5;
/// Share of time that the law must give to storage for a run that only computed to contradict it.
const NOTICED: f64 = 0.12;
/// Share below which a run that waited contradicts the law.
const UNNOTICED: f64 = 0.01;
/// Log odds of such a run against the law: by processor time alone, and if residency agrees.
const COMPUTED: [f64; 2] = [4.0, 8.0];

/// Where a level ends, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct End {
    /// Natural logarithm of its size in bytes.
    pub log_bytes: f64,
    pub overflow: Overflow,
    /// Whether its size varies from run to run.
    pub varies: bool,
}

/// One point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Observed {
    /// Natural logarithm of the set, in bytes.
    pub log_set: f64,
    /// Natural logarithm of the time per byte, in seconds.
    pub log_time: f64,
    /// Standard deviation of `log_time`.
    pub sigma: f64,
    /// Standard deviation of a single round.
    pub scatter: f64,
    /// Probability that something else disturbed it.
    pub disturbed: f64,
    /// Number of rounds that count.
    pub rounds: usize,
    /// Whether the processes computed all the time, so that storage played no part.
    pub computed: bool,
    /// Whether the kernel said where its requests were served from.
    pub resident_known: bool,
    /// Whether the processes waited most of the time, although those of smaller sets computed.
    pub waited: bool,
    /// Whether several requests were in progress at once, or writes and their destaging.
    pub together: bool,
    /// Whether its cache was still filling, so that it is at least this fast with a full one.
    pub filling: bool,
    /// How its requests lie in the set.
    pub requested: Requested,
}

/// The most probable law of one curve for given ends of levels.
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    /// Logarithm of the marginal likelihood of the points (Laplace's approximation).
    pub log_evidence: f64,
    /// How much time each end adds.
    pub slowdowns: Vec<Slowdown>,
    /// How memory declines.
    pub decline: Decline,
    /// Most probable parameters.
    theta: Vector,
    ends: Vec<End>,
    /// How the requests of the curve lie in a set.
    requested: Requested,
}

/// What one curve says of the time that a level adds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slowdown {
    /// Most probable logarithm of the added time over the time of all levels before.
    pub mean: f64,
    /// Variance of that logarithm.
    pub variance: f64,
    /// Its prior range.
    pub range: Added,
}

impl Fit {
    /// Natural logarithm of the time per byte in a set, in seconds.
    pub(crate) fn log_time(&self, log_set: f64) -> f64 {
        let first = self.ends.first().map_or(f64::INFINITY, |e| e.log_bytes);
        let level = |(i, end): (usize, &End)| {
            let missed = end.overflow.missed(self.requested, log_set, end.log_bytes);
            self.theta[1 + PIECES + i].exp() * missed
        };
        let storage: f64 = self.ends.iter().enumerate().map(level).sum();
        (Problem::memory(&self.theta, &pieces(log_set.min(first))) + storage).ln()
    }
}

/// The most probable parameters, how probable they are, and the precision around them.
struct Climbed {
    theta: Vector,
    value: f64,
    precision: Matrix,
}

struct Problem<'a> {
    points: &'a [Observed],
    ends: &'a [End],
    added: Added,
    reach: Vec<[f64; PIECES]>,
    missed: Vec<[f64; ENDS_MOST]>,
    /// Standard deviation of each point around the law.
    sigma: Vec<f64>,
    first: [f64; PIECES],
}

/// Gaussian prior of memory's parameters, as precision and its product with the mean.
fn prior(level: f64) -> (Matrix, Vector) {
    let (mut precision, mut weighted) = (Matrix::zeros(), Vector::zeros());
    precision[(0, 0)] = 0.1;
    weighted[0] = 0.1 * level;
    let (of_decline, mean) = decline::prior();
    precision.fixed_view_mut::<PIECES, PIECES>(1, 1).copy_from(&of_decline);
    weighted.fixed_rows_mut::<PIECES>(1).copy_from(&mean);
    (precision, weighted)
}

impl<'a> Problem<'a> {
    fn new(points: &'a [Observed], ends: &'a [End], added: Added) -> Self {
        let first = ends.first().map_or(f64::INFINITY, |e| e.log_bytes);
        let missed = |p: &Observed| {
            let mut all = [0.0; ENDS_MOST];
            for (share, end) in all.iter_mut().zip(ends) {
                *share = end.overflow.missed(p.requested, p.log_set, end.log_bytes);
            }
            all
        };
        let slowest = |end: &End| {
            let held = points.iter().filter(|p| p.log_set <= end.log_bytes && !p.filling);
            held.map(|p| p.log_time).fold(f64::NEG_INFINITY, f64::max)
        };
        let slowest: Vec<f64> = ends.iter().map(slowest).collect();
        let error = |p: &Observed| {
            let steepness = |e: &End| e.overflow.steepness(p.requested, p.log_set, e.log_bytes);
            let varying = ends.iter().filter(|e| e.varies);
            let most = varying.map(steepness).fold(0.0, f64::max);
            let varies = (SIZE_VARIES * most).min(VARIES_MOST);
            let behind = ends.iter().zip(&slowest);
            let rough = behind.map(|(end, &held)| p.error_behind(end, held)).fold(0.0, f64::max);
            p.sigma.hypot(varies).hypot(rough)
        };
        Self {
            points,
            ends,
            added,
            sigma: points.iter().map(error).collect(),
            // Beyond its end, memory serves what it holds, so its set grows no further.
            reach: points.iter().map(|p| pieces(p.log_set.min(first))).collect(),
            missed: points.iter().map(missed).collect(),
            first: pieces(first.min(40.0)),
        }
    }

    fn memory(theta: &Vector, reach: &[f64; PIECES]) -> f64 {
        (theta[0] + (0..PIECES).map(|i| theta[1 + i] * reach[i]).sum::<f64>()).exp()
    }

    /// Time that each level adds to a request that misses all before it, in seconds per byte.
    fn added_times(&self, theta: &Vector) -> [f64; ENDS_MOST] {
        let mut added = [0.0; ENDS_MOST];
        for (i, time) in added.iter_mut().enumerate().take(self.ends.len()) {
            *time = theta[1 + PIECES + i].exp();
        }
        added
    }

    /// Time of memory and of all levels for a point, in seconds per byte.
    fn times(&self, theta: &Vector, point: usize) -> (f64, [f64; ENDS_MOST]) {
        self.times_with(theta, &self.added_times(theta), point)
    }

    /// The same where the [added times](Self::added_times) are known.
    fn times_with(
        &self,
        theta: &Vector,
        added: &[f64; ENDS_MOST],
        point: usize,
    ) -> (f64, [f64; ENDS_MOST]) {
        let levels = std::array::from_fn(|i| added[i] * self.missed[point][i]);
        (Self::memory(theta, &self.reach[point]), levels)
    }

    /// Parameters with memory as fast as the fastest set, and the usual decline.
    fn fastest(&self) -> Vector {
        let mut theta = Vector::zeros();
        let first = self.ends.first().map_or(f64::INFINITY, |e| e.log_bytes);
        let in_memory = self.points.iter().filter(|p| p.log_set <= first);
        let least = |a: f64, p: &Observed| a.min(p.log_time);
        theta[0] = in_memory.fold(f64::INFINITY, least);
        if !theta[0].is_finite() {
            theta[0] = self.points.iter().fold(f64::INFINITY, least);
        }
        for i in 1..PIECES {
            theta[i] = decline::usual(i - 1)[0];
        }
        theta[0] -= (0..PIECES).map(|i| theta[1 + i] * self.reach[0][i]).sum::<f64>();
        theta
    }

    /// A start over this memory that goes through the points, level after level; `seen` picks the
    /// time of a level from those of the sets beyond its end.
    fn start(&self, memory: Vector, seen: fn(Vec<f64>) -> Option<f64>) -> Vector {
        let mut theta = memory;
        let mut before = Self::memory(&theta, &self.first);
        for (i, end) in self.ends.iter().enumerate() {
            let to = self.ends.get(i + 1).map_or(f64::INFINITY, |e| e.log_bytes);
            let is_behind = |&j: &usize| (end.log_bytes..=to).contains(&self.points[j].log_set);
            let added = |j: usize| {
                let (memory, levels) = self.times(&theta, j);
                let known = memory + levels[..i].iter().sum::<f64>();
                (self.points[j].log_time.exp() - known) / self.missed[j][i].max(0.05)
            };
            let all = (0..self.points.len()).filter(is_behind).map(added).collect();
            let time = seen(all).unwrap_or(before).max(0.3 * before);
            theta[1 + PIECES + i] = time.ln();
            before += time;
        }
        theta
    }

    /// Log posterior density alone; [`at`](Self::at) adds its derivatives.
    fn value(&self, theta: &Vector, prior: &(Matrix, Vector)) -> f64 {
        let added = self.added_times(theta);
        let of_point = |(j, point): (usize, &Observed)| {
            let (memory, levels) = self.times_with(theta, &added, j);
            let total = memory + levels.iter().sum::<f64>();
            point.likelihood(point.log_time - total.ln(), self.sigma[j]).0
        };
        let likelihood: f64 = self.points.iter().enumerate().map(of_point).sum();
        let known = 0.5 * (theta.transpose() * prior.0 * theta)[(0, 0)] - theta.dot(&prior.1);
        let mut before = Self::memory(theta, &self.first);
        let density = |i: usize| {
            let level = theta[1 + PIECES + i];
            let [density, ..] = self.added.density(level - before.ln());
            before += level.exp();
            density
        };
        likelihood - known + (0..self.ends.len()).map(density).sum::<f64>()
    }

    /// Log posterior density, its gradient and its curvature (with the sign of a precision).
    fn at(&self, theta: &Vector, prior: &(Matrix, Vector)) -> (f64, Vector, Matrix) {
        let (mut value, mut gradient, mut precision) = (0.0, Vector::zeros(), prior.0);
        let added = self.added_times(theta);
        for (j, point) in self.points.iter().enumerate() {
            let (memory, levels) = self.times_with(theta, &added, j);
            let total = memory + levels.iter().sum::<f64>();
            let residual = point.log_time - total.ln();
            let (log_likelihood, weight) = point.likelihood(residual, self.sigma[j]);
            value += log_likelihood;
            // Most sets reach few pieces and outgrow few levels; skip what has no slope.
            let (mut acting, mut slope, mut count) = ([0; LEN], [0.0; LEN], 0);
            let share = memory / total;
            let reach = self.reach[j].iter().enumerate().map(|(i, part)| (1 + i, share * part));
            let levels = levels.iter().enumerate().map(|(i, time)| (1 + PIECES + i, time / total));
            for acts in std::iter::once((0, share)).chain(reach).chain(levels) {
                if acts.1 != 0.0 {
                    (acting[count], slope[count]) = acts;
                    count += 1;
                }
            }
            for a in 0..count {
                gradient[acting[a]] += weight * residual * slope[a];
                for b in 0..=a {
                    precision[(acting[a], acting[b])] += weight * slope[a] * slope[b];
                }
            }
        }
        precision.fill_upper_triangle_with_lower_triangle();
        value -= 0.5 * (theta.transpose() * prior.0 * theta)[(0, 0)] - theta.dot(&prior.1);
        gradient += prior.1 - prior.0 * theta;
        let mut before = Self::memory(theta, &self.first);
        for i in 0..ENDS_MOST {
            let at = 1 + PIECES + i;
            if i >= self.ends.len() {
                precision[(at, at)] = 1.0;
                continue;
            }
            let [density, slope, curvature] = self.added.density(theta[at] - before.ln());
            value += density;
            gradient[at] += slope;
            precision[(at, at)] += curvature;
            before += theta[at].exp();
        }
        (value, gradient, precision)
    }

    /// The same problem with a larger uncertainty for every point.
    fn blurred(&self) -> Self {
        let sigma = self.sigma.iter().map(|sigma| sigma.hypot(BLUR)).collect();
        Self { sigma, reach: self.reach.clone(), missed: self.missed.clone(), ..*self }
    }

    /// The most probable parameters reached from the best of the starts, of which there are some.
    fn climbed(&self, starts: &[Vector], prior: &(Matrix, Vector)) -> Climbed {
        let mut theta = starts[0];
        let mut most = self.value(&theta, prior);
        for other in &starts[1..] {
            let there = self.value(other, prior);
            if there > most {
                (theta, most) = (*other, there);
            }
        }
        let (mut value, mut gradient, mut precision) = self.at(&theta, prior);
        let mut damping = 1e-3;
        for _ in 0..STEPS {
            let damped = precision + Matrix::from_diagonal(&(precision.diagonal() * damping));
            let Some(step) = damped.cholesky().map(|c| c.solve(&gradient)) else { break };
            let largest = step.amax();
            let step = if largest > 2.0 { step * (2.0 / largest) } else { step };
            let there = self.at(&(theta + step), prior);
            if there.0 > value {
                let gain = there.0 - value;
                theta += step;
                (value, gradient, precision) = there;
                damping = (damping * 0.2).max(1e-6);
                if gain < 0.02 {
                    break;
                }
            } else {
                damping = damping.max(1e-4) * 10.0;
                if damping > 1e4 {
                    break;
                }
            }
        }
        Climbed { theta, value, precision }
    }

    /// What each level adds, by the most probable parameters and the precision around them.
    fn slowdowns(&self, theta: &Vector, precision: &Cholesky) -> Vec<Slowdown> {
        let mut before = Self::memory(theta, &self.first);
        let slowdown = |i: usize| {
            let at = 1 + PIECES + i;
            let mut unit = Vector::zeros();
            unit[at] = 1.0;
            let mean = theta[at] - before.ln();
            before += theta[at].exp();
            Slowdown { mean, variance: precision.solve(&unit)[at], range: self.added }
        };
        (0..self.ends.len()).map(slowdown).collect()
    }

    /// Log odds, at most 0, from runs that contradict the law: they only computed although it has
    /// them wait for storage, or waited although it has memory serve them.
    fn computed(&self, theta: &Vector) -> f64 {
        let speaks = |j: usize| {
            let (memory, levels) = self.times(theta, j);
            let storage = levels.iter().sum::<f64>();
            let share = storage / (memory + storage);
            let point = &self.points[j];
            let speaks = (point.computed && share > NOTICED) || (point.waited && share < UNNOTICED);
            let [alone, both] = COMPUTED;
            match speaks {
                true if point.computed && point.resident_known => -both,
                true => -alone,
                false => 0.0,
            }
        };
        (0..self.points.len()).map(speaks).sum()
    }
}

impl Observed {
    /// How far the law of a set beyond an end may be off, as a standard deviation in log time.
    ///
    /// What misses cost is known only [roughly](ROUGHLY), and [less so](HIDDEN) for several
    /// requests at once. The error falls with the part of misses in the time: what exceeds `held`,
    /// the logarithm of the time of the slowest set before the end. Hidden time is no part of that.
    fn error_behind(&self, end: &End, held: f64) -> f64 {
        let misses = (1.0 - (held - self.log_time).exp()).max(0.0);
        // In a mix, how much of the data written goes to storage at once is known worse than how
        // many reads miss, in larger sets, too.
        let of_writes_in_mix = end.varies && self.requested.reads;
        let faster = if of_writes_in_mix { OF_WRITES } else { 1.0 };
        let hits = (faster * (end.log_bytes - self.log_set)).exp();
        let share = if self.together { HIDDEN.max(misses) * HIDDEN } else { ROUGHLY * misses };
        if self.log_set > end.log_bytes && held.is_finite() { share * hits } else { 0.0 }
    }

    /// Log likelihood of its residual if it is known to `sigma`, and its weight in the fit. A point
    /// whose cache was filling shows only that the law is no slower.
    fn likelihood(&self, residual: f64, sigma: f64) -> (f64, f64) {
        let (value, weight) = likelihood(residual, sigma, self.disturbed);
        match (self.filling, residual < 0.0) {
            (false, _) => (value, weight),
            (true, true) => (value - likelihood(0.0, sigma, self.disturbed).0, weight),
            (true, false) => (0.0, 0.0),
        }
    }
}

/// Log likelihood and fit weight of a residual known to `sigma`, disturbed with probability
/// `share`.
fn likelihood(residual: f64, sigma: f64, share: f64) -> (f64, f64) {
    let wide = sigma + DISTURBED_BY;
    let density = |sd: f64| (-0.5 * (residual / sd).powi(2)).exp() / sd;
    let (usual, disturbed) = ((1.0 - share) * density(sigma), share * density(wide));
    let all = usual + disturbed + 1e-300;
    let weight = (usual / sigma.powi(2) + disturbed / wide.powi(2)) / all;
    (all.ln() - 0.5 * std::f64::consts::TAU.ln(), weight)
}

/// Median over the larger half of the ordered sets: small ones tell little of a level just begun.
fn typical(mut added: Vec<f64>) -> Option<f64> {
    let mut larger = added.split_off(added.len() / 2);
    larger.sort_by(f64::total_cmp);
    larger.get(larger.len().saturating_sub(1) / 2).copied()
}

/// How memory declines by the most probable parameters and the precision around them.
fn declines(theta: &Vector, precision: &Cholesky) -> Decline {
    let mean = theta.fixed_rows::<PIECES>(1).into_owned();
    // Of the inverse, only the columns of the pieces are needed.
    let mut columns = SMatrix::<f64, LEN, PIECES>::zeros();
    columns.fixed_view_mut::<PIECES, PIECES>(1, 0).fill_with_identity();
    precision.solve_mut(&mut columns);
    let covariance = columns.fixed_view::<PIECES, PIECES>(1, 0).into_owned();
    Decline::new(&mean, &covariance)
}

/// Finds the most probable law with levels that end at `ends`, which are in order; `near` is a law
/// with ends nearby.
pub(crate) fn fit(points: &[Observed], ends: &[End], added: Added, near: Option<&Fit>) -> Fit {
    if points.is_empty() {
        let (slowdowns, decline, ends) = (Vec::new(), Decline::silent(), ends.to_vec());
        let (theta, requested) = (Vector::zeros(), Requested::ONE_PAGE);
        return Fit { log_evidence: 0.0, slowdowns, decline, theta, ends, requested };
    }
    let problem = Problem::new(points, ends, added);
    let prior = prior(points[0].log_time);
    // The largest sets show a level best, unless they were disturbed.
    let largest = problem.start(problem.fastest(), |added| added.last().copied());
    let mut starts = vec![largest, problem.start(problem.fastest(), typical)];
    match near {
        // A law nearby knows memory better, but may have followed disturbed points.
        Some(near) => starts.extend([near.theta, problem.start(near.theta, typical)]),
        // Far from all points, disturbed ones may trap the law; with blurred points they do not.
        None => starts.push(problem.blurred().climbed(&starts, &prior).theta),
    }
    let Climbed { theta, value, precision } = problem.climbed(&starts, &prior);
    let cholesky = precision.cholesky();
    let log_determinant = cholesky
        .as_ref()
        .map_or(0.0, |c| 2.0 * c.l_dirty().diagonal().iter().map(|d| d.ln()).sum::<f64>());
    let decline = cholesky.as_ref().map_or(Decline::silent(), |c| declines(&theta, c));
    let slowdowns = cholesky.map_or(Vec::new(), |c| problem.slowdowns(&theta, &c));
    let free = 0.5 * ends.len() as f64 * std::f64::consts::TAU.ln();
    let log_evidence = value + free - 0.5 * log_determinant + problem.computed(&theta);
    let requested = points[0].requested;
    Fit { log_evidence, slowdowns, decline, theta, ends: ends.to_vec(), requested }
}
