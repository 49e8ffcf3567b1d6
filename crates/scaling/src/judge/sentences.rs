//! The findings in words, each with the numbers it rests on.

use super::any_file::rounds_would_tell;
use super::curve::{PERFORMS_WELL, Repeatability, best, best_of_several, inverse};
use super::dirty;
use super::flush;
use super::level_sentences;
use super::policy::{self, Errors, Speeds, Untold, speeds, write_through_departure};
use super::queue_depth;
use super::reached::falls_by;
use super::sides;
use super::steadiness;
use super::words::{bounded, factor, open_times, percent, sentence, speed_within, tried, within};
use ioscape_schema::units::Bytes;
use ioscape_schema::{
    Access, Bounded, Difference, Engine, Evaluation, Findings, Purpose, Region, RegionFinding,
    WritePolicy, is_uncertain,
};

/// A write-through curve that departs from its law by no more than this factor follows it.
const FOLLOWS: f64 = 1.3;

/// Writes within this factor of synchronous ones cost as much.
const AS_MUCH: f64 = 1.5;

/// All sentences, the most important first.
pub(crate) fn sentences(evaluation: &Evaluation, findings: &Findings) -> Vec<String> {
    let mut all = level_sentences::sentences(evaluation);
    all.extend(dirty::sentence(evaluation));
    all.extend(write_policy(evaluation));
    all.extend(write_through_law(evaluation, findings));
    all.extend(flushing(evaluation, findings));
    all.extend(findings.size_for_75_percent_bytes.iter().map(|f| size(evaluation, f)));
    all.extend(evaluation.regions.iter().filter_map(|r| slower_when_large(evaluation, r)));
    all.extend(findings.sequential_gain.iter().map(|f| sequential(evaluation, f)));
    all.extend(findings.concurrency_gain.iter().map(|f| concurrency(evaluation, f)));
    all.extend(queue_depth::sentences(evaluation, findings));
    all.extend(findings.write_to_read_ratio.iter().map(|f| reads_and_writes(evaluation, f)));
    all.extend(steadiness::told(evaluation).map(sentence));
    all.extend(steadiness::left_out(evaluation).map(sentence));
    all.extend(sides::told(evaluation).map(sentence));
    all.extend(steadiness::of_memory(evaluation).map(sentence));
    all.retain(|sentence| !sentence.is_empty());
    all
}

fn write_policy(evaluation: &Evaluation) -> Option<String> {
    let untested = match evaluation.regions.first()?.focal.access {
        Access::Buffered => None,
        Access::Direct => Some("Requests were direct, so the write policy of the file cache"),
        Access::Dsync => Some("Every write is synchronous (O_DSYNC), so the policy of others"),
    };
    if let Some(what) = untested {
        return Some(format!("{what} was not tested."));
    }
    let Some((told, speeds)) = policy::write_policy(evaluation).zip(speeds(evaluation)) else {
        return Some(
            "The write policy could not be determined: too few of the probes it needs were made."
                .into(),
        );
    };
    let verdict = match told {
        Ok(policy) => policy_in_words(evaluation, policy, speeds),
        Err(why) => {
            let why = untold(evaluation, why);
            format!("The write policy cannot be told from this run: {why}")
        }
    };
    Some(format!("{verdict}. {}", speeds_in_words(speeds, policy::errors(evaluation))))
}

fn speeds_in_words(speeds: Speeds, errors: Errors) -> String {
    let Speeds { reads, writes, dsync, writes_behind } = speeds;
    let told = |what: &str, speed: Option<f64>, error| {
        speed.map(|speed| format!("{what} at {}", speed_within(speed, error)))
    };
    let first = [
        told("reads run", Some(reads), errors[0]),
        told("writes", Some(writes), errors[1]),
        told("synchronous writes", dsync, errors[2]),
    ];
    let first: Vec<String> = first.into_iter().flatten().collect();
    let last = told("; in the last region writes run", writes_behind, errors[3]);
    format!("In the first region {}{}.", first.join(", "), last.unwrap_or_default())
}

/// A ratio of speeds with this error in log throughput.
fn with_error(value: f64, error: f64) -> Bounded {
    Bounded { value, low: value / error.exp(), high: value * error.exp() }
}

