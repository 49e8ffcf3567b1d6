//! Compares reads and writes under load with one of DiskSim's own runs, "3 different disks", all of
//! whose requests went to one disk, a Cheetah 9LP. Requests follow the same distributions, and the
//! times are compared with those that DiskSim printed.

use crate::data::io;
use crate::data::specs::specs;
use ioscape_schema::{Io, IoFlags, Op, Request};
use ioscape_simulate::mechanism::Arm;
use ioscape_simulate::{Configuration, Drive, Scheduler, SimulatedRequest, jobs, simulate};

/// The generator of the C library's `drand48`.
struct Rand48(u64);

impl Rand48 {
    fn new(seed: u64) -> Self {
        Self(seed << 16 | 0x330e)
    }

    /// A number from 0 to 1.
    fn share(&mut self) -> f64 {
        self.0 = (self.0.wrapping_mul(0x5_deec_e66d) + 0xb) & ((1 << 48) - 1);
        self.0 as f64 / (1u64 << 48) as f64
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.share()).ln()
    }
}

/// Request addresses and sizes in DiskSim's run are multiples of this many blocks.
const UNIT: u64 = 8;

/// The next request of one of DiskSim's generators, which spreads requests over `blocks` blocks:
/// the milliseconds since the previous request, and the request.
fn next(dice: &mut Rand48, blocks: u64) -> (f64, Request) {
    let units = blocks / UNIT;
    let after_ms = dice.exponential(25.0);
    // DiskSim draws which of its disks to use; here there is one.
    dice.share();
    let (mut at, mut count) = (units, units);
    while at + count >= units || count == 0 {
        at = (dice.share() * units as f64) as u64;
        count = (dice.exponential(8.0) as u64).div_ceil(UNIT);
    }
    let op = if dice.share() < 0.66 { Op::Read } else { Op::Write };
    // DiskSim draws whether a process waits for the request; none does.
    dice.share();
    (after_ms, Request { op, offset: at * UNIT * 512, len: (count * UNIT * 512) as u32 })
}

/// Blocks over which each of the three generators spreads requests, in the order in which they draw
/// their first request. The first gets the processor, and the others never do.
const GENERATORS: [u64; 3] = [17_783_240, 17_916_240, 17_938_986];
const COUNT: usize = 10_000;
/// Mean time between arrivals in DiskSim's run; the distribution's mean is 25.
const GAP_MS: f64 = 24.961194;

/// Requests from the same distributions. DiskSim uses the same generator, but it also draws numbers
/// for other purposes, which its output does not show.
fn rows(seed: u64) -> Vec<Io> {
    let mut dice = Rand48::new(seed);
    let (mut now_ms, mut rows) = (0.0, Vec::with_capacity(COUNT));
    while rows.len() < COUNT {
        let (after_ms, request) = next(&mut dice, GENERATORS[0]);
        now_ms += after_ms * GAP_MS / 25.0;
        let row = io(request.op, request.offset, request.len, (now_ms * 1e6).round() as u64);
        rows.push(Io { flags: IoFlags::ASYNC, ..row });
    }
    rows
}

/// The shares of response times below 5, 10, 20 and 40 ms; then their mean and standard deviation
/// in milliseconds.
type Course = [f64; 6];

fn course<'a>(rows: impl Iterator<Item = &'a SimulatedRequest>) -> Course {
    let times: Vec<f64> = rows.map(|row| row.elapsed_ns() as f64 / 1e6).collect();
    let count = times.len() as f64;
    let mean = times.iter().sum::<f64>() / count;
    let square = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>();
    let below = |end: f64| times.iter().filter(|time| **time < end).count() as f64 / count;
    [below(5.0), below(10.0), below(20.0), below(40.0), mean, (square / count).sqrt()]
}

/// DiskSim's values, from its output: of 6,680 reads and 3,319 writes.
const READS: Course =
    [102.0 / 6680.0, 2205.0 / 6680.0, 5759.0 / 6680.0, 6617.0 / 6680.0, 13.584495, 6.962292];
const WRITES: Course =
    [2236.0 / 3319.0, 2755.0 / 3319.0, 3162.0 / 3319.0, 3307.0 / 3319.0, 5.609672, 6.705114];
