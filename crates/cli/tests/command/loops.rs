//! What needs root and loop devices: options that only one file system honours, replays on a
//! device, and removing what was made.

use super::common::{ioscape, skipped};
use assert_cmd::cargo::cargo_bin;
use ioscape_schema::Document;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

#[path = "loops_group_tests.rs"]
mod group;
#[path = "loops_hidden_tests.rs"]
mod hidden;
#[path = "loops_made_tests.rs"]
mod made;
#[path = "loops_xfs_tests.rs"]
mod xfs;

/// The longest wait for what is certain to come.
const PATIENCE: Duration = Duration::from_secs(120);

fn says(program: &str, words: &[&str]) -> Option<String> {
    let output = Command::new(program).args(words).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Whether loop devices and these programs are available; otherwise says what is left out.
fn possible(programs: &[&str]) -> bool {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let missing = programs.iter().find(|program| says(program, &["-V"]).is_none());
    let why = match missing {
        _ if !is_root => "it needs root".to_owned(),
        Some(program) => format!("{program} is not installed"),
        None if says("losetup", &["-f"]).is_none() => "there are no loop devices".to_owned(),
        None => return true,
    };
    skipped(&why);
    false
}

/// A directory beside the binary, which is on a disk if anything is.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory")
}

/// An XFS on a loop device, taken down when dropped.
struct Xfs {
    mount: PathBuf,
}

impl Xfs {
    fn make(folder: &Path) -> Self {
        Self::of(512 << 20, folder)
    }

    fn of(bytes: u64, folder: &Path) -> Self {
        let (image, mount) = (folder.join("image"), folder.join("mount"));
        let file = std::fs::File::create(&image).expect("a file");
        file.set_len(bytes).expect("a size");
        std::fs::create_dir(&mount).expect("a directory");
        let text = |path: &Path| path.to_str().expect("a plain path").to_owned();
        says("mkfs.xfs", &["-q", &text(&image)]).expect("mkfs.xfs works");
        says("mount", &["-o", "loop", &text(&image), &text(&mount)]).expect("it can be mounted");
        Self { mount }
    }
}

impl Xfs {
    /// Lets direct requests reach the device below; false where its file system cannot.
    fn goes_to_the_device(&self) -> bool {
        let mount = self.mount.to_str().expect("a plain path");
        let device = says("findmnt", &["--noheadings", "--output", "SOURCE", mount]);
        let device = device.expect("it is mounted");
        says("losetup", &["--direct-io=on", &device]).is_some()
    }
}

impl Drop for Xfs {
    fn drop(&mut self) {
        unmount(&self.mount);
    }
}

/// Unmounts a file system as soon as nobody looks at it any more: others may for a moment. In the
/// end it unmounts it anyway, so that nothing stays behind.
fn unmount(place: &Path) {
    let (place, begun) = (place.to_str().expect("a plain path"), Instant::now());
    while says("umount", &[place]).is_none() {
        if begun.elapsed() > PATIENCE {
            says("umount", &["-l", place]);
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A tmpfs of a given size, unmounted when dropped.
struct Small(tempfile::TempDir);

impl Small {
    fn of(size: &str) -> Self {
        let (folder, size) = (folder(), format!("size={size}"));
        let place = folder.path().to_str().expect("a plain path");
        says("mount", &["-t", "tmpfs", "-o", &size, "tmpfs", place]).expect("it can be mounted");
        Self(folder)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        unmount(self.0.path());
    }
}

/// A loop device on a file of a given size, detached when dropped.
struct Loop {
    file: PathBuf,
    device: PathBuf,
}

impl Loop {
    fn make(folder: &Path, bytes: u64) -> Self {
        let file = folder.join("disk");
        std::fs::File::create(&file).and_then(|file| file.set_len(bytes)).expect("a file");
        let words = ["--find", "--show", file.to_str().expect("a plain path")];
        let device = says("losetup", &words).expect("a loop device").into();
        Self { file, device }
    }

    fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.file).expect("the file can be read")
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.device).status();
    }
}

fn replay(trace: &Path, device: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(cargo_bin("ioscape"));
    command.args(["trace", "replay"]).args([trace, device]).args(more).output().expect("it runs")
}

