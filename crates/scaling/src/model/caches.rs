//! The caches that requests pass: how large they are, and which of them memory holds.

use super::levels::logistic;
use super::parameters::Layout;

/// Least share of memory at which a cache that lives in memory overflows ...
const OF_MEMORY_LEAST: f64 = 1.0 / 20.0;
/// ... and the greatest.
const OF_MEMORY_MOST: f64 = 1.2;
/// The least share of a cache that remains beside the memory of a process.
const LEFT_LEAST: f64 = 0.02;

/// A cache that requests pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cache {
    /// The set at which it overflows, in bytes.
    pub(super) onset: f64,
    /// The bytes of larger sets that it still serves.
    pub(super) kept: f64,
}

impl Cache {
    /// The same cache reduced as `left` reduces its bytes, except for a little that always remains.
    pub(super) fn left(self, left: impl Fn(f64) -> f64) -> Self {
        let [onset, kept] =
            [self.onset, self.kept].map(|bytes| left(bytes).max(LEFT_LEAST * bytes));
        Self { onset, kept }
    }
}

/// Whether a cache that overflows at a set of `onset` bytes lies in the `memory` bytes of its
/// machine, or is limited to a share of them.
pub(super) fn is_of_memory(onset: f64, memory: f64) -> bool {
    (OF_MEMORY_LEAST * memory..=OF_MEMORY_MOST * memory).contains(&onset)
}

/// The set, in bytes, at which a cache that overflows at `onset` does so once memory has grown or
/// shrunk `from` so many bytes `to` others, and the same by the alternative rule; `None` if memory
/// does not change it. A file cache grows in proportion to memory, or by as much as memory does; the
/// truth lies between. A cache that only may be the file cache stays, or grows in proportion.
pub(super) fn with_memory(
    onset: f64,
    [from, to]: [f64; 2],
    is_of_file_cache: bool,
) -> Option<[f64; 2]> {
    let in_proportion = onset * to / from;
    let both = match is_of_file_cache {
        true => [in_proportion, (onset + to - from).max(in_proportion / 4.0)],
        false => [onset, in_proportion],
    };
    is_of_memory(onset, from).then_some(both)
}

/// The caches that `operation` passes with these structural parameters, the nearest first.
pub(super) fn caches(layout: &Layout, theta: &[f64], operation: usize) -> Vec<Cache> {
    let mut onset = 0.0f64;
    let cache = |level: usize| {
        let border = layout.border(operation, level).of(theta);
        onset = onset.max(border.ln_onset.exp());
        Cache { onset, kept: onset * logistic(border.logit_kept) }
    };
    (0..layout.levels[operation] - 1).map(cache).collect()
}

/// The caches in front of storage of the operations that a file cache serves.
pub(super) fn file_caches<'a>(
    layout: &'a Layout,
    theta: &'a [f64],
    cached: [bool; 2],
) -> impl Iterator<Item = Cache> + 'a {
    (0..2).filter(move |&operation| cached[operation]).flat_map(move |operation| {
        let all = caches(layout, theta, operation);
        layout.storage_borders(operation).map(move |level| all[level])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_that_may_lie_behind_the_file_cache_need_not_grow_with_memory() {
        let grown = |is_of_file_cache| with_memory(9.0, [64.0, 256.0], is_of_file_cache);
        assert_eq!(grown(true), Some([36.0, 201.0]));
        assert_eq!(grown(false), Some([9.0, 36.0]));
        assert_eq!(with_memory(90.0, [64.0, 256.0], true), None, "larger than memory");
    }
}
