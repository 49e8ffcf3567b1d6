//! Block figures of streams worked out by hand.

use super::*;
use block::GROUP;
use ioscape_schema::chance::mix;
use ioscape_schema::{Op, Request};

impl Blocks {
    fn update_all(&mut self, ios: &[Io]) {
        self.gather(ios);
        self.settle();
    }
}

fn io(op: Op, s: u64, offset: u64, len: u32) -> Io {
    let request = Request { op, offset, len };
    Io { request, queued_ns: s * SECOND_NS, ..Io::default() }
}

#[test]
fn blocks_are_those_of_a_cache_or_those_of_the_request() {
    let (offset, size) = (12_288, BlockSize::of(8192));
    let request = size.begin(BlockAlign::Request);
    assert_eq!(touched(&io(Op::Read, 0, offset, 8192), size), 1..3);
    assert_eq!(touched(&io(Op::Read, 0, offset, 8192), request), 1..2);
    assert_eq!(touched(&io(Op::Read, 0, offset, 4096), size), 1..2);
    for size in [size, request] {
        assert_eq!(touched(&io(Op::Read, 0, 8192, 8193), size), 1..3);
        assert!(touched(&io(Op::Write, 0, 0, 0), size).is_empty());
    }
}

#[test]
fn sets_are_aligned_and_overwrites_go_by_the_request() {
    let mut seen = Blocks::new(BlockSize::of(8192), false, MOST_BYTES);
    seen.update_all(&[io(Op::Write, 0, 4096, 8192), io(Op::Write, 1, 12_288, 8192)]);
    assert_eq!(seen.working_set(&seen.tally(), 0).write_bytes, Some(3 * 8192));
    let found = seen.overwrites();
    assert_eq!((found.block_writes, found.delay_ns.count), (2, 0));
    let mut seen = Blocks::new(BlockSize::of(8192).begin(BlockAlign::Request), false, MOST_BYTES);
    seen.update_all(&[io(Op::Write, 0, 4096, 8192), io(Op::Write, 1, 12_288, 8192)]);
    assert_eq!(seen.working_set(&seen.tally(), 0).write_bytes, Some(2 * 8192));
}

/// Sixty thousand blocks, each written twice and read once, in a table with room for all and in one
/// with room for a few.
#[test]
fn a_table_at_its_bound_goes_on_with_a_sample() {
    let rows = (0..180_000u64).map(|at| {
        let (round, block) = (at / 60_000, at % 60_000);
        let op = if round == 2 { Op::Read } else { Op::Write };
        io(op, at / 1000, block * 8192 * GROUP, 8192)
    });
    let rows: Vec<Io> = rows.collect();
    let of = |most_bytes| {
        let mut seen = Blocks::new(BlockSize::of(8192), false, most_bytes);
        rows.chunks(100).for_each(|rows| seen.update_all(rows));
        seen
    };
    let (all, few) = (of(MOST_BYTES), of(300_000));
    assert_eq!((all.unique_bytes(), all.sample()), (60_000 * 8192, (1, 0.0)));
    let (one_in, error) = few.sample();
    assert!(
        one_in > 1
            && few.sum(|shard| shard.table.bytes() as u64) <= 300_000
            && error > 0.0
            && error < 0.2,
        "{error}"
    );
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.1;
    let [all, few] = [all, few].map(|seen| {
        let (set, overwrites) = (seen.working_set(&seen.tally(), 0), seen.overwrites());
        let popular = seen.popularity(&seen.tally(), None);
        [
            set.bytes as f64,
            set.write_bytes.unwrap_or(0) as f64,
            overwrites.delay_ns.count as f64,
            overwrites.delay_ns.mean,
            popular.blocks_written as f64,
            popular.top_1_percent_written,
            set.over_time[1].bytes[7] as f64,
        ]
    });
    assert!(few.iter().zip(all).all(|(few, all)| near(*few, all)), "{few:?} for {all:?}");
}

