//! The findings in words, each with the numbers it rests on.

use super::curve::{Repeatability, at, best, inverse, worst};
use super::flush::is_slowed_by_flush;
use super::policy::{Speeds, speeds, write_through_departure};
use super::residency;
use super::words::{bounded, factor, percent, size_within, within};
use crate::phase::Phase;
use ioscape_schema::units::{Bytes, Rate};
use ioscape_schema::{
    Access, Border, BorderOperation, Bounded, Difference, Evaluation, Findings, Point, Region,
    RegionFinding, WritePolicy,
};

/// Probability from which on the number of regions counts as known.
const SURE: f64 = 0.95;
/// Probability from which on another number is named.
const WORTH_SAYING: f64 = 0.02;
/// A size whose bounds lie further apart than this factor is given by its bounds alone.
const WIDE: f64 = 1.25;
/// A request size whose bounds lie further apart than this factor is not known.
const UNCERTAIN: f64 = 8.0;
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
    let describe = |region: &Region| {
        let [low, high] = region.unique_bytes.map(Bytes);
        let focal = at(&region.curves.read_frac, region.focal.read_frac);
        let speed = focal.map(|p| format!(" ({})", Rate(p.throughput()))).unwrap_or_default();
        format!("{low} to {high}{speed}")
    };
    let described: Vec<String> = evaluation.regions.iter().map(describe).collect();
    let rivals = rival_counts(evaluation, described.len());
    match described.len() {
        0 => String::new(),
        1 => {
            let operations = [BorderOperation::Read, BorderOperation::Write];
            let seen = operations.map(|o| absence(evaluation, o));
            if seen.iter().all(|a| matches!(a, Absence::Resident | Absence::Level)) {
                told(rivals, &described, || {
                    format!("Performance has one region, {}.", described[0])
                })
            } else {
                format!(
                    "No change of level shows in sets of {}; whether there is one cannot be told from this run.",
                    described[0]
                )
            }
        }
        n => told(rivals, &described, || {
            format!("Performance has {n} regions by the size of the set: {}.", described.join(", "))
        }),
    }
}

/// The sentence, or, where other numbers of regions are too probable, that it cannot be told.
fn told(rivals: Option<String>, seen: &[String], sentence: impl Fn() -> String) -> String {
    let Some(rivals) = rivals else { return sentence() };
    format!(
        "How many regions performance has by the size of the set cannot be told from this run: {rivals}; seen so far: {}. A longer budget may tell.",
        seen.join(", ")
    )
}

/// The numbers of regions that are possible, with their probabilities; `None` where `found` is sure, or where no
/// probability is known.
fn rival_counts(evaluation: &Evaluation, found: usize) -> Option<String> {
    let counts = &evaluation.level_counts;
    let of = |n: usize| counts.iter().find(|c| c.regions as usize == n);
    let own = of(found).map_or(0.0, |c| c.probability);
    if counts.is_empty() || own >= SURE {
        return None;
    }
    let likely = counts.iter().filter(|c| c.probability >= WORTH_SAYING);
    let mut named: Vec<(usize, f64)> =
        likely.map(|c| (c.regions as usize, c.probability)).collect();
    if named.iter().all(|(n, _)| *n != found) {
        named.push((found, own));
    }
    let said: Vec<String> = named.iter().map(|(n, p)| format!("{n} ({})", percent(*p))).collect();
    Some(said.join(" or "))
}

fn word(operation: BorderOperation) -> &'static str {
    match operation {
        BorderOperation::Read => "reads",
        BorderOperation::Write => "writes",
        BorderOperation::Mixed => "half reads, half writes",
    }
}

fn set_size_curve(evaluation: &Evaluation, operation: BorderOperation) -> &[Point] {
    match operation {
        BorderOperation::Write => &evaluation.unique_bytes_write_curve,
        BorderOperation::Read => &evaluation.unique_bytes_read_curve,
        BorderOperation::Mixed => &evaluation.unique_bytes_curve,
    }
}

/// Why a curve has no border of storage.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Absence {
    /// By the kernel's counters every set stayed in memory.
    Resident,
    /// Throughput is the same at all sizes, within a factor that would count.
    Level,
    /// Memory holds less than the largest set, and what lies beyond is this many times slower.
    Beyond { held: Bounded, slower: Option<Bounded> },
    /// Neither witness tells.
    Unknown,
}

