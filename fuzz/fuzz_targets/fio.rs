//! fio's job files and output: whatever the text, it becomes valid workloads or an error, and never panics.
#![no_main]

use ioscape_workload::fio::{parse_fio_jobs, read_output};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = read_output(text);
    if let Ok(found) = parse_fio_jobs(text) {
        assert!(!found.jobs.is_empty());
        assert!(found.jobs.iter().all(|job| job.workload.validate().is_ok()));
    }
});
