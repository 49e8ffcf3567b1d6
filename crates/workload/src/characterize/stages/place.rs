//! Where the files of an application lie in the set: one behind the other, in the order of their first use, each as long as what was used of it.

use std::collections::BTreeMap;

/// Share of a kind's bytes that may lie outside of its part of the set: a few requests to a file far away are no reason to widen it.
const OUTSIDE: f64 = 0.02;

/// What was used of a file by one kind of request in a window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extent {
    /// First byte.
    pub(super) from: u64,
    /// Behind the last byte.
    pub(super) to: u64,
    /// Bytes moved.
    pub(super) bytes: u64,
}

impl Extent {
    /// Both.
    pub(super) fn merge(&mut self, other: Self) {
        self.from = self.from.min(other.from);
        self.to = self.to.max(other.to);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

#[derive(Clone, Copy, Debug)]
struct Place {
    begin: u64,
    length: u64,
    /// Where the file ends, in its own bytes: more than `length` where parts of it were not used.
    end: u64,
}

/// The places of all files.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    files: BTreeMap<u32, Place>,
    /// Bytes of the set.
    pub(super) set: u64,
}

impl Places {
    /// From the files' numbers, what each has of the set, and where it ends.
    pub(super) fn new(files: impl Iterator<Item = (u32, u64, u64)>) -> Self {
        let mut all = Self::default();
        for (number, length, end) in files {
            all.files.insert(number, Place { begin: all.set, length, end });
            all.set += length;
        }
        all
    }

    /// The part of the set, as its first byte and its length, that holds all but a few of the bytes of these extents.
    pub(super) fn part(&self, extents: &BTreeMap<u32, Extent>) -> Option<(u64, u64)> {
        let all: u64 = extents.values().map(|one| one.bytes).sum();
        let spared = (all as f64 * OUTSIDE / 2.0) as u64;
        let (first, one) = at_end(extents.iter(), spared)?;
        let (last, other) = at_end(extents.iter().rev(), spared)?;
        let (from, to) = (self.at(first, one.from)?, self.at(last, other.to)?);
        (from < to).then_some((from, to - from))
    }

    /// Where a byte of a file is in the set.
    fn at(&self, file: u32, byte: u64) -> Option<u64> {
        let place = self.files.get(&file)?;
        let share = byte as f64 / place.end.max(1) as f64;
        Some(place.begin + (place.length as f64 * share.min(1.0)) as u64)
    }
}

/// The first of some extents before which no more than `spared` bytes were moved.
fn at_end<'a>(
    all: impl Iterator<Item = (&'a u32, &'a Extent)>,
    spared: u64,
) -> Option<(u32, Extent)> {
    let mut before = 0;
    for (file, extent) in all {
        before += extent.bytes;
        if before > spared {
            return Some((*file, *extent));
        }
    }
    None
}
