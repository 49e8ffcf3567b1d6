//! How many requests and bytes, by operation: what each request is counted in.

use ioscape_schema::trace_summary::Load;
use ioscape_schema::{Io, Op};
use serde::{Deserialize, Serialize};

/// Requests and bytes; where a trace tells no operations its requests are counted as reads until the result forgets that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Requests.
    pub ios: u64,
    /// Those that read.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
}

impl Counted {
    /// Counts a request.
    #[inline]
    pub fn count(&mut self, io: &Io) {
        // No branch on the operation: nobody can guess it.
        let bytes = if io.moves_data() { u64::from(io.request.len) } else { 0 };
        let read = u64::from(io.request.op == Op::Read);
        self.ios += 1;
        self.reads += read;
        self.read_bytes = self.read_bytes.saturating_add(bytes * read);
        self.write_bytes = self.write_bytes.saturating_add(bytes * (1 - read));
    }

    /// Counts requests.
    #[inline]
    pub fn count_all(&mut self, ios: &[Io]) {
        // By themselves, so that the sums stay in the processor's registers.
        let mut these = Self::default();
        ios.iter().for_each(|io| these.count(io));
        self.add(&these);
    }

    /// Adds others.
    pub fn add(&mut self, other: &Self) {
        self.ios += other.ios;
        self.reads += other.reads;
        self.read_bytes = self.read_bytes.saturating_add(other.read_bytes);
        self.write_bytes = self.write_bytes.saturating_add(other.write_bytes);
    }

    /// As results keep it.
    pub fn load(&self) -> Load {
        Load {
            ios: self.ios,
            bytes: None,
            reads: Some(self.reads),
            read_bytes: Some(self.read_bytes),
            write_bytes: Some(self.write_bytes),
        }
    }
}
