//! The findings in words, each with the numbers it rests on.

use super::curve::{at, best};
use super::flush::is_slowed_by_flush;
use super::policy::{Speeds, speeds, write_through_departure};
use crate::phase::Phase;
use ioscape_schema::units::{Bytes, Rate};
use ioscape_schema::{
    Access, Border, BorderOperation, Bounded, Evaluation, Findings, RegionFinding, WritePolicy,
};

/// A gain below this factor counts as none.
const GAIN: f64 = 1.2;
/// A write-through curve that departs from its law by no more than this factor follows it.
const FOLLOWS: f64 = 1.3;

/// All sentences, the most important first.
pub(crate) fn sentences(evaluation: &Evaluation, findings: &Findings) -> Vec<String> {
    let mut all = vec![regions(evaluation)];
    all.push(cache(evaluation, BorderOperation::Read, findings.read_cache_bytes));
    all.push(cache(evaluation, BorderOperation::Write, findings.write_cache_bytes));
    all.extend(further_borders(evaluation));
    all.extend(processor_caches(evaluation));
    all.extend(write_policy(evaluation, findings));
    all.extend(write_through_law(evaluation, findings));
    all.extend(flush(evaluation, findings));
    all.extend(findings.size_for_75_percent_bytes.iter().map(|f| size(evaluation, f)));
    all.extend(findings.sequential_gain.iter().map(sequential));
    all.extend(findings.concurrency_gain.iter().map(|f| concurrency(evaluation, f)));
    all.extend(findings.write_to_read_ratio.iter().map(reads_and_writes));
    all.extend(drift(evaluation));
    all.retain(|sentence| !sentence.is_empty());
    all
}

fn regions(evaluation: &Evaluation) -> String {
    let describe = |region: &ioscape_schema::Region| {
        let [low, high] = region.unique_bytes.map(Bytes);
        let focal = at(&region.curves.read_frac, region.focal.read_frac);
        let speed = focal.map(|p| format!(" ({})", Rate(p.throughput()))).unwrap_or_default();
        format!("{low} to {high}{speed}")
    };
    let described: Vec<String> = evaluation.regions.iter().map(describe).collect();
    match described.len() {
        0 => String::new(),
        1 => format!(
            "Performance has one region, {}: no border between levels of storage was found.",
            described[0]
        ),
        n => {
            format!("Performance has {n} regions by the size of the set: {}.", described.join(", "))
        }
    }
}

fn word(operation: BorderOperation) -> &'static str {
    match operation {
        BorderOperation::Read => "reads",
        BorderOperation::Write => "writes",
        BorderOperation::Mixed => "half reads, half writes",
    }
}

fn cache(evaluation: &Evaluation, operation: BorderOperation, found: Option<Bounded>) -> String {
    let curve = match operation {
        BorderOperation::Write => &evaluation.unique_bytes_write_curve,
        _ => &evaluation.unique_bytes_read_curve,
    };
    let word = word(operation);
    let Some(largest) = curve.last() else {
        return format!("The effective cache size for {word} was not measured.");
    };
    if evaluation.regions.first().is_some_and(|r| r.focal.access == Access::Direct) {
        return String::new();
    }
    let Some(Bounded { value, low, high }) = found else {
        return format!(
            "No cache border was found for {word} in sets up to {}: the cache is larger than that, or nothing slower lies behind it.",
            Bytes(largest.value)
        );
    };
    let border = of_storage(evaluation, operation).next();
    let ratio = border.map_or(1.0, |b| b.ratio);
    format!(
        "The effective file cache for {word} is {} (between {} and {}): just behind it, throughput is {} times lower.",
        Bytes(value),
        Bytes(low),
        Bytes(high),
        factor(ratio)
    )
}

fn of_storage(
    evaluation: &Evaluation,
    operation: BorderOperation,
) -> impl Iterator<Item = &Border> {
    evaluation.borders.iter().filter(move |b| b.operation == operation && !b.in_memory)
}

/// Borders of the processor's caches, which only affect sets that are in memory.
fn processor_caches(evaluation: &Evaluation) -> Vec<String> {
    let sentence = |border: &Border| {
        format!(
            "For {}, throughput falls at {} by a factor of {} although everything stays in memory: this is the end of the processor's caches, not of a level of storage.",
            word(border.operation),
            Bytes(border.unique_bytes),
            factor(border.ratio)
        )
    };
    let is_shown = |b: &&Border| b.in_memory && b.operation != BorderOperation::Mixed;
    evaluation.borders.iter().filter(is_shown).map(sentence).collect()
}

