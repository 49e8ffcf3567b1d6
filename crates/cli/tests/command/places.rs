//! Every argument of every command that names a file: what may be there, and what may not.

use crate::common::started::{Started, signal};
use crate::common::{Ran, cannot_record, ioscape, path, run, scratch_of, skipped};
use crate::models::tiny;
use clap::CommandFactory;
use ioscape_arguments::Cli;
use ioscape_schema::text::MANUAL_MARK;
use std::any::TypeId;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt, lchown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

/// A user other than the one who runs the tests.
const NOBODY: u32 = 65_534;

/// Every output of every command, as OUT, on a [`Bench`].
const OUTPUTS: [&str; 46] = [
    "doctor dir -o OUT",
    "doctor dir --html OUT",
    "evaluate sim:hp-730 --points 60 -o OUT",
    "evaluate sim:hp-730 --points 60 --html OUT",
    "run dir jobs.toml -o OUT",
    "run dir jobs.toml --html OUT",
    "run dir jobs.toml --rows OUT",
    "run dir jobs.toml --fio-iolog OUT",
    "run dir jobs.toml --openmetrics OUT",
    "predict system.json --workloads jobs.toml -o OUT",
    "predict system.json --trace trace.csv --html OUT",
    "compare system.json system.json --workloads jobs.toml -o OUT",
    "compare system.json system.json --html OUT",
    "ab jobs.toml jobs.toml --dir dir --seconds 10ms --budget 1s -o OUT",
    "ab dir dir --jobs jobs.toml --seconds 10ms --budget 1s --html OUT",
    "validate tiny.json dir --workloads 1 --rounds 1 --budget 60s -o OUT",
    "validate tiny.json dir --workloads 1 --rounds 1 --budget 60s --html OUT",
    "characterize -o OUT -- true",
    "characterize --html OUT -- true",
    "vxbench -w write -i iocount=4,iosize=4k new --output OUT",
    "vxbench -w write -i iocount=4,iosize=4k new --html OUT",
    "vxbench -w write -i iocount=4,iosize=4k new --rows OUT",
    "campaign run campaign.toml dir -o OUT",
    "campaign run campaign.toml dir --html OUT",
    "os --dir dir --only getpid --quick -o OUT",
    "os --dir dir --only getpid --quick --html OUT",
    "trace record --seconds 10ms -o OUT",
    "trace top --once --openmetrics OUT",
    "trace import trace.csv -o OUT",
    "trace export trace.csv --format disksim -o OUT",
    "trace analyze trace.csv -o OUT",
    "trace analyze trace.csv --html OUT",
    "trace analyze trace.csv --state OUT",
    "trace merge part.state -o OUT",
    "trace merge part.state --html OUT",
    "trace merge part.state --state OUT",
    "trace compare trace.csv trace.csv -o OUT",
    "trace compare trace.csv trace.csv --html OUT",
    "trace characterize trace.csv -o OUT",
    "trace characterize trace.csv --html OUT",
    "trace characterize trace.csv --jobs OUT",
    "trace replay trace.csv dir --buffered -o OUT",
    "trace replay trace.csv dir --buffered --html OUT",
    "trace replay trace.csv dir --buffered --rows OUT",
    "simulate trace.csv --drive drive.toml -o OUT",
    "report result.json -o OUT",
];

/// Additional outputs, whose commands take long or fail on so little input; only refusals are
/// tested for them.
const REFUSED_OUTPUTS: [&str; 5] = [
    "evaluate dir -o OUT",
    "simulate trace.csv --drive drive.toml --html OUT",
    "simulate trace.csv --drive drive.toml --rows OUT",
    "calibrate trace.csv --drive drive.toml -o OUT",
    "twin dir -o OUT",
];

/// Every input of every command, as IN.
const INPUTS: [&str; 28] = [
    "evaluate dir --resume IN",
    "evaluate sim:IN",
    "run dir IN.toml",
    "run dir IN.json",
    "predict IN --workloads paper",
    "predict system.json --workloads IN",
    "predict system.json --trace IN",
    "predict system.json --characterization IN",
    "predict system.json --workloads paper --what-if storage=IN",
    "compare system.json IN",
    "compare system.json system.json --workloads IN",
    "ab IN.toml IN.toml --dir dir",
    "ab dir dir --jobs IN",
    "validate IN dir",
    "validate tiny.json dir --resume IN",
    "campaign show IN",
    "campaign run IN dir",
    "campaign run campaign.toml dir --resume IN",
    "trace import IN -o new",
    "trace export IN --format csv -o new",
    "trace analyze IN",
    "trace merge IN",
    "trace compare trace.csv IN",
    "trace characterize IN",
    "trace replay IN dir --buffered",
    "simulate IN --drive drive.toml",
    "calibrate IN --drive drive.toml",
    "twin --from IN -o new",
];

