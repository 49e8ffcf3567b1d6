//! Number of requests and bytes, by operation.

use ioscape_schema::trace_summary::Load;
use ioscape_schema::{Io, Op};
use serde::{Deserialize, Serialize};

/// Requests and bytes. If a trace does not record operations, its requests count as reads, and the
/// result discards the distinction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Requests.
    pub ios: u64,
    /// Read requests.
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
        // No branch on the operation, which cannot be predicted.
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
        // Counted separately, so that the sums stay in the processor's registers.
        let mut these = Self::default();
        ios.iter().for_each(|io| these.count(io));
        self.add(&these);
    }

    /// Adds another count.
    pub fn add(&mut self, other: &Self) {
        self.ios += other.ios;
        self.reads += other.reads;
        self.read_bytes = self.read_bytes.saturating_add(other.read_bytes);
        self.write_bytes = self.write_bytes.saturating_add(other.write_bytes);
    }

    /// The counts as results store them.
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
