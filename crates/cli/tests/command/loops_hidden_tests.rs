//! A campaign's mounts are visible only to itself, and what others unmount meanwhile does not stay
//! mounted in it.

use super::{PATIENCE, campaign, child_of, expect_detached, folder, mounted, possible};
use assert_cmd::cargo::cargo_bin;
use std::process::Command;
use std::time::{Duration, Instant};

#[test]
fn what_the_machine_unmounts_during_a_campaign_is_unmounted_there_too() {
    if !possible(&["mkfs.ext4", "losetup", "unshare", "nsenter"]) {
        return;
    }
    let [place, mounts, other] = [(); 3].map(|()| folder());
    let result = mounts.path().join("result.json");
    // Mounts that are shared, as on most machines, but not with the machine of the test.
    let script = "mount --make-rshared / && mount -t tmpfs tmpfs \"$0\" && exec \"$@\"";
    let mut machine = Command::new("unshare");
    machine.args(["--mount", "--propagation", "private", "sh", "-c", script]);
    machine.arg(other.path()).arg(cargo_bin("ioscape"));
    let mut child = campaign(machine, place.path(), mounts.path(), &result);
    let begun = Instant::now();
    while !result.exists() {
        let ended = child.try_wait().expect("the child can be asked");
        assert!(ended.is_none() && begun.elapsed() < PATIENCE, "{ended:?}: no result");
        std::thread::sleep(Duration::from_millis(20));
    }
    let process = child.id().to_string();
    let worker = child_of(&process);
    let before = mounted(other.path(), &worker);
    let on_machine = ["--target", &process, "--mount", "umount"];
    let unmounted = Command::new("nsenter").args(on_machine).arg(other.path()).status();
    let after = mounted(other.path(), &worker);
    let seen = mounted(mounts.path(), &process);
    let status = Command::new("kill").args(["-s", "INT", &process]).status();
    assert!(status.expect("kill runs").success());
    child.wait_with_output().expect("it ends");
    expect_detached(place.path());
    assert!(unmounted.is_ok_and(|status| status.success()));
    assert_eq!((before.len(), after), (1, Vec::new()));
    assert_eq!(seen, Vec::<String>::new(), "what it mounts is its own");
}
