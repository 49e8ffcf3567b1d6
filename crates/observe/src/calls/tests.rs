//! The recorder on real programs whose calls are known: tools of the system, and this test binary
//! itself.

use super::threads::send;
use super::{CallOptions, CallSink, Recording, record};
use ioscape_machine::error::Error;
use ioscape_machine::limits::{as_before, raise_open_files};
use ioscape_machine::testing::skipped;
use ioscape_schema::{Ending, FileCall, Op};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};

/// The variable that names the part this binary plays when it is run as the command.
const PART: &str = "IOSCAPE_TEST_PART";

/// Records what `command` did below `folder`.
fn run_with(
    folder: &Path,
    command: &[&str],
    options: CallOptions,
) -> Result<(Recording, Vec<FileCall>), Error> {
    let words: Vec<OsString> = command.iter().map(OsString::from).collect();
    let mut calls = Vec::new();
    let options = CallOptions { below: Some(folder.to_owned()), ..options };
    let recording = record(&words, &options, &mut |call: &FileCall| calls.push(*call))?;
    Ok((recording, calls))
}

fn run(folder: &Path, command: &[&str]) -> (Recording, Vec<FileCall>) {
    let quiet = CallOptions { stdout_to_stderr: true, ..CallOptions::default() };
    run_with(folder, command, quiet).expect("the command runs")
}

fn shell(folder: &Path, line: &str) -> (Recording, Vec<FileCall>) {
    run(folder, &["sh", "-c", &format!("cd '{}'; {line}", folder.display())])
}

/// Runs this binary in one of the parts of [`play`].
pub(super) fn play_in(folder: &Path, part: &str) -> (Recording, Vec<FileCall>) {
    let own = std::env::current_exe().expect("this binary");
    let set = format!("{PART}={part}:{}", folder.display());
    let test = "calls::tests::a_part_is_played";
    let own = own.to_str().expect("a plain path");
    run(folder, &["env", &set, own, "--exact", test, "--test-threads=1"])
}

pub(super) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// Operation, offset and length of the calls that moved bytes.
pub(super) fn requests(calls: &[FileCall]) -> Vec<(Op, u64, u32)> {
    let moved = calls.iter().filter(|call| !call.is_sync());
    moved.map(|call| (call.request.op, call.request.offset, call.request.len)).collect()
}

fn of<'a>(recording: &Recording, calls: &'a [FileCall], name: &str) -> Vec<&'a FileCall> {
    let is = |call: &&FileCall| recording.files[call.file as usize].path.ends_with(name);
    calls.iter().filter(is).collect()
}

#[test]
fn a_sequential_copy_is_seen_request_by_request() {
    for every_call in [false, true] {
        let place = folder();
        std::fs::write(place.path().join("in"), vec![7; 300_000]).expect("a file");
        let path = |name: &str| place.path().join(name).display().to_string();
        let words = [format!("if={}", path("in")), format!("of={}", path("out"))];
        let command = ["dd", &words[0], &words[1], "bs=64k", "conv=fsync", "status=none"];
        let options = CallOptions { every_call, ..CallOptions::default() };
        let (recording, calls) = run_with(place.path(), &command, options).expect("dd runs");
        assert_eq!(recording.filtered, !every_call);
        assert_eq!(recording.ending, Some(Ending::Exit(0)));
        let blocks =
            [(0, 65536), (65536, 65536), (131_072, 65536), (196_608, 65536), (262_144, 37856)];
        let of_op = |op: Op| -> Vec<(u64, u32)> {
            let all = requests(&calls);
            all.iter().filter(|one| one.0 == op).map(|one| (one.1, one.2)).collect()
        };
        assert_eq!(of_op(Op::Read), blocks);
        assert_eq!(of_op(Op::Write), blocks);
        assert_eq!(calls.iter().filter(|call| call.is_sync()).count(), 1);
        assert_eq!(recording.processes.len(), 1);
        assert_eq!(recording.processes[0].command, "dd");
        assert_eq!(recording.files.len(), 2);
        assert!(recording.files.iter().all(|file| file.opens == 1));
        assert!(calls.windows(2).all(|pair| pair[0].completed_ns <= pair[1].issued_ns));
        assert!(recording.cost.in_call_ns > 0);
        assert!(recording.elapsed_ns >= calls.last().expect("calls").completed_ns);
    }
}

