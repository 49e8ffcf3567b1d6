//! How long do requests take at the device, and including the queue? (Table 4, Figure 1)

use super::accumulate::Accumulate;
use super::column::{Column, STRIDE};
use super::log_histogram::LogHistogram;
use ioscape_schema::trace_summary::{OpTimes, Times};
use ioscape_schema::{Io, Op};
use serde::{Deserialize, Serialize};

/// Physical time is completion minus issue, elapsed time is completion minus arrival; bins are 1/32
/// of the time wide. Requests without a recorded completion are left out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ResponseTime {
    /// By operation: physical, elapsed.
    seen: [[LogHistogram; 2]; 2],
}

impl Accumulate for ResponseTime {
    #[inline]
    fn update(&mut self, io: &Io) {
        if !io.is_timed() {
            return;
        }
        let [physical, elapsed] = &mut self.seen[usize::from(io.request.op == Op::Write)];
        physical.add(io.physical_ns());
        elapsed.add(io.elapsed_ns());
    }

    fn update_all(&mut self, ios: &[Io]) {
        for ios in ios.chunks(STRIDE) {
            let mut times: [[Column; 2]; 2] = Default::default();
            for io in ios.iter().filter(|io| io.is_timed()) {
                let [physical, elapsed] = &mut times[usize::from(io.request.op == Op::Write)];
                physical.push(io.physical_ns());
                elapsed.push(io.elapsed_ns());
            }
            let seen = self.seen.iter_mut().flatten();
            seen.zip(times.iter().flatten()).for_each(|(all, new)| all.add_all(new.iter()));
        }
    }

    fn merge(&mut self, later: Self) {
        let mine = self.seen.iter_mut().flatten();
        mine.zip(later.seen.iter().flatten()).for_each(|(mine, theirs)| mine.merge(theirs));
    }
}

impl ResponseTime {
    /// Requests whose completion the source records.
    pub fn timed(&self) -> u64 {
        self.seen.iter().map(|[_, elapsed]| elapsed.count()).sum()
    }

    /// The distributions; empty if the source records no completion.
    pub fn finish(&self) -> OpTimes {
        let times = |[physical, elapsed]: &[LogHistogram; 2]| Times {
            physical_ns: physical.distribution(),
            elapsed_ns: elapsed.distribution(),
        };
        let [read, write] = &self.seen;
        let mut all = read.clone();
        all.iter_mut().zip(write).for_each(|(mine, theirs)| mine.merge(theirs));
        OpTimes { read: Some(times(read)), write: Some(times(write)), all: times(&all) }
    }
}
