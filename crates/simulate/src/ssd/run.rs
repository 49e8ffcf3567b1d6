//! A solid-state drive in operation: link, write buffer, channels and dies.
//!
//! Reads are served as they arrive; everything else happens in the time that they leave, and is
//! accounted for when it is examined. A flush, or a write that waits for space or for its program,
//! looks ahead to the time when it is done. Reads that arrive in between no longer delay it, but
//! only what is programmed later.

use super::buffer::Buffer;
use super::dies::{Channel, Event, Task};
use super::divisor::Divisor;
use super::filling::Filling;
use super::limit::Bucket;
use super::line::Line;
use super::queue::Queue;
use super::{Filled, Ftl, Model, SECTOR_BYTES};
use crate::command::{Command, Done, Parts, Traffic};
use std::collections::BTreeSet;
use std::ops::Range;

/// A solid-state drive and its state.
#[derive(Clone, Debug)]
pub struct Ssd<'a> {
    model: &'a Model,
    ftl: Ftl,
    channels: Vec<Channel>,
    by_channel: Divisor,
    by_batch: Divisor,
    /// When the link carries data to the host, and to the drive.
    to_host: Line,
    to_drive: Line,
    /// Until when a write that waited for space kept others from the link.
    held_ns: u64,
    /// When the controller begins with the commands that have arrived by then, and when it is done
    /// with them.
    takes_ns: u64,
    busy_ns: u64,
    /// When it does commands that a limit holds back until then, but not those behind them.
    ahead: Line,
    /// Where the last command ended, and whether it wrote.
    last: (u64, bool),
    buffer: Buffer,
    limits: Vec<Bucket>,
    pub(super) queue: Queue,
    /// Number of commands so far.
    commands: u64,
    traffic: Traffic,
}

impl<'a> Ssd<'a> {
    /// Creates an idle drive.
    pub fn new(model: &'a Model) -> Self {
        Self::holding(model, model.begins())
    }

    /// Creates an idle drive after data were written to its first `blocks` of 512 bytes.
    pub fn laid_out(model: &'a Model, blocks: u64) -> Self {
        let pages = blocks.div_ceil(model.page_blocks) as u32;
        Self::holding(model, model.begins_with(pages))
    }

    fn holding(model: &'a Model, filling: Filling) -> Self {
        let flash = &model.flash;
        Self {
            model,
            ftl: Ftl::new(flash, filling),
            channels: (0..flash.channels).map(|_| Channel::new(flash.dies_per_channel)).collect(),
            by_channel: Divisor::new(flash.channels),
            by_batch: Divisor::new(model.batch_pages),
            to_host: Line::default(),
            to_drive: Line::default(),
            held_ns: 0,
            takes_ns: 0,
            busy_ns: 0,
            ahead: Line::default(),
            last: (u64::MAX, false),
            buffer: Buffer::new(model.buffer_pages, model.pages(), model.page_blocks as u32),
            limits: model.limits.clone(),
            queue: Queue::new(model.queue_depth),
            commands: 0,
            traffic: Traffic::default(),
        }
    }

    /// What was written so far, in blocks of 512 bytes; `destaged` includes what garbage collection moved.
    pub fn traffic(&self) -> Traffic {
        Traffic { held: self.buffer.waiting_blocks(), ..self.traffic }
    }

    /// Number of pages in the write buffer.
    pub fn buffered_pages(&self) -> u64 {
        self.buffer.used()
    }

    /// Whether the write buffer has no space for another page.
    pub fn is_buffer_full(&self) -> bool {
        self.buffer.is_full()
    }

    /// Announces that nothing arrives before `now_ns` any more, and discards what ended by then.
    pub fn pass(&mut self, now_ns: u64) {
        self.queue.pass(now_ns);
        self.to_host.pass(now_ns);
        self.to_drive.pass(now_ns);
        self.ahead.pass(now_ns);
        for channel in &mut self.channels {
            channel.forget_reads(now_ns);
        }
    }

