//! The commands of README.md and docs/ run as they are written, in a folder that holds the files they speak of, with small
//! budgets. What is not run is named in [`NOT_RUN`] with its reason; that all of them can be typed is tested beside the arguments.

use super::common::{Ran, ioscape, path, read, skipped};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A real evaluation of half a minute, 64 MiB of memory and sets up to 256 MiB, without its log.
const SMALL: &str = include_str!("data/small.ioscape.json");

/// Words that keep a command from being run here, and why.
const NOT_RUN: [(&str, &str); 13] = [
    ("--memory", "makes a control group, which takes root"),
    (
        "top",
        "watches the kernel's block events until it is ended, which takes root; see `trace_top`",
    ),
    ("trace.parquet.recording-*/*", "reads what a killed recorder left; see `trace_top`"),
    ("record", "records the kernel's block events, which takes root"),
    ("--fs", "makes file systems on loop devices, which takes root and hours"),
    ("/dev/sdX", "reads a device"),
    ("/dev/sdb", "writes to a device"),
    ("--resume", "continues an interrupted run; see `interrupt`"),
    ("os", "measures for minutes where others are at work; see `os`"),
    ("before-os.ioscape.json", "compares what was not measured"),
    ("--diagnose", "measures for minutes; see `vxbench`"),
    ("--disk", "names a disk of the reader's trace"),
    ("--markdown", "reports a campaign on made file systems, which takes root; see `vxbench`"),
];

/// Words that are replaced by smaller ones, or by what the shell would make of them.
const SMALLER: [(&str, &str); 13] = [
    ("1G", "1M"),
    ("32G", "1M"),
    ("2G", "4M"),
    ("10m", "200ms"),
    ("3m", "3s"),
    ("100", "2"),
    ("iosize=64k,iocount=16k", "iosize=64k,iocount=16"),
    ("memory=64G", "memory=80M"),
    ("1h", "1ms"),
    ("2h", "1h"),
    ("12h", "60ms"),
    ("/var/lib/db", "."),
    ("part*.ioscape-state", "part0.ioscape-state"),
];

/// What is put behind a command that does not say it, so that it ends soon.
const BOUNDS: [(&str, &[(&str, &str)]); 5] = [
    ("evaluate", &[("--budget", "3s"), ("--max-unique-bytes", "4M")]),
    ("validate", &[("--budget", "5s"), ("--rounds", "1")]),
    ("run", &[("--seconds", "200ms"), ("--unique-bytes", "1M")]),
    ("ab", &[("--budget", "3s"), ("--seconds", "200ms")]),
    ("campaign run", &[("--rounds", "1"), ("--max-file-size", "64k"), ("--budget", "5s")]),
];

const JOBS: &str = "[[job]]\nname = \"mail\"\nunique_bytes = \"1M\"\nseconds = 0.05\n";

/// The words of a line, quoted ones together, up to a remark, a pipe or a redirection.
fn words(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            found.push(part.to_owned());
            continue;
        }
        let alone = part.split(['#', '|', '>', '&']).next().unwrap_or_default();
        found.extend(alone.split_whitespace().map(str::to_owned));
        if alone.len() < part.len() {
            break;
        }
    }
    found
}

/// The commands of a page, each once.
fn commands(page: &str) -> Vec<Vec<String>> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in page.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let is_code = fenced || line.starts_with("    ");
        let line = line.trim_start().trim_start_matches("- run: ");
        if is_code && line.starts_with("ioscape ") {
            let command = words(line);
            if !found.contains(&command) {
                found.push(command);
            }
        }
    }
    found
}

/// README.md and the pages of docs/.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = fs::read_dir(root.join("docs")).expect("docs").map(|e| e.expect("an entry").path());
    let pages = docs.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let mut pages: Vec<PathBuf> = pages.chain([root.join("README.md")]).collect();
    pages.sort();
    pages
}

