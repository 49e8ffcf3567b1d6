//! `predict` from a trace or a characterization: what an application's own locality implies, and
//! what is refused.

use super::common::refused;
use super::models::{Folder, document, ioscape, small, stdout, twice_as_fast};
use ioscape_schema::{
    Access, AccessPattern, Characterization, Document, Engine, RequestClass, SizeDistribution,
    Traits, Warning, WarningKind,
};

/// A trace of random reads over 16 MiB, each of which takes 100 us, with pauses of 50 us.
fn reads_traced(completed: bool, bytes: u32) -> String {
    let row = |i: u64| {
        let (at_ns, offset) = (i * 150_000, (i * 2_654_435_761 % 4096) * 4096);
        let end = if completed { format!(",{}", at_ns + 100_000) } else { String::new() };
        format!("{at_ns},0,{offset},{bytes}{end}\n")
    };
    let rows: String = (0..3000).map(row).collect();
    let end = if completed { ",completed_ns" } else { "" };
    format!("queued_ns,is_write,offset_bytes,length_bytes{end}\n{rows}")
}

#[test]
fn a_trace_is_predicted_by_its_own_locality() {
    let folder = Folder::new();
    let a = folder.put("a.ioscape.json", &small());
    let trace = folder.put_text("t.csv", &reads_traced(true, 4096));
    let asked = ["predict", &a, "--trace", &trace];
    let predicted = document(&stdout(&[&asked[..], &["--json"]].concat()));
    let one = &predicted.predictions().expect("a prediction")[0];
    assert_eq!(one.name.as_deref(), Some("t.csv"));
    let forecast = one.application.as_ref().expect("an application");
    let sum: f64 = forecast.parts.iter().map(|part| part.seconds).sum();
    assert!((sum / forecast.elapsed_s - 1.0).abs() < 1e-6, "{forecast:?}");
    assert!((one.throughput_bytes_per_s * sum / (3000.0 * 4096.0) - 1.0).abs() < 1e-6);
    let computing = forecast.parts.iter().find(|part| part.name.starts_with("between"));
    assert!((computing.expect("it computes").seconds / 0.15 - 1.0).abs() < 0.05, "{forecast:?}");
    let table = String::from_utf8(stdout(&asked)).expect("text");
    assert!(table.contains("Time goes to") && table.contains("Caches hold"), "{table}");
    let page = folder.path("p.html");
    stdout(&[&asked[..], &["--html", &page]].concat());
    assert!(std::fs::read_to_string(page).expect("the page").contains("Time goes to"));
}

#[test]
fn what_a_trace_does_not_tell_is_not_guessed() {
    let folder = Folder::new();
    let a = folder.put("a.ioscape.json", &small());
    let without_end = folder.put_text("e.csv", &reads_traced(false, 4096));
    refused(&["predict", &a, "--trace", &without_end], &["completions", "ioscape characterize"]);
    let without_size = folder.put_text("s.csv", &reads_traced(true, 0));
    refused(&["predict", &a, "--trace", &without_size], &["sizes", "ioscape characterize"]);
    refused(&["predict", &a, "--characterization", &a], &["a.ioscape.json", "characterize"]);
    let trace = folder.put_text("t.csv", &reads_traced(true, 4096));
    refused(&["predict", &a, "--trace", &trace, "--read-frac", "1"], &["leave out"]);
    refused(&["predict", &a, "--trace", &trace, "--model", "product"], &["--model"]);
}

#[test]
fn what_was_in_flight_together_is_not_multiplied_by_the_queues_of_an_evaluation() {
    let folder = Folder::new();
    let deep = twice_as_fast(|workload| {
        (workload.queue_depth, workload.engine) = (8, Engine::IoUring);
    });
    let a = folder.put("a.ioscape.json", &deep);
    let trace = folder.put_text("t.csv", &reads_traced(true, 4096));
    let said = ["queue depth 1 was never measured", "queue depth 8", "`ioscape evaluate /srv/data"];
    refused(&["predict", &a, "--trace", &trace], &said);
}

