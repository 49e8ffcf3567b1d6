//! Tests of streams: they give the same rows however the jobs are cut into parts, and by lanes or
//! events alike.

use super::*;
use crate::testing;
use crate::{Command, DiskOptions, WriteCache};
use ioscape_schema::{Io, IoFlags, Op, Request};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

/// Jobs for three disks in order of arrival, one per number of `dice`.
fn jobs(dice: &[u64]) -> Vec<Job> {
    let mut now = 0;
    let job = |(row, dice): (usize, &u64)| {
        now += dice % (20 * MS);
        let (block, count) = (dice >> 8, 1 + (dice >> 24) % 80);
        let command = Command {
            block: block % 19_000,
            count,
            write: dice >> 40 & 1 == 0,
            synchronous: (dice >> 41) % 3 > 0,
        };
        let issued_ns = now + (dice >> 43) % 4 * 7 * MS;
        let io =
            Io { queued_ns: now, issued_ns, completed_ns: issued_ns + 4 * MS, ..Io::default() };
        Job { row: row as u64, disk: ((dice >> 46) % 3) as u16, io, command }
    };
    dice.iter().enumerate().map(job).collect()
}

type Rows = Vec<(u64, SimulatedRequest)>;

/// All rows by ticket, and the write traffic, when jobs come in batches of `part`.
fn told(jobs: &[Job], mut stream: Stream<'_>, part: usize) -> (Rows, Traffic) {
    let mut rows = Rows::new();
    for some in jobs.chunks(part) {
        stream.take(some, &mut |ticket, row| rows.push((ticket, row)));
    }
    let traffic = stream.finish(&mut |ticket, row| rows.push((ticket, row)));
    rows.sort_by_key(|row| row.0);
    (rows, traffic)
}

