//! Events of the block layer: which become rows, and with which times.

use crate::whole;
use ioscape_schema::{Io, IoFlags, Op, TraceInfo};
use ioscape_trace::{ReadOptions, Source};
use std::io::Cursor;

fn read(sources: Vec<Vec<u8>>) -> (Vec<Io>, TraceInfo) {
    let source = |bytes| Source::stream("t", Cursor::new(bytes));
    let sources = sources.into_iter().map(source).collect();
    whole::read(sources, &ReadOptions::default()).unwrap()
}

fn text(lines: &str) -> (Vec<Io>, TraceInfo) {
    read(vec![lines.as_bytes().to_vec()])
}

/// The three times of a row, its offset and its length.
fn told(io: &Io) -> ([u64; 3], u64, u32) {
    ([io.queued_ns, io.issued_ns, io.completed_ns], io.request.offset, io.request.len)
}

fn noted(info: &TraceInfo) -> Vec<&str> {
    info.notes.keys().map(String::as_str).collect()
}

#[test]
fn a_request_has_three_times() {
    let (rows, info) = text(
        "  8,0    1        1     0.000000000  77  Q WSM 8 + 8 [jbd2/sda1-8]\n\
           8,0    1        2     0.000001000  77  G WSM 8 + 8 [jbd2/sda1-8]\n\
           8,0    1        3     0.000002000  77  P   N [jbd2/sda1-8]\n\
           8,0    1        4     0.000003000  77  I WSM 8 + 8 [jbd2/sda1-8]\n\
           8,0    1        5     0.000004000  77  D WSM 8 + 8 [jbd2/sda1-8]\n\
           8,0    0        1     0.000009000   0  C WSM 8 + 8 [0]\n\
         CPU0 (t):\n Reads Queued:  0\n",
    );
    assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), [([0, 4000, 9000], 4096, 4096)]);
    assert_eq!((rows[0].process, rows[0].flags), (77, IoFlags::SYNC | IoFlags::META));
    assert_eq!((info.devices[0].name.as_str(), info.commands[1].as_str()), ("8,0", "jbd2/sda1-8"));
}

#[test]
fn merged_requests_keep_the_earliest_time() {
    let (rows, _) = text(
        "8,0 1 1 0.000000000 7 Q W 16 + 8 [a]\n8,0 1 2 0.000000001 7 G W 16 + 8 [a]\n\
         8,0 1 3 0.000000002 7 Q W 24 + 8 [a]\n8,0 1 4 0.000000003 7 M W 24 + 8 [a]\n\
         8,0 1 5 0.000000004 7 Q W 8 + 8 [a]\n8,0 1 6 0.000000005 7 F W 8 + 8 [a]\n\
         8,0 1 7 0.000000010 7 D W 8 + 24 [a]\n8,0 1 8 0.000000020 7 C W 8 + 24 [0]\n",
    );
    assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), [([0, 10, 20], 4096, 12_288)]);
}

#[test]
fn a_flush_is_one_row_though_the_kernel_ends_it_twice() {
    let (rows, info) = text(
        "8,0 1 1 0.000000000 7 Q FWS 0 + 0 [a]\n8,0 1 2 0.000000001 7 D FN 0 + 0 [a]\n\
         8,0 1 3 0.000000005 0 C FN 0 + 0 [0]\n8,0 1 4 0.000000006 0 C FWS 0 + 0 [0]\n",
    );
    assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), [([0, 1, 5], 0, 0)]);
    assert!(info.notes.is_empty(), "{:?}", info.notes);
}

/// If two threads sync at once, the second waits until the first one's flush has ended twice.
#[test]
fn the_second_end_of_a_flush_does_not_end_the_next_one() {
    let (rows, info) = text(
        "8,0 1 1 0.000000000 7 Q FWS 0 + 0 [a]\n8,0 1 2 0.000000002 7 D FN 0 + 0 [a]\n\
         8,0 2 1 0.000000500 8 Q FWS 0 + 0 [b]\n8,0 1 3 0.000001000 0 C FN 0 + 0 [0]\n\
         8,0 1 4 0.000001001 0 C WS 0 [0]\n8,0 1 5 0.000001010 9 D FN 0 + 0 [kworker]\n\
         8,0 1 6 0.000002000 0 C FN 0 + 0 [0]\n8,0 1 7 0.000002001 0 C WS 0 [0]\n",
    );
    let times = [([0, 2, 1000], 0, 0), ([500, 1010, 2000], 0, 0)];
    assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), times);
    assert_eq!(rows.iter().map(|io| io.process).collect::<Vec<_>>(), [7, 8]);
    assert!(info.notes.is_empty(), "{:?}", info.notes);
    // A device without a write cache is sent no flush.
    let (rows, _) =
        text("8,0 1 1 0.000000000 7 Q FWS 0 + 0 [a]\n8,0 1 2 0.000000022 0 C WS 0 [0]\n");
    assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), [([0, 0, 22], 0, 0)]);
    assert_eq!(rows[0].flags, IoFlags::SYNC | IoFlags::FLUSH);
}

