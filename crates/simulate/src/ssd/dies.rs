//! Dies and their channel: a die serves reads in order of arrival, and programs, moves and erases
//! in the time that reads leave.

use super::Model;
use super::line::Line;
use std::collections::VecDeque;

/// Work of a die that no read waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Garbage collection reads and programs this many pages.
    Move(u32),
    /// A block is erased.
    Erase,
    /// Buffered pages are programmed together; this many of them are read first, since only part of
    /// them is new.
    Program(Vec<u32>, u32),
}

impl Task {
    /// Time on the channel, and in the cells.
    fn times_ns(&self, model: &Model) -> (u64, u64) {
        // Pages in use are scattered: planes sense together, but seldom more than one page each.
        let planes = model.flash.planes_per_die.unwrap_or(1);
        let sensing = |pages: u32| u64::from(pages.div_ceil(planes)) * model.read_ns;
        match self {
            Self::Move(pages) => {
                let carried = 2 * u64::from(*pages) * model.channel_page_ns;
                (carried, sensing(*pages) + model.program_ns)
            }
            Self::Erase => (0, model.erase_ns),
            Self::Program(pages, partial) => {
                let carried = (pages.len() as u64 + u64::from(*partial)) * model.channel_page_ns;
                (carried, sensing(*partial) + model.program_ns)
            }
        }
    }
}

/// One die.
#[derive(Clone, Debug, Default)]
struct Die {
    /// When reads sense; some of them may have been sent before others that arrive earlier.
    senses: Line,
    /// When the last of these reads ends.
    reads_end_ns: u64,
    /// The time until which other work is accounted for.
    clock_ns: u64,
    /// Remaining time in the cells of the first of `tasks`, if that has begun.
    left_ns: Option<u64>,
    /// When that task began; a read that arrives earlier met the task before it, because the drive
    /// looked ahead.
    begun_ns: u64,
    /// When the channel has carried the task's data, if no more reads arrive: the cells work from
    /// then on.
    carried_ns: u64,
    tasks: VecDeque<Task>,
    /// Garbage collection that must be done before the open block is full.
    owed: VecDeque<Task>,
    /// Buffered pages that no task has taken yet.
    waiting: VecDeque<u32>,
    /// How many of the waiting pages must not wait for others to fill a batch.
    urgent: usize,
    /// What the last read sensed: its group of physical pages, its command, and when it was done.
    sensed: (u32, u64, u64),
}

/// The dies of one channel.
#[derive(Clone, Debug)]
pub struct Channel {
    dies: Vec<Die>,
    /// When it carries data that were read.
    reads: Line,
    /// Until when it carries data to be programmed, in the time that reads leave, if no more reads
    /// arrive.
    writes_end_ns: u64,
    /// The time before which nothing more happens; a die accounts for that time once it is
    /// examined.
    now_ns: u64,
    /// The time before which nothing more arrives.
    passed_ns: u64,
    /// The next event, valid as long as no die has changed.
    next: Option<Option<(u64, usize)>>,
}

/// Something that a channel did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A die is free and takes these pages from the buffer; the caller answers with
    /// [`Channel::put`].
    Takes(usize, Vec<u32>),
    /// These pages are in the cells.
    Programmed(Vec<u32>),
    /// An event that nobody waits for.
    Other,
}

impl Channel {
    /// Creates a channel of `dies` idle dies.
    pub fn new(dies: u32) -> Self {
        let dies = vec![Die::default(); dies as usize];
        let reads = Line::default();
        Self { dies, reads, writes_end_ns: 0, now_ns: 0, passed_ns: 0, next: Some(None) }
    }

    /// Returns a die that is about to change.
    fn die(&mut self, die: usize) -> &mut Die {
        self.next = None;
        let die = &mut self.dies[die];
        die.pass(self.now_ns);
        die
    }

    /// Adds a page to those that wait for a die.
    pub fn wait(&mut self, die: usize, page: u32, model: &Model) {
        let before = self.next;
        let one = self.die(die);
        one.waiting.push_back(page);
        let due = one.next_ns(model.batch_pages as usize).map(|at| (at, die));
        // The other dies have not changed, and this one is due no later than before.
        self.next = before.map(|before| before.into_iter().chain(due).min());
    }

    /// Removes a page that waits for a die.
    pub fn forget(&mut self, die: usize, page: u32) {
        let die = self.die(die);
        die.waiting.retain(|&other| other != page);
        die.urgent = die.urgent.min(die.waiting.len());
    }

    /// Makes a die program all pages that wait for it, even in partial batches.
    pub fn hurry(&mut self, die: usize) {
        let die = self.die(die);
        die.urgent = die.waiting.len();
    }

    /// Number of pages that wait for resting dies.
    pub fn resting(&self, model: &Model) -> u64 {
        let dies = (0..self.dies.len()).filter(|&die| self.rests(die, model));
        dies.map(|die| self.dies[die].waiting.len() as u64).sum()
    }