#[test]
fn children_share_the_offset_of_an_inherited_file() {
    let place = folder();
    std::fs::write(place.path().join("in"), vec![b'x'; 3000]).expect("a file");
    let (recording, calls) = shell(
        place.path(),
        "(for i in 1 2 3; do dd bs=1000 count=1 status=none; done) < in > out; echo y >> out",
    );
    assert_eq!(recording.ending, Some(Ending::Exit(0)));
    let read: Vec<_> = of(&recording, &calls, "in").iter().map(|c| c.request.offset).collect();
    assert_eq!(read, [0, 1000, 2000]);
    let written: Vec<_> = of(&recording, &calls, "out").iter().map(|c| c.request.offset).collect();
    assert_eq!(written, [0, 1000, 2000, 3000], "and what is appended comes at the end");
    let pids: std::collections::BTreeSet<_> = recording.processes.iter().map(|p| p.pid).collect();
    assert_eq!(pids.len(), 4, "three copies and the shell: {:?}", recording.processes);
}

#[derive(Default)]
struct Lost(Vec<(u32, u64)>);

impl CallSink for Lost {
    fn call(&mut self, _: &FileCall) {}
    fn given_up(&mut self, file: u32, from: u64) {
        self.0.push((file, from));
    }
}

#[test]
fn files_that_lose_their_bytes_are_told() {
    let place = folder();
    let line = format!(
        "cd '{}'; echo a > gone; rm gone; echo b > old; echo c > new; mv new old; echo d > kept; truncate -s 1 kept; \
         echo e > kept; echo f > linked; ln linked other; rm other; exec 3> held; echo g >&3; rm held; echo h >&3",
        place.path().display()
    );
    let words = ["sh", "-c", &line].map(OsString::from);
    let below = Some(place.path().to_owned());
    let mut lost = Lost::default();
    let recording = record(&words, &CallOptions { below, ..CallOptions::default() }, &mut lost);
    let files = recording.expect("the command runs").files;
    let named = |&(file, from): &(u32, u64)| {
        let path = Path::new(&files[file as usize].path);
        (path.file_name().expect("a name").to_string_lossy().into_owned(), from)
    };
    let found: Vec<(String, u64)> = lost.0.iter().map(named).collect();
    let known = [("gone", 0), ("old", 0), ("kept", 1), ("kept", 0)];
    assert_eq!(found, known.map(|(name, from)| (name.to_owned(), from)));
}

#[test]
fn pipes_and_devices_are_no_files() {
    let place = folder();
    std::fs::write(place.path().join("in"), vec![b'x'; 5000]).expect("a file");
    let (recording, calls) =
        shell(place.path(), "cat in | cat > /dev/null; cat /proc/self/stat > /dev/null");
    assert_eq!(requests(&calls).iter().map(|r| u64::from(r.2)).sum::<u64>(), 5000);
    assert!(recording.elsewhere["pipe"] >= 2, "{:?}", recording.elsewhere);
    assert!(recording.elsewhere.contains_key("character device"));
    assert!(recording.elsewhere.contains_key("kernel file"));
    assert!(recording.elsewhere.contains_key("file not asked for"), "libraries lie elsewhere");
}

#[test]
fn a_file_made_anew_is_another_file() {
    let place = folder();
    let (recording, calls) =
        shell(place.path(), "echo one > a; rm a; sleep 0.02; echo two > a; cat a > /dev/null");
    let files: Vec<u32> = calls.iter().map(|call| call.file).collect();
    assert_eq!(files, [0, 1, 1], "{:?}", recording.files);
}

#[test]
fn ends_are_told() {
    let place = folder();
    assert_eq!(shell(place.path(), "exit 3").0.ending, Some(Ending::Exit(3)));
    assert_eq!(shell(place.path(), "kill -TERM $$").0.ending, Some(Ending::Signal(libc::SIGTERM)));
    let missing = run_with(place.path(), &["ioscape-no-such-program"], CallOptions::default());
    let error = missing.expect_err("there is no such program");
    assert!(error.is_misuse() && error.to_string().contains("no such program"), "{error}");
    let text = place.path().join("text");
    std::fs::write(&text, "no program").expect("a file");
    let refused = run_with(place.path(), &[text.to_str().expect("plain")], CallOptions::default());
    assert!(refused.expect_err("it may not be executed").to_string().contains("mode"));
}

#[test]
fn a_program_on_a_file_system_without_execution_has_no_wrong_mode() {
    let refused = |name: &str| {
        let error = std::io::Error::from_raw_os_error(libc::EACCES);
        super::refused(&[name.into()], &error).to_string()
    };
    assert!(refused("/").ends_with("it is a directory"));
    let by_path = "/proc/version";
    if !super::is_on_noexec(Path::new(by_path)) {
        return skipped("/proc is mounted without noexec");
    }
    assert!(refused(by_path).contains("noexec"));
    assert!(refused("version").contains("mode"), "PATH tells where it is");
}

