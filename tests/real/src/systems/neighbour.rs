//! An unrelated file system that does not answer: no command waits for it.

use super::Checks;
use crate::check::{Check, equal};
use crate::lab::storage::FileSystem;
use crate::lab::{Lab, Up};

/// Seconds after which a command counts as waiting for what does not answer.
const PATIENCE_S: u32 = 120;

/// Commands that touch storage, with their exit codes. `$LOOP` is a device of their own, beside the
/// unresponsive one.
const COMMANDS: &[(&str, &str)] = &[
    ("run w/near --unique-bytes 1M --seconds 100ms", "0"),
    ("run w/near/file --destroy-data --unique-bytes 1M --seconds 100ms", "0"),
    ("run $LOOP --destroy-data --unique-bytes 1M --seconds 100ms", "0"),
    // The file behind a device is in use, which must be found without asking the other devices.
    ("run w/near/image --destroy-data --unique-bytes 1M", "2"),
    ("evaluate w/near --dry-run --max-unique-bytes 4M", "0"),
    ("evaluate w/near --budget 4s --max-unique-bytes 1M -o w/near/e.ioscape.json", "0"),
    ("predict w/near/e.ioscape.json --unique-bytes 1M", "0"),
    ("report w/near/e.ioscape.json -o w/near/e.html", "0"),
    ("vxbench -w write -i iosize=4k,iocount=8 w/near/vx", "0"),
    ("vxbench -w write -i iosize=4k,iocount=8 --destroy-data w/near/file", "0"),
    ("campaign run w/near/tiny.toml w/near", "0"),
    ("campaign run metadata w/near --rounds 1 --budget 1s", "0"),
    ("trace replay w/near/a.spc w/near --buffered", "0"),
    ("characterize -- true", "0"),
    ("os --only getpid,create-delete --quick --dir w/near", "0"),
    ("doctor w/near", "0"),
];

/// A recording looks at all directories of the disk; the neighbour is mounted on one of them.
const RECORDING: &str = "trace record --path w/near -o w/near/rec.parquet -- true";
/// Where the kernel's trace buffers are, if it has any.
const TRACEFS: &str = "/sys/kernel/tracing/events";

const CAMPAIGN: &str = "title = \"tiny\"\nrounds = 1\n[base]\nworkload = \"write\"\nfile_size = \"16k\"\niosize = \"4k\"\n\
    [[vary]]\nname = \"files\"\nvalues = [1]\n[[method]]\nname = \"buffered\"\n";

/// Creates what the commands need in `w/near`; returns a loop device of their own.
fn near(lab: &Lab, up: &mut Up<'_>) -> Result<String, String> {
    let near = up.directory("w/near")?;
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(near.join(name), bytes).map_err(|e| format!("{name}: {e}"))
    };
    write("file", &vec![7; 2 << 20])?;
    write("image", &vec![7; 4 << 20])?;
    write("tiny.toml", CAMPAIGN.as_bytes())?;
    write("a.spc", b"0,8,4096,r,0.0\n0,16,4096,w,0.1\n")?;
    Ok(up.loop_device(&lab.path("w/near/image"))?.display().to_string())
}

/// The outcome of a command, and whether it ended.
fn tried(lab: &Lab, device: &str, words: &str, code: &str) -> Result<Check, String> {
    let line = format!(
        "LOOP={device} timeout -s KILL {PATIENCE_S} bash -c \"exec '{}' {words}\" > w/near.out 2>&1; echo $?",
        lab.binary(),
    );
    let ended = lab.shell(&line)?;
    let said = lab.shell("tail -1 w/near.out")?;
    let found = if ended == code { ended } else { format!("{ended}: {said}") };
    Ok(equal(words, code, &found))
}

/// A stopped server, a loop device on one of its files, and a file system on that: nobody who does
/// not use them notices.
pub fn does_not_answer(lab: &Lab) -> Checks {
    let mut up = lab.up();
    let far = up.sshfs_alone("far", "w/far")?;
    lab.shell("truncate -s 64M w/far/image")?;
    let device = up.loop_device(&far.join("image"))?;
    up.file_system("on-far", FileSystem::Ext4, &device)?;
    let own = near(lab, &mut up)?;
    // Unwritten data would block whoever asks for everything to be written.
    lab.shell("echo dirty > mnt/on-far/dirty")?;
    up.stop_sshfs("far")?;
    // What the kernel knew of the file has expired by now.
    let asked =
        lab.shell("sleep 3; timeout -s KILL 3 stat mnt/far/image > /dev/null 2>&1; echo $?")?;
    let mut checks = vec![equal("the neighbour does not answer", "137", &asked)];
    let recording = lab.has(TRACEFS).then_some(&(RECORDING, "0"));
    for (words, code) in COMMANDS.iter().chain(recording) {
        checks.push(tried(lab, &own, words, code)?);
    }
    Ok(checks)
}
