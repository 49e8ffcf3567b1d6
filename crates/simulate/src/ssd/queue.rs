//! The queue of a solid-state drive, which limits how many commands are in progress.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The commands of a drive with a limited queue depth. It takes a command once fewer than that many
/// earlier ones are in progress.
#[derive(Clone, Debug)]
pub struct Queue {
    /// The queue depth; 0 means no limit.
    depth: usize,
    /// The places after the commands before which no other arrives any more.
    passed: Places,
    /// Arrival and completion of the later commands, in order of arrival; some may have been sent
    /// before others that arrive earlier.
    ahead: VecDeque<(u64, u64)>,
    /// The places after all commands that arrived by the command taken last: the first `met` of
    /// `ahead`, and those before.
    front: Places,
    front_ns: u64,
    met: usize,
}

/// For each place in the queue, when its last command completes; the earliest first.
type Places = BinaryHeap<Reverse<u64>>;

/// Adds a command to the places of a queue of `depth`.
fn add(places: &mut Places, depth: usize, completed_ns: u64) {
    places.push(Reverse(completed_ns));
    if places.len() > depth {
        places.pop();
    }
}

impl Queue {
    /// Creates an empty queue; without a depth it has no limit.
    pub fn new(depth: Option<u32>) -> Self {
        Self {
            depth: depth.unwrap_or(0) as usize,
            passed: Places::new(),
            ahead: VecDeque::new(),
            front: Places::new(),
            front_ns: 0,
            met: 0,
        }
    }

    /// How many of `ahead` arrived by `now_ns`.
    fn came(&self, now_ns: u64) -> usize {
        self.ahead.partition_point(|&(came_ns, _)| came_ns <= now_ns)
    }

    /// Announces that nothing arrives before `now_ns` any more.
    pub fn pass(&mut self, now_ns: u64) {
        let passed = self.came(now_ns);
        for (_, completed_ns) in self.ahead.drain(..passed) {
            add(&mut self.passed, self.depth, completed_ns);
        }
        match self.met.checked_sub(passed) {
            Some(met) => self.met = met,
            None => self.go_back(),
        }
    }

    /// Resets `front` to the commands that are no longer in `ahead`.
    fn go_back(&mut self) {
        self.front.clone_from(&self.passed);
        self.met = 0;
    }

    /// When the drive takes a command that arrives at `now_ns`, given all that arrived by then.
    pub fn take(&mut self, now_ns: u64) -> u64 {
        if self.depth == 0 {
            return now_ns;
        }
        if now_ns < self.front_ns {
            self.go_back();
        }
        let came = self.came(now_ns);
        for &(_, completed_ns) in self.ahead.range(self.met..came) {
            add(&mut self.front, self.depth, completed_ns);
        }
        (self.front_ns, self.met) = (now_ns, came);
        match self.front.peek() {
            Some(&Reverse(first_ns)) if self.front.len() == self.depth => now_ns.max(first_ns),
            _ => now_ns,
        }
    }

    /// Records that the command taken last completes at `completed_ns`.
    pub fn hold(&mut self, completed_ns: u64) {
        if self.depth > 0 {
            self.ahead.insert(self.met, (self.front_ns, completed_ns));
            self.met += 1;
            add(&mut self.front, self.depth, completed_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When a command is taken that arrives at `now_ns` and completes at `completed_ns`.
    fn one(queue: &mut Queue, now_ns: u64, completed_ns: u64) -> u64 {
        let taken_ns = queue.take(now_ns);
        queue.hold(completed_ns);
        taken_ns
    }

    #[test]
    fn a_full_queue_waits_for_the_command_that_is_complete_first() {
        let mut queue = Queue::new(Some(2));
        // Completions out of order: the third command takes the place of the second, the fourth that of the third.
        let times = [(0, 100), (0, 30), (10, 50), (20, 90), (500, 510)];
        let taken = times.map(|(now_ns, completed_ns)| {
            queue.pass(now_ns);
            one(&mut queue, now_ns, completed_ns)
        });
        assert_eq!(taken, [0, 0, 30, 50, 500]);
        assert!(queue.ahead.len() == 1 && queue.passed.len() == 2, "{queue:?}");
        let mut endless = Queue::new(None);
        for _ in 0..1000 {
            assert_eq!(one(&mut endless, 7, 1 << 40), 7);
        }
    }

    #[test]
    fn a_command_does_not_wait_for_those_that_were_sent_ahead_of_it_and_come_later() {
        let mut queue = Queue::new(Some(2));
        // One after the other, up to 500.
        let ahead: Vec<u64> = (0..5).map(|n| one(&mut queue, n * 100, n * 100 + 100)).collect();
        assert_eq!(ahead, [0, 100, 200, 300, 400]);
        assert_eq!(one(&mut queue, 310, 350), 310, "only what came at 300 is in progress");
        assert_eq!(one(&mut queue, 320, 390), 350, "both places are taken");
        assert_eq!(one(&mut queue, 360, 440), 390, "that one still is");
        assert_eq!(one(&mut queue, 500, 600), 500);
    }

    #[test]
    fn a_command_waits_for_those_before_it_though_one_that_comes_later_was_sent_ahead() {
        let mut queue = Queue::new(Some(2));
        let first = [(0, 1000), (0, 1000), (2000, 3000)].map(|(n, end)| one(&mut queue, n, end));
        assert_eq!(first, [0, 0, 2000]);
        assert_eq!(one(&mut queue, 500, 1100), 1000, "both places are taken until then");
        queue.pass(600);
        assert_eq!(one(&mut queue, 700, 1200), 1000, "in the other place");
        assert_eq!(one(&mut queue, 2100, 2200), 2100, "beside the one that was sent ahead");
        assert_eq!(one(&mut queue, 2150, 2300), 2200);
    }

    #[test]
    fn what_was_sent_far_ahead_is_not_looked_at_for_what_comes_before_it() {
        const COUNT: u64 = 100_000;
        let mut queue = Queue::new(Some(32));
        for n in 1..=COUNT {
            assert_eq!(one(&mut queue, n * 10, n * 10 + 10), n * 10);
        }
        for n in 0..COUNT {
            queue.pass(n * 10);
            // In progress are 30 of these, and one that was sent ahead.
            assert_eq!(one(&mut queue, n * 10, n * 10 + 310), n * 10, "{n}");
        }
        queue.pass(COUNT * 10);
        assert!(queue.ahead.is_empty());
    }
}
