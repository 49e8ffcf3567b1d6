//! `open-close`: opens and closes one file repeatedly (Ousterhout 1990, section 10, Table 9).

use super::case::{Case, Op, repeated};
use ioscape_schema::Locality;
use rustix::fs::{CWD, Mode, OFlags};
use std::ffi::CStr;
use std::fs;
use std::io;

/// The cases; the relative speed is computed from `foo`.
pub(crate) fn cases(place: (usize, Locality)) -> Vec<Case> {
    let short = Case::new(
        "open-close",
        "foo",
        "Looking up a file by name, checking permissions and allocating a descriptor.",
        |_| operation(c"foo", OFlags::RDONLY),
    );
    let long = Case::new(
        "open-close",
        "a/b/c/foo",
        "The same three directories down: the cost of each path component.",
        |_| operation(c"a/b/c/foo", OFlags::RDONLY),
    );
    let path = Case::new(
        "open-close",
        "foo, O_PATH",
        "The lookup alone, without opening the file.",
        |_| operation(c"foo", OFlags::PATH),
    );
    [short, long, path].map(|case| case.at(place).effort(1.5)).into()
}

fn operation(name: &'static CStr, flags: OFlags) -> io::Result<Op> {
    fs::create_dir_all("a/b/c")?;
    for file in ["foo", "a/b/c/foo"] {
        fs::write(file, "x")?;
    }
    Ok(repeated(move || {
        drop(rustix::fs::openat(CWD, name, flags, Mode::empty())?);
        Ok(())
    }))
}
