//! Tests variations of a drive in DiskSim's notation against closed forms: the effect of a changed
//! key on the times, worked out from the geometry alone.

use super::Specs;
use super::tests::{BED, MODEL, WHOLE, whole};
use crate::command::{Command, DiskOptions};
use crate::disk::Disk;
use crate::drive::Drive;

/// The fixture without times of the bus, the controller and settling, so that only the mechanism
/// takes time.
fn bare(change: &[(&str, &str)]) -> Drive {
    let mut texts = [WHOLE, MODEL, BED].map(|text| {
        let line = |line: &str| match line.split_once(" = ") {
            Some((key, value)) if is_time(key.trim()) && value.trim().ends_with(',') => {
                format!("{key} = 0,\n")
            }
            _ => format!("{line}\n"),
        };
        text.lines().map(line).collect::<String>()
    });
    for (from, to) in change {
        let at = texts.iter().position(|text| text.contains(from)).unwrap();
        texts[at] = texts[at].replace(from, to);
    }
    let Specs { parameters, .. } = whole(&texts[0], &texts[1], &texts[2]).unwrap();
    parameters.build().unwrap()
}

/// Whether a key states a time that is not the mechanism's.
fn is_time(key: &str) -> bool {
    let words = [
        "overhead",
        "over. after",
        "transfer time",
        "settling",
        "inter-disconnect",
        "seek delta",
        "seek delay",
    ];
    let other = ["Time scale for overheads"];
    (words.iter().any(|word| key.contains(word))
        || key == "Extra write disconnect"
        || key == "Arbitration time")
        && !other.contains(&key)
}

/// Mean seek, rotation and transfer times in milliseconds of reads of one block at random places,
/// far apart in time.
fn random_reads(drive: &Drive, blocks: std::ops::Range<u64>) -> [f64; 3] {
    let mut disk = Disk::new(drive, DiskOptions::default());
    let (mut state, mut now_ns, mut sums) = (7u64, 0, [0.0; 3]);
    const READS: u32 = 40_000;
    for _ in 0..READS {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let block = blocks.start + (state >> 24) % (blocks.end - blocks.start);
        now_ns += 50_000_000 + (state >> 40);
        let command = Command { block, count: 1, write: false, synchronous: true };
        let parts = disk.serve(now_ns, command).parts;
        for (sum, ns) in sums.iter_mut().zip([parts.seek_ns, parts.rotation_ns, parts.transfer_ns])
        {
            *sum += ns as f64 / 1e6 / f64::from(READS);
        }
    }
    sums
}

/// Time of one read of `blocks` blocks from block 0 on, from its first sector to its last, in
/// rotations.
fn rotations_of(drive: &Drive, blocks: u64) -> f64 {
    let mut disk = Disk::new(drive, DiskOptions::default());
    let command = Command { block: 0, count: blocks, write: false, synchronous: true };
    let parts = disk.serve(0, command).parts;
    parts.transfer_ns as f64 / drive.mechanism.layout.rotation_ns() as f64
}

fn assert_near(found: f64, known: f64, within: f64, what: &str) {
    assert!((found - known).abs() <= within * known, "{what}: {found} for {known}");
}

#[test]
fn a_random_read_waits_half_a_rotation_and_passes_a_sector_of_its_zone() {
    for rpm in [3600.0, 5400.0, 10_000.0] {
        let drive = bare(&[("(in rpms) = 5400", &format!("(in rpms) = {rpm}"))]);
        let rotation_ms = 60_000.0 / rpm;
        // 150 cylinders of 4 tracks with 100 sectors; each of the 75 pairs of cylinders has two
        // spares.
        let border = 150 * 400 - 150;
        for (blocks, sectors) in [(0..border, 100.0), (border..110_100, 84.0)] {
            let [_, rotation, transfer] = random_reads(&drive, blocks);
            assert_near(rotation, rotation_ms / 2.0, 0.02, "rotation");
            assert_near(transfer, rotation_ms / sectors, 0.001, "transfer");
        }
    }
}

#[test]
fn seeks_have_the_mean_that_their_curve_and_the_zones_give() {
    let curve = "Seek type = hplplus10";
    let always = "Seek type = constant, Constant seek time = 8.0";
    for seek in
        [always, "Seek type = curve", "Seek type = threepoint_curve", "Seek type = hpl", curve]
    {
        let drive = bare(&[(curve, seek), ("Head switch time = 1.2", "Head switch time = 0.0")]);
        // Blocks per cylinder: 400 and 336, less two per pair of cylinders; weights pairs of
        // cylinders by their shares.
        let of = |cylinder: usize| if cylinder < 150 { 399.0 } else { 335.0 } / 110_100.0;
        let mut known = 0.0;
        for from in 0..300usize {
            for to in 0..300 {
                known +=
                    of(from) * of(to) * f64::from(drive.mechanism.seek_ns[from.abs_diff(to)]) / 1e6;
            }
        }
        let [found, ..] = random_reads(&drive, 0..110_100);
        assert_near(found, known, 0.01, seek);
    }
    let constant = bare(&[(curve, always)]);
    assert_eq!(constant.mechanism.seek_ns[1..], [8_000_000; 299]);
}

