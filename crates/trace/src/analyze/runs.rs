//! Lengths of runs of equal items in a stream that may be cut anywhere and joined again.

use super::log_histogram::FineHistogram;
use ioscape_schema::trace_summary::Runs;
use serde::{Deserialize, Serialize};

/// Runs of one kind; the first and the last may continue beyond the part that was seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunLengths {
    /// Length of the run at the beginning of the part.
    first: u64,
    /// Whether the first run has ended within the part.
    ended: bool,
    /// Length of the run still open at the end, once the first has ended.
    open: u64,
    /// Lengths of the runs in between.
    closed: FineHistogram,
}

impl RunLengths {
    /// Adds one to the open run.
    #[inline]
    pub fn extend(&mut self) {
        if self.ended {
            self.open += 1;
        } else {
            self.first += 1;
        }
    }

    /// Ends the open run; does nothing if it is empty.
    #[inline]
    pub fn end(&mut self) {
        if self.open > 0 {
            self.closed.add(self.open);
            self.open = 0;
        }
        self.ended = true;
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.closed.bytes()
    }

    /// Adds the later part; its first run continues the open one.
    pub fn merge(&mut self, later: Self) {
        if self.ended {
            self.open += later.first;
        } else {
            self.first += later.first;
        }
        if later.ended {
            self.end();
            self.open = later.open;
        }
        self.closed.merge(&later.closed);
    }

    /// All lengths, including those at both ends.
    pub fn lengths(&self) -> FineHistogram {
        let mut all = self.closed.clone();
        for length in [self.first, self.open] {
            if length > 0 {
                all.add(length);
            }
        }
        all
    }

    /// The runs as results store them; shares are of the requests, not of the runs.
    pub fn finish(&self) -> Runs {
        let all = self.lengths();
        let ios = u64::try_from(all.sum()).unwrap_or(u64::MAX);
        let bins: Vec<(f64, u64)> =
            all.bins().map(|(to, runs)| (to as f64, to.saturating_mul(runs))).collect();
        let counted: u64 = bins.iter().map(|bin| bin.1).sum();
        let from = |least: f64| {
            let inside: u64 = bins.iter().filter(|bin| bin.0 >= least).map(|bin| bin.1).sum();
            if counted == 0 { 0.0 } else { inside as f64 / counted as f64 }
        };
        Runs {
            runs: all.count(),
            ios,
            longest: all.most(),
            following_frac: if ios == 0 { 0.0 } else { 1.0 - all.count() as f64 / ios as f64 },
            single_frac: if counted == 0 { 0.0 } else { 1.0 - from(2.0) },
            in_20_frac: from(20.0),
            in_50_frac: from(50.0),
            in_100_frac: from(100.0),
            bins,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(marks: &[bool]) -> RunLengths {
        let mut runs = RunLengths::default();
        marks.iter().for_each(|&more| if more { runs.extend() } else { runs.end() });
        runs
    }

    #[test]
    fn lengths_are_weighted_by_requests() {
        let mut marks = vec![true; 20];
        marks.extend([false, true, false, false, true, true, true]);
        let runs = of(&marks).finish();
        assert_eq!((runs.runs, runs.ios, runs.longest), (3, 24, 20));
        assert_eq!((runs.single_frac * 24.0).round(), 1.0);
        assert_eq!((runs.in_20_frac * 24.0).round(), 20.0);
    }

    proptest! {
        #[test]
        fn parts_merge_to_the_whole(marks in prop::collection::vec(any::<bool>(), 0..60), cut in 0usize..60) {
            let (early, late) = marks.split_at(cut.min(marks.len()));
            let mut merged = of(early);
            merged.merge(of(late));
            prop_assert_eq!(merged.lengths(), of(&marks).lengths());
        }
    }
}
