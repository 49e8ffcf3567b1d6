//! The auxiliary jobs of a campaign: those that lay files out, and the trial that measures how fast
//! a place is.

use ioscape_schema::{CellPlan, NameJob, NameOperation, Prepare, VxJob, VxWorkload};

/// Size of the trial, in bytes.
pub const TRIAL_BYTES: u64 = 64 << 20;

/// The name operations of the trial.
pub(super) const TRIAL_NAMES: NameJob = NameJob {
    operation: NameOperation::Rename,
    threads: 1,
    entries: 1000,
    shared: true,
    tree_files: 0,
    tree_churn: 0,
};

/// A cell that creates, renames and removes names, to measure how fast a place does so.
pub fn trial_names() -> CellPlan {
    let plan = CellPlan::of_file(VxJob::default(), 0);
    CellPlan { prepare: Prepare::Fresh, names: Some(TRIAL_NAMES), ..plan }
}

/// The job that writes a whole file and waits until it has reached the device.
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

/// The job that reads or writes the trial's file, bypassing the file cache and reaching the device.
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
