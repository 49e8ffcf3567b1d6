//! No figure contains what a trace's notes say that it lacks.

use super::super::{Analysis, AnalysisOptions};
use super::{forget_in_older, without_untold};
use ioscape_schema::trace_summary::TraceSummary;
use ioscape_schema::{Document, Io, IoType, Op, Outcome, Request, TraceInfo, Warning, WarningKind};
use serde_json::Value;

/// The analysis of 2000 requests, every other one a write, fifty every other second, of a trace
/// with these notes.
fn of(format: &str, notes: &[&str]) -> TraceSummary {
    let row = |at: u64| {
        let op = if at % 2 == 1 { Op::Write } else { Op::Read };
        let queued_ns = at / 50 * 2_000_000_000;
        let request = Request { op, offset: at % 300 * 4096, len: 4096 };
        let (issued_ns, completed_ns) = (queued_ns + 1000, queued_ns + 50_000);
        let io_type = IoType::UserData;
        Io { request, queued_ns, issued_ns, completed_ns, io_type, process: 3, ..Io::default() }
    };
    let mut found = Analysis::new(&AnalysisOptions::default());
    found.update(&(0..2000).map(row).collect::<Vec<_>>());
    let notes = notes.iter().map(|&note| (note.to_owned(), format!("no {note}"))).collect();
    found.finish("w", &TraceInfo { format: format.to_owned(), notes, ..TraceInfo::default() })
}

fn json(summary: &TraceSummary) -> Value {
    let json = serde_json::to_value(summary).expect("JSON");
    let back: TraceSummary = serde_json::from_value(json.clone()).expect("it is read back");
    assert_eq!(&back, summary);
    json
}

/// Which of these keys are present; `disk.KEY` stands for a key of the disk.
fn there<'a>(found: &Value, keys: &[&'a str]) -> Vec<&'a str> {
    let has = |key: &str| match key.strip_prefix("disk.") {
        Some(key) => found["disks"][0].get(key).is_some(),
        None => found.get(key).is_some(),
    };
    keys.iter().copied().filter(|key| has(key)).collect()
}

const WRITES: [&str; 7] = [
    "sequential",
    "overwrites",
    "popularity",
    "absorption",
    "disk.write_groups",
    "disk.write_bursts",
    "disk.rewrite_frac",
];
const PLACES: [&str; 6] =
    ["distances", "sequential", "alignment", "address_maps", "disk.distances", "disk.sequential"];

#[test]
fn what_a_trace_tells_is_there() {
    let found = json(&of("blktrace", &[]));
    assert_eq!(there(&found, &WRITES), WRITES);
    assert_eq!(there(&found, &PLACES), PLACES);
}

/// An analysis that is merged and finished but given no rows says the same of every trace as of an
/// empty one.
#[test]
fn all_that_is_told_of_a_trace_follows_from_its_rows() {
    let summary = of("blktrace", &[]);
    let empty = Analysis::new(&AnalysisOptions::default()).finish("w", &summary.info);
    let (found, empty) = (json(&summary), serde_json::to_value(&empty).expect("JSON"));
    let schema: Value = serde_json::from_str(&ioscape_schema::json_schema()).expect("JSON");
    let keys = schema["$defs"]["TraceSummary"]["properties"].as_object().expect("its keys");
    let given = ["name", "info", "by", "block_bytes", "first_ns", "warnings"];
    let of_rows = keys.keys().map(String::as_str).filter(|key| !given.contains(key));
    let unfed: Vec<&str> = of_rows.filter(|key| found.get(key) == empty.get(key)).collect();
    assert_eq!(unfed, [""; 0]);
}

#[test]
fn without_operations_nothing_is_said_of_writes() {
    let summary = of("blktrace", &["operations"]);
    assert_eq!(summary.warnings[0].kind, WarningKind::OperationsUnknown);
    assert_eq!(there(&json(&summary), &WRITES), [""; 0]);
}

#[test]
fn without_operations_no_request_is_counted_as_a_read() {
    let summary = of("blktrace", &["operations"]);
    let text = json(&summary).to_string();
    for key in ["reads", "read_bytes", "write_bytes", "queue_mean_read", "read", "write"] {
        assert!(!text.contains(&format!("\"{key}\":")), "{key} in {text}");
    }
    assert!(summary.transfer_sizes.iter().all(|sizes| sizes.op.is_none()));
    let loads = [summary.partitions[0].load, summary.disks[0].load, summary.processes[0].load];
    assert!(loads.iter().all(|load| (load.ios, load.moved()) == (2000, 2000 * 4096)), "{loads:?}");
    let steps: u64 = summary.over_time.steps.iter().map(|step| step.load.moved()).sum();
    assert_eq!(steps, 2000 * 4096);
    let told = of("blktrace", &[]);
    assert_eq!((told.partitions[0].load.reads, told.partitions[0].load.bytes), (Some(1000), None));
    assert_eq!(told.response_times.read.map(|times| times.elapsed_ns.count), Some(1000));
}

