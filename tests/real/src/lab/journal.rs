//! Every change to the machine that is in force, with the way to undo it, in a file that a later
//! run reads if this one is killed.

use super::own;
use super::undo::Undo;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The number of an entry.
pub type Entry = u64;

/// The changes in force, oldest first.
#[derive(Default)]
struct Entries {
    next: Entry,
    list: Vec<(Entry, Undo)>,
    closed: bool,
}

/// The journal of one run.
pub struct Journal {
    file: PathBuf,
    entries: Mutex<Entries>,
}

impl Journal {
    /// Opens the journal after undoing what a killed run left; returns how many changes that were.
    ///
    /// # Errors
    /// One sentence if the file cannot be read or written, or if others may write it: then nothing
    /// in it is carried out.
    pub fn open(file: &Path) -> Result<(Self, usize), String> {
        let mut text = String::new();
        let read = own::file(file)?.read_to_string(&mut text);
        read.map_err(|e| format!("{}: {e}", file.display()))?;
        let left: Vec<Undo> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        left.iter().rev().for_each(Undo::perform);
        let journal = Self { file: file.to_owned(), entries: Mutex::default() };
        journal.save(&journal.lock())?;
        Ok((journal, left.len()))
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes how to undo a change, before the change is made.
    ///
    /// # Errors
    /// One sentence if the run is being interrupted, or the file cannot be written.
    pub fn note(&self, undo: Undo) -> Result<Entry, String> {
        let mut entries = self.lock();
        if entries.closed {
            return Err("interrupted".to_owned());
        }
        let entry = entries.next;
        entries.next += 1;
        entries.list.push((entry, undo));
        self.save(&entries)?;
        Ok(entry)
    }

    /// Undoes a change, unless that was already done.
    pub fn undo(&self, entry: Entry) {
        let mut entries = self.lock();
        if let Some(at) = entries.list.iter().position(|(number, _)| *number == entry) {
            // It stays in the file until it is done: undoing twice does no harm.
            let (_, undo) = entries.list[at].clone();
            undo.perform();
            entries.list.remove(at);
            let _ = self.save(&entries);
        }
    }

    /// Forgets a change that undid itself, such as a process that has ended.
    pub fn forget(&self, entry: Entry) {
        let mut entries = self.lock();
        entries.list.retain(|(number, _)| *number != entry);
        let _ = self.save(&entries);
    }

    /// Whether the run was interrupted; if so, waits until everything is undone.
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Undoes everything, newest first, and accepts no further notes.
    pub fn close(&self) {
        let mut entries = self.lock();
        entries.closed = true;
        while let Some((_, undo)) = entries.list.last() {
            undo.perform();
            entries.list.pop();
            let _ = self.save(&entries);
        }
    }

    fn save(&self, entries: &Entries) -> Result<(), String> {
        let fails = |e: String| format!("{}: {e}", self.file.display());
        let mut text = String::new();
        for (_, undo) in &entries.list {
            text += &serde_json::to_string(undo).map_err(|e| fails(e.to_string()))?;
            text.push('\n');
        }
        let new = self.file.with_extension("new");
        let mut opened = own::file(&new)?;
        let emptied = opened.set_len(0);
        let written = emptied.and_then(|()| opened.write_all(text.as_bytes()));
        written.map_err(|e| fails(e.to_string()))?;
        fs::rename(&new, &self.file).map_err(|e| fails(e.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct TestFolder(PathBuf);

    impl TestFolder {
        fn new(name: &str) -> Self {
            let name = format!("ioscape-real-journal-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn make(&self, name: &str) -> Undo {
            fs::create_dir_all(self.0.join(name)).unwrap();
            Undo::Remove(self.0.join(name))
        }
    }

    impl Drop for TestFolder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_later_run_undoes_what_a_killed_one_left_newest_first() {
        let folder = TestFolder::new("killed");
        let file = folder.0.join("undo");
        let (first, _) = Journal::open(&file).unwrap();
        first.note(folder.make("outer")).unwrap();
        let done = first.note(folder.make("done")).unwrap();
        first.note(folder.make("outer/inner")).unwrap();
        first.undo(done);
        std::mem::forget(first);
        assert!(!folder.0.join("done").exists());
        let (_, left) = Journal::open(&file).unwrap();
        assert_eq!(left, 2);
        assert!(!folder.0.join("outer").exists(), "the inner one went first");
        assert_eq!(Journal::open(&file).unwrap().1, 0);
    }

    #[test]
    fn nothing_is_begun_once_the_run_is_interrupted() {
        let folder = TestFolder::new("interrupted");
        let (journal, _) = Journal::open(&folder.0.join("undo")).unwrap();
        let kept = journal.note(folder.make("kept")).unwrap();
        journal.note(folder.make("gone")).unwrap();
        journal.forget(kept);
        journal.close();
        assert!(folder.0.join("kept").exists() && !folder.0.join("gone").exists());
        assert!(journal.is_closed() && journal.note(folder.make("late")).is_err());
    }
}
