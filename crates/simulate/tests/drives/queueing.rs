//! Disks as queues: compares the waiting times of random reads with the Pollaczek-Khinchine formula
//! for their service times.

use crate::data::io;
use crate::data::random::Dice;
use ioscape_schema::Op;
use ioscape_simulate::drives;
use ioscape_simulate::{Configuration, DiskOptions, Drive, Extent, Scheduler, jobs, simulate};

const BYTES: u64 = 8192;
/// Requests per stream, and number of streams.
const COUNT: usize = 60_000;
const STREAMS: u64 = 24;
/// Utilization of the disk.
const LOAD: f64 = 0.7;

/// A stream of random 8 KiB reads over the whole drive: each read's service time and waiting time,
/// and the time between its arrival and the previous one, in milliseconds.
struct Stream {
    services: Vec<f64>,
    waits: Vec<f64>,
    gaps: Vec<f64>,
}

fn stream(drive: &Drive, gap_ms: f64, dice: &mut Dice) -> Stream {
    let places = Extent::from(drive).bytes() / BYTES;
    let (mut now_ns, mut rows, mut gaps) = (0, Vec::with_capacity(COUNT), Vec::new());
    for _ in 0..COUNT {
        let gap_ns = (-1e6 * gap_ms * (1.0 - dice.between(0.0, 1.0)).ln()) as u64;
        now_ns += gap_ns;
        gaps.push(gap_ns as f64 / 1e6);
        rows.push(io(Op::Read, dice.below(places) * BYTES, BYTES as u32, now_ns));
    }
    let disk = DiskOptions { read_ahead: false, ..DiskOptions::default() };
    let options = Configuration { disk, scheduler: Scheduler::Fcfs, ..Configuration::default() };
    let run = simulate(drive, &jobs(&rows, &[0], drive).unwrap(), &options);
    let ms = |from: u64, to: u64| (to - from) as f64 / 1e6;
    Stream {
        services: run.rows.iter().map(|r| ms(r.io.issued_ns, r.io.completed_ns)).collect(),
        waits: run.rows.iter().map(|r| ms(r.io.queued_ns, r.io.issued_ns)).collect(),
        gaps,
    }
}

/// The waiting times in a single-server queue with first come, first served (Lindley 1952).
fn waits(services: &[f64], gaps: &[f64]) -> Vec<f64> {
    let mut waits = vec![0.0; services.len()];
    for at in 1..services.len() {
        waits[at] = f64::max(0.0, waits[at - 1] + services[at - 1] - gaps[at]);
    }
    waits
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The mean waiting time by the formula, for independent service times.
fn formula(services: &[f64], gaps: &[f64]) -> f64 {
    let (rate, first) = (1.0 / mean(gaps), mean(services));
    let second = services.iter().map(|s| s * s).sum::<f64>() / services.len() as f64;
    rate * second / (2.0 * (1.0 - rate * first))
}

/// The correlation between successive service times.
fn correlation(services: &[f64]) -> f64 {
    let middle = mean(services);
    let off: Vec<f64> = services.iter().map(|s| s - middle).collect();
    let together: f64 = off.windows(2).map(|w| w[0] * w[1]).sum();
    together / off.iter().map(|o| o * o).sum::<f64>()
}

/// The mean of some figures, and its standard error.
fn estimate(of: &[f64]) -> [f64; 2] {
    let middle = mean(of);
    let square = of.iter().map(|one| (one - middle).powi(2)).sum::<f64>();
    [middle, (square / (of.len() * (of.len() - 1)) as f64).sqrt()]
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are for whoever runs it with --nocapture")]
fn random_reads_wait_as_long_as_the_formula_says() {
    for name in ["hp-c2200a", "hp-97560"] {
        let drive = drives::find(name).unwrap().build().unwrap();
        let alone = mean(&stream(&drive, 1e4, &mut Dice::new(0)).services);
        let (mut ratios, mut shuffled, mut tells) = (Vec::new(), Vec::new(), Vec::new());
        for seed in 1..=STREAMS {
            let mut dice = Dice::new(seed);
            let Stream { mut services, waits: simulated, gaps } =
                stream(&drive, alone / LOAD, &mut dice);
            let ours = waits(&services, &gaps);
            let differ = ours.iter().zip(&simulated).map(|(a, b)| (a - b).abs());
            assert!(differ.fold(0.0, f64::max) < 1e-3, "{name}: one is served after the other");
            let told = formula(&services, &gaps);
            ratios.push(mean(&simulated) / told);
            tells.push(correlation(&services));
            for at in (1..services.len()).rev() {
                services.swap(at, dice.below(at as u64 + 1) as usize);
            }
            shuffled.push(mean(&waits(&services, &gaps)) / told);
        }
        let [[ratio, by], [other, other_by], [tell, tell_by]] =
            [&ratios, &shuffled, &tells].map(|of| estimate(of));
        println!(
            "{name}: {alone:.3} ms alone; waits over the formula's {ratio:.4} +- {by:.4} (one stream +- {:.4}), shuffled {other:.4} +- {other_by:.4}; correlation {tell:.4} +- {tell_by:.4}",
            by * (STREAMS as f64).sqrt()
        );
        assert!((other - 1.0).abs() < 4.0 * other_by, "{name}: {other} +- {other_by}");
        // Two successive seeks share an endpoint, so their times are slightly correlated, which the
        // formula ignores.
        assert!(
            (0.0..0.1).contains(&tell) && (ratio - 1.0).abs() < 0.01 + 4.0 * by,
            "{name}: {ratio} +- {by}"
        );
    }
}