#[test]
fn commands_that_are_passed_through_are_no_requests() {
    let (rows, info) = text(
        "8,16 1 1 0.000193318 5 I N 0 (00 00 00 00 00 00 ..) [kworker/1:0]\n\
         8,16 1 2 0.000193637 5 D N 0 (00 00 00 00 00 00 ..) [kworker/1:0]\n\
         8,16 1 3 0.000206000 0 C N (00 00 00 00 00 00 ..) [0]\n\
         8,16 1 4 0.000207000 5 D R 254 (12 00 00 00 fe 00 ..) [smartd]\n\
         8,16 1 5 0.100477153 7 Q FWS [a]\n8,16 1 6 0.100499251 0 C WS 0 [0]\n\
         8,16 1 7 0.100500000 7 Q R 8 + 8 [a]\n8,16 1 8 0.100500001 7 D R 8 + 8 ( 10) [a]\n\
         8,16 1 9 0.100500005 0 C R 8 + 8 ( 40) [65531]\n",
    );
    assert_eq!(
        rows.iter().map(told).collect::<Vec<_>>(),
        [
            ([100_477_153, 100_477_153, 100_499_251], 0, 0),
            ([100_500_000, 100_500_001, 100_500_005], 4096, 4096)
        ]
    );
    assert_eq!(rows[1].error, 5, "told as -5 in 16 bits");
    assert!(info.notes.is_empty(), "{:?}", info.notes);
}

/// For such commands the kernel reports no sectors at issue, and -1 as the first sector at
/// completion; it also uses `N` for writing zeroes.
#[test]
fn commands_that_the_kernel_passes_through_are_no_requests_and_zeroes_are() {
    let event =
        |time: &str, what: &str| format!("smartd-5 [001] ..... 5.{time}: block_rq_{what}\n");
    let (rows, info) = text(
        &[
            event("000001", "issue: 8,0 N 512 (85 08 0e 00) 0 + 0 none,0,0 [smartd]"),
            event("000002", "complete: 8,0 N (85 08 0e 00) 18446744073709551615 + 1 none,0,0 [0]"),
            event("000003", "issue: 8,0 N 0 (00 00 00) 0 + 0 none,0,0 [udisksd]"),
            event("000004", "complete: 8,0 N (00 00 00) 18446744073709551615 + 0 none,0,0 [0]"),
            event("000005", "issue: 8,0 N 36 (12 00 00 00 24) 0 + 0 none,0,0 [udisksd]"),
            event("000006", "complete: 8,0 N (12 00) 18446744073709551615 + 0 none,0,0 [0]"),
            event("000007", "issue: 8,0 NS 4096 () 64 + 8 none,0,0 [blkdiscard]"),
            event("000009", "complete: 8,0 NS () 64 + 8 none,0,0 [0]"),
        ]
        .concat(),
    );
    assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), [([0, 0, 2000], 32_768, 4096)]);
    let zeroes = IoFlags::SYNC | IoFlags::ZEROES;
    assert_eq!((rows[0].request.op, rows[0].flags), (Op::Write, zeroes));
    assert_eq!(noted(&info), ["requests without an arrival"]);
}

/// The text says where the second part begins, but not how long either part is.
#[test]
fn both_parts_of_a_split_request_arrived_with_it() {
    let (rows, _) = text(
        "8,0 1 1 0.000000001 7 Q R 0 + 4096 [a]\n8,0 1 2 0.000000002 7 X R 0 / 2560 [a]\n\
         8,0 1 3 0.000000003 7 G R 0 + 2560 [a]\n8,0 1 4 0.000000004 7 D R 0 + 2560 [a]\n\
         8,0 1 5 0.000000005 7 G R 2560 + 1536 [a]\n8,0 1 6 0.000000006 7 D R 2560 + 1536 [a]\n\
         8,0 1 7 0.000000008 7 C R 0 + 2560 [0]\n8,0 1 8 0.000000009 7 C R 2560 + 1536 [0]\n",
    );
    assert_eq!(rows.iter().map(|io| told(io).0).collect::<Vec<_>>(), [[1, 4, 8], [1, 6, 9]]);
}

