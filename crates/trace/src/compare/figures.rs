//! Figures with a value in every window, as ratios of the second trace's to the first's.

use super::course::Window;
use super::interval::{ALPHA, MARGIN, Parts, half_width, is_told, sum};
use ioscape_schema::is_near_one;
use ioscape_schema::trace_comparison::{Change, FigureChange, TraceDistribution, TraceFigure};

/// The largest logarithm of a ratio, finite and far beyond any real one.
const MOST_LOG: f64 = 100.0;

/// A figure of both traces, window by window.
pub(super) struct FigureParts {
    pub name: TraceFigure,
    parts: [Parts; 2],
}

/// The ratio of a figure, and how far off it may be.
pub(super) struct Ratio<'a> {
    /// Its logarithm.
    pub log: f64,
    values: [f64; 2],
    parts: &'a [Parts; 2],
}

impl Ratio<'_> {
    /// Half the interval of the logarithm, outside of which it lies with probability `alpha` at
    /// most. If one trace has none of the figure, the interval includes no change unless the other
    /// trace's scatter rules out that the absence is chance.
    pub fn half_width(&self, alpha: f64) -> f64 {
        let scale = if self.without().is_some() { MOST_LOG } else { 1.0 };
        scale * self.scatter(alpha)
    }

    /// How far chance moves the figure, relative to itself. A figure that one trace lacks would
    /// scatter there as it does in the other.
    fn scatter(&self, alpha: f64) -> f64 {
        let relative = |side: usize| half_width(&self.parts[side], alpha) / self.values[side];
        let Some(side) = self.without() else { return relative(0).hypot(relative(1)) };
        let [mine, other] = [side, 1 - side].map(|side| sum(&self.parts[side], 1));
        relative(1 - side) * (1.0 + other / mine).sqrt()
    }

    /// The trace that has none of the figure.
    fn without(&self) -> Option<usize> {
        self.values.iter().position(|&value| value <= 0.0)
    }
}

impl FigureParts {
    /// The figure; `None` if one of the traces has nothing to divide by, or both have none of it.
    pub fn of(name: TraceFigure, windows: [&[Window]; 2]) -> Option<Self> {
        let parts = windows.map(|all| figure_parts(name, all));
        let divided = parts.iter().all(|of| sum(of, 1) > 0.0);
        let any = parts.iter().any(|of| sum(of, 0) > 0.0);
        (divided && any).then_some(Self { name, parts })
    }

    /// Whether enough windows of both traces hold what the figure averages.
    pub fn is_told(&self) -> bool {
        is_told(&self.parts)
    }

    /// The ratio of the second trace's figure to the first's.
    pub fn ratio(&self) -> Ratio<'_> {
        let value = |side: &Parts| sum(side, 0) / sum(side, 1).max(f64::MIN_POSITIVE);
        let values = self.parts.each_ref().map(value);
        let log = (values[1] / values[0]).ln().clamp(-MOST_LOG, MOST_LOG);
        Ratio { log, values, parts: &self.parts }
    }

    /// How the figure changed, and how far chance moves it, relative to itself: without limit if
    /// too few windows show that.
    pub fn change(&self, alpha: f64, told: bool) -> (FigureChange, f64) {
        let (ratio, told) = (self.ratio(), told && self.is_told());
        let (log, single, all) = (ratio.log, ratio.half_width(ALPHA), ratio.half_width(alpha));
        let end = |log: f64| log.clamp(-MOST_LOG, MOST_LOG).exp();
        let all_ends = [end(log - all), end(log + all)];
        let verdict = match () {
            () if !told => Change::CannotBeTold,
            () if is_near_one(all_ends, MARGIN) => Change::Alike,
            () if log.abs() > all => Change::Changed,
            () => Change::CannotBeTold,
        };
        let ci95 = [end(log - single), end(log + single)];
        let (name, values) = (self.name, ratio.values);
        let moved = if told { ratio.scatter(alpha) } else { f64::INFINITY };
        (FigureChange { name, values, ratio: end(log), ci95, verdict }, moved)
    }
}

/// A figure as a ratio of two sums, window by window.
fn figure_parts(figure: TraceFigure, windows: &[Window]) -> Parts {
    let mean = |of: TraceDistribution| {
        windows.iter().map(move |one| {
            let seen = one.seen(of);
            [seen.sum() as f64, seen.count() as f64]
        })
    };
    let per_second = |count: fn(&Window) -> u64| {
        windows.iter().map(move |one| [count(one) as f64, one.width_s]).collect()
    };
    match figure {
        TraceFigure::RequestsPerS => per_second(Window::ios),
        TraceFigure::ReadBytesPerS => per_second(|one| one.bytes(TraceDistribution::ReadBytes)),
        TraceFigure::WriteBytesPerS => per_second(|one| one.bytes(TraceDistribution::WriteBytes)),
        TraceFigure::ReadBytesMean => mean(TraceDistribution::ReadBytes).collect(),
        TraceFigure::WriteBytesMean => mean(TraceDistribution::WriteBytes).collect(),
        TraceFigure::ReadElapsedNsMean => mean(TraceDistribution::ReadElapsedNs).collect(),
        TraceFigure::WriteElapsedNsMean => mean(TraceDistribution::WriteElapsedNs).collect(),
        TraceFigure::QueueLengthMean => mean(TraceDistribution::QueueLength).collect(),
    }
}
