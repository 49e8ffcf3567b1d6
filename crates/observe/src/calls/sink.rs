//! The receiver of what a traced command does.

use ioscape_schema::FileCall;
use std::ops::Range;

/// Receives what a command does, in the order of the calls' exits.
pub trait CallSink {
    /// Takes a call that moved bytes, or waited for dirty pages.
    fn call(&mut self, call: &FileCall);
    /// Notes that write-back of dirty pages began, other than by a call that waits for those of one
    /// file: of file number `file`, or of all files (`sync`).
    fn write_back_begun(&mut self, file: Option<u32>, at_ns: u64) {
        let _ = (file, at_ns);
    }
    /// Notes that file number `file` lost its bytes from `from` on: it was deleted, replaced,
    /// emptied or truncated.
    fn given_up(&mut self, file: u32, from: u64) {
        let _ = (file, from);
    }
    /// Notes that the file cache was told to drop bytes of file number `file`
    /// (`POSIX_FADV_DONTNEED`), after it began to write back those that are dirty.
    fn dropped(&mut self, file: u32, bytes: Range<u64>) {
        let _ = (file, bytes);
    }
}

impl<F: FnMut(&FileCall)> CallSink for F {
    fn call(&mut self, call: &FileCall) {
        self(call);
    }
}