/// Additional inputs, which are read after others.
const FURTHER_INPUTS: [&str; 4] = [
    "simulate trace.csv --drive IN",
    "simulate trace.csv --drive 0=IN",
    "calibrate trace.csv --drive IN",
    "report IN",
];

/// Arguments that name a directory or what is measured; `misuse` and `privileges` cover those.
const PLACES: [&str; 17] = [
    "evaluate",
    "run",
    "ab --dir",
    "ab",
    "validate",
    "characterize --below",
    "vxbench",
    "vxbench --diagnose",
    "vxbench --shared",
    "campaign run",
    "os --dir",
    "trace record --path",
    "trace top --path",
    "doctor",
    "client",
    "man",
    "twin",
];

/// A directory with an input of each kind, and an empty directory `dir`.
struct Bench(tempfile::TempDir);

impl Bench {
    fn new() -> Self {
        let bench = Self(tempfile::tempdir().expect("a folder"));
        let write = |name: &str, text: &str| fs::write(bench.path(name), text).expect("a file");
        fs::create_dir(bench.path("dir")).expect("a folder");
        let row = |n: usize| {
            let (begin, place) = (128_166_372_000_000_000 + n * 400_000, n * 7919 % 30_000 * 8192);
            format!("{begin},host,0,{},{place},8192,200000\n", ["Read", "Write"][n % 2])
        };
        write("trace.csv", &(0..400).map(row).collect::<String>());
        write("jobs.toml", "[[job]]\nname = \"a\"\nunique_bytes = \"1M\"\nseconds = 0.05\n");
        write("campaign.toml", CAMPAIGN);
        write("system.json", include_str!("data/small.ioscape.json"));
        write("tiny.json", &serde_json::to_string(&tiny()).expect("JSON"));
        write("drive.toml", include_str!("../../../../drives/hp-c2200a.toml"));
        bench.run("trace analyze trace.csv -o result.json --state part.state", "").ended(0);
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A command in this directory, with the place that is tried.
    fn command(&self, line: &str, place: &str) -> Command {
        let words: Vec<String> =
            line.split(' ').map(|word| word.replace("OUT", place).replace("IN", place)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = ioscape(&words);
        command.current_dir(self.0.path());
        command
    }

    fn run(&self, line: &str, place: &str) -> Ran {
        Ran::of(self.command(line, place))
    }

    /// The inputs that a command reads.
    fn read_by<'a>(&self, line: &'a str) -> impl Iterator<Item = &'a str> {
        line.split(' ').filter(|word| self.path(word).is_file())
    }

    /// The names and contents of all files in it and in its directory.
    fn content(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let folders = [self.0.path().to_owned(), self.path("dir")];
        let all =
            folders.iter().flat_map(|folder| fs::read_dir(folder).expect("a folder").flatten());
        let is_plain = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
        let bytes = |entry: &fs::DirEntry| {
            if is_plain(entry) { fs::read(entry.path()).expect("a file") } else { Vec::new() }
        };
        all.map(|entry| (entry.path(), bytes(&entry))).collect()
    }
}

/// A campaign with a table of one cell.
const CAMPAIGN: &str = "title = \"One\"\nsource = \"a test\"\nabout = \"One cell.\"\nrounds = 1\n\
    [base]\nworkload = \"write\"\nfile_size = \"64k\"\n[[vary]]\nname = \"iosize\"\nvalues = [\"64k\"]\n\
    [[method]]\nname = \"buffered\"\n";

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// All outputs; `forced` adds `--force` before what follows `--`.
fn outputs() -> impl Iterator<Item = &'static str> {
    OUTPUTS.into_iter().chain(REFUSED_OUTPUTS)
}

fn forced(line: &str) -> String {
    match line.split_once(" -- ") {
        Some((before, after)) => format!("{before} --force -- {after}"),
        None => format!("{line} --force"),
    }
}

/// Collects the arguments of a command and its subcommands that name files: the command, and the
/// option if there is one.
fn arguments(command: &clap::Command, name: &str, all: &mut Vec<(String, String)>) {
    for argument in command.get_arguments() {
        if argument.get_value_parser().type_id() == TypeId::of::<PathBuf>() {
            let option = argument.get_long().map(|long| format!("--{long}"));
            all.push((name.to_owned(), option.unwrap_or_default()));
        }
    }
    for below in command.get_subcommands() {
        arguments(below, format!("{name} {}", below.get_name()).trim_start(), all);
    }
}

/// The command and the option, if any, whose value a line tries.
fn tried(line: &str) -> (&str, &str) {
    let at = line.find("OUT").or(line.find("IN")).expect("OUT or IN");
    let before = line[..at].trim_end_matches("sim:").trim_end_matches("storage=");
    let option = before.split(' ').rev().nth(1).filter(|word| word.starts_with('-'));
    (line, option.unwrap_or_default())
}

