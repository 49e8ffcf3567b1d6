//! Where a campaign is measured: directories, devices, and file systems made for it.

use super::loops::{Made, make, seclude};
use crate::args::CampaignRunArgs;
use crate::failure::Failure;
use ioscape_measure::FileSystemInfo;
use ioscape_measure::vxbench;
use ioscape_workload::campaign::{Campaign, Prepare};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// What identifies a set of files that is laid out.
pub type Laid = (Prepare, u64, u32, u64);

/// One place.
pub struct Place {
    /// Name in the table.
    pub label: String,
    /// As it was named or made.
    pub path: PathBuf,
    /// File system or device.
    pub file_system: FileSystemInfo,
    /// Directory of ours; absent on a device.
    pub folder: Option<TempDir>,
    /// Free space at the beginning, in bytes.
    pub free_bytes: u64,
    /// Whether it was made for this campaign.
    pub ours: bool,
    /// The files that lie there now.
    pub laid: Option<Laid>,
    // Unmounted and removed after the folder.
    _made: Option<Made>,
}

/// All places of a campaign.
pub struct Places {
    /// In the order of the columns.
    pub all: Vec<Place>,
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
                all.push(Place::open(path, None, None)?);
            }
        } else {
            let [folder] = &args.places[..] else {
                return Err(Failure::Misuse(
                    "--fs makes its loop devices in one directory: name one".to_owned(),
                ));
            };
            seclude();
            for kind in &args.fs {
                let made = make(kind, folder, args.fs_size)?;
                let path = made.path().to_owned();
                all.push(Place::open(&path, Some(made), Some(kind))?);
            }
        }
        distinguish(&mut all);
        Ok(Self { all })
    }

    /// The largest file of which half of the free space of every directory holds as many as the campaign wants.
    pub fn most(&self, campaign: &Campaign) -> u64 {
        let rows = campaign.rows(u64::MAX).unwrap_or_default();
        let cells = rows.iter().flat_map(|row| &row.cells);
        let files = cells.map(|cell| u64::from(cell.files_written)).max().unwrap_or(1);
        let folders = self.all.iter().filter(|place| place.folder.is_some());
        let least = folders.map(|place| place.free_bytes / 2 / files.max(1)).min();
        // Whole blocks of the largest requests that campaigns use.
        least.map_or(u64::MAX, |bytes| if bytes > 2 << 20 { bytes >> 21 << 21 } else { bytes })
    }
}

impl Place {
    fn open(path: &Path, made: Option<Made>, label: Option<&str>) -> Result<Self, Failure> {
        let (file_system, free_bytes) = vxbench::place(path)?;
        let folder = match path.is_dir() {
            true => Some(
                tempfile::Builder::new().prefix(".ioscape-campaign-").tempdir_in(path).map_err(
                    |e| Failure::Misuse(format!("{}: takes no files ({e})", path.display())),
                )?,
            ),
            false => None,
        };
        let label = label.map_or_else(|| file_system.name.clone(), str::to_owned);
        let (path, laid, ours) = (path.to_owned(), None, made.is_some());
        Ok(Self { label, path, file_system, folder, free_bytes, ours, laid, _made: made })
    }
}

/// Adds the path to labels that several places share.
fn distinguish(all: &mut [Place]) {
    let labels: Vec<String> = all.iter().map(|place| place.label.clone()).collect();
    for place in all {
        if labels.iter().filter(|label| **label == place.label).count() > 1 {
            place.label = format!("{} {}", place.label, place.path.display());
        }
    }
}
