//! Finds slow requests and what they waited for: the device or the queue, and whose requests they
//! waited behind.

use ioscape_schema::trace_file::{Behind, SlowRequests};
use ioscape_schema::{Io, TraceInfo};
use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};

/// The columns that a file of slow requests has after those of the schema.
///
/// They look at all requests that were under way when the slow one arrived, or that came later and
/// overtook it. They name the process whose requests were under way for longest during the slow
/// one, and give the number of its requests, their bytes, and the time that they were under way.
/// All are 0 if there were no such requests. Only the latest several thousand requests of each
/// device are examined, so that a request that hangs for minutes costs little memory and time. The
/// counts are then lower bounds.
pub const COLUMNS: [&str; 4] = ["behind_process", "behind_requests", "behind_bytes", "behind_ns"];

/// Below this many requests, pruning is not worth a pass.
const LEAST_RECENT: usize = 64;
/// The most requests of a device that are examined, and the most slow requests that wait for later
/// ones to overtake them.
const MOST_KEPT: usize = 8_192;
/// The most processes that are named.
const MOST_NAMED: usize = 8;

/// A request of any duration, slow or not.
#[derive(Clone, Copy, Debug)]
struct Other {
    queued_ns: u64,
    completed_ns: u64,
    process: u32,
    command: u32,
    bytes: u32,
    /// Its number among all requests, which tells apart requests that arrive at the same time.
    number: u64,
}

/// Requests of a device that may have been under way together with a slow request still to be
/// explained.
#[derive(Clone, Debug, Default)]
struct Recent {
    requests: Vec<Other>,
    /// How many may accumulate before those no longer needed are removed.
    most: usize,
}

impl Recent {
    /// Takes in a request. Requests that completed by `asked_ns` are no longer needed.
    fn arrive(&mut self, request: Other, asked_ns: u64) {
        if self.requests.len() >= self.most {
            self.requests.retain(|other| other.completed_ns > asked_ns);
            let surplus = self.requests.len().saturating_sub(MOST_KEPT / 2);
            self.requests.drain(..surplus);
            self.most = LEAST_RECENT.max(2 * self.requests.len());
        }
        self.requests.push(request);
    }
}

/// What one process had under way during a slow request.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    command: u32,
    requests: u64,
    bytes: u64,
    ns: u64,
}

/// Finds slow requests; see [`COLUMNS`].
#[derive(Clone, Debug)]
pub struct Slow {
    above_ns: u64,
    /// By device.
    recent: Vec<Recent>,
    /// Slow requests that later ones may still overtake, in the order of arrival, with their
    /// numbers.
    waiting: VecDeque<(Io, u64)>,
    found: SlowRequests,
    /// Number of slow requests by the process that they waited behind and its command.
    behind: BTreeMap<(u32, u32), u64>,
}

impl Slow {
    /// Looks for requests that take longer than `above_ns` from arrival to completion.
    pub fn new(above_ns: u64) -> Self {
        let found = SlowRequests { above_ns, ..SlowRequests::default() };
        let (recent, waiting, behind) = Default::default();
        Self { above_ns, recent, waiting, found, behind }
    }

    /// Takes in the next rows, in the order of arrival, and replaces them by the slow ones that can
    /// now be explained, in the same order. Returns their values in [`COLUMNS`], row by row.
    pub fn keep(&mut self, rows: &mut Vec<Io>) -> Vec<u64> {
        let (mut more, mut ready) = (Vec::new(), Vec::new());
        for io in rows.drain(..) {
            self.explain_until(io.queued_ns, &mut ready, &mut more);
            let number = self.found.of_ios;
            self.found.of_ios += 1;
            let device = usize::from(io.device);
            if device >= self.recent.len() {
                self.recent.resize_with(device + 1, Recent::default);
            }
            if io.elapsed_ns() > self.above_ns {
                self.waiting.push_back((io, number));
            }
            let Io { queued_ns, completed_ns, process, command, .. } = io;
            let bytes = io.request.len;
            let request = Other { queued_ns, completed_ns, process, command, bytes, number };
            let asked_ns = self.waiting.front().map_or(queued_ns, |(first, _)| first.queued_ns);
            self.recent[device].arrive(request, asked_ns);
        }
        *rows = ready;
        more
    }

    /// Puts the remaining slow requests into `rows` after all rows were taken in. Returns their
    /// values in [`COLUMNS`], row by row.
    pub fn rest(&mut self, rows: &mut Vec<Io>) -> Vec<u64> {
        let (mut more, mut ready) = (Vec::new(), Vec::new());
        self.explain_until(u64::MAX, &mut ready, &mut more);
        *rows = ready;
        more
    }

    /// Explains the slow requests that no arrival from `now_ns` on can overtake, and the earliest
    /// ones if too many wait.
    fn explain_until(&mut self, now_ns: u64, ready: &mut Vec<Io>, more: &mut Vec<u64>) {
        while let Some(&(io, number)) = self.waiting.front()
            && (io.completed_ns <= now_ns || self.waiting.len() > MOST_KEPT)
        {
            self.waiting.pop_front();
            more.extend(self.explain(&io, number));
            ready.push(io);
        }
    }

