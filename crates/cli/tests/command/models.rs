//! `predict`, `compare` and `validate` on result files: what they print, write and refuse.

use super::common::started::{Started, signal};
use super::common::{in_memory, program, refused, run, scratch_files};
use assert_cmd::Command;
use ioscape_schema::{
    Access, Basis, BorderOperation, Document, Engine, Evaluation, SystemComparison, Verdict,
    Workload,
};
use std::path::{Path, PathBuf};

/// A real evaluation of half a minute: 64 MiB of memory, sets up to 256 MiB, without its log.
const SMALL: &str = include_str!("data/small.ioscape.json");

pub(super) fn ioscape(arguments: &[&str]) -> Command {
    let mut command = program();
    command.args(arguments);
    command
}

pub(super) fn small() -> Document {
    serde_json::from_str(SMALL).expect("the file follows the schema")
}

/// The document and its evaluation.
pub(super) fn small_evaluation() -> (Document, Evaluation) {
    let document = small();
    let evaluation = document.evaluation().expect("an evaluation").clone();
    (document, evaluation)
}

/// The same system, twice as fast, with changed workloads.
pub(super) fn twice_as_fast(change: impl Fn(&mut Workload)) -> Document {
    let (document, mut evaluation) = small_evaluation();
    let curves = evaluation.regions.iter_mut().flat_map(|region| {
        change(&mut region.focal);
        let all = &mut region.curves;
        [&mut all.size_mean, &mut all.read_frac, &mut all.seq_frac, &mut all.process_num]
    });
    let across = [
        &mut evaluation.unique_bytes_curve,
        &mut evaluation.unique_bytes_read_curve,
        &mut evaluation.unique_bytes_write_curve,
        &mut evaluation.extra,
    ];
    for point in curves.chain(across).flatten() {
        point.measurement.throughput_bytes_per_s *= 2.0;
        point.measurement.throughput_ci95 = point.measurement.throughput_ci95.map(|end| end * 2.0);
        point.rounds.iter_mut().for_each(|round| *round *= 2.0);
        change(&mut point.measurement.workload);
    }
    Document { outcome: Some(evaluation.into()), ..document }
}

pub(super) struct Folder(tempfile::TempDir);

impl Folder {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    pub(super) fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().expect("a plain path").to_owned()
    }

    pub(super) fn put(&self, name: &str, document: &Document) -> String {
        let text = serde_json::to_string(document).expect("a document is JSON");
        self.put_text(name, &text)
    }

    pub(super) fn put_text(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.path().join(name), text).expect("a file");
        self.path(name)
    }
}

pub(super) fn document(output: &[u8]) -> Document {
    serde_json::from_slice(output).expect("valid JSON")
}

pub(super) fn stdout(arguments: &[&str]) -> Vec<u8> {
    ioscape(arguments).assert().success().get_output().stdout.clone()
}

#[test]
fn predictions_are_consistent_and_say_where_they_are_guesses() {
    let folder = Folder::new();
    let a = folder.put("a.ioscape.json", &small());
    let (out, page) = (folder.path("p.json"), folder.path("p.html"));
    let both = ["predict", &a, "--workloads", "paper", "--json", "-o", &out, "--html", &page];
    let text = stdout(&both);
    assert_eq!(std::fs::read(&out).expect("the file"), text, "one document");
    let predicted = document(&text);
    let predictions = predicted.predictions().expect("predictions");
    assert_eq!(predictions.len(), 5);
    for one in predictions {
        let w = &one.workload;
        let [low, high] = one.interval90;
        assert!(0.0 < low && low < one.throughput_bytes_per_s && one.throughput_bytes_per_s < high);
        assert!((one.iops * w.size_mean as f64 / one.throughput_bytes_per_s - 1.0).abs() < 1e-9);
        let in_flight = one.response_time_ns / 1e9 * one.iops;
        assert!((in_flight - f64::from(w.process_num)).abs() < 1e-6, "Little's law");
        assert_eq!(one.extrapolated, w.unique_bytes > 256 << 20, "{:?}", one.name);
        assert_eq!(one.system, "/srv/data");
    }
    let [outside, older] = &predicted.warnings[..] else { panic!("{:?}", predicted.warnings) };
    assert!(outside.message.contains("database (500 MiB)"));
    assert!(older.message.starts_with("an earlier version laid out its sets"));
    assert!(std::fs::read_to_string(&page).expect("the page").contains("extrapolated"));
    let table = String::from_utf8(stdout(&both[..4])).expect("text");
    assert!(table.contains("scientific_write") && table.contains("Warnings"), "{table}");
}

