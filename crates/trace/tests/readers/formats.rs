//! Every format that can be read: a small trace of its own, recognized by content, row by row.

use crate::whole;
use ioscape_schema::{Io, IoFlags, Op, TraceInfo, WarningKind};
use ioscape_trace::{Error, FilePosition, Format, ReadOptions, Source, doubts, open};
use std::io::Cursor;

fn read(bytes: &[u8], options: &ReadOptions) -> Result<(Vec<Io>, TraceInfo), Error> {
    let source = Source::stream("folder/w1.trace", Cursor::new(bytes.to_vec()));
    whole::read(vec![source], options)
}

/// Arrival, response time, operation, offset and length.
type Row = (u64, u64, Op, u64, u32);

/// Checks that the trace is recognized as `format` and has these rows and devices.
fn holds(format: &str, bytes: &[u8], rows: &[Row], devices: &[&str]) -> TraceInfo {
    for options in [ReadOptions::default(), whole::named(format)] {
        let (found, info) = read(bytes, &options).unwrap();
        assert_eq!(info.format, format);
        let told = |io: &Io| {
            (io.queued_ns, io.elapsed_ns(), io.request.op, io.request.offset, io.request.len)
        };
        assert_eq!(found.iter().map(told).collect::<Vec<_>>(), rows, "{format}");
        let names: Vec<&str> = info.devices.iter().map(|device| device.name.as_str()).collect();
        assert_eq!(names, devices);
    }
    read(bytes, &ReadOptions::default()).unwrap().1
}

const R: Op = Op::Read;
const W: Op = Op::Write;
const MS: u64 = 1_000_000;

#[test]
fn msr_cambridge() {
    let text = b"128166372003061629,usr,0,Read,7014609920,24576,41286\r\n\
        128166372016382155,usr,1,Write,2657792,512,1963\r\n";
    let rows =
        [(0, 4_128_600, R, 7_014_609_920, 24_576), (1_332_052_600, 196_300, W, 2_657_792, 512)];
    let info = holds("msr", text, &rows, &["usr_0", "usr_1"]);
    assert_eq!(
        info.started_unix_ns,
        Some(1_172_163_600_306_162_900),
        "22 February 2007, 17:00 UTC"
    );
}

#[test]
fn msr_with_times_from_the_beginning_is_read_by_name() {
    let text = "0,hm,0,Read,7014609920,24576,41286\n13320526,hm,0,Write,2517696512,4096,703\n";
    let why = read(text.as_bytes(), &ReadOptions::default()).unwrap_err().to_string();
    assert!(why.contains("--format (msr)"), "{why}");
    let (rows, info) = read(text.as_bytes(), &whole::named("msr")).unwrap();
    let times = rows.iter().map(|io| (io.queued_ns, io.completed_ns)).collect::<Vec<_>>();
    assert_eq!(times, [(0, 4_128_600), (1_332_052_600, 1_332_122_900)]);
    assert_eq!(info.started_unix_ns, None);
    let dated = text.to_owned() + "128166372003061629,hm,0,Read,0,512,1\n";
    assert!(read(dated.as_bytes(), &whole::named("msr")).is_err(), "of two clocks");
    // The same clock from 1970.
    let text = "11721636003061629,usr,0,Read,0,512,1\n11721636003061639,usr,0,Read,0,512,1\n";
    let rows = [(0, 100, R, 0, 512), (1000, 100, R, 0, 512)];
    let info = holds("msr", text.as_bytes(), &rows, &["usr_0"]);
    assert_eq!(info.started_unix_ns, Some(1_172_163_600_306_162_900));
}

#[test]
fn alibaba_and_tencent() {
    let text = b"419,W,8192,4096,1577808144360767\n725,R,0,512,1577808144360999\n";
    let rows = [(0, 0, W, 8192, 4096), (232_000, 0, R, 0, 512)];
    holds("alibaba", text, &rows, &["device 419", "device 725"]);
    let text = b"1538323200,12910952,128,0,1063\n1538323201,6265016,8,1,1064\n";
    let rows = [(0, 0, R, 12_910_952 * 512, 65_536), (1000 * MS, 0, W, 6_265_016 * 512, 4096)];
    let info = holds("tencent", text, &rows, &["volume 1063", "volume 1064"]);
    assert_eq!(info.started_unix_ns, Some(1_538_323_200_000_000_000));
    assert_eq!(lacks(&info), [WarningKind::TimesUnknown]);
}

