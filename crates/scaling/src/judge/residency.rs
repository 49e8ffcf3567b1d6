//! The second witness of a border: how many bytes of a set the file cache held when the set no
//! longer fitted.
//!
//! Under random access, the resident share times the set size is the size of the cache, and one
//! point beyond it is enough to tell. That is a border only for requests that are slower beyond it.

use super::borders::{SAME_BORDER, SetBorder};
use super::segment::Sample;
use ioscape_schema::statistics::{median, sort_by_number};
use ioscape_schema::{
    Border, BorderOperation, Bounded, CurveKey, Evaluation, Measurement, Probe, Purpose,
    WarningKind,
};
use std::f64::consts::LN_2;

/// A set of which less than this share is resident does not fit.
const FITS: f64 = 0.97;
/// Largest share of the resident bytes that may have come or gone in the measured part of a steady run.
const STEADY: f64 = 0.1;
/// A run that replaced all that was resident this many times left a full cache behind.
const REPLACED: f64 = 3.0;
/// Largest growth of the resident bytes, as a share of what comes into the file cache, at which the
/// cache counts as full.
const GROWS: f64 = 0.1;
/// Largest relative spread of what runs held at which they agree on one size.
const ONE_SIZE: f64 = 0.12;
/// Largest ratio of the bounds at which the read-only runs tell the size by themselves.
const CLOSE: f64 = 1.06;
/// The size is known no better than this, relative: the kernel keeps a part of memory free that varies.
const KNOWN_TO: f64 = 0.012;
/// Memory's speed next to the border is taken from sets down to this share of it: smaller ones may
/// be served by the processors' caches, twice as fast.
const NEAR: f64 = 1.0 / 4.0;
/// If there is none, it is taken from the nearest set down to this share, with the error
/// [`FAR_OFF`].
const NEAREST: f64 = 1.0 / 20.0;
/// Error of the log time of memory taken from so distant a set: memory may take twice as long at
/// the border, or half as long.
const FAR_OFF: f64 = LN_2 / 2.0;
/// A point that is more standard deviations than this off a law does not follow it.
const OUTLIER: f64 = 2.5;
/// One-sided 95 % of a normal distribution.
const SURELY: f64 = 1.645;

fn share_after(m: &Measurement) -> Option<f64> {
    m.witness.resident_frac.map(|[_, after]| after).or(m.resident_frac)
}

/// Whether the kernel said that the whole set was in the file cache; `None` where it could not be asked.
pub(crate) fn fits(m: &Measurement) -> Option<bool> {
    share_after(m).map(|share| share >= FITS)
}

/// Whether all of these runs were served from memory, by the kernel's counters; false if there is
/// no run, or if the kernel could not be asked.
pub(super) fn all_stayed<'a>(runs: impl Iterator<Item = &'a Measurement>) -> bool {
    let mut runs = runs.peekable();
    runs.peek().is_some() && runs.all(|m| m.resident_frac.is_some() && m.is_from_memory())
}

/// Upper bound on the bytes that came into the file cache while the run was measured.
fn brought(m: &Measurement) -> f64 {
    let read = m.witness.storage_read_bytes.or(m.storage_read_bytes).unwrap_or(m.bytes);
    let written = m.write.map_or(0, |w| w.bytes);
    (read + written).min(m.bytes) as f64
}

/// Upper bound on the share of the resident bytes that came or went while the run was measured.
fn turnover(m: &Measurement, held: f64) -> f64 {
    if let Some([before, after]) = m.witness.resident_frac {
        return (after - before).abs() / after.max(1e-9);
    }
    brought(m) / (held * m.client_count()).max(1.0)
}

/// Whether what came into the file cache replaced other pages, although the warm-up ended at its
/// time cap. Low turnover does not show that: little may change in one run of a cache still
/// filling, too.
fn is_full(m: &Measurement) -> bool {
    let brought = brought(m);
    brought > 0.0 && m.grown_bytes().is_some_and(|grown| grown <= GROWS * brought)
}

