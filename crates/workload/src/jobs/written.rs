//! Writes the workloads that a trace was characterized as to a job file.

use ioscape_schema::text::{JOBS_MARK, inert};
use ioscape_schema::{TraceCharacterization, TraceTraits, Workload};
use std::fmt::Write as _;

/// Returns a job file of the workloads: the whole first, then disks, processes and windows.
pub fn job_file(found: &TraceCharacterization) -> String {
    let name = inert(&found.name);
    let mut out = format!("{JOBS_MARK}{name}.\n");
    let rest = found.disks.iter().chain(&found.processes).chain(&found.windows);
    for traits in [&found.overall].into_iter().chain(rest) {
        job(&mut out, traits);
    }
    out
}

fn job(out: &mut String, traits: &TraceTraits) {
    let Workload { unique_bytes, size_mean, read_frac, seq_frac, process_num, .. } =
        traits.workload;
    let name = toml::Value::from(&*inert(&traits.name));
    let (distribution, access) = (traits.workload.size_distribution, traits.workload.access);
    // Writing into a string cannot fail.
    let _ = write!(
        out,
        "\n[[job]] # goodness {:.2}\nname = {name}\nunique_bytes = {unique_bytes}\nsize_mean = {size_mean}\n\
         size_dist = \"{distribution}\"\nread_frac = {read_frac}\nseq_frac = {seq_frac}\nprocesses = {process_num}\n\
         access = \"{access}\"\n",
        traits.goodness
    );
    if let Some(align) = traits.workload.align_bytes {
        let _ = writeln!(out, "align = {align}");
    }
    if traits.workload.think_time_ns > 0 {
        let _ = writeln!(out, "think_time = \"{}ns\"", traits.workload.think_time_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::parse_jobs;
    use ioscape_schema::SizeDistribution;

    #[test]
    fn the_job_file_is_read_back() {
        let thinking = Workload { think_time_ns: 1500, seq_frac: 0.25, ..Workload::default() };
        let exact = Workload {
            size_mean: 5120,
            size_distribution: SizeDistribution::Fixed,
            align_bytes: Some(1024),
            ..Workload::default()
        };
        for workload in [thinking, exact] {
            let name = "a \"b\"\n".to_owned();
            let overall = TraceTraits { name, workload, ..TraceTraits::default() };
            let found = TraceCharacterization { overall, ..TraceCharacterization::default() };
            let jobs = parse_jobs(&job_file(&found)).unwrap();
            assert_eq!(jobs[0].workload, found.overall.workload);
            assert_eq!(jobs[0].name, "a \"b\"\\n");
        }
    }
}
