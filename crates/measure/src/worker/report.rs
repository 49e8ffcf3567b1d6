//! The results of one stream, and how they pass from a worker to the conductor through shared
//! words.

use crate::engine::{Action, Fault};
use ioscape_schema::tally::{Counters, DISTINCT_MAX};
use ioscape_schema::{Warning, WarningKind};
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of words before the histograms.
const FIXED_WORDS: usize = 32;

/// The most words that a report takes.
pub(crate) const REPORT_WORDS: usize = FIXED_WORDS + 2 * (6 + 2 * DISTINCT_MAX);

/// What the measured part cost a worker process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// User time of all its threads in nanoseconds.
    pub(crate) user_ns: u64,
    /// System time of all its threads in nanoseconds, including the kernel threads of an
    /// `io_uring`.
    pub(crate) system_ns: u64,
    /// Bytes read for it from the storage layer; 0 where the kernel does not count them.
    pub(crate) storage_read_bytes: u64,
    /// Whether the kernel counts them.
    pub(crate) storage_counted: bool,
    /// Page faults that needed I/O.
    pub(crate) major_faults: u64,
}

/// The report of one stream when it ends.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    /// Whether its measured part began.
    pub(crate) started: bool,
    /// Length of its measured part in nanoseconds.
    pub(crate) elapsed_ns: u64,
    /// Nanoseconds of it in which the stream thought, as long as requested. Waking up late does not
    /// count.
    pub(crate) thought_ns: u64,
    /// Reads and writes of the measured part.
    pub(crate) counters: [Counters; 2],
    /// Cost of its process; zero except in the report of the last stream of the process.
    pub(crate) cost: Cost,
    /// Nanoseconds in which it was ready to run but waited for a processor.
    pub(crate) run_delay_ns: u64,
    /// Whether the kernel counts them.
    pub(crate) delay_counted: bool,
    /// Whether its `io_uring` had no registered buffers.
    pub(crate) unregistered: bool,
    /// Whether, in its measured part, all slots of its `io_uring` were ever in flight at once.
    pub(crate) full: bool,
    /// Its failure, if any.
    pub(crate) fault: Option<Fault>,
}

impl Report {
    /// An empty report.
    pub(crate) fn new() -> Self {
        Self {
            started: false,
            elapsed_ns: 0,
            thought_ns: 0,
            counters: [Counters::new(), Counters::new()],
            cost: Cost::default(),
            run_delay_ns: 0,
            delay_counted: false,
            unregistered: false,
            full: false,
            fault: None,
        }
    }

    /// Notes for how long its stream waited for a processor, if the kernel counts that.
    pub(crate) fn waited(&mut self, delay_ns: Option<u64>) {
        self.delay_counted = delay_ns.is_some();
        self.run_delay_ns = delay_ns.unwrap_or(0);
    }

    /// Writes the report to `words`, which must hold `REPORT_WORDS`.
    pub(crate) fn store(&self, words: &[AtomicU64]) {
        let fault = self.fault.unwrap_or(Fault { action: Action::Open, offset: 0, errno: 0 });
        let fixed = [
            u64::from(self.started),
            self.elapsed_ns,
            self.thought_ns,
            self.cost.user_ns,
            self.cost.system_ns,
            self.cost.storage_read_bytes,
            u64::from(self.cost.storage_counted),
            self.cost.major_faults,
            self.run_delay_ns,
            u64::from(self.delay_counted),
            u64::from(self.unregistered),
            u64::from(self.full),
            self.fault.map_or(0, |f| f.action as u64),
            fault.offset,
            fault.errno as u64,
        ];
        let counters = self.counters.iter().flat_map(|c| {
            let pairs = c.recorded().flat_map(|(ns, count)| [ns, count]);
            let sum_ns = u64::try_from(c.sum_ns).unwrap_or(u64::MAX);
            let distinct = c.recorded().count() as u64;
            let sums = [c.ios, c.bytes, sum_ns, c.least_ns, c.longest_ns, distinct];
            sums.into_iter().chain(pairs)
        });
        for (word, value) in words[1..].iter().zip(fixed.into_iter().chain(counters)) {
            word.store(value, Ordering::Relaxed);
        }
        words[0].store(1, Ordering::Release);
    }

    /// Reads a report; `None` if none was written.
    pub(crate) fn load(words: &[AtomicU64]) -> Option<Self> {
        let (first, rest) = words.split_first()?;
        if first.load(Ordering::Acquire) != 1 {
            return None;
        }
        let mut rest = rest.iter().map(|w| w.load(Ordering::Relaxed));
        let mut next = || rest.next().unwrap_or(0);
        let mut report = Self::new();
        report.started = next() != 0;
        (report.elapsed_ns, report.thought_ns) = (next(), next());
        report.cost = Cost {
            user_ns: next(),
            system_ns: next(),
            storage_read_bytes: next(),
            storage_counted: next() != 0,
            major_faults: next(),
        };
        (report.run_delay_ns, report.delay_counted) = (next(), next() != 0);
        (report.unregistered, report.full) = (next() != 0, next() != 0);
        let (action, offset, errno) = (next(), next(), next() as i32);
        report.fault = Action::from_number(action).map(|action| Fault { action, offset, errno });
        for counters in &mut report.counters {
            let sums = [next(), next(), next(), next(), next()];
            let distinct = next().min(DISTINCT_MAX as u64);
            *counters = Counters::from_parts(sums, (0..distinct).map(|_| (next(), next())));
        }
        Some(report)
    }
}

/// The doubt about a run in which streams had no registered buffers.
pub(crate) fn doubt_of_buffers<'a>(
    mut reports: impl Iterator<Item = &'a Report>,
) -> Option<Warning> {
    let message = "the kernel refused to register the io_uring buffers, so plain ones were used: raise the limit of \
                   locked memory (ulimit -l)";
    let is_doubtful = reports.any(|report| report.unregistered);
    is_doubtful.then(|| Warning::new(WarningKind::Unsupported, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::tally::LONGEST_NS;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn reports_survive_the_passage(times in proptest::collection::vec(0..2 * LONGEST_NS, 0..500)) {
            let mut report = Report::new();
            for (i, ns) in times.iter().enumerate() {
                report.counters[i % 2].add(4096, *ns);
            }
            (report.started, report.thought_ns, report.full) = (true, 4, true);
            report.cost.user_ns = 5;
            report.cost.major_faults = 6;
            (report.run_delay_ns, report.delay_counted) = (7, true);
            report.fault = Some(Fault::at(Action::Write, 77, libc::EIO));
            let words: Vec<_> = (0..REPORT_WORDS).map(|_| AtomicU64::new(0)).collect();
            prop_assert!(Report::load(&words).is_none());
            report.store(&words);
            let read = Report::load(&words).unwrap();
            prop_assert_eq!((read.run_delay_ns, read.delay_counted), (7, true));
            prop_assert_eq!((read.thought_ns, read.full), (4, true));
            prop_assert_eq!((read.started, read.cost, read.fault), (true, report.cost, report.fault));
            for (a, b) in read.counters.iter().zip(&report.counters) {
                prop_assert_eq!((a.ios, a.bytes, a.sum_ns), (b.ios, b.bytes, b.sum_ns));
                prop_assert_eq!(a.distribution(), b.distribution());
            }
        }
    }
}