#[test]
fn a_command_may_open_as_many_files_as_without_a_recorder() {
    raise_open_files();
    let told = as_before(Command::new("sh").args(["-c", "ulimit -Sn"])).output().expect("a shell");
    let limit = String::from_utf8(told.stdout).expect("a number");
    let place = folder();
    let (recording, _) = shell(place.path(), &format!("test \"$(ulimit -Sn)\" = {limit}"));
    assert_eq!(recording.ending, Some(Ending::Exit(0)), "{limit}");
    assert_eq!(recording.unread_descriptors, 0);
}

#[test]
fn an_interruption_ends_the_command_and_keeps_what_was_seen() {
    let place = folder();
    let interrupt = Arc::new(AtomicBool::new(false));
    let options = CallOptions { interrupt: Arc::clone(&interrupt), ..CallOptions::default() };
    let line = format!("echo x > '{}/a'; trap '' INT; sleep 1000", place.path().display());
    let words: Vec<OsString> = ["sh", "-c", &line].iter().map(OsString::from).collect();
    let mut seen = 0;
    // The first write seen triggers the interruption: nothing here depends on how fast that is.
    let recording = record(&words, &options, &mut |call: &FileCall| {
        seen += u32::from(call.request.op == Op::Write);
        interrupt.store(true, Ordering::Relaxed);
    })
    .expect("it ends");
    assert!(recording.interrupted && seen == 1);
    assert!(matches!(recording.ending, Some(Ending::Signal(_) | Ending::Exit(_))));
}

/// Many programs take a second SIGINT as a wish to abandon their work, and SIGKILL leaves none a
/// choice.
#[test]
fn a_command_that_was_asked_to_end_is_asked_no_more_and_has_its_time() {
    // A recorder that gets no processor for long asks before it has seen the signal.
    assert!((0..3).any(|_| is_asked_once_and_ends()), "it is asked again each time");
}

fn is_asked_once_and_ends() -> bool {
    let place = folder();
    let options = CallOptions { below: Some(place.path().to_owned()), ..CallOptions::default() };
    let work = "trap 'echo x >> heard' INT; echo $$ > number; n=0; \
                while [ $n -lt 40 ]; do sleep 0.1; n=$((n+1)); done; echo y > done";
    let line = format!("cd '{}'; {work}", place.path().display());
    let words: Vec<OsString> = ["sh", "-c", &line].iter().map(OsString::from).collect();
    let recording = record(&words, &options, &mut |_: &FileCall| {
        // As a terminal does: both at the same time, once.
        if !options.interrupt.swap(true, Ordering::Relaxed) {
            let number = std::fs::read_to_string(place.path().join("number")).expect("written");
            send(number.trim().parse().expect("a number"), libc::SIGINT);
        }
    })
    .expect("it ends");
    assert!(recording.interrupted);
    assert_eq!(recording.ending, Some(Ending::Exit(0)));
    let read = |name: &str| std::fs::read_to_string(place.path().join(name)).expect("a file");
    assert_eq!(read("done"), "y\n");
    read("heard") == "x\n"
}

/// Records a shell line in `place`, and interrupts it once it has moved bytes there. Only the
/// recorder gets signals: one, or two if `forced`.
fn interrupted(place: &Path, shell: &str, line: &str, forced: bool) -> Recording {
    let options = CallOptions { below: Some(place.to_owned()), ..CallOptions::default() };
    let line = format!("cd '{}'; {line}", place.display());
    let words = [shell, "-c", &line].map(OsString::from);
    let recording = record(&words, &options, &mut |_: &FileCall| {
        options.interrupt.store(true, Ordering::Relaxed);
        options.kill.store(forced, Ordering::Relaxed);
    });
    recording.expect("it ends")
}

/// Bash continues its script unless the program that it waits for was interrupted too.
#[test]
fn a_script_is_interrupted_with_the_program_that_it_waits_for() {
    if Command::new("bash").arg("--version").output().is_err() {
        return skipped("there is no bash");
    }
    let place = folder();
    let line = "echo x > begun; sleep 60; echo y > on; sleep 60";
    let recording = interrupted(place.path(), "bash", line, false);
    assert!(recording.interrupted && !place.path().join("on").exists(), "it went on");
}

