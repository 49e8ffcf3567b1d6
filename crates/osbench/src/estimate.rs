//! From batches to a process's number, and from numbers to a value's interval.

use ioscape_schema::{OsRule, statistics};

/// A batch is not clean if other programs used the processor for more than this share of its time.
const CLEAN_WAIT: f64 = 0.002;

/// A batch is not clean either if the processor was slower before or after it, by more than this
/// factor, than at its fastest in the run. A neighbour on the core slows it by 1.2 to 1.5; without
/// one, times vary by a few per cent.
const PACE_MOST: f64 = 1.1;

/// A process with fewer clean batches was disturbed.
const BATCHES_LEAST: usize = 3;

/// A mean over all batches counts as measured at full speed if at least this share of them were.
const FULL_PACE_LEAST: f64 = 0.8;

/// The same for the lower quartile of all batches. A quarter would suffice if every slowdown of a
/// batch showed before or after it.
const FULL_PACE_LEAST_QUARTILE: f64 = 0.5;

/// A mean over all batches is valid up to this share of others' time, which is subtracted.
const DELAY_MOST: f64 = 0.1;

/// Fewest values that have a distribution-free interval.
pub(crate) const INTERVAL_LEAST: usize = 6;

/// Fewest values that have an interval at all.
pub(crate) const FEW_LEAST: usize = 3;

/// An interval is wide if an end is further from the value than this share of it.
const WIDE: f64 = 0.05;

/// Whether an interval is wide.
pub(crate) fn is_wide(value: f64, [low, high]: [f64; 2]) -> bool {
    low < value * (1.0 - WIDE) || high > value * (1.0 + WIDE)
}

/// One batch of operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Batch {
    /// Duration in nanoseconds.
    pub(crate) ns: u64,
    /// Number of operations.
    pub(crate) ops: u64,
    /// How long other programs used the processor meanwhile; absent if the kernel does not report
    /// it.
    pub(crate) delay_ns: Option<u64>,
    /// The longer of the times of the fixed computation just before and just after; 0 if it did not
    /// run.
    pub(crate) pace_ns: u64,
}

impl Batch {
    fn per_op(self) -> f64 {
        self.ns as f64 / self.ops as f64
    }

    /// Whether no other program used the processor; `None` if the kernel does not report it.
    fn is_alone(self) -> Option<bool> {
        Some(self.delay_ns? as f64 <= self.ns as f64 * CLEAN_WAIT)
    }

    /// Whether the processor ran at full speed, at which the fixed computation takes `fastest_ns`.
    fn at_full_pace(self, fastest_ns: u64) -> bool {
        self.pace_ns as f64 <= fastest_ns as f64 * PACE_MOST
    }

    /// Returns the time per operation without the time that others took.
    fn own_per_op(self) -> f64 {
        self.ns.saturating_sub(self.delay_ns.unwrap_or(0)).max(1) as f64 / self.ops as f64
    }
}

/// The result of a process's batches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Number {
    /// Nanoseconds per operation.
    pub(crate) ns_per_op: f64,
    /// Share of batches that are clean.
    pub(crate) clean_frac: Option<f64>,
    /// Share of the measured time that others took.
    pub(crate) run_delay_frac: Option<f64>,
    /// The slowdown: time of the fixed computation around the median batch, relative to full speed.
    /// The average if the number is a mean; 1 if the computation did not run.
    pub(crate) slower: f64,
    /// Why the number does not count and is only kept as evidence.
    pub(crate) flaw: Option<Flaw>,
}

/// What is wrong with the number of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Flaw {
    /// A quota of processor time stopped it.
    Throttled,
    /// It was stopped, for example by `SIGSTOP`, or with its control group or the machine.
    Stopped,
    /// Other programs used its processor, so too little ran undisturbed.
    Interrupted,
    /// Other programs that share memory, storage or a second processor with it were running.
    Others,
    /// The hypervisor took part of the time, and there are no batches from which to choose
    /// undisturbed ones.
    Stolen,
    /// Other programs used the device that it waits for.
    Storage,
    /// Some program waited for memory.
    Memory,
    /// Its processor was slower than at its fastest in the run.
    Slowed,
    /// The same, but no program of this machine was seen to cause it: the number counts if too few
    /// others do.
    Unexplained,
}

