//! What the Modified Andrew Benchmark copies, reads and builds, and the tools that build it: `andrew` provides them, `osbench` times
//! them.

use std::fmt::Debug;

/// A file's name or path, and its contents.
pub type Named<T> = (String, T);

/// Gives the text of a header and the path it is found at: first argument is the name, second whether it stood in quotes,
/// third the file that asks.
pub type FindHeader<'a> = dyn FnMut(&str, bool, &str) -> Option<Named<String>> + 'a;

/// A source tree and the tools that build it: functions of their inputs, whose products are the same bytes on every machine.
/// Their errors say in words what is wrong with an input, and where.
pub trait Toolchain: Debug + Sync {
    /// Paths and texts of the tree's files, in the order in which they are copied; one of them is `makefile`.
    fn files(&self) -> Vec<Named<String>>;

    /// Directories of the tree, outer ones first.
    fn directories(&self) -> &'static [&'static str];

    /// Names, without `.c`, of the sources that the makefile compiles.
    fn units(&self) -> &'static [&'static str];

    /// Preprocesses the text of the file `name`.
    ///
    /// # Errors
    /// A directive is not understood, or a header is not found.
    fn preprocess(
        &self,
        text: &str,
        name: &str,
        find: &mut FindHeader<'_>,
    ) -> Result<String, String>;

    /// Compiles preprocessed C of the file `name` to assembly.
    ///
    /// # Errors
    /// The source is not of the language.
    fn compile(&self, text: &str, name: &str) -> Result<String, String>;

    /// Assembles the text of the file `name` to an object file.
    ///
    /// # Errors
    /// A line is not understood.
    fn assemble(&self, text: &str, name: &str) -> Result<Vec<u8>, String>;

    /// The archive of some files, as `ar r` makes it.
    fn archive(&self, members: &[Named<Vec<u8>>]) -> Vec<u8>;

    /// An archive with a table of symbols, as `ranlib` makes it.
    ///
    /// # Errors
    /// The bytes are no archive of object files.
    fn index(&self, archive: &[u8]) -> Result<Vec<u8>, String>;

    /// Links object files with what they need of archives, as `ld -r` does.
    ///
    /// # Errors
    /// A file is none of its kind, or a name is defined twice.
    fn link(
        &self,
        objects: &[Named<Vec<u8>>],
        archives: &[Named<Vec<u8>>],
    ) -> Result<Vec<u8>, String>;

    /// A hash of what was built, in order of names.
    fn fingerprint(&self, products: &[Named<Vec<u8>>]) -> String;

    /// The [`fingerprint`](Self::fingerprint) of everything that the makefile makes with these tools.
    fn known_fingerprint(&self) -> &'static str;
}
