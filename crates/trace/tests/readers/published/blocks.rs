//! Recorded events of Linux's block layer, and what other programs read from them.

use super::data::{self, rows};
use ioscape_schema::{Io, IoFlags, Op};

#[test]
fn blktrace_of_one_partition() {
    let Some((rows, info)) = rows(&["blktrace/takeoverjp.sample.blktrace.0"]) else { return };
    assert_eq!(info.format, "blktrace");
    assert_eq!(
        (rows.len(), info.started_unix_ns),
        (963, None),
        "of 963 completions; no wall clock is told"
    );
    assert!(rows.iter().all(|io| io.flags == IoFlags::READ_AHEAD && io.partition == 3));
    assert!(info.commands.iter().any(|name| name == "VizCompositorTh"));
}

/// The first 5,000 events of a recording give the same rows from blkparse's text as from the
/// records themselves.
#[test]
fn binary_and_blkparse_give_the_same_rows() {
    let binary = ["recorded/blk/loop0.blktrace.0", "recorded/blk/loop0.blktrace.1"];
    let text = rows(&["recorded/blk/loop0.blkparse.head5000.txt"]);
    let (Some((binary, _)), Some((text, _))) = (rows(&binary), text) else { return };
    assert!(text.len() > 800, "{}", text.len());
    let told =
        |io: &Io| (io.queued_ns, io.issued_ns, io.completed_ns, io.request, io.flags, io.process);
    // The last rows of the text may come after a request that was still open at the cut.
    let same = text.iter().zip(&binary).take_while(|(a, b)| told(a) == told(b)).count();
    assert!(
        same + 5 >= text.len(),
        "{same} of {} rows agree, then {:?} and {:?}",
        text.len(),
        text.get(same),
        binary.get(same)
    );
}

/// The two CPUs' files end at different times, so many requests have only one end in them.
#[test]
fn all_events_that_blkparse_counts_are_used() {
    let names = ["recorded/blk/loop0.blktrace.0", "recorded/blk/loop0.blktrace.1"];
    let Some((rows, info)) = rows(&names) else { return };
    let note = |name: &str| info.notes[name].parse::<usize>().unwrap();
    assert_eq!(rows.len() + note("completions without a beginning"), 21_929, "blkparse's C");
    assert_eq!(rows.len() + note("requests without a completion"), 19_613, "blkparse's D");
}

#[test]
fn blkparse_text_of_reads() {
    let Some((rows, info)) = rows(&["blktrace/evelii.sample.blkparse.txt"]) else { return };
    let completions = data::count_lines("blktrace/evelii.sample.blkparse.txt", |line| {
        line.split_ascii_whitespace().nth(5) == Some("C")
    });
    assert_eq!(rows.len() as u64, completions.unwrap());
    assert!(info.commands.iter().any(|name| name == "java"));
    assert!(rows.iter().all(|io| io.completed_ns > io.issued_ns));
}

#[test]
fn perf_script_text() {
    let name = "recorded/blk/vda.perf-script.head5000.txt";
    let Some((rows, info)) = rows(&[name]) else { return };
    assert_eq!(info.format, "trace-events");
    let completions = data::count_lines(name, |line| line.contains("block_rq_complete")).unwrap();
    let orphans: u64 = info.notes["completions without a beginning"].parse().unwrap();
    assert_eq!(rows.len() as u64 + orphans, completions);
    assert!(orphans < 20, "only what was under way when the recording began: {orphans}");
    assert!(rows.iter().any(|io| io.request.op == Op::Read));
}

#[test]
fn requests_of_recordings_of_all_events_have_their_arrivals_and_issues() {
    for names in [
        &["recorded/blk/loop0.blktrace.0", "recorded/blk/loop0.blktrace.1"][..],
        &["recorded/blk/vda.perf-script.head5000.txt"],
        &["blktrace/evelii.sample.blkparse.txt"],
        &["blktrace/takeoverjp.sample.blktrace.0"],
    ] {
        let Some((_, info)) = rows(names) else { return };
        for note in ["requests without an arrival", "requests without an issue"] {
            assert!(!info.notes.contains_key(note), "{names:?}: {:?}", info.notes);
        }
    }
}
