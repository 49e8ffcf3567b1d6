//! The paper's own trace on its own disk: how close the model is, and whether it reproduces the
//! paper's results with write caches.

use crate::data;
use crate::last_written::overwritten_in_lru;
use ioscape_schema::Op;
use ioscape_simulate::cache::{Destage, Freeing};
use ioscape_simulate::calibrate::{Search, calibrate, judge};
use ioscape_simulate::nvram::Absorbed;
use ioscape_simulate::{
    Configuration, DiskOptions, Job, Parameters, Scheduler, SimulatedRequest, SimulatedTrace,
    WriteCache, drives, jobs, simulate,
};

/// The jobs of the trace's first disk in order of arrival, with the disk's parameters.
fn hplajw() -> Option<(Parameters, Vec<Job>)> {
    let rows = data::hplajw()?;
    let parameters = drives::find("hp-c2200a").unwrap();
    let jobs = jobs(&rows, &[0], &parameters.build().unwrap()).unwrap();
    assert_eq!(jobs.len(), 42_252);
    Some((parameters, jobs))
}

#[test]
fn hplajw_is_explained_by_its_disk() {
    let Some((parameters, mut jobs)) = hplajw() else { return };
    jobs.sort_by_key(|j| j.io.issued_ns);
    let fit = judge(&parameters.build().unwrap(), &jobs);
    assert!(fit.free.demerit <= 0.0215, "{:?}", fit.free);
    let paired = fit.paired;
    assert!(paired.paired_median_ns <= 0.08e6 && paired.within_1ms >= 0.92, "{paired:?}");
    assert_eq!(paired.count, 34_551);
}

/// The mean time of reads or writes, in milliseconds.
fn mean(run: &SimulatedTrace, write: bool, time: fn(&SimulatedRequest) -> u64) -> f64 {
    let times = run
        .rows
        .iter()
        .filter(|o| (o.io.request.op == Op::Write) == write)
        .map(|o| time(o) as f64 / 1e6);
    times.clone().sum::<f64>() / times.count() as f64
}

#[test]
fn write_caches_show_the_findings_of_the_paper() {
    let Some((parameters, jobs)) = hplajw() else { return };
    let drive = parameters.build().unwrap();
    let run = |cache| {
        let disk = DiskOptions { cache, ..DiskOptions::default() };
        simulate(
            &drive,
            &jobs,
            &Configuration { disk, scheduler: Scheduler::CScan, ..Configuration::default() },
        )
    };
    let nvram = |kilobytes: u64, destage, freeing| {
        run(WriteCache::Nvram { bytes: kilobytes << 10, destage, freeing })
    };
    let none = run(WriteCache::None);
    let whole = Freeing::WholeWrite;
    let [small, small_satf] = [Destage::Fcfs, Destage::Satf].map(|d| nvram(8, d, whole));
    let [large, large_satf] = [Destage::Fcfs, Destage::Satf].map(|d| nvram(128, d, whole));
    let physical = |run, write| mean(run, write, SimulatedRequest::physical_ns);
    let elapsed = |run| mean(run, true, SimulatedRequest::elapsed_ns);
    // 128 KB cut the time of writes threefold, and reads become a little slower, by less than 4 %.
    assert!(physical(&none, true) / physical(&large, true) > 3.0);
    for run in [&small, &small_satf, &large, &large_satf] {
        let slower = physical(run, false) / physical(&none, false);
        assert!((1.0..1.04).contains(&slower), "{slower}");
    }
    // Shortest access time first gains nothing in a small cache, with few writes to choose from,
    // but does in a large one.
    let gain = physical(&small_satf, true) / physical(&small, true);
    assert!((0.98..1.02).contains(&gain), "{gain}");
    assert!(elapsed(&large_satf) < 0.96 * elapsed(&large));
    // Freeing space only after the whole write makes bursts wait longer.
    let early = nvram(8, Destage::Fcfs, Freeing::AsWritten);
    assert!(physical(&early, true) < physical(&small, true) && elapsed(&early) < elapsed(&small));
    // Immediate reporting helps less than a non-volatile buffer of 128 KB, and more than nothing.
    let immediate = run(WriteCache::Immediate);
    let times = [&none, &immediate, &large].map(|run| physical(run, true));
    assert!(times[0] > times[1] && times[1] > times[2], "{times:?}");
}

#[test]
fn hplajw_is_absorbed_as_the_paper_says() {
    let Some(rows) = data::hplajw() else { return };
    let sizes = [200 << 10, 700 << 10, 64 << 20];
    let mut all = Absorbed::new("all", |_| true, &sizes);
    all.take(&rows);
    let all = all.finish();
    // 200 KB absorb all writes in 90 % of the intervals, and 700 KB absorb 95 % of the writes;
    // about a quarter are overwrites.
    assert!((all.points[0].intervals - 0.90).abs() < 0.01, "{:?}", all.points[0]);
    assert!((all.points[1].total - 0.95).abs() < 0.03, "{:?}", all.points[1]);
    assert!((0.25..0.32).contains(&all.points[2].overwrites), "{:?}", all.points[2]);
    let small = overwritten_in_lru(&rows, 8 << 10);
    assert!((0.10..=0.18).contains(&small), "8 KB eliminate {small} of the writes");
}

#[test]
fn a_fit_of_the_first_half_holds_on_the_second() {
    let Some((mut start, mut jobs)) = hplajw() else { return };
    jobs.sort_by_key(|j| j.io.issued_ns);
    let (first, second) = jobs.split_at(jobs.len() / 2);
    // Start from overheads that are half a millisecond off; another test covers skews.
    start.controller.read_before_ms += 0.5;
    start.controller.write_before_ms += 0.5;
    start.mechanism.write_settle_ms -= 0.5;
    let search = Search { rounds: 4, skews: false, ..Search::default() };
    let fitted = calibrate(&start, first, search, &mut |_, _| true).unwrap().parameters;
    let fit = judge(&fitted.build().unwrap(), second);
    assert!(fit.free.demerit <= 0.03, "{:?}", fit.free);
    assert!(
        fit.paired.paired_median_ns <= 0.1e6 && fit.paired.within_1ms >= 0.9,
        "{:?}",
        fit.paired
    );
}
