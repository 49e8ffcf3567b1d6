//! Whether the kernel counts the bytes that a process reads from a server. This is tested, since
//! versions do not tell: NFS counts since Linux 6.4, FUSE does not, and netfs file systems did in
//! some versions.

use crate::{cache, text};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes written and read for the test.
const TRIED: usize = 1 << 20;

/// Returns whether the kernel counts, for the reading thread, all bytes of `file` that were not in
/// the file cache. `file` is our own, empty before and after.
pub(super) fn are_reads_counted(file: &File) -> bool {
    let is_counted = try_it(file).unwrap_or(false);
    file.set_len(0).is_ok() && is_counted
}

fn try_it(file: &File) -> io::Result<bool> {
    let counter =
        || text::field(&text::read("/proc/thread-self/io").unwrap_or_default(), "read_bytes");
    let mut block = vec![1; TRIED];
    file.write_all_at(&block, 0)?;
    cache::evict(file).map_err(io::Error::other)?;
    if cache::resident_bytes(file, 0, TRIED as u64) != Some(0) {
        return Ok(false);
    }
    let before = counter();
    file.read_exact_at(&mut block, 0)?;
    Ok(counter().zip(before).is_some_and(|(now, then)| now - then >= TRIED as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mounts;
    use crate::testing::{build_directory, skipped};
    use std::path::Path;

    #[test]
    fn a_disk_counts_what_is_read_and_memory_nothing() {
        let tried = |directory: &Path| {
            let file = tempfile::tempfile_in(directory).unwrap();
            // The kernel may keep a page that it is just looking at.
            let is_counted = (0..5).any(|_| are_reads_counted(&file));
            assert_eq!(file.metadata().unwrap().len(), 0);
            (mounts::system_of(&file, directory), is_counted)
        };
        let memory = Path::new("/dev/shm");
        assert!(!memory.exists() || !tried(memory).1);
        match tried(&build_directory()) {
            (system, is_counted) if system.name == "ext4" => assert!(is_counted),
            _ => skipped("the build directory is not on ext4"),
        }
    }
}
