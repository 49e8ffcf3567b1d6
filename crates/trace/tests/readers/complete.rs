//! What every format has besides its reader: a seed for fuzzing, and a row in the documentation.
#![allow(clippy::disallowed_methods)]

use crate::whole;
use ioscape_trace::{Format, ReadOptions, Source};
use std::collections::BTreeSet;
use std::io::Cursor;
use std::path::Path;

/// First byte of a seed that leaves the choice of format to the content;
/// `fuzz/fuzz_targets/traces.rs` strips it.
const BY_CONTENT: u8 = 0xff;
/// Seeds that have no format.
const OF_NONE: [&str; 2] = ["ambiguous", "empty"];

fn names() -> BTreeSet<String> {
    Format::all().map(|format| format.name().to_owned()).collect()
}

#[test]
fn every_format_has_a_seed_that_is_found_by_its_content() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/traces");
    let mut seen = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("the seeds") {
        let path = entry.expect("a seed").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let seed = std::fs::read(&path).expect("its bytes");
        let (first, trace) = seed.split_first().expect("a first byte");
        assert_eq!(*first, BY_CONTENT, "{name}");
        if OF_NONE.contains(&name) {
            continue;
        }
        // Several seeds of one format differ after a dot.
        let format = name.split('.').next().unwrap_or(name);
        let read = |options: &ReadOptions| {
            let source = Source::file("seed", Cursor::new(trace.to_vec()));
            whole::read(vec![source], options).map_err(|error| error.to_string())
        };
        assert_eq!(read(&ReadOptions::default()), read(&whole::named(format)), "{name}");
        seen.insert(format.to_owned());
    }
    assert_eq!(seen, names());
}

#[test]
fn every_format_has_a_row_in_the_documents() {
    let page = include_str!("../../../../docs/trace-schema.md");
    let cells = page.lines().filter_map(|row| row.strip_prefix("| ")?.split(" |").next());
    let words = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let told: BTreeSet<String> = words.map(str::to_owned).collect();
    let untold: Vec<String> = names().difference(&told).cloned().collect();
    assert_eq!(untold, [""; 0]);
}
