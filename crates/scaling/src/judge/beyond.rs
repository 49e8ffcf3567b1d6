//! What the pilot's sets say when they are larger than any set on the curves.
//!
//! The pilot uses its own request size, so its throughputs belong to no curve and no posterior. Its
//! sets are compared only with one another.

use super::residency;
use super::words::{bounded, percent};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Evaluation, PilotPair};

/// Returns what the pilot says of sets larger than those of the curves, if anything.
pub(super) fn sentence(evaluation: &Evaluation) -> Option<String> {
    let pair = evaluation.beyond_curves()?;
    let PilotPair { within, beyond, slower } = pair;
    let [small, large] = [within, beyond].map(|m| Bytes(m.workload.unique_bytes as f64));
    if beyond.was_filling() {
        return Some(format!(
            "Sets of {large} were measured only in the pilot (the coarse first pass), while the file cache was still filling: what serves them cannot be told from this run; a longer --budget would tell."
        ));
    }
    if !pair.is_slower() {
        return None;
    }
    let by = format!("in the pilot {} times slower than sets of {small}", bounded(slower));
    let left = beyond
        .resident_frac
        .filter(|_| residency::fits(within) == Some(true) && residency::held_in(beyond).is_some());
    Some(match left {
        Some(share) => format!(
            "The file cache ends between {small} and {large}: sets of {large} are {by}, and {} of one stays in memory. Where it ends cannot be told from this run; a longer budget would tell.",
            percent(share)
        ),
        None => format!(
            "Sets of {large} are {by}; whether a cache ends between them cannot be told from this run; a longer budget would tell."
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::measurement;
    use ioscape_schema::{
        Access, CurveKey, Parameter, Point, Probe, Warning, WarningKind, Workload,
    };

    const GIB: f64 = 1073741824.0;

    /// A pilot of 6 and 32 GiB, whose larger set is `slower` times slower and has these `resident`
    /// shares, and a curve up to `curve_gib`.
    fn evaluation(slower: f64, resident: Option<[f64; 2]>, curve_gib: f64) -> Evaluation {
        let of = |gib: f64, rate: f64, share: Option<[f64; 2]>| {
            let workload = Workload::default().with(Parameter::UniqueBytes, gib * GIB);
            let mut m = measurement(&workload, rate, 1.0, rate);
            m.resident_frac = share.map(|[_, after]| after);
            m.witness.resident_frac = share;
            m
        };
        let log = |measurement| Probe { purpose: CurveKey::Pilot.into(), measurement };
        let end = of(curve_gib, 5e9, Some([1.0; 2]));
        let point =
            Point { value: curve_gib * GIB, measurement: end, rounds: vec![5e9], spread: None };
        Evaluation {
            unique_bytes_curve: vec![point],
            probes: vec![log(of(6.0, 3e9, Some([1.0; 2]))), log(of(32.0, 3e9 / slower, resident))],
            ..Evaluation::default()
        }
    }

    #[test]
    fn two_witnesses_of_the_pilot_say_that_the_cache_ends() {
        let said = sentence(&evaluation(8.0, Some([0.62, 0.61]), 6.0)).unwrap_or_default();
        assert!(said.contains("ends between 6 GiB and 32 GiB"), "{said}");
        assert!(said.contains("8.0 (6.2 to 10) times slower"), "{said}");
        assert!(said.contains("61 % of one stays in memory"), "{said}");
    }

    #[test]
    fn one_witness_alone_says_no_end() {
        let silent = sentence(&evaluation(8.0, None, 6.0)).unwrap_or_default();
        assert!(silent.contains("whether a cache ends between them cannot be told"), "{silent}");
        assert_eq!(sentence(&evaluation(1.1, Some([0.6, 0.6]), 6.0)), None);
    }

    /// On sshfs, where 20 GiB of file cache were free.
    #[test]
    fn pages_that_something_drops_show_no_end_of_a_cache() {
        let dropping = evaluation(8.0, Some([1.0, 0.61]), 6.0);
        let mut dropped = evaluation(8.0, Some([0.62, 0.61]), 6.0);
        let warning = Warning::new(WarningKind::PagesDropped, "something drops pages");
        dropped.probes[1].measurement.warnings.push(warning);
        for one in [dropping, dropped] {
            let said = sentence(&one).unwrap_or_default();
            assert!(said.contains("whether a cache ends between them cannot be told"), "{said}");
        }
    }

    #[test]
    fn bounds_without_end_are_said_so() {
        let mut open = evaluation(8.0, None, 6.0);
        open.probes[1].measurement.throughput_ci95[0] = 0.0;
        let said = sentence(&open).unwrap_or_default();
        assert!(said.contains(" or more) times slower than sets"), "{said}");
    }

    #[test]
    fn pages_that_other_requests_left_say_nothing_of_direct_ones() {
        let mut direct = evaluation(8.0, Some([0.6, 0.6]), 6.0);
        direct.probes.iter_mut().for_each(|p| p.measurement.workload.access = Access::Direct);
        let said = sentence(&direct).unwrap_or_default();
        assert!(said.contains("whether a cache ends between them cannot be told"), "{said}");
    }

    #[test]
    fn a_set_that_still_came_into_the_cache_tells_nothing() {
        let filling = sentence(&evaluation(8.0, Some([0.2, 0.5]), 6.0)).unwrap_or_default();
        assert!(filling.contains("the file cache was still filling"), "{filling}");
        assert!(!filling.contains("ends between"), "{filling}");
    }

    #[test]
    fn curves_that_reach_as_far_leave_nothing_to_say() {
        let whole = evaluation(8.0, Some([0.6, 0.6]), 32.0);
        assert!(sentence(&whole).is_none() && whole.beyond_curves().is_none());
        assert_eq!(whole.largest_on_curves(), Some(32.0 * GIB));
    }
}
