//! The proof that a run's products give, and the cases of its values.

use super::*;
use crate::estimate::whole;
use crate::testing_toolchain::FakeToolchain;
use crate::today::{self, Executable};

#[test]
fn work_left_out_is_told() {
    let made: Vec<Named<Vec<u8>>> = ["a", "b"]
        .map(|unit| {
            let files = FakeToolchain.files();
            let (_, text) =
                files.into_iter().find(|(name, _)| *name == format!("{unit}.c")).unwrap();
            (format!("{unit}.o"), text.into_bytes())
        })
        .into();
    let whole = proof(&FakeToolchain, &made, None);
    assert!(whole.whole && whole.compiler == MabProof::BUILT_IN);
    assert_eq!((whole.files, whole.compiles), (3, 2));
    assert_eq!(
        whole.bytes,
        FakeToolchain.files().iter().map(|(_, text)| text.len() as u64).sum::<u64>()
    );
    assert!(!proof(&FakeToolchain, &made[1..], None).whole);
    let mut shortened = made.clone();
    shortened[0].1.truncate(100);
    assert!(!proof(&FakeToolchain, &shortened, None).whole);
    let other = proof(&FakeToolchain, &shortened, Some("tcc"));
    assert!(other.whole, "another compiler makes other objects");
    assert_eq!(other.compiler, "tcc");
}

#[test]
fn a_run_says_what_its_processes_did_end_in() {
    assert_eq!((ending(0), ending(129)), ("ioscape".to_owned(), MabProof::small_program(129)));
    let program = Program { path: "/".into(), first: Vec::new(), toolchain: &FakeToolchain };
    let steps = Steps::of(&program, steps::step).unwrap();
    let bytes = today::small_program().filter(|_| Executable::smallest().is_ok());
    assert_eq!(steps.smallest_bytes(), bytes.map(|bytes| bytes.len() as u64));
}

#[test]
fn every_eighth_process_tells_how_fast_its_processor_is() {
    let program =
        Program { path: "/bin/true".into(), first: Vec::new(), toolchain: &FakeToolchain };
    let steps = Steps::of(&program, steps::step).unwrap();
    let directory = Path::new("/");
    let setting = Setting { program: &program, directory, compiler: None, cold: false };
    let under_way = RunUnderWay { setting: &setting, files: &[], steps };
    let tried = |count: usize| {
        let work = || (0..count).try_for_each(|_| under_way.steps.spawn("", &["mkdir"]));
        under_way.phase(work).unwrap().paces.len()
    };
    assert_eq!([tried(9), tried(7), tried(1)], [2, 0, 1], "of each phase its own");
}

/// Returns a run with these phase times, and times of the fixed computation in some processes of
/// each.
fn of_phases(phases: [(u64, &[u64]); 5]) -> Run {
    let phases = phases.map(|(ns, paces)| Phase { ns, paces: paces.to_vec() });
    Run { phases, proof: MabProof::default() }
}

#[test]
fn each_time_of_a_run_is_judged_by_the_processes_of_its_phases() {
    let slow = |phases: [(u64, &[u64]); 5]| {
        let values = of_phases(phases).values(false);
        let flaws = values.iter().map(|(value, pieces)| whole(*value, pieces, 10).flaw.is_some());
        flaws.collect::<Vec<_>>()
    };
    let fast: (u64, &[u64]) = (100, &[10; 9]);
    let before: (u64, &[u64]) = (100, &[16]);
    let compiling = slow([fast, fast, fast, fast, (200, &[16])]);
    assert_eq!(compiling, [false, false, false, false, false, true, true]);
    let beginning = slow([(4, &[16]), fast, fast, fast, (200, &[10])]);
    assert_eq!(beginning, [true, false, false, false, false, false, false]);
    assert_eq!(slow([fast, fast, fast, fast, (200, &[])]), [false; 7]);
    let other_compiler = slow([before, before, before, before, (200, &[])]);
    assert_eq!(other_compiler, [true; 7], "by what was tried before it");
}

#[test]
fn every_case_has_its_value() {
    let run = of_phases([(1, &[]), (2, &[]), (3, &[]), (4, &[]), (5, &[])]);
    let values = |cold| run.values(cold).into_iter().map(|(value, _)| value).collect::<Vec<_>>();
    assert_eq!(values(false), [1.0, 2.0, 3.0, 4.0, 10.0, 5.0, 15.0]);
    assert_eq!(values(true), [2.0, 4.0, 10.0, 5.0, 15.0]);
    let (cold, warm): (Vec<Case>, Vec<Case>) =
        cases((0, Locality::Local)).into_iter().partition(is_cold);
    assert_eq!((warm.len(), cold.len()), (run.values(false).len(), run.values(true).len()));
    assert_eq!((warm[6].case.as_str(), cold[4].case.as_str()), ("total", "total, cold"));
}

#[test]
fn a_run_begins_in_its_directory_though_the_way_there_is_a_descriptor() {
    let home = tempfile::tempdir().unwrap();
    let open = fs::File::open(home.path()).unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&open);
    let directory = Path::new("/proc/self/fd").join(number.to_string());
    // A shell in place of this program: its step creates an empty tree and reports no times.
    let first = ["-c", "mkdir testfs1 && ls src > there"].map(str::to_owned).into();
    let program = Program { path: "/bin/sh".into(), first, toolchain: &FakeToolchain };
    let setting = Setting { program: &program, directory: &directory, compiler: None, cold: false };
    let flag = std::sync::atomic::AtomicBool::new(false);
    let ran = run(&setting, Stop { interrupt: &flag, until: None }).unwrap();
    assert_eq!((ran.phases, ran.proof.whole), (<[Phase; 5]>::default(), false));
    let there = fs::read_to_string(home.path().join("there")).unwrap();
    assert!(there.contains("makefile") && there.contains("include"), "{there}");
}