/// An earlier version counted all requests as reads.
#[test]
fn an_older_result_without_operations_opens_without_reads() {
    let mut old = json(&of("blktrace", &[]));
    old["info"]["notes"] = serde_json::json!({ "operations": "nothing told" });
    let mut old: TraceSummary = serde_json::from_value(old).expect("it opens");
    assert_eq!(old.disks[0].load.reads, Some(1000));
    forget_in_older(&mut old);
    let load = old.disks[0].load;
    assert_eq!((load.reads, load.writes(), load.moved()), (None, None, 2000 * 4096));
    forget_in_older(&mut old);
    assert_eq!(old.disks[0].load, load, "once is enough");
}

#[test]
fn objects_have_no_place() {
    let found = json(&of("blktrace", &["objects"]));
    assert_eq!(there(&found, &PLACES), [""; 0]);
    assert!(found["working_set"]["bytes"].as_u64() > Some(0), "blocks may hold");
}

#[test]
fn in_whole_seconds_nothing_is_said_of_shorter_times() {
    let summary = of("blktrace", &["seconds"]);
    let found = json(&summary);
    assert_eq!(there(&found, &["inter_arrival_ns", "disk.write_bursts"]), [""; 0]);
    let windows = summary.burstiness.dispersion.iter().map(|point| point.0);
    assert!(windows.clone().count() > 0 && windows.clone().all(|ns| ns >= 1_000_000_000));
    assert!(found["burstiness"].get("inter_arrival_scv").is_none(), "{found}");
    assert!(
        found["overwrites"].get("within_1s").is_none() && summary.overwrites.within_30s > Some(0.0)
    );
    assert!(found["disks"][0].get("write_groups").is_some(), "their order is told");
}

/// Once, only formats in whole seconds lost what their steps hide.
#[test]
fn in_coarse_steps_nothing_is_said_of_what_takes_less_than_ten() {
    let of = |step_ns| {
        let row = |at: u64| {
            let request = Request { op: Op::Write, offset: at % 300 * 4096, len: 4096 };
            let queued_ns = at * 300_000 / step_ns * step_ns;
            let completed_ns = queued_ns + 2_000_000;
            Io { request, queued_ns, issued_ns: queued_ns, completed_ns, ..Io::default() }
        };
        let mut found = Analysis::new(&AnalysisOptions::default());
        found.update(&(0..200_000).map(row).collect::<Vec<_>>());
        let arrival_step_ns = Some(step_ns).filter(|ns| *ns > 1);
        found.finish("w", &TraceInfo { arrival_step_ns, ..TraceInfo::default() })
    };
    let keys = ["inter_arrival_ns", "disk.queue_length", "disk.write_bursts"];
    let there = |found: &TraceSummary| there(&json(found), &keys).len();
    let [fine, tenths, millis, tens] = [1, 200_000, 1_000_000, 10_000_000].map(of);
    assert_eq!([&fine, &tenths, &millis, &tens].map(there), [3, 2, 1, 0]);
    let within = |found: &TraceSummary| found.burstiness.dispersion.first().map(|point| point.0);
    assert!(within(&fine) <= Some(1_000_000) && within(&tens) >= Some(10_000_000));
    assert!(tens.overwrites.within_1s.is_some() && !tens.response_times.is_empty());
    let told = &millis.warnings[0].message;
    assert!(told.starts_with("arrivals are in steps of 1 ms: times between arrivals, "), "{told}");
    assert!(fine.warnings.iter().all(|one| !one.message.contains("steps")), "{:?}", fine.warnings);
}

/// The analysis of writes to one block, beginning so many seconds after the first.
fn writes_at(seconds: &[u64]) -> TraceSummary {
    let row = |at: &u64| {
        let (queued_ns, completed_ns) = (at * 1_000_000_000, at * 1_000_000_000 + 1000);
        let request = Request { op: Op::Write, offset: 0, len: 4096 };
        Io { request, queued_ns, issued_ns: queued_ns, completed_ns, ..Io::default() }
    };
    let mut found = Analysis::new(&AnalysisOptions::default());
    found.update(&seconds.iter().map(row).collect::<Vec<_>>());
    found.finish("w", &TraceInfo::default())
}

#[test]
fn within_a_window_nothing_is_said_of_a_trace_that_is_not_twice_as_long() {
    let told = |seconds: &[u64]| {
        let found = writes_at(seconds);
        let o = &found.overwrites;
        (
            [o.within_1s, o.within_30s, o.within_1h].map(|share| share.is_some()),
            found.absorption.len(),
        )
    };
    assert_eq!(told(&[0, 1]), ([false; 3], 0));
    assert_eq!(told(&[0, 2]), ([true, false, false], 0));
    assert_eq!(told(&[0, 59]), ([true, false, false], 0));
    assert_eq!(told(&[0, 60]), ([true, true, false], 1));
    assert_eq!(told(&[0, 3600]), ([true, true, false], 1));
    assert_eq!(told(&[0, 3600, 7200]), ([true; 3], 1));
    let found = writes_at(&[0, 3000, 3005, 7200, 7260]).overwrites;
    assert_eq!((found.count, found.within_1s, found.within_1h), (4, Some(0.0), Some(0.75)));
    assert_eq!(found.within_30s, Some(0.25));
}

