//! The cost of recording calls: a command alone, with the filter, and stopped at every call, in
//! turn.
//!
//! `cargo bench -p ioscape-observe --bench tracing`. The first command reads a cached file in 4 KiB
//! requests: nearly every call is watched, the worst case. The second looks at many files and reads
//! none: few calls are watched.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use ioscape_observe::calls::{CallOptions, record};
use ioscape_schema::FileCall;
use std::error::Error;
use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::time::Instant;

const ROUNDS: usize = 7;
const FILE_BYTES: usize = 128 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("file");
    std::fs::write(&file, vec![1; FILE_BYTES])?;
    let read = format!("dd if={} of=/dev/null bs=4k status=none", file.display());
    println!(
        "{:<10} {:>10} {:>12} {:>12} {:>16}",
        "", "alone", "filter", "every call", "added per stop"
    );
    for (name, line) in [("dd bs=4k", read.as_str()), ("du -s /usr", "du -s /usr")] {
        compare(name, line)?;
    }
    Ok(())
}

fn compare(name: &str, line: &str) -> Result<(), Box<dyn Error>> {
    let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
    let mut seconds = [const { Vec::new() }; 3];
    let mut stop_ns = Vec::new();
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        Command::new(&words[0]).args(&words[1..]).stdout(Stdio::null()).status()?;
        seconds[0].push(begin.elapsed().as_secs_f64());
        for (way, every_call) in [(1, false), (2, true)] {
            let words: Vec<OsString> = ["sh", "-c", "\"$@\" > /dev/null", "sh"]
                .iter()
                .map(OsString::from)
                .chain(words.iter().cloned())
                .collect();
            let options = CallOptions { every_call, ..CallOptions::default() };
            let recording = record(&words, &options, &mut |_: &FileCall| ())?;
            seconds[way].push(recording.elapsed_ns as f64 / 1e9);
            if !every_call {
                let cost = recording.cost;
                stop_ns.push((cost.in_call_ns + cost.between_calls_ns) as f64 / 2.0);
            }
        }
    }
    let [alone, filter, every] = seconds.map(median);
    println!(
        "{name:<10} {:>8.3} s {:>10.2} x {:>10.2} x {:>13.1} us",
        alone,
        filter / alone,
        every / alone,
        median(stop_ns) / 1e3
    );
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
