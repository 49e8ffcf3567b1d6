//! What the terminal and the page both show of a characterized application.

use crate::text::{duration, inert, percent};
use ioscape_schema::units::{Bytes, Count, Nanos, Rate, counted};
use ioscape_schema::{
    Access, Characterization, Ending, FileTraits, Phase, ProcessTraits, Traits, Workload,
};

/// The number of rows in a table of files or processes.
const ROWS: usize = 12;

/// One line of the table of parameters.
pub struct Row {
    /// What the line is about.
    pub name: String,
    /// The cells below [`HEAD`].
    pub cells: [String; HEAD.len()],
}

/// The columns besides the name.
pub const HEAD: [&str; 10] =
    ["Requests", "Moved", "Set", "Size", "Reads", "Seq.", "Proc.", "Think", "Response", "Fit"];

fn row(name: String, traits: &Traits) -> Row {
    let cells = [
        Count(traits.requests as f64).to_string(),
        Bytes(traits.bytes as f64).to_string(),
        Bytes(traits.unique_bytes as f64).to_string(),
        Bytes(traits.size_mean as f64).to_string(),
        percent(traits.read_frac),
        percent(traits.seq_frac),
        traits.process_num.to_string(),
        Nanos(traits.think_time_ns as f64).to_string(),
        Nanos(traits.response_time_ns).to_string(),
        percent(traits.goodness),
    ];
    Row { name, cells }
}

/// The end of a long path, where names differ.
fn tail(path: &str, most: usize) -> String {
    let path = inert(path);
    let count = path.chars().count();
    if count <= most {
        return path.into_owned();
    }
    let end: String = path.chars().skip(count - (most - 3)).collect();
    format!("...{end}")
}

/// The row of the whole application.
pub fn overall(one: &Characterization) -> Row {
    row("all".to_owned(), &one.overall)
}

/// The files with the most bytes, and how many more there are.
pub fn files(one: &Characterization) -> (Vec<Row>, u64) {
    let shown = one.files.iter().filter(|file| file.traits.requests > 0);
    let rows = shown.map(|FileTraits { path, traits, .. }| row(tail(path, 40), traits));
    let rows: Vec<Row> = rows.take(ROWS).collect();
    let more = one.files.len() as u64 + one.files_left_out - rows.len() as u64;
    (rows, more)
}

/// The processes with the most bytes, and how many more there are.
pub fn processes(one: &Characterization) -> (Vec<Row>, u64) {
    let rows =
        one.processes.iter().take(ROWS).map(|ProcessTraits { tid, command, traits, .. }| {
            row(format!("{} {tid}", inert(command)), traits)
        });
    let rows: Vec<Row> = rows.collect();
    let more = one.processes.len() as u64 + one.processes_left_out - rows.len() as u64;
    (rows, more)
}

/// The findings that are not in the tables, as sentences.
pub fn sentences(one: &Characterization) -> Vec<String> {
    let Traits { bytes, active_s, .. } = one.overall;
    let mut out = vec![format!(
        "{}, after {}: {}{} moved, {} of the whole time; I/O phases of {}.",
        ended(one.ending),
        duration(one.elapsed_s * 1e9),
        if one.is_partial() { "at least " } else { "" },
        Bytes(bytes as f64),
        Rate(one.throughput_bytes_per_s),
        duration(active_s * 1e9)
    )];
    if one.overall.syncs > 0 {
        out.push(format!(
            "{} for dirty pages (fsync and the like) of {} on average, which are not counted as requests.",
            counted(one.overall.syncs, "wait"),
            Nanos(one.overall.sync_time_ns)
        ));
    }
    if !one.elsewhere.is_empty() {
        let parts = one.elsewhere.iter().map(|(what, count)| format!("{what} {count}"));
        let parts: Vec<String> = parts.collect();
        out.push(format!("Other calls, not counted: {}.", parts.join(", ")));
    }
    out.extend(phases(&one.phases));
    let tracing = one.tracing;
    out.push(format!(
        "{} calls were traced; a stop took {} in a call and {} between two when it was tried, which is not counted as response or think time, and neither are waits for a processor.",
        one.calls_traced,
        Nanos(tracing.in_call_ns as f64),
        Nanos(tracing.between_calls_ns as f64)
    ));
    out
}

/// A sentence on the phases, if there are several.
fn phases(all: &[Phase]) -> Option<String> {
    let told = |phase: &Phase| {
        let reads = percent(phase.read_frac);
        let runs = phase.read.as_ref().map(|read| read.runs).filter(|runs| *runs > 1);
        let turns = runs.map_or(String::new(), |runs| format!(" from {runs} places in turn"));
        let (moved, took) = (Bytes(phase.bytes as f64), duration(phase.elapsed_s * 1e9));
        format!("{moved} in {took}, {reads} of the requests reads{turns}")
    };
    let told: Vec<String> = all.iter().map(told).collect();
    let count = counted(all.len() as u64, "phase");
    (told.len() > 1)
        .then(|| format!("{count}, which run carries out in order: {}.", told.join("; ")))
}

fn ended(ending: Option<Ending>) -> String {
    match ending {
        Some(Ending::Exit(0)) => "It ended successfully".to_owned(),
        Some(Ending::Exit(code)) => format!("It ended with exit code {code}"),
        Some(Ending::Signal(signal)) => format!("It was killed by signal {signal}"),
        None => "It was stopped".to_owned(),
    }
}

/// A fraction to four decimals, without trailing zeros.
fn fraction(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Commands that run and predict this workload; none if it moved no data, or too little of it was
/// seen.
pub fn commands(one: &Characterization) -> Vec<String> {
    let traits = &one.overall;
    if traits.requests == 0 || one.is_partial() {
        return Vec::new();
    }
    // The five parameters cannot express phases.
    let phased = "ioscape run DIR THIS.json  # this result, with its phases".to_owned();
    let phased = (!one.phases.is_empty()).then_some(phased);
    phased.into_iter().chain(commands_of(&traits.workload())).collect()
}

/// Commands that run and predict a workload. `predict` takes the sizes that were evaluated.
pub fn commands_of(workload: &Workload) -> [String; 2] {
    let mut five = format!(
        "--unique-bytes {} --size-mean {} --read-frac {} --seq-frac {} --processes {}",
        workload.unique_bytes,
        workload.size_mean,
        fraction(workload.read_frac),
        fraction(workload.seq_frac),
        workload.process_num
    );
    if workload.think_time_ns > 0 {
        five += &format!(" --think-time {}ns", workload.think_time_ns);
    }
    let mut run = format!("ioscape run DIR {five} --size-dist {}", workload.size_distribution);
    if let Some(align) = workload.align_bytes {
        run += &format!(" --align {align}");
    }
    let access = match workload.access {
        Access::Buffered => String::new(),
        access => format!(" --{access}"),
    };
    [run + &access, format!("ioscape predict RESULT {five}{access}")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::SizeDistribution;

    #[test]
    fn a_run_has_the_sizes_that_were_found_and_a_prediction_those_that_were_evaluated() {
        let exact = Workload {
            size_mean: 5120,
            size_distribution: SizeDistribution::Fixed,
            align_bytes: Some(1024),
            access: Access::Direct,
            think_time_ns: 9,
            ..Workload::default()
        };
        let [run, predict] = commands_of(&exact);
        assert!(run.ends_with(" --size-dist fixed --align 1024 --direct"), "{run}");
        assert!(predict.contains("--size-mean 5120") && !predict.contains("--size-dist"));
        assert!(predict.ends_with("--processes 1 --think-time 9ns --direct"), "{predict}");
    }
}
