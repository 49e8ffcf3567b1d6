//! The receiver of what a traced command does.

use ioscape_schema::FileCall;

/// Receives what a command does, in the order of the calls' exits.
pub trait CallSink {
    /// Takes a call that moved bytes, or waited for dirty pages.
    fn call(&mut self, call: &FileCall);
    /// Notes that write-back of dirty pages of file number `file` began, with nobody waiting for
    /// it.
    fn write_back_begun(&mut self, file: u32, at_ns: u64) {
        let _ = (file, at_ns);
    }
    /// Notes that file number `file` lost its bytes from `from` on: it was deleted, replaced,
    /// emptied or truncated.
    fn given_up(&mut self, file: u32, from: u64) {
        let _ = (file, from);
    }
}

impl<F: FnMut(&FileCall)> CallSink for F {
    fn call(&mut self, call: &FileCall) {
        self(call);
    }
}
