//! Who is told what a traced command does.

use ioscape_schema::FileCall;

/// Who is told what a command does, in the order of the calls' exits.
pub trait CallSink {
    /// A call that moved bytes, or waited for dirty pages.
    fn call(&mut self, call: &FileCall);
    /// Pages of file number `file` that were dirty began to be written, with nobody waiting for them.
    fn write_back_begun(&mut self, file: u32, at_ns: u64) {
        let _ = (file, at_ns);
    }
    /// File number `file` lost its bytes from `from` on: it was deleted, replaced, emptied or cut off.
    fn given_up(&mut self, file: u32, from: u64) {
        let _ = (file, from);
    }
}

impl<F: FnMut(&FileCall)> CallSink for F {
    fn call(&mut self, call: &FileCall) {
        self(call);
    }
}
