//! With a wall clock that is set back all the time, or stands still: no duration is taken from it,
//! and names stay unique.

use crate::common::client::Client;
use crate::common::{Ran, path, read, run, shim};
use ioscape_schema::{Document, Outcome, Workload};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

/// A shim between the command and the C library. Only the wall clock changes: it goes back by an
/// hour at each reading, or always shows `STANDS_STILL_AT`, or is an hour back as soon as the file
/// `BACK_IF` exists. No other program's clock is touched.
const SHIM: &str = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdlib.h>\n#include <time.h>\n#include <unistd.h>\n\
    int clock_gettime(clockid_t id, struct timespec *t) {\n\
      static int (*real)(clockid_t, struct timespec *);\n  static long back;\n\
      if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, \"clock_gettime\");\n\
      int r = real(id, t);\n  const char *at = getenv(\"STANDS_STILL_AT\"), *file = getenv(\"BACK_IF\");\n\
      if (id == CLOCK_REALTIME && file) t->tv_sec -= access(file, F_OK) ? 0 : 3600;\n\
      else if (id == CLOCK_REALTIME && at) { t->tv_sec = atol(at); t->tv_nsec = 0; }\n\
      else if (id == CLOCK_REALTIME) t->tv_sec -= 3600 * ++back;\n\
      return r;\n}\n";

/// The shim, if it can be built here.
fn shim(folder: &Path) -> Option<PathBuf> {
    shim::made(folder, SHIM)
}

fn with(shim: &Path, arguments: &[&str]) -> Command {
    shim::before(shim, arguments)
}

fn document(json: &str) -> Document {
    serde_json::from_str(json).expect("a result")
}

/// The result of a run under a clock that goes back, and how long it really took.
fn while_it_goes_back(shim: &Path, arguments: &[&str]) -> (Document, f64) {
    let begun = Instant::now();
    let ran = Ran::of(with(shim, arguments)).ended(0);
    let took_s = begun.elapsed().as_secs_f64();
    let told = document(&ran.out);
    let place = tempfile::tempdir().unwrap();
    let shortest = ["--unique-bytes", "64k", "--seconds", "10ms", "--json"];
    let now = [&["run", path(place.path())], &shortest[..]].concat();
    let now = document(&run(&now).ended(0).out);
    assert!(told.started_at < now.started_at, "an hour earlier: {}", told.started_at);
    assert_ne!(told.started_at[..13], now.started_at[..13], "the clock was not set back");
    (told, took_s)
}

#[test]
fn a_wall_clock_that_is_set_back_changes_no_measurement() {
    let folder = tempfile::tempdir().unwrap();
    let Some(shim) = shim(folder.path()) else { return };
    let (place, file) = (path(folder.path()), folder.path().join("file"));
    let job = ["run", place, "--unique-bytes", "1M", "--seconds", "500ms", "--json"];
    let (ran, outer_s) = while_it_goes_back(&shim, &job);
    let measured = &ran.measurements().unwrap()[0];
    assert!(measured.elapsed_s > 0.2 && measured.elapsed_s < outer_s, "{}", measured.elapsed_s);
    assert!(measured.cost_s >= measured.elapsed_s && measured.cost_s < outer_s);
    let longest_s = measured.response_time_ns.max as f64 / 1e9;
    assert!(longest_s <= outer_s, "{longest_s}");
    let sub = "iosize=4k,iocount=1000";
    let vxbench = ["vxbench", "-w", "write", "-i", sub, path(&file), "--json"];
    let (ran, outer_s) = while_it_goes_back(&shim, &vxbench);
    let Some(Outcome::Vxbench(vxbench)) = ran.outcome else { panic!("no figures") };
    let total = &vxbench.runs[0].total;
    assert!(total.elapsed_s > 0.0 && total.elapsed_s < outer_s, "{}", total.elapsed_s);
    let evaluate = ["evaluate", place, "--max-unique-bytes", "1M", "--budget", "30s", "--json"];
    let (ran, outer_s) = while_it_goes_back(&shim, &evaluate);
    let evaluation = ran.evaluation().unwrap();
    assert!(evaluation.elapsed_s > 0.0 && evaluation.elapsed_s < outer_s);
    assert!(evaluation.points_measured > 0);
}

#[test]
fn a_wall_clock_that_stands_still_makes_no_two_results_one() {
    let folder = tempfile::tempdir().unwrap();
    let Some(shim) = shim(folder.path()) else { return };
    let results = folder.path().join("results");
    fs::create_dir(&results).unwrap();
    let all = || -> BTreeMap<PathBuf, String> {
        let files = fs::read_dir(&results).unwrap().flatten().map(|entry| entry.path());
        files.map(|file| (file.clone(), read(&file))).collect()
    };
    for number in 1..=3 {
        let before = all();
        let mut command = with(&shim, &["evaluate", "sim:hp-730", "--points", "60"]);
        command.current_dir(&results).env("STANDS_STILL_AT", "1000000000");
        Ran::of(command).ended(0);
        let after = all();
        assert_eq!(after.len(), 2 * number, "{:?}", after.keys());
        assert!(
            before.iter().all(|(file, text)| after.get(file) == Some(text)),
            "one was replaced"
        );
    }
    let at_once = all().values().filter(|text| text.contains("2001-09-09T01:46:40Z")).count();
    assert!(at_once >= 3, "the clock did not stand still");
}

#[test]
fn a_wall_clock_that_is_set_back_delays_no_agreed_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let Some(shim) = shim(folder.path()) else { return };
    let (place, back) = (folder.path().join("place"), folder.path().join("back"));
    fs::create_dir(&place).unwrap();
    let mut command = with(&shim, &["client", path(&place)]);
    command.env("BACK_IF", &back);
    let workload = Workload { unique_bytes: 1 << 20, read_frac: 1.0, ..Workload::default() };
    let mut client = Client::ready(command, &workload, 0.5);
    let begins = SystemTime::now() + Duration::from_secs(2);
    client.begin(begins);
    std::thread::sleep(Duration::from_millis(700));
    fs::write(&back, "").unwrap();
    let measured = client.measurement();
    let late = SystemTime::now().duration_since(begins).expect("not before it was agreed");
    assert!(late < Duration::from_secs(600), "it waited for an hour: {measured:?}");
}
