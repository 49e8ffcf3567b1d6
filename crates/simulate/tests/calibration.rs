//! A drive is found again from times that it made itself.

use ioscape_schema::{Io, Op, Request};
use ioscape_simulate::calibrate::{Search, calibrate, judge};
use ioscape_simulate::{Arrivals, Configuration, Parameters, drives, jobs, simulate};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// Requests that the drive served one after the other, a millisecond apart, as a trace would have them.
fn recorded(truth: &Parameters) -> Vec<ioscape_simulate::Job> {
    let drive = truth.build().unwrap();
    let mut dice = Pcg64Mcg::new(4);
    let mut place = 0;
    let rows: Vec<Io> = (0..1200)
        .map(|n| {
            // Mostly near the one before, so that the skews show; sometimes far.
            let far = dice.next_u64().is_multiple_of(10);
            let reach = if far { 1_300_000 } else { 900 };
            place = (place + dice.next_u64() % reach) % 1_300_000;
            let op = if dice.next_u64().is_multiple_of(3) { Op::Read } else { Op::Write };
            let request = Request { op, offset: place * 256, len: 2048 };
            let at = n * 1_000_000;
            Io { request, queued_ns: at, issued_ns: at, completed_ns: at, ..Io::default() }
        })
        .collect();
    let mut all = jobs(&rows, &[0], &drive).unwrap();
    let closed = Configuration { arrivals: Arrivals::Closed, ..Configuration::default() };
    let run = simulate(&drive, &all, &closed);
    for (job, row) in all.iter_mut().zip(&run.rows) {
        job.io = Io { queued_ns: row.io.issued_ns, ..row.io };
    }
    all
}

#[test]
fn skews_and_costs_are_found_again() {
    let truth = drives::find("hp-c2200a").unwrap();
    let jobs = recorded(&truth);
    let own = judge(&truth.build().unwrap(), &jobs);
    assert!(own.paired.paired_median_ns < 100.0, "the truth explains itself: {:?}", own.paired);
    let mut start = truth.clone();
    (start.zones[0].track_skew, start.zones[0].cylinder_skew) = (20, 70);
    start.controller.write_before_ms += 0.3;
    start.rotation_ms *= 1.004;
    let search = Search { rounds: 3, skews: true, sample: 1200 };
    let fitted = calibrate(&start, &jobs, search, &mut |_, _| true).unwrap();
    assert_eq!((fitted.zones[0].track_skew, fitted.zones[0].cylinder_skew), (34, 46));
    assert!(
        (fitted.rotation_ms / truth.rotation_ms - 1.0).abs() < 0.0005,
        "{}",
        fitted.rotation_ms
    );
    let fit = judge(&fitted.build().unwrap(), &jobs);
    assert!(fit.paired.within_1ms > 0.97, "{:?}", fit.paired);
}

#[test]
fn a_search_can_be_stopped() {
    let truth = drives::find("hp-c2200a").unwrap();
    let jobs = recorded(&truth);
    let mut heard = 0;
    let mut step = |_: &str, _: f64| {
        heard += 1;
        false
    };
    let fitted = calibrate(&truth, &jobs, Search::default(), &mut step).unwrap();
    assert_eq!((fitted, heard), (truth, 1));
}
