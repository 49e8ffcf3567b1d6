//! File systems on loop devices, made for a measurement and removed however it ends.
//!
//! Nothing of them outlives this process, even if it is killed: their files have no name, the devices let go of them when
//! no process has them open any more, and the mounts are in a mount namespace of our own.

use crate::error::Error;
use crate::namespace;
use crate::target::ScratchFolder;
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Kinds that can be made, with the program that makes them and its arguments.
const KINDS: [(&str, &[&str]); 5] = [
    ("ext4", &["mkfs.ext4", "-q", "-F"]),
    ("xfs", &["mkfs.xfs", "-q", "-f"]),
    ("btrfs", &["mkfs.btrfs", "-q", "-f"]),
    ("tmpfs", &[]),
    ("raw", &[]),
];

/// A loop device with or without a mounted file system, or a mounted memory file system.
pub struct MadeFileSystem {
    device: Option<PathBuf>,
    mount: Option<ScratchFolder>,
    mounted: bool,
    // The device lets go of its file when this is closed, which is last.
    _held: Option<File>,
}

/// Hides the mounts that this process makes from now on from all others.
///
/// Without the right to, they are visible, and taken down on every way out but a kill.
pub fn hide_mounts() {
    if namespace::own_mounts().is_ok() {
        let _ = run("mount", ["--make-rprivate", "/"].map(OsStr::new));
    }
}

impl MadeFileSystem {
    /// The mount point, or the device itself.
    pub fn path(&self) -> &Path {
        let device = || self.device.as_deref().unwrap_or(Path::new(""));
        self.mount.as_ref().map_or_else(device, ScratchFolder::path)
    }

    /// Makes a file system of `kind` (ext4, xfs, btrfs, tmpfs, or raw for a bare device) and `bytes`, on a loop device
    /// whose file is in `folder`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for an unknown kind, a missing program or right, or no space.
    pub fn make(kind: &str, folder: &Path, bytes: u64) -> Result<Self, Error> {
        let refused = |why: String| Error::Unsupported {
            what: format!("a {kind} file system on a loop device"),
            why,
        };
        let Some((_, program)) = KINDS.iter().find(|(known, _)| *known == kind) else {
            let known = KINDS.map(|(known, _)| known).join(", ");
            return Err(refused(format!("choose from {known}")));
        };
        let mut made = Self { device: None, mount: None, mounted: false, _held: None };
        if kind != "tmpfs" {
            let (device, held) = attach(folder, bytes).map_err(refused)?;
            (made.device, made._held) = (Some(device), Some(held));
        }
        if let (Some((mkfs, words)), Some(device)) = (program.split_first(), &made.device) {
            let words = words.iter().map(OsStr::new).chain([device.as_os_str()]);
            run(mkfs, words).map_err(refused)?;
        }
        if kind != "raw" {
            made.mount(kind, bytes).map_err(refused)?;
        }
        Ok(made)
    }

    fn mount(&mut self, kind: &str, bytes: u64) -> Result<(), String> {
        let mount = ScratchFolder::new_in(&std::env::temp_dir());
        let mount = mount.map_err(|e| e.to_string())?;
        let size = format!("size={bytes}");
        let words: Vec<&OsStr> = match &self.device {
            Some(device) => vec![OsStr::new("-t"), OsStr::new(kind), device.as_os_str()],
            None => ["-t", "tmpfs", "-o", &size, "tmpfs"].into_iter().map(OsStr::new).collect(),
        };
        run("mount", words.into_iter().chain([mount.path().as_os_str()]))?;
        (self.mount, self.mounted) = (Some(mount), true);
        Ok(())
    }
}

impl Drop for MadeFileSystem {
    fn drop(&mut self) {
        let mount = self.mount.as_ref().filter(|_| self.mounted).map(|m| m.path().as_os_str());
        let busy = |mount: &&OsStr| run("umount", [*mount]).is_err();
        if let Some(mount) = mount.filter(busy) {
            // Its files are closed by now; what remains is the kernel's own delay.
            let _ = run("umount", [OsStr::new("-l"), mount]);
        }
    }
}

/// Runs a program and gives what it prints, without the last line break.
fn run<'a>(program: &str, words: impl IntoIterator<Item = &'a OsStr>) -> Result<String, String> {
    let output = Command::new(program)
        .args(words)
        .output()
        .map_err(|error| format!("cannot run {program}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().replace('\n', "; ");
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(format!("{program} failed: {}", text(&output.stderr))),
    }
}

/// A loop device of `bytes` on a file without a name in `folder`, held open.
fn attach(folder: &Path, bytes: u64) -> Result<(PathBuf, File), String> {
    let backing = tempfile::Builder::new().prefix(".ioscape-loop-").tempfile_in(folder);
    let backing = backing.map_err(|e| format!("{}: {e}", folder.display()))?;
    backing.as_file().set_len(bytes).map_err(|e| e.to_string())?;
    let words = ["--find", "--show", "--direct-io=on"].map(OsStr::new);
    let device = run("losetup", words.into_iter().chain([backing.path().as_os_str()]))?;
    let device = PathBuf::from(device);
    let held = File::open(&device).map_err(|e| format!("{}: {e}", device.display()));
    // While it is open, this asks it to let go of its file at the last close.
    run("losetup", [OsStr::new("-d"), device.as_os_str()])?;
    Ok((device, held?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_kind_is_refused_before_anything_is_made() {
        let refused = MadeFileSystem::make("fat", Path::new("/nowhere"), 1 << 20);
        let why = refused.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(why.contains("fat") && why.contains("choose from ext4, xfs"), "{why}");
    }
}