/// DiskSim's mean seek time, and mean request size in blocks.
const SEEK_MS: f64 = 5.552752;
const BLOCKS: f64 = 12.6672;

#[test]
fn the_generator_is_disksims() {
    let mut dice = Rand48::new(42);
    let firsts = GENERATORS.map(|blocks| next(&mut dice, blocks));
    for ((after_ms, _), known) in firsts.iter().zip([34.115768, 17.268723, 19.087780]) {
        assert!((after_ms - known).abs() < 1e-6, "{after_ms} for {known}");
    }
    let rows = rows(1);
    let blocks = rows.iter().map(|row| f64::from(row.request.len / 512)).sum::<f64>();
    assert!((blocks / COUNT as f64 / BLOCKS - 1.0).abs() < 0.02);
}

/// The mean of a figure over the streams, and its standard deviation between streams.
fn spread(of: impl Iterator<Item = f64> + Clone) -> [f64; 2] {
    let count = of.clone().count() as f64;
    let mean = of.clone().sum::<f64>() / count;
    let square = of.map(|one| (one - mean).powi(2)).sum::<f64>();
    [mean, (square / (count - 1.0)).sqrt()]
}

/// The mean seek time of the requests in the order in which they went to the disk, each from the
/// end of the previous one.
fn seek_ms(drive: &Drive, rows: &[SimulatedRequest]) -> f64 {
    let (mechanism, layout) = (&drive.mechanism, &drive.mechanism.layout);
    let mut order: Vec<&SimulatedRequest> = rows.iter().collect();
    order.sort_by_key(|row| row.io.issued_ns);
    let (mut arm, mut sum) = (Arm::default(), 0);
    for Io { request, .. } in order.iter().map(|row| row.io) {
        let [first, last] =
            [request.offset / 512, (request.offset + u64::from(request.len)) / 512 - 1]
                .map(|block| layout.locate(block).track);
        sum += mechanism.seek_to(&arm, first, request.op == Op::Write);
        let on = layout.tracks()[last];
        (arm.cylinder, arm.head) = (on.cylinder, on.head);
    }
    sum as f64 / 1e6 / rows.len() as f64
}

/// Number of request streams.
const STREAMS: u64 = 16;

#[test]
#[expect(clippy::print_stdout, reason = "the figures are for whoever runs it with --nocapture")]
fn reads_and_writes_under_load_respond_as_in_disksim() {
    let Some(specs) = specs("cheetah9LP.diskspecs") else { return };
    let drive = specs.parameters.build().unwrap();
    let (disk, scheduler) = (drive.buffer.usual(), Scheduler::CLook);
    let options = Configuration { disk, scheduler, ..Configuration::default() };
    let is_read = |row: &&SimulatedRequest| row.io.request.op == Op::Read;
    let streams: Vec<([Course; 2], f64)> = (1..=STREAMS)
        .map(|seed| {
            let run = simulate(&drive, &jobs(&rows(seed), &[0], &drive).unwrap(), &options);
            let reads = course(run.rows.iter().filter(is_read));
            let writes = course(run.rows.iter().filter(|row| !is_read(row)));
            ([reads, writes], seek_ms(&drive, &run.rows))
        })
        .collect();
    let [seek, by] = spread(streams.iter().map(|stream| stream.1));
    println!("seek {seek:.3} +- {by:.3} ms for {SEEK_MS}");
    assert!((seek / SEEK_MS - 1.0).abs() < 0.01, "{seek}");
    for (number, known) in [READS, WRITES].iter().enumerate() {
        for (at, known) in known.iter().enumerate() {
            let [ours, by] = spread(streams.iter().map(|stream| stream.0[number][at]));
            println!("{number}, {at}: {ours:.4} +- {by:.4} for {known:.4}");
            assert!(
                (ours - known).abs() < 3.5 * by.max(0.0005),
                "{number}, {at}: {ours} for {known}"
            );
            assert!(at != 4 || (ours / known - 1.0).abs() < 0.03, "mean: {ours} for {known}");
        }
    }
}
