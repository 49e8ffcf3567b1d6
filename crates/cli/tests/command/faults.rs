//! Faults during a run: measurements are kept and the fault is named, and nothing continues where
//! it must not.

use crate::common::started::{Started, signal, wait_until};
use crate::common::{Ran, ioscape, path, read, run, scratch_of, skipped, warm_campaign};
use crate::models::tiny;
use ioscape_schema::{Document, Warning, WarningKind};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

fn document(file: &Path) -> Option<Document> {
    serde_json::from_str(&fs::read_to_string(file).ok()?).ok()
}

/// A short job, and one that does not end.
pub(super) fn two_jobs(folder: &Path) -> PathBuf {
    let jobs = folder.join("jobs.toml");
    let text = "[defaults]\nunique_bytes = \"1M\"\n[[job]]\nname = \"short\"\nseconds = 0.1\n\
                [[job]]\nname = \"endless\"\nseconds = 1000\nread_frac = 0\naccess = \"dsync\"\nthink_time = \"100ms\"\n";
    fs::write(&jobs, text).expect("a job file");
    jobs
}

/// Starts both jobs and waits until the first result is saved.
fn begun(folder: &Path, result: &Path, temporary: &Path) -> Started {
    let jobs = two_jobs(folder);
    let mut command = ioscape(&["run", path(folder), path(&jobs), "-o", path(result)]);
    command.env("TMPDIR", temporary);
    Started::spawn(command).until(|_| {
        document(result).is_some_and(|found| found.measurements().map(Vec::len) == Some(1))
    })
}

/// Checks that the summary is printed, the cause stated, and the result in `temporary` under the
/// name stated.
fn rescued(ran: &Ran, temporary: &Path) {
    assert!(ran.out.contains("B/s"), "the summary: {}", ran.out);
    let found = scratch_of(temporary);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(ran.err.contains(path(&found[0])), "{}", ran.err);
    let document = document(&found[0]).expect("a result");
    // Partial measurements of the second job may be there too.
    assert!(document.interrupted && document.measurements().is_some_and(|all| !all.is_empty()));
    // A reader of the result alone learns why a job is missing.
    let is_cause = |one: &Warning| {
        one.kind == WarningKind::Interrupted && one.message == "the runs are partial: interrupted"
    };
    assert!(document.warnings.iter().any(is_cause), "{:?}", document.warnings);
}

