//! What the other options of `vxbench` make its streams do, as seen by strace: how many calls of
//! which size, where, by which process, and in which order. `vxbench_calls` covers the flags and
//! advice that an option adds.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// One system call.
#[derive(Debug)]
struct Call {
    /// The ID of the process or thread that made it.
    task: String,
    at: f64,
    name: String,
    arguments: String,
}

impl Call {
    /// Parses a line of `strace -ff -ttt`: `1700000000.123456 pwrite64(5</f>, ""..., 16384, 0) =
    /// 16384`.
    fn of(task: &str, line: &str) -> Option<Self> {
        let (at, rest) = line.split_once(' ')?;
        let (name, rest) = rest.split_once('(')?;
        let (arguments, _) = rest.rsplit_once(") = ")?;
        let (task, name, arguments) = (task.to_owned(), name.to_owned(), arguments.to_owned());
        Some(Self { task, at: at.parse().ok()?, name, arguments })
    }

    /// Whether the first argument is the file.
    fn is_on_file(&self) -> bool {
        self.arguments.split(',').next().is_some_and(|first| first.ends_with("/file>"))
    }
}

/// The calls of a run, in order of time.
struct Calls {
    all: Vec<Call>,
    succeeded: bool,
}

impl Calls {
    fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Call> {
        self.all.iter().filter(move |call| call.name == name && call.is_on_file())
    }

    /// Sizes and offsets of the calls with this name on the file.
    fn requests(&self, name: &str) -> Vec<(u64, u64)> {
        let numbers = |call: &Call| {
            let mut words = call.arguments.rsplit(", ").map(|word| word.parse().ok());
            let (at, len) = (words.next()??, words.next()??);
            Some((len, at))
        };
        self.named(name).filter_map(numbers).collect()
    }

    fn reads(&self) -> Vec<(u64, u64)> {
        self.requests("pread64")
    }

    fn writes(&self) -> Vec<(u64, u64)> {
        self.requests("pwrite64")
    }

    /// The offsets written by each task that wrote to the file.
    fn writers(&self) -> Vec<BTreeSet<u64>> {
        let tasks: BTreeSet<&str> = self.named("pwrite64").map(|call| &*call.task).collect();
        let places = |task: &str| {
            let own = self.named("pwrite64").filter(|call| call.task == task);
            own.filter_map(|call| call.arguments.rsplit(", ").next()?.parse().ok()).collect()
        };
        tasks.into_iter().map(places).collect()
    }

    /// Number of tasks created with this flag.
    fn made_with(&self, flag: &str) -> usize {
        let made = self.all.iter().filter(|call| call.name.starts_with("clone"));
        made.filter(|call| call.arguments.contains(flag)).count()
    }

    /// The time of the first call whose name and arguments match.
    fn first(&self, name: &str, words: &str) -> Option<f64> {
        let mut calls = self.named(name).filter(|call| call.arguments.contains(words));
        calls.next().map(|call| call.at)
    }

    /// Whether the file's extents were looked up before the first write.
    fn looked_first(&self) -> bool {
        let look = self.first("ioctl", "FS_IOC_FIEMAP");
        look.zip(self.first("pwrite64", "")).is_some_and(|(look, write)| look < write)
    }
}