#[test]
fn every_argument_that_names_a_file_is_tried() {
    let mut all = Vec::new();
    arguments(&Cli::command(), "", &mut all);
    assert!(all.len() > 60, "{all:?}");
    let lines: Vec<_> = outputs().chain(INPUTS).chain(FURTHER_INPUTS).map(tried).collect();
    for (command, option) in all {
        let is_it = |(line, tried): &(&str, &str)| {
            line.starts_with(&command)
                && (*tried == option || (*tried == "-o" && option == "--output"))
        };
        let is_place = PLACES.contains(&format!("{command} {option}").trim_end());
        assert!(is_place || lines.iter().any(is_it), "{command} {option} is in no table");
    }
}

/// What must not be replaced, by name, with a word of the reason; root can also create another
/// user's link.
fn precious(bench: &Bench) -> Vec<(&'static str, &'static str)> {
    fs::write(bench.path("thesis.parquet"), "precious").expect("a file");
    fs::create_dir(bench.path("folder.parquet")).expect("a folder");
    UnixListener::bind(bench.path("socket.parquet")).expect("a socket");
    symlink("new.parquet", bench.path("foreign.parquet")).expect("a link");
    let is_foreign = lchown(bench.path("foreign.parquet"), Some(NOBODY), Some(NOBODY)).is_ok();
    let foreign = is_foreign.then_some(("foreign.parquet", "another user"));
    if foreign.is_none() {
        skipped("only root can give a link to another user");
    }
    let always = [
        ("folder.parquet", "is a directory"),
        ("socket.parquet", "socket"),
        ("none/a.parquet", "No such"),
    ];
    always.into_iter().chain(foreign).collect()
}

#[test]
fn no_output_replaces_what_is_precious() {
    let bench = Bench::new();
    let always = precious(&bench);
    // Nor is another command's output replaced unasked; no output tried is a manual page.
    fs::write(bench.path("manual.parquet"), MANUAL_MARK).expect("a file");
    let before = bench.content();
    for line in outputs().filter(|line| is_root() || !needs_root(line)) {
        bench.run(line, "thesis.parquet").ended(2).says(&["thesis.parquet", "--force"]);
        bench.run(line, "manual.parquet").ended(2).says(&["holds a manual page", "--force"]);
        for (place, why) in &always {
            bench.run(&forced(line), place).ended(2).says(&[place, why]);
        }
        for (number, input) in bench.read_by(line).enumerate() {
            let linked = format!("linked-{number}.parquet");
            fs::hard_link(bench.path(input), bench.path(&linked)).expect("a link");
            bench.run(&forced(line), &linked).ended(2).says(&[&linked, "one file"]);
            fs::remove_file(bench.path(&linked)).expect("the link");
        }
        assert_eq!(bench.content(), before, "{line}");
    }
}

/// Whether the command of a line is only for root.
fn needs_root(line: &str) -> bool {
    line.starts_with("trace record") || line.starts_with("trace top")
}

#[test]
fn every_output_can_be_a_pipe() {
    let bench = Bench::new();
    let pipe = pipe(&bench, "pipe.parquet");
    for line in OUTPUTS {
        let reader = {
            let pipe = pipe.clone();
            thread::spawn(move || {
                let mut bytes = Vec::new();
                fs::File::open(pipe).expect("a pipe").read_to_end(&mut bytes).expect("bytes");
                bytes
            })
        };
        let ran = bench.run(line, "pipe.parquet");
        if needs_root(line) && cannot_record(&ran) {
            fs::write(&pipe, "nothing").expect("the reader ends");
        } else {
            ran.ended(0);
        }
        assert!(!reader.join().expect("a reader").is_empty(), "{line}");
        assert!(pipe.metadata().expect("it is there").file_type().is_fifo(), "{line}");
        let _ = fs::remove_file(bench.path("new"));
    }
}

/// A named pipe.
fn pipe(bench: &Bench, name: &str) -> PathBuf {
    let pipe = bench.path(name);
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    pipe
}

#[test]
fn no_output_is_lost_on_a_full_device() {
    let (bench, elsewhere) = (Bench::new(), tempfile::tempdir().expect("a folder"));
    symlink("/dev/full", bench.path("full.parquet")).expect("a link");
    for line in OUTPUTS.into_iter().filter(|line| is_root() || !needs_root(line)) {
        let mut command = bench.command(line, "full.parquet");
        let ran = Ran::of({
            command.env("TMPDIR", elsewhere.path());
            command
        });
        let ran = ran.ended(1).says(&["full.parquet", "No space left"]);
        let rescued = scratch_of(elsewhere.path());
        // Derived files can be made again; a recording's directory is named.
        let of_files = ["trace import", "trace export", "trace record", "report", "doctor"];
        let is_measured = !of_files.iter().any(|one| line.starts_with(one));
        let is_named = rescued.iter().any(|file| ran.err.contains(path(file)));
        let is_told = is_named || !line.contains("-o OUT") && !ran.out.is_empty();
        assert!(is_told || !is_measured, "{line}: nothing is left of it: {}", ran.err);
        rescued.iter().for_each(|file| fs::remove_file(file).expect("a file"));
        let _ = fs::remove_file(bench.path("new"));
    }
}

