//! Tests of one disk's buffer: what completes early, what waits for space, and what goes first.

use super::*;
use crate::cache::{Destage, Freeing};
use crate::command::{DiskOptions, Traffic};
use crate::testing::simple;

const MS: u64 = 1_000_000;

fn command(block: u64, count: u64, write: bool) -> Command {
    Command { block, count, write, synchronous: false }
}

fn nvram(kilobytes: u64, destage: Destage, freeing: Freeing) -> DiskOptions {
    let cache = WriteCache::Nvram { bytes: kilobytes << 10, destage, freeing };
    DiskOptions { read_ahead: false, cache, queue_depth: 1 }
}

#[test]
fn a_write_into_the_buffer_is_complete_at_once_and_a_read_of_it_needs_no_medium() {
    let drive = simple();
    let mut disk = Disk::new(&drive, nvram(64, Destage::Fcfs, Freeing::WholeWrite));
    let done = disk.serve(0, command(5000, 8, true));
    assert!(done.parts.cached && done.completed_ns < 100);
    let read = disk.serve(done.completed_ns, command(5002, 4, false));
    assert!(read.parts.cached && read.completed_ns < 200);
}

#[test]
fn a_read_of_what_is_on_its_way_to_the_medium_needs_no_medium() {
    let drive = simple();
    let volatile = WriteCache::Volatile { bytes: 64 << 10 };
    let volatile = DiskOptions { cache: volatile, ..DiskOptions::default() };
    for options in [volatile, nvram(64, Destage::Fcfs, Freeing::WholeWrite)] {
        let mut disk = Disk::new(&drive, options);
        // An idle disk begins to write the first at once; the second waits.
        disk.serve(0, command(50, 8, true));
        disk.serve(1000, command(58, 8, true));
        let is_hit =
            |block, count| disk.clone().serve(MS, command(block, count, false)).parts.cached;
        assert!(is_hit(50, 8) && is_hit(54, 2) && is_hit(54, 8) && is_hit(58, 8));
        assert!(!is_hit(48, 4) && !is_hit(60, 8));
    }
}

#[test]
fn a_full_buffer_holds_the_next_write_until_the_whole_write_in_progress_is_done() {
    let drive = simple();
    let wait = |freeing| {
        // The buffer holds 32 blocks; the first write fills it.
        let mut disk = Disk::new(&drive, nvram(16, Destage::Fcfs, freeing));
        disk.serve(0, command(50, 32, true));
        disk.serve(MS, command(90, 4, true)).completed_ns
    };
    // The first write goes to sectors 50 to 82 of the track, so it ends at 8.2 ms.
    assert!(wait(Freeing::WholeWrite).abs_diff(82 * MS / 10) < 1000);
    assert!(wait(Freeing::AsWritten).abs_diff(54 * MS / 10) < 200_000);
}

#[test]
fn long_writes_stream_past_the_buffer() {
    let drive = simple();
    let mut disk = Disk::new(&drive, nvram(64, Destage::Fcfs, Freeing::WholeWrite));
    let done = disk.serve(0, command(0, 65, true));
    assert!(!done.parts.cached && done.completed_ns >= 6 * MS);
}

#[test]
fn immediate_reporting_leaves_alone_what_somebody_waits_for_even_behind_a_write_in_progress() {
    let drive = simple();
    let options = DiskOptions { read_ahead: false, cache: WriteCache::Immediate, queue_depth: 1 };
    let synchronous = |block| Command { synchronous: true, ..command(block, 8, true) };
    let mut disk = Disk::new(&drive, options);
    assert!(!disk.serve(0, synchronous(40)).parts.cached, "somebody waits for it");
    let mut disk = Disk::new(&drive, options);
    assert!(disk.serve(0, command(40, 8, true)).parts.cached);
    assert!(disk.serve(1000, command(48, 8, true)).parts.cached);
    let waited_for = disk.serve(2000, synchronous(56));
    // It is on the medium: sectors 40 to 64 of the first track have passed.
    assert!(!waited_for.parts.cached && waited_for.completed_ns > 6 * MS, "{waited_for:?}");
}

/// A drive with DiskSim's fast writes, and a change.
fn fast_writing(segments: u32, change: impl Fn(&mut crate::Parameters)) -> crate::Drive {
    segmented(segments, |p| {
        (p.buffer.flushes_first, p.buffer.immediate_reporting) = (true, true);
        change(p);
    })
}

