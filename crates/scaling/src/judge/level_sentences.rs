//! Sentences on regions, caches and borders, each as sure as its probability allows.

use super::absence::{no_cache, untold_end};
use super::beyond;
use super::curve::{Repeatability, at};
use super::dirty;
use super::policy::is_of_file_cache;
use super::residency;
use super::rivals::{filling, not_read_in, probability_of, rivals, why_no_count};
use super::set_size::{first_border, place, word};
use super::slowdown::{drop_at, end_of, is_shown, is_sure};
use super::words::{bounded, percent, size_within, speed_within};
use ioscape_schema::units::Bytes;
use ioscape_schema::{
    Access, Border, BorderOperation, Bounded, CountDoubt, Evaluation, LevelCount, Point, Region,
};

/// Least factor between the speeds of sets in memory for a sentence on their decline.
const DECLINES: f64 = 1.5;
/// A size whose bounds lie further apart than this factor is given by its bounds alone.
const WIDE: f64 = 1.25;
/// Most times faster that a disk gets where seeks are short, or there are none: the platter still has to turn.
const SEEKS_MOST: f64 = 4.0;
/// A disk that reads and writes its platters takes at least this long for a request, in seconds, on average.
const OF_DISK_S: f64 = 1e-3;

/// The sentences on levels, the most important first.
pub(super) fn sentences(evaluation: &Evaluation) -> Vec<String> {
    let mut all = vec![regions(evaluation)];
    all.extend(beyond::sentence(evaluation));
    let mut borders = [BorderOperation::Read, BorderOperation::Write]
        .map(|operation| cache(evaluation, operation))
        .to_vec();
    borders.extend(further_borders(evaluation));
    if evaluation.level_counts.is_empty() {
        borders.iter_mut().for_each(|said| *said = so_far(said));
    }
    all.extend(borders);
    all.extend(processor_caches(evaluation));
    all.extend(decline(evaluation));
    all
}

/// Marks a sentence on borders whose probability was not computed.
fn so_far(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!("So far, {}", uncapitalized(said)) }
}

