//! Measures one workload on a simulated system, as a session does on a real one.

use super::host::{Access as HostAccess, Host};
use super::parameters::{BLOCK, SystemParameters, WritePolicy};
use super::run::{Course, Ran, run};
use crate::seek::nanoseconds;
use ioscape_schema::tally::{doubt_of_confidence, doubt_of_io_share, doubt_of_steadiness};
use ioscape_schema::{Access, Measurement, Purpose, Request, StopRule, Workload};

/// Fewest requests of the measured part of a run.
const REQUESTS_LEAST: usize = 400;
/// Most blocks of the warm-up, and of the measured part.
pub const BLOCKS_MOST: u64 = 500_000;
/// The same where flushes are to be seen; about a second of processor time.
const BLOCKS_OF_FLUSH: u64 = 20_000_000;
/// How many times its size is written to fill the room for dirty blocks: some writes go to blocks
/// that are dirty already.
const FILLED_BY: u64 = 2;
/// Least share of writes for which the room counts as filled: with fewer, flushes keep pace.
const WRITES_LEAST: f64 = 0.25;
/// Target half-width of the confidence interval relative to the throughput, as on a real machine.
const CONFIDENCE: f64 = 0.03;
/// Seconds of virtual time that replace the flush interval if nothing is flushed.
const NO_FLUSH_S: f64 = 10.0;
/// Most flush intervals of a run, even if the throughput is not yet known well.
const INTERVALS_MOST: f64 = 24.0;

/// Returns the most blocks of the warm-up, and of the measured part, of a run for this purpose: if
/// it is to show a flush, what memory moves in two intervals.
pub fn blocks_most(system: &SystemParameters, purpose: &Purpose) -> u64 {
    let interval_s = system.flush_interval_s().filter(|_| *purpose == Purpose::Flush);
    let bytes = 2.0 * interval_s.unwrap_or(0.0) * system.processor.copy_bytes_per_s;
    ((bytes / BLOCK as f64) as u64).clamp(BLOCKS_MOST, BLOCKS_OF_FLUSH)
}

/// Runs `workload` on `host` for at most `blocks_most` blocks; `next` gives the next request of a
/// process, and `cost_s` is the point's cost out of the budget.
pub fn measure(
    system: &SystemParameters,
    host: &mut Host<'_>,
    workload: &Workload,
    next: impl FnMut(usize) -> Request,
    (blocks_most, cost_s): (u64, f64),
) -> Measurement {
    let access = match workload.access {
        Access::Buffered => HostAccess::Buffered,
        Access::Direct => HostAccess::Direct,
        Access::Dsync => HostAccess::Synchronous,
    };
    let (processes, think_ns) = (workload.process_num, workload.think_time_ns);
    let course = Course { blocks_most, ..course(system, workload) };
    let ran = run(host, processes, next, think_ns, access, &course);
    // Where this is not told, the reads of dsync may come from a file cache.
    let has_none = system.is_bare() && workload.access.reads_cached();
    let mut found = measurement(workload, &ran, cost_s);
    found.witness.resident_frac = has_none.then_some([0.0; 2]);
    found
}

/// The length of a run: if writes are flushed periodically, it measures whole intervals, from the
/// second on.
fn course(system: &SystemParameters, workload: &Workload) -> Course {
    let interval = system.flush_interval_s().filter(|_| workload.read_frac < 1.0);
    let interval_s = interval.unwrap_or(NO_FLUSH_S);
    let warm_min_ns = nanoseconds(interval_s * 1e3);
    let cap_s = INTERVALS_MOST * interval_s;
    Course {
        warm_min_ns,
        warm_cap_ns: 4 * warm_min_ns,
        rule: StopRule { min_s: 2.0 * interval_s, cap_s, confidence: CONFIDENCE },
        period_ns: interval.map(|s| nanoseconds(s * 1e3)),
        requests_least: REQUESTS_LEAST,
        warm_blocks_least: filling_blocks(system, workload),
        blocks_most: BLOCKS_MOST,
    }
}

/// Blocks that the warm-up must move to fill the room for dirty blocks; 0 if it takes no more than
/// [`BLOCKS_MOST`] writes, or nothing is written.
fn filling_blocks(system: &SystemParameters, workload: &Workload) -> u64 {
    let own = Some(&system.cache).filter(|_| workload.access == Access::Buffered);
    let server = system.server_cache.as_ref().filter(|_| workload.access != Access::Dsync);
    let holding = own.into_iter().chain(server).filter(|cache| cache.writes == WritePolicy::Back);
    let room = holding.map(|cache| cache.dirty_bytes.unwrap_or(cache.bytes)).max().unwrap_or(0);
    let written = FILLED_BY * room.min(workload.unique_bytes) / BLOCK;
    let writes = 1.0 - workload.read_frac;
    if written <= BLOCKS_MOST || writes <= 0.0 {
        return 0;
    }
    (written as f64 / writes.max(WRITES_LEAST)) as u64
}

