//! A disk that fails in the middle, hangs, or loses what was written: one sentence in time, the
//! right exit code, and everything measured so far saved and named.

use super::Checks;
use crate::check::{Check, between, equal};
use crate::disk::Parameters;
use crate::lab::storage::{Disk, FileSystem};
use crate::lab::{Lab, Up};
use ioscape_schema::{Document, VerifyKind};
use std::path::Path;
use std::time::{Duration, Instant};

/// Evaluates a simulated disk without a kernel cache, and makes it fail after some points.
fn fails(lab: &Lab, fault: &str, word: &str) -> Result<Vec<Check>, String> {
    let result = lab.path("results/fault.ioscape.json").display().to_string();
    let mut up = lab.up();
    let fast = Parameters {
        size_mib: 64.0,
        direct_io: 1.0,
        bandwidth_mb_s: 200.0,
        ..Parameters::default()
    };
    let disk = up.disk("ft", &fast)?;
    let evaluate = format!(
        "'{}' evaluate mnt/ft.disk/disk --destroy-data --budget 60s -o {result} 2> w/fault.err",
        lab.binary()
    );
    let wait = format!("until grep -q purpose {result} 2>/dev/null; do sleep .1; done");
    let inject =
        format!("({wait}; echo '{fault}' > {}) > /dev/null 2>&1 &", disk.orders().display());
    let code = lab.shell(&format!("rm -f {result}; {inject} {evaluate} > /dev/null; echo $?"))?;
    let told = lab.shell("cat w/fault.err")?;
    let sentence = told.lines().last().unwrap_or_default().to_owned();
    let text = std::fs::read_to_string(&result).map_err(|e| format!("{result}: {e}"))?;
    let saved: Document = serde_json::from_str(&text).map_err(|e| format!("{result}: {e}"))?;
    let probes = saved.evaluation().map_or(0, |e| e.probes.len());
    let says = |what: &str| if sentence.contains(what) { "yes" } else { "no" };
    Ok(vec![
        equal(&format!("{word}: exit code"), "1", &code),
        equal(&format!("{word}: the sentence says what"), "yes", says(word)),
        equal(&format!("{word}: and where the results are"), "yes", says("fault.ioscape.json")),
        equal(&format!("{word}: results are saved"), "yes", if probes > 0 { "yes" } else { "no" }),
        equal(&format!("{word}: as interrupted"), "true", &saved.interrupted.to_string()),
    ])
}

/// Evaluates a simulated disk that answers nothing for 6 s, three times: whenever that falls, the
/// evaluation goes on.
fn stalls(lab: &Lab) -> Checks {
    let mut up = lab.up();
    let fast = Parameters {
        size_mib: 64.0,
        direct_io: 1.0,
        bandwidth_mb_s: 200.0,
        ..Parameters::default()
    };
    let disk = up.disk("st", &fast)?;
    let (orders, binary) = (disk.orders().display().to_string(), lab.binary());
    let stall = format!(
        "(for i in 1 2 3; do sleep 4; echo 'hang 1' > {orders}; sleep 6; echo 'hang 0' > {orders}; done) > /dev/null 2>&1 &"
    );
    let result = lab.path("results/stall.ioscape.json").display().to_string();
    let evaluate = format!(
        "'{binary}' evaluate mnt/st.disk/disk --destroy-data --budget 40s --force -o {result} > w/stall.out 2>&1; echo $?"
    );
    let code = lab.shell(&format!("{stall} {evaluate}"))?;
    Ok(vec![equal("three stalls of 6 s: exit code", "0", &code)])
}

/// A read error, a disk that suddenly fills up, and one that answers nothing for some seconds.
pub fn in_the_middle(lab: &Lab) -> Checks {
    let mut checks = stalls(lab)?;
    checks.extend(fails(lab, "eio_read 0 99999999999", "Input/output error")?);
    checks.extend(fails(lab, "enospc 1048576", "No space left on device")?);
    Ok(checks)
}

/// Seconds within which a hang must be reported, and within which an interrupted run must end.
const TOLD_S: f64 = 30.0;
const ENDED_S: f64 = 5.0;

/// The longest wait for something that should happen, in seconds.
const PATIENCE_S: u32 = 90;

/// A run on a disk that stops answering after two seconds, while the set is being written.
fn hung_run(lab: &Lab, up: &mut Up<'_>, disk: &Disk) -> Result<(), String> {
    begin(lab, up, "run mnt/hg --unique-bytes 150M --read-frac 0 --seconds 2s")?;
    std::thread::sleep(Duration::from_secs(2));
    disk.order("hang 1")
}

