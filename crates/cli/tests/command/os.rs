//! The micro-benchmarks by the command: whole runs, misuse, and the steps that only the program itself asks for.

use assert_cmd::Command;
use predicates::prelude::*;
use serde_json::Value;

fn ioscape(words: &[&str]) -> Command {
    let mut command = Command::cargo_bin("ioscape").expect("the program is built");
    command.args(words);
    command
}

fn document(words: &[&str]) -> Value {
    let output = ioscape(words).assert().success();
    serde_json::from_slice(&output.get_output().stdout).expect("JSON")
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
    let all = os["benchmarks"].as_array().unwrap();
    let value = |case: &str| {
        let one = all.iter().find(|one| one["case"] == case).unwrap();
        assert_eq!(one["processes"].as_array().unwrap().len(), 6, "{one}");
        one["value"].as_f64().unwrap()
    };
    let cold = all.iter().find(|one| one["case"] == "total, cold").unwrap();
    match cold["not_measured"].as_str() {
        Some(why) => assert!(why.contains("file cache"), "{why}"),
        None => assert!(value("total, cold") > value("copy, cold")),
    }
    assert!(value("copy") > value("copy files") && value("total") > value("compile"));
    let total = all.iter().find(|one| one["case"] == "total").unwrap();
    let speed = 1416e9 / value("total") / (100.0 / 0.9);
    assert!((total["mips_relative"].as_f64().unwrap() / speed - 1.0).abs() < 1e-9);
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
        .stdout(predicate::str::contains("system call").and(predicate::str::contains("MIPS")));
    ioscape(&["report", &result]).assert().success().stdout(predicate::str::contains("getppid"));
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.contains("Table 2.") && text.contains("this machine"));
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
    ] {
        ioscape(words).assert().code(2).stderr(predicate::str::contains(sentence));
    }
    ioscape(&["os-step", "cp", "/nonexistent/a", "/nonexistent/b"]).assert().code(1);
}
