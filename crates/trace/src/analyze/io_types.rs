//! What is read and written, for what does somebody wait, and what bypasses the file system? (Table
//! 6, Figure 7)

use super::accumulate::Accumulate;
use super::log_histogram::LogHistogram;
use ioscape_schema::trace_summary::{SizesOfType, TypeShare};
use ioscape_schema::{Io, IoFlags, IoType, Op};
use serde::{Deserialize, Serialize};

const TYPES: usize = IoType::ALL.len();

/// Requests by type and operation, with their flags and their sizes (Figure 11).
///
/// Synchronous and asynchronous are the source's flags; as in Figure 7, a request may have neither.
/// Table 6 counts a request as synchronous unless it is flagged asynchronous.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct IoTypes {
    seen: [[Seen; 2]; TYPES],
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Seen {
    sync: u64,
    asynchronous: u64,
    raw: u64,
    sizes: LogHistogram,
}

impl Accumulate for IoTypes {
    #[inline]
    fn update(&mut self, io: &Io) {
        let seen = &mut self.seen[io.io_type as usize][usize::from(io.request.op == Op::Write)];
        seen.sync += u64::from(io.flags.contains(IoFlags::SYNC));
        seen.asynchronous += u64::from(io.flags.contains(IoFlags::ASYNC));
        seen.raw += u64::from(io.flags.contains(IoFlags::RAW));
        seen.sizes.add(if io.moves_data() { u64::from(io.request.len) } else { 0 });
    }

    fn merge(&mut self, later: Self) {
        for (mine, theirs) in self.seen.iter_mut().flatten().zip(later.seen.iter().flatten()) {
            mine.sync += theirs.sync;
            mine.asynchronous += theirs.asynchronous;
            mine.raw += theirs.raw;
            mine.sizes.merge(&theirs.sizes);
        }
    }
}

impl IoTypes {
    fn present(&self) -> impl Iterator<Item = (IoType, Op, &Seen)> {
        IoType::ALL.into_iter().zip(&self.seen).flat_map(|(io_type, ops)| {
            [Op::Read, Op::Write]
                .into_iter()
                .zip(ops)
                .filter(|(_, seen)| seen.sizes.count() > 0)
                .map(move |(op, seen)| (io_type, op, seen))
        })
    }

    /// The cells of Table 6 that are not empty.
    pub fn types(&self) -> Vec<TypeShare> {
        let share = |(io_type, op, seen): (IoType, Op, &Seen)| TypeShare {
            io_type,
            op,
            ios: seen.sizes.count(),
            bytes: u64::try_from(seen.sizes.sum()).unwrap_or(u64::MAX),
            sync: Some(seen.sync),
            asynchronous: Some(seen.asynchronous),
            raw: Some(seen.raw),
        };
        self.present().map(share).collect()
    }

    /// Sizes by type and operation; requests that move no data have size 0.
    pub fn sizes(&self) -> Vec<SizesOfType> {
        let sizes = |(io_type, op, seen): (IoType, Op, &Seen)| SizesOfType {
            io_type,
            op: Some(op),
            bytes: seen.sizes.distribution(),
        };
        self.present().map(sizes).collect()
    }
}
