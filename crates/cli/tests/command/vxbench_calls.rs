//! What each option of `vxbench` makes the kernel do, as seen by strace; a run without the option
//! does not do it.

use crate::common::skipped;
use std::path::Path;
use std::process::Command;

/// Arguments, and what the trace must contain.
struct Option {
    workload: &'static str,
    words: &'static [&'static str],
    call: &'static str,
}

const fn option(
    workload: &'static str,
    words: &'static [&'static str],
    call: &'static str,
) -> Option {
    Option { workload, words, call }
}

const OPTIONS: [Option; 25] = [
    option("write", &["-c", "direct"], "O_DIRECT|"),
    option("write", &["-c", "dsync"], "O_DSYNC"),
    option("write", &["-o", "sync"], "O_SYNC"),
    option("write", &["-o", "append"], "O_APPEND"),
    option("write", &["-o", "trunc"], "ftruncate(N, 0)"),
    option("write", &["-c", "random"], "POSIX_FADV_RANDOM"),
    option("write", &["-c", "seq"], "POSIX_FADV_SEQUENTIAL"),
    option("read", &["-c", "noreuse"], "preadv2(N"),
    option("write", &["-c", "noreuse"], "pwritev2(N"),
    option("write", &["-c", "direct,atomic"], "pwritev2(N"),
    option("mmap_read", &["-c", "random"], "MADV_RANDOM"),
    option("mmap_read", &["-c", "seq"], "MADV_SEQUENTIAL"),
    option("write", &["-i", "fsync"], " fsync(N)"),
    option("write", &["-i", "remove"], "unlink"),
    option("rand_write", &["-i", "truncup=2m"], "ftruncate(N, 2097152)"),
    option("write", &["-r", "1m"], "fallocate(N, FALLOC_FL_KEEP_SIZE, 0, 1048576)"),
    option("write", &["-r", "1m", "-f", "chgsize"], "fallocate(N, 0, 0, 1048576)"),
    option("write", &["-r", "1m", "-f", "trim"], "FALLOC_FL_PUNCH_HOLE"),
    option("read", &["--cold"], "POSIX_FADV_DONTNEED"),
    option("read", &["-m"], "mlock"),
    option("write", &["--direct-above", "8k"], "O_DIRECT|"),
    // Several at once: none may hide the effect of another.
    option("mmap_write", &["-i", "fsync"], " fsync(N)"),
    option("mmap_read", &["-c", "random", "--huge-buffers"], "MADV_HUGEPAGE"),
    option("write", &["-r", "4m", "-f", "noreserve", "-i", "nthreads=3"], "FALLOC_FL_PUNCH_HOLE"),
    option("rand_mixed", &["-c", "dsync", "--queue-depth", "4"], "O_DSYNC"),
];

/// Whether strace can trace a program; otherwise says why not.
fn can_watch() -> bool {
    let tried = Command::new("strace").args(["-f", "-qq", "-o", "/dev/null", "true"]).output();
    let can = tried.is_ok_and(|tried| tried.status.success());
    if !can {
        skipped("strace is not installed, or may not watch a program");
    }
    can
}

/// The calls of a run on a 64 KB file, with descriptors as `N`; or why there is no trace.
fn calls(folder: &Path, workload: &str, words: &[&str]) -> Result<String, String> {
    let (file, trace) = (folder.join("file"), folder.join("trace"));
    std::fs::write(&file, vec![1; 64 << 10]).unwrap();
    let kinds = "trace=open,openat,ftruncate,fallocate,fadvise64,preadv2,pwritev2,fsync,mlock,madvise,unlink,unlinkat";
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-e", kinds, "-o"]).arg(&trace);
    command.arg(assert_cmd::cargo::cargo_bin("ioscape")).args(["vxbench", "-w", workload]);
    let sized = words.iter().any(|word| word.starts_with("iosize"));
    let amount = if sized { "iocount=4" } else { "iosize=16k,iocount=4" };
    command.args(["-i", amount, "--destroy-data"]).args(words).arg(&file);
    let output = command.output().map_err(|_| "strace is not installed".to_owned())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let text = std::fs::read_to_string(&trace).map_err(|_| "strace left no trace".to_owned())?;
    Ok(without_descriptors(&text))
}

/// The trace with `N` for every call's first argument if it is a number, and each call that
/// another thread's cut in two as a whole one: which are cut differs from run to run.
fn without_descriptors(text: &str) -> String {
    let line = |line: &str| {
        let line = line.replace(" <unfinished ...>", ")");
        let Some((name, rest)) = line.split_once('(') else { return line };
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 { line } else { format!("{name}(N{}", &rest[digits..]) }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_option_has_its_effect_and_its_absence_none() {
    if !can_watch() {
        return;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for Option { workload, words, call } in OPTIONS {
        let plain = calls(folder.path(), workload, &[]);
        match plain.and_then(|plain| Ok((plain, calls(folder.path(), workload, words)?))) {
            Ok((plain, with)) => {
                assert!(with.contains(call), "{workload} {words:?} lacks {call}:\n{with}");
                assert!(!plain.contains(call), "{workload} has {call} without {words:?}");
            }
            // A file system or kernel without the feature refuses the option, which is right too.
            Err(why) => {
                let told = ["is not possible here", "io_uring", "ulimit -l"];
                assert!(told.iter().any(|one| why.contains(one)), "{workload} {words:?}: {why}");
                skipped(&format!("{workload} {words:?}: {why}"));
            }
        }
    }
}

#[test]
fn an_unaligned_direct_run_falls_back_to_synchronous_writes() {
    if !can_watch() {
        return;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let words = ["-c", "direct", "--best-effort", "-i", "iosize=1000"];
    let text = calls(folder.path(), "write", &words).unwrap();
    assert!(text.contains("O_DSYNC") && text.matches("file\"").count() > 0, "{text}");
    let strict = ["-c", "direct", "-i", "iosize=1000"];
    if let Err(why) = calls(folder.path(), "write", &strict) {
        assert!(why.contains("multiples") || why.contains("O_DIRECT|"), "{why}");
    } else {
        panic!("requests of 1000 bytes cannot be direct");
    }
}
