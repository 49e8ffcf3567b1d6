//! The identity of a file, so that two names of one file are recognised.

use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What identifies a file, whatever its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// A file that exists, by device and inode.
    Inode(u64, u64),
    /// A file that does not exist yet: device and inode of its folder, and its name there.
    Name(u64, u64, OsString),
}

impl Identity {
    /// Returns the identity of an existing file.
    pub fn of_file(found: &Metadata) -> Self {
        Self::Inode(found.dev(), found.ino())
    }

    /// Returns the identity of what `path` leads to; `None` if unknown.
    pub fn of(path: &Path) -> Option<Self> {
        if let Ok(found) = std::fs::metadata(path) {
            return Some(Self::of_file(&found));
        }
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Self::missing(folder, path.file_name()?.to_owned())
    }

    /// Returns the identity of a file in `folder` that does not exist.
    pub fn missing(folder: &Path, name: OsString) -> Option<Self> {
        let folder = std::fs::metadata(folder).ok()?;
        Some(Self::Name(folder.dev(), folder.ino(), name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_file_are_one() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        assert_eq!(Identity::of(&a), Identity::of(&dir.path().join(".").join("a")));
        assert_ne!(Identity::of(&a), Identity::of(&b));
        std::fs::write(&a, "").unwrap();
        std::fs::hard_link(&a, &b).unwrap();
        assert_eq!(Identity::of(&a), Identity::of(&b));
    }
}