/// Returns the best time of the fixed computation in a process: its lower decile, because a
/// neighbour may be on the core nearly all of the time.
pub(crate) fn pace(batches: &[Batch]) -> Option<u64> {
    low_quantile(batches.iter().map(|batch| batch.pace_ns).collect(), 10)
}

/// Returns its time at full speed, from the best times of the processes: the lower twentieth,
/// because the least of many is luck, such as a clock that the processor cannot sustain.
pub(crate) fn full_pace(of_processes: Vec<u64>) -> Option<u64> {
    low_quantile(of_processes, 20)
}

/// Returns the value that one of `parts` equal parts of all lies below.
fn low_quantile(mut all: Vec<u64>, parts: usize) -> Option<u64> {
    all.sort_unstable();
    all.get(all.len() / parts).copied()
}

/// Gives each batch the longest time of the fixed computation from one batch before to one after
/// it. A neighbour that pauses for microseconds may go unseen during one batch, but hardly four
/// times in a row.
fn seen_longer(batches: Vec<Batch>) -> Vec<Batch> {
    let paces: Vec<u64> = batches.iter().map(|batch| batch.pace_ns).collect();
    let around = |at: usize| &paces[at.saturating_sub(1)..(at + 2).min(paces.len())];
    let longest = |at: usize| around(at).iter().copied().max().unwrap_or(0);
    let all = batches.into_iter().enumerate();
    all.map(|(at, batch)| Batch { pace_ns: longest(at), ..batch }).collect()
}

/// Returns the lower quartile: noise only adds time, and a minimum would pick the luckiest batch.
fn lower_quartile(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get((values.len().max(1) - 1) / 4).copied()
}

/// Returns which batches no other program disturbed, neither directly nor through the caches that
/// it used just before.
fn alone(batches: &[Batch]) -> Vec<bool> {
    let undisturbed = |at: usize| batches[at].is_alone() != Some(false);
    (0..batches.len()).map(|at| undisturbed(at) && (at == 0 || undisturbed(at - 1))).collect()
}

/// Returns the lower quartile of the clean batches. If they are too few, returns that of the
/// undisturbed ones at any speed; otherwise that of all batches minus what others took. Both come
/// with the flaw: an interruption costs more than its own time, by an unknown amount, so such a
/// number is evidence and not a result.
fn clean_quartile(batches: &[Batch], fastest_ns: u64) -> Option<(f64, Option<Flaw>)> {
    let undisturbed = batches.iter().zip(alone(batches)).filter(|(_, alone)| *alone);
    let undisturbed: Vec<Batch> = undisturbed.map(|(batch, _)| *batch).collect();
    let clean = undisturbed.iter().filter(|batch| batch.at_full_pace(fastest_ns));
    let clean: Vec<f64> = clean.map(|batch| batch.per_op()).collect();
    if clean.len() >= BATCHES_LEAST {
        return Some((lower_quartile(clean)?, None));
    }
    if undisturbed.len() >= BATCHES_LEAST {
        let slow = undisturbed.iter().map(|batch| batch.per_op()).collect();
        return Some((lower_quartile(slow)?, Some(Flaw::Slowed)));
    }
    let own = batches.iter().map(|batch| batch.own_per_op()).collect();
    Some((lower_quartile(own)?, Some(Flaw::Interrupted)))
}