#[test]
fn parts_requeues_and_errors() {
    let (rows, info) = text(
        "8,0 1 1 0.000000001 7 Q R 8 + 16 [a]\n8,0 1 2 0.000000002 7 D R 8 + 16 [a]\n\
         8,0 1 3 0.000000003 7 R R 8 + 16 [a]\n8,0 1 4 0.000000004 7 D R 8 + 16 [a]\n\
         8,0 1 5 0.000000005 7 C R 8 + 8 [0]\n8,0 1 6 0.000000006 7 C R 16 + 8 [5]\n\
         8,0 1 7 0.000000007 7 C R 99 + 8 [0]\n8,0 1 8 0.000000008 7 D R 200 + 8 [a]\n",
    );
    assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), [([1, 4, 6], 4096, 8192)]);
    assert_eq!(rows[0].error, 5);
    assert_eq!(info.notes["completions without a beginning"], "1");
    assert_eq!(info.notes["requests without a completion"], "1");
}

/// Two readers of one block, each arriving before the other is answered.
const TWO_READERS: &str = "8,0 1 1 0.000000000 7 Q R 8 + 8 [a]\n8,0 1 2 0.000001000 7 D R 8 + 8 [a]\n\
    8,0 2 1 0.000050000 9 Q R 8 + 8 [b]\n8,0 2 2 0.000051000 9 D R 8 + 8 [b]\n";

#[test]
fn two_requests_in_flight_to_one_place_are_two_rows() {
    let ends = "8,0 1 3 0.000100000 0 C R 8 + 8 [0]\n8,0 2 3 0.000150000 0 C R 8 + 8 [0]\n";
    let (rows, info) = text(&[TWO_READERS, ends].concat());
    let times = [([0, 1000, 100_000], 4096, 4096), ([50_000, 51_000, 150_000], 4096, 4096)];
    assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), times);
    assert_eq!(rows.iter().map(|io| io.process).collect::<Vec<_>>(), [7, 9]);
    assert!(info.notes.is_empty(), "{:?}", info.notes);
    // One completion is missing from the trace.
    let end = "8,0 2 3 0.000150000 0 C R 8 + 8 [0]\n";
    let (rows, info) = text(&[TWO_READERS, end].concat());
    assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), [([0, 1000, 150_000], 4096, 4096)]);
    assert_eq!(info.notes["requests without a completion"], "1");
    assert!(!info.notes.contains_key("completions without a beginning"), "{:?}", info.notes);
}

#[test]
fn requests_to_one_place_are_told_apart_by_operation_and_length() {
    let (rows, info) = text(
        "8,0 1 1 0.000000001 7 D R 8 + 8 [a]\n8,0 1 2 0.000000002 8 D W 8 + 8 [b]\n\
         8,0 1 3 0.000000003 9 D R 8 + 16 [c]\n8,0 1 4 0.000000004 0 C W 8 + 8 [0]\n\
         8,0 1 5 0.000000005 0 C R 8 + 16 [0]\n8,0 1 6 0.000000006 0 C R 8 + 8 [0]\n",
    );
    let times = [([1, 1, 6], 4096, 4096), ([2, 2, 4], 4096, 4096), ([3, 3, 5], 4096, 8192)];
    assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), times);
    assert_eq!(rows.iter().map(|io| io.process).collect::<Vec<_>>(), [7, 8, 9]);
    assert_eq!(noted(&info), ["requests without an arrival"]);
}

