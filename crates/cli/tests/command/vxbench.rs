//! `vxbench` and campaigns as commands: what is refused, what is kept, what is printed.

use super::common::{path, program, refused, run, skipped};
use assert_cmd::Command;
use ioscape_schema::{Document, Warning, WarningKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A directory beside the binary, which is on a disk if anything is.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory")
}

fn document(arguments: &[&str]) -> Document {
    let output = program().args(arguments).arg("--json").assert().success().get_output().clone();
    serde_json::from_slice(&output.stdout).expect("a result")
}

#[test]
fn bad_words_are_answered_with_the_nearest() {
    let folder = folder();
    let file = folder.path().join("file");
    let run = |more: &[&'static str], words: &[&str]| {
        let arguments: Vec<&str> =
            ["vxbench"].into_iter().chain(more.iter().copied()).chain([path(&file)]).collect();
        refused(&arguments, words);
    };
    run(&["-w", "raed"], &["raed", "did you mean \"read\"?"]);
    run(&["-w", "write", "-i", "iosiz=4k"], &["iosiz", "did you mean \"iosize\"?"]);
    run(&["-w", "write", "-c", "dirct"], &["dirct", "did you mean \"direct\"?"]);
    run(&["-w", "write", "-f", "trim"], &["trim", "-r"]);
    run(&["-w", "read", "-i", "fsync"], &["fsync", "only reads"]);
    run(&["-w", "read"], &["does not exist"]);
    run(&["-w", "write"], &["iocount"]);
    run(&["-w", "write", "-i", "iosize=1m,iocount=100000000"], &["free space"]);
    run(&["-w", "write", "-p", "-t", "-i", "iocount=1"], &["-p", "-t"]);
    run(&["-w", "write", "-k", "-M", "-i", "iocount=1"], &["-k", "-M"]);
    refused(&["vxbench", "-w", "read", path(folder.path())], &["directory"]);
    refused(&["vxbench", "-w", "read", "/dev/null"], &["character device"]);
    let left = std::fs::read_dir(folder.path()).expect("the folder").count();
    assert_eq!(left, 0, "nothing is left behind");
}

#[test]
fn best_effort_is_advised_by_the_command_that_has_it_and_by_no_campaign() {
    let folder = folder();
    let [campaign, result, file] = ["c.toml", "r.json", "file"].map(|n| folder.path().join(n));
    let text = "title = \"odd\"\nrounds = 1\n[base]\nworkload = \"write\"\nfile_size = \"1000\"\niosize = \"1000\"\n\
                cache = \"direct\"\n[[vary]]\nname = \"files\"\nvalues = [1]\n[[method]]\nname = \"direct\"\n";
    std::fs::write(&campaign, text).expect("a campaign");
    let place = path(folder.path());
    let words = ["campaign", "run", path(&campaign), place, "-o", path(&result)];
    let ran = run(&words).ended(1).says(&["no cell was measured: -c direct on"]);
    assert!(!ran.err.contains("--best-effort"), "{}", ran.err);
    let odd = ["vxbench", "-w", "write", "-c", "direct", "-i", "iosize=1000,iocount=1"];
    let odd = [&odd[..], &[path(&file)]].concat();
    refused(&odd, &["-c direct on", "; --best-effort goes on with"]);
}

#[test]
fn what_exists_is_never_overwritten_unasked() {
    let folder = folder();
    let file = folder.path().join("precious");
    std::fs::write(&file, "precious").expect("a file");
    for workload in ["write", "rand_write", "rand_mixed", "mmap_write"] {
        let options = ["vxbench", "-w", workload, "-i", "iosize=4,iocount=1", path(&file)];
        refused(&options, &["precious", "--destroy-data"]);
    }
    refused(&["vxbench", "-w", "read", "-i", "remove,iosize=4", path(&file)], &["--destroy-data"]);
    assert_eq!(std::fs::read(&file).expect("still there"), b"precious");
    document(&["vxbench", "-w", "read", "-i", "iosize=4", path(&file)]);
    assert_eq!(std::fs::read(&file).expect("still there"), b"precious");
}

