//! The findings in words, each with the numbers it rests on.

use super::curve::{best, inverse};
use super::flush::{is_flush_seen, is_slowed_by_flush};
use super::level_sentences;
use super::policy::{Speeds, speeds, write_through_departure};
use super::queue_depth;
use super::words::{bounded, factor, open_times, within};
use crate::phase::Phase;
use ioscape_schema::units::{Bytes, Rate};
use ioscape_schema::{
    Access, Bounded, Difference, Evaluation, Findings, Region, RegionFinding, WritePolicy,
    is_uncertain,
};

/// A write-through curve that departs from its law by no more than this factor follows it.
const FOLLOWS: f64 = 1.3;

/// All sentences, the most important first.
pub(crate) fn sentences(evaluation: &Evaluation, findings: &Findings) -> Vec<String> {
    let mut all = level_sentences::sentences(evaluation, findings);
    all.extend(write_policy(evaluation, findings));
    all.extend(write_through_law(evaluation, findings));
    all.extend(flush(evaluation, findings));
    all.extend(findings.size_for_75_percent_bytes.iter().map(|f| size(evaluation, f)));
    all.extend(findings.sequential_gain.iter().map(sequential));
    all.extend(findings.concurrency_gain.iter().map(|f| concurrency(evaluation, f)));
    all.extend(queue_depth::sentences(evaluation, findings));
    all.extend(findings.write_to_read_ratio.iter().map(reads_and_writes));
    all.extend(drift(evaluation));
    all.retain(|sentence| !sentence.is_empty());
    all
}

fn write_policy(evaluation: &Evaluation, findings: &Findings) -> Option<String> {
    let untested = match evaluation.regions.first()?.focal.access {
        Access::Buffered => None,
        Access::Direct => Some("Direct access bypasses the file cache, so its write policy"),
        Access::Dsync => {
            Some("Every write waits for stable storage (O_DSYNC), so the policy of others")
        }
    };
    if let Some(what) = untested {
        return Some(format!("{what} was not tested."));
    }
    let Some(Speeds { reads, writes, dsync, writes_behind }) = speeds(evaluation) else {
        return Some(
            "The write policy could not be determined: too few of the probes it needs were made."
                .into(),
        );
    };
    let verdict = match findings.write_policy {
        Some(WritePolicy::WriteThrough) => {
            "The file cache writes through: a write costs as much as one that has to reach storage"
        }
        Some(WritePolicy::WriteCancelling) => {
            "The file cache is write-cancelling: rewrites are absorbed at memory speed"
        }
        Some(WritePolicy::NotCached) => {
            "Nothing is gained by a cache here: there is none, or nothing slower behind it"
        }
        Some(WritePolicy::Mixed) => {
            "Writes are neither written through nor cancelled: they run at a speed between those of the cache and of storage"
        }
        None => {
            "The write policy cannot be told from this run: the speeds of cache and storage are too close, or too uncertain"
        }
    };
    let dsync = dsync.map(|d| format!(", synchronous writes at {}", Rate(d))).unwrap_or_default();
    let behind = writes_behind
        .map(|b| format!(", writes in the last region at {}", Rate(b)))
        .unwrap_or_default();
    Some(format!(
        "{verdict} (in the first region reads run at {}, writes at {}{dsync}{behind}).",
        Rate(reads),
        Rate(writes)
    ))
}

fn write_through_law(evaluation: &Evaluation, findings: &Findings) -> Option<String> {
    if findings.write_policy != Some(WritePolicy::WriteThrough) {
        return None;
    }
    let curve = &evaluation.regions.first()?.curves.read_frac;
    let departure = write_through_departure(curve)?;
    let verdict = if departure <= FOLLOWS { "follows" } else { "does not follow" };
    Some(format!(
        "Throughput {verdict} the law of a write-through cache, speed of pure writes over the fraction of writes (typically within a factor of {}).",
        factor(departure)
    ))
}

fn flush(evaluation: &Evaluation, findings: &Findings) -> Option<String> {
    let Some(slowdown) = findings.flush_slowdown else {
        let reason = evaluation.shortened.get(Phase::Findings.name());
        let about = reason.filter(|r| r.starts_with("flushing"))?;
        return Some(format!("What flushing costs is not known: {about}."));
    };
    Some(if is_slowed_by_flush(evaluation) && slowdown.low > 1.0 {
        let cause = match is_flush_seen(evaluation) {
            true => "the device wrote as much as a flush does, by its counters",
            false => "a flush may be the cause",
        };
        format!(
            "In the run that was long enough for a flush, writes in the cache are {} times slower{} than when undisturbed, and single writes stall; {cause}.",
            factor(slowdown.value),
            within(slowdown)
        )
    } else {
        format!(
            "In the run that was long enough for a flush, it does not stall writes in the cache (undisturbed over mean throughput: {}).",
            bounded(slowdown)
        )
    })
}

