//! Tests of the write policy, by speeds and counters of real and made-up file systems.

use super::*;
use crate::testing::{point, region};
use Reached::{Both, Cache, Computed, Storage, Unknown, Waited};
use WritePolicy::{Mixed, NotCached, WriteCancelling, WriteThrough};
use ioscape_schema::{Parameter, Probe, RegionCurves, Stop, Workload};

/// Speeds in the cache and behind it as measured on real file systems over a disk of 10 MB/s.
#[test]
fn policies_of_real_file_systems() {
    let cases = [
        ("FUSE write-through", 4320.0, 9.8, 9.8, Some(9.8), Some(WriteThrough)),
        ("FUSE write-back", 8953.0, 4093.0, 9.6, Some(9.8), Some(WriteCancelling)),
        ("FUSE without cache", 9.9, 9.8, 9.9, None, Some(NotCached)),
        ("ext4 -o sync", 14544.0, 5.6, 2.3, Some(5.0), Some(WriteThrough)),
        ("DUX-like", 8634.0, 1313.0, 0.4, Some(4.0), Some(WriteCancelling)),
        ("sshfs, writes pipelined", 6500.0, 62.0, 7.0, Some(30.0), None),
        ("tmpfs", 17000.0, 7000.0, 7000.0, None, Some(NotCached)),
    ];
    for (name, reads, writes, dsync, writes_behind, expected) in cases {
        let speeds = Speeds { reads, writes, dsync: Some(dsync), writes_behind };
        assert_eq!(judge(speeds, Unknown), expected, "{name}");
    }
    // For ext4, the device's counters tell; by its speeds alone, a drive's buffer might be absorbing the writes.
    for writes_behind in [Some(10.0), None] {
        let ext4 = Speeds { reads: 17272.0, writes: 1468.0, dsync: Some(2.3), writes_behind };
        assert_eq!(judge(ext4, Cache), Some(WriteCancelling));
        assert!(judge(ext4, Unknown).is_none() && ext4.are_absorbed());
    }
}

#[test]
fn a_policy_must_hold_within_the_bounds() {
    let near = Speeds { reads: 100.0, writes: 50.0, dsync: Some(9.0), writes_behind: Some(9.5) };
    assert_eq!(certain(near, [0.02; 4], Unknown), Some(WriteCancelling));
    assert_eq!(certain(near, [0.3; 4], Unknown), None);
    // Half as fast as reads, three times as fast as synchronous writes: 24 GiB of memory over a disk of 1 GB/s.
    let fast = Speeds { reads: 6.7, writes: 3.1, dsync: Some(1.1), writes_behind: None };
    assert_eq!(judge(fast, Unknown), None);
}

/// A cache that writes through to a drive with its own buffer; only synchronous writes wait until that is emptied.
#[test]
fn writes_as_fast_behind_the_cache_as_in_it_are_not_called_absorbed() {
    let drive =
        Speeds { reads: 7800.0, writes: 2680.0, dsync: Some(148.0), writes_behind: Some(2120.0) };
    assert_eq!(
        [Unknown, Cache].map(|reached| judge(drive, reached)),
        [None, Some(WriteCancelling)]
    );
    // No cache but the drive's own, which takes writes alone.
    let drive_alone =
        Speeds { reads: 1430.0, writes: 7390.0, dsync: Some(223.0), writes_behind: None };
    assert_eq!(judge(drive_alone, Unknown), None);
    let slow_behind = Speeds { writes_behind: Some(1000.0), ..drive };
    assert_eq!(judge(slow_behind, Unknown), Some(WriteCancelling));
}

#[test]
fn without_anything_slower_there_is_no_verdict() {
    let speeds = Speeds { reads: 9.0, writes: 9.0, dsync: None, writes_behind: None };
    assert_eq!(judge(speeds, Unknown), None);
    let through = Speeds { reads: 900.0, writes_behind: Some(8.0), ..speeds };
    assert_eq!(judge(through, Unknown), Some(WriteThrough));
}

/// Machines whose speeds do not tell the policy: a cache over a fast disk, and writes that a full cache throttles.
#[test]
fn where_writes_went_is_asked_of_the_counters() {
    let of =
        |reads, writes, dsync| Speeds { reads, writes, dsync: Some(dsync), writes_behind: None };
    let fast = of(8000.0, 1500.0, 600.0);
    let told = [Unknown, Cache, Both, Storage].map(|reached| judge(fast, reached));
    assert_eq!(told, [None, None, None, Some(WriteThrough)]);
    let throttled = of(3000.0, 110.0, 2.0);
    let told = [Unknown, Cache, Both, Storage].map(|reached| judge(throttled, reached));
    assert_eq!(told, [None, Some(WriteCancelling), None, None]);
    // However slow they are, counters that place most of the bytes tell. Once, a client through user space was withheld since its writes were 31 times
    // slower than reads, and not 30.
    let slower = of(3400.0, 110.0, 2.0);
    let told = [Unknown, Cache, Both, Storage].map(|reached| judge(slower, reached));
    assert_eq!(told, [None, Some(WriteCancelling), Some(Mixed), None]);
    assert_eq!(judge(of(9900.0, 319.0, 7.0), Computed), Some(WriteCancelling));
    // Processes that compute are not known to wait for each write.
    let busy = of(5000.0, 300.0, 200.0);
    let told = [Unknown, Waited, Computed].map(|reached| judge(busy, reached));
    assert_eq!(told, [Some(WriteThrough), Some(WriteThrough), None]);
}

