//! Verified runs: nothing is found where nothing is wrong, and each kind of fault is found, located
//! and named correctly.

use crate::common::{quick, run, run_with, session, skipped, workload};
use ioscape_machine::Error;
use ioscape_measure::{RunOptions, Session};
use ioscape_schema::{
    Access, Engine, Measurement, Op, Request, VerifyKind, VerifyReport, Workers, Workload,
};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

const BLOCK: u64 = 4096;

fn verified() -> RunOptions {
    RunOptions { verify: true, ..quick() }
}

/// Several overlapping streams that read and write everywhere.
fn uniform(session: &mut Session, workload: &Workload) -> Result<Measurement, Error> {
    run_with(session, workload, &verified())
}

fn assert_sound(m: &Measurement) {
    let report = m.verify.as_ref().expect("it was verified");
    assert_eq!(report.wrong_blocks(), 0, "{report:?}");
    assert!(report.findings.is_empty() && report.failure().is_none());
    assert_eq!(report.block_bytes, BLOCK);
    assert!(report.read_back_blocks > 0 && report.read_back_blocks <= (1 << 20) / BLOCK);
    // Reads of the warm-up are checked too.
    assert!(report.checked_blocks + report.unjudged_blocks >= m.read.map_or(0, |r| r.ios));
}

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    let (_dir, mut session) = session();
    for change in [
        Workload::default(),
        Workload { process_num: 3, ..Workload::default() },
        Workload { process_num: 3, workers: Workers::Threads, ..Workload::default() },
        Workload { engine: Engine::Mmap, process_num: 2, ..Workload::default() },
        Workload { access: Access::Dsync, ..Workload::default() },
        Workload { read_frac: 1.0, ..Workload::default() },
        Workload { engine: Engine::IoUring, queue_depth: 8, process_num: 2, ..Workload::default() },
    ] {
        let usual = workload();
        let one =
            Workload { unique_bytes: usual.unique_bytes, size_mean: 4096, seq_frac: 0.0, ..change };
        match uniform(&mut session, &one) {
            Ok(m) => assert_sound(&m),
            Err(error) if error.is_misuse() && one.engine == Engine::IoUring => {
                skipped(&error.to_string());
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_run_that_is_not_verified_makes_the_next_lay_its_set_out_anew() {
    let (_dir, mut session) = session();
    assert_sound(&uniform(&mut session, &workload()).unwrap());
    let unverified = run(&mut session, &workload()).unwrap();
    assert_eq!(unverified.verify, None);
    assert_sound(&uniform(&mut session, &workload()).unwrap());
}

#[test]
fn what_cannot_be_verified_is_refused() {
    let (_dir, mut session) = session();
    for (one, word) in [
        (Workload { engine: Engine::Null, ..workload() }, "null"),
        (Workload { size_mean: 33, align_bytes: Some(1), ..workload() }, "at least 64"),
        (Workload { direct_above_bytes: Some(512), align_bytes: Some(512), ..workload() }, "4096"),
    ] {
        let error = uniform(&mut session, &one).unwrap_err();
        assert!(error.is_misuse() && error.to_string().contains(word), "{error}");
    }
}

#[test]
fn an_account_of_more_blocks_than_there_is_memory_for_is_refused() {
    let (_dir, mut session) = session();
    session.keep_ledger(1 << 20, 512, None, "").unwrap();
    let error = session.keep_ledger(1 << 50, 512, None, "verify less").unwrap_err();
    let told = error.to_string();
    assert!(error.is_misuse() && told.ends_with("8 bytes for each block written: verify less"));
    let is_account = told.contains("the account of its blocks needs");
    assert!(is_account && !told.contains("buffers"), "{told}");
    assert!(session.ledger().is_none(), "that of the run before would leave less memory");
    session.keep_ledger(1 << 36, 512, Some(10), "").unwrap();
}

/// The file, as another program would change it.
struct Saboteur(File);

impl Saboteur {
    fn block(&self, number: u64) -> Vec<u8> {
        let mut bytes = vec![0; BLOCK as usize];
        self.0.read_exact_at(&mut bytes, number * BLOCK).unwrap();
        bytes
    }

    fn put(&self, number: u64, bytes: &[u8]) {
        self.0.write_all_at(bytes, number * BLOCK).unwrap();
    }
}

/// The blocks to spoil, one for each kind of fault.
const CORRUPT: u64 = 1;
const MISPLACED: u64 = 2;
const LOST: u64 = 3;
const STALE: u64 = 4;
const TORN: u64 = 5;

/// Runs one stream that writes the blocks, spoils them behind its own back, and goes on elsewhere.
/// If `reads`, its reads of the first blocks find the faults; otherwise, the reading back does.
fn spoil(reads: bool) -> VerifyReport {
    let (_dir, mut session) = session();
    let path: PathBuf = session.target().path().to_owned();
    let one = Workload { read_frac: 0.5, ..workload() };
    let streams = |_| {
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let saboteur = Saboteur(file);
        let (mut step, mut before) = (0, Vec::new());
        move || {
            step += 1;
            let at = |op, block: u64| Request { op, offset: block * BLOCK, len: 4096 };
            match step {
                1 => {
                    before = [STALE, TORN].map(|n| saboteur.block(n)).to_vec();
                    at(Op::Write, STALE)
                }
                2 => at(Op::Write, TORN),
                3 => {
                    let mut bytes = saboteur.block(CORRUPT);
                    bytes[1000] ^= 4;
                    saboteur.put(CORRUPT, &bytes);
                    saboteur.put(MISPLACED, &saboteur.block(9));
                    saboteur.put(LOST, &[0; BLOCK as usize]);
                    saboteur.put(STALE, &before[0]);
                    saboteur
                        .put(TORN, &[&saboteur.block(TORN)[..2048], &before[1][2048..]].concat());
                    at(Op::Read, 20)
                }
                4..9 if reads => at(Op::Read, step - 3),
                _ => at(if step % 2 == 0 { Op::Read } else { Op::Write }, 20 + step % 100),
            }
        }
    };
    session.run(&one, 4096, &verified(), streams).unwrap().verify.unwrap()
}

fn assert_found(report: &VerifyReport, at_end: bool) {
    let told: Vec<_> = report.findings.iter().map(|f| (f.kind, f.offset / BLOCK)).collect();
    let all = [
        (VerifyKind::Corrupt, CORRUPT),
        (VerifyKind::Misplaced, MISPLACED),
        (VerifyKind::Lost, LOST),
        (VerifyKind::Stale, STALE),
        (VerifyKind::Torn, TORN),
    ];
    assert_eq!(told, all, "{report:?}");
    assert!(VerifyKind::ALL.into_iter().all(|kind| report.count(kind) == 1), "each is told once");
    assert!(report.findings.iter().all(|f| f.at_end == at_end), "{report:?}");
    assert_eq!(report.findings[1].found_offset, Some(9 * BLOCK));
    let stale = &report.findings[3];
    assert_eq!((stale.expected_write, stale.found_write), (2, Some(1)));
    assert!(report.failure().unwrap().contains("5 blocks"), "{report:?}");
}

#[test]
fn each_kind_of_fault_is_found_by_reads() {
    assert_found(&spoil(true), false);
}

#[test]
fn what_no_read_meets_is_found_at_the_end() {
    assert_found(&spoil(false), true);
}
