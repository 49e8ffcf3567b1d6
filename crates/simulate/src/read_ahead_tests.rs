//! Tests of read-ahead: streams at the medium's rate, and the cost of stopping.

use super::{Reach, ReadAhead};
use crate::command::{Command, DiskOptions, Done};
use crate::disk::Disk;
use crate::drive::ReadAheadTo;
use crate::mechanism::Arm;
use crate::testing::{simple, simple_parameters};

const MS: u64 = 1_000_000;

fn read(disk: &mut Disk<'_>, now_ns: u64, block: u64, count: u64) -> Done {
    let need = disk.begin(now_ns, Command { block, count, write: false, synchronous: true });
    disk.finish(need.at_ns, need)
}

fn options(read_ahead: bool) -> DiskOptions {
    DiskOptions { read_ahead, ..DiskOptions::default() }
}

#[test]
fn small_sequential_reads_run_at_the_rate_of_the_medium() {
    let drive = simple();
    let time = |read_ahead| {
        let mut disk = Disk::new(&drive, options(read_ahead));
        let mut now = 0;
        for n in 0..100 {
            now = read(&mut disk, now + MS / 10, n * 8, 8).completed_ns;
        }
        now
    };
    let (with, without) = (time(true), time(false));
    // A rotation to sector 0, eight tracks, and the skews between them.
    assert!(with < (10 + 8 * 10 + 4 + 3 * 2) * MS + 1000, "{with}");
    assert!(without > 90 * 10 * MS, "a rotation is lost each time: {without}");
}

#[test]
fn what_was_read_ahead_is_there_later() {
    let drive = simple();
    let mut disk = Disk::new(&drive, options(true));
    read(&mut disk, 0, 0, 8);
    let hit = read(&mut disk, 50 * MS, 20, 8);
    assert!(hit.parts.cached && hit.completed_ns - 50 * MS < 1000, "{hit:?}");
    let beyond = read(&mut disk, 60 * MS, 5000, 8);
    assert!(!beyond.parts.cached);
}

#[test]
fn giving_up_costs_at_most_a_sector_or_a_switch() {
    let drive = simple();
    let start = |at_ns| {
        let mut disk = Disk::new(&drive, options(true));
        read(&mut disk, 0, 0, 8);
        // A write needs the arm.
        let need =
            disk.begin(at_ns, Command { block: 9000, count: 1, write: true, synchronous: true });
        disk.finish(need.at_ns, need).parts.waited_ns
    };
    for at_ns in (MS..10 * MS).step_by(123_457) {
        assert!(start(at_ns) <= MS / 10, "within a sector");
    }
    // Sector 99 ends at 10 ms, the switch takes until 10.5 ms, the next track begins at 11 ms.
    assert_eq!(start(10 * MS + MS / 10), 4 * MS / 10);
    assert_eq!(start(10 * MS + 7 * MS / 10), 0, "waiting for the first sector is given up at once");
}

/// How long a write and a read that arrive at `at_ns` wait before their overhead of 1 ms, on a
/// drive with segments that is reading ahead.
fn waited(stops_in_sector: bool, at_ns: u64) -> [u64; 2] {
    let mut parameters = simple_parameters();
    (parameters.controller.read_before_ms, parameters.controller.write_before_ms) = (1.0, 1.0);
    (parameters.buffer.segments, parameters.buffer.stops_in_sector) = (1, stops_in_sector);
    let drive = parameters.build().expect("a drive");
    [true, false].map(|write| {
        let mut disk = Disk::new(&drive, options(true));
        read(&mut disk, 0, 0, 8);
        let need = disk.begin(at_ns, Command { block: 9000, count: 1, write, synchronous: true });
        disk.finish(need.at_ns, need).parts.waited_ns
    })
}

#[test]
fn a_drive_with_segments_ends_a_sector_a_switch_and_a_wait_or_turns_to_the_command_at_once() {
    // During the overhead, sector 0 passes once: sector 99 ends at 20 ms, the switch takes until
    // 20.5 ms, and the next track begins at 21 ms.
    let at = |tenths: u64| 20 * MS + tenths * MS / 10;
    assert_eq!(waited(false, at(2)), [3 * MS / 10; 2], "what is left of the switch");
    assert_eq!(waited(false, at(7)), [3 * MS / 10; 2], "the wait for the first sector");
    assert_eq!(waited(false, 19 * MS + 25_000), [75_000; 2], "the sector");
    // A drive that stops in a sector stops during the overhead, which is longer than a switch.
    for tenths in [2, 7] {
        assert_eq!(waited(true, at(tenths)), [0; 2]);
    }
}

#[test]
fn a_full_buffer_stops_the_stream() {
    let drive = simple();
    let mut disk = Disk::new(&drive, options(true));
    read(&mut disk, 0, 0, 8);
    // The buffer holds 100 blocks: blocks up to 108 are there after two tracks, later ones are not.
    assert!(read(&mut disk, 500 * MS, 100, 8).parts.cached);
    let mut disk = Disk::new(&drive, options(true));
    read(&mut disk, 0, 0, 8);
    assert!(!read(&mut disk, 500 * MS, 110, 8).parts.cached);
}

#[test]
fn to_the_end_of_the_track_what_comes_takes_the_place_of_what_came_first() {
    let mut parameters = simple_parameters();
    parameters.buffer.bytes = 20 * 512;
    parameters.buffer.segments = 1;
    parameters.buffer.read_ahead_blocks = Some(10);
    parameters.buffer.read_ahead_to = ReadAheadTo::Track;
    let drive = parameters.build().expect("a drive");
    for (block, is_held) in [(8, false), (79, false), (80, true), (92, true), (100, false)] {
        let mut disk = Disk::new(&drive, options(true));
        read(&mut disk, 0, 0, 8);
        assert_eq!(read(&mut disk, 500 * MS, block, 8).parts.cached, is_held, "block {block}");
    }
}

#[test]
fn a_long_stream_goes_on_from_its_last_track_as_if_it_were_gone_through_from_the_first() {
    let drive = simple();
    let mechanism = &drive.mechanism;
    let arm = Arm { cylinder: 3, head: 1, phase_ns: 1_234_567 };
    let mut ahead = ReadAhead::new([0, 8], 8, MS, Reach::new(&drive, 100));
    ahead.extend(mechanism, [0, 8]);
    let begun = ahead;
    let mut now_ns = 10 * MS;
    for nth in 1..2400 {
        let asked = [nth * 8, 8];
        let at_ns = ahead.deliver(mechanism, &arm, now_ns, asked).expect("it goes on");
        let whole = ReadAhead { first: ahead.first, limit: ahead.limit, ..begun };
        let known_ns = whole.time_of(mechanism, &arm, asked[0] + 8);
        assert_eq!(at_ns.max(now_ns), known_ns.max(now_ns), "read {nth}");
        assert!(asked[0] < ahead.from + 200, "read {nth} is gone to from block {}", ahead.from);
        for later_ns in [0, 1, 777_777, 3 * MS] {
            let stopped = |stream: ReadAhead| {
                let (mut arm, now_ns) = (arm, now_ns + later_ns);
                let held = stream.stretch(mechanism, &arm, now_ns);
                (held, stream.stop(mechanism, &mut arm, now_ns), arm)
            };
            assert_eq!(stopped(ahead), stopped(whole), "read {nth}, {later_ns} ns later");
        }
        // Varies the gap: some reads arrive just as a track ends, some when more has been read than
        // they ask for.
        now_ns = at_ns.max(now_ns) + [0, 1, MS / 10, 2 * MS][nth as usize % 4];
    }
}
