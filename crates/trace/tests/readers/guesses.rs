//! Text that looks like a format and is not of it: nothing is guessed, and the message says what to
//! do.

use crate::whole;
use ioscape_schema::{Io, TraceInfo};
use ioscape_trace::{Error, ReadOptions, Source};
use std::io::Cursor;

fn read(text: &[u8], options: &ReadOptions) -> Result<(Vec<Io>, TraceInfo), Error> {
    whole::read(vec![Source::stream("t", Cursor::new(text.to_vec()))], options)
}

/// The format of the text, or why it is of none.
fn format_of(text: &str) -> Result<String, String> {
    let found = read(text.as_bytes(), &ReadOptions::default());
    found.map(|(_, info)| info.format).map_err(|error| error.to_string())
}

/// The lines of twenty requests, each from the number of its request.
fn lines(line: impl Fn(u64) -> String) -> String {
    (0..20).map(|at| line(at) + "\n").collect()
}

/// A first line of names that another program's table may have, its lines, and a format of the same
/// shape.
fn tables() -> [(&'static str, String, &'static str); 5] {
    let spc = |unit| move |at| format!("0,{},4096,R,{}", at * 4096, at * unit);
    let alibaba = |at| format!("0,R,{},4096,{}", at * 4096, 1_577_808_144_360_767 + at * 1000);
    let tencent = |at| format!("{},{},8,1,0", 1_538_323_200 + at, at * 8);
    let disksim = |at| format!("{at}.0 0 {} 8 1", at * 8 + 1);
    [
        ("disk,offset_bytes,length_bytes,op,time_s", lines(spc(1)), "spc"),
        ("disk,block,length,op,time_ms", lines(spc(10)), "spc"),
        ("device,opcode,sector,length,timestamp", lines(alibaba), "alibaba"),
        ("time,offset_kb,size_kb,is_write,disk", lines(tencent), "tencent"),
        ("time_us disk offset size op", lines(disksim), "disksim"),
    ]
}

/// Once, the names were not looked at, and bytes became sectors.
#[test]
fn fields_with_other_names_than_a_formats_own_are_of_no_format_unless_it_is_named() {
    for (names, lines, format) in tables() {
        assert_eq!(format_of(&lines).as_deref(), Ok(format), "{names}");
        let text = format!("{names}\n{lines}");
        let why = format_of(&text).unwrap_err();
        assert!(why.contains(&format!("its fields are called {names}; name it with")), "{why}");
        assert!(why.contains("columns queued_ns,is_write,offset_bytes,length_bytes"), "{why}");
        assert_eq!(read(text.as_bytes(), &whole::named(format)).unwrap().0.len(), 20);
    }
    let own = format!("asu, lba, size, opcode, timestamp\n{}", tables()[0].1);
    assert_eq!(format_of(&own).as_deref(), Ok("spc"));
}

/// Once, requests of 10 s took 2815 h, or 10 ms, and 4 KiB were 2 MiB.
#[test]
fn lines_that_would_give_impossible_times_or_disks_are_of_no_format() {
    let clock_ms = 1_577_808_144_360_u64;
    for text in [
        lines(|at| format!("{},{},4096,1,0", at * 1000, at * 4096)),
        lines(|at| format!("{},{},65536,1,0", clock_ms / 1000 + at, at * 65_536)),
        lines(|at| format!("0,R,{},4096,{}", at * 4096, clock_ms + at)),
        lines(|at| format!("0,{},4096,R,{}", at * 8, at * 1_000_000)),
        lines(|at| format!("0,{},4096,R,{at}", (at + 1) << 40)),
        lines(|at| format!("{at}.5 0 {} 65536 1", at * 65_536 + 1)),
    ] {
        let why = format_of(&text).unwrap_err();
        assert!(why.starts_with("t is of no known trace format: "), "{why}");
    }
    let large = "128166372003061629,usr,0,Write,0,1073741824,1\n";
    assert_eq!(format_of(large).as_deref(), Ok("msr"), "a request of 1 GiB at a possible time");
}

/// As in parts of traces that were cut for replay.
#[test]
fn times_since_the_trace_began_are_read_under_a_formats_own_names_and_else_explained() {
    let systor = lines(|at| format!("{at}.5,0.001,R,1,{},4096", at * 4096));
    let named = format!("Timestamp,Response,IOType,LUN,Offset,Size\n{systor}");
    assert_eq!(format_of(&named).as_deref(), Ok("systor"));
    let rare = lines(|at| format!("0,{},4096,R,{}.5", at * 8, at * 900));
    let alibaba = lines(|at| format!("0,R,{},4096,{}", at * 4096, at * 1000));
    for (text, format) in [(systor, "systor"), (rare, "spc"), (alibaba, "alibaba")] {
        let why = format_of(&text).unwrap_err();
        assert!(why.contains(&format!("its lines have the form of {format}, but")), "{why}");
        assert!(why.contains(&format!("name it with --format ({format}), or write")), "{why}");
        assert_eq!(read(text.as_bytes(), &whole::named(format)).unwrap().0.len(), 20);
    }
}

