//! Where the cells of a campaign run: a directory, a device, or a file system made for it, with the
//! files there.

use super::ageing::age;
use super::fill::{self, Filled};
use super::{Watch, names, place};
use ioscape_machine::FileSystemInfo;
use ioscape_machine::error::Error;
use ioscape_machine::loops::{Ground, MadeFileSystem, Recipe, hide_mounts};
use ioscape_machine::target::{self, ScratchFolder};
use ioscape_schema::units::counted;
use ioscape_schema::{
    CampaignSample, CellPlan, FileSet, Fill, NameJob, Prepare, VxFile, VxJob, VxRun,
};
use rustix::fs::AtFlags;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A directory or device where cells run.
pub struct CampaignSite {
    /// The name of its file system if that is unique; otherwise, with the path.
    pub label: String,
    /// Its path, as it was named or made.
    pub path: PathBuf,
    /// The file system or device.
    pub file_system: FileSystemInfo,
    /// Free space at the beginning, in bytes.
    pub free_bytes: u64,
    /// How its file system was made; empty if it existed before.
    pub made_by: String,
    folder: Option<ScratchFolder>,
    laid_out: Option<FileSet>,
    // The files that age the file system.
    aged: Option<ScratchFolder>,
    filled: Option<Fill>,
    fillings: Vec<(Fill, Filled)>,
    // Unmounted and removed after the folders, which are held open.
    made: Option<MadeFileSystem>,
}

/// What it takes to run a cell.
pub struct CellRun<'a, F> {
    /// The cell.
    pub plan: &'a CellPlan,
    /// The job that lays out one of its files.
    pub layout: VxJob,
    /// What may stop the run, and what receives its progress.
    pub watch: &'a Watch,
    /// Whether the data of a device that was not made for the campaign may be overwritten.
    pub destroy_data: bool,
    /// Runs a job with one user on each of the given files; the flag says whether it may overwrite
    /// their data.
    pub run: F,
}

impl CampaignSite {
    /// Opens the directories and devices at `paths`.
    ///
    /// # Errors
    /// One of them cannot be used.
    pub fn open_all(paths: &[PathBuf]) -> Result<Vec<Self>, Error> {
        let sites = paths.iter().map(|path| Self::open(path));
        Ok(distinguished(sites.collect::<Result<_, _>>()?))
    }

