//! Characterizing requests: the five parameters of the model, measured back from what a workload issued.

mod application;
mod distance;
mod doubts;
mod fit;
mod phases;
mod share;
mod touched;

use ioscape_schema::{Op, Request, Workload};
use std::collections::BTreeMap;
use touched::Touched;

pub use application::{Application, Portrait};
pub use doubts::{Unseen, doubts};
pub use fit::fit;

/// The five parameters of a sequence of requests (self-scaling paper, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Characterized {
    /// Number of requests.
    pub requests: u64,
    /// Sum of their lengths.
    pub bytes: u64,
    /// Distinct bytes touched, counted in whole granules.
    pub unique_bytes: u64,
    /// Mean request size in bytes; 0 without requests.
    pub size_mean: f64,
    /// Coefficient of variation of the sizes: standard deviation over mean; 0 without requests.
    pub size_cv: f64,
    /// Fraction of requests that are reads; 0 without requests.
    pub read_frac: f64,
    /// Fraction of requests that follow the same process's previous request, among those that have one; else 0.
    pub seq_frac: f64,
    /// Number of processes that issued requests.
    pub process_num: u32,
}

/// What is kept of one process's thread of addresses.
#[derive(Clone, Copy, Debug)]
struct Thread {
    first_offset: u64,
    first_len: u64,
    last_end: u64,
}

/// Measures the five parameters of requests in one pass; parts can be merged.
///
/// Memory: one bit per granule between the touched ones nearby, plus a few words per process.
#[derive(Clone, Debug)]
pub struct Characterizer {
    set_bytes: u64,
    touched: Touched,
    threads: BTreeMap<u32, Thread>,
    requests: u64,
    reads: u64,
    followers: u64,
    bytes: u128,
    square_bytes: u128,
}

impl Characterizer {
    /// For requests to a set of `set_bytes`, whose distinct bytes are counted in granules of `granule_bytes`.
    ///
    /// As in [`crate::stream`] the set is a ring for sequential runs: a request at 0 follows one after whose end it
    /// would not fit into the set. For requests that know no ring, such as a trace's, give `u64::MAX`. The count of
    /// distinct bytes is exact when offsets and sizes are multiples of the granule, else an upper bound.
    pub fn new(set_bytes: u64, granule_bytes: u64) -> Self {
        Self {
            set_bytes,
            touched: Touched::new(granule_bytes),
            threads: BTreeMap::new(),
            requests: 0,
            reads: 0,
            followers: 0,
            bytes: 0,
            square_bytes: 0,
        }
    }

    /// For the requests of `workload`'s streams: its set, in granules of its alignment.
    pub fn for_workload(workload: &Workload) -> Self {
        Self::new(crate::set_bytes(workload), workload.align())
    }

    /// Takes in the next request of process number `process`.
    pub fn record(&mut self, process: u32, request: &Request) {
        let len = u64::from(request.len);
        let last_end = request.offset.saturating_add(len);
        self.requests += 1;
        self.reads += u64::from(request.op == Op::Read);
        self.bytes += u128::from(len);
        self.square_bytes += u128::from(len) * u128::from(len);
        match self.threads.get_mut(&process) {
            Some(thread) => {
                let follows = follows(self.set_bytes, thread.last_end, request.offset, len);
                self.followers += u64::from(follows);
                thread.last_end = last_end;
            }
            None => {
                let thread = Thread { first_offset: request.offset, first_len: len, last_end };
                self.threads.insert(process, thread);
            }
        }
        self.touched.touch(request.offset, len);
    }

    /// Adds what `later` saw, as if its requests had been recorded here, in order, after those already recorded.
    ///
    /// Both must have been made for the same set and granule.
    pub fn merge(&mut self, later: Self) {
        self.requests += later.requests;
        self.reads += later.reads;
        self.followers += later.followers;
        self.bytes += later.bytes;
        self.square_bytes += later.square_bytes;
        for (process, thread) in later.threads {
            match self.threads.get_mut(&process) {
                Some(earlier) => {
                    let (offset, len) = (thread.first_offset, thread.first_len);
                    let follows = follows(self.set_bytes, earlier.last_end, offset, len);
                    self.followers += u64::from(follows);
                    earlier.last_end = thread.last_end;
                }
                None => {
                    self.threads.insert(process, thread);
                }
            }
        }
        self.touched.merge(later.touched);
    }

