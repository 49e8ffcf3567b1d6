//! Reads off the curves what the papers' authors read off theirs, in numbers with error bounds.

use crate::all_parameters::PERFORMS_WELL;
use crate::explore::FLUSH;
use crate::{policy, sentences};
use ioscape_schema::{
    Border, BorderOperation, Bounded, Evaluation, Findings, Measurement, Point, Region,
    RegionFinding,
};

/// The findings of an evaluation, whole or partial; what the measured points do not tell is left out.
pub fn findings(evaluation: &Evaluation) -> Findings {
    let per_region = |find: fn(&Region) -> Option<Bounded>| -> Vec<RegionFinding> {
        let named = |region: &Region| {
            let Bounded { value, low, high } = find(region)?;
            Some(RegionFinding { region: region.name.clone(), value, low, high })
        };
        evaluation.regions.iter().filter_map(named).collect()
    };
    let mut findings = Findings {
        read_cache_bytes: cache(evaluation, BorderOperation::Read),
        write_cache_bytes: cache(evaluation, BorderOperation::Write),
        write_policy: policy::write_policy(evaluation),
        flush_slowdown: flush_slowdown(evaluation),
        size_for_75_percent_bytes: per_region(size_for_75_percent),
        sequential_gain: per_region(|r| ends_ratio(&r.curves.seq_frac)),
        concurrency_gain: per_region(concurrency_gain),
        write_to_read_ratio: per_region(|r| ends_ratio(&r.curves.read_frac).map(inverse)),
        ..Findings::default()
    };
    findings.sentences = sentences::sentences(evaluation, &findings);
    findings
}

/// First border of storage for one kind of requests: the effective size of the file cache for them.
fn cache(evaluation: &Evaluation, operation: BorderOperation) -> Option<Bounded> {
    let is_of_storage = |b: &&Border| b.operation == operation && !b.in_memory;
    let border = evaluation.borders.iter().find(is_of_storage)?;
    Some(Bounded { value: border.unique_bytes, low: border.low, high: border.high })
}

/// Runs repeat themselves no better than this, whatever their own confidence interval says.
const REPEATABILITY: f64 = 0.02;

/// Relative uncertainty of a point: its confidence interval or the spread of its rounds, whichever is larger.
pub(crate) fn error_of(point: &Point) -> f64 {
    let interval = point.measurement.relative_error();
    let interval = if interval.is_finite() { interval } else { 1.0 };
    interval.max(point.spread.unwrap_or(0.0)).clamp(REPEATABILITY, 1.0)
}

/// Ratio of two points with bounds from both uncertainties; `None` when the lower one did not move any bytes.
pub(crate) fn ratio(over: &Point, under: &Point) -> Option<Bounded> {
    let value = over.throughput() / under.throughput();
    if !value.is_finite() || value <= 0.0 {
        return None;
    }
    let factor = 1.0 + error_of(over).hypot(error_of(under));
    Some(Bounded { value, low: value / factor, high: value * factor })
}

fn inverse(bounded: Bounded) -> Bounded {
    let Bounded { value, low, high } = bounded;
    Bounded { value: 1.0 / value, low: 1.0 / high, high: 1.0 / low }
}

/// Throughput at the upper end of a curve of a fraction over that at its lower end.
fn ends_ratio(curve: &[Point]) -> Option<Bounded> {
    ratio(at(curve, 1.0)?, at(curve, 0.0)?)
}

/// The point of a curve at `value` exactly.
pub(crate) fn at(curve: &[Point], value: f64) -> Option<&Point> {
    curve.iter().find(|p| p.value == value)
}

/// The fastest point of a curve.
pub(crate) fn best(curve: &[Point]) -> Option<&Point> {
    curve.iter().max_by(|a, b| a.throughput().total_cmp(&b.throughput()))
}

/// Least value at which a curve reaches `level`, interpolated on a logarithmic scale.
fn first_at(curve: &[Point], level: f64) -> Option<f64> {
    let reached = curve.iter().position(|p| p.throughput() >= level)?;
    let high = curve[reached].value;
    let Some(before) = reached.checked_sub(1).map(|i| &curve[i]) else { return Some(high) };
    let part = (level - before.throughput()) / (curve[reached].throughput() - before.throughput());
    Some(before.value * (high / before.value).powf(part.clamp(0.0, 1.0)))
}

/// Least request size with 75 % of the best throughput; its bounds are where the level is reached when the best is
/// as much lower or higher as it is uncertain.
fn size_for_75_percent(region: &Region) -> Option<Bounded> {
    let curve = region.curves.size_mean.as_slice();
    let best = best(curve).filter(|_| curve.len() > 1)?;
    let level = PERFORMS_WELL * best.throughput();
    let error = curve.iter().map(error_of).fold(0.0, f64::max);
    let value = first_at(curve, level)?;
    let low = first_at(curve, level / (1.0 + error)).map_or(value, |low| low.min(value));
    let high = first_at(curve, level * (1.0 + error)).map_or(best.value, |high| high.max(value));
    Some(Bounded { value, low, high: high.max(value) })
}

fn concurrency_gain(region: &Region) -> Option<Bounded> {
    let curve = &region.curves.process_num;
    let alone = curve.first().filter(|_| curve.len() > 1)?;
    ratio(best(curve)?, alone)
}

/// The last measurement the log holds for `purpose`.
pub(crate) fn logged<'a>(evaluation: &'a Evaluation, purpose: &str) -> Option<&'a Measurement> {
    evaluation.probes.iter().rev().find(|p| p.purpose == purpose).map(|p| &p.measurement)
}

/// How much slower writes in the cache are over a flush than when undisturbed: the busiest tenth of the run's time
/// slices over its mean (Unix I/O paper, figure 5: HP/UX with and without its 30 s flush).
fn flush_slowdown(evaluation: &Evaluation) -> Option<Bounded> {
    let run = logged(evaluation, FLUSH)?;
    let value = run.burst_ratio?.max(1.0);
    let error = run.relative_error().clamp(0.0, 1.0);
    Some(Bounded { value, low: (value / (1.0 + error)).max(1.0), high: value * (1.0 + error) })
}

/// Response time of one write beyond which it stood still, in nanoseconds.
const STALL_NS: u64 = 50_000_000;

/// Whether the flush made single writes stand still: slowed by half, the longest write 100 times the median and
/// above 50 ms.
pub(crate) fn is_slowed_by_flush(evaluation: &Evaluation) -> bool {
    let Some(run) = logged(evaluation, FLUSH) else { return false };
    let times = run.write.map_or(run.response_time_ns, |w| w.response_time_ns);
    run.burst_ratio.is_some_and(|r| r > 1.5)
        && times.max > STALL_NS
        && times.max >= times.p50.saturating_mul(100)
}
