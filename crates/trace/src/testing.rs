//! Rows for tests, here and in the command.

use ioscape_schema::chance::mix;
use ioscape_schema::{Io, Op, Request};

/// Returns a request that arrives at millisecond `index` and takes half a millisecond.
pub fn io(index: u64, op: Op, offset: u64, len: u32) -> Io {
    let queued_ns = index * 1_000_000;
    let completed_ns = queued_ns + 500_000;
    Io {
        request: Request { op, offset, len },
        queued_ns,
        issued_ns: queued_ns,
        completed_ns,
        ..Io::default()
    }
}

/// Returns independent draws: 30 % reads, 60 % sequential, 8 KiB each, over 64 MiB.
pub fn model(count: u64) -> Vec<Io> {
    let mut end = 0;
    let row = |i: u64| {
        let op = if mix(i) % 10 < 3 { Op::Read } else { Op::Write };
        let follows = mix(i + (1 << 40)) % 10 < 6 && end < 64 << 20;
        let offset = if follows { end } else { mix(i + (1 << 41)) % 8192 * 8192 };
        end = offset + 8192;
        io(i, op, offset, 8192)
    };
    (0..count).map(row).collect()
}
