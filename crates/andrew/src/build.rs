//! The tree and its tools together, as the benchmark runs them: preprocessor, compiler, assembler,
//! archiver, archive indexer, linker.

use crate::compiler::{archive, assemble, compile, link, preprocess};
use crate::tree;
use crate::words::UNITS;
use ioscape_schema::toolchain::{FindHeader, Named, Toolchain};
use sha2::{Digest, Sha256};

/// The tree of the Modified Andrew Benchmark and the tools that build it.
#[derive(Clone, Copy, Debug)]
pub struct Andrew;

/// The error for bytes that are no archive, or a truncated one.
const NO_ARCHIVE: &str = "this is no archive";

impl Toolchain for Andrew {
    fn files(&self) -> Vec<Named<String>> {
        tree::files()
    }

    fn directories(&self) -> &'static [&'static str] {
        &tree::DIRECTORIES
    }

    fn units(&self) -> &'static [&'static str] {
        &UNITS
    }

    fn preprocess(
        &self,
        text: &str,
        name: &str,
        find: &mut FindHeader<'_>,
    ) -> Result<String, String> {
        preprocess::preprocess(text, name, find).map_err(|error| error.to_string())
    }

    fn compile(&self, text: &str, name: &str) -> Result<String, String> {
        compile(text, name).map_err(|error| error.to_string())
    }

    fn assemble(&self, text: &str, name: &str) -> Result<Vec<u8>, String> {
        let object = assemble::assemble(text, name).map_err(|error| error.to_string())?;
        Ok(object.encode())
    }

    fn archive(&self, members: &[Named<Vec<u8>>]) -> Vec<u8> {
        archive::encode(members)
    }

    fn index(&self, archive: &[u8]) -> Result<Vec<u8>, String> {
        let members = archive::decode(archive).ok_or(NO_ARCHIVE)?;
        let indexed = archive::with_table(members);
        let indexed = indexed.ok_or("the archive holds something that is no object")?;
        Ok(archive::encode(&indexed))
    }

    fn link(
        &self,
        objects: &[Named<Vec<u8>>],
        archives: &[Named<Vec<u8>>],
    ) -> Result<Vec<u8>, String> {
        let read = |(name, bytes): &Named<Vec<u8>>| {
            archive::decode(bytes).ok_or_else(|| format!("{name}: {NO_ARCHIVE}"))
        };
        let archives = archives.iter().map(read).collect::<Result<Vec<_>, String>>()?;
        Ok(link::link(objects, &archives)?.encode())
    }

    /// Returns the first 8 bytes, in hexadecimal, of SHA-256 over names, lengths and contents in
    /// the order given.
    fn fingerprint(&self, products: &[Named<Vec<u8>>]) -> String {
        let mut hash = Sha256::new();
        for (name, bytes) in products {
            hash.update(format!("{name} {}\n", bytes.len()));
            hash.update(bytes);
        }
        hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn known_fingerprint(&self) -> &'static str {
        "c55e92b09822c077"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::ops::Range;

    /// Returns everything that the makefile makes from `files`.
    fn build(files: &[Named<String>]) -> Vec<Named<Vec<u8>>> {
        let texts: HashMap<&str, &str> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let mut find = |name: &str, _: bool, _: &str| {
            let path = format!("include/{name}");
            texts.get(path.as_str()).map(|text| (path.clone(), (*text).to_owned()))
        };
        let mut objects = Vec::new();
        for unit in UNITS {
            let name = format!("{unit}.c");
            let text = Andrew.preprocess(texts[name.as_str()], &name, &mut find).unwrap();
            let assembly = Andrew.compile(&text, &name).unwrap();
            objects.push((format!("{unit}.o"), Andrew.assemble(&assembly, &name).unwrap()));
        }
        let library = |name: &str, range: Range<usize>| {
            (name.to_owned(), Andrew.index(&Andrew.archive(&objects[range])).unwrap())
        };
        let libraries = [library("libdraw.a", 5..11), library("libtext.a", 11..17)];
        let linked = Andrew.link(&objects[..5], &libraries).unwrap();
        let mut all = objects.clone();
        all.extend(libraries);
        all.push(("wm".to_owned(), linked));
        all.sort();
        all
    }

    #[test]
    fn the_whole_tree_is_compiled_to_the_known_bytes() {
        let all = build(&tree::files());
        assert_eq!(all.len(), 17 + 2 + 1);
        let objects = all.iter().filter(|(name, _)| name.ends_with(".o"));
        assert_eq!(objects.map(|(_, bytes)| bytes.len()).sum::<usize>(), 147_904);
        let told = "a changed compiler or tree is another benchmark";
        assert_eq!(Andrew.fingerprint(&all), Andrew.known_fingerprint(), "{told}");
    }

    #[test]
    fn work_left_out_changes_the_fingerprint() {
        let mut shortened = build(&tree::files());
        shortened.remove(3);
        assert_ne!(Andrew.fingerprint(&shortened), Andrew.known_fingerprint());
        let mut files = tree::files();
        let unit = files.iter_mut().find(|(path, _)| path == "wm.c").unwrap();
        unit.1.truncate(unit.1.rfind("\nint ").unwrap());
        assert_ne!(Andrew.fingerprint(&build(&files)), Andrew.known_fingerprint());
    }

    #[test]
    fn one_source_is_small_enough_for_a_time_slice() {
        let texts: HashMap<String, String> = tree::files().into_iter().collect();
        let lengths = UNITS.map(|unit| texts[&format!("{unit}.c")].len());
        assert!(lengths.iter().any(|bytes| (2 << 10..8 << 10).contains(bytes)), "{lengths:?}");
    }

    #[test]
    fn what_is_no_archive_or_no_object_is_refused() {
        assert_eq!(Andrew.index(b"x").unwrap_err(), NO_ARCHIVE);
        let text = Andrew.archive(&[("a.o".to_owned(), vec![1, 2, 3])]);
        assert!(Andrew.index(&text).unwrap_err().ends_with("that is no object"));
        let error = Andrew.link(&[], &[("x.a".to_owned(), vec![0])]).unwrap_err();
        assert_eq!(error, "x.a: this is no archive");
        let error = Andrew.link(&[("x.o".to_owned(), vec![0])], &[]).unwrap_err();
        assert!(error.starts_with("x.o: "), "{error}");
    }
}
