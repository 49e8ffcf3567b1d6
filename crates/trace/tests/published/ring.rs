//! Raw pages of tracefs, recorded on a 6.18 kernel under an ext4 workload.

#![allow(clippy::disallowed_methods)]

use crate::data;
use ioscape_schema::{IoFlags, Op, TraceInfo};
use ioscape_trace::{Source, ring};
use std::fs::{File, read_to_string};

#[test]
fn pages_of_two_cpus() {
    let Some(folder) = data::path("recorded/ext4-loop-tracefs") else { return };
    let text = |name: &str| read_to_string(folder.join(name)).unwrap();
    let formats = ["block_bio_queue", "block_rq_issue", "block_rq_complete"];
    let formats = formats.map(|name| text(&format!("{name}.format")));
    let layout = ring::Layout::parse(&text("header_page"), &formats).unwrap();
    let cpu = |name: &str| Source::file(name, File::open(folder.join(name)).unwrap());
    let cpus = vec![cpu("cpu0.raw"), cpu("cpu1.raw")];
    let mut reader = ring::open(layout, cpus, &[], TraceInfo::default()).unwrap();
    let (mut rows, mut batch) = (Vec::new(), Vec::new());
    while reader.next_batch(&mut batch).unwrap() {
        rows.extend_from_slice(&batch);
    }
    let info = reader.info();
    let loop0 = info.devices.iter().position(|device| device.name == "7,0").unwrap();
    let of: Vec<_> = rows.iter().filter(|io| usize::from(io.device) == loop0).collect();
    assert!(of.len() > 1000, "{} requests of loop0, {} of all", of.len(), rows.len());
    assert!(of.iter().any(|io| io.flags.contains(IoFlags::META) && io.request.op == Op::Write));
    assert!(info.commands.iter().any(|name| name == "jbd2/loop0-8"));
    assert!(of.iter().all(|io| io.completed_ns >= io.issued_ns));
}
