//! `ioscape trace characterize`: the workloads of five parameters that are nearest to a trace.

use crate::args::CharacterizeTraceArgs;
use crate::failure::Failure;
use crate::output;
use crate::traces::{self, Rows};
use ioscape_schema::Workload;
use ioscape_schema::trace_summary::{TraceCharacterization, TraceTraits};
use ioscape_trace::characterize::Characterizer;
use std::fmt::Write as _;

/// Runs the command.
///
/// # Errors
/// A trace that cannot be read, a choice that holds nothing, and output that cannot be written.
pub fn main(args: &CharacterizeTraceArgs) -> Result<(), Failure> {
    let trace = &args.trace;
    output::check_places(trace.out.files().chain(args.jobs.as_deref()))?;
    let mut document = output::document(0);
    let mut rows = Rows::open(&trace.traces, &trace.rows)?;
    let mut seen = Characterizer::new(trace.block, args.window);
    let mut batch = Vec::new();
    while rows.next(&mut batch)? {
        seen.update(&batch);
    }
    rows.done();
    let found = seen.finish(&traces::name(&trace.traces), rows.info());
    if found.overall.requests == 0 {
        rows.check()?;
        return Err(Failure::Misuse("no request of the trace moves data".to_owned()));
    }
    if let Some(path) = &args.jobs {
        output::write_file(path, &jobs(&found))?;
    }
    document.interrupted = rows.interrupted();
    document.outcome = Some(found.into());
    output::pour(&document, &trace.out)?;
    if rows.interrupted() {
        return Err(Failure::Interrupted("interrupted: what was read is described".to_owned()));
    }
    Ok(())
}

/// A job file of the workloads: the whole first, then disks, processes and windows.
fn jobs(found: &TraceCharacterization) -> String {
    let mut out = format!(
        "# The workloads of five parameters nearest to {}.\n",
        output::printable(&found.name)
    );
    let rest = found.disks.iter().chain(&found.processes).chain(&found.windows);
    for traits in [&found.overall].into_iter().chain(rest) {
        job(&mut out, traits);
    }
    out
}

fn job(out: &mut String, traits: &TraceTraits) {
    let Workload { unique_bytes, size_mean, read_frac, seq_frac, process_num, .. } =
        traits.workload;
    // A JSON string is a TOML string as well.
    let name = serde_json::Value::from(output::printable(&traits.name));
    let (distribution, access) = (traits.workload.size_distribution, traits.workload.access);
    let _ = write!(
        out,
        "\n[[job]] # goodness {:.2}\nname = {name}\nunique_bytes = {unique_bytes}\nsize_mean = {size_mean}\n\
         size_dist = \"{distribution}\"\nread_frac = {read_frac}\nseq_frac = {seq_frac}\nprocesses = {process_num}\n\
         access = \"{access}\"\n",
        traits.goodness
    );
    if traits.workload.think_time_ns > 0 {
        let _ = writeln!(out, "think_time = \"{}ns\"", traits.workload.think_time_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_workload::parse_jobs;

    #[test]
    fn the_job_file_is_read_back() {
        let workload = Workload { think_time_ns: 1500, seq_frac: 0.25, ..Workload::default() };
        let overall = TraceTraits { name: "a \"b\"\n".into(), workload, ..TraceTraits::default() };
        let found = TraceCharacterization { overall, ..TraceCharacterization::default() };
        let jobs = parse_jobs(&jobs(&found)).unwrap();
        assert_eq!(jobs[0].workload, found.overall.workload);
        assert_eq!(jobs[0].name, "a \"b\"\u{fffd}");
    }
}
