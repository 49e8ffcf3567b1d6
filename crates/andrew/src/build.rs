//! The tree and its tools together, as the benchmark runs them.

use crate::{toolchain, tree};
use ioscape_schema::toolchain::{FindHeader, Named, Toolchain};

/// The tree of the Modified Andrew Benchmark and the tools that build it.
#[derive(Clone, Copy, Debug)]
pub struct Andrew;

impl Toolchain for Andrew {
    fn files(&self) -> Vec<Named<String>> {
        tree::files()
    }

    fn directories(&self) -> &'static [&'static str] {
        &tree::DIRECTORIES
    }

    fn units(&self) -> &'static [&'static str] {
        &tree::UNITS
    }

    fn preprocess(
        &self,
        text: &str,
        name: &str,
        find: &mut FindHeader<'_>,
    ) -> Result<String, String> {
        toolchain::preprocess(text, name, find).map_err(|error| error.to_string())
    }

    fn compile(&self, text: &str, name: &str) -> Result<String, String> {
        toolchain::compile(text, name).map_err(|error| error.to_string())
    }

    fn assemble(&self, text: &str, name: &str) -> Result<Vec<u8>, String> {
        toolchain::assemble(text, name).map_err(|error| error.to_string())
    }

    fn archive(&self, members: &[Named<Vec<u8>>]) -> Vec<u8> {
        toolchain::archive(members)
    }

    fn index(&self, archive: &[u8]) -> Result<Vec<u8>, String> {
        toolchain::index(archive).map_err(|error| error.to_string())
    }

    fn link(
        &self,
        objects: &[Named<Vec<u8>>],
        archives: &[Named<Vec<u8>>],
    ) -> Result<Vec<u8>, String> {
        toolchain::link(objects, archives).map_err(|error| error.to_string())
    }

    fn fingerprint(&self, products: &[Named<Vec<u8>>]) -> String {
        toolchain::fingerprint(products)
    }

    fn known_fingerprint(&self) -> &'static str {
        toolchain::FINGERPRINT
    }
}
