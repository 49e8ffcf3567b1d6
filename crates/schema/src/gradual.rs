//! Drops of throughput that only writes show and that need not be the end of a level.

use crate::evaluation::Evaluation;
use crate::{Border, BorderOperation};

impl Evaluation {
    /// Returns the first border at which only writes slow down further, after an earlier border of
    /// theirs.
    ///
    /// Throughput then does not tell whether a level ends there. In a larger set, pages that are
    /// written back together lie farther apart, and a drive takes longer for each. On a simulated
    /// hard disk with at most 52 MiB of dirty pages, writes slowed down sevenfold from 64 to 256
    /// MiB, where no level ends.
    pub fn slower_in_writes_alone(&self) -> Option<&Border> {
        if !self.has_file_cache(BorderOperation::Write) {
            return None;
        }
        let mut further = self.of_storage(BorderOperation::Write).skip(1);
        further.find(|border| !self.is_shown_by_reads(border))
    }

    /// Returns whether only throughput shows this border, and [only writes slow down
    /// there](Self::slower_in_writes_alone). A mix has the borders of both.
    pub fn may_be_no_level(&self, border: &Border) -> bool {
        let is_from = self.slower_in_writes_alone().is_some_and(|first| border.high >= first.low);
        is_from && !border.in_memory && !self.is_shown_by_reads(border)
    }

    fn is_shown_by_reads(&self, border: &Border) -> bool {
        self.of_storage(BorderOperation::Read).any(|read| read.meets(border))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, Region, RegionCurves, Workload};

    /// An evaluation with storage borders of these requests at these sizes.
    fn with_borders(all: &[(BorderOperation, f64)]) -> Evaluation {
        let border = |&(operation, at): &(BorderOperation, f64)| Border {
            operation,
            unique_bytes: at,
            low: 0.95 * at,
            high: 1.05 * at,
            ratio: 3.0,
            in_memory: false,
            slower: None,
        };
        Evaluation { borders: all.iter().map(border).collect(), ..Evaluation::default() }
    }

    #[test]
    fn what_only_writes_show_behind_a_border_of_theirs_need_be_no_level() {
        use BorderOperation::{Mixed, Read, Write};
        let found = |all: &[_]| with_borders(all).slower_in_writes_alone().map(|b| b.unique_bytes);
        let gradual = [(Write, 50.0), (Write, 130.0), (Read, 256.0), (Write, 256.0)];
        assert_eq!(found(&gradual), Some(130.0), "behind the limit of dirty pages");
        assert_eq!(found(&[(Write, 50.0), (Read, 256.0), (Write, 256.0)]), None);
        assert_eq!(found(&[(Read, 256.0), (Write, 256.0), (Write, 900.0)]), Some(900.0));
        assert_eq!(found(&[(Write, 50.0)]), None, "the limit itself");
        let mut of = with_borders(&gradual);
        let mixed = |at| with_borders(&[(Mixed, at)]).borders[0];
        let unsure = [50.0, 130.0, 256.0].map(|at| of.may_be_no_level(&mixed(at)));
        assert_eq!(unsure, [false, true, false]);
        let own: Vec<bool> = of.borders.iter().map(|border| of.may_be_no_level(border)).collect();
        assert_eq!(own, [false, true, false, false]);
        let focal = Workload { access: Access::Direct, ..Workload::default() };
        let (name, curves) = ("region 1".to_owned(), RegionCurves::default());
        of.regions = vec![Region { name, unique_bytes: [1.0, 1e3], focal, curves }];
        assert_eq!(of.slower_in_writes_alone(), None, "nothing is written back");
    }
}