#[test]
fn a_device_is_replayed_on_when_allowed_and_not_mounted() {
    if !possible(&["mkfs.xfs", "losetup", "findmnt"]) {
        return;
    }
    let folder = folder();
    let trace = folder.path().join("a.spc");
    // Device, sector, bytes, operation, seconds.
    std::fs::write(&trace, "0,8,4096,r,0.0\n0,16,4096,w,0.1\n0,24,512,w,0.2\n").expect("a file");
    let disk = Loop::make(folder.path(), 1 << 20);
    let refused = replay(&trace, &disk.device, &[]);
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && text.contains("--destroy-data"), "{text}");
    assert!(disk.bytes().iter().all(|byte| *byte == 0), "nothing was written");

    let done = replay(&trace, &disk.device, &["--destroy-data", "--json"]);
    assert!(done.status.success(), "{done:?}");
    let document: Document = serde_json::from_slice(&done.stdout).expect("a document");
    let told = document.trace_replay().expect("a replay");
    assert_eq!((told.ios(), told.target_bytes, told.moved), (3, 1 << 20, 0));
    let bytes = disk.bytes();
    assert!(
        bytes[..8192].iter().chain(&bytes[12_800..]).all(|byte| *byte == 0),
        "read, not written"
    );
    assert!(bytes[8192..12_288].iter().any(|byte| *byte != 0), "sector 16 was written");
    assert!(bytes[12_288..12_800].iter().any(|byte| *byte != 0), "sector 24 was written");

    let xfs = Xfs::make(folder.path());
    let source = ["-n", "-o", "SOURCE", xfs.mount.to_str().expect("a plain path")];
    let device = says("findmnt", &source).expect("what is mounted");
    let refused = replay(&trace, Path::new(&device), &["--destroy-data"]);
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && text.contains("mounted"), "{text}");
}

/// A campaign on file systems that `command` makes in `folder`, with separate `mounts`.
fn campaign(mut command: Command, folder: &Path, mounts: &Path, result: &Path) -> Child {
    let file = folder.join("endless.toml");
    let text = "title = \"endless\"\nrounds = 1000\n[base]\nfile_size = \"1M\"\n[[vary]]\nname = \"iosize\"\n\
                values = [\"64k\", \"256k\"]\n[[method]]\nname = \"plain\"\n[[method]]\nname = \"raw\"\nraw = true\n";
    std::fs::write(&file, text).expect("a file");
    command
        .args(["campaign", "run"])
        .args([&file, folder])
        .args(["--fs", "ext4,tmpfs,raw", "--as-root-make", "--fs-size", "128M", "-o"])
        .arg(result)
        .env("TMPDIR", mounts)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).expect("the folder");
    let mut all: Vec<PathBuf> = all.map(|entry| entry.expect("an entry").path()).collect();
    all.sort();
    all
}

/// The lines of `process`'s mount table that name `folder`.
fn mounted(folder: &Path, process: &str) -> Vec<String> {
    let mounts = std::fs::read_to_string(format!("/proc/{process}/mounts")).expect("the mounts");
    naming(&mounts, folder)
}

/// The child that does the work of `process`; only this child sees the mounts.
fn child_of(process: &str) -> String {
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let children = children.expect("the kernel lists children");
    children.split_whitespace().next().expect("it has a child").to_owned()
}

/// Files in `folder` that back loop devices.
fn attached(folder: &Path) -> Vec<String> {
    let loops = says("losetup", &["--list", "--noheadings", "--output", "BACK-FILE"]);
    naming(&loops.expect("losetup lists"), folder)
}

fn naming(text: &str, folder: &Path) -> Vec<String> {
    let name = folder.to_str().expect("a plain path");
    text.lines().filter(|line| line.contains(name)).map(str::to_owned).collect()
}

