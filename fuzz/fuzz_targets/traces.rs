//! Traces: whatever the bytes, every format's reader answers with rows or one error, and never panics. The first byte
//! chooses the format, or that the content shall.
#![no_main]

use ioscape_trace::{Format, ReadOptions, Source, open};
use std::io::Cursor;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let format = Format::all().nth(usize::from(choice >> 1));
    let options = ReadOptions { format, skip_bad: choice & 1 == 1, ..ReadOptions::default() };
    let source = Source::file("fuzzed", Cursor::new(bytes.to_vec()));
    let Ok(mut reader) = open(vec![source], &options) else { return };
    let mut batch = Vec::new();
    while let Ok(true) = reader.next_batch(&mut batch) {
        let info = reader.info();
        assert!(batch.iter().all(|io| usize::from(io.device) < info.devices.len()));
        assert!(batch.iter().all(|io| io.queued_ns <= io.issued_ns && io.issued_ns <= io.completed_ns));
    }
});