#[test]
fn a_job_that_is_done_is_saved_before_the_next_ends() {
    let (folder, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let result = folder.path().join("r.json");
    let started = begun(folder.path(), &result, temporary.path());
    // Between two jobs there may be no scratch file.
    let started = started.until(|_| !scratch_of(folder.path()).is_empty());
    signal(started.0.id(), "KILL");
    assert_eq!(started.end().code, None);
    assert!(document(&result).is_some_and(|found| found.interrupted));
    // On a busy machine, a process of the killed run holds the file a moment longer.
    let again = ["run", path(folder.path()), "--unique-bytes", "1M", "--seconds", "100ms"];
    wait_until(|| run(&again).ended(0).err.contains("left behind"));
    assert_eq!(scratch_of(folder.path()), Vec::<PathBuf>::new());
}

#[test]
fn a_result_folder_that_is_deleted_loses_nothing() {
    let (folder, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let results = folder.path().join("results");
    fs::create_dir(&results).unwrap();
    let started = begun(folder.path(), &results.join("r.json"), temporary.path());
    fs::remove_dir_all(&results).unwrap();
    signal(started.0.id(), "INT");
    let ran = started.end().ended(130).says(&["r.json", "No such file"]);
    rescued(&ran, temporary.path());
}

/// Whether a command whose last argument is `place` succeeds.
fn succeeds_at(place: &Path, words: &[&str]) -> bool {
    let ended = Command::new(words[0]).args(&words[1..]).arg(place).output();
    ended.is_ok_and(|ended| ended.status.success())
}

#[test]
fn a_result_folder_that_becomes_read_only_loses_nothing() {
    let (folder, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let results = folder.path().join("results");
    fs::create_dir(&results).unwrap();
    let mount = |words: &[&str]| succeeds_at(&results, words);
    if !mount(&["mount", "-t", "tmpfs", "none"]) {
        return skipped("a tmpfs cannot be mounted here");
    }
    let started = begun(folder.path(), &results.join("r.json"), temporary.path());
    // The kernel refuses both while a file there is open, such as a result being saved.
    wait_until(|| mount(&["mount", "-o", "remount,ro"]));
    signal(started.0.id(), "INT");
    let ran = started.end();
    wait_until(|| mount(&["umount"]));
    let ran = ran.ended(130).says(&["r.json", "Read-only file system"]);
    rescued(&ran, temporary.path());
}

/// A short evaluation in `folder`, interrupted.
fn interrupted(folder: &Path, result: &Path) {
    let mut command = ioscape(&["evaluate", path(folder), "--budget", "20s", "-o", path(result)]);
    command.args(["--max-unique-bytes", "16M", "--seed", "7"]);
    let has_probes = |found: Document| found.evaluation().is_some_and(|e| e.probes.len() >= 2);
    let started = Started::spawn(command).until(|_| document(result).is_some_and(has_probes));
    signal(started.0.id(), "INT");
    started.end().ended(130);
}

#[test]
fn an_evaluation_goes_on_only_as_and_where_it_began() {
    let folder = tempfile::tempdir().unwrap();
    let result = folder.path().join("r.json");
    interrupted(folder.path(), &result);
    let before = read(&result);
    let resume = |more: &[&str]| {
        run(&[&["evaluate", path(folder.path()), "--resume", path(&result)], more].concat())
    };
    let (name, kept) = (path(&result), path(folder.path()));
    for (option, was, now) in [
        ("--budget", "20s", "30s"),
        ("--seed", "7", "8"),
        ("--max-unique-bytes", "16M", "8M"),
        ("--size-dist", "normal", "fixed"),
    ] {
        let said = format!("{option} was {was} and is {now}");
        resume(&[option, now]).ended(2).says(&[&said, name]);
    }
    resume(&["--direct"]).ended(2).says(&["--direct was false and is true"]);
    resume(&["--memory", "1G"]).ended(2).says(&["--memory was not given"]);
    let change = |from: &str, to: &str| {
        assert!(before.contains(from), "{from} in {before}");
        fs::write(&result, before.replace(from, to)).unwrap();
    };
    change("\"machine\": \"", "\"machine\": \"0");
    resume(&[]).ended(2).says(&["machine was 0"]);
    change("\"memory\": \"", "\"memory\": \"9");
    resume(&[]).ended(2).says(&["memory was 9"]);
    // It is unknown in a container that does not show the control groups above.
    if before.contains("\"memory limit\"") {
        change("\"memory limit\": \"", "\"memory limit\": \"9");
        resume(&[]).ended(2).says(&["memory limit was 9"]);
    }
    change("\"target's inode\": \"", "\"target's inode\": \"900");
    resume(&[]).ended(2).says(&["target's inode was 900"]);
    change("\"target's mount options\": \"", "\"target's mount options\": \"ro,");
    resume(&[]).ended(2).says(&["target's mount options was ro,"]);
    fs::write(&result, &before).unwrap();
    let other = tempfile::tempdir().unwrap();
    let elsewhere = ["evaluate", path(other.path()), "--resume", name];
    run(&elsewhere).ended(2).says(&[kept, path(other.path()), "target's inode"]);
    assert_eq!(read(&result), before);
    resume(&["--seed", "7", "-o", name]).ended(0);
    assert!(document(&result).is_some_and(|found| !found.interrupted));
}

#[test]
fn a_campaign_goes_on_only_as_and_where_it_began() {
    let folder = tempfile::tempdir().unwrap();
    let campaign = path(&warm_campaign(folder.path())).to_owned();
    let result = path(&folder.path().join("r.json")).to_owned();
    let shown = read(Path::new(&campaign));
    let base = ["campaign", "run", &campaign, path(folder.path()), "--max-file-size", "1M"];
    let whole = [&base[..], &["--rounds", "1", "-o", &result]].concat();
    run(&whole).ended(0);
    let resume = |campaign: &str, more: &[&str]| {
        let words = ["campaign", "run", campaign, path(folder.path()), "--resume", &result];
        run(&[&words[..], more].concat())
    };
    let said = "--max-file-size was 1M and is 4M";
    resume(&campaign, &["--max-file-size", "4M"]).ended(2).says(&[said]);
    fs::write(&campaign, format!("{shown}\n# edited\n")).unwrap();
    resume(&campaign, &[]).ended(2).says(&["campaign file was"]);
    fs::write(&campaign, &shown).unwrap();
    let more = ["campaign", "run", &campaign, path(folder.path()), "/tmp", "--resume", &result];
    run(&more).ended(2).says(&["number of places was 1 and is 2"]);
    let before = fs::read_to_string(&result).unwrap();
    let together = "\"--clients\": \"3\", \"--fs-size\": \"4G\"";
    let other = before.replace("\"--fs-size\": \"8G\"", together);
    assert_ne!(other, before);
    fs::write(&result, other).unwrap();
    let said = ["--clients was 3 and is not given", "--fs-size was 4G and is 8G"];
    resume(&campaign, &[]).ended(2).says(&said);
    // Another kernel is not another machine, but its figures are kept apart from earlier ones.
    fs::write(&result, before.replace("\"kernel\": \"", "\"kernel\": \"0 ")).unwrap();
    resume(&campaign, &["-o", &result]).ended(0);
    let told = |found: &Document| {
        let all = found.warnings.iter().filter(|one| one.kind == WarningKind::DifferentKinds);
        all.map(ToString::to_string).collect::<Vec<_>>()
    };
    let said = told(&document(Path::new(&result)).expect("a result"));
    let [said] = &said[..] else { panic!("one doubt: {said:?}") };
    assert!(said.starts_with("before --resume: kernel 0 Linux "), "{said}");
    resume(&campaign, &["-o", &result]).ended(0);
    assert_eq!(told(&document(Path::new(&result)).expect("a result")), [said.as_str()]);
}

#[test]
fn words_that_are_no_text_are_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let odd = OsStr::from_bytes(b"odd-\xff");
    let mut command =
        ioscape(&["run", path(folder.path()), "--unique-bytes", "1M", "--seconds", "100ms", "-o"]);
    command.arg(folder.path().join(odd));
    Ran::of(command).ended(0);
    assert!(folder.path().join(odd).exists());
    for words in [&["report"][..], &["evaluate"], &["trace", "analyze"], &["campaign", "run"]] {
        let mut command = ioscape(words);
        command.arg(odd);
        Ran::of(command).ended(2);
    }
}

#[test]
fn escapes_in_names_are_not_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    let evil = folder.path().join("a\u{1b}]0;title\u{7}.json");
    let ran = run(&["evaluate", "sim:hp-730", "--points", "60", "-o", path(&evil)]).ended(0);
    let ran = ran.says(&["Result: "]);
    assert!(!ran.err.contains('\u{1b}') && !ran.out.contains('\u{1b}'), "{:?}", ran.err);
    let ran = run(&["report", path(&evil), "-o", path(&evil)]).ended(2);
    assert!(!ran.err.contains('\u{1b}'), "{:?}", ran.err);
}

#[test]
fn endless_files_are_refused_at_once() {
    let ran = run(&["report", "/dev/zero"]).ended(2).says(&["/dev/zero", "binary"]);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    run(&["campaign", "run", "/dev/zero", "."]).ended(2).says(&["/dev/zero", "binary"]);
    run(&["evaluate", ".", "--resume", "/dev/zero"]).ended(2).says(&["/dev/zero", "binary"]);
    let folder = tempfile::tempdir().unwrap();
    let replay = ["trace", "replay", "/dev/zero", path(folder.path()), "--buffered"];
    run(&replay).ended(2).says(&["/dev/zero", "no known trace format"]);
}

#[test]
fn nohup_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let result = folder.path().join("r.json");
    let jobs = two_jobs(folder.path());
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP INT; exec \"$@\"", "sh"]);
    let inner = ioscape(&["run", path(folder.path()), path(&jobs), "-o", path(&result)]);
    command.arg(inner.get_program()).args(inner.get_args());
    let mut started = Started::spawn(command).until(|_| document(&result).is_some());
    signal(started.0.id(), "HUP");
    signal(started.0.id(), "INT");
    std::thread::sleep(Duration::from_secs(1));
    assert!(started.0.try_wait().expect("it can be asked").is_none(), "it goes on");
    signal(started.0.id(), "TERM");
    started.end().ended(130);
}

