//! The source tree of the Modified Andrew Benchmark and the tools that build it: `andrew` provides
//! them, `osbench` times them.

use std::fmt::Debug;

/// A file's name or path, and its contents.
pub type Named<T> = (String, T);

/// Finds a header and returns its path and text. The arguments are its name, whether the name stood
/// in quotes, and the file that includes it.
pub type FindHeader<'a> = dyn FnMut(&str, bool, &str) -> Option<Named<String>> + 'a;

/// A source tree and the tools that build it.
///
/// The tools are functions of their inputs and produce the same bytes on every machine. Their
/// errors say in words what is wrong with an input, and where.
pub trait Toolchain: Debug + Sync {
    /// Returns the paths and texts of the tree's files in the order of copying; one of them is
    /// `makefile`.
    fn files(&self) -> Vec<Named<String>>;

    /// Returns the directories of the tree, outer ones first.
    fn directories(&self) -> &'static [&'static str];

    /// Returns the names, without `.c`, of the sources that the makefile compiles.
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
    /// The source is not valid in the supported language.
    fn compile(&self, text: &str, name: &str) -> Result<String, String>;

    /// Assembles the text of the file `name` to an object file.
    ///
    /// # Errors
    /// A line is not understood.
    fn assemble(&self, text: &str, name: &str) -> Result<Vec<u8>, String>;

    /// Returns an archive of the files, as `ar r` makes it.
    fn archive(&self, members: &[Named<Vec<u8>>]) -> Vec<u8>;

    /// Returns the archive with a symbol table, as `ranlib` makes it.
    ///
    /// # Errors
    /// The bytes are not an archive of object files.
    fn index(&self, archive: &[u8]) -> Result<Vec<u8>, String>;

    /// Links object files with the archive members they need, as `ld -r` does.
    ///
    /// # Errors
    /// A file is not an object file or archive, or a name is defined twice.
    fn link(
        &self,
        objects: &[Named<Vec<u8>>],
        archives: &[Named<Vec<u8>>],
    ) -> Result<Vec<u8>, String>;

    /// Returns a hash of the products, in order of their names.
    fn fingerprint(&self, products: &[Named<Vec<u8>>]) -> String;

    /// Returns the [`fingerprint`](Self::fingerprint) of everything that the makefile makes with
    /// these tools.
    fn known_fingerprint(&self) -> &'static str;
}
