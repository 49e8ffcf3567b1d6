//! Event traces without some kinds of events, or that lost some: what is counted, and noted.

use crate::whole;
use ioscape_schema::{Io, TraceInfo};
use ioscape_trace::analyze::tells_issue;
use ioscape_trace::{ReadOptions, Source, doubts};
use std::io::Cursor;
use std::ops::Range;

fn read(lines: &str) -> (Vec<Io>, TraceInfo) {
    let source = Source::stream("t", Cursor::new(lines.as_bytes().to_vec()));
    whole::read(vec![source], &ReadOptions::default()).unwrap()
}

/// The notes that count what has no arrival, no issue, only an end and only a beginning.
fn noted(info: &TraceInfo) -> [u64; 4] {
    let notes = [
        "requests without an arrival",
        "requests without an issue",
        "completions without a beginning",
        "requests without a completion",
    ];
    notes.map(|note| info.notes.get(note).map_or(0, |count| count.parse().unwrap()))
}

/// Events of `kinds` of these writes, which wait for 300 ns and take 100.
fn some(writes: Range<u32>, device: &str, kinds: &str) -> String {
    let event = |at: u32, kind: char| {
        let ns = 1000 * at + 300 * u32::from(kind == 'D') + 400 * u32::from(kind == 'C');
        format!("{device} 1 1 0.{ns:09} 7 {kind} W {} + 8 [a]\n", 8 * at)
    };
    writes.flat_map(|at| kinds.chars().map(move |kind| event(at, kind))).collect()
}

fn ten(device: &str, kinds: &str) -> String {
    some(0..10, device, kinds)
}

/// Once, the one counted as the other wherever the trace lacked it, and nothing was said.
#[test]
fn rows_without_an_arrival_or_an_issue_are_counted() {
    for (kinds, elapsed_ns, physical_ns, counts, issued) in [
        ("QDC", 400, 100, [0; 4], true),
        ("QGIDC", 400, 100, [0; 4], true),
        ("DC", 100, 100, [10, 0, 0, 0], true),
        ("QC", 400, 400, [0, 10, 0, 0], false),
        ("C", 0, 0, [10, 0, 0, 0], true),
        ("D", 0, 0, [10, 0, 0, 0], true),
    ] {
        let (rows, info) = read(&ten("8,0", kinds));
        assert_eq!(rows.len(), 10, "{kinds}");
        assert!(rows.iter().all(|io| io.elapsed_ns() == elapsed_ns), "{kinds}");
        assert!(rows.iter().all(|io| io.physical_ns() == physical_ns), "{kinds}");
        assert_eq!((noted(&info), tells_issue(&info)), (counts, Some(issued)), "{kinds}");
        let told = doubts(&info).iter().any(|doubt| doubt.message.starts_with("10 requests have"));
        assert_eq!(told, counts[0] > 0, "{kinds}: {:?}", doubts(&info));
    }
    // Beside a disk that issues, a volume that does not has no queue of its own.
    let (rows, info) = read(&[ten("8,0", "QDC"), ten("253,0", "QC")].concat());
    assert_eq!((rows.len(), noted(&info)), (20, [0; 4]));
    let (_, info) = read(&[some(0..5, "8,0", "DC"), some(5..10, "8,0", "QDC")].concat());
    assert_eq!(noted(&info), [5, 0, 0, 0], "half of the arrivals were lost");
}

/// The kernel sends a flush for those that wait for one, without an arrival of its own.
#[test]
fn a_flush_lacks_no_arrival() {
    let (rows, info) = read(
        "8,0 1 1 0.000000001 7 Q FWS 8 + 8 [a]\n8,0 1 2 0.000000002 7 D FN 0 + 0 [a]\n\
         8,0 1 3 0.000000003 0 C FN 0 + 0 [0]\n8,0 1 4 0.000000004 7 D WS 8 + 8 [a]\n\
         8,0 1 5 0.000000005 0 C WS 8 + 8 [0]\n",
    );
    assert_eq!((rows.len(), noted(&info)), (2, [0; 4]));
}

#[test]
fn requests_to_a_device_without_a_queue_that_never_end_are_counted() {
    let lost = |lines: String| -> String {
        let kept = lines.lines().enumerate().filter(|(at, _)| at % 4 != 1);
        kept.map(|(_, line)| format!("{line}\n")).collect()
    };
    let (rows, info) = read(&lost(ten("253,0", "QC")));
    assert_eq!((rows.len(), noted(&info)), (5, [0, 5, 0, 5]));
    // Those at one place are told apart by time.
    let visit = |at: u32| {
        let ends =
            if at == 4 { String::new() } else { format!("9,0 1 1 {at}.0001 0 C R 8 + 8 [0]\n") };
        format!("9,0 1 1 {at}.0000 7 Q R 8 + 8 [a]\n{ends}")
    };
    let (rows, info) = read(&(1..=9).map(visit).collect::<String>());
    assert_eq!((rows.len(), noted(&info)), (8, [0, 8, 0, 1]));
}

/// What joins another request, or is sent on from a partition, ends with it.
#[test]
fn arrivals_that_end_as_part_of_another_request_are_not_missing() {
    let (rows, info) = read(
        "8,0 1 1 0.000000001 7 Q R 16 + 8 [a]\n8,0 1 2 0.000000002 7 Q R 24 + 8 [a]\n\
         8,0 1 3 0.000000003 7 Q R 8 + 8 [a]\n8,0 1 4 0.000000009 0 C R 8 + 24 [0]\n",
    );
    assert_eq!((rows.len(), rows[0].request.len), (1, 24 * 512));
    assert_eq!(noted(&info), [0, 1, 0, 0], "the merges are not in the trace");
    let (rows, info) = read(
        "8,1 1 1 0.000000001 7 Q W 8 + 8 [a]\n8,0 1 2 0.000000002 7 A W 2056 + 8 <- (8,1) 8\n\
         8,0 1 3 0.000000003 7 D W 2056 + 8 [a]\n8,0 1 4 0.000000004 0 C W 2056 + 8 [0]\n",
    );
    assert_eq!((rows.len(), noted(&info)), (1, [0; 4]));
}

#[test]
fn events_that_blkparse_missed_are_lost() {
    let told = |skips: &str| read(&format!("{}CPU0 (t):\n{skips}", ten("8,0", "QDC"))).1;
    let info = told(
        "Events (8,0): 7,000 entries\nSkips: 3,000 forward (3,000 -  30.0%)\n\
         Events (8,16): 9.000 entries\nSkips: 2 forward (1.012 -   0,1%)\n",
    );
    assert_eq!(info.lost_by_cpu, [4012]);
    let said = &doubts(&info)[0].message;
    assert!(said.starts_with("4012 events were lost while recording: requests"), "{said}");
    assert_eq!(told("Skips: 0 forward (0 -   0.0%)\n").lost_by_cpu, [0_u64; 0]);
}