#[test]
fn spc_and_systor() {
    let text = b"0,303567,3584,w,0.000000\n1, 55590,3072,W,0.011413,x,y\n0,8,1024,r,0.5\n";
    let rows = [
        (0, 0, W, 303_567 * 512, 3584),
        (11_413_000, 0, W, 55_590 * 512, 3072),
        (500 * MS, 0, R, 4096, 1024),
    ];
    holds("spc", text, &rows, &["ASU 0", "ASU 1"]);
    let text = b"Timestamp,Response,IOType,LUN,Offset,Size\n\
        1455592208.092310000,0.000147000,R,1,4096,8192\n1455592208.192310,0.001,W,0,0,512\n1455592209.0,,,1,0,0\n";
    let rows = [(0, 147_000, R, 4096, 8192), (100 * MS, MS, W, 0, 512)];
    let info = holds("systor", text, &rows, &["LUN 1", "LUN 0"]);
    assert_eq!(info.notes["requests without kind"], "1");
}

/// Once, requests without an answer took 1 ns where the others took whole milliseconds.
#[test]
fn a_request_without_an_answer_is_not_one_within_a_step_of_the_clock() {
    let text = b"1455592208.001,0.001,R,1,0,512\n1455592208.002,,R,1,0,512\n\
        1455592208.003,0.000,R,1,0,512\n";
    let rows = [(0, MS, R, 0, 512), (MS, 0, R, 0, 512), (2 * MS, 1, R, 0, 512)];
    holds("systor", text, &rows, &["LUN 1"]);
}

#[test]
fn fiu_names_processes() {
    let text =
        b"391053954863 4892 syslogd 904265560 8 W 6 0 531e779\n391054954863 9 x 8 16 R 6 1 a\n";
    let rows = [(0, 0, W, 904_265_560 * 512, 4096), (MS, 0, R, 4096, 8192)];
    let info = holds("fiu", text, &rows, &["6,0", "6,1"]);
    assert_eq!(info.commands, ["", "syslogd", "x"]);
    let (rows, _) = read(text, &ReadOptions::default()).unwrap();
    assert_eq!((rows[0].process, rows[0].command, rows[1].command), (4892, 1, 2));
}

#[test]
fn vscsi_records() {
    let one = |time: u64, command: u16, len: u32, block: u64| {
        let mut record = vec![0; 4];
        record.extend(len.to_le_bytes());
        record.extend(1u32.to_le_bytes());
        record.extend(command.to_le_bytes());
        record.extend(0x100u16.to_le_bytes());
        record.extend(block.to_le_bytes());
        record.extend(time.to_le_bytes());
        record
    };
    let bytes = [one(1000, 0x2a, 512, 8), one(1500, 0x28, 4096, 1)].concat();
    let rows = [(0, 0, W, 4096, 512), (500_000, 0, R, 512, 4096)];
    holds("vscsi1", &bytes, &rows, &["w1"]);
    let two = |time: u64, command: u16, len: u32, block: u64| {
        let mut record = command.to_le_bytes().to_vec();
        record.extend(0x200u16.to_le_bytes());
        record.extend([0; 4]);
        record.extend(len.to_le_bytes());
        record.extend(1u32.to_le_bytes());
        record.extend(block.to_le_bytes());
        record.extend(time.to_le_bytes());
        record.extend(1u64.to_le_bytes());
        record
    };
    // The write takes one step of the clock; a flush has no time.
    let bytes = [two(1000, 0x8a, 512, 8), two(1501, 0x35, 0, 0)].concat();
    holds("vscsi2", &bytes, &[(0, 1000, W, 4096, 512), (501_000, 0, W, 0, 0)], &["w1"]);
    let (rows, _) = read(&bytes, &ReadOptions::default()).unwrap();
    assert_eq!(rows[1].flags, IoFlags::FLUSH);
}