fn uncapitalized(said: &str) -> String {
    let mut letters = said.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

fn regions(evaluation: &Evaluation) -> String {
    let noise = Repeatability::of(evaluation);
    let describe = |region: &Region| {
        let [low, high] = evaluation.seen_range(region).map(Bytes);
        let focal = at(&region.curves.read_frac, region.focal.read_frac);
        let focal = focal.filter(|point| !point.measurement.was_filling());
        let speed = focal.map(|p| speed_within(p.throughput(), noise.error_of(p)));
        let speed = speed.map(|told| format!(" at {told}")).unwrap_or_default();
        format!("{low} to {high}{speed}")
    };
    let described: Vec<String> = evaluation.regions.iter().map(describe).collect();
    let count = match described.len() {
        0 => return String::new(),
        1 => "one region".to_owned(),
        n => format!("{n} regions by working-set size"),
    };
    let separator = if described.len() == 1 { "," } else { ":" };
    let seen = described.join(", ");
    if evaluation.level_counts.is_empty() {
        return format!(
            "So far, performance has {count}{separator} {seen}; how probable that is was not asked."
        );
    }
    let Some(doubt) = evaluation.count_doubt() else {
        return format!("Performance has {count}{separator} {seen}.");
    };
    let more = match doubt {
        // More rounds would show the same fall of writes.
        CountDoubt::WritesAlone(_) => "",
        _ => " A longer budget may tell.",
    };
    format!(
        "How many regions performance has by working-set size cannot be told from this run: {}; seen so far: {seen}.{more}",
        why_no_count(evaluation, doubt)
    )
}

fn cache(evaluation: &Evaluation, operation: BorderOperation) -> String {
    let curve = evaluation.set_size_curve(operation);
    let word = word(operation);
    let Some(largest) = curve.last() else {
        return format!("The effective cache size for {word} was not measured.");
    };
    let found = first_border(evaluation, operation);
    let has_file_cache = evaluation.has_file_cache(operation);
    let is_sure =
        if found.is_none() { has_file_cache } else { is_of_file_cache(evaluation, operation) };
    let drop = found.and_then(|found| drop_at(evaluation, operation, found));
    let whose = match (is_sure, has_file_cache) {
        (true, _) => "The effective file cache",
        (false, true) => "A cache, perhaps one behind the file cache such as the drive's own,",
        (false, false) if may_be_seeks(largest, drop) => {
            "The advantage of smaller sets (a cache behind the file cache or a disk's shorter seeks)"
        }
        (false, false) => "A cache behind the file cache, such as the drive's own,",
    };
    let within = uncapitalized(whose);
    if let Some(why) = filling(evaluation, operation).filter(|_| found.is_none()) {
        return untold_end(evaluation, operation, &why);
    }
    let first = evaluation.of_storage(operation).next();
    if let Some(why) = first.and_then(|border| not_read_in(evaluation, border)) {
        return format!(
            "Where {within} for {word} ends cannot be told from this run: {why}; a longer budget may tell."
        );
    }
    if let Some(rivals) = rivals(evaluation, operation, found) {
        return format!(
            "Where {within} for {word} ends cannot be told from this run: {rivals}; more rounds about these sizes would tell."
        );
    }
    let Some(found) = found else {
        // Direct requests bypass the file cache and need not meet another one.
        let is_direct = evaluation.access() == Access::Direct;
        return if is_direct { String::new() } else { no_cache(evaluation, operation, largest) };
    };
    if !is_shown(evaluation, operation, found) {
        return format!(
            "Whether {within} for {word} ends at {} cannot be told from this run: it is uncertain how much slower larger sets are; more rounds with sets well beyond it would tell.",
            size_within(found)
        );
    }
    let is_wide = found.high > WIDE * found.low;
    let place = match (is_wide, is_sure) {
        (true, _) => format!(
            "{whose} for {word} ends between {} and {}",
            Bytes(found.low),
            Bytes(found.high)
        ),
        (false, true) => format!("{whose} for {word} is {}", size_within(found)),
        (false, false) => format!("{whose} ends for {word} at {}", size_within(found)),
    };
    let witnesses = witnesses(evaluation, operation, found, drop);
    format!("{place}{witnesses}{}.", lower(drop))
}

/// Whether a disk without a cache may explain that larger sets are this much slower: it seeks farther in them, as beyond the
/// length of a track.
fn may_be_seeks(largest: &Point, drop: Option<(Bounded, f64)>) -> bool {
    let m = &largest.measurement;
    let at_once = f64::from(m.workload.process_num) * f64::from(m.workload.queue_depth);
    let request_s = m.elapsed_s * at_once / m.ios.max(1) as f64;
    request_s >= OF_DISK_S && drop.is_none_or(|(drop, _)| drop.low < SEEKS_MOST)
}

/// Returns the words that name the witnesses of the border. The place of a border of reads comes
/// from residency, so throughput is a witness only of a sure drop.
fn witnesses(
    evaluation: &Evaluation,
    operation: BorderOperation,
    found: Bounded,
    drop: Option<(Bounded, f64)>,
) -> String {
    if operation == BorderOperation::Write && dirty::show(evaluation, found) {
        return match is_sure(drop) {
            true => ", by both dirty bytes and throughput".into(),
            false => ", by dirty bytes alone".into(),
        };
    }
    match residency::held_in_all(evaluation).filter(|_| evaluation.has_file_cache(operation)) {
        Some(held) if held.low <= found.value && found.value <= held.high => match is_sure(drop) {
            true => ", by both residency and throughput".into(),
            false => ", by residency alone".into(),
        },
        Some(held) => {
            format!(" by throughput; memory holds {} of a set", size_within(held))
        }
        None => " by throughput alone".into(),
    }
}

/// Returns the words on how much lower throughput is, and in which sets.
fn lower(drop: Option<(Bounded, f64)>) -> String {
    let Some((drop, at)) = drop else { return String::new() };
    if drop.low <= 1.0 {
        return format!("; how much slower sets of {} are cannot be told", Bytes(at));
    }
    format!("; with sets of {}, throughput is {} times lower", Bytes(at), bounded(drop))
}

/// Returns the borders within memory beyond which throughput is surely lower. Only the rules find
/// such borders.
fn shown_in_memory(
    evaluation: &Evaluation,
    operation: BorderOperation,
) -> impl Iterator<Item = &Border> {
    let own = evaluation.borders.iter().filter(move |b| b.in_memory && b.operation == operation);
    own.filter(move |border| is_sure(drop_at(evaluation, operation, place(border))))
}

/// Returns what shows that no level of storage ends at a border within memory.
fn stays(evaluation: &Evaluation, border: &Border) -> &'static str {
    let end = end_of(evaluation, border.operation, place(border));
    let curve = evaluation.set_size_curve(border.operation).iter();
    let behind: Vec<&Point> = curve.filter(|p| p.value > border.high && p.value <= end).collect();
    let is_known = |p: &&Point| p.measurement.resident_frac.is_some();
    match (behind.iter().all(|p| p.measurement.is_from_memory()), behind.iter().all(is_known)) {
        (true, true) => "where no level of storage ends: everything stays in memory",
        (true, false) => "where no level of storage ends: the processes wait for nothing",
        (false, _) => {
            "where no level of storage seems to end: most of the larger sets stay in memory"
        }
    }
}

