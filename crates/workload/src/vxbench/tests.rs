//! Tests of `vxbench`'s words and the resulting requests.

use super::*;
use ioscape_schema::Op;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn words(workload: &str, suboptions: &str) -> VxWords {
    VxWords {
        workload: workload.to_owned(),
        suboptions: vec![suboptions.to_owned()],
        ..VxWords::default()
    }
}

fn job(workload: &str, suboptions: &str) -> VxJob {
    parse(&words(workload, suboptions)).unwrap()
}

fn refusal(words: &VxWords) -> String {
    parse(words).unwrap_err().to_string()
}

#[test]
fn the_papers_example_writes_a_gigabyte() {
    let job = job("write", "iosize=8k,iocount=128k");
    assert_eq!((job.iosize, job.iocount, job.nthreads), (8192, Some(131_072), 1));
    let plan = plan(&job, None).unwrap();
    assert_eq!((plan.ios(), plan.bytes(&job), plan.end_bytes), (131_072, 1 << 30, 1 << 30));
    let last = plan.requests(&job, 0, 0).last().unwrap();
    assert_eq!((last.op, last.offset), (Op::Write, (1 << 30) - 8192));
}

#[test]
fn every_word_of_the_usage_text_is_known() {
    let all = VxWords {
        workload: "rand_mixed".into(),
        suboptions: vec![
            "nrep=2,nthreads=3,iosize=4k,fsync,remove,iocount=5".into(),
            "maxfilesize=64,randseed=0,truncup=1m,rdpct=30".into(),
        ],
        opens: vec!["sync".into()],
        cache: vec!["direct,dsync,random".into()],
        extsize: Some("64k".into()),
        reservation: Some("1m".into()),
        flags: vec!["align,contig".into(), "noextend,noreserve,trim".into()],
        ..VxWords::default()
    };
    let job = parse(&all).unwrap();
    assert_eq!((job.nrep, job.nthreads, job.rdpct, job.rand_seed), (2, 3, 30, 0));
    assert_eq!((job.max_file_size, job.truncup), (Some(64 << 10), Some(1 << 20)));
    assert_eq!((job.extsize, job.reservation), (Some(64 << 10), Some(1 << 20)));
    assert!(job.align && job.contig && job.noextend && job.noreserve && job.trim);
    let whole = VxWords { flags: vec!["chgsiz".into()], ..all };
    assert!(parse(&whole).unwrap().chgsize);
    assert!(job.sync && job.direct && job.dsync && job.random && job.fsync && job.remove);
    let appending =
        VxWords { opens: vec!["append,trunc".into()], ..words("write", "iocount=1,iosize=512") };
    let job = parse(&appending).unwrap();
    assert!(job.append && job.trunc);
    for workload in VxWorkload::ALL {
        assert_eq!(parse(&words(workload.word(), "")).unwrap().workload, workload);
    }
    let reserving = VxWords { reservation: Some("1g".into()), ..words("write", "reserveonly") };
    assert!(parse(&reserving).unwrap().reserve_only);
}

#[test]
fn wrong_words_are_answered_with_the_nearest() {
    for (workload, suboptions, expected) in [
        ("raed", "", "did you mean \"read\"?"),
        ("rand_writes", "", "did you mean \"rand_write\"?"),
        ("xyz", "", "choose from read, write"),
        ("read", "iosiz=4k", "did you mean \"iosize\"?"),
        ("read", "nthread=4", "did you mean \"nthreads\"?"),
        ("read", "iosize", "needs a value"),
        ("write", "fsync=1", "takes no value"),
        ("read", "iosize=4kk", "is not a size"),
        ("read", "iosize=2g", "at most"),
        ("read", "nthreads=0", "nthreads=0"),
        ("read", "iocount=1,iocount=2", "given twice"),
        ("rand_mixed", "rdpct=101", "0 to 100"),
    ] {
        let text = refusal(&words(workload, suboptions));
        assert!(text.contains(expected), "{workload} {suboptions}: {text}");
    }
}

