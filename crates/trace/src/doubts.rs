//! Warnings about what is doubtful in a trace that was read or recorded.

use crate::read::{ONE_END, UNARRIVED, doubt_of_levels};
use ioscape_schema::trace_lacks::{LEFT_IN_MEMORY, SLOW_ALONE};
use ioscape_schema::units::{Nanos, counted};
use ioscape_schema::{Access, TraceCharacterization, TraceInfo, TraceTraits, Warning, WarningKind};
use std::borrow::Cow;

/// Notes that count what is incomplete, with the meaning of each count.
const COUNTS: [(&str, &str); 11] = [
    (
        ONE_END[0],
        "requests completed whose arrival and issue are not in the trace; they have no row",
    ),
    (ONE_END[1], "requests began whose completion is not in the trace; they have no row"),
    (
        UNARRIVED,
        "requests have no arrival in the trace; they count as arriving with their next event",
    ),
    (
        "bytes not read",
        "bytes were passed over behind broken records, to where the next whole one begins",
    ),
    (
        "rows out of order",
        "rows came after later ones; distances, times between arrivals, queue lengths and idle times are wrong there",
    ),
    (
        "rows before the first",
        "requests arrive before the first one read and count as if they arrived with it: times between arrivals, the span and rates are wrong; sort the file by time, or import its parts as separate files",
    ),
    (
        "events out of order",
        "events are more than 65,536 records behind later ones: requests are missing or have wrong times; give the files of blktrace one by one, not one behind the other",
    ),
    (
        "requests after the last row",
        "requests came after the last row, for which there was no room",
    ),
    (
        "records of other kinds",
        "records are of no known kind, of which damaged ones may be; they have no row",
    ),
    (
        "requests without kind",
        "requests are neither reads nor writes by the source; they have no row",
    ),
    (
        "ranges synced",
        "calls of sync_file_range only begin to write what is cached; they have no row",
    ),
];

/// A note about what a source does not record, or not in full, with the kind of its warning and the
/// effects on a simulation and on a replay.
type Lack<T> = (T, WarningKind, &'static str, &'static str);

/// What arrivals in coarse steps make of a simulation and of a replay.
const BURSTS: [&str; 2] = [
    "requests of a step come without time between them, so queues and response times are those of bursts, or with --arrivals closed think times are as coarse",
    "issued the requests of each step as a burst, so response times are those of bursts, and a delay of less than a step cannot be told; --as-fast-as-possible needs no times",
];

/// What sources do not record. These warnings come first.
const LACKS: [Lack<&str>; 8] = [
    (
        SLOW_ALONE,
        WarningKind::RequestsLeftOut,
        "these alone are the load, so queues, utilization and energy are too low",
        "issued these alone, a lighter load than was recorded",
    ),
    (
        "operations",
        WarningKind::OperationsUnknown,
        "all are reads, so nothing follows for write caches, parity and write amplification",
        "issued all as reads",
    ),
    (
        "objects",
        WarningKind::OperationsUnknown,
        "these numbers count as places, which they are not, so seeks and all else that depends on places say nothing",
        "took these numbers for places, which they are not",
    ),
    ("seconds", WarningKind::TimesUnknown, BURSTS[0], BURSTS[1]),
    (
        "steps",
        WarningKind::TimesUnknown,
        "recorded times compare by their means alone",
        "issued requests at times of these steps",
    ),
    (
        "arrivals",
        WarningKind::TimesUnknown,
        "all requests queue from the beginning on, so queues and response times are those of one burst; with --arrivals closed each comes after the one before it",
        "issued all as one burst",
    ),
    (
        "waits",
        WarningKind::TimesUnknown,
        "queues and response times are then those of another load; with --arrivals closed think times alone are wrong",
        "issued requests at wrong times if the log was written by the manual",
    ),
    (
        "types",
        WarningKind::TypesUnknown,
        "flags count as they are read",
        "issued requests by these flags and types",
    ),
];

/// Returns the warnings about a trace's workloads: those about the trace, and those for waits for
/// the medium and for workloads without pauses between requests. What the requests lack, the
/// [characterizer](crate::characterize::Characterizer::doubts) tells.
pub fn doubts_of_workloads(found: &TraceCharacterization, info: &TraceInfo) -> Vec<Warning> {
    let rest = [doubt_of_few(found), doubt_of_syncs(&found.overall)];
    doubts(info).into_iter().chain(rest.into_iter().flatten()).collect()
}

/// The warning about waits for the medium that the workload does without.
fn doubt_of_syncs(overall: &TraceTraits) -> Option<Warning> {
    let is_without = overall.syncs > 0 && overall.workload.access != Access::Dsync;
    let paused = match overall.flush_s > 0.0 {
        true => format!(
            ", and counts the {} in which only flushes were in flight as pauses",
            Nanos(1e9 * overall.flush_s)
        ),
        false => String::new(),
    };
    let text = format!(
        "{} flushed the drive's cache or wrote past it (FUA): a run of the workload does neither{paused}",
        counted(overall.syncs, "request")
    );
    is_without.then(|| Warning::new(WarningKind::Unsupported, text).at("access, think_time_ns"))
}

