//! Prior on how much slower a level is than the one before it.

/// Softness of the ends of the uniform prior.
const EDGE: f64 = 0.25;

/// Bounds of the logarithm of a level's added time over the time of all levels before it; between
/// them everything is equally likely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Added {
    pub low: f64,
    pub high: f64,
}

impl Added {
    /// Each level is 1.3 to 10 000 times slower than the one before: the latter is a disk of 1 MB/s
    /// after memory of 10 GB/s.
    pub(crate) const OWN: Self = Self { low: -1.2, high: 9.2 };
    /// The bounds if only a part of the requests reach the level.
    pub(crate) const DILUTED: Self = Self { low: -4.0, high: 9.2 };

    /// Width of the range.
    pub(crate) fn width(self) -> f64 {
        self.high - self.low
    }

    /// Log density, its slope and its curvature at `x`.
    pub(super) fn density(self, x: f64) -> [f64; 3] {
        let out = if x < self.low { x - self.low } else { (x - self.high).max(0.0) };
        let width = self.width();
        let curvature = if out == 0.0 { 12.0 / (width * width) } else { EDGE.powi(-2) };
        [-width.ln() - 0.5 * (out / EDGE).powi(2), -out / (EDGE * EDGE), curvature]
    }
}