    /// Executes a read or write that arrives at `now_ns`, while others are still in progress.
    pub fn serve(&mut self, now_ns: u64, command: Command) -> Done {
        let command = self.within(command);
        self.commands += 1;
        let bytes = command.count * u64::from(SECTOR_BYTES);
        let admit = |now, limit: &mut Bucket| limit.admit(now, bytes, command.write);
        let goes_ns = self.limits.iter_mut().fold(now_ns, admit);
        let is_overtaken = goes_ns > now_ns && self.limits.iter().any(|limit| limit.is_partial());
        let goes_ns = self.turn(goes_ns, command, is_overtaken);
        let mut done =
            if command.write { self.write(goes_ns, command) } else { self.read(goes_ns, command) };
        done.parts.waited_ns += goes_ns - now_ns;
        done
    }

    /// When a controller that does one thing at a time has done its part of a command that arrives
    /// at `now_ns`; commands that come later may arrive earlier if it `is_overtaken`.
    fn turn(&mut self, now_ns: u64, command: Command, is_overtaken: bool) -> u64 {
        let model = self.model;
        if [model.busy_ns, model.busy_block] == [[0; 2]; 2] && model.wake_ns == 0 {
            return now_ns;
        }
        let of = usize::from(command.write);
        let is_adjacent = self.last == (command.block, command.write);
        self.last = (command.block + command.count, command.write);
        let each = if is_adjacent { &model.adjacent_busy_ns } else { &model.busy_ns };
        let each_ns = each[of] + ((command.count * model.busy_block[of]) >> 10);
        if is_overtaken {
            let from_ns = now_ns.max(self.busy_ns);
            let is_idle = now_ns > self.busy_ns && self.ahead.free_ns(now_ns - 1, now_ns) > 0;
            return self.ahead.take(from_ns, each_ns + if is_idle { model.wake_ns } else { 0 });
        }
        if now_ns > self.takes_ns || self.busy_ns == 0 {
            self.takes_ns = now_ns.max(self.busy_ns) + model.wake_ns;
            self.busy_ns = self.takes_ns;
        }
        self.busy_ns = self.ahead.carried(self.busy_ns, each_ns);
        self.busy_ns
    }

    /// The part of a command that lies on the drive.
    fn within(&self, command: Command) -> Command {
        let count = command.count.min(self.model.blocks.saturating_sub(command.block));
        Command { count, ..command }
    }

    /// Numbers of the pages that a command touches.
    fn pages(&self, command: Command) -> Range<u32> {
        let first = command.block / self.model.page_blocks;
        let end = (command.block + command.count).div_ceil(self.model.page_blocks);
        first as u32..end as u32
    }

    /// How many blocks of a page a command touches.
    #[inline]
    fn blocks_of(&self, page: u32, command: Command) -> u64 {
        let low = u64::from(page) * self.model.page_blocks;
        let end = (command.block + command.count).min(low + self.model.page_blocks);
        end - command.block.max(low)
    }

    /// The channel of a page, and its die on that channel.
    #[inline]
    fn die(&self, page: u32) -> (usize, usize) {
        let [die, channel] = self.by_channel.split(self.ftl.die(page) as u32);
        (channel as usize, die as usize)
    }

    fn read(&mut self, now_ns: u64, command: Command) -> Done {
        let model = self.model;
        let started = now_ns + model.command_ns[0];
        let (mut ready, mut completed_ns, mut waited_ns) = (started, started, 0);
        let (mut cached, mut finds_nothing) = (true, model.filled == Filled::Empty);
        for page in self.pages(command) {
            let (channel, die) = self.die(page);
            self.advance(channel, started);
            let blocks = self.blocks_of(page, command);
            let mut came = started;
            if self.buffer.answers(page, blocks) {
                finds_nothing = false;
            } else if let Some(physical) = self.ftl.place(page) {
                (cached, finds_nothing) = (false, false);
                let [group, _] = self.by_batch.split(physical);
                let at = &mut self.channels[channel];
                let sensed = at.sense(started, die, group, self.commands, model);
                waited_ns = waited_ns.max(sensed - started - model.read_ns);
                came = at.carry(sensed, model);
            }
            ready = ready.max(came);
            let sent = self.to_host.take(came, (blocks * model.link_block[0]) >> 10);
            completed_ns = completed_ns.max(sent);
        }
        self.traffic.read_hits += u64::from(cached);
        self.traffic.unwritten_reads += u64::from(finds_nothing);
        let parts = Parts {
            waited_ns,
            overhead_ns: model.command_ns[0],
            bus_ns: completed_ns - ready,
            transfer_ns: ready - started - waited_ns,
            cached,
            ..Parts::default()
        };
        Done { completed_ns, parts }
    }