#[test]
fn cloudphysics_as_text() {
    let text = b"version,time,op,size,lbn\n1,5633898,2a,512,42932745\n1,5633899,28,6656,40409911\n";
    let rows = [(0, 0, W, 42_932_745 * 512, 512), (1000 * MS, 0, R, 40_409_911 * 512, 6656)];
    holds("cloudphysics-csv", text, &rows, &["w1"]);
}

#[test]
fn five_numbers_are_told_apart() {
    let rows = [(0, 0, R, 65_536, 65_536), (12_500_000, 0, W, 512, 1024)];
    let disks = ["disk 0", "disk 1"];
    holds("replayer", b"0.0 0 65536 65536 1\n12.5 1 512 1024 0\n", &rows, &disks);
    holds("disksim", b"0.0 0 128 128 1\n12.5 1 1 2 0\n", &rows, &disks);
    holds("ssdsim", b"1000 0 128 128 1\n12501000 1 1 2 0\n", &rows, &disks);
    // Sectors that are multiples of 512, and nanoseconds that would be days in another unit.
    let rows = [(0, 0, R, 65_536 * 512, 512 * 1024), (2_400_000_000, 0, W, 0, 512 * 512)];
    holds("ssdsim", b"0 0 65536 1024 1\n2400000000 1 0 512 0\n", &rows, &disks);
}

#[test]
fn five_numbers_that_cannot_be_told_apart_ask_for_the_format() {
    let sentence = |text: &[u8]| read(text, &ReadOptions::default()).unwrap_err().to_string();
    let [millis, any] =
        [&b"0.0 0 65536 1024 1\n12.5 1 512 512 0\n"[..], b"0 0 65536 1024 1\n9000 1 512 512 0\n"];
    let told = sentence(millis);
    assert!(told.contains("ambiguous: its lines can be replayer (milliseconds and bytes) or disksim (milliseconds and sectors); name the format with --format"), "{told}");
    assert!(
        sentence(any).contains("or ssdsim (nanoseconds and sectors) or disksim"),
        "{}",
        sentence(any)
    );
    // Odd sectors leave the unit of the times open.
    let told = sentence(b"0 0 3 1 1\n9000 1 512 512 0\n");
    assert!(told.contains("can be ssdsim (nanoseconds and sectors) or disksim"), "{told}");
    let bytes = |format| {
        let (rows, _) = read(millis, &whole::named(format)).unwrap();
        rows.iter().map(|io| io.request.len).sum::<u32>()
    };
    assert_eq!((bytes("replayer"), bytes("disksim")), (1536, 1536 * 512));
}

#[test]
fn disksim_validation_starts_after_each_completion() {
    let text = b"R Miss  16  2  14095.370 13876.270\nW Hit  18  4  1000.0 10.5\n";
    let rows = [(0, 14_095_370, R, 8192, 1024), (27_971_640, MS, W, 9216, 2048)];
    holds("disksim-validate", text, &rows, &["w1"]);
}

#[test]
fn fio_logs_of_both_versions() {
    // fio waits until so many milliseconds after its start; then a second wait as long is none.
    let text = b"fio version 2 iolog\n/dev/sda add\n/dev/sda open\n/dev/sda read 4096 512\n/dev/sda wait 250 0\n\
        /dev/sda trim 0 8192\n/dev/sda wait 250 0\n/dev/sda datasync 0 0\n/dev/sda wait 400 0\n\
        /dev/sda read 0 512\n/dev/sda close\n";
    let rows = [
        (0, 0, R, 4096, 512),
        (250 * MS, 0, W, 0, 8192),
        (250 * MS, 0, W, 0, 0),
        (400 * MS, 0, R, 0, 512),
    ];
    holds("fio-iolog", text, &rows, &["/dev/sda"]);
    let text = b"fio version 3 iolog\n0 a add\n0 a open\n15 a write 4096 512\n20 a sync_file_range 0 4096\n99 b read 0 1024\n100 a close\n";
    let rows = [(15_000, 0, W, 4096, 512), (99_000, 0, R, 0, 1024)];
    let info = holds("fio-iolog", text, &rows, &["a", "b"]);
    assert!(doubts(&info)[0].message.starts_with("1 calls of sync_file_range"));
}

