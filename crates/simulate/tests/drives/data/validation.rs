//! DiskSim's validation traces: one request outstanding, each with its measured service time and the think time after it.

use ioscape_schema::{Io, Op, Request};
use ioscape_simulate::{Command, Job};

/// Bytes of a DiskSim block.
const BLOCK_BYTES: u64 = 512;

/// Parses lines of `R|W Hit|Miss block blocks service_us think_us`. `blocks` is the disk's number
/// of blocks. Recorded times begin at 0.
///
/// # Errors
/// A line has another form, or a request lies beyond the disk; names the line's number.
pub fn validation_trace(text: &str, blocks: u64) -> Result<Vec<Job>, String> {
    let mut jobs = Vec::new();
    let mut now_us = 0.0;
    for (number, line) in text.lines().enumerate() {
        let wrong = |why: &str| format!("line {}: {why}", number + 1);
        let words: Vec<&str> = line.split_whitespace().collect();
        let [op, _, block, count, service, think] = words.as_slice() else {
            if words.is_empty() {
                continue;
            }
            return Err(wrong(
                "six words are wanted: R or W, Hit or Miss, block, blocks, service and think time",
            ));
        };
        let whole =
            |text: &str| text.parse::<u64>().map_err(|_| wrong(&format!("{text:?} is no number")));
        let time = |text: &str| {
            let time = text.parse::<f64>().ok().filter(|t| (0.0..1e12).contains(t));
            time.ok_or_else(|| wrong(&format!("{text:?} is no time")))
        };
        let write = match *op {
            "R" => false,
            "W" => true,
            other => return Err(wrong(&format!("{other:?} is neither R nor W"))),
        };
        let (block, count) = (whole(block)?, whole(count)?);
        if count == 0 || block.saturating_add(count) > blocks {
            return Err(wrong(&format!(
                "{count} blocks from {block} are not on a disk of {blocks}"
            )));
        }
        let op = if write { Op::Write } else { Op::Read };
        let len = u32::try_from(count.saturating_mul(BLOCK_BYTES))
            .map_err(|_| wrong("a request of 4 GiB or more"))?;
        let request = Request { op, offset: block.saturating_mul(BLOCK_BYTES), len };
        let nanoseconds = |us: f64| (us * 1e3).round() as u64;
        let (begin, end) = (nanoseconds(now_us), nanoseconds(now_us + time(service)?));
        now_us += time(service)? + time(think)?;
        jobs.push(Job {
            row: number as u64,
            disk: 0,
            io: Io {
                request,
                queued_ns: begin,
                issued_ns: begin,
                completed_ns: end,
                ..Io::default()
            },
            command: Command { block, count, write, synchronous: false },
        });
    }
    Ok(jobs)
}

#[test]
fn broken_lines_are_refused() {
    assert!(validation_trace("R Hit 5 1 2.0", 10).is_err());
    assert!(validation_trace("R Hit 9 2 2.0 1.0", 10).is_err());
    assert_eq!(validation_trace("R Hit 5 1 2.0 1.0\n\n", 10).unwrap().len(), 1);
}
