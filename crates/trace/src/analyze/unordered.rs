//! What is unknown after merging parts of the same time with other disks: left out, because the
//! order of their requests is unknown.

use ioscape_schema::Distribution;
use ioscape_schema::trace_summary::{MissRatio, TraceSummary};

/// Removes what depends on the order of the requests across disks; the burstiness was not computed.
pub fn forget(summary: &mut TraceSummary) {
    summary.inter_arrival_ns = Distribution::default();
    summary.miss_ratio = MissRatio::default();
}
