//! Block figures of streams worked out by hand.

use super::*;
use ioscape_schema::Request;

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
    let mut seen = Blocks::new(BlockSize::of(8192), false);
    seen.update_all(&[io(Op::Write, 0, 4096, 8192), io(Op::Write, 1, 12_288, 8192)]);
    assert_eq!(seen.working_set(0).write_bytes, 3 * 8192);
    let found = seen.overwrites();
    assert_eq!((found.block_writes, found.delay_ns.count), (2, 0));
    let mut seen = Blocks::new(BlockSize::of(8192).begin(BlockAlign::Request), false);
    seen.update_all(&[io(Op::Write, 0, 4096, 8192), io(Op::Write, 1, 12_288, 8192)]);
    assert_eq!(seen.working_set(0).write_bytes, 2 * 8192);
}

#[test]
fn a_full_table_takes_no_more_blocks_and_says_so() {
    let mut seen = Blocks { most: 2, ..Blocks::new(BlockSize::of(8192), false) };
    let far = |b: u64| io(Op::Read, b, b * 8192 * GROUP as u64, 8192);
    seen.update_all(&(0..4).chain(0..2).map(far).collect::<Vec<_>>());
    assert_eq!((seen.unique_bytes(), seen.untracked()), (2 * 8192, 2));
}

#[test]
fn overwrites_popularity_and_working_set_of_a_known_stream() {
    let mut seen = Blocks::new(BlockSize::of(8192), false);
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
    assert_eq!((found.delay_ns.max, found.within_1h), (30e9, 1.0));
    let found = seen.popularity(&TraceInfo::default());
    assert_eq!((found.blocks_written, &found.curve[..]), (2, &[(1, 0.75), (2, 1.0)][..]));
    let set = seen.working_set(0);
    assert_eq!((set.bytes, set.read_bytes, set.write_bytes), (3 * 8192, 2 * 8192, 2 * 8192));
    let tens = &set.over_time[1];
    assert_eq!((tens.window_ns, &tens.bytes[..]), (10 * SECOND_NS, &[8192, 0, 0, 24576][..]));
}