/// The warning about workloads with as many requests as processes, which have no pause in between.
fn doubt_of_few(found: &TraceCharacterization) -> Option<Warning> {
    // A single request of a part comes neither faster nor slower.
    let parts = found.disks.iter().chain(&found.processes).chain(&found.windows);
    let parts = parts.filter(|one| one.requests > 1);
    let is_short = |one: &&TraceTraits| {
        one.requests <= u64::from(one.workload.process_num) && one.workload.think_time_ns == 0
    };
    let mut short = [&found.overall].into_iter().chain(parts).filter(is_short);
    let first = short.next().filter(|one| one.requests > 0)?;
    let by_window = if found.windows.is_empty() { "" } else { ", or a longer --window" };
    let text = format!(
        "{} too few requests to tell a think time, which is taken as 0, so they come faster than in the trace; choose a longer part of it{by_window}",
        match short.count() {
            0 => format!("the workload of {:?} has", first.name),
            more => format!("the workloads of {:?} and {more} more have", first.name),
        }
    );
    Some(Warning::new(WarningKind::TimesUnknown, text).at("think_time_ns"))
}

/// Returns the warnings about the trace as a whole. What the source does not record comes first.
pub fn doubts(info: &TraceInfo) -> Vec<Warning> {
    lacks(info).into_iter().chain(losses(info)).collect()
}

/// Returns the warnings about a trace that is simulated. A simulation leaves out no figure for what
/// the trace does not record, so each warning says how that distorts the results.
pub fn doubts_of_simulation(info: &TraceInfo) -> Vec<Warning> {
    let lacks = lacking(info).map(|(text, kind, simulated, _)| {
        Warning::new(kind, format!("{text}; in the simulation {simulated}"))
    });
    lacks.chain(losses(info)).collect()
}

/// Returns the warnings about a trace that is replayed, `at_its_times` or as fast as possible. A
/// replay leaves out no figure either.
pub fn doubts_of_replay(info: &TraceInfo, at_its_times: bool) -> Vec<Warning> {
    let matters = |kind| at_its_times || kind != WarningKind::TimesUnknown;
    let lacks = lacking(info).filter(|(_, kind, ..)| matters(*kind));
    let lacks = lacks.map(|(text, kind, _, replayed)| {
        // Behind the colon stands what an analysis leaves out.
        let lack = text.split(": ").next().unwrap_or(&text);
        Warning::new(kind, format!("{lack}; the replay {replayed}"))
    });
    lacks.chain(losses(info)).collect()
}

/// Returns the warnings about what the source did not record.
pub(crate) fn lacks(info: &TraceInfo) -> Vec<Warning> {
    lacking(info).map(|(text, kind, ..)| Warning::new(kind, text)).collect()
}

/// Returns what the source did not record, each by its text.
fn lacking(info: &TraceInfo) -> impl Iterator<Item = Lack<Cow<'_, str>>> {
    let [simulated, replayed] = BURSTS;
    let steps = info.arrival_step_ns.map(|step_ns| {
        (Cow::from(coarse(step_ns)), WarningKind::TimesUnknown, simulated, replayed)
    });
    let noted = LACKS.into_iter().filter_map(move |(note, kind, simulated, replayed)| {
        info.notes.get(note).map(|text| (Cow::from(text), kind, simulated, replayed))
    });
    noted.chain(steps)
}

/// Says that arrivals are in coarse steps.
fn coarse(step_ns: u64) -> String {
    format!(
        "arrivals are in steps of {}: times between arrivals, and bursts and queues of less than ten steps, are not known and left out",
        Nanos(step_ns as f64)
    )
}

