//! Every engine on a real file: its counts agree with each other, and it really does what is
//! requested.

use crate::common::{Uniform, possible, quick, run, run_with, session, skipped, workload};
use ioscape_measure::RunOptions;
use ioscape_schema::{
    Access, Advice, Engine, Measurement, Op, Phase, PhaseRequests, Request, Stop, WarningKind,
    Workers, Workload,
};
use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::FileExt;

/// Checks what must hold for every measurement of 4 KiB requests.
fn assert_consistent(m: &Measurement) {
    assert!(m.ios > 0, "{m:?}");
    assert_eq!(m.bytes, m.ios * 4096);
    let directions = [m.read, m.write].into_iter().flatten();
    let (mut ios, mut bytes) = (0, 0);
    for direction in directions {
        ios += direction.ios;
        bytes += direction.bytes;
        let times = direction.response_time_ns;
        assert!(times.p50 <= times.p90 && times.p90 <= times.p99 && times.p999 <= times.max);
        assert!(times.mean > 0.0 && times.mean <= times.max as f64);
    }
    assert_eq!((ios, bytes), (m.ios, m.bytes));
    assert_eq!(m.read.is_some(), m.workload.read_frac > 0.0);
    assert_eq!(m.write.is_some(), m.workload.read_frac < 1.0);
    assert!((m.throughput_bytes_per_s * m.elapsed_s / m.bytes as f64 - 1.0).abs() < 1e-6);
    let [low, high] = m.throughput_ci95;
    assert!(low <= m.throughput_bytes_per_s && m.throughput_bytes_per_s <= high);
    assert!(m.cpu_user_s + m.cpu_system_s > 0.0);
    assert!(m.warm_up_s > 0.0 && m.cost_s > m.elapsed_s * 0.5);
    assert!((0.0..=1.0).contains(&m.io_time_frac));
}

fn measured(change: impl Fn(Workload) -> Workload) -> Measurement {
    let (_dir, mut session) = session();
    let m = run(&mut session, &change(workload())).unwrap();
    assert_consistent(&m);
    m
}

#[test]
fn psync_reads() {
    let m = measured(|w| Workload { read_frac: 1.0, ..w });
    assert!(m.resident_frac.is_none_or(|f| f > 0.98), "{:?}", m.resident_frac);
    assert!(m.io_limited.is_some());
}

#[test]
fn psync_mixes() {
    let m = measured(|w| w);
    let share = m.read.unwrap().ios as f64 / m.ios as f64;
    // Six standard deviations of this many coin flips: a starved run has few requests.
    let apart = 3.0 / (m.ios as f64).sqrt();
    assert!((share - 0.5).abs() < apart, "{share} of {}", m.ios);
}

#[test]
fn processes_and_threads_share_the_work() {
    for workers in [Workers::Processes, Workers::Threads] {
        measured(|w| Workload { process_num: 3, workers, ..w });
    }
}

#[test]
fn mmap_loads_and_stores() {
    measured(|w| Workload { engine: Engine::Mmap, ..w });
}

/// Guards against advising the file alone, which faults ignore: each random fault then read 128
/// KiB.
#[test]
fn a_mapping_is_advised_as_its_file_is() {
    let (dir, mut session) = session();
    let seen = dir.path().join("smaps");
    let mapped = Workload { engine: Engine::Mmap, advice: Advice::Random, ..workload() };
    let requests = |process| {
        let mut uniform = Uniform::new(process, workload().unique_bytes, 0.5);
        let mut unseen = Some(seen.clone());
        move || {
            // The worker itself reads this, once its mapping exists.
            if let Some(seen) = unseen.take() {
                fs::write(seen, fs::read("/proc/self/smaps").unwrap_or_default()).unwrap();
            }
            uniform.next()
        }
    };
    session.run(&mapped, 4096, &quick(), requests).unwrap();
    let name = session.target().path().file_name().unwrap().to_str().unwrap();
    let told = fs::read_to_string(&seen).unwrap();
    let mappings = told.split(name).skip(1);
    let flags = mappings.filter_map(|one| one.lines().find(|line| line.starts_with("VmFlags:")));
    let flags: Vec<&str> = flags.collect();
    if flags.is_empty() {
        return skipped("the kernel tells no flags of mappings");
    }
    assert!(flags.iter().any(|flags| flags.split(' ').any(|flag| flag == "rr")), "{flags:?}");
}

#[test]
fn dsync_writes() {
    measured(|w| Workload { access: Access::Dsync, read_frac: 0.0, ..w });
}

#[test]
fn io_uring_keeps_many_in_flight() {
    let (_dir, mut session) = session();
    for (queue_depth, workers) in [(1, Workers::Processes), (16, Workers::Threads)] {
        let ring = Workload { engine: Engine::IoUring, queue_depth, workers, ..workload() };
        let Some(m) = possible(run(&mut session, &ring)) else { return };
        assert_consistent(&m);
    }
}

