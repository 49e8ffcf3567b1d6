//! `ioscape run --clients`: workloads that several clients run together on storage that they share.

use super::run::{asked, conclude, save};
use crate::failure::Failure;
use crate::machine::{self, Machine};
use crate::output;
use crate::outputs;
use crate::relay::Relay;
use ioscape_arguments::RunArgs;
use ioscape_machine::interrupt;
use ioscape_machine::output::Outputs;
use ioscape_schema::{Document, Measurement};
use ioscape_workload::jobs::Job;

/// Runs the jobs, each by so many clients.
///
/// # Errors
/// Misuse before anything is touched; failures with all finished jobs saved.
pub fn main(args: &RunArgs, clients: u32) -> Result<(), Failure> {
    let (target, job_file, jobs) = asked(args)?;
    let alone = [
        ("--rows", args.rows.is_some()),
        ("--fio-iolog", args.fio_iolog.is_some()),
        ("--verify", args.verify),
        ("--destroy-data", args.destroy_data),
    ];
    Relay::refuse(&target, &alone)?;
    let look = machine::look(&target, false)?;
    let most = jobs.iter().map(|job| job.workload.unique_bytes).max().unwrap_or(0);
    if most > look.capacity_bytes / u64::from(clients) {
        return Err(Failure::Misuse(format!(
            "{} has no room for {clients} sets of {most} bytes: at most {} bytes each, of what is free",
            target.display(),
            look.capacity_bytes / u64::from(clients)
        )));
    }
    let names = outputs::names_of(&args.out).reads("the target", [&target]);
    let mut outputs = names.reads("the job file", &job_file).open()?;
    let mut document = output::document(args.seed);
    Machine::open(&target, false, None, interrupt::flag())?.start(&mut document)?;
    let mut measurements = Vec::new();
    document.environment.memory_limit_bytes = args.memory;
    let relay = Relay { clients, memory: args.memory, seed: args.seed };
    let finished = run_all(relay, &jobs, args, &mut outputs, &document, &mut measurements);
    conclude(finished, measurements, document, args, &mut outputs)
}

/// Runs the jobs in order; the measurements hold what is finished when one fails.
fn run_all(
    relay: Relay,
    jobs: &[Job],
    args: &RunArgs,
    outputs: &mut Outputs,
    document: &Document,
    measurements: &mut Vec<Measurement>,
) -> Result<(), Failure> {
    for job in jobs {
        let cap_s = job.seconds.unwrap_or(args.seconds);
        let found = relay.measure(&job.workload, cap_s.min(1.0), cap_s, relay.clients)?;
        measurements.push(Measurement { name: Some(job.name.clone()), ..found });
        save(outputs, document, measurements);
    }
    Ok(())
}