    fn write(&mut self, now_ns: u64, command: Command) -> Done {
        let copied_ns = (command.count * self.model.copy_block) >> 10;
        let started = now_ns + self.model.command_ns[1];
        let (mut at, mut waited_ns) = (started, 0);
        for page in self.pages(command) {
            let blocks = self.blocks_of(page, command);
            let carry_ns = (blocks * self.model.link_block[1]) >> 10;
            let came = self.to_drive.take(at, carry_ns);
            waited_ns += (came - carry_ns).min(self.held_ns).saturating_sub(at);
            let room = self.make_room(came, page);
            // While a write waits for space, no other can use the link.
            at = self.to_drive.take(came, room - came);
            if room > came {
                self.held_ns = at;
            }
            waited_ns += at - came;
            let in_part = blocks < self.model.page_blocks
                && !self.buffer.holds(page)
                && self.ftl.place(page).is_some();
            match self.buffer.take(page, in_part, blocks as u32) {
                Some(overwritten) => self.traffic.absorbed += u64::from(overwritten),
                None => {
                    let (channel, die) = self.die(page);
                    self.channels[channel].wait(die, page, self.model);
                }
            }
        }
        self.traffic.written += command.count;
        let parts = Parts {
            waited_ns,
            overhead_ns: self.model.command_ns[1],
            bus_ns: copied_ns + at - started - waited_ns,
            cached: true,
            ..Parts::default()
        };
        Done { completed_ns: at + copied_ns, parts }
    }

    /// The time, from `at_ns` on, when the buffer can take a page.
    fn make_room(&mut self, at_ns: u64, page: u32) -> u64 {
        let (channel, _) = self.die(page);
        self.advance(channel, at_ns);
        if self.buffer.is_waiting(page) || !self.buffer.is_full() {
            return at_ns;
        }
        for channel in 0..self.channels.len() {
            self.advance(channel, at_ns);
        }
        let mut at = at_ns;
        while self.buffer.is_full() && !self.buffer.is_waiting(page) {
            self.hurry_resting(at);
            let Some((next, channel, die)) = self.next() else { break };
            at = at.max(next);
            self.step(next, channel, die);
        }
        at
    }

    /// The next event on any channel.
    fn next(&mut self) -> Option<(u64, usize, usize)> {
        let channels = self.channels.iter_mut().enumerate();
        channels.filter_map(|(n, c)| c.next(self.model).map(|(at, die)| (at, n, die))).min()
    }

    /// Makes resting dies program what they have from `now_ns` on, if at least half of the buffer
    /// waits for them. If the buffer is full of pages for a few busy dies, the others still get
    /// whole batches.
    fn hurry_resting(&mut self, now_ns: u64) {
        let resting = self.channels.iter().map(|channel| channel.resting(self.model));
        if 2 * resting.sum::<u64>() < self.buffer.used() {
            return;
        }
        for channel in &mut self.channels {
            channel.hurry_resting(now_ns, self.model);
        }
    }

    /// Executes what a channel does by `now_ns`.
    fn advance(&mut self, channel: usize, now_ns: u64) {
        while let Some((at, die)) = self.channels[channel].next(self.model) {
            if at > now_ns {
                break;
            }
            self.step(at, channel, die);
        }
        self.channels[channel].pass(now_ns);
    }

