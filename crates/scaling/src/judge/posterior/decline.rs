//! Memory's slow decline as sets outgrow the processors' caches: its prior, and how similarly
//! reads, writes and their mix show it.
//!
//! One memory serves all three. Every curve has its own decline, so each would pay for the same
//! bend, whereas the end of a level pays for its slowdown once (see [`alike`](super::alike)). So a
//! bend that all curves show costs once as well, and only the evidence tells it from a level.

use nalgebra::{SMatrix, SVector};
use std::sync::LazyLock;

/// Number of pieces of memory's slow decline.
pub(crate) const PIECES: usize = 9;
const MIB: f64 = 1048576.0;
/// Where the pieces of the decline meet, in bytes: where processors' caches and the reach of their address translation end.
const KNOTS: [f64; PIECES - 1] = [
    16.0 * MIB,
    64.0 * MIB,
    128.0 * MIB,
    256.0 * MIB,
    512.0 * MIB,
    1024.0 * MIB,
    2896.0 * MIB,
    8192.0 * MIB,
];
/// Prior mean and standard deviation of the decline, as change of log time per change of log set:
/// up to 1 GiB; from there to 8 GiB, where it goes on only on machines with many processors; and
/// beyond, where memory is even.
const USUAL: [f64; 2] = [0.15, 0.35];
const LATE: [f64; 2] = [0.1, 0.2];
const LAST: [f64; 2] = [0.0, 0.03];
/// Number of pieces with the prior [`LATE`].
const LATE_PIECES: usize = 2;
/// Standard deviation of the difference of neighbouring pieces.
const EVEN: f64 = 0.2;
/// Probability that memory declines alike for all requests; otherwise each kind has its own
/// decline.
const ALIKE: f64 = 0.8;
/// Correlation of the declines of two curves where they are alike.
const SHARED: f64 = 0.9;

/// One value for each piece.
pub(crate) type Pieces = SVector<f64, PIECES>;
/// One value for each pair of pieces.
pub(crate) type Pairs = SMatrix<f64, PIECES, PIECES>;

/// How far a set reaches into each piece of the decline, from 1 MiB on.
pub(crate) fn pieces(log_set: f64) -> [f64; PIECES] {
    let mut from = MIB.ln();
    let mut reach = [0.0; PIECES];
    for (i, part) in reach.iter_mut().enumerate() {
        let to = KNOTS.get(i).map_or(f64::INFINITY, |k| k.ln());
        *part = (log_set.min(to) - from).max(0.0);
        from = to;
    }
    reach
}

/// Prior mean and standard deviation of a piece of the decline, counted from 0.
pub(crate) fn usual(piece: usize) -> [f64; 2] {
    match PIECES - 1 - piece {
        0 => LAST,
        1..=LATE_PIECES => LATE,
        _ => USUAL,
    }
}

/// Gaussian prior of the pieces, as precision and its product with the mean.
pub(crate) fn prior() -> (Pairs, Pieces) {
    let (mut precision, mut weighted) = (Pairs::zeros(), Pieces::zeros());
    for i in 0..PIECES {
        let [mean, sd] = usual(i);
        precision[(i, i)] += sd.powi(-2);
        weighted[i] += mean * sd.powi(-2);
    }
    for i in 0..PIECES - 2 {
        let weight = EVEN.powi(-2);
        precision[(i, i)] += weight;
        precision[(i + 1, i + 1)] += weight;
        precision[(i, i + 1)] -= weight;
        precision[(i + 1, i)] -= weight;
    }
    (precision, weighted)
}

/// The map to coordinates in which the prior of the pieces is the unit normal distribution, and
/// their prior means. Cached, since every law asks for them.
static BEFORE: LazyLock<(Pairs, Pieces)> = LazyLock::new(|| {
    let (precision, weighted) = prior();
    let before = precision.cholesky().expect("a sum of squares and of a positive diagonal");
    (before.l().transpose(), before.solve(&weighted))
});

