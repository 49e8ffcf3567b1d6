//! Tests of job files: what is accepted, what is refused, and the messages.

use super::error::position;
use super::*;
use ioscape_schema::{Access, Advice, Engine, SizeDistribution, Workers};
use proptest::prelude::*;

/// Returns the message that refuses a bad file.
fn refusal(text: &str) -> String {
    parse_jobs(text).expect_err(text).to_string()
}

/// Returns the message that refuses a job with one more line, the third of the file.
fn refused_line(line: &str) -> String {
    refusal(&format!("[[job]]\nname = \"j\"\n{line}\n"))
}

#[test]
fn every_key_is_read() {
    let text = r#"
[[job]]
name = "all"
unique_bytes = "1.5G"
size_mean = 65536
size_dist = "exponential"
read_frac = 1
seq_frac = 0.25
processes = 4
queue_depth = 32
think_time = "10us"
align = "512"
engine = "io_uring"
access = "direct"
workers = "threads"
advice = "random"
seconds = 2.5
seed = 18446744073709551615
verify = true

[[job]]
name = "other spellings"
size_distribution = "fixed"
process_num = 0x10
align_bytes = 1_024
think_time_ns = 0
direct_above = "256k"
seconds = "2m"
"#;
    let jobs = parse_jobs(text).unwrap();
    let expected = Workload {
        unique_bytes: 3 << 29,
        size_mean: 65536,
        size_distribution: SizeDistribution::Exponential,
        read_frac: 1.0,
        seq_frac: 0.25,
        process_num: 4,
        queue_depth: 32,
        think_time_ns: 10_000,
        align_bytes: Some(512),
        engine: Engine::IoUring,
        access: Access::Direct,
        direct_above_bytes: None,
        workers: Workers::Threads,
        advice: Advice::Random,
        by_operation: None,
        phases: Vec::new(),
        memory_bytes: None,
    };
    let (seconds, seed, verify) = (Some(2.5), Some(u64::MAX), Some(true));
    assert_eq!(jobs[0], Job { seconds, seed, verify, ..Job::named("all", expected) });
    let expected = Workload {
        size_distribution: SizeDistribution::Fixed,
        process_num: 16,
        align_bytes: Some(1024),
        direct_above_bytes: Some(256 << 10),
        ..Workload::default()
    };
    assert_eq!((&jobs[1].workload, jobs[1].seconds, jobs[1].seed), (&expected, Some(120.0), None));
}

#[test]
fn defaults_hold_until_a_job_says_otherwise_wherever_they_stand() {
    let text = "[[job]]\nname = \"a\"\nread_frac = 0.0\nthink_time_ns = 0\n\
                [[job]]\nname = \"b\"\n\
                [defaults]\nread_frac = 1\nseed = 3\nthink_time = \"1us\"\n";
    let jobs = parse_jobs(text).unwrap();
    let seen: Vec<_> = jobs
        .iter()
        .map(|job| {
            (job.name.as_str(), job.workload.read_frac, job.workload.think_time_ns, job.seed)
        })
        .collect();
    assert_eq!(seen, [("a", 0.0, 0, Some(3)), ("b", 1.0, 1000, Some(3))]);
}

#[test]
fn a_job_takes_back_the_pause_of_the_defaults() {
    for none in ["0s", "0us", "0 ms", "0"] {
        let text = format!(
            "[defaults]\nthink_time = \"1ms\"\n[[job]]\nname = \"a\"\nthink_time = \"{none}\"\n"
        );
        assert_eq!(parse_jobs(&text).unwrap()[0].workload.think_time_ns, 0, "{none}");
    }
    for wrong in ["0 parsecs", "00s", "0.0s", "-0s"] {
        let told = refused_line(&format!("think_time = \"{wrong}\""));
        assert!(told.contains("is not a duration"), "{told}");
    }
    assert!(refused_line("seconds = \"0s\"").contains("is not a duration"));
    // Once, it meant 50 seconds, while fio's bare numbers are microseconds.
    let bare = refused_line("think_time = \"50\"");
    assert!(bare.contains("must be text with a unit"), "{bare}");
}

