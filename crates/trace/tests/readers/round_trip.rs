//! What is written is read back: everything from this project's own formats, and from other formats
//! what they can represent.

use crate::memory::Memory;
use crate::whole::{self, written};
use bytes::Bytes;
use ioscape_schema::{Device, Io, IoFlags, IoType, Op, Partition, Request, TraceInfo};
use ioscape_trace::{OutFormat, ReadOptions, Source, Writer, open};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use proptest::prelude::*;
use std::io::Cursor;

fn read(bytes: Vec<u8>) -> (Vec<Io>, TraceInfo) {
    let source = Source::file("t", Cursor::new(bytes));
    whole::read(vec![source], &ReadOptions::default()).unwrap()
}

fn info() -> TraceInfo {
    let partition = Partition { number: 1, name: "/home, \"x\"".to_owned() };
    let device = |name: &str| Device { name: name.to_owned(), ..Device::default() };
    TraceInfo {
        format: "test".to_owned(),
        started_unix_ns: Some(-5),
        devices: vec![
            Device {
                sector_bytes: 512,
                capacity_bytes: Some(1 << 60),
                partitions: vec![partition],
                ..device("254,0")
            },
            device("a \"quoted\" one"),
        ],
        commands: vec![String::new(), "jbd2/vda,1".to_owned(), "fio".to_owned()],
        lost_by_cpu: vec![0, 7],
        skipped: 3,
        arrival_step_ns: Some(1_000_000),
        notes: [("kernel".to_owned(), "6.18".to_owned())].into(),
    }
}

prop_compose! {
    fn row()(
        gap in 0u64..3_000_000_000, wait in 0u64..1 << 40, service in 0u64..1 << 40,
        op in prop_oneof![Just(Op::Read), Just(Op::Write)],
        offset in 0u64..1 << 62, len: u32,
        device in 0u16..2, partition: u16, queue_length: u32, command in 0u32..3, process: u32,
        flags in 0u32..1 << 11, io_type in 0usize..9, error: u16,
    ) -> Io {
        Io {
            request: Request { op, offset, len },
            process,
            queued_ns: gap,
            issued_ns: wait,
            completed_ns: service,
            device,
            partition,
            queue_length,
            command,
            flags: IoFlags::from_bits_truncate(flags),
            io_type: IoType::ALL[io_type],
            error,
        }
    }
}

