//! How many rows a second one core analyses, and in how much memory, as the trace grows.
//!
//! `cargo bench -p ioscape-trace --bench analysis [-- MILLIONS...]` prints a table; `-- --write FILE MILLIONS` writes the same
//! made-up trace as Parquet, for the whole command and its peers. Processor time is counted, not time on the wall: the
//! machine may be shared. Each row is the whole default analysis; making the rows is not counted.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![allow(clippy::disallowed_methods)]

use ioscape_schema::{Device, Io, IoFlags, IoType, Op, Request, TraceInfo};
use ioscape_trace::analyze::{Analysis, Options};
use ioscape_trace::{OutFormat, Writer};
use rustix::time::{ClockId, clock_gettime};
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

/// Rows made at a time.
const BATCH: usize = 8192;
const DISKS: u64 = 12;
/// Blocks of 4 KiB per disk.
const BLOCKS: u64 = 1 << 18;

/// A trace like a server's: twelve disks, a third of the requests sequential, popular blocks, bursts, 60 % reads.
struct MadeUp {
    state: u64,
    number: u64,
    time_ns: u64,
    heads: [u64; DISKS as usize],
}

impl MadeUp {
    fn new() -> Self {
        Self { state: 1, number: 0, time_ns: 0, heads: [0; DISKS as usize] }
    }

    /// The next number of splitmix64.
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn next(&mut self) -> Io {
        let (a, b) = (self.random(), self.random());
        let disk = (a & 0xff).min(a >> 8 & 0xff) * DISKS / 256;
        // Bursts: three of four requests follow at once, the fourth after up to a millisecond.
        self.time_ns += if b & 3 == 0 { b >> 8 & 0xf_ffff } else { b >> 8 & 0xfff };
        let len = [4096u32, 4096, 8192, 16384, 4096, 65536, 4096, 8192][(a >> 16 & 7) as usize];
        let block = match a >> 20 & 3 {
            0 => self.heads[disk as usize],
            1 => (b >> 32) % BLOCKS,
            // The square of a uniform number: some blocks are popular.
            _ => ((b >> 32 & 0xffff).pow(2) >> 14) % BLOCKS,
        };
        self.heads[disk as usize] = (block + u64::from(len) / 4096) % BLOCKS;
        self.number += 1;
        let work = 20_000 + (a >> 32 & 0xffff);
        Io {
            request: Request {
                op: if a >> 24 & 0xff < 154 { Op::Read } else { Op::Write },
                offset: block * 4096,
                len,
            },
            process: (a >> 56 & 31) as u32 + 100,
            command: (a >> 56 & 31) as u32 % 7 + 1,
            queued_ns: self.time_ns,
            issued_ns: self.time_ns + (b >> 40 & 0xfff),
            completed_ns: self.time_ns + (b >> 40 & 0xfff) + work,
            device: disk as u16,
            flags: if a & 1 == 0 { IoFlags::SYNC } else { IoFlags::ASYNC },
            io_type: IoType::ALL[(b >> 60 & 7) as usize],
            ..Io::default()
        }
    }

    fn fill(&mut self, rows: &mut Vec<Io>, most: u64) {
        rows.clear();
        let count = most.saturating_sub(self.number).min(BATCH as u64);
        rows.extend((0..count).map(|_| self.next()));
    }
}

fn info() -> TraceInfo {
    let device = |number| Device { name: format!("disk{number}"), ..Device::default() };
    TraceInfo {
        format: "made up".to_owned(),
        devices: (0..DISKS).map(device).collect(),
        commands: (0..8)
            .map(|n| if n == 0 { String::new() } else { format!("command{n}") })
            .collect(),
        ..TraceInfo::default()
    }
}

fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}

fn analyse(millions: u64) {
    let mut made = MadeUp::new();
    let mut analysis = Analysis::new(&Options::default());
    let (mut rows, mut spent) = (Vec::with_capacity(BATCH), 0.0);
    loop {
        made.fill(&mut rows, millions * 1_000_000);
        if rows.is_empty() {
            break;
        }
        let before = cpu_s();
        analysis.update(&rows);
        spent += cpu_s() - before;
    }
    let before = cpu_s();
    let summary = analysis.finish("made up", &info());
    let (finish, rate) = (cpu_s() - before, millions as f64 / spent);
    let blocks = summary.working_set.bytes / summary.block_bytes;
    println!(
        "{millions:>6} M rows   {rate:>6.2} M rows/s   finish {finish:>6.3} s   {blocks:>9} blocks   {:>6.0} MiB at most",
        peak_mib()
    );
}

fn write(path: &str, millions: u64) -> Result<(), Box<dyn Error>> {
    let mut made = MadeUp::new();
    let mut writer = Writer::new(OutFormat::Parquet, BufWriter::new(File::create(path)?))?;
    let mut rows = Vec::with_capacity(BATCH);
    loop {
        made.fill(&mut rows, millions * 1_000_000);
        if rows.is_empty() {
            break;
        }
        writer.rows(&rows, &info())?;
    }
    writer.finish(&info())?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [flag, path, millions] = &args[..]
        && flag == "--write"
    {
        return write(path, millions.parse()?);
    }
    let sizes = args.iter().map(|arg| arg.parse()).collect::<Result<Vec<u64>, _>>()?;
    for millions in if sizes.is_empty() { vec![1, 10, 100] } else { sizes } {
        analyse(millions);
    }
    Ok(())
}
