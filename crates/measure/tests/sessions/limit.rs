//! Under a memory limit, the file cache has a known size, and the cache misses that a session
//! reports follow from it.

use crate::common::{quick, run_with, skipped, workload};
use ioscape_machine::{Error, Target, TargetOptions};
use ioscape_measure::{RunOptions, Session, SessionOptions};
use ioscape_schema::Workload;

#[test]
fn a_set_within_the_limit_is_cached_and_one_beyond_it_is_not() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let options = TargetOptions { write_needed: true, ..TargetOptions::default() };
    let target = Target::open(dir.path(), &options).unwrap();
    if target.file_system().is_in_memory() {
        return skipped("a file system in memory has no file cache that a limit could be for");
    }
    let limited = SessionOptions { memory_limit: Some(32 << 20) };
    let mut session = match Session::new(target, limited) {
        Ok(session) => session,
        Err(error @ Error::Unsupported { .. }) => return skipped(&error.to_string()),
        Err(error) => panic!("{error}"),
    };
    let mut resident = |unique_bytes: u64| {
        let reads = Workload { unique_bytes, read_frac: 1.0, ..workload() };
        let options = RunOptions { touch_cap_s: 1.0, ..quick() };
        run_with(&mut session, &reads, &options).unwrap().resident_frac
    };
    let (Some(small), Some(large)) = (resident(8 << 20), resident(96 << 20)) else {
        return skipped("the kernel does not tell what is in the file cache");
    };
    assert!(small > 0.98, "{small} of 8 MiB under a limit of 32 MiB");
    assert!(large < 0.4, "{large} of 96 MiB under a limit of 32 MiB");
}