fn rows() -> impl Strategy<Value = Vec<Io>> {
    prop::collection::vec(row(), 0..300).prop_map(|mut rows| {
        let mut now = 0;
        for io in &mut rows {
            now += io.queued_ns;
            io.queued_ns = now;
            io.issued_ns += now;
            io.completed_ns += io.issued_ns;
        }
        rows
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn formats_of_our_own_lose_nothing(rows in rows()) {
        for format in [OutFormat::Parquet, OutFormat::Arrow, OutFormat::Csv] {
            let (back, told) = read(written(format, &rows, &info()));
            prop_assert_eq!(&back, &rows);
            prop_assert_eq!(told, info());
        }
    }

    #[test]
    fn fio_logs_keep_microseconds_and_requests(rows in rows()) {
        let (back, _) = read(written(OutFormat::FioLog, &rows, &info()));
        let kept: Vec<_> = rows
            .iter()
            .filter(|io| io.request.len > 0)
            .map(|io| (io.queued_ns / 1000 * 1000, io.request.offset, io.request.len, io.device))
            .collect();
        let told: Vec<_> =
            back.iter().filter(|io| io.request.len > 0).map(|io| (io.queued_ns, io.request.offset, io.request.len, io.device)).collect();
        prop_assert_eq!(told, kept);
    }

    #[test]
    fn disksim_covers_every_request_with_whole_blocks(rows in rows()) {
        let moving: Vec<_> = rows.iter().filter(|io| io.moves_data() && io.request.len < 1 << 30).copied().collect();
        prop_assume!(moving.len() > 1);
        let bytes = written(OutFormat::DiskSim, &moving, &info());
        let source = Source::file("t", Cursor::new(bytes));
        let (back, _) = whole::read(vec![source], &whole::named("disksim")).unwrap();
        prop_assert_eq!(back.len(), moving.len());
        for (told, io) in back.iter().zip(&moving) {
            prop_assert_eq!((told.queued_ns, told.request.op), (io.queued_ns, io.request.op));
            prop_assert!(told.request.offset <= io.request.offset && told.end() >= io.end());
            prop_assert!(u64::from(told.request.len) < u64::from(io.request.len) + 1024);
        }
    }
}

#[test]
fn further_columns_stand_behind_the_schemas_and_are_passed_over() {
    let row = |n: u64| Io { queued_ns: n, issued_ns: n + 5, completed_ns: n + 9, ..Io::default() };
    let rows: Vec<Io> = (0..3).map(row).collect();
    for format in [OutFormat::Parquet, OutFormat::Csv] {
        let memory = Memory::default();
        let mut writer =
            Writer::with_columns(format, memory.clone(), &["seek_ns", "cached"]).unwrap();
        writer.rows_with(&rows, &[70, 0, 80, 1, 90, 0], &info()).unwrap();
        writer.finish(&info()).unwrap();
        let bytes = memory.take();
        if format == OutFormat::Csv {
            let text = String::from_utf8(bytes.clone()).unwrap();
            let line = |at: usize| text.lines().nth(at).unwrap();
            assert!(line(1).ends_with(",error,seek_ns,cached") && line(3).ends_with(",0,80,1"));
        } else {
            let file = SerializedFileReader::new(Bytes::from(bytes.clone())).unwrap();
            let last = file.get_row_iter(None).unwrap().nth(1).unwrap().unwrap();
            let names: Vec<&String> = last.get_column_iter().map(|(name, _)| name).collect();
            assert_eq!(names[14..], ["seek_ns", "cached"]);
            assert_eq!((last.get_long(14).unwrap(), last.get_long(15).unwrap()), (80, 1));
        }
        let (back, told) = read(bytes);
        assert_eq!((back, told), (rows.clone(), info()), "{format:?}");
    }
}

#[test]
fn large_traces_fill_several_row_groups() {
    let row = |n: u64| Io {
        request: Request { op: Op::Read, offset: n * 4096, len: 4096 },
        queued_ns: n,
        issued_ns: n + 5,
        completed_ns: n + 9,
        ..Io::default()
    };
    let rows: Vec<Io> = (0..600_000).map(row).collect();
    for format in [OutFormat::Parquet, OutFormat::Arrow] {
        assert_eq!(read(written(format, &rows, &info())).0, rows, "{format:?}");
    }
}

/// A column with one value is not read, and is encoded once for identical groups; another group has
/// another value, or several.
#[test]
fn columns_of_one_value_come_back() {
    const GROUP: u64 = 1 << 18;
    let of = |value: u16, queued_ns: u64| Io {
        request: Request {
            op: if value == 0 { Op::Read } else { Op::Write },
            offset: u64::from(value) << 60,
            len: u32::from(value) << 30,
        },
        process: u32::from(value) << 31,
        queued_ns,
        issued_ns: 1 << 40,
        completed_ns: 1 << 41,
        device: value,
        partition: value << 15,
        queue_length: value.into(),
        command: value.into(),
        flags: IoFlags::from_bits_retain(u32::from(value) << 9),
        io_type: IoType::ALL[usize::from(value) * 8],
        error: value,
    };
    for values in [[0, 1, 1], [1, 0, 1], [1, 1, 0], [1, 1, 1]] {
        let row = |at: u64| of(values[(at / (GROUP - 5_000)) as usize % 3], at);
        let rows: Vec<Io> = (0..2 * GROUP + 10_000).map(row).collect();
        assert_eq!(read(written(OutFormat::Parquet, &rows, &info())).0, rows, "{values:?}");
    }
}

/// Missing times are encoded once for all three columns, until a row has others.
#[test]
fn times_that_are_one_until_late_come_back() {
    const GROUP: u64 = 1 << 18;
    const NEVER: u64 = u64::MAX;
    for (issued_from, completed_from) in
        [(NEVER, NEVER), (1500, NEVER), (NEVER, 70_000), (2300, 2300), (2300, 5), (0, GROUP + 9)]
    {
        let rows = (0..GROUP + 3000).map(|at| {
            let queued_ns = at * 1000;
            let issued_ns = queued_ns + if at >= issued_from { 7 } else { 0 };
            let completed_ns = issued_ns + if at >= completed_from { at % 77 } else { 0 };
            Io { queued_ns, issued_ns, completed_ns, ..Io::default() }
        });
        let rows: Vec<Io> = rows.collect();
        let bytes = written(OutFormat::Parquet, &rows, &info());
        let told = SerializedFileReader::new(Bytes::from(bytes.clone())).unwrap();
        let names = told.metadata().row_group(0).columns()[..3].iter();
        let names: Vec<String> = names.map(|one| one.column_path().string()).collect();
        assert_eq!(names, ["queued_ns", "issued_ns", "completed_ns"]);
        assert_eq!(read(bytes).0, rows, "{issued_from} {completed_from}");
    }
}

#[test]
fn arrow_streams_learn_names_as_they_come_and_are_files_too() {
    let io = |n: u64, device, command| Io {
        queued_ns: n,
        issued_ns: n,
        completed_ns: n,
        device,
        command,
        ..Io::default()
    };
    // The first batch is written before the second device and command are known.
    let rows: Vec<Io> = (0..70_000u32)
        .map(|n| io(n.into(), u16::from(n > 69_000), u32::from(n > 69_500)))
        .collect();
    let early = TraceInfo { devices: info().devices[..1].to_vec(), ..TraceInfo::default() };
    let memory = Memory::default();
    let mut writer = Writer::new(OutFormat::Arrow, memory.clone()).unwrap();
    writer.rows(&rows[..65_536], &early).unwrap();
    writer.rows(&rows[65_536..], &info()).unwrap();
    writer.finish(&info()).unwrap();
    let stream = memory.take();
    // A file has a header before the stream and a footer after it.
    let file = [b"ARROW1\0\0", &stream[..], b"foot \x05\0\0\0ARROW1"].concat();
    for bytes in [stream, file] {
        let (back, told) = read(bytes);
        assert_eq!(back, rows);
        let names =
            |info: &TraceInfo| info.devices.iter().map(|d| d.name.clone()).collect::<Vec<_>>();
        assert_eq!((names(&told), told.commands), (names(&info()), info().commands));
    }
}

#[test]
fn oracle_general_knows_the_next_access() {
    let row = |n: u64, sector: u64| Io {
        request: Request { op: Op::Write, offset: sector * 512, len: 512 },
        queued_ns: n * 1_000_000_000,
        ..Io::default()
    };
    let rows: Vec<Io> =
        [5, 6, 5, 5, 6].iter().zip(0..).map(|(sector, n)| row(n, *sector)).collect();
    let bytes = written(OutFormat::OracleGeneral, &rows, &info());
    let next: Vec<i64> = bytes
        .chunks_exact(24)
        .map(|record| i64::from_le_bytes(record[16..].try_into().unwrap()))
        .collect();
    assert_eq!(next, [2, 4, 3, -1, -1]);
    assert_eq!(read(bytes).0[4].request.offset, 6 * 512);
}

/// An object of 2^54 or more is no sector, to our reader as well.
#[test]
fn oracle_general_has_place_for_64_devices_wherever_they_are_in_the_table() {
    let row = |device: u16| Io {
        request: Request { op: Op::Read, offset: 4096, len: 512 },
        device: 1000 + device,
        ..Io::default()
    };
    let rows: Vec<Io> = (0..65).map(row).collect();
    let bytes = written(OutFormat::OracleGeneral, &rows[..64], &info());
    assert_eq!(read(bytes).0.len(), 64);
    let mut writer = Writer::new(OutFormat::OracleGeneral, Memory::default()).unwrap();
    let refused = writer.rows(&rows, &info()).unwrap_err().to_string();
    assert!(refused.contains("has place for 64 devices"), "{refused}");
}

#[test]
fn a_cut_parquet_file_is_an_error() {
    let rows = vec![Io::default(); 100];
    let bytes = written(OutFormat::Parquet, &rows, &info());
    for cut in [4, 20, bytes.len() / 2, bytes.len() - 1] {
        let source = Source::file("t", Cursor::new(bytes[..cut].to_vec()));
        assert!(open(vec![source], &ReadOptions::default()).is_err(), "cut at {cut}");
    }
    assert!(open(vec![Source::stream("t", Cursor::new(bytes))], &ReadOptions::default()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn damaged_columns_are_an_error_or_rows(damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5)) {
        let row = |n: u64| Io { queued_ns: n, issued_ns: n, completed_ns: n, command: 1, ..Io::default() };
        let rows: Vec<Io> = (0..50).map(row).collect();
        for format in [OutFormat::Parquet, OutFormat::Arrow] {
            let mut bytes = written(format, &rows, &info());
            for (place, byte) in &damage {
                let at = place.index(bytes.len());
                bytes[at] = *byte;
            }
            let source = Source::file("damaged", Cursor::new(bytes));
            if let Ok(mut reader) = open(vec![source], &ReadOptions::default()) {
                let mut batch = Vec::new();
                while let Ok(true) = reader.next_batch(&mut batch) {}
            }
        }
    }
}

/// Columns are signed: a value below zero is no time and no place, and what a column cannot hold is
/// refused from other formats too.
#[test]
fn times_and_places_beyond_signed_numbers_are_refused() {
    let refused = |format: &str, bytes: Vec<u8>| {
        let source = Source::file("t", Cursor::new(bytes));
        whole::read(vec![source], &whole::named(format)).unwrap_err().to_string()
    };
    let beyond = (-5i64).cast_unsigned();
    let read = |offset| Request { op: Op::Read, offset, len: 512 };
    let all_beyond =
        Io { queued_ns: beyond, issued_ns: beyond, completed_ns: beyond, ..Io::default() };
    let late = Io { completed_ns: beyond, ..Io::default() };
    let far = Io { request: read(beyond - 512), ..Io::default() };
    // Two values, otherwise the column would be read from its statistics.
    for (one, named) in [(all_beyond, "queued_ns"), (late, "completed_ns"), (far, "offset_bytes")] {
        for rows in [vec![one], vec![Io::default(), one]] {
            let why = refused("parquet", written(OutFormat::Parquet, &rows, &info()));
            assert!(why.contains(&format!("a value of {named} is out of its range")), "{why}");
        }
    }
    for (line, why) in [
        ("128166372003061629,usr,0,Read,9223372036854775808,512,10\n", "2^63 bytes"),
        ("128166372003061629,usr,0,Read,0,512,99999999999999999\n", "2^63 ns"),
    ] {
        let told = refused("msr", line.as_bytes().to_vec());
        assert!(told.contains(why), "{told}");
    }
}

#[test]
fn names_of_several_lines_are_one_name_in_text() {
    let mut info = info();
    info.devices[1].name = "two\nlines".to_owned();
    let rows = [0, 1, 1].map(|device| Io { device, ..Io::default() });
    let (back, told) = read(written(OutFormat::Csv, &rows, &info));
    assert_eq!(back.iter().map(|io| io.device).collect::<Vec<_>>(), [0, 1, 1]);
    assert_eq!((told.devices.len(), &*told.devices[1].name), (info.devices.len(), "two lines"));
}

/// What a trace lacks is known only at its end, as is a device that appears late.
#[test]
fn text_keeps_what_is_known_only_at_the_end() {
    let (begin, end) = (TraceInfo { notes: Default::default(), skipped: 0, ..info() }, info());
    let row = |queued_ns| Io {
        queued_ns,
        issued_ns: queued_ns,
        completed_ns: queued_ns,
        ..Io::default()
    };
    let memory = Memory::default();
    let mut writer = Writer::new(OutFormat::Csv, memory.clone()).unwrap();
    writer.rows(&[row(1)], &TraceInfo { lost_by_cpu: Vec::new(), ..begin }).unwrap();
    writer.rows(&[row(2)], &end).unwrap();
    writer.finish(&end).unwrap();
    let (rows, told) = read(memory.take());
    assert_eq!(rows.len(), 2);
    assert_eq!((told.notes, told.skipped, told.lost_by_cpu), (end.notes, 3, vec![0, 7]));
}

/// Parts of a recording, each of which counts time from its own beginning.
#[test]
fn traces_that_tell_when_they_began_are_put_one_behind_the_other() {
    let hour = 3_600_000_000_000u64;
    let part = |started: Option<u64>, times: [u64; 2]| {
        let row = |ns| Io { queued_ns: ns, issued_ns: ns, completed_ns: ns + 7, ..Io::default() };
        let started_unix_ns = started.map(|ns| i64::try_from(ns).unwrap());
        written(OutFormat::Csv, &times.map(row), &TraceInfo { started_unix_ns, ..info() })
    };
    let both = |parts: [Vec<u8>; 2]| {
        let source = |bytes| Source::file("t", Cursor::new(bytes));
        let read = whole::read(parts.map(source).into(), &ReadOptions::default());
        let (rows, info) = read.map_err(|e| e.to_string())?;
        let times: Vec<_> = rows.iter().map(|io| (io.queued_ns, io.completed_ns)).collect();
        Ok::<_, String>((times, info.started_unix_ns))
    };
    let (rows, started) =
        both([part(Some(5 * hour), [0, 9]), part(Some(4 * hour), [1, 2])]).unwrap();
    assert_eq!(rows, [(1, 8), (2, 9), (hour, hour + 7), (hour + 9, hour + 16)]);
    assert_eq!(started, Some(4 * hour as i64));
    let refused = both([part(Some(5 * hour), [0, 9]), part(None, [1, 2])]).unwrap_err();
    assert!(refused.contains("count time from different beginnings"), "{refused}");
    assert_eq!(both([part(None, [0, 9]), part(None, [1, 2])]).unwrap().0.len(), 4);
}

#[test]
fn traces_of_two_formats_that_become_one_name_both() {
    for order in [["msr", "recorded"], ["recorded", "msr"]] {
        let source = |format: &str| {
            let info = TraceInfo { format: format.to_owned(), ..info() };
            Source::file("t", Cursor::new(written(OutFormat::Csv, &[Io::default()], &info)))
        };
        let (_, info) = whole::read(order.map(source).into(), &ReadOptions::default()).unwrap();
        assert_eq!(info.format, "msr, recorded");
    }
}
