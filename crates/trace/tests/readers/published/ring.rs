//! Raw pages of tracefs, recorded on a 6.18 kernel under an ext4 workload.

#![allow(clippy::disallowed_methods)]

use super::data;
use ioscape_schema::{Io, IoFlags, Op, TraceInfo};
use ioscape_trace::{Reader, Source, ring};
use std::fs::{File, read_to_string};
use std::path::Path;

fn layout(folder: &Path) -> ring::Layout {
    let text = |name: &str| read_to_string(folder.join(name)).unwrap();
    let formats = ["block_bio_queue", "block_rq_issue", "block_rq_complete"];
    let formats = formats.map(|name| text(&format!("{name}.format")));
    ring::Layout::parse(&text("header_page"), &formats).unwrap()
}

fn cpus(folder: &Path) -> Vec<Source> {
    let cpu = |name: &str| Source::file(name, File::open(folder.join(name)).unwrap());
    vec![cpu("cpu0.raw"), cpu("cpu1.raw")]
}

/// All rows, with times on the events' clock.
fn rows(reader: &mut Reader) -> Vec<Io> {
    let (mut rows, mut batch) = (Vec::new(), Vec::new());
    while reader.next_batch(&mut batch).unwrap() {
        rows.extend_from_slice(&batch);
    }
    let began_ns = reader.info().started_unix_ns.map_or(0, |began| began as u64);
    for io in &mut rows {
        io.queued_ns += began_ns;
        io.issued_ns += began_ns;
        io.completed_ns += began_ns;
    }
    rows
}

#[test]
fn requests_under_way_at_a_cut_are_in_the_part_in_which_they_complete() {
    let Some(folder) = data::path("recorded/ext4-loop-tracefs") else { return };
    let info = || TraceInfo { started_unix_ns: Some(0), ..TraceInfo::default() };
    let mut whole = rows(&mut ring::open(layout(&folder), cpus(&folder), &[], info()).unwrap());
    let mut times: Vec<u64> = whole.iter().map(|io| io.completed_ns).collect();
    times.sort_unstable();
    let mut parts = ring::Parts::new(layout(&folder), &[], info());
    let (mut all, mut across) = (Vec::new(), 0);
    let cuts = [1, 2, 3].map(|quarter| Some(times[times.len() * quarter / 4]));
    let mut pages = cpus(&folder);
    for until_ns in cuts.into_iter().chain([None]) {
        let cpus = std::mem::take(&mut pages);
        let part = ring::Part { cpus, until_ns, ..ring::Part::default() };
        let mut reader = parts.begin(part).unwrap();
        let of_part = rows(&mut reader);
        assert!(of_part.iter().all(|io| until_ns.is_none_or(|until| io.completed_ns < until)));
        let before = all.iter().map(|io: &Io| io.completed_ns).max().unwrap_or(u64::MAX);
        across += of_part.iter().filter(|io| io.queued_ns < before).count();
        all.extend(of_part);
        parts.end(reader);
    }
    assert!(across > 0, "no request is under way at a cut");
    let key =
        |io: &Io| (io.queued_ns, io.completed_ns, io.device, io.request.offset, io.request.len);
    whole.sort_by_key(key);
    all.sort_by_key(key);
    assert_eq!(all, whole);
}

#[test]
fn pages_of_two_cpus() {
    let Some(folder) = data::path("recorded/ext4-loop-tracefs") else { return };
    let mut reader = ring::open(layout(&folder), cpus(&folder), &[], TraceInfo::default()).unwrap();
    let rows = rows(&mut reader);
    let info = reader.info();
    let loop0 = info.devices.iter().position(|device| device.name == "7,0").unwrap();
    let of: Vec<_> = rows.iter().filter(|io| usize::from(io.device) == loop0).collect();
    assert!(of.len() > 1000, "{} requests of loop0, {} of all", of.len(), rows.len());
    assert!(of.iter().any(|io| io.flags.contains(IoFlags::META) && io.request.op == Op::Write));
    assert!(info.commands.iter().any(|name| name == "jbd2/loop0-8"));
    assert!(of.iter().all(|io| io.completed_ns >= io.issued_ns));
}
