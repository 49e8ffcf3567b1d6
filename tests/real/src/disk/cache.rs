//! The device cache of the simulated disk: lines of 64 KiB, evicted in LRU order.

use lru::LruCache;

/// Size of a line in bytes.
const LINE_BYTES: u64 = 64 << 10;

/// The set of cached lines.
pub struct DeviceCache {
    lines: LruCache<u64, ()>,
}

impl DeviceCache {
    /// Creates an empty cache.
    pub fn new() -> Self {
        Self { lines: LruCache::unbounded() }
    }

    /// Puts the lines of a request into a cache of `capacity_bytes`; returns whether all of them
    /// were there before.
    pub fn touch(&mut self, offset: u64, length: u64, capacity_bytes: u64) -> bool {
        let capacity = (capacity_bytes / LINE_BYTES) as usize;
        let mut all = length > 0 && capacity > 0;
        if length > 0 {
            for line in offset / LINE_BYTES..=(offset + length - 1) / LINE_BYTES {
                all &= self.lines.put(line, ()).is_some();
                while self.lines.len() > capacity {
                    self.lines.pop_lru();
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_line_goes_first() {
        let mut cache = DeviceCache::new();
        let two = 2 * LINE_BYTES;
        assert!(!cache.touch(0, 4096, two));
        assert!(!cache.touch(LINE_BYTES, 4096, two));
        assert!(cache.touch(0, LINE_BYTES, two));
        assert!(!cache.touch(2 * LINE_BYTES, 1, two));
        assert!(cache.touch(0, 1, two), "used after line 1");
        assert!(!cache.touch(LINE_BYTES, 1, two), "the oldest went");
    }

    #[test]
    fn a_request_hits_only_with_all_its_lines() {
        let mut cache = DeviceCache::new();
        cache.touch(0, LINE_BYTES, 1 << 20);
        assert!(!cache.touch(LINE_BYTES - 1, 2, 1 << 20));
        assert!(cache.touch(LINE_BYTES - 1, 2, 1 << 20));
        assert!(!cache.touch(0, 0, 1 << 20));
    }

    #[test]
    fn no_capacity_means_no_hits() {
        let mut cache = DeviceCache::new();
        assert!(!cache.touch(0, 1, 0));
        assert!(!cache.touch(0, 1, 0));
    }
}