/// Returns the slowdown of the fixed computation relative to `fastest_ns`: around the median batch,
/// or on average if all batches make the number.
fn slower(batches: &[Batch], rule: OsRule, fastest_ns: u64) -> f64 {
    let paces: Vec<f64> = batches.iter().map(|batch| batch.pace_ns as f64).collect();
    let pace = match rule {
        OsRule::Mean => (!paces.is_empty()).then(|| statistics::mean(&paces)),
        _ => median(&paces),
    };
    pace.map_or(1.0, |pace| (pace / fastest_ns.max(1) as f64).max(1.0))
}

/// Returns the number of one process, given the run's full-speed time of the fixed computation,
/// `fastest_ns`; `None` without batches.
pub(crate) fn number(batches: &[Batch], rule: OsRule, fastest_ns: u64) -> Option<Number> {
    let batches: Vec<Batch> = batches.iter().copied().filter(|b| b.ns > 0 && b.ops > 0).collect();
    let batches = seen_longer(batches);
    let (ns, ops) = batches.iter().fold((0, 0), |(ns, ops), b| (ns + b.ns, ops + b.ops));
    let count = batches.len() as f64;
    let told = batches.iter().all(|b| b.delay_ns.is_some()) && !batches.is_empty();
    let undisturbed = batches.iter().filter(|b| b.is_alone() == Some(true)).count() as f64;
    let fast = batches.iter().filter(|b| b.at_full_pace(fastest_ns)).count() as f64;
    let least = if rule == OsRule::Quartile { FULL_PACE_LEAST_QUARTILE } else { FULL_PACE_LEAST };
    let slowed = (fast < (count * least).max(1.0)).then_some(Flaw::Slowed);
    let delay: u64 = batches.iter().filter_map(|b| Some(b.delay_ns?.min(b.ns))).sum();
    let waited = (delay as f64 > ns as f64 * DELAY_MOST).then_some(Flaw::Interrupted);
    let (ns_per_op, flaw) = match rule {
        OsRule::CleanQuartile => clean_quartile(&batches, fastest_ns)?,
        OsRule::Quartile => (lower_quartile(batches.iter().map(|b| b.per_op()).collect())?, slowed),
        OsRule::Mean | OsRule::Single if ops > 0 => {
            ((ns - delay).max(1) as f64 / ops as f64, waited.or(slowed))
        }
        OsRule::Mean | OsRule::Single => return None,
    };
    Some(Number {
        ns_per_op,
        clean_frac: told.then(|| undisturbed / count),
        run_delay_frac: told.then(|| delay as f64 / ns.max(1) as f64),
        slower: slower(&batches, rule, fastest_ns),
        flaw,
    })
}

/// Returns the number of a whole benchmark run in `pieces`, each with its share of the time and the
/// time of the fixed computation in it. It counts as measured at full speed by the rule for means,
/// weighted by that time.
pub(crate) fn whole(value: f64, pieces: &[Batch], fastest_ns: u64) -> Number {
    let time = |one: &Batch| one.ns as f64;
    let all: f64 = pieces.iter().map(time).sum();
    let fast: f64 = pieces.iter().filter(|one| one.at_full_pace(fastest_ns)).map(time).sum();
    let paced: f64 = pieces.iter().map(|one| time(one) * one.pace_ns as f64).sum();
    Number {
        ns_per_op: value,
        clean_frac: None,
        run_delay_frac: None,
        slower: (paced / all.max(1.0) / fastest_ns.max(1) as f64).max(1.0),
        flaw: (fast < all * FULL_PACE_LEAST).then_some(Flaw::Slowed),
    }
}

