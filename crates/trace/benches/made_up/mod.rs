//! A made-up trace like a server's, of any length, in three formats; and what measuring it costs.
#![allow(dead_code, reason = "each benchmark uses a part")]

use ioscape_schema::{Device, Io, IoFlags, IoType, Op, Request, TraceInfo};
use ioscape_trace::{OutFormat, Writer};
use rustix::time::{ClockId, clock_gettime};
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Rows made at a time.
pub const BATCH: usize = 8192;
const DISKS: u64 = 12;
/// Blocks of 4 KiB per disk, as a power of two, where requests are near each other, and where they are far apart.
const NEAR: u32 = 18;
const FAR: u32 = 28;

/// A trace like a server's: twelve disks, a third of the requests sequential, popular blocks, bursts, 60 % reads.
pub struct MadeUp {
    state: u64,
    number: u64,
    time_ns: u64,
    heads: [u64; DISKS as usize],
    block_bits: u32,
}

impl MadeUp {
    /// The same trace every time, with requests far apart on disks of 1 TiB or near each other in 1 GiB.
    pub fn new(far: bool) -> Self {
        let block_bits = if far { FAR } else { NEAR };
        Self { state: 1, number: 0, time_ns: 0, heads: [0; DISKS as usize], block_bits }
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
        let blocks = 1 << self.block_bits;
        let block = match a >> 20 & 3 {
            0 => self.heads[disk as usize],
            1 => (b >> 32) % blocks,
            // The square of a uniform number: some blocks are popular.
            _ => ((b >> 32 & 0xffff).pow(2) << (self.block_bits - NEAR) >> 14) % blocks,
        };
        self.heads[disk as usize] = (block + u64::from(len) / 4096) % blocks;
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

    /// The next rows, until there were `most`.
    pub fn fill(&mut self, rows: &mut Vec<Io>, most: u64) {
        rows.clear();
        let count = most.saturating_sub(self.number).min(BATCH as u64);
        rows.extend((0..count).map(|_| self.next()));
    }
}

/// Its devices and commands.
pub fn info() -> TraceInfo {
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

/// Processor time of this process so far: what others do on the machine does not count.
pub fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Processor time of the processes that this one started and that have ended.
pub fn children_cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Counted behind the name, which may hold anything: `cutime` and `cstime`.
    let words = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(13).take(2);
    let ticks: f64 = words.filter_map(|word| word.parse::<f64>().ok()).sum();
    ticks / rustix::param::clock_ticks_per_second() as f64
}

/// Most memory of this process so far.
pub fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}

/// Writes so many millions of rows as Parquet.
pub fn write_parquet(path: &Path, millions: u64, far: bool) -> Result<(), Box<dyn Error>> {
    let mut made = MadeUp::new(far);
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

/// Writes so many millions of rows as lines of MSR Cambridge.
pub fn write_msr(path: &Path, millions: u64, far: bool) -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let (mut made, mut rows) = (MadeUp::new(far), Vec::with_capacity(BATCH));
    loop {
        made.fill(&mut rows, millions * 1_000_000);
        if rows.is_empty() {
            return Ok(out.flush()?);
        }
        for io in &rows {
            let op = if io.request.op == Op::Read { "Read" } else { "Write" };
            let (offset, len) = (io.request.offset, io.request.len);
            let (time, response) =
                (128_166_372_003_061_629 + io.queued_ns / 100, io.elapsed_ns() / 100);
            writeln!(out, "{time},srv,{},{op},{offset},{len},{response}", io.device)?;
        }
    }
}

/// Writes the events of so many millions of rows as blktrace's records, version 7, of one CPU: Q, G, I, D and C in the order of
/// time, so five records a row.
pub fn write_blktrace(path: &Path, millions: u64, far: bool) -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let (mut made, mut rows) = (MadeUp::new(far), Vec::with_capacity(BATCH));
    // Events that come after the arrivals of the next batch wait for them.
    let (mut waiting, mut number): (Vec<(u64, u32, Io)>, u32) = (Vec::new(), 0);
    loop {
        made.fill(&mut rows, millions * 1_000_000);
        for io in &rows {
            let ends = [io.queued_ns, io.issued_ns, io.completed_ns];
            let events = [(1, 0), (4, 0), (12, 0), (7, 1), (8, 2)];
            waiting.extend(events.map(|(action, at): (u32, usize)| (ends[at], action, *io)));
        }
        waiting.sort_by_key(|event| event.0);
        let until = rows.last().map_or(u64::MAX, |last| last.queued_ns);
        let ready = waiting.partition_point(|event| event.0 < until);
        for (time, action, io) in waiting.drain(..ready) {
            number = number.wrapping_add(1);
            out.write_all(&record(number, time, action, &io))?;
        }
        if rows.is_empty() {
            return Ok(out.flush()?);
        }
    }
}

fn record(number: u32, time_ns: u64, action: u32, io: &Io) -> [u8; 48] {
    let kind = if io.request.op == Op::Write { 1u32 << 17 } else { 1 << 16 };
    let mut bytes = [0; 48];
    bytes[..4].copy_from_slice(&0x6561_7407u32.to_le_bytes());
    bytes[4..8].copy_from_slice(&number.to_le_bytes());
    bytes[8..16].copy_from_slice(&time_ns.to_le_bytes());
    bytes[16..24].copy_from_slice(&(io.request.offset / 512).to_le_bytes());
    bytes[24..28].copy_from_slice(&io.request.len.to_le_bytes());
    bytes[28..32].copy_from_slice(&(action | kind).to_le_bytes());
    bytes[32..36].copy_from_slice(&io.process.to_le_bytes());
    bytes[36..40].copy_from_slice(&(8u32 << 20 | u32::from(io.device) << 4).to_le_bytes());
    bytes
}
