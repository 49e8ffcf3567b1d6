//! How often each arm's set was laid out: which pages of memory hold a set, and in what folios, may
//! make it faster or slower for as long as it stays there.

use ioscape_schema::{Engine, Workload};

/// Scatter of ln(ratio) from one layout of equal arms to another, twice its standard deviation:
/// thirteen comparisons of 64 MiB on ext4 (Linux 6.18), each with one layout for each arm, differed
/// by 0.84 to 1.12.
const SCATTER: f64 = 0.2;

/// The largest share of the time that new layouts may take.
const SHARE: f64 = 0.25;

/// The layouts of one workload's sets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Layouts {
    /// How many there were; 0 if the arms share one.
    count: usize,
    /// Seconds that the latest took.
    latest_s: f64,
    /// Seconds that all but the first took.
    further_s: f64,
}

impl Layouts {
    /// Records that both arms' sets were laid out, in `seconds`.
    pub(super) fn add(&mut self, seconds: f64) {
        self.further_s += if self.count > 0 { seconds } else { 0.0 };
        self.latest_s = seconds;
        self.count += 1;
    }

    /// Whether the sets are to be laid out before the next pair, where pairs took `measured_s`
    /// seconds so far.
    pub(super) fn is_due(&self, measured_s: f64) -> bool {
        self.count == 0 || self.further_s + self.latest_s <= SHARE * measured_s
    }

    /// How far the ratio of `pairs` pairs may be off because of so few layouts, on the logarithm.
    /// If nearly each pair has its own, their scatter shows it.
    pub(super) fn scatter(&self, pairs: usize) -> f64 {
        match self.count {
            0 => 0.0,
            count if 4 * count >= 3 * pairs => 0.0,
            count => SCATTER / (count as f64).sqrt(),
        }
    }
}

/// Whether requests find their set in the file cache, so that its layout may matter.
pub(super) fn matter(workload: &Workload) -> bool {
    workload.access.reads_cached()
        && !matches!(workload.engine, Engine::Dontcache | Engine::Null | Engine::Sim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cheap_sets_are_laid_out_before_each_pair_and_costly_ones_as_often_as_time_allows() {
        let count = |layout_s: f64| {
            let (mut layouts, mut measured_s) = (Layouts::default(), 0.0);
            for _ in 0..40 {
                if layouts.is_due(measured_s) {
                    layouts.add(layout_s);
                }
                measured_s += 5.0;
            }
            layouts.count
        };
        assert_eq!([0.1, 10.0, 1000.0].map(count), [40, 5, 1]);
    }

    #[test]
    fn few_layouts_leave_the_ratio_open() {
        let mut layouts = Layouts::default();
        assert_eq!(layouts.scatter(9), 0.0, "the arms share one file");
        layouts.add(9.0);
        assert_eq!(layouts.scatter(9), SCATTER);
        (0..3).for_each(|_| layouts.add(9.0));
        assert_eq!(layouts.scatter(9), SCATTER / 2.0);
        assert_eq!(layouts.scatter(4), 0.0);
    }
}