#[test]
fn requests_that_wait_for_one_place_each_have_their_arrival() {
    let (rows, _) = text(
        "8,0 1 1 0.000000001 7 Q R 8 + 8 [a]\n8,0 1 2 0.000000002 9 Q R 8 + 8 [b]\n\
         8,0 1 3 0.000000003 7 D R 8 + 8 [a]\n8,0 1 4 0.000000004 9 D R 8 + 8 [b]\n\
         8,0 1 5 0.000000005 0 C R 8 + 8 [0]\n8,0 1 6 0.000000006 0 C R 8 + 8 [0]\n",
    );
    assert_eq!(rows.iter().map(|io| told(io).0).collect::<Vec<_>>(), [[1, 3, 5], [2, 4, 6]]);
    assert_eq!(rows.iter().map(|io| io.process).collect::<Vec<_>>(), [7, 9]);
    // A device without a queue issues nothing.
    let (rows, info) = text(
        "253,0 1 1 0.000000001 7 Q R 8 + 8 [a]\n253,0 1 2 0.000000002 9 Q R 8 + 8 [b]\n\
         253,0 1 3 0.000000005 0 C R 8 + 8 [0]\n253,0 1 4 0.000000006 0 C R 8 + 8 [0]\n",
    );
    assert_eq!(rows.iter().map(|io| told(io).0).collect::<Vec<_>>(), [[1, 1, 5], [2, 2, 6]]);
    assert_eq!(noted(&info), ["requests without an issue"]);
}

/// Otherwise each later request to the same place would get the completion of the next.
#[test]
fn a_request_whose_end_was_lost_does_not_take_that_of_one_a_minute_later() {
    let (rows, info) = text(
        "8,0 1 1 0.000000001 7 D W 8 + 8 [a]\n8,0 1 2 100.000000001 7 D W 8 + 8 [a]\n\
         8,0 1 3 100.000000005 0 C W 8 + 8 [0]\n",
    );
    let [queued, _, completed] = told(&rows[0]).0;
    assert_eq!((rows.len(), completed - queued), (1, 4));
    assert_eq!(info.notes["requests without a completion"], "1");
}

/// Once, one lost completion in twenty made sixteen requests of 100 us last a second.
#[test]
fn a_lost_end_does_not_shift_the_ends_of_all_that_come_to_its_place_later() {
    let visit = |n: u32| {
        let ends =
            if n == 4 { String::new() } else { format!("8,0 1 1 {n}.000100000 0 C W 8 + 8 [0]\n") };
        format!("8,0 1 1 {n}.000000000 7 D W 8 + 8 [a]\n{ends}")
    };
    let (rows, info) = text(&(1..=20).map(visit).collect::<String>());
    assert_eq!(rows.len(), 19);
    assert!(rows.iter().all(|io| io.completed_ns - io.issued_ns == 100_000), "{rows:?}");
    assert_eq!(info.notes["requests without a completion"], "1");
}

/// Since Linux 5.19 the device mapper cuts off what it has sent on and reports both sectors of the
/// rest, which is what it completes.
#[test]
fn a_request_that_the_device_mapper_splits_is_one_row_of_the_whole() {
    let (rows, info) = text(
        "fio-1234 [001] ..... 10.000000: block_bio_queue: 253,0 R 0 + 256 [fio]\n\
         fio-1234 [001] ..... 10.000010: block_split: 253,0 R 128 / 128 [fio]\n\
         <idle>-0 [001] ..s1. 10.001000: block_bio_complete: 253,0 R 128 + 128 [0]\n\
         fio-1234 [001] ..... 10.002000: block_bio_queue: 253,0 R 256 + 256 [fio]\n\
         fio-1234 [001] ..... 10.002010: block_split: 253,0 R 320 / 320 [fio]\n\
         fio-1234 [001] ..... 10.002020: block_split: 253,0 R 384 / 384 [fio]\n\
         <idle>-0 [001] ..s1. 10.003000: block_bio_complete: 253,0 R 384 + 128 [0]\n\
         fio-1234 [001] ..... 10.004000: block_bio_queue: 253,0 R 8 + 8 [fio]\n\
         <idle>-0 [001] ..s1. 10.005000: block_bio_complete: 253,0 R 8 + 8 [0]\n",
    );
    let times = [
        ([0, 0, 1_000_000], 0, 131_072),
        ([2_000_000, 2_000_000, 3_000_000], 131_072, 131_072),
        ([4_000_000, 4_000_000, 5_000_000], 4096, 4096),
    ];
    assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), times);
    assert_eq!(noted(&info), ["requests without an issue"]);
}

#[test]
fn partitions_come_from_remappings() {
    let (rows, info) = text(
        "8,0 1 1 0.000000001 7 A W 2056 + 8 <- (8,1) 8\n8,0 1 2 0.000000002 7 Q W 2056 + 8 [a]\n\
         8,0 1 3 0.000000003 7 D W 2056 + 8 [a]\n8,0 1 4 0.000000004 7 C W 2056 + 8 [0]\n",
    );
    assert_eq!((rows.len(), rows[0].partition), (1, 1));
    assert_eq!(info.devices[0].partitions[0].name, "8,1");
}

