//! The outputs of a command: vetted together with what it reads before the work begins, written when it is done.

use crate::args::ResultArgs;
use crate::failure::{Failure, both};
use crate::output;
use ioscape_machine::output::{Destination, DestinationOptions, Draft, Identity};
use ioscape_schema::Document;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The result file.
pub const RESULT: &str = "-o";
/// The page.
pub const PAGE: &str = "--html";

/// What a command reads and writes, each with the name of its argument.
#[derive(Debug, Default)]
pub struct Names {
    force: bool,
    reads: Vec<(&'static str, PathBuf)>,
    writes: Vec<(&'static str, PathBuf)>,
}

impl Names {
    /// Of a command with no outputs yet; `force` allows to replace any file.
    pub fn new(force: bool) -> Self {
        Self { force, ..Self::default() }
    }

    /// The result and the page that `out` asks for.
    pub fn of(out: &ResultArgs) -> Self {
        Self::new(out.force).writes(RESULT, out.output.as_deref()).writes(PAGE, out.html.as_deref())
    }

    /// Also reads, or works on, `paths`; `-` is standard input.
    pub fn reads(
        mut self,
        what: &'static str,
        paths: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Self {
        self.reads.extend(paths.into_iter().map(|path| (what, path.as_ref().to_owned())));
        self
    }

    /// Also writes `paths`.
    pub fn writes(
        mut self,
        what: &'static str,
        paths: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Self {
        self.writes.extend(paths.into_iter().map(|path| (what, path.as_ref().to_owned())));
        self
    }

    /// Vets all outputs.
    ///
    /// # Errors
    /// Misuse: a place that cannot be written, a file that is no result of ours, or one file named twice.
    pub fn open(self) -> Result<Outputs, Failure> {
        let options = DestinationOptions { force: self.force, unnamed: false };
        let mut places: Vec<(&'static str, Destination)> = Vec::new();
        for (what, path) in &self.writes {
            let place = Destination::open(path, options)?;
            self.check(what, &place, &places)?;
            tell_leftovers(&place);
            places.push((what, place));
        }
        Ok(Outputs { places })
    }

    /// Refuses a place that is another output, or something that is read.
    fn check(
        &self,
        what: &'static str,
        place: &Destination,
        others: &[(&'static str, Destination)],
    ) -> Result<(), Failure> {
        let Some(identity) = place.identity() else { return Ok(()) };
        let other = others.iter().find(|(_, other)| other.identity().as_ref() == Some(&identity));
        if let Some((other, path)) = other {
            return Err(one_file(what, place, other, path.path()));
        }
        let same = |path: &Path| {
            let path = if path.as_os_str() == "-" { Path::new("/proc/self/fd/0") } else { path };
            Identity::of(path).as_ref() == Some(&identity)
        };
        // What goes on holds all that it began with, so it may take its place.
        let goes_on = |read: &str| what == RESULT && read == "--resume";
        match self.reads.iter().find(|(read, path)| !goes_on(read) && same(path)) {
            Some((read, path)) => Err(one_file(what, place, read, path)),
            None => Ok(()),
        }
    }
}

fn one_file(what: &str, place: &Destination, other: &str, path: &Path) -> Failure {
    Failure::Misuse(format!(
        "{what} {} and {other} {} are one file, which the result would destroy: name another for {what}",
        place.path().display(),
        path.display()
    ))
}

fn tell_leftovers(place: &Destination) {
    for name in place.leftovers() {
        output::tell(&format!("removed {name}, left behind by an earlier run that was killed"));
    }
}

/// Opens a place whose name is ours.
pub fn unnamed(path: &Path) -> Result<Destination, Failure> {
    let options = DestinationOptions { force: false, unnamed: true };
    let place = Destination::open(path, options)?;
    tell_leftovers(&place);
    Ok(place)
}

/// Writes all of `text` into `place`, or nothing where files are replaced.
pub fn write(place: &mut Destination, text: &str) -> io::Result<()> {
    let draft = place.begin()?;
    draft.file().write_all(text.as_bytes())?;
    place.keep(draft).map(drop)
}

/// Where a result goes that cannot be written where it should: the first of these folders that takes it.
pub fn elsewhere(name: &Path, text: &str) -> Option<Destination> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let folders = [Some(std::env::temp_dir()), Some("/tmp".into()), home, Some("/var/tmp".into())];
    let mut places = folders.into_iter().flatten().filter_map(|f| unnamed(&f.join(name)).ok());
    places.find_map(|mut place| write(&mut place, text).ok().map(|()| place))
}

/// The places of all outputs.
#[derive(Debug, Default)]
pub struct Outputs {
    places: Vec<(&'static str, Destination)>,
}

impl Outputs {
    /// The outputs of this name, in order.
    pub fn all(&mut self, what: &str) -> impl Iterator<Item = &mut Destination> {
        self.places.iter_mut().filter(move |(name, _)| *name == what).map(|(_, place)| place)
    }

    /// The first output of this name.
    pub fn get(&mut self, what: &str) -> Option<&mut Destination> {
        self.all(what).next()
    }

    /// Takes the first output of this name away.
    pub fn take(&mut self, what: &str) -> Option<Destination> {
        let at = self.places.iter().position(|(name, _)| *name == what)?;
        Some(self.places.remove(at).1)
    }

    /// Adds a place, which takes the place of earlier ones of this name.
    pub fn set(&mut self, what: &'static str, place: Destination) {
        self.places.retain(|(name, _)| *name != what);
        self.places.push((what, place));
    }

    /// Writes an output that `content` makes, if it was asked for.
    ///
    /// # Errors
    /// The place does not take it.
    pub fn make(
        &mut self,
        what: &str,
        content: impl FnOnce(&Draft) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let Some(place) = self.get(what) else { return Ok(()) };
        let written = place.begin().and_then(|draft| {
            content(&draft)?;
            place.keep(draft)
        });
        written.map(drop).map_err(|e| Failure::of_write(&place.path().display().to_string(), &e))
    }

    /// The same for a text.
    ///
    /// # Errors
    /// As of [`Self::make`].
    pub fn text(&mut self, what: &str, text: &str) -> Result<(), Failure> {
        self.make(what, |draft| draft.file().write_all(text.as_bytes()))
    }

    /// Saves a document that will be replaced by a later one, where that is possible.
    ///
    /// # Errors
    /// The place does not take it.
    pub fn save(&mut self, document: &Document) -> Result<(), Failure> {
        match self.get(RESULT).is_some_and(|place| place.is_replaced()) {
            true => self.text(RESULT, &output::json(document)?),
            false => Ok(()),
        }
    }

    /// Writes a finished document to the files asked for, and prints it as JSON or as a summary. It is printed whatever
    /// happens to the files; where one cannot be written the document goes to another place, which is named.
    ///
    /// # Errors
    /// What could not be written.
    pub fn pour(&mut self, document: &Document, as_json: bool) -> Result<(), Failure> {
        let written = self.document(document);
        both(written, output::show(document, as_json))
    }

    /// Writes a document into the files that are asked for, and elsewhere if one of them cannot be written.
    ///
    /// # Errors
    /// What could not be written, and where the document is instead.
    pub fn document(&mut self, document: &Document) -> Result<(), Failure> {
        let text = output::json(document)?;
        let result = self.text(RESULT, &text);
        let page = self.text(PAGE, &ioscape_report::html(document));
        if page.is_err() && result.is_ok() && self.get(RESULT).is_some() {
            return page;
        }
        both(result, page).map_err(|failure| self.rescue(document, &text, failure))
    }

    /// Puts the document elsewhere and says so.
    fn rescue(&mut self, document: &Document, text: &str, failure: Failure) -> Failure {
        let name = output::default_path(document, "ioscape.json");
        let Some(place) = elsewhere(&name, text) else {
            return failure.with("; no other place could be written either");
        };
        let more = format!("; the result is in {} instead", place.path().display());
        self.set(RESULT, place);
        Failure::Failed(failure.to_string()).with(&more)
    }

    /// Where the user finds the result, for a sentence that begins with it.
    pub fn place(&mut self) -> String {
        let place = self.get(RESULT);
        place.map_or("above".to_owned(), |place| format!("in {}", place.path().display()))
    }
}
