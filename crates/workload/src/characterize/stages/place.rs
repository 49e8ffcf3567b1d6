//! Where the files of an application lie in the set: one after the other, in order of first use,
//! each as long as the part of it that was used.

use std::collections::BTreeMap;

/// Share of a kind's bytes that may lie outside its part of the set: a few requests to a distant
/// file do not widen the part.
const OUTSIDE: f64 = 0.02;

/// The range of a file that one kind of request used in a window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extent {
    /// First byte.
    pub(super) from: u64,
    /// End of the last byte.
    pub(super) to: u64,
    /// Bytes moved.
    pub(super) bytes: u64,
}

impl Extent {
    /// Extends the range to include `other`.
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
    /// The end of the file in its own bytes: more than `length` if parts of it were not used.
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
    /// Creates them from each file's number, its bytes in the set, and its end.
    pub(super) fn new(files: impl Iterator<Item = (u32, u64, u64)>) -> Self {
        let mut all = Self::default();
        for (number, length, end) in files {
            all.files.insert(number, Place { begin: all.set, length, end });
            all.set += length;
        }
        all
    }

    /// Returns the part of the set, as first byte and length, that contains all but a few of the
    /// bytes of these extents.
    pub(super) fn part(&self, extents: &BTreeMap<u32, Extent>) -> Option<(u64, u64)> {
        let all: u64 = extents.values().map(|one| one.bytes).sum();
        let spared = (all as f64 * OUTSIDE / 2.0) as u64;
        let (first, one) = at_end(extents.iter(), spared)?;
        let (last, other) = at_end(extents.iter().rev(), spared)?;
        let (from, to) = (self.at(first, one.from)?, self.at(last, other.to)?);
        (from < to).then_some((from, to - from))
    }

    /// Returns how many bytes of the set these files have.
    pub(super) fn bytes<'a>(&self, files: impl Iterator<Item = &'a u32>) -> u64 {
        files.filter_map(|file| self.files.get(file)).map(|place| place.length).sum()
    }

    /// Returns the position in the set of a file's byte.
    fn at(&self, file: u32, byte: u64) -> Option<u64> {
        let place = self.files.get(&file)?;
        let share = byte as f64 / place.end.max(1) as f64;
        Some(place.begin + (place.length as f64 * share.min(1.0)) as u64)
    }
}

/// Returns the first extent with which the cumulated bytes exceed `spared`.
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
