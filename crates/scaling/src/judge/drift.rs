//! Detects whether the machine itself became faster or slower, by the throughput of a fixed
//! reference workload.

use ioscape_schema::statistics::{mean, median};
use ioscape_schema::{Drift, Measurement};

/// Least departure from the median that counts, as a change of log throughput: 15 %.
const LEAST: f64 = 0.14;
/// Largest departure that is put down to noise, however noisy the references are.
const MOST: f64 = 0.47;
/// Least departure that counts for a reference that waits for storage: half or twice the speed.
pub(crate) const FAR: f64 = std::f64::consts::LN_2;

/// Mean distance of two normal values, in standard deviations.
const MEAN_DIFFERENCE: f64 = 1.128;

/// The references of an evaluation, in the order measured.
#[derive(Clone, Debug, Default)]
pub(super) struct References {
    /// Throughput of each without the time in which others kept it from a processor, if that is
    /// known, and as measured; both in bytes per second, above 0.
    all: Vec<(Option<f64>, f64)>,
    /// How many of them waited for storage themselves.
    waiting: usize,
    /// The one of the two throughputs that most of them have; `None` for the rest, which do not
    /// compare.
    compared: Vec<Option<f64>>,
    off: Vec<bool>,
    /// The direction of those that are far off: 1 for faster, -1 for slower.
    far_off: Vec<Option<f64>>,
}

/// A throughput made positive, so that it can be a divisor and has a logarithm.
pub(crate) fn positive(throughput: f64) -> f64 {
    if throughput.is_finite() { throughput.max(1e-3) } else { 1e-3 }
}

impl References {
    pub(super) fn add(&mut self, reference: &Measurement) {
        let undisturbed = reference.undisturbed_bytes_per_s().map(positive);
        self.all.push((undisturbed, positive(reference.throughput_bytes_per_s)));
        self.waiting += usize::from(reference.waits());
        let known = self.all.iter().filter(|one| one.0.is_some()).count();
        let is_known = 2 * known > self.all.len();
        let compared = self.all.iter().map(|one| if is_known { one.0 } else { Some(one.1) });
        self.compared = compared.collect();
        self.weigh();
    }

    /// Decides which of them are off.
    fn weigh(&mut self) {
        let throughputs = self.throughputs();
        let usual = positive(median(&throughputs));
        let [mut off, mut far_off] = [off(&throughputs), far_off(&throughputs)].map(Vec::into_iter);
        let is_off = |one: &Option<f64>| one.is_some() && off.next() == Some(true);
        self.off = self.compared.iter().map(is_off).collect();
        let way = |one: &Option<f64>| {
            one.filter(|_| far_off.next() == Some(true)).map(|one| (one / usual).ln().signum())
        };
        self.far_off = self.compared.iter().map(way).collect();
    }