/// Waits until no loop device has its file in `folder`: others may hold one for a moment.
fn expect_detached(folder: &Path) {
    let begun = Instant::now();
    while !attached(folder).is_empty() {
        assert!(begun.elapsed() < PATIENCE, "{:?} stay", attached(folder));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_interrupted_campaign_takes_down_all_that_it_made() {
    if !possible(&["mkfs.ext4", "losetup"]) {
        return;
    }
    for signal in ["INT", "TERM", "KILL"] {
        let [folder, mounts] = [folder(), folder()];
        let result = mounts.path().join("result.json");
        let mut child = campaign(ioscape(&[]), folder.path(), mounts.path(), &result);
        let begun = Instant::now();
        while !result.exists() {
            let ended = child.try_wait().expect("the child can be asked");
            assert!(ended.is_none() && begun.elapsed() < PATIENCE, "{ended:?}: no result");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(attached(folder.path()).len(), 2, "ext4 and raw have their files there");
        let process = child.id().to_string();
        let worker = child_of(&process);
        assert_eq!(mounted(mounts.path(), &worker).len(), 2, "ext4 and tmpfs are mounted");
        let status = Command::new("kill").args(["-s", signal, &process]).status();
        assert!(status.expect("kill runs").success());
        let output = child.wait_with_output().expect("it ends");
        expect_detached(folder.path());
        assert_eq!(mounted(mounts.path(), "self"), Vec::<String>::new());
        assert_eq!(entries(folder.path()), [folder.path().join("endless.toml")]);
        if signal != "KILL" {
            assert_eq!(output.status.code(), Some(130), "{output:?}");
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(told.contains(result.to_str().expect("a plain path")), "{told}");
            assert_eq!(entries(mounts.path()), [result.as_path()]);
        }
        let text = std::fs::read_to_string(&result).expect("a result");
        let document: Document = serde_json::from_str(&text).expect("a document");
        assert!(document.interrupted && document.campaign().is_some(), "what was measured is kept");
    }
}

/// `mkfs.xfs` first discards the whole device, which may take minutes, and then writes.
#[test]
fn an_interruption_ends_the_program_that_makes_a_file_system_too() {
    if !possible(&["mount"]) {
        return;
    }
    let [folder, mounts, programs] = [folder(), folder(), folder()];
    let (maker, told) = (programs.path().join("mkfs.ext4"), programs.path().join("told"));
    let script = "#!/bin/sh\necho $$ > \"$(dirname \"$0\")/told\"\nexec sleep 600\n";
    std::fs::write(&maker, script).expect("a script");
    std::fs::set_permissions(&maker, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    for signal in ["INT", "KILL"] {
        let path = std::env::var("PATH").expect("a path");
        let mut command = ioscape(&[]);
        command.env("PATH", format!("{}:{path}", programs.path().display()));
        let child = campaign(command, folder.path(), mounts.path(), &mounts.path().join("r.json"));
        let begun = Instant::now();
        let text = || std::fs::read_to_string(&told).unwrap_or_default();
        while !text().ends_with('\n') {
            assert!(begun.elapsed() < PATIENCE, "it makes no file system");
            std::thread::sleep(Duration::from_millis(20));
        }
        let status = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
        assert!(status.expect("kill runs").success());
        let output = child.wait_with_output().expect("it ends");
        assert!(signal == "KILL" || output.status.code() == Some(130), "{output:?}");
        let maker = Path::new("/proc").join(text().trim());
        while maker.join("exe").exists() {
            assert!(begun.elapsed() < PATIENCE, "the program goes on");
            std::thread::sleep(Duration::from_millis(20));
        }
        expect_detached(folder.path());
        std::fs::remove_file(&told).expect("a file");
    }
}

#[test]
fn a_campaign_whose_file_system_another_program_fills_keeps_what_was_measured() {
    if !possible(&["mount"]) {
        return;
    }
    let (elsewhere, small) = (folder(), Small::of("256m"));
    let [file, result] = ["c.toml", "r.json"].map(|name| elsewhere.path().join(name));
    let text = "title = \"endless\"\nrounds = 1000\n[base]\nfile_size = \"96M\"\nprepare = \"fresh\"\n\
                workload = \"write\"\n[[vary]]\nname = \"iosize\"\nvalues = [\"64k\", \"256k\"]\n\
                [[method]]\nname = \"plain\"\n";
    std::fs::write(&file, text).expect("a file");
    let mut command = Command::new(cargo_bin("ioscape"));
    command.args(["campaign", "run"]).args([file.as_path(), small.0.path()]);
    command.arg("-o").arg(&result).stdin(Stdio::null());
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let begun = Instant::now();
    while !result.exists() {
        assert!(begun.elapsed() < PATIENCE, "no result");
        std::thread::sleep(Duration::from_millis(20));
    }
    let filler = small.0.path().join("of-another-program");
    let mut other = std::fs::File::create(&filler).expect("a file");
    let block = vec![0; 4 << 20];
    // The test competes for freed space with the campaign, whose large file then finds no room.
    while child.try_wait().expect("the child can be asked").is_none() {
        assert!(begun.elapsed() < PATIENCE, "it goes on without room");
        if other.write(&block).is_err() {
            std::thread::sleep(Duration::from_micros(100));
        }
    }
    let output = child.wait_with_output().expect("it ends");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    let place = small.0.path().to_str().expect("a plain path");
    // Found by the write, or before the next file is begun.
    let is_cause = told.contains("No space left") || told.contains("of free space is needed");
    assert!(is_cause, "must tell the cause: {told}");
    assert!(!told.contains("of free space") || !told.contains("/file-"), "{told}");
    for word in [place, result.to_str().expect("a plain path")] {
        assert!(told.contains(word), "must say {word:?}: {told}");
    }
    let text = std::fs::read_to_string(&result).expect("a result");
    let document: Document = serde_json::from_str(&text).expect("a document");
    let rows = &document.campaign().expect("a campaign").rows;
    let samples: usize =
        rows.iter().flat_map(|row| &row.cells).map(|cell| cell.samples.len()).sum();
    assert!(document.interrupted && samples > 0, "what was measured is kept");
    assert_eq!(entries(small.0.path()), [filler]);
}

#[test]
fn a_file_system_is_made_anew_and_filled_for_the_cells_that_want_it_full() {
    if !possible(&["mkfs.ext4"]) {
        return;
    }
    let folder = folder();
    let (file, place) = (folder.path().join("full.toml"), folder.path().join("place"));
    std::fs::create_dir(&place).expect("a directory");
    let campaign = "title = \"full\"\nrounds = 2\n[base]\nfile_size = \"4M\"\nprepare = \"fresh\"\n\
                    workload = \"write\"\nfill_turnover = 1\n[[vary]]\nname = \"fill_percent\"\n\
                    values = [0, 60]\n[[method]]\nname = \"write\"\n";
    std::fs::write(&file, campaign).expect("a campaign");
    let run = |words: &[&str]| {
        let mut command = Command::new(cargo_bin("ioscape"));
        command.args(["campaign", "run"]).arg(&file).arg(&place).args(words).arg("--json");
        command.output().expect("it runs")
    };
    let output = run(&["--fs", "ext4", "--as-root-make", "--fs-size", "128M"]);
    let found: Document = serde_json::from_slice(&output.stdout).expect("a document");
    let table = found.campaign().expect("a campaign");
    let runs = table.rows.iter().map(|row| row.cells[0].samples.len());
    assert_eq!(runs.collect::<Vec<_>>(), [2, 2], "{table:?}");
    let told: Vec<&String> =
        table.sentences.iter().filter(|one| one.contains("to be filled")).collect();
    let [told] = told[..] else { panic!("one sentence: {:?}", table.sentences) };
    let reached = told.split("was ").nth(1).and_then(|rest| rest.split_once(" %")).expect(told).0;
    assert!((reached.parse::<f64>().expect("a number") - 60.0).abs() < 1.0, "{told}");
    assert_eq!(std::fs::read_dir(&place).expect("the place").count(), 0, "nothing stays behind");

    let too_large = run(&["--fs", "ext4", "--as-root-make", "--fs-size", "900T"]);
    let why = String::from_utf8_lossy(&too_large.stderr).into_owned();
    assert!(too_large.status.code() == Some(2) && why.contains("give --fs-size"), "{why}");
    let elsewhere = run(&[]);
    let table = String::from_utf8_lossy(&elsewhere.stdout).into_owned();
    assert!(table.contains("give --fs"), "a directory of the user's is never filled: {table}");
    assert_eq!(std::fs::read_dir(&place).expect("the place").count(), 0);
}

#[test]
fn a_file_behind_a_loop_device_is_no_target_by_any_of_its_names() {
    if !possible(&["losetup"]) {
        return;
    }
    let (folder, memory) = (folder(), tempfile::tempdir_in("/dev/shm").expect("a directory"));
    let disk = Loop::make(folder.path(), 1 << 20);
    let name = std::ffi::OsStr::from_bytes(b"not UTF-8 \xff ");
    let other = folder.path().join(name);
    let link = memory.path().join("link");
    std::os::unix::fs::symlink(&disk.file, &link).expect("a link");
    let refused_by = |words: &[&str], file: &Path| {
        let mut command = Command::new(cargo_bin("ioscape"));
        command.args(words).arg("--destroy-data").arg(file).current_dir(folder.path());
        let ran = command.output().expect("it runs");
        let text = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.code() == Some(2) && text.contains("is attached to"), "{text}");
        assert!(disk.bytes().iter().all(|byte| *byte == 0), "nothing was written");
    };
    let refused = |file: &Path| {
        let amount = ["vxbench", "-w", "write", "-i", "iosize=4k,iocount=1"];
        for words in [&["run", "--unique-bytes", "64k"][..], &amount] {
            refused_by(words, file);
        }
    };
    // By names unknown to the kernel: relative, through a link, and through the parent.
    let here = Path::new(disk.file.file_name().expect("a name"));
    let up = folder.path().join("..").join(folder.path().file_name().expect("a name")).join(here);
    for file in [here, link.as_path(), up.as_path()] {
        refused(file);
    }
    std::fs::hard_link(&disk.file, &other).expect("a link");
    refused(&disk.file);
    refused(&other);
    // The kernel's name for the file first no longer exists, and then is not valid text.
    let aside = folder.path().join("aside");
    std::fs::hard_link(&disk.file, &aside).expect("a link");
    std::fs::remove_file(&disk.file).expect("the link");
    std::fs::rename(&aside, &disk.file).expect("another name");
    refused(&disk.file);
    refused(&other);
}