#[test]
fn broken_records_of_a_trace_fail_or_are_counted() {
    let folder = Folder::new();
    let a = folder.put("a.ioscape.json", &small());
    let broken = reads_traced(true, 4096).replacen(",0,", ",x,", 1);
    let trace = folder.put_text("t.csv", &broken);
    let asked = ["predict", &a, "--trace", &trace];
    let failed = ioscape(&asked).assert().code(1).stdout("").get_output().clone();
    let told = String::from_utf8(failed.stderr).expect("text");
    assert!(told.lines().count() == 1 && told.contains("line 2"), "{told}");
    assert!(told.contains("--skip-bad leaves such records out"), "{told}");
    let predicted = document(&stdout(&[&asked[..], &["--skip-bad", "--json"]].concat()));
    let doubts: Vec<String> =
        predicted.warnings.iter().map(|doubt| doubt.message.clone()).collect();
    assert!(doubts.iter().any(|told| told.contains("1 broken records")), "{doubts:?}");
    for option in [&["--skip-bad"][..], &["--disk", "0"], &["--from", "1s"]] {
        refused(&[&["predict", &a][..], option].concat(), &["--trace"]);
    }
}

/// Random reads over 16 MiB, with pauses, as `characterize` records them.
fn characterized(access: Access) -> Document {
    let (requests, unique_bytes, size_mean) = (1000, 16 << 20, 4096);
    let class = RequestClass {
        requests,
        bytes: requests * size_mean,
        run_bytes: 4096.0,
        miss_ratio: vec![(4096.0, 1.0), (16e6, 0.5)],
        ..RequestClass::default()
    };
    let pattern = AccessPattern {
        classes: vec![class],
        unique_bytes,
        process_num: 1,
        think_time_ns: 158_000.0,
        ..AccessPattern::default()
    };
    let overall = Traits {
        unique_bytes,
        size_mean,
        size_distribution: SizeDistribution::Fixed,
        read_frac: 1.0,
        process_num: 1,
        think_time_ns: 158_000,
        access,
        requests,
        ..Traits::default()
    };
    let command = vec!["/bin/db".to_owned()];
    let found = Characterization { overall, command, pattern: Some(pattern), ..Default::default() };
    Document { outcome: Some(found.into()), ..small() }
}

#[test]
fn an_application_is_asked_of_the_evaluation_with_its_access() {
    let folder = Folder::new();
    let mut both = small();
    let mut evaluation = both.evaluation().expect("an evaluation").clone();
    let dsync = twice_as_fast(|workload| workload.access = Access::Dsync);
    evaluation.other_accesses = vec![dsync.evaluation().expect("an evaluation").clone()];
    both.outcome = Some(evaluation.into());
    let (a, alone) = (folder.put("a.json", &both), folder.put("alone.json", &small()));
    let db = folder.put("db.json", &characterized(Access::Dsync));
    // By its own locality, an application's pauses are no part of the workload.
    for (option, think_time_ns) in [("--workloads", 158_000), ("--characterization", 0)] {
        let predicted = document(&stdout(&["predict", &a, option, &db, "--json"]));
        let asked = &predicted.predictions().expect("a prediction")[0].workload;
        let found = (asked.access, asked.think_time_ns);
        assert_eq!(found, (Access::Dsync, think_time_ns), "{option}");
        let says = ["access dsync was never measured", "`ioscape evaluate /srv/data"];
        refused(&["predict", &alone, option, &db], &says);
    }
    let buffered = folder.put("buffered.json", &characterized(Access::Buffered));
    let direct = folder.put(
        "direct.json",
        &twice_as_fast(|workload| {
            (workload.access, workload.align_bytes) = (Access::Direct, Some(512));
        }),
    );
    let mapped =
        folder.put("mapped.json", &twice_as_fast(|workload| workload.engine = Engine::Mmap));
    for option in ["--workloads", "--characterization"] {
        let measured = "measure it with `ioscape evaluate /srv/data`";
        let says = ["access buffered was never measured", measured];
        refused(&["predict", &direct, option, &buffered], &says);
        let says = ["engine psync was never measured", measured];
        refused(&["predict", &mapped, option, &buffered], &says);
    }
}

