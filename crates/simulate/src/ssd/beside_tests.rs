//! Tests of a solid-state drive with many requests in flight: what they share, and that they wait
//! for nothing else.

use super::tests::{below, generic, send, small, write_rate};
use super::*;
use crate::command::Command;
use ioscape_schema::IoFlags;
use rand_pcg::Pcg64Mcg;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Time of a single read of a page: command, sensing, channel and link.
const ALONE_NS: u64 = 10_000 + 50_000 + 5_120 + 1_280;

#[test]
fn a_read_waits_for_no_earlier_one_of_another_die() {
    let model = generic().build().unwrap();
    let mut ssd = Ssd::new(&model);
    // All on the first die, no two in one page of its cells.
    let slow: Vec<u64> = (0..10).map(|n| send(&mut ssd, 0, n * 256 * 8, 8, false)).collect();
    assert_eq!(slow[9], ALONE_NS + 9 * 50_000);
    let quick = send(&mut ssd, 1_000, 8, 8, false);
    assert!((ALONE_NS..=ALONE_NS + 1_280).contains(&quick), "{quick} ns");
}

#[test]
fn a_controller_that_only_writes_keep_busy_moves_their_data_itself() {
    let mut parameters = small();
    parameters.controller.write_busy_ms = Some(0.010);
    let model = parameters.build().unwrap();
    let mut ssd = Ssd::new(&model);
    let turn = 10_000 + 1_280;
    assert_eq!(send(&mut ssd, 0, 0, 8, true), turn + 10_000);
    assert_eq!(send(&mut ssd, 0, 8, 8, true), 2 * turn + 10_000);
    assert_eq!(send(&mut ssd, 1_000_000, 8 * 1000, 8, false), 10_000 + 1_280, "never written");
    parameters.controller.adjacent_busy_frac = Some(0.1);
    assert!(parameters.build().is_ok());
    parameters.controller.write_busy_ms = None;
    let refused = parameters.build().unwrap_err().to_string();
    assert!(refused.contains("controller.adjacent_busy_frac: it has no effect"), "{refused}");
}

#[test]
fn many_reads_in_flight_keep_most_dies_at_work() {
    const COUNT: u32 = 20_000;
    let model = generic().build().unwrap();
    let (mut ssd, mut dice) = (Ssd::new(&model), Pcg64Mcg::new(7));
    let mut flying = BinaryHeap::from([Reverse(0); 64]);
    let mut last_ns = 0;
    for _ in 0..COUNT {
        let Reverse(now_ns) = flying.pop().expect("64 are in flight");
        let block = u64::from(below(&mut dice, model.pages())) * 8;
        flying.push(Reverse(now_ns + send(&mut ssd, now_ns, block, 8, false)));
        last_ns = now_ns;
    }
    let busy = f64::from(COUNT) * 50e3 / (32.0 * last_ns as f64);
    assert!((0.65..0.9).contains(&busy), "{busy} of the dies");
}

#[test]
fn all_dies_program_what_they_have_where_a_full_buffer_holds_no_whole_batch() {
    for pages in [32, 64] {
        let mut parameters = small();
        parameters.flash.planes_per_die = Some(2);
        parameters.flash.cell_page_bytes = Some(16_384);
        // Extra space, because batches that are not filled lose some.
        parameters.flash.blocks_per_die = 40;
        parameters.controller.write_buffer_bytes = pages * 4096;
        let most = (pages * 4096) as f64 / (0.5e-3 + 5.12e-6);
        let rate = write_rate(&parameters);
        assert!(rate > 0.5 * most, "{pages} pages: {rate} of {most} bytes/s");
    }
}

#[test]
fn a_buffer_that_is_full_of_pages_of_one_die_leaves_the_others_their_whole_batches() {
    let model = generic().build().unwrap();
    let (mut ssd, mut dice) = (Ssd::new(&model), Pcg64Mcg::new(9));
    let mut now_ns = 0;
    for n in 0..20_000 {
        let anywhere = below(&mut dice, model.pages());
        let page = if n % 10 == 0 { anywhere } else { anywhere / 32 * 32 };
        now_ns += send(&mut ssd, now_ns, u64::from(page) * 8, 8, true);
    }
    assert!(ssd.buffered_pages() > 4_000, "it is full but for what ends together");
    let traffic = ssd.traffic();
    assert!(traffic.destaged <= traffic.written, "{traffic:?}");
}

/// A drive of eight dies on one channel of 100 MB/s, which carries a page in 40.96 us.
fn narrow() -> Parameters {
    let mut parameters = Parameters { filled: Filled::Full, capacity_bytes: 16 << 20, ..small() };
    (parameters.flash.channels, parameters.flash.dies_per_channel) = (1, 8);
    parameters.flash.channel_bytes_per_s = 1e8;
    parameters
}

