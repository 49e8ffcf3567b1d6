//! Which of many made-up systems a test tries: all of them in the full run, as before a release,
//! and otherwise a different part each day.

use std::env;
use std::ops::Range;
use std::time::SystemTime;

/// Whether the full run is asked for.
pub fn is_full() -> bool {
    env::var("IOSCAPE_CI").is_ok_and(|what| what == "full")
}

/// Days since 1970; `IOSCAPE_DAY=20000` repeats the tests of that day.
pub fn day() -> u64 {
    let chosen = env::var("IOSCAPE_DAY").ok().map(|day| day.parse().expect("a number of days"));
    let since = || SystemTime::UNIX_EPOCH.elapsed().expect("a clock after 1970");
    chosen.unwrap_or_else(|| since().as_secs() / 86_400)
}

/// All seeds before a release, and otherwise today's part of them, one of `parts`.
pub fn seeds(all: Range<u64>, parts: u64) -> Range<u64> {
    if is_full() { all } else { part(all, parts) }
}

/// Today's part of the seeds, one of `parts` equal parts.
pub fn part(all: Range<u64>, parts: u64) -> Range<u64> {
    let seeds = (all.end - all.start) / parts;
    let from = all.start + day() % parts * seeds;
    from..from + seeds
}
