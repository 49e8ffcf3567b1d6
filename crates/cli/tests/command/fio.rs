//! Files of other programs: job files of fio and vdbench run, fio's output is read, and metrics and
//! images are written.

use super::common::{ioscape, path, run};

const OUTPUT: &str = r#"{"fio version": "fio-3.33", "timestamp": 1790000000, "jobs": [{"jobname": "mail",
  "job options": {"rw": "randread", "bs": "4k", "size": "1g"}, "usr_cpu": 1.0, "sys_cpu": 4.0,
  "read": {"io_bytes": 8192000, "runtime": 2000, "total_ios": 2000, "bw_mean": 4000.0, "bw_dev": 100.0, "bw_samples": 4,
    "lat_ns": {"min": 1, "max": 9000, "mean": 1000.0}, "clat_ns": {"percentile": {"50.000000": 900}}},
  "write": {"io_bytes": 0, "runtime": 0, "total_ios": 0}}]}"#;

#[test]
fn a_job_file_of_fio_runs_and_is_never_a_target() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let jobs = folder.path().join("jobs.fio");
    let text =
        "[mail]\nrw=randrw\nrwmixread=70\nsize=1m\nbs=4k\nruntime=100ms\ndirectory=/nowhere\n";
    std::fs::write(&jobs, text).expect("a file");
    let told = run(&["run", path(&jobs), path(folder.path()), "--json"]).ended(0);
    assert!(
        told.err.contains("directory: the target is the one on the command line"),
        "{}",
        told.err
    );
    let found: serde_json::Value = serde_json::from_str(&told.out).expect("JSON");
    let doubts = found["warnings"].to_string();
    assert!(doubts.contains("left out directory: the target is the one"), "{doubts}");
    let workload = &found["measurements"][0]["workload"];
    assert_eq!(
        (workload["read_frac"].as_f64(), workload["size_mean"].as_u64()),
        (Some(0.7), Some(4096))
    );
    assert_eq!(std::fs::read_to_string(&jobs).expect("the job file"), text);
    std::fs::write(&jobs, "[mail]\nsize=1m\nverify=md5\n").expect("a file");
    run(&["run", path(&jobs), path(folder.path())])
        .ended(2)
        .says(&["jobs.fio", "line 3", "verify"]);
    // Everything that cannot be translated is named at once, each on its own line.
    std::fs::write(&jobs, "[mail]\nsize=1m\nverify=md5\nrate_iops=9\nzonemode=zbd\n")
        .expect("a file");
    let told = run(&["run", path(&jobs), path(folder.path()), "--quiet"]).ended(2);
    let starts = ["ioscape: ", "  line 3: verify", "  line 4: rate_iops", "  line 5: zonemode"];
    assert_eq!(told.err.lines().count(), starts.len(), "{}", told.err);
    let begins = told.err.lines().zip(starts).all(|(line, start)| line.starts_with(start));
    assert!(begins, "{}", told.err);
}

#[test]
fn a_parameter_file_of_vdbench_runs_and_its_metrics_are_written() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (jobs, metrics) = (folder.path().join("jobs.vdb"), folder.path().join("run.prom"));
    let text = "sd=sd1,lun=/nowhere,size=1m\nwd=wd1,sd=sd1,xfersize=4k,rdpct=70\n\
        rd=mail,wd=wd1,iorate=max,elapsed=1,forthreads=(1,2)\n";
    std::fs::write(&jobs, text).expect("a file");
    let arguments =
        ["run", path(&jobs), path(folder.path()), "--json", "--openmetrics", path(&metrics)];
    let told = run(&arguments).ended(0).says(&["lun: the target is the one on the command line"]);
    let found: serde_json::Value = serde_json::from_str(&told.out).expect("JSON");
    assert_eq!(found["measurements"][1]["name"].as_str(), Some("mail threads=2"));
    assert_eq!(found["measurements"][1]["workload"]["process_num"].as_u64(), Some(2));
    let written = std::fs::read_to_string(&metrics).expect("metrics");
    let target = path(folder.path());
    let series = format!(
        r#"ioscape_ios_per_second{{target="{target}",job_name="mail threads=2",operation="read"}} "#
    );
    assert!(written.contains(&series) && written.ends_with("# EOF\n"), "{written}");
    // A file that we wrote is recognized and replaced; another program's is not.
    run(&arguments).ended(0);
    std::fs::write(&metrics, "up 1\n").expect("a file");
    run(&arguments).ended(2).says(&["run.prom", "--force"]);
    std::fs::write(&jobs, text.replace("iorate=max", "iorate=100")).expect("a file");
    run(&["run", path(&jobs), path(folder.path())]).ended(2).says(&[
        "jobs.vdb",
        "line 3",
        "iorate=100",
    ]);
}

#[test]
fn fios_output_stands_beside_ours() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (theirs, page) = (folder.path().join("fio.json"), folder.path().join("page.html"));
    std::fs::write(&theirs, OUTPUT).expect("a file");
    let shown = run(&["report", path(&theirs)]).ended(0).out;
    assert!(shown.contains("4.1 MB/s") && shown.contains("measured by fio"), "{shown}");
    run(&["report", path(&theirs), path(&theirs), "-o", path(&page)]).ended(0);
    assert!(std::fs::read_to_string(&page).expect("a page").contains("<td>fio (2)</td>"));
}