/// Guards against doubting the times of cached reads. The cache answers each request before the
/// next are issued, so that few of 32 are ever in flight.
#[test]
fn cached_reads_that_never_fill_the_queue_are_not_doubted() {
    let (_dir, mut session) = session();
    let engine = Engine::IoUring;
    let ring = Workload { engine, queue_depth: 32, read_frac: 1.0, ..workload() };
    let Some(m) = possible(run(&mut session, &ring)) else { return };
    assert_consistent(&m);
    let doubt = m.warnings.iter().find(|one| one.kind == WarningKind::LittlesLaw);
    assert_eq!(doubt, None);
}

#[test]
fn direct_reads_come_from_storage() {
    let (_dir, mut session) = session();
    let direct = Workload { access: Access::Direct, read_frac: 1.0, ..workload() };
    let Some(m) = possible(run(&mut session, &direct)) else { return };
    assert_consistent(&m);
    let has_device = session.target().file_system().has_device;
    if let Some(read) = m.storage_read_bytes.filter(|_| has_device) {
        assert!(read as f64 >= 0.9 * m.bytes as f64, "{read} of {} bytes", m.bytes);
    }
}

#[test]
fn dontcache_leaves_nothing_in_the_cache() {
    let (_dir, mut session) = session();
    // Without the advice, the kernel reads ahead, and those pages stay until they are requested.
    let uncached = Workload { engine: Engine::Dontcache, advice: Advice::Random, ..workload() };
    let only_reads = Workload { read_frac: 1.0, ..uncached.clone() };
    let Some(reads) = possible(run(&mut session, &only_reads)) else { return };
    assert_consistent(&reads);
    assert!(reads.resident_frac.is_none_or(|share| share < 0.1), "{:?}", reads.resident_frac);
    let has_device = session.target().file_system().has_device;
    if let Some(read) = reads.storage_read_bytes.filter(|_| has_device) {
        assert!(read as f64 >= 0.9 * reads.bytes as f64, "{read} of {} bytes", reads.bytes);
    }
    assert_consistent(&run(&mut session, &uncached).unwrap());
}

#[test]
fn the_size_of_a_request_decides_whether_storage_sees_it() {
    let (_dir, mut session) = session();
    let reads = |above| Workload { direct_above_bytes: Some(above), read_frac: 1.0, ..workload() };
    let mut from_storage = |above| {
        let m = possible(run(&mut session, &reads(above)))?;
        assert_consistent(&m);
        let has_device = session.target().file_system().has_device;
        m.storage_read_bytes.filter(|_| has_device).map(|read| read as f64 / m.bytes as f64)
    };
    // All requests have 4 KiB: larger than 4095 bytes, but not larger than 4096.
    if let (Some(past), Some(through)) = (from_storage(4095), from_storage(4096)) {
        assert!(past >= 0.9 && through < 0.1, "{past} and {through} of the bytes from storage");
    }
}

#[test]
fn the_null_engine_counts_every_request() {
    let m = measured(|w| Workload { engine: Engine::Null, ..w });
    assert_eq!((m.io_time_frac, m.io_limited, m.resident_frac), (0.0, None, None));
    assert!(m.cpu_ns_per_io > 0.0 && m.cpu_ns_per_io < 1e5, "{}", m.cpu_ns_per_io);
}

#[test]
fn the_clock_and_the_harness_are_measured_once() {
    let (_dir, mut session) = session();
    let (clock, overhead_ns) = session.calibrate().unwrap();
    assert!(clock.cost_ns > 0.0 && overhead_ns > 0.0);
    assert_eq!(session.calibrate().unwrap(), (clock, overhead_ns));
    let environment = session.environment().unwrap();
    assert_eq!(environment.harness_overhead_ns_per_io, overhead_ns);
}

#[test]
fn writes_reach_the_file_and_nothing_else_changes() {
    let (_dir, mut session) = session();
    let set = workload().unique_bytes;
    session.layout(set, &quick()).unwrap();
    let path = session.target().path().to_owned();
    let block = |number: u64| {
        let mut bytes = vec![0; 4096];
        std::fs::File::open(&path).unwrap().read_exact_at(&mut bytes, number * 4096).unwrap();
        bytes
    };
    let before: Vec<_> = (0..set / 4096).map(block).collect();
    let writes = Workload { read_frac: 0.0, ..workload() };
    let even = |process| {
        let mut uniform = Uniform::new(process, set, 0.0);
        move || Request { op: Op::Write, offset: uniform.next().offset / 8192 * 8192, len: 4096 }
    };
    session.run(&writes, 4096, &quick(), even).unwrap();
    for (number, old) in before.iter().enumerate() {
        assert_eq!(block(number as u64) == *old, number % 2 == 1, "block {number}");
    }
}

/// Storage that deduplicates would keep a set that equals an earlier one off the medium.
#[test]
fn no_block_of_a_set_is_in_that_of_the_session_before() {
    let set = workload().unique_bytes;
    let blocks = || {
        let (_dir, mut session) = session();
        session.layout(set, &quick()).unwrap();
        let bytes = std::fs::read(session.target().path()).unwrap();
        bytes[..set as usize].chunks(4096).map(<[u8]>::to_vec).collect::<HashSet<_>>()
    };
    let (one, other) = (blocks(), blocks());
    assert_eq!(one.len() as u64, set / 4096);
    assert!(one.is_disjoint(&other));
}

