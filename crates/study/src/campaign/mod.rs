//! Tables of `vxbench` runs: what they will take, in what order they are measured, and what they
//! show.

mod filling;
mod forecast;
mod growth;
mod jobs;
mod order;
mod pieces;
mod room;
mod table;

pub use filling::{add_fillings, filling, room_to_fill};
pub use forecast::{Pace, Work, describe_place, describe_rows};
pub use growth::growth_in_threads;
pub use jobs::{TRIAL_BYTES, layout_job, trial_job, trial_names};
pub use order::{Schedule, budget_spent, left_s};
pub use pieces::pieces_of_aged_files;
pub use room::{Room, doubts_of_sizes, max_file_bytes, max_file_bytes_on_loops};
pub use table::{
    Columns, MethodColumns, NotContinued, PlaceColumns, continued, lasting_doubts, left_behind,
    measured_late, not_measured, place_of, record, take_back,
};

use ioscape_schema::{CampaignResult, RowPlan};

/// What a measured table shows, in words.
pub fn sentences(table: &CampaignResult) -> Vec<String> {
    let mut sentences = growth_in_threads(table);
    sentences.extend(pieces_of_aged_files(table));
    sentences.extend(crate::clients::sentence(table));
    sentences
}

/// Whether several threads write to one file in some row, so that it matters whether writers wait
/// for one another.
pub fn has_concurrent_writers(rows: &[RowPlan]) -> bool {
    let mut plans = rows.iter().flat_map(|row| &row.cells);
    plans.any(|plan| plan.job.nthreads > 1 && plan.job.workload.writes())
}
