//! From batches to a process's number, and from processes to a value with its interval.

use ioscape_schema::OsRule;

/// A batch that waited for a processor longer than this share of its time is not clean.
const CLEAN_WAIT: f64 = 0.002;

/// Fewer clean batches than this share of all make the number come from all batches.
const CLEAN_LEAST: f64 = 0.1;

/// Probability that an interval must hold the median with.
const CONFIDENCE: f64 = 0.95;

/// One batch of operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Batch {
    /// Its time.
    pub(crate) ns: u64,
    /// Its operations.
    pub(crate) ops: u64,
    /// How long the process waited for a processor meanwhile; absent where the kernel does not tell.
    pub(crate) delay_ns: Option<u64>,
}

impl Batch {
    fn per_op(self) -> f64 {
        self.ns as f64 / self.ops as f64
    }

    fn is_clean(self) -> Option<bool> {
        Some(self.delay_ns? as f64 <= self.ns as f64 * CLEAN_WAIT)
    }
}

/// What a process's batches come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Number {
    /// Nanoseconds per operation.
    pub(crate) ns_per_op: f64,
    /// Share of batches that never waited.
    pub(crate) clean_frac: Option<f64>,
    /// Time waited over time measured.
    pub(crate) run_delay_frac: Option<f64>,
}

/// The lower quartile: noise only ever adds time, and a minimum would pick the luckiest batch.
fn lower_quartile(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get((values.len().max(1) - 1) / 4).copied()
}

/// The number of one process; `None` without batches.
pub(crate) fn number(batches: &[Batch], rule: OsRule) -> Option<Number> {
    let batches: Vec<Batch> = batches.iter().copied().filter(|b| b.ns > 0 && b.ops > 0).collect();
    let (ns, ops) = batches.iter().fold((0, 0), |(ns, ops), b| (ns + b.ns, ops + b.ops));
    let clean: Vec<f64> =
        batches.iter().filter(|b| b.is_clean() == Some(true)).map(|b| b.per_op()).collect();
    let all = || batches.iter().map(|b| b.per_op()).collect();
    let enough = clean.len() as f64 >= (batches.len() as f64 * CLEAN_LEAST).max(3.0);
    let told = batches.iter().all(|b| b.delay_ns.is_some()) && !batches.is_empty();
    let clean_frac = told.then(|| clean.len() as f64 / batches.len() as f64);
    let delay: u64 = batches.iter().filter_map(|b| b.delay_ns).sum();
    let ns_per_op = match rule {
        OsRule::CleanQuartile if enough => lower_quartile(clean),
        OsRule::CleanQuartile | OsRule::Quartile => lower_quartile(all()),
        OsRule::Mean | OsRule::Single => (ops > 0).then(|| ns as f64 / ops as f64),
    }?;
    Some(Number {
        ns_per_op,
        clean_frac,
        run_delay_frac: told.then(|| delay as f64 / ns.max(1) as f64),
    })
}

/// The median; the mean of the middle two of an even number.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// Order statistics that enclose the median of the distribution at least 95 times of 100, whatever the distribution is
/// (David and Nagaraja, Order Statistics, section 7.1): of n values sorted, the k-th from either end, for the largest k
/// with `P(Binomial(n, 1/2) < k) <= 2.5 %`. `None` with fewer than six values.
pub(crate) fn interval(values: &[f64]) -> Option<[f64; 2]> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let mut probability = 0.5f64.powi(n.min(1000) as i32);
    let (mut below, mut k) = (0.0, 0);
    while k < n / 2 && below + probability <= (1.0 - CONFIDENCE) / 2.0 {
        below += probability;
        probability *= (n - k) as f64 / (k + 1) as f64;
        k += 1;
    }
    (k > 0).then(|| [sorted[k - 1], sorted[n - k]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn batch(ns: u64, delay: u64) -> Batch {
        Batch { ns, ops: 10, delay_ns: Some(delay) }
    }

    #[test]
    fn disturbed_batches_do_not_count() {
        let mut batches = vec![batch(1000, 0); 20];
        batches.extend(vec![batch(5000, 4000); 60]);
        let clean = number(&batches, OsRule::CleanQuartile).unwrap();
        assert_eq!((clean.ns_per_op, clean.clean_frac), (100.0, Some(0.25)));
        let mean = number(&batches, OsRule::Mean).unwrap();
        assert_eq!(mean.ns_per_op, 400.0);
        assert!(clean.run_delay_frac.unwrap() > 0.7);
    }

    #[test]
    fn with_too_few_clean_batches_all_count() {
        let mut batches = vec![batch(1000, 0); 2];
        batches.extend((0..98).map(|i| batch(3000 + i, 2000)));
        let found = number(&batches, OsRule::CleanQuartile).unwrap();
        assert!(found.ns_per_op > 300.0, "{found:?}");
    }

    #[test]
    fn without_the_kernels_help_the_quartile_stands() {
        let batches: Vec<Batch> =
            (1..=9).map(|i| Batch { ns: i * 100, ops: 1, delay_ns: None }).collect();
        let found = number(&batches, OsRule::CleanQuartile).unwrap();
        assert_eq!(found, Number { ns_per_op: 300.0, clean_frac: None, run_delay_frac: None });
        assert_eq!(number(&[], OsRule::Quartile), None);
    }

    #[test]
    fn the_interval_takes_the_known_order_statistics() {
        let values = |n: usize| (1..=n).map(|i| i as f64).collect::<Vec<_>>();
        assert_eq!(interval(&values(5)), None);
        assert_eq!(interval(&values(6)), Some([1.0, 6.0]));
        assert_eq!(interval(&values(12)), Some([3.0, 10.0]));
        assert_eq!(interval(&values(20)), Some([6.0, 15.0]));
        assert_eq!(median(&values(4)), Some(2.5));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn the_interval_holds_the_median_as_often_as_it_says() {
        // A skewed distribution whose median is ln 2, drawn by a fixed generator.
        let mut state = 1u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            -(((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64).ln()
        };
        let trials = 4000;
        let held = (0..trials)
            .filter(|_| {
                let values: Vec<f64> = (0..12).map(|_| draw()).collect();
                let [low, high] = interval(&values).unwrap();
                low <= std::f64::consts::LN_2 && std::f64::consts::LN_2 <= high
            })
            .count();
        let share = held as f64 / f64::from(trials);
        assert!((0.95..0.975).contains(&share), "{share}");
    }

    proptest! {
        #[test]
        fn a_number_lies_among_its_batches(times in proptest::collection::vec(1u64..1_000_000, 1..60), delayed in any::<u64>()) {
            let batches: Vec<Batch> = times.iter().enumerate()
                .map(|(i, &ns)| Batch { ns, ops: 1, delay_ns: Some(if delayed >> (i % 64) & 1 == 1 { ns } else { 0 }) })
                .collect();
            let (least, most) = (*times.iter().min().unwrap() as f64, *times.iter().max().unwrap() as f64);
            for rule in [OsRule::CleanQuartile, OsRule::Quartile, OsRule::Mean] {
                let found = number(&batches, rule).unwrap().ns_per_op;
                prop_assert!(found >= least && found <= most);
            }
        }
    }
}
