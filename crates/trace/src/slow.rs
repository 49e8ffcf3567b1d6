//! Slow requests alone, and what they waited for: the device or the queue, and behind whose requests.

use ioscape_schema::trace_file::{Behind, SlowRequests};
use ioscape_schema::{Io, TraceInfo};
use std::collections::BTreeMap;

/// Columns that a file of slow requests has behind those of the schema: the process whose requests were under way for longest while
/// the slow one was, how many they were, their bytes, and the time that they were under way. All are 0 where nothing was.
pub const COLUMNS: [&str; 4] = ["behind_process", "behind_requests", "behind_bytes", "behind_ns"];

/// Fewer requests are not worth looking through.
const LEAST_RECENT: usize = 64;
/// Most processes that are named.
const MOST_NAMED: usize = 8;

/// A request that has arrived and not completed.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    completed_ns: u64,
    process: u32,
    command: u32,
    bytes: u32,
}

/// What has arrived on a device and may be under way.
#[derive(Clone, Debug, Default)]
struct Recent {
    requests: Vec<UnderWay>,
    /// How many may gather before those that have completed are left out.
    most: usize,
}

impl Recent {
    fn arrive(&mut self, request: UnderWay, now_ns: u64) {
        if self.requests.len() >= self.most {
            self.requests.retain(|other| other.completed_ns > now_ns);
            self.most = LEAST_RECENT.max(2 * self.requests.len());
        }
        self.requests.push(request);
    }
}

/// What one process had under way.
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
    found: SlowRequests,
    /// Slow requests by the process that they waited behind and its command.
    behind: BTreeMap<(u32, u32), u64>,
}

impl Slow {
    /// Requests that take longer than this from arrival to completion.
    pub fn new(above_ns: u64) -> Self {
        let found = SlowRequests { above_ns, ..SlowRequests::default() };
        Self { above_ns, recent: Vec::new(), found, behind: BTreeMap::new() }
    }

    /// Keeps the slow ones of the next rows, which come in the order of arrival; what the further columns hold, row after row.
    pub fn keep(&mut self, rows: &mut Vec<Io>) -> Vec<u64> {
        let mut more = Vec::new();
        self.found.of_ios += rows.len() as u64;
        rows.retain(|io| {
            let slow = io.elapsed_ns() > self.above_ns;
            let device = usize::from(io.device);
            if device >= self.recent.len() {
                self.recent.resize_with(device + 1, Recent::default);
            }
            if slow {
                more.extend(self.explain(io));
            }
            let Io { completed_ns, process, command, .. } = *io;
            let request = UnderWay { completed_ns, process, command, bytes: io.request.len };
            self.recent[device].arrive(request, io.queued_ns);
            slow
        });
        more
    }

    fn explain(&mut self, io: &Io) -> [u64; COLUMNS.len()] {
        let mut shares: BTreeMap<u32, Share> = BTreeMap::new();
        let recent = self.recent[usize::from(io.device)].requests.iter();
        for other in recent.filter(|other| other.completed_ns > io.queued_ns) {
            let share = shares.entry(other.process).or_default();
            share.command = other.command;
            share.requests += 1;
            share.bytes += u64::from(other.bytes);
            share.ns += other.completed_ns.min(io.completed_ns) - io.queued_ns;
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

    /// What was found; `info` names the commands.
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
        // The first is slow by itself; the third waits for both others in the queue; the last is fast, on another device.
        let mut rows = vec![
            io(1, [0, 0, 60]),
            io(2, [5, 10, 40]),
            io(3, [10, 60, 80]),
            Io { device: 1, ..io(4, [11, 11, 12]) },
        ];
        let more = slow.keep(&mut rows);
        assert_eq!(rows.iter().map(|io| io.process).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(more, [0, 0, 0, 0, 1, 1, 512, 50]);
        // The next rows know of those before.
        let mut next = vec![io(5, [70, 75, 200])];
        assert_eq!(slow.keep(&mut next), [3, 1, 512, 10]);
        let found = slow.finish(&TraceInfo::default());
        assert_eq!((found.ios, found.of_ios, found.alone, found.mostly_queued), (3, 5, 1, 1));
        assert_eq!(
            found.behind.iter().map(|one| (one.process, one.ios)).collect::<Vec<_>>(),
            [(1, 1), (3, 1)]
        );
    }
}