/// Returns the resident bytes of the set, in a run whose set did not fit and whose cache was full
/// and steady.
pub(super) fn held_in(m: &Measurement) -> Option<f64> {
    let share = share_after(m).filter(|s| *s > 0.0 && *s < FITS)?;
    let held = share * m.workload.unique_bytes as f64;
    let turnover = turnover(m, held);
    let is_steady = turnover <= STEADY || turnover >= REPLACED;
    let is = |kind| m.warnings.iter().any(|warning| warning.kind == kind);
    let is_full = !is(WarningKind::PagesDropped) && (!is(WarningKind::NotSteady) || is_full(m));
    (m.workload.access.reads_cached() && is_steady && is_full).then_some(held)
}

/// Returns what the cache holds, by the residency of all runs, with 95 % bounds.
///
/// `None` if fewer than two runs outgrew it, the kernel was not asked, or the runs do not agree on
/// one size.
pub(crate) fn held<'a>(runs: impl Iterator<Item = &'a Measurement>) -> Option<Bounded> {
    let (mut sizes, mut fitted): (Vec<f64>, f64) = (Vec::new(), 0.0);
    for run in runs {
        if let Some(size) = held_in(run) {
            sizes.push(size);
        } else if share_after(run).is_some_and(|share| share >= FITS) {
            fitted = fitted.max(FITS * run.workload.unique_bytes as f64);
        }
    }
    if sizes.len() < 2 {
        return None;
    }
    let value = median(&sizes);
    let distances: Vec<f64> = sizes.iter().map(|s| (s / value - 1.0).abs()).collect();
    let deviation = (1.4826 * median(&distances)).max(KNOWN_TO);
    if deviation > ONE_SIZE || fitted > value * SAME_BORDER {
        return None;
    }
    let error = 2.5 * deviation / (sizes.len() as f64).sqrt() + KNOWN_TO;
    let value = value.max(fitted);
    Some(Bounded { value, low: value / (1.0 + error), high: value * (1.0 + error) })
}

/// Returns the size by the read-only runs or, if they do not tell it closely, by all runs. Of sets
/// that are also written, the cache holds a little less.
pub(crate) fn of_reads_or(
    reads: Option<Bounded>,
    all: impl FnOnce() -> Option<Bounded>,
) -> Option<Bounded> {
    reads.filter(|held| held.high <= CLOSE * held.low).or_else(all)
}

/// Returns what the cache holds by an evaluation's log: by its curve of reads, or by all runs that
/// vary the set size.
pub(crate) fn held_in_all(evaluation: &Evaluation) -> Option<Bounded> {
    let held_by = |is_one: fn(&CurveKey) -> bool| {
        let is_one_of =
            |p: &&Probe| matches!(p.purpose.first(), Purpose::Curve(key) if is_one(key));
        held(evaluation.probes.iter().filter(is_one_of).map(|p| &p.measurement))
    };
    let reads = held_by(|key| *key == CurveKey::UniqueBytes(BorderOperation::Read));
    of_reads_or(reads, || held_by(|key| matches!(key, CurveKey::UniqueBytes(_) | CurveKey::Pilot)))
}

/// Memory's time per byte next to the border and its relative error.
fn memory(samples: &[Sample], held: Bounded) -> Option<(f64, f64)> {
    let down_to = |share: f64| {
        let sets = share * held.value..=held.high;
        samples.iter().filter(move |sample| sets.contains(&sample.unique_bytes))
    };
    let near: Vec<&Sample> = down_to(NEAR).collect();
    if near.is_empty() {
        let nearest = down_to(NEAREST).max_by(|a, b| a.unique_bytes.total_cmp(&b.unique_bytes))?;
        return Some((nearest.s, nearest.sigma.max(FAR_OFF)));
    }
    let logs: Vec<f64> = near.iter().map(|s| s.s.ln()).collect();
    let level = median(&logs);
    let scatter: Vec<f64> = logs.iter().map(|l| (l - level).abs()).collect();
    let usual = near.iter().map(|s| s.sigma).fold(0.0, f64::max);
    Some((level.exp(), (1.4826 * median(&scatter)).max(usual) / (near.len() as f64).sqrt()))
}