    /// The throughputs that compare with one another.
    fn throughputs(&self) -> Vec<f64> {
        self.compared.iter().flatten().copied().collect()
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether most of them waited for storage themselves.
    pub(super) fn wait(&self) -> bool {
        2 * self.waiting > self.all.len()
    }

    /// Whether the latest one is off.
    pub(super) fn is_off_now(&self) -> bool {
        self.off.last().copied().unwrap_or(false)
    }

    /// Whether the last one of the first `before`, or the next one, is off.
    pub(super) fn is_off_beside(&self, before: usize) -> bool {
        self.off.iter().skip(before.saturating_sub(1)).take(1 + before.min(1)).any(|off| *off)
    }

    /// Returns the direction of the one of these two that is far off.
    pub(super) fn far_off_beside(&self, before: usize) -> Option<f64> {
        let far_off = self.far_off.iter().skip(before.saturating_sub(1));
        far_off.take(1 + before.min(1)).flatten().copied().next()
    }

    /// How far they differ from one to the next, as a standard deviation of log throughput; `None`
    /// before there are three.
    pub(super) fn noise(&self) -> Option<f64> {
        let throughputs = self.throughputs();
        let steps = throughputs.windows(2).map(|w| (w[0] / w[1]).ln().abs());
        let steps: Vec<f64> = steps.collect();
        (steps.len() > 1).then(|| mean(&steps) / MEAN_DIFFERENCE)
    }

    /// How steady the machine was, without the counts of points.
    pub(super) fn drift(&self) -> Drift {
        let throughputs = self.throughputs();
        let median = median(&throughputs);
        let distance = |t: &f64| (t / positive(median) - 1.0).abs();
        let largest = throughputs.iter().map(distance).fold(0.0, f64::max);
        let not_compared = (self.all.len() - throughputs.len()) as u32;
        Drift { throughputs, median, largest, not_compared, ..Drift::default() }
    }
}

/// Returns, for each reference, whether it is off the median by more than noise explains.
///
/// Noise is estimated from the differences of neighbours. They stay small within a stretch of
/// another speed, so a long stretch does not hide itself. For normal noise the median difference is
/// 0.954 standard deviations.
pub(crate) fn off(throughputs: &[f64]) -> Vec<bool> {
    beyond(throughputs, |noise| (2.5 * noise).clamp(LEAST, MOST))
}

/// Returns, for each reference, whether it is so far off that the storage itself has changed.
///
/// Runs of a few dozen disk requests differ by a tenth, and a drive that is still tidying up after
/// writes reads more slowly for a while.
pub(crate) fn far_off(throughputs: &[f64]) -> Vec<bool> {
    beyond(throughputs, |noise| (5.0 * noise).max(FAR))
}

/// Returns, for each reference, whether it is off the median by more than `allowed` makes of the
/// noise; both are changes of log throughput.
fn beyond(throughputs: &[f64], allowed: impl Fn(f64) -> f64) -> Vec<bool> {
    let logs: Vec<f64> = throughputs.iter().map(|t| t.max(1e-9).ln()).collect();
    let steps: Vec<f64> = logs.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
    let allowed = allowed(median(&steps) / 0.954);
    let middle = median(&logs);
    logs.iter().map(|l| (l - middle).abs() > allowed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::measurement;
    use ioscape_schema::Workload;

    /// References in memory beside other load: measured speed, and that of the time in which they
    /// had a processor, unless a hypervisor took an unknown part of it.
    fn references(speeds: &[(f64, Option<f64>)]) -> References {
        let mut references = References::default();
        for &(measured, undisturbed) in speeds {
            let mut m = measurement(&Workload::default(), measured, 1.0, measured);
            m.witness.run_delay_s = Some(0.5);
            m.cpu_system_s = 0.45;
            m.witness.undisturbed_bytes_per_s = undisturbed;
            references.add(&m);
        }
        references
    }

    /// Once, a run from which a hypervisor took time stood with its measured speed among others
    /// without that time: the machine seemed slower, and points beside it were in doubt.
    #[test]
    fn references_compare_only_with_those_of_which_as_much_is_known() {
        let known = [(50.0, Some(100.0)), (55.0, Some(101.0)), (52.0, Some(99.0))];
        let robbed = references(&[&known[..], &[(48.0, None)], &known[..]].concat());
        assert!((0..8).all(|before| !robbed.is_off_beside(before)), "{robbed:?}");
        let drift = robbed.drift();
        assert_eq!((drift.throughputs.len(), drift.not_compared, drift.median), (6, 1, 100.0));
        assert!(drift.largest < 0.02, "{drift:?}");
        let mostly = references(&[(50.0, None), (49.0, None), (52.0, Some(100.0)), (51.0, None)]);
        assert_eq!(mostly.drift().throughputs, [50.0, 49.0, 52.0, 51.0], "all as measured");
        let slow = references(&[&known[..], &known[..], &[(20.0, Some(40.0))]].concat());
        assert!(slow.is_off_now() && slow.is_off_beside(6) && !slow.is_off_beside(5), "{slow:?}");
    }

    #[test]
    fn a_slow_stretch_is_off_and_the_rest_is_not() {
        let mut references = vec![100.0, 103.0, 98.0, 101.0, 99.0, 102.0, 100.0];
        references.splice(3..3, [51.0, 49.0]);
        let off = off(&references);
        let expected = [false, false, false, true, true, false, false, false, false];
        assert_eq!(off, expected);
    }

    #[test]
    fn a_storage_is_another_where_it_is_slower_than_by_half() {
        let usual = [100.0, 103.0, 70.0, 101.0, 99.0, 102.0, 100.0];
        assert!(off(&usual)[2] && !far_off(&usual)[2]);
        let stretch = [&usual[..], &[19.0; 4]].concat();
        assert_eq!(far_off(&stretch), [[false; 7].as_slice(), &[true; 4]].concat());
    }

    #[test]
    fn a_noisy_reference_is_not_taken_for_drift() {
        let references = [100.0, 80.0, 120.0, 85.0, 115.0, 95.0, 78.0, 118.0];
        assert!(off(&references).iter().all(|o| !o));
    }
}