#[test]
fn a_link_of_another_user_leads_to_no_data_that_is_destroyed() {
    let folder = folder();
    let (file, link) = (folder.path().join("precious"), folder.path().join("link"));
    std::fs::write(&file, vec![7; 1 << 20]).expect("a file");
    std::os::unix::fs::symlink(&file, &link).expect("a link");
    if std::os::unix::fs::lchown(&link, Some(65_534), None).is_err() {
        return skipped("only root can give a link to another user");
    }
    let vxbench = ["vxbench", "-w", "write", "-i", "iosize=4k,iocount=1"];
    for words in [&["run", "--unique-bytes", "64k"][..], &vxbench] {
        let words = [words, &["--destroy-data", path(&link)]].concat();
        refused(&words, &["another user", "name the file itself"]);
    }
    assert_eq!(std::fs::read(&file).expect("still there"), vec![7; 1 << 20]);
    let around = folder.path().join("around");
    std::os::unix::fs::symlink(".", &around).expect("a link");
    std::os::unix::fs::lchown(&around, Some(65_534), None).expect("root may");
    refused(&[&vxbench[..], &[path(&around.join("new"))]].concat(), &["another user"]);
    assert!(!folder.path().join("new").exists());
}

#[test]
fn the_papers_lines_come_out() {
    let folder = folder();
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
    let write = ["vxbench", "-w", "write", "-i", "iosize=8k,iocount=128,nthreads=2", "-v"];
    let output = program().args(write).args([&a, &b]).assert().success().get_output().clone();
    // Warnings follow after an empty line, of other tests that keep the processors busy among them.
    let of_paper = |text: &str| {
        text.lines().take_while(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    let lines = of_paper(&String::from_utf8(output.stdout).expect("text"));
    assert_eq!(lines.len(), 7, "{lines:?}");
    assert!(lines.iter().all(|line| line.contains("KB/s") && line.contains("sys")), "{lines:?}");
    let summary = program()
        .args(["vxbench", "-w", "read", "-s", "-M"])
        .args([&a, &b])
        .assert()
        .success()
        .get_output()
        .clone();
    let lines = of_paper(&String::from_utf8(summary.stdout).expect("text"));
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("total:") && lines[0].contains("MB/s"), "{lines:?}");
    let found = document(&["vxbench", "-w", "read", path(&a)]).vxbench().expect("runs").clone();
    assert_eq!(found.runs[0].total.bytes, 2 << 20);
}

/// A file of 4 MiB that holds nothing; `None`, with a message, if the file system makes no holes.
fn sparse(folder: &Path) -> Option<PathBuf> {
    let path = folder.join("sparse");
    let file = std::fs::File::create(&path).expect("a file");
    file.set_len(4 << 20).expect("a size");
    let is_sparse = file.metadata().expect("a file").blocks() == 0;
    if !is_sparse {
        skipped("the file system makes no holes");
    }
    is_sparse.then_some(path)
}

#[test]
fn reads_of_a_file_that_holds_nothing_are_doubted() {
    let folder = folder();
    let Some(sparse) = sparse(folder.path()) else { return };
    let written = folder.path().join("written");
    std::fs::write(&written, vec![1; 4 << 20]).expect("a file");
    let doubts = |file: &Path| {
        let told = document(&["vxbench", "-w", "read", path(file)]).warnings.into_iter();
        let doubts = told.filter(|one| one.kind == WarningKind::NeverWritten);
        doubts.map(|one| one.message).collect::<Vec<_>>()
    };
    let told = doubts(&sparse);
    assert!(told.len() == 1 && told[0].starts_with("100 % of the part of "), "{told:?}");
    // On ZFS, a file of written zeros looks just like this.
    assert!(told[0].contains("holds no data") && told[0].contains("not zero"), "{told:?}");
    assert_eq!(doubts(&written), Vec::<String>::new());
}

#[test]
fn a_cell_that_reads_what_holds_nothing_is_doubted() {
    let folder = folder();
    if sparse(folder.path()).is_none() {
        return;
    }
    let file = folder.path().join("mixed.toml");
    let text = "title = \"mixed\"\nrounds = 1\n[base]\nworkload = \"rand_mixed\"\nfile_size = \"1M\"\niosize = \"4k\"\n\
                prepare = \"fresh\"\noptions = \"truncup\"\n[[vary]]\nname = \"threads\"\nvalues = [1]\n\
                [[method]]\nname = \"plain\"\n";
    std::fs::write(&file, text).expect("a campaign");
    let found = document(&["campaign", "run", path(&file), path(folder.path())]);
    let is_told =
        |one: &Warning| one.kind == WarningKind::NeverWritten && one.place == "row 1 column 1";
    assert!(found.warnings.iter().any(is_told), "{:?}", found.warnings);
}

#[test]
fn requests_in_flight_and_their_rows_are_kept() {
    let folder = folder();
    let (file, rows) = (folder.path().join("file"), folder.path().join("rows.csv"));
    let deep = ["vxbench", "-w", "write", "-i", "iosize=4k,iocount=32,nthreads=2,fsync"];
    let result = document(&[&deep[..], &["--rows", path(&rows), path(&file)]].concat());
    let total = result.vxbench().expect("vxbench").runs[0].total;
    assert!(total.fsync_ns.is_some() && total.response_time_ns.is_some());
    assert_eq!(total.cpu_split_told, Some(false), "a few milliseconds hold no ticks");
    let lines = std::fs::read_to_string(&rows).expect("the rows");
    let requests = lines.lines().filter(|line| !line.starts_with('#')).count() - 1;
    assert_eq!(requests, 64);
    let again = ["vxbench", "-w", "rand_read", "--queue-depth", "8", "-i", "iosize=4k,iocount=32"];
    let ran = run(&[&again[..], &[path(&file)]].concat());
    if ran.code == Some(2) && ran.err.contains("io_uring") {
        skipped(&ran.err);
    } else {
        assert!(ran.ended(0).out.contains("longest"));
    }
    refused(&["vxbench", "-w", "read", "--queue-depth", "0", path(&file)], &["--queue-depth"]);
    refused(
        &["vxbench", "-w", "mmap_read", "--queue-depth", "4", path(&file)],
        &["--queue-depth", "mapping"],
    );
}

#[test]
fn operations_on_names_are_a_campaign_too() {
    let folder = folder();
    let campaign = folder.path().join("names.toml");
    let words = "title = \"names\"\nrounds = 2\n[base]\nentries = \"50\"\ntree_files = \"30\"\ntree_churn = 1\n\
                [[vary]]\nname = \"threads\"\nvalues = [1, 2]\n[[method]]\nname = \"create\"\n\
                with = { workload = \"create\" }\n[[method]]\nname = \"list\"\nwith = { workload = \"list\", shared = true }\n";
    std::fs::write(&campaign, words).expect("a campaign");
    let place = folder.path().join("place");
    std::fs::create_dir(&place).expect("a directory");
    let found = document(&["campaign", "run", path(&campaign), path(&place)]);
    let table = found.campaign().expect("a campaign");
    for (row, threads) in table.rows.iter().zip([1, 2]) {
        let [create, list] = &row.cells[..] else { panic!("two columns") };
        assert!(
            create.samples.iter().all(|one| one.operations == Some(50 * threads)),
            "{create:?}"
        );
        assert!(create.operations_per_s.is_some_and(|rate| rate > 0.0));
        assert!(list.response_time_ns.is_some());
        assert_eq!(list.ratio, None, "no other column lists");
    }
    assert_eq!(std::fs::read_dir(&place).expect("the place").count(), 0, "nothing stays behind");
}

#[test]
fn file_systems_are_made_where_that_was_asked_for() {
    let folder = folder();
    let run = |more: &[&'static str], words: &[&str]| {
        let first = ["campaign", "run", "buffered-reads", "--as-root-make", "--fs", "ext4,ext4-b"];
        refused(&[&first[..], more, &[path(folder.path())]].concat(), words);
    };
    run(&["--mkfs", "xfs=-f"], &["--mkfs", "ext4=-I 512"]);
    run(&["--mount", "noatime"], &["--mount", "ext4=noatime"]);
    run(&["/dev/null"], &["block device for each file system"]);
}

#[test]
fn under_its_own_name_it_is_the_same() {
    let folder = folder();
    let link = folder.path().join("vxbench");
    std::os::unix::fs::symlink(assert_cmd::cargo::cargo_bin("ioscape"), &link).expect("a link");
    let file = folder.path().join("a");
    let mut command = std::process::Command::new(&link);
    let options = ["-w", "write", "-i", "iosize=4k,iocount=4,remove"];
    let output = command.args(options).arg(&file).output().expect("it runs");
    assert!(output.status.success() && output.stdout.starts_with(b"user 1:"), "{output:?}");
    assert!(!file.exists(), "removed after the test");
}

#[test]
fn a_campaign_is_measured_saved_and_continued() {
    let folder = folder();
    let file = folder.path().join("mine.toml");
    let campaign = "title = \"mine\"\nrounds = 2\n[base]\nfile_size = \"1M\"\n[[vary]]\nname = \"iosize\"\n\
                    values = [\"64k\", \"256k\"]\n[[method]]\nname = \"plain\"\n[[method]]\nname = \"seq\"\nwith = { cache = \"seq\" }\n";
    std::fs::write(&file, campaign).expect("a file");
    let result = folder.path().join("result.json");
    let base = ["campaign", "run", path(&file), path(folder.path()), "-o", path(&result)];
    let with = |more: &[&'static str]| {
        document(&[&base[..], more].concat()).campaign().expect("a table").clone()
    };
    let first = with(&["--rounds", "1"]);
    assert_eq!((first.rows.len(), first.columns.len()), (2, 2));
    let more = with(&["--rounds", "3"]);
    assert!(more.rows.iter().flat_map(|row| &row.cells).all(|cell| cell.samples.len() == 3));
    assert!(more.rows[0].cells[1].ratio.is_some_and(|ratio| ratio > 0.0));
    let resumed = [&base[..], &["--rounds", "4", "--resume", path(&result)]].concat();
    let resumed = document(&resumed).campaign().expect("a table").clone();
    assert_eq!(resumed.rows[1].cells[0].samples[..3], more.rows[1].cells[0].samples[..]);
    assert_eq!(resumed.rows[1].cells[0].samples.len(), 4);
    let [low, high] = resumed.rows[1].cells[0].rate_ci95.expect("four runs have an interval");
    let middle = resumed.rows[1].cells[0].throughput_bytes_per_s;
    assert!(low <= middle && middle <= high, "{low} {middle} {high}");
    let printed = |format: &str| {
        let command = ["report", path(&result), format];
        let output = Command::cargo_bin("ioscape").expect("it is built").args(command).output();
        String::from_utf8(output.expect("it runs").stdout).expect("text")
    };
    assert_eq!(printed("--csv").lines().count(), 1 + 2 * 2 * 4);
    assert!(printed("--markdown").contains("| iosize | "), "{}", printed("--markdown"));
    let left = std::fs::read_dir(folder.path()).expect("the folder").count();
    assert_eq!(left, 2, "the campaign and its result");
}

/// A campaign that continued from its result, which `change` modified.
fn gone_on(campaign: &str, begun: &[&str], change: impl FnOnce(&mut Document)) -> Document {
    let folder = folder();
    let [file, result] = ["mine.toml", "result.json"].map(|name| folder.path().join(name));
    std::fs::write(&file, campaign).expect("a file");
    let base = ["campaign", "run", path(&file), path(folder.path()), "-o", path(&result)];
    let mut changed = document(&[&base[..], begun].concat());
    change(&mut changed);
    let text = serde_json::to_string(&changed).expect("a document is JSON");
    std::fs::write(&result, text).expect("a file");
    document(&[&base[..], &["--resume", path(&result)]].concat())
}

#[test]
fn a_campaign_that_goes_on_keeps_its_rounds_and_what_was_doubtful_in_its_cells() {
    let campaign = "title = \"mine\"\nrounds = 1\n[base]\nfile_size = \"1M\"\n[[vary]]\nname = \"iosize\"\n\
                    values = [\"64k\"]\n[[method]]\nname = \"plain\"\n";
    let resumed = gone_on(campaign, &["--rounds", "3"], |begun| {
        begun.warn(Warning::new(WarningKind::Stopped, "it was stopped").at("row 1 column 1"));
        begun.warn(Warning::new(WarningKind::BudgetSpent, "the budget was spent"));
        begun.started_at = "2026-01-31T08:00:00Z".to_owned();
        let mut table = begun.campaign().expect("a table").clone();
        table.sentences = vec!["of one round".to_owned()];
        begun.outcome = Some(table.into());
    });
    assert_eq!(resumed.started_at, "2026-01-31T08:00:00Z", "compare takes both for one result");
    let table = resumed.campaign().expect("a table");
    assert_eq!((table.rounds, table.rows[0].cells[0].samples.len()), (3, 3));
    assert_eq!(table.sentences, [""; 0]);
    let told = |kind| resumed.warnings.iter().any(|one| one.kind == kind);
    assert!(told(WarningKind::Stopped) && !told(WarningKind::BudgetSpent));
}

/// Once, column 2's ratios mixed runs of two days; the doubt named column 1, which has none.
#[test]
fn ratios_to_a_cell_that_was_measured_later_are_doubted() {
    let campaign = "title = \"mine\"\nrounds = 2\n[base]\nfile_size = \"1M\"\n[[vary]]\nname = \"iosize\"\n\
                    values = [\"64k\"]\n[[method]]\nname = \"plain\"\n[[method]]\nname = \"seq\"\nwith = { cache = \"seq\" }\n";
    let resumed = gone_on(campaign, &[], |begun| {
        let mut table = begun.campaign().expect("a table").clone();
        let cell = &mut table.rows[0].cells[0];
        cell.samples.clear();
        cell.impossible = Some("the kernel forbids it".to_owned());
        begun.outcome = Some(table.into());
    });
    let cells = &resumed.campaign().expect("a table").rows[0].cells;
    assert!(cells[0].ratio.is_none() && cells[1].ratio.is_some(), "{cells:?}");
    let words = "ratios between it and others of its row are of runs of different times";
    let is_told = |one: &Warning| one.place == "row 1 column 1" && one.message.contains(words);
    assert!(resumed.warnings.iter().any(is_told), "{:?}", resumed.warnings);
}

#[test]
fn campaigns_are_listed_shown_and_planned_without_a_touch() {
    let list = program().args(["campaign", "list"]).assert().success().get_output().clone();
    assert_eq!(String::from_utf8(list.stdout).expect("text").lines().count(), 14);
    program().args(["campaign", "show", "aged-reads"]).assert().success();
    program().args(["campaign", "run", "aged-reads", "/nowhere", "--dry-run"]).assert().success();
    refused(&["campaign", "run", "aged", "/tmp"], &["aged", "aged-reads"]);
    refused(&["campaign", "run", "aged-reads", "/nowhere"], &["/nowhere"]);
    refused(&["campaign", "run", "aged-reads", "/tmp", "--fs", "xfs"], &["--as-root-make"]);
}

#[test]
fn a_plan_says_on_what_its_time_rests() {
    let planned = |name: &str, place: &Path| {
        run(&["campaign", "run", name, path(place), "--dry-run"]).ended(0).out
    };
    let far = planned("aged-reads", Path::new("/nowhere"));
    assert!(far.contains("an assumed") && far.contains("since it cannot be looked at"), "{far}");
    let folder = folder();
    let names = planned("metadata", folder.path());
    assert!(names.contains("a measured") && names.contains("operations on names to do"), "{names}");
    assert!(!names.contains("moves"), "empty files are made, and no bytes moved: {names}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0);
}

/// Once, the plan had rows for which a run has no room.
#[test]
fn a_plan_has_the_rows_that_are_measured() {
    let folder = folder();
    let file = folder.path().join("mine.toml");
    let campaign = "title = \"mine\"\nrounds = 1\n[[vary]]\nname = \"file_size\"\n\
                    values = [\"1M\", \"100T\"]\n[[method]]\nname = \"plain\"\n";
    std::fs::write(&file, campaign).expect("a file");
    let words = ["campaign", "run", path(&file), path(folder.path())];
    let out = "1 of 2 rows are left out";
    let planned = run(&[&words[..], &["--dry-run"]].concat()).ended(0).says(&[out]);
    assert!(planned.out.contains("1 row, ") && !planned.out.contains("TiB"), "{}", planned.out);
    let result = folder.path().join("result.json");
    let measured = document(&[&words[..], &["-o", path(&result)]].concat());
    assert_eq!(measured.campaign().expect("a table").rows.len(), 1);
    assert!(measured.warnings.iter().any(|one| one.message.contains(out)));
}

#[test]
fn every_place_is_told_and_one_file_system_once() {
    let (disk, memory) = (folder(), Path::new("/dev/shm"));
    let Ok(memory) = tempfile::tempdir_in(memory) else {
        eprintln!("SKIPPED: there is no file system in memory");
        return;
    };
    let files = ["a", "b"].map(|name| disk.path().join(name));
    let far = memory.path().join("c");
    let amount = ["vxbench", "-w", "write", "-i", "iosize=4k,iocount=2"];
    let places = |files: &[&Path]| {
        let files = files.iter().map(|file| path(file));
        let words: Vec<&str> = amount.into_iter().chain(files).chain(["--destroy-data"]).collect();
        document(&words).environment.other_places
    };
    assert!(places(&[&files[0], &files[1]]).is_empty());
    let found = places(&[&files[0], &files[1], &far]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (found[0].path.as_str(), found[0].file_system.as_deref()),
        (path(&far), Some("tmpfs"))
    );
}

#[test]
fn links_to_nothing_and_counts_that_are_none_are_told() {
    let folder = folder();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("nothing", &link).expect("a link");
    refused(
        &["vxbench", "-w", "write", "-i", "iocount=1", path(&link)],
        &["link", "does not exist"],
    );
    refused(
        &["vxbench", "-w", "read", "-i", "nthreads=0", path(&link)],
        &["nthreads=0", "whole number"],
    );
    refused(
        &["vxbench", "-w", "read", "-i", "nrep=1.5", path(&link)],
        &["nrep=1.5", "whole number"],
    );
    assert!(!folder.path().join("nothing").exists());
}