#[test]
fn nothing_measured_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    let result = folder.path().join("r.json");
    let words = ["evaluate", path(folder.path()), "--max-unique-bytes", "4M", "-o", path(&result)];
    let ran = run(&[&words[..], &["--budget", "1ms"]].concat()).ended(1);
    ran.says(&["no point was measured", "--budget"]);
    assert!(document(&result).is_some_and(|found| found.interrupted));
    let result = folder.path().join("os.json");
    let words = ["os", "--only", "getpid", "--mips", "10", "--budget", "50ms", "-o", path(&result)];
    run(&words).ended(1).says(&["no case was measured", "--budget"]);
    assert!(document(&result).is_some_and(|found| found.interrupted));
    // Sets too large for the time at the known rate, and sets laid out before a rate is known.
    for largest in [256 << 20, 4 << 20] {
        let (evaluated, result) = validated(folder.path(), largest);
        let words = ["validate", path(&evaluated), path(folder.path()), "-o", path(&result)];
        let ran = run(&[&words[..], &["--workloads", "5", "--budget", "1ms"]].concat()).ended(1);
        ran.says(&["no workload was measured", "--budget"]);
        assert!(document(&result).is_some_and(|found| found.interrupted), "{largest}");
    }
}

#[test]
fn a_campaign_in_which_no_cell_can_be_measured_is_no_success() {
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else { return skipped("no /dev/shm") };
    let folder = tempfile::tempdir().unwrap();
    let result = folder.path().join("r.json");
    let words = ["campaign", "run", "aged-reads", path(memory.path()), "--max-file-size", "64k"];
    let ran = run(&[&words[..], &["--rounds", "1", "-o", path(&result)]].concat()).ended(1);
    let ran = ran.says(&["no cell was measured: ", "--cold", "stay in the file cache"]);
    assert!(!ran.err.contains("--best-effort"), "it has no such option: {}", ran.err);
    assert!(document(&result).is_some_and(|found| found.interrupted && found.campaign().is_some()));
    assert_eq!(scratch_of(memory.path()), Vec::<PathBuf>::new());
}

