//! How far ratios measured on one file hold for the next file in the same place.

use super::curve::Z95;
use ioscape_schema::{Bounded, Difference, Engine, Region, RegionFinding};

/// Standard deviation, from one file to the next, of the logarithm of the write-to-read ratio.
///
/// An evaluation lays out one file, so none of its rounds shows how the next file's pages would lie
/// in memory, or its blocks on storage. On ten new files of 512 MiB, one after another on a quiet
/// machine with ext4, the ratio differed by 6 %; in three evaluations, by 18 %, although each
/// repeated itself to within 5 %. The gains of sequential requests and of several processes differ
/// as well: two evaluations of one machine, with two rounds each, found 1.9 to 3.2 and 1.1 to 1.9
/// times.
const BETWEEN_FILES: f64 = 0.08;

/// Widens the bounds of a ratio measured on one file so that they hold for any file in the region's
/// place. Simulated files are all alike and keep their bounds.
pub(super) fn of_any_file(region: &Region, found: Bounded) -> Bounded {
    if region.focal.engine == Engine::Sim {
        return found;
    }
    let Bounded { value, low, high } = found;
    let wider = |own: f64| own.ln().hypot(Z95 * BETWEEN_FILES).exp();
    Bounded { value, low: value / wider(value / low), high: value * wider(high / value) }
}

/// Whether more rounds could settle a ratio for any file in the region's place. They cannot if even
/// an exact ratio for the measured file would leave it open.
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

    /// Three evaluations of one directory found 0.29 to 0.39, 0.21 to 0.26 and 0.26 to 0.33.
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