/// Time per byte of the next level over that of memory, with its one-sided 95 % bounds; `None` where
/// no time above 0 explains the sets beyond.
///
/// Behind the border `held`, misses are 1 - C / U of the requests: T = T_memory (1 + d (1 - C / U)); d by weighted least squares.
pub(crate) fn slowdown(samples: &[Sample], held: Bounded) -> Option<Bounded> {
    let (level, error) = memory(samples, held)?;
    let behind = samples.iter().filter(|s| s.unique_bytes > held.high);
    let (mut moment, mut weight, mut of_level) = (0.0, 0.0, 0.0);
    for sample in behind {
        let over = sample.s / level;
        let missed = 1.0 - held.value / sample.unique_bytes;
        // A set faster than memory is so by error, which makes it no surer.
        let least = over.max(1.0);
        let w = (least * sample.sigma).powi(-2);
        moment += w * missed * (over - 1.0);
        weight += w * missed * missed;
        of_level += w * missed * least;
    }
    // All points share the error of memory's level, so more of them do not reduce it.
    let value = 1.0 + moment / weight;
    let off = SURELY * weight.sqrt().recip().hypot(error * of_level / weight);
    let bounds = Bounded { value, low: (value - off).max(0.0), high: value + off };
    (value > 0.0 && bounds.high.is_finite()).then_some(bounds)
}

/// Whether the misses of this one border explain how slow all sets beyond it are.
fn explains(samples: &[Sample], held: Bounded) -> bool {
    let Some(((level, error), slower)) = memory(samples, held).zip(slowdown(samples, held)) else {
        return false;
    };
    let departs = |s: &&Sample| {
        let expected = level * (1.0 + (slower.value - 1.0) * (1.0 - held.value / s.unique_bytes));
        (s.s / expected.max(1e-30)).ln().abs() > OUTLIER * s.sigma.hypot(error)
    };
    !samples.iter().filter(|s| s.unique_bytes > held.high).any(|s| departs(&s))
}

/// Adds the second witness to the borders of one curve that throughput alone has shown.
///
/// If both show the border, its bounds are those of residency where the two agree; otherwise they
/// cover both. A border that only residency shows is added if the level beyond is surely slower.
pub(crate) fn confirm(
    borders: &mut Vec<SetBorder>,
    samples: &[Sample],
    operation: BorderOperation,
    held: Option<Bounded>,
) {
    let Some(held) = held else { return };
    if explains(samples, held) {
        borders.retain(|b| b.border.in_memory || b.border.unique_bytes <= held.value * SAME_BORDER);
    }
    let is_slower = slowdown(samples, held).is_some_and(|s| s.low >= Evaluation::SLOWER);
    let is_near = |b: &SetBorder| {
        let Border { low, high, unique_bytes, .. } = b.border;
        let place = (held.value / unique_bytes).ln().abs();
        !b.border.in_memory && (place < SAME_BORDER.ln() || (low <= held.high && held.low <= high))
    };
    if let Some(same) = borders.iter_mut().find(|b| is_near(b)) {
        let border = &mut same.border;
        let agrees = border.low <= held.high && held.low <= border.high;
        border.unique_bytes = held.value;
        border.low = if agrees { held.low } else { held.low.min(border.low) };
        border.high = if agrees { held.high } else { held.high.max(border.high) };
        return;
    }
    if is_slower && let Some(found) = border_at(samples, operation, held) {
        borders.push(found);
        sort_by_number(borders, |one| one.border.unique_bytes);
    }
}