/// All requests of such a log are at time 0; once, nothing said so.
#[test]
fn a_fio_log_of_version_2_without_waits_is_said_to_tell_no_times() {
    let told = |text: &str| {
        let (_, info) = read(text.as_bytes(), &ReadOptions::default()).unwrap();
        (info.notes.contains_key("arrivals"), lacks(&info))
    };
    let log = |[one, other]: [&str; 2]| {
        format!("fio version 2 iolog\na add\na open\n{one}a read 0 512\n{other}a read 512 512\n")
    };
    assert_eq!(told(&log(["", ""])), (true, vec![WarningKind::TimesUnknown]));
    assert_eq!(told(&log(["a wait 0\n", ""])), (true, vec![WarningKind::TimesUnknown]));
    // In what units the waits are is not told.
    assert_eq!(told(&log(["a wait 9\n", ""])), (false, vec![WarningKind::TimesUnknown]));
    assert_eq!(told(&log(["", "a wait 9\n"])), (false, vec![WarningKind::TimesUnknown]));
    let version_3 = "fio version 3 iolog\n0 a add\n0 a read 0 512\n0 a read 512 512\n";
    assert_eq!(told(version_3), (false, Vec::new()));
}

/// Once, fio's averages were taken for Tencent's reads of volume 0, at offsets that were
/// bandwidths.
#[test]
fn fios_logs_of_samples_are_refused_and_said_to_hold_no_requests() {
    let means = "1000, 512345, 1, 0, 0\n2000, 512001, 1, 0, 0\n";
    let cut = "1000, 512345, 0, 0, 0\n2000, 51";
    for samples in [means, cut, "3, 41, 0, 4096, 0\n", "3, 41, 1, 512\n"] {
        let error = read(samples.as_bytes(), &ReadOptions::default()).unwrap_err();
        assert!(matches!(error, Error::Unknown { .. }), "{error}");
        let said = error.to_string();
        assert!(said.contains("fio's samples") && said.contains("write_iolog"), "{said}");
    }
    assert_eq!(read(means.as_bytes(), &whole::named("tencent")).unwrap().0.len(), 2);
    // Requests of one sector or none, and with blanks between the fields.
    for trace in [
        "1538323200,12345,1,0,0\n9,9,0,0,0\n",
        "1538323200, 8, 8, 0, 0\n",
        "1538323200, 8, 1, 1, 0\n",
    ] {
        let (_, info) = read(trace.as_bytes(), &ReadOptions::default()).unwrap();
        assert_eq!(info.format, "tencent", "{trace}");
    }
}

#[test]
fn oracle_general() {
    let record = |time: u32, object: u64, next: i64| {
        let mut record = time.to_le_bytes().to_vec();
        record.extend(object.to_le_bytes());
        record.extend(4096u32.to_le_bytes());
        record.extend(next.to_le_bytes());
        record
    };
    let bytes = [record(7, 8, 2), record(7, 9, -1), record(9, 8, -1)].concat();
    let rows = [(0, 0, R, 4096, 4096), (0, 0, R, 4608, 4096), (2000 * MS, 0, R, 4096, 4096)];
    let info = holds("oracle-general", &bytes, &rows, &["w1"]);
    use WarningKind::{OperationsUnknown, TimesUnknown};
    assert_eq!(lacks(&info), [OperationsUnknown, OperationsUnknown, TimesUnknown]);
    holds("oracle-general", &record(7, 8, -1), &[(0, 0, R, 4096, 4096)], &["w1"]);
}

/// From `trace-cmd report`, with its header, and from perf recording one process, without CPUs.
#[test]
fn trace_events_of_trace_cmd_and_of_perf_without_cpus() {
    let text = "version = 6\nCPU 0 is empty\ncpus=2\nCPU:1 [3 EVENTS DROPPED]\n\
        fio-9   [001]     5.000001: block_rq_issue:       8,0 WS 4096 () 64 + 8 [fio]\n\
        <idle>-0   [001]     5.000009: block_rq_complete:    8,0 WS () 64 + 8 [0]\n";
    let rows = [(0, 8000, W, 32_768, 4096)];
    let info = holds("trace-events", text.as_bytes(), &rows, &["8,0"]);
    assert_eq!(info.lost_by_cpu, [0, 3]);
    let text = "fio     9     5.000001: block:block_rq_issue: 8,0 WS 4096 () 64 + 8 [fio]\n\
        swapper     0     5.000009: block:block_rq_complete: 8,0 WS () 64 + 8 [0]\n";
    let info = holds("trace-events", text.as_bytes(), &rows, &["8,0"]);
    assert_eq!(info.commands[1], "fio");
}