fn absence(evaluation: &Evaluation, operation: BorderOperation) -> Absence {
    let curve = set_size_curve(evaluation, operation);
    let noise = Repeatability::of(evaluation);
    let Some(largest) = curve.last() else { return Absence::Unknown };
    let held = residency::held_in_all(evaluation).filter(|held| held.high < largest.value);
    if let Some(held) = held {
        let slower = residency::slowdown(&noise.samples(curve), held);
        return Absence::Beyond { held, slower };
    }
    if residency::fits(&largest.measurement) == Some(true) {
        return Absence::Resident;
    }
    let (Some(fastest), Some(slowest)) = (best(curve), worst(curve)) else {
        return Absence::Unknown;
    };
    let change = noise.ratio(fastest, slowest).map_or(f64::INFINITY, |r| r.high);
    if curve.len() > 3 && change < residency::SLOWER { Absence::Level } else { Absence::Unknown }
}

fn no_cache(evaluation: &Evaluation, operation: BorderOperation, largest: &Point) -> String {
    let word = word(operation);
    let most = Bytes(largest.value);
    match absence(evaluation, operation) {
        Absence::Resident => format!(
            "No cache border was met for {word}: sets of up to {most} stay in memory, by the kernel's counters."
        ),
        Absence::Level => format!(
            "Throughput of {word} is the same for all sets up to {most}, within a factor of {}.",
            residency::SLOWER
        ),
        Absence::Beyond { held, slower: Some(slower) } if slower.high < residency::SLOWER => {
            format!(
                "Memory holds {} of a set; beyond it {word} are not slower by a factor of {} or more: {} times.",
                size_within(held),
                residency::SLOWER,
                bounded(slower)
            )
        }
        Absence::Beyond { held, slower: Some(slower) } if slower.low >= residency::SLOWER => {
            format!(
                "Memory holds {} of a set; beyond it {word} seem to be slower ({} times), but too much of it is in doubt to call it a border; more rounds would tell.",
                size_within(held),
                bounded(slower)
            )
        }
        Absence::Beyond { held, slower } => {
            let by = slower.map(|s| format!(" ({} times)", bounded(s))).unwrap_or_default();
            format!(
                "Memory holds {} of a set; whether {word} are slower beyond it cannot be told from this run{by}; more rounds of sets well beyond it would tell.",
                size_within(held)
            )
        }
        Absence::Unknown => format!(
            "No cache border shows for {word} in sets up to {most}, by throughput alone; whether one lies there cannot be told from this run; larger sets, a longer budget or the kernel's residency counters would tell."
        ),
    }
}

fn cache(evaluation: &Evaluation, operation: BorderOperation, found: Option<Bounded>) -> String {
    let curve = set_size_curve(evaluation, operation);
    let word = word(operation);
    let Some(largest) = curve.last() else {
        return format!("The effective cache size for {word} was not measured.");
    };
    if evaluation.regions.first().is_some_and(|r| r.focal.access == Access::Direct) {
        return String::new();
    }
    let Some(found) = found else { return no_cache(evaluation, operation, largest) };
    let place = if found.high > WIDE * found.low {
        format!(
            "The effective file cache for {word} ends between {} and {}",
            Bytes(found.low),
            Bytes(found.high)
        )
    } else {
        format!("The effective file cache for {word} is {}", size_within(found))
    };
    format!("{place}{}{}.", witnesses(evaluation, found), drop_behind(evaluation, curve, found))
}

/// What the border rests on.
fn witnesses(evaluation: &Evaluation, found: Bounded) -> String {
    match residency::held_in_all(evaluation) {
        Some(held) if held.low <= found.value && found.value <= held.high => {
            " by what stays resident and by throughput".into()
        }
        Some(held) => {
            format!(" by throughput; memory holds {} of a set", size_within(held))
        }
        None => " by throughput alone".into(),
    }
}

/// How much slower a set well beyond the border is than the largest one before it.
fn drop_behind(evaluation: &Evaluation, curve: &[Point], found: Bounded) -> String {
    let noise = Repeatability::of(evaluation);
    let before = curve.iter().rev().find(|p| p.value <= found.low);
    let beyond = curve.iter().find(|p| p.value >= 1.5 * found.high).or(curve.last());
    let drop = before.zip(beyond).and_then(|(over, under)| {
        let drop = noise.ratio(over, under).filter(|_| under.value > found.high)?;
        Some((drop, under.value))
    });
    let Some((drop, at)) = drop else { return String::new() };
    if drop.low <= 1.0 {
        return format!("; how much slower sets of {} are cannot be told", Bytes(at));
    }
    format!("; in sets of {} throughput is {} times lower", Bytes(at), bounded(drop))
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
        format!(
            "Flushing slows writes in the cache: during a flush they run {} times slower{} than undisturbed, and single writes stall.",
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
    if *high > UNCERTAIN * low {
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
            "In {region}, whether sequential requests are faster than random ones cannot be told from this run ({} times); more rounds would tell.",
            bounded(by)
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
            "In {name}, whether several processes are faster than one cannot be told from this run ({} times); more rounds would tell.",
            bounded(by)
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
            "In {region}, whether reads or writes are faster cannot be told from this run ({} times); more rounds would tell.",
            bounded(by)
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
