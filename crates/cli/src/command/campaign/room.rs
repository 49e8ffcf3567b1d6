//! Where a campaign is measured, and how large its files may be there.

use crate::failure::Failure;
use ioscape_arguments::CampaignRunArgs;
use ioscape_machine::error::Error as MeasureError;
use ioscape_machine::loops::{self, Ground};
use ioscape_machine::mounts::{self, FileSystemInfo};
use ioscape_measure::vxbench::place;
use ioscape_measure::vxbench::site::CampaignSite;
use ioscape_schema::RowPlan;
use ioscape_study::campaign::{Room, max_file_bytes, max_file_bytes_on_loops, room_to_fill};
use std::os::unix::fs::MetadataExt;

/// The places named, or file systems made in the one place named, and the bytes of the largest file that they have room for, once for each
/// of `clients`; none is made larger than `largest`.
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
    let recipes = loops::recipes(&args.fs, &args.mkfs, &args.mount).map_err(Failure::Misuse)?;
    let ground = Ground::of(&args.places, args.fs.len(), args.fs_size, args.destroy_data)?;
    let mut on_loops = u64::MAX;
    if let Ground::Loops(folder, bytes) = ground {
        let free = place(folder)?.1;
        let many = recipes.iter().filter(|recipe| recipe.kind() != "tmpfs").count();
        let largest = largest.unwrap_or(u64::MAX);
        room_to_fill(rows, bytes, many, free, largest).map_err(Failure::Misuse)?;
        on_loops = max_file_bytes_on_loops(rows, bytes, many, free);
    }
    let sites = CampaignSite::make_all(&recipes, &ground)?;
    let most = on_loops.min(max_file_bytes(rows, &rooms(&sites, clients)?));
    Ok((sites, most))
}

/// What each of `clients` has of the free space of the places that are directories.
fn rooms(sites: &[CampaignSite], clients: u64) -> Result<Vec<Room>, Failure> {
    sites.iter().filter_map(|site| room(site, clients).transpose()).collect()
}

fn room(site: &CampaignSite, clients: u64) -> Result<Option<Room>, Failure> {
    let Some(folder) = site.folder() else { return Ok(None) };
    let device = match shared_by_all(&site.file_system) {
        Some(number) => number,
        // Subvolumes have numbers of their own, and the device below them in common.
        None if site.file_system.has_device => site.file_system.device,
        None => {
            let found = folder.metadata().map_err(|e| MeasureError::io("examine", folder, e))?;
            mounts::split(found.dev())
        }
    };
    Ok(Some(Room { device, free_bytes: site.free_bytes / clients }))
}

/// One number, which no device has, for file systems that may share their space under numbers of their own: all in memory have the memory, and
/// the datasets of a ZFS pool the pool.
fn shared_by_all(file_system: &FileSystemInfo) -> Option<(u32, u32)> {
    match &*file_system.name {
        "tmpfs" | "ramfs" | "devtmpfs" => Some((0, u32::MAX)),
        "zfs" => Some((0, u32::MAX - 1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
