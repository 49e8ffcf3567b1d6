//! That where no set outgrows the machine's memory, a control group's is outgrown, and the device
//! below is measured by itself.

use super::{Xfs, folder, possible};
use crate::common::skipped;
use assert_cmd::cargo::cargo_bin;
use ioscape_schema::{Document, Evaluation, Probe};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The control groups that the process made and that still exist.
fn groups(process: u32) -> Vec<PathBuf> {
    let below =
        ["/sys/fs/cgroup", "/sys/fs/cgroup/memory"].map(|place| std::fs::read_dir(place).ok());
    let all = below.into_iter().flatten().flatten().flatten().map(|entry| entry.path());
    let own = format!("ioscape-{process}-");
    all.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&own)))
        .collect()
}

#[test]
fn where_no_set_outgrows_the_memory_a_group_is_outgrown_and_the_device_measured_and_the_result_says_so()
 {
    if !possible(&["mkfs.xfs", "losetup", "findmnt"]) {
        return;
    }
    let folder = folder();
    // Half of its free space holds four times the smallest group, but not the machine's memory.
    let xfs = Xfs::of(1400 << 20, folder.path());
    if !xfs.goes_to_the_device() {
        return skipped("the loop device cannot pass direct requests on");
    }
    let (result, page) = (folder.path().join("result.json"), folder.path().join("page.html"));
    let limit = 128 << 20;
    let of_set = |probe: &&Probe| probe.measurement.workload.unique_bytes >= 2 * limit;
    let evaluated = |budget: &str| {
        let mut command = Command::new(cargo_bin("ioscape"));
        command.arg("evaluate").arg(&xfs.mount).args(["--budget", budget, "--force", "-o"]);
        command.arg(&result).arg("--html").arg(&page);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.expect("it starts");
        let process = child.id();
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{output:?}");
        let text = std::fs::read_to_string(&result).expect("a result");
        let document: Document = serde_json::from_str(&text).expect("a document");
        (output, process, document)
    };
    let goes_beyond = |document: &Document| {
        let mut all = document.evaluation().expect("an evaluation").each_access();
        all.nth(1).is_some_and(|one| one.probes.iter().any(|p| of_set(&p))) && all.count() == 1
    };
    // On a busy machine, a minute may be too short for the sets that outgrow a group.
    let (mut output, mut process, mut document) = evaluated("60s");
    for budget in ["180s", "400s"] {
        if !goes_beyond(&document) {
            (output, process, document) = evaluated(budget);
        }
    }
    assert_eq!(document.environment.memory_limit_bytes, None);
    let evaluation = document.evaluation().expect("an evaluation");
    let rate = evaluation.settings.as_ref().and_then(|settings| settings.layout_bytes_per_s);
    if let Some(rate) = rate.filter(|rate| *rate < 5.4e6 && !goes_beyond(&document)) {
        return skipped(&format!("{rate:.0} B/s are too few for sets that outgrow a group"));
    }
    let ways: Vec<String> = evaluation.each_access().map(Evaluation::way).collect();
    assert_eq!(ways, ["buffered", "buffered in a control group of 128 MiB", "direct"]);
    let all: Vec<&Evaluation> = evaluation.each_access().collect();
    let first = |one: &Evaluation| one.findings.sentences[0].clone();
    assert!(first(all[0]).contains("for in a control group of 128 MiB"), "{}", first(all[0]));
    assert!(first(all[1]).contains("hold under that limit"), "{}", first(all[1]));
    assert!(first(all[2]).contains("the device, or of its server"), "{}", first(all[2]));
    // The group's sets outgrow it, and its cache holds no more than the limit.
    let mut beyond = all[1].probes.iter().filter(of_set).peekable();
    assert!(beyond.peek().is_some(), "no set was well past the group");
    let is_bound = |probe: &Probe| probe.measurement.resident_frac.is_some_and(|share| share < 0.6);
    assert!(beyond.all(is_bound));
    for shown in [
        String::from_utf8_lossy(&output.stdout),
        std::fs::read_to_string(&page).expect("the page").into(),
    ] {
        assert!(shown.contains("in a control group of 128 MiB"), "{shown}");
    }
    assert_eq!(groups(process), Vec::<PathBuf>::new(), "no group stays behind");
}
