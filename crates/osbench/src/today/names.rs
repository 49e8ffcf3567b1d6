//! `stat` and `rename`: operations on file names alone.

use crate::case::{Case, Op, repeated};
use ioscape_schema::{Locality, OsRule};
use rustix::fs::{AtFlags, CWD, renameat, statat};
use std::fs;
use std::io;

/// The cases.
pub(crate) fn cases(place: (usize, Locality)) -> Vec<Case> {
    let stat = "Looking up a file by name and copying its attributes: the most frequent call of builds and backups.";
    let rename = "Renaming a file, the last step of every atomic save.";
    vec![
        Case::new("stat", "foo", stat, |_| look()).at(place),
        Case::new("rename", "foo to bar", rename, |_| swap()).at(place).by(OsRule::Mean),
    ]
}

fn look() -> io::Result<Op> {
    fs::write("foo", "x")?;
    Ok(repeated(|| {
        std::hint::black_box(statat(CWD, c"foo", AtFlags::empty())?);
        Ok(())
    }))
}

fn swap() -> io::Result<Op> {
    fs::write("foo", "x")?;
    let mut names = [c"foo", c"bar"];
    Ok(repeated(move || {
        renameat(CWD, names[0], CWD, names[1])?;
        names.swap(0, 1);
        Ok(())
    }))
}
