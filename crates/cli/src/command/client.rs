//! `ioscape client`: measures what another process requests, together with other clients. They are
//! led by `python -m ioscape.mpi`.
//!
//! Protocol: lines of JSON. On standard input, `{"workload", "seconds", "seed", "fill_s",
//! "beside"}` requests a measurement, with `beside` other clients on the same machine, and
//! `{"begin_unix_ns"}` sets the start. On standard output, `{"client"}` comes once, `{"ready"}`
//! when the workload has warmed up, then `{"measurement", "rates", "began_unix_ns"}` (for vxbench
//! `{"run", "began_unix_ns"}`, for a campaign's cell `{"sample", "warnings", "began_unix_ns"}`), or
//! `{"refused"}`, or `{"failed"}`.

use super::{campaign, vxbench};
use crate::failure::{Failure, no_thread};
use crate::machine::{Machine, RunLength};
use crate::output;
use crate::relay::{Relay, say};
use ioscape_arguments::ClientArgs;
use ioscape_machine::interrupt;
use ioscape_machine::thread::builder;
use ioscape_measure::together::Together;
use ioscape_measure::vxbench::Watch;
use ioscape_measure::vxbench::site::CampaignSite;
use ioscape_schema::{CellPlan, Workload};
use ioscape_study::clients::ClientTask;
use serde_json::{Value, json};
use std::io::{self, BufRead};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Runs the command until standard input ends.
///
/// # Errors
/// The directory cannot be used, a measurement failed, or the user interrupted.
pub fn main(args: &ClientArgs) -> Result<(), Failure> {
    Relay::check_shared(&args.directory)?;
    let flag = interrupt::flag();
    let mut machine = Machine::open(&args.directory, false, args.memory, Arc::clone(&flag))?;
    let mut document = output::document(args.seed);
    machine.start(&mut document)?;
    say(&json!({"client": {"version": document.tool.version, "commit": document.tool.commit,
        "capacity_bytes": machine.look().capacity_bytes}}))?;
    let agreement = Arc::new(Agreement::default());
    let asked = listen(&agreement, &flag).map_err(no_thread)?;
    let mut site = None;
    while let Ok(asked) = asked.recv() {
        agreement.ready.store(false, Ordering::Relaxed);
        agreement.begins.store(0, Ordering::Relaxed);
        let answer = match (asked.get("vxbench"), asked.get("cell")) {
            (Some(work), _) => do_work(work, &agreement, &flag),
            (_, Some(cell)) => do_cell(cell, (&args.directory, &mut site), &agreement, &flag),
            _ => measure(&mut machine, &asked, args.seed, &agreement),
        };
        match answer {
            Ok(done) => say(&done)?,
            // Other clients refuse it too; the leader decides whether to go on without it.
            Err(Failure::Misuse(why)) => say(&json!({"refused": why}))?,
            Err(failure) => {
                say(&json!({"failed": failure.to_string()}))?;
                return Err(failure);
            }
        }
    }
    Ok(())
}

/// The start that the clients agreed on, and what this client did.
#[derive(Default)]
struct Agreement {
    ready: AtomicBool,
    /// Nanoseconds since 1970; 0 until there is an agreement.
    begins: AtomicU64,
    began: AtomicU64,
    rates: Mutex<Vec<f64>>,
}

impl Together for Agreement {
    fn begins(&self) -> Option<SystemTime> {
        if !self.ready.swap(true, Ordering::Relaxed) {
            // If nobody reads it, standard input ends too, and with it the run.
            let _ = say(&json!({"ready": true}));
        }
        let begins = self.begins.load(Ordering::Relaxed);
        (begins > 0).then(|| UNIX_EPOCH + Duration::from_nanos(begins))
    }

    fn began(&self, at: SystemTime) {
        let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
        self.began.store(u64::try_from(since.as_nanos()).unwrap_or(0), Ordering::Relaxed);
    }

    fn slices(&self, rates: &[f64]) {
        *self.rates.lock().unwrap_or_else(PoisonError::into_inner) = rates.to_vec();
    }
}

/// Passes on requests. An agreement goes to the run that waits for it; the end of the input ends
/// that run.
fn listen(agreement: &Arc<Agreement>, flag: &Arc<AtomicBool>) -> io::Result<Receiver<Value>> {
    let (sender, receiver) = channel();
    let (agreement, flag) = (Arc::clone(agreement), Arc::clone(flag));
    builder()?.spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            let value: Value = serde_json::from_str(&line).unwrap_or_default();
            match value["begin_unix_ns"].as_u64() {
                Some(begins) => agreement.begins.store(begins, Ordering::Relaxed),
                None if sender.send(value).is_err() => break,
                None => {}
            }
        }
        flag.store(true, Ordering::Relaxed);
    })?;
    Ok(receiver)
}

fn measure(
    machine: &mut Machine,
    asked: &Value,
    seed: u64,
    agreement: &Arc<Agreement>,
) -> Result<Value, Failure> {
    let workload: Result<Workload, _> = serde_json::from_value(asked["workload"].clone());
    let workload = workload.map_err(|e| Failure::Misuse(format!("this is no workload: {e}")))?;
    let seconds = asked["seconds"].as_f64().unwrap_or(1.0);
    let seed = asked["seed"].as_u64().unwrap_or(seed);
    machine.fill_for(asked["fill_s"].as_f64().unwrap_or(0.0));
    let beside = asked["beside"].as_u64().unwrap_or(0);
    machine.run_together(Arc::clone(agreement) as Arc<dyn Together>, beside);
    let length = RunLength::new(seconds, seconds);
    let measurement = machine.measure(&workload, length, seed, None)?;
    let rates = agreement.rates.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(json!({"measurement": measurement, "rates": rates,
        "began_unix_ns": agreement.began.load(Ordering::Relaxed)}))
}

fn do_work(
    work: &Value,
    agreement: &Arc<Agreement>,
    flag: &Arc<AtomicBool>,
) -> Result<Value, Failure> {
    let work = serde_json::from_value(work.clone());
    let ClientTask { job, files, destroy_data } =
        work.map_err(|e| Failure::Misuse(format!("this is no work for vxbench: {e}")))?;
    let watch = watch(agreement, flag);
    let kept = vxbench::run_keeping(&job, &files, destroy_data, &watch, (None, 0))?;
    Ok(json!({"run": kept.run, "began_unix_ns": agreement.began.load(Ordering::Relaxed)}))
}

/// Runs one cell of a campaign in a scratch folder, which is kept for the following cells.
fn do_cell(
    cell: &Value,
    (directory, site): (&Path, &mut Option<CampaignSite>),
    agreement: &Arc<Agreement>,
    flag: &Arc<AtomicBool>,
) -> Result<Value, Failure> {
    let cell: Result<CellPlan, _> = serde_json::from_value(cell.clone());
    let cell = cell.map_err(|e| Failure::Misuse(format!("this is no cell of a campaign: {e}")))?;
    let mut here = match site.take() {
        Some(site) => site,
        None => CampaignSite::open(directory)?,
    };
    let measured = campaign::measure(&mut here, &cell, &watch(agreement, flag), false);
    *site = Some(here);
    let (sample, warnings) = measured?;
    Ok(json!({"sample": sample, "warnings": warnings,
        "began_unix_ns": agreement.began.load(Ordering::Relaxed)}))
}

fn watch(agreement: &Arc<Agreement>, flag: &Arc<AtomicBool>) -> Watch {
    let together = Some(Arc::clone(agreement) as Arc<dyn Together>);
    Watch { interrupt: Arc::clone(flag), on_progress: None, together }
}