    /// Returns whose requests were under way during `io`: earlier ones, and later ones that
    /// overtook it.
    fn explain(&mut self, io: &Io, number: u64) -> [u64; COLUMNS.len()] {
        let mut shares: BTreeMap<u32, Share> = BTreeMap::new();
        let recent = self.recent[usize::from(io.device)].requests.iter();
        let kept_waiting = |other: &&Other| match other.number.cmp(&number) {
            Ordering::Less => other.completed_ns > io.queued_ns,
            Ordering::Equal => false,
            Ordering::Greater => other.completed_ns < io.completed_ns,
        };
        for other in recent.filter(kept_waiting) {
            let share = shares.entry(other.process).or_default();
            share.command = other.command;
            share.requests += 1;
            share.bytes += u64::from(other.bytes);
            let until_ns = other.completed_ns.min(io.completed_ns);
            share.ns += until_ns.saturating_sub(other.queued_ns.max(io.queued_ns));
        }
        self.found.ios += 1;
        let in_queue = io.issued_ns.saturating_sub(io.queued_ns);
        self.found.mostly_queued += u64::from(in_queue > io.physical_ns());
        let longest = shares.into_iter().max_by_key(|(_, share)| share.ns);
        let Some((process, share)) = longest else {
            self.found.alone += 1;
            return [0; COLUMNS.len()];
        };
        *self.behind.entry((process, share.command)).or_default() += 1;
        [u64::from(process), share.requests, share.bytes, share.ns]
    }

    /// Returns what was found; `info` names the commands.
    pub fn finish(&self, info: &TraceInfo) -> SlowRequests {
        let behind = self.behind.iter().map(|(&(process, command), &ios)| {
            let command = info.commands.get(command as usize).cloned().unwrap_or_default();
            Behind { process, command, ios }
        });
        let mut behind: Vec<_> = behind.collect();
        behind.sort_by_key(|one| std::cmp::Reverse(one.ios));
        behind.truncate(MOST_NAMED);
        SlowRequests { behind, ..self.found.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Request;

    fn io(process: u32, [queued_ns, issued_ns, completed_ns]: [u64; 3]) -> Io {
        let request = Request { len: 512, ..Request::default() };
        Io { request, process, queued_ns, issued_ns, completed_ns, ..Io::default() }
    }

    #[test]
    fn a_slow_request_is_told_behind_whose_it_waited() {
        let mut slow = Slow::new(50);
        // The second overtakes the first. The third waits for both in the queue. The last is fast
        // and on another device.
        let mut rows = vec![
            io(1, [0, 0, 60]),
            io(2, [5, 10, 40]),
            io(3, [10, 60, 80]),
            Io { device: 1, ..io(4, [11, 11, 12]) },
        ];
        let more = slow.keep(&mut rows);
        assert!(rows.is_empty() && more.is_empty(), "others may still overtake them");
        // The next batch still knows the rows before it.
        let mut next = vec![io(5, [70, 75, 200])];
        let more = slow.keep(&mut next);
        assert_eq!((next.len(), next[0].process, more), (1, 1, vec![2, 1, 512, 35]));
        let more = slow.rest(&mut next);
        assert_eq!(next.iter().map(|io| io.process).collect::<Vec<_>>(), [3, 5]);
        assert_eq!(more, [1, 1, 512, 50, 3, 1, 512, 10]);
        let found = slow.finish(&TraceInfo::default());
        assert_eq!((found.ios, found.of_ios, found.alone, found.mostly_queued), (3, 5, 0, 1));
        assert_eq!(
            found.behind.iter().map(|one| (one.process, one.ios)).collect::<Vec<_>>(),
            [(1, 1), (2, 1), (3, 1)]
        );
    }

    #[test]
    fn a_request_that_hangs_keeps_little_in_memory() {
        let mut slow = Slow::new(50);
        let (hour_ns, count) = (3_600_000_000_000, 40_000);
        let mut explained = 0;
        let mut rows = vec![io(1, [0, 0, hour_ns])];
        for begin in (0..count).step_by(1000) {
            // All of them are slow and overtake the first.
            rows.extend((begin..begin + 1000).map(|n| io(2, [n, n, n + 100])));
            slow.keep(&mut rows);
            explained += rows.len();
            rows.clear();
            assert!(slow.recent[0].requests.len() <= MOST_KEPT && slow.waiting.len() <= MOST_KEPT);
        }
        assert!(explained > 20_000, "{explained}");
        slow.rest(&mut rows);
        assert_eq!(explained + rows.len(), count as usize + 1);
    }

    #[test]
    fn a_write_that_later_reads_overtake_waited_behind_them() {
        let mut slow = Slow::new(50);
        let reads = (0..9u64).map(|n| io(2, [5 + 10 * n, 6 + 10 * n, 14 + 10 * n]));
        // The last read completes after the write, so it did not overtake it.
        let late = io(3, [90, 91, 300]);
        let mut rows: Vec<Io> = [io(1, [0, 95, 100])].into_iter().chain(reads).collect();
        rows.insert(10, late);
        let more = slow.keep(&mut rows);
        assert_eq!((rows.len(), more.len()), (0, 0));
        let mut next = vec![Io { device: 1, ..io(4, [100, 100, 101]) }];
        let more = slow.keep(&mut next);
        assert_eq!((next.len(), more), (1, vec![2, 9, 9 * 512, 9 * 9]));
        assert_eq!(slow.rest(&mut next).len(), COLUMNS.len());
        assert_eq!(slow.finish(&TraceInfo::default()).alone, 0);
    }
}
