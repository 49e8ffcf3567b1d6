//! How long do requests take, at the device and with the queue? (Table 4, Figure 1)

use super::accumulate::Accumulate;
use super::log_histogram::LogHistogram;
use ioscape_schema::trace_summary::{OpTimes, Times};
use ioscape_schema::{Io, Op};
use serde::{Deserialize, Serialize};

/// Physical time is completion less issue, elapsed time completion less arrival; bins are 1/32 of the time wide.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ResponseTime {
    /// By operation: physical, elapsed.
    seen: [[LogHistogram; 2]; 2],
}

impl Accumulate for ResponseTime {
    #[inline]
    fn update(&mut self, io: &Io) {
        let [physical, elapsed] = &mut self.seen[usize::from(io.request.op == Op::Write)];
        physical.add(io.physical_ns());
        elapsed.add(io.elapsed_ns());
    }

    fn merge(&mut self, later: Self) {
        let mine = self.seen.iter_mut().flatten();
        mine.zip(later.seen.iter().flatten()).for_each(|(mine, theirs)| mine.merge(theirs));
    }
}

impl ResponseTime {
    /// Whether any request took time: else the source does not tell when requests complete.
    pub fn is_told(&self) -> bool {
        self.seen.iter().flatten().any(|times| times.most() > 0)
    }

    /// The distributions; all times 0 means that the source tells none.
    pub fn finish(&self) -> OpTimes {
        let times = |[physical, elapsed]: &[LogHistogram; 2]| Times {
            physical_ns: physical.distribution(),
            elapsed_ns: elapsed.distribution(),
        };
        let [read, write] = &self.seen;
        let mut all = read.clone();
        all.iter_mut().zip(write).for_each(|(mine, theirs)| mine.merge(theirs));
        OpTimes { read: times(read), write: times(write), all: times(&all) }
    }
}
