//! Campaign files and their reference numbers: whatever the text, the parsers answer with sound rows or an error.
#![no_main]

use ioscape_workload::campaign::{Campaign, parse_reference};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = parse_reference(text);
    if let Ok(campaign) = Campaign::parse(text) {
        for row in campaign.rows(1 << 20).into_iter().flatten() {
            assert_eq!(row.cells.len(), campaign.method.len());
            assert!(row.cells.iter().all(|cell| cell.file_bytes <= 1 << 20));
        }
    }
});
