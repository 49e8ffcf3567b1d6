//! How fast traces are read, by CPU time: MSR text, blktrace records and Parquet, all made up here.
//!
//! `cargo bench -p ioscape-trace --bench read [rows]`; one thread, best of five.

#![allow(clippy::print_stdout, clippy::disallowed_methods)]

mod made_up;

use ioscape_schema::{Io, Op, Request, TraceInfo};
use ioscape_trace::{OutFormat, ReadOptions, Source, Writer, open};
use made_up::cpu_s;
use std::io::{Cursor, Read, Seek, Write};

fn rows(count: u64) -> Vec<Io> {
    let mut state = 88_172_645_463_325_252u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut now = 0;
    (0..count)
        .map(|_| {
            let random = next();
            now += random % 100_000;
            let issued_ns = now + random % 2000;
            Io {
                request: Request {
                    op: if random % 3 == 0 { Op::Read } else { Op::Write },
                    offset: (random >> 20) % (1 << 38) / 4096 * 4096,
                    len: 512 << (random % 8),
                },
                queued_ns: now,
                issued_ns,
                completed_ns: issued_ns + (random >> 40) % 5_000_000,
                process: (random % 50) as u32,
                device: (random % 4) as u16,
                command: 1,
                ..Io::default()
            }
        })
        .collect()
}

fn info() -> TraceInfo {
    let device = |n| ioscape_schema::Device { name: format!("usr_{n}"), ..Default::default() };
    let commands = vec![String::new(), "fio".to_owned()];
    TraceInfo { devices: (0..4).map(device).collect(), commands, ..TraceInfo::default() }
}

fn msr(rows: &[Io]) -> Vec<u8> {
    let mut text = Vec::new();
    for io in rows {
        let op = if io.request.op == Op::Read { "Read" } else { "Write" };
        let time = 128_166_372_003_061_629 + io.queued_ns / 100;
        let (offset, len, response) = (io.request.offset, io.request.len, io.elapsed_ns() / 100);
        writeln!(text, "{time},usr,{},{op},{offset},{len},{response}", io.device).unwrap();
    }
    text
}

/// Six events for each request, as a kernel with an I/O scheduler gives them.
fn blktrace(rows: &[Io]) -> Vec<u8> {
    let mut events = Vec::new();
    for io in rows {
        for (action, at) in [(1u32, 0), (4, 0), (9, 0), (12, 0), (7, 1), (8, 2)] {
            let time = [io.queued_ns, io.issued_ns, io.completed_ns][at];
            events.push((time, action, io));
        }
    }
    events.sort_by_key(|event| event.0);
    let mut bytes = Vec::new();
    for (number, (time, action, io)) in events.iter().enumerate() {
        let kind = if io.request.op == Op::Write { 1u32 << 17 } else { 1 << 16 };
        bytes.extend(0x6561_7407u32.to_le_bytes());
        bytes.extend((number as u32 + 1).to_le_bytes());
        bytes.extend(time.to_le_bytes());
        bytes.extend((io.request.offset / 512).to_le_bytes());
        bytes.extend(io.request.len.to_le_bytes());
        bytes.extend((action | kind).to_le_bytes());
        bytes.extend(io.process.to_le_bytes());
        bytes.extend((8u32 << 20 | u32::from(io.device)).to_le_bytes());
        bytes.extend([0; 8]);
    }
    bytes
}

fn written(rows: &[Io], format: OutFormat) -> Vec<u8> {
    let mut file = tempfile::tempfile().expect("a temporary file");
    let same = file.try_clone().expect("the file twice");
    let mut writer = Writer::new(format, same).expect("the file can be written");
    rows.chunks(8192).for_each(|batch| writer.rows(batch, &info()).expect("rows are written"));
    writer.finish(&info()).expect("the trace ends");
    file.rewind().expect("its beginning");
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).expect("what was written");
    bytes
}

fn time(name: &str, bytes: &[u8], records: u64) {
    let mut best = f64::INFINITY;
    let mut read = 0;
    for _ in 0..5 {
        let source = Source::file("bench", Cursor::new(bytes.to_vec()));
        let from = cpu_s();
        let mut reader = open(vec![source], &ReadOptions::default()).expect("the trace is known");
        let mut batch = Vec::new();
        read = 0;
        while reader.next_batch(&mut batch).expect("the trace is whole") {
            read += batch.len();
        }
        best = best.min(cpu_s() - from);
    }
    let rate = records as f64 / best / 1e6;
    println!(
        "{name:10} {records:>9} records, {read:>9} rows, {:>5.1} bytes a record: {rate:6.2} million records per CPU second",
        bytes.len() as f64 / records as f64
    );
}

fn main() {
    let count = std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(2_000_000);
    let rows = rows(count);
    time("msr", &msr(&rows), count);
    time("blktrace", &blktrace(&rows[..rows.len() / 2]), count / 2 * 6);
    let from = cpu_s();
    let parquet = written(&rows, OutFormat::Parquet);
    println!(
        "parquet written: {:.2} million rows per CPU second",
        count as f64 / (cpu_s() - from) / 1e6
    );
    time("parquet", &parquet, count);
    time("csv", &written(&rows[..rows.len() / 4], OutFormat::Csv), count / 4);
}