#[test]
fn the_end_of_a_write_longer_than_the_buffer_is_reported_when_there_is_room_for_it() {
    let drive = fast_writing(1, |p| p.controller.write_reconnect_ms = 0.5);
    let times = |count| {
        let mut disk = Disk::new(&drive, drive.usual());
        let done = disk.serve(0, command(50, count, true));
        assert_eq!(done.parts.total_ns(), done.completed_ns, "{done:?}");
        [done.completed_ns, disk.flush(done.completed_ns)]
    };
    // The buffer holds 100 blocks. The first half goes to sectors 50 to 100 of the first track,
    // which pass from 5 ms on; the second half is on the next track by 16 ms. Blocks behind the
    // first 100 arrive half a millisecond after that, and wait for their sector to come round; so
    // do the blocks behind those, on the third track.
    for (count, [reported, written]) in
        [(100, [0, 160]), (150, [165, 310]), (200, [165, 380]), (250, [385, 530])]
    {
        let found = times(count);
        let known = [reported, written].map(|tenths| tenths * MS / 10);
        let near = found.iter().zip(known).all(|(found, known)| found.abs_diff(known) < 1000);
        assert!(near, "{count} blocks: {found:?} for {known:?}");
    }
}

#[test]
fn a_head_that_keeps_up_with_the_bus_leaves_room_for_the_rest_of_a_long_write() {
    // A block takes 0.2 ms on the bus, and 0.1 ms to be written.
    let drive = fast_writing(1, |p| p.bus.to_drive_bytes_per_s = 2_560_000.0);
    let done = Disk::new(&drive, drive.usual()).serve(0, command(50, 250, true));
    assert!(done.completed_ns.abs_diff(50 * MS) < 1000, "{done:?}");
}

/// Simulated as if DiskSim's "Allow sneaky full read hits" were always 1.
#[test]
fn a_read_that_the_buffer_answers_does_not_wait_for_what_was_written() {
    let drive = fast_writing(2, |p| p.buffer.read_ahead = true);
    let mut disk = Disk::new(&drive, drive.usual());
    disk.serve(0, command(0, 8, false));
    // Beyond the blocks read ahead.
    let written = disk.serve(100 * MS, command(15_000, 8, true));
    let hit = disk.serve(written.completed_ns, command(50, 8, false));
    assert!(written.parts.cached && hit.parts.cached, "{written:?}, {hit:?}");
    assert!(hit.completed_ns - written.completed_ns < 1000, "{hit:?}");
    let miss = disk.serve(hit.completed_ns, command(9000, 8, false));
    assert!(miss.parts.waited_ns > 5 * MS, "the arm is on its way to the write: {miss:?}");
}

#[test]
fn back_to_back_writes_run_at_the_rate_of_the_medium() {
    let drive = simple();
    let options = DiskOptions { read_ahead: false, cache: WriteCache::Immediate, queue_depth: 1 };
    let mut disk = Disk::new(&drive, options);
    let mut now = 0;
    for n in 0..50 {
        now = disk.serve(now, command(n * 16, 16, true)).completed_ns;
    }
    let end = disk.flush(now);
    // The rotation back to sector 0, eight tracks, and the skews between them.
    assert!(end < (10 + 8 * 10 + 4 + 3 * 2) * MS + 1000, "{end}");
    assert_eq!(disk.traffic.destaged, 800);
}

#[test]
fn overwrites_in_the_buffer_never_reach_the_medium() {
    let drive = simple();
    let mut disk = Disk::new(&drive, nvram(64, Destage::Fcfs, Freeing::WholeWrite));
    disk.serve(0, command(9000, 8, true));
    for n in 1..6 {
        disk.serve(n * 1000, command(100, 8, true));
    }
    disk.flush(MS);
    let Traffic { written, destaged, absorbed, .. } = disk.traffic;
    assert_eq!((written, destaged, absorbed), (48, 16, 32));
}