#[test]
fn no_input_is_more_than_one_sentence() {
    let bench = Bench::new();
    let names =
        |name: &str| ["", ".toml", ".json"].map(|ending| bench.path(&format!("{name}{ending}")));
    for name in names("folder") {
        fs::create_dir(name).expect("a folder");
    }
    for name in names("socket") {
        UnixListener::bind(name).expect("a socket");
    }
    names("zero").iter().for_each(|name| symlink("/dev/zero", name).expect("a link"));
    names("empty").iter().for_each(|name| fs::write(name, "").expect("a file"));
    let damaged = [b"PAR1".as_slice(), &[0xfe; 5000], b"PAR1"].concat();
    names("damaged").iter().for_each(|name| fs::write(name, &damaged).expect("a file"));
    let before = bench.content();
    for line in INPUTS.into_iter().chain(FURTHER_INPUTS) {
        for place in ["none", "folder", "socket", "zero", "empty", "damaged"] {
            let ran = bench.run(line, place);
            assert_eq!(ran.err.lines().count(), 1, "{line} {place}: {}", ran.err);
            ran.ended(2).says(&[place]);
        }
    }
    assert_eq!(bench.content(), before);
}

#[test]
fn the_wait_for_every_input_is_told_and_can_be_ended() {
    let bench = Bench::new();
    ["pipe", "pipe.toml", "pipe.json"].iter().for_each(|name| drop(pipe(&bench, name)));
    for lines in INPUTS.chunks(9) {
        let all: Vec<_> =
            lines.iter().map(|line| (line, Started::spawn(bench.command(line, "pipe")))).collect();
        for (line, mut started) in all {
            started.listen_until(|said| said.contains("waiting for"));
            signal(started.0.id(), "INT");
            let ran = started.end();
            let is_told = ran.err.contains("waiting for") && ran.err.contains("interrupted");
            assert!(ran.code == Some(130) && is_told, "{line}: {:?} {}", ran.code, ran.err);
        }
    }
}

/// Changes whether a directory is append-only; if impossible, says why the test is skipped.
fn change(folder: &Path, word: &str) -> bool {
    let changed = Command::new("chattr").arg(word).arg(folder).output();
    let is_changed = changed.is_ok_and(|output| output.status.success());
    if !is_changed {
        skipped("append-only folders need root, chattr and a file system that has them");
    }
    is_changed
}

/// A directory beside the binary, which is on a disk if anything is.
fn on_disk() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder")
}

#[test]
fn a_folder_that_lets_nothing_go_takes_no_file_of_ours() {
    let [folder, other] = [on_disk(), on_disk()];
    if !change(folder.path(), "+a") {
        return;
    }
    let (here, there) = (path(folder.path()), path(other.path()));
    let result = folder.path().join("r.json");
    let small = ["--unique-bytes", "1M", "--seconds", "10ms"];
    let all = [
        run(&[&["run", here][..], &small].concat()),
        run(&[&["run", there, "-o", path(&result)][..], &small].concat()),
        run(&["os", "--quick", "--only", "stat", "--dir", here]),
    ];
    let left = fs::read_dir(here).expect("a folder").count();
    assert!(change(folder.path(), "-a"));
    for ran in all {
        ran.ended(2).says(&["append-only"]);
    }
    assert_eq!(left, 0);
}

#[test]
fn a_scratch_file_that_may_not_be_removed_is_named() {
    let folder = on_disk();
    if !change(folder.path(), "+a") || !change(folder.path(), "-a") {
        return;
    }
    let started =
        Started::of(&["run", path(folder.path()), "--unique-bytes", "1M", "--seconds", "2s"]);
    let started = started.until(|_| !scratch_of(folder.path()).is_empty());
    let is_kept = change(folder.path(), "+a");
    let ran = started.end();
    let left = scratch_of(folder.path());
    assert!(change(folder.path(), "-a") && is_kept);
    let ran = ran.ended(0).says(&["could not be removed", "not permitted"]);
    let names: Vec<_> = left.iter().filter_map(|file| file.file_name()?.to_str()).collect();
    assert!(matches!(names[..], [name] if ran.err.contains(name)), "{names:?} {}", ran.err);
}