/// Starts the command with these words beside the test; what is left of it is killed when the
/// system is taken down.
fn begin(lab: &Lab, up: &mut Up<'_>, words: &str) -> Result<(), String> {
    lab.shell("rm -f w/hang.*")?;
    // A shell's background processes ignore SIGINT.
    let heard = "env --default-signal=INT";
    let run = format!("{heard} '{}' {words} > w/hang.out 2> w/hang.err", lab.binary());
    // The ID of the command itself, whose end gives the exit code.
    let alone = format!("{run} & echo $! > w/hang.pid; wait $!; echo $? > w/hang.code");
    up.beside("begun", &["bash", "-c", &alone])
}

/// Seconds until `condition`, a line of shell, holds.
fn seconds_until(lab: &Lab, condition: &str) -> Result<f64, String> {
    let begin = Instant::now();
    lab.shell(&format!(
        "for i in $(seq {PATIENCE_S}0); do {condition} && exit 0; sleep .1; done; exit 1"
    ))
    .map_err(|why| format!("{condition}: not within {PATIENCE_S} s {why}"))?;
    Ok(begin.elapsed().as_secs_f64())
}

/// What the next run says and leaves once the disk answers again.
fn after_the_hang(lab: &Lab, disk: &Disk) -> Result<Vec<Check>, String> {
    disk.order("hang 0")?;
    // What the kernel held ends now.
    std::thread::sleep(Duration::from_secs(3));
    let next = format!(
        "'{}' run mnt/hg --unique-bytes 1M --seconds 100ms > /dev/null 2> w/next.err; echo $?",
        lab.binary()
    );
    let code = lab.shell(&next)?;
    let left = lab.shell("ls -A mnt/hg | grep -c ioscape-scratch || true")?;
    Ok(vec![equal("the next run: exit code", "0", &code), equal("scratch files left", "0", &left)])
}

/// A disk that stops answering: this is reported in time, and Ctrl-C ends the run whatever the
/// kernel holds.
pub fn that_hangs(lab: &Lab) -> Checks {
    let mut up = lab.up();
    let slow = Parameters { size_mib: 512.0, bandwidth_mb_s: 30.0, ..Parameters::default() };
    let (disk, device) = up.disk_with("hg", FileSystem::Ext4, &slow)?;
    hung_run(lab, &mut up, &disk)?;
    let told = seconds_until(lab, "grep -q 'does not answer' w/hang.err")?;
    let ended = seconds_until(lab, "test -s w/hang.code")?;
    let mut checks = vec![
        between("a hang is told after (s)", 1.0, TOLD_S, Some(told)),
        between("and the run ends after another (s)", 0.0, 2.0 * ENDED_S, Some(ended)),
        equal("its exit code", "1", &lab.shell("cat w/hang.code")?),
    ];
    checks.extend(after_the_hang(lab, &disk)?);
    hung_run(lab, &mut up, &disk)?;
    lab.shell("sleep 1; kill -TERM $(cat w/hang.pid)")?;
    let ended = seconds_until(lab, "test -s w/hang.code")?;
    checks.push(between("after SIGTERM the run ends within (s)", 0.0, ENDED_S, Some(ended)));
    checks.push(equal("with exit code", "130", &lab.shell("cat w/hang.code")?));
    checks.extend(after_the_hang(lab, &disk)?);
    checks.extend(hung_recording(lab, &mut up, &disk, &device)?);
    checks.extend(stubborn_recording(lab)?);
    Ok(checks)
}

/// Directories of a file system that takes seconds to report what its blocks hold.
const DIRECTORIES: u32 = 50_000;

/// A recording of a command that does not end when asked to, on a file system with many
/// directories: Ctrl-C ends both in time.
fn stubborn_recording(lab: &Lab) -> Result<Vec<Check>, String> {
    let mut up = lab.up();
    let device = up.fast_device("many", 1024)?;
    up.file_system("many", FileSystem::Ext4, &device)?;
    lab.shell(&format!(
        "cd mnt/many && seq -f %06g {DIRECTORIES} | sed 's|...$|/&|' | xargs mkdir -p"
    ))?;
    let checks = recording_of_the_deaf(lab, &mut up, &device);
    // It is in no journal and would keep the file system busy.
    let end = "grep -qs w/deaf.sh /proc/$pid/cmdline && kill -KILL $pid; rm -f w/deaf.*";
    lab.shell(&format!("pid=$(cat w/deaf.pid) && {end}"))?;
    checks
}

