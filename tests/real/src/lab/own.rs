//! The directory and the files on which root acts. They must be ours alone: in a world-writable
//! place, anybody could have put others there.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Write permission for the group and all others.
const WRITABLE: u32 = 0o022;

/// Creates a directory unless it exists, and returns its path as in the kernel's tables.
///
/// # Errors
/// One sentence: it is a link, not ours alone, or its name would need quoting in a shell or in the
/// kernel's tables.
pub fn folder(named: &Path) -> Result<PathBuf, String> {
    let fails = |e: io::Error| format!("{}: {e}", named.display());
    DirBuilder::new().recursive(true).mode(0o700).create(named).map_err(fails)?;
    let found = fs::symlink_metadata(named).map_err(fails)?;
    if !(found.is_dir() && is_ours(&found)) {
        return Err(refusal(named));
    }
    let place = fs::canonicalize(named).map_err(fails)?;
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@,=:".contains(c);
    if !place.to_str().is_some_and(|text| text.chars().all(is_plain)) {
        let what = "letters, digits and /._-+@,=: alone";
        return Err(format!("{}: give IOSCAPE_REAL_PLACE a path of {what}", place.display()));
    }
    Ok(place)
}

/// Opens a file for reading and writing, and creates it empty unless it exists.
///
/// # Errors
/// One sentence: it is a link or not ours alone, or the kernel refuses.
pub fn file(path: &Path) -> Result<File, String> {
    let fails = |e: io::Error| format!("{}: {e}", path.display());
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.mode(0o600).custom_flags(libc::O_NOFOLLOW);
    let opened = options.open(path).map_err(fails)?;
    let found = opened.metadata().map_err(fails)?;
    if found.is_file() && is_ours(&found) { Ok(opened) } else { Err(refusal(path)) }
}

fn is_ours(found: &Metadata) -> bool {
    found.uid() == rustix::process::geteuid().as_raw() && found.mode() & WRITABLE == 0
}

fn refusal(path: &Path) -> String {
    format!(
        "{} is a link, belongs to another user or is writable by others: remove it or give IOSCAPE_REAL_PLACE",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// A directory of the test's own.
    fn made(name: &str) -> PathBuf {
        let name = format!("ioscape-real-own-{name}-{}", std::process::id());
        folder(&std::env::temp_dir().join(name)).unwrap()
    }

    #[test]
    fn a_place_is_named_as_the_kernels_tables_have_it() {
        let top = made("named");
        fs::create_dir(top.join("there")).unwrap();
        symlink(top.join("there"), top.join("link")).unwrap();
        assert_eq!(folder(&top.join("link/place")), Ok(top.join("there/place")));
        let why = folder(&top.join("link")).unwrap_err();
        assert!(why.contains("is a link"), "{why}");
        for odd in ["a place", "back\\slash", "$(reboot)"] {
            let why = folder(&top.join(odd)).unwrap_err();
            assert!(why.contains("give IOSCAPE_REAL_PLACE a path of letters"), "{why}");
        }
        fs::remove_dir_all(&top).unwrap();
    }

    #[test]
    fn a_file_that_others_can_write_or_put_there_is_refused() {
        let top = made("files");
        let path = top.join("undo");
        for _ in 0..2 {
            assert!(file(&path).is_ok(), "it is made, and then found");
        }
        symlink(&path, top.join("link")).unwrap();
        assert!(file(&top.join("link")).is_err());
        fs::set_permissions(&path, Permissions::from_mode(0o602)).unwrap();
        let why = file(&path).unwrap_err();
        assert!(why.contains("is writable by others"), "{why}");
        fs::remove_dir_all(&top).unwrap();
    }
}
