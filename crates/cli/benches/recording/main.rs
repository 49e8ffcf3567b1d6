//! What recording block I/O costs, and what it loses: the same reads with and without the recorder, turn by turn.
//!
//! `cargo bench -p ioscape --bench recording -- DEVICE [RATE [SECONDS [ROUNDS]]]`, as root. DEVICE is a block device that
//! nobody uses, such as a loop device on a file in memory; it is only read, 4 KiB at random places. Processor time is that of
//! the whole machine (`/proc/stat`), for a part of the cost arises in the kernel's threads: let nothing else run.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use ioscape_machine::{Clock, Target, TargetOptions};
use ioscape_measure::replay::{ReplayOptions, ReplayWatch, run};
use ioscape_observe::record::{BUFFER_BYTES, RecordOptions, RecordedDisk, Recorder, SpoolFolder};
use ioscape_schema::{Access, Io, Op, Request};
use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const BLOCK: u64 = 4096;
const IN_FLIGHT: u32 = 16;
/// As the command looks at the kernel's buffers.
const LOOK: Duration = Duration::from_millis(50);

/// What one run told.
struct Run {
    ios_per_s: f64,
    busy_us_per_io: f64,
    late_p99_ms: f64,
    lost: u64,
    events: u64,
}

/// Processor time of the machine that was not idle, in microseconds.
fn busy_us() -> Result<f64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/stat")?;
    let line = stat.lines().next().unwrap_or_default();
    let ticks: Vec<f64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
    // user nice system idle iowait irq softirq
    let busy = ticks.iter().take(7).sum::<f64>() - ticks.iter().skip(3).take(2).sum::<f64>();
    Ok(busy * 1e6 / rustix::param::clock_ticks_per_second() as f64)
}

/// Random reads at equal distances of time.
fn reads(bytes: u64, rate: u64, seconds: u64) -> impl FnMut() -> Option<Io> + Send {
    let (mut state, mut number) = (1u64, 0);
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        number += 1;
        let offset = (state >> 20) % (bytes / BLOCK) * BLOCK;
        let request = Request { op: Op::Read, offset, len: BLOCK as u32 };
        let queued_ns = number * 1_000_000_000 / rate;
        (number <= rate * seconds).then(|| Io { request, queued_ns, ..Io::default() })
    }
}

fn once(
    target: &Target,
    disk: &RecordedDisk,
    rate: u64,
    seconds: u64,
    recorded: bool,
) -> Result<Run, Box<dyn Error>> {
    let spool = tempfile::tempdir()?;
    let spooled = SpoolFolder::open(spool.path())?;
    let options = RecordOptions {
        disks: vec![disk.clone()],
        buffer_bytes: BUFFER_BYTES,
        spool: Some(&spooled),
    };
    let mut recorder = recorded.then(|| Recorder::start(&options)).transpose()?;
    let over = AtomicBool::new(false);
    let replay = ReplayOptions {
        speed: Some(1.0),
        in_flight: IN_FLIGHT,
        access: Access::Direct,
        largest: BLOCK as u32,
        writes: false,
        rows_most: 0,
    };
    let clock = Clock::new();
    let source = reads(target.capacity_bytes(), rate, seconds);
    let before = busy_us()?;
    let (done, events) = std::thread::scope(|scope| {
        let draining = scope.spawn(|| {
            let mut bytes = 0;
            while let (Some(recorder), false) = (&mut recorder, over.load(Ordering::Relaxed)) {
                bytes += recorder.drain().unwrap_or(0);
                std::thread::sleep(LOOK);
            }
            bytes
        });
        let done = run(target, &replay, &clock, &ReplayWatch::default(), source);
        over.store(true, Ordering::Relaxed);
        (done, draining.join().unwrap_or(0))
    });
    let (done, busy) = (done?, busy_us()? - before);
    let lost = recorder.map(Recorder::stop).transpose()?.map_or(0, |r| r.lost_by_cpu.iter().sum());
    let ios: u64 = done.kinds.iter().map(|kind| kind.ios).sum();
    Ok(Run {
        ios_per_s: ios as f64 * 1e9 / done.elapsed_ns as f64,
        busy_us_per_io: busy / ios as f64,
        late_p99_ms: done.lateness_ns.map_or(0.0, |late| late.p99 / 1e6),
        lost,
        events,
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let Some(device) = args.first() else {
        println!("name a block device that nobody uses: see the head of benches/recording.rs");
        return Ok(());
    };
    let number = |at: usize, usual| args.get(at).map_or(Ok(usual), |word| word.parse::<u64>());
    let (rate, seconds, rounds) = (number(1, 60_000)?, number(2, 5)?, number(3, 5)?);
    let path = Path::new(device);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let disk = RecordedDisk::named(&name)?;
    let target = Target::open(path, &TargetOptions { destroy_data: true, write_needed: false })?;
    let mut busy = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for recorded in [false, true] {
            let one = once(&target, &disk, rate, seconds, recorded)?;
            println!(
                "{} {:>8.0} I/O/s   {:>6.2} us of processors per I/O   p99 late {:>6.2} ms   {:>7} KiB of events before the end   {} lost",
                if recorded { "recorded" } else { "alone   " },
                one.ios_per_s,
                one.busy_us_per_io,
                one.late_p99_ms,
                one.events / 1024,
                one.lost
            );
            busy[usize::from(recorded)].push(one.busy_us_per_io);
        }
    }
    let [alone, recorded] = busy.map(median);
    println!(
        "medians: {alone:.2} us alone, {recorded:.2} us recorded: {:.2} us per I/O",
        recorded - alone
    );
    Ok(())
}
