//! The queue of a solid-state drive: how many commands it has in progress at most.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The commands in progress of a drive that takes only so many at once.
#[derive(Clone, Debug)]
pub struct Queue {
    /// At most; 0: as many as come.
    depth: usize,
    /// When each is complete.
    completed_ns: BinaryHeap<Reverse<u64>>,
}

impl Queue {
    /// An empty one; without a depth it has room for all.
    pub fn new(depth: Option<u32>) -> Self {
        Self { depth: depth.unwrap_or(0) as usize, completed_ns: BinaryHeap::new() }
    }

    /// When the drive takes a command that comes at `now_ns`, after all that came before it.
    pub fn take(&mut self, now_ns: u64) -> u64 {
        if self.depth == 0 || self.completed_ns.len() < self.depth {
            return now_ns;
        }
        self.completed_ns.pop().map_or(now_ns, |Reverse(first_ns)| now_ns.max(first_ns))
    }

    /// The command taken last is complete at `completed_ns`.
    pub fn hold(&mut self, completed_ns: u64) {
        if self.depth > 0 {
            self.completed_ns.push(Reverse(completed_ns));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_waits_for_the_command_that_is_complete_first() {
        let mut queue = Queue::new(Some(2));
        // Completions out of order: the third command takes the place of the second, the fourth that of the third.
        let times = [(0, 100), (0, 30), (10, 50), (20, 90), (500, 510)];
        let taken: Vec<u64> = times
            .iter()
            .map(|&(now_ns, completed_ns)| {
                let taken_ns = queue.take(now_ns);
                queue.hold(completed_ns);
                taken_ns
            })
            .collect();
        assert_eq!(taken, [0, 0, 30, 50, 500]);
        let mut endless = Queue::new(None);
        for _ in 0..1000 {
            assert_eq!(endless.take(7), 7);
            endless.hold(1 << 40);
        }
    }
}