#[test]
fn satf_writes_the_near_one_first_and_prefers_long_ones() {
    let drive = simple();
    let order = |destage| {
        let mut disk = Disk::new(&drive, nvram(64, destage, Freeing::WholeWrite));
        disk.serve(0, command(10, 1, true));
        disk.serve(1000, command(15_000, 1, true));
        disk.serve(2000, command(30, 1, true));
        disk.begin(2 * MS, command(0, 1, false));
        disk.buffer.oldest().map(|d| d.block)
    };
    assert_eq!(order(Destage::Fcfs), Some(30));
    assert_eq!(order(Destage::Satf), Some(15_000));
}

#[test]
fn reads_go_before_writes_that_wait() {
    let drive = simple();
    let mut disk = Disk::new(&drive, nvram(64, Destage::Fcfs, Freeing::WholeWrite));
    for n in 0..6 {
        disk.serve(n, command(n * 3000, 8, true));
    }
    let read = disk.serve(MS, command(50, 1, false));
    assert!(read.completed_ns < 30 * MS, "it waits for one write at most: {read:?}");
    assert!(!disk.buffer.is_empty());
}

#[test]
fn nothing_is_written_from_the_buffer_while_a_read_goes_on() {
    let mut parameters = crate::testing::simple_parameters();
    // A block takes 5 ms on its way to the host: long enough for the second write, if it were
    // allowed.
    parameters.bus.to_host_bytes_per_s = 102_400.0;
    let drive = parameters.build().expect("the drive can be built");
    let mut disk = Disk::new(&drive, nvram(64, Destage::Fcfs, Freeing::WholeWrite));
    disk.serve(0, command(50, 8, true));
    disk.serve(1000, command(300, 4, true));
    let first = disk.serve(MS, command(100, 8, false));
    let second = disk.serve(first.completed_ns, command(500, 1, false));
    assert_eq!((disk.traffic.destaged, second.parts.waited_ns), (8, 0));
    disk.serve(second.completed_ns + 100 * MS, command(0, 1, false));
    assert_eq!(disk.traffic.destaged, 12);
}

#[test]
fn no_read_is_complete_before_its_last_sector_has_passed() {
    let read_all = |transfer, rate, read_on_arrival| {
        let mut parameters = crate::testing::simple_parameters();
        parameters.bus.transfer = transfer;
        parameters.bus.to_host_bytes_per_s = rate;
        parameters.mechanism.read_on_arrival = read_on_arrival;
        let drive = parameters.build().expect("the drive can be built");
        let mut disk = Disk::new(&drive, DiskOptions::default());
        let mut now_ns = 0;
        for n in 0..200 {
            let asked = command(n * 7919 % 19_000, 1 + n * 37 % 450, false);
            let Done { completed_ns, parts } = disk.serve(now_ns, asked);
            let passed_ns = now_ns + parts.total_ns() - parts.bus_ns;
            assert!(completed_ns >= passed_ns, "{transfer:?} {rate} {read_on_arrival}: {parts:?}");
            now_ns = completed_ns + n * 12_345;
        }
    };
    // The medium transfers 5.12 MB/s.
    for rate in [1e5, 1e6, 5.12e6, 4e7, 1e12] {
        for read_on_arrival in [false, true] {
            read_all(BusTransfer::StoreAndForward, rate, read_on_arrival);
            read_all(BusTransfer::ByTrack, rate, read_on_arrival);
            read_all(BusTransfer::Overlapped, rate, read_on_arrival);
        }
    }
}

/// The simple drive with a buffer of `segments` segments of 100 blocks.
fn segmented(segments: u32, change: impl Fn(&mut crate::Parameters)) -> crate::Drive {
    let mut parameters = crate::testing::simple_parameters();
    parameters.buffer.bytes = u64::from(segments) * 51_200;
    parameters.buffer.segments = segments;
    change(&mut parameters);
    parameters.build().expect("the drive can be built")
}

#[test]
fn segments_answer_reads_until_they_are_needed_or_overwritten() {
    let drive = segmented(2, |_| {});
    let mut disk = Disk::new(&drive, DiskOptions { read_ahead: true, ..DiskOptions::default() });
    let mut read = |n: u64, block| disk.serve(n * 1000 * MS, command(block, 8, false)).parts.cached;
    assert_eq!([read(1, 0), read(2, 5000), read(3, 20), read(4, 5020)], [false, false, true, true]);
    assert_eq!([read(5, 9000), read(6, 20), read(7, 5020)], [false, false, false]);
    disk.serve(8000 * MS, command(5050, 1, true));
    assert!(!disk.serve(9000 * MS, command(5040, 8, false)).parts.cached);
}

