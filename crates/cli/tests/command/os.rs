//! The micro-benchmarks through the command: whole runs, misuse, and the steps that only the
//! program itself requests.

use super::common::program;
use assert_cmd::Command;
use predicates::prelude::*;
use serde_json::Value;

fn ioscape(words: &[&str]) -> Command {
    let mut command = program();
    command.args(words);
    command
}

fn document(words: &[&str]) -> Value {
    let output = ioscape(words).assert().success();
    serde_json::from_slice(&output.get_output().stdout).expect("JSON")
}

/// What a result must name as the program that ended the steps: the smallest one, if it exists and
/// files in memory can be executed.
fn end_of_steps(os: &Value) -> String {
    let smallest = os["system"]["settings"]["program of a process: smallest"].as_str();
    let bytes = smallest.and_then(|told| told.split(' ').next());
    let level = std::fs::read_to_string("/proc/sys/vm/memfd_noexec");
    let is_forbidden = level.is_ok_and(|level| level.trim() == "2");
    match bytes {
        Some(bytes) if !is_forbidden => format!("a program of {bytes} bytes"),
        _ => "ioscape".to_owned(),
    }
}

#[test]
fn the_andrew_benchmark_does_all_of_its_work() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().to_str().unwrap();
    let document =
        document(&["os", "--quick", "--only", "mab", "--mips", "100", "--json", "--dir", place]);
    let os = &document["os"];
    assert_eq!(os["mab"]["whole"], true, "{}", os["mab"]);
    assert_eq!((os["mab"]["files"].as_u64(), os["mab"]["compiles"].as_u64()), (Some(70), Some(17)));
    assert_eq!(os["mab"]["processes_end_in"], end_of_steps(os));
    let all = os["benchmarks"].as_array().unwrap();
    // Beside other programs there is no value, but the times of the runs are reported all the same.
    let times = |one: &Value, key: &str| -> Vec<f64> {
        one[key].as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
    };
    let value = |case: &str| {
        let one = all.iter().find(|one| one["case"] == case).unwrap();
        let mut runs = [times(one, "processes"), times(one, "set_aside")].concat();
        // On a busy enough machine, time ends before six runs.
        assert!((1..=6).contains(&runs.len()), "{one}");
        runs.sort_by(f64::total_cmp);
        one["value"].as_f64().unwrap_or_else(|| {
            assert!(
                one["not_measured"].as_str().is_some_and(|why| why.contains("processes")),
                "{one}"
            );
            runs[runs.len() / 2]
        })
    };
    let cold = all.iter().find(|one| one["case"] == "total, cold").unwrap();
    match cold["not_measured"].as_str().filter(|why| why.contains("file cache")) {
        Some(_) => assert!(times(cold, "set_aside").is_empty(), "{cold}"),
        None => assert!(value("total, cold") > value("copy, cold")),
    }
    assert!(value("copy") > value("copy files") && value("total") > value("compile"));
    let total = all.iter().find(|one| one["case"] == "total").unwrap();
    let speed = 1416e9 / value("total") / (100.0 / 0.9);
    let told = total["mips_relative"].as_f64();
    assert_eq!(told.is_some(), total["value"].is_f64(), "no speed without a value");
    assert!(told.is_none_or(|told| (told / speed - 1.0).abs() < 1e-9));
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "nothing stays behind");
}

#[test]
fn results_are_written_and_read_again() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    let (result, page) = (path("x.ioscape.json"), path("x.html"));
    let place = path("");
    ioscape(&["os", "--quick", "--only", "getpid,dhrystone", "--dir", &place])
        .args(["-o", &result, "--html", &page])
        .assert()
        .success()
        .stdout(predicate::str::contains("getpid").and(predicate::str::contains("dhrystone")));
    ioscape(&["report", &result]).assert().success().stdout(predicate::str::contains("getpid"));
    let document: Value = serde_json::from_str(&std::fs::read_to_string(&result).unwrap()).unwrap();
    let all = document["os"]["benchmarks"].as_array().unwrap();
    let measured = |case: &str| all.iter().any(|one| one["case"] == case && one["value"].is_f64());
    let text = std::fs::read_to_string(&page).unwrap();
    assert_eq!(text.contains("Table 2."), measured("system call"), "a table needs a value");
    assert_eq!(text.contains("Table 1."), measured("2.1"));
    assert_eq!(text.contains("this machine"), measured("system call") || measured("2.1"));
}

