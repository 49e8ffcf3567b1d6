//! How many rows a second one core analyses, and in how much memory, as the trace grows.
//!
//! `cargo bench -p ioscape-trace --bench analysis [-- [far] [units] MILLIONS...]` prints a table. Processor time is counted, not time
//! on the wall: the machine may be shared. Each row is the whole default analysis; making the rows is not counted. `far` has requests
//! far apart, `units` tells what each unit of the analysis takes of it.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![allow(clippy::disallowed_methods)]

mod made_up;

use ioscape_trace::analyze::{Analysis, AnalysisOptions};
use made_up::{BATCH, MadeUp, cpu_s, info, peak_mib};
use std::error::Error;

/// What each unit takes by itself, in nanoseconds a row.
fn by_unit(millions: u64, far: bool) {
    let mut made = MadeUp::new(far);
    let mut analysis = Analysis::new(&AnalysisOptions::default());
    analysis.name_devices(&info().devices);
    let (names, mut units) = analysis.units(1);
    let mut spent: Vec<(&str, f64)> = units.iter().map(|unit| (unit.name(), 0.0)).collect();
    let mut rows = Vec::with_capacity(BATCH);
    loop {
        made.fill(&mut rows, millions * 1_000_000);
        if rows.is_empty() {
            break;
        }
        for (unit, spent) in units.iter_mut().zip(&mut spent) {
            let before = cpu_s();
            unit.update(&rows, names);
            spent.1 += cpu_s() - before;
        }
    }
    drop(units);
    let before = cpu_s();
    analysis.settle();
    spent.push(("rest of the blocks", cpu_s() - before));
    let each = spent.iter().map(|(name, s)| format!("{name} {:.1}", s * 1e3 / millions as f64));
    println!("{millions:>6} M rows, ns/row   {}", each.collect::<Vec<_>>().join("   "));
}

fn analyse(millions: u64, far: bool) {
    let mut made = MadeUp::new(far);
    let mut analysis = Analysis::new(&AnalysisOptions::default());
    let (mut rows, mut spent) = (Vec::with_capacity(BATCH), 0.0);
    loop {
        made.fill(&mut rows, millions * 1_000_000);
        if rows.is_empty() {
            break;
        }
        let before = cpu_s();
        analysis.gather(&rows);
        spent += cpu_s() - before;
    }
    let before = cpu_s();
    analysis.settle();
    spent += cpu_s() - before;
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
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let has = |word: &str| args.iter().any(|arg| arg == word);
    let sizes = args.iter().filter(|arg| *arg != "far" && *arg != "units");
    let sizes = sizes.map(|arg| arg.parse()).collect::<Result<Vec<u64>, _>>()?;
    let measure = if has("units") { by_unit } else { analyse };
    for millions in if sizes.is_empty() { vec![1, 10, 100] } else { sizes } {
        measure(millions, has("far"));
    }
    Ok(())
}
