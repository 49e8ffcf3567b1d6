//! `fsync`: until one written block is on storage.

use crate::case::{Case, Op};
use ioscape_schema::{Locality, OsRule};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes written before each call.
const BLOCK: usize = 4096;

/// The only case.
pub(crate) fn cases(place: (usize, Locality)) -> Vec<Case> {
    let teaches =
        "Overwriting 4 KB and waiting until they are on storage: the price of durability.";
    vec![
        Case::new("fsync", "4 KB overwritten", teaches, |_| operation())
            .at(place)
            .by(OsRule::Mean)
            .effort(2.0),
    ]
}

fn operation() -> io::Result<Op> {
    let file = File::create("data")?;
    let mut block = vec![1; BLOCK];
    file.write_all_at(&block, 0)?;
    file.sync_all()?;
    Ok(Box::new(move |count| {
        for _ in 0..count {
            block[0] = block[0].wrapping_add(1);
            file.write_all_at(&block, 0)?;
            file.sync_all()?;
        }
        Ok(())
    }))
}
