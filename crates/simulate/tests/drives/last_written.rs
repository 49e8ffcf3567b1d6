//! A write cache that keeps the most recently written data, as a reference for the paper's figures
//! on small caches.

use ioscape_schema::{Io, Op, Request};
use std::collections::BTreeMap;

/// Bytes per grain, the unit in which writes are counted: the smallest fragment of the traced file
/// systems.
const GRAIN: u64 = 1024;

/// The share of written bytes that never leave a cache of `bytes` per device because they are
/// overwritten there. The cache keeps the most recent writes and evicts the oldest only for room.
pub fn overwritten_in_lru(rows: &[Io], bytes: u64) -> f64 {
    let mut caches: BTreeMap<u16, Lru> = BTreeMap::new();
    let (mut written, mut absorbed) = (0u64, 0u64);
    for io in rows.iter().filter(|io| io.request.op == Op::Write && io.moves_data()) {
        let cache = caches.entry(io.device).or_default();
        for grain in io.request.offset / GRAIN..io.end().div_ceil(GRAIN) {
            written += 1;
            absorbed += u64::from(cache.write(grain, bytes / GRAIN));
        }
    }
    absorbed as f64 / written.max(1) as f64
}

/// Grains in the order of their last write.
#[derive(Debug, Default)]
struct Lru {
    when: BTreeMap<u64, u64>,
    order: BTreeMap<u64, u64>,
    clock: u64,
}

impl Lru {
    /// Writes a grain; returns whether it was in the cache.
    fn write(&mut self, grain: u64, room: u64) -> bool {
        self.clock += 1;
        let before = self.when.insert(grain, self.clock);
        if let Some(before) = before {
            self.order.remove(&before);
        }
        self.order.insert(self.clock, grain);
        if self.when.len() as u64 > room
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.when.remove(&oldest);
        }
        before.is_some()
    }
}

#[test]
fn a_small_cache_keeps_what_was_written_last() {
    let write = |grain| {
        let request = Request { op: Op::Write, offset: grain * GRAIN, len: GRAIN as u32 };
        Io { request, ..Io::default() }
    };
    let rows = [0, 0, 1, 2, 0].map(write);
    assert_eq!(overwritten_in_lru(&rows, 2 << 10), 0.2);
    assert_eq!(overwritten_in_lru(&rows, 3 << 10), 0.4);
}
