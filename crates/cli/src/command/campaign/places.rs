//! Where a campaign is measured: directories, devices, and file systems made for it.

use crate::args::CampaignRunArgs;
use crate::failure::Failure;
use ioscape_machine::FileSystemInfo;
use ioscape_machine::loops::{MadeFileSystem, hide_mounts};
use ioscape_machine::target::ScratchFolder;
use ioscape_measure::vxbench;
use ioscape_schema::RowPlan;
use ioscape_study::campaign::{FileSet, PlaceColumns, max_file_bytes};
use std::path::{Path, PathBuf};

/// A place to measure at.
pub struct CampaignPlace {
    /// Name in the table.
    pub label: String,
    /// As it was named or made.
    pub path: PathBuf,
    /// File system or device.
    pub file_system: FileSystemInfo,
    /// Scratch directory; absent on a device.
    pub folder: Option<ScratchFolder>,
    /// Free space at the beginning, in bytes.
    pub free_bytes: u64,
    /// Whether it was made for this campaign.
    pub ours: bool,
    /// The files that lie there now.
    pub laid_out: Option<FileSet>,
    // Unmounted and removed after the folder.
    _made: Option<MadeFileSystem>,
}

/// All places of a campaign.
pub struct Places {
    /// In the order of the columns.
    pub all: Vec<CampaignPlace>,
}

impl Places {
    /// Opens the places named, or makes them.
    ///
    /// # Errors
    /// A place cannot be used or made.
    pub fn open(args: &CampaignRunArgs) -> Result<Self, Failure> {
        let mut all = Vec::new();
        if args.fs.is_empty() {
            for path in &args.places {
                all.push(CampaignPlace::open(path, None, None)?);
            }
        } else {
            let [folder] = &args.places[..] else {
                return Err(Failure::Misuse(
                    "--fs makes its loop devices in one directory: name exactly one".to_owned(),
                ));
            };
            hide_mounts();
            for kind in &args.fs {
                let made = MadeFileSystem::make(kind, folder, args.fs_size)?;
                let path = made.path().to_owned();
                all.push(CampaignPlace::open(&path, Some(made), Some(kind))?);
            }
        }
        distinguish(&mut all);
        Ok(Self { all })
    }

    /// The largest file of `rows`, in bytes, for which every directory has room.
    pub fn max_file_bytes(&self, rows: &[RowPlan]) -> u64 {
        let folders = self.all.iter().filter(|place| place.folder.is_some());
        max_file_bytes(rows, folders.map(|place| place.free_bytes))
    }

    /// The places as the table names them.
    pub fn columns(&self) -> Vec<PlaceColumns> {
        let columns = |place: &CampaignPlace| PlaceColumns {
            label: place.label.clone(),
            path: place.path.display().to_string(),
            file_system: place.file_system.name.clone(),
            raw: place.folder.is_none(),
        };
        self.all.iter().map(columns).collect()
    }
}

impl CampaignPlace {
    fn open(
        path: &Path,
        made: Option<MadeFileSystem>,
        label: Option<&str>,
    ) -> Result<Self, Failure> {
        let (file_system, free_bytes) = vxbench::place(path)?;
        let folder = match path.is_dir() {
            true => Some(ScratchFolder::new_in(path).map_err(|e| {
                Failure::Misuse(format!("cannot make files in {}: {e}", path.display()))
            })?),
            false => None,
        };
        let label = label.map_or_else(|| file_system.name.clone(), str::to_owned);
        let (path, laid_out, ours) = (path.to_owned(), None, made.is_some());
        Ok(Self { label, path, file_system, folder, free_bytes, ours, laid_out, _made: made })
    }
}

/// Adds the path to labels that several places share.
fn distinguish(all: &mut [CampaignPlace]) {
    let labels: Vec<String> = all.iter().map(|place| place.label.clone()).collect();
    for place in all {
        if labels.iter().filter(|label| **label == place.label).count() > 1 {
            place.label = format!("{} {}", place.label, place.path.display());
        }
    }
}