#[test]
fn thinking_slows_a_stream_down_but_is_no_response_time() {
    let m = measured(|w| Workload { think_time_ns: 2_000_000, read_frac: 1.0, ..w });
    assert!(m.iops() <= 500.0, "{}", m.iops());
    assert!(m.response_time_ns.p50 < 2_000_000);
    assert!(m.io_time_frac < 0.5);
}

/// Guards against counting a pause as response time: requests that end while the process thinks
/// would take 10 ms instead of 0.2.
#[test]
fn thinking_with_many_requests_in_flight_is_no_response_time_either() {
    let (_dir, mut session) = session();
    let thinking = Workload {
        think_time_ns: 5_000_000,
        queue_depth: 8,
        engine: Engine::IoUring,
        read_frac: 1.0,
        ..workload()
    };
    let Some(m) = possible(run(&mut session, &thinking)) else { return };
    assert_consistent(&m);
    assert!(m.iops() <= 200.0, "{}", m.iops());
    assert!(m.response_time_ns.p50 < 2_500_000, "{:?}", m.response_time_ns);
}

/// Guards against late wakeups that lengthen think times: a sleep of 200 us takes some 260 us,
/// which left 3800 of 5000 requests a second.
#[test]
fn short_thinking_takes_as_long_as_asked_though_sleepers_wake_late() {
    // What other load delays is not made up for.
    let mut taken_ns = Vec::new();
    for _ in 0..20 {
        let m = measured(|w| Workload { think_time_ns: 200_000, read_frac: 1.0, ..w });
        let pause_ns = 1e9 / m.iops() - m.response_time_ns.mean;
        let delay_s = m.witness.run_delay_s.unwrap_or(0.0);
        taken_ns.push((pause_ns, m.disturbed || delay_s > 0.02 * m.elapsed_s));
        if (195_000.0..220_000.0).contains(&pause_ns) {
            return;
        }
    }
    assert!(taken_ns.iter().all(|(_, is_delayed)| *is_delayed), "{taken_ns:?}");
    skipped("other programs keep the processors busy");
}

/// Reads of 4 KiB, `bytes` in total, each after a pause.
fn reading(bytes: u64, think_time_ns: u64) -> Phase {
    let reads = PhaseRequests {
        sizes: vec![(4096, 1.0)],
        span_bytes: 1 << 20,
        runs: 1,
        ..PhaseRequests::default()
    };
    Phase { bytes, read_frac: 1.0, think_time_ns, read: Some(reads), ..Phase::default() }
}

/// A run that ends with its phases, however long these take on a disk.
fn to_the_end() -> RunOptions {
    RunOptions { cap_s: 60.0, ..quick() }
}

#[test]
fn phases_are_carried_out_once_and_no_request_more_is_measured() {
    for process_num in [1, 3] {
        let phases = vec![reading(1 << 20, 0), reading(3 << 19, 0)];
        let (_dir, mut session) = session();
        let asked = Workload { process_num, phases, read_frac: 1.0, ..workload() };
        let m = run_with(&mut session, &asked, &to_the_end()).unwrap();
        assert_eq!(m.stop, Stop::PhasesOver);
        let pass = 5 << 19;
        let beyond = 4096 * u64::from(process_num);
        assert!((pass..=pass + beyond).contains(&m.bytes), "{process_num}: {}", m.bytes);
    }
}

/// Guards against a run that continues to the end of its phases, here some four seconds, although
/// time is up, because its rate is already known well enough.
#[test]
fn phases_end_when_time_is_up_however_steady_their_rate_is() {
    let (_dir, mut session) = session();
    let phases = vec![reading(1 << 24, 1_000_000)];
    let asked = Workload { process_num: 1, phases, read_frac: 1.0, ..workload() };
    let options = RunOptions { confidence: 1e9, ..quick() };
    let m = run_with(&mut session, &asked, &options).unwrap();
    assert_eq!(m.stop, Stop::TimeCap);
    assert!(m.bytes < 1 << 24, "{}", m.bytes);
}

/// Guards against subtracting only the think time of the workload as a whole.
#[test]
fn what_is_thought_in_phases_is_no_io() {
    let (_dir, mut session) = session();
    // Longer than a busy disk takes for a page.
    let phases = vec![reading(1 << 16, 50_000_000)];
    let asked = Workload { process_num: 1, phases, read_frac: 1.0, ..workload() };
    let m = run_with(&mut session, &asked, &to_the_end()).unwrap();
    assert_eq!(m.stop, Stop::PhasesOver);
    assert!(m.io_time_frac < 0.5, "{}", m.io_time_frac);
}

#[test]
fn storage_reads_are_seen_when_the_set_is_not_cached() {
    let (_dir, mut session) = session();
    let reads = Workload { read_frac: 1.0, ..workload() };
    let cached = run(&mut session, &reads).unwrap();
    if let Some(read) = cached.storage_read_bytes {
        assert!(read <= cached.bytes / 10, "{read} of {} bytes", cached.bytes);
    }
}
