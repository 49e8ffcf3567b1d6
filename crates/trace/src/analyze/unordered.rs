//! What is not known of parts of the same time with other disks: left out, for nobody knows in which order their requests came.

use ioscape_schema::Distribution;
use ioscape_schema::trace_summary::{MissRatio, TraceSummary};

/// Takes out what follows from the order of the requests to all disks; the burstiness was not computed.
pub fn forget(summary: &mut TraceSummary) {
    summary.inter_arrival_ns = Distribution::default();
    summary.miss_ratio = MissRatio::default();
}
