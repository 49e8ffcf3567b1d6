//! What measuring adds to a request: processor time per cached 4 KiB random read, bare, ours and fio's, in turns; per write, bare, ours
//! and verified; and whether the queue stays full: requests per second of direct 4 KiB reads at depth 32, ours and fio's, in pairs.
//!
//! `cargo bench -p ioscape --bench overhead`; fio takes part if it is on the path. Rounds are interleaved and
//! medians taken, since the same machine is faster in one minute than in the next; processor time per request is compared
//! rather than requests per second, since it hardly depends on what else runs.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

mod deep_queue;

use ioscape_machine::usage::{processor_ns, usage};
use ioscape_machine::{Target, TargetOptions};
use ioscape_measure::{RunOptions, Session, SessionOptions};
use ioscape_schema::{Engine, Measurement, SizeDistribution, Workload};
use ioscape_workload::Stream;
use rustix::io::{pread, pwrite};
use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SET_BYTES: u64 = 256 << 20;
const ROUNDS: usize = 7;
const SECONDS: f64 = 1.0;

/// User and system nanoseconds per request.
type Cost = [f64; 2];

/// One way to issue the requests.
struct Contender {
    name: &'static str,
    way: Way,
    rounds: Vec<Cost>,
}

#[derive(Clone, Copy)]
enum Way {
    /// The loop nothing can be taken away from, of reads or of writes.
    Bare { writes: bool },
    /// A run of ours.
    Ours(Ours),
    /// A job of fio's: engine and depth.
    Fio(&'static str, u32),
}

#[derive(Clone, Copy)]
struct Ours {
    engine: Engine,
    queue_depth: u32,
    writes: bool,
    verify: bool,
}

impl Ours {
    const READS: Self =
        Self { engine: Engine::Psync, queue_depth: 1, writes: false, verify: false };
    const WRITES: Self = Self { writes: true, ..Self::READS };
    const RING: Self = Self { engine: Engine::IoUring, queue_depth: 32, ..Self::READS };
    const NULL: Self = Self { engine: Engine::Null, ..Self::READS };
}

fn main() -> Result<(), Box<dyn Error>> {
    // fio's jobs have sessions of their own, among which Linux shares the processors: on a busy machine ours needs one too.
    let _ = rustix::process::setsid();
    // Below the current directory, since direct I/O needs a real disk.
    let dir = tempfile::tempdir_in(".")?;
    let options = TargetOptions { write_needed: true, ..TargetOptions::default() };
    let target = Target::open(dir.path(), &options)?;
    let path = target.path().to_owned();
    let mut session = Session::new(target, SessionOptions::default())?;
    session.layout(SET_BYTES, &RunOptions::default())?;
    let has_fio = Command::new("fio").arg("--version").stdout(Stdio::null()).status().is_ok();
    let mut contenders: Vec<_> = ways()
        .into_iter()
        .filter(|(_, way)| has_fio || !matches!(way, Way::Fio(..)))
        .map(|(name, way)| Contender { name, way, rounds: Vec::new() })
        .collect();
    for _ in 0..ROUNDS {
        for contender in &mut contenders {
            contender.rounds.push(match contender.way {
                Way::Bare { writes } => bare(&path, writes)?,
                Way::Ours(way) => ours(&mut session, way)?,
                Way::Fio(engine, depth) => fio(&path, engine, depth)?,
            });
        }
    }
    print_table(&contenders);
    if has_fio {
        deep_queue::compare(&mut session, &path)?;
    }
    Ok(())
}

/// All contenders; what follows a bare loop is compared with it.
fn ways() -> [(&'static str, Way); 11] {
    [
        ("bare pread loop", Way::Bare { writes: false }),
        ("ours, psync", Way::Ours(Ours::READS)),
        ("ours, psync, verified", Way::Ours(Ours { verify: true, ..Ours::READS })),
        ("fio, psync", Way::Fio("psync", 1)),
        ("ours, io_uring depth 32", Way::Ours(Ours::RING)),
        ("fio, io_uring depth 32", Way::Fio("io_uring", 32)),
        ("ours, null", Way::Ours(Ours::NULL)),
        ("fio, null", Way::Fio("null", 1)),
        ("bare pwrite loop", Way::Bare { writes: true }),
        ("ours, writes", Way::Ours(Ours::WRITES)),
        ("ours, writes, verified", Way::Ours(Ours { verify: true, ..Ours::WRITES })),
    ]
}

fn print_table(contenders: &[Contender]) {
    let median = |rounds: &[Cost], cost: fn(&Cost) -> f64| {
        let mut sorted: Vec<_> = rounds.iter().map(cost).collect();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    };
    let all = |c: &Contender| median(&c.rounds, |[user, system]| user + system);
    let user = |c: &Contender| median(&c.rounds, |[user, _]| *user);
    let (mut bare_all, mut bare_user) = (0.0, 0.0);
    println!(
        "{:26}{:>12}{:>12}{:>10}{:>14}",
        "ns per request", "user", "all", "ratio", "user - bare"
    );
    for c in contenders {
        if matches!(c.way, Way::Bare { .. }) {
            (bare_all, bare_user) = (all(c), user(c));
        }
        let (all, user) = (all(c), user(c));
        println!(
            "{:26}{user:>12.0}{all:>12.0}{:>10.2}{:>14.0}",
            c.name,
            all / bare_all,
            user - bare_user
        );
    }
}

/// The loop nothing can be taken away from: a random offset, a read or a write of a block unlike the last one.
fn bare(path: &Path, writes: bool) -> Result<Cost, Box<dyn Error>> {
    let file = File::options().read(true).write(writes).open(path)?;
    let mut buffer = vec![0; 4096];
    let mut state = 88_172_645_463_325_252u64;
    let (begin, before) = (Instant::now(), usage(libc::RUSAGE_SELF));
    let mut ios = 0u64;
    while begin.elapsed() < Duration::from_secs_f64(SECONDS) {
        for _ in 0..1000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let offset = (state % (SET_BYTES / 4096)) * 4096;
            if writes {
                buffer[..8].copy_from_slice(&state.to_le_bytes());
                pwrite(&file, &buffer, offset)?;
            } else {
                pread(&file, &mut buffer, offset)?;
            }
            black_box(&buffer);
        }
        ios += 1000;
    }
    let [after, before] = [usage(libc::RUSAGE_SELF), before].map(|used| processor_ns(&used));
    Ok([0, 1].map(|i| (after[i] - before[i]) as f64 / ios as f64))
}

fn ours(session: &mut Session, way: Ours) -> Result<Cost, Box<dyn Error>> {
    let Ours { engine, queue_depth, writes, verify } = way;
    let read_frac = if writes { 0.0 } else { 1.0 };
    let workload = Workload { read_frac, engine, queue_depth, ..blocks() };
    Ok(cost(&measured(session, &workload, verify)?))
}

/// Random reads of 4 KiB.
fn blocks() -> Workload {
    Workload {
        unique_bytes: SET_BYTES,
        size_mean: 4096,
        size_distribution: SizeDistribution::Fixed,
        read_frac: 1.0,
        seq_frac: 0.0,
        ..Workload::default()
    }
}

fn measured(
    session: &mut Session,
    workload: &Workload,
    verify: bool,
) -> Result<Measurement, Box<dyn Error>> {
    let options = RunOptions { min_s: SECONDS, cap_s: SECONDS, verify, ..RunOptions::default() };
    Ok(session.run(workload, 4096, &options, |process| {
        let mut stream = Stream::new(workload, 1, process);
        move || stream.request()
    })?)
}

fn cost(m: &Measurement) -> Cost {
    [m.cpu_user_s, m.cpu_system_s].map(|s| s * 1e9 / m.ios as f64)
}

fn fio(path: &Path, engine: &str, depth: u32) -> Result<Cost, Box<dyn Error>> {
    Ok(fio_job(path, &["--invalidate=0", &format!("--ioengine={engine}")], depth)?.1)
}

/// Requests per second of a job of random reads of 4 KiB with these options, and what each costs.
fn fio_job(path: &Path, options: &[&str], depth: u32) -> Result<(f64, Cost), Box<dyn Error>> {
    let output = Command::new("fio")
        .args(["--name=a", "--bs=4k", "--rw=randread", "--time_based"])
        .args(["--randrepeat=0", "--norandommap", "--output-format=json"])
        .args(options)
        .arg(format!("--filename={}", path.display()))
        .arg(format!("--size={SET_BYTES}"))
        .arg(format!("--runtime={SECONDS}"))
        .arg(format!("--iodepth={depth}"))
        .output()?;
    let json: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let job = &json["jobs"][0];
    let number = |v: &serde_json::Value| v.as_f64().ok_or("fio left out a figure");
    let ios = number(&job["read"]["total_ios"])?;
    let runtime_ns = number(&job["read"]["runtime"])? * 1e6;
    let percent = [number(&job["usr_cpu"])?, number(&job["sys_cpu"])?];
    Ok((ios / runtime_ns * 1e9, percent.map(|one| one * runtime_ns / 100.0 / ios)))
}