#[test]
fn events_whose_times_count_from_elsewhere_or_no_seconds_are_refused() {
    let output = |disk: &str| {
        format!(
            "{disk} 1 1 0.000000000 7 Q R 8 + 8 [a [b] c]\n{disk} 1 2 0.000001000 7 D R 8 + 8 [a]\n\
             {disk} 1 3 0.000002000 0 C R 8 + 8 [0]\ndd (697)\n Reads Queued:  1\nCPU0 (x):\n"
        )
    };
    let rows = [(0, 2000, R, 4096, 4096)];
    let info = holds("blkparse", output("8,0").as_bytes(), &rows, &["8,0"]);
    assert_eq!(info.commands[1], "a [b] c");
    let two = output("8,0") + &output("8,16");
    let refused = read(two.as_bytes(), &ReadOptions::default()).unwrap_err().to_string();
    assert!(refused.contains("line 7: a second output of blkparse"), "{refused}");
    let options = ReadOptions { skip_bad: true, ..ReadOptions::default() };
    let (rows, info) = read(two.as_bytes(), &options).unwrap();
    assert_eq!((rows.len(), info.skipped), (1, 3));
    let text = b"dd-5 [001] ..... 142525: block_rq_issue: 8,0 R 512 () 8 + 1 none,0,0 [dd]\n";
    let refused = read(text, &ReadOptions::default()).unwrap_err().to_string();
    assert!(refused.contains("line 1: a time without a point"), "{refused}");
}

/// What is said of the trace before its numbers.
fn lacks(info: &TraceInfo) -> Vec<WarningKind> {
    doubts(info).iter().map(|doubt| doubt.kind).collect()
}

/// A header of libCacheSim's format, and what follows it.
fn lcs(version: u64, records: &[Vec<u8>]) -> Vec<u8> {
    let magic = 0x1234_5678_9abc_def0_u64.to_le_bytes();
    let mut bytes = [magic, version.to_le_bytes()].concat();
    bytes.resize(8192 - 8, 0);
    bytes.extend(magic);
    bytes.extend(records.concat());
    bytes
}

#[test]
fn libcachesims_own_format() {
    let start = |time: u32, object: u64| [&time.to_le_bytes()[..], &object.to_le_bytes()].concat();
    let (size, next) = (4096u32.to_le_bytes(), (-1i64).to_le_bytes());
    let one = |time| [&start(time, 8)[..], &size, &next].concat();
    let two = |time, op, tenant| [&start(time, 8)[..], &size, &[op, tenant, 0, 0], &next].concat();
    let three = |time, op| {
        let size = 4096i64.to_le_bytes();
        [&start(time, 8)[..], &size, &[op, 0, 0, 0], &[0; 4], &next].concat()
    };
    let rows = |op| [(0, 0, R, 4096, 4096), (2000 * MS, 0, op, 4096, 4096)];
    holds("lcs", &lcs(1, &[one(7), one(9)]), &rows(R), &["w1"]);
    let mixed = lcs(2, &[two(7, 12, 5), two(9, 13, 6)]);
    holds("lcs", &mixed, &rows(W), &["tenant 5", "tenant 6"]);
    holds("lcs", &lcs(3, &[three(7, 1), three(9, 3)]), &rows(W), &["tenant 0"]);
    let error = |bytes: &[u8]| read(bytes, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error(&lcs(4, &[])).contains("lcs version 4: 1, 2 and 3"), "{}", error(&lcs(4, &[])));
    assert!(error(&lcs(1, &[])[..100]).contains("no whole header"));
    let deleted = error(&lcs(2, &[two(7, 9, 0)]));
    assert!(deleted.contains("record 1") && deleted.contains("operation 9"), "{deleted}");
}