    /// Opens the directory or device at `path`.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_made(path, None, None)
    }

    /// Makes these file systems, each on a device of its own or on a loop device whose file is in a
    /// folder, as `ground` says.
    ///
    /// # Errors
    /// One of them cannot be made.
    pub fn make_all(recipes: &[Recipe], ground: &Ground<'_>) -> Result<Vec<Self>, Error> {
        // Checked before any of them is formatted.
        ground.vet()?;
        hide_mounts();
        let make = |(number, recipe): (usize, &Recipe)| {
            let made = MadeFileSystem::make(recipe, ground, number)?;
            let path = made.path().to_owned();
            let made_by = made.made_by();
            let site = Self::open_made(&path, Some(made), Some(&recipe.name))?;
            Ok(Self { made_by, ..site })
        };
        recipes.iter().enumerate().map(make).collect()
    }

    fn open_made(
        path: &Path,
        made: Option<MadeFileSystem>,
        label: Option<&str>,
    ) -> Result<Self, Error> {
        let (file_system, free_bytes) = place(path)?;
        let folder = match path.is_dir() {
            true => Some(ScratchFolder::new_in(path).map_err(|e| target::unwritable(path, e))?),
            false => None,
        };
        let label = label.map_or_else(|| file_system.name.clone(), str::to_owned);
        let path = path.to_owned();
        let made_by = String::new();
        Ok(Self {
            label,
            path,
            file_system,
            free_bytes,
            made_by,
            folder,
            laid_out: None,
            aged: None,
            filled: None,
            fillings: Vec::new(),
            made,
        })
    }

    /// How the file system was filled for the cells, each distinct filling once.
    pub fn fillings(&self) -> &[(Fill, Filled)] {
        &self.fillings
    }

    /// Makes the file system anew and fills it as `wanted`, unless it already is that way.
    fn fill(&mut self, wanted: Option<Fill>, watch: &Watch) -> Result<(), Error> {
        if self.filled == wanted {
            return Ok(());
        }
        let refused = |why: &str| Err(Error::target(&self.path, why));
        let in_memory = self.file_system.name == "tmpfs";
        let Some(made) = self.made.as_mut().filter(|_| self.folder.is_some() && !in_memory) else {
            return refused(
                "is not filled: only file systems on devices that the campaign itself makes are (give --fs, as in --fs ext4,xfs)",
            );
        };
        (self.laid_out, self.filled, self.aged, self.folder) = (None, None, None, None);
        made.renew()?;
        let scratch = || ScratchFolder::new_in(&self.path);
        let scratch = || scratch().map_err(|e| Error::io("make a directory in", &self.path, e));
        self.folder = Some(scratch()?);
        if let Some(wanted) = wanted.filter(|fill| fill.percent > 0) {
            // These files are removed with the file system, or abandoned with its device.
            let aged = self.aged.insert(scratch()?.left_as_it_is());
            let filled = fill::fill(aged.path(), wanted, watch)?;
            if self.fillings.iter().all(|(known, _)| *known != wanted) {
                self.fillings.push((wanted, filled));
            }
        }
        self.filled = wanted;
        Ok(())
    }

    /// Whether this is a device that the user named. Only what a cell requests is written to it,
    /// and nothing is laid out.
    pub fn is_named_device(&self) -> bool {
        self.folder.is_none() && self.made.is_none()
    }

    /// The scratch directory; absent for a device.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_ref().map(ScratchFolder::path)
    }

    /// Runs a cell once.
    ///
    /// # Errors
    /// The cell is impossible here, or its run fails or is interrupted.
    pub fn measure<F, E>(&mut self, mut cell: CellRun<'_, F>) -> Result<CampaignSample, E>
    where
        F: FnMut(&VxJob, &[PathBuf], bool) -> Result<VxRun, E>,
        E: From<Error>,
    {
        let plan = cell.plan;
        self.fill(plan.fill, cell.watch)?;
        if let Some(job) = &plan.names {
            return Ok(self.on_names(job, FileSet::of(plan), cell.watch)?);
        }
        let paths = self.files(plan)?;
        self.prepare(&mut cell)?;
        let is_ours = self.folder.is_some() || self.made.is_some();
        let outcome = (cell.run)(&plan.job, &paths, is_ours || cell.destroy_data);
        if let Some(folder) = self.folder.as_ref().filter(|_| plan.prepare == Prepare::Fresh) {
            for name in paths.iter().filter_map(|path| path.file_name()) {
                // A failed run has removed them already. The folder may no longer be at its path.
                let _ = rustix::fs::unlinkat(folder.file(), name, AtFlags::empty());
            }
        }
        let outcome = outcome?;
        // The last request of the layout may reach beyond the bytes that the cell needs.
        let most = cell.layout.span_bytes().unwrap_or(plan.file_bytes);
        let is_as_laid_out = |file: &VxFile| {
            file.size_bytes.is_some_and(|size| (plan.file_bytes..=most).contains(&size))
        };
        if self.folder.is_some() && !outcome.files.iter().all(is_as_laid_out) {
            self.laid_out = None;
        }
        let total = outcome.total;
        let fragments = outcome.files.iter().map(|file| file.extents);
        Ok(CampaignSample {
            bytes: total.bytes,
            elapsed_s: total.elapsed_s,
            throughput_bytes_per_s: total.throughput_bytes_per_s,
            cpu_s: total.cpu_s(),
            operations: None,
            fragments: fragments.sum::<Option<u64>>(),
            response_time_ns: total.response_time_ns,
            fsync_ns: total.fsync_ns,
            fairness: None,
        })
    }

    /// Runs operations on names, on a tree that is laid out once for all cells that share it.
    fn on_names(
        &mut self,
        job: &NameJob,
        wanted: FileSet,
        watch: &Watch,
    ) -> Result<CampaignSample, Error> {
        let Some(folder) = &self.folder else {
            let why = "is a device, and operations on names need a directory";
            return Err(Error::target(&self.path, why));
        };
        let is_laid_out = self.laid_out.take() == Some(wanted);
        let run = || {
            if !is_laid_out {
                clear(folder, watch)?;
                names::lay_out(folder, job, watch)?;
            }
            names::run(folder, job, watch)
        };
        let found = run().map_err(|error| without_room(error, &self.path, job));
        match &found {
            Ok(_) => self.laid_out = Some(wanted),
            // The next cell and the result may need the room.
            Err(error) if error.is_misuse() => clear(folder, watch)?,
            // The tree is not what the next cell expects.
            Err(_) => {}
        }
        found
    }

    /// The files that the cell works on.
    fn files(&self, plan: &CellPlan) -> Result<Vec<PathBuf>, Error> {
        let refused = |why: &str| Err(Error::target(&self.path, why));
        match (plan.raw, &self.folder) {
            (true, None) if plan.files == 1 => Ok(vec![self.path.clone()]),
            (true, None) => refused("is a device, so one file, and the cell needs several"),
            (false, Some(folder)) => Ok(numbered(folder.path(), plan.files)),
            (true, Some(_)) => refused("is a directory, and the cell needs a device"),
            (false, None) => refused("is a device, and the cell needs a directory"),
        }
    }

    /// Makes sure that exactly the files that the cell needs are present. On a device made for the
    /// campaign, the part that the cell uses is written first: unwritten blocks read faster than
    /// any disk.
    fn prepare<F, E>(&mut self, cell: &mut CellRun<'_, F>) -> Result<(), E>
    where
        F: FnMut(&VxJob, &[PathBuf], bool) -> Result<VxRun, E>,
        E: From<Error>,
    {
        let (plan, wanted) = (cell.plan, FileSet::of(cell.plan));
        if self.laid_out == Some(wanted) || self.is_named_device() {
            return Ok(());
        }
        self.laid_out = None;
        let paths = match &self.folder {
            None => vec![self.path.clone()],
            Some(folder) => {
                clear(folder, cell.watch)?;
                numbered(folder.path(), plan.files_written)
            }
        };
        match plan.prepare {
            Prepare::Fresh if !plan.raw => {}
            Prepare::Aged if !plan.raw => {
                drop(age(&paths, plan.file_bytes, plan.age_piece, cell.watch)?);
            }
            _ => {
                for path in &paths {
                    (cell.run)(&cell.layout, std::slice::from_ref(path), plan.raw)?;
                }
            }
        }
        self.laid_out = Some(wanted);
        Ok(())
    }
}

/// Names of the first `count` files in `folder`.
fn numbered(folder: &Path, count: u32) -> Vec<PathBuf> {
    (0..count).map(|number| folder.join(format!("file-{number}"))).collect()
}

/// Removes all files of a scratch directory.
fn clear(folder: &ScratchFolder, watch: &Watch) -> Result<(), Error> {
    folder.clear(|| !watch.is_interrupted()).map_err(|error| match error.kind() {
        ErrorKind::Interrupted => Error::Interrupted,
        _ => Error::io("empty", folder.path(), error),
    })
}

/// A refusal of the job at `place` if the error is a lack of room: other cells need less.
fn without_room(error: Error, place: &Path, job: &NameJob) -> Error {
    match &error {
        Error::Io { source, .. }
            if matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) =>
        {
            let own = job.entries.saturating_mul(job.threads.into());
            let files = counted(job.tree_files.saturating_add(own), "file");
            let why =
                format!("has no room for {files} ({source}): give fewer, or a larger file system");
            Error::target(place, why)
        }
        _ => error,
    }
}

