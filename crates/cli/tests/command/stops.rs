//! Processes stopped by a signal or frozen by their control group: the result says so, and no
//! message says that they hang.

use crate::common::client::Client;
use crate::common::started::{Started, signal};
use crate::common::{Ran, in_memory, ioscape, path, scratch_of, skipped};
use ioscape_schema::{Document, Measurement, Warning, WarningKind, Workload};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

/// How long a stop lasts.
const STOP: Duration = Duration::from_secs(3);

/// A way of stopping processes.
enum Halt {
    Signal,
    Freezer(Freezer),
}

impl Halt {
    /// Stops `processes`, waits, and lets them continue.
    fn hold(&self, processes: &[u32]) {
        self.begin(processes);
        std::thread::sleep(STOP);
        self.end(processes);
    }

    fn begin(&self, processes: &[u32]) {
        match self {
            Self::Signal => processes.iter().for_each(|process| signal(*process, "STOP")),
            Self::Freezer(freezer) => freezer.freeze(processes),
        }
    }

    fn end(&self, processes: &[u32]) {
        match self {
            Self::Signal => processes.iter().for_each(|process| signal(*process, "CONT")),
            Self::Freezer(freezer) => freezer.thaw(),
        }
    }

    /// All ways available here.
    fn all() -> Vec<Self> {
        let freezers = ["cgroup2", "cgroup"].into_iter().filter_map(Freezer::make);
        [Self::Signal].into_iter().chain(freezers.map(Self::Freezer)).collect()
    }
}

/// A control group of version 2 or 1 that can be frozen.
struct Freezer {
    group: PathBuf,
    switch: &'static str,
    words: [&'static str; 2],
}

impl Freezer {
    /// Creates a group in the hierarchy of this kind, if there is one and it may be used.
    fn make(kind: &str) -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let (switch, words) = match kind {
            "cgroup2" => ("cgroup.freeze", ["1", "0"]),
            _ => ("freezer.state", ["FROZEN", "THAWED"]),
        };
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let can_freeze = |m: &Vec<&str>| {
            m[2] == kind && (kind == "cgroup2" || m[3].split(',').any(|option| option == "freezer"))
        };
        let root = fields.into_iter().find(can_freeze).map(|mount| PathBuf::from(mount[1]));
        let name =
            format!("ioscape-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let group = root.map(|root| root.join(name)).filter(|group| fs::create_dir(group).is_ok());
        let made = group.map(|group| Self { group, switch, words });
        let made = made.filter(|made| made.group.join(switch).exists());
        if made.is_none() {
            skipped(&format!("no {kind} hierarchy in which a group can be frozen"));
        }
        made
    }

    fn freeze(&self, processes: &[u32]) {
        for process in processes {
            fs::write(self.group.join("cgroup.procs"), process.to_string()).expect("it joins");
        }
        self.set(self.words[0]);
    }

    fn thaw(&self) {
        self.set(self.words[1]);
    }

