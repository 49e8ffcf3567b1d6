//! A file that cannot grow, for its file system is full or its size limited: in a process of its own, since that limit holds for all
//! of it.

mod common;

use common::{quick, session, session_in, skipped};
use ioscape_machine::Error;
use ioscape_measure::Session;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::{File, remove_file};
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// What is left for the set, in bytes.
const LEFT: u64 = 512 << 10;

/// Lays out more than there is room for, and checks that the error names the place; where it was, and the cause.
fn refused(session: &mut Session) -> (u64, Option<i32>) {
    let error = session.layout(1 << 20, &quick()).unwrap_err();
    let Error::Io { operation: "write", offset: Some(offset), source, path } = &error else {
        panic!("{error}")
    };
    assert_eq!(path, session.target().path());
    (*offset, source.raw_os_error())
}

fn accepted(mut session: Session) {
    session.layout(1 << 20, &quick()).unwrap();
    assert_eq!(session.target().len().unwrap(), 1 << 20);
}

/// A limit of the file size, which workers inherit.
fn limited() {
    let (_dir, mut session) = session();
    let before = getrlimit(Resource::Fsize);
    setrlimit(Resource::Fsize, Rlimit { current: Some(LEFT), ..before }).unwrap();
    let found = refused(&mut session);
    setrlimit(Resource::Fsize, before).unwrap();
    assert_eq!(found, (LEFT, Some(libc::EFBIG)));
    accepted(session);
}

/// A file system in memory that another program has filled but for a part of the set.
fn full(place: &Path) {
    let mut session = session_in(place);
    let other = place.join("of-another-program");
    let mut file = File::create(&other).unwrap();
    while file.write(&[0; 4096]).is_ok() {}
    file.set_len(file.metadata().unwrap().len() - LEFT).unwrap();
    let (offset, cause) = refused(&mut session);
    assert!(offset <= LEFT && cause == Some(libc::ENOSPC), "{offset} {cause:?}");
    drop(file);
    remove_file(&other).unwrap();
    accepted(session);
}

#[test]
fn a_full_file_system_names_the_place() {
    limited();
    let place = tempfile::tempdir().unwrap();
    let mount = ["-t", "tmpfs", "-o", "size=96m", "tmpfs"];
    let mounted = Command::new("mount").args(mount).arg(place.path()).status();
    if !mounted.is_ok_and(|status| status.success()) {
        return skipped("mounting needs root: a limit of the file size alone was tried");
    }
    let tried = std::panic::catch_unwind(|| full(place.path()));
    assert!(Command::new("umount").arg(place.path()).status().unwrap().success());
    tried.unwrap();
}
