//! The tools of the build, on file contents: preprocessor, compiler, assembler, archiver, indexer of archives, linker.

use crate::compiler::{archive, assemble as assembler, link as linker, preprocess as preprocessor};
use sha2::{Digest, Sha256};

pub use crate::compiler::Fault;
pub use archive::Member;
pub use linker::LinkError;
pub use preprocessor::FindHeader;

/// [`fingerprint`] of everything that the makefile makes of the tree with these tools: objects, archives and `wm`.
pub const FINGERPRINT: &str = "c55e92b09822c077";

/// Bytes that are no archive of object files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// They are no archive, or it is cut short.
    #[error("this is no archive")]
    Malformed,
    /// A member is no object file.
    #[error("the archive holds something that is no object")]
    NoObject,
}

/// Preprocesses `text` of the file `name` into one text with markers of where its lines come from.
///
/// # Errors
/// A directive cannot be understood, or a header is not found.
pub fn preprocess(text: &str, name: &str, find: &mut FindHeader<'_>) -> Result<String, Fault> {
    preprocessor::preprocess(text, name, find)
}

/// Compiles preprocessed C of the file `name` to assembly.
///
/// # Errors
/// The source is outside the subset of C.
pub fn compile(text: &str, name: &str) -> Result<String, Fault> {
    crate::compiler::compile(text, name)
}

/// Assembles the text of the file `name` to the bytes of an object file.
///
/// # Errors
/// A line is no instruction or directive.
pub fn assemble(text: &str, name: &str) -> Result<Vec<u8>, Fault> {
    Ok(assembler::assemble(text, name)?.encode())
}

/// The bytes of an archive of `members`, as `ar r` makes it.
pub fn archive(members: &[Member]) -> Vec<u8> {
    archive::encode(members)
}

/// The same archive with a table of the symbols that its members define, as `ranlib` makes it.
///
/// # Errors
/// The bytes are no archive, or a member is no object file.
pub fn index(archive: &[u8]) -> Result<Vec<u8>, ArchiveError> {
    let members = archive::decode(archive).ok_or(ArchiveError::Malformed)?;
    let indexed = archive::with_table(members).ok_or(ArchiveError::NoObject)?;
    Ok(archive::encode(&indexed))
}

/// Links object files, and the members of archives that define what they need, to the bytes of one relocatable object,
/// as `ld -r` does. The first element of each pair is the file's name, for errors.
///
/// # Errors
/// A file is no object or no archive, or a name is defined twice.
pub fn link(objects: &[Member], archives: &[Member]) -> Result<Vec<u8>, LinkError> {
    let read = |(name, bytes): &Member| {
        archive::decode(bytes).ok_or_else(|| LinkError::Malformed {
            name: name.clone(),
            why: ArchiveError::Malformed.to_string(),
        })
    };
    let archives: Vec<Vec<Member>> = archives.iter().map(read).collect::<Result<_, _>>()?;
    let (linked, _missing) = linker::link(objects, &archives)?;
    Ok(linked.encode())
}

/// First 8 bytes, in hexadecimal, of SHA-256 over names, lengths and contents of `products` in the order given: that of
/// their names for [`FINGERPRINT`].
pub fn fingerprint(products: &[Member]) -> String {
    let mut hash = Sha256::new();
    for (name, bytes) in products {
        hash.update(format!("{name} {}\n", bytes.len()));
        hash.update(bytes);
    }
    hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{self, UNITS};
    use std::collections::HashMap;
    use std::ops::Range;

    /// All that the makefile makes of `files`.
    fn build(files: &[tree::File]) -> Vec<Member> {
        let texts: HashMap<&str, &str> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let mut find = |name: &str, _: bool, _: &str| {
            let path = format!("include/{name}");
            texts.get(path.as_str()).map(|text| (path.clone(), (*text).to_owned()))
        };
        let mut objects: Vec<Member> = Vec::new();
        for unit in UNITS {
            let name = format!("{unit}.c");
            let text = preprocess(texts[name.as_str()], &name, &mut find).unwrap();
            let assembly = compile(&text, &name).unwrap();
            objects.push((format!("{unit}.o"), assemble(&assembly, &name).unwrap()));
        }
        let library = |name: &str, range: Range<usize>| {
            (name.into(), index(&archive(&objects[range])).unwrap())
        };
        let libraries = [library("libdraw.a", 5..11), library("libtext.a", 11..17)];
        let linked = link(&objects[..5], &libraries).unwrap();
        let mut all = objects.clone();
        all.extend(libraries);
        all.push(("wm".into(), linked));
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
        assert_eq!(fingerprint(&all), FINGERPRINT, "{told}");
    }

    #[test]
    fn work_left_out_changes_the_fingerprint() {
        let mut shortened = build(&tree::files());
        shortened.remove(3);
        assert_ne!(fingerprint(&shortened), FINGERPRINT);
        let mut files = tree::files();
        let unit = files.iter_mut().find(|(path, _)| path == "wm.c").unwrap();
        unit.1.truncate(unit.1.rfind("\nint ").unwrap());
        assert_ne!(fingerprint(&build(&files)), FINGERPRINT);
    }

    #[test]
    fn one_source_is_small_enough_for_a_time_slice() {
        let texts: HashMap<String, String> = tree::files().into_iter().collect();
        let lengths = UNITS.map(|unit| texts[&format!("{unit}.c")].len());
        assert!(lengths.iter().any(|bytes| (2 << 10..8 << 10).contains(bytes)), "{lengths:?}");
    }

    #[test]
    fn what_is_no_archive_or_no_object_is_refused() {
        assert_eq!(index(b"x"), Err(ArchiveError::Malformed));
        let text = archive(&[("a.o".into(), vec![1, 2, 3])]);
        assert_eq!(index(&text), Err(ArchiveError::NoObject));
        let error = link(&[], &[("x.a".into(), vec![0])]).unwrap_err();
        assert_eq!(error.to_string(), "x.a: this is no archive");
        let error = link(&[("x.o".into(), vec![0])], &[]).unwrap_err();
        assert!(error.to_string().starts_with("x.o: "), "{error}");
    }
}