#[test]
fn broken_lines_are_named_or_skipped() {
    let text = b"0,8,512,r,0.0\n0,8,512,q,0.1\n\n0,8,512,w,0.2\n0,8,99999999999,w,0.3\n";
    let error = read(text, &ReadOptions::default()).unwrap_err();
    assert!(matches!(error, Error::Record { position: FilePosition::Line(2), .. }), "{error}");
    assert!(error.to_string().contains("line 2: the opcode \"q\" cannot be"), "{error}");
    let (rows, info) =
        read(text, &ReadOptions { skip_bad: true, ..ReadOptions::default() }).unwrap();
    assert_eq!((rows.len(), info.skipped), (2, 2));
}

#[test]
fn words_that_are_no_flags_or_types_are_told_which_there_are() {
    let error = |column: &str, word: &str| {
        let text =
            format!("queued_ns,is_write,offset_bytes,length_bytes,{column}\n5,1,0,512,{word}\n");
        read(text.as_bytes(), &ReadOptions::default()).unwrap_err().to_string()
    };
    let flags = error("flags", "1");
    assert!(flags.contains("line 2: flags \"1\" is none of sync, async, "), "{flags}");
    assert!(error("io_type", "0").contains("is none of unknown, user_data, inode, "));
}

#[test]
fn times_that_run_backwards_within_a_row_are_named_or_skipped() {
    let header = "queued_ns,issued_ns,completed_ns,is_write,offset_bytes,length_bytes\n";
    let text =
        format!("{header}10,12,20,0,0,512\n30,29,40,1,0,512\n50,60,59,0,0,512\n70,0,0,0,0,512\n");
    let error = read(text.as_bytes(), &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("line 3: issued_ns 29 is before queued_ns 30"), "{error}");
    let options = ReadOptions { skip_bad: true, ..ReadOptions::default() };
    let (rows, info) = read(text.as_bytes(), &options).unwrap();
    assert_eq!(info.skipped, 2);
    let times = rows.iter().map(|io| (io.queued_ns, io.issued_ns, io.completed_ns));
    // 0 means no time: such a request is issued, and completes, on arrival.
    assert_eq!(times.collect::<Vec<_>>(), [(10, 12, 20), (70, 70, 70)]);
}

#[test]
fn unknown_bytes_are_refused_with_all_names() {
    for bytes in [&b"hello world\n"[..], &[0; 100], b"\xff\xfe\x00"] {
        let error = read(bytes, &ReadOptions::default()).unwrap_err();
        assert!(matches!(error, Error::Unknown { .. }), "{error}");
        assert!(error.to_string().contains(&Format::names()), "{error}");
    }
    assert!(matches!(open(Vec::new(), &ReadOptions::default()), Err(Error::Unsupported(_))));
}

#[test]
fn an_empty_file_is_no_trace_alone_and_the_file_of_an_idle_processor_beside_others() {
    let error = read(b"", &ReadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "folder/w1.trace is empty");
    let text = b"128166372003061629,usr,0,Read,0,512,1\n";
    for order in [[&b""[..], text], [text, b""]] {
        let sources = order.map(|bytes| Source::stream("some", Cursor::new(bytes.to_vec())));
        let (rows, _) = whole::read(sources.into(), &ReadOptions::default()).unwrap();
        assert_eq!(rows.len(), 1);
    }
}

#[test]
fn the_mark_of_utf8_before_text_is_passed_over() {
    let csv = "queued_ns,is_write,offset_bytes,length_bytes\r\n5,1,512,1024\r\n";
    let msr = "128166372003061629,usr,0,Read,0,512,1\n";
    let commented = format!("# a comment\n{csv}");
    for text in [csv, msr, &commented] {
        let marked = [b"\xEF\xBB\xBF", text.as_bytes()].concat();
        let plain = read(text.as_bytes(), &ReadOptions::default()).unwrap();
        assert_eq!(read(&marked, &ReadOptions::default()).unwrap(), plain);
        assert_eq!(read(&marked, &whole::named(&plain.1.format)).unwrap(), plain);
    }
}