/// A word as it is given here: places lie below the folder, and sizes and times are small.
fn here(word: &str, folder: &Path) -> String {
    let smaller = SMALLER.iter().find(|(said, _)| *said == word);
    let word = smaller.map_or(word, |(_, small)| small);
    let below = ["/mnt/", "/data", "~/"].iter().find(|start| word.starts_with(**start));
    below.map_or(word.to_owned(), |start| {
        let name = word.trim_start_matches(start).trim_start_matches('/');
        path(&folder.join("places").join(name)).to_owned()
    })
}

/// The command with bounds, or why it is not run.
fn bounded(command: &[String], folder: &Path) -> Result<Vec<String>, &'static str> {
    if let Some((_, why)) = NOT_RUN.iter().find(|(word, _)| command.iter().any(|w| w == word)) {
        return Err(why);
    }
    let own = command.iter().position(|word| word == "--").unwrap_or(command.len());
    let mut out: Vec<String> = command[1..own].iter().map(|word| here(word, folder)).collect();
    let name = out.join(" ");
    let has_jobs = name.contains("jobs.toml") || name.contains("sort.ioscape.json");
    let missing = |option: &str| {
        !(command.iter().any(|word| word == option) || has_jobs && option == "--unique-bytes")
    };
    for (_, bounds) in BOUNDS.iter().filter(|(of, _)| name.starts_with(of)) {
        for (option, value) in bounds.iter().filter(|(option, _)| missing(option)) {
            out.extend([(*option).to_owned(), (*value).to_owned()]);
        }
    }
    out.extend(command[own..].iter().cloned());
    Ok(out)
}

fn done(arguments: &[&str], folder: &Path) {
    let mut command = ioscape(arguments);
    command.current_dir(folder);
    Ran::of(command).ended(0);
}

/// The files that the pages speak of.
fn furnish(folder: &Path) {
    let put = |name: &str, text: &str| fs::write(folder.join(name), text).expect("a file");
    for name in ["a", "b", "data", "ssd", "xfs", "ext4", "gp3", "nvme", ".local/share/man/man1"] {
        fs::create_dir_all(folder.join("places").join(name)).expect("a folder");
    }
    for name in ["here", "there", "gp3", "nvme", "landscape", "quiet-a", "quiet-b", "quiet-c"] {
        put(&format!("{name}.ioscape.json"), SMALL);
    }
    for name in ["jobs", "mail", "before", "after"] {
        put(&format!("{name}.toml"), JOBS);
    }
    put("in", "c\nb\na\n");
    put("run-the-database.sh", "#!/bin/sh\nexec sort -o out in\n");
    let script = folder.join("run-the-database.sh");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).expect("a script");
    let campaigns = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/campaigns.md");
    let campaigns = read(&campaigns);
    let database = campaigns.split("```toml").nth(1).and_then(|rest| rest.split("```").next());
    let small =
        database.expect("a campaign").replace("\"20k\"", "\"20\"").replace("\"1G\"", "\"64k\"");
    put("database.toml", &small);
    let row = "0,1,0,4096\n500000,0,8192,4096\n";
    let head = "# ioscape trace {\"format\":\"made\",\"devices\":[]}\nqueued_ns,is_write,offset_bytes,length_bytes\n";
    put("random.csv", &format!("{head}{row}"));
    let rows = ["run", "jobs.toml", ".", "--rows", "trace.parquet"];
    done(&[&rows[..], &["-o", "before.ioscape.json"]].concat(), folder);
    for name in
        ["week.srt", "before.parquet", "after.parquet", "db.parquet", "rows.parquet", "t.parquet"]
    {
        fs::copy(folder.join("trace.parquet"), folder.join(name)).expect("a copy");
    }
    for name in ["after", "main", "branch", "baseline"] {
        let to = folder.join(format!("{name}.ioscape.json"));
        fs::copy(folder.join("before.ioscape.json"), to).expect("a copy");
    }
    done(&["trace", "analyze", "week.srt", "--state", "part0.ioscape-state"], folder);
    done(&["characterize", "-o", "sort.ioscape.json", "--", "sort", "-o", "out", "in"], folder);
    fs::copy(folder.join("sort.ioscape.json"), folder.join("db.ioscape.json")).expect("a copy");
}