#[test]
fn names_in_quotes_and_after_blanks_name_the_columns() {
    let plain = "queued_ns,is_write,offset_bytes,length_bytes,device\n5,1,512,1024,a\n";
    let quoted = plain.replacen("queued_ns,is_write", "\"queued_ns\", is_write", 1);
    let quoted = quoted.replacen("device", "\"device\"", 1);
    let rows = |text: &str| read(text.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(rows(&quoted), rows(plain));
}

/// The names come again in each file that was joined to the first.
#[test]
fn names_that_come_again_are_no_broken_record() {
    let systor = "Timestamp,Response,IOType,LUN,Offset,Size\n1455592208.1,0.001,R,1,4096,8192\n";
    let csv = "queued_ns,is_write,offset_bytes,length_bytes\n5,1,512,1024\n";
    for one in [systor, csv] {
        let (rows, info) = read(one.repeat(2).as_bytes(), &ReadOptions::default()).unwrap();
        assert_eq!((rows.len(), info.skipped), (2, 0), "{one}");
    }
    let other = systor.to_owned() + &systor.replace("Size", "Length");
    assert!(read(other.as_bytes(), &ReadOptions::default()).is_err());
}

#[test]
fn a_tar_archive_is_told() {
    let mut tar = b"folder/trace.csv".to_vec();
    tar.resize(257, 0);
    tar.extend(b"ustar\x0000");
    tar.resize(512, 0);
    tar.extend(b"419,W,8192,4096,1577808144360767\n");
    for options in [ReadOptions::default(), whole::named("alibaba")] {
        let why = read(&tar, &options).unwrap_err().to_string();
        assert!(why.starts_with("t: a tar archive") && why.contains("tar -xf"), "{why}");
    }
}

#[test]
fn what_is_packed_in_a_way_that_is_not_read_is_told() {
    for (mark, word) in [(b"PK\x03\x04", "unzip"), (b"\x04\x22\x4d\x18", "lz4 -d")] {
        let why = read(&[&mark[..], &[0; 512]].concat(), &ReadOptions::default()).unwrap_err();
        assert!(why.to_string().contains(word), "{why}");
    }
}

#[test]
fn call_stacks_below_events_are_passed_over() {
    let event = "  fio     9 [001]     5.000001: block:block_rq_issue: 8,0 WS 4096 () 64 + 8 [fio]";
    let end = "  fio     9 [001]     5.000009: block:block_rq_complete: 8,0 WS () 64 + 8 [0]";
    let perf = "\tffffffff8136c000 blk_mq_start_request+0x50 ([kernel.kallsyms])\n\t    7f12 [unknown] (/bin/fio)\n";
    let tracefs = " => blk_mq_start_request\n => submit_bio\n";
    let trace_cmd = "=> blk_mq_start_request (ffffffff8136c000)\n";
    for stack in [perf, tracefs, trace_cmd] {
        let text = format!("{event}\n{stack}\n{end}\n{stack}");
        let (rows, info) = read(text.as_bytes(), &ReadOptions::default()).unwrap();
        assert_eq!((rows.len(), info.skipped), (1, 0));
    }
    for command in ["fio", "dd"] {
        let broken = format!("{event}\n {command} 9 [001]  5.0000\n{end}\n");
        assert!(read(broken.as_bytes(), &ReadOptions::default()).is_err(), "{command}");
    }
}

/// Once, all requests of such an output had 0 bytes.
#[test]
fn blkparses_output_by_option_f_is_refused() {
    let head = "8,0 1 1 0.000000001 7 ";
    for [action, rest] in [["Q", "8 8"], ["Q", "4096"], ["Q", "8 [fio]"], ["C", "8 8 [0]"]] {
        let why = format_of(&format!("{head}{action} R {rest}\n")).unwrap_err();
        assert!(why.starts_with("t, line 1: no \"+ count\" after the sector"), "{why}");
    }
    // A passed-through command without its bytes, and a flush with the time that it took.
    let text = format!(
        "{head}D R 36 [nvme]\n{head}Q FWS [a]\n8,0 1 2 0.000000022 0 C WS 0 (      21) [0]\n"
    );
    let (rows, info) = read(text.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!((rows.len(), rows[0].completed_ns, info.notes.len()), (1, 22, 0));
}
