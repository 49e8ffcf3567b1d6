//! Outputs that follow one another, of which the latest are kept.

use super::recognise::Content;
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

    /// Removes the oldest beyond those that are kept, whichever run wrote them; what was removed. What is no trace of ours stays.
    ///
    /// # Errors
    /// The folder cannot be read, or a file cannot be removed.
    pub fn prune(&self) -> io::Result<Vec<PathBuf>> {
        let Some(keep) = self.keep else { return Ok(Vec::new()) };
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder.unwrap_or(Path::new(".")))? {
            let entry = entry?;
            let is_file = entry.file_type()?.is_file();
            let name = entry.file_name().into_string().ok();
            let is_trace = |file: File| Content::of(&file) == Some(Content::Trace);
            let is_ours = || File::open(entry.path()).is_ok_and(is_trace);
            names.extend(name.filter(|name| is_file && self.is_one(name) && is_ours()));
        }
        names.sort_unstable();
        names.truncate(names.len().saturating_sub(keep));
        let old = names.into_iter().map(|name| self.path.with_file_name(name));
        old.map(|path| std::fs::remove_file(&path).map(|()| path)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_and_other_files_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let rotation = |keep| Rotation::new(&folder.path().join("t.parquet"), keep);
        let three = ["20260101T000000Z", "20260102T000000Z", "20260101T120000Z"];
        let others =
            ["t.parquet", "t-mine.parquet", "t-20260101T000000Z.csv", "u-20260101T000000Z.parquet"];
        for name in three.map(|time| rotation(None).name(time)) {
            std::fs::write(name, "PAR1 ioscape 0.1.0 PAR1").expect("it is written");
        }
        let of_another = rotation(None).name("20250101T000000Z");
        std::fs::write(&of_another, "PAR1 another program PAR1").expect("it is written");
        for name in others {
            std::fs::write(folder.path().join(name), "").expect("it is written");
        }
        assert!(rotation(None).prune().expect("it is read").is_empty());
        assert!(rotation(Some(3)).prune().expect("it is read").is_empty());
        let gone = rotation(Some(1)).prune().expect("it is read");
        assert_eq!(gone, [three[0], three[2]].map(|time| rotation(None).name(time)));
        assert!(rotation(None).name(three[1]).exists() && of_another.exists());
        assert!(others.iter().all(|name| folder.path().join(name).exists()));
    }
}