/// Returns the warnings about what was lost while recording or reading.
pub(crate) fn losses(info: &TraceInfo) -> Vec<Warning> {
    let mut doubts = Vec::new();
    let lost: u64 = info.lost_by_cpu.iter().sum();
    if lost > 0 {
        let by_cpu = match info.lost_by_cpu.len() {
            1 => String::new(),
            _ => format!(" (by CPU: {:?})", info.lost_by_cpu),
        };
        let text = format!(
            "{lost} events were lost while recording{by_cpu}: requests are missing; record with larger buffers"
        );
        doubts.push(Warning::new(WarningKind::EventsLost, text));
    }
    if info.skipped > 0 {
        let text = format!("{} broken records were left out", info.skipped);
        doubts.push(Warning::new(WarningKind::RecordsSkipped, text));
    }
    for (note, meaning) in COUNTS {
        if let Some(count) = info.notes.get(note) {
            doubts.push(Warning::new(WarningKind::TraceIncomplete, format!("{count} {meaning}")));
        }
    }
    for note in ["recording", "disks not seen", LEFT_IN_MEMORY, "times", "damage"] {
        if let Some(text) = info.notes.get(note) {
            doubts.push(Warning::new(WarningKind::TraceIncomplete, text.clone()));
        }
    }
    let [files, restarts] =
        ["files of one disk", "restarts"].map(|note| info.notes.get(note).cloned());
    let others = [files, restarts, doubt_of_levels(info)];
    doubts.extend(others.into_iter().flatten().map(|text| Warning::new(WarningKind::Other, text)));
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told() {
        assert!(doubts(&TraceInfo::default()).is_empty());
        let notes = [("rows out of order", "3"), ("seconds", "whole seconds")];
        let notes = notes.map(|(note, text)| (note.to_owned(), text.to_owned())).into();
        let info = TraceInfo { lost_by_cpu: vec![0, 5], skipped: 2, notes, ..TraceInfo::default() };
        let found = doubts(&info);
        let kinds: Vec<WarningKind> = found.iter().map(|doubt| doubt.kind).collect();
        use WarningKind::{EventsLost, RecordsSkipped, TimesUnknown, TraceIncomplete};
        assert_eq!(kinds, [TimesUnknown, EventsLost, RecordsSkipped, TraceIncomplete]);
        assert!(found[1].message.contains("[0, 5]") && found[3].message.starts_with("3 rows"));
        assert!(found[3].message.contains("queue lengths"), "{}", found[3].message);
    }

    #[test]
    fn workloads_are_as_doubtful_as_their_trace() {
        let notes = [("operations".to_owned(), "nothing is told".to_owned())].into();
        let info = TraceInfo { lost_by_cpu: vec![3], notes, ..TraceInfo::default() };
        let mut found = TraceCharacterization::default();
        found.overall.requests = 2;
        let told = doubts_of_workloads(&found, &info);
        let kinds: Vec<WarningKind> = told.iter().map(|doubt| doubt.kind).collect();
        use WarningKind::{EventsLost, OperationsUnknown};
        assert_eq!(kinds, [OperationsUnknown, EventsLost]);
        found.overall.name = "the whole trace".to_owned();
        found.overall.requests = 1;
        let told = doubts_of_workloads(&found, &TraceInfo::default());
        let said = &told[0].message;
        assert!(told.len() == 1 && said.starts_with("the workload of \"the whole"), "{said}");
        (found.overall.requests, found.overall.syncs) = (100, 1);
        let told = doubts_of_workloads(&found, &TraceInfo::default());
        let said = &told[0].message;
        assert!(said.starts_with("1 request flushed") && !said.contains("pauses"), "{said}");
        found.overall.workload.access = Access::Dsync;
        assert!(doubts_of_workloads(&found, &TraceInfo::default()).is_empty());
    }

    #[test]
    fn what_a_trace_lacks_is_said_with_what_it_makes_of_a_simulation() {
        let notes = [("seconds", "whole seconds"), (SLOW_ALONE, "7 of 9 requests")];
        let notes = notes.map(|(note, text)| (note.to_owned(), text.to_owned())).into();
        let found = doubts_of_simulation(&TraceInfo { skipped: 2, notes, ..TraceInfo::default() });
        let kinds: Vec<WarningKind> = found.iter().map(|doubt| doubt.kind).collect();
        use WarningKind::{RecordsSkipped, RequestsLeftOut, TimesUnknown};
        assert_eq!(kinds, [RequestsLeftOut, TimesUnknown, RecordsSkipped]);
        let said = &found[1].message;
        assert!(said.starts_with("whole seconds; in the simulation requests of"), "{said}");
        assert!(doubts_of_simulation(&TraceInfo::default()).is_empty());
    }

    /// Guards against "figures of reads or of writes are left out" above a table of reads.
    #[test]
    fn what_a_trace_lacks_is_said_with_what_a_replay_made_of_it() {
        let notes = [
            ("operations", "the format tells none: figures of reads are left out"),
            ("seconds", "whole seconds only: bursts are left out"),
        ];
        let notes = notes.map(|(note, text)| (note.to_owned(), text.to_owned())).into();
        let info = TraceInfo { notes, skipped: 2, ..TraceInfo::default() };
        let said = |timed| {
            let told = doubts_of_replay(&info, timed).into_iter();
            told.map(|one| (one.kind, one.message)).collect::<Vec<_>>()
        };
        let first = "the format tells none; the replay issued all as reads";
        let timed = said(true);
        assert_eq!(timed[0], (WarningKind::OperationsUnknown, first.to_owned()));
        assert!(timed[1].1.starts_with("whole seconds only; the replay issued the requests"));
        assert_eq!((timed.len(), timed[2].0), (3, WarningKind::RecordsSkipped));
        assert_eq!(said(false), [timed[0].clone(), timed[2].clone()], "as fast as possible");
    }

    #[test]
    fn disks_of_which_nothing_is_told_are_named_and_those_that_are_recorded_below_lack_nothing() {
        let of = |name: &str, text: &str| {
            let notes = [(name.to_owned(), text.to_owned())].into();
            doubts(&TraceInfo { notes, ..TraceInfo::default() })
        };
        assert!(of("disks", "requests to dm-0 are recorded below").is_empty());
        let found = of("disks not seen", "nvme0n1: the kernel tells");
        assert_eq!(found.len(), 1);
        assert!(found[0].message.starts_with("nvme0n1"), "{found:?}");
    }
}