fn recording_of_the_deaf(lab: &Lab, up: &mut Up<'_>, device: &Path) -> Result<Vec<Check>, String> {
    let name = device.file_name().unwrap_or_default().display().to_string();
    let deaf = "trap : TERM; echo $$ > w/deaf.pid; while :; do sleep .1; sync mnt/many; done";
    std::fs::write(lab.path("w/deaf.sh"), deaf).map_err(|e| format!("deaf.sh: {e}"))?;
    let record = "-o w/deaf.parquet --force -- sh w/deaf.sh";
    begin(lab, up, &format!("trace record --device {name} {record}"))?;
    seconds_until(lab, "test -s w/deaf.pid")?;
    lab.shell("sleep 1; kill -INT $(cat w/hang.pid)")?;
    let ended = seconds_until(lab, "test -s w/hang.code")?;
    let left = lab.shell("kill -0 $(cat w/deaf.pid) 2> /dev/null && echo yes || echo no")?;
    let code = lab.shell("cat w/hang.code")?;
    Ok(vec![
        between("stubborn command: after SIGINT it ends within (s)", 0.0, ENDED_S, Some(ended)),
        equal("with exit code", "130", &code),
        equal("the command runs on", "no", &left),
    ])
}

/// A recording of a device stops because its output, on the same device, can no longer be written:
/// this is reported in time, Ctrl-C ends it, and what was gathered is kept where the beginning
/// said.
fn hung_recording(
    lab: &Lab,
    up: &mut Up<'_>,
    disk: &Disk,
    device: &Path,
) -> Result<Vec<Check>, String> {
    let name = device.file_name().unwrap_or_default().display().to_string();
    let output = "mnt/hg/recorded.parquet";
    begin(lab, up, &format!("trace record --device {name} --seconds 5s -o {output}"))?;
    seconds_until(lab, "grep -q 'what it gathered is in' w/hang.err")?;
    // Requests to be recorded, sent to the device before it hangs.
    lab.shell(
        "dd if=/dev/zero of=mnt/hg/other bs=64k count=16 oflag=direct 2> /dev/null; sync mnt/hg",
    )?;
    std::thread::sleep(Duration::from_secs(1));
    disk.order("hang 1")?;
    let told = seconds_until(lab, "grep -q 'does not answer' w/hang.err")?;
    let names = lab.shell("grep -c ' on .*mnt/hg/.* has not returned' w/hang.err || true")?;
    lab.shell("kill -INT $(cat w/hang.pid)")?;
    let ended = seconds_until(lab, "test -s w/hang.code")?;
    let code = lab.shell("cat w/hang.code")?;
    disk.order("hang 0")?;
    std::thread::sleep(Duration::from_secs(3));
    let gathered = format!("cat {output}.recording-*/part1-cpu* | wc -c");
    let bytes: f64 = lab.shell(&gathered)?.parse().unwrap_or(0.0);
    let import =
        format!("'{}' trace import {output}.recording-*/* -o w/hang.parquet", lab.binary());
    let read = lab.shell(&format!("{import} > /dev/null 2> w/import.err; echo $?"))?;
    lab.shell(&format!("rm -rf {output}*"))?;
    Ok(vec![
        between("recording: a hang is told after (s)", 1.0, TOLD_S, Some(told)),
        equal("with the name of a file beside the output", "1", &names),
        between("after SIGINT it ends within (s)", 0.0, ENDED_S, Some(ended)),
        equal("with exit code", "130", &code),
        between("bytes gathered and kept", 1.0, f64::INFINITY, Some(bytes)),
        equal("which `trace import` reads: exit code", "0", &read),
    ])
}

