//! What the machine allows, and how output looks.

use super::common::{path, run, user_or_skip};

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
