//! Do requests begin and end at the borders of sectors, pages, database blocks and RAID chunks?
//!
//! A misaligned write costs a read first: on disks with 4 KiB sectors that emulate 512 B, on flash,
//! and in arrays with parity.

use super::accumulate::Accumulate;
use super::column::STRIDE;
use ioscape_schema::trace_summary::AlignedShare;
use ioscape_schema::{Io, Op};
use serde::{Deserialize, Serialize};

/// The sizes examined, in bytes, each a multiple of the one before.
const UNITS: [u64; 4] = [512, 4 << 10, 16 << 10, 64 << 10];

/// Bits of a counter for a small batch of rows.
const PART: u32 = u64::BITS / UNITS.len() as u32;
const _: () = assert!(STRIDE < 1 << PART);

/// Requests that move data, by operation, and how many begin and end at multiples of each size.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Alignment {
    seen: [Seen; 2],
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Seen {
    ios: u64,
    aligned: [u64; UNITS.len()],
}

impl Alignment {
    /// The shares, smallest size first; none for an operation without requests.
    pub fn finish(&self) -> Vec<AlignedShare> {
        let of_op = |(op, seen): (Op, &Seen)| {
            let Seen { ios, aligned } = *seen;
            UNITS
                .into_iter()
                .zip(aligned)
                .filter(move |_| ios > 0)
                .map(move |(unit_bytes, aligned)| AlignedShare { op, unit_bytes, ios, aligned })
        };
        [Op::Read, Op::Write].into_iter().zip(&self.seen).flat_map(of_op).collect()
    }
}

impl Accumulate for Alignment {
    #[inline]
    fn update(&mut self, io: &Io) {
        if !io.moves_data() {
            return;
        }
        let seen = &mut self.seen[usize::from(io.request.op == Op::Write)];
        seen.ios += 1;
        // Both are multiples of a power of two if neither has a low bit set.
        let bits = io.request.offset | u64::from(io.request.len);
        for (aligned, unit) in seen.aligned.iter_mut().zip(UNITS) {
            *aligned += u64::from(bits & (unit - 1) == 0);
        }
    }

    fn update_all(&mut self, ios: &[Io]) {
        for ios in ios.chunks(STRIDE) {
            // All sizes in one word: with so few rows, no counter outgrows its bits.
            let (mut seen, mut aligned) = ([0u64; 2], [0u64; 2]);
            for io in ios {
                let bits = io.request.offset | u64::from(io.request.len);
                let is_aligned = UNITS.map(|unit| u64::from(bits & (unit - 1) == 0));
                let word = (0..).zip(is_aligned).fold(0, |word, (at, is)| word | is << (at * PART));
                let (op, one) =
                    (usize::from(io.request.op == Op::Write), u64::from(io.moves_data()));
                seen[op] += one;
                aligned[op] += word * one;
            }
            for (all, (seen, aligned)) in self.seen.iter_mut().zip(seen.into_iter().zip(aligned)) {
                all.ios += seen;
                for (at, all) in (0..).zip(&mut all.aligned) {
                    *all += aligned >> (at * PART) & ((1 << PART) - 1);
                }
            }
        }
    }

    fn merge(&mut self, later: Self) {
        for (mine, theirs) in self.seen.iter_mut().zip(&later.seen) {
            mine.ios += theirs.ios;
            for (mine, theirs) in mine.aligned.iter_mut().zip(theirs.aligned) {
                *mine += theirs;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{IoFlags, Request};
    use proptest::prelude::*;

    fn of(rows: &[Io]) -> Alignment {
        let mut alignment = Alignment::default();
        alignment.update_all(rows);
        alignment
    }

    fn io(op: Op, offset: u64, len: u32) -> Io {
        Io { request: Request { op, offset, len }, ..Io::default() }
    }

    #[test]
    fn both_ends_count() {
        let found = of(&[
            io(Op::Write, 0, 65_536),
            io(Op::Write, 4096, 65_536),
            io(Op::Write, 65_536, 4096),
            io(Op::Write, 512, 4096),
            io(Op::Write, 100, 4096),
            Io { flags: IoFlags::DISCARD, ..io(Op::Write, 1, 1) },
        ]);
        let shares = found.finish();
        assert!(shares.iter().all(|share| share.op == Op::Write && share.ios == 5));
        let aligned: Vec<_> = shares.iter().map(|one| (one.unit_bytes, one.aligned)).collect();
        assert_eq!(aligned, [(512, 4), (4096, 3), (16_384, 1), (65_536, 1)]);
        assert!(of(&[]).finish().is_empty());
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_whole_and_larger_sizes_hold_fewer(
            places in prop::collection::vec((any::<bool>(), 0u64..1 << 20, 1u32..1 << 18), 0..60),
            cut in 0usize..60,
        ) {
            let row = |(read, block, len): (bool, u64, u32)| {
                io(if read { Op::Read } else { Op::Write }, block * 256, len.next_multiple_of(256))
            };
            let rows: Vec<Io> = places.into_iter().map(row).collect();
            let (early, late) = rows.split_at(cut.min(rows.len()));
            let mut merged = of(early);
            merged.merge(of(late));
            let whole = of(&rows).finish();
            prop_assert_eq!(merged.finish(), whole.clone());
            let mut single = Alignment::default();
            rows.iter().for_each(|io| single.update(io));
            prop_assert_eq!(single.finish(), whole.clone());
            for pair in whole.windows(2).filter(|pair| pair[0].op == pair[1].op) {
                prop_assert!(pair[0].aligned >= pair[1].aligned && pair[0].aligned <= pair[0].ios);
            }
        }
    }
}
