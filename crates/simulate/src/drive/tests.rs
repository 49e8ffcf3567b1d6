//! Tests of parameter files: the shipped ones are consistent, and errors name the wrong key.

use super::*;
use crate::command::Command;
use crate::disk::Disk;
use crate::drives;
use crate::extent::Extent;
use crate::testing::{SIMPLE, simple};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

#[test]
fn shipped_drives_can_be_built_and_name_their_sources() {
    for (name, text) in drives::SHIPPED {
        let parameters = Parameters::parse(text, name).unwrap();
        assert_eq!(&parameters.name, name);
        parameters.build().unwrap();
        let table: toml::Table = text.parse().unwrap();
        for key in
            table.keys().filter(|k| !["name", "title", "status", "sources"].contains(&k.as_str()))
        {
            let told = parameters.sources.get(key).is_some_and(|s| s.len() > 3);
            assert!(told, "{name}: where does {key} come from?");
        }
    }
}

#[test]
fn capacities_are_the_published_ones() {
    for (name, megabytes) in [
        ("hp-c2200a", 335.3),
        ("hp-97560", 1355.3),
        ("hp-c2204a", 1341.2),
        ("quantum-pd425s", 407.0),
    ] {
        let drive = drives::find(name).unwrap().build().unwrap();
        let capacity = Extent::from(&drive).bytes() as f64 / 1e6;
        assert!((capacity - megabytes).abs() < 0.006 * megabytes, "{name}: {capacity} MB");
    }
}

/// The mean time of a random 8 KB read in milliseconds, with one read at a time.
fn random_read_ms(drive: &Drive) -> f64 {
    let (mut disk, mut dice) = (Disk::new(drive, drive.usual()), Pcg64Mcg::new(9));
    let count = 8192 / u64::from(drive.sector_bytes);
    let places = drive.mechanism.layout.blocks() - count;
    let (reads, mut now_ns) = (10_000u32, 0);
    for _ in 0..reads {
        let block = dice.next_u64() % places;
        let command = Command { block, count, write: false, synchronous: true };
        now_ns = disk.serve(now_ns, command).completed_ns;
    }
    now_ns as f64 / 1e6 / f64::from(reads)
}

/// Guards against an arm that travels across both mechanisms as if they were one (38 ms).
#[test]
fn a_drive_of_two_mechanisms_seeks_no_longer_than_one_of_them() {
    let [one, both] =
        ["hp-c2200a", "hp-c2204a"].map(|name| drives::find(name).unwrap().build().unwrap());
    assert_eq!(one.mechanism.seek_ns, both.mechanism.seek_ns);
    // Ruemmler & Wilkes 1993, Table 2.
    let found = random_read_ms(&both);
    assert!((found / 30.9 - 1.0).abs() < 0.1, "{found} ms");
}

#[test]
fn wrong_files_are_refused_with_key_and_line() {
    for (from, to, word) in [
        ("heads = 2", "heads = 2\ncolour = \"red\"", "colour"),
        ("heads = 2\n", "", "heads"),
        ("heads = 2", "heads = 2\nqueue_depth = 0", "queue_depth"),
        ("heads = 2", "heads = 2\npower = { active_w = nan, idle_w = 1.0 }", "power.active_w"),
        ("heads = 2", "heads = 2\npower = { active_w = 2.0, idle_w = -1.0 }", "power.idle_w"),
        ("rotation_ms = 10.0", "rotation_ms = -1.0", "rotation_ms"),
        ("track_skew = 10", "track_skew = 100", "skew"),
        ("to_host_bytes_per_s = 1e12", "to_host_bytes_per_s = 0.0", "bus.to_host"),
        ("sector_bytes = 512", "sector_bytes = 0", "sector_bytes"),
        ("[1, 1.1]", "[0, 1.1]", "seek"),
        ("last_cylinder = 99", "last_cylinder = 100", "cylinders"),
        (
            "read_after_ms = 0.0",
            "read_after_ms = 0.0, read_reconnect_ms = nan",
            "read_reconnect_ms",
        ),
        (
            "head_switch_ms = 0.5",
            "head_switch_ms = 0.5, write_seek_least_ms = -1.0",
            "write_seek_least",
        ),
        ("transfer = ", "read_water_mark = 1.5, transfer = ", "read_water_mark"),
        ("transfer = ", "write_lead = [[4, 1], [4, 2]], transfer = ", "write_lead"),
        ("bytes = 51200", "bytes = 0, read_ahead = true", "buffer.read_ahead"),
        ("bytes = 51200", "bytes = 51200, own_write_segment = true", "own_write_segment"),
        ("bytes = 51200", "bytes = 51200, segments = 101", "no sector"),
    ] {
        assert!(SIMPLE.contains(from));
        let error = Drive::parse(&SIMPLE.replace(from, to), "mine.toml").unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

/// The throughput, in bytes per second, of 128 MiB of sequential 4 MiB requests from block `first`,
/// until the last one has been read or is on the medium.
fn sequential(drive: &Drive, first: u64, write: bool) -> f64 {
    let (mut disk, count, mut now_ns) = (Disk::new(drive, drive.usual()), 8192, 0);
    for n in 0..32 {
        let command = Command { block: first + n * count, count, write, synchronous: false };
        now_ns = disk.serve(now_ns, command).completed_ns;
    }
    (32 * count * 512) as f64 * 1e9 / disk.flush(now_ns) as f64
}

/// Guards against a skew that is shorter than a head switch, which costs a rotation per track.
#[test]
fn the_generic_drive_writes_as_fast_as_it_reads() {
    let drive = drives::find("generic-hdd").unwrap().build().unwrap();
    let [reads, writes] = [false, true].map(|write| sequential(&drive, 0, write));
    assert!(writes > 0.9 * reads, "{writes} for {reads} bytes per second");
}

/// Its file once stated the rates within a track as those of the disk.
#[test]
fn the_generic_drive_states_its_sustained_rates() {
    let parameters = drives::find("generic-hdd").unwrap();
    let drive = parameters.build().unwrap();
    let last = drive.mechanism.layout.blocks() - 33 * 8192;
    let [outside, inside] = [0, last].map(|first| sequential(&drive, first, false) / 1e6);
    let rates = format!("reach {outside:.0} and {inside:.0} MB/s");
    assert!(parameters.sources["zones"].contains(&rates), "{rates}");
}

#[test]
fn bus_times_do_not_drift() {
    let bus = simple().bus;
    assert!(bus.time_ns(1_000_000, false).abs_diff(512_000) <= 1);
}
