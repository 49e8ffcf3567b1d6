//! Buffers that the kernel does not register. The test has a process of its own, since the limit on
//! locked memory applies to the whole process.

use ioscape_machine::testing::skipped;
use ioscape_machine::{Clock, Error};
use ioscape_measure::vxbench::{Extent, Files, Watch, run};
use ioscape_schema::{Op, Request, VxJob, VxWorkload};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

const BLOCK: u32 = 64 << 10;

#[test]
fn a_job_with_many_requests_in_flight_says_that_its_buffers_are_not_registered() {
    let limit = Rlimit { current: Some(0), ..getrlimit(Resource::Memlock) };
    setrlimit(Resource::Memlock, limit).unwrap();
    let mut able = capabilities(None).unwrap();
    able.effective.remove(CapabilitySet::IPC_LOCK);
    set_capabilities(None, able).unwrap();
    let (folder, size) = (tempfile::tempdir().unwrap(), 8 * u64::from(BLOCK));
    let workload = VxWorkload::Write;
    let job = VxJob { workload, iosize: BLOCK.into(), queue_depth: Some(4), ..VxJob::default() };
    let extent = Extent { range_bytes: size, grow_to: None, end_bytes: size };
    let files = Files::open(&[(folder.path().join("a"), extent)], &job, false).unwrap();
    let request = |number: u64| {
        let offset = number * u64::from(BLOCK);
        Request { op: Op::Write, offset, len: BLOCK }
    };
    match run(files, &job, &Clock::new(), &Watch::default(), |_, _| (0..8).map(request)) {
        Ok(run) => {
            let refused = "refused to register the io_uring buffers";
            let is_told = run.warnings.iter().any(|one| one.message.contains(refused));
            assert!(is_told, "{:?}", run.warnings);
        }
        Err(Error::Unsupported { why, .. }) => skipped(&why),
        Err(error) => panic!("{error}"),
    }
}
