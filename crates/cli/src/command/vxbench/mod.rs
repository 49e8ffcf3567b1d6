//! `ioscape vxbench`: a fixed amount of I/O on named files, with elapsed time, throughput and processor time.

mod diagnose;
mod job;

pub use job::{run, watch};

use crate::failure::{Failure, both, verdict};
use crate::output;
use crate::outputs;
use ioscape_arguments::VxbenchArgs;
use ioscape_machine::interrupt;
use ioscape_machine::terminal::Progress;
use ioscape_schema::Vxbench;
use ioscape_workload::vxbench::parse;

/// Runs the command.
///
/// # Errors
/// Misuse before anything is touched; a failed or interrupted run.
pub fn main(args: &VxbenchArgs) -> Result<(), Failure> {
    let mut outputs = outputs::names_of(&args.out).reads("the file", &args.files).open()?;
    if let Some(folder) = &args.diagnose {
        return diagnose::main(args, folder, &mut outputs);
    }
    let job = parse(&args.words()).map_err(|error| Failure::Misuse(error.to_string()))?;
    let mut document = output::document(job.rand_seed);
    let interrupt = interrupt::flag();
    let progress = Progress::of_jobs(0, 1, job.workload.name());
    let watch = watch(&interrupt, &progress);
    let run = run(&job, &args.files, args.destroy_data, &watch, Some(&mut document))?;
    progress.done();
    document.warnings.extend(run.warnings.iter().cloned());
    let verified = verdict(run.verify.iter());
    let vxbench = Vxbench { show: args.show(), runs: vec![run], ..Vxbench::default() };
    document.outcome = Some(vxbench.into());
    both(outputs::finish(&mut outputs, &document, args.out.json), verified)
}
