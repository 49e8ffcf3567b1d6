//! Successive outputs, of which only the latest are kept.

use super::destination::{opened, opened_at};
use super::recognise::Content;
use crate::target::scratch;
use rustix::fs::{AtFlags, FileType, OFlags};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Files named after their start time: `a-20260131T235959Z.parquet` for `a.parquet`.
#[derive(Clone, Debug)]
pub struct Rotation {
    path: PathBuf,
    /// Number of files kept; `None` keeps all.
    keep: Option<usize>,
}

/// The format of a time in a name: a letter stands for itself, 0 for a digit.
const FORM: &str = "00000000T000000Z";

impl Rotation {
    /// Starts a rotation of files next to `path`.
    pub fn new(path: &Path, keep: Option<usize>) -> Self {
        Self { path: path.to_owned(), keep }
    }

    /// Returns the path of the file that starts at this time, in the form `20260131T235959Z`.
    pub fn name(&self, begins: &str) -> PathBuf {
        let ending = self.ending();
        self.path.with_file_name(format!("{}{begins}{ending}", self.stem()))
    }

    fn stem(&self) -> String {
        format!("{}-", self.path.file_stem().unwrap_or_default().to_string_lossy())
    }

    fn ending(&self) -> String {
        let ending = self.path.extension().map(|ending| ending.to_string_lossy());
        ending.map_or_else(String::new, |ending| format!(".{ending}"))
    }

    /// Returns whether a file name has the form of [`name`](Self::name).
    fn is_one(&self, name: &str) -> bool {
        let rest =
            name.strip_prefix(&self.stem()).and_then(|rest| rest.strip_suffix(&self.ending()));
        rest.is_some_and(|time| {
            let fits = |(is, form): (char, char)| {
                if form == '0' { is.is_ascii_digit() } else { is == form }
            };
            time.len() == FORM.len() && time.chars().zip(FORM.chars()).all(fits)
        })
    }

    /// Removes the oldest files beyond those to keep, whichever run wrote them.
    ///
    /// Files with a time later than `latest`, the one just written, neither count nor are removed:
    /// a clock that was ahead named them. The same holds for files that are not our traces or
    /// belong to other users.
    pub fn prune(&self, latest: &Path) -> Pruned {
        let mut pruned = Pruned::default();
        let Some(keep) = self.keep else { return pruned };
        let path = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let path = path.unwrap_or(Path::new("."));
        let found =
            opened(path).and_then(|folder| Ok((self.names_until(latest, path, &folder)?, folder)));
        let (mut names, folder) = match found {
            Ok(found) => found,
            Err(error) => {
                let folder = path.display();
                pruned.refused.push(format!(
                    "cannot look for what is beyond --keep in {folder}: {error}; old files stay until that is possible"
                ));
                return pruned;
            }
        };
        names.sort_unstable();
        names.truncate(names.len().saturating_sub(keep));
        for name in names {
            let path = self.path.with_file_name(&name);
            match rustix::fs::unlinkat(&folder, &name, AtFlags::empty()) {
                Err(error) if error != Errno::NOENT => {
                    let path = path.display();
                    pruned.refused.push(format!(
                        "cannot remove what is beyond --keep: {path}: {error}; it stays"
                    ));
                }
                _ => pruned.gone.push(path),
            }
        }
        pruned
    }

    /// Returns the names of our files in `folder`, which is at `path`, up to that of `latest`.
    fn names_until(
        &self,
        latest: &Path,
        path: &Path,
        folder: &OwnedFd,
    ) -> io::Result<Vec<OsString>> {
        let latest = latest.file_name().unwrap_or_default();
        let is_one = |name: &OsStr| name.to_str().is_some_and(|name| self.is_one(name));
        let (mut names, mut users) = (Vec::new(), BTreeMap::new());
        for entry in std::fs::read_dir(path)? {
            let name = entry?.file_name();
            if *name <= *latest && is_one(&name) && is_our_trace(folder, &name, &mut users) {
                names.push(name);
            }
        }
        Ok(names)
    }
}

/// Returns whether the file of this name is a trace that we wrote. In a shared folder another user
/// may have given such a name to anything: links are not followed, and pipes not waited for.
/// `users` holds whose files are ours, as found so far: to find out creates a file.
fn is_our_trace(folder: &OwnedFd, name: &OsString, users: &mut BTreeMap<u32, bool>) -> bool {
    let Some(file) = opened_at(folder, name, OFlags::RDONLY | OFlags::NONBLOCK) else {
        return false;
    };
    let is_ours = rustix::fs::fstat(&file).is_ok_and(|found| {
        FileType::from_raw_mode(found.st_mode) == FileType::RegularFile
            && *users.entry(found.st_uid).or_insert_with(|| scratch::is_ours(found.st_uid, folder))
    });
    is_ours && Content::of(&file) == Some(Content::Trace)
}

