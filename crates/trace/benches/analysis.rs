//! How many rows a second one core analyses, and in how much memory, as the trace grows.
//!
//! `cargo bench -p ioscape-trace --bench analysis [-- MILLIONS...]` prints a table. Processor time is counted, not time on the
//! wall: the machine may be shared. Each row is the whole default analysis; making the rows is not counted.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![allow(clippy::disallowed_methods)]

mod made_up;

use ioscape_trace::analyze::{Analysis, AnalysisOptions};
use made_up::{BATCH, MadeUp, cpu_s, info, peak_mib};
use std::error::Error;

fn analyse(millions: u64) {
    let mut made = MadeUp::new();
    let mut analysis = Analysis::new(&AnalysisOptions::default());
    let (mut rows, mut spent) = (Vec::with_capacity(BATCH), 0.0);
    loop {
        made.fill(&mut rows, millions * 1_000_000);
        if rows.is_empty() {
            break;
        }
        let before = cpu_s();
        analysis.update(&rows);
        spent += cpu_s() - before;
    }
    let before = cpu_s();
    let summary = analysis.finish("made up", &info());
    let (finish, rate) = (cpu_s() - before, millions as f64 / spent);
    let blocks = summary.working_set.bytes / summary.block_bytes;
    println!(
        "{millions:>6} M rows   {rate:>6.2} M rows/s   finish {finish:>6.3} s   {blocks:>9} blocks   {:>6.0} MiB at most",
        peak_mib()
    );
}

fn main() -> Result<(), Box<dyn Error>> {
    let sizes = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let sizes = sizes.map(|arg| arg.parse()).collect::<Result<Vec<u64>, _>>()?;
    for millions in if sizes.is_empty() { vec![1, 10, 100] } else { sizes } {
        analyse(millions);
    }
    Ok(())
}