/// Writes that the cache accepted and the disk lost fail the run, long after each succeeded.
pub fn lost_writes(lab: &Lab) -> Checks {
    let mut up = lab.up();
    let disk = up.disk("lw", &Parameters { size_mib: 128.0, ..Parameters::default() })?;
    let device = up.loop_device(&disk.file())?;
    // A run ends once its figure is known, so a single one may be over before the fault; with many, one meets it.
    let jobs: String = (0..200)
        .map(|n| {
            format!("[[job]]\nname = \"{n}\"\nunique_bytes = \"32M\"\nread_frac = 0\nseconds = 4\n")
        })
        .collect();
    std::fs::write(lab.path("w/lost.toml"), jobs).map_err(|e| format!("lost.toml: {e}"))?;
    let run = format!(
        "'{}' run {} w/lost.toml --destroy-data > /dev/null 2> w/lost.err",
        lab.binary(),
        device.display()
    );
    let inject =
        format!("(sleep 2; echo 'eio_write 0 99999999999' > {}) &", disk.orders().display());
    let code = lab.shell(&format!("{inject} {run}; echo $?"))?;
    disk.order("clear")?;
    let told = lab.shell("tail -1 w/lost.err")?;
    let says = if told.contains("write back") && told.contains("error") { "yes" } else { "no" };
    Ok(vec![
        equal("lost writes: exit code", "1", &code),
        equal("lost writes: the sentence says what", "yes", says),
    ])
}

/// Runs two verified jobs on a disk without a kernel cache, which starts to lie before them or
/// between them. Returns the exit code and the counts of what was found.
fn verified(
    lab: &Lab,
    disk: &Disk,
    lie: &str,
    between: bool,
) -> Result<(String, Document), String> {
    let jobs = "[defaults]\nunique_bytes = \"8M\"\nsize_mean = \"4k\"\nsize_dist = \"fixed\"\nverify = true\n\
                read_frac = 0.5\nseconds = 1\n[[job]]\nname = \"before\"\n[[job]]\nname = \"after\"\n";
    std::fs::write(lab.path("w/verify.toml"), jobs).map_err(|e| format!("verify.toml: {e}"))?;
    let result = lab.path("results/verify.ioscape.json").display().to_string();
    let tell = format!("echo '{lie}' > {}", disk.orders().display());
    let wait = format!("until grep -q before {result} 2>/dev/null; do sleep .05; done");
    let inject = match between {
        true => format!("({wait}; {tell}) > /dev/null 2>&1 &"),
        false => format!("{tell};"),
    };
    let run = format!(
        "'{}' run {} w/verify.toml --destroy-data -o {result} > w/verify.out 2> w/verify.err",
        lab.binary(),
        disk.file().display()
    );
    let code = lab.shell(&format!("rm -f {result}; {inject} {run}; echo $?"))?;
    disk.order("clear")?;
    let text = std::fs::read_to_string(&result).map_err(|e| format!("{result}: {e}"))?;
    serde_json::from_str(&text).map(|saved| (code, saved)).map_err(|e| format!("{result}: {e}"))
}

/// A disk that reports a write as done although it was not, or not as asked: verification finds and
/// locates it.
pub fn lies(lab: &Lab) -> Checks {
    let mut up = lab.up();
    let fast = Parameters {
        size_mib: 16.0,
        direct_io: 1.0,
        bandwidth_mb_s: 500.0,
        ..Parameters::default()
    };
    let disk = up.disk("vf", &fast)?;
    let mut checks = Vec::new();
    let spoiled = 4 << 20..5 << 20;
    for (lie, between, kind) in [
        ("clear", false, None),
        ("corrupt 4194304 5242879", false, Some(VerifyKind::Corrupt)),
        ("drop 4194304 5242879", false, Some(VerifyKind::Lost)),
        ("drop 4194304 5242879", true, Some(VerifyKind::Stale)),
        ("misplace 5242880 6291455", false, Some(VerifyKind::Misplaced)),
        ("tear 4194304 5242879", true, Some(VerifyKind::Torn)),
    ] {
        let (code, saved) = verified(lab, &disk, lie, between)?;
        let runs = saved.measurements().cloned().unwrap_or_default();
        let reports: Vec<_> = runs.iter().filter_map(|run| run.verify.as_ref()).collect();
        let wrong: u64 = reports.iter().map(|report| report.wrong_blocks()).sum();
        let when = if between { ", between two jobs" } else { "" };
        let name = |what: &str| format!("{lie}{when}: {what}");
        let Some(kind) = kind else {
            checks.push(equal(&name("exit code"), "0", &code));
            checks.push(equal(&name("wrong blocks"), "0", &wrong.to_string()));
            continue;
        };
        checks.push(equal(&name("exit code"), "1", &code));
        let mut found = reports.iter().flat_map(|report| &report.findings);
        let here = found.any(|one| one.kind == kind && spoiled.contains(&one.offset));
        let told = if here { "yes" } else { "no" };
        checks.push(equal(&name(&format!("told as {} and located", kind.word())), "yes", told));
    }
    Ok(checks)
}