/// Borders beyond the first of each kind: caches further down, such as a server's or a drive's.
fn further_borders(evaluation: &Evaluation) -> Vec<String> {
    let further = |operation| of_storage(evaluation, operation).skip(1);
    let sentence = |border: &Border| {
        format!(
            "For {}, performance falls again at {} by a factor of {}: another cache ends there, such as a server's or a drive's.",
            word(border.operation),
            Bytes(border.unique_bytes),
            factor(border.ratio)
        )
    };
    [BorderOperation::Read, BorderOperation::Write]
        .into_iter()
        .flat_map(further)
        .map(sentence)
        .collect()
}

fn write_policy(evaluation: &Evaluation, findings: &Findings) -> Option<String> {
    if evaluation.regions.first()?.focal.access != Access::Buffered {
        return Some(
            "Direct access bypasses the file cache, so its write policy was not tested.".into(),
        );
    }
    let Some(policy) = findings.write_policy else {
        return Some(
            "The write policy could not be determined: too few of the probes it needs were made."
                .into(),
        );
    };
    let Speeds { reads, writes, dsync, writes_behind } = speeds(evaluation)?;
    let verdict = match policy {
        WritePolicy::WriteThrough => {
            "The file cache writes through: a write costs as much as one that has to reach storage"
        }
        WritePolicy::WriteCancelling => {
            "The file cache is write-cancelling: rewrites are absorbed at memory speed"
        }
        WritePolicy::NotCached => {
            "Nothing is gained by a cache here: there is none, or nothing slower behind it"
        }
        WritePolicy::Mixed => {
            "Writes are neither written through nor cancelled: they run at a speed between those of the cache and of storage"
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
    let Some(Bounded { value, .. }) = findings.flush_slowdown else {
        let reason = evaluation.shortened.get(Phase::Findings.name());
        let about = reason.filter(|r| r.starts_with("flushing"))?;
        return Some(format!("What flushing costs is not known: {about}."));
    };
    Some(if is_slowed_by_flush(evaluation) {
        format!(
            "Flushing slows writes in the cache: during a flush they run {} times slower than undisturbed, and single writes stall.",
            factor(value)
        )
    } else {
        format!(
            "Flushing does not stall writes in the cache (undisturbed over mean throughput: {}).",
            factor(value)
        )
    })
}

fn size(evaluation: &Evaluation, finding: &RegionFinding) -> String {
    let curve = region(evaluation, finding).map(|r| r.curves.size_mean.as_slice());
    let best =
        curve.and_then(best).map(|p| format!(" ({} at {})", Rate(p.throughput()), Bytes(p.value)));
    format!(
        "In {}, requests of {} are large enough for 75 % of the best throughput{}.",
        finding.region,
        Bytes(finding.value),
        best.unwrap_or_default()
    )
}

fn region<'a>(
    evaluation: &'a Evaluation,
    finding: &RegionFinding,
) -> Option<&'a ioscape_schema::Region> {
    evaluation.regions.iter().find(|r| r.name == finding.region)
}

fn sequential(finding: &RegionFinding) -> String {
    let RegionFinding { region, value, .. } = finding;
    if *value >= GAIN {
        format!(
            "In {region}, sequential requests are {} times faster than random ones.",
            factor(*value)
        )
    } else if *value <= 1.0 / GAIN {
        format!(
            "In {region}, sequential requests are {} times slower than random ones.",
            factor(1.0 / value)
        )
    } else {
        format!("In {region}, it does not matter whether requests are sequential.")
    }
}

fn concurrency(evaluation: &Evaluation, finding: &RegionFinding) -> String {
    let name = &finding.region;
    if finding.value < GAIN {
        return format!("In {name}, several processes are no faster than one.");
    }
    let curve = region(evaluation, finding).map(|r| r.curves.process_num.as_slice());
    let count = curve.and_then(best).map_or(0.0, |p| p.value);
    format!("In {name}, {count} processes are {} times faster than one.", factor(finding.value))
}

fn reads_and_writes(finding: &RegionFinding) -> String {
    let RegionFinding { region, value, .. } = finding;
    if *value >= GAIN {
        format!("In {region}, writes are {} times faster than reads.", factor(*value))
    } else if *value <= 1.0 / GAIN {
        format!("In {region}, reads are {} times faster than writes.", factor(1.0 / value))
    } else {
        format!("In {region}, reads and writes are about equally fast.")
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

/// A factor with the digits that its accuracy justifies.
fn factor(value: f64) -> String {
    if value >= 10.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}
