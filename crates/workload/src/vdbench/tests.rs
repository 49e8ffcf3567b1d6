//! Tests of what is taken over from vdbench, and of what is refused.

use super::*;
use ioscape_schema::{Access, SizeDistribution, Workers, Workload};

fn jobs(text: &str) -> VdbenchJobs {
    parse_vdbench(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn refused(text: &str) -> String {
    parse_vdbench(text).expect_err("a refusal").to_string()
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
    // A run's own parameters go before those of the storage.
    assert_eq!(
        (log.workload.process_num, log.workload.seq_frac, log.seconds),
        (1, 1.0, Some(120.0))
    );
    let left: Vec<&str> = found.left_out.iter().filter_map(|one| one.split(':').next()).collect();
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
        (&*format!("sd=a,size=1g,hitarea=1m\nwd=w,sd=a\n{run}"), ["line 1", "hitarea=1m"]),
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
