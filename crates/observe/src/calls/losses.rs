//! Files that lose their bytes: deleted, replaced by another, or truncated. Their dirty pages in
//! the cache are never written.

use super::files::Files;
use super::memory;
use super::numbers::Call;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The number of the used file that loses its last name if the call that thread `tid` begins
/// succeeds.
pub(super) fn deleted(files: &Files, tid: i32, call: Call, arguments: &[u64; 6]) -> Option<u32> {
    let (directory, name) = match call {
        Call::Unlink => (None, 0),
        Call::UnlinkAt => (Some(0), 1),
        Call::Rename => (None, 1),
        Call::RenameAt => (Some(2), 3),
        // With a flag, no file is replaced.
        Call::RenameAt2 if arguments[4] == 0 => (Some(2), 3),
        _ => return None,
    };
    let directory = directory.map_or(libc::AT_FDCWD, |index: usize| arguments[index] as i32);
    files.only_name(&path_of(tid, directory, arguments[name])?)
}

/// The path that a stopped thread names, in a form that this process can open.
fn path_of(tid: i32, directory: i32, address: u64) -> Option<PathBuf> {
    let name = memory::string(tid, address).filter(|name| !name.is_empty())?;
    let base = match (name.first(), directory) {
        (Some(b'/'), _) => "root".to_owned(),
        (_, libc::AT_FDCWD) => "cwd".to_owned(),
        (_, directory) => format!("fd/{directory}"),
    };
    let mut path = format!("/proc/{tid}/{base}/").into_bytes();
    path.extend(name);
    Some(PathBuf::from(OsStr::from_bytes(&path)))
}
