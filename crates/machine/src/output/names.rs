//! The outputs of a command: checked together with its inputs before the work begins, and written
//! when it is done.

use super::destination::{Destination, DestinationOptions, Draft};
use super::identity::Identity;
use super::recognise::Content;
use crate::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Tells the user something on standard error.
pub type Tell = fn(&str);

/// The inputs and outputs of a command, each with the name of its argument.
#[derive(Debug)]
pub struct Names {
    force: bool,
    tell: Tell,
    reads: Vec<(&'static str, PathBuf)>,
    writes: Vec<(&'static str, PathBuf)>,
    holds: Vec<(&'static str, Content)>,
    continues: Option<(&'static str, &'static str)>,
}

impl Names {
    /// Starts without outputs. `force` allows replacing any file; `tell` receives messages about
    /// removed leftovers.
    pub fn new(force: bool, tell: Tell) -> Self {
        let (reads, writes, holds) = (Vec::new(), Vec::new(), Vec::new());
        Self { force, tell, reads, writes, holds, continues: None }
    }

    /// Adds inputs or targets; `-` is standard input.
    pub fn reads(
        mut self,
        what: &'static str,
        paths: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Self {
        self.reads.extend(paths.into_iter().map(|path| (what, path.as_ref().to_owned())));
        self
    }

    /// Adds outputs.
    pub fn writes(
        mut self,
        what: &'static str,
        paths: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Self {
        self.writes.extend(paths.into_iter().map(|path| (what, path.as_ref().to_owned())));
        self
    }

    /// Declares the content of the output `what`, which may replace a file with the same content.
    /// Any other existing file is replaced only by force.
    #[must_use]
    pub fn holding(mut self, what: &'static str, content: Content) -> Self {
        self.holds.push((what, content));
        self
    }

    /// Declares that the output `what` holds everything read as `read`, so it may replace that.
    #[must_use]
    pub fn continuing(self, what: &'static str, read: &'static str) -> Self {
        Self { continues: Some((what, read)), ..self }
    }

    /// Checks and opens all outputs.
    ///
    /// # Errors
    /// [`Error::Target`]: a place cannot be written, a file holds something else, or one file is
    /// named twice.
    pub fn open(self) -> Result<Outputs, Error> {
        self.check_targets()?;
        let mut all: Vec<(&'static str, Destination)> = Vec::new();
        for (what, path) in &self.writes {
            let holds = self.holds.iter().find(|(name, _)| name == what);
            let content = holds.map(|(_, content)| *content);
            let force = self.force;
            let options = DestinationOptions { content, force, ..DestinationOptions::default() };
            let destination = Destination::open(path, options)?;
            self.check(what, &destination, &all)?;
            destination.tell_leftovers(self.tell);
            all.push((what, destination));
        }
        Ok(Outputs { all })
    }

    /// Refuses a target file that is also read.
    fn check_targets(&self) -> Result<(), Error> {
        let is_target = |what: &str| what == "the target";
        for (_, target) in
            self.reads.iter().filter(|(what, path)| is_target(what) && path.is_file())
        {
            let same = |path: &Path| Identity::of(path) == Identity::of(target);
            let read = self.reads.iter().find(|(what, path)| !is_target(what) && same(path));
            if let Some((read, path)) = read {
                let path = path.display();
                let why = format!(
                    "is one file with {read} {path}, which would be destroyed: name another target"
                );
                return Err(Error::target(target, why));
            }
        }
        Ok(())
    }

    /// Refuses an output that is also another output or an input.
    fn check(
        &self,
        what: &'static str,
        destination: &Destination,
        others: &[(&'static str, Destination)],
    ) -> Result<(), Error> {
        let Some(identity) = destination.identity() else { return Ok(()) };
        let other = others.iter().find(|(_, other)| other.identity().as_ref() == Some(&identity));
        if let Some((other, path)) = other {
            return Err(one_file(what, destination, other, path.path()));
        }
        let same = |path: &Path| {
            let path = if path.as_os_str() == "-" { Path::new("/proc/self/fd/0") } else { path };
            Identity::of(path).as_ref() == Some(&identity)
        };
        let continues = |read: &'static str| self.continues == Some((what, read));
        match self.reads.iter().find(|(read, path)| !continues(read) && same(path)) {
            Some((read, path)) => Err(one_file(what, destination, read, path)),
            None => Ok(()),
        }
    }
}

fn one_file(what: &str, destination: &Destination, other: &str, path: &Path) -> Error {
    let why = format!(
        "is one file with {other} {}, which the result would destroy: name another for {what}",
        path.display()
    );
    Error::target(destination.path(), why)
}

/// All outputs of a command.
#[derive(Debug, Default)]
pub struct Outputs {
    all: Vec<(&'static str, Destination)>,
}

impl Outputs {
    /// Returns the outputs of this name, in order.
    pub fn all(&mut self, what: &str) -> impl Iterator<Item = &mut Destination> {
        self.all.iter_mut().filter(move |(name, _)| *name == what).map(|(_, one)| one)
    }

    /// Returns the first output of this name.
    pub fn get(&mut self, what: &str) -> Option<&mut Destination> {
        self.all(what).next()
    }

    /// Removes and returns the first output of this name.
    pub fn take(&mut self, what: &str) -> Option<Destination> {
        let at = self.all.iter().position(|(name, _)| *name == what)?;
        Some(self.all.remove(at).1)
    }

    /// Adds an output, replacing earlier ones of this name.
    pub fn set(&mut self, what: &'static str, destination: Destination) {
        self.all.retain(|(name, _)| *name != what);
        self.all.push((what, destination));
    }

    /// Writes a text, if an output of this name was requested.
    pub fn text(&mut self, what: &str, text: &str) -> Result<(), Error> {
        self.get(what).map_or(Ok(()), |destination| destination.text(text))
    }
}

/// Reports the leftovers of killed runs that were removed.
pub fn tell_leftovers(names: &[String], tell: Tell) {
    for name in names {
        tell(&format!("removed {name}, left behind by an earlier run that was killed"));
    }
}

impl Destination {
    /// Writes what `content` produces; on failure nothing, if files are replaced. Returns the size
    /// in bytes, as [`Self::keep`] does.
    pub fn write(&mut self, content: impl FnOnce(&Draft) -> io::Result<()>) -> Result<u64, Error> {
        let written = self.begin().and_then(|draft| {
            content(&draft)?;
            self.keep(draft)
        });
        written.map_err(|source| Error::Output { path: self.path().to_owned(), source })
    }

    /// Writes a text as [`Self::write`] does.
    pub fn text(&mut self, text: &str) -> Result<(), Error> {
        self.write(|draft| draft.file().write_all(text.as_bytes())).map(drop)
    }

    /// Opens an output that the user did not name. If `path` is taken, it gets another name; if
    /// `private`, no other user may read it.
    pub(super) fn open_unnamed(path: &Path, private: bool, tell: Tell) -> Result<Self, Error> {
        let options =
            DestinationOptions { unnamed: true, private, ..DestinationOptions::default() };
        let opened = Self::open(path, options)?;
        opened.tell_leftovers(tell);
        Ok(opened)
    }

    /// Writes a text that cannot go where it should: under `name` into the first of several folders
    /// that accepts it, unreadable for other users.
    pub fn elsewhere(name: &Path, text: &str, tell: Tell) -> Option<Self> {
        folders().find_map(|folder| {
            let mut one = Self::open_unnamed(&folder.join(name), true, tell).ok()?;
            one.text(text).ok().map(|()| one)
        })
    }

    /// Opens an output `name`, unreadable for other users, in the first of several folders that can
    /// be written.
    ///
    /// # Errors
    /// None of them can be written; the error is that of the first.
    pub fn open_elsewhere(name: &Path, tell: Tell) -> Result<Self, Error> {
        let open = |path: &Path| Self::open_unnamed(path, true, tell);
        let mut all = folders().map(|folder| open(&folder.join(name)));
        let first = all.next().unwrap_or_else(|| open(name));
        first.or_else(|error| all.find_map(Result::ok).ok_or(error))
    }

    fn tell_leftovers(&self, tell: Tell) {
        tell_leftovers(self.leftovers(), tell);
    }
}

/// Returns the folders for output that cannot go where it should.
fn folders() -> impl Iterator<Item = PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let temporary = [std::env::temp_dir(), "/tmp".into()];
    let last = ["/var/tmp".into()].into_iter().chain(std::env::current_dir());
    temporary.into_iter().chain(home).chain(last)
}
