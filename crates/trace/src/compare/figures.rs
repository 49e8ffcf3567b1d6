//! Figures that have a value for every window, as ratios of the second trace's to the first's.

use super::course::Window;
use super::interval::{ALPHA, MARGIN, Parts, half_width, sum};
use ioscape_schema::is_near_one;
use ioscape_schema::trace_comparison::{Change, FigureChange, TraceDistribution, TraceFigure};

/// Largest logarithm of a ratio, a finite number far beyond any real one.
const MOST_LOG: f64 = 100.0;

/// A figure of both traces, window by window.
pub(super) struct FigureParts {
    pub name: TraceFigure,
    parts: [Parts; 2],
}

/// The ratio of a figure, and how far it may be off.
pub(super) struct Ratio<'a> {
    /// Its logarithm.
    pub log: f64,
    values: [f64; 2],
    parts: &'a [Parts; 2],
}

impl Ratio<'_> {
    /// Half the interval of the logarithm: outside with the probability `alpha` at most.
    pub fn half_width(&self, alpha: f64) -> f64 {
        let relative = [0, 1].map(|side| half_width(&self.parts[side], alpha) / self.values[side]);
        relative[0].hypot(relative[1])
    }
}

impl FigureParts {
    /// The figure; nothing where one of the traces has none.
    pub fn of(name: TraceFigure, windows: [&[Window]; 2]) -> Option<Self> {
        let parts = windows.map(|all| figure_parts(name, all));
        let told = |of: &Parts| [0, 1].iter().all(|&at| sum(of, at) > 0.0);
        parts.iter().all(told).then_some(Self { name, parts })
    }

    /// The ratio of the second to the first.
    pub fn ratio(&self) -> Ratio<'_> {
        let value = |side: &Parts| sum(side, 0) / sum(side, 1).max(f64::MIN_POSITIVE);
        let values = self.parts.each_ref().map(value);
        Ratio { log: (values[1] / values[0]).ln(), values, parts: &self.parts }
    }

    /// How the figure changed, and how far its logarithm may be off.
    pub fn change(&self, alpha: f64, told: bool) -> (FigureChange, f64) {
        let ratio = self.ratio();
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
        (FigureChange { name, values, ratio: end(log), ci95, verdict }, all)
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
