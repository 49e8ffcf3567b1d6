//! What needs root and loop devices: options that only one file system honours, replays on a device, and taking down what was
//! made.

use assert_cmd::cargo::cargo_bin;
use ioscape_schema::Document;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Longest time to wait for what is certain to come.
const PATIENCE: Duration = Duration::from_secs(120);

fn says(program: &str, words: &[&str]) -> Option<String> {
    let output = Command::new(program).args(words).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Whether loop devices and these programs are at hand; says loudly what is left out otherwise.
#[expect(clippy::print_stderr, reason = "a test that is left out must be seen")]
fn possible(programs: &[&str]) -> bool {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let missing = programs.iter().find(|program| says(program, &["-V"]).is_none());
    let why = match missing {
        _ if !is_root => "it needs root".to_owned(),
        Some(program) => format!("{program} is not installed"),
        None if says("losetup", &["-f"]).is_none() => "there are no loop devices".to_owned(),
        None => return true,
    };
    eprintln!("SKIPPED: {why}");
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
        let (image, mount) = (folder.join("image"), folder.join("mount"));
        let file = std::fs::File::create(&image).expect("a file");
        file.set_len(512 << 20).expect("a size");
        std::fs::create_dir(&mount).expect("a directory");
        let text = |path: &Path| path.to_str().expect("a plain path").to_owned();
        says("mkfs.xfs", &["-q", &text(&image)]).expect("mkfs.xfs works");
        says("mount", &["-o", "loop", &text(&image), &text(&mount)]).expect("it can be mounted");
        Self { mount }
    }
}

impl Drop for Xfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.mount).status();
    }
}

fn vxbench(words: &[&str], file: &Path) -> Output {
    let mut command = Command::new(cargo_bin("ioscape"));
    command.arg("vxbench").args(words).arg(file).output().expect("it runs")
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

/// A device on a file of a size, let go when dropped.
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

/// A campaign on file systems that it makes in `folder`, its mounts in a directory of their own.
fn campaign(folder: &Path, mounts: &Path, result: &Path) -> Child {
    let file = folder.join("endless.toml");
    let text = "title = \"endless\"\nrounds = 1000\n[base]\nfile_size = \"1M\"\n[[vary]]\nname = \"iosize\"\n\
                values = [\"64k\", \"256k\"]\n[[method]]\nname = \"plain\"\n[[method]]\nname = \"raw\"\nraw = true\n";
    std::fs::write(&file, text).expect("a file");
    Command::new(cargo_bin("ioscape"))
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

/// Lines that name `folder` among the mounts that `process` sees.
fn mounted(folder: &Path, process: &str) -> Vec<String> {
    let mounts = std::fs::read_to_string(format!("/proc/{process}/mounts")).expect("the mounts");
    naming(&mounts, folder)
}

/// The process that does the work of `process`, which only keeps it: the mounts are seen by it alone.
fn child_of(process: &str) -> String {
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let children = children.expect("the kernel lists children");
    children.split_whitespace().next().expect("it has a child").to_owned()
}

/// Files in `folder` below loop devices.
fn attached(folder: &Path) -> Vec<String> {
    let loops = says("losetup", &["--list", "--noheadings", "--output", "BACK-FILE"]);
    naming(&loops.expect("losetup lists"), folder)
}

fn naming(text: &str, folder: &Path) -> Vec<String> {
    let name = folder.to_str().expect("a plain path");
    text.lines().filter(|line| line.contains(name)).map(str::to_owned).collect()
}

/// Waits until no loop device has its file in `folder`: others may look at a device for a moment.
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
        let mut child = campaign(folder.path(), mounts.path(), &result);
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