/// Returns the median, if there are values.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| statistics::median(values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn batch(ns: u64, delay: u64) -> Batch {
        Batch { ns, ops: 10, delay_ns: Some(delay), pace_ns: 10 }
    }

    #[test]
    fn disturbed_batches_do_not_count() {
        let mut batches = vec![batch(1000, 0); 20];
        batches.extend(vec![batch(5000, 4000); 60]);
        let clean = number(&batches, OsRule::CleanQuartile, 10).unwrap();
        assert_eq!((clean.ns_per_op, clean.clean_frac), (100.0, Some(0.25)));
        assert!(clean.flaw.is_none() && clean.run_delay_frac.unwrap() > 0.7);
        let mean = number(&batches, OsRule::Mean, 10).unwrap();
        assert_eq!((mean.ns_per_op, mean.flaw), (100.0, Some(Flaw::Interrupted)));
        batches.truncate(21);
        let mean = number(&batches[..20], OsRule::Mean, 10).unwrap();
        assert_eq!((mean.ns_per_op, mean.flaw), (100.0, None));
    }

    #[test]
    fn a_number_of_interrupted_batches_is_no_result() {
        let mut batches = vec![batch(900, 0); 2];
        batches.extend((1..=98).map(|i| batch(2000 + i, 1000)));
        let found = number(&batches, OsRule::CleanQuartile, 10).unwrap();
        // The 25th of 100: two batches of 90 ns, then from 100.1 ns on.
        assert_eq!((found.ns_per_op, found.flaw), (102.3, Some(Flaw::Interrupted)));
        assert_eq!(found.clean_frac, Some(0.02));
        let all = number(&batches, OsRule::Quartile, 10).unwrap();
        assert_eq!(all.ns_per_op, 202.3);
    }

    #[test]
    fn what_an_interruption_leaves_in_the_caches_is_not_clean() {
        // After each interruption, a batch refills the caches; the next one is undisturbed.
        let cycle = [batch(9000, 8000), batch(1500, 0), batch(1000, 0)];
        let batches: Vec<Batch> = cycle.into_iter().cycle().take(30).collect();
        let found = number(&batches, OsRule::CleanQuartile, 10).unwrap();
        assert_eq!((found.ns_per_op, found.flaw), (100.0, None));
        let batches: Vec<Batch> = cycle[..2].iter().copied().cycle().take(30).collect();
        let found = number(&batches, OsRule::CleanQuartile, 10).unwrap();
        assert_eq!(found.flaw, Some(Flaw::Interrupted));
    }

    #[test]
    fn a_slowed_processor_is_not_clean() {
        let slow = |ns| Batch { pace_ns: 16, ..batch(ns, 0) };
        let mut batches: Vec<Batch> = (0..80).map(|_| slow(1500)).collect();
        batches.extend(vec![batch(2000, 0); 30]);
        let found = number(&batches, OsRule::CleanQuartile, 10).unwrap();
        assert_eq!((found.ns_per_op, found.flaw), (200.0, None), "not by their own time");
        let found = number(&batches[..82], OsRule::CleanQuartile, 10).unwrap();
        assert_eq!(found.flaw, Some(Flaw::Slowed));
        assert_eq!((pace(&batches), pace(&batches[..88])), (Some(10), Some(16)));
        assert_eq!(pace(&[]), None);
        assert_eq!(
            (found.ns_per_op, found.slower),
            (150.0, 1.6),
            "of those that nobody interrupted"
        );
        assert_eq!(full_pace((1..=100).collect()), Some(6), "not the luckiest");
        assert_eq!((full_pace(vec![7, 5]), full_pace(Vec::new())), (Some(5), None));
    }

    #[test]
    fn a_mean_of_mostly_slow_batches_is_not_at_full_speed() {
        let of = |fast: usize| {
            let paces = [vec![10; fast], vec![13; 100 - fast]].concat();
            let batches = paces.into_iter().map(|pace_ns| Batch { pace_ns, ..batch(1000, 0) });
            number(&batches.collect::<Vec<_>>(), OsRule::Mean, 10).unwrap()
        };
        // A slow batch lies next to one of the fast ones.
        let slow = of(23);
        assert_eq!((slow.ns_per_op, slow.flaw), (100.0, Some(Flaw::Slowed)));
        assert!((slow.slower - 1.234).abs() < 1e-9, "{}: 22 fast, 78 slow", slow.slower);
        assert_eq!((of(80).flaw, of(81).flaw), (Some(Flaw::Slowed), None));
    }

    #[test]
    fn a_quartile_of_all_batches_is_at_full_speed_if_half_of_them_are() {
        let flaw = |fast: usize| {
            let paces = [vec![10; fast], vec![13; 100 - fast]].concat();
            let batches = paces.into_iter().map(|pace_ns| Batch { pace_ns, ..batch(1000, 0) });
            number(&batches.collect::<Vec<_>>(), OsRule::Quartile, 10).unwrap().flaw
        };
        // A slow batch lies next to one of the fast ones.
        assert_eq!((flaw(50), flaw(51)), (Some(Flaw::Slowed), None));
    }

    #[test]
    fn a_whole_run_is_as_slow_as_its_pieces_were_on_average() {
        let piece = |ns, pace_ns| Batch { ns, ops: 1, delay_ns: None, pace_ns };
        let of = |fast: usize| {
            let pieces = [vec![piece(1, 10); fast], vec![piece(1, 15); 10 - fast]].concat();
            whole(5.0, &pieces, 10)
        };
        assert_eq!((of(8).flaw, of(7).flaw), (None, Some(Flaw::Slowed)));
        assert!((of(4).slower - 1.3).abs() < 1e-9, "{}", of(4).slower);
        let short = whole(5.0, &[piece(8, 10), piece(1, 15), piece(1, 15)], 10);
        assert_eq!((short.flaw, short.slower), (None, 1.1), "by their time, not their number");
        let untried = whole(5.0, &[], 10);
        assert_eq!((untried.ns_per_op, untried.slower, untried.flaw), (5.0, 1.0, None));
    }

    #[test]
    fn a_neighbour_that_pauses_for_a_moment_is_seen() {
        let at = |pace_ns| Batch { pace_ns, ..batch(1000, 0) };
        let paces = [16, 10, 16, 16, 10, 10, 10, 16];
        let seen = seen_longer(paces.into_iter().map(at).collect());
        let seen: Vec<u64> = seen.into_iter().map(|batch| batch.pace_ns).collect();
        assert_eq!(seen, [16, 16, 16, 16, 16, 10, 16, 16]);
        assert!(seen_longer(Vec::new()).is_empty());
    }

    #[test]
    fn without_the_kernels_help_a_number_says_nothing_of_others() {
        let batches: Vec<Batch> =
            (1..=9).map(|i| Batch { ns: i * 100, ops: 1, delay_ns: None, pace_ns: 10 }).collect();
        let found = number(&batches, OsRule::CleanQuartile, 10).unwrap();
        assert_eq!((found.ns_per_op, found.clean_frac, found.run_delay_frac), (300.0, None, None));
        assert_eq!(found.flaw, None);
        assert_eq!(number(&[], OsRule::Quartile, 10), None);
    }

    #[test]
    fn the_median_of_nothing_is_none() {
        assert_eq!(median(&[1.0, 2.0, 3.0, 4.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }

    proptest! {
        #[test]
        fn a_number_lies_among_its_batches(times in proptest::collection::vec(1u64..1_000_000, 1..60), delayed in any::<u64>()) {
            let batches: Vec<Batch> = times.iter().enumerate()
                .map(|(i, &ns)| {
                    let wait = delayed >> (i % 64) & 1;
                    Batch { ns, ops: 1, delay_ns: Some(ns * wait), pace_ns: 10 + i as u64 % 7 }
                })
                .collect();
            let (least, most) = (*times.iter().min().unwrap() as f64, *times.iter().max().unwrap() as f64);
            for rule in [OsRule::CleanQuartile, OsRule::Quartile, OsRule::Mean] {
                let found = number(&batches, rule, 10).unwrap().ns_per_op;
                let lowest = if rule == OsRule::Quartile { least } else { 0.0 };
                prop_assert!(found >= lowest && found <= most);
            }
        }
    }
}