#[test]
fn what_is_doubtful_about_an_application_is_so_about_all_that_follows_from_it() {
    let folder = Folder::new();
    let (a, b) = (folder.put("a.json", &small()), folder.put("b.json", &twice_as_fast(|_| ())));
    let places = ["first", "second"].map(|name| folder.path(name));
    places.iter().for_each(|place| std::fs::create_dir(place).expect("a directory"));
    let [first, second] = &places;
    let mut watched = characterized(Access::Buffered);
    watched.interrupted = true;
    watched.warnings = vec![Warning::new(WarningKind::CallsUnseen, "some calls were not seen")];
    let db = folder.put("db.json", &watched);
    let short = ["--seconds", "20ms", "--json"];
    let commands: [Vec<&str>; 6] = [
        vec!["predict", &a, "--workloads", &db, "--json"],
        vec!["predict", &a, "--characterization", &db, "--json"],
        vec!["compare", &a, &b, "--workloads", &db, "--json"],
        [&["run", first, &db][..], &short].concat(),
        [&["ab", first, second, "--jobs", &db, "--budget", "800ms"][..], &short].concat(),
        [&["ab", &db, &db, "--dir", first, "--budget", "800ms"][..], &short].concat(),
    ];
    for words in commands {
        let told = document(&stdout(&words));
        let own = told.warnings.iter().filter(|doubt| doubt.place == db);
        let kinds: Vec<WarningKind> = own.map(|doubt| doubt.kind).collect();
        assert_eq!(kinds, [WarningKind::CallsUnseen, WarningKind::Interrupted], "{words:?}");
    }
}

/// Guards against requests of a disk that were predicted as those of a file cache.
#[test]
fn a_trace_of_a_device_is_asked_of_direct_access() {
    let folder = Folder::new();
    let mut both = small();
    let mut evaluation = both.evaluation().expect("an evaluation").clone();
    let direct = twice_as_fast(|workload| workload.access = Access::Direct);
    evaluation.other_accesses = vec![direct.evaluation().expect("an evaluation").clone()];
    both.outcome = Some(evaluation.into());
    let (a, alone) = (folder.put("a.json", &both), folder.put("alone.json", &small()));
    let trace = folder.put_text("t.csv", &reads_traced(true, 4096));
    let found = [&a, &alone].map(|system| {
        let told = document(&stdout(&["predict", system, "--trace", &trace, "--json"]));
        let access = told.predictions().expect("a prediction")[0].workload.access;
        (access, told.warnings.iter().any(|doubt| doubt.message.contains("reached a device")))
    });
    assert_eq!(found, [(Access::Direct, false), (Access::Buffered, true)]);
}

#[test]
fn synchronous_writes_that_need_not_reach_storage_are_doubted() {
    let folder = Folder::new();
    let mut dsync = twice_as_fast(|workload| workload.access = Access::Dsync);
    let db = folder.put("db.json", &characterized(Access::Dsync));
    let is_told = |[file_system, options]: [&str; 2]| {
        dsync.environment.file_system = Some(file_system.to_owned());
        dsync.environment.mount_options = Some(options.to_owned());
        let [a, b] = ["a.json", "b.json"].map(|name| folder.put(name, &dsync));
        let predicted = document(&stdout(&["predict", &a, "--characterization", &db, "--json"]));
        let compared = document(&stdout(&["compare", &a, &b, "--json"]));
        [predicted, compared]
            .map(|told| told.warnings.iter().any(|doubt| doubt.kind == WarningKind::Trap))
    };
    let told = [["tmpfs", "rw"], ["ext4", "rw"], ["ext4", "rw,nobarrier"]].map(is_told);
    assert_eq!(told, [[true; 2], [false; 2], [true; 2]]);
}

#[test]
fn what_is_said_of_an_application_is_in_its_row() {
    let folder = Folder::new();
    let a = folder.put("a.ioscape.json", &small());
    let trace = folder.put_text("t.csv", &reads_traced(true, 4096));
    let result = folder.path("p.ioscape.json");
    let told = stdout(&["predict", &a, "--trace", &trace, "--json", "-o", &result]);
    let one = document(&told).predictions().expect("a prediction")[0].clone();
    let forecast = one.application.expect("an application");
    let text = String::from_utf8(stdout(&["report", &result, "--csv"])).expect("text");
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let cell = |name: &str| {
        let column = lines[0].iter().position(|one| *one == name);
        lines[1][column.unwrap_or_else(|| panic!("{name} in {text}"))]
    };
    assert_eq!(cell("read_hit_frac"), forecast.read_hit_frac.to_string());
    assert_eq!(cell("elapsed_s"), forecast.elapsed_s.to_string());
    let needs = forecast.memory.map(|memory| memory.for_90_percent_bytes.to_string());
    assert_eq!(cell("memory_for_90_percent_bytes"), needs.unwrap_or_default());
}
