//! Outputs that follow one another, of which the latest are kept.

use super::recognise::Content;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Files called after the time that they begin at: `a-20260131T235959Z.parquet` for `a.parquet`.
#[derive(Clone, Debug)]
pub struct Rotation {
    path: PathBuf,
    /// How many are kept; all without a number.
    keep: Option<usize>,
}

/// The form of a time in a name: a letter stands for itself, 0 for a digit.
const FORM: &str = "00000000T000000Z";

impl Rotation {
    /// Files beside `path`.
    pub fn new(path: &Path, keep: Option<usize>) -> Self {
        Self { path: path.to_owned(), keep }
    }

    /// The file that begins at this time, in the form `20260131T235959Z`.
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

    /// Whether a file's name is one that [`name`](Self::name) gives.
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

    /// Removes the oldest beyond those that are kept, whichever run wrote them. What bears a later time than `latest`, the one just
    /// written, neither counts nor goes: a clock that was ahead named it. What is no trace of ours stays.
    pub fn prune(&self, latest: &Path) -> Pruned {
        let mut pruned = Pruned::default();
        let Some(keep) = self.keep else { return pruned };
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let mut names = match self.names_until(latest, folder) {
            Ok(names) => names,
            Err(error) => {
                let folder = folder.display();
                pruned.refused.push(format!(
                    "cannot look for what is beyond --keep in {folder}: {error}; old files stay until that is possible"
                ));
                return pruned;
            }
        };
        names.sort_unstable();
        names.truncate(names.len().saturating_sub(keep));
        for path in names.into_iter().map(|name| self.path.with_file_name(name)) {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
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

    /// The names of our files in `folder` up to that of `latest`.
    fn names_until(&self, latest: &Path, folder: &Path) -> io::Result<Vec<String>> {
        let latest = latest.file_name().unwrap_or_default();
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            // What another program removed meanwhile has no kind.
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            let name = entry.file_name().into_string().ok();
            let is_trace = |file: File| Content::of(&file) == Some(Content::Trace);
            let is_ours = || File::open(entry.path()).is_ok_and(is_trace);
            names.extend(name.filter(|name| {
                is_file && OsStr::new(name) <= latest && self.is_one(name) && is_ours()
            }));
        }
        Ok(names)
    }
}

/// What [`Rotation::prune`] did.
#[derive(Debug, Default)]
pub struct Pruned {
    /// Files that are gone.
    pub gone: Vec<PathBuf>,
    /// A sentence of each file that cannot be removed, or of the folder that cannot be read.
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

    /// A service whose clock was ahead for a day removed each hour what it had just written, for a year.
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