fn policy_in_words(evaluation: &Evaluation, policy: WritePolicy, speeds: Speeds) -> String {
    let Speeds { reads, writes, .. } = speeds;
    match policy {
        WritePolicy::WriteThrough => {
            let errors = policy::errors(evaluation);
            let behind = errors[if speeds.dsync.is_some() { 2 } else { 3 }];
            let faster = writes / speeds.dsync.or(speeds.storage()).unwrap_or(writes);
            let cost = if faster > AS_MUCH {
                format!(
                    "writes are {} times as fast as writes that each wait for storage, and {} times slower than reads",
                    bounded(with_error(faster, errors[1].hypot(behind))),
                    bounded(with_error(reads / writes, errors[0].hypot(errors[1])))
                )
            } else if faster < AS_MUCH.recip() {
                "a write costs even more than one that has to reach storage".to_owned()
            } else {
                "a write costs as much as one that has to reach storage".to_owned()
            };
            format!("The file cache writes through: {cost}")
        }
        WritePolicy::WriteCancelling => {
            let is_slow = writes * policy::MEMORY < reads;
            let shown = policy::absorption(evaluation).filter(|_| is_slow);
            let how = shown.map_or(String::new(), |why| format!(", since {why}"));
            format!("The file cache is write-cancelling: rewrites are absorbed{how}")
        }
        WritePolicy::NotCached => {
            let largest = evaluation.regions.last().map_or(0.0, |region| region.unique_bytes[1]);
            format!(
                "No gain from a cache shows in sets of up to {}: there is no cache, or nothing behind it is slower",
                Bytes(largest)
            )
        }
        WritePolicy::Mixed => {
            "The file cache neither writes through nor cancels writes: they run at a speed between those of the cache and of storage"
                .to_owned()
        }
    }
}

/// Why the policy is not told, and what would tell it.
fn untold(evaluation: &Evaluation, why: Untold) -> &'static str {
    let is_mapped = evaluation.regions.first().is_some_and(|r| r.focal.engine == Engine::Mmap);
    match why {
        Untold::NothingSlower if is_mapped => {
            "nothing slower than the first region was measured, since stores to mapped files have no synchronous form; sets that outgrow the cache or another engine would tell"
        }
        Untold::NothingSlower => {
            "nothing slower than the first region was measured, synchronous writes included; a longer budget would tell"
        }
        Untold::SlowReads => {
            "reads are far slower than writes, so that they do not come from a cache; the kernel's counters of where writes go would tell"
        }
        Untold::Unseen => {
            "writes are absorbed, but not at memory speed, and no counter shows whether by the file cache or by one behind it, such as the drive's own"
        }
        Untold::NoFileCache => {
            "according to the kernel's counters most of every set was outside the file cache, so these are the speeds of what lies behind it"
        }
        Untold::LargeSets => {
            "writes cost as much as ones that have to reach storage, but no set of 1 MiB shows it: the file cache writes through, or allows fewer dirty pages than larger sets hold; writes to such a set would tell"
        }
        Untold::Close => "the speeds of cache and storage are too close",
        Untold::Uncertain => {
            "the speeds of cache and storage, or the number of regions, are too uncertain; more rounds would tell"
        }
        Untold::Counters => {
            "the speeds of writes and what the kernel counted of them contradict each other"
        }
        Untold::Resident => {
            "every set stayed in memory, so that reads were not compared with storage; sets that outgrow memory would tell"
        }
    }
}

fn write_through_law(evaluation: &Evaluation, findings: &Findings) -> Option<String> {
    if findings.write_policy != Some(WritePolicy::WriteThrough) {
        return None;
    }
    let departure = write_through_departure(evaluation)?;
    let law =
        "the law of a write-through cache (throughput = speed of pure writes / fraction of writes)";
    let by = within(departure);
    if departure.low <= FOLLOWS && departure.high > FOLLOWS {
        return Some(format!(
            "Whether throughput follows {law} cannot be told from this run (typically off by a factor of {}{by}); more rounds would tell.",
            factor(departure.value)
        ));
    }
    let verdict = if departure.high <= FOLLOWS { "follows" } else { "does not follow" };
    Some(format!(
        "Throughput {verdict} {law}; it is typically off by a factor of {}{by}.",
        factor(departure.value)
    ))
}

fn flushing(evaluation: &Evaluation, findings: &Findings) -> Option<String> {
    // Writes that go through, or are not cached, leave nothing to flush.
    if matches!(findings.write_policy, Some(WritePolicy::WriteThrough | WritePolicy::NotCached)) {
        return None;
    }
    let Some(slowdown) = findings.flush_slowdown else {
        let about = flush::unobserved(evaluation)?;
        return Some(format!("The cost of flushing is unknown: {about}."));
    };
    Some(flush::sentence(evaluation.last(&Purpose::Flush)?, slowdown))
}