#[test]
fn a_workload_by_flags_and_from_a_file_is_the_same() {
    let folder = Folder::new();
    let a = folder.put("a.json", &small());
    let jobs =
        "[[job]]\nname = \"x\"\nunique_bytes = \"10M\"\nsize_mean = \"8k\"\nread_frac = 0.6\n";
    let jobs = folder.put_text("jobs.toml", jobs);
    let asked = ["predict", &a, "--json", "--unique-bytes", "10M", "--size-mean", "8k"];
    let flags = document(&stdout(&[&asked[..], &["--read-frac", "0.6"]].concat()));
    let file = document(&stdout(&["predict", &a, "--json", "--workloads", &jobs]));
    let [flags, file] = [flags, file].map(|d| d.predictions().expect("predictions")[0].clone());
    assert_eq!((&flags.name, file.name.as_deref()), (&None, Some("x")));
    assert_eq!(flags.throughput_bytes_per_s, file.throughput_bytes_per_s);
    let product = [&asked[..], &["--read-frac", "0.6", "--model", "product"]].concat();
    let product = document(&stdout(&product)).predictions().expect("predictions")[0].clone();
    assert_ne!(product.throughput_bytes_per_s, flags.throughput_bytes_per_s);
}

#[test]
fn a_system_twice_as_fast_is_twice_as_fast() {
    let folder = Folder::new();
    let a = folder.put("a.ioscape.json", &small());
    let b = folder.put("b.ioscape.json", &twice_as_fast(|_| ()));
    let prices = ["--price", "a=100", "--price", "b=400", "--at-least", "1kB/s"];
    let compared = document(&stdout(&[&["compare", &a, &b, "--json"], &prices[..]].concat()));
    let SystemComparison { comparison: all, cheapest, .. } =
        compared.comparison().expect("a comparison");
    assert_eq!(all.len(), 5);
    for one in all {
        assert_eq!(one.systems, ["b", "a"]);
        assert!((one.ratio - 2.0).abs() < 0.05, "{:?}: {}", one.name, one.ratio);
        let [ours, theirs] = one.throughput_per_price.expect("prices");
        assert!((ours / theirs * 4.0 / one.ratio - 1.0).abs() < 1e-9);
        let is_apart = one.interval90[0] > 1.0 || one.interval90[1] < 1.0;
        assert_eq!(one.significant, is_apart && !one.is_guess());
    }
    assert_eq!(cheapest.len(), 5);
    for one in cheapest {
        let choice = one.choice.as_ref().expect("both are fast enough");
        assert_eq!((choice.system.as_str(), choice.price), ("a", 100.0));
    }
}

#[test]
fn evaluations_of_different_accesses_are_refused_with_the_command_that_helps() {
    let folder = Folder::new();
    let a = folder.put("a.json", &small());
    let b = folder.put("b.json", &twice_as_fast(|workload| workload.access = Access::Direct));
    refused(
        &["compare", &a, &b],
        &["access direct against buffered", "`ioscape evaluate /srv/data`"],
    );
    refused(&["compare", &b, &a], &["access buffered against direct", "--direct`"]);
    let simulated = folder.put("s.json", &twice_as_fast(|workload| workload.engine = Engine::Sim));
    for both in [[&a, &simulated], [&simulated, &a]] {
        refused(&["compare", both[0], both[1]], &["engine", "`ioscape predict` with both results"]);
    }
}

#[test]
fn an_evaluation_does_not_differ_from_itself() {
    let folder = Folder::new();
    let a = folder.put("a.json", &small());
    let page = folder.path("c.html");
    let asked = ["--fail-if", "throughput < 0.95", "--json", "--html", &page];
    let compared = document(&stdout(&[&["compare", &a, &a], &asked[..]].concat()));
    let found = compared.comparison().expect("a comparison");
    assert_eq!((found.comparison.len(), found.measured.len()), (5, 1));
    for one in &found.comparison {
        assert_eq!((one.ratio, one.verdict), (1.0, Some(Verdict::NoDifference)), "{:?}", one.name);
        assert!(0.97 < one.interval90[0] && one.interval90[1] < 1.03, "{:?}", one.interval90);
    }
    assert!(found.measured[0].rows.len() > 20);
    for row in &found.measured[0].rows {
        assert_eq!((row.ratio, row.verdict), (1.0, Verdict::NoDifference));
    }
    assert!(std::fs::read_to_string(&page).expect("the page").contains("as measured"));
}

