//! Random drives under random requests: properties that hold for every drive and every request.

use super::*;
use crate::command::{Command, Done};
use ioscape_schema::IoFlags;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use std::collections::BTreeSet;

/// Number of drives, and of requests to each.
const DRIVES: u64 = 150;
const REQUESTS: u32 = 1500;

struct Dice(Pcg64Mcg);

impl Dice {
    fn new(seed: u64) -> Self {
        let mut dice = Self(Pcg64Mcg::new(u128::from(seed) << 24 | 4711));
        let _ = [(); 8].map(|()| dice.below(2));
        dice
    }

    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    fn one_of<T: Copy>(&mut self, some: &[T]) -> T {
        some[self.below(some.len() as u64) as usize]
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.below(1 << 30) as f64 / f64::from(1 << 30)
    }
}

/// A small drive of any shape, without a limit on commands in progress.
fn drive(dice: &mut Dice) -> Parameters {
    let mut p = find("generic-ssd").expect("it is shipped");
    let flash = &mut p.flash;
    flash.page_bytes = dice.one_of(&[4096, 8192, 16384]);
    flash.channels = 1 + dice.below(4) as u32;
    flash.dies_per_channel = 1 + dice.below(3) as u32;
    flash.pages_per_block = dice.one_of(&[16, 24, 64]);
    flash.cell_page_bytes = dice.one_of(&[None, Some(2 * flash.page_bytes)]);
    flash.planes_per_die = dice.one_of(&[None, Some(2), Some(4)]);
    flash.suspend_ms = dice.one_of(&[None, Some(0.0), Some(0.02)]);
    flash.read_ms = dice.between(0.01, 0.1);
    flash.program_ms = dice.between(0.1, 1.0);
    flash.erase_ms = dice.between(0.0, 4.0);
    flash.channel_bytes_per_s = dice.between(1e8, 2e9);
    // Ample room for garbage, or hardly any.
    let held = 8 + dice.below(20) as u32;
    flash.blocks_per_die = held + dice.one_of(&[2, 3, 8]);
    let dies = u64::from(flash.channels * flash.dies_per_channel);
    let pages = dies * u64::from(held * flash.pages_per_block) - dice.below(dies + 3);
    p.capacity_bytes = pages * u64::from(flash.page_bytes);
    let controller = &mut p.controller;
    controller.command_ms = dice.between(0.0, 0.02);
    controller.link_bytes_per_s = dice.between(2e8, 4e9);
    controller.write_buffer_bytes = u64::from(flash.page_bytes) * (1 + dice.below(64));
    controller.power_loss_protection = false;
    p.filled = dice.one_of(&[Filled::Empty, Filled::Full, Filled::SteadyState]);
    p
}

/// A request anywhere, seldom of whole pages only.
fn request(dice: &mut Dice, model: &Model) -> (Command, IoFlags) {
    let count = dice.one_of(&[1, model.page_blocks, 3 * model.page_blocks + 2, 64]);
    let block = dice.below(model.blocks - count.min(model.blocks - 1));
    let block = dice.one_of(&[block, block / model.page_blocks * model.page_blocks]);
    let command = Command { block, count, write: dice.below(2) == 0, synchronous: true };
    let flags = match dice.below(20) {
        0 => IoFlags::DISCARD,
        1 => IoFlags::FLUSH,
        2 => IoFlags::FUA,
        _ => IoFlags::empty(),
    };
    (command, flags)
}

/// The pages that a command covers, and the pages that it touches.
fn touched(model: &Model, command: Command) -> [std::ops::Range<u64>; 2] {
    let (block, end) = (command.block, (command.block + command.count).min(model.blocks));
    let page = model.page_blocks;
    [block.div_ceil(page)..end / page, block / page..end.div_ceil(page)]
}

/// A drive in operation, and which of its pages hold nothing.
struct Run<'a> {
    ssd: Ssd<'a>,
    model: &'a Model,
    empty: BTreeSet<u64>,
    written: u64,
    now_ns: u64,
}

impl<'a> Run<'a> {
    fn new(model: &'a Model) -> Self {
        let pages = u64::from(model.pages());
        let empty =
            if model.filled == Filled::Empty { (0..pages).collect() } else { BTreeSet::new() };
        Self { ssd: Ssd::new(model), model, empty, written: 0, now_ns: 0 }
    }

