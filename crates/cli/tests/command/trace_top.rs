//! `ioscape trace top` shows what is in flight, second by second.

use super::common::devtools::Page;
use super::common::started::{Started, signal, wait_until};
use super::common::{Ran, cannot_record, ioscape, path, read, run, skipped};
use ioscape_schema::TopSecond;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Child;

/// Writes to the disk continuously until it is killed.
struct Writer(Child);

impl Writer {
    /// A `dd` lives for seconds, so that it is among the processes with the most time in flight.
    fn to(folder: &Path) -> Self {
        let script =
            "while :; do dd if=/dev/zero of=\"$0\" bs=4k count=25600 oflag=dsync status=none; done";
        let mut command = std::process::Command::new("sh");
        command.args(["-c", script]).arg(folder.join("written")).process_group(0);
        Self(command.spawn().expect("a shell"))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        let _ = self.0.wait();
    }
}

/// The files that a recorder has gathered beside the output in this directory.
fn gathered(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().flatten().map(|e| e.path());
    let spools = entries.filter(|p| path(p).contains(".recording-"));
    let files = spools.flat_map(|p| std::fs::read_dir(p).into_iter().flatten().flatten());
    files.map(|e| e.path()).collect()
}

/// Waits until a started recorder has gathered the events of many requests, or has ended.
fn wait_for_events(started: &Started, folder: &Path) {
    let size = || -> u64 {
        let files = gathered(folder).into_iter().filter_map(|file| file.metadata().ok());
        files.map(|about| about.len()).sum()
    };
    let begun = size();
    wait_until(|| started.has_ended() || size() > begun + (256 << 10));
}

#[test]
fn a_second_of_writes_is_seen() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let metrics = folder.path().join("top.prom");
    let _writer = Writer::to(folder.path());
    let words = ["trace", "top", "--path", path(folder.path()), "--once", "--json"];
    let ran = run(&[&words[..], &["--openmetrics", path(&metrics)]].concat());
    if cannot_record(&ran) {
        return;
    }
    let ran = ran.ended(0);
    let second: TopSecond = serde_json::from_str(&ran.out).expect("one line of JSON");
    assert!(second.all.written_bytes >= 65_536 && second.lost_events == 0, "{}", ran.out);
    assert!(second.elapsed_s > 0.5 && second.latency_counts.iter().sum::<u64>() == second.all.ios);
    for rows in [&second.devices, &second.processes, &second.types] {
        assert_eq!(rows.iter().map(|row| row.ios).sum::<u64>(), second.all.ios);
    }
    assert!(second.processes.iter().any(|row| row.name == "dd"), "{}", ran.out);
    assert!(read(&metrics).contains("ioscape_top_ios_per_second{device="));
    let text = run(&words[..5]).ended(0).out;
    assert!(text.contains(" IOPS ") && text.contains("process") && text.contains("dd"), "{text}");
}

#[test]
fn seconds_follow_one_another_until_it_is_ended() {
    let mut started = Started::of(&["trace", "top", "--json"]);
    let lines = BufReader::new(started.0.stdout.take().expect("a pipe")).lines();
    let seconds: Vec<TopSecond> = lines
        .take(3)
        .map(|line| serde_json::from_str(&line.expect("a line")).expect("a second"))
        .collect();
    let _ = std::process::Command::new("kill").arg(started.0.id().to_string()).status();
    let ran = started.end();
    if cannot_record(&ran) {
        return;
    }
    ran.ended(0);
    assert_eq!(seconds.len(), 3);
    for pair in seconds.windows(2) {
        let between_s = (pair[1].ended_unix_ns - pair[0].ended_unix_ns) as f64 / 1e9;
        assert!((between_s - pair[1].elapsed_s).abs() < 1e-6, "no gap between seconds");
    }
}

