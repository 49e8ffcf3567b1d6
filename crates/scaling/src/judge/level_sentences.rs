//! Regions, caches and borders in words, each as sure as its probability allows.

use super::curve::{Repeatability, at, best, worst};
use super::in_memory::is_from_memory;
use super::residency;
use super::words::{bounded, open_times, percent, size_within};
use ioscape_schema::units::{Bytes, Rate};
use ioscape_schema::{
    Access, Border, BorderOperation, Bounded, Evaluation, Findings, LevelCount, Point, Region,
};

/// Probability from which on something is said without doubt.
const SURE: f64 = 0.95;
/// Probability from which on another possibility is named.
const WORTH_SAYING: f64 = 0.02;
/// Sizes within this factor of a border's bounds are that border.
const NEAR: f64 = 1.1;
/// Least factor by which sets in memory must differ in speed for it to be said.
const DECLINES: f64 = 1.5;
/// A size whose bounds lie further apart than this factor is given by its bounds alone.
const WIDE: f64 = 1.25;

/// The sentences on levels, the most important first.
pub(super) fn sentences(evaluation: &Evaluation, findings: &Findings) -> Vec<String> {
    let mut all = vec![regions(evaluation)];
    all.push(cache(evaluation, BorderOperation::Read, findings.read_cache_bytes));
    all.push(cache(evaluation, BorderOperation::Write, findings.write_cache_bytes));
    all.extend(further_borders(evaluation));
    all.extend(processor_caches(evaluation));
    all.extend(decline(evaluation));
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
            let is_asked = !evaluation.level_counts.is_empty();
            if is_asked || seen.iter().all(|a| matches!(a, Absence::Resident | Absence::Level)) {
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
    // No probability stands for a disagreement of two ways to judge.
    if let Some(sure) = counts.iter().find(|c| c.probability >= SURE) {
        return Some(format!(
            "{} by the model of levels, {found} by the rules for borders",
            sure.regions
        ));
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

/// Whether the number of regions is said without doubt.
pub(super) fn is_count_told(evaluation: &Evaluation) -> bool {
    rival_counts(evaluation, evaluation.regions.len()).is_none()
}

/// Whether it is said without doubt that the sets of `operation` outgrow no cache.
pub(super) fn is_absence_told(evaluation: &Evaluation, operation: BorderOperation) -> bool {
    let is_even = match absence(evaluation, operation) {
        Absence::Resident | Absence::Level => true,
        Absence::Beyond { slower, .. } => slower.is_some_and(|s| s.high < residency::SLOWER),
        Absence::Unknown => false,
    };
    is_even && rivals(evaluation, operation, None).is_none()
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
            let by = slower.map(open_times).unwrap_or_default();
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
    if let Some(rivals) = rivals(evaluation, operation, first_border(evaluation, operation)) {
        return format!(
            "Where the effective file cache for {word} ends cannot be told from this run: {rivals}; more rounds about these sizes would tell."
        );
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

/// First border of storage for one kind of requests in the most probable hypothesis.
pub(super) fn first_border(evaluation: &Evaluation, operation: BorderOperation) -> Option<Bounded> {
    of_storage(evaluation, operation).next().map(place)
}

/// Where the first border of `operation` lies by hypotheses that differ; `None` where all that count agree with `found`.
pub(super) fn rivals(
    evaluation: &Evaluation,
    operation: BorderOperation,
    found: Option<Bounded>,
) -> Option<String> {
    let first = |count: &LevelCount| match operation {
        BorderOperation::Write => count.write_borders.first().copied(),
        _ => count.read_borders.first().copied(),
    };
    let counts = &evaluation.level_counts;
    let agreed = probability_at(counts, first, found.map(|found| [found.low, found.high]));
    if counts.is_empty() || agreed >= SURE {
        return None;
    }
    let end = |count: &LevelCount| {
        first(count).map_or("no border".to_owned(), |at| Bytes(at).to_string())
    };
    let shared = |count: &LevelCount| probability_at(counts, first, first(count).map(|at| [at; 2]));
    if let Some(sure) = counts.iter().find(|count| shared(count) >= SURE) {
        let ruled = found.map_or("no border".to_owned(), |at| Bytes(at.value).to_string());
        return Some(format!(
            "{} by the model of levels, {ruled} by the rules for borders",
            end(sure)
        ));
    }
    let likely = counts.iter().filter(|c| c.probability >= WORTH_SAYING);
    let said: Vec<String> =
        likely.map(|c| format!("{} ({})", end(c), percent(c.probability))).collect();
    Some(said.join(" or "))
}

/// How probable it is that the first border lies within these bounds, or, without any, that there is none.
fn probability_at(
    counts: &[LevelCount],
    first: impl Fn(&LevelCount) -> Option<f64>,
    bounds: Option<[f64; 2]>,
) -> f64 {
    let is_there = |count: &&LevelCount| match (first(count), bounds) {
        (Some(at), Some(bounds)) => is_within(at, bounds),
        (at, bounds) => at.is_none() && bounds.is_none(),
    };
    counts.iter().filter(is_there).map(|count| count.probability).sum()
}

/// Whether a border is the one that has these bounds.
fn is_within(at: f64, [low, high]: [f64; 2]) -> bool {
    at < high * NEAR && at > low / NEAR
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

/// The interval of a border.
fn place(border: &Border) -> Bounded {
    Bounded { value: border.unique_bytes, low: border.low, high: border.high }
}

/// Borders within memory, as where a processor's cache ends; that everything stays in memory has witnesses, the cause has none.
fn processor_caches(evaluation: &Evaluation) -> Vec<String> {
    let sentence = |border: &Border| {
        let curve = set_size_curve(evaluation, border.operation);
        format!(
            "For {}, throughput falls at {}, where no level of storage ends: everything stays in memory{}. A processor's cache may end there.",
            word(border.operation),
            size_within(place(border)),
            drop_behind(evaluation, curve, place(border))
        )
    };
    let is_shown = |b: &&Border| b.in_memory && b.operation != BorderOperation::Mixed;
    evaluation.borders.iter().filter(is_shown).map(sentence).collect()
}

/// How much slower large sets are than small ones although all of them are in memory, where no border within memory says it.
fn decline(evaluation: &Evaluation) -> Option<String> {
    let noise = Repeatability::of(evaluation);
    let fall = |operation: BorderOperation| {
        let is_own = |b: &Border| b.in_memory && b.operation == operation;
        let curve = set_size_curve(evaluation, operation);
        let end = first_border(evaluation, operation).map_or(f64::INFINITY, |end| end.low);
        let is_in_memory = |p: &&Point| p.value < end && is_from_memory(&p.measurement);
        let smallest = curve.first().filter(is_in_memory)?;
        let largest = curve.iter().rev().find(is_in_memory)?;
        let by = noise.ratio(smallest, largest).filter(|by| by.low >= DECLINES)?;
        let [from, to] = [smallest, largest].map(|p| Bytes(p.value));
        (!evaluation.borders.iter().any(is_own)).then(|| {
            format!("of {} {} times from sets of {from} to {to}", word(operation), bounded(by))
        })
    };
    let falls: Vec<String> =
        [BorderOperation::Read, BorderOperation::Write].into_iter().filter_map(fall).collect();
    (!falls.is_empty()).then(|| {
        let falls = falls.join(", ");
        format!(
            "Within memory, throughput falls with the size of the set: {falls}. The processors' caches may be what is outgrown."
        )
    })
}

/// How probable it is that one of the borders of `operation` lies at `found`.
fn probability_of(evaluation: &Evaluation, operation: BorderOperation, found: Bounded) -> f64 {
    let is_there = |at: &f64| is_within(*at, [found.low, found.high]);
    let has = |count: &&LevelCount| match operation {
        BorderOperation::Write => count.write_borders.iter().any(is_there),
        _ => count.read_borders.iter().any(is_there),
    };
    let counts = &evaluation.level_counts;
    if counts.is_empty() {
        return 1.0;
    }
    counts.iter().filter(has).map(|c| c.probability).sum()
}

/// Borders beyond the first of each kind: caches further down, such as a server's or a drive's.
fn further_borders(evaluation: &Evaluation) -> Vec<String> {
    let sentence = |border: &Border| {
        let (word, at) = (word(border.operation), size_within(place(border)));
        let probability = probability_of(evaluation, border.operation, place(border));
        if probability < SURE {
            return format!(
                "Whether {word} have another border at {at} cannot be told from this run ({}); more rounds about this size would tell.",
                percent(probability)
            );
        }
        let curve = set_size_curve(evaluation, border.operation);
        let drop = drop_behind(evaluation, curve, place(border));
        format!(
            "For {word}, throughput has another border at {at}{drop}. A further cache, such as a server's or a drive's, may end there."
        )
    };
    [BorderOperation::Read, BorderOperation::Write]
        .into_iter()
        .flat_map(|operation| of_storage(evaluation, operation).skip(1))
        .map(sentence)
        .collect()
}
