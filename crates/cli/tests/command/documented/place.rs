//! The directory in which the commands of a page run: the files that pages mention, prepared once
//! and copied for each page.

use super::super::common::{Ran, ioscape, read};
use super::blocks::blocks;
use super::tables::{INPUTS, SMALLER_INPUTS};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A real evaluation of half a minute: 64 MiB of memory, sets up to 256 MiB, without its log.
const WHOLE: &str = include_str!("../data/small.ioscape.json");

/// A real evaluation of three minutes, with 512 MiB of memory and sets up to 2 GiB, made by the
/// command of read-a-landscape.md.
const LANDSCAPE: &str = include_str!("../data/landscape.ioscape.json");

/// Real traces of the gallery, below `IOSCAPE_DATA`.
const TRACES: [&str; 8] = [
    "hplajw/ajw.1week.srt",
    "cloudphysics/cloudPhysicsIO.vscsi",
    "cello2003/hourly.03126.srt.bz2",
    "disk-validation/atlas10k.trace",
    "disk-validation/atlas10k.parv",
    "disk-validation/atlas10k.diskspecs",
    "disk-validation/atlas10k.model",
    "disk-validation/atlas10k.seek",
];

/// The root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// README.md and the pages of docs/.
pub fn pages() -> Vec<PathBuf> {
    let docs =
        fs::read_dir(repository().join("docs")).expect("docs").map(|e| e.expect("an entry").path());
    let pages = docs.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let mut pages: Vec<PathBuf> = pages.chain([repository().join("README.md")]).collect();
    pages.sort();
    pages
}

/// A page's name without its folder.
pub fn name_of(page: &Path) -> &str {
    page.file_name().and_then(|name| name.to_str()).expect("a plain name")
}

/// A directory that this user may write to: beside the build, on the disk, or else the one for
/// temporary files.
pub fn scratch() -> TempDir {
    let beside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"));
    beside.or_else(|_| tempfile::tempdir()).expect("a folder")
}

fn done(arguments: &str, folder: &Path) -> Ran {
    let mut command = ioscape(&arguments.split(' ').collect::<Vec<_>>());
    command.current_dir(folder);
    Ran::of(command).ended(0)
}

fn put(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).expect("a file");
}

fn copies(folder: &Path, from: &str, names: &[&str]) {
    for name in names {
        fs::copy(folder.join(from), folder.join(name)).expect("a copy");
    }
}

/// Writes job and campaign files as their pages show them, with less work.
fn put_shown(folder: &Path) {
    for (page, name) in INPUTS {
        let page = read(&repository().join("docs").join(page));
        let shown = blocks(&page).into_iter().find(|block| block.language == "toml");
        let text = shown.unwrap_or_else(|| panic!("{name} is shown no longer")).text;
        let smaller = |text: String, (said, given): (&str, &str)| text.replace(said, given);
        put(folder, name, &SMALLER_INPUTS.into_iter().fold(text, smaller));
    }
}

/// Writes traces: of a run, as the program writes them, on a disk called `sda`.
fn put_traces(folder: &Path) {
    done(
        "run . --unique-bytes 1M --seconds 200ms --rows rows.csv -o run.ioscape.json --quiet",
        folder,
    );
    let rows = read(&folder.join("rows.csv"));
    let (head, rest) = rows.split_once('\n').expect("a head");
    let name =
        head.split("\"name\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a device");
    let named = head.replace(&format!("\"name\":\"{name}\""), "\"name\":\"sda\"");
    let rest = rest.replace(&format!(",{name},"), ",sda,");
    put(folder, "week.srt", &format!("{named}\n{rest}"));
    done("trace import week.srt -o trace.parquet", folder);
    let names = [
        "before.parquet",
        "after.parquet",
        "db.parquet",
        "rows.parquet",
        "t.parquet",
        "day.parquet",
    ];
    copies(folder, "trace.parquet", &names);
    copies(folder, "trace.parquet", &["data/day.parquet"]);
}

/// The evaluation, as if made of the place that most pages evaluate.
fn evaluation() -> String {
    WHOLE.replace("/srv/data", "/mnt/data")
}

/// What an evaluation with this result name would have written, had it not been cut short.
pub fn evaluated(name: &str) -> String {
    if name == "landscape.ioscape.json" { LANDSCAPE.to_owned() } else { evaluation() }
}

/// Writes results: of evaluations, of runs, and of a traced program.
fn put_results(folder: &Path) {
    for name in ["here", "there", "gp3", "nvme", "quiet-a", "quiet-b", "quiet-c", "baseline"] {
        put(folder, &format!("{name}.ioscape.json"), &evaluation());
    }
    put(folder, "landscape.ioscape.json", LANDSCAPE);
    let names = ["before", "after", "main", "branch"].map(|name| format!("{name}.ioscape.json"));
    done("run jobs.toml mnt/data --seconds 200ms -o jobs.ioscape.json --quiet", folder);
    copies(folder, "jobs.ioscape.json", &names.each_ref().map(String::as_str));
    done("characterize -o sort.ioscape.json -- sort -o out in", folder);
}

/// The directory that is copied for every page.
pub fn furnished() -> TempDir {
    let place = scratch();
    let folder = place.path();
    for name in ["a", "b", "data", "ssd", "xfs", "ext4", "gp3", "nvme", "nfs"] {
        fs::create_dir_all(folder.join("mnt").join(name)).expect("a folder");
    }
    for name in ["data", "var/lib/db", "var/lib/node_exporter", "var/log/io"] {
        fs::create_dir_all(folder.join(name)).expect("a folder");
    }
    put(folder, "in", &"c\nb\na\n".repeat(100_000));
    put(folder, "run-the-database.sh", "#!/bin/sh\nexec sort -o var/lib/db/out in\n");
    let script = folder.join("run-the-database.sh");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).expect("a script");
    for name in ["mail", "before", "after"] {
        put(
            folder,
            &format!("{name}.toml"),
            "[[job]]\nname = \"mail\"\nunique_bytes = \"1M\"\nseconds = 0.05\n",
        );
    }
    put_shown(folder);
    put_traces(folder);
    put_results(folder);
    place
}

/// A copy of the furnished directory, for one page.
pub fn copy_of(furnished: &Path) -> TempDir {
    let place = scratch();
    let from = furnished.join(".");
    let copied = Command::new("cp").arg("-R").arg(from).arg(place.path()).status();
    assert!(copied.expect("cp").success(), "the folder can be copied");
    place
}

/// Puts the real traces of the gallery into the directory; `false` if they are not available.
pub fn has_real_traces(folder: &Path) -> bool {
    let Some(data) = std::env::var_os("IOSCAPE_DATA").map(PathBuf::from) else { return false };
    TRACES.iter().all(|name| {
        let from = data.join(name);
        let to = folder.join(from.file_name().unwrap_or_default());
        from.exists() && symlink(&from, to).is_ok()
    })
}