#[test]
fn what_is_programmed_waits_for_a_channel_that_reads_take() {
    let model = narrow().build().unwrap();
    let mut ssd = Ssd::new(&model);
    for page in 0..96 {
        send(&mut ssd, 0, page * 8, 8, false);
    }
    let write = Command { block: 0, count: 8, write: true, synchronous: true };
    let done = ssd.act(0, write, IoFlags::FUA);
    // The channel carries the reads' data from 60 us on, and then a page to its program.
    assert_eq!(done.completed_ns, 60_000 + 97 * 40_960 + 500_000);
}

/// Examines the channel again only after all that it carries is over.
#[test]
fn a_program_waits_for_what_reads_took_of_its_channel_however_late_that_is_looked_at() {
    let model = narrow().build().unwrap();
    let mut ssd = Ssd::new(&model);
    let command = |block, count, write| Command { block, count, write, synchronous: true };
    for page in 0..96 {
        ssd.act(0, command(page * 8, 8, false), IoFlags::empty());
    }
    ssd.act(0, command(0, 8, true), IoFlags::empty());
    let done = ssd.act(4_000_000, command(0, 0, true), IoFlags::FLUSH);
    assert_eq!(done.completed_ns, 60_000 + 97 * 40_960 + 500_000);
}

#[test]
fn a_channel_carries_reads_and_writes_together_at_no_more_than_its_rate() {
    const END_NS: u64 = 500_000_000;
    let mut parameters = narrow();
    parameters.flash.planes_per_die = Some(2);
    parameters.flash.cell_page_bytes = Some(16_384);
    parameters.flash.blocks_per_die = 40;
    let model = parameters.build().unwrap();
    let (mut ssd, mut dice) = (Ssd::new(&model), Pcg64Mcg::new(8));
    let mut flying: BinaryHeap<_> = (0..97).map(|n| Reverse((0, n == 96))).collect();
    let (mut read, mut written) = (0, 0);
    while let Some(Reverse((now_ns, write))) = flying.pop()
        && now_ns < END_NS
    {
        let (block, count) = if write {
            written += 1;
            (written % 512 * 64, 64)
        } else {
            read += 1;
            (u64::from(below(&mut dice, model.pages())) * 8, 8)
        };
        let command = Command { block, count, write, synchronous: true };
        let done = ssd.act(now_ns, command, IoFlags::empty());
        flying.push(Reverse((done.completed_ns, write)));
    }
    let carried = (4096 * read + 512 * ssd.traffic().destaged) as f64;
    let most = 1e8 * END_NS as f64 / 1e9;
    // Reads that arrive while a write waits for space do not delay it.
    assert!((0.95..1.25).contains(&(carried / most)), "{carried} of {most} bytes");
}

#[test]
fn what_comes_during_a_flush_is_served_as_if_that_were_over_with_data_or_without() {
    let model = generic().build().unwrap();
    let during = |data: (u64, bool), write: bool| {
        let mut ssd = Ssd::new(&model);
        // Seven pages per die.
        send(&mut ssd, 0, 0, 224 * 8, true);
        let flush = Command { block: 0, count: data.0, write: data.1, synchronous: true };
        let flushed = ssd.act(1_000_000, flush, IoFlags::FLUSH);
        assert!(flushed.completed_ns > 1_500_000, "{flushed:?}");
        // On the same die as the flush's data.
        send(&mut ssd, 1_020_000, 8 << 20, 8, write)
    };
    for data in [(0, true), (8, true), (8, false)] {
        assert_eq!(during(data, false), ALONE_NS, "a read, {data:?}");
        assert_eq!(during(data, true), 10_000 + 1_280, "a write, {data:?}");
    }
}

#[test]
fn reads_delay_a_program_by_as_much_as_they_take_where_one_was_sent_ahead_of_them() {
    let mut parameters = Parameters { filled: Filled::Full, ..small() };
    parameters.flash.suspend_ms = Some(0.0);
    let model = parameters.build().unwrap();
    let programmed = |reads: u64| {
        let mut ssd = Ssd::new(&model);
        send(&mut ssd, 0, 0, 8, true);
        // Another die of the same channel.
        send(&mut ssd, 400_000, 8 * 8, 8, false);
        for n in 0..reads {
            send(&mut ssd, 100_000, (n + 1) * 32 * 8, 8, false);
        }
        ssd.flush(450_000).completed_ns
    };
    assert_eq!(programmed(0), 10_000 + 1_280 + 5_120 + 500_000);
    assert_eq!(programmed(3) - programmed(0), 3 * 50_000);
}