#[test]
fn what_a_deaf_script_waits_for_is_asked_to_end() {
    let place = folder();
    let line = "trap '' INT TERM; env --default-signal=TERM \
                sh -c 'echo x > begun; exec sleep 60' && echo y > slept; exit 3";
    let recording = interrupted(place.path(), "sh", line, false);
    assert!(!place.path().join("slept").exists(), "nobody asked it");
    assert_eq!(recording.ending, Some(Ending::Exit(3)), "the script goes on");
}

#[test]
fn who_does_not_end_is_killed_at_the_second_interruption() {
    let place = folder();
    let line = "trap '' INT TERM; echo x > begun; sleep 60; echo y > slept";
    let recording = interrupted(place.path(), "sh", line, true);
    assert_eq!(recording.ending, Some(Ending::Signal(libc::SIGKILL)));
    assert!(!place.path().join("slept").exists());
}

#[test]
fn the_memory_of_a_process_that_nobody_waits_for_counts() {
    let place = folder();
    // A program with a locale may map all installed ones, which can be hundreds of MB and count as
    // pages of a file.
    let line = "(LC_ALL=C dd if=/dev/zero of=/dev/null bs=64M count=1 status=none &)";
    let (recording, _) = shell(place.path(), line);
    let most = recording.memory_bytes.expect("the kernel says");
    // What it mapped as it began may be missing.
    assert!((56 << 20..1 << 30).contains(&most), "{most}");
}

/// As with the workers of a loader: each of them waits for its reader while it holds a buffer.
#[test]
fn the_memory_of_processes_that_run_together_is_added_up() {
    // A dd writes once it has read its whole block. No process ends before all three have.
    let all = "until [ -e full-1 ] && [ -e full-2 ] && [ -e full-3 ]; do :; done";
    let fill = |n| {
        let full = format!("{{ read one; : >full-{n}; {all}; }}");
        let block = "LC_ALL=C dd bs=32M iflag=fullblock count=1 status=none";
        format!("yes '' | {block} | {full} & ")
    };
    let (recording, _) = shell(folder().path(), &([1, 2, 3].map(fill).concat() + "wait"));
    let most = recording.memory_bytes.expect("the kernel says");
    assert!((80 << 20..1 << 30).contains(&most), "{most}");
}

#[test]
fn calls_with_their_own_offset_leave_the_position_alone() {
    let place = folder();
    let (_, calls) = play_in(place.path(), "places");
    use Op::{Read, Write};
    assert_eq!(
        requests(&calls),
        [
            (Write, 0, 4096),
            (Write, 100_000, 512),
            (Read, 100_000, 512),
            (Read, 4000, 96),
            (Write, 4096, 10),
            (Write, 50_000, 5),
            (Read, 50_000, 5)
        ]
    );
    assert_eq!(calls.iter().filter(|call| call.is_sync()).count(), 2);
}

#[test]
fn appended_bytes_are_at_the_end() {
    let place = folder();
    let (_, calls) = play_in(place.path(), "append");
    let offsets: Vec<u64> = requests(&calls).iter().map(|one| one.1).collect();
    assert_eq!(offsets, [0, 0, 100, 105, 112]);
    assert!(calls[1].is_synchronous && !calls[0].is_synchronous);
}

#[test]
fn threads_have_their_own_requests_and_share_descriptors() {
    let place = folder();
    let (recording, calls) = play_in(place.path(), "threads");
    let reads: Vec<_> = calls.iter().filter(|call| call.is_read()).collect();
    assert_eq!(reads.len(), 40);
    let mut offsets: Vec<u64> = reads.iter().map(|call| call.request.offset).collect();
    offsets.sort_unstable();
    let want: Vec<u64> = (0..40).map(|index| index * 100).collect();
    assert_eq!(offsets, want, "one position for all");
    let readers: std::collections::BTreeSet<u32> = reads.iter().map(|call| call.process).collect();
    assert_eq!(readers.len(), 4);
    let of_one = |number: &u32| recording.processes[*number as usize].pid;
    assert_eq!(readers.iter().map(of_one).collect::<std::collections::BTreeSet<_>>().len(), 1);
}