#[test]
fn contradictions_are_refused() {
    let with = |workload: &str, change: fn(&mut VxWords)| {
        let mut words = words(workload, "");
        change(&mut words);
        refusal(&words)
    };
    let fsync = refusal(&words("read", "fsync"));
    assert!(fsync.contains("only reads"), "{fsync}");
    for (text, expected) in [
        (with("read", |w| w.opens.push("trunc".into())), "only reads"),
        (with("read", |w| w.opens.push("sync".into())), "does nothing to read"),
        (with("rand_read", |w| w.cache.push("dsync".into())), "does nothing to rand_read"),
        (with("read", |w| w.suboptions.push("randseed=3".into())), "does nothing to read"),
        (
            with("write", |w| {
                w.reservation = Some("1m".into());
                w.flags.push("chgsize,trim".into());
            }),
            "nothing to give back",
        ),
        (with("rand_read", |w| w.reservation = Some("1m".into())), "only reads"),
        (with("read", |w| w.cache.push("random,seq".into())), "contradict"),
        (with("mmap_read", |w| w.cache.push("direct".into())), "no meaning"),
        (with("write", |w| w.flags.push("contig".into())), "-r"),
        (with("write", |w| w.flags.push("align".into())), "-e"),
        (with("rand_write", |w| w.opens.push("append".into())), "append is for write"),
        (with("write", |w| w.suboptions.push("reserveonly".into())), "give -r"),
        (with("write", |w| w.suboptions.push("rdpct=10".into())), "rand_mixed"),
        (with("write", |w| w.suboptions.push("maxfilesize=10".into())), "iocount"),
        (
            with("write", |w| {
                w.suboptions.push("iosize=1m,iocount=2".into());
                w.reservation = Some("1m".into());
                w.flags.push("noextend".into());
            }),
            "past the reservation",
        ),
        (
            with("read", |w| {
                w.cache.push("direct".into());
                w.direct_above = Some("256k".into());
            }),
            "choose one",
        ),
    ] {
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn files_too_small_or_of_unknown_size_are_refused() {
    let no = |job: &VxJob, bytes| plan(job, bytes).unwrap_err().to_string();
    assert!(no(&job("write", ""), None).contains("give iocount"));
    assert!(no(&job("read", ""), Some(0)).contains("give iocount"));
    assert!(no(&job("read", "iosize=1m,iocount=2"), Some(1 << 20)).contains("has 1048576 bytes"));
    assert!(no(&job("rand_read", "iosize=8k"), Some(4096)).contains("smaller iosize"));
    assert!(no(&job("mmap_write", "iocount=4"), None).contains("write it first"));
    assert!(
        no(&job("write", "iosize=1g,iocount=1073741824,nthreads=4096"), None).contains("large")
    );
}

#[test]
fn a_file_of_any_size_is_read_to_its_end() {
    let job = job("read", "iosize=8k,nthreads=2");
    let plan = plan(&job, Some(20_000)).unwrap();
    let of = |thread| plan.requests(&job, 0, thread).map(|r| (r.offset, r.len)).collect::<Vec<_>>();
    assert_eq!(of(0), [(0, 8192), (16_384, 3616)]);
    assert_eq!(of(1), [(8192, 8192)]);
}

#[test]
fn a_mix_has_its_share_of_reads_and_each_stream_its_own_places() {
    let job = job("rand_mixed", "iosize=4k,iocount=20k,nthreads=2,rdpct=30");
    let plan = plan(&job, Some(64 << 20)).unwrap();
    let reads = plan.requests(&job, 0, 0).filter(|r| r.op == Op::Read).count();
    assert!((5800..6500).contains(&reads), "{reads} reads of 20480");
    let places = |user, thread| plan.requests(&job, user, thread).map(|r| r.offset);
    assert!(places(0, 0).eq(places(0, 0)), "the same again");
    assert!(!places(0, 0).eq(places(0, 1)) && !places(0, 0).eq(places(1, 0)));
}

proptest! {
    #[test]
    fn sequential_streams_cover_the_range_once(bytes in 1u64..1 << 20, shift in 9u32..16, threads in 1u32..9) {
        let job = job("read", &format!("iosize={},nthreads={threads}", 1u64 << shift));
        let plan = plan(&job, Some(bytes)).unwrap();
        let mut ends = BTreeSet::new();
        let mut sum = 0;
        for thread in 0..threads {
            for request in plan.requests(&job, 0, thread) {
                prop_assert!(ends.insert(request.offset), "twice");
                sum += u64::from(request.len);
            }
        }
        prop_assert_eq!(sum, bytes);
    }

    #[test]
    fn random_requests_are_whole_blocks_of_the_range(kilobytes in 1u64..5000, blocks in 1u64..4) {
        let size = blocks * 1024;
        let job = job("rand_read", &format!("iosize={size},iocount=300"));
        if let Ok(plan) = plan(&job, Some(kilobytes << 10)) {
            for request in plan.requests(&job, 0, 0) {
                prop_assert!(request.offset % size == 0 && request.offset + size <= kilobytes << 10);
            }
        } else {
            prop_assert!(size > kilobytes << 10);
        }
    }

    #[test]
    fn no_words_panic(workload in ".{0,12}", suboptions in "[a-z_=0-9,kmg.]{0,40}", size in proptest::option::of(any::<u64>())) {
        let all = ["read", "write", "rand_write", "mmap_write", workload.as_str()];
        for workload in all {
            let job = parse(&words(workload, &suboptions));
            if let Ok((job, plan)) = job.and_then(|job| plan(&job, size).map(|plan| (job, plan))) {
                let _ = plan.requests(&job, 0, 0).take(3).count();
            }
        }
    }
}

#[test]
fn no_workload_writes_past_a_reservation_that_must_not_be_extended() {
    for workload in ["write", "rand_write", "rand_mixed"] {
        let asked = |suboptions: &str, existing| {
            let words = VxWords {
                reservation: Some("64k".into()),
                flags: vec!["noextend".into()],
                ..words(workload, suboptions)
            };
            parse(&words).and_then(|job| plan(&job, Some(existing)))
        };
        let error =
            asked("iosize=4k,maxfilesize=1m", 1 << 20).or_else(|_| asked("iosize=4k", 1 << 20));
        assert!(error.unwrap_err().to_string().contains("noextend forbids"), "{workload}");
        assert!(asked("iosize=4k", 64 << 10).is_ok(), "{workload} within the reservation");
    }
}

#[test]
fn sequential_direct_requests_cover_the_tail() {
    let words = VxWords { cache: vec!["direct".into()], ..words("read", "iosize=4k") };
    let job = parse(&words).unwrap();
    let plan = plan(&job, Some(10_000)).unwrap();
    let lengths: Vec<u32> = plan.requests(&job, 0, 0).map(|request| request.len).collect();
    assert_eq!(lengths, [4096, 4096, 1808]);
}
