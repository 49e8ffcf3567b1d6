//! Every file and device call of the command fails, one per run, in every way in which the kernel
//! may answer: no result is lost, nothing is left behind, nothing else is touched, and the exit
//! code is right.
//!
//! Faults are injected by the kernel itself: a seccomp filter hands each call to this test, which
//! lets it through or answers in the kernel's place. So the command is the one that users run, no
//! call can be forgotten, and the program needs no code for it. One fault in ten is tried, a
//! different tenth each day, or the one that the number `IOSCAPE_PART` chooses, unless
//! `IOSCAPE_FAULTS=1` asks for all of them, as full continuous integration does.
//! `IOSCAPE_FAULT=run:17:Eio` repeats one fault and shows its output.
#![expect(
    clippy::print_stderr,
    reason = "the test tells how many faults there were, and what came of one"
)]

mod fault;
mod judge;
mod seccomp;

use fault::{Fault, Kind};
use judge::{BRIEF, Case, Place};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One fault in this many is tried, unless `IOSCAPE_FAULTS` gives another number.
const ONE_IN: usize = 10;
/// The fewest faults that a complete run injects.
const LEAST: usize = 2000;
/// Runs in parallel: most of a run is waiting.
const AT_A_TIME: usize = 6;

const CASES: &[Case] = &[
    Case {
        name: "vxbench",
        words: &[
            "vxbench",
            "-w",
            "rand_mixed",
            "-i",
            "iosize=4k,iocount=8,truncup,fsync",
            "W/file",
            "--output",
        ],
        most: 900,
    },
    Case {
        name: "direct",
        words: &[
            "vxbench",
            "-w",
            "write",
            "-i",
            "iosize=4k,iocount=8,nthreads=2",
            "-c",
            "direct",
            "-r",
            "64k",
            "--verify",
            "--best-effort",
            "W/file",
            "--output",
        ],
        most: 600,
    },
    Case { name: "campaign", words: &["campaign", "run", "F/tiny.toml", "W", "-o"], most: 900 },
    Case {
        name: "run",
        words: &[
            "run",
            "W",
            "--unique-bytes",
            "64k",
            "--size-mean",
            "4k",
            "--seconds",
            "1ms",
            "--verify",
            "-o",
        ],
        most: 500,
    },
    Case {
        name: "evaluate",
        words: &["evaluate", "W", "--budget", BRIEF, "--max-unique-bytes", "1M", "-o"],
        most: 150,
    },
];

/// All faults of a case, in a scattered but reproducible order.
fn faults(case: &Case, place: &Place) -> Vec<Fault> {
    let mut all: Vec<Fault> = Vec::new();
    for kind in Kind::ALL {
        let calls = case.sound(place, kind);
        all.extend((1..=calls).map(|nth| Fault { nth, kind }));
    }
    all.sort_by_key(scattered);
    all.truncate(case.most);
    all
}

/// The same number for a fault in every run, and as good as random among faults.
fn scattered(fault: &Fault) -> u64 {
    let kind = Kind::ALL.iter().position(|kind| *kind == fault.kind).unwrap_or(0) as u64;
    ((u64::from(fault.nth) << 8 | kind) ^ 0x5EED)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .rotate_left(29)
        .wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// The one fault asked for by name.
fn asked(case: &Case) -> Option<Fault> {
    let text = std::env::var("IOSCAPE_FAULT").ok()?;
    let mut words = text.split(':');
    let name = words.next()?;
    let nth = words.next()?.parse().ok()?;
    let kind = words.next()?;
    let kind = Kind::ALL.into_iter().find(|known| format!("{known:?}") == kind)?;
    (name == case.name).then_some(Fault { nth, kind })
}

/// A number that the environment gives.
fn given(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok()
}

/// One fault in this many is tried.
fn one_in() -> usize {
    given("IOSCAPE_FAULTS").unwrap_or(ONE_IN).max(1)
}

/// Days since 1970, so that another subset is tried each day.
fn today() -> usize {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("a clock after 1970");
    (since.as_secs() / 86_400) as usize
}

fn all_faults() -> Vec<(&'static Case, Fault)> {
    let of = |case: &'static Case| {
        let place = Place::new().expect("a folder");
        let faults = faults(case, &place);
        let (all, parts) = (faults.len(), one_in());
        let part = given("IOSCAPE_PART").unwrap_or_else(today) % parts;
        eprintln!(
            "{}: {all} faults, of which one in {parts} is tried (IOSCAPE_PART={part})",
            case.name
        );
        // How many calls a run makes varies; the number of a fault does not.
        let is_tried = |fault: &Fault| scattered(fault) % parts as u64 == part as u64;
        faults.into_iter().filter(is_tried).map(move |fault| (case, fault)).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let each: Vec<_> = CASES.iter().map(|case| scope.spawn(move || of(case))).collect();
        each.into_iter().flat_map(|found| found.join().expect("no panic")).collect()
    })
}

#[test]
fn any_call_may_fail() {
    if let Err(error) = judge::can_supervise() {
        return eprintln!(
            "SKIPPED: the kernel lets no program supervise another's calls here: {error}"
        );
    }
    if std::env::var_os("IOSCAPE_FAULT").is_some() {
        for case in CASES {
            if let Some(fault) = asked(case) {
                let place = Place::new().expect("a folder");
                let verdict = case.judge(&place, fault, true);
                eprintln!("{} {fault}: {verdict:?}", case.name);
            }
        }
        return;
    }
    let faults = all_faults();
    let (next, injected) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some((case, fault)) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let place = Place::new().expect("a folder");
                    match case.judge(&place, *fault, false) {
                        Ok(met) => injected.fetch_add(usize::from(met), Ordering::Relaxed),
                        Err(why) => {
                            let line = format!("{}:{fault}: {why}", case.name);
                            wrong.lock().expect("no panic").push(line);
                            injected.fetch_add(1, Ordering::Relaxed)
                        }
                    };
                }
            });
        }
    });
    let (wrong, injected) = (wrong.into_inner().expect("no panic"), injected.into_inner());
    eprintln!("{injected} faults put in, {} of them ended wrong", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let least = LEAST / one_in();
    assert!(injected >= least, "only {injected} faults of at least {least} were put in");
}