#[test]
fn a_condition_that_is_met_exits_with_3() {
    let folder = Folder::new();
    let a = folder.put("a.json", &twice_as_fast(|_| ()));
    let b = folder.put("b.json", &small());
    let fail_if = ["--fail-if", "throughput < 0.95"];
    let slower = ioscape(&[&["compare", &a, &b], &fail_if[..]].concat())
        .assert()
        .code(3)
        .get_output()
        .clone();
    let text = String::from_utf8(slower.stdout).expect("text");
    assert!(text.contains("FAILED") && text.contains("slower"), "{text}");
    stdout(&[&["compare", &b, &a], &fail_if[..]].concat());
    refused(&["compare", &a, &b, "--fail-if", "speed < 1"], &["throughput < 0.95"]);
    refused(&["compare", &a, &b, "--fail-if", "time > 1.1"], &["no row counts time"]);
}

#[test]
fn results_of_different_kinds_are_refused() {
    let folder = Folder::new();
    let a = folder.put("a.json", &small());
    let measurement = small_evaluation().1.unique_bytes_curve[0].measurement.clone();
    let runs = Document { outcome: Some(vec![measurement].into()), ..small() };
    let b = folder.put("b.json", &runs);
    refused(&["compare", &a, &b], &["a holds an evaluation and b holds runs", "one kind"]);
    refused(&["compare", &b, &b, "--workloads", "paper"], &["need predictions"]);
    let same = document(&stdout(&["compare", &b, &b, "--json"]));
    // Throughput and two response times.
    assert_eq!(same.comparison().expect("a comparison").measured[0].rows.len(), 3);
}

#[test]
fn what_was_not_asked_of_the_system_is_refused_with_the_command_that_measures_it() {
    let folder = Folder::new();
    let a = folder.put("a.json", &small());
    for (asked, says) in [
        (&["--direct"][..], ["access direct", "ioscape evaluate /srv/data --direct"]),
        (&["--dsync"], ["access dsync", "ioscape evaluate /srv/data --access dsync"]),
        (&["--engine", "mmap"], ["engine mmap", "--engine mmap"]),
        (&["--size-dist", "fixed"], ["size distribution fixed", "--size-dist fixed"]),
        (&["--advice", "random"], ["advice random", "ioscape run"]),
        (&["--engine", "io_uring", "--queue-depth", "32"], ["queue depth 32", "--queue-depth 32"]),
        (&["--queue-depth", "32"], ["evaluate /srv/data --engine io_uring", "--queue-depth 32"]),
    ] {
        refused(&[&["predict", &a], asked].concat(), &says);
    }
    let same = ["--engine", "psync", "--size-dist", "normal", "--queue-depth", "1"];
    stdout(&[&["predict", &a], &same[..]].concat());
    let jobs = folder.put_text("jobs.toml", "[[job]]\nname = \"log\"\naccess = \"dsync\"\n");
    refused(&["predict", &a, "--workloads", &jobs], &["log is not predicted", "--access dsync"]);
    // Of fio's jobs those of an evaluated size are answered; the others name one evaluation.
    let fio = |size| {
        let text = format!("[db]\nrw=randread\nsize=64m\nnorandommap\nbs={size}\n");
        folder.put_text("jobs.fio", &text)
    };
    let told = document(&stdout(&["predict", &a, "--workloads", &fio("4k"), "--json"]));
    assert!(told.warnings.iter().any(|doubt| doubt.message.contains("left out advice random")));
    let says = "ioscape evaluate /srv/data --size-dist fixed";
    run(&["predict", &a, "--workloads", &fio("64k")]).ended(2).says(&[says]);
}

/// The small evaluation with more memory than its largest set, so that it shows no end of a cache.
fn not_outgrown() -> (Document, Evaluation) {
    let (document, mut evaluation) = small_evaluation();
    evaluation.borders.clear();
    evaluation.findings.no_border_of = vec![BorderOperation::Read, BorderOperation::Write];
    (document, evaluation)
}

