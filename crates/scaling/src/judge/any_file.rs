//! What an evaluation, which lays out one file in a place, tells of the next file there.

use super::curve::Z95;
use ioscape_schema::{Bounded, Difference, Engine, Region, RegionFinding};

/// Standard deviation, in its logarithm, of how much faster writes are than reads between one file and the next. An evaluation lays out one file, so
/// that none of its rounds shows how its pages lie in memory, or its blocks on storage: on ten new files of 512 MiB, one after another on
/// a quiet machine with ext4, the ratio differed by 6 %, and in three evaluations by 18 %, while each of them repeated itself to 5 %. What sequential
/// requests and several processes gain differs as well: two evaluations of one machine with two rounds each told 1.9 to 3.2 and 1.1 to 1.9 times.
const BETWEEN_FILES: f64 = 0.08;

/// The same ratio for any file in the place of a region, of the one that was measured; files that are simulated are alike.
pub(super) fn of_any_file(region: &Region, found: Bounded) -> Bounded {
    if region.focal.engine == Engine::Sim {
        return found;
    }
    let Bounded { value, low, high } = found;
    let wider = |own: f64| own.ln().hypot(Z95 * BETWEEN_FILES).exp();
    Bounded { value, low: value / wider(value / low), high: value * wider(high / value) }
}

/// Whether more rounds could tell a ratio that holds for any file in the place of a region: not where it would be left open however well it were known
/// of the one file that is measured.
pub(crate) fn rounds_would_tell(region: &Region, found: &RegionFinding) -> bool {
    let exact = Bounded { value: found.value, low: found.value, high: found.value };
    let Bounded { value, low, high } = of_any_file(region, exact);
    let known = RegionFinding { region: region.name.clone(), value, low, high };
    known.difference() != Difference::Unknown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::region;
    use ioscape_schema::{RegionCurves, Workload};

    /// Three evaluations of one directory said 0.29 to 0.39, 0.21 to 0.26 and 0.26 to 0.33.
    #[test]
    fn what_one_file_was_found_to_do_holds_for_the_next() {
        let found = [(0.34, 0.29, 0.39), (0.235, 0.21, 0.26), (0.295, 0.26, 0.33)];
        let [real, simulated] = [Engine::Psync, Engine::Sim].map(|engine| {
            let focal = Workload { engine, ..Workload::default() };
            Region { focal, ..region(RegionCurves::default()) }
        });
        let [a, b, c] =
            found.map(|(value, low, high)| of_any_file(&real, Bounded { value, low, high }));
        assert!(a.low < b.high && c.low < b.high && a.low < c.high, "{a:?} {b:?} {c:?}");
        let twice = Bounded { value: 2.0, low: 2.0, high: 2.0 };
        let exact = of_any_file(&real, twice);
        assert!(
            (exact.high / 2.0 - 1.1698).abs() < 1e-3 && (2.0 / exact.low - 1.1698).abs() < 1e-3
        );
        assert_eq!(of_any_file(&simulated, twice), twice);
    }
}