fn size(evaluation: &Evaluation, finding: &RegionFinding) -> String {
    let curve = region(evaluation, finding).map_or(&[][..], |r| r.curves.size_mean.as_slice());
    let Some((best, largest)) = best(curve).zip(curve.last()) else { return String::new() };
    let speed = format!(
        "75 % of the best throughput of requests up to {} ({} at {})",
        Bytes(largest.value),
        Rate(best.throughput()),
        Bytes(best.value)
    );
    let RegionFinding { region, value, low, high } = finding;
    if is_uncertain(*low, *high) {
        return format!(
            "In {region}, the request size that gives {speed} cannot be told more closely than {} to {}; more rounds would tell.",
            Bytes(*low),
            Bytes(*high)
        );
    }
    format!(
        "In {region}, requests of {} ({} to {}) are large enough for {speed}.",
        Bytes(*value),
        Bytes(*low),
        Bytes(*high)
    )
}

fn region<'a>(evaluation: &'a Evaluation, finding: &RegionFinding) -> Option<&'a Region> {
    evaluation.regions.iter().find(|r| r.name == finding.region)
}

fn interval(finding: &RegionFinding) -> Bounded {
    Bounded { value: finding.value, low: finding.low, high: finding.high }
}

/// "1.4 times faster (1.3 to 1.5)".
fn times(word: &str, by: Bounded) -> String {
    format!("{} times {word}{}", factor(by.value), within(by))
}

fn sequential(finding: &RegionFinding) -> String {
    let (region, by) = (&finding.region, interval(finding));
    match finding.difference() {
        Difference::More => {
            format!(
                "In {region}, sequential requests are {} than random ones.",
                times("faster", by)
            )
        }
        Difference::Less => format!(
            "In {region}, sequential requests are {} than random ones.",
            times("slower", inverse(by))
        ),
        Difference::Alike => {
            format!(
                "In {region}, it does not matter whether requests are sequential{}.",
                within(by)
            )
        }
        Difference::Unknown => format!(
            "In {region}, whether sequential requests are faster than random ones cannot be told from this run{}; more rounds would tell.",
            open_times(by)
        ),
    }
}

fn concurrency(evaluation: &Evaluation, finding: &RegionFinding) -> String {
    let (name, by) = (&finding.region, interval(finding));
    let curve = region(evaluation, finding).map(|r| r.curves.process_num.as_slice());
    let count = curve.and_then(best).map_or(0.0, |p| p.value);
    match finding.difference() {
        Difference::More => {
            format!("In {name}, {count} processes are {} than one.", times("faster", by))
        }
        Difference::Less | Difference::Alike => {
            format!("In {name}, several processes are no faster than one{}.", within(by))
        }
        Difference::Unknown => format!(
            "In {name}, whether several processes are faster than one cannot be told from this run{}; more rounds would tell.",
            open_times(by)
        ),
    }
}

fn reads_and_writes(finding: &RegionFinding) -> String {
    let (region, by) = (&finding.region, interval(finding));
    match finding.difference() {
        Difference::More => format!("In {region}, writes are {} than reads.", times("faster", by)),
        Difference::Less => {
            format!("In {region}, reads are {} than writes.", times("faster", inverse(by)))
        }
        Difference::Alike => {
            format!("In {region}, reads and writes are about equally fast{}.", within(by))
        }
        Difference::Unknown => format!(
            "In {region}, whether reads or writes are faster cannot be told from this run{}; more rounds would tell.",
            open_times(by)
        ),
    }
}

fn drift(evaluation: &Evaluation) -> Option<String> {
    let drift = &evaluation.drift;
    if drift.remeasured == 0 && drift.unresolved == 0 {
        return None;
    }
    let mut text = format!(
        "The speed of the machine changed during the evaluation (by up to {:.0} %): {} points were measured again",
        drift.largest * 100.0,
        drift.remeasured
    );
    if drift.unresolved > 0 {
        text += &format!(", and {} remain in doubt", drift.unresolved);
    }
    Some(text + ".")
}
