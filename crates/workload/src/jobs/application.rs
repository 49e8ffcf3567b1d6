//! The job that an application was found to be.

use super::Job;
use ioscape_schema::workload::SIZE_MEAN_MAX;
use ioscape_schema::{ByOperation, Characterization};

impl Job {
    /// The workload that an application was found to be, under the name of its program.
    pub fn of_application(found: &Characterization) -> Self {
        let mut workload = found.overall.workload();
        workload.by_operation = by_operation(found, workload.unique_bytes);
        Self::named(&found.program(), workload)
    }
}

/// How the application's reads and writes differ, as far as a set of so many bytes can have it; older results do not tell.
fn by_operation(found: &Characterization, unique_bytes: u64) -> Option<ByOperation> {
    let own = found.pattern.as_ref()?.by_operation(found.overall.change_frac?)?;
    own.validate(unique_bytes.min(SIZE_MEAN_MAX)).is_ok().then_some(own)
}
