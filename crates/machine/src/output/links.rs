//! Where the name of an output, or of data that may be destroyed, leads. Symbolic links are
//! followed by hand, and only those of trusted owners.

use crate::error::Error;
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

/// Number of links on one path above which it counts as a loop, as in the kernel.
const LINKS_MOST: usize = 40;

/// The end of a path.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// A name in a folder whose path has no links; whether the file exists is another question.
    Entry {
        /// The folder.
        folder: PathBuf,
        /// The name in it.
        name: OsString,
    },
    /// A descriptor of this process.
    Descriptor(i32),
}

/// Follows the `path` of an output.
///
/// A link in the middle may be ours or root's. The last one must be ours, unless it leads to a
/// device or pipe.
///
/// # Errors
/// [`Error::Target`]: a part does not exist or cannot be examined, a link belongs to another user,
/// a kernel link leads to something without such a name, or links form a loop.
pub fn follow(path: &Path) -> Result<End, Error> {
    walk(path, trust)
}

/// Returns whether an output at `path` goes to standard output, as `-` does.
pub fn is_standard_output(path: &Path) -> bool {
    path.as_os_str() == "-" || matches!(follow(path), Ok(End::Descriptor(1)))
}

/// Returns the path without links of the file or device at `path`, whose data the user gave up;
/// `None` if it is a descriptor of this process.
///
/// A link may be ours or root's. Through any other link, its owner could have data destroyed
/// without the right to touch it.
pub fn without_links(path: &Path) -> Result<Option<PathBuf>, Error> {
    let of_ours = |at: &Path, found: &Metadata, _| match is_trusted(found.uid()) {
        true => Ok(()),
        false => Err(distrusted(at, found.uid())),
    };
    Ok(match walk(path, of_ours)? {
        End::Entry { folder, name } => Some(folder.join(name)),
        End::Descriptor(_) => None,
    })
}

/// Follows `path` along the links that `trust` accepts; its last argument says whether a link is
/// the last part.
fn walk(
    path: &Path,
    trust: impl Fn(&Path, &Metadata, bool) -> Result<(), String>,
) -> Result<End, Error> {
    let refused = |why: String| Error::target(path, why);
    let mut real = match path.is_absolute() {
        true => PathBuf::from("/"),
        false => std::env::current_dir()
            .map_err(|e| refused(format!("the current directory is gone ({e})")))?,
    };
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(refused("is a directory: name a file".to_owned()));
    }
    let mut ahead = parts(path);
    let mut links = 0;
    while let Some(part) = ahead.pop() {
        let at = match &part {
            PathPart::Up => {
                real.pop();
                continue;
            }
            PathPart::Root => {
                real = PathBuf::from("/");
                continue;
            }
            PathPart::Into(name) => real.join(name),
        };
        let is_last = ahead.is_empty();
        if let Some(number) = descriptor(&at).filter(|_| is_last) {
            return Ok(End::Descriptor(number));
        }
        match std::fs::symlink_metadata(&at) {
            Ok(found) if found.is_symlink() => {
                links += 1;
                if links > LINKS_MOST {
                    return Err(refused("leads round in a loop of symbolic links".to_owned()));
                }
                trust(&at, &found, is_last).map_err(refused)?;
                let to = std::fs::read_link(&at)
                    .map_err(|e| refused(format!("{} cannot be read: {e}", at.display())))?;
                if leads_elsewhere(&at, &to) {
                    let why = "does not lead where it says: name the file by its own path";
                    return Err(refused(format!("{} {why}", at.display())));
                }
                ahead.extend(parts(&to));
            }
            Err(e) if is_last && e.kind() == io::ErrorKind::NotFound => real = at,
            Err(e) => {
                let why = format!("cannot be written: {}: {e}: choose another place", at.display());
                return Err(refused(why));
            }
            Ok(_) => real = at,
        }
    }
    match (real.parent(), real.file_name()) {
        (Some(folder), Some(name)) => {
            Ok(End::Entry { folder: folder.to_owned(), name: name.to_owned() })
        }
        _ => Err(refused("is a directory: name a file".to_owned())),
    }
}

/// Returns whether the link at `at` leads elsewhere than its text `to`: those in `/proc` lead to
/// what another process has or sees.
fn leads_elsewhere(at: &Path, to: &Path) -> bool {
    let identity = |path: &Path| std::fs::metadata(path).ok().map(|end| (end.dev(), end.ino()));
    let said = || at.parent().and_then(|folder| identity(&folder.join(to)));
    at.starts_with("/proc") && identity(at) != said()
}

/// One part of a path while it is followed.
enum PathPart {
    Root,
    Up,
    Into(OsString),
}

