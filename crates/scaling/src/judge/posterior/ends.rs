//! Where levels end and for which requests, and the curves that show it.

use super::law::{Added, End, Fit, Observed, Overflow, fit};
use ioscape_schema::{BorderOperation, Bounded};

/// Standard deviation, in log time, with which the search begins.
const BLUR: f64 = 0.3;

/// The requests that a level ends for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requests {
    All,
    Reads,
    Writes,
}

impl Requests {
    pub(crate) const ALL: [Self; 3] = [Self::All, Self::Reads, Self::Writes];

    /// Logarithm of its prior.
    pub(crate) fn log_prior(self) -> f64 {
        match self {
            Self::All => 0.7f64.ln(),
            Self::Reads | Self::Writes => 0.15f64.ln(),
        }
    }

    /// Whether such an end is one of the curve of `operation`; the mix has the ends of both.
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
        Overflow::Random => 0.45f64.ln(),
        Overflow::Partial => 0.1f64.ln(),
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
    /// The same for the law of one curve.
    pub(crate) fn end(&self) -> End {
        let Self { log_bytes, overflow, of } = *self;
        End { log_bytes, overflow, varies: of == Requests::Writes }
    }
}

/// What the posterior rests on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Curves {
    /// Pure reads, pure writes and the mix.
    pub points: [Vec<Observed>; 3],
    /// What memory holds of a set, by its residency, in bytes.
    pub held: Option<Bounded>,
}

/// The curves, in the order of their points.
pub(crate) const OPERATIONS: [BorderOperation; 3] =
    [BorderOperation::Read, BorderOperation::Write, BorderOperation::Mixed];

impl Curves {
    /// The same curves as if every point were known badly.
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

    /// The law of one curve; `near` is one with ends nearby.
    pub(crate) fn fit(&self, of: BorderOperation, ends: &[LevelEnd], near: Option<&Fit>) -> Fit {
        let own = ends.iter().filter(|e| e.of.has(of));
        let own: Vec<End> = own.map(LevelEnd::end).collect();
        let added = if of == BorderOperation::Mixed { Added::DILUTED } else { Added::OWN };
        fit(self.of(of), &own, added, near)
    }
}
