//! Tests of what is taken over from fio, and of what is refused.

use super::*;
use ioscape_schema::{
    Access, Advice, Engine, SizeDistribution, Warning, WarningKind, Workers, Workload,
};

fn jobs(text: &str) -> KnownJobs {
    parse_fio_jobs(text).unwrap_or_else(|e| panic!("{e:?}: {text}"))
}

fn refused(text: &str) -> String {
    let all = parse_fio_jobs(text).expect_err("a refusal");
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Returns the keys of what was left out.
fn left_out(found: &KnownJobs) -> Vec<&str> {
    found.left_out.keys().filter_map(|one| one.split(':').next()).collect()
}

#[test]
fn a_job_file_becomes_workloads() {
    let text = "; a remark\n[global]\nioengine=io_uring\ndirect=1\nruntime=30s\ntime_based\nsize=1g\n\
        [oltp]\nrw=randrw\nrwmixread=70\nbs=8k\niodepth=16\nnumjobs=4\nthread\n\
        [log]\nstonewall\nrw=write\nbs=64k\nfilename=/data/log\nnumjobs=2\n";
    let found = jobs(text);
    let [oltp, log] = &found.jobs[..] else { panic!("two jobs") };
    assert_eq!((&*oltp.name, oltp.seconds), ("oltp", Some(30.0)));
    let expected = Workload {
        unique_bytes: 4 << 30,
        size_mean: 8192,
        size_distribution: SizeDistribution::Fixed,
        align_bytes: Some(8192),
        read_frac: 0.7,
        seq_frac: 0.0,
        process_num: 4,
        queue_depth: 16,
        engine: Engine::IoUring,
        access: Access::Direct,
        workers: Workers::Threads,
        ..Workload::default()
    };
    assert_eq!(oltp.workload, expected);
    // One file for both processes.
    assert_eq!((log.workload.unique_bytes, log.workload.process_num), (1 << 30, 2));
    assert_eq!((log.workload.read_frac, log.workload.seq_frac), (0.0, 1.0));
    let expected = ["filename", "numjobs=2", "numjobs=4", "runtime", "rw=randrw", "rw=write"];
    assert_eq!(left_out(&found), expected);
}

#[test]
fn fios_defaults_are_kept() {
    let one = &jobs("[a]\nsize=16m\n").jobs[0].workload;
    assert_eq!((one.size_mean, one.read_frac, one.seq_frac), (4096, 1.0, 1.0));
    assert_eq!((one.engine, one.queue_depth, one.advice), (Engine::Psync, 1, Advice::Sequential));
    let synced = &jobs("[a]\nsize=16m\nsync=dsync\ndirect=0\n").jobs[0].workload;
    assert_eq!(synced.access, Access::Dsync);
    let random = &jobs("[a]\nsize=16m\nrw=randwrite\niodepth=32\n").jobs[0].workload;
    // A synchronous engine has one request in flight, whatever the depth.
    assert_eq!((random.queue_depth, random.advice), (1, Advice::Random));
    assert_eq!(
        jobs("[a]\nsize=1m\nrw=randread\npercentage_random=25\n").jobs[0].workload.seq_frac,
        0.75
    );
}

#[test]
fn libaio_is_the_engine_that_issues_the_same_requests() {
    let text = "[a]\nruntime=9\ntime_based\nioengine=libaio\niodepth=16\nsize=1g\n\
        bsrange=8k-8k\ndirect=1\n";
    let direct = jobs(text);
    let one = &direct.jobs[0].workload;
    assert_eq!((one.engine, one.queue_depth, one.size_mean), (Engine::IoUring, 16, 8192));
    assert!(direct.left_out.keys().any(|what| what.contains("io_uring")), "{direct:?}");
    let buffered = jobs(&text.replace("direct=1", "direct=0"));
    let one = &buffered.jobs[0].workload;
    assert_eq!((one.engine, one.queue_depth), (Engine::Psync, 1));
    assert!(buffered.left_out.keys().any(|what| what.contains("psync")), "{buffered:?}");
    assert_eq!(left_out(&jobs(&format!("{text}ioengine=io_uring\n"))), ["runtime"]);
}

#[test]
fn what_does_not_map_is_refused_by_name_and_line() {
    for (text, words) in [
        ("[a]\nsize=1g\nverify=crc32c\n", ["line 3", "give --verify"]),
        ("[a]\nsize=1g\nioengine=posixaio\n", ["posixaio", "io_uring"]),
        ("[a]\nsize=1g\nbsrange=4k-8k\n", ["bsrange=4k-8k", "one size"]),
        ("[a]\nsize=1g\nbs=4k,64k\n", ["bs=4k,64k", "one size"]),
        ("[a]\nsize=4Ki\n", ["size=4Ki", "powers of 1000"]),
        ("[a]\nsize=4096MiB\n", ["size=4096MiB", "powers of 1000"]),
        ("[a]\nsize=50%\n", ["size=50%", "size in bytes"]),
        ("[a]\nrw=randread\n", ["job \"a\"", "size is missing"]),
        ("[a]\nsize=1g\ndirect=1\nsync=dsync\n", ["job \"a\"", "one of them at a time"]),
        ("[a]\nsize=1g\nrw=trim\n", ["rw=trim", "randread"]),
        ("[a]\nsize=1g\nfsync=1\n", ["fsync=1", "sync=dsync"]),
        ("[a]\nsize=1g\nrate_iops=1000\n", ["rate_iops=1000", "run fio"]),
        ("[a]\nsize=1g\nzonemode=zbd\n", ["line 3: zonemode=zbd", "leave it out"]),
        ("[a]\nsize=1g\nrw=read:-8k\n", ["rw=read:-8k", "randread"]),
        ("[a]\nsize=1g\n[b]\nsize=1g\n", ["job \"b\"", "stonewall"]),
        ("[a]\nsize=${SIZE}\n", ["line 2", "variables"]),
        ("size=1g\n", ["line 1", "[NAME]"]),
        ("[global]\nsize=1g\n", ["no job", "[NAME]"]),
        ("[a]\nsize=1k\nbs=4k\n", ["job \"a\"", "size_mean"]),
        ("[a]\nsize=99999999999t\n", ["size=", "size in bytes"]),
    ] {
        let told = refused(text);
        assert!(words.iter().all(|word| told.contains(word)), "{text}: {told}");
    }
}

#[test]
fn everything_that_does_not_map_is_named_at_once() {
    // Keys as in fio's examples surface-scan.fio and fixed-rate-submission.fio.
    let text = "[global]\nthread\nbs=64k\nverify=meta\n[write]\nsize=1g\nrw=write\nfill_device=1\n\
        [rate]\nsize=1g\nio_submit_mode=offload\nrate_iops=1000\n";
    let told = refused(text);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 5, "{told}");
    let named =
        ["line 4: verify", "line 8: fill_device", "line 9: job \"rate\"", "line 11", "line 12"];
    assert!(lines.iter().zip(named).all(|(line, named)| line.starts_with(named)), "{told}");
    // A job that may lack only what was refused is not reported to lack it.
    assert_eq!(refused("[a]\nsize=50%\n").lines().count(), 1);
}

