//! A file that cannot grow: in a process of its own, since the limit that stands in for a full disk holds for all of it.

mod common;

use common::{quick, session};
use ioscape_machine::Error;

#[test]
fn a_full_file_system_names_the_place() {
    let (_dir, mut session) = session();
    let before = rustix::process::getrlimit(rustix::process::Resource::Fsize);
    // A file size limit, which workers inherit, stands in for a full file system.
    let limit = 512 << 10;
    let lowered = rustix::process::Rlimit { current: Some(limit), ..before };
    rustix::process::setrlimit(rustix::process::Resource::Fsize, lowered).unwrap();
    let outcome = session.layout(1 << 20, &quick());
    rustix::process::setrlimit(rustix::process::Resource::Fsize, before).unwrap();
    let error = outcome.unwrap_err();
    let Error::Io { operation: "write", offset: Some(offset), source, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!((*offset, source.raw_os_error()), (limit, Some(libc::EFBIG)));
    session.layout(1 << 20, &quick()).unwrap();
    assert_eq!(session.target().len().unwrap(), 1 << 20);
}
