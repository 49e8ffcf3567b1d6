//! vdbench's parameter files: whatever the text, it becomes valid workloads or an error, and never panics.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(found) = ioscape_workload::vdbench::parse_vdbench(text) {
        assert!(!found.jobs.is_empty());
        assert!(found.jobs.iter().all(|job| job.workload.validate().is_ok()));
    }
});
