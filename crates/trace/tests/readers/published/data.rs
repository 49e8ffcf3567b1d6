//! Locates the real traces; without them every test says prominently that it was skipped.

#![allow(clippy::print_stderr, clippy::disallowed_methods)]

use crate::whole;
use ioscape_schema::{Io, TraceInfo};
use ioscape_trace::{ReadOptions, Source};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The path of `name` among the real traces, if they are available.
pub fn path(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("IOSCAPE_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!(
        "SKIPPED: {} is not here; set IOSCAPE_DATA to the folder of real traces",
        path.display()
    );
    None
}

/// All rows of the traces `names`, and what holds for them as a whole.
pub fn rows(names: &[&str]) -> Option<(Vec<Io>, TraceInfo)> {
    let paths: Vec<PathBuf> = names.iter().map(|name| path(name)).collect::<Option<_>>()?;
    let source = |path: &PathBuf| {
        Source::file(path.display().to_string(), File::open(path).expect("the trace opens"))
    };
    let sources = paths.iter().map(source).collect();
    let (rows, info) = whole::read(sources, &ReadOptions::default()).expect("the trace is whole");
    assert!(rows.is_sorted_by_key(|io| io.queued_ns), "rows come in the order of arrival");
    Some((rows, info))
}

/// Number of lines of the text `name` that fulfil `wanted`.
pub fn count_lines(name: &str, wanted: impl Fn(&str) -> bool) -> Option<u64> {
    let text = std::fs::read_to_string(path(name)?).expect("the text opens");
    Some(text.lines().filter(|line| wanted(line)).count() as u64)
}
