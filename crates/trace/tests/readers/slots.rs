//! Requests that wait for a slot of the queue before they are issued.

use crate::whole;
use ioscape_schema::{Io, TraceInfo};
use ioscape_trace::{ReadOptions, Source};
use std::io::Cursor;

fn read(lines: &str) -> (Vec<Io>, TraceInfo) {
    let source = Source::stream("t", Cursor::new(lines.as_bytes().to_vec()));
    whole::read(vec![source], &ReadOptions::default()).unwrap()
}

/// The three times of a row, its offset and its length.
fn told(io: &Io) -> ([u64; 3], u64, u32) {
    ([io.queued_ns, io.issued_ns, io.completed_ns], io.request.offset, io.request.len)
}

/// As recorded by Linux 6.18: 24 sectors are split and wait for two slots; 8 more join them.
#[test]
fn the_wait_for_a_slot_of_the_queue_counts() {
    let (rows, info) = read(
        "fio-7 [001] ..... 5.000000: block_bio_queue: 254,0 RA 8 + 24 [fio]\n\
         fio-7 [001] ..... 5.000001: block_split: 254,0 RA 8 / 16 [fio]\n\
         fio-7 [001] ..... 5.004000: block_io_start: 254,0 RA 4096 () 8 + 8 be,0,4 [fio]\n\
         fio-7 [001] ..... 5.009000: block_io_start: 254,0 RA 8192 () 16 + 16 be,0,4 [fio]\n\
         fio-7 [001] ..... 5.009001: block_bio_queue: 254,0 RA 32 + 8 [fio]\n\
         fio-7 [001] ..... 5.009002: block_bio_backmerge: 254,0 RA 32 + 8 [fio]\n\
         k-1 [001] ..... 5.009003: block_rq_issue: 254,0 RA 4096 () 8 + 8 be,0,4 [k]\n\
         k-1 [001] ..... 5.009004: block_rq_issue: 254,0 RA 12288 () 16 + 24 be,0,4 [k]\n\
         <idle>-0 [001] ..s1. 5.010000: block_rq_complete: 254,0 RA () 8 + 8 be,0,4 [0]\n\
         <idle>-0 [001] ..s1. 5.010000: block_rq_complete: 254,0 RA () 16 + 24 be,0,4 [0]\n",
    );
    let times =
        [([0, 9_003_000, 10_000_000], 4096, 4096), ([0, 9_004_000, 10_000_000], 8192, 12_288)];
    assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), times);
    assert!(info.notes.is_empty(), "{:?}", info.notes);
}

/// Guards against a wait that counts as time at the device: a recording ends with the issues, and
/// waiting requests whose issue it lacks seemed to have been issued when they arrived.
#[test]
fn a_completion_without_an_issue_is_no_row_where_requests_are_issued() {
    let (rows, info) = read(
        "8,0 1 1 0.000000000 7 Q R 8 + 8 [a]\n8,0 1 2 0.000000001 7 Q R 80 + 8 [a]\n\
         8,0 1 3 0.000000002 7 D R 8 + 8 [a]\n8,0 1 4 0.000000010 0 C R 8 + 8 [0]\n\
         8,0 1 5 0.000000020 0 C R 80 + 8 [0]\n",
    );
    assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), [([0, 2, 10], 4096, 4096)]);
    assert_eq!(info.notes["completions without a beginning"], "1");
}