    /// Executes a request and checks what holds for any.
    fn one(&mut self, dice: &mut Dice, but: IoFlags) -> (Command, Done) {
        let (command, mut flags) = request(dice, self.model);
        flags.remove(but);
        let done = self.ssd.act(self.now_ns, command, flags);
        let took = done.completed_ns - self.now_ns;
        assert_eq!(done.parts.total_ns(), took, "the parts of {command:?} {flags:?} add up");
        let [whole, any] = touched(self.model, command);
        if flags.contains(IoFlags::DISCARD) {
            self.empty.extend(whole);
            return (command, done);
        }
        let of = usize::from(command.write);
        let blocks = command.count.min(self.model.blocks - command.block);
        let least = self.model.command_ns[of] + ((blocks * self.model.link_block[of]) >> 10);
        // A write is carried page by page, and each time is rounded down.
        let rounded = any.end - any.start;
        assert!(took + rounded >= least, "{command:?} took {took} ns of at least {least}");
        if command.write {
            self.written += blocks;
            any.for_each(|page| _ = self.empty.remove(&page));
        } else if any.clone().all(|page| self.empty.contains(&page)) {
            assert!(done.parts.cached, "nothing is sensed of pages that hold nothing: {command:?}");
            assert_eq!(done.parts.transfer_ns, 0, "{command:?}");
        }
        if flags.contains(IoFlags::FUA) && command.write {
            assert!(!self.ssd.holds_any(command), "what must be in the cells waits in no buffer");
        }
        (command, done)
    }
}

#[test]
fn requests_take_what_they_need_and_nothing_is_lost_or_read_where_nothing_is() {
    for seed in 0..DRIVES {
        let dice = &mut Dice::new(seed);
        let model = drive(dice).build().expect("the drive can be built");
        let discards = seed % 3 > 0;
        let but = if discards { IoFlags::empty() } else { IoFlags::DISCARD };
        let mut run = Run::new(&model);
        for _ in 0..REQUESTS {
            run.one(dice, but);
            run.now_ns += dice.below(400_000);
        }
        run.ssd.flush(run.now_ns);
        let traffic = run.ssd.traffic();
        assert_eq!((traffic.written, traffic.held), (run.written, 0), "{seed}");
        let programmed = traffic.destaged + traffic.absorbed;
        assert!(discards || programmed >= traffic.written, "{seed}: {traffic:?}");
    }
}

/// Least time of a read of one page from the cells, and most time with all it may wait for if
/// programs and erases can be suspended. Otherwise a read waits for their end, and the end of a
/// program behind a flush may be far off.
fn read_bounds(model: &Model, blocks: u64) -> [u64; 2] {
    let link = (blocks * model.link_block[0]) >> 10;
    let least = model.command_ns[0] + model.read_ns + model.channel_page_ns + link;
    [least, model.suspend_ns.map_or(u64::MAX, |suspend| least + suspend)]
}

#[test]
fn a_read_goes_before_all_that_is_to_be_written_and_suspends_what_is_being_written() {
    let (mut alone, mut waited) = (0, 0);
    for seed in 0..DRIVES {
        let dice = &mut Dice::new(seed);
        let model = Parameters { filled: Filled::Full, ..drive(dice) }.build().expect("a drive");
        let mut run = Run::new(&model);
        let mut reads_until = 0;
        for _ in 0..REQUESTS {
            let begun = run.now_ns;
            // A request that flushes first waits for the flush.
            let (command, done) = run.one(dice, IoFlags::FLUSH);
            let [_, any] = touched(&model, command);
            let is_page = !command.write && any.end - any.start == 1;
            let from_cells = is_page && done.parts.transfer_ns > 0;
            if from_cells && reads_until <= begun {
                let blocks = command.count.min(model.blocks - command.block);
                let [least, most] = read_bounds(&model, blocks);
                let took = done.completed_ns - begun;
                assert!((least..=most).contains(&took), "{seed}: {took} of {least} to {most}");
                (alone, waited) = (alone + 1, waited + u64::from(took > least));
            }
            if !command.write {
                reads_until = reads_until.max(done.completed_ns);
            }
            run.now_ns += dice.below(400_000);
        }
    }
    assert!(alone > 1000 && waited > 100, "{waited} of {alone} reads found a die at work");
}
