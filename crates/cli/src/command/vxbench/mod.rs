//! `ioscape vxbench`: a fixed amount of I/O on named files, with elapsed time, throughput and processor time.

pub mod clients;
mod diagnose;
mod job;

pub use job::{run_keeping, run_strictly, watch};

use crate::failure::{Failure, both, verdict};
use crate::output;
use crate::outputs;
use crate::traces::{ROWS, ROWS_MOST, keep_rows};
use ioscape_arguments::VxbenchArgs;
use ioscape_machine::interrupt;
use ioscape_machine::terminal::Progress;
use ioscape_schema::Vxbench;
use ioscape_workload::vxbench::parse;
use std::path::{Path, PathBuf};

/// Runs the command.
///
/// # Errors
/// Misuse before anything is touched; a failed or interrupted run.
pub fn main(args: &VxbenchArgs) -> Result<(), Failure> {
    let names = outputs::names_of(&args.out).reads("the file", &args.files);
    let mut outputs = names.writes(ROWS, &args.rows).open()?;
    if let Some(folder) = &args.diagnose {
        return diagnose::main(args, folder, &mut outputs);
    }
    let job = parse(&args.words()).map_err(|error| Failure::Misuse(error.to_string()))?;
    if job.append && args.rows.is_some() {
        let why =
            "--rows: where the file system appends is not known: leave out --rows, or -o append";
        return Err(Failure::Misuse(why.into()));
    }
    let mut document = output::document(job.rand_seed);
    let interrupt = interrupt::flag();
    let progress = Progress::of_jobs(0, 1, job.workload.word());
    let watch = watch(&interrupt, &progress);
    let most = if args.rows.is_some() { ROWS_MOST } else { 0 };
    let kept =
        run_keeping(&job, &args.files, args.destroy_data, &watch, (Some(&mut document), most))?;
    progress.done();
    let run = kept.run;
    let paths = args.files.iter().map(PathBuf::as_path);
    let targets: Vec<(&Path, u64)> = paths.zip(kept.sizes).collect();
    let written = keep_rows(&mut outputs, &targets, &kept.rows, run.total.ios, &[]);
    document.warnings.extend(run.warnings.iter().cloned());
    let verified = verdict(run.verify.iter());
    let vxbench = Vxbench { show: args.show(), runs: vec![run], ..Vxbench::default() };
    document.outcome = Some(vxbench.into());
    let told = outputs::finish(&mut outputs, &document, args.out.json);
    both(both(told, written), verified)
}
