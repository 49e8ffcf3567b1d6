//! The folder and the files that root acts on: ours alone, since in a place that all may write to, anybody could have put others there.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Permission of the group and of all others to write.
const WRITABLE: u32 = 0o022;

/// Makes a folder unless it is there, and gives its path as the kernel's tables have it.
///
/// # Errors
/// One sentence: it is a link, not ours alone, or has a name that a shell or the kernel's tables would not take as it is.
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

/// Opens a file to read and to write, made empty unless it is there.
///
/// # Errors
/// One sentence: it is a link or not ours alone, or the kernel's refusal.
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

    /// A folder of the test's own.
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