/// Blocks written only once have no overwrites to take a share of; an earlier version said 0.
#[test]
fn without_overwrites_there_is_no_share_of_them() {
    let mut alone = writes_at(&[0]);
    alone.last_ns = 10_000_000_000_000;
    alone.overwrites.within_30s = Some(0.0);
    alone.overwrites.within_1h = Some(0.0);
    forget_in_older(&mut alone);
    let o = &alone.overwrites;
    assert_eq!((o.block_writes, o.count), (1, 0));
    assert_eq!([o.within_1s, o.within_30s, o.within_1h], [None; 3]);
}

#[test]
fn of_slow_requests_alone_nothing_follows_that_needs_the_others() {
    let summary = of("recorded", &["slow requests alone"]);
    assert_eq!(summary.warnings[0].kind, WarningKind::RequestsLeftOut);
    let found = json(&summary);
    let queues = ["disk.queue_length", "disk.idle_ns", "disk.idle_frac", "inter_arrival_ns"];
    let blocks = ["working_set", "miss_ratio", "burstiness", "distances"];
    assert_eq!(there(&found, &[&WRITES[..], &queues, &blocks].concat()), [""; 0]);
    assert_eq!(found["response_times"]["all"]["elapsed_ns"]["count"], 2000);
}

#[test]
fn older_results_are_held_to_the_same() {
    // As an earlier version wrote it: all figures present, with zeros for what was not recorded.
    let mut old = of("blktrace", &[]);
    old.info.format = "msr".to_owned();
    old.info.notes.insert("objects".to_owned(), "numbers of objects".to_owned());
    old.types.iter_mut().for_each(|one| one.io_type = IoType::Unknown);
    let times = &mut old.response_times;
    let each = [times.read.as_mut(), times.write.as_mut(), Some(&mut times.all)];
    for times in each.into_iter().flatten() {
        for of in [&mut times.physical_ns, &mut times.elapsed_ns] {
            (of.mean, of.max, of.bins) = (0.0, 0.0, vec![(0.0, of.count)]);
        }
    }
    old.warnings = vec![Warning::new(WarningKind::EventsLost, "3 events were lost")];
    let new = forget_in_older(&mut old);
    let kinds: Vec<WarningKind> = old.warnings.iter().map(|doubt| doubt.kind).collect();
    use WarningKind::{EventsLost, OperationsUnknown, TimesUnknown, TypesUnknown};
    assert_eq!(kinds, [OperationsUnknown, TimesUnknown, TypesUnknown, EventsLost]);
    assert_eq!(new, old.warnings[..3]);
    let keys = ["types", "response_times", "distances", "disk.queue_length"];
    assert_eq!(there(&json(&old), &keys), [""; 0]);
    assert_eq!(forget_in_older(&mut old), [], "once is enough");
}

/// An earlier version kept the queues of the other requests, and said so.
#[test]
fn missing_completions_are_told_once_with_what_follows_from_them_now() {
    let mut old = of("blktrace", &[]);
    old.response_times.all.elapsed_ns.count -= 100;
    let text = "100 of 2000 requests have no completion time: response times, queue lengths and idle times are those of the others, so queues may have been longer and idle times shorter";
    let place = "response_times, queue_length, idle_ns";
    let stale = Warning::new(WarningKind::TimesUnknown, text).at(place);
    old.warnings.push(stale.clone());
    let (warnings, outcome) = (vec![stale], Some(old.into()));
    let document = without_untold(Document { warnings, outcome, ..Document::default() });
    let Some(Outcome::TraceSummary(now)) = &document.outcome else { panic!("a summary") };
    for warnings in [&now.warnings, &document.warnings] {
        let said: Vec<&Warning> = warnings.iter().filter(|one| one.place == place).collect();
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].message.starts_with("100 of 2000 requests have no response time"));
        assert!(said[0].message.ends_with("and are left out"), "{said:?}");
    }
}

#[test]
fn missing_arrivals_are_told_once() {
    let mut old = of("blkparse", &[]);
    old.info.notes.insert("requests without an arrival".to_owned(), "21".to_owned());
    assert_eq!(forget_in_older(&mut old).len(), 1);
    let times = &old.response_times.all;
    assert!(times.elapsed_ns.is_empty());
    assert_eq!(times.physical_ns.count, 2000);
    assert_eq!(forget_in_older(&mut old), [], "once is enough");
}