/// Puts the real traces of the gallery into the folder; false where they are not at hand.
fn traces(folder: &Path) -> bool {
    let Some(data) = std::env::var_os("IOSCAPE_DATA").map(PathBuf::from) else { return false };
    let all = [
        "hplajw/ajw.1week.srt",
        "cloudphysics/cloudPhysicsIO.vscsi",
        "cello2003/hourly.03126.srt.bz2",
        "disk-validation/atlas10k.trace",
        "disk-validation/atlas10k.parv",
        "disk-validation/atlas10k.diskspecs",
        "disk-validation/atlas10k.model",
        "disk-validation/atlas10k.seek",
    ];
    all.iter().all(|name| {
        let from = data.join(name);
        let to = folder.join(from.file_name().unwrap_or_default());
        std::os::unix::fs::symlink(&from, to).is_ok() && from.exists()
    })
}

/// Whether the place cannot do what the command asks for, or the small evaluation cannot answer it, and this is said.
fn is_impossible_here(ran: &Ran) -> bool {
    let said = ["O_DIRECT", "io_uring", "measure it with `ioscape evaluate"];
    ran.code == Some(2) && said.iter().any(|what| ran.err.contains(what))
}

/// Replaces what three seconds of evaluation wrote by a whole one: how many figures fit into them depends on who else is at work.
fn keep_whole_evaluation(arguments: &[String], folder: &Path) {
    let output = arguments.iter().position(|word| word == "-o").map(|at| &arguments[at + 1]);
    if let (Some("evaluate"), Some(name)) = (arguments.first().map(String::as_str), output) {
        fs::write(folder.join(name), SMALL).expect("a file");
    }
}

#[test]
fn the_commands_of_the_documentation_run() {
    let mut seen = 0;
    let mut left = BTreeSet::new();
    let mut failed = Vec::new();
    for page in pages() {
        let all = commands(&read(&page));
        let runs: Vec<_> = all.iter().map(|one| (one.join(" "), one)).collect();
        let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let (mut is_furnished, mut has_traces) = (false, true);
        for (written, command) in runs {
            let arguments = match bounded(command, place.path()) {
                Ok(arguments) => arguments,
                Err(why) => {
                    left.insert(format!("{written}: {why}"));
                    continue;
                }
            };
            if !is_furnished {
                furnish(place.path());
                is_furnished = true;
                has_traces = !page.ends_with("gallery.md") || traces(place.path());
            }
            if !has_traces {
                left.insert(format!("{written}: its traces are not at hand (IOSCAPE_DATA)"));
                continue;
            }
            let mut command = ioscape(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
            command.current_dir(place.path());
            let ran = Ran::of(command);
            if is_impossible_here(&ran) {
                skipped(&format!("{written}: {}", ran.err.trim()));
            } else if ran.code == Some(0) {
                seen += 1;
                keep_whole_evaluation(&arguments, place.path());
            } else {
                let name = page.file_name().unwrap_or_default().to_string_lossy();
                let said = arguments.join(" ");
                failed.push(format!("{name}: {written}\nas {said}\n{:?}: {}", ran.code, ran.err));
            }
        }
    }
    left.iter().for_each(|one| eprintln!("parsed only: {one}"));
    assert!(
        failed.is_empty(),
        "{} of {}:\n{}",
        failed.len(),
        seen + failed.len(),
        failed.join("\n")
    );
    assert!(seen > 35, "only {seen} commands were run");
}

#[test]
fn words_end_at_remarks_and_keep_what_is_quoted() {
    assert_eq!(words("ioscape os --quick   # remark"), ["ioscape", "os", "--quick"]);
    let quoted = words("ioscape compare A B --fail-if 'throughput < 0.95' > x");
    assert_eq!(quoted[5], "throughput < 0.95");
    assert_eq!(quoted.len(), 6);
}