/// The calls of a run on a file of 64 KB, in requests of 16 KB; or why there is no trace.
fn calls(folder: &Path, workload: &str, words: &[&str]) -> Result<Calls, String> {
    let file = folder.join("file");
    std::fs::write(&file, vec![1; 64 << 10]).unwrap();
    let traces = tempfile::tempdir_in(folder).unwrap();
    let kinds = "trace=pread64,pwrite64,fallocate,ioctl,mmap,clone,?clone3,?fork,?vfork,?io_uring_enter,fsync,ftruncate";
    let mut command = Command::new("strace");
    command.args(["-ff", "-ttt", "-y", "-qq", "-s", "0", "-e", kinds, "-o"]);
    command.arg(traces.path().join("of")).arg(assert_cmd::cargo::cargo_bin("ioscape"));
    command.args(["vxbench", "-w", workload, "--destroy-data", "-i", "iosize=16k"]);
    let output = command.args(words).arg(&file).output();
    let output = output.map_err(|_| "strace is not installed".to_owned())?;
    let mut all = Vec::new();
    for entry in std::fs::read_dir(traces.path()).unwrap() {
        let path = entry.unwrap().path();
        let task = path.extension().unwrap().to_string_lossy().into_owned();
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        all.extend(text.lines().filter_map(|line| Call::of(&task, line)));
    }
    if all.is_empty() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    all.sort_by(|one, other| one.at.total_cmp(&other.at));
    Ok(Calls { all, succeeded: output.status.success() })
}

/// Arguments, and what a run with them must do; a run with the other arguments must not.
struct Row {
    workload: &'static str,
    words: &'static [&'static str],
    without: &'static [&'static str],
    holds: fn(&Calls) -> bool,
}

const fn row(
    workload: &'static str,
    words: &'static [&'static str],
    without: &'static [&'static str],
    holds: fn(&Calls) -> bool,
) -> Row {
    Row { workload, words, without, holds }
}

const K: u64 = 1024;

/// For rows without a run to compare with: the workload itself is under test.
const NOTHING: &[&str] = &["-i", "iocount=none"];

/// Consecutive requests of 16 KB.
fn blocks(count: u64) -> Vec<(u64, u64)> {
    (0..count).map(|number| (16 * K, number * 16 * K)).collect()
}