/// Once, the campaign's own files took the last of the space, or of a quota, and the last document
/// went elsewhere or was lost.
#[test]
fn a_campaign_whose_files_leave_its_result_no_room_makes_room_for_it() {
    let [small, elsewhere] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    // However much room there is, the file system holds only few files.
    let words = ["mount", "-t", "tmpfs", "-o", "size=256m,nr_inodes=200", "none"];
    if !succeeds_at(small.path(), &words) {
        return skipped("a tmpfs cannot be mounted here");
    }
    let (file, result) = (elsewhere.path().join("c.toml"), small.path().join("r.json"));
    let text = "title = \"trees\"\nrounds = 1\n[base]\nworkload = \"create\"\nentries = \"5\"\n[[vary]]\nname = \"tree_files\"\n\
                values = [10, 1000]\n[[method]]\nname = \"create\"\n";
    fs::write(&file, text).unwrap();
    let words = ["campaign", "run", path(&file), path(small.path()), "-o", path(&result)];
    let mut command = ioscape(&words);
    command.env("TMPDIR", elsewhere.path());
    let ran = Ran::of(command);
    let (found, left) = (document(&result), fs::read_dir(small.path()).unwrap().count());
    wait_until(|| succeeds_at(small.path(), &["umount"]));
    ran.ended(0);
    let found = found.expect("a result");
    let [few, many] = &found.campaign().expect("a campaign").rows[..] else { panic!("two rows") };
    assert_eq!((few.cells[0].samples.len(), found.interrupted), (1, false));
    let why = many.cells[0].impossible.as_ref().expect("a reason");
    assert!(why.contains("no room for 1005 files (No space left"), "{why}");
    assert_eq!((left, scratch_of(elsewhere.path())), (1, Vec::new()), "the result alone");
}

/// The tiny evaluation with sets of up to so many bytes, in a file; and the file for its
/// validation.
fn validated(folder: &Path, largest: u64) -> (PathBuf, PathBuf) {
    let (mut document, mut evaluation) = (tiny(), tiny().evaluation().expect("one").clone());
    evaluation.settings.as_mut().expect("settings").unique_bytes[1] = largest;
    document.outcome = Some(evaluation.into());
    let files = ["e", "v"].map(|name| folder.join(format!("{name}{largest}.json")));
    fs::write(&files[0], serde_json::to_string(&document).unwrap()).unwrap();
    files.into()
}