#[test]
fn a_browser_shows_second_after_second_and_that_it_ended() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let _writer = Writer::to(folder.path());
    let words = ["trace", "top", "--path", path(folder.path()), "--serve", "127.0.0.1:0"];
    let mut started = Started::of(&words);
    let mut told = BufReader::new(started.0.stderr.take().expect("a pipe"));
    let mut line = String::new();
    told.read_line(&mut line).expect("a line");
    let Some(address) = line.split_whitespace().find(|word| word.starts_with("http://")) else {
        let refused = Ran { err: line.clone(), ..started.end() };
        assert!(cannot_record(&refused), "{:?} {line}", refused.code);
        return;
    };
    let mut who = String::new();
    told.read_line(&mut who).expect("a line");
    assert!(who.starts_with("every user of this machine can read it"), "{who}");
    let Some(mut page) = Page::open(address, 400) else {
        signal(started.0.id(), "TERM");
        started.end().ended(0);
        skipped("there is no Chromium, so no page was opened");
        return;
    };
    page.wait_until("seconds.length >= 2 && by('state').textContent === ''");
    let now = page.value("by('now').textContent");
    page.wait_until(&format!("by('now').textContent !== {now}"));
    page.wait_until("by('processes').textContent.includes(' dd')");
    assert_eq!(page.value("by('devices').rows.length > 1 && by('types').rows.length > 1"), true);
    let drawn =
        "by('heat').getContext('2d').getImageData(0, 0, by('heat').width, by('heat').height)";
    page.wait_until(&format!("{drawn}.data.some(value => value > 0)"));
    let wide = page.value("document.documentElement.scrollWidth");
    assert!(wide.as_u64().is_some_and(|wide| wide <= 400), "{wide} pixels wide");
    assert!(page.said().is_empty(), "{:?}", page.said());
    signal(started.0.id(), "TERM");
    started.end().ended(0);
    page.wait_until("by('state').textContent.startsWith('not connected')");
}

#[test]
fn what_cannot_be_watched_is_refused() {
    run(&["trace", "top", "nowhere"]).ended(2).says(&["no such block device"]);
}

#[test]
fn what_is_gathered_for_a_device_lies_elsewhere() {
    let ran = run(&["trace", "record", "--seconds", "200ms", "-o", "/dev/null"]);
    if cannot_record(&ran) {
        return;
    }
    let told = ran.ended(0).err;
    assert!(told.contains(".recording-") && !told.contains("/dev/null.recording-"), "{told}");
}

#[test]
fn what_a_killed_recorder_had_gathered_is_read() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (place, out) = (path(folder.path()), folder.path().join("a.parquet"));
    let _writer = Writer::to(folder.path());
    let mut started = Started::of(&["trace", "record", "--path", place, "-o", path(&out)]);
    started.listen_until(|said| said.contains("what it gathered is in"));
    wait_for_events(&started, folder.path());
    let id = started.0.id().to_string();
    let _ = std::process::Command::new("kill").args(["-9", &id]).status();
    let ran = started.end();
    if cannot_record(&ran) {
        return;
    }
    assert!(ran.err.contains(".recording-") && !out.exists(), "{}", ran.err);
    let files = gathered(folder.path());
    let mut words = vec!["trace", "import", "--json", "-o", path(&out)];
    words.extend(files.iter().map(|file| path(file)));
    let told: ioscape_schema::Document = serde_json::from_str(&run(&words).ended(0).out).unwrap();
    let file = &told.trace_files().unwrap()[0];
    assert!(file.rows > 10 && file.bytes > 65_536, "{told:?}");
    assert!(told.warnings.iter().any(|warning| warning.message.contains("was killed")));
    assert!(file.info.commands.iter().any(|command| command == "dd"), "{told:?}");
}

#[test]
fn an_interrupted_recording_is_a_trace_and_its_command_does_not_live_on() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (place, trace) = (path(folder.path()), folder.path().join("a.parquet"));
    let number = folder.path().join("number");
    let deaf = "trap : TERM; echo $$ > number; while :; do dd if=/dev/zero of=w bs=64k count=4 oflag=dsync status=none; done";
    let mut command = ioscape(&["trace", "record", "--path", place, "-o", path(&trace)]);
    command.args(["--", "sh", "-c", deaf]).current_dir(folder.path());
    let started = Started::spawn(command);
    let is_begun = || std::fs::read_to_string(&number).is_ok_and(|text| text.ends_with('\n'));
    wait_until(|| is_begun() || started.has_ended());
    wait_for_events(&started, folder.path());
    signal(started.0.id(), "INT");
    let ran = started.end();
    if cannot_record(&ran) {
        return;
    }
    ran.ended(130).says(&["what was recorded until then is in", "a.parquet"]);
    assert!(!Path::new("/proc").join(read(&number).trim()).exists(), "its command runs on");
    let mut left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().flatten().collect();
    left.retain(|entry| entry.file_name().to_string_lossy().contains(".recording-"));
    assert!(left.is_empty(), "{left:?}");
    let told =
        run(&["trace", "import", "--json", path(&trace), "-o", path(&folder.path().join("b.csv"))]);
    let told: ioscape_schema::Document = serde_json::from_str(&told.ended(0).out).unwrap();
    assert!(told.trace_files().unwrap()[0].rows > 10, "{told:?}");
}