#[test]
fn a_killed_run_leaves_what_it_had_measured() {
    let home = tempfile::tempdir().unwrap();
    let result = home.path().join("x.ioscape.json");
    let place = home.path().to_str().unwrap();
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("ioscape"))
        .args(["os", "--quick", "--dir", place, "-o", result.to_str().unwrap()])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let saved = || std::fs::metadata(&result).is_ok_and(|file| file.len() > 0);
    while !saved() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let document: Value = serde_json::from_str(&std::fs::read_to_string(&result).unwrap()).unwrap();
    assert_eq!(document["interrupted"], true);
    assert!(document["environment"]["kernel"].is_string(), "{}", document["environment"]);
    let all = document["os"]["benchmarks"].as_array().unwrap();
    let begun = |one: &Value| one["processes"].as_array().is_some_and(|all| !all.is_empty());
    let aside = |one: &Value| one["set_aside"].as_array().is_some_and(|all| !all.is_empty());
    assert!(all.iter().any(|one| begun(one) || aside(one)), "something had been measured");
    ioscape(&["report", result.to_str().unwrap()]).assert().success();
    let left = || std::fs::read_dir(home.path()).unwrap().count() - 1;
    assert_eq!(left(), 1, "a killed process cannot clean up");
    let begun = std::time::Instant::now();
    let mut told = Vec::new();
    // A step that was running ends by itself, and holds the directory until then.
    while left() > 0 {
        assert!(begun.elapsed().as_secs() < 300, "it stays");
        let next = ioscape(&["os", "--quick", "--only", "getpid", "--dir", place]).output();
        told.extend(next.unwrap().stderr);
    }
    assert!(String::from_utf8_lossy(&told).contains("left behind"));
}

#[test]
fn misuse_is_told_in_a_sentence() {
    for (words, sentence) in [
        (&["os", "--only", "getpit"][..], "\"getpit\" is no benchmark: choose from"),
        (&["os", "--dir", "/proc"], "/proc"),
        (&["os", "--dir", "/nonexistent"], "name an existing directory"),
        (&["os", "--dir", "/tmp", "--dir", "/tmp"], "network file system"),
        (&["os", "--mips", "0"], "a rating is a number above 0"),
        (&["os-step", "nonsense"], "for the program's own use"),
        (&["os-step"], "for the program's own use"),
        (&["os-step", "cp", "/nonexistent/a", "/nonexistent/b"], "for the program's own use"),
    ] {
        ioscape(words).assert().code(2).stderr(predicate::str::contains(sentence));
    }
}

/// The processors that this program may use; a CPU quota does not reduce their number.
fn processors() -> Vec<usize> {
    let mask = rustix::thread::sched_getaffinity(None).expect("a mask");
    (0..rustix::thread::CpuSet::MAX_CPU).filter(|&number| mask.is_set(number)).collect()
}

/// Programs that compute on every processor, stopped when this value is dropped.
struct BusyLoops(Vec<std::process::Child>);

impl BusyLoops {
    fn start() -> Self {
        let one = |_| {
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", "while :; do :; done"]).spawn().unwrap()
        };
        Self(processors().into_iter().map(one).collect())
    }
}

impl Drop for BusyLoops {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // A program that has already ended is no problem.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn a_starved_run_has_reasons_and_no_numbers() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().to_str().unwrap();
    let loops = BusyLoops::start();
    let program = assert_cmd::cargo::cargo_bin("ioscape");
    let mut command = std::process::Command::new("nice");
    command.args(["-n", "19"]).arg(program).args(["os", "--quick", "--json", "--dir", place]);
    let output = command.args(["--only", "getpid,cswitch"]).output().unwrap();
    drop(loops);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = document["os"]["benchmarks"].as_array().unwrap();
    for one in all {
        assert!(one["value"].is_null(), "a core that never was alone has no speed: {one}");
        let why = one["not_measured"].as_str().unwrap();
        let known =
            ["other programs", "one processor", "no time left", "ran long enough", "a quota of"];
        assert!(known.iter().any(|words| why.contains(words)), "{why}");
    }
    assert!(all.len() == 6 && document["os"]["geometric_mean_mips_relative"].is_null());
}

#[test]
fn one_processor_has_no_second_one() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().to_str().unwrap();
    let program = assert_cmd::cargo::cargo_bin("ioscape");
    let first = processors()[0];
    let mut command = std::process::Command::new("taskset");
    command.args(["-c", &first.to_string()]).arg(program);
    command.args(["os", "--quick", "--json", "--dir", place]);
    let Ok(output) = command.args(["--only", "cswitch"]).output() else {
        eprintln!("SKIPPED: taskset is not installed");
        return;
    };
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    for one in document["os"]["benchmarks"].as_array().unwrap() {
        let case = one["case"].as_str().unwrap();
        if matches!(case, "two CPUs" | "unpinned") {
            assert!(one["not_measured"].as_str().unwrap().contains("one processor only"), "{one}");
        }
    }
    assert_eq!(document["os"]["system"]["pinned_cpu"], first);
    assert!(document["os"]["system"]["second_cpu"].is_null());
}