#[test]
fn a_set_that_outgrows_memory_is_not_told_from_sets_that_did_not() {
    let folder = Folder::new();
    let (document, evaluation) = not_outgrown();
    let a = folder.put("a.json", &Document { outcome: Some(evaluation.into()), ..document });
    let says = ["16 GiB outgrows the 8 GiB of memory", "up to 256 MiB", "--max-unique-bytes 16G"];
    refused(&["predict", &a, "--unique-bytes", "16G"], &says);
    let jobs = "[[job]]\nname = \"large\"\nunique_bytes = \"16G\"\n[[job]]\nname = \"small\"\n";
    let jobs = folder.put_text("jobs.toml", jobs);
    let told = self::document(&stdout(&["predict", &a, "--workloads", &jobs, "--json"]));
    let predicted = told.predictions().expect("predictions");
    assert_eq!(predicted.len(), 1, "the other is told");
    assert!(told.warnings.iter().any(|doubt| doubt.message.contains("large is not predicted")));
    // No set of four times the memory fits on the target, but those of a small control group do.
    let (mut document, evaluation) = not_outgrown();
    document.environment.free_bytes = Some(10 << 30);
    let c = folder.put("c.json", &Document { outcome: Some(evaluation.into()), ..document });
    let says = ["no set of 32 GiB fits", "ioscape evaluate /srv/data --memory 256M"];
    refused(&["predict", &c, "--unique-bytes", "16G", "--what-if", "memory=12G"], &says);
    // An evaluation that found the end of a cache knows what lies beyond.
    let b = folder.put("b.json", &small());
    stdout(&["predict", &b, "--unique-bytes", "16G"]);
    // What one of them cannot predict is not compared.
    let both = self::document(&stdout(&["compare", &b, &a, "--workloads", &jobs, "--json"]));
    assert_eq!(both.comparison().expect("a comparison").comparison.len(), 1);
    assert!(both.warnings.iter().any(|doubt| doubt.message.contains("large is not predicted")));
}

#[test]
fn a_set_that_outgrows_memory_is_told_as_in_a_small_group() {
    let folder = Folder::new();
    let (document, mut evaluation) = not_outgrown();
    let (_, mut group) = small_evaluation();
    group.settings.as_mut().expect("settings").memory_limit_bytes = Some(64 << 20);
    evaluation.other_accesses = vec![group];
    let a = folder.put("a.json", &Document { outcome: Some(evaluation.into()), ..document });
    let of = |set: &str| {
        let told = stdout(&["predict", &a, "--unique-bytes", set, "--json"]);
        let told = self::document(&told);
        (told.predictions().expect("predictions")[0].clone(), told.warnings)
    };
    let ((inside, _), (outside, doubts)) = (of("16M"), of("32G"));
    let more = stdout(&["predict", &a, "--unique-bytes", "32G", "--what-if", "memory=64G"]);
    let more = String::from_utf8_lossy(&more);
    assert!(more.contains("group, "), "{more}");
    assert!(inside.throughput_bytes_per_s > 3.0 * outside.throughput_bytes_per_s, "{outside:?}");
    assert!(outside.extrapolated && outside.region.starts_with("group, "), "{outside:?}");
    assert!(doubts.iter().any(|doubt| doubt.message.contains("control group of 64 MiB")));
}

#[test]
fn a_document_that_lacks_the_keys_was_measured_by_default() {
    let folder = Folder::new();
    let mut value: serde_json::Value = serde_json::from_str(SMALL).expect("JSON");
    forget(
        &mut value,
        &["access", "engine", "queue_depth", "size_distribution", "workers", "advice"],
    );
    let old = folder.put_text("old.json", &value.to_string());
    let same = ["--size-dist", "normal", "--queue-depth", "1", "--workers", "processes"];
    stdout(&[&["predict", &old], &same[..]].concat());
    refused(&["predict", &old, "--direct"], &["evaluated with access buffered"]);
}

/// Removes every one of `keys` from all objects of `value`.
fn forget(value: &mut serde_json::Value, keys: &[&str]) {
    match value {
        serde_json::Value::Object(map) => {
            map.retain(|key, _| !keys.contains(&key.as_str()));
            map.values_mut().for_each(|inner| forget(inner, keys));
        }
        serde_json::Value::Array(all) => all.iter_mut().for_each(|inner| forget(inner, keys)),
        _ => {}
    }
}