    fn step(&mut self, at_ns: u64, channel: usize, die: usize) {
        match self.channels[channel].step(at_ns, die, self.model) {
            Event::Programmed(pages) => pages.into_iter().for_each(|page| self.buffer.end(page)),
            Event::Takes(die, pages) => self.program(channel, die, pages),
            Event::Other => {}
        }
    }

    /// Programs buffered pages, after the garbage collection that this needs.
    fn program(&mut self, channel: usize, die: usize, pages: Vec<u32>) {
        let (mut moved, mut erased, mut partial) = (0, 0, 0);
        for &page in &pages {
            partial += u32::from(self.buffer.begin(page) == Some(true));
            let done = self.ftl.program(page);
            moved += done.moved;
            erased += done.erased;
        }
        // Cells are programmed a batch at a time; places that are not filled are lost.
        let batch = self.model.batch_pages;
        let left = self.ftl.skip(die * self.channels.len() + channel, batch - pages.len() as u32);
        let pieces = (0..moved.div_ceil(batch)).map(|n| Task::Move(batch.min(moved - n * batch)));
        let erases = (0..erased).map(|_| Task::Erase);
        self.traffic.destaged += u64::from(batch + moved) * self.model.page_blocks;
        self.traffic.erased += u64::from(erased);
        let program = Task::Program(pages, partial);
        self.channels[channel].put(die, pieces.chain(erases), left / batch, program);
    }

    /// Discards these blocks (TRIM); pages that are only partly covered are kept.
    pub fn discard(&mut self, now_ns: u64, block: u64, count: u64) -> Done {
        let end = block.saturating_add(count).min(self.model.blocks);
        let pages = block.div_ceil(self.model.page_blocks)..end / self.model.page_blocks;
        let started = now_ns + self.model.command_ns[1];
        if !pages.is_empty() {
            let pages = pages.start as u32..pages.end as u32;
            for channel in 0..self.channels.len() {
                self.advance(channel, started);
            }
            for page in self.buffer.discard(pages.clone()) {
                let (channel, die) = self.die(page);
                self.channels[channel].forget(die, page);
            }
            self.ftl.discard(pages);
        }
        let parts =
            Parts { overhead_ns: self.model.command_ns[1], cached: true, ..Parts::default() };
        Done { completed_ns: started, parts }
    }

    /// Programs all that is in the buffer; done at once if the buffer keeps its contents without
    /// power.
    pub fn flush(&mut self, now_ns: u64) -> Done {
        let started = now_ns + self.model.flush_ns;
        let mut done = started;
        if !self.model.power_loss_protection {
            for channel in 0..self.channels.len() {
                self.advance(channel, started);
                done = done.max(self.drain(channel));
            }
        }
        self.flushed([started, done])
    }

    /// The outcome of a flush whose programming began at `started` and ended at `done`, including
    /// the command's overhead.
    fn flushed(&self, [started, done]: [u64; 2]) -> Done {
        let overhead_ns = self.model.flush_ns;
        let parts = Parts { waited_ns: done - started, overhead_ns, ..Parts::default() };
        Done { completed_ns: done, parts }
    }

    /// Programs all that waits for a channel; returns when that is done.
    fn drain(&mut self, channel: usize) -> u64 {
        let dies = 0..self.model.flash.dies_per_channel as usize;
        dies.clone().for_each(|die| self.channels[channel].hurry(die));
        self.finish(channel, dies.collect())
    }

    /// Programs what a command wrote, before all else that waits for its dies; done at once if the
    /// buffer keeps its contents without power.
    pub(super) fn secure(&mut self, now_ns: u64, command: Command) -> Done {
        let started = now_ns + self.model.flush_ns;
        let mut done = started;
        if !self.model.power_loss_protection {
            for channel in 0..self.channels.len() {
                self.advance(channel, started);
            }
            let mut dies = vec![BTreeSet::new(); self.channels.len()];
            // Each page goes before the others, so the first one comes last.
            for page in self.pages(self.within(command)).rev() {
                let (channel, die) = self.die(page);
                self.channels[channel].hurry_page(die, page);
                dies[channel].insert(die);
            }
            for (channel, dies) in dies.into_iter().enumerate() {
                done = done.max(self.finish(channel, dies));
            }
        }
        self.flushed([started, done])
    }

