//! Where recorded pages go until they are a trace: files in a folder, which outlive a recorder that is killed, or memory.

use ioscape_machine::error::Error;
use ioscape_schema::RecordingSource;
use ioscape_schema::text::RECORDING_MARK;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The spools of one recording.
pub(super) struct Spools {
    folder: Option<PathBuf>,
    /// What each file begins with, so that it can be read by itself.
    head: String,
    parts: u32,
}

/// Where the pages of one CPU go during one part.
pub(super) struct Spool {
    pub file: File,
    /// Its name; in memory it has none.
    pub path: Option<PathBuf>,
}

impl Spools {
    pub fn new(folder: Option<&Path>, source: &RecordingSource) -> Self {
        let head = if folder.is_some() { head(source) } else { String::new() };
        Self { folder: folder.map(Path::to_owned), head, parts: 0 }
    }

    /// Bytes of each spool before its pages.
    pub fn head_bytes(&self) -> u64 {
        self.head.len() as u64
    }

    /// Opens the spools of the next part.
    pub fn next(&mut self, cpus: usize) -> Result<Vec<Spool>, Error> {
        self.parts += 1;
        (0..cpus).map(|cpu| self.one(cpu)).collect()
    }

    fn one(&self, cpu: usize) -> Result<Spool, Error> {
        let Some(folder) = &self.folder else {
            let made = rustix::fs::memfd_create("ioscape-events", rustix::fs::MemfdFlags::CLOEXEC);
            let made = made.map_err(|e| Error::io("make", Path::new("a buffer in memory"), e))?;
            return Ok(Spool { file: File::from(made), path: None });
        };
        let path = folder.join(format!("part{}-cpu{cpu}", self.parts));
        let mut options = File::options();
        let made = options.read(true).write(true).create_new(true).mode(0o600).open(&path);
        let mut file = made.map_err(|e| Error::io("make", &path, e))?;
        let written = file.write_all(self.head.as_bytes());
        written.map_err(|e| Error::io("write", &path, e))?;
        Ok(Spool { file, path: Some(path) })
    }
}

fn head(source: &RecordingSource) -> String {
    // Texts, numbers and lists of them always have a form as JSON.
    let text = serde_json::to_string(source).unwrap_or_default();
    format!("{RECORDING_MARK}{text}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek};

    #[test]
    fn spools_of_a_folder_begin_with_how_they_are_read_and_those_in_memory_with_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let source = RecordingSource::default();
        let mut spools = Spools::new(Some(folder.path()), &source);
        assert_eq!((spools.next(2).unwrap().len(), spools.next(1).unwrap().len()), (2, 1));
        let text = std::fs::read_to_string(folder.path().join("part2-cpu0")).unwrap();
        assert_eq!((text.len() as u64, text), (spools.head_bytes(), head(&source)));
        let mut memory = Spools::new(None, &source).next(1).unwrap();
        let mut bytes = Vec::new();
        memory[0].file.rewind().unwrap();
        memory[0].file.read_to_end(&mut bytes).unwrap();
        assert!(bytes.is_empty() && memory[0].path.is_none());
    }
}
