//! An evaluation with several accesses: each is found, shown and used for predictions, and all of
//! them continue after an interruption.

use super::common::refused;
use super::common::started::signal;
use super::interrupt::{read, stderr};
use super::models::{Folder, document, small, stdout, twice_as_fast};
use assert_cmd::cargo::cargo_bin;
use ioscape_schema::{Access, Document, Evaluation, WarningKind};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn evaluate(folder: &Path, result: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin("ioscape"));
    command.arg("evaluate").arg(folder).args(["--max-unique-bytes", "32M", "-o"]).arg(result);
    command.args(more).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn each_access_of_a_simulated_system_answers_for_itself() {
    let folder = Folder::new();
    let (result, page) = (folder.path("a.ioscape.json"), folder.path("a.html"));
    let system =
        ["evaluate", "sim:sparcstation-1", "--budget", "2m", "--access", "buffered,direct"];
    let text = stdout(&[&system[..], &["--json", "-o", &result, "--html", &page]].concat());
    let found = document(&text);
    let accesses: Vec<Access> =
        found.evaluation().expect("one").each_access().map(Evaluation::access).collect();
    assert_eq!(accesses, [Access::Buffered, Access::Direct]);
    let page = std::fs::read_to_string(&page).expect("the page");
    assert!(page.contains("<h2>Accesses</h2>") && page.contains("of access buffered"));
    let csv = String::from_utf8(stdout(&["report", &result, "--csv"])).expect("text");
    assert!(csv.contains(",buffered,") && csv.contains(",direct,"));

    let rate = |ways: &[&str]| {
        let asked = ["predict", &result, "--unique-bytes", "4M", "--json"];
        let text = stdout(&[&asked[..], ways].concat());
        let one = document(&text).predictions().expect("predictions")[0].clone();
        (one.workload.access, one.throughput_bytes_per_s)
    };
    let ((through, cached), (past, disk)) = (rate(&[]), rate(&["--direct"]));
    assert_eq!((through, past), (Access::Buffered, Access::Direct));
    assert!(disk < cached / 2.0, "the cache serves 4 MiB, the disk does not: {cached} and {disk}");
    let asked = ["predict", &result, "--unique-bytes", "4M", "--dsync"];
    refused(
        &asked,
        &["buffered or direct", "`ioscape evaluate sim:sparcstation-1 --access dsync`"],
    );
    let itself = stdout(&["compare", &result, &result, "--json"]);
    let itself = document(&itself);
    let rows = &itself.comparison().expect("a comparison").measured[0].rows;
    let count = |access: Access| {
        let workloads = rows.iter().filter_map(|row| row.workload.as_ref());
        workloads.filter(|one| one.access == access).count()
    };
    assert!(count(Access::Buffered) > 20 && count(Access::Direct) > 20);
}

#[test]
fn what_one_access_never_measured_is_told_of_that_access() {
    let folder = Folder::new();
    let mut both = small();
    let mut evaluation = both.evaluation().expect("an evaluation").clone();
    let direct = twice_as_fast(|workload| workload.access = Access::Direct);
    let mut direct = direct.evaluation().expect("an evaluation").clone();
    let across = [
        &mut direct.unique_bytes_curve,
        &mut direct.unique_bytes_read_curve,
        &mut direct.unique_bytes_write_curve,
        &mut direct.extra,
    ];
    across.into_iter().for_each(|curve| curve.retain(|point| point.value <= 33e6));
    direct.regions.truncate(1);
    evaluation.other_accesses = vec![direct];
    both.outcome = Some(evaluation.into());
    let a = folder.put("a.json", &both);
    let asked = ["predict", &a, "--unique-bytes", "200M", "--json"];
    let extrapolated = |ways: &[&str]| {
        let found = document(&stdout(&[&asked[..], ways].concat()));
        let doubts = found.warnings.iter().filter(|one| one.kind == WarningKind::Extrapolated);
        (found.predictions().expect("predictions")[0].extrapolated, doubts.count())
    };
    assert_eq!(extrapolated(&[]), (false, 0));
    assert_eq!(extrapolated(&["--direct"]), (true, 1));
}

#[test]
fn all_accesses_go_on_after_an_interruption() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let result = folder.path().join("a.ioscape.json");
    let accesses = ["--access", "buffered,dsync", "--budget", "24s"];
    let mut child = evaluate(folder.path(), &result, &accesses).spawn().expect("it starts");
    let probes = |document: &Document| -> Vec<usize> {
        let evaluation = document.evaluation().into_iter();
        evaluation.flat_map(|e| e.each_access().map(|one| one.probes.len())).collect()
    };
    let begun = Instant::now();
    while read(&result).is_none_or(|found| probes(&found).get(1).is_none_or(|&count| count < 2)) {
        let ended = child.try_wait().expect("the child can be asked");
        assert!(ended.is_none() && begun.elapsed() < Duration::from_secs(300), "{ended:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    signal(child.id(), "INT");
    assert_eq!(child.wait_with_output().expect("it ends").status.code(), Some(130));
    let partial = read(&result).expect("the result can be read");

    let resume = ["--resume", result.to_str().expect("a plain path")];
    let second = folder.path().join("b.ioscape.json");
    let output = evaluate(folder.path(), &second, &resume).output().expect("it runs");
    assert!(output.status.success(), "{}", stderr(&output));
    let whole = read(&second).expect("the result can be read");
    let (before, after) = (probes(&partial), probes(&whole));
    assert_eq!(before[0], after[0], "the first was whole");
    assert!(after[1] > before[1], "{before:?} {after:?}");
}
