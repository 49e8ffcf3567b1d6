//! The files of one description: a `.parv` of a test bed names a `.diskspecs`, which names a
//! `.model`, which names a `.seek`. Given any of them, the others are found in its folder by these
//! names.

use super::parse::{Component, Contents, mentions, parse};
use crate::Error;

/// The other files in the folder of the given one.
pub struct Folder<'a> {
    /// Their names, without the folder.
    pub names: Vec<String>,
    /// Returns the text of one of them, or why it cannot be read.
    pub open: &'a dyn Fn(&str) -> Result<String, String>,
}

/// File name endings, each named by files with one of the later endings.
const ENDINGS: [&str; 4] = ["seek", "model", "diskspecs", "parv"];

/// Position of a file in the chain of names; `None` for files of other kinds.
fn rank(name: &str) -> Option<usize> {
    ENDINGS.iter().position(|ending| stem(name, ending).is_some())
}

fn stem<'a>(name: &'a str, ending: &str) -> Option<&'a str> {
    name.strip_suffix(ending)?.strip_suffix('.')
}

/// Whether a file name has the ending of one of DiskSim's parameter files.
pub fn is_description(name: &str) -> bool {
    rank(name).is_some()
}

/// Most levels of files that include files.
const DEPTH_MOST: usize = 8;

impl Folder<'_> {
    /// The text of a file named in file `by`.
    pub(super) fn text(&self, name: &str, by: &str) -> Result<String, Error> {
        (self.open)(name).map_err(|why| Error::parameter(by, format!("{name}: {why}")))
    }

    /// The file at the head of the description that `name` belongs to.
    pub(super) fn head(&self, name: &str) -> Result<String, Error> {
        let mut head = name.to_owned();
        while let Some(above) = self.naming(&head)? {
            head = above;
        }
        Ok(head)
    }

    /// The file that names `name`; of several, the one with the same stem.
    fn naming(&self, name: &str) -> Result<Option<String>, Error> {
        let Some(own) = rank(name) else { return Ok(None) };
        let names = |other: &String| {
            rank(other).is_some_and(|rank| rank > own)
                && (self.open)(other).is_ok_and(|text| mentions(&text, name))
        };
        let mut found: Vec<&String> = self.names.iter().filter(|other| names(other)).collect();
        // A test bed that names a model also names the drive's file; the nearest in the chain
        // counts.
        let nearest = found.iter().filter_map(|other| rank(other)).min();
        found.retain(|other| rank(other) == nearest);
        found.sort();
        let like = |other: &&String| {
            let ending = nearest.map_or("", |rank| ENDINGS[rank]);
            stem(other, ending) == stem(name, ENDINGS[own])
        };
        match found.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some((*only).clone())),
            several => match several.iter().copied().find(like) {
                Some(like) => Ok(Some(like.clone())),
                None => {
                    let all: Vec<&str> = several.iter().map(|s| s.as_str()).collect();
                    let why = format!("{} name it: give one of these", all.join(" and "));
                    Err(Error::parameter(name, why))
                }
            },
        }
    }

    /// The contents of a file, with all files it includes.
    pub(super) fn contents(&self, name: &str) -> Result<Contents, Error> {
        let mut all = Contents::default();
        self.take_in(name, &self.text(name, name)?, &mut all, 0)?;
        Ok(all)
    }

    fn take_in(
        &self,
        name: &str,
        text: &str,
        all: &mut Contents,
        depth: usize,
    ) -> Result<(), Error> {
        if depth > DEPTH_MOST {
            return Err(Error::parameter(name, "files take each other in without end"));
        }
        let found = parse(text, name)?;
        for source in &found.sources {
            self.take_in(source, &self.text(source, name)?, all, depth + 1)?;
        }
        all.blocks.extend(found.blocks);
        all.instances.extend(found.instances);
        all.topology.extend(found.topology);
        Ok(())
    }
}

/// Components from the head of a topology to a disk.
pub(super) type Path<'a> = Vec<&'a Component>;

/// The paths to all components of a kind, in the order of the file.
pub(super) fn paths<'a>(all: &'a [Component], kind: &str) -> Vec<Path<'a>> {
    let mut found = Vec::new();
    for component in all {
        if component.kind == kind {
            found.push(vec![component]);
        }
        for mut path in paths(&component.behind, kind) {
            path.insert(0, component);
            found.push(path);
        }
    }
    found
}
