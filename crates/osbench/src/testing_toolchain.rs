//! A toolchain for tests.

use ioscape_schema::toolchain::{FindHeader, Named, Toolchain};

/// A toolchain with one source, whose every stage returns its input.
#[derive(Debug)]
pub(crate) struct FakeToolchain;

impl Toolchain for FakeToolchain {
    fn files(&self) -> Vec<Named<String>> {
        let small = "x".repeat(3 << 10);
        vec![
            ("makefile".into(), "objects: a.o b.o\n.c.o:\n\t$(CC) $<\n".into()),
            ("a.c".into(), "long ".repeat(9 << 10)),
            ("b.c".into(), small),
        ]
    }

    fn directories(&self) -> &'static [&'static str] {
        &["include"]
    }

    fn units(&self) -> &'static [&'static str] {
        &["a", "b"]
    }

    fn preprocess(&self, text: &str, _: &str, _: &mut FindHeader<'_>) -> Result<String, String> {
        Ok(text.to_owned())
    }

    fn compile(&self, text: &str, _: &str) -> Result<String, String> {
        Ok(text.to_owned())
    }

    fn assemble(&self, text: &str, _: &str) -> Result<Vec<u8>, String> {
        Ok(text.as_bytes().to_vec())
    }

    fn archive(&self, members: &[Named<Vec<u8>>]) -> Vec<u8> {
        members.iter().flat_map(|(_, bytes)| bytes.clone()).collect()
    }

    fn index(&self, archive: &[u8]) -> Result<Vec<u8>, String> {
        Ok(archive.to_vec())
    }

    fn link(
        &self,
        objects: &[Named<Vec<u8>>],
        archives: &[Named<Vec<u8>>],
    ) -> Result<Vec<u8>, String> {
        Ok([self.archive(objects), self.archive(archives)].concat())
    }

    fn fingerprint(&self, products: &[Named<Vec<u8>>]) -> String {
        products.iter().map(|(name, bytes)| format!("{name} {} ", bytes.len())).collect()
    }

    fn known_fingerprint(&self) -> &'static str {
        "a.o 46080 b.o 3072 "
    }
}