/// The HP C2247A: segments of 256 blocks, a water mark of three quarters, and a bus that takes
/// 0.1701 ms per block, where the medium takes 0.1157 ms.
#[test]
fn a_read_longer_than_a_segment_takes_the_bus_when_a_segment_would() {
    let shipped = crate::drives::find("hp-c2247a").expect("it is shipped");
    let drive = shipped.build().expect("it can be built");
    let [(segment_ns, _), (longer_ns, done)] = [256, 512].map(|count| {
        let mut disk = Disk::new(&drive, drive.usual());
        let need = disk.begin(0, command(0, count, false));
        (need.at_ns, disk.finish(need.at_ns, need))
    });
    assert_eq!(longer_ns, segment_ns);
    let Parts { waited_ns, overhead_ns, seek_ns, rotation_ns, .. } = done.parts;
    // 192 blocks and a skew of 14 sectors pass; then the drive takes the bus again, for all 512
    // blocks.
    let known_ns = 206 * 11_111_111 / 96 + 187_680 + 512 * 170_100;
    let found_ns = done.completed_ns - waited_ns - overhead_ns - seek_ns - rotation_ns;
    assert!(found_ns.abs_diff(known_ns) < 10_000, "{found_ns} for {known_ns}");
}

#[test]
fn what_was_delivered_is_forgotten_where_the_drive_does_so() {
    let again = |forgets| {
        let drive = segmented(1, |p| p.buffer.forgets_delivered = forgets);
        let mut disk =
            Disk::new(&drive, DiskOptions { read_ahead: true, ..DiskOptions::default() });
        disk.serve(0, command(0, 8, false));
        // Before the blocks read ahead take their space.
        disk.serve(11 * MS, command(4, 4, false)).parts.cached
    };
    assert_eq!([again(false), again(true)], [true, false]);
}

/// DiskSim's "Read-ahead over requested" of 0: a request that fills its segment leaves no room to read ahead.
#[test]
fn what_was_asked_for_takes_up_room_where_the_drive_keeps_it() {
    let again = |keeps| {
        let drive = segmented(1, |p| p.buffer.keeps_requested = keeps);
        let mut disk =
            Disk::new(&drive, DiskOptions { read_ahead: true, ..DiskOptions::default() });
        let room = drive.buffer.bytes / u64::from(drive.buffer.segments) / 512;
        disk.serve(0, command(0, room / 4, false));
        // Long after the segment has filled.
        [0, room - 4, room + 4].map(|block| {
            let mut disk = disk.clone();
            disk.serve(1000 * MS, command(block, 4, false)).parts.cached
        })
    };
    assert_eq!([again(true), again(false)], [[true, true, false], [false, true, true]]);
}

#[test]
fn a_write_waits_for_its_lead_and_a_scattered_one_for_its_own_times() {
    let times = |lead: &[[u64; 2]]| {
        let drive = segmented(1, |p| {
            p.bus.transfer = BusTransfer::Overlapped;
            // A block crosses the bus while two pass under the head.
            p.bus.to_drive_bytes_per_s = 2_560_000.0;
            p.bus.write_lead = lead.to_vec();
            p.controller.scattered_write = Some(crate::drive::ScatteredWrite {
                seek_after_ms: 3.0,
                data_after_ms: 4.0,
                reconnect_ms: 0.5,
            });
        });
        let mut disk = Disk::new(&drive, DiskOptions::default());
        let first = disk.serve(0, command(3, 2, true)).completed_ns;
        let second = disk.serve(100 * MS, command(90, 4, true)).completed_ns;
        [first, second - 100 * MS]
    };
    let close = |found: [u64; 2], wanted: [u64; 2]| {
        found.iter().zip(wanted).all(|(a, b)| a.abs_diff(b) < 1000)
    };
    // One block is enough at sector 3, after 0.3 ms; the other arrives in time. The second write
    // begins at sector 90.
    assert!(close(times(&[]), [MS / 2, 94 * MS / 10 + MS / 2]), "{:?}", times(&[]));
    // Two blocks have arrived only by 0.4 ms, so a rotation is lost.
    let led = times(&[[1, 2]]);
    assert!(close(led, [105 * MS / 10, 94 * MS / 10 + MS / 2]), "{led:?}");
}