    /// Whether a die programs nothing, because less than a whole batch waits for it.
    fn rests(&self, die: usize, model: &Model) -> bool {
        let some = 1..model.batch_pages as usize;
        some.contains(&self.dies[die].waiting.len()) && !self.is_hurried(die)
    }

    /// Makes resting dies program what waits for them, from `now_ns` on.
    pub fn hurry_resting(&mut self, now_ns: u64, model: &Model) {
        for die in 0..self.dies.len() {
            if self.rests(die, model) {
                self.pass(now_ns);
                self.hurry(die);
            }
        }
    }

    /// Makes a die program a waiting page before all others.
    pub fn hurry_page(&mut self, die: usize, page: u32) {
        let die = self.die(die);
        let Some(at) = die.waiting.iter().rposition(|&other| other == page) else { return };
        if let Some(page) = die.waiting.remove(at) {
            die.waiting.push_front(page);
            die.urgent += usize::from(at >= die.urgent);
        }
    }

    /// Whether a die still has work that a flush waits for: its programs, and the garbage
    /// collection queued before them, but not what it collects in idle time.
    pub fn is_hurried(&self, die: usize) -> bool {
        let die = &self.dies[die];
        die.urgent > 0 || die.tasks.iter().any(|task| matches!(task, Task::Program(..)))
    }

    /// Adds a program to a die, with the garbage collection that it called for. That is spread over
    /// the `left` programs before the next garbage collection, and over idle time.
    pub fn put(
        &mut self,
        die: usize,
        garbage: impl IntoIterator<Item = Task>,
        left: u32,
        program: Task,
    ) {
        let die = self.die(die);
        die.owed.extend(garbage);
        let now = die.owed.len().div_ceil(left as usize + 1);
        die.tasks.extend(die.owed.drain(..now));
        die.tasks.push_back(program);
    }

    /// Returns when and on which die the next event apart from reads happens; of several, on the
    /// lowest die.
    #[inline]
    pub fn next(&mut self, model: &Model) -> Option<(u64, usize)> {
        let batch = model.batch_pages as usize;
        let times = self.dies.iter().enumerate();
        let due = || times.filter_map(|(n, die)| Some((die.next_ns(batch)?, n))).min();
        *self.next.get_or_insert_with(due)
    }

    /// Executes the next event, at the time and on the die that [`next`](Self::next) returned.
    pub fn step(&mut self, at_ns: u64, die: usize, model: &Model) -> Event {
        let one = self.die(die);
        one.clock_ns = one.clock_ns.max(at_ns);
        if one.left_ns.take().is_some() {
            return match one.tasks.pop_front() {
                Some(Task::Program(pages, _)) => Event::Programmed(pages),
                _ => Event::Other,
            };
        }
        let batch = model.batch_pages as usize;
        if one.tasks.is_empty() && (one.waiting.len() >= batch || one.urgent > 0) {
            let count = one.waiting.len().min(batch);
            one.urgent = one.urgent.saturating_sub(count);
            return Event::Takes(die, one.waiting.drain(..count).collect());
        }
        if one.tasks.is_empty() {
            one.tasks.extend(one.owed.pop_front());
        }
        let Some(task) = one.tasks.front() else { return Event::Other };
        let (transfer_ns, cells_ns) = task.times_ns(model);
        one.left_ns = Some(cells_ns);
        one.begun_ns = at_ns;
        one.carried_ns = 0;
        if transfer_ns > 0 {
            // Data that were read take precedence, as do data carried to other dies.
            self.writes_end_ns = self.reads.carried(at_ns.max(self.writes_end_ns), transfer_ns);
            self.dies[die].carried_ns = self.writes_end_ns;
        }
        Event::Other
    }

    /// Accounts for the time until `now_ns`, before which nothing more happens.
    #[inline]
    pub fn pass(&mut self, now_ns: u64) {
        self.now_ns = self.now_ns.max(now_ns);
    }

    /// Discards the reads carried by `now_ns`, before which nothing more arrives, as far as the
    /// channel has been advanced.
    #[inline]
    pub fn forget_reads(&mut self, now_ns: u64) {
        self.passed_ns = self.passed_ns.max(now_ns);
        // Later programs must still be placed around these reads.
        self.reads.pass(now_ns.min(self.now_ns));
    }

    /// Senses a page for a read; returns when it is in the die's register. For one command, pages
    /// of one `group` are sensed together.
    pub fn sense(
        &mut self,
        from_ns: u64,
        die: usize,
        group: u32,
        command: u64,
        model: &Model,
    ) -> u64 {
        let sensed = self.dies[die].sensed;
        if sensed.0 == group && sensed.1 == command {
            return sensed.2;
        }
        // A read delays the next event of its own die only.
        if self.next.flatten().is_some_and(|(_, next)| next == die) {
            self.next = None;
        }
        let die = &mut self.dies[die];
        die.pass(self.now_ns);
        die.senses.pass(self.passed_ns);
        let free_ns = die.senses.carried(from_ns, 0);
        let stopped_ns = die.stop(free_ns, model);
        let done_ns = die.give(from_ns, stopped_ns + model.read_ns);
        die.sensed = (group, command, done_ns);
        done_ns
    }