#[test]
fn a_wait_for_a_processor_is_not_taken_for_computing() {
    let place = folder();
    let mut seen = Vec::new();
    // Other tests also keep the recorder waiting, so one good recording of eight is enough.
    let is_told = (0..8).any(|_| {
        let (_, calls) = play_in(place.path(), "crowd");
        let read: Vec<_> = calls.iter().filter(|call| call.is_read()).collect();
        let gap = |pair: &[&FileCall]| pair[1].issued_ns - pair[0].completed_ns;
        let gaps_ns = read.windows(2).map(gap).sum::<u64>();
        let held_ns = read[1..].iter().map(|call| call.held_before_ns).sum::<u64>();
        let computed_ns = (read.len() as u64 - 1) * COMPUTED_NS;
        assert!(held_ns <= gaps_ns, "held for {held_ns} of {gaps_ns} ns");
        seen.push((held_ns, gaps_ns, computed_ns));
        let waited_ns = gaps_ns.saturating_sub(computed_ns);
        waited_ns > computed_ns && held_ns.abs_diff(waited_ns) <= waited_ns / 4
    });
    assert!(is_told, "held, between the reads, computed there: {seen:?}");
}

/// Not a test of its own: what this binary does when another test records it.
#[test]
fn a_part_is_played() {
    let Ok(part) = std::env::var(PART) else { return };
    let (part, place) = part.split_once(':').expect("part and folder");
    play(part, &Path::new(place).join("file")).expect("the part is played");
}

fn play(part: &str, path: &Path) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false);
    match part {
        "places" => places(file.open(path)?),
        "append" => append(path),
        "crowd" => crowd(path),
        "aio" => super::submitted_tests::aio(path),
        "mapped" => super::mapped_tests::mapped(path),
        "kept" => super::mapped_tests::kept(path),
        "touched" => super::mapped_tests::touched(path),
        "dropped" => super::mapped_tests::dropped(path),
        "forked" => super::mapped_tests::forked(path),
        "built" => super::mapped_tests::built(path),
        "shared" => super::mapped_tests::shared(),
        "turns" => super::turns_tests::turns(path),
        _ => threads(path),
    }
}

fn places(mut file: File) -> std::io::Result<()> {
    file.write_all(&[1; 4096])?;
    file.write_all_at(&[2; 512], 100_000)?;
    file.read_exact_at(&mut [0; 512], 100_000)?;
    file.seek(SeekFrom::Start(4000))?;
    file.read_exact(&mut [0; 96])?;
    file.write_all(&[3; 10])?;
    file.sync_all()?;
    let mut twin = file.try_clone()?;
    twin.seek(SeekFrom::Start(50_000))?;
    file.write_all(&[4; 5])?;
    file.sync_data()?;
    twin.seek(SeekFrom::Current(-5))?;
    file.read_exact(&mut [0; 5])
}

fn append(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    File::create(path)?.write_all(&[0; 100])?;
    let mut late = OpenOptions::new().write(true).custom_flags(libc::O_DSYNC).open(path)?;
    let mut end = OpenOptions::new().append(true).open(path)?;
    late.write_all(&[1; 3])?;
    end.write_all(&[2; 5])?;
    end.write_all(&[3; 7])?;
    // With O_APPEND, Linux writes at the end, whatever offset pwrite gives.
    end.write_all_at(&[4; 2], 7)
}

/// How long the thread of `crowd` computes before each read, in nanoseconds: longer than a
/// scheduler spares a thread that has just slept.
const COMPUTED_NS: u64 = 8_000_000;

fn compute() {
    let cpu_ns = || {
        let spent = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        spent.tv_sec as u64 * 1_000_000_000 + spent.tv_nsec as u64
    };
    let start_ns = cpu_ns();
    while cpu_ns() - start_ns < COMPUTED_NS {
        std::hint::spin_loop();
    }
}

/// Reads and computes in turn, while every processor has three other threads to run.
fn crowd(path: &Path) -> std::io::Result<()> {
    std::fs::write(path, [0; 4000])?;
    let (mut file, done) = (File::open(path)?, AtomicBool::new(false));
    let processors = std::thread::available_parallelism()?.get();
    std::thread::scope(|scope| {
        for _ in 0..3 * processors {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let read = (0..10).try_for_each(|_| {
            compute();
            file.read_exact(&mut [0; 100])
        });
        done.store(true, Ordering::Relaxed);
        read
    })
}

fn threads(path: &Path) -> std::io::Result<()> {
    std::fs::write(path, [0; 4000])?;
    let file = File::open(path)?;
    let together = Barrier::new(4);
    std::thread::scope(|scope| {
        let read = || {
            together.wait();
            (0..10).try_for_each(|_| (&file).read_exact(&mut [0; 100]))
        };
        let all: Vec<_> = (0..4).map(|_| scope.spawn(read)).collect();
        all.into_iter().try_for_each(|one| one.join().expect("no panic"))
    })
}
