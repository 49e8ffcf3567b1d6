//! Job files: whatever the text, the parser answers with valid workloads or an error, and never panics.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(jobs) = ioscape_workload::parse_jobs(text) {
        assert!(jobs.iter().all(|job| job.workload.validate().is_ok()));
    }
});
