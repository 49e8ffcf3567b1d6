//! `ioscape vxbench --diagnose`: do concurrent writers to one file of this file system wait for one another?

use super::job::watch;
use crate::command::single_writer;
use crate::failure::Failure;
use crate::output;
use crate::outputs;
use ioscape_arguments::VxbenchArgs;
use ioscape_machine::interrupt;
use ioscape_machine::output::Outputs;
use ioscape_machine::terminal::Progress;
use ioscape_schema::{Vxbench, Warning, WarningKind};
use ioscape_study::writers::WriterEffort;
use std::path::Path;

/// Runs the experiment in `folder`, and writes and prints what it found.
///
/// # Errors
/// The folder cannot be written, or a run failed or was interrupted.
pub fn main(args: &VxbenchArgs, folder: &Path, outputs: &mut Outputs) -> Result<(), Failure> {
    let mut document = output::document(1);
    let interrupt = interrupt::flag();
    let progress = Progress::of_jobs(0, 1, "single writer");
    let watch = watch(&interrupt, &progress);
    let told = Some(&mut document);
    let diagnosis = single_writer::diagnose(folder, WriterEffort::FULL, &watch, told)?;
    progress.done();
    if let Some(why) = diagnosis.no_direct {
        document.warn(Warning::new(WarningKind::Unsupported, why));
    }
    let single_writer = diagnosis.found;
    let vxbench = Vxbench { show: args.show(), single_writer, ..Vxbench::default() };
    document.outcome = Some(vxbench.into());
    outputs::finish(outputs, &document, args.out.json)
}