#[test]
fn reads_that_come_while_a_write_waits_for_room_wait_for_programs_and_delay_later_ones() {
    for (suspend_ms, waits_ns) in [(Some(0.0), 0), (None, 500_000)] {
        let mut parameters = Parameters { filled: Filled::Full, ..small() };
        parameters.flash.suspend_ms = suspend_ms;
        parameters.controller.write_buffer_bytes = 2 * 4096;
        let model = parameters.build().unwrap();
        let programmed = |reads: u64| {
            let mut ssd = Ssd::new(&model);
            // The last page waits until the first die has finished its second program; the other
            // die has begun its second by then, at 517,680 ns.
            for page in [0, 1, 32, 33, 65] {
                send(&mut ssd, 0, page * 8, 8, true);
            }
            for n in 0..reads {
                let took_ns = send(&mut ssd, 100_000, (97 + n * 32) * 8, 8, false);
                assert_eq!(took_ns, ALONE_NS + waits_ns + n * 50_000, "{suspend_ms:?}");
            }
            ssd.flush(1_100_000).completed_ns
        };
        assert_eq!(programmed(0), 517_680 + 2 * (5_120 + 500_000), "{suspend_ms:?}");
        assert_eq!(programmed(3) - programmed(0), 3 * 50_000, "{suspend_ms:?}");
    }
}

#[test]
fn a_read_waits_for_the_end_of_a_program_that_cannot_be_suspended_where_one_was_sent_ahead_of_it() {
    let mut parameters = Parameters { filled: Filled::Full, ..small() };
    parameters.flash.suspend_ms = None;
    let model = parameters.build().unwrap();
    let mut ssd = Ssd::new(&model);
    send(&mut ssd, 0, 0, 8, true);
    // Another die of the same channel.
    send(&mut ssd, 400_000, 8 * 8, 8, false);
    let ends_ns = 10_000 + 1_280 + 5_120 + 500_000;
    let took_ns = send(&mut ssd, 100_000, 32 * 8, 8, false);
    assert_eq!(100_000 + took_ns, ends_ns + 50_000 + 5_120 + 1_280);
    assert_eq!(ssd.flush(450_000).completed_ns, ends_ns);
}

#[test]
fn a_limit_of_writes_holds_no_reads_up() {
    let only = Some(Only::Writes);
    let limit = Limit { operations_per_s: Some(1000.0), bytes_per_s: None, only, credit: 0.0 };
    let model = Parameters { limits: vec![limit], ..generic() }.build().unwrap();
    let mut ssd = Ssd::new(&model);
    let writes: Vec<u64> = (0..10).map(|page| send(&mut ssd, 0, page * 8, 8, true)).collect();
    assert_eq!(writes[9], 9_000_000 + 10_000 + 1_280);
    assert_eq!(send(&mut ssd, 1_000, 1 << 20, 8, false), ALONE_NS);
}

#[test]
fn what_a_limit_holds_back_keeps_no_controller_busy_before_its_time() {
    let only = Some(Only::Reads);
    let limit = Limit { operations_per_s: Some(100.0), bytes_per_s: None, only, credit: 0.0 };
    let mut parameters = Parameters { limits: vec![limit], ..generic() };
    let write = |parameters: &Parameters, reads: u64| {
        let model = parameters.build().unwrap();
        let mut ssd = Ssd::new(&model);
        let done = (0..reads).map(|page| send(&mut ssd, 0, page * 8, 8, false));
        assert!(done.last().is_none_or(|last| last > 90_000_000));
        send(&mut ssd, 1_000_000, 1 << 20, 8, true)
    };
    parameters.controller.busy_ms = Some(0.1);
    assert_eq!(write(&parameters, 10), write(&parameters, 0));
}

#[test]
fn beside_a_limit_of_writes_one_of_all_requests_counts_them_as_they_come() {
    let limit = |rate: f64, only| Limit {
        operations_per_s: Some(rate),
        bytes_per_s: None,
        only,
        credit: 0.0,
    };
    let [writes, all] = [limit(1000.0, Some(Only::Writes)), limit(5000.0, None)];
    for limits in [[writes, all], [all, writes]] {
        let model = Parameters { limits: limits.to_vec(), ..generic() }.build().unwrap();
        let mut ssd = Ssd::new(&model);
        let written: Vec<u64> = (0..10).map(|page| send(&mut ssd, 0, page * 8, 8, true)).collect();
        assert_eq!(written[9], 9_000_000 + 10_000 + 1_280);
        // It waits for its share of the limit behind ten writes, but not for those writes.
        assert_eq!(send(&mut ssd, 1_000, 1 << 20, 8, false), 2_000_000 - 1_000 + ALONE_NS);
    }
}

#[test]
fn planes_read_together_what_pages_lack_that_are_written_in_part() {
    let mut parameters = small();
    parameters.flash.planes_per_die = Some(2);
    let model = parameters.build().unwrap();
    let programmed = |count: u64| {
        let mut ssd = Ssd::new(&model);
        // Two pages of one die, which are programmed together.
        for (now_ns, count) in [(0, 8), (1_000_000_000, count)] {
            for block in [0, 32 * 8] {
                send(&mut ssd, now_ns, block, count, true);
            }
        }
        ssd.flush(1_000_000_000).completed_ns
    };
    // Ten blocks fewer on the link, but both pages are sensed, at once, and carried.
    assert_eq!(programmed(3) - programmed(8), 50_000 + 2 * 5_120 - 10 * 160);
}
