//! Where a campaign is measured, and how large its files may be there.

use crate::failure::Failure;
use ioscape_arguments::CampaignRunArgs;
use ioscape_machine::error::Error as MeasureError;
use ioscape_machine::loops::{self, Ground, Recipe};
use ioscape_machine::mounts::{self, FileSystemInfo};
use ioscape_measure::vxbench::place;
use ioscape_measure::vxbench::site::CampaignSite;
use ioscape_schema::RowPlan;
use ioscape_study::campaign::{Room, max_file_bytes, max_file_bytes_on_loops, room_to_fill};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Opens the named places, or makes file systems in the one place named. Returns them with the
/// largest file size, in bytes, for which they have space, once for each of `clients`; files on
/// loop devices are no larger than `largest`.
///
/// # Errors
/// A place cannot be used, or a file system cannot be made.
pub fn sites(
    args: &CampaignRunArgs,
    rows: &[RowPlan],
    clients: u64,
    largest: Option<u64>,
) -> Result<(Vec<CampaignSite>, u64), Failure> {
    if args.fs.is_empty() {
        let sites = CampaignSite::open_all(&args.places)?;
        let most = max_file_bytes(rows, &rooms(&sites, clients)?);
        return Ok((sites, most));
    }
    let (recipes, ground) = made(args)?;
    let most = match ground {
        Ground::Loops(folder, bytes) => on_loops(rows, &recipes, (folder, bytes), largest)?,
        Ground::Devices(_) => u64::MAX,
    };
    let sites = CampaignSite::make_all(&recipes, &ground)?;
    let most = most.min(max_file_bytes(rows, &rooms(&sites, clients)?));
    Ok((sites, most))
}

/// Estimates the largest file size, in bytes, before anything is made or touched. Devices, and
/// places that cannot be examined, do not limit it.
///
/// # Errors
/// The file systems cannot be made as requested.
pub fn foreseen(args: &CampaignRunArgs, rows: &[RowPlan]) -> Result<u64, Failure> {
    if args.fs.is_empty() {
        let folders = args.places.iter().filter(|place| place.is_dir());
        let seen = |folder: &PathBuf| {
            let (file_system, free_bytes) = place(folder).ok()?;
            room(folder, &file_system, free_bytes).ok()
        };
        return Ok(max_file_bytes(rows, &folders.filter_map(seen).collect::<Vec<_>>()));
    }
    let (recipes, ground) = made(args)?;
    let Ground::Loops(folder, bytes) = ground else { return Ok(u64::MAX) };
    if !folder.is_dir() {
        return Ok(u64::MAX);
    }
    let most = on_loops(rows, &recipes, (folder, bytes), None)?;
    // The file systems made on the loop devices are smaller than the devices.
    let with_files = (0..).zip(&recipes).filter(|(_, recipe)| recipe.kind() != "raw");
    let rooms = with_files.map(|(number, _)| Room { device: (0, number), free_bytes: bytes });
    Ok(most.min(max_file_bytes(rows, &rooms.collect::<Vec<_>>())))
}

/// The largest file size, in bytes, for which a folder has space beside the loop devices, of so
/// many bytes each, that it is to hold.
///
/// # Errors
/// The folder cannot be examined, or lacks the space for filling the devices.
fn on_loops(
    rows: &[RowPlan],
    recipes: &[Recipe],
    (folder, bytes): (&Path, u64),
    largest: Option<u64>,
) -> Result<u64, Failure> {
    let free = place(folder)?.1;
    let many = recipes.iter().filter(|recipe| recipe.kind() != "tmpfs").count();
    let largest = largest.unwrap_or(u64::MAX);
    room_to_fill(rows, bytes, many, free, largest).map_err(Failure::Misuse)?;
    Ok(max_file_bytes_on_loops(rows, bytes, many, free))
}

/// The file systems to be made, and what they are made on. A dry run, which makes none, does not
/// need consent to the loss of data.
///
/// # Errors
/// Names, words and places do not go together.
pub fn made(args: &CampaignRunArgs) -> Result<(Vec<Recipe>, Ground<'_>), Failure> {
    let recipes = loops::recipes(&args.fs, &args.mkfs, &args.mount).map_err(Failure::Misuse)?;
    let is_allowed = args.destroy_data || args.dry_run;
    let ground = Ground::of(&args.places, args.fs.len(), args.fs_size, is_allowed)?;
    Ok((recipes, ground))
}

/// The share of each of `clients` in the free space of the places that are directories.
fn rooms(sites: &[CampaignSite], clients: u64) -> Result<Vec<Room>, Failure> {
    let of = |site: &CampaignSite| {
        site.folder().map(|folder| room(folder, &site.file_system, site.free_bytes / clients))
    };
    sites.iter().filter_map(of).collect()
}

fn room(folder: &Path, file_system: &FileSystemInfo, free_bytes: u64) -> Result<Room, Failure> {
    let device = match shared_by_all(file_system) {
        Some(number) => number,
        // Subvolumes have numbers of their own but share the device below them.
        None if file_system.has_device => file_system.device,
        None => {
            let found = folder.metadata().map_err(|e| MeasureError::io("examine", folder, e))?;
            mounts::split(found.dev())
        }
    };
    Ok(Room { device, free_bytes })
}

/// A number that no device has, for file systems that may share their space under different
/// numbers: all file systems in memory share the memory, and the datasets of a ZFS pool share the
/// pool.
fn shared_by_all(file_system: &FileSystemInfo) -> Option<(u32, u32)> {
    match &*file_system.stored_on().name {
        "tmpfs" | "ramfs" | "devtmpfs" => Some((0, u32::MAX)),
        "zfs" => Some((0, u32::MAX - 1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use ioscape_arguments::{CampaignAction, Cli, Command};
    use std::os::unix::fs::FileTypeExt;

    #[test]
    fn a_dry_run_on_devices_needs_no_consent_to_the_loss_of_data() {
        let is_device =
            |path: &PathBuf| path.metadata().is_ok_and(|it| it.file_type().is_block_device());
        let all = Path::new("/dev").read_dir().unwrap();
        let Some(device) = all.flatten().map(|one| one.path()).find(is_device) else {
            // Containers do not have one.
            return;
        };
        let can_be_made = |consent: &str| {
            let words = ["ioscape", "campaign", "run", "random-reads", device.to_str().unwrap()];
            let words = words.into_iter().chain(["--fs", "ext4", "--as-root-make"]);
            let words = words.chain(consent.split_whitespace());
            let Command::Campaign(args) = Cli::try_parse_from(words).unwrap().command else {
                panic!("another command");
            };
            let CampaignAction::Run(args) = args.action else { panic!("another action") };
            made(&args).is_ok()
        };
        assert!(can_be_made("--dry-run") && can_be_made("--destroy-data"));
        assert!(!can_be_made(""));
    }

    #[test]
    fn what_shares_its_space_under_other_numbers_is_counted_together() {
        let of = |name: &str, minor| {
            let name = name.to_owned();
            shared_by_all(&FileSystemInfo { name, device: (0, minor), ..FileSystemInfo::default() })
        };
        assert_eq!(of("tmpfs", 40), of("tmpfs", 41));
        assert_eq!(of("zfs", 50), of("zfs", 51));
        assert_ne!(of("zfs", 50), of("tmpfs", 40));
        assert_eq!(of("ext4", 1), None);
    }
}
