//! Simulations with answers known in closed form.

use super::*;
use crate::testing::{self, constant, io};
use crate::{Arrivals, Scheduler, jobs};
use ioscape_schema::{Io, Op};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

const MS: u64 = 1_000_000;

/// Uniform whole numbers below a bound.
struct Dice(Pcg64Mcg);

impl Dice {
    fn new(seed: u128) -> Self {
        Self(Pcg64Mcg::new(seed))
    }

    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Exponential with this mean.
    fn exponential(&mut self, mean: f64) -> u64 {
        let uniform = (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        (-mean * (1.0 - uniform).ln()) as u64
    }
}

fn mean(times: impl Iterator<Item = u64> + Clone) -> f64 {
    let count = times.clone().count() as f64;
    times.map(|t| t as f64).sum::<f64>() / count
}

#[test]
fn waiting_is_that_of_a_single_server_with_constant_service() {
    let drive = constant(5.0);
    for load in [0.3, 0.6, 0.8] {
        let (mut dice, mut now) = (Dice::new(7), 0);
        let rows: Vec<Io> = (0..400_000)
            .map(|_| {
                now += dice.exponential(5e6 / load);
                io(Op::Read, dice.below(20_000) * 512, 512, now)
            })
            .collect();
        let jobs = jobs(&rows, &[0], &drive).unwrap();
        let run = simulate(&drive, &jobs, &Configuration::default());
        let waited = mean(run.rows.iter().map(|o| o.io.issued_ns - o.io.queued_ns));
        let service = mean(run.rows.iter().map(SimulatedRequest::physical_ns));
        let truth = load * (service / 5e6) / (2.0 * (1.0 - load * (service / 5e6))) * service;
        assert!((waited / truth - 1.0).abs() < 0.02, "load {load}: {waited} for {truth}");
    }
}

#[test]
fn random_reads_take_the_mean_seek_and_half_a_rotation() {
    let drive = testing::simple();
    let mut dice = Dice::new(3);
    let rows: Vec<Io> = (0..200_000)
        .map(|i| io(Op::Read, dice.below(20_000) * 512, 512, i * 100 * MS + dice.below(10 * MS)))
        .collect();
    let jobs = jobs(&rows, &[0], &drive).unwrap();
    let run = simulate(&drive, &jobs, &Configuration::default());
    let seek = mean(run.rows.iter().map(|o| o.parts.seek_ns));
    let rotation = mean(run.rows.iter().map(|o| o.parts.rotation_ns));
    // Distance d with probability 2(N-d)/N²; none with 1/N, when half of the heads differ.
    let table = &drive.mechanism.seek_ns;
    let truth: f64 = (1..100u32)
        .map(|d| f64::from(2 * (100 - d)) / 1e4 * f64::from(table[d as usize]))
        .sum::<f64>()
        + 0.01 * 0.5 * 0.5e6;
    assert!((seek / truth - 1.0).abs() < 0.01, "{seek} for {truth}");
    assert!((rotation / 5e6 - 1.0).abs() < 0.01, "{rotation}");
}

#[test]
fn a_long_read_runs_at_the_rate_of_the_medium() {
    let drive = testing::simple();
    let whole = [io(Op::Read, 0, 20_000 * 512, 0)];
    let jobs = jobs(&whole, &[0], &drive).unwrap();
    let run = simulate(&drive, &jobs, &Configuration::default());
    // 200 tracks of a rotation, 100 track skews of 10 and 99 cylinder skews of 20 sectors between them.
    let truth = 200 * 10 * MS + 100 * MS + 99 * 2 * MS;
    assert!(run.rows[0].parts.transfer_ns.abs_diff(truth) < truth / 1000);
}

#[test]
fn parts_add_up_and_requests_never_overlap() {
    let drive = crate::drives::find("hp-97560").unwrap().build().unwrap();
    let mut dice = Dice::new(11);
    let mut now = 0;
    let rows: Vec<Io> = (0..20_000)
        .map(|_| {
            now += dice.exponential(30e6);
            let op = if dice.below(2) == 0 { Op::Read } else { Op::Write };
            io(op, dice.below(100_000) * 8192, 8192, now)
        })
        .collect();
    let jobs = jobs(&rows, &[0], &drive).unwrap();
    for (_, scheduler) in crate::schedule::SCHEDULERS {
        let run = simulate(&drive, &jobs, &Configuration { scheduler, ..Configuration::default() });
        let mut order: Vec<&SimulatedRequest> = run.rows.iter().collect();
        order.sort_by_key(|o| o.io.issued_ns);
        for pair in order.windows(2) {
            assert!(pair[1].io.issued_ns >= pair[0].io.completed_ns);
        }
        for row in &run.rows {
            let told = &row.parts;
            let parts = told.total_ns() - told.bus_ns;
            assert!(
                parts <= row.physical_ns() && parts + told.bus_ns >= row.physical_ns(),
                "{row:?}"
            );
            assert!(row.io.issued_ns >= row.io.queued_ns);
        }
    }
}

#[test]
fn better_schedulers_give_shorter_times_under_load() {
    let drive = crate::drives::find("hp-97560").unwrap().build().unwrap();
    let mut dice = Dice::new(5);
    let rows: Vec<Io> = (0..4000)
        .map(|i| io(Op::Read, dice.below(150_000) * 8192, 8192, i / 40 * 900 * MS))
        .collect();
    let jobs = jobs(&rows, &[0], &drive).unwrap();
    let time = |scheduler| {
        let run = simulate(&drive, &jobs, &Configuration { scheduler, ..Configuration::default() });
        mean(run.rows.iter().map(SimulatedRequest::physical_ns))
    };
    let (fcfs, look, sstf, satf) = (
        time(Scheduler::Fcfs),
        time(Scheduler::Look),
        time(Scheduler::Sstf),
        time(Scheduler::Satf),
    );
    assert!(satf < sstf && sstf < fcfs && look < fcfs, "{fcfs} {look} {sstf} {satf}");
}

#[test]
fn disks_on_one_bus_wait_for_each_other() {
    let mut parameters = testing::simple_parameters();
    parameters.bus.to_host_bytes_per_s = 512.0 / 0.004;
    let drive = parameters.build().unwrap();
    let second = Io { device: 1, ..io(Op::Read, 0, 512, 0) };
    let jobs = jobs(&[io(Op::Read, 0, 512, 0), second], &[0, 1], &drive).unwrap();
    let both = |shared_bus| {
        let run =
            simulate(&drive, &jobs, &Configuration { shared_bus, ..Configuration::default() });
        run.rows.iter().map(|o| o.io.completed_ns).collect::<Vec<_>>()
    };
    assert_eq!(both(false), [4 * MS + MS / 10; 2]);
    assert_eq!(both(true), [4 * MS + MS / 10, 8 * MS + MS / 10]);
}

#[test]
fn a_closed_system_keeps_the_think_times() {
    let drive = constant(5.0);
    let row = |queued: u64, completed: u64| Io {
        completed_ns: completed * MS,
        ..io(Op::Read, 0, 512, queued * MS)
    };
    let jobs = jobs(&[row(2, 10), row(13, 30), row(25, 40)], &[0], &drive).unwrap();
    let run = simulate(
        &drive,
        &jobs,
        &Configuration { arrivals: Arrivals::Closed, ..Configuration::default() },
    );
    let starts: Vec<u64> = run.rows.iter().map(|o| o.io.issued_ns / MS).collect();
    assert_eq!(starts, [2, 2 + 5 + 3, 10 + 5], "think times are 2, 3 and none");
}

#[test]
fn rows_that_do_not_fit_are_refused_by_number() {
    let drive = testing::simple();
    let good = io(Op::Read, 0, 512, 10);
    for (bad, word) in [
        (io(Op::Read, 100, 512, 10), "whole sectors"),
        (io(Op::Read, 0, 100, 10), "whole sectors"),
        (io(Op::Write, 20_000 * 512, 512, 10), "beyond"),
        (io(Op::Read, 0, 512, 9), "before"),
        (Io { completed_ns: 3, ..good }, "backwards"),
    ] {
        let error = jobs(&[good, bad], &[0], &drive).unwrap_err().to_string();
        assert!(error.contains("request 1") && error.contains(word), "{error}");
    }
    let past = [good, io(Op::Read, 19_999 * 512, 1024, 10)];
    let told = jobs(&past, &[0], &drive).unwrap_err();
    assert!(matches!(told, crate::Error::Beyond { index: 1, len: 1024, .. }), "{told:?}");
    let other = Io { device: 3, ..io(Op::Read, 77, 1, 10) };
    assert_eq!(
        jobs(
            &[good, other, Io { queued_ns: 10, issued_ns: 10, completed_ns: 10, ..Io::default() }],
            &[0],
            &drive
        )
        .unwrap()
        .len(),
        1
    );
}