/// The measurement of a run, with the same warnings as for a real one.
fn measurement(workload: &Workload, ran: &Ran, cost_s: f64) -> Measurement {
    let warm_up_s = ran.warm_up_ns as f64 / 1e9;
    let mut m = Measurement { warm_up_s, cost_s, ..ran.tally.measurement(workload, 0.0) };
    m.cpu_system_s = ran.computed.busy_ns as f64 / 1e9;
    m.witness.run_delay_s = Some(ran.computed.delayed_ns as f64 / 1e9);
    m.warnings.extend((!ran.steady).then(|| doubt_of_steadiness(warm_up_s)));
    m.warnings.extend(doubt_of_confidence(&m, CONFIDENCE));
    m.warnings.extend(doubt_of_io_share(&m));
    m
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::find;
    use crate::system::tests::place;
    use ioscape_schema::Op;
    use rand_pcg::Pcg64Mcg;

    #[test]
    fn what_a_server_flushes_is_measured_over_whole_intervals_of_it() {
        let mut system = find("sparc-nfs").unwrap();
        let writes = Workload { read_frac: 0.5, ..Workload::default() };
        assert_eq!(course(&system, &writes).period_ns, None, "all writes go through");
        let server = system.server_cache.as_mut().unwrap();
        (server.writes, server.flush_interval_s) = (WritePolicy::Back, Some(60.0));
        let found = course(&system, &writes);
        assert_eq!((found.period_ns, found.warm_min_ns), (Some(60_000_000_000), 60_000_000_000));
        (system.cache.writes, system.cache.flush_interval_s) = (WritePolicy::Back, Some(90.0));
        assert_eq!(course(&system, &writes).period_ns, Some(90_000_000_000), "the longer one");
        let reads = Workload { read_frac: 1.0, ..writes };
        assert_eq!(course(&system, &reads).period_ns, None);
    }

    /// Once, messages sent the user to an evaluation with dsync that was refused.
    #[test]
    fn a_drive_alone_writes_past_its_cache_with_dsync_and_reads_as_ever() {
        let (set, model) = (64 << 20, crate::ssd::find("generic-ssd").unwrap().build().unwrap());
        let bare = SystemParameters::bare("d", "a drive", set);
        let of = |access, op| {
            let mut host = Host::new(&bare, &model, set).unwrap();
            let mut dice = Pcg64Mcg::new(9);
            let next = |_| Request { op, offset: place(&mut dice, set, 4096), len: 4096 };
            let workload = Workload { access, unique_bytes: set, ..Workload::default() };
            measure(&bare, &mut host, &workload, next, (BLOCKS_MOST, 1.0))
        };
        let speed = |access, op| of(access, op).throughput_bytes_per_s;
        let [writes, reads] =
            [Op::Write, Op::Read].map(|op| speed(Access::Dsync, op) / speed(Access::Direct, op));
        assert!(writes < 0.5, "{writes}");
        assert!((reads - 1.0).abs() < 0.02, "{reads}");
        assert_eq!(
            of(Access::Dsync, Op::Read).witness.resident_frac,
            Some([0.0; 2]),
            "no file cache"
        );
        assert_eq!(of(Access::Direct, Op::Read).witness.resident_frac, None);
    }

    /// Over a memory of 10 GB/s, a run for a flush every 5 s once ended after 0.6 s.
    #[test]
    fn a_run_for_a_flush_lasts_for_some() {
        let (mut system, set) = (find("generic-nvme").unwrap(), 64 << 20);
        system.processor.copy_bytes_per_s = 1e9;
        let model = crate::ssd::find(&system.drive).unwrap().build().unwrap();
        let writes = Workload { read_frac: 0.0, unique_bytes: set, ..Workload::default() };
        let lasts_s = |purpose: Purpose| {
            let mut host = Host::new(&system, &model, set).unwrap();
            let mut dice = Pcg64Mcg::new(9);
            let next = |_| {
                let (op, len) = (Op::Write, 32_768);
                Request { op, offset: place(&mut dice, set, u64::from(len)), len }
            };
            let most = (blocks_most(&system, &purpose), 1.0);
            let m = measure(&system, &mut host, &writes, next, most);
            m.warm_up_s + m.elapsed_s
        };
        assert!(lasts_s(Purpose::Flush) >= 15.0, "the first interval and two more");
        assert!(lasts_s(Purpose::Interaction) < 5.0);
    }

    /// Guards against writes that run at the speed of memory for ever: the warm-up ended before a
    /// room of more than 2 GB for dirty blocks was full.
    #[test]
    fn a_large_room_for_dirty_blocks_is_full_when_writes_are_measured() {
        let mut system = find("generic-nvme").unwrap();
        let (set, dirty) = (12 << 30, 3 << 30);
        (system.cache.bytes, system.cache.dirty_bytes) = (set, Some(dirty));
        let model = crate::ssd::find(&system.drive).unwrap().build().unwrap();
        let mut host = Host::new(&system, &model, set).unwrap();
        let mut dice = Pcg64Mcg::new(9);
        let next = |_| {
            let (op, len) = (Op::Write, 1 << 20);
            Request { op, offset: place(&mut dice, set, u64::from(len)), len }
        };
        let writes = Workload { read_frac: 0.0, unique_bytes: set, ..Workload::default() };
        let m = measure(&system, &mut host, &writes, next, (BLOCKS_MOST, 1.0));
        // A quarter of the writes finds its block dirty and cancels what waits there.
        let link_bytes_per_s = 3.2e9;
        assert!(m.throughput_bytes_per_s < link_bytes_per_s / 0.75, "{m:?}");
        let of = |access, read_frac, unique_bytes| {
            let workload = Workload { access, read_frac, unique_bytes, ..writes.clone() };
            filling_blocks(&system, &workload)
        };
        let room = dirty / BLOCK;
        assert_eq!(of(Access::Buffered, 0.5, set), 4 * room);
        assert_eq!(of(Access::Buffered, 0.9, set), 8 * room, "at most");
        assert_eq!(of(Access::Buffered, 0.0, dirty / 2), room, "all of a smaller set");
        assert_eq!(of(Access::Buffered, 0.0, 64 << 20), 0);
        assert_eq!([of(Access::Buffered, 1.0, set), of(Access::Direct, 0.5, set)], [0, 0]);
    }
}