    /// Carries a page to the controller; returns when it is there.
    pub fn carry(&mut self, from_ns: u64, model: &Model) -> u64 {
        if self.writes_end_ns > from_ns {
            self.give_way(from_ns, model.channel_page_ns);
        }
        self.reads.take(from_ns, model.channel_page_ns)
    }

    /// Delays data carried to dies by a read's data, which take `for_ns` from `from_ns` on.
    fn give_way(&mut self, from_ns: u64, for_ns: u64) {
        let reads = &self.reads;
        let until_ns = reads.carried(from_ns, for_ns);
        let later = |end_ns: u64| match reads.free_ns(from_ns, end_ns).min(for_ns) {
            0 => end_ns,
            taken_ns => reads.carried(end_ns.max(until_ns), taken_ns),
        };
        for die in &mut self.dies {
            die.pass(self.now_ns);
            // If the task begins later, only the channel's time matters.
            if die.begun_ns <= from_ns {
                die.carried_ns = later(die.carried_ns);
            }
        }
        self.writes_end_ns = later(self.writes_end_ns);
        self.next = None;
    }
}

impl Die {
    /// Accounts for the time until `now_ns`, before which the die starts nothing else.
    fn pass(&mut self, now_ns: u64) {
        let from = self.clock_ns.max(self.reads_end_ns).max(self.carried_ns);
        if let Some(left) = &mut self.left_ns {
            *left -= now_ns.saturating_sub(from).min(*left);
        }
        self.clock_ns = self.clock_ns.max(now_ns);
    }

    fn next_ns(&self, batch: usize) -> Option<u64> {
        let free = self.clock_ns.max(self.reads_end_ns);
        match self.left_ns {
            Some(0) => Some(self.clock_ns.max(self.carried_ns)),
            Some(left) => Some(free.max(self.carried_ns) + left),
            None => {
                let has_work = !self.tasks.is_empty() || !self.owed.is_empty();
                let is_due = has_work || self.waiting.len() >= batch || self.urgent > 0;
                is_due.then_some(free)
            }
        }
    }

    /// Returns how long a read waits for a task in progress: until it is suspended, or to its end if
    /// it cannot be, but not at all while its data are carried. If the read met the task before, that
    /// is taken to have as much left as this one.
    fn stop(&mut self, now_ns: u64, model: &Model) -> u64 {
        let Some(left) = self.left_ns else { return 0 };
        // Consecutive reads suspend a task only once.
        let is_suspended = self.reads_end_ns >= now_ns && self.reads_end_ns > self.clock_ns;
        match model.suspend_ns {
            _ if is_suspended || (self.begun_ns..self.carried_ns).contains(&now_ns) => 0,
            Some(suspend_ns) => suspend_ns.min(left),
            None => {
                // This much is left at the clock, which may be ahead of the read.
                let ends_ns = now_ns.max(self.clock_ns).max(self.carried_ns) + left;
                self.left_ns = Some(0);
                if now_ns < self.begun_ns {
                    // The read comes before the whole task.
                    self.clock_ns = ends_ns + model.read_ns;
                    left
                } else {
                    self.clock_ns = ends_ns;
                    ends_ns - now_ns
                }
            }
        }
    }

    /// Reserves `for_ns` from `from_ns` on for a read, around other reads, and returns when it is
    /// done. Work that was accounted for in that time takes longer.
    fn give(&mut self, from_ns: u64, for_ns: u64) -> u64 {
        let done_ns = self.senses.carried(from_ns, for_ns);
        let begins_ns =
            if from_ns < self.begun_ns { from_ns } else { from_ns.max(self.carried_ns) };
        let ends_ns = done_ns.min(self.clock_ns);
        match &mut self.left_ns {
            Some(0) | None => {}
            Some(left) => *left += self.senses.free_ns(begins_ns, ends_ns),
        }
        self.senses.take(from_ns, for_ns);
        self.reads_end_ns = self.reads_end_ns.max(done_ns);
        done_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_waits_for_programs_and_not_for_garbage_that_is_collected_in_idle_time() {
        let model = crate::ssd::find("generic-ssd").unwrap().build().unwrap();
        let mut channel = Channel::new(1);
        // One move before the program, and 999 more in idle time.
        let garbage = (0..1000).map(|_| Task::Move(8));
        channel.put(0, garbage, 999, Task::Program(vec![7], 0));
        assert!(channel.is_hurried(0));
        let mut programmed_ns = None;
        for _ in 0..20 {
            let (at, die) = channel.next(&model).expect("there is garbage left");
            if channel.step(at, die, &model) == Event::Programmed(vec![7]) {
                programmed_ns = Some(at);
            }
            assert_eq!(channel.is_hurried(0), programmed_ns.is_none(), "{at} ns");
        }
        // Four senses of two planes, eight pages there and back, and a program; then a page and its
        // program.
        let move_ns = 16 * 5_120 + 4 * 50_000 + 500_000;
        assert_eq!(programmed_ns, Some(move_ns + 5_120 + 500_000));
    }
}
