//! A file that cannot grow because its file system is full or its size is limited. The test has a
//! process of its own, since that limit applies to the whole process.

mod common;

use common::{in_memory, quick, session, session_in, session_on, skipped};
use ioscape_machine::Error;
use ioscape_measure::Session;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::{File, remove_file};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Room that is left for the set, in bytes.
const LEFT: u64 = 512 << 10;

/// Lays out more than fits, and checks that the error names the file; returns the offset of the
/// failure and its cause.
fn refused(session: &mut Session) -> (u64, ErrorKind) {
    let error = session.layout(1 << 20, &quick()).unwrap_err();
    let Error::Io { operation: "write", offset: Some(offset), source, path } = &error else {
        panic!("{error}")
    };
    assert_eq!(path, session.target().path());
    // Nothing of a user's own file is given back, so that there is no room to go on.
    assert_eq!(session.lacks_room(1 << 20, &error), session.target().is_scratch());
    assert!(!session.lacks_room(0, &error));
    (*offset, source.kind())
}

fn accepted(mut session: Session) {
    session.layout(1 << 20, &quick()).unwrap();
    assert_eq!(session.target().len().unwrap(), 1 << 20);
}

/// A user's own file that is a hole as large as the set.
fn sparse(place: &Path) -> PathBuf {
    let path = place.join("sparse");
    File::create(&path).and_then(|file| file.set_len(1 << 20)).unwrap();
    path
}

/// A limit on the file size, which workers inherit.
fn limited() {
    let (dir, mut session) = session();
    let mut holes = session_on(&sparse(dir.path()));
    let before = getrlimit(Resource::Fsize);
    setrlimit(Resource::Fsize, Rlimit { current: Some(LEFT), ..before }).unwrap();
    let found = [refused(&mut session), refused(&mut holes)];
    setrlimit(Resource::Fsize, Rlimit { current: Some(40 << 20), ..before }).unwrap();
    let rate = session.layout_rate(64 << 20, 60.0, &quick()).unwrap();
    assert!(rate.is_some(), "32 MiB fit");
    let least = session_in(dir.path());
    assert_eq!(least.max_unique_bytes(), 40 << 20);
    setrlimit(Resource::Fsize, before).unwrap();
    assert_eq!(found, [(LEFT, ErrorKind::FileTooLarge); 2]);
    assert_eq!(session.target().len().unwrap(), 32 << 20, "what did not fit is given back");
    accepted(least);
    accepted(holes);
}

/// A file system in memory that another program has filled except for part of the set.
fn full(place: &Path) {
    let (mut session, mut new) = (session_in(place), session_in(place));
    session.layout(4096, &quick()).unwrap();
    // Its holes had room when it was opened, and for a user's own file, free space is not checked
    // again.
    let mut holes = session_on(&sparse(place));
    let other = place.join("of-another-program");
    let mut file = File::create(&other).unwrap();
    while file.write(&[0; 4096]).is_ok() {}
    file.set_len(file.metadata().unwrap().len() - LEFT).unwrap();
    assert_eq!(refused(&mut session), (4096, ErrorKind::StorageFull));
    let error = new.layout(1 << 20, &quick()).unwrap_err();
    assert!(matches!(error, Error::Space { free: ..=LEFT, .. }), "{error}");
    let (offset, cause) = refused(&mut holes);
    assert!(offset <= LEFT && cause == ErrorKind::StorageFull, "{offset} {cause:?}");
    drop(file);
    remove_file(&other).unwrap();
    accepted(session);
    accepted(new);
    accepted(holes);
}

#[test]
fn a_full_file_system_names_the_place() {
    limited();
    if !in_memory("size=96m", full) {
        skipped("mounting needs root: a limit of the file size alone was tried");
    }
}
