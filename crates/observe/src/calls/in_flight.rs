//! Requests that one call submits and that complete later, kept in the order of their submission.

use ioscape_schema::{FileCall, Op, Request};
use std::collections::VecDeque;

/// Behind the last byte of a request, where it writes to file number `file`; else 0.
fn writes_until(call: &FileCall, file: u32) -> u64 {
    let Request { op, offset, len } = call.request;
    let writes = op == Op::Write && call.file == file;
    if writes { offset.saturating_add(len.into()) } else { 0 }
}

/// A request as its program submits it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Submitted {
    /// What its completion will be told by.
    pub(super) key: u64,
    /// On a file that counts; with the length that was asked for, and neither its thread nor its times yet.
    pub(super) moved: Option<FileCall>,
}

impl Submitted {
    /// Behind its last byte, where it writes to file number `file`; else 0.
    pub(super) fn writes_until(&self, file: u32) -> u64 {
        self.moved.map_or(0, |moved| writes_until(&moved, file))
    }
}

/// A request in flight, or complete while one before it is not.
#[derive(Clone, Copy, Debug)]
struct Flying {
    key: u64,
    /// With the length that was asked for, and not yet the end.
    call: FileCall,
    /// When it was seen to be complete, and with how many bytes; a failed one moved none.
    ended: Option<(u64, Option<u32>)>,
}

/// Requests of one process that are in flight.
#[derive(Debug, Default)]
pub(super) struct InFlight(VecDeque<Flying>);

impl InFlight {
    /// A request goes out. One with the same key must have completed without our seeing it.
    pub(super) fn submit(&mut self, key: u64, call: FileCall) {
        self.complete(key, None, call.issued_ns);
        self.0.push_back(Flying { key, call, ended: None });
    }

    /// The oldest request of this key is complete: `value` is the number of bytes or less than 0, absent where it was not seen.
    pub(super) fn complete(&mut self, key: u64, value: Option<i64>, now_ns: u64) {
        let Some(one) = self.0.iter_mut().find(|one| one.key == key && one.ended.is_none()) else {
            return;
        };
        let asked = one.call.request.len;
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
        flying.map(|one| writes_until(&one.call, file)).max().unwrap_or(0)
    }

    /// Everything that is still in flight counts as complete: its process is gone.
    pub(super) fn end(&mut self, now_ns: u64) {
        for one in self.0.iter_mut().filter(|one| one.ended.is_none()) {
            one.ended = Some((now_ns, Some(one.call.request.len)));
        }
    }

    /// The next row: in the order of submission, so that what follows what can be told.
    pub(super) fn next(&mut self) -> Option<FileCall> {
        while let Some((completed_ns, len)) = self.0.front()?.ended {
            let call = self.0.pop_front()?.call;
            let Some(len) = len else { continue };
            let request = Request { len, ..call.request };
            let completed_ns = completed_ns.max(call.issued_ns);
            return Some(FileCall { request, completed_ns, ..call });
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(offset: u64, issued_ns: u64) -> FileCall {
        let request = Request { op: Op::Read, offset, len: 4096 };
        FileCall { request, issued_ns, ..FileCall::default() }
    }

    fn rows(flying: &mut InFlight) -> Vec<(u64, u32, u64)> {
        let all = std::iter::from_fn(|| flying.next());
        all.map(|row| (row.request.offset, row.request.len, row.completed_ns)).collect()
    }

    #[test]
    fn rows_come_in_the_order_of_submission_with_what_was_moved() {
        let mut flying = InFlight::default();
        for (key, at) in [(1, 0), (2, 4096), (3, 8192), (4, 12288)] {
            flying.submit(key, asked(at, 10));
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
        flying.submit(7, asked(0, 10));
        flying.submit(7, asked(4096, 20));
        assert_eq!(rows(&mut flying), [(0, 4096, 20)]);
    }
}
