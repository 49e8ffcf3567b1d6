//! The kernel's trace pages: whatever the bytes of two CPUs, they become rows or an error; whatever the text, a layout or an error.
#![no_main]

use ioscape_schema::TraceInfo;
use ioscape_trace::{Source, ring};
use std::io::Cursor;
use std::sync::LazyLock;

const PAGE: &str = "field: u64 timestamp; offset:0; size:8;\nfield: local_t commit; offset:8; size:8;\nfield: char data; offset:16; size:240;\n";
const FIELDS: &str = "field:int common_pid; offset:4; size:4;\nfield:dev_t dev; offset:8; size:4;\nfield:sector_t sector; offset:16; size:8;\n\
    field:unsigned int nr_sector; offset:24; size:4;\nfield:char rwbs[8]; offset:28; size:8;\nfield:char comm[4]; offset:36; size:4;\n";

/// Read once: it is the same for all inputs.
static OURS: LazyLock<ring::Layout> = LazyLock::new(|| {
    let events = ["block_io_start", "block_rq_issue", "block_rq_complete", "block_bio_remap"];
    let formats: Vec<String> = events.iter().enumerate().map(|(id, name)| format!("name: {name}\nID: {id}\n{FIELDS}")).collect();
    ring::Layout::parse(PAGE, &formats).expect("a layout of our own")
});

libfuzzer_sys::fuzz_target!(|input: (&str, &[u8], &[u8])| {
    let (text, first, second) = input;
    let _ = ring::Layout::parse(text, &[text]);
    let cpu = |bytes: &[u8]| Source::stream("fuzzed", Cursor::new(bytes.to_vec()));
    let Ok(mut reader) = ring::open(OURS.clone(), vec![cpu(first), cpu(second)], &[], TraceInfo::default()) else { return };
    let mut batch = Vec::new();
    while let Ok(true) = reader.next_batch(&mut batch) {
        assert!(batch.iter().all(|io| io.queued_ns <= io.issued_ns && io.issued_ns <= io.completed_ns));
    }
});