fn border_at(samples: &[Sample], operation: BorderOperation, held: Bounded) -> Option<SetBorder> {
    let next = samples.partition_point(|s| s.unique_bytes <= held.value);
    let (before, behind) = (samples.get(next.checked_sub(1)?)?, samples.get(next)?);
    let well_behind = samples.iter().rev().find(|s| s.unique_bytes <= 2.0 * held.value);
    let ratio = well_behind.map_or(behind.s, |s| s.s.max(behind.s)) / before.s;
    let gap = [before.unique_bytes, behind.unique_bytes];
    Some(SetBorder::new(operation, held, ratio, gap))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Access, Stop, Warning, Workload};

    const GIB: f64 = 1073741824.0;

    fn run(gib: f64, share: f64, read_gib: f64) -> Measurement {
        let workload = Workload { unique_bytes: (gib * GIB) as u64, ..Workload::default() };
        Measurement {
            bytes: (2.0 * GIB) as u64,
            resident_frac: Some(share),
            storage_read_bytes: Some((read_gib * GIB) as u64),
            ..Measurement::empty(workload, Stop::Confident)
        }
    }

    #[test]
    fn share_times_set_is_the_cache() {
        let runs = [
            run(20.0, 1.0, 0.0),
            run(24.0, 0.92, 0.2),
            run(28.0, 0.79, 0.4),
            run(40.0, 0.555, 0.8),
        ];
        let held = held(runs.iter()).unwrap();
        assert!((held.value / GIB - 22.1).abs() < 0.3, "{held:?}");
        assert!(held.low > 21.0 * GIB && held.high < 23.5 * GIB, "{held:?}");
    }

    #[test]
    fn a_cache_that_is_still_filling_has_no_size() {
        // A cold slow disk: every run brings 30 MiB, whatever the set.
        let cold = [run(0.08, 0.375, 0.03), run(0.16, 0.19, 0.03), run(0.32, 0.095, 0.03)];
        assert_eq!(held(cold.iter()), None);
        let growing = [run(30.0, 0.2, 0.4), run(40.0, 0.3, 0.4), run(50.0, 0.4, 0.4)];
        assert_eq!(held(growing.iter()), None, "one size is not seen");
        assert_eq!(held([run(30.0, 0.5, 0.1)].iter()), None, "one run alone may be filling");
        assert_eq!(held([run(30.0, 1.0, 0.0)].iter()), None);
    }

    /// A cold cache that fills slowly: 12 GiB of a set of 40 GiB so far. The little that came in
    /// while it was measured looks steady.
    #[test]
    fn a_size_needs_two_runs_whose_warm_up_was_over() {
        let pair = |gib: f64, [before, after]: [f64; 2]| {
            let mut run = run(gib, after, 0.4);
            run.witness.resident_frac = Some([before, after]);
            run
        };
        let alone = pair(40.0, [0.30, 0.32]);
        assert_eq!(held([alone.clone()].iter()), None);
        let again = pair(30.0, [0.42, 0.43]);
        let both = [alone, again];
        assert!(held(both.iter()).is_some());
        let dropped = both.clone().map(|mut run| {
            run.warnings.push(Warning::new(WarningKind::PagesDropped, "though memory was free"));
            run
        });
        assert_eq!(held(dropped.iter()), None);
        let cold = both.map(|mut run| {
            run.warnings.push(Warning::new(WarningKind::NotSteady, "the warm-up ended at its cap"));
            run
        });
        assert_eq!(held(cold.iter()), None);
        let full = cold.map(|mut run| {
            run.witness.resident_frac = run.resident_frac.map(|share| [share, share]);
            run
        });
        assert!(held(full.iter()).is_some(), "pages took the place of others");
    }

    #[test]
    fn synchronous_writes_leave_the_cache_to_reads() {
        let with = |access| {
            [24.0, 40.0].map(|gib| {
                let mut run = run(gib, 22.0 / gib, 0.2);
                run.workload.access = access;
                run
            })
        };
        let size = |access| held(with(access).iter()).map(|held| (held.value / GIB).round());
        assert_eq!(size(Access::Dsync), Some(22.0));
        assert_eq!(size(Access::Direct), None, "what is resident was not asked for");
    }

    /// Writes at 3.7, 2.9 and 69 MB/s before the end of memory, and at 42 beyond it. Once, these were
    /// "not slower: 0.00 (0.00 to 0.00) times".
    #[test]
    fn sets_beyond_memory_that_are_faster_than_it_do_not_tell_how_slow_misses_are() {
        const MIB: f64 = GIB / 1024.0;
        let sample = |mib: f64, mb_per_s: f64| {
            let (unique_bytes, s) = (mib * MIB, 1e-6 / mb_per_s);
            Sample { unique_bytes, s, sigma: 0.128, noise: 0.128 }
        };
        let held = Bounded { value: 94.2 * MIB, low: 91.5 * MIB, high: 96.9 * MIB };
        let near = [(30.0, 3.7), (36.0, 2.9), (45.0, 68.9)].map(|(mib, speed)| sample(mib, speed));
        let beyond = |speed: f64| slowdown(&[&near[..], &[sample(300.0, speed)]].concat(), held);
        assert_eq!(beyond(42.1), None, "even misses at no cost take longer");
        let faster = beyond(5.0).unwrap();
        assert!(faster.value < 0.7 && faster.high > 1.15, "{faster:?}");
    }

    /// Eight sets beyond a border, with memory measured in one set alone: whatever that is off by,
    /// all of them are.
    #[test]
    fn more_sets_beyond_a_border_do_not_tell_the_speed_of_memory() {
        let sample = |gib: f64, s, sigma| Sample { unique_bytes: gib * GIB, s, sigma, noise: 0.1 };
        let held = Bounded { value: 16.0 * GIB, low: 15.5 * GIB, high: 16.5 * GIB };
        let behind = (0..8).map(|_| sample(40.0, 1.095, 0.03));
        let samples: Vec<Sample> = [sample(15.0, 1.0, 0.06)].into_iter().chain(behind).collect();
        let slower = slowdown(&samples, held).unwrap();
        assert!((slower.value - 1.158).abs() < 0.01, "{slower:?}");
        assert!(slower.high > 1.3 && slower.low < 1.0, "{slower:?}");
    }

    /// Writes of 7, 8 and 64 MiB at 7.67, 7.76 and 3.42 GB/s, before a level three times slower.
    /// Once, it was reported to be 10 (4.5 to 16) times slower.
    #[test]
    fn the_speed_of_memory_at_a_border_is_that_of_sets_near_it() {
        const MIB: f64 = GIB / 1024.0;
        let sample = |mib: f64, gb_per_s: f64| {
            let (unique_bytes, s) = (mib * MIB, 1e-9 / gb_per_s);
            Sample { unique_bytes, s, sigma: 0.05, noise: 0.05 }
        };
        let behind = |mib: f64| sample(mib, 3.42 / (1.0 + 2.0 * (1.0 - 125.0 / mib)));
        let held = Bounded { value: 125.0 * MIB, low: 123.0 * MIB, high: 127.0 * MIB };
        let small = [sample(7.0, 7.67), sample(8.0, 7.76)];
        let with = |near: &[Sample]| -> Vec<Sample> {
            [&small[..], near, &[behind(250.0), behind(500.0)]].concat()
        };
        let slower = slowdown(&with(&[sample(64.0, 3.42)]), held).unwrap();
        assert!(slower.low < 3.0 && 3.0 < slower.high && slower.high < 4.0, "{slower:?}");
        // Sets of different speeds leave open which is as fast as memory at the border.
        let apart = slowdown(&with(&[sample(40.0, 6.0), sample(64.0, 3.42)]), held).unwrap();
        assert!(apart.low < 3.0 && 3.0 < apart.high, "{apart:?}");
        let (level, error) = memory(&with(&[]), held).unwrap();
        assert!((level * 7.76e9 - 1.0).abs() < 1e-9, "the largest of what was measured");
        assert!(error > 0.3, "which may be twice as fast: {error}");
        assert_eq!(memory(&[sample(1.0, 7.7), behind(250.0)], held), None, "far from the border");
    }

    /// Once, half of the range was taken for the error, which grows with every set.
    #[test]
    fn one_disturbed_set_does_not_tell_how_well_the_speed_of_memory_is_known() {
        let sample = |gib: f64, s| Sample { unique_bytes: gib * GIB, s, sigma: 0.05, noise: 0.05 };
        let held = Bounded { value: 16.0 * GIB, low: 15.5 * GIB, high: 16.5 * GIB };
        let mut samples: Vec<Sample> = (0..8u32).map(|n| sample(5.0 + f64::from(n), 1.0)).collect();
        samples.push(sample(14.0, 3.0));
        let (level, error) = memory(&samples, held).unwrap();
        assert!((level - 1.0).abs() < 1e-9 && error < 0.05, "{level} {error}");
    }

    #[test]
    fn it_is_a_border_only_where_what_lies_beyond_is_slower() {
        let sample = |gib: f64, s| Sample { unique_bytes: gib * GIB, s, sigma: 0.1, noise: 0.1 };
        let held = Some(Bounded { value: 22.0 * GIB, low: 21.5 * GIB, high: 22.5 * GIB });
        for (far, count) in [(3.0, 1), (1.15, 0), (0.9, 0)] {
            let samples =
                [sample(2.0, 1.0), sample(6.0, 1.1), sample(15.0, 1.0), sample(40.0, far)];
            let mut borders = Vec::new();
            confirm(&mut borders, &samples, BorderOperation::Read, held);
            assert_eq!(borders.len(), count, "{far}");
        }
    }
}
