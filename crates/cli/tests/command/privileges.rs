//! What an unprivileged user may not do is refused before anything is touched, in one sentence
//! (`docs/privileges.md`).

use crate::common::{User, path, user_or_skip};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// User nobody.
const NOBODY: u32 = 65534;

/// A directory accessible to everybody, with one subdirectory of root's and one of everybody's.
fn folders() -> (tempfile::TempDir, Option<User>) {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    for (name, mode) in [("of-root", 0o755), ("of-all", 0o777)] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    fs::write(folder.path().join("trace.spc"), "0,8,4096,r,0.0\n0,16,4096,w,0.1\n").unwrap();
    let user = user_or_skip(NOBODY, folder.path());
    (folder, user)
}

/// Expects misuse, reported in one sentence that says `words`.
fn refused(user: &User, arguments: &[&str], words: &[&str]) {
    let ran = user.run(arguments).ended(2).says(words);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().count() == 0
}

#[test]
fn a_folder_that_may_not_be_written_to_is_refused() {
    let (folder, Some(user)) = folders() else { return };
    let (of_root, trace) = (folder.path().join("of-root"), folder.path().join("trace.spc"));
    let file = of_root.join("file");
    for words in [
        &["run", path(&of_root), "--unique-bytes", "1M"][..],
        &["evaluate", path(&of_root), "--budget", "10s"],
        &["vxbench", "-w", "write", "-i", "iocount=4", path(&file)],
        &["campaign", "run", "aged-reads", path(&of_root)],
        &["trace", "replay", path(&trace), path(&of_root)],
        &["run", path(&of_root.join("../of-all")), "-o", path(&of_root.join("r.json"))],
    ] {
        refused(&user, words, &["of-root"]);
    }
    assert!(is_empty(&of_root) && is_empty(&folder.path().join("of-all")));
}

/// Only benchmarks that create files need a place for them.
#[test]
fn benchmarks_without_files_run_where_nothing_may_be_written() {
    let (folder, Some(user)) = folders() else { return };
    let of_root = folder.path().join("of-root");
    let os = |name| ["os", "--quick", "--only", name, "--dir", path(&of_root)];
    user.run(&os("getpid")).ended(0);
    refused(&user, &os("stat"), &["of-root"]);
}

/// Only root sees which files a program uses that may be executed but not read. Once, the summary
/// said that nothing was moved, and nothing else.
#[test]
fn a_program_whose_files_are_hidden_gives_no_workload() {
    let (folder, Some(user)) = folders() else { return };
    let dd = folder.path().join("dd");
    fs::copy("/bin/dd", &dd).unwrap();
    fs::set_permissions(&dd, fs::Permissions::from_mode(0o711)).unwrap();
    let out = format!("of={}", path(&folder.path().join("of-all/out")));
    let words = ["characterize", "--", path(&dd), "if=/dev/zero", &out, "bs=64k", "count=16"];
    let ran = user.run(&words).ended(0).says(&["unidentified", ": at least"]);
    assert!(!ran.err.contains("To run the same workload"), "{}", ran.err);
}

#[test]
fn a_file_that_may_not_be_written_to_is_no_target() {
    let (folder, Some(user)) = folders() else { return };
    let file = folder.path().join("of-all/file");
    fs::write(&file, vec![7; 1 << 20]).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let vxbench = ["vxbench", "-w", "write", "-i", "iocount=4", "--destroy-data", path(&file)];
    refused(&user, &["run", path(&file), "--destroy-data"], &["file", "may not be written"]);
    refused(&user, &vxbench, &["file", "may not be written"]);
    assert_eq!(fs::read(&file).unwrap(), vec![7; 1 << 20]);
}

/// Once, time was reserved for a group that no such user could have.
#[test]
fn a_plan_leaves_no_time_for_a_control_group_that_cannot_be_made() {
    let (folder, Some(user)) = folders() else { return };
    let place = folder.path().join("of-all");
    let planned = user.run(&["evaluate", path(&place), "--dry-run"]).ended(0);
    assert!(!planned.err.contains("a control group with less memory"), "{}", planned.err);
    let ways = planned.out.matches("Access ").count();
    assert!([0, 2].contains(&ways), "{}", planned.out);
    assert!(is_empty(&place));
}

#[test]
fn what_needs_root_is_refused_without() {
    let (folder, Some(user)) = folders() else { return };
    let place = folder.path().join("of-all");
    let made = ["campaign", "run", "aged-reads", path(&place), "--fs", "ext4", "--as-root-make"];
    refused(&user, &["run", path(&place), "--memory", "512M"], &["--memory", "root"]);
    let rows = place.join("rows.parquet");
    refused(&user, &["trace", "record", "-o", path(&rows), "--", "true"], &["root"]);
    refused(&user, &made, &["loop device", "ermission denied"]);
    assert!(is_empty(&place));
}