#[test]
fn several_traces_are_merged_by_time() {
    let source =
        |name: &str, text: &str| Source::stream(name, Cursor::new(text.as_bytes().to_vec()));
    let first = "128166372003061629,usr,0,Read,0,512,1\n128166372003061729,usr,0,Read,512,512,1\n";
    let second = "128166372003061679,src,1,Write,0,512,1\n";
    let sources = vec![source("a.csv", first), source("b.csv", second)];
    let (rows, info) = whole::read(sources, &ReadOptions::default()).unwrap();
    let told: Vec<_> = rows
        .iter()
        .map(|io| (io.queued_ns, info.devices[usize::from(io.device)].name.as_str()))
        .collect();
    assert_eq!(told, [(0, "usr_0"), (5000, "src_1"), (10_000, "usr_0")]);
    // Two formats that count seconds from an unknown origin need not share a clock.
    let (fiu, events) = (
        "391053954863 4892 syslogd 904265560 8 W 6 0 531e779\n",
        "dd-5 [001] ..... 5.000001: block_rq_issue: 8,0 R 512 () 8 + 1 none,0,0 [dd]\n",
    );
    for (one, other, fits) in
        [(first, "0,8,512,r,0.0\n", false), (fiu, events, false), (events, events, true)]
    {
        let both = vec![source("a", one), source("b", other)];
        let read = whole::read(both, &ReadOptions::default());
        assert!(if fits { read.is_ok() } else { matches!(read, Err(Error::Unsupported(_))) });
    }
}

#[test]
fn files_that_name_no_disk_are_parts_of_one_unless_their_times_overlap() {
    let told = |files: [(&str, [u64; 2]); 2]| {
        let source = |(name, times): (&str, [u64; 2])| {
            let mut text = "queued_ns,is_write,offset_bytes,length_bytes\n".to_owned();
            text.extend(times.map(|time| format!("{time},0,0,512\n")));
            Source::stream(name, Cursor::new(text.into_bytes()))
        };
        let (_, info) = whole::read(files.map(source).into(), &ReadOptions::default()).unwrap();
        let warnings: Vec<_> = doubts(&info).into_iter().map(|one| one.message).collect();
        (info.devices.len(), warnings)
    };
    let (late, early) = (("w106.csv.01", [7, 8]), ("w106.csv.00", [5, 7]));
    assert_eq!(told([late, early]), (1, Vec::new()));
    assert_eq!(told([("vol1.csv", [5, 9]), ("vol2.csv", [6, 10])]), (2, Vec::new()));
    let (disks, warnings) = told([("vm1/disk.csv", [5, 9]), ("vm2/disk.csv", [6, 10])]);
    assert_eq!((disks, warnings.len()), (1, 1));
    assert!(warnings[0].starts_with("vm1/disk.csv and vm2/disk.csv name no disk"), "{warnings:?}");
}

/// As with the recordings of two days, each from its own beginning.
#[test]
fn files_that_name_one_disk_and_no_date_are_doubted_if_their_times_overlap() {
    let told = |texts: [&str; 2]| {
        let source = |text: &str| Source::stream("t", Cursor::new(text.as_bytes().to_vec()));
        let (_, info) = whole::read(texts.map(source).into(), &ReadOptions::default()).unwrap();
        doubts(&info).into_iter().map(|one| one.message).collect::<Vec<_>>()
    };
    let first = "0,8,512,r,0.0\n1,16,512,w,5.0\n";
    let warnings = told([first, "1,8,512,r,1.0\n0,16,512,w,2.0\n"]);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("several files have requests of ASU"), "{warnings:?}");
    assert!(told([first, "1,8,512,r,5.0\n"]).is_empty(), "parts follow one another");
    assert!(told([first, "2,8,512,r,0.0\n"]).is_empty(), "another disk");
    let log = "fio version 3 iolog\n0 /f add\n0 /f open\n5 /f read 0 512\n9 /f read 0 512\n";
    assert!(told([log, log]).is_empty(), "jobs begin together");
    let dated = "128166372003061629,usr,0,Read,0,512,1\n128166372003061729,usr,0,Read,512,512,1\n";
    assert!(told([dated, dated]).is_empty());
}
