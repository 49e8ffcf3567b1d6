//! A cell of a campaign's table, measured once.

use crate::command::vxbench;
use crate::failure::Failure;
use ioscape_measure::vxbench::Watch;
use ioscape_measure::vxbench::site::{CampaignSite, CellRun};
use ioscape_schema::{CampaignSample, CellPlan, VxJob, Warning, WarningKind};
use ioscape_study::campaign::layout_job;
use std::path::PathBuf;

/// Runs a cell once, beginning when others do where `watch` has any; with the doubts about its time.
///
/// # Errors
/// Misuse where the cell is impossible there; a failed or interrupted run.
pub fn measure(
    site: &mut CampaignSite,
    plan: &CellPlan,
    watch: &Watch,
    destroy_data: bool,
) -> Result<(CampaignSample, Vec<Warning>), Failure> {
    let alone = Watch { together: None, ..watch.clone() };
    let mut doubts = Vec::new();
    let run = |job: &VxJob, paths: &[PathBuf], consent| {
        // Others wait for the cell itself, and lay their files out when they like.
        let watch = if std::ptr::eq(job, &raw const plan.job) { watch } else { &alone };
        let run = vxbench::run(job, paths, consent, watch, None)?;
        let of_time = run.warnings.iter().filter(|one| one.kind == WarningKind::Stopped);
        doubts.extend(of_time.cloned());
        Ok::<_, Failure>(run)
    };
    let cell = CellRun { plan, layout: layout_job(plan), watch, destroy_data, run };
    let sample = site.measure(cell)?;
    Ok((sample, doubts))
}
