//! Tests of what is taken over from vdbench, and of what is refused.

use super::*;
use ioscape_schema::{Access, SizeDistribution, Workers, Workload};

fn jobs(text: &str) -> KnownJobs {
    parse_vdbench(text).unwrap_or_else(|e| panic!("{e:?}: {text}"))
}

fn refused(text: &str) -> String {
    let all = parse_vdbench(text).expect_err("a refusal");
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_parameter_file_becomes_workloads() {
    let text = "* a remark\nmessagescan=no\nsd=sd1,lun=/dev/sdb,openflags=o_direct,\nsize=1g,threads=16 and a remark\n\
        wd=wd1,sd=sd*,xfersize=8k,rdpct=70,seekpct=100\nwd=log,sd=sd1,xfersize=64k,rdpct=0,seekpct=0\n\
        rd=oltp,wd=wd1,iorate=max,elapsed=30,interval=1\nrd=log,wd=log,iorate=max,elapsed=2m,threads=1\neof\nrd=never\n";
    let found = jobs(text);
    let [oltp, log] = &found.jobs[..] else { panic!("two jobs: {found:?}") };
    assert_eq!((&*oltp.name, oltp.seconds), ("oltp", Some(30.0)));
    let expected = Workload {
        unique_bytes: 1 << 30,
        size_mean: 8192,
        size_distribution: SizeDistribution::Fixed,
        read_frac: 0.7,
        seq_frac: 0.0,
        process_num: 16,
        access: Access::Direct,
        workers: Workers::Threads,
        align_bytes: Some(8192),
        ..Workload::default()
    };
    assert_eq!(oltp.workload, expected);
    // A run's own parameters override those of the storage.
    assert_eq!(
        (log.workload.process_num, log.workload.seq_frac, log.seconds),
        (1, 1.0, Some(120.0))
    );
    let left: Vec<&str> = found.left_out.keys().filter_map(|one| one.split(':').next()).collect();
    assert_eq!(left, ["interval", "lun", "messagescan"]);
}

#[test]
fn vdbenchs_defaults_are_kept_and_its_own_defaults_read() {
    let one =
        &jobs("sd=default,size=16m\nsd=a\nwd=w,sd=a\nrd=default,iorate=max,elapsed=5\nrd=r,wd=w\n")
            .jobs[0];
    let workload = &one.workload;
    assert_eq!((workload.size_mean, workload.read_frac, workload.seq_frac), (4096, 1.0, 0.0));
    assert_eq!(
        (workload.process_num, workload.access, one.seconds),
        (8, Access::Buffered, Some(5.0))
    );
}

#[test]
fn lists_become_a_job_for_each_combination_the_first_outermost() {
    let text =
        "sd=a,size=16m\nwd=w,sd=a\nrd=r,wd=w,iorate=max,forxfersize=(4k,64k),forthreads=(1,2)\n";
    let found = jobs(text);
    let names: Vec<&str> = found.jobs.iter().map(|job| &*job.name).collect();
    let expected = [
        "r xfersize=4k threads=1",
        "r xfersize=4k threads=2",
        "r xfersize=64k threads=1",
        "r xfersize=64k threads=2",
    ];
    assert_eq!(names, expected);
    let last = &found.jobs[3].workload;
    assert_eq!((last.size_mean, last.process_num), (65536, 2));
}

#[test]
fn what_a_run_says_takes_the_place_of_a_list_of_the_defaults() {
    let of = |defaults: &str, run: &str| {
        let text = format!(
            "sd=a,size=16m\nwd=w,sd=a\nrd=default,iorate=max,{defaults}\nrd=a,wd=w,{run}\n"
        );
        jobs(&text).jobs
    };
    for run in ["forthreads=(4,8)", "threads=(4,8)"] {
        let found = of("forthreads=(1,2)", run);
        let names: Vec<&str> = found.iter().map(|job| &*job.name).collect();
        assert_eq!(names, ["a threads=4", "a threads=8"], "{run}");
    }
    let one = of("forthreads=(1,2)", "threads=16");
    assert_eq!((one.len(), one[0].workload.process_num), (1, 16));
    let written = of("forrdpct=(0,50)", "wrpct=30");
    assert_eq!((written.len(), written[0].workload.read_frac), (1, 0.7));
    assert_eq!(of("forthreads=(1,2)", "rdpct=50").len(), 2, "the list of another parameter");
}

#[test]
fn lists_that_make_too_many_jobs_are_refused() {
    let many = "1,".repeat(99) + "1";
    let runs = format!("forthreads=({many}),forrdpct=({many}),forseekpct=({many})");
    let told = refused(&format!("sd=a,size=16m\nwd=w,sd=a\nrd=r,wd=w,iorate=max,{runs}\n"));
    assert!(told.contains("line 3") && told.contains("1000000 jobs"), "{told}");
}

#[test]
fn what_does_not_map_is_refused_by_name_and_line() {
    let run = "rd=r,wd=w,iorate=max\n";
    for (text, words) in [
        ("sd=a,size=1g\nwd=w,sd=a\nrd=r,wd=w,iorate=5000\n", ["line 3", "iorate=5000"]),
        (&*format!("sd=a,size=1g,range=(1,100)\nwd=w,sd=a\n{run}"), ["line 1", "range=(1,100)"]),
        (
            &format!("sd=a,size=1g\nwd=w,sd=a,\n  rdpct=70,\n  stride=4k\n{run}"),
            ["line 4", "stride=4k"],
        ),
        (&format!("sd=a, size=1g\nwd=w,sd=a\n{run}"), ["line 1", "size=1g stands behind a blank"]),
        ("hd=x,system=10.0.0.1\n", ["line 1", "hd=x"]),
        (&format!("sd=a,size=1g\nwd=w,sd=a,xfersize=(4k,50,8k,50)\n{run}"), ["line 2", "xfersize"]),
        (&format!("sd=a,size=1g\nwd=w,sd=a,rhpct=50\n{run}"), ["line 2", "rhpct=50"]),
        (&format!("sd=a,size=1g\nwd=w,sd=a,seekpct=eof\n{run}"), ["line 2", "seekpct=eof"]),
        (
            &format!("sd=a,size=1g,openflags=o_sync\nwd=w,sd=a\n{run}"),
            ["line 1", "openflags=o_sync"],
        ),
        (&format!("sd=a,size=1g\nsd=b,size=1g\nwd=w,sd=*\n{run}"), ["line 4", "several"]),
        (&format!("sd=a,size=1g\nwd=w,sd=b\n{run}"), ["line 3", "no sd=b"]),
        (&format!("sd=a\nwd=w,sd=a\n{run}"), ["line 3", "size is missing"]),
        ("fsd=a,anchor=/x\n", ["line 1", "fsd=a"]),
        (&format!("sd=a,size=1g\nwd=w,sd=a,align=3k\n{run}"), ["line 3", "align_bytes (3072)"]),
        ("validate=yes\n", ["line 1", "--verify"]),
        ("sd=a,size=$size\n", ["line 1", "variables"]),
        ("sd=a,size=1g\n", ["line 1", "no run"]),
        ("sd=a,size=1g\nrd=r,iorate=max\n", ["line 2", "wd is missing"]),
        ("sd\n", ["line 1", "no value"]),
    ] {
        let told = refused(text);
        assert!(words.iter().all(|word| told.contains(word)), "{text}: {told}");
    }
}

/// As in Dell's "RDBMS 22 K": vdbench's blocks are no power of two, and its threads pass through
/// the storage together.
#[test]
fn every_request_has_the_size_asked_and_another_order_is_said() {
    let of = |wd: &str| jobs(&format!("sd=a,size=16m\nwd=w,sd=a,{wd}\nrd=r,wd=w,iorate=max\n"));
    for (wd, align, expected) in [
        ("xfersize=22k", 2048, &["xfersize=22528"][..]),
        ("xfersize=22k,align=4k", 2048, &["xfersize=22528"]),
        ("xfersize=22k,align=2k", 2048, &[]),
        ("xfersize=12k,seekpct=50,threads=2", 4096, &["seekpct with threads=2", "xfersize=12288"]),
        ("xfersize=22k,seekpct=0", 2048, &["seekpct with threads=8"]),
        ("xfersize=8k,seekpct=0,threads=1", 8192, &[]),
    ] {
        let found = of(wd);
        let workload = &found.jobs[0].workload;
        assert_eq!(workload.align(), align, "{wd}");
        let sizes = crate::Stream::new(workload, 1, 0).take(10_000);
        assert!(sizes.map(|one| u64::from(one.len)).all(|len| len == workload.size_mean), "{wd}");
        let told = found.left_out.keys().filter_map(|one| one.split(':').next());
        assert_eq!(told.collect::<Vec<_>>(), expected, "{wd}");
    }
}

#[test]
fn what_is_left_out_names_its_jobs() {
    let text = "sd=a,lun=/dev/sdb,size=16m\nwd=w,sd=a\nrd=r,wd=w,iorate=max,forxfersize=(4k,22k)\n";
    let found = jobs(text);
    let of = |key: &str| {
        let about = found.left_out.iter().filter(|(what, _)| what.starts_with(key));
        about.flat_map(|(_, names)| names).map(String::as_str).collect::<Vec<_>>()
    };
    assert_eq!(of("lun"), ["r xfersize=22k", "r xfersize=4k"]);
    assert_eq!(of("xfersize"), ["r xfersize=22k"]);
}

#[test]
fn everything_that_does_not_map_is_named_at_once() {
    let text = "validate=yes\nsd=a,lun=/dev/sdb,size=1g,offset=1m,\n  streams=4\nwd=w,sd=a,stride=1\nrd=r,wd=w,iorate=curve\n";
    let told = refused(text);
    let named = [
        "line 1: validate",
        "line 2: offset",
        "line 3: streams",
        "line 4: stride",
        "line 5: iorate",
    ];
    assert_eq!(told.lines().count(), named.len(), "{told}");
    assert!(told.lines().zip(named).all(|(line, named)| line.starts_with(named)), "{told}");
}

#[test]
fn parameters_may_be_written_shorter() {
    // As in published scripts.
    let text = "debug=86\ndata_errors=10000\ncompratio=2\nhd=default,user=root,shell=ssh\nhd=local,system=localhost\n\
        sd=sd1,host=local,lun=/dev/sdb,openflag=o_direct,hitarea=0,range=(0,100),align=4k,size=1g\n\
        wd=w,sd=(sd1),xfersize=(8K),readpct=70,seekpct=rand\nrd=r,wd=(w),iorate=MAX,el=1h,in=1,maxdata=500g,th=4\n";
    let found = jobs(text);
    let one = &found.jobs[0];
    let workload = &one.workload;
    assert_eq!((workload.access, workload.size_mean), (Access::Direct, 8192));
    assert_eq!((workload.read_frac, workload.seq_frac), (0.7, 0.0));
    assert_eq!((workload.process_num, workload.align_bytes), (4, Some(4096)));
    assert_eq!(one.seconds, Some(3600.0));
    let left: Vec<&str> = found.left_out.keys().filter_map(|one| one.split(':').next()).collect();
    let expected = [
        "compratio",
        "data_errors",
        "debug",
        "hd=default",
        "hd=local",
        "hitarea",
        "host",
        "interval",
        "lun",
        "maxdata",
    ];
    assert_eq!(left, expected);
    let written = jobs("sd=a,size=1m\nwd=w,sd=a,writepct=30\nrd=r,wd=w,iorate=max\n");
    assert_eq!(written.jobs[0].workload.read_frac, 0.7);
}

#[test]
fn lists_have_ranges_and_need_no_for() {
    // vdbench's example random_write_xfersizes, except for the size.
    let text = "sd=a,size=16m\nwd=w,sd=a,seekpct=random,rdpct=0\n\
        rd=r,wd=w*,elapsed=120,interval=10,iorate=max,forxfersize=(4k-512k,d)\n";
    let sizes: Vec<u64> = jobs(text).jobs.iter().map(|job| job.workload.size_mean).collect();
    assert_eq!(sizes, [4, 8, 16, 32, 64, 128, 256, 512].map(|kib| kib << 10));
    let listed = jobs(&text.replace("forxfersize=(4k-512k,d)", "threads=(1-5,2),rdpct=(0,50)"));
    let names: Vec<&str> = listed.jobs.iter().map(|job| &*job.name).collect();
    assert_eq!(
        (names.len(), names[1], names[5]),
        (6, "r threads=1 rdpct=50", "r threads=5 rdpct=50")
    );
    for endless in ["(0-9,d)", "(1-9,0)", "(1-9000000000,1)", "(1-9)", "(9-1,1)"] {
        let told = refused(&text.replace("(4k-512k,d)", endless));
        assert!(told.contains("line 3: forxfersize="), "{endless}: {told}");
    }
}

#[test]
fn a_run_may_name_its_storage() {
    let text = "sd=a,size=16m\nsd=b,size=32m\nwd=default,xfersize=8k\nwd=w,sd=a\n\
        rd=own,wd=w,sd=b,iorate=max\nrd=alone,sd=b,iorate=max,rdpct=100\n";
    let found = jobs(text);
    let sets: Vec<u64> = found.jobs.iter().map(|job| job.workload.unique_bytes >> 20).collect();
    assert_eq!(sets, [32, 32]);
    assert_eq!(found.jobs[1].workload.size_mean, 8192);
}

#[test]
fn jobs_of_one_name_are_told_apart() {
    let text = "sd=a,size=1m\nwd=w,sd=a\nrd=r,wd=w,iorate=max,forthreads=(2,2)\nrd=s,wd=w,iorate=max\nrd=s,wd=w,iorate=max\n";
    let found = jobs(text);
    let names: Vec<&str> = found.jobs.iter().map(|job| &*job.name).collect();
    assert_eq!(names, ["r threads=2", "r threads=2 (2)", "s", "s (2)"]);
}
