//! The recorder on this machine; the test prints that it is skipped where recording is not allowed.

#![allow(clippy::print_stderr)]

use ioscape_machine::Error;
use ioscape_machine::extents::places;
use ioscape_observe::record::{RecordOptions, RecordedDisk, Recorder, SpoolFolder, block_map};
use ioscape_schema::{Io, Op, Request};
use std::io::{Read, Seek, Write};

#[test]
fn events_of_a_write_are_gathered() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let Ok(disk) = RecordedDisk::below(folder.path()) else {
        eprintln!("SKIPPED: {} is on no block device", folder.path().display());
        return;
    };
    // The addresses of a file are those on its partition.
    let is_whole = disk.partitions.is_empty();
    let spooled = SpoolFolder::open(folder.path()).unwrap();
    let spool = Some(&spooled);
    let options = RecordOptions { disks: vec![disk.clone()], buffer_bytes: 1 << 20, spool };
    let mut recorder = match Recorder::start(&options) {
        Ok(recorder) => recorder,
        Err(error @ Error::Unsupported { .. }) => {
            eprintln!("SKIPPED: {error}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let source = recorder.source();
    assert!(source.header_page.contains("commit") && source.formats.len() >= 3);
    assert_eq!((source.devices, source.info.devices.len()), (vec![disk.number], 1));
    let mut file = std::fs::File::create(folder.path().join("written")).unwrap();
    file.write_all(&[7; 1 << 16]).unwrap();
    file.sync_all().unwrap();
    recorder.drain().unwrap();
    let first = recorder.cut().unwrap();
    file.write_all(&[8; 1 << 16]).unwrap();
    file.sync_all().unwrap();
    let last = recorder.stop().unwrap();
    assert!(first.until_ns.is_some() && last.until_ns.is_none());
    assert!(first.stopped_ns.is_none() && last.stopped_ns > first.until_ns);
    for part in [first, last] {
        let own = part.own().unwrap();
        let mut bytes = 0;
        for mut cpu in part.cpus {
            for (offset, _) in places(&cpu, 1) {
                let request = Request { op: Op::Write, offset, len: 4096 };
                let io = Io { request, process: u32::MAX - 1, ..Io::default() };
                assert!(
                    own.contains(&io) || !is_whole,
                    "the kernel writes the spool later: {io:?}"
                );
            }
            cpu.seek(std::io::SeekFrom::Start(part.head_bytes)).unwrap();
            let mut pages = Vec::new();
            bytes += cpu.read_to_end(&mut pages).unwrap();
        }
        assert!(bytes > 0, "a synced write makes events");
    }
}

#[test]
fn a_map_of_blocks_lies_within_the_disk() {
    let place = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let Ok(disk) = RecordedDisk::below(place) else {
        eprintln!("SKIPPED: {} is on no block device", place.display());
        return;
    };
    let map = block_map(std::slice::from_ref(&disk), &|| false).unwrap();
    let ranges = map.ranges;
    assert_eq!(block_map(std::slice::from_ref(&disk), &|| true), None);
    if ranges.is_empty() {
        eprintln!("SKIPPED: the file systems on {} tell no map of their blocks", disk.name);
        return;
    }
    let end = disk.capacity_bytes.unwrap();
    assert!(
        ranges.iter().all(|range| range.device == 0 && range.from < range.to && range.to <= end)
    );
    assert!(map.mapped.iter().all(|(device, from, to)| *device == 0 && from < to && *to <= end));
}