#[test]
fn values_of_the_wrong_kind_are_refused_with_place_and_remedy() {
    for (line, sentence) in [
        (
            "read_frac = \"half\"",
            "3, column 13: job \"j\": read_frac is \"half\", but must be a number from 0 to 1",
        ),
        (
            "read_frac = true",
            "3, column 13: job \"j\": read_frac is true, but must be a number from 0 to 1",
        ),
        (
            "seq_frac = -0.5",
            "3, column 12: job \"j\": seq_frac is -0.5, but a fraction must be from 0 to 1",
        ),
        (
            "seq_frac = nan",
            "3, column 12: job \"j\": seq_frac is NaN, but a fraction must be from 0 to 1",
        ),
        (
            "processes = 1.5",
            "3, column 13: job \"j\": processes is 1.5, but must be a whole number from 1 to 4096",
        ),
        (
            "processes = 5000",
            "3, column 13: job \"j\": process_num is 5000, but at most 4096 is supported",
        ),
        ("unique_bytes = 0", "3, column 16: job \"j\": unique_bytes is 0, but must be at least 1"),
        (
            "unique_bytes = -1",
            "3, column 16: job \"j\": unique_bytes is -1, but must be a size: a whole number of bytes, or text such as \"64M\"",
        ),
        (
            "size_mean = \"4kk\"",
            "3, column 13: job \"j\": size_mean: \"4kk\" is not a size: give a whole or decimal number above 0 with an optional k, M, G or T (powers of 1024), such as 64k or 1.5G",
        ),
        (
            "size_mean = []",
            "3, column 13: job \"j\": size_mean is an array, but must be a size: a whole number of bytes, or text such as \"64M\"",
        ),
        (
            "engine = \"spdk\"",
            "3, column 10: job \"j\": engine: unknown engine \"spdk\": one of psync, io_uring, mmap, dontcache, null, sim",
        ),
        ("engine = 1", "3, column 10: job \"j\": engine is 1, but must be text in quotes"),
        (
            "queue_depth = 8",
            "3, column 15: job \"j\": queue_depth 8 needs the io_uring engine; all others issue one request at a time per process",
        ),
        (
            "align = 3000",
            "3, column 9: job \"j\": align_bytes (3000) must be a power of two and not above size_mean (32768) or unique_bytes",
        ),
        (
            "think_time = 10",
            "3, column 14: job \"j\": think_time is 10, but must be text with a unit, such as \"10us\" (or use think_time_ns)",
        ),
        (
            "seconds = 0",
            "3, column 11: job \"j\": seconds is 0, but must be a number of seconds above 0, or text such as \"2m\"",
        ),
        (
            "seed = -1",
            "3, column 8: job \"j\": seed is -1, but must be a whole number from 0 to 18446744073709551615",
        ),
    ] {
        assert_eq!(refused_line(line), format!("line {sentence}"));
    }
}

#[test]
fn keys_are_checked() {
    assert_eq!(
        refused_line("reed_frac = 1"),
        "line 3, column 1: job \"j\" has the unknown key \"reed_frac\": use name, unique_bytes, size_mean, \
         size_dist, read_frac, seq_frac, processes, queue_depth, think_time, think_time_ns, align, engine, access, \
         direct_above, workers, advice, seconds, seed or verify"
    );
    assert_eq!(
        refused_line("processes = 1\nprocess_num = 2"),
        "line 4, column 15: job \"j\": process_num repeats another key of this table: keep one"
    );
    assert_eq!(
        refusal("[jobs]\n"),
        "line 1, column 2: the file has the unknown key \"jobs\": use [defaults] and [[job]]"
    );
    assert_eq!(
        refusal("[defaults]\nname = \"x\"\n"),
        "line 2, column 8: [defaults]: name is \"x\", but must stand in [[job]]: every job has its own"
    );
}

#[test]
fn an_error_of_the_defaults_is_shown_where_it_stands() {
    let text =
        "[defaults]\nsize_mean = \"2M\"\n\n[[job]]\nname = \"small\"\nunique_bytes = \"1M\"\n";
    assert_eq!(
        refusal(text),
        "line 2, column 13: job \"small\": size_mean (2097152 bytes) is larger than unique_bytes (1048576 bytes): \
         make the set larger or the requests smaller"
    );
}

#[test]
fn the_shape_of_the_file_is_checked() {
    for (text, sentence) in [
        (
            "",
            "the file has no job: add a table [[job]] with a name and the parameters of the workload",
        ),
        (
            "job = 1",
            "line 1, column 7: the file: job is 1, but must be written as a table [[job]] for every job",
        ),
        (
            "[job]\nname = \"x\"",
            "line 1, column 1: the file: job is a table, but must be written as a table [[job]] for every job",
        ),
        (
            "defaults = 1",
            "line 1, column 12: the file: defaults is 1, but must be a table: write [defaults]",
        ),
        ("[[job]]\n", "line 1, column 1: job 1: name is missing: give every [[job]] a name"),
        (
            "[[job]]\nname = \" \"",
            "line 2, column 8: job \" \": name is \" \", but must be text that is not empty",
        ),
        (
            "[[job]]\nname = \"x\"\n[[job]]\nname = \"x\"",
            "line 3, column 1: job \"x\": name \"x\" is that of an earlier job: give it another",
        ),
    ] {
        assert_eq!(refusal(text), sentence, "{text}");
    }
}

#[test]
fn text_that_is_no_toml_is_refused_with_its_place() {
    let JobError::At { line, column, message } =
        parse_jobs("[[job]]\nname = \u{e9}\u{e9}\n").unwrap_err()
    else {
        panic!("not a syntax error");
    };
    assert_eq!((line, column), (2, 8));
    let why = message.strip_prefix("this is not TOML: ");
    assert!(why.is_some_and(|why| !why.is_empty()), "{message}");
}

#[test]
fn columns_count_characters() {
    assert_eq!(position("a\n\u{e9}\u{e9}x", 6), (2, 3));
    assert_eq!(position("", 9), (1, 1));
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,60}") {
        let _ = parse_jobs(&text);
    }

    #[test]
    fn no_value_panics(
        key in "(name|unique_bytes|size_mean|size_dist|read_frac|processes|think_time|think_time_ns|align|engine|seconds|seed|x)",
        value in "(\"\\PC{0,8}\"|-?[0-9]{1,25}|[0-9]{1,4}\\.[0-9]e[0-9]{1,4}|inf|nan|true|\\[1\\]|\\{a=1\\}|1979-05-27|[0-9]{1,3}[kMGu]?s?)",
        header in "(\\[\\[job\\]\\]|\\[defaults\\]|\\[job\\])",
    ) {
        if let Ok(jobs) = parse_jobs(&format!("{header}\n{key} = {value}\n[[job]]\nname = \"last\"\n")) {
            prop_assert!(jobs.iter().all(|job| job.workload.validate().is_ok()));
        }
    }
}
