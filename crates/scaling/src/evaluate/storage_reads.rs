//! Pure reads of storage, which no curve measures: all sequential, all random, and random ones of
//! all processes at once; all without advice.
//!
//! The curves mix reads with writes and sequential requests with random ones, or advise the kernel
//! that requests are random. So they allow only a guess at the cost of one read of storage. How
//! many reads storage serves at once could only be guessed from mixes with writes, which wait for
//! one another. A real application reads in pure runs, often by several processes at a time. The
//! points it is predicted from are measured here, before the curves, since these can do with fewer
//! points.

use super::axis::Axis;
use super::exploration::Exploration;
use super::probe::Probe;
use ioscape_schema::{Parameter, Workload};

/// Request size of the sequential reads in bytes: Linux's default read-ahead
/// (`VM_READAHEAD_PAGES`).
const RUN: f64 = 131_072.0;
/// Request size of the random reads in bytes: a page.
const PAGE: f64 = 4096.0;

/// Their workloads beyond the last border, if any border is one of storage: over the largest set,
/// of which caches hold least; by one process first, so that runs stay whole.
pub(crate) fn storage_reads<P: Probe>(exploration: &Exploration<'_, P>) -> Vec<Workload> {
    let levels = &exploration.state.levels;
    let is_storage = levels.borders.iter().any(|one| !one.border.in_memory);
    let Some(last) = levels.regions.last().filter(|_| is_storage) else { return Vec::new() };
    let set = exploration.unique_bytes_range()[1];
    let reads = Workload { read_frac: 1.0, ..last.focal.clone() }.with(Parameter::UniqueBytes, set);
    let sizes = Axis::new(&exploration.options, Parameter::SizeMean, set as u64);
    let [one, all] = exploration.options.bounds.process_num.map(f64::from);
    let each = [(1.0, RUN, one), (0.0, PAGE, one), (0.0, PAGE, all)];
    let workload = |(seq_frac, size, processes): (f64, f64, f64)| {
        let reads = Workload { seq_frac, ..reads.clone() };
        reads.with(Parameter::SizeMean, sizes.round(size)).with(Parameter::ProcessNum, processes)
    };
    let different = if all > one { each.len() } else { each.len() - 1 };
    let most = different.min(exploration.allotment.storage_reads);
    each.into_iter().take(most).map(workload).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::options::tests::ten_minutes;
    use crate::evaluate::testing::Scripted;
    use crate::judge::borders::SetBorder;
    use crate::judge::levels::{Levels, RegionState};
    use crate::testing::border;
    use ioscape_schema::{Border, BorderOperation};

    /// How many are measured where a border of reads lies at 500 MiB and one of writes at 700 MiB,
    /// each within memory or not.
    fn found(within: [bool; 2]) -> usize {
        let border = |(operation, mib, in_memory): (BorderOperation, f64, bool)| {
            let [low, at, high] = [0.9, 1.0, 1.1].map(|times| times * mib * 1048576.0);
            let border = border(operation, [low, at, high], 2.0);
            SetBorder { border: Border { in_memory, ..border }, gap: [low, high] }
        };
        let [reads, writes] = within;
        let both = [(BorderOperation::Read, 500.0, reads), (BorderOperation::Write, 700.0, writes)];
        let region = RegionState { range: [1e6, 1e9], focal: Workload::default() };
        let (options, mut probe) = (ten_minutes(), Scripted { cost_s: 1.0, fill_s: 0.0 });
        let mut exploration = Exploration::new(&options, &mut probe);
        let borders = both.into_iter().map(border).collect();
        exploration.state.levels = Levels { borders, regions: vec![region], ..Levels::default() };
        storage_reads(&exploration).len()
    }

    #[test]
    fn storage_is_read_whatever_ends_within_memory_behind_its_border() {
        assert_eq!([[false, true], [true, false], [false; 2]].map(found), [3; 3]);
        assert_eq!(found([true; 2]), 0);
    }
}