#[test]
fn what_cannot_be_predicted_is_refused() {
    let folder = Folder::new();
    let a = folder.put("a.json", &small());
    let no_evaluation = Document { outcome: None, ..small() };
    let none = folder.put("none.json", &no_evaluation);
    let (document, evaluation) = small_evaluation();
    let unmeasured = Evaluation { target: evaluation.target, ..Evaluation::default() };
    let empty = Document { outcome: Some(unmeasured.into()), ..document };
    let empty = folder.put("empty.json", &empty);
    let cut = folder.put_text("cut.json", &SMALL[..SMALL.len() / 2]);
    let newer = folder.put_text("newer.json", &SMALL.replace("ioscape/1", "ioscape/9"));
    let paper = ["--workloads", "paper"];
    for (file, words) in [
        (&none, ["none.json", "no evaluation"]),
        (&empty, ["empty.json", "nothing can be predicted"]),
        (&cut, ["cut.json", "truncated"]),
        (&newer, ["newer.json", "newer"]),
    ] {
        refused(&[&["predict", file], &paper[..]].concat(), &words);
        refused(&["compare", &a, file], &[words[0].trim_end_matches(".json")]);
        refused(&["validate", file, folder.0.path().to_str().expect("a path")], &words);
    }
    refused(&["predict", &a], &["no workload is given", "--workloads"]);
    refused(&["predict", &a, "--workloads", "tomorrow"], &["tomorrow", "today"]);
    refused(&["predict", &a, "--size-mean", "1G"], &["size_mean", "unique_bytes"]);
    refused(&["compare", &a], &["2"]);
    refused(&["compare", &a, &a, "--price", "x=1"], &["--price x:", "use a"]);
    refused(&["compare", &a, &empty, "--at-least", "5GB/s"], &["--price"]);
}

/// The evaluation with a space so small that its corners are measured instantly.
pub(super) fn tiny() -> Document {
    let (document, mut evaluation) = small_evaluation();
    let settings = evaluation.settings.as_mut().expect("settings");
    settings.unique_bytes = [1 << 20, 4 << 20];
    settings.size_mean = [4096, 16384];
    settings.process_num = [1, 2];
    Document { outcome: Some(evaluation.into()), ..document }
}

#[test]
fn a_validation_measures_what_it_predicted() {
    let folder = Folder::new();
    let (a, out, page) =
        (folder.put("a.json", &tiny()), folder.path("v.json"), folder.path("v.html"));
    let target = folder.0.path().to_str().expect("a path");
    // Ended by its workloads: on a busy disk, laying out the sets may use up a short budget.
    let asked = ["--workloads", "3", "--rounds", "1", "--budget", "60s", "--seed", "5"];
    let outputs = ["-o", &out, "--html", &page];
    let summary = stdout(&[&["validate", &a, target][..], &asked, &outputs].concat());
    assert!(String::from_utf8(summary).expect("text").contains("3 random workloads"));
    let result = document(&std::fs::read(&out).expect("the result"));
    let run = result.validation().expect("a validation");
    let validation = run.validation.as_ref().expect("it is whole");
    assert_eq!((validation.workloads, validation.points.len(), result.seed), (3, 3, 5));
    let models: Vec<&str> = validation.models.keys().map(String::as_str).collect();
    assert_eq!(models, ["default", "levels", "product", "single_point"]);
    for point in &validation.points {
        assert_eq!(point.prediction.workload, point.measurement.workload);
        assert!(point.measurement.throughput_bytes_per_s > 0.0);
    }
    assert!(
        std::fs::read_to_string(&page).expect("the page").contains("Predicted against measured")
    );
    assert_eq!(scratch_files(folder.0.path()), Vec::<PathBuf>::new());
}

/// Starts the command, interrupts it after some measurements, and returns what it kept.
fn interrupted(arguments: &[&str], out: &str) -> Document {
    let started = Started::of(arguments);
    let saved = || -> Option<usize> {
        let document: Document = serde_json::from_slice(&std::fs::read(out).ok()?).ok()?;
        document.validation().map(|run| run.measurements.len())
    };
    let started = started.until(|_| saved().is_some_and(|count| count >= 3));
    signal(started.0.id(), "INT");
    started.end().ended(130).says(&[&format!("--resume {out}")]);
    document(&std::fs::read(out).expect("the result"))
}