#[test]
fn skews_hide_a_switch_or_cost_a_rotation() {
    // Eight tracks over two cylinders: 7 switches, one of them to the next cylinder. A switch takes
    // 10.8 of 100 sectors.
    let all = 800 - 2;
    let sequential = |track: u32, cylinder: u32, switch_ms: f64| {
        let drive = bare(&[
            ("track switch = 12,", &format!("track switch = {track},")),
            ("cylinder switch = 20,", &format!("cylinder switch = {cylinder},")),
            ("Head switch time = 1.2", &format!("Head switch time = {switch_ms}")),
        ]);
        rotations_of(&drive, all)
    };
    let known =
        |track: f64, cylinder: f64| (f64::from(all as u32) + 6.0 * track + cylinder) / 100.0;
    assert_near(sequential(12, 20, 1.2), known(12.0, 20.0), 1e-4, "hidden");
    assert_near(sequential(30, 40, 1.2), known(30.0, 40.0), 1e-4, "more than needed");
    assert_near(sequential(10, 20, 1.2), known(110.0, 20.0), 1e-4, "a track switch too late");
    assert_near(sequential(12, 8, 1.2), known(12.0, 108.0), 1e-4, "a cylinder switch too late");
    assert_near(sequential(12, 20, 2.0), known(112.0, 20.0), 1e-4, "a slower switch");
}

#[test]
fn defects_and_spares_cost_the_sectors_they_take() {
    let plain = rotations_of(&bare(&[]), 100);
    assert_near(plain, 1.0, 1e-4, "one track");
    let slipped = bare(&[(
        "Number of spares = 2,\n            slips = []",
        "Number of spares = 2,\n            slips = [ 90, 7 ]",
    )]);
    // Two sectors are skipped, so the last two blocks are on the next track.
    assert_near(rotations_of(&slipped, 98), 1.0, 1e-4, "slips");
    assert_near(rotations_of(&slipped, 100), 1.0 + 0.12 + 0.02, 1e-4, "over the track");
    assert_eq!(
        slipped.mechanism.layout.blocks(),
        bare(&[]).mechanism.layout.blocks(),
        "spares make up"
    );
    let by_track = bare(&[("Sparing scheme used = 8", "Sparing scheme used = 3")]);
    assert_near(rotations_of(&by_track, 100), 0.98 + 0.02 + 0.12 + 0.02, 1e-4, "spares of a track");
    let zoneless = bare(&[
        ("Number of spares = 2", "Number of spares = 0"),
        ("Block count = 110100", "Block count = 0"),
    ]);
    assert_eq!(zoneless.mechanism.layout.blocks(), 150 * 4 * (100 + 84));
}

#[test]
fn as_many_places_are_found_again_as_there_are_segments() {
    for segments in [1u64, 3, 8] {
        let drive = bare(&[(
            "Number of buffer segments = 4",
            &format!("Number of buffer segments = {segments}"),
        )]);
        let hits = |places: u64| {
            let mut disk = Disk::new(&drive, drive.usual());
            let mut found = 0;
            for nth in 0..4 * places {
                let command = Command {
                    block: nth % places * 9000,
                    count: 8,
                    write: false,
                    synchronous: true,
                };
                let done = disk.serve(nth * 100_000_000, command);
                found += u64::from(done.parts.cached);
            }
            found
        };
        assert_eq!(hits(segments), 3 * segments, "{segments} segments");
        assert_eq!(hits(segments + 1), 0, "{segments} segments, one place more");
    }
}

#[test]
fn a_bus_slower_than_the_medium_sets_the_rate_and_a_faster_one_does_not() {
    for (each_ms, key) in
        [(0.5, "Read block transfer time = 0,"), (0.02, "Read block transfer time = 0,")]
    {
        let drive = bare(&[(key, &format!("Read block transfer time = {each_ms},"))]);
        let mut disk = Disk::new(&drive, DiskOptions::default());
        let command = Command { block: 0, count: 100, write: false, synchronous: true };
        let done = disk.serve(0, command);
        let medium_ms = 60_000.0 / 5400.0;
        let took_ms = (done.completed_ns - done.parts.rotation_ns) as f64 / 1e6;
        // Half of the blocks must have been read. On a slow bus, the transfer then begins and takes
        // its full time; on a fast one, only the last block is left once it is read.
        let known =
            if each_ms > 0.2 { 0.5 * medium_ms + 100.0 * each_ms } else { medium_ms + each_ms };
        assert_near(took_ms, known, 0.01, "bus");
    }
}
