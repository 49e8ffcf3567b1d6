//! Copies that move no data: where it can, `copy_file_range` lets both files share the blocks.

use super::files::is_in_memory;
use ioscape_machine::extents;
use ioscape_machine::mounts::{self, FileSystemInfo};
use ioscape_schema::FileCall;
use std::collections::BTreeMap;
use std::fs::{File, read_link};

/// Returns what the copy with these arguments of `copy_file_range` moved: nothing if its files share
/// the blocks now, which counts in `elsewhere`. Where the file system does not say whether they do,
/// the bytes count as moved, and as `untold_bytes`.
pub(super) fn moved(
    tid: i32,
    arguments: &[u64; 6],
    copied: [Option<FileCall>; 2],
    elsewhere: &mut BTreeMap<&'static str, u64>,
    untold_bytes: &mut u64,
) -> [Option<FileCall>; 2] {
    let descriptors = [arguments[0], arguments[2]];
    let sides = descriptors.into_iter().zip(&copied);
    let sides = sides.filter_map(|(fd, side)| Some((fd, side.as_ref()?)));
    let told: Option<Vec<bool>> = sides.map(|(fd, side)| is_shared(tid, fd as i32, side)).collect();
    match told {
        Some(shared) if !shared.is_empty() && !shared.contains(&false) => {
            *elsewhere.entry("clone").or_default() += 1;
            return [None, None];
        }
        Some(_) => {}
        None => {
            let bytes = copied.iter().flatten().map(|side| u64::from(side.request.len));
            *untold_bytes += bytes.sum::<u64>();
        }
    }
    copied
}

/// Whether descriptor `fd` of thread `tid` shares blocks where `side` begins; `None` if its file
/// system does not say.
fn is_shared(tid: i32, fd: i32, side: &FileCall) -> Option<bool> {
    let link = format!("/proc/{tid}/fd/{fd}");
    if is_in_memory(&link) {
        return Some(false);
    }
    let file = File::open(&link).ok()?;
    let is_shared = extents::is_shared(&file, side.request.offset).ok()?;
    told(is_shared, || Some(mounts::system_of(&file, &read_link(link).ok()?)))
}

/// Returns whether blocks are shared where the file `system` answers so. Of blocks that are not, a
/// server may have made the copy, as SMB's does; only then is the table of mounts read.
fn told(is_shared: bool, system: impl FnOnce() -> Option<FileSystemInfo>) -> Option<bool> {
    (is_shared || !system()?.is_network_or_fuse).then_some(is_shared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_machine::testing::{build_directory, skipped};
    use ioscape_schema::{Op, Request};
    use std::io::Write;
    use std::os::fd::AsRawFd;

    const BYTES: u32 = 1 << 20;

    /// How many of the two sides of a copy of a MiB moved something; what else was counted, and
    /// which bytes are doubtful.
    fn counted(files: [&File; 2]) -> (usize, BTreeMap<&'static str, u64>, u64) {
        let (mut elsewhere, mut untold_bytes) = (BTreeMap::new(), 0);
        let [from, to] = files.map(|file| file.as_raw_fd() as u64);
        let arguments = [from, 0, to, 0, u64::from(BYTES), 0];
        let side = |op| {
            let request = Request { op, offset: 0, len: BYTES };
            Some(FileCall { request, ..FileCall::default() })
        };
        let copied = [side(Op::Read), side(Op::Write)];
        let tid = std::process::id() as i32;
        let left = moved(tid, &arguments, copied, &mut elsewhere, &mut untold_bytes);
        (left.iter().flatten().count(), elsewhere, untold_bytes)
    }

    #[test]
    fn a_copy_whose_file_system_says_nothing_is_doubtful() {
        let silent = File::open("/proc/self/status").expect("a file that has no blocks");
        assert_eq!(counted([&silent; 2]), (2, BTreeMap::new(), 2 * u64::from(BYTES)));
    }

    #[test]
    fn a_copy_that_a_server_may_have_made_is_doubtful() {
        let of = |is_shared, is_network_or_fuse| {
            told(is_shared, || Some(FileSystemInfo { is_network_or_fuse, ..Default::default() }))
        };
        assert_eq!([true, false].map(|is_shared| of(is_shared, true)), [Some(true), None]);
        assert_eq!(of(false, false), Some(false));
    }

    #[test]
    fn a_copy_that_shares_its_blocks_moves_nothing() {
        let [mut one, other, clone] =
            [(); 3].map(|()| tempfile::tempfile_in(build_directory()).expect("a file"));
        one.write_all(&[7; BYTES as usize]).expect("room");
        std::io::copy(&mut one.try_clone().expect("a descriptor"), &mut &other).expect("room");
        if extents::is_shared(&one, 0).is_err() {
            return skipped("the file system tells of no extents");
        }
        assert_eq!(counted([&one, &other]), (2, BTreeMap::new(), 0));
        if rustix::fs::ioctl_ficlone(&clone, &one).is_err() {
            return skipped("the file system cannot share blocks");
        }
        assert_eq!(counted([&one, &clone]), (0, BTreeMap::from([("clone", 1)]), 0));
    }
}
