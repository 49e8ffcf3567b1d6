//! What the machine allows, and how the output looks.

use super::common::{Ran, ioscape, path, run, skipped, user_or_skip};
use assert_cmd::cargo::cargo_bin;
use std::process::Command;

#[test]
fn a_directory_that_can_be_measured_is_left_as_it_was() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let told = run(&["doctor", path(folder.path()), "--json"]).ended(0);
    let found: serde_json::Value = serde_json::from_str(&told.out).expect("JSON");
    let checks = found["doctor"]["checks"].as_array().expect("checks");
    assert!(checks.len() > 10, "{}", told.out);
    for check in checks {
        let works = check["state"] == "works";
        assert_eq!(works, check["advice"].is_null(), "{check}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    let text = run(&["doctor", path(folder.path())]).ended(0).out;
    assert!(text.contains("io_uring") && text.contains("can measure in this directory"), "{text}");
}

#[test]
fn a_directory_that_cannot_be_measured_fails() {
    run(&["doctor", "/proc"]).ended(1).says(&["nothing can be measured in /proc"]);
    run(&["doctor", "/nowhere"]).ended(1).says(&["/nowhere"]);
    let folder = tempfile::tempdir().expect("a temporary directory");
    let Some(user) = user_or_skip(65534, std::path::Path::new("/")) else { return };
    let told = user.run(&["doctor", path(folder.path())]).ended(1);
    assert!(told.out.contains("name a directory that you may write to"), "{}", told.out);
}

#[test]
fn colours_and_width_are_as_asked() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let target = path(folder.path());
    assert!(!run(&["doctor", target]).ended(0).out.contains('\u{1b}'));
    assert!(run(&["doctor", target, "--color", "always"]).ended(0).out.contains("\u{1b}[1m"));
    let narrow = run(&["--width", "60", "doctor", target]).ended(0).out;
    let longest = narrow.lines().map(|line| line.chars().count()).max();
    assert!(longest <= Some(60), "{longest:?}: {narrow}");
}

#[test]
fn a_terminal_has_colours_unless_no_color_is_set() {
    if Command::new("script").arg("--version").output().is_err() {
        return skipped("there is no script(1) to be a terminal");
    }
    let folder = tempfile::tempdir().expect("a temporary directory");
    let told = |no_color: &str| {
        let line = format!("{} doctor {}", cargo_bin("ioscape").display(), path(folder.path()));
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).env("NO_COLOR", no_color).env("TERM", "xterm");
        Ran::of(command).ended(0).out
    };
    assert!(told("").contains("\u{1b}[1m"));
    assert!(!told("1").contains("\u{1b}["), "{}", told("1"));
}

#[test]
fn an_anonymous_result_has_no_name_of_the_machine() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let saved = folder.path().join("result.json");
    let run_of = |more: &[&str]| {
        let target = folder.path().join("data");
        std::fs::create_dir_all(&target).expect("a folder");
        let job = ["run", path(&target), "--unique-bytes", "1M", "--seconds", "100ms", "--json"];
        let told = Ran::of(ioscape(&[&job[..], &["-o", path(&saved)], more].concat())).ended(0);
        std::fs::remove_file(&saved).expect("the result was saved");
        serde_json::from_str::<serde_json::Value>(&told.out).expect("JSON")
    };
    assert_eq!(run_of(&[])["host"], name.as_str());
    let anonymous = run_of(&["--anonymous"]);
    // A short name, or a mere word such as `ubuntu`, may be part of other texts.
    let is_rare = name.len() >= 6 && !name.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_name = |value: &serde_json::Value| match value.as_str() {
        Some(text) if is_rare => text.contains(&name),
        text => text == Some(&name),
    };
    assert!(!strings(&anonymous).into_iter().any(is_name), "{anonymous}");
}

/// All values of a document, however deep.
fn strings(value: &serde_json::Value) -> Vec<&serde_json::Value> {
    match value {
        serde_json::Value::Array(items) => items.iter().flat_map(strings).collect(),
        serde_json::Value::Object(keys) => keys.values().flat_map(strings).collect(),
        _ => vec![value],
    }
}

#[test]
fn quiet_leaves_results_and_verbose_says_each_step() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let job = ["run", path(folder.path()), "--unique-bytes", "1M", "--seconds", "100ms"];
    let quiet = run(&[&job[..], &["--quiet"]].concat()).ended(0);
    assert_eq!(quiet.err, "");
    assert!(quiet.out.contains("IOPS"), "{}", quiet.out);
    let verbose = run(&[&job[..], &["--verbose"]].concat()).ended(0);
    assert!(verbose.err.contains("set 1 MiB"), "{}", verbose.err);
    run(&["-q", "-v", "doctor"]).ended(2).says(&["--quiet", "--verbose"]);
}