    /// The five parameters of all that was recorded.
    pub fn finish(&self) -> Characterized {
        let share = |part: f64, whole: u64| if whole == 0 { 0.0 } else { part / whole as f64 };
        let processes = self.threads.len() as u64;
        let size_mean = share(self.bytes as f64, self.requests);
        // n * sum of squares - square of sum is exact in integers; as floats it would cancel for equal sizes.
        let spread = (self.square_bytes.saturating_mul(u128::from(self.requests)))
            .saturating_sub(self.bytes.saturating_mul(self.bytes));
        let deviation = share((spread as f64).sqrt(), self.requests);
        Characterized {
            requests: self.requests,
            bytes: u64::try_from(self.bytes).unwrap_or(u64::MAX),
            unique_bytes: self.touched.bytes(),
            size_mean,
            size_cv: if size_mean > 0.0 { deviation / size_mean } else { 0.0 },
            read_frac: share(self.reads as f64, self.requests),
            seq_frac: share(self.followers as f64, self.requests - processes),
            process_num: processes as u32,
        }
    }
}

/// Whether a request follows one that ended at `last_end`, on the ring of `set_bytes`.
fn follows(set_bytes: u64, last_end: u64, offset: u64, len: u64) -> bool {
    offset == last_end || (offset == 0 && last_end.saturating_add(len) > set_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn request(op: Op, offset: u64, len: u32) -> Request {
        Request { op, offset, len }
    }

    #[test]
    fn a_known_sequence_has_known_parameters() {
        let mut seen = Characterizer::new(1 << 20, 512);
        seen.record(0, &request(Op::Read, 0, 1024));
        seen.record(1, &request(Op::Write, 1024, 1024));
        seen.record(0, &request(Op::Write, 1024, 3072));
        seen.record(1, &request(Op::Read, 8192, 1024));
        seen.record(0, &request(Op::Read, 4096, 1024));
        let found = seen.finish();
        assert_eq!(found.unique_bytes, 4096 + 1024 + 1024);
        assert_eq!((found.requests, found.bytes, found.process_num), (5, 7168, 2));
        assert_eq!(found.read_frac, 0.6);
        assert_eq!(found.seq_frac, 2.0 / 3.0);
        assert_eq!(found.size_mean, 1433.6);
        assert!((found.size_cv - 0.8 * 1024.0 / 1433.6).abs() < 1e-12);
    }

    #[test]
    fn a_run_goes_on_at_the_beginning_only_when_the_end_is_too_near() {
        let mut seen = Characterizer::new(10_000, 1);
        seen.record(0, &request(Op::Read, 8_000, 1_000));
        seen.record(0, &request(Op::Read, 0, 1_001));
        assert_eq!(seen.finish().seq_frac, 1.0);
        seen.record(0, &request(Op::Read, 8_000, 1_000));
        seen.record(0, &request(Op::Read, 0, 1_000));
        assert_eq!(seen.finish().seq_frac, 1.0 / 3.0);
    }

    #[test]
    fn nothing_and_the_extremes_are_characterized() {
        assert_eq!(Characterizer::new(0, 0).finish(), Characterized::default());
        let mut seen = Characterizer::new(u64::MAX, 4096);
        seen.record(u32::MAX, &request(Op::Write, u64::MAX - 5, u32::MAX));
        seen.record(u32::MAX, &request(Op::Write, 7, 0));
        assert_eq!(seen.finish().unique_bytes, 4096);
        let mut seen = Characterizer::new(u64::MAX, 1);
        seen.record(0, &request(Op::Read, u64::MAX, 2));
        assert_eq!(seen.finish().unique_bytes, 1);
    }

    fn requests() -> impl Strategy<Value = Vec<(u32, Request)>> {
        let one = (0u32..3, any::<bool>(), 0u64..40_000, 0u32..20_000).prop_map(
            |(process, read, offset, len)| {
                (process, request(if read { Op::Read } else { Op::Write }, offset, len))
            },
        );
        prop::collection::vec(one, 0..40)
    }

    proptest! {
        #[test]
        fn distinct_bytes_are_counted(requests in requests()) {
            let mut seen = Characterizer::new(60_000, 1);
            let mut bytes = HashSet::new();
            for (process, request) in &requests {
                seen.record(*process, request);
                bytes.extend(request.offset..request.offset + u64::from(request.len));
            }
            prop_assert_eq!(seen.finish().unique_bytes, bytes.len() as u64);
        }

        #[test]
        fn parts_merge_to_the_whole(requests in requests(), cut in 0usize..40) {
            let (early, late) = requests.split_at(cut.min(requests.len()));
            let characterize = |part: &[(u32, Request)]| {
                let mut seen = Characterizer::new(30_000, 512);
                part.iter().for_each(|(process, request)| seen.record(*process, request));
                seen
            };
            let mut merged = characterize(early);
            merged.merge(characterize(late));
            prop_assert_eq!(merged.finish(), characterize(&requests).finish());
        }
    }
}