    /// Whether any page that a command touches is not yet in the cells.
    #[cfg(test)]
    pub(super) fn holds_any(&self, command: Command) -> bool {
        self.pages(self.within(command)).any(|page| self.buffer.holds(page))
    }

    /// Advances a channel until these dies have done their urgent work; returns when the last of
    /// them has.
    fn finish(&mut self, channel: usize, mut dies: BTreeSet<usize>) -> u64 {
        let mut done = 0;
        loop {
            // A die that has finished goes on with other work that waits.
            dies.retain(|&die| self.channels[channel].is_hurried(die));
            let next = if dies.is_empty() { None } else { self.channels[channel].next(self.model) };
            let Some((at, die)) = next else { return done };
            self.step(at, channel, die);
            done = at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blocks_that_are_surely_overwritten_are_absorbed() {
        let shipped = crate::ssd::find("generic-ssd").unwrap();
        let model = shipped.build().unwrap();
        let mut ssd = Ssd::new(&model);
        let write = |block| Command { block, count: 1, write: true, synchronous: true };
        for block in 0..model.page_blocks {
            ssd.serve(0, write(block));
        }
        assert_eq!(ssd.traffic().absorbed, 0, "each is another block of the page");
        ssd.serve(0, write(3));
        assert_eq!(ssd.traffic().absorbed, 1);
    }

    #[test]
    fn a_read_of_more_of_a_page_than_waits_in_the_buffer_comes_from_the_cells() {
        let shipped = crate::ssd::find("generic-ssd").unwrap();
        let model = shipped.build().unwrap();
        let read_ns = |count| {
            let mut ssd = Ssd::new(&model);
            let command = |count, write| Command { block: 4096, count, write, synchronous: true };
            ssd.serve(0, command(1, true));
            ssd.serve(100_000, command(count, false)).completed_ns - 100_000
        };
        assert_eq!(read_ns(1), 10_000 + 160, "it is what was written");
        assert_eq!(read_ns(8), 10_000 + 50_000 + 5_120 + 1_280);
    }

    /// Guards against blaming the link for what waits for the cells.
    #[test]
    fn writes_behind_one_that_waits_for_room_wait_for_room_too() {
        let model = crate::ssd::tests::small().build().unwrap();
        let mut ssd = Ssd::new(&model);
        let [mut waited_ns, mut bus_ns] = [0; 2];
        for n in 0..4000 {
            let command = Command { block: n * 8, count: 8, write: true, synchronous: true };
            let parts = ssd.serve(n * 2000, command).parts;
            waited_ns += parts.waited_ns;
            bus_ns += parts.bus_ns;
        }
        assert!(waited_ns > 10 * bus_ns, "{waited_ns} {bus_ns}");
    }

    #[test]
    fn a_read_finds_nothing_where_all_of_it_was_never_written_or_was_discarded() {
        let mut parameters = crate::ssd::find("generic-ssd").unwrap();
        parameters.filled = Filled::Empty;
        let model = parameters.build().unwrap();
        let mut ssd = Ssd::new(&model);
        let command = |count, write| Command { block: 0, count, write, synchronous: true };
        ssd.serve(0, command(120, true));
        // The last of 16 pages was never written; the others are in the buffer, and then in the
        // cells.
        ssd.serve(100_000, command(128, false));
        ssd.flush(200_000);
        ssd.serve(10_000_000, command(128, false));
        assert_eq!(ssd.traffic().unwritten_reads, 0);
        ssd.discard(20_000_000, 0, 120);
        ssd.serve(30_000_000, command(128, false));
        assert_eq!(ssd.traffic().unwritten_reads, 1);
    }
}
