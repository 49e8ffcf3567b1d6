//! The findings that the papers' authors read off their curves, as numbers with error bounds.

use super::absence::is_absence_told;
use super::curve::{PERFORMS_WELL, Repeatability, Z95, best, first_at, inverse};
use super::flush::flush_slowdown;
use super::rivals::told_border;
use super::{policy, queue_depth, sentences};
use ioscape_schema::{
    Border, BorderOperation, Bounded, Evaluation, Findings, Region, RegionFinding,
};
use std::f64::consts::SQRT_2;

/// Standard deviation, in its logarithm, of how much faster writes are than reads between one file and the next. An evaluation lays out one file, so
/// that none of its rounds shows how its pages lie in memory, or its blocks on storage: on ten new files of 512 MiB, one after another on
/// a quiet machine with ext4, the ratio differed by 6 %, and in three evaluations by 18 %, while each of them repeated itself to 5 %.
const BETWEEN_FILES: f64 = 0.08;

/// The findings of an evaluation, whole or partial; what the measured points do not show is left out.
pub fn findings(evaluation: &Evaluation) -> Findings {
    let noise = Repeatability::of(evaluation);
    let per_region = |find: fn(Repeatability, &Region) -> Option<Bounded>| -> Vec<RegionFinding> {
        let named = |region: &Region| {
            let Bounded { value, low, high } = find(noise, region)?;
            Some(RegionFinding { region: region.name.clone(), value, low, high })
        };
        evaluation.regions.iter().filter_map(named).collect()
    };
    let mut findings = Findings {
        read_cache_bytes: cache(evaluation, BorderOperation::Read),
        write_cache_bytes: cache(evaluation, BorderOperation::Write),
        no_border_of: [BorderOperation::Read, BorderOperation::Write]
            .into_iter()
            .filter(|operation| has_no_border(evaluation, *operation))
            .collect(),
        write_policy: policy::write_policy(evaluation).and_then(Result::ok),
        flush_slowdown: flush_slowdown(evaluation),
        size_for_75_percent_bytes: per_region(size_for_75_percent),
        sequential_gain: per_region(|noise, r| noise.ends_ratio(&r.curves.seq_frac)),
        concurrency_gain: per_region(concurrency_gain),
        queue_depth_for_90_percent: per_region(queue_depth::saturation),
        queue_depth_gain: per_region(queue_depth::gain),
        write_to_read_ratio: per_region(|noise, r| {
            noise.ends_ratio(&r.curves.read_frac).map(inverse).map(of_any_file)
        }),
        ..Findings::default()
    };
    findings.sentences = sentences::sentences(evaluation, &findings);
    findings
}

/// The same ratio for any file in this place, of the one that was measured.
fn of_any_file(Bounded { value, low, high }: Bounded) -> Bounded {
    let wider = |own: f64| own.ln().hypot(Z95 * BETWEEN_FILES).exp();
    Bounded { value, low: value / wider(value / low), high: value * wider(high / value) }
}

/// First border of storage for one kind of requests: the effective size of the file cache for them. `None` where another
/// place is too probable, where the file cache takes no part, or where the drive's own may be what ends.
fn cache(evaluation: &Evaluation, operation: BorderOperation) -> Option<Bounded> {
    told_border(evaluation, operation).filter(|_| policy::is_of_file_cache(evaluation, operation))
}

fn has_no_border(evaluation: &Evaluation, operation: BorderOperation) -> bool {
    let is_own = |border: &Border| border.operation == operation && !border.in_memory;
    !evaluation.borders.iter().any(is_own) && is_absence_told(evaluation, operation)
}

/// Least request size with 75 % of the best throughput; its bounds are where the level is reached when the best and
/// the others are as much lower or higher as they are uncertain.
fn size_for_75_percent(noise: Repeatability, region: &Region) -> Option<Bounded> {
    let curve = region.curves.size_mean.as_slice();
    let is_steady = curve.iter().all(|point| !point.measurement.was_filling());
    let best = best(curve).filter(|_| curve.len() > 1 && is_steady)?;
    let level = PERFORMS_WELL * best.throughput();
    // The best and the point that reaches the level are both uncertain.
    let error = SQRT_2 * curve.iter().map(|p| noise.error_of(p)).fold(0.0, f64::max);
    let value = first_at(curve, level)?;
    let low = first_at(curve, level / (1.0 + error)).map_or(value, |low| low.min(value));
    // Where no size surely reaches it, a larger one than the best so far may be better.
    let last = curve.last().map_or(best.value, |last| last.value);
    let high = first_at(curve, level * (1.0 + error)).map_or(last, |high| high.max(value));
    Some(Bounded { value, low, high: high.max(value) })
}

fn concurrency_gain(noise: Repeatability, region: &Region) -> Option<Bounded> {
    let curve = &region.curves.process_num;
    let alone = curve.first().filter(|_| curve.len() > 1)?;
    noise.ratio(best(curve)?, alone)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three evaluations of one directory said 0.29 to 0.39, 0.21 to 0.26 and 0.26 to 0.33.
    #[test]
    fn what_one_file_was_found_to_do_holds_for_the_next() {
        let found = [(0.34, 0.29, 0.39), (0.235, 0.21, 0.26), (0.295, 0.26, 0.33)];
        let [a, b, c] = found.map(|(value, low, high)| of_any_file(Bounded { value, low, high }));
        assert!(a.low < b.high && c.low < b.high && a.low < c.high, "{a:?} {b:?} {c:?}");
        let exact = of_any_file(Bounded { value: 2.0, low: 2.0, high: 2.0 });
        assert!(
            (exact.high / 2.0 - 1.1698).abs() < 1e-3 && (2.0 / exact.low - 1.1698).abs() < 1e-3
        );
    }
}
