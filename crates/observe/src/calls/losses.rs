//! Files that lose their bytes: deleted, replaced by another, or cut off. What of them is dirty in the cache is never written.

use super::files::Target;
use super::memory;
use super::numbers::Call;
use super::requests::{Caller, Ledger};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

impl Ledger<'_> {
    /// The number of a used file that loses its last name if the call succeeds that `caller` begins.
    pub(super) fn deleted(
        &self,
        caller: &Caller<'_>,
        call: Call,
        arguments: &[u64; 6],
    ) -> Option<u32> {
        let (directory, name) = match call {
            Call::Unlink => (None, 0),
            Call::UnlinkAt => (Some(0), 1),
            Call::Rename => (None, 1),
            Call::RenameAt => (Some(2), 3),
            // With a flag nothing is replaced.
            Call::RenameAt2 if arguments[4] == 0 => (Some(2), 3),
            _ => return None,
        };
        let directory = directory.map_or(libc::AT_FDCWD, |index: usize| arguments[index] as i32);
        let path = path_of(caller.tid, directory, arguments[name])?;
        self.files.only_name(&path)
    }

    /// After `ftruncate`: the file behind `fd` ends at byte `len`.
    pub(super) fn cut(&mut self, caller: &Caller<'_>, fd: i32, len: u64) {
        let target = self.description(caller, fd).borrow().target;
        if let Target::File(file) = target {
            self.sink.given_up(file, len);
        }
    }
}

/// A path that a stopped thread names, as we can open it.
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
