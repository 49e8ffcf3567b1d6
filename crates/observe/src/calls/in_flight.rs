//! Requests that one call submits and that complete later, kept in the order of their submission.

use ioscape_schema::{Advice, FileCall, Op, Request};
use std::collections::VecDeque;

/// Bytes of a file that a call is to move or moved, not yet a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    pub(super) file: u32,
    pub(super) request: Request,
    pub(super) is_synchronous: bool,
    pub(super) is_direct: bool,
    pub(super) advice: Advice,
}

impl Moved {
    /// Behind its last byte, where it writes to file number `file`; else 0.
    fn writes_until(&self, file: u32) -> u64 {
        let Request { op, offset, len } = self.request;
        let writes = op == Op::Write && self.file == file;
        if writes { offset.saturating_add(len.into()) } else { 0 }
    }
}

/// A request as its program submits it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Submitted {
    /// What its completion will be told by.
    pub(super) key: u64,
    /// On a file that counts; with the length that was asked for.
    pub(super) moved: Option<Moved>,
}

impl Submitted {
    /// Behind its last byte, where it writes to file number `file`; else 0.
    pub(super) fn writes_until(&self, file: u32) -> u64 {
        self.moved.map_or(0, |moved| moved.writes_until(file))
    }
}

/// A request in flight, or complete while one before it is not.
#[derive(Clone, Copy, Debug)]
struct Flying {
    key: u64,
    moved: Moved,
    process: u32,
    issued_ns: u64,
    /// When it was seen to be complete, and with how many bytes; a failed one moved none.
    ended: Option<(u64, Option<u32>)>,
}

/// Requests of one process that are in flight.
#[derive(Debug, Default)]
pub(super) struct InFlight(VecDeque<Flying>);

impl InFlight {
    /// A request of thread `process` goes out. One with the same key must have completed without our seeing it.
    pub(super) fn submit(&mut self, key: u64, moved: Moved, process: u32, issued_ns: u64) {
        self.complete(key, None, issued_ns);
        self.0.push_back(Flying { key, moved, process, issued_ns, ended: None });
    }

    /// The oldest request of this key is complete: `value` is the number of bytes or less than 0, absent where it was not seen.
    pub(super) fn complete(&mut self, key: u64, value: Option<i64>, now_ns: u64) {
        let Some(one) = self.0.iter_mut().find(|one| one.key == key && one.ended.is_none()) else {
            return;
        };
        let asked = one.moved.request.len;
        let moved = match value {
            None => Some(asked),
            Some(_) if asked == 0 => Some(0),
            Some(bytes) => u32::try_from(bytes).ok().filter(|&bytes| bytes > 0),
        };
        one.ended = Some((now_ns, moved));
    }

    /// Behind the last byte that one of them writes to file number `file`; 0 where none does.
    pub(super) fn writes_until(&self, file: u32) -> u64 {
        let flying = self.0.iter().filter(|one| one.ended.is_none());
        flying.map(|one| one.moved.writes_until(file)).max().unwrap_or(0)
    }

    /// Everything that is still in flight counts as complete: its process is gone.
    pub(super) fn end(&mut self, now_ns: u64) {
        for one in self.0.iter_mut().filter(|one| one.ended.is_none()) {
            one.ended = Some((now_ns, Some(one.moved.request.len)));
        }
    }

    /// The next row: in the order of submission, so that what follows what can be told.
    pub(super) fn next(&mut self) -> Option<FileCall> {
        while let Some((completed_ns, len)) = self.0.front()?.ended {
            let Flying { moved, process, issued_ns, .. } = self.0.pop_front()?;
            let Some(len) = len else { continue };
            return Some(FileCall {
                process,
                file: moved.file,
                request: Request { len, ..moved.request },
                is_synchronous: moved.is_synchronous,
                is_direct: moved.is_direct,
                advice: moved.advice,
                issued_ns,
                completed_ns: completed_ns.max(issued_ns),
                held_before_ns: 0,
                held_within_ns: 0,
            });
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(offset: u64) -> Moved {
        let request = Request { op: Op::Read, offset, len: 4096 };
        Moved { file: 0, request, is_synchronous: false, is_direct: false, advice: Advice::Normal }
    }

    fn rows(flying: &mut InFlight) -> Vec<(u64, u32, u64)> {
        let all = std::iter::from_fn(|| flying.next());
        all.map(|row| (row.request.offset, row.request.len, row.completed_ns)).collect()
    }

    #[test]
    fn rows_come_in_the_order_of_submission_with_what_was_moved() {
        let mut flying = InFlight::default();
        for (key, at) in [(1, 0), (2, 4096), (3, 8192), (4, 12288)] {
            flying.submit(key, moved(at), 0, 10);
        }
        flying.complete(2, Some(4096), 20);
        assert_eq!(rows(&mut flying), []);
        flying.complete(1, Some(512), 30);
        assert_eq!(rows(&mut flying), [(0, 512, 30), (4096, 4096, 20)], "a short one is short");
        flying.complete(3, Some(-5), 40);
        flying.complete(9, Some(1), 40);
        flying.end(50);
        assert_eq!(rows(&mut flying), [(12288, 4096, 50)], "a failed one moved nothing");
    }

    #[test]
    fn a_key_that_is_used_again_was_complete() {
        let mut flying = InFlight::default();
        flying.submit(7, moved(0), 0, 10);
        flying.submit(7, moved(4096), 0, 20);
        assert_eq!(rows(&mut flying), [(0, 4096, 20)]);
    }
}
