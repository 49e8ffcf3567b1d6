//! `ioscape vxbench --clients`: deals the files out to several clients, which start together.

use super::job::open;
use crate::failure::Failure;
use crate::output;
use crate::outputs;
use crate::relay::Relay;
use ioscape_arguments::VxbenchArgs;
use ioscape_machine::environment;
use ioscape_schema::Vxbench;
use ioscape_study::clients::dealt;
use ioscape_workload::vxbench::parse;
use std::path::{Path, PathBuf};

/// Runs the command for `clients` clients.
///
/// # Errors
/// Misuse before anything is written; a client that failed.
pub fn main(args: &VxbenchArgs, clients: u32) -> Result<(), Failure> {
    let shared = args.shared.as_deref().unwrap_or(Path::new("."));
    Relay::check_shared(shared)?;
    let job = parse(&args.words()).map_err(|error| Failure::Misuse(error.to_string()))?;
    let tasks = dealt(&job, shared, &args.files, clients, args.destroy_data);
    let tasks = tasks.map_err(Failure::Misuse)?;
    let files: Vec<PathBuf> = tasks.iter().flat_map(|task| &task.files).cloned().collect();
    let mut outputs = outputs::names_of(&args.out).reads("the file", &files).open()?;
    let mut document = output::document(job.rand_seed);
    // Problems with any client's part are found before a client begins.
    let (_, opened) = open(&job, &files, args.destroy_data)?;
    if let Some(found) = environment::capture_on_all(opened.places()) {
        document.environment = found;
    }
    drop(opened);
    let relay = Relay { clients, memory: None, seed: job.rand_seed, fill_s: 0.0 };
    let done = relay.work(&tasks)?;
    let run = done.run(&job);
    document.warnings.extend(run.warnings.iter().cloned());
    let vxbench = Vxbench { show: args.show(), runs: vec![run], ..Vxbench::default() };
    document.outcome = Some(vxbench.into());
    outputs::finish(&mut outputs, &document, args.out.json)
}