#[test]
fn overwrites_popularity_and_working_set_of_a_known_stream() {
    let mut seen = Blocks::new(BlockSize::of(8192), false, MOST_BYTES);
    for (op, s, block) in [
        (Op::Write, 0, 0),
        (Op::Write, 1, 0),
        (Op::Read, 2, 0),
        (Op::Write, 31, 0),
        (Op::Write, 31, 1),
        (Op::Read, 31, 2),
    ] {
        seen.update_all(&[io(op, s, block * 8192, 8192)]);
    }
    let found = seen.overwrites();
    assert_eq!((found.delay_ns.count, found.block_writes), (2, 4));
    assert_eq!((found.delay_ns.max, found.within_1h), (30e9, Some(1.0)));
    let found = seen.popularity(&seen.tally(), None);
    assert_eq!((found.blocks_written, &found.curve[..]), (2, &[(1, 0.75), (2, 1.0)][..]));
    let set = seen.working_set(&seen.tally(), 0);
    assert_eq!(
        (set.bytes, set.read_bytes, set.write_bytes),
        (3 * 8192, Some(2 * 8192), Some(2 * 8192))
    );
    let tens = &set.over_time[1];
    assert_eq!((tens.window_ns, &tens.bytes[..]), (10 * SECOND_NS, &[8192, 0, 0, 24576][..]));
}

/// Shards that are given all requests separately find what all find together.
#[test]
fn shards_by_themselves_give_the_whole() {
    let row = |at: u64| {
        io(
            if at.is_multiple_of(3) { Op::Read } else { Op::Write },
            at / 700,
            (at * at % 9973) * 4096,
            1 << (9 + at % 9),
        )
    };
    let rows: Vec<Io> = (0..20_000).map(row).collect();
    let new = || Blocks::new(BlockSize::of(8192), false, MOST_BYTES);
    let (mut whole, mut apart) = (new(), [2, 4, 8].map(|threads| (threads, new())));
    for rows in rows.chunks(3000) {
        whole.update_all(rows);
        for (threads, apart) in &mut apart {
            apart.shares(*threads).for_each(|shards| gather(shards, rows));
        }
    }
    let told = |seen: &Blocks| {
        let popular = seen.popularity(&seen.tally(), None);
        format!("{:?} {:?} {popular:?}", seen.working_set(&seen.tally(), 7), seen.overwrites())
    };
    for (threads, mut apart) in apart {
        apart.settle();
        assert_eq!(told(&whole), told(&apart), "{threads} threads");
        assert_eq!(apart.shares(threads).count(), threads / 2);
    }
    assert!(whole.shards.iter().all(|shard| shard.counts.tracked > 100));
}

/// More touches and more seconds than may wait.
#[test]
fn what_waits_for_long_is_counted_on_the_way() {
    let long = (0..150u64).map(|at| io(Op::Write, at / 60, (at % 7) << 26, 1 << 26));
    let slow = (3..9000u64)
        .map(|s| io(if s % 2 == 0 { Op::Read } else { Op::Write }, s, (s % 777) << 20, 4096));
    let rows: Vec<Io> = long.chain(slow).collect();
    let new = || Blocks::new(BlockSize::of(8192), false, MOST_BYTES);
    let (mut soon, mut late, mut apart) = (new(), new(), new());
    rows.chunks(5).for_each(|rows| soon.update_all(rows));
    late.update_all(&rows);
    for shards in apart.shares(8) {
        rows.chunks(64).for_each(|rows| gather(shards, rows));
    }
    apart.settle();
    let told = |seen: &Blocks| {
        let tally = seen.tally();
        let popular = seen.popularity(&tally, None);
        format!("{:?} {:?} {popular:?}", seen.working_set(&tally, 7), seen.overwrites())
    };
    assert_eq!((told(&late), told(&apart)), (told(&soon), told(&soon)));
}

/// A whole counts blocks that lie together line by line, a part counts them one by one.
#[test]
fn a_part_counts_what_a_whole_does() {
    let rows = (0..40_000u64).map(|at| {
        let x = mix(at);
        let op = if x & 3 == 0 { Op::Read } else { Op::Write };
        // One block is written more often than a line can count.
        let (first, len) = if at >= 28_000 { (5, 1) } else { (x >> 8 & 0xfff, x >> 32 & 7) };
        Io { queued_ns: at * SECOND_NS / 50, ..io(op, 0, first * 8192, len as u32 * 8192) }
    });
    let rows: Vec<Io> = rows.collect();
    let found = [false, true].map(|part| {
        let mut seen = Blocks::new(BlockSize::of(8192), part, MOST_BYTES);
        rows.chunks(3000).for_each(|rows| seen.update_all(rows));
        let tally = seen.tally();
        assert!(tally.by_writes.keys().any(|&writes| writes > 8191), "{:?}", tally.by_writes);
        let popularity = seen.popularity(&tally, None);
        format!("{popularity:?} {:?} {:?}", seen.overwrites(), seen.working_set(&tally, 0))
    });
    assert_eq!(found[0], found[1]);
}