/// What [`Rotation::prune`] did.
#[derive(Debug, Default)]
pub struct Pruned {
    /// Files that were removed.
    pub gone: Vec<PathBuf>,
    /// A sentence for each file that cannot be removed, or for the folder that cannot be read.
    pub refused: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(path: &Path) {
        std::fs::write(path, "PAR1 ioscape 0.1.0 PAR1").expect("it is written");
    }

    #[test]
    fn the_oldest_go_and_other_files_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let rotation = |keep| Rotation::new(&folder.path().join("t.parquet"), keep);
        let three = ["20260101T000000Z", "20260102T000000Z", "20260101T120000Z"];
        let latest = rotation(None).name(three[1]);
        let others =
            ["t.parquet", "t-mine.parquet", "t-20260101T000000Z.csv", "u-20260101T000000Z.parquet"];
        for time in three {
            trace(&rotation(None).name(time));
        }
        let of_another = rotation(None).name("20250101T000000Z");
        std::fs::write(&of_another, "PAR1 another program PAR1").expect("it is written");
        let of_folder = rotation(None).name("20240101T000000Z");
        std::fs::create_dir(&of_folder).expect("a folder");
        for name in others {
            std::fs::write(folder.path().join(name), "").expect("it is written");
        }
        assert!(rotation(None).prune(&latest).gone.is_empty());
        assert!(rotation(Some(3)).prune(&latest).gone.is_empty());
        let pruned = rotation(Some(1)).prune(&latest);
        assert!(pruned.refused.is_empty(), "{:?}", pruned.refused);
        assert_eq!(pruned.gone, [three[0], three[2]].map(|time| rotation(None).name(time)));
        assert!(latest.exists() && of_another.exists() && of_folder.exists());
        assert!(others.iter().all(|name| folder.path().join(name).exists()));
    }

    /// Once, two such names planted by another user in `/var/tmp` left root only its latest file.
    #[test]
    fn what_another_user_put_there_neither_counts_nor_goes() {
        let folder = tempfile::tempdir().expect("a folder");
        let rotation = Rotation::new(&folder.path().join("t.parquet"), Some(1));
        let [planted, ours, pipe, link, latest] = ["01", "02", "03", "04", "05"]
            .map(|day| rotation.name(&format!("202601{day}T000000Z")));
        [&planted, &ours, &latest].into_iter().for_each(|path| trace(path));
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, FileType::Fifo, mode, 0).expect("a pipe");
        std::os::unix::fs::symlink(&latest, &link).expect("a link");
        assert_eq!(rotation.prune(&ours).gone, std::slice::from_ref(&planted));
        trace(&planted);
        if std::os::unix::fs::chown(&planted, Some(65534), None).is_err() {
            return crate::testing::skipped("to give a file to another user needs root");
        }
        assert!(rotation.prune(&ours).gone.is_empty(), "one of ours is all there is");
        assert_eq!(rotation.prune(&latest).gone, [ours]);
        assert!(planted.exists() && pipe.exists() && link.is_symlink());
    }

    /// Once, a service whose clock had been ahead for a day removed each hour what it had just
    /// written, for a year.
    #[test]
    fn files_named_after_later_times_neither_count_nor_go() {
        let folder = tempfile::tempdir().expect("a folder");
        let rotation = Rotation::new(&folder.path().join("t.parquet"), Some(2));
        let now = ["20260101T000000Z", "20260101T010000Z", "20260101T020000Z"];
        let later = ["20990101T000000Z", "20990101T010000Z", "20990101T020000Z"];
        let [now, later] = [now, later].map(|times| times.map(|time| rotation.name(time)));
        now.iter().chain(&later).for_each(|path| trace(path));
        assert_eq!(rotation.prune(&now[2]).gone, now[..1]);
        assert!(now[1..].iter().chain(&later).all(|path| path.exists()));
        assert!(rotation.prune(&now[2]).gone.is_empty());
    }

    #[test]
    fn a_folder_that_cannot_be_read_is_told_and_ends_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let gone = folder.path().join("gone");
        let rotation = Rotation::new(&gone.join("t.parquet"), Some(1));
        let pruned = rotation.prune(&rotation.name("20260101T000000Z"));
        assert!(pruned.gone.is_empty());
        let told = pruned.refused.join("\n");
        let place = format!("cannot look for what is beyond --keep in {}: ", gone.display());
        assert!(told.starts_with(&place) && told.contains("; old files stay until"), "{told}");
    }
}