    fn set(&self, word: &str) {
        fs::write(self.group.join(self.switch), word).expect("it is switched");
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        // Thawed, killed processes can end.
        let _ = fs::write(self.group.join(self.switch), self.words[1]);
        for _ in 0..100 {
            if fs::remove_dir(&self.group).is_ok() || !self.group.exists() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Runs a workload whose measured part takes 6 s, stops the processes `stopped` for 3 s by `halt`,
/// and returns its measurement.
fn with_a_stop(halt: &Halt, stopped: impl Fn(&Started) -> Vec<u32>) -> Measurement {
    let folder = tempfile::tempdir().unwrap();
    let workload = Workload {
        unique_bytes: 1 << 20,
        read_frac: 1.0,
        think_time_ns: 5_000_000,
        ..Workload::default()
    };
    let mut client = Client::ready(ioscape(&["client", path(folder.path())]), &workload, 6.0);
    client.begin(SystemTime::now());
    std::thread::sleep(Duration::from_millis(1500));
    halt.hold(&stopped(&client.started));
    client.measurement()
}

fn document(ran: &Ran) -> Document {
    serde_json::from_str(&ran.out).unwrap()
}

fn told(warnings: &[Warning]) -> bool {
    warnings.iter().any(|one| one.kind == WarningKind::Stopped)
}

fn expect_stopped(measured: &Measurement) {
    assert!(told(&measured.warnings) && measured.disturbed, "{:?}", measured.warnings);
    let [_, high] = measured.throughput_ci95;
    assert!(high > 1.3 * measured.throughput_bytes_per_s, "{:?}", measured.throughput_ci95);
}

#[test]
fn a_worker_that_is_stopped_for_a_while_is_told() {
    let worker = |started: &Started| started.worker().into_iter().collect();
    expect_stopped(&with_a_stop(&Halt::Signal, worker));
}

#[test]
fn a_run_that_is_stopped_as_a_whole_for_a_while_is_told() {
    expect_stopped(&with_a_stop(&Halt::Signal, Started::all));
}

#[test]
fn a_worker_whose_group_is_frozen_for_a_while_is_told() {
    for halt in Halt::all().iter().skip(1) {
        let worker = |started: &Started| started.worker().into_iter().collect();
        expect_stopped(&with_a_stop(halt, worker));
    }
}

#[test]
fn a_run_whose_group_is_frozen_as_a_whole_for_a_while_is_told() {
    for halt in Halt::all().iter().skip(1) {
        expect_stopped(&with_a_stop(halt, Started::all));
    }
}

#[test]
fn workers_that_stay_stopped_or_frozen_are_not_said_to_hang() {
    for halt in Halt::all() {
        let folder = tempfile::tempdir().unwrap();
        let started = Started::endless(folder.path(), "read_frac = 1\nseconds = 5");
        halt.begin(&[started.worker().expect("a worker")]);
        let ran = started.end_keeping().ended(1).says(&["worker 0", "stopped", "frozen"]);
        assert!(!ran.err.contains("hangs") && !ran.err.contains("the kernel"), "{}", ran.err);
        assert_eq!(scratch_of(folder.path()), Vec::<PathBuf>::new());
    }
}

/// Runs `vxbench` with more reads, all from the file cache, than half a second takes.
fn vxbench(folder: &Path) -> Started {
    let file = folder.join("file");
    fs::write(&file, vec![7; 1 << 20]).unwrap();
    let sub = "iosize=4k,iocount=256,nrep=12000";
    let started = Started::of(&["vxbench", "-w", "rand_read", "-i", sub, "--json", path(&file)]);
    let started = started.until(|run| run.worker().is_some());
    std::thread::sleep(Duration::from_millis(300));
    started
}

#[test]
fn vxbench_tells_that_it_was_stopped_or_frozen() {
    for halt in Halt::all() {
        let folder = tempfile::tempdir().unwrap();
        let started = vxbench(folder.path());
        halt.hold(&[started.worker().expect("it reads")]);
        let ran = started.end().ended(0);
        assert!(told(&document(&ran).warnings), "{:?}", document(&ran).warnings);
        let started = vxbench(folder.path());
        halt.hold(&started.all());
        let ran = started.end().ended(0);
        assert!(told(&document(&ran).warnings), "{:?}", document(&ran).warnings);
    }
}

#[test]
fn vxbench_that_stays_stopped_is_given_up_and_not_said_to_hang() {
    let folder = tempfile::tempdir().unwrap();
    let started = vxbench(folder.path());
    signal(started.worker().expect("it reads"), "STOP");
    let ran = started.end().ended(1).says(&["worker 0", "stopped"]);
    assert!(!ran.err.contains("hangs"), "{}", ran.err);
}

#[test]
fn a_campaign_tells_in_which_cell_it_was_stopped_or_frozen() {
    let text = "title = \"long\"\nrounds = 1\n[base]\nworkload = \"rand_read\"\nfile_size = \"1M\"\niosize = \"4k\"\n\
                ios = \"3000000\"\n[[vary]]\nname = \"files\"\nvalues = [1]\n[[method]]\nname = \"buffered\"\n";
    for halt in Halt::all() {
        let folder = tempfile::tempdir().unwrap();
        let campaign = folder.path().join("long.toml");
        fs::write(&campaign, text).unwrap();
        let words = ["campaign", "run", path(&campaign), path(folder.path()), "--json"];
        let is_begun =
            |run: &Started| !scratch_of(folder.path()).is_empty() && run.worker().is_some();
        let started = Started::of(&words).until(is_begun);
        std::thread::sleep(Duration::from_millis(500));
        halt.hold(&started.all());
        let warnings = document(&started.end().ended(0)).warnings;
        let stopped = warnings.iter().find(|one| one.kind == WarningKind::Stopped);
        assert!(stopped.is_some_and(|one| one.place == "row 1 column 1"), "{warnings:?}");
    }
}

#[test]
fn a_replay_tells_that_it_was_stopped_or_frozen() {
    for halt in Halt::all() {
        // The stop, a second later, must hit the replay and not the layout before it.
        let folder = in_memory();
        let trace = folder.path().join("a.spc");
        let rows: String =
            (0..60).map(|n| format!("0,{},4096,r,{}.{}\n", n * 8, n / 10, n % 10)).collect();
        fs::write(&trace, rows).unwrap();
        let words = ["trace", "replay", path(&trace), path(folder.path()), "--buffered", "--json"];
        let started = Started::of(&words).until(|_| !scratch_of(folder.path()).is_empty());
        std::thread::sleep(Duration::from_millis(1000));
        halt.hold(&[started.kept().expect("it works")]);
        let ran = started.end().ended(0);
        assert!(told(&document(&ran).warnings), "{:?}", document(&ran).warnings);
    }
}

#[test]
fn an_interruption_ends_a_run_whose_processes_are_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let started = Started::endless(folder.path(), "");
    let kept = started.kept().expect("it works");
    signal(started.worker().expect("a worker"), "STOP");
    signal(kept, "STOP");
    signal(started.0.id(), "INT");
    let ran = started.end_keeping().ended(130);
    assert!(!ran.err.contains("the kernel"), "{}", ran.err);
    assert_eq!(scratch_of(folder.path()), Vec::<PathBuf>::new());
}

/// A worker that sleeps for 25 s between two requests sleeps in the kernel and is never woken:
/// neither the warm-up nor the end waits for it.
#[test]
fn a_worker_that_sleeps_for_long_is_not_said_to_hang() {
    let folder = tempfile::tempdir().unwrap();
    for engine in ["psync", "io_uring"] {
        let words = ["run", path(folder.path()), "--unique-bytes", "1M", "--think-time", "25s"];
        let how = ["--seconds", "2s", "--processes", "2", "--engine", engine, "--json"];
        let ran = Started::of(&[&words[..], &how].concat()).end().ended(0);
        let document = document(&ran);
        let measured = &document.measurements().unwrap()[0];
        assert!(measured.ios >= 2 && !told(&measured.warnings), "{:?}", measured.warnings);
    }
}

/// Once, `-q` hid that memory had run out.
#[test]
fn a_quiet_command_says_why_its_process_was_killed() {
    let folder = in_memory();
    let words = ["run", path(folder.path()), "--unique-bytes", "1M", "--seconds", "1000s", "-q"];
    let started = Started::of(&words).until(|run| run.worker().is_some());
    signal(started.kept().expect("it works"), "KILL");
    started.end().ended(137).says(&["ioscape: the working process", "killed by signal 9"]);
}