/// What one curve says of the decline, beyond the prior.
///
/// The coordinates are those in which the prior of the pieces is the unit normal distribution.
/// There, the decline of each curve is a common part with variance [`SHARED`] plus its own part
/// with the remaining variance, so each by itself keeps its usual prior.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decline {
    /// What it says of the common part: precision, and its product with the mean.
    precision: Pairs,
    weighted: Pieces,
    /// Logarithm of its evidence with a common part of zero, over its evidence by itself.
    without: f64,
}

impl Decline {
    /// The decline of a curve without points.
    pub(crate) fn silent() -> Self {
        Self { precision: Pairs::zeros(), weighted: Pieces::zeros(), without: 0.0 }
    }

    /// The decline of a curve by which the pieces have this mean and covariance, the prior
    /// included.
    pub(crate) fn new(mean: &Pieces, covariance: &Pairs) -> Self {
        let (unit, usual) = &*BEFORE;
        let mean = unit * (mean - usual);
        let covariance = unit * covariance * unit.transpose();
        // For a common part of zero: the covariance that the curve's points and its own part give
        // the mean, in the curve's own units.
        let own = covariance * SHARED + Pairs::identity() * (1.0 - SHARED);
        let Some(own) = own.cholesky() else { return Self::silent() };
        let weighted = own.solve(&mean);
        Self {
            precision: own.solve(&(Pairs::identity() - covariance)),
            weighted,
            without: -own.l_dirty().diagonal().map(f64::ln).sum()
                - 0.5 * SHARED * mean.dot(&weighted),
        }
    }
}

/// Returns the logarithm of the factor by which laws with these declines, one from each curve, are
/// more probable than if each curve had its own memory.
pub(crate) fn alike_declines(all: &[Decline]) -> f64 {
    let precision = all.iter().map(|d| d.precision).sum::<Pairs>() * SHARED + Pairs::identity();
    let weighted: Pieces = all.iter().map(|d| d.weighted).sum();
    let Some(common) = precision.cholesky() else { return 0.0 };
    let joint = all.iter().map(|d| d.without).sum::<f64>()
        - common.l_dirty().diagonal().map(f64::ln).sum()
        + 0.5 * SHARED * weighted.dot(&common.solve(&weighted));
    let most = joint.max(0.0);
    most + (ALIKE * (joint - most).exp() + (1.0 - ALIKE) * (-most).exp()).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a curve says if every piece is `at` prior standard deviations above the prior mean,
    /// with `variance` in the same units.
    fn says(at: f64, variance: f64) -> Decline {
        let (precision, weighted) = prior();
        let before = precision.cholesky().unwrap();
        let unit = before.l().transpose();
        let own = unit.try_inverse().unwrap() * Pieces::repeat(at / (1.0 + variance));
        let mean = before.solve(&weighted) + own;
        Decline::new(&mean, &(before.inverse() * (variance / (1.0 + variance))))
    }

    #[test]
    fn what_one_curve_says_or_none_changes_nothing() {
        let curve = says(1.3, 0.2);
        for all in [&[curve][..], &[curve, Decline::silent()], &[says(0.0, 1e6); 3], &[]] {
            assert!(alike_declines(all).abs() < 1e-4, "{}", alike_declines(all));
        }
    }

    /// Compares with the determinants of the joint distribution of three numbers, piece by piece.
    #[test]
    fn declines_that_agree_speak_for_their_law_and_others_hardly_against_it() {
        let (at, variance): (f64, f64) = (1.5, 0.1);
        let (along, across) = (1.0 + 2.0 * SHARED + variance, 1.0 - SHARED + variance);
        let alone = 1.0 + variance;
        let each = -0.5 * (along.ln() + 2.0 * across.ln() - 3.0 * alone.ln())
            - 1.5 * at * at * (along.recip() - alone.recip());
        let joint = (ALIKE * (PIECES as f64 * each).exp() + 1.0 - ALIKE).ln();
        let agree = alike_declines(&[says(at, variance); 3]);
        assert!((agree - joint).abs() < 1e-6 && agree > 5.0, "{agree} {joint}");
        let differ = alike_declines(&[says(2.0, 0.01), says(-2.0, 0.01), says(0.0, 0.01)]);
        assert!(differ < 0.0 && differ > -2.0, "{differ}");
    }
}