fn size(evaluation: &Evaluation, finding: &RegionFinding) -> String {
    let curve = region(evaluation, finding).map_or(&[][..], |r| r.curves.size_mean.as_slice());
    let Some((best, largest)) = best(curve).zip(curve.last()) else { return String::new() };
    let speed = format!(
        "75 % of the best throughput of requests up to {} ({} at {})",
        Bytes(largest.value),
        speed_within(best.throughput(), Repeatability::of(evaluation).error_of(best)),
        Bytes(best.value)
    );
    let RegionFinding { region, value, low, high } = finding;
    if is_uncertain(*low, *high) {
        return format!(
            "In {region}, the request size that gives {speed} cannot be told more closely than {} to {}; a longer budget would tell.",
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

/// Says that no request size is large enough, since the largest are too slow.
fn slower_when_large(evaluation: &Evaluation, region: &Region) -> Option<String> {
    let curve = region.curves.size_mean.as_slice();
    let by = falls_by(Repeatability::of(evaluation), curve, PERFORMS_WELL)?;
    let [best, largest] = [best(curve)?, curve.last()?].map(|point| Bytes(point.value));
    Some(format!(
        "In {}, the throughput of requests of {largest} is {} than that of requests of {best}, the best.",
        region.name,
        times("lower", by)
    ))
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

/// Names the region and its focal set: behind a cache, more of a larger set misses.
fn region_at(evaluation: &Evaluation, finding: &RegionFinding) -> String {
    let set = region(evaluation, finding).map(|region| region.focal.unique_bytes as f64);
    let at = set.map(|set| format!(", at {}", Bytes(set))).unwrap_or_default();
    format!("{}{at}", finding.region)
}

/// Names what would settle a ratio that cannot be told yet. If no number of rounds would, the next
/// evaluation alone mostly would not either.
fn what_else(evaluation: &Evaluation, finding: &RegionFinding) -> &'static str {
    match region(evaluation, finding).is_none_or(|region| rounds_would_tell(region, finding)) {
        true => "more rounds",
        false => "the mean of several evaluations",
    }
}

fn sequential(evaluation: &Evaluation, finding: &RegionFinding) -> String {
    let (name, by) = (region_at(evaluation, finding), interval(finding));
    let requests = format!("{}{}", requests(evaluation, finding), mix(evaluation, finding));
    match finding.difference() {
        Difference::More => {
            let by = times("faster", by);
            format!("In {name}, sequential requests are {by} than random ones{requests}.")
        }
        Difference::Less => {
            let by = times("slower", inverse(by));
            format!("In {name}, sequential requests are {by} than random ones{requests}.")
        }
        Difference::Alike if finding.is_nil() => format!(
            "In {name}, it does not matter whether requests are sequential{}{requests}.",
            within(by)
        ),
        Difference::Alike => format!(
            "In {name}, sequential requests differ from random ones by less than a fifth, if at all{}{requests}.",
            within(by)
        ),
        Difference::Unknown => format!(
            "In {name}, whether sequential requests are faster than random ones cannot be told from this run{}; {} would tell.",
            open_times(by),
            what_else(evaluation, finding)
        ),
    }
}

fn concurrency(evaluation: &Evaluation, finding: &RegionFinding) -> String {
    let (name, by) = (region_at(evaluation, finding), interval(finding));
    let curve = region(evaluation, finding).map_or(&[][..], |r| r.curves.process_num.as_slice());
    let count = best_of_several(curve).map_or(0.0, |p| p.value);
    let tried = tried(curve);
    let several = format!("several processes{tried}");
    let size = region(evaluation, finding).map(|region| Bytes(region.focal.size_mean as f64));
    let size = size.map(|size| format!(", in requests of {size}")).unwrap_or_default();
    let requests = format!("{size}{}", mix(evaluation, finding));
    match finding.difference() {
        Difference::More => {
            let by = times("faster", by);
            format!("In {name}, {count} processes are {by} than one{requests}.")
        }
        Difference::Less => {
            let by = times("slower", inverse(by));
            format!(
                "In {name}, {count} processes, the best of several{tried}, are {by} than one{requests}."
            )
        }
        Difference::Alike if !finding.is_nil() => format!(
            "In {name}, {several} differ from one by less than a fifth{}{requests}.",
            within(by)
        ),
        Difference::Alike => {
            let by = within(by);
            format!("In {name}, {several} are no faster than one{by}{requests}.")
        }
        Difference::Unknown => {
            let (times, what) = (open_times(by), what_else(evaluation, finding));
            let open = match by.high <= 1.0 {
                true => format!("{several} are no faster than one; whether they are slower"),
                false => format!("whether {several} are faster than one"),
            };
            format!("In {name}, {open} cannot be told from this run{times}; {what} would tell.")
        }
    }
}

/// Says how many of a region's requests are reads: gains differ between reads and writes.
fn mix(evaluation: &Evaluation, finding: &RegionFinding) -> String {
    match region(evaluation, finding).map(|region| region.focal.read_frac) {
        None => String::new(),
        Some(0.5) => ", half of them reads".to_owned(),
        Some(1.0) => ", all of them reads".to_owned(),
        Some(0.0) => ", all of them writes".to_owned(),
        Some(read_frac) => format!(", {} of them reads", percent(read_frac)),
    }
}

/// Names the requests for which a region's findings hold: how much slower writes are depends on
/// both numbers, and another evaluation may have others.
fn requests(evaluation: &Evaluation, finding: &RegionFinding) -> String {
    let Some(focal) = region(evaluation, finding).map(|region| &region.focal) else {
        return String::new();
    };
    let size = Bytes(focal.size_mean as f64);
    match focal.process_num {
        1 => format!(", in requests of {size} by 1 process"),
        count => format!(", in requests of {size} by {count} processes"),
    }
}

fn reads_and_writes(evaluation: &Evaluation, finding: &RegionFinding) -> String {
    let (region, by) = (region_at(evaluation, finding), interval(finding));
    let requests = requests(evaluation, finding);
    match finding.difference() {
        Difference::More => {
            format!("In {region}, writes are {} than reads{requests}.", times("faster", by))
        }
        Difference::Less => {
            let by = times("faster", inverse(by));
            format!("In {region}, reads are {by} than writes{requests}.")
        }
        Difference::Alike if finding.is_nil() => {
            format!("In {region}, reads and writes are about equally fast{}.", within(by))
        }
        Difference::Alike => format!(
            "In {region}, reads and writes differ by less than a fifth, if at all{}.",
            within(by)
        ),
        Difference::Unknown => format!(
            "In {region}, whether reads or writes are faster cannot be told from this run{}; {} would tell.",
            open_times(by),
            what_else(evaluation, finding)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use ioscape_schema::{RegionCurves, Workload};

    #[test]
    fn a_small_effect_is_not_called_none() {
        let found = |low, high| RegionFinding { region: "region 1".into(), value: 1.1, low, high };
        let none = Evaluation::default();
        for (low, high, words) in [
            (1.06, 1.19, "1.10 times faster"),
            (1.01, 1.15, "by less than a fifth"),
            (0.97, 1.03, ""),
        ] {
            let found = found(low, high);
            let all = [sequential, concurrency, reads_and_writes]
                .map(|said| said(&none, &found))
                .join(" ");
            assert_eq!(
                all.matches(words).count(),
                if words.is_empty() { all.len() + 1 } else { 3 }
            );
            let nothing = ["does not matter", "no faster", "about equally fast"];
            let says_nothing = nothing.iter().filter(|words| all.contains(**words)).count();
            assert_eq!(says_nothing, if words.is_empty() { 3 } else { 0 }, "{all}");
        }
    }

    #[test]
    fn nothing_is_called_faster_that_is_surely_no_faster() {
        let said = |value, low, high| {
            let found = RegionFinding { region: "region 1".into(), value, low, high };
            concurrency(&Evaluation::default(), &found)
        };
        let small = said(0.94, 0.914, 0.967);
        assert!(small.contains("several processes differ from one by less than a fifth (0.91 to"));
        let open = said(0.85, 0.7, 1.0);
        let words = "several processes are no faster than one; whether they are slower cannot be";
        assert!(open.contains(words), "{open}");
        let wide = said(0.9, 0.7, 1.1);
        assert!(wide.contains("whether several processes are faster than one cannot"), "{wide}");
    }

    #[test]
    fn what_holds_for_some_requests_names_them() {
        let focal =
            |size_mean, process_num| Workload { size_mean, process_num, ..Workload::default() };
        let of = |focal| {
            let found =
                RegionFinding { region: "region 1".into(), value: 0.25, low: 0.2, high: 0.3 };
            let regions = vec![Region { focal, ..testing::region(RegionCurves::default()) }];
            let evaluation = Evaluation { regions, ..Evaluation::default() };
            [sequential, concurrency, reads_and_writes].map(|said| said(&evaluation, &found))
        };
        let ends = |said: [String; 3], with: [&str; 3]| {
            for (said, with) in said.iter().zip(with) {
                assert!(said.ends_with(with), "{said}");
            }
        };
        ends(
            of(focal(49152, 1)),
            [
                " than random ones, in requests of 48 KiB by 1 process, half of them reads.",
                ", in requests of 48 KiB, half of them reads.",
                " than writes, in requests of 48 KiB by 1 process.",
            ],
        );
        let reads = Workload { read_frac: 1.0, ..focal(4096, 2) };
        let [sequential, several, writes] = of(reads);
        assert!(sequential.ends_with(" by 2 processes, all of them reads."), "{sequential}");
        assert!(several.ends_with(", all of them reads."), "{several}");
        assert!(writes.ends_with(" than writes, in requests of 4 KiB by 2 processes."), "{writes}");
    }
}
