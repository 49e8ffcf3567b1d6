//! Which levels of a system are storage that another system can borrow, as far as its evaluation
//! reached them.

use super::parameters::Layout;

/// The request size, in bytes, at which a level's cost decides whether it is taken for memory or
/// for storage.
const TYPICAL_BYTES: f64 = 32_768.0;

/// The levels of a system and their costs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Levels<'a> {
    pub(super) layout: &'a Layout,
    pub(super) theta: &'a [f64],
}

/// The requests that other storage is to serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Asked {
    /// Whether writes are among them.
    pub(super) writes: bool,
    /// Whether a file cache absorbs writes; with synchronous writes it serves only reads, and all
    /// writes reach storage.
    pub(super) writes_cached: bool,
}

/// What happens to the last level of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lending {
    /// It becomes the lender's.
    Lent,
    /// It stays: other storage would not change it, or no request needs it.
    Kept,
    /// The lender's evaluation never reached its storage.
    Unknown,
    /// The borrower's evaluation never reached its own storage.
    UnknownHere,
}

impl Levels<'_> {
    /// What happens to an operation of this system, reads 0 and writes 1, when the storage of
    /// `lender` serves it behind a file cache.
    pub(super) fn borrowing(&self, lender: &Levels<'_>, operation: usize, asked: Asked) -> Lending {
        let is_seen = operation == 1 && !asked.writes_cached;
        if lender.may_be_memory(operation) && !is_seen {
            // On neither system were writes seen to wait for storage.
            let is_alike = operation == 1 && self.may_be_memory(operation);
            let is_asked = operation == 0 || asked.writes;
            return if is_asked && !is_alike { Lending::Unknown } else { Lending::Kept };
        }
        // A single level that serves all reads may be memory, which other storage leaves unchanged.
        if !self.layout.leaves_memory(0) {
            return Lending::UnknownHere;
        }
        let is_within = self.layout.levels[1] > 1 && !self.layout.leaves_memory(1);
        match operation == 1 && asked.writes_cached && is_within {
            true if asked.writes => Lending::UnknownHere,
            true => Lending::Kept,
            false => Lending::Lent,
        }
    }

    /// Whether an operation that was not seen to leave memory, through a file cache, may have been
    /// served from there. Reads may, and so may writes with a border within memory. Writes with a
    /// single level may if its cost is nearer to that of reads from memory than to that of reads
    /// from storage, which writes that go through cost.
    fn may_be_memory(&self, operation: usize) -> bool {
        let [reads, writes] = self.layout.levels;
        if operation == 1 && writes == 1 {
            return 2.0 * self.ln_cost(1, 0) < self.ln_cost(0, 0) + self.ln_cost(0, reads - 1);
        }
        !self.layout.leaves_memory(operation)
    }

    /// The natural logarithm of a typical request's cost at a level, in seconds.
    fn ln_cost(&self, operation: usize, level: usize) -> f64 {
        let level = self.layout.level(operation, level).of(self.theta);
        (level.ln_overhead_s.exp() + TYPICAL_BYTES * level.ln_byte_s.exp()).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY_S: f64 = 1e-6;
    const STORAGE_S: f64 = 1e-2;
    /// Buffered reads and writes.
    const BOTH: Asked = Asked { writes: true, writes_cached: true };

    /// Levels with these costs, reads first.
    fn levels(levels: [usize; 2], costs_s: &[f64]) -> (Layout, Vec<f64>) {
        let layout = Layout { levels, reference_bytes: 1e6, ..Layout::default() };
        let mut theta = vec![0.0; layout.len()];
        for ((operation, level), cost_s) in layout.each_component().zip(costs_s) {
            let at = layout.level(operation, level);
            (theta[at.ln_overhead_s], theta[at.ln_byte_s]) = (cost_s.ln(), -100.0);
        }
        (layout, theta)
    }

    fn of((layout, theta): &(Layout, Vec<f64>)) -> Levels<'_> {
        Levels { layout, theta }
    }

    /// A system whose reads and writes both reached storage.
    fn whole() -> (Layout, Vec<f64>) {
        levels([2, 2], &[MEMORY_S, STORAGE_S, MEMORY_S, STORAGE_S])
    }

    /// A system whose writes, at this cost, were seen at one level.
    fn with_writes(cost_s: f64) -> (Layout, Vec<f64>) {
        levels([2, 1], &[MEMORY_S, STORAGE_S, cost_s])
    }

    #[test]
    fn one_level_alone_may_be_memory_unless_writes_cost_there_what_reads_from_storage_do() {
        let is_memory =
            |one: (Layout, Vec<f64>)| [0, 1].map(|operation| of(&one).may_be_memory(operation));
        assert_eq!(is_memory(whole()), [false, false]);
        assert_eq!(is_memory(levels([1, 2], &[MEMORY_S, MEMORY_S, STORAGE_S])), [true, false]);
        assert_eq!(is_memory(with_writes(3.0 * MEMORY_S)), [false, true]);
        assert_eq!(is_memory(with_writes(STORAGE_S / 3.0)), [false, false]);
    }

    #[test]
    fn writes_that_were_never_seen_in_storage_are_not_lent_to_who_writes() {
        let (whole, absorbed) = (whole(), with_writes(3.0 * MEMORY_S));
        let reads = Asked { writes: false, ..BOTH };
        let lent = |asked| [0, 1].map(|one| of(&whole).borrowing(&of(&absorbed), one, asked));
        assert_eq!(lent(BOTH), [Lending::Lent, Lending::Unknown]);
        assert_eq!(lent(reads), [Lending::Lent, Lending::Kept]);
        // What was seen to wait for storage on neither system stays as it is.
        let here = of(&absorbed).borrowing(&of(&absorbed), 1, BOTH);
        assert_eq!(here, Lending::Kept);
        let through = with_writes(STORAGE_S);
        assert_eq!(of(&through).borrowing(&of(&absorbed), 1, BOTH), Lending::Unknown);
    }

    #[test]
    fn what_lies_behind_a_border_within_memory_neither_lends_nor_borrows() {
        let lent = |here: &(Layout, Vec<f64>), lender: &(Layout, Vec<f64>), asked| {
            [0, 1].map(|one| of(here).borrowing(&of(lender), one, asked))
        };
        let (reached, mut memory, mut absorbed) = (whole(), whole(), whole());
        memory.0.in_memory = [vec![true], vec![true]];
        assert_eq!(lent(&memory, &reached, BOTH), [Lending::UnknownHere; 2]);
        assert_eq!(lent(&reached, &memory, BOTH), [Lending::Unknown; 2]);
        absorbed.0.in_memory = [vec![false], vec![true]];
        assert_eq!(lent(&absorbed, &reached, BOTH), [Lending::Lent, Lending::UnknownHere]);
        assert_eq!(lent(&absorbed, &absorbed, BOTH), [Lending::Lent, Lending::Kept]);
        let reads = Asked { writes: false, ..BOTH };
        assert_eq!(lent(&absorbed, &reached, reads), [Lending::Lent, Lending::Kept]);
    }

    /// A disk with its own write cache takes them as fast as memory does.
    #[test]
    fn synchronous_writes_are_lent_whatever_they_cost() {
        let (here, lender) = (with_writes(STORAGE_S), with_writes(3.0 * MEMORY_S));
        let synchronous = Asked { writes_cached: false, ..BOTH };
        assert_eq!(of(&here).borrowing(&of(&lender), 1, synchronous), Lending::Lent);
        let memory = levels([1, 1], &[MEMORY_S; 2]);
        assert_eq!(of(&here).borrowing(&of(&memory), 0, synchronous), Lending::Unknown);
        assert_eq!(of(&memory).borrowing(&of(&here), 0, synchronous), Lending::UnknownHere);
    }
}
