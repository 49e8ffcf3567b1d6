//! Preconditioning: what a drive holds when a run begins.

use super::filling::{Filling, share};
use super::{Filled, Flash, Ftl, Model};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// Size of the small die on which the steady state is found: its blocks, and the most pages of
/// each. With 128 pages, blocks of 4096 would amplify writes by 5 % too little.
const SAMPLE_BLOCKS: u32 = 256;
const SAMPLE_PAGES: u32 = 1024;

/// How many times that die is overwritten before its state is taken.
const OVERWRITES: u32 = 6;

impl Model {
    /// What the drive holds when a run begins.
    pub(super) fn begins(&self) -> Filling {
        let Self { flash, filled, .. } = self;
        let pages = self.pages();
        let counts = self.counts.get_or_init(|| counts(flash, pages, *filled));
        Filling::new(flash, pages, counts, *filled == Filled::SteadyState)
    }

    /// What it holds if data were written to its first `pages`, in order: these alone where it
    /// begins empty.
    pub(super) fn begins_with(&self, pages: u32) -> Filling {
        match self.filled {
            Filled::Empty => {
                let counts = counts(&self.flash, pages, Filled::Full);
                Filling::new(&self.flash, self.pages(), &counts, false)
            }
            Filled::Full | Filled::SteadyState => self.begins(),
        }
    }
}

/// Pages in use of each block of a die in the state named by `filled`, on chips with `pages`
/// logical pages.
fn counts(flash: &Flash, pages: u32, filled: Filled) -> Vec<u16> {
    let share = share(flash, pages);
    match filled {
        Filled::Empty => Vec::new(),
        Filled::Full => in_order(share, flash.pages_per_block),
        Filled::SteadyState => steady(flash, share),
    }
}

/// Returns the state named by `filled`, for chips with `pages` logical pages.
pub fn filling(flash: &Flash, pages: u32, filled: Filled) -> Filling {
    let counts = counts(flash, pages, filled);
    Filling::new(flash, pages, &counts, filled == Filled::SteadyState)
}

/// Full blocks, and a last one with the remaining pages.
fn in_order(share: u32, pages_per_block: u32) -> Vec<u16> {
    let whole = share / pages_per_block;
    let mut counts = vec![pages_per_block as u16; whole as usize];
    let rest = share % pages_per_block;
    counts.extend((rest > 0).then_some(rest as u16));
    counts
}

/// Pages in use of each block of a die after endless random writes; the block being written comes
/// last. The state is found on a small die with the same share of spare blocks, and repeated.
fn steady(flash: &Flash, share: u32) -> Vec<u16> {
    let closed = flash.blocks_per_die - 2;
    let sample = closed.min(SAMPLE_BLOCKS);
    let per_block = flash.pages_per_block.min(SAMPLE_PAGES);
    let room = u64::from(closed) * u64::from(flash.pages_per_block);
    // If a drive uses little of its flash, less than a page would be left.
    let held = (u64::from(share) * u64::from(sample) * u64::from(per_block) / room).max(1);
    let small = Flash {
        channels: 1,
        dies_per_channel: 1,
        blocks_per_die: sample + 2,
        pages_per_block: per_block,
        ..*flash
    };
    let held = held as u32;
    let mut ftl = Ftl::new(&small, filling(&small, held, Filled::Full));
    let mut dice = Pcg64Mcg::new(1);
    for _ in 0..u64::from(held) * u64::from(OVERWRITES) {
        ftl.program(((u128::from(dice.next_u64()) * u128::from(held)) >> 64) as u32);
    }
    let found = ftl.closed_counts();
    let grown = |count: u16| (u32::from(count) * flash.pages_per_block / per_block) as u16;
    let mut counts: Vec<u16> =
        (0..closed as usize).map(|at| grown(found[at % found.len()])).collect();
    // The block being written begins with the pages that were moved there.
    let moved = counts.iter().copied().min().unwrap_or(0);
    balance(&mut counts, share - u32::from(moved), flash.pages_per_block as u16);
    counts.push(moved);
    counts
}

/// Adjusts counts up or down, one page at a time, until they add up to `share`.
fn balance(counts: &mut [u16], share: u32, most: u16) {
    let mut sum: i64 = counts.iter().map(|&count| i64::from(count)).sum();
    let share = i64::from(share);
    while sum != share {
        for count in counts.iter_mut() {
            if sum < share && *count < most {
                (*count, sum) = (*count + 1, sum + 1);
            } else if sum > share && *count > 0 {
                (*count, sum) = (*count - 1, sum - 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Command;
    use crate::ssd::tests::{below, send, small};
    use crate::ssd::{Parameters, SHIPPED, Ssd};

    #[test]
    fn counts_are_balanced_within_bounds() {
        let mut counts = vec![64, 0, 10, 63];
        balance(&mut counts, 140, 64);
        assert_eq!(counts.iter().map(|&c| u32::from(c)).sum::<u32>(), 140);
        assert!(counts.iter().all(|&c| c <= 64));
    }

    /// Guards against a defect: every point of an evaluation took half a second to find it again.
    #[test]
    fn a_steady_state_is_found_once_and_every_run_begins_in_it() {
        let parameters = Parameters { filled: Filled::SteadyState, ..small() };
        let [model, anew] = [0; 2].map(|_| parameters.build().unwrap());
        let times = |model: &Model| -> Vec<u64> {
            let (mut ssd, mut dice) = (Ssd::new(model), Pcg64Mcg::new(3));
            let mut page = || u64::from(below(&mut dice, model.pages()));
            (0..20_000).map(|n| send(&mut ssd, n * 20_000, 8 * page(), 8, true)).collect()
        };
        let first = times(&model);
        let found = counts(&model.flash, model.pages(), Filled::SteadyState);
        assert_eq!(model.counts.get(), Some(&found), "it is kept");
        assert!(times(&model) == first && times(&anew) == first);
    }

    #[test]
    fn a_set_laid_out_on_an_empty_drive_is_all_that_it_holds() {
        let model = small().build().unwrap();
        let mut ssd = Ssd::laid_out(&model, 8 * 1000);
        for (page, nothing) in [(0, 0), (999, 0), (1024, 1), (16_383, 2)] {
            send(&mut ssd, page * 1_000_000, 8 * page, 8, false);
            assert_eq!(ssd.traffic().unwritten_reads, nothing, "{page}");
        }
    }

    #[test]
    fn a_file_that_does_not_say_what_the_drive_holds_is_of_a_full_one() {
        let (name, text) = SHIPPED[0];
        let silent = text.replacen("filled = \"full\"\n", "", 1);
        let parameters = Parameters::parse(&silent, name).unwrap();
        assert!(silent.len() < text.len() && parameters.filled == Filled::Full);
        let model = parameters.build().unwrap();
        let command = Command { block: 4096, count: 8, write: false, synchronous: true };
        // Command, sensing, channel and link.
        let known_ns = 10_000 + 50_000 + 5_120 + 1_280;
        assert_eq!(Ssd::new(&model).serve(0, command).completed_ns, known_ns);
    }
}
