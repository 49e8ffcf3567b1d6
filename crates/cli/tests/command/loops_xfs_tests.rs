//! What XFS honours and memory does not: atomic writes and the extent size; and that an XFS is
//! recognized on another device.

use super::{Loop, Xfs, folder, possible, says, unmount};
use crate::common::skipped;
use assert_cmd::cargo::cargo_bin;
use std::path::Path;
use std::process::{Command, Output};

fn vxbench(words: &[&str], file: &Path) -> Output {
    let mut command = Command::new(cargo_bin("ioscape"));
    command.arg("vxbench").args(words).arg(file).output().expect("it runs")
}

#[test]
fn xfs_takes_atomic_writes_up_to_a_size_and_memory_takes_none() {
    if !possible(&["mkfs.xfs"]) {
        return;
    }
    let folder = folder();
    let xfs = Xfs::make(folder.path());
    let run = |file: &Path, size: &str, more: &[&str]| {
        let amount = format!("iosize={size},iocount=4");
        let words = ["vxbench", "-w", "rand_mixed", "-i", &amount, "-i", "truncup"];
        let words = [&words[..], &["-c", "direct,atomic", "--verify"], more].concat();
        let output = Command::new(cargo_bin("ioscape")).args(words).arg(file).output();
        let output = output.expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = run(&xfs.mount.join("a"), "16k", &[]);
    if code != Some(0) && said.contains("takes none here") {
        return skipped("this kernel has no atomic writes on XFS");
    }
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = run(&xfs.mount.join("b"), "64M", &[]);
    assert!(code == Some(2) && said.contains("but iosize is 67108864"), "{code:?} {said}");
    let memory = Path::new("/dev/shm").join(format!("ioscape-test-{}", std::process::id()));
    let (code, said) = run(&memory, "16k", &["-i", "remove"]);
    assert!(code == Some(2) && said.contains("-c atomic"), "{code:?} {said}");
    assert!(!memory.exists(), "nothing is left of what was refused");
}

#[test]
fn xfs_takes_an_extent_size_and_memory_says_that_it_does_not() {
    if !possible(&["mkfs.xfs", "xfs_io"]) {
        return;
    }
    let folder = folder();
    let xfs = Xfs::make(folder.path());
    let file = xfs.mount.join("file");
    let write = ["-w", "write", "-i", "iosize=64k,iocount=4", "-e", "1m"];
    let output = vxbench(&write, &file);
    assert!(output.status.success(), "{output:?}");
    let told = says("xfs_io", &["-r", "-c", "extsize", file.to_str().expect("a plain path")]);
    assert!(told.is_some_and(|text| text.starts_with("[1048576]")), "the file has no extent size");

    let odd = vxbench(
        &["-w", "write", "-i", "iosize=64k,iocount=4", "-e", "1000"],
        &xfs.mount.join("odd"),
    );
    assert_eq!(odd.status.code(), Some(2), "{odd:?}");
    assert!(!xfs.mount.join("odd").exists(), "nothing is left behind");
    let elsewhere = Path::new("/dev/shm").join(format!("ioscape-extsize-{}", std::process::id()));
    let refused = vxbench(&write, &elsewhere);
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && text.contains("extent size"), "{text}");
    assert!(!elsewhere.exists(), "nothing is left behind");
}

/// XFS has no number but its device's, which changes when a volume is attached again.
#[test]
fn an_evaluation_on_xfs_goes_on_where_it_is_mounted_from_another_device() {
    if !possible(&["mkfs.xfs", "losetup", "findmnt"]) {
        return;
    }
    let folder = folder();
    let xfs = Xfs::make(folder.path());
    let text = |path: &Path| path.to_str().expect("a plain path").to_owned();
    let (mount, result) = (text(&xfs.mount), text(&folder.path().join("r.json")));
    let source = || says("findmnt", &["-n", "-o", "SOURCE", &mount]).expect("what is mounted");
    let evaluate = |more: &[&str]| {
        let mut command = Command::new(cargo_bin("ioscape"));
        command.args(["evaluate", &mount]).args(more).output().expect("it runs")
    };
    let begun = evaluate(&["--budget", "20s", "--max-unique-bytes", "16M", "-o", &result]);
    assert!(begun.status.success(), "{begun:?}");
    let before = source();
    unmount(&xfs.mount);
    // This takes the device that was released.
    let _other = Loop::make(folder.path(), 1 << 20);
    let image = text(&folder.path().join("image"));
    says("mount", &["-o", "loop", &image, &mount]).expect("it can be mounted");
    if source() == before {
        return skipped("it was mounted from the same device again");
    }
    let again = evaluate(&["--resume", &result, "--dry-run"]);
    assert!(again.status.success(), "{again:?}");
}
