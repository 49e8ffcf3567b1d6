//! Where levels end and for which requests, and the curves that show it.

use super::added::Added;
use super::law::{End, Fit, Observed, fit};
use super::overflow::{Overflow, Requested};
use ioscape_schema::{BorderOperation, Bounded};

/// Standard deviation, in log time, added to all points at the beginning of the search.
const BLUR: f64 = 0.3;

/// Probability that one rule says for which requests all levels end, as when every write goes
/// through all caches; otherwise each level has its own.
///
/// A larger value would alone decide for which requests a level ends that lies beyond one for all.
const ONE_RULE: f64 = 0.3;

/// The requests for which a level ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requests {
    All,
    Reads,
    Writes,
}

impl Requests {
    pub(crate) const ALL: [Self; 3] = [Self::All, Self::Reads, Self::Writes];

    /// Prior of a single level.
    pub(crate) fn prior(self) -> f64 {
        match self {
            Self::All => 0.7,
            Self::Reads | Self::Writes => 0.15,
        }
    }

    /// Logarithm of the prior of the requests for which these levels end, in order.
    pub(crate) fn log_prior(ends: &[LevelEnd]) -> f64 {
        let Some(first) = ends.first() else { return 0.0 };
        let each: f64 = ends.iter().map(|end| end.of.prior()).product();
        let is_one = ends.iter().all(|end| end.of == first.of);
        let one = if is_one { first.of.prior() } else { 0.0 };
        (ONE_RULE * one + (1.0 - ONE_RULE) * each).ln()
    }

    /// Whether such an end shows in the curve of `operation`; the mix has the ends of both.
    pub(crate) fn has(self, operation: BorderOperation) -> bool {
        match (self, operation) {
            (Self::All, _) | (_, BorderOperation::Mixed) => true,
            (Self::Reads, of) => of == BorderOperation::Read,
            (Self::Writes, of) => of == BorderOperation::Write,
        }
    }
}

/// Logarithm of the prior of a kind of overflow.
pub(crate) fn log_prior(overflow: Overflow) -> f64 {
    match overflow {
        Overflow::Random => 0.2f64.ln(),
        Overflow::Pages | Overflow::PagesOfReads => 0.15f64.ln(),
        Overflow::Partial => 0.05f64.ln(),
        Overflow::Thrash => 0.3f64.ln(),
        Overflow::Soft => 0.15f64.ln(),
    }
}

/// Where a level ends, and for which requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LevelEnd {
    /// Natural logarithm of its size in bytes.
    pub log_bytes: f64,
    pub overflow: Overflow,
    pub of: Requests,
}

impl LevelEnd {
    /// Returns this end as the law of one curve uses it.
    pub(crate) fn end(&self) -> End {
        let Self { log_bytes, overflow, of } = *self;
        End { log_bytes, overflow, varies: of == Requests::Writes }
    }
}

/// The evidence of the posterior.
#[derive(Clone, Debug, Default)]
pub(crate) struct Curves {
    /// Pure reads, pure writes and the mix.
    pub points: [Vec<Observed>; 3],
    /// How much of a set memory holds, by residency, in bytes.
    pub held: Option<Bounded>,
    /// Between which sets writers begin to be held up, by dirty bytes, in bytes.
    pub limit: Option<[f64; 2]>,
}

/// The curves, in the order of [`Curves::points`].
pub(crate) const OPERATIONS: [BorderOperation; 3] =
    [BorderOperation::Read, BorderOperation::Write, BorderOperation::Mixed];

impl Curves {
    /// Returns the same curves with a larger uncertainty for every point.
    pub(crate) fn blurred(&self) -> Self {
        let mut blurred = self.clone();
        for point in blurred.points.iter_mut().flatten() {
            point.sigma = point.sigma.hypot(BLUR);
        }
        blurred
    }

    /// The points of one curve, in order.
    pub(crate) fn of(&self, operation: BorderOperation) -> &[Observed] {
        &self.points[OPERATIONS.iter().position(|o| *o == operation).unwrap_or_default()]
    }

    /// How the requests of one curve lie in a set.
    pub(crate) fn requested(&self, index: usize) -> Requested {
        self.points[index].first().map_or(Requested::ONE_PAGE, |p| p.requested)
    }

    /// Fits the law of one curve; `near` is a law with ends nearby, to start from.
    pub(crate) fn fit(&self, of: BorderOperation, ends: &[LevelEnd], near: Option<&Fit>) -> Fit {
        let own = ends.iter().filter(|e| e.of.has(of));
        let own: Vec<End> = own.map(LevelEnd::end).collect();
        let added = if of == BorderOperation::Mixed { Added::DILUTED } else { Added::OWN };
        fit(self.of(of), &own, added, near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prior(all: &[Requests]) -> f64 {
        let end = |&of| LevelEnd { log_bytes: 20.0, overflow: Overflow::Random, of };
        Requests::log_prior(&all.iter().map(end).collect::<Vec<LevelEnd>>()).exp()
    }

    #[test]
    fn levels_that_follow_one_rule_are_more_probable_than_each_by_itself() {
        use Requests::{All, Reads, Writes};
        assert_eq!(prior(&[]), 1.0);
        assert!((prior(&[Reads]) - 0.15).abs() < 1e-12);
        let pairs = Requests::ALL.map(|a| Requests::ALL.map(|b| prior(&[a, b])));
        assert!((pairs.iter().flatten().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(prior(&[Reads, Reads]) > 2.0 * 0.15 * 0.15);
        assert!(prior(&[All, Writes]) < 0.7 * 0.15);
        // Knowing the first level alone is not enough to call the second an end of reads, or of
        // writes.
        for of in [BorderOperation::Read, BorderOperation::Write] {
            let has = |other: &&Requests| other.has(of);
            let share = Requests::ALL.iter().filter(has).map(|&o| prior(&[All, o])).sum::<f64>();
            assert!(share / prior(&[All]) < 0.9, "{share}");
        }
    }
}