/// A volume on an encrypted one; they share a major number, as a disk and its partitions do.
#[test]
fn volumes_that_the_device_mapper_stacks_are_no_partitions() {
    let stacked = "253,0 1 2 0.000001000 5 A R 2048 + 8 <- (253,1) 0\n\
        253,0 1 3 0.000002000 5 Q R 2048 + 8 [dd]\n8,0 1 4 0.000003000 5 A R 34816 + 8 <- (253,0) 2048\n\
        8,0 1 5 0.000004000 5 Q R 34816 + 8 [dd]\n8,0 1 6 0.000005000 5 D R 34816 + 8 [dd]\n\
        8,0 1 7 0.001000000 0 C R 34816 + 8 [0]\n253,0 1 8 0.001100000 0 C R 2048 + 8 [0]\n\
        253,1 1 9 0.001200000 0 C R 0 + 8 [0]\n";
    let (rows, info) = text(&format!("253,1 1 1 0.000000000 5 Q R 0 + 8 [dd]\n{stacked}"));
    assert_eq!((rows.len(), info.devices.len()), (3, 3));
    assert!(rows.iter().all(|io| io.partition == 0), "{rows:?}");
    assert!(info.devices.iter().all(|device| device.partitions.is_empty()), "{:?}", info.devices);
    // The very first arrival is missing from the trace, and the volume has the smaller number.
    let swapped = stacked.replace("253,0", "253,2").replace("253,1", "253,0");
    let (_, info) = text(&swapped);
    assert!(info.devices.iter().all(|device| device.partitions.is_empty()), "{:?}", info.devices);
}

/// As Linux up to 4.13 reports it: the device mapper sends on to the partition of a disk.
#[test]
fn partitions_below_a_volume_are_partitions() {
    let event = |time: u32, what: &str| format!("dd-5 [001] ..... 5.00000{time}: block_{what}\n");
    let (rows, info) = text(
        &[
            event(1, "bio_queue: 253,0 R 0 + 8 [dd]"),
            event(2, "bio_remap: 8,1 R 100 + 8 <- (253,0) 0"),
            event(3, "bio_remap: 8,0 R 2148 + 8 <- (8,1) 100"),
            event(4, "bio_queue: 8,0 R 2148 + 8 [dd]"),
            event(5, "rq_issue: 8,0 R 4096 () 2148 + 8 [dd]"),
            event(8, "rq_complete: 8,0 R () 2148 + 8 [0]"),
            event(9, "bio_complete: 253,0 R 0 + 8 [0]"),
        ]
        .concat(),
    );
    let mut partitions: Vec<(&str, u16)> =
        rows.iter().map(|io| (&*info.devices[usize::from(io.device)].name, io.partition)).collect();
    partitions.sort_unstable();
    assert_eq!(partitions, [("253,0", 0), ("8,0", 1)]);
    // The rest of a request that the device mapper split arrives with the first part.
    let (rows, info) = text(
        "253,1 1 1 0.000000001 5 Q R 0 + 16 [dd]\n253,1 1 2 0.000000002 5 X R 0 / 8 [dd]\n\
         253,0 1 3 0.000000003 5 A R 2056 + 8 <- (253,1) 8\n\
         253,0 1 4 0.000000004 5 Q R 2056 + 8 [dd]\n253,0 1 5 0.000000009 0 C R 2056 + 8 [0]\n",
    );
    assert_eq!(rows.len(), 1);
    assert!(info.devices.iter().all(|device| device.partitions.is_empty()), "{:?}", info.devices);
}

#[test]
fn traces_without_completions_or_issues_give_rows_too() {
    let issues = "8,0 1 1 0.000000001 7 Q W 8 + 8 [a]\n8,0 1 2 0.000000005 7 D W 8 + 8 [a]\n";
    assert_eq!(text(issues).0.iter().map(told).collect::<Vec<_>>(), [([1, 5, 5], 4096, 4096)]);
    let (rows, info) = text("8,0 1 1 0.000000001 7 Q W 8 + 8 [a]\n");
    assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), [([1, 1, 1], 4096, 4096)]);
    assert!(info.notes.contains_key("times"));
    let ends = "8,0 1 1 0.000000009 7 C W 8 + 8 [0]\n8,0 1 2 0.000000010 0 C FWS 0 + 0 [0]\n";
    let (rows, info) = text(ends);
    assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), [([9, 9, 9], 4096, 4096)]);
    assert_eq!(rows[0].process, 0, "the one that was interrupted");
    assert!(info.notes["times"].contains("completions alone"), "{:?}", info.notes);
}