#[test]
fn fios_cached_reads_are_compared_with_ours_only_where_fio_kept_the_cache() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = |name: &str| path(&folder.path().join(name)).to_owned();
    let job = file("job.fio");
    std::fs::write(&job, "[mail]\nsize=1m\nrw=randread\nbs=4k\nioengine=psync\n").expect("a job");
    let ours = file("ours.json");
    run(&["run", &job, path(folder.path()), "--seconds", "200ms", "-o", &ours]).ended(0);
    let theirs = |name: &str, more: &str| {
        let out = file(name);
        std::fs::write(&out, output(more)).expect("fio's output");
        out
    };
    let (emptied, kept) = (theirs("emptied.json", ""), theirs("kept.json", r#","invalidate":"0""#));
    run(&["compare", &emptied, &ours]).ended(2).says(&["emptied at every pass", "--invalidate=0"]);
    let told = run(&["compare", &kept, &ours, "--json"]).ended(0);
    assert!(told.out.contains("mail"), "{}", told.out);
    run(&["compare", &emptied, &emptied]).ended(0);
    let shown = run(&["report", &emptied]).ended(0);
    assert!(shown.out.contains("emptied the file cache"), "{}", shown.out);
}

/// The parts that are read of fio 3.33's output for random 4 KiB reads from a file of one mebibyte.
fn output(options: &str) -> String {
    format!(
        r#"{{"fio version":"fio-3.33","timestamp":1,"jobs":[{{"jobname":"mail",
        "job options":{{"name":"mail","size":"1m","rw":"randread","bs":"4k","ioengine":"psync"{options}}},
        "usr_cpu":1.0,"sys_cpu":2.0,
        "read":{{"total_ios":1000,"io_bytes":4096000,"runtime":1000,"bw_samples":10,"bw_dev":10.0,
        "lat_ns":{{"mean":900.0,"max":5000}},
        "clat_ns":{{"percentile":{{"50.000000":800,"90.000000":900,"99.000000":1000,"99.900000":2000}}}}}},
        "write":{{"total_ios":0}}}}]}}"#
    )
}

#[test]
fn a_name_that_is_none_is_refused_before_the_page_is_written() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (theirs, page) = (folder.path().join("fio.json"), folder.path().join("page.html"));
    std::fs::write(&theirs, OUTPUT).expect("a file");
    for asked in [&["--csv", "--table", "none"][..], &["--svg", "--figure", "none"]] {
        let arguments = [&["report", path(&theirs), "-o", path(&page)], asked].concat();
        run(&arguments).ended(2).says(&["none"]);
        assert!(!page.exists(), "{asked:?}");
    }
}

#[test]
fn any_figure_of_a_page_is_printed_alone() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let small = folder.path().join("small.ioscape.json");
    std::fs::write(&small, include_str!("data/small.ioscape.json")).expect("a file");
    let told = run(&["report", path(&small), "--svg", "--figure", "read-frac"]).ended(0).out;
    assert!(told.starts_with("<svg xmlns") && told.contains("share of reads"), "{told}");
    let both = ["report", path(&small), path(&small), "--svg", "--figure", "sets-reads"];
    assert!(run(&both).ended(0).out.contains("small (2)"));
    run(&["report", path(&small), "--svg", "--figure", "no"])
        .ended(2)
        .says(&["unique-bytes", "read-frac"]);
}

#[test]
fn pictures_come_as_png_too_and_tables_as_csv() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let small = folder.path().join("small.ioscape.json");
    std::fs::write(&small, include_str!("data/small.ioscape.json")).expect("a file");
    for more in [&[][..], &["--figure", "read-frac"], &["--metric", "iops"]] {
        let ended = ioscape(&[&["report", path(&small), "--png"][..], more].concat()).output();
        let picture = ended.expect("it runs").stdout;
        assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n") && picture.len() > 10_000, "{more:?}");
    }
    run(&["report", path(&small), "--png", "--svg"]).ended(2).says(&["--svg"]);
    let page = folder.path().join("f.PNG");
    run(&["report", path(&small), "--png", "-o", path(&page)]).ended(2).says(&["--png > "]);
    assert!(!page.exists());
    run(&["report", path(&small), "--figure", "read-frac"]).ended(2).says(&["--png"]);
    let asked = ["report", path(&small), "--csv", "--table"];
    let names = run(&[&asked[..], &["no"]].concat()).ended(2).err;
    assert!(names.contains("machine") && names.contains("regions"), "{names}");
    let machine = run(&[&asked[..], &["machine"]].concat()).ended(0).out;
    assert!(machine.contains("Kernel,"), "{machine}");
}

#[test]
fn the_schema_is_printed() {
    let told = run(&["schema"]).ended(0).out;
    let schema: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    assert!(schema["$defs"]["Measurement"]["properties"]["ios"].is_object());
}
