//! The flusher of a file cache: when it writes dirty blocks, how many, and from which block on.

/// Writes back dirty blocks once per interval, one command at a time.
#[derive(Clone, Debug)]
pub struct Flusher {
    interval_ns: Option<u64>,
    /// When the next flush is due.
    due_ns: u64,
    /// Blocks that the flush in progress has yet to write; each stays dirty until it is sent.
    left: usize,
    /// The block after the last one written: flushes continue there and wrap around the set.
    from: u32,
    /// When the next command may be sent, or the last one was written.
    goes_ns: u64,
}

impl Flusher {
    /// A flusher with this interval, or one that never flushes by itself.
    pub fn new(interval_ns: Option<u64>) -> Self {
        let due_ns = interval_ns.unwrap_or(u64::MAX);
        Self { interval_ns, due_ns, left: 0, from: 0, goes_ns: 0 }
    }

    /// When the flush that is due begins, if it does so by `now_ns`: not before the last one has
    /// ended.
    pub fn begins(&mut self, now_ns: u64) -> Option<u64> {
        let interval_ns = self.interval_ns?;
        let at_ns = self.due_ns.max(self.goes_ns);
        if now_ns < at_ns || self.left > 0 {
            return None;
        }
        self.due_ns = now_ns - (now_ns - self.due_ns) % interval_ns + interval_ns;
        Some(at_ns)
    }

    /// Begins a flush of `count` blocks at `at_ns`; a flush in progress is extended to at least
    /// `count` more blocks.
    pub fn begin(&mut self, at_ns: u64, count: usize) {
        if self.left == 0 {
            self.goes_ns = self.goes_ns.max(at_ns);
        }
        self.left = self.left.max(count);
    }

    /// When the next command of a flush in progress goes out, if by `now_ns`, and the block from
    /// which to search for dirty ones; `dirty` is the number of dirty blocks.
    pub fn next(&mut self, now_ns: u64, dirty: usize) -> Option<(u64, u32)> {
        // Blocks that were written back in other ways need no flush.
        self.left = self.left.min(dirty);
        (self.left > 0 && self.goes_ns <= now_ns).then_some((self.goes_ns, self.from))
    }

    /// Records that the last command, `count` blocks from `first` on, was written at `now_ns`.
    pub fn written(&mut self, (first, count): (u32, u32), now_ns: u64) {
        self.left = self.left.saturating_sub(count as usize);
        self.from = first + count;
        self.goes_ns = now_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_go_one_after_the_other_and_the_next_flush_waits_for_them() {
        let mut flusher = Flusher::new(Some(100));
        assert_eq!(flusher.begins(99), None);
        assert_eq!(flusher.begins(130), Some(100));
        flusher.begin(100, 3);
        assert_eq!(flusher.next(130, 9), Some((100, 0)));
        flusher.written((7, 2), 190);
        assert_eq!(flusher.next(180, 9), None, "the first is being written");
        assert_eq!(flusher.begins(205), None, "one is left");
        assert_eq!(flusher.next(205, 9), Some((190, 9)));
        flusher.written((20, 1), 260);
        assert_eq!(flusher.next(280, 9), None, "what became dirty meanwhile waits for the next");
        assert_eq!(flusher.begins(250), None, "the last is being written");
        assert_eq!(flusher.begins(270), Some(260));
        assert_eq!(flusher.begins(299), None);
        assert_eq!(flusher.begins(520), Some(300));
        assert_eq!(flusher.begins(599), None);
        assert_eq!(Flusher::new(None).begins(u64::MAX), None);
    }

    #[test]
    fn who_asks_for_more_during_a_flush_has_that_go_on() {
        let mut flusher = Flusher::new(None);
        flusher.begin(50, 2);
        assert_eq!(flusher.next(60, 9), Some((50, 0)));
        flusher.written((3, 1), 90);
        flusher.begin(70, 4);
        assert_eq!(flusher.next(90, 9), Some((90, 4)), "no command goes beside the first");
        flusher.written((4, 1), 130);
        assert_eq!(flusher.next(130, 0), None, "nothing is dirty any more");
        flusher.begin(100, 1);
        assert_eq!(flusher.next(130, 9), Some((130, 5)));
        flusher.begin(200, 1);
        assert_eq!(flusher.next(130, 9), Some((130, 5)), "it has not gone yet");
    }
}
