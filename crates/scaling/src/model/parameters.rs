//! The parameters of the structural model by name, and the position of each in the vector that is
//! fitted.

use std::ops::Range;

/// Defines a struct of parameters, which holds either their positions in the vector or their
/// values.
macro_rules! parameters {
    ($(#[$doc:meta])* $name:ident [$len:literal] { $($(#[$field_doc:meta])* $field:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(super) struct $name<T> {
            $($(#[$field_doc])* pub(super) $field: T,)*
        }

        impl $name<usize> {
            /// Number of parameters.
            const LEN: usize = $len;

            fn at(first: usize) -> Self {
                let [$($field),*]: [usize; $len] = std::array::from_fn(|i| first + i);
                Self { $($field),* }
            }

            /// The values at these positions of `theta`.
            pub(super) fn of(&self, theta: &[f64]) -> $name<f64> {
                $name { $($field: theta[self.$field]),* }
            }
        }
    };
}

parameters! {
    /// The description of one level of the hierarchy for one operation.
    LevelParameters [8] {
        /// Natural logarithm of the seconds that a random request costs apart from its bytes.
        ln_overhead_s,
        /// Natural logarithm of the seconds that one byte costs.
        ln_byte_s,
        /// Logit of the share of the overhead that a sequential request saves.
        logit_saving,
        /// Natural logarithm of the inverse of the largest speed-up by many processes.
        ln_serial,
        /// Natural logarithm of how sharply the speed-up reaches its limit.
        ln_sharpness,
        /// Exponent with which the overhead grows with the set's bytes at this level: seeks get
        /// longer.
        overhead_growth,
        /// Exponent with which the cost of a byte grows with these: the set outgrows the
        /// processor's own caches.
        byte_growth,
        /// Natural logarithm of the exponent with which interleaved processes lose the benefit of sequential requests.
        ln_interleaving,
    }
}

impl LevelParameters<usize> {
    /// All of these positions, which are consecutive.
    pub(super) fn positions(&self) -> Range<usize> {
        self.ln_overhead_s..self.ln_overhead_s + Self::LEN
    }
}

parameters! {
    /// The description of the border between two levels.
    BorderParameters [4] {
        /// Natural logarithm of the set, in bytes, at which the cache overflows.
        ln_onset,
        /// Logit of the share of the onset that an overflowing cache still serves.
        logit_kept,
        /// Change of the onset's logarithm when half of the requests are reads.
        mixed_shift,
        /// Natural logarithm of the width of the overflow, in ln(bytes) from the onset on: some caches give way gradually.
        ln_width,
    }
}

parameters! {
    /// The effect of read-ahead, and of advice against it, on reads.
    AdviceParameters [3] {
        /// Natural logarithm of the factor on a read's cost at the device.
        ln_cost,
        /// Change of the logit of the share that an overflowing cache of reads still serves.
        logit_kept,
        /// Natural logarithm of the cost of what read-ahead fetches in vain where half of the
        /// requests are sequential, relative to a random request's overhead.
        ln_waste,
    }
}

parameters! {
    /// The effect of the processors' own caches on memory.
    ProcessorParameters [2] {
        /// Natural logarithm of the additional cost of a byte in memory, relative to its cost in
        /// these caches.
        ln_beyond,
        /// Natural logarithm of the set, in bytes, at which half of that is reached.
        ln_bytes,
    }
}

parameters! {
    /// The effect of writes on the caches of reads.
    MixParameters [1] {
        /// Natural logarithm of the exponent with which the share of reads that caches serve falls
        /// with the fraction of reads: a file system may drop written pages.
        ln_dropping,
    }
}

/// The shape of the model: which position of the parameter vector means what.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(test, derive(Default))]
pub(super) struct Layout {
    /// The number of levels that reads and that writes may reach, each at least 1.
    pub(super) levels: [usize; 2],
    /// The set to which level costs refer, in bytes.
    pub(super) reference_bytes: f64,
    /// Whether writers of one file wait for one another, as writers through the file cache do.
    pub(super) writers_wait: bool,
    /// Whether the level behind each border of reads and of writes is still memory; an absent entry
    /// means that it is not.
    pub(super) in_memory: [Vec<bool>; 2],
    /// The border of reads at which this machine's file cache ends; absent if no border does.
    pub(super) file_cache: Option<usize>,
}

impl Layout {
    /// Length of the parameter vector.
    pub(super) fn len(&self) -> usize {
        self.processors_at() + ProcessorParameters::LEN
    }

    /// Positions of the parameters that decide where an operation's bytes are served.
    pub(super) fn places_of(&self, operation: usize) -> Vec<usize> {
        let borders = 0..self.levels[operation] - 1;
        let own = borders.flat_map(|level| {
            let first = self.border(operation, level).ln_onset;
            first..first + BorderParameters::LEN
        });
        let is_cached = operation == 0 && self.levels[0] > 1;
        let others = [self.advice().logit_kept, self.mix().ln_dropping];
        own.chain(others.into_iter().filter(|_| is_cached)).collect()
    }

    /// Number of components: pairs of operation and level.
    pub(super) fn components(&self) -> usize {
        self.levels.iter().sum()
    }

    /// Operation and level of every component.
    pub(super) fn each_component(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..2)
            .flat_map(|operation| (0..self.levels[operation]).map(move |level| (operation, level)))
    }

    /// Positions of one level's parameters; reads are operation 0, writes 1.
    pub(super) fn level(&self, operation: usize, level: usize) -> LevelParameters<usize> {
        let before = operation * self.levels[0] + level;
        LevelParameters::at(before * LevelParameters::LEN)
    }

    /// Positions of the parameters of the border behind `level`.
    pub(super) fn border(&self, operation: usize, level: usize) -> BorderParameters<usize> {
        let before = level + if operation == 0 { 0 } else { self.levels[0] - 1 };
        let levels = self.components() * LevelParameters::LEN;
        BorderParameters::at(levels + before * BorderParameters::LEN)
    }

    /// Whether storage, and not memory, lies behind the border at `level` of an operation.
    fn is_storage_behind(&self, operation: usize, level: usize) -> bool {
        self.in_memory[operation].get(level) != Some(&true)
    }

    /// The levels of an operation whose borders end a cache in front of storage, and not a
    /// processor's cache within memory.
    pub(super) fn storage_borders(&self, operation: usize) -> impl Iterator<Item = usize> + '_ {
        let borders = 0..self.levels[operation] - 1;
        borders.filter(move |&level| self.is_storage_behind(operation, level))
    }

    /// Whether an operation was seen to leave memory: a single level may be all memory, and so may
    /// a level behind a border within memory.
    pub(super) fn leaves_memory(&self, operation: usize) -> bool {
        let last = self.levels[operation].checked_sub(2);
        last.is_some_and(|level| self.is_storage_behind(operation, level))
    }

    /// Positions of the parameters of advice.
    pub(super) fn advice(&self) -> AdviceParameters<usize> {
        AdviceParameters::at(self.advice_at())
    }

    /// Positions of the parameters of writes' effect on the caches of reads.
    pub(super) fn mix(&self) -> MixParameters<usize> {
        MixParameters::at(self.mix_at())
    }

    /// Positions of the parameters of the processors' own caches: the last of the vector.
    pub(super) fn processors(&self) -> ProcessorParameters<usize> {
        ProcessorParameters::at(self.processors_at())
    }

    fn processors_at(&self) -> usize {
        self.mix_at() + MixParameters::LEN
    }

    fn mix_at(&self) -> usize {
        self.advice_at() + AdviceParameters::LEN
    }

    fn advice_at(&self) -> usize {
        let borders = self.components() - self.levels.len();
        self.components() * LevelParameters::LEN + borders * BorderParameters::LEN
    }

    /// The level of reads that the same part of the machine serves as this level of writes: the
    /// last is the device, and the first of several is memory.
    pub(super) fn read_level_of(&self, write_level: usize) -> usize {
        let [reads, writes] = self.levels;
        if write_level == 0 && writes > 1 {
            return 0;
        }
        (reads + write_level).saturating_sub(writes)
    }

    /// Which components serve the smallest sets, reads first: those before the device, or all if
    /// there is no other level.
    pub(super) fn near_components(&self) -> impl Iterator<Item = bool> + '_ {
        let reads = self.levels[0];
        let near = move |level: usize| reads == 1 || level + 1 < reads;
        let writes = (0..self.levels[1]).map(|level| self.read_level_of(level));
        (0..reads).chain(writes).map(near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_has_its_own_position() {
        let layout = Layout { levels: [3, 2], reference_bytes: 1.0, ..Layout::default() };
        let theta: Vec<f64> = (0..layout.len()).map(|i| i as f64).collect();
        let begins = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
            .map(|(operation, level)| layout.level(operation, level).ln_overhead_s);
        assert_eq!(begins, [0, 8, 16, 24, 32]);
        let borders =
            [(0, 0), (0, 1), (1, 0)].map(|(operation, level)| layout.border(operation, level));
        assert_eq!(borders.map(|border| border.ln_onset), [40, 44, 48]);
        assert_eq!(borders[2].of(&theta).ln_width, 51.0);
        assert_eq!(layout.level(1, 1).of(&theta).ln_interleaving, 39.0);
        let AdviceParameters { ln_cost, logit_kept, ln_waste } = layout.advice();
        assert_eq!((ln_cost, logit_kept, ln_waste), (52, 53, 54));
        assert_eq!((layout.mix().ln_dropping, layout.processors().ln_beyond), (55, 56));
        assert_eq!((layout.processors().ln_bytes, layout.len()), (57, 58));
    }

    #[test]
    fn storage_begins_behind_no_border_within_memory() {
        let layout = Layout {
            levels: [3, 2],
            in_memory: [vec![true, false], vec![true]],
            ..Layout::default()
        };
        assert_eq!([0, 1].map(|operation| layout.leaves_memory(operation)), [true, false]);
        assert_eq!(layout.storage_borders(0).collect::<Vec<_>>(), [1]);
        assert_eq!(layout.storage_borders(1).next(), None);
        let silent = Layout { levels: [2, 1], ..Layout::default() };
        assert_eq!([0, 1].map(|operation| silent.leaves_memory(operation)), [true, false]);
    }
}
