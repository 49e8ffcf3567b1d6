//! A cell of a campaign's table, measured once.

use crate::command::vxbench;
use crate::failure::Failure;
use ioscape_measure::vxbench::Watch;
use ioscape_measure::vxbench::site::{CampaignSite, CellRun};
use ioscape_schema::{CampaignSample, CellPlan, VxJob, Warning, WarningKind};
use ioscape_study::campaign::layout_job;
use ioscape_workload::seed_of_round;
use std::path::PathBuf;

/// Runs a cell once, starting together with other clients if `watch` has any; returns the warnings
/// about its figures as well.
///
/// # Errors
/// Misuse if the cell is impossible there; a failed or interrupted run.
pub fn measure(
    site: &mut CampaignSite,
    plan: &CellPlan,
    watch: &Watch,
    destroy_data: bool,
) -> Result<(CampaignSample, Vec<Warning>), Failure> {
    let alone = Watch { together: None, ..watch.clone() };
    let mut doubts = Vec::new();
    let run = |job: &VxJob, paths: &[PathBuf], consent| {
        // Other clients wait only for the cell itself and lay out their files independently.
        let is_cell = std::ptr::eq(job, &raw const plan.job);
        let watch = if is_cell { watch } else { &alone };
        let run = vxbench::run_strictly(job, paths, consent, watch, None)?;
        let told = run.warnings.iter().filter(|one| is_told(one.kind, is_cell));
        doubts.extend(told.cloned());
        Ok::<_, Failure>(run)
    };
    let cell = CellRun { plan, layout: layout_job(plan), watch, destroy_data, run };
    let sample = site.measure(cell)?;
    Ok((sample, doubts))
}

/// The runs of a campaign of so many rows and columns before this cell's next one, of which
/// `taken` are its own.
pub fn runs_before(taken: usize, [row, column]: [usize; 2], [rows, columns]: [usize; 2]) -> u64 {
    ((taken * rows + row) * columns + column) as u64
}

/// The plan of a cell with random requests to other places than in the `runs_before` runs of the
/// campaign, unless it sets the seed.
///
/// A cache below the file cache, of a drive or a server, may hold what was read before.
pub fn at_other_places(plan: &CellPlan, runs_before: u64) -> CellPlan {
    let mut plan = plan.clone();
    if plan.job.rand_seed == VxJob::default().rand_seed {
        plan.job.rand_seed = seed_of_round(plan.job.rand_seed, runs_before);
    }
    plan
}

/// Whether a warning of this kind, about a run of the cell itself or of the layout of its files, is
/// reported with the cell. What cold files and direct I/O do not show in a remote place, and what
/// reads do not show on a device, is reported once for the whole table.
fn is_told(kind: WarningKind, is_cell: bool) -> bool {
    match kind {
        WarningKind::Stopped => true,
        WarningKind::Trap | WarningKind::DirectWithoutDevice => false,
        _ => is_cell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_draw_other_places_unless_the_seed_is_given() {
        let plan = |rand_seed| CellPlan::of_file(VxJob { rand_seed, ..VxJob::default() }, 1 << 20);
        let cells = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]];
        let before = [0, 1].map(|taken| cells.map(|cell| runs_before(taken, cell, [3, 2])));
        assert!(before.concat().into_iter().eq(0..12), "a row reads what the one before has not");
        let seeds = [0, 1, 2].map(|before| at_other_places(&plan(1), before).job.rand_seed);
        assert!(seeds[0] == 1 && seeds[1] != 1 && seeds[2] != seeds[1], "{seeds:?}");
        assert_eq!(at_other_places(&plan(7), 2), plan(7));
    }

    /// Guards against a defect: it was not reported that a file system served direct I/O through
    /// its cache.
    #[test]
    fn what_is_doubtful_about_the_figures_of_a_cell_is_told() {
        use WarningKind::{DirectWithoutDevice, NeverWritten, Stopped, Trap, Unsupported};
        let kinds = [Stopped, Unsupported, NeverWritten, Trap, DirectWithoutDevice];
        assert_eq!(kinds.map(|kind| is_told(kind, true)), [true, true, true, false, false]);
        assert_eq!(kinds.map(|kind| is_told(kind, false)), [true, false, false, false, false]);
    }
}
