//! Jobs of a campaign beside those of its cells: what lays files out, and the trial that tells the pace of a place.

use ioscape_schema::{CellPlan, VxJob, VxWorkload};

/// Size of the trial, in bytes.
pub const TRIAL_BYTES: u64 = 64 << 20;

/// The job that writes a whole file and waits until the device has it.
pub fn layout_job(plan: &CellPlan) -> VxJob {
    let iosize = plan.file_bytes.clamp(1, 1 << 20);
    VxJob {
        workload: VxWorkload::Write,
        iosize,
        iocount: Some(plan.file_bytes.div_ceil(iosize)),
        fsync: true,
        ..VxJob::default()
    }
}

/// The job that reads or writes the trial's file, past the file cache and as far as the device.
pub fn trial_job(workload: VxWorkload) -> VxJob {
    VxJob {
        workload,
        iosize: 1 << 20,
        iocount: Some(TRIAL_BYTES >> 20),
        fsync: workload == VxWorkload::Write,
        cold: workload == VxWorkload::Read,
        ..VxJob::default()
    }
}
