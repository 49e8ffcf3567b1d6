//! Requests split by a device without a queue, which reports little but the parts' completions.

use crate::whole;
use ioscape_schema::{Io, TraceInfo};
use ioscape_trace::{ReadOptions, Source};
use std::io::Cursor;

/// A 1 MiB request to an md array with 512 KiB chunks: first sector and sectors of its parts.
const PARTS: [(u64, u64); 3] = [(512, 512), (1024, 1024), (2048, 512)];

/// Rows that blkparse events of an array give, one event per nanosecond.
fn read(events: &[String]) -> (Vec<Io>, TraceInfo) {
    let mut text = String::new();
    for (at, event) in events.iter().enumerate() {
        text += &format!("9,0 1 {} 0.{at:09} {event}\n", at + 1);
    }
    let source = Source::stream("t", Cursor::new(text.into_bytes()));
    whole::read(vec![source], &ReadOptions::default()).unwrap()
}

/// The completion of a part.
fn end(op: char, (sector, sectors): (u64, u64)) -> String {
    format!("0 C {op} {sector} + {sectors} [0]")
}

fn noted(info: &TraceInfo) -> Vec<&str> {
    info.notes.keys().map(String::as_str).collect()
}

fn place(io: &Io) -> (u64, u64) {
    (io.request.offset / 512, u64::from(io.request.len) / 512)
}

#[test]
fn each_part_of_a_request_that_md_cuts_is_a_row_whichever_ends_first() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut events = vec!["7 Q W 512 + 2048 [kafka]".to_owned()];
        events.extend(order.map(|part| end('W', PARTS[part])));
        let (mut rows, info) = read(&events);
        rows.sort_by_key(|io| io.request.offset);
        assert_eq!(rows.iter().map(place).collect::<Vec<_>>(), PARTS, "{order:?}");
        assert!(rows.iter().all(|io| (io.queued_ns, io.process) == (0, 7)), "{order:?}: {rows:?}");
        assert_eq!(noted(&info), ["requests without an issue"], "{order:?}");
    }
}

/// Once, the rest of one request was forgotten when the other's rest reached its place.
#[test]
fn each_part_of_two_alike_requests_that_md_cuts_is_a_row() {
    let both = ["7 Q R 512 + 2048 [a]", "8 Q R 512 + 2048 [b]"];
    let mut events = Vec::from(both.map(str::to_owned));
    events.extend(PARTS.into_iter().flat_map(|part| [end('R', part), end('R', part)]));
    let (rows, info) = read(&events);
    let mut told: Vec<_> = rows.iter().map(|io| (place(io), io.process)).collect();
    told.sort();
    let expected: Vec<_> = PARTS.into_iter().flat_map(|part| [(part, 7_u32), (part, 8)]).collect();
    assert_eq!(told, expected);
    assert_eq!(noted(&info), ["requests without an issue"]);
}

/// Once, a finished part was put back, and a later completion there, whose arrival was lost, became
/// a row spanning the time since.
#[test]
fn the_second_part_of_a_split_request_ends_once_though_it_ends_first() {
    let mut events = Vec::from(["7 Q R 0 + 16 [a]", "7 X R 0 / 8 [a]"].map(str::to_owned));
    events.extend([(8, 8), (0, 8), (8, 8)].map(|part| end('R', part)));
    let (rows, info) = read(&events);
    assert_eq!(rows.iter().map(place).collect::<Vec<_>>(), [(8, 8), (0, 8)]);
    assert_eq!(info.notes["completions without a beginning"], "1");
}