fn caches() -> [(WriteCache, bool); 3] {
    let nvram = WriteCache::Nvram {
        bytes: 16 << 10,
        destage: crate::cache::Destage::Satf,
        freeing: crate::cache::Freeing::WholeWrite,
    };
    [(WriteCache::None, false), (WriteCache::Immediate, true), (nvram, false)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn lanes_and_events_agree_and_the_cut_does_not_matter(dice in prop::collection::vec(any::<u64>(), 1..400), part in 1usize..50) {
        let drive = testing::simple();
        let jobs = jobs(&dice);
        for arrivals in [Arrivals::Queued, Arrivals::Issued, Arrivals::Closed] {
            for (cache, read_ahead) in caches() {
                let disk = DiskOptions { read_ahead, cache, queue_depth: 1 };
                let options = Configuration { disk, arrivals, ..Configuration::default() };
                let with = |way| {
                    let mut stream = Stream { way, ..Stream::new(&options) };
                    (0..3).for_each(|_| stream.add(Kind::Disk(&drive, disk)));
                    stream
                };
                let short = told(&jobs, with(Way::Lanes(Vec::new())), usize::MAX);
                prop_assert_eq!(short.0.len(), jobs.len());
                prop_assert!(short.0.iter().enumerate().all(|(at, (ticket, row))| at as u64 == *ticket && row.row == *ticket));
                prop_assert_eq!(&told(&jobs, with(Way::Events(Events::new(&options))), part), &short);
                prop_assert_eq!(&told(&jobs, with(Way::Lanes(Vec::new())), part), &short);
            }
        }
    }

    #[test]
    fn every_order_and_a_shared_bus_give_the_same_in_parts(dice in prop::collection::vec(any::<u64>(), 1..300), part in 1usize..50) {
        let drive = testing::simple();
        let jobs = jobs(&dice);
        for arrivals in [Arrivals::Queued, Arrivals::Issued, Arrivals::Closed] {
            for (_, scheduler) in crate::SCHEDULERS {
                let options = Configuration { arrivals, scheduler, shared_bus: true, ..Configuration::default() };
                let stream = || {
                    let mut stream = Stream::new(&options);
                    (0..3).for_each(|_| stream.add(Kind::Disk(&drive, options.disk)));
                    stream
                };
                let whole = told(&jobs, stream(), usize::MAX);
                prop_assert_eq!(whole.0.len(), jobs.len());
                prop_assert_eq!(&told(&jobs, stream(), part), &whole);
            }
        }
    }
}

#[test]
fn a_request_that_is_done_takes_no_memory() {
    let drive = testing::simple();
    let options = Configuration { scheduler: Scheduler::CScan, ..Configuration::default() };
    let mut stream = Stream::new(&options);
    stream.add(Kind::Disk(&drive, options.disk));
    let command = Command { block: 5, count: 1, write: false, synchronous: true };
    for row in 0..10_000u64 {
        let io = Io { queued_ns: row * 40 * MS, ..Io::default() };
        stream.take(&[Job { row, disk: 0, io, command }], &mut |_, _| {});
    }
    let Way::Events(events) = &stream.way else { panic!("a host queue needs events") };
    assert!(events.remembered() <= 2, "{}", events.remembered());
}

/// Guards against a defect: while one of two volumes had no request, those of the other were kept.
#[test]
fn a_quiet_volume_of_a_closed_system_keeps_no_requests_of_another() {
    let drive = testing::simple();
    let array = crate::array::Array::parse("raid0:2").unwrap();
    let options = Configuration { arrivals: Arrivals::Closed, array, ..Configuration::default() };
    let mut stream = Stream::new(&options);
    (0..2).for_each(|_| stream.add(Kind::Disk(&drive, options.disk)));
    let command = Command { block: 5, count: 1, write: false, synchronous: true };
    let job = |row| Job { row, disk: u16::from(row == 0), io: Io::default(), command };
    let mut count = 0;
    stream.take(&(0..1000).map(job).collect::<Vec<_>>(), &mut |_, _| count += 1);
    let Way::Events(events) = &stream.way else { panic!("an array needs events") };
    assert_eq!((count, events.remembered()), (1000, 1));
}

/// Guards against an hour of simulation after Ctrl-C.
#[test]
fn a_stream_that_is_stopped_leaves_its_queues() {
    let drive = testing::simple();
    let options = Configuration { scheduler: Scheduler::Satf, ..Configuration::default() };
    let (mut stream, stop) = (Stream::new(&options), Arc::new(AtomicBool::new(false)));
    stream.heed(&stop);
    stream.add(Kind::Disk(&drive, options.disk));
    let command = |row| Command { block: row, count: 1, write: false, synchronous: true };
    let job = |row| Job { row, disk: 0, io: Io::default(), command: command(row) };
    let mut count = 0;
    stream.take(&(0..100).map(job).collect::<Vec<_>>(), &mut |_, _| count += 1);
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    stream.finish(&mut |_, _| count += 1);
    assert_eq!(count, 0);
}

/// The mean response time of requests of `count` blocks at 8-block boundaries that arrive
/// `every_ms`, and the mean utilization of the disks.
fn on_array(array: &str, count: u64, write: bool, every_ms: f64, requests: u64) -> (f64, f64) {
    let drive = testing::constant(5.0);
    let array = crate::array::Array::parse(array).unwrap();
    let options = Configuration { array, ..Configuration::default() };
    let mut stream = Stream::new(&options);
    stream.add(Kind::Disk(&drive, options.disk));
    let (mut sum, mut last) = (0.0, 0);
    let mut done = |_: u64, row: SimulatedRequest| {
        sum += row.elapsed_ns() as f64;
        last = last.max(row.io.completed_ns);
    };
    for row in 0..requests {
        let block = row * 7919 % 2000 * 8 / count * count;
        let command = Command { block, count, write, synchronous: true };
        let queued_ns = (row as f64 * every_ms * 1e6) as u64;
        let io = Io { queued_ns, ..Io::default() };
        stream.take(&[Job { row, disk: 0, io, command }], &mut done);
    }
    stream.finish(&mut done);
    let work = stream.work();
    (sum / requests as f64 / 1e6, work.busy_ns as f64 / (last as f64 * work.drives as f64))
}

#[test]
fn arrays_take_the_accesses_of_their_closed_forms() {
    // Requests never overlap. A read takes one access; a small write with parity takes two in
    // sequence, on two disks each.
    for (array, write, accesses, per_request) in [
        ("raid0:4:64K", false, 1.0, 1.0),
        ("raid0:4:64K", true, 1.0, 1.0),
        ("raid1:2", false, 1.0, 1.0),
        ("raid1:2", true, 1.0, 2.0),
        ("raid5:5:64K", false, 1.0, 1.0),
        ("raid5:5:64K", true, 2.0, 4.0),
    ] {
        let (mean, busy) = on_array(array, 8, write, 100.0, 400);
        assert!((mean / (5.0 * accesses) - 1.0).abs() < 0.001, "{array} {write}: {mean}");
        let disks: f64 = array[6..7].parse().unwrap();
        let truth = per_request * 5.0 / 100.0 / disks;
        assert!((busy / truth - 1.0).abs() < 0.01, "{array} {write}: {busy} for {truth}");
    }
    // A full-row write reads nothing: 4 chunks of 16 blocks and their parity go out at once.
    let (mean, busy) = on_array("raid5:5:8K", 64, true, 100.0, 200);
    assert!((mean - 5.0).abs() < 0.01 && (busy - 0.05).abs() < 0.001, "{mean} {busy}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn requests_one_at_a_time_take_the_accesses_of_any_array(disks in 3u16..9, level in 0usize..3, chunk_kib in 1u64..9, halvings in 0u32..4, write: bool) {
        let name = ["raid0", "raid1", "raid5"][level];
        let chunk = if level == 1 { String::new() } else { format!(":{}K", 4 * chunk_kib) };
        // A whole chunk, or part of one.
        let (array, count) = (format!("{name}:{disks}{chunk}"), (8 * chunk_kib) >> halvings);
        let [accesses, work] = match (level, write) {
            (1, true) => [1, disks],
            // Two disks are read and two written; of three disks, only the one with the other data
            // is read.
            (2, true) => [2, if disks == 3 { 3 } else { 4 }],
            _ => [1, 1],
        }
        .map(f64::from);
        let (mean, busy) = on_array(&array, count, write, 100.0, 200);
        let truth = work * 5.0 / 100.0 / f64::from(disks);
        prop_assert!((mean / (5.0 * accesses) - 1.0).abs() < 0.001, "{array} {count} {write}: {mean}");
        prop_assert!((busy / truth - 1.0).abs() < 0.02, "{array} {count} {write}: {busy} for {truth}");
    }
}

#[test]
fn arrays_saturate_at_their_disks_rates() {
    // All requests arrive at once, so completions spread evenly over the whole time; with parity,
    // over its second half, after the reads.
    for (array, write, rate, mean_share) in [
        ("raid0:4:4K", false, 4.0 / 5.0, 0.5),
        ("raid1:2", false, 2.0 / 5.0, 0.5),
        ("raid1:2", true, 1.0 / 5.0, 0.5),
        ("raid5:5:4K", false, 5.0 / 5.0, 0.5),
        ("raid5:5:4K", true, 5.0 / 5.0 / 4.0, 0.75),
    ] {
        let requests = 4000u64;
        let (mean, busy) = on_array(array, 8, write, 0.01, requests);
        let truth = requests as f64 / rate * mean_share;
        assert!((mean / truth - 1.0).abs() < 0.05, "{array} {write}: {mean} for {truth}");
        assert!(busy > 0.93, "{array} {write}: {busy}");
    }
}

/// 4 KiB reads that arrive at random, one per `every_ms` on average, at a mirror of two drives: the
/// mean time in milliseconds, and each drive's busy time.
fn mirrored(kind: Kind<'_>, every_ms: f64) -> (f64, Vec<u64>) {
    let array = crate::array::Array::parse("raid1:2").unwrap();
    let options = Configuration { array, scheduler: Scheduler::Fcfs, ..Configuration::default() };
    let mut stream = Stream::new(&options);
    stream.add(kind);
    let (mut state, mut now_ms, mut sum_ns) = (1u64, 0.0, 0.0);
    let mut dice = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    for row in 0..20_000 {
        now_ms -= every_ms * (1.0 - dice()).ln();
        let block = (dice() * 2000.0) as u64 * 8;
        let command = Command { block, count: 8, write: false, synchronous: true };
        let io = Io { queued_ns: (now_ms * 1e6) as u64, ..Io::default() };
        stream.take(&[Job { row, disk: 0, io, command }], &mut |_, row| {
            sum_ns += row.elapsed_ns() as f64;
        });
    }
    stream.finish(&mut |_, row| sum_ns += row.elapsed_ns() as f64);
    (sum_ns / 20_000.0 / 1e6, stream.units().map(Unit::busy_ns).collect())
}

#[test]
fn a_mirror_reads_from_the_drive_that_has_less_to_do() {
    // Each drive is busy a fifth of the time, and a read waits only if both are. The mean wait
    // would be 0.10 ms with one queue for both (M/D/2), and 0.63 ms with a blind choice (M/D/1).
    let drive = testing::constant(5.0);
    let disk = DiskOptions { read_ahead: false, cache: WriteCache::None, queue_depth: 1 };
    let (mean_ms, busy) = mirrored(Kind::Disk(&drive, disk), 12.5);
    assert!((5.05..5.2).contains(&mean_ms), "{mean_ms} ms");
    assert!(busy.iter().all(|&ns| 3 * ns > busy.iter().sum()), "{busy:?}");
    // A solid-state drive accepts all commands at once; those in progress still count as load.
    let model = crate::ssd::find("generic-ssd").unwrap().build().unwrap();
    let (_, busy) = mirrored(Kind::Flash(&model), 0.02);
    assert!(busy.iter().all(|&ns| 3 * ns > busy.iter().sum()), "{busy:?}");
}

#[test]
fn a_queue_in_the_drive_shortens_accesses_and_a_volatile_cache_hides_writes() {
    let drive = crate::drives::find("generic-hdd").unwrap().build().unwrap();
    let usual = drive.usual();
    assert_eq!(usual.queue_depth, 32);
    let mean = |disk: DiskOptions, flags, every_ms: u64| {
        let options = Configuration { disk, ..Configuration::default() };
        let mut stream = Stream::new(&options);
        stream.add(Kind::Disk(&drive, disk));
        let mut rows = Rows::new();
        for row in 0..600u64 {
            let write = row % 3 == 0;
            let block = row * 2_654_435_761 % 900_000_000 * 8;
            let command = Command { block, count: 8, write, synchronous: false };
            let io = Io { queued_ns: row * every_ms * MS, flags, ..Io::default() };
            let op = if write { Op::Write } else { Op::Read };
            let request = Request { op, ..Request::default() };
            let job = Job { row, disk: 0, io: Io { request, ..io }, command };
            stream.take(&[job], &mut |ticket, row| rows.push((ticket, row)));
        }
        stream.finish(&mut |ticket, row| rows.push((ticket, row)));
        assert_eq!(rows.len(), 600);
        let of = |write: bool| {
            let some = rows.iter().filter(|(_, r)| (r.io.request.op == Op::Write) == write);
            let times: Vec<f64> = some.map(|(_, r)| r.elapsed_ns() as f64 / 1e6).collect();
            times.iter().sum::<f64>() / times.len() as f64
        };
        (of(false), of(true))
    };
    let none = IoFlags::empty();
    let plain = DiskOptions { queue_depth: 1, cache: WriteCache::None, ..usual };
    let (reads, _) = mean(plain, none, 5);
    let (queued, _) = mean(DiskOptions { queue_depth: 32, ..plain }, none, 5);
    assert!(queued < 0.5 * reads, "overloaded without a queue: {reads} ms, {queued} ms with one");
    let (_, writes) = mean(plain, none, 50);
    let (_, hidden) = mean(DiskOptions { queue_depth: 1, ..usual }, none, 50);
    assert!(hidden < 0.1 * writes, "{hidden} ms for {writes} ms");
    // Writes with FUA go through to the medium, so the cache hides nothing.
    let (_, through) = mean(DiskOptions { queue_depth: 1, ..usual }, IoFlags::FUA, 50);
    assert!(through > 0.7 * writes, "{through} ms for {writes} ms");
    // The same holds for immediate reporting.
    let immediate = DiskOptions { queue_depth: 1, cache: WriteCache::Immediate, ..usual };
    let (_, early) = mean(immediate, none, 50);
    let (_, through) = mean(immediate, IoFlags::FUA, 50);
    assert!(early < 0.3 * writes && through > 0.7 * writes, "{early}, {through}, {writes} ms");
}

#[test]
fn writing_a_cache_takes_as_much_energy_as_writing_at_once() {
    let drive = generic();
    let energy_j = |cache| {
        let disk = DiskOptions { cache, queue_depth: 1, ..drive.usual() };
        let options = Configuration { disk, ..Configuration::default() };
        let mut stream = Stream::new(&options);
        stream.add(Kind::Disk(&drive, disk));
        let write = |row: u64| {
            let block = row * 2_654_435_761 % 900_000_000 * 8;
            let command = Command { block, count: 8, write: true, synchronous: false };
            let io = Io { queued_ns: row * 16 * MS, ..Io::default() };
            Job { row, disk: 0, io, command }
        };
        let jobs: Vec<Job> = (0..1000).map(write).collect();
        let mut last_ns = 0;
        let mut done = |_: u64, row: SimulatedRequest| last_ns = last_ns.max(row.io.completed_ns);
        stream.take(&jobs, &mut done);
        stream.finish(&mut done);
        stream.energy_j(last_ns).expect("its power is known")
    };
    let [none, volatile] = [WriteCache::None, drive.usual().cache].map(energy_j);
    assert!((0.9..1.1).contains(&(volatile / none)), "{volatile} J for {none} J");
}

/// Guards against leaving out what a drive writes after its last command while other drives work
/// on.
#[test]
fn writing_behind_a_drives_last_command_takes_energy_until_the_last_of_all() {
    let drive = generic();
    let energy_j = |late: &[u16], shared_bus: bool| {
        let disk = DiskOptions { queue_depth: 1, ..drive.usual() };
        let options = Configuration { disk, shared_bus, ..Configuration::default() };
        let mut stream = Stream::new(&options);
        (0..2).for_each(|_| stream.add(Kind::Disk(&drive, disk)));
        let job = |row: u64, disk: u16, queued_ns: u64| {
            let block = row * 2_654_435_761 % 900_000_000 * 8;
            let command = Command { block, count: 8, write: row < 2000, synchronous: false };
            Job { row, disk, io: Io { queued_ns, ..Io::default() }, command }
        };
        let writes = (0..2000).map(|row| job(row, 0, row * MS / 2));
        let jobs: Vec<Job> =
            writes.chain(late.iter().map(|&disk| job(2000, disk, 100_000 * MS))).collect();
        let mut last_ns = 0;
        let mut done = |_: u64, row: SimulatedRequest| last_ns = last_ns.max(row.io.completed_ns);
        stream.take(&jobs, &mut done);
        stream.finish(&mut done);
        stream.energy_j(last_ns).expect("its power is known")
    };
    for shared_bus in [false, true] {
        let [other, both] = [&[1][..], &[0, 1]].map(|late| energy_j(late, shared_bus));
        assert!((both - other).abs() < 1.0, "{other} J, and {both} where both read at the end");
    }
}

/// A command's arrival time, the command, and its flags.
type Asked = (u64, Command, IoFlags);

fn generic() -> crate::Drive {
    crate::drives::find("generic-hdd").unwrap().build().unwrap()
}

/// The rows of these commands to a drive of queue depth `depth`, or to an array of such drives.
fn rows_on(drive: &crate::Drive, array: &str, depth: u32, asked: &[Asked]) -> Rows {
    let disk = DiskOptions { queue_depth: depth, ..drive.usual() };
    let array = crate::array::Array::parse(array).unwrap();
    let options = Configuration { disk, array, ..Configuration::default() };
    let mut stream = Stream::new(&options);
    stream.add(Kind::Disk(drive, disk));
    let job = |(row, &(queued_ns, command, flags)): (usize, &Asked)| {
        let io = Io { queued_ns, flags, ..Io::default() };
        Job { row: row as u64, disk: 0, io, command }
    };
    let jobs: Vec<Job> = asked.iter().enumerate().map(job).collect();
    told(&jobs, stream, usize::MAX).0
}

#[test]
fn a_write_that_flushes_first_flushes_all_disks_of_its_array() {
    let drive = generic();
    let write = |block, count| Command { block, count, write: true, synchronous: false };
    let last_ns = |array: &str, count, flags| {
        // The blocks lie in even chunks of 64 KiB: striped over two disks, all are on the first.
        let early = |n: u64| (n * MS / 5, write(256 * 7919 * n, 128), IoFlags::empty());
        let mut asked: Vec<_> = (0..40).map(early).collect();
        asked.push((8 * MS, write(128, count), flags));
        let rows = rows_on(&drive, array, 32, &asked);
        let (_, last) = rows[40];
        assert_eq!(last.io.flags, flags, "it is told as it was asked");
        assert_eq!(last.parts.total_ns(), last.physical_ns(), "{array}: {last:?}");
        last.elapsed_ns()
    };
    for array in ["raid0:2", "raid1:2", "raid5:3"] {
        let flush_ns = last_ns(array, 0, IoFlags::FLUSH);
        let write_ns = last_ns(array, 8, IoFlags::FLUSH | IoFlags::FUA);
        assert!(write_ns >= flush_ns, "{array}: {write_ns} ns, and {flush_ns} for the flush alone");
    }
    assert!(last_ns("raid0:2", 0, IoFlags::FLUSH) > 50 * MS, "there is something to flush");
}

#[test]
fn a_write_with_fua_goes_past_what_the_cache_holds_and_a_flush_writes_all_of_it() {
    let drive = generic();
    let write = |block, count| Command { block, count, write: true, synchronous: false };
    for depth in [1, 32] {
        let last_ns = |count, flags| {
            let block = |n: u64| n * 2_654_435_761 % 900_000_000 * 8;
            let early = |n| (n * MS / 5, write(block(n), 8), IoFlags::empty());
            let mut asked: Vec<Asked> = (0..100).map(early).collect();
            asked.push((21 * MS, write(4096, count), flags));
            let (_, last) = rows_on(&drive, "none", depth, &asked)[100];
            assert_eq!(last.parts.total_ns(), last.physical_ns(), "{last:?}");
            last.elapsed_ns()
        };
        let [through, flush] = [last_ns(8, IoFlags::FUA), last_ns(0, IoFlags::FLUSH)];
        assert!(through < 50 * MS, "the access in progress and its own: {through} ns");
        assert!(flush > 100 * MS, "about a hundred accesses: {flush} ns");
    }
}

#[test]
fn a_flush_of_nothing_takes_the_controllers_time() {
    let drive = generic();
    let flush = Command { block: 0, count: 0, write: true, synchronous: false };
    for depth in [1, 32] {
        let (_, row) = rows_on(&drive, "none", depth, &[(MS, flush, IoFlags::FLUSH)])[0];
        assert_eq!((row.physical_ns(), row.parts.overhead_ns), (120_000, 120_000));
    }
    let (drive, cache) = (testing::simple(), WriteCache::Volatile { bytes: 51_200 });
    let disk = crate::Disk::new(&drive, DiskOptions { cache, ..DiskOptions::default() });
    assert_eq!(disk.flush_overhead_ns(), 1, "no time is how a missing completion is told");
}

#[test]
fn parts_add_up_where_flushes_wait_in_the_drives_own_queue() {
    let asked = |row: u64| {
        let count = if row.is_multiple_of(10) { 0 } else { 8 };
        let block = row * 2_654_435_761 % 900_000_000 * 8;
        let command = Command { block, count, write: row.is_multiple_of(3), synchronous: false };
        (row * 4 * MS, command, IoFlags::empty())
    };
    let rows = rows_on(&generic(), "none", 32, &(0..600).map(asked).collect::<Vec<_>>());
    assert_eq!(rows.len(), 600);
    for (_, row) in &rows {
        assert_eq!(row.parts.total_ns(), row.physical_ns(), "{row:?}");
    }
}
