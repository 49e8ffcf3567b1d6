//! Which figures and distributions a trace records; those that it does not are not compared.

use ioscape_schema::trace_comparison::{TraceDistribution, TraceFigure};
use ioscape_schema::trace_lacks::TraceLacks;

/// Whether the figure is per second.
pub(super) fn is_rate(figure: TraceFigure) -> bool {
    use TraceFigure::{ReadBytesPerS, RequestsPerS, WriteBytesPerS};
    matches!(figure, RequestsPerS | ReadBytesPerS | WriteBytesPerS)
}

/// Whether the distribution depends on when or in which order requests arrive, whether or not they
/// complete.
pub(super) fn needs_arrivals(of: TraceDistribution) -> bool {
    use TraceDistribution::{DistanceBytes, InterArrivalNs, Sequential};
    matches!(of, Sequential | DistanceBytes | InterArrivalNs)
}

/// Whether a trace that lacks this records the figure; whether it records completion times is
/// checked elsewhere.
pub(super) fn figure(figure: TraceFigure, lacks: &TraceLacks) -> bool {
    use TraceFigure::{
        QueueLengthMean, ReadBytesMean, ReadBytesPerS, ReadElapsedNsMean, RequestsPerS,
        WriteBytesMean, WriteBytesPerS, WriteElapsedNsMean,
    };
    match figure {
        RequestsPerS | QueueLengthMean => !lacks.fast,
        ReadBytesPerS | WriteBytesPerS => !lacks.fast && !lacks.operations,
        ReadBytesMean | WriteBytesMean | ReadElapsedNsMean | WriteElapsedNsMean => {
            !lacks.operations
        }
    }
}

/// Does the same for a distribution.
pub(super) fn distribution(of: TraceDistribution, lacks: &TraceLacks) -> bool {
    use TraceDistribution::{
        DistanceBytes, InterArrivalNs, QueueLength, ReadBytes, ReadElapsedNs, Reads, Sequential,
        WriteBytes, WriteElapsedNs,
    };
    match of {
        Sequential | DistanceBytes => !lacks.fast && !lacks.places,
        InterArrivalNs => !lacks.fast && lacks.arrival_step_ns == 0,
        QueueLength => !lacks.fast,
        ReadElapsedNs | WriteElapsedNs => {
            !lacks.operations && !lacks.steps && lacks.arrival_step_ns == 0
        }
        Reads | ReadBytes | WriteBytes => !lacks.operations,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_trace_lacks_is_not_compared() {
        let all = |lacks: &TraceLacks| {
            let figures = TraceFigure::ALL.into_iter().filter(|one| figure(*one, lacks)).count();
            let shares = TraceDistribution::ALL.into_iter();
            (figures, shares.filter(|one| distribution(*one, lacks)).count())
        };
        let none = TraceLacks::default();
        assert_eq!(all(&none), (8, 9));
        assert_eq!(all(&TraceLacks { operations: true, ..none }), (2, 4));
        assert_eq!(all(&TraceLacks { places: true, ..none }), (8, 7));
        assert_eq!(all(&TraceLacks { arrival_step_ns: 1_000_000, ..none }), (8, 6));
        assert_eq!(all(&TraceLacks { steps: true, ..none }), (8, 7));
        assert_eq!(all(&TraceLacks { fast: true, ..none }), (4, 5));
    }
}
