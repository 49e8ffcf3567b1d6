//! Reopens a file that is held open.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Returns a new open file description of the file `held`, which was opened at `path`, with
/// additional `flags`, and for writing too if `write` is set.
///
/// It is opened through the descriptor, so a file put in its place meanwhile is never opened.
/// Without a mounted `/proc` it is opened by its path, if that still leads to the same file.
///
/// # Errors
/// The file cannot be opened, or another file is at its path.
pub fn open_again(held: &File, path: &Path, flags: i32, write: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(write).custom_flags(flags);
    let link = format!("/proc/self/fd/{}", held.as_raw_fd());
    match options.open(&link) {
        Err(error) if error.kind() == ErrorKind::NotFound && !Path::new("/proc/self").exists() => {
            same(held, options.open(path)?)
        }
        opened => opened,
    }
}

/// Returns the opened file if it is the one held.
fn same(held: &File, opened: File) -> io::Result<File> {
    let [a, b] = [held.metadata()?, opened.metadata()?].map(|state| (state.dev(), state.ino()));
    if a != b {
        return Err(io::Error::other(
            "another file has been put in its place, and no /proc is mounted",
        ));
    }
    Ok(opened)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_file_that_is_held_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let [path, moved] = ["a", "b"].map(|name| folder.path().join(name));
        let held = File::create_new(&path).unwrap();
        assert!(same(&held, File::open(&path).unwrap()).is_ok());
        std::fs::rename(&path, &moved).unwrap();
        let other = File::create_new(&path).unwrap();
        assert!(same(&held, other).is_err());
        let again = open_again(&held, &path, 0, true).unwrap();
        assert_eq!(again.metadata().unwrap().ino(), held.metadata().unwrap().ino());
    }
}
