//! `fsync`: the time until a written block, or a changed name, is on storage.

use crate::case::{Case, Op, repeated};
use ioscape_schema::{Locality, OsRule};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes written before each call.
const BLOCK: usize = 4096;

/// The cases.
pub(crate) fn cases(place: (usize, Locality)) -> Vec<Case> {
    let teaches =
        "Overwriting 4 KB and waiting until they are on storage: the price of durability.";
    let named = "Renaming a file and waiting until its directory is on storage: the last step of an atomic save that survives a crash.";
    let all = [
        Case::new("fsync", "4 KB overwritten", teaches, |_| operation()),
        Case::new("fsync", "directory, after a rename", named, |_| directory()),
    ];
    all.map(|case| case.at(place).by(OsRule::Mean).effort(2.0)).into()
}

fn directory() -> io::Result<Op> {
    let here = File::open(".")?;
    File::create("foo")?.sync_all()?;
    let mut names = ["foo", "bar"];
    Ok(repeated(move || {
        std::fs::rename(names[0], names[1])?;
        names.swap(0, 1);
        here.sync_all()
    }))
}

fn operation() -> io::Result<Op> {
    let file = File::create("data")?;
    let mut block = vec![1; BLOCK];
    file.write_all_at(&block, 0)?;
    file.sync_all()?;
    Ok(repeated(move || {
        block[0] = block[0].wrapping_add(1);
        file.write_all_at(&block, 0)?;
        file.sync_all()
    }))
}