/// Returns the sentences on borders within memory, such as the end of a processor's cache. That
/// everything stays in memory has witnesses; the cause has none.
fn processor_caches(evaluation: &Evaluation) -> Vec<String> {
    let sentence = |border: &Border| {
        format!(
            "For {}, throughput falls at {}, {}{}. A processor's cache may end there.",
            word(border.operation),
            size_within(place(border)),
            stays(evaluation, border),
            lower(drop_at(evaluation, border.operation, place(border)))
        )
    };
    [BorderOperation::Read, BorderOperation::Write]
        .into_iter()
        .flat_map(|operation| shown_in_memory(evaluation, operation))
        .map(sentence)
        .collect()
}

/// Returns the sentence on how much slower large sets are than small ones although all are in
/// memory, unless a border within memory says so already.
fn decline(evaluation: &Evaluation) -> Option<String> {
    let noise = Repeatability::of(evaluation);
    let fall = |operation: BorderOperation| {
        let curve = evaluation.set_size_curve(operation);
        let end = first_border(evaluation, operation).map_or(f64::INFINITY, |end| end.low);
        let is_in_memory = |p: &&Point| p.value < end && p.measurement.is_from_memory();
        let smallest = curve.first().filter(is_in_memory)?;
        let largest = curve.iter().rev().find(is_in_memory)?;
        let by = noise.ratio(smallest, largest).filter(|by| by.low >= DECLINES)?;
        let [from, to] = [smallest, largest].map(|p| Bytes(p.value));
        shown_in_memory(evaluation, operation).next().is_none().then(|| {
            format!(
                "{} are {} times slower in sets of {to} than of {from}",
                word(operation),
                bounded(by)
            )
        })
    };
    let falls: Vec<String> =
        [BorderOperation::Read, BorderOperation::Write].into_iter().filter_map(fall).collect();
    (!falls.is_empty()).then(|| {
        let falls = falls.join(", ");
        format!(
            "Within memory, throughput falls as the set grows: {falls}. The set outgrowing the processor caches may be the cause."
        )
    })
}