#[test]
fn tracefs_text_with_flushes() {
    let (rows, info) = text(
        "# tracer: nop\n\
         CPU:1 [LOST 12 EVENTS]\n\
         jbd2-9 [001] ..... 5.000001: block_io_start: 254,0 WS 4096 () 64 + 8 none,0,0 [jbd2]\n\
         jbd2-9 [001] ..... 5.000003: block_rq_issue: 254,0 WS 4096 () 64 + 8 none,0,0 [jbd2]\n\
         <idle>-0 [001] ..s1. 5.000009: block_rq_complete: 254,0 WS () 64 + 8 none,0,0 [0]\n\
         jbd2-9 [001] ..... 6.000000: block_rq_issue: 254,0 FF 0 () 18446744073709551615 + 0 none,0,0 [jbd2]\n\
         <idle>-0 [001] ..s1. 6.000002: block_rq_complete: 254,0 FF () 18446744073709551615 + 0 none,0,0 [0]\n",
    );
    let times =
        [([0, 2000, 8000], 32_768, 4096), ([999_999_000, 999_999_000, 1_000_001_000], 0, 0)];
    assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), times);
    assert_eq!((rows[1].request.op, rows[1].flags), (Op::Write, IoFlags::FLUSH));
    assert_eq!(info.lost_by_cpu, [0, 12]);
}

/// With `options/record-tgid`, as in traces from Android.
#[test]
fn tracefs_text_with_a_column_of_thread_groups() {
    let (rows, info) = text(
        "fio (x)-2101  ( 2100) [001] ..... 5.000001: block_rq_issue: 254,0 WS 4096 () 64 + 8 none,0,0 [fio]\n\
         <idle>-0     (-----) [001] ..s1. 5.000009: block_rq_complete: 254,0 WS () 64 + 8 none,0,0 [0]\n",
    );
    assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), [([0, 0, 8000], 32_768, 4096)]);
    assert_eq!((rows[0].process, info.commands[1].as_str()), (2101, "fio (x)"));
}

/// One record of blktrace, version 7 or 8, in either byte order.
fn record(
    version: u32,
    swapped: bool,
    time: u64,
    sequence: u32,
    action: u32,
    payload: &[u8],
) -> Vec<u8> {
    let word = |value: u32| if swapped { value.to_be_bytes() } else { value.to_le_bytes() };
    let long = |value: u64| if swapped { value.to_be_bytes() } else { value.to_le_bytes() };
    let mut bytes = Vec::new();
    bytes.extend(word(0x6561_7400 | version));
    bytes.extend(word(sequence));
    bytes.extend(long(time));
    bytes.extend(long(64));
    bytes.extend(word(4096));
    if version == 7 {
        bytes.extend(word(action));
        bytes.extend(word(33));
    } else {
        bytes.extend(word(33));
        bytes.extend(long(u64::from(action)));
    }
    bytes.extend(word(8 << 20 | 1));
    bytes.extend(word(0));
    let length = payload.len() as u32;
    bytes.extend(word(if swapped { length } else { length << 16 }));
    bytes.resize(if version == 7 { 48 } else { 64 }, 0);
    bytes.extend(payload);
    bytes
}

#[test]
fn blktrace_records_of_both_versions_and_byte_orders() {
    const WRITE_SYNC: u32 = 1 << 17 | 1 << 19;
    for (version, swapped) in [(7, false), (7, true), (8, false), (8, true)] {
        let one = [
            record(version, swapped, 5, 1, 1 << 26, b"fio\0"),
            record(version, swapped, 10, 2, 1 | WRITE_SYNC, &[]),
            record(version, swapped, 30, 5, 7 | 0x100 | WRITE_SYNC, &[0; 8]),
        ];
        let other = record(version, swapped, 70, 1, 8 | WRITE_SYNC, &[]);
        let (rows, info) = read(vec![one.concat(), other]);
        assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), [([0, 20, 60], 32_768, 4096)]);
        assert_eq!((rows[0].process, rows[0].flags), (33, IoFlags::SYNC));
        assert_eq!(info.commands, ["", "fio"]);
        assert_eq!(info.devices[0].name, "8,1");
        assert_eq!(info.lost_by_cpu, [2], "sequence 3 and 4 are not there");
    }
}

