//! Requests that one call submits and that complete later, kept in the order of submission.

use ioscape_schema::{FileCall, Op, Request};
use std::collections::VecDeque;

/// The byte after the last one of a request that writes to file number `file`; otherwise, 0.
fn writes_until(call: &FileCall, file: u32) -> u64 {
    let Request { op, offset, len } = call.request;
    let writes = op == Op::Write && call.file == file;
    if writes { offset.saturating_add(len.into()) } else { 0 }
}

/// A request as its program submits it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Submitted {
    /// The key under which its completion will be reported.
    pub(super) key: u64,
    /// The row of a request on a counted file, with the requested length, but without its thread
    /// and times.
    pub(super) moved: Option<FileCall>,
}

impl Submitted {
    /// The byte after its last one, if it writes to file number `file`; otherwise, 0.
    pub(super) fn writes_until(&self, file: u32) -> u64 {
        self.moved.map_or(0, |moved| writes_until(&moved, file))
    }
}

/// A request in flight, or one that is complete but follows one that is not.
#[derive(Clone, Copy, Debug)]
struct Flying {
    key: u64,
    /// The row with the requested length, without its end.
    call: FileCall,
    /// When its completion was seen, and how many bytes it moved; none if it failed.
    ended: Option<(u64, Option<u32>)>,
}

/// The requests of one process in flight.
#[derive(Debug, Default)]
pub(super) struct InFlight(VecDeque<Flying>);

impl InFlight {
    /// Adds a request. An earlier one with the same key must have completed unseen.
    pub(super) fn submit(&mut self, key: u64, call: FileCall) {
        self.complete(key, None, call.issued_ns);
        self.0.push_back(Flying { key, call, ended: None });
    }

    /// Completes the oldest request with this key. `value` is the number of bytes, or negative for
    /// an error; absent if it was not seen.
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

    /// The byte after the last one that any of them writes to file number `file`; 0 if none does.
    pub(super) fn writes_until(&self, file: u32) -> u64 {
        let flying = self.0.iter().filter(|one| one.ended.is_none());
        flying.map(|one| writes_until(&one.call, file)).max().unwrap_or(0)
    }

    /// Completes everything still in flight: its process is gone.
    pub(super) fn end(&mut self, now_ns: u64) {
        for one in self.0.iter_mut().filter(|one| one.ended.is_none()) {
            one.ended = Some((now_ns, Some(one.call.request.len)));
        }
    }

    /// The next complete row, in the order of submission, as soon as all before it are complete.
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
