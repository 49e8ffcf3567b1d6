//! Segments of a drive's buffer that still hold data read or written, so that later reads of it
//! need no medium.

/// Stretches of blocks in memory, the least recently used first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segments {
    /// First block and the block after the last.
    held: Vec<[u64; 2]>,
    most: usize,
    room: u64,
}

impl Segments {
    /// Starts with `most` empty segments of `room` blocks each.
    pub fn new(most: u32, room: u64) -> Self {
        Self { held: Vec::new(), most: most as usize, room }
    }

    /// Whether any data are held.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// All stretches.
    pub fn iter(&self) -> impl Iterator<Item = &[u64; 2]> {
        self.held.iter()
    }

    /// Returns a segment that holds all of these blocks, or else one that holds the first, and
    /// marks it as used.
    pub fn find(&mut self, [block, count]: [u64; 2]) -> Option<[u64; 2]> {
        let holds = |s: &[u64; 2], end: u64| s[0] <= block && block < s[1] && end <= s[1];
        let all = self.held.iter().position(|s| holds(s, block + count));
        let at = all.or_else(|| self.held.iter().position(|s| holds(s, block)))?;
        let found = self.held.remove(at);
        self.held.push(found);
        Some(found)
    }

    /// Removes the segment found last, so that read-ahead can continue behind its blocks.
    pub fn take_found(&mut self) {
        self.held.pop();
    }

    /// Keeps a stretch, or its end if it is longer than a segment, in place of the least recently
    /// used one. Blocks may be in several segments.
    pub fn keep(&mut self, [first, end]: [u64; 2]) {
        if self.most == 0 || first >= end {
            return;
        }
        self.leave(self.most - 1);
        self.held.push([first.max(end.saturating_sub(self.room)), end]);
    }

    /// Frees the least recently used segment if all are in use, for the next read.
    pub fn make_room(&mut self) {
        self.leave(self.most.saturating_sub(1));
    }

    fn leave(&mut self, most: usize) {
        let surplus = self.held.len().saturating_sub(most);
        self.held.drain(..surplus);
    }

    /// Drops every segment that overlaps these blocks, since the medium will be newer.
    pub fn forget(&mut self, [block, count]: [u64; 2]) {
        self.held.retain(|s| s[1] <= block || block + count <= s[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_segment_used_longest_ago_goes_first() {
        let mut segments = Segments::new(2, 100);
        segments.keep([0, 10]);
        segments.keep([50, 60]);
        assert_eq!(segments.find([9, 1]), Some([0, 10]));
        segments.keep([70, 80]);
        assert_eq!((segments.find([50, 1]), segments.find([0, 1])), (None, Some([0, 10])));
        segments.make_room();
        assert_eq!((segments.find([70, 1]), segments.find([5, 1])), (None, Some([0, 10])));
    }

    #[test]
    fn long_stretches_keep_their_end_and_overwritten_ones_are_forgotten() {
        let mut segments = Segments::new(3, 8);
        segments.keep([0, 20]);
        assert_eq!((segments.find([11, 1]), segments.find([12, 1])), (None, Some([12, 20])));
        // Of two that overlap, the one that holds all requested blocks is found.
        segments.keep([16, 24]);
        assert_eq!(
            (segments.find([18, 4]), segments.find([18, 9])),
            (Some([16, 24]), Some([12, 20]))
        );
        segments.forget([19, 4]);
        assert!(segments.is_empty());
        let mut none = Segments::new(0, 8);
        none.keep([0, 4]);
        assert!(none.is_empty());
    }
}
