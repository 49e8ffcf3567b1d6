//! One cell of a campaign: its files laid out, its run, and what it yields.

use super::places::CampaignPlace;
use crate::command::vxbench::{run, watch};
use crate::failure::Failure;
use crate::progress::Progress;
use ioscape_measure::vxbench::ageing::age;
use ioscape_schema::{CampaignSample, CellPlan, Prepare};
use ioscape_study::campaign::{FileSet, layout_job};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs cells.
pub struct Cells {
    /// Set on Ctrl-C.
    pub interrupt: Arc<AtomicBool>,
    /// The data of devices may be overwritten.
    pub destroy_data: bool,
}

impl Cells {
    /// Runs the cell once at `place`.
    ///
    /// # Errors
    /// [`Failure::Misuse`] where the cell is impossible here; a failed or interrupted run.
    pub fn run(
        &mut self,
        place: &mut CampaignPlace,
        plan: &CellPlan,
        progress: &Progress,
    ) -> Result<CampaignSample, Failure> {
        let watch = watch(&self.interrupt, progress);
        let (paths, ours) = match (plan.raw, &place.folder) {
            (true, None) if plan.files == 1 => (vec![place.path.clone()], false),
            (true, None) => {
                return Err(Failure::Misuse(
                    "a device is one file, and the cell needs several".to_owned(),
                ));
            }
            (false, Some(folder)) => (names(folder.path(), plan.files), true),
            _ => {
                return Err(Failure::Misuse(
                    "the cell needs the other kind of place: a directory or a device".to_owned(),
                ));
            }
        };
        match ours {
            true => self.lay_out(place, plan, progress)?,
            false if place.ours => self.fill(place, plan, progress)?,
            false => {}
        }
        let consent = ours || place.ours || self.destroy_data;
        let outcome = run(&plan.job, &paths, consent, &watch, None);
        if plan.prepare == Prepare::Fresh && ours {
            for path in &paths {
                // A run that failed has removed them already.
                let _ = std::fs::remove_file(path);
            }
        }
        let outcome = outcome?;
        let total = outcome.total;
        let fragments = outcome.files.iter().map(|file| file.extents);
        Ok(CampaignSample {
            bytes: total.bytes,
            elapsed_s: total.elapsed_s,
            throughput_bytes_per_s: total.throughput_bytes_per_s,
            cpu_s: total.cpu_s(),
            fragments: fragments.sum::<Option<u64>>(),
        })
    }

    /// Writes the part of a loop device that the cell uses: blocks never written read faster than any disk.
    fn fill(
        &self,
        place: &mut CampaignPlace,
        plan: &CellPlan,
        progress: &Progress,
    ) -> Result<(), Failure> {
        let wanted = FileSet::of(plan);
        if place.laid_out != Some(wanted) {
            let watch = watch(&self.interrupt, progress);
            run(&layout_job(plan), std::slice::from_ref(&place.path), true, &watch, None)?;
            place.laid_out = Some(wanted);
        }
        Ok(())
    }

    /// Makes sure that the files which the cell needs lie at `place`, and no others.
    fn lay_out(
        &self,
        place: &mut CampaignPlace,
        plan: &CellPlan,
        progress: &Progress,
    ) -> Result<(), Failure> {
        let Some(folder) = place.folder.as_ref().map(|folder| folder.path().to_owned()) else {
            return Ok(());
        };
        let wanted = FileSet::of(plan);
        if place.laid_out == Some(wanted) {
            return Ok(());
        }
        place.laid_out = None;
        clear(&folder)?;
        let watch = watch(&self.interrupt, progress);
        let paths = names(&folder, plan.files_written);
        match plan.prepare {
            Prepare::Fresh => {}
            Prepare::Aged => drop(age(&paths, plan.file_bytes, plan.age_piece, &watch)?),
            Prepare::Written => {
                for path in &paths {
                    run(&layout_job(plan), std::slice::from_ref(path), false, &watch, None)?;
                }
            }
        }
        place.laid_out = Some(wanted);
        Ok(())
    }
}

/// Names of the first `count` files in `folder`.
fn names(folder: &Path, count: u32) -> Vec<PathBuf> {
    (0..count).map(|number| folder.join(format!("file-{number}"))).collect()
}

/// Removes all files of a scratch directory.
fn clear(folder: &Path) -> Result<(), Failure> {
    let failed = |e: std::io::Error| Failure::of_write(&folder.display().to_string(), &e);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        std::fs::remove_file(entry.map_err(failed)?.path()).map_err(failed)?;
    }
    Ok(())
}
