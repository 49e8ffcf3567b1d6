//! `ioscape evaluate --clients`: the self-scaling evaluation of storage that several clients share and load together.

use super::evaluate::{announce, limits, names, resolved, settings_of};
use crate::failure::Failure;
use crate::machine::{self, Machine};
use crate::output;
use crate::relay::{Relay, RelayError};
use crate::save::{Keeper, Work};
use ioscape_arguments::EvaluateArgs;
use ioscape_machine::interrupt;
use ioscape_machine::terminal::Progress;
use ioscape_scaling::{EvaluationOptions, Probe, ProbeRequest};
use ioscape_schema::{Document, Evaluation, Measurement, Point, Region};
use ioscape_study::frame::{EvaluationFrame, KnownWriters};
use std::time::Instant;

/// Share of the budget for exploring with all clients; the rest is for curves over their number.
const EXPLORING: f64 = 0.8;
/// Longest measured part of a point of such a curve, in seconds.
const POINT_S: f64 = 2.0;

/// Runs the command for so many clients.
///
/// # Errors
/// Misuse before anything is touched; failures with everything measured saved and named.
pub fn main(args: &EvaluateArgs, clients: u32) -> Result<(), Failure> {
    if super::evaluate_sim::named(args).is_some() {
        super::evaluate_sim::refuse_real(args)?;
    }
    let begun = Instant::now();
    let accesses = args.accesses();
    let alone = [
        ("--resume", args.resume.is_some()),
        ("--destroy-data", args.destroy_data),
        ("--access with more than one", accesses.len() > 1),
    ];
    Relay::refuse(&args.target, &alone)?;
    let outputs = names(args).open()?;
    let mut look = machine::look(&args.target, args.destroy_data)?;
    look.capacity_bytes /= u64::from(clients);
    let most = look.capacity_bytes;
    if args.max_unique_bytes.is_some_and(|asked| asked > most) {
        return Err(Failure::Misuse(format!(
            "{} has no room for {clients} sets of --max-unique-bytes: at most {most} bytes each",
            args.target.display()
        )));
    }
    let limits = limits(args, &look, accesses[0], None);
    let mut settings = settings_of(args, &look, accesses[0], &limits);
    let mut document = output::document(args.seed);
    Machine::open(&args.target, false, None, interrupt::flag())?.start(&mut document)?;
    document.environment.memory_limit_bytes = args.memory;
    settings.budget_s *= if clients > 1 { EXPLORING } else { 1.0 };
    let options = EvaluationOptions::of_settings(&settings, args.seed);
    options.validate().map_err(|e| Failure::Misuse(e.to_string()))?;
    announce(&ioscape_scaling::plan(&options), &settings);
    let writers = KnownWriters {
        left_out: Some("several clients each write to a file of their own".to_owned()),
        ..KnownWriters::default()
    };
    let target = resolved(&args.target);
    let frame = EvaluationFrame { target, settings, writers, premise: None, limits };
    let keeper = Keeper::new(Work::Evaluation, outputs, &args.out, &document)?;
    let progress = Progress::of_evaluation(args.budget);
    let relay = Relay { clients, memory: args.memory, seed: args.seed };
    let mut probe = Clients { relay, frame: &frame, document: &document, keeper, progress };
    let (mut evaluation, mut finished) = match ioscape_scaling::explore(&options, &mut probe) {
        Ok(evaluation) => (frame.around(evaluation), Ok(())),
        Err(stopped) => (frame.around(*stopped.partial), Err(stopped.error)),
    };
    if finished.is_ok() && clients > 1 {
        let left_s = args.budget - begun.elapsed().as_secs_f64();
        finished = client_curves(&mut evaluation, relay, left_s);
    }
    probe.progress.done();
    let keeper = probe.keeper;
    document.outcome = Some(evaluation.into());
    keeper.end(document, finished.map_err(Failure::from))
}

/// The clients as a probe.
struct Clients<'a> {
    relay: Relay,
    frame: &'a EvaluationFrame,
    document: &'a Document,
    keeper: Keeper,
    progress: Progress,
}

impl Probe for Clients<'_> {
    type Error = RelayError;

    fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, RelayError> {
        let limits = &request.limits;
        self.relay.measure(&request.workload, limits.min_s, limits.cap_s, self.relay.clients)
    }

    fn progress(&mut self, evaluation: &Evaluation, progress: &ioscape_scaling::Progress) {
        self.progress.advance(progress.spent_s, progress.left_s, progress.phase);
        self.keeper.save(self.document, self.frame.around(evaluation.clone()));
    }
}

/// The throughput of all clients against their number, at each region's focal vector, as far as the time suffices.
fn client_curves(evaluation: &mut Evaluation, relay: Relay, left_s: f64) -> Result<(), RelayError> {
    let begun = Instant::now();
    let Evaluation { regions, shortened, .. } = evaluation;
    for region in regions {
        for clients in numbers(relay.clients) {
            if begun.elapsed().as_secs_f64() > left_s {
                let why = "the budget was over before all numbers of clients were measured";
                shortened.insert("number of clients".to_owned(), why.to_owned());
                return Ok(());
            }
            let point = point(region, relay, clients)?;
            region.curves.client_num.push(point);
        }
    }
    Ok(())
}

fn point(region: &Region, relay: Relay, clients: u32) -> Result<Point, RelayError> {
    let measurement = relay.measure(&region.focal, POINT_S / 4.0, POINT_S, clients)?;
    let rounds = vec![measurement.throughput_bytes_per_s];
    Ok(Point { value: f64::from(clients), measurement, rounds, spread: None })
}

/// 1, 2, 4, ... and all of them.
fn numbers(clients: u32) -> Vec<u32> {
    let doubled = (0..31).map(|power| 1u32 << power).take_while(|number| *number < clients);
    doubled.chain([clients]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_clients_double_up_to_all() {
        assert_eq!(numbers(1), [1]);
        assert_eq!(numbers(4), [1, 2, 4]);
        assert_eq!(numbers(6), [1, 2, 4, 6]);
    }
}
