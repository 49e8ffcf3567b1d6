//! Cold runs: before each phase, evicts the data that the phase reads from the file cache.

use crate::case::not_here;
use ioscape_machine::cache;
use ioscape_schema::toolchain::Named;
use std::fs::File;
use std::io;
use std::path::Path;

/// If more than this share of a tree stays in the file cache after eviction, the next phase is not
/// cold.
const KEPT_MOST: f64 = 0.05;

/// Writes the contents of `files` below `root` to storage and evicts them from the file cache;
/// names, attributes and directories stay cached.
///
/// # Errors
/// [`io::ErrorKind::Unsupported`] if the file system keeps the contents in the cache or never had
/// them there; or they could not be written.
pub(super) fn drop_contents(files: &[Named<String>], root: &Path) -> io::Result<()> {
    let (mut had, mut kept, mut whole) = (0, 0, 0);
    for (path, text) in files {
        let file = File::open(root.join(path))?;
        let bytes = text.len() as u64;
        // If the kernel does not report residency, the eviction is assumed to have worked.
        let there = || cache::resident_bytes(&file, 0, bytes);
        had += there().unwrap_or(bytes);
        cache::evict(&file).map_err(io::Error::other)?;
        kept += there().unwrap_or(0);
        whole += bytes;
    }
    judge(had, kept, whole)
}

/// Refuses a run that is not cold, given the bytes in the file cache before and after evicting
/// `whole` of them.
fn judge(had: u64, kept: u64, whole: u64) -> io::Result<()> {
    if had == 0 {
        return Err(not_here(
            "this file system does not use the file cache: the warm run is already a cold one",
        ));
    }
    if kept as f64 > whole as f64 * KEPT_MOST {
        return Err(not_here(format!(
            "{kept} of {whole} bytes of the tree stay in the file cache, as on a file system in memory: a cold run is impossible"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_machine::testing::{build_directory, skipped};

    fn written(home: &Path) -> Vec<Named<String>> {
        let files = vec![("a".to_owned(), "x".repeat(9000)), ("b".to_owned(), "y".repeat(100))];
        for (path, text) in &files {
            std::fs::write(home.join(path), text).unwrap();
        }
        files
    }

    #[test]
    fn contents_leave_the_cache_or_it_is_told() {
        let home = tempfile::tempdir_in(build_directory()).unwrap();
        let files = written(home.path());
        match drop_contents(&files, home.path()) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                return skipped("files of this directory cannot be evicted");
            }
            outcome => outcome.unwrap(),
        }
        let file = File::open(home.path().join("a")).unwrap();
        assert!(cache::resident_bytes(&file, 0, 9000).is_none_or(|there| there == 0));
        assert!(drop_contents(&files, Path::new("/nonexistent")).is_err());
    }

    #[test]
    fn a_tree_in_memory_cannot_be_cold() {
        let memory = Path::new("/dev/shm");
        if !memory.is_dir() {
            return skipped("there is no file system in memory");
        }
        let home = tempfile::tempdir_in(memory).unwrap();
        let error = drop_contents(&written(home.path()), home.path()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Unsupported, "{error}");
        assert!(error.to_string().contains("9100 of 9100 bytes"), "{error}");
    }

    #[test]
    fn a_few_pages_that_stay_are_no_matter() {
        assert!(judge(1000, 50, 1000).is_ok());
        assert_eq!(judge(1000, 51, 1000).unwrap_err().kind(), io::ErrorKind::Unsupported);
        assert!(judge(0, 0, 1000).unwrap_err().to_string().contains("already"));
    }
}