const ROWS: [Row; 21] = [
    row("write", &["-i", "iocount=3"], &[], |c| c.writes() == blocks(3)),
    row("read", &["-i", "iocount=3"], &[], |c| c.reads() == blocks(3)),
    row("write", &["-i", "iocount=4,nrep=3"], &["-i", "iocount=4"], |c| {
        c.writes() == [blocks(4), blocks(4), blocks(4)].concat()
    }),
    row("write", &["-i", "iocount=2,nthreads=2"], &["-i", "iocount=4"], |c| {
        let apart: [BTreeSet<u64>; 2] = [[0, 32 * K].into(), [16 * K, 48 * K].into()];
        let found = c.writers();
        found.len() == 2 && apart.iter().all(|one| found.contains(one))
    }),
    row("write", &["-p", "-i", "iocount=2,nthreads=2"], &["-i", "iocount=2,nthreads=2"], |c| {
        c.writers().len() == 2 && c.made_with("CLONE_THREAD") < 2
    }),
    row(
        "write",
        &["-t", "-i", "iocount=2,nthreads=2"],
        &["-p", "-i", "iocount=2,nthreads=2"],
        |c| c.writers().len() == 2 && c.made_with("CLONE_THREAD") >= 2,
    ),
    row("rand_read", &["-i", "iocount=32"], &["-i", "iocount=2"], |c| {
        let (found, places) = (c.reads(), c.reads().into_iter().map(|(_, at)| at));
        let whole = found.iter().all(|(len, at)| *len == 16 * K && at % (16 * K) == 0);
        found.len() == 32 && whole && !found.is_sorted() && places.max() <= Some(48 * K)
    }),
    row("rand_write", &["-i", "iocount=32,maxfilesize=32"], &["-i", "iocount=32"], |c| {
        let found = c.writes();
        found.len() == 32 && found.iter().all(|(len, at)| at + len <= 32 * K)
    }),
    row("rand_mixed", &["-i", "iocount=32,rdpct=0"], &["-i", "iocount=32"], |c| {
        c.reads().is_empty() && c.writes().len() == 32
    }),
    row("rand_mixed", &["-i", "iocount=32,rdpct=100"], &["-i", "iocount=32"], |c| {
        c.reads().len() == 32 && c.writes().is_empty()
    }),
    row("write", &["-r", "1m", "-i", "reserveonly"], &["-r", "1m", "-i", "iocount=4"], |c| {
        c.first("fallocate", "0, 1048576").is_some() && c.writes().is_empty()
    }),
    row(
        "write",
        &["-r", "1m", "-f", "contig", "--best-effort", "-i", "iocount=4"],
        &["-r", "1m", "-i", "iocount=4"],
        Calls::looked_first,
    ),
    row(
        "write",
        &["-r", "1m", "-f", "align", "--best-effort", "-i", "iocount=4"],
        &["-r", "1m", "-i", "iocount=4"],
        Calls::looked_first,
    ),
    row(
        "write",
        &["-r", "32k", "-f", "noextend", "-i", "iocount=4"],
        &["-r", "32k", "-i", "iocount=4"],
        |c| !c.succeeded && c.writes().is_empty(),
    ),
    row("write", &["-e", "64k", "--best-effort", "-i", "iocount=4"], &["-i", "iocount=4"], |c| {
        c.first("ioctl", "FS_IOC_FSSETXATTR").is_some()
    }),
    row("rand_write", &["--queue-depth", "4", "-i", "iocount=8"], &["-i", "iocount=8"], |c| {
        c.writes().is_empty() && c.all.iter().any(|call| call.name == "io_uring_enter")
    }),
    row("write", &["--verify", "-i", "iocount=4"], &["-i", "iocount=4"], |c| {
        let read: u64 = c.reads().into_iter().map(|(len, _)| len).sum();
        let last = c.named("pwrite64").last().map(|call| call.at);
        read >= 64 * K && c.named("pread64").last().map(|call| call.at) > last
    }),
    row("mmap_read", &[], NOTHING, |c| {
        let mapped = |call: &Call| call.name == "mmap" && call.arguments.contains("/file>");
        c.reads().is_empty() && c.all.iter().any(mapped)
    }),
    row("mmap_write", &[], NOTHING, |c| {
        let mapped = |call: &&Call| call.name == "mmap" && call.arguments.contains("/file>");
        let shared = |call: &Call| {
            call.arguments.contains("PROT_WRITE") && call.arguments.contains("MAP_SHARED")
        };
        c.writes().is_empty() && c.all.iter().filter(mapped).any(shared)
    }),
    row("write", &["-i", "iocount=2,fsync,nthreads=2"], &["-i", "iocount=2,nthreads=2"], |c| {
        c.named("fsync").count() == 2
    }),
    row("rand_write", &["-i", "iocount=4,truncup=256k"], &["-i", "iocount=4"], |c| {
        let grown = c.first("ftruncate", ", 262144");
        grown.zip(c.first("pwrite64", "")).is_some_and(|(grown, write)| grown < write)
    }),
];

#[test]
fn every_option_has_its_requests_and_its_absence_others() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for Row { workload, words, without, holds } in ROWS {
        let with = match calls(folder.path(), workload, words) {
            Ok(with) => with,
            Err(why) => {
                eprintln!("SKIPPED: {workload} {words:?}: {why}");
                continue;
            }
        };
        assert!(holds(&with), "{workload} {words:?}: {:#?}", with.all);
        if let Ok(other) = calls(folder.path(), workload, without) {
            assert!(!holds(&other), "{workload} {without:?} does what {words:?} does");
        }
    }
}

#[test]
fn a_seed_gives_its_places_again_and_another_one_others() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let places = |seed: &str| {
        let words = format!("iocount=32,randseed={seed}");
        calls(folder.path(), "rand_write", &["-i", &words]).map(|calls| calls.writes())
    };
    match (places("7"), places("7"), places("8")) {
        (Ok(one), Ok(again), Ok(other)) => {
            assert_eq!(one.len(), 32);
            assert!(one == again && one != other, "{one:?} {other:?}");
        }
        (Err(why), ..) | (_, Err(why), _) | (.., Err(why)) => eprintln!("SKIPPED: {why}"),
    }
}