/// A guest whose host absorbs every write, and a gigabit client that writes through to a server's memory of 64 MiB. Once, writes of both were called
/// "between".
#[test]
fn only_a_counter_shows_that_the_file_cache_keeps_some_of_what_is_written() {
    let guest =
        Speeds { reads: 5900.0, writes: 200.0, dsync: Some(30.0), writes_behind: Some(200.0) };
    let faster = Speeds { reads: 9000.0, ..guest };
    assert_eq!([guest, faster].map(|speeds| judge(speeds, Waited)), [None; 2]);
    let client =
        Speeds { reads: 6860.0, writes: 64.6, dsync: Some(6.55), writes_behind: Some(24.1) };
    let told = [Unknown, Waited, Both].map(|reached| judge(client, reached));
    assert_eq!(told, [None, None, Some(Mixed)]);
}

/// Where every set holds more than the dirty pages allowed, writes cost as much as storage, whatever the policy.
#[test]
fn that_a_cache_writes_through_takes_writes_to_a_small_set() {
    let policy = |smallest_mib: f64, writes_there: f64| {
        let read_frac = [(0.0, 1.4e6), (1.0, 6.9e9)];
        let read_frac = read_frac.map(|(at, speed)| point((Parameter::ReadFrac, at), speed, 3));
        let curves = RegionCurves { read_frac: read_frac.into(), ..RegionCurves::default() };
        let sizes = [(smallest_mib, writes_there), (64.0, 1.4e6)];
        let writes =
            |(mib, speed): (f64, f64)| point((Parameter::UniqueBytes, mib * 1_048_576.0), speed, 3);
        let dsync = point((Parameter::ReadFrac, 0.0), 1.1e6, 3).measurement;
        write_policy(&Evaluation {
            regions: vec![region(curves)],
            unique_bytes_write_curve: sizes.map(writes).into(),
            probes: vec![Probe { purpose: Purpose::SynchronousWrites, measurement: dsync }],
            ..Evaluation::default()
        })
    };
    assert_eq!(policy(1.0, 1.5e6), Some(Ok(WriteThrough)));
    assert_eq!(policy(16.0, 1.4e6), Some(Err(Untold::LargeSets)));
    assert_eq!(policy(1.0, 5e9), Some(Err(Untold::LargeSets)));
}

#[test]
fn counters_say_where_writes_went() {
    let run = |device: Option<u64>, dirty: Option<[u64; 2]>| {
        let workload = Workload { read_frac: 0.0, ..Workload::default() };
        let witness =
            Witness { device_written_bytes: device, dirty_bytes: dirty, ..Witness::default() };
        reached(&Measurement {
            bytes: 1000,
            witness,
            ..Measurement::empty(workload, Stop::Confident)
        })
    };
    assert_eq!(run(None, None), Unknown, "absent never means zero");
    assert_eq!(run(Some(0), Some([500, 500])), Cache);
    assert_eq!(run(Some(900), Some([500, 500])), Storage);
    assert_eq!(run(Some(900), Some([0, 300])), Both);
    assert_eq!(run(None, Some([0, 700])), Cache);
    let computed = |cpu_system_s| {
        let workload = Workload { read_frac: 0.0, ..Workload::default() };
        let empty = Measurement::empty(workload, Stop::Confident);
        reached(&Measurement { bytes: 1000, elapsed_s: 1.0, cpu_system_s, ..empty })
    };
    assert_eq!([0.0, 0.2, 0.9].map(computed), [Unknown, Waited, Computed]);
}

/// A cache that writes through to a drive with a buffer of 4 MiB, which takes writes at a fifth of memory's speed: by speed alone they seem absorbed.
#[test]
fn writes_that_wait_are_not_absorbed_by_memory() {
    let drive =
        Speeds { reads: 4010.0, writes: 775.0, dsync: Some(32.5), writes_behind: Some(59.6) };
    assert_eq!([Unknown, Waited].map(|r| judge(drive, r)), [Some(WriteCancelling), None]);
    // A client that caches writes, through user space.
    let client = Speeds { reads: 7330.0, writes: 852.0, dsync: Some(7.7), writes_behind: None };
    let told = [Unknown, Waited, Computed].map(|r| judge(client, r));
    assert_eq!(told, [None, None, Some(WriteCancelling)]);
    let through = Speeds { writes: 33.0, ..drive };
    assert_eq!(judge(through, Waited), Some(WriteThrough));
}