/// The sites, with the path added to labels that several of them share.
fn distinguished(mut sites: Vec<CampaignSite>) -> Vec<CampaignSite> {
    let labels: Vec<String> = sites.iter().map(|site| site.label.clone()).collect();
    for site in &mut sites {
        if labels.iter().filter(|label| **label == site.label).count() > 1 {
            site.label = format!("{} {}", site.label, site.path.display());
        }
    }
    sites
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{NameOperation, VxWorkload};

    /// A cell with one file of 1 MiB.
    fn cell(prepare: Prepare, raw: bool) -> CellPlan {
        let job = VxJob { workload: VxWorkload::Read, ..VxJob::default() };
        CellPlan { prepare, age_piece: 65536, raw, ..CellPlan::of_file(job, 1 << 20) }
    }

    /// Guards against a defect: a file that every run appended to grew until the space was used up.
    #[test]
    fn files_are_laid_out_once_unless_they_have_grown_and_fresh_ones_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let mut sites = CampaignSite::open_all(&[dir.path().to_owned()]).unwrap();
        let mut made = 0;
        let mut measured = |plan: &CellPlan| {
            let run = |job: &VxJob, paths: &[PathBuf], _: bool| -> Result<VxRun, Error> {
                made += u32::from(*job != plan.job);
                std::fs::write(&paths[0], "x").unwrap();
                let size_bytes = Some(if job.append { 2 << 20 } else { 3 << 19 });
                let file = VxFile { extents: Some(2), size_bytes, ..VxFile::default() };
                Ok(VxRun { files: vec![file], ..VxRun::default() })
            };
            // Its second request reaches beyond the 1 MiB of the cell.
            let layout = VxJob { iosize: 3 << 18, iocount: Some(2), ..VxJob::default() };
            let watch = Watch::default();
            sites[0].measure(CellRun { plan, layout, watch: &watch, destroy_data: false, run })
        };
        let written = cell(Prepare::Written, false);
        assert_eq!(measured(&written).unwrap().fragments, Some(2));
        measured(&written).unwrap();
        let job = VxJob { append: true, ..written.job.clone() };
        measured(&CellPlan { job, ..written.clone() }).unwrap();
        measured(&written).unwrap();
        measured(&cell(Prepare::Fresh, false)).unwrap();
        assert!(measured(&cell(Prepare::Written, true)).unwrap_err().is_misuse());
        assert_eq!(made, 2, "at first, and after a run that appended");
        let left = std::fs::read_dir(sites[0].folder().unwrap()).unwrap().count();
        assert_eq!(left, 0, "the fresh file and those before it");
    }

    /// Guards against a defect: the last row of a table needed more inodes than its own file system
    /// had, and the whole campaign ended there for ever.
    #[test]
    fn a_tree_without_room_is_refused_in_its_cell_alone() {
        let job = NameJob {
            operation: NameOperation::Create,
            threads: 16,
            entries: 2000,
            shared: false,
            tree_files: 50_000,
            tree_churn: 0,
        };
        let of = |number| {
            let source = std::io::Error::from_raw_os_error(number);
            without_room(Error::io("make", Path::new("/x/tree-7"), source), Path::new("/x"), &job)
        };
        for full in [libc::ENOSPC, libc::EDQUOT] {
            let why = of(full);
            assert!(
                why.is_misuse() && why.to_string().contains("no room for 82000 files"),
                "{why}"
            );
        }
        assert!(!of(libc::EIO).is_misuse());
    }

    /// Whoever owns the directory may move our folder away and put something else there.
    #[test]
    fn of_what_is_put_in_the_place_of_our_folder_nothing_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let mut site = CampaignSite::open(dir.path()).unwrap();
        let ours = site.folder().unwrap().to_owned();
        let away = dir.path().join("away");
        let run = |_: &VxJob, paths: &[PathBuf], _: bool| -> Result<VxRun, Error> {
            std::fs::write(&paths[0], "x").unwrap();
            std::fs::rename(&ours, &away).unwrap();
            std::fs::create_dir(&ours).unwrap();
            std::fs::write(&paths[0], "precious").unwrap();
            Ok(VxRun::default())
        };
        let (plan, watch) = (cell(Prepare::Fresh, false), Watch::default());
        let layout = VxJob::default();
        let cell = CellRun { plan: &plan, layout, watch: &watch, destroy_data: false, run };
        site.measure(cell).unwrap();
        assert_eq!(std::fs::read(ours.join("file-0")).unwrap(), b"precious");
        assert_eq!(std::fs::read_dir(&away).unwrap().count(), 0, "what is ours went");
    }
}