#[test]
fn a_validation_whose_time_went_before_it_measured_anything_measures_a_first_round() {
    let folder = tempfile::tempdir().unwrap();
    let (evaluated, result) = validated(folder.path(), 4 << 20);
    let words = ["validate", path(&evaluated), path(folder.path()), "-o", path(&result)];
    let words = [&words[..], &["--workloads", "1", "--budget"]].concat();
    run(&[&words[..], &["1ms"]].concat()).ended(1);
    // As if interrupted in its first measurement.
    let mut begun = document(&result).expect("a result");
    let mut kept = begun.validation().expect("a validation").clone();
    kept.log.as_mut().expect("what is left").spent_s = 60.0;
    begun.outcome = Some(kept.into());
    fs::write(&result, serde_json::to_string(&begun).unwrap()).unwrap();
    run(&[&words[..], &["60s", "--resume", path(&result)]].concat()).ended(0);
    let found = document(&result).expect("a result");
    let points = found.validation().and_then(|run| run.validation.as_ref());
    assert!(points.is_some_and(|all| all.points.len() == 1));
}

#[test]
fn a_plan_says_what_it_cannot_do() {
    let folder = tempfile::tempdir().unwrap();
    let dry = |size: &str| {
        run(&["evaluate", path(folder.path()), "--dry-run", "--max-unique-bytes", size])
    };
    dry("100000T").ended(2).says(&["room", "free space"]);
    dry("4M").ended(0).says(&["not well past the memory"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is touched");
}

#[test]
fn a_file_that_a_database_holds_is_not_destroyed() {
    let folder = tempfile::tempdir().unwrap();
    let (file, ready) = (folder.path().join("db"), folder.path().join("ready"));
    fs::write(&file, vec![7u8; 1 << 20]).unwrap();
    let script = "import fcntl,sys,time\nf=open(sys.argv[1],'r+b')\nfcntl.lockf(f,fcntl.LOCK_EX,1,4096)\nopen(sys.argv[2],'w')\ntime.sleep(600)";
    let mut python = Command::new("python3");
    let Ok(holder) = python.args(["-c", script]).args([&file, &ready]).spawn() else {
        return skipped("no python3 to hold a lock");
    };
    let mut holder = Started::has(holder).until(|_| ready.exists());
    let refused = run(&["run", path(&file), "--destroy-data", "--unique-bytes", "64k"]);
    let sub = "iosize=4k,iocount=4";
    let vxbench = run(&["vxbench", "-w", "write", "-i", sub, "--destroy-data", path(&file)]);
    let _ = holder.0.kill();
    let _ = holder.0.wait();
    vxbench.ended(2).says(&["db", "is locked by process", "python3"]);
    refused.ended(2).says(&["db", "is locked by process", "python3"]);
    assert_eq!(fs::read(&file).unwrap(), vec![7u8; 1 << 20]);
}

#[test]
fn a_folder_of_a_killed_campaign_is_swept_by_any_run() {
    let folder = tempfile::tempdir().unwrap();
    let left = folder.path().join(".ioscape-folder-a1B2c3D4");
    let campaign = warm_campaign(folder.path());
    let words = ["campaign", "run", path(&campaign), path(folder.path())];
    let words = [&words[..], &["--max-file-size", "64M"]].concat();
    let mut command = ioscape(&words);
    command.current_dir(folder.path());
    let folders = || scratch_of(folder.path()).into_iter().filter(|p| p.is_dir()).count();
    let started = Started::spawn(command).until(|_| folders() == 1);
    signal(started.0.id(), "KILL");
    started.end();
    fs::create_dir(&left).unwrap();
    assert_eq!(folders(), 2, "a killed process cannot clean up");
    let next = ["run", path(folder.path()), "--unique-bytes", "1M", "--seconds", "100ms"];
    run(&next).ended(0).says(&["left behind"]);
    // On a busy disk, a process of the killed campaign holds its directory a while longer.
    wait_until(|| {
        run(&next).ended(0);
        folders() == 0
    });
}