#[test]
fn what_fio_takes_for_a_remark_is_none_of_the_value() {
    // As in fio's example tiobench-example.fio.
    let text = "[global]\ndirect=1\nsize=512m\nbsrange=4k-4k\ntimeout=60\nnumjobs=4\t; 4 simultaneous threads\n\
        [f1] # the first\nrw=write\n[f2]\nstonewall\nrw=randwrite\n";
    let found = jobs(text);
    let [first, second] = &found.jobs[..] else { panic!("two jobs: {found:?}") };
    assert_eq!((first.workload.process_num, first.seconds), (4, Some(60.0)));
    assert_eq!((second.workload.seq_frac, second.workload.unique_bytes), (0.0, 2 << 30));
    let expected = ["numjobs=4", "rw=randwrite", "rw=randwrite", "rw=write", "size"];
    assert_eq!(left_out(&found), expected);
}

#[test]
fn every_request_has_the_size_asked() {
    for rw in ["read", "randwrite"] {
        let found = jobs(&format!("[a]\nsize=16m\nrw={rw}\nbs=10k\n"));
        let mut stream = crate::Stream::new(&found.jobs[0].workload, 1, 0).take(10_000);
        assert!(stream.all(|request| request.len == 10_240), "{rw}");
    }
}

/// fio's processes start at the same byte of one file, or each has its own file.
#[test]
fn processes_that_share_the_set_in_another_way_are_said_to() {
    let told = |text: &str| {
        let found = jobs(&format!("[a]\nsize=1g\ndirect=1\nnorandommap\n{text}\n"));
        let about = found.left_out.keys().find(|one| one.starts_with("numjobs="));
        about.map(|one| one.rsplit("where ").next().unwrap_or_default().to_owned())
    };
    let (first, own) = ("fio's all begin at its first byte", "fio gives each a file of its own");
    for (text, expected) in [
        ("rw=read\nnumjobs=4\nfilename=/data", Some(first)),
        ("rw=randread\npercentage_random=50\nnumjobs=4\nfilename=/data", Some(first)),
        ("rw=randread\nnumjobs=4\nfilename=/data", None),
        ("rw=randread\nnumjobs=4", Some(own)),
        ("rw=read\nnumjobs=1", None),
    ] {
        assert_eq!(told(text).as_deref(), expected, "{text}");
    }
}