#[test]
fn an_interrupted_validation_is_kept_and_goes_on() {
    let folder = Folder::new();
    let (a, out) = (folder.put("a.json", &tiny()), folder.path("v.json"));
    // In memory: a busy disk may hold up a worker for longer than an interruption waits.
    let place = in_memory();
    let target = place.path().to_str().expect("a path");
    let asked = ["--workloads", "12", "--rounds", "1", "--budget", "10m", "-o", &out];
    let partial = interrupted(&[&["validate", &a, target], &asked[..]].concat(), &out);
    let kept = partial.validation().expect("a validation");
    assert!(partial.interrupted && kept.validation.as_ref().is_some_and(|v| v.workloads >= 2));
    let before = &kept.measurements;
    let log = kept.log.as_ref().expect("a log");
    assert_eq!((log.workloads, log.steps.len()), (12, before.len()));
    assert_eq!(scratch_files(place.path()), Vec::<PathBuf>::new());

    let whole = folder.path("w.json");
    let b = folder.put("b.json", &small());
    refused(&["validate", &b, target, "--resume", &out], &["v.json", "another evaluation"]);
    refused(&["validate", &a, "/", "--resume", &out], &["v.json", "about"]);
    stdout(&["validate", &a, target, "--resume", &out, "--budget", "1s", "-o", &whole]);
    let result = document(&std::fs::read(&whole).expect("the result"));
    let run = result.validation().expect("a validation");
    assert!(!result.interrupted && run.measurements.is_empty() && run.log.is_none());
    assert_eq!(result.started_at, partial.started_at);
    let points = &run.validation.as_ref().expect("it is whole").points;
    assert_eq!(points.len(), 12);
    // The first measurement is that of the single-point benchmark.
    for one in &before[1..] {
        assert!(points.iter().any(|point| point.measurement == *one), "measured again: {one:?}");
    }
    refused(&["validate", &a, target, "--resume", &whole], &["w.json", "nothing to continue"]);
}

#[test]
fn arms_take_turns_until_the_verdict_is_certain() {
    let folder = Folder::new();
    let [a, b] = ["a", "b"].map(|name| folder.path(name));
    std::fs::create_dir(&a).expect("a directory");
    std::fs::create_dir(&b).expect("a directory");
    let job = |size: &str| {
        format!(
            "[[job]]\nname = \"x\"\nunique_bytes = \"4M\"\nsize_mean = \"{size}\"\nread_frac = 1.0\n"
        )
    };
    let [small, large] = [("small.toml", "4k"), ("large.toml", "256k")]
        .map(|(name, size)| folder.put_text(name, &job(size)));
    let short = ["--seconds", "100ms", "--budget", "60s", "--json"];
    let jobs = [&["ab", &small, &large, "--dir", &a], &short[..]].concat();
    let found = document(&stdout(&jobs)).comparison().expect("a comparison").measured[0].clone();
    let row = &found.rows[0];
    assert_eq!((row.name.as_deref(), row.basis), (Some("x"), Basis::Interleaved));
    let samples = row.samples.as_ref().expect("every round");
    assert_eq!(samples.each_ref().map(Vec::len), row.rounds.map(|count| count as usize));
    assert_eq!(
        row.verdict,
        Verdict::Faster,
        "requests of 256 KiB move more than of 4 KiB: {row:?}"
    );
    let places =
        [&["ab", &a, &b, "--unique-bytes", "4M"], &short[..2], &["--budget", "3s", "--json"]]
            .concat();
    let found = document(&stdout(&places)).comparison().expect("a comparison").measured[0].clone();
    assert_eq!(found.systems, [b.clone(), a.clone()]);
    assert!(found.rows[0].rounds[0] > 0 && found.rows[0].workload.is_some());
    refused(&["ab", &a, &small], &["not of one kind"]);
    let two = folder.put_text("two.toml", &(job("4k") + &job("8k").replace("\"x\"", "\"y\"")));
    refused(&["ab", &small, &two], &["1 jobs", "as many"]);
    assert_eq!(scratch_files(Path::new(&a)), Vec::<PathBuf>::new());
}
