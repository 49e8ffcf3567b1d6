//! What one measured curve says: values at its points, ratios with bounds, where it reaches a level.

use ioscape_schema::{Bounded, Point};

/// Share of the best throughput that counts as performing well.
pub(crate) const PERFORMS_WELL: f64 = 0.75;
/// Runs repeat themselves no better than this, whatever their own confidence interval says.
const REPEATABILITY: f64 = 0.02;

/// Relative uncertainty of a point: its confidence interval or the spread of its rounds, whichever is larger.
pub(crate) fn error_of(point: &Point) -> f64 {
    let interval = point.measurement.relative_error();
    let interval = if interval.is_finite() { interval } else { 1.0 };
    interval.max(point.spread.unwrap_or(0.0)).clamp(REPEATABILITY, 1.0)
}

/// Ratio of two points with bounds from both uncertainties; `None` when the lower one did not move any bytes.
pub(crate) fn ratio(over: &Point, under: &Point) -> Option<Bounded> {
    let value = over.throughput() / under.throughput();
    if !value.is_finite() || value <= 0.0 {
        return None;
    }
    let factor = 1.0 + error_of(over).hypot(error_of(under));
    Some(Bounded { value, low: value / factor, high: value * factor })
}

pub(crate) fn inverse(bounded: Bounded) -> Bounded {
    let Bounded { value, low, high } = bounded;
    Bounded { value: 1.0 / value, low: 1.0 / high, high: 1.0 / low }
}

/// Throughput at the upper end of a curve of a fraction over that at its lower end.
pub(crate) fn ends_ratio(curve: &[Point]) -> Option<Bounded> {
    ratio(at(curve, 1.0)?, at(curve, 0.0)?)
}

/// The point of a curve at `value` exactly.
pub(crate) fn at(curve: &[Point], value: f64) -> Option<&Point> {
    curve.iter().find(|p| p.value == value)
}

/// The fastest point of a curve.
pub(crate) fn best(curve: &[Point]) -> Option<&Point> {
    curve.iter().max_by(|a, b| a.throughput().total_cmp(&b.throughput()))
}

/// Least value at which a curve reaches `level`, interpolated on a logarithmic scale.
pub(crate) fn first_at(curve: &[Point], level: f64) -> Option<f64> {
    let reached = curve.iter().position(|p| p.throughput() >= level)?;
    let high = curve[reached].value;
    let Some(before) = reached.checked_sub(1).map(|i| &curve[i]) else { return Some(high) };
    let part = (level - before.throughput()) / (curve[reached].throughput() - before.throughput());
    Some(before.value * (high / before.value).powf(part.clamp(0.0, 1.0)))
}