/// A version 7 record for another CPU, device and sector.
fn elsewhere(mut record: Vec<u8>, cpu: u32, device: u32, sector: u64) -> Vec<u8> {
    record[16..24].copy_from_slice(&sector.to_le_bytes());
    record[36..40].copy_from_slice(&device.to_le_bytes());
    record[40..44].copy_from_slice(&cpu.to_le_bytes());
    record
}

/// As `blktrace -o -` writes them: buffers of CPUs and devices one after the other.
#[test]
fn one_stream_of_several_cpus_and_devices_gives_the_rows_of_their_files() {
    const WRITE: u32 = 1 << 17;
    let (mut issuing, mut completing, mut other) = (Vec::new(), Vec::new(), Vec::new());
    for at in 0..50u32 {
        let (time, sector) = (1000 + 10_000 * u64::from(at), 64 + 8 * u64::from(at));
        let event = |after: u64, number: u32, action: u32| {
            record(7, false, time + after, number, action | WRITE, &[])
        };
        let disk = 8 << 20;
        issuing.extend(elsewhere(event(0, 2 * at + 1, 1), 0, disk, sector));
        issuing.extend(elsewhere(event(1000, 2 * at + 2, 7), 0, disk, sector));
        completing.extend(elsewhere(event(6000, at + 1, 8), 1, disk, sector));
        other.extend(elsewhere(event(2000, 5000 + 2 * at, 7), 0, disk | 16, sector));
        other.extend(elsewhere(event(3000, 5001 + 2 * at, 8), 0, disk | 16, sector));
    }
    let apart = read(vec![issuing.clone(), completing.clone(), other.clone()]);
    let together = read(vec![[completing, other, issuing].concat()]);
    assert_eq!((apart.0.len(), &together.0), (100, &apart.0));
    for (_, info) in [&apart, &together] {
        assert_eq!(info.lost_by_cpu, [0u64; 0], "each device numbers its own on each CPU");
        assert_eq!(noted(info), ["requests without an arrival"]);
    }
}

#[test]
fn the_wall_clock_is_read_in_the_byte_order_of_its_record() {
    for swapped in [false, true] {
        for nanos in [1u32, 0x1234_560a, 500_000_000, 999_999_999] {
            let word = |n: u32| if swapped { n.to_be_bytes() } else { n.to_le_bytes() };
            let clock = [word(1_700_000_000), word(nanos)].concat();
            let records = [
                record(7, swapped, 5, 0, 1 << 26 | 1, &clock),
                record(7, swapped, 10, 1, 7, &[]),
                record(7, swapped, 30, 2, 8, &[]),
            ];
            let (rows, info) = read(vec![records.concat()]);
            assert_eq!(rows.len(), 1);
            let began = 1_700_000_000_000_000_005 + i64::from(nanos);
            assert_eq!(info.started_unix_ns, Some(began), "{swapped} {nanos}");
        }
    }
}

/// When the kernel reuses a buffer, its notes keep what was there before.
#[test]
fn notes_have_no_number_in_the_sequence() {
    let all = [
        record(7, false, 1, 60_000, 1, &[]),
        record(7, false, 2, 8 << 20, 1 << 26, b"fio\0"),
        record(7, false, 3, 60_001, 8, &[]),
        record(7, false, 4, 17_000, 1 << 26, b"fio\0"),
        record(7, false, 5, 60_002, 7, &[]),
    ];
    assert_eq!(read(vec![all.concat()]).1.lost_by_cpu, [0u64; 0]);
}

#[test]
fn a_cut_blktrace_file_is_told_or_skipped() {
    let mut bytes = [record(7, false, 1, 1, 1, &[]), record(7, false, 2, 2, 8, &[])].concat();
    bytes.extend([9; 30]);
    let open_with = |skip_bad| {
        let source = Source::stream("t", Cursor::new(bytes.clone()));
        let options = ReadOptions { skip_bad, ..ReadOptions::default() };
        whole::read(vec![source], &options).map(|(rows, info)| (rows.len(), info.skipped))
    };
    assert!(open_with(false).unwrap_err().to_string().contains("record 3 (byte 96)"));
    assert_eq!(open_with(true).unwrap(), (1, 1));
}