/// By default fio visits every block once before any again, and reads and writes advance
/// separately.
#[test]
fn requests_that_come_in_another_order_are_said_to() {
    let told = |text: &str| {
        let text = format!("[a]\nsize=1g\nruntime=9\ntime_based\ninvalidate=0\n{text}\n");
        let found = jobs(&text);
        let told = found.left_out.keys().filter(|one| !one.starts_with("runtime:"));
        told.map(|one| one.split(',').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let replaced = "places are drawn with replacement (fio's norandommap)";
    assert_eq!(told("rw=randread"), [format!("rw=randread: {replaced}")]);
    assert_eq!(told("rw=randread\nnorandommap"), [""; 0]);
    assert_eq!(told("rw=randread\nnorandommap=0"), [format!("rw=randread: {replaced}")]);
    assert_eq!(told("rw=read"), [""; 0]);
    let mixed = "reads and writes go on where the last of either ended";
    assert_eq!(told("rw=rw"), [format!("rw=rw: {mixed}")]);
    assert_eq!(
        told("rw=randrw\nnorandommap\npercentage_random=50"),
        [format!("rw=randrw: {mixed}")]
    );
    assert_eq!(told("rw=randread\nnorandommap\nbs=12k").len(), 1);
}

#[test]
fn what_changes_nothing_here_is_said() {
    let found = jobs("[a]\nsize=1m\niodepth=4\nloops=5\nthinktime=2ms\nnrfiles=1\nverify=0\n");
    assert_eq!(left_out(&found), ["invalidate", "iodepth=4", "loops"]);
    // Jobs that bypass the file cache, only write, or must keep it, do not differ.
    for same in ["direct=1", "rw=write", "invalidate=0"] {
        let text = format!("[a]\nsize=1m\nruntime=9\ntime_based\noverwrite=1\n{same}\n");
        assert_eq!(left_out(&jobs(&text)), ["runtime"], "{same}");
    }
    assert_eq!(found.jobs[0].workload.think_time_ns, 2_000_000);
    assert_eq!(jobs("[a]\nsize=1m\nioengine=null\n").jobs[0].workload.engine, Engine::Null);
}

/// fio continues for the whole of `runtime`, or ends after one pass over `size`; by default it
/// writes a new file.
#[test]
fn an_end_and_a_file_that_are_others_than_fios_are_said_to_be() {
    let told = |text: &str| {
        let found = jobs(&format!("[a]\nsize=1m\ndirect=1\nnorandommap\n{text}\n"));
        left_out(&found).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    for (text, expected) in [
        ("rw=randwrite", &["rw=randwrite", "size"][..]),
        ("rw=write\noverwrite=0\nruntime=60\ntime_based", &["runtime", "rw=write"]),
        ("rw=randwrite\noverwrite=1\nruntime=60\ntime_based", &["runtime"]),
        ("rw=randwrite\nioengine=null\ntime_based=1\nruntime=60", &["runtime"]),
        // fio also writes what it maps beforehand.
        ("rw=randwrite\nioengine=mmap\ndirect=0\nruntime=60\ntime_based", &["runtime"]),
        // The file of a job that also reads is written beforehand.
        ("rw=randrw\nruntime=60\ntime_based", &["runtime"]),
        // fio ignores `time_based` without a time.
        ("rw=randread\ntime_based", &["size"]),
        ("rw=randread\nruntime=60", &["size"]),
        ("rw=randread\nruntime=60\ntime_based=0", &["size"]),
        ("rw=randread\nio_size=8m", &["io_size"]),
    ] {
        assert_eq!(told(text), expected, "{text}");
    }
}

/// fio waits for all requests in flight before each pause.
#[test]
fn a_job_that_pauses_has_one_request_in_flight() {
    let of = |text: &str| {
        let found = jobs(&format!("[a]\nsize=4m\ndirect=1\niodepth=32\n{text}\n"));
        let about = found.left_out.keys().find(|one| one.starts_with("iodepth=32"));
        (found.jobs[0].workload.queue_depth, about.is_some_and(|one| one.contains("pause")))
    };
    for engine in ["ioengine=io_uring", "ioengine=libaio"] {
        assert_eq!(of(engine), (32, false));
        assert_eq!(of(&format!("{engine}\nthinktime=50")), (1, true));
    }
}

#[test]
fn every_section_whose_name_begins_with_global_holds_for_the_jobs_below() {
    let text = "[global-settings]\nbs=64k\nsize=8m\ndirect=1\n[a]\nrw=randread\n";
    let found = jobs(text);
    let [one] = &found.jobs[..] else { panic!("one job: {found:?}") };
    let workload = &one.workload;
    assert_eq!((&*one.name, workload.size_mean, workload.access), ("a", 65_536, Access::Direct));
    assert_eq!(jobs("[Global]\nsize=1m\n").jobs[0].name, "Global");
}

#[test]
fn jobs_of_one_name_are_told_apart() {
    let found = jobs("[a]\nsize=1m\n[a]\nstonewall\nsize=1m\n[b]\nstonewall\nsize=1m\n");
    let names: Vec<&str> = found.jobs.iter().map(|job| &*job.name).collect();
    assert_eq!(names, ["a", "a (2)", "b"]);
}

#[test]
fn what_is_left_out_names_its_jobs() {
    let found = jobs("[global]\nsize=1m\ndirect=1\n[a]\nrw=randread\n[a]\nstonewall\nrw=read\n");
    let of = |key: &str| {
        let mut all = found.left_out.iter();
        let (_, names) = all.find(|(what, _)| what.starts_with(key)).expect("a sentence");
        names.iter().map(String::as_str).collect::<Vec<_>>()
    };
    assert_eq!((of("rw=randread"), of("size")), (vec!["a"], vec!["a", "a (2)"]));
}

/// From fio 3.33: `fio --name=j --rw=randrw --bs=4k --size=4m --runtime=2 --time_based`, shortened.
fn output(jobs: &str) -> String {
    format!(r#"{{"fio version": "fio-3.33", "timestamp": 1790000000, "jobs": [{jobs}]}}"#)
}

const JOB: &str = r#"{"jobname": "j", "job options": {"rw": "randrw", "bs": "4k", "size": "4m"}, "usr_cpu": 10.0, "sys_cpu": 40.0,
  "read": {"io_bytes": 8192000, "runtime": 2000, "total_ios": 2000, "bw_mean": 4000.0, "bw_dev": 100.0, "bw_samples": 4,
    "lat_ns": {"min": 1, "max": 9000, "mean": 1000.0}, "clat_ns": {"percentile": {"50.000000": 900, "90.000000": 2000, "99.000000": 5000, "99.900000": 8000}}},
  "write": {"io_bytes": 4096000, "runtime": 1990, "total_ios": 1000, "bw_mean": 2000.0, "bw_dev": 0.0, "bw_samples": 4,
    "lat_ns": {"min": 1, "max": 99000, "mean": 4000.0}, "clat_ns": {"percentile": {"50.000000": 3000, "90.000000": 5000, "99.000000": 9000, "99.900000": 90000}}}}"#;

#[test]
fn output_becomes_measurements() {
    let found = read_output(&output(JOB)).expect("fio's").expect("whole");
    assert_eq!((&*found.version, found.timestamp), ("fio-3.33", 1_790_000_000));
    let one = &found.measurements[0];
    assert_eq!((one.ios, one.bytes, one.elapsed_s), (3000, 12_288_000, 2.0));
    assert_eq!(one.throughput_bytes_per_s, 6_144_000.0);
    // 1.96 standard deviations of 100 KiB/s over the root of four samples.
    let half = 1.96 * 102_400.0 / 2.0;
    let [low, high] = one.throughput_ci95;
    assert!((high - 6_144_000.0 - half).abs() < 1.0 && (6_144_000.0 - low - half).abs() < 1.0);
    assert_eq!(one.response_time_ns.mean, 2000.0);
    assert_eq!((one.response_time_ns.p50, one.response_time_ns.p99), (900, 5000));
    assert_eq!(one.write.map(|w| w.response_time_ns.p50), Some(3000));
    assert_eq!(one.response_time_ns.max, 99_000, "the longest of both");
    assert_eq!((one.cpu_user_s, one.cpu_system_s), (0.2, 0.8));
    assert_eq!(one.workload.unique_bytes, 4 << 20);
    assert_eq!(one.warnings.len(), 5);
    let libaio = JOB.replace("\"rw\"", "\"ioengine\": \"libaio\", \"rw\"");
    let found = read_output(&output(&libaio)).expect("fio's").expect("whole");
    let told = &found.measurements[0].warnings[2].message;
    assert!(told.contains("libaio"), "{told}");
}

#[test]
fn the_processor_time_of_a_group_is_that_of_all_its_processes() {
    // `numjobs=4` for two seconds, as fio 3.33 writes it: the shares are of 8 seconds.
    let four = JOB.replace("\"usr_cpu\"", "\"job_runtime\": 8000, \"usr_cpu\"");
    let four = four.replace("\"rw\"", "\"numjobs\": \"4\", \"rw\"");
    let found = read_output(&output(&four)).expect("fio's").expect("whole");
    let one = &found.measurements[0];
    assert_eq!((one.cpu_user_s, one.cpu_system_s), (0.8, 3.2));
    assert!((one.cpu_ns_per_io - 4e9 / 3000.0).abs() < 1.0, "{}", one.cpu_ns_per_io);
}

#[test]
fn percentiles_hold_the_submission_where_fio_gives_them_so() {
    let whole =
        JOB.replace("\"mean\": 1000.0}", "\"mean\": 1000.0, \"percentile\": {\"50.000000\": 950}}");
    let found = read_output(&output(&whole)).expect("fio's").expect("whole");
    let one = &found.measurements[0];
    assert_eq!(one.response_time_ns.p50, 950);
}

#[test]
fn percentiles_without_a_long_submission_are_told() {
    let told = |job: &str| {
        let found = read_output(&output(job)).expect("fio's").expect("whole");
        let mut all = found.measurements[0].warnings.iter().map(|one| &one.message);
        all.find(|one| one.contains("lat_percentiles=1")).cloned()
    };
    let completed = |mean: &str| {
        JOB.replacen("\"clat_ns\": {", &format!("\"clat_ns\": {{\"mean\": {mean}, "), 1)
    };
    let long = completed("950.0");
    assert!(told(&long).is_some_and(|one| one.contains("(5 % of the mean)")), "{:?}", told(&long));
    assert_eq!(told(&completed("990.0")), None);
    let whole = "\"mean\": 1000.0, \"percentile\": {\"50.000000\": 950}}";
    assert_eq!(told(&long.replace("\"mean\": 1000.0}", whole)), None);
}

#[test]
fn work_that_is_not_ours_by_the_same_options_is_told() {
    let told = |options: &str| {
        let job = JOB.replace("\"rw\": \"randrw\"", options);
        let found = read_output(&output(&job)).expect("fio's").expect("whole");
        let all = found.measurements[0].warnings.iter();
        let of_work = all.filter(|one| one.kind == WarningKind::DifferentKinds);
        of_work.map(|one| one.message.clone()).collect::<Vec<_>>()
    };
    let whole = r#""direct": "1", "runtime": "2", "time_based": "1""#;
    let shared = told(&format!(r#""rw": "rw", "numjobs": "4", "filename": "/data/f", {whole}"#));
    assert_eq!(shared.len(), 2, "{shared:?}");
    assert!(shared[0].contains("all begin at its first byte"), "{shared:?}");
    let same = told(&format!(r#""rw": "randrw", "norandommap": "1", {whole}"#));
    assert_eq!(same, Vec::<String>::new());
}

/// Guards against taking options without a value, which fio's output does not repeat, for unset:
/// `time_based`, `norandommap`.
#[test]
fn options_that_output_leaves_out_are_not_taken_for_unset() {
    let told = |options: &str| {
        let job = JOB.replace("\"rw\": \"randrw\"", &format!("\"rw\": \"randrw\", {options}"));
        let found = read_output(&output(&job)).expect("fio's").expect("whole");
        found.measurements[0].warnings.clone()
    };
    let has = |all: &[Warning], what: &str| all.iter().any(|one| one.message.contains(what));
    let direct = r#""direct": "1", "runtime""#;
    // It moved three times its size in two seconds.
    for runtime in ["2", "9"] {
        let all = told(&format!(r#"{direct}: "{runtime}""#));
        assert!(all.iter().all(|one| one.kind != WarningKind::DifferentKinds), "{all:?}");
        assert!(has(&all, "write norandommap=1"), "{all:?}");
    }
    // Of three processes that share a file it is one pass each.
    let shared = told(&format!(r#""numjobs": "3", "filename": "f", {direct}: "9""#));
    assert!(has(&shared, "one pass"), "{shared:?}");
    let set = told(&format!(r#"{direct}: "2", "time_based": "0", "norandommap": "0""#));
    assert!(has(&set, "one pass") && has(&set, "each once"), "{set:?}");
}

#[test]
fn percentiles_that_fio_does_not_give_are_told() {
    let lacks = JOB.replace("\"90.000000\": 2000, ", "");
    let found = read_output(&output(&lacks)).expect("fio's").expect("whole");
    let told = |warning: &Warning| warning.message.contains("percentile_list");
    assert_eq!(found.measurements[0].warnings.iter().filter(|one| told(one)).count(), 1);
}

#[test]
fn latencies_that_fio_did_not_measure_are_those_of_the_completion_or_told() {
    let zero = "\"lat_ns\": {\"min\": 0, \"max\": 0, \"mean\": 0.0}, ";
    let own = "\"clat_ns\": {\"max\": 8500, \"mean\": 950.0, ";
    let disabled = JOB.replace("\"lat_ns\"", "\"slat_ns\"");
    let disabled = disabled.replace("\"clat_ns\": {", &format!("{zero}{own}"));
    let of = |job: &str| {
        let mut found = read_output(&output(job)).expect("fio's").expect("whole");
        let one = found.measurements.remove(0);
        let told = one.warnings.iter().filter(|told| told.message.contains("disable_lat")).count();
        (one.response_time_ns.mean, one.response_time_ns.max, told)
    };
    assert_eq!(of(&disabled), (950.0, 8500, 0));
    let none = disabled.replace("\"max\": 8500, \"mean\": 950.0", "\"max\": 0, \"mean\": 0.0");
    assert_eq!(of(&none), (0.0, 0, 1));
}

/// Guards against refusing output as in CI, by `--output-format=normal,json` and
/// `--status-interval=1`, as "not JSON".
#[test]
fn output_is_found_among_other_output_of_fio() {
    let (whole, first) = (output(JOB), output(&JOB.replace("2000", "1000")));
    let normal = format!("j: (g=0)\n{whole}\n\nRun status group 0");
    for text in [normal, format!("{first}\n{whole}\n")] {
        let found = read_output(&text).expect("fio's").expect("whole");
        assert_eq!(found.measurements[0].elapsed_s, 2.0);
    }
}

#[test]
fn output_that_is_none_or_says_too_little() {
    assert!(read_output("{}").is_none() && read_output("fio: failed").is_none());
    let told =
        |jobs: &str| read_output(&output(jobs)).expect("fio's").expect_err("refused").to_string();
    assert!(told("").contains("no job"));
    let short = JOB.replace("\"bw_samples\": 4", "\"bw_samples\": 1");
    assert!(told(&short).contains("run it for longer"));
    // A process lives a little longer than it issues requests.
    let shorter = short.replace("\"runtime\": 2000", "\"runtime\": 1");
    let shorter = shorter.replace("\"runtime\": 1990", "\"runtime\": 1");
    let shorter = shorter.replace("\"usr_cpu\"", "\"job_runtime\": 2, \"usr_cpu\"");
    assert!(told(&shorter).contains("run it for longer"), "{}", told(&shorter));
    for key in ["gtod_reduce", "disable_bw_measurement"] {
        let unsampled = short.replace("\"rw\"", &format!("\"{key}\": \"1\", \"rw\""));
        assert!(told(&unsampled).ends_with(&format!("run fio without {key}")), "{key}");
    }
    let unified = JOB.replace("\"read\"", "\"mixed\"").replace("\"write\"", "\"other\"");
    assert!(told(&unified).contains("without unified_rw_reporting"), "{}", told(&unified));
    assert!(told(&unified.replace("\"mixed\"", "\"else\"")).contains("moved no data"));
    assert!(told(&JOB.replace("randrw", "randtrim")).contains("rw=randtrim"));
    let twice = format!("{JOB}, {JOB}");
    assert!(told(&twice).contains("group_reporting"), "{}", told(&twice));
}

#[test]
fn a_job_that_failed_is_no_result() {
    let error =
        |number: i32| JOB.replace("\"usr_cpu\"", &format!("\"error\": {number}, \"usr_cpu\""));
    let read = |job: &str| read_output(&output(job)).expect("fio's");
    assert!(read(&error(0)).is_ok());
    let full = error(28);
    for job in [&full, &full.replace("\"bw_samples\": 4", "\"bw_samples\": 1")] {
        let told = read(job).expect_err("refused").to_string();
        assert!(told.contains("job \"j\" failed") && told.contains("28"), "{told}");
    }
}

/// As `group_reporting` writes jobs that ran together: one entry, with the options of the last one.
#[test]
fn the_sum_of_several_jobs_is_no_result() {
    for (from, to) in [
        ("randrw", "randwrite"),
        ("randrw", "read"),
        ("4k", "64k"),
        ("\"usr_cpu\"", "\"job_runtime\": 8000, \"usr_cpu\""),
    ] {
        let summed = JOB.replace(from, to);
        let told = read_output(&output(&summed)).expect("fio's").expect_err("refused").to_string();
        assert!(told.contains("sum of its group") && told.contains("stonewall"), "{to}: {told}");
    }
    // A request still in flight at the end has no bytes.
    let unfinished = JOB.replace("\"total_ios\": 2000", "\"total_ios\": 2001");
    assert!(read_output(&output(&unfinished)).expect("fio's").is_ok());
}

#[test]
fn jobs_that_fio_ran_at_the_same_time_are_told_so() {
    let job = |name: &str, group: u32| {
        JOB.replace("\"jobname\": \"j\"", &format!("\"jobname\": \"{name}\", \"groupid\": {group}"))
    };
    let told = |groups: [u32; 2]| {
        let both = format!("{}, {}", job("a", groups[0]), job("b", groups[1]));
        let found = read_output(&output(&both)).expect("fio's").expect("whole");
        let about = |one: &Warning| one.message.contains("at the same time as its job \"b\"");
        found.measurements[0].warnings.iter().any(about)
    };
    assert_eq!([told([0, 0]), told([0, 1])], [true, false]);
}