/// Returns the parts of a path in reverse order.
fn parts(path: &Path) -> Vec<PathPart> {
    let part_of = |part: Component| match part {
        Component::RootDir => Some(PathPart::Root),
        Component::ParentDir => Some(PathPart::Up),
        Component::Normal(name) => Some(PathPart::Into(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().rev().filter_map(part_of).collect()
}

/// Returns the descriptor that a path denotes by its name.
fn descriptor(path: &Path) -> Option<i32> {
    let name = path.file_name().and_then(OsStr::to_str)?;
    let parent = path.parent()?;
    let own = format!("/proc/{}/", std::process::id());
    match (parent.to_str()?, name) {
        ("/dev", "stdout") => Some(1),
        ("/dev", "stderr") => Some(2),
        ("/dev/fd" | "/proc/self/fd", number) => number.parse().ok(),
        // Its threads' are the same.
        (folder, number) if folder.starts_with(&own) && folder.ends_with("/fd") => {
            number.parse().ok()
        }
        _ => None,
    }
}

/// Returns whether the owner of a link is we or root.
fn is_trusted(owner: u32) -> bool {
    owner == 0 || owner == rustix::process::geteuid().as_raw()
}

fn distrusted(at: &Path, owner: u32) -> String {
    format!(
        "{} is a symbolic link of another user (number {owner}), which is not followed: name the file itself",
        at.display()
    )
}

/// Returns whether the link `found` at `at` may be followed to an output.
fn trust(at: &Path, found: &Metadata, is_last: bool) -> Result<(), String> {
    let us = rustix::process::geteuid().as_raw();
    let through = || {
        let end = std::fs::metadata(at).map(|end| end.file_type());
        end.is_ok_and(|kind| kind.is_char_device() || kind.is_fifo())
    };
    let owner = found.uid();
    if owner == us || (is_trusted(owner) && (!is_last || through())) {
        return Ok(());
    }
    Err(distrusted(at, owner))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn our_links_are_followed_to_their_end() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("there")).unwrap();
        symlink("there", real.join("folder")).unwrap();
        symlink("../last", real.join("there/link")).unwrap();
        let entry = |name: &str| End::Entry { folder: real.clone(), name: name.into() };
        assert_eq!(follow(&real.join("folder/./link")).unwrap(), entry("last"));
        symlink("round", real.join("round")).unwrap();
        assert!(follow(&real.join("round")).unwrap_err().to_string().contains("loop"));
        let missing = follow(&real.join("nowhere/x")).unwrap_err();
        assert!(missing.is_misuse() && missing.to_string().contains("nowhere"), "{missing}");
    }

    #[test]
    fn what_may_be_destroyed_is_found_by_links_of_ours_alone() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        std::fs::write(real.join("data"), "x").unwrap();
        symlink("data", real.join("link")).unwrap();
        assert_eq!(without_links(&real.join("link")).unwrap(), Some(real.join("data")));
        assert_eq!(without_links(Path::new("/proc/self/fd/7")).unwrap(), None);
        if std::os::unix::fs::lchown(real.join("link"), Some(65_534), None).is_err() {
            return crate::testing::skipped("only root can give a link to another user");
        }
        let refused = without_links(&real.join("link")).unwrap_err();
        assert!(refused.is_misuse() && refused.to_string().contains("another user"), "{refused}");
    }

    #[test]
    fn a_link_of_the_kernels_that_leads_elsewhere_than_it_says_is_refused() {
        let refused = without_links(Path::new("/proc/self/ns/mnt")).unwrap_err().to_string();
        assert!(refused.contains("/ns/mnt does not lead where it says"), "{refused}");
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        let by_root = Path::new("/proc/self/root").join(real.strip_prefix("/").unwrap());
        assert_eq!(without_links(&by_root.join("data")).unwrap(), Some(real.join("data")));
    }

    #[test]
    fn descriptors_are_known_by_name() {
        assert_eq!(follow(Path::new("/dev/stdout")).unwrap(), End::Descriptor(1));
        assert_eq!(follow(Path::new("/dev/../dev/./stderr")).unwrap(), End::Descriptor(2));
        assert_eq!(follow(Path::new("/proc/self/fd/7")).unwrap(), End::Descriptor(7));
        let dir = tempfile::tempdir().unwrap();
        symlink("/dev/stdout", dir.path().join("out")).unwrap();
        assert_eq!(follow(&dir.path().join("out")).unwrap(), End::Descriptor(1));
    }

    /// Guards against a defect: the summary went behind a result whose name was a link to standard
    /// output.
    #[test]
    fn standard_output_is_known_by_all_its_names() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("out");
        symlink("/dev/stdout", &link).unwrap();
        let own = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1"];
        for name in own.map(Path::new).into_iter().chain([&*link]) {
            assert!(is_standard_output(name), "{}", name.display());
        }
        for other in ["./-", "a", "/dev/stderr", "/dev/fd/3", "/dev/null"] {
            assert!(!is_standard_output(Path::new(other)), "{other}");
        }
    }
}