/// Returns the sentences on borders beyond the first of each kind of request: caches further down,
/// such as a server's or a drive's.
fn further_borders(evaluation: &Evaluation) -> Vec<String> {
    let sentence = |border: &Border| {
        let (word, at) = (word(border.operation), size_within(place(border)));
        if let Some(why) = not_read_in(evaluation, border) {
            return format!(
                "Whether {word} have another border at {at} cannot be told from this run: {why}; a longer budget may tell."
            );
        }
        let probability = probability_of(evaluation, border.operation, place(border));
        if probability < LevelCount::SURE {
            return format!(
                "Whether {word} have another border at {at} cannot be told from this run ({}); more rounds about this size would tell.",
                percent(probability)
            );
        }
        let drop = drop_at(evaluation, border.operation, place(border));
        if !is_sure(drop) {
            return format!(
                "Whether {word} have another border at {at} cannot be told from this run: it is uncertain how much slower larger sets are; more rounds with sets well beyond it would tell."
            );
        }
        let drop = lower(drop);
        if evaluation.may_be_no_level(border) {
            return format!(
                "For {word} only, throughput falls further from about {at} on{drop}. Whether another level ends there, or the pages written back lie farther and farther apart, cannot be told from this run; direct I/O (--access buffered,direct) would show a level."
            );
        }
        format!(
            "For {word}, throughput has another border at {at}{drop}. A further cache, such as a server's or a drive's, may end there."
        )
    };
    [BorderOperation::Read, BorderOperation::Write]
        .into_iter()
        .flat_map(|operation| evaluation.of_storage(operation).skip(1))
        .map(sentence)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{border, point, region};
    use ioscape_schema::{CurveKey, Parameter, Probe, RegionCurves};

    const MIB: f64 = 1048576.0;

    /// Reads of sets of 1 to 64 MiB that are `slower` times slower beyond 12 MiB, where `resident`
    /// gives their resident shares.
    fn within_memory(slower: f64, resident: [Option<f64>; 5]) -> Evaluation {
        let mut evaluation = Evaluation::default();
        let before = [(1.0, Some(1.0)), (4.0, Some(1.0)), (8.0, Some(1.0))];
        let behind = [16.0, 24.0, 32.0, 48.0, 64.0].into_iter().zip(resident);
        for (mib, resident_frac) in before.into_iter().chain(behind) {
            let rate = if mib < 12.0 { 9e9 } else { 9e9 / slower };
            let mut point = point((Parameter::UniqueBytes, mib * MIB), rate, 3);
            let m = &mut point.measurement;
            m.cpu_system_s = m.elapsed_s * f64::from(m.workload.process_num);
            m.resident_frac = resident_frac;
            evaluation.unique_bytes_read_curve.push(point);
        }
        let place = [11.0, 12.0, 13.0].map(|mib| mib * MIB);
        let border = border(BorderOperation::Read, place, slower);
        evaluation.borders.push(Border { in_memory: true, ..border });
        evaluation
    }

    #[test]
    fn that_everything_stays_in_memory_needs_every_set() {
        let said = |slower, resident| processor_caches(&within_memory(slower, resident)).join(" ");
        let all = said(2.0, [Some(1.0); 5]);
        assert!(all.contains("everything stays in memory"), "{all}");
        let most = said(2.0, [Some(1.0), Some(1.0), Some(1.0), Some(0.6), Some(0.6)]);
        assert!(most.contains("most of the larger sets stay in memory"), "{most}");
        assert!(!most.contains("everything"), "{most}");
        let silent = said(2.0, [None; 5]);
        assert!(silent.contains("the processes wait for nothing"), "{silent}");
    }

    /// Once, the fall of reads within memory was taken from sets that storage serves.
    #[test]
    fn a_fall_within_memory_is_that_of_sets_before_the_next_border() {
        let mut evaluation = within_memory(2.0, [Some(1.0); 5]);
        let next = [45.0, 46.0, 47.0].map(|mib| mib * MIB);
        let border = evaluation.borders[0];
        evaluation.borders.push(Border {
            unique_bytes: next[1],
            low: next[0],
            high: next[2],
            in_memory: false,
            ..border
        });
        for point in &mut evaluation.unique_bytes_read_curve {
            if point.value > next[2] {
                point.measurement.throughput_bytes_per_s = 1e8;
                point.rounds = vec![1e8; 3];
            }
        }
        let said = processor_caches(&evaluation).join(" ");
        assert!(said.contains("with sets of 24 MiB, throughput is 2.0"), "{said}");
        // Now no set between the two borders was measured.
        evaluation.unique_bytes_read_curve.retain(|p| p.value < 12.0 * MIB || p.value > next[2]);
        assert_eq!(processor_caches(&evaluation), [""; 0]);
        crate::judge::slowdown::measure(&mut evaluation);
        // Nor is there a set between the borders with which to compare those beyond the second.
        assert!(evaluation.borders.iter().all(|border| border.slower.is_none()));
    }

    /// A second border that is probable but beyond which no set is surely slower.
    #[test]
    fn a_further_border_beyond_which_no_set_is_surely_slower_is_not_told() {
        let said = |slower: f64| {
            let mut evaluation = within_memory(slower, [Some(1.0); 5]);
            let border = Border { in_memory: false, ..evaluation.borders[0] };
            let first =
                Border { unique_bytes: 2.0 * MIB, low: 1.9 * MIB, high: 2.1 * MIB, ..border };
            evaluation.borders = vec![first, border];
            let places = vec![2.0 * MIB, 12.0 * MIB];
            evaluation.level_counts = vec![LevelCount {
                regions: 3,
                probability: 1.0,
                read_borders: places,
                write_borders: Vec::new(),
            }];
            further_borders(&evaluation).join(" ")
        };
        let told = said(2.0);
        assert!(told.contains("another border at 12") && told.contains("2.0"), "{told}");
        let untold = said(1.0);
        assert!(untold.contains("cannot be told from this run: it is uncertain"), "{untold}");
    }

    /// Guards against a false end: direct reads behind a controller's cache of 4 GiB were reported
    /// to leave it at 800 MiB, up to which sets had been read in before.
    #[test]
    fn a_cache_is_not_said_to_end_where_sets_are_no_longer_read_in() {
        let said = |is_cold: bool| {
            let read = |mib: f64| {
                let rate = if mib < 900.0 { 3.3e8 } else { 5e6 };
                let mut point = point((Parameter::UniqueBytes, mib * MIB), rate, 3);
                point.measurement.not_read_in = is_cold && mib > 900.0;
                point
            };
            let mut direct = region(RegionCurves::default());
            direct.focal.access = Access::Direct;
            let place = [790.0, 800.0, 810.0].map(|mib| mib * MIB);
            let evaluation = Evaluation {
                regions: vec![direct],
                borders: vec![border(BorderOperation::Read, place, 26.0)],
                unique_bytes_read_curve: [1.0, 400.0, 780.0, 1024.0, 4096.0].map(read).into(),
                ..Evaluation::default()
            };
            cache(&evaluation, BorderOperation::Read)
        };
        let told = said(false);
        assert!(told.contains("ends for reads at 800 MiB"), "{told}");
        let untold = said(true);
        let words = "for reads ends cannot be told from this run: sets of 1 GiB and larger were";
        assert!(untold.contains(words) && !untold.contains("800 MiB"), "{untold}");
    }

    /// Guards against the cache that was named on a simulated disk without any: its track ended there.
    #[test]
    fn no_cache_is_said_to_end_where_a_disk_may_only_seek_farther() {
        let said = |slower: f64, request_s: f64| {
            let read = |mib: f64| {
                let rate = if mib < 2.5 { 8e6 } else { 8e6 / slower };
                let mut point = point((Parameter::UniqueBytes, mib * MIB), rate, 3);
                point.measurement.ios = (1.0 / request_s) as u64;
                point
            };
            let mut direct = region(RegionCurves::default());
            direct.focal.access = Access::Direct;
            let place = [2.0, 2.5, 3.0].map(|mib| mib * MIB);
            let evaluation = Evaluation {
                regions: vec![direct],
                borders: vec![border(BorderOperation::Read, place, slower)],
                unique_bytes_read_curve: [0.5, 1.0, 2.0, 38.0, 64.0].map(read).into(),
                ..Evaluation::default()
            };
            cache(&evaluation, BorderOperation::Read)
        };
        let seeks = said(1.23, 5e-3);
        let words = "(a cache behind the file cache or a disk's shorter seeks) for reads ends ";
        assert!(seeks.contains(words) && seeks.contains("1.23"), "{seeks}");
        for sure in [said(26.0, 5e-3), said(1.23, 1e-4)] {
            assert!(sure.starts_with("A cache behind the file cache, such as"), "{sure}");
        }
    }

    /// Guards against "by both residency and throughput" of a border that residency placed and
    /// throughput did not show.
    #[test]
    fn throughput_is_named_as_a_witness_only_where_it_falls() {
        let said = |rate: f64| {
            let read = |mib: f64| {
                let rate = if mib > 124.0 { rate } else { 9e9 };
                let mut point = point((Parameter::UniqueBytes, mib * MIB), rate, 3);
                let (m, share) = (&mut point.measurement, (124.0 / mib).min(1.0));
                m.workload.read_frac = 1.0;
                (m.resident_frac, m.witness.resident_frac) = (Some(share), Some([share; 2]));
                point
            };
            let curve: Vec<Point> = [1.0, 90.0, 200.0, 235.0].map(read).into();
            let log = |p: &Point| Probe {
                purpose: CurveKey::UniqueBytes(BorderOperation::Read).into(),
                measurement: p.measurement.clone(),
            };
            let place = [122.0, 124.0, 126.0].map(|mib| mib * MIB);
            let evaluation = Evaluation {
                probes: curve.iter().map(log).collect(),
                unique_bytes_read_curve: curve,
                borders: vec![border(BorderOperation::Read, place, 2.0)],
                ..Evaluation::default()
            };
            cache(&evaluation, BorderOperation::Read)
        };
        let both = said(2e9);
        assert!(both.contains(", by both residency and throughput; with sets of"), "{both}");
        let alone = said(9e9);
        assert!(alone.contains(", by residency alone; how much slower"), "{alone}");
    }

    #[test]
    fn a_fall_within_memory_that_is_not_sure_is_not_told() {
        assert_eq!(processor_caches(&within_memory(1.0, [Some(1.0); 5])), [""; 0]);
    }
}
