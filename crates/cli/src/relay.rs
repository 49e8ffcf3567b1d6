//! Measurements by clients elsewhere: requested on standard output and answered on standard input,
//! one line of JSON each.

use crate::failure::Failure;
use crate::output;
use ioscape_schema::{CampaignSample, CellPlan, Measurement, Warning, Workload};
use ioscape_study::clients::{Celled, ClientTask, Joint, Together, Worked, cells, rule, unname};
use ioscape_workload::seed_of_round;
use serde_json::{Value, from_value, json};
use std::io::{self, BufRead, Write};
use std::path::Path;

/// The numbers of windows are this far apart, so that none is also the number of a round or of
/// clients.
const WINDOW: u64 = 1 << 24;

/// The clients.
#[derive(Clone, Copy, Debug)]
pub struct Relay {
    /// How many there are.
    pub clients: u32,
    /// Memory that each client's workers may use, file cache included, in bytes; absent: no limit.
    pub memory: Option<u64>,
    /// Seed of the first client's random choices; every other client has its own.
    pub seed: u64,
    /// Seconds that bringing a set into each client's file cache may take, even if that is longer
    /// than usual.
    pub fill_s: f64,
}

impl Relay {
    /// Returns a relay for this number of clients, if one is given.
    pub fn of(clients: Option<u32>, memory: Option<u64>, seed: u64) -> Option<Self> {
        clients.map(|clients| Self { clients, memory, seed, fill_s: 0.0 })
    }

    /// Refuses a target that is no directory.
    ///
    /// # Errors
    /// Misuse, with the sentence for the user.
    pub fn check_shared(target: &Path) -> Result<(), Failure> {
        match target.is_dir() {
            true => Ok(()),
            false => Err(Failure::Misuse(format!(
                "{} is no directory: clients share one, each with a scratch file of its own",
                target.display()
            ))),
        }
    }

    /// Has the first `clients` of them measure a workload, each on its own set, until their sum is
    /// known or `cap_s` is over. The requests follow from `seed` and differ between clients and
    /// between windows.
    ///
    /// # Errors
    /// A client failed, an answer is invalid, or the user interrupted.
    pub fn measure(
        self,
        workload: &Workload,
        min_s: f64,
        cap_s: f64,
        clients: u32,
        seed: u64,
    ) -> Result<Measurement, Failure> {
        let mut together = Together::new(workload.clone(), rule(min_s, cap_s));
        let mut number = 0;
        loop {
            let seed = seed_of_round(seed, number * WINDOW);
            number += 1;
            let tasks = self.tasks(workload, together.next_s(), clients, seed);
            let window = self.ask(&tasks, from_value)?;
            if let Some(measurement) = together.add(window) {
                return Ok(measurement);
            }
        }
    }

    /// The task of each of the first `clients` for `seconds`.
    fn tasks(self, workload: &Workload, seconds: f64, clients: u32, seed: u64) -> Vec<Value> {
        let task = |rank: u32| {
            let seed = seed.wrapping_add(u64::from(rank));
            json!({"workload": workload, "seconds": seconds, "seed": seed, "fill_s": self.fill_s})
        };
        (0..clients).map(task).collect()
    }

    /// Gives one task to each of the first clients, which start together, and waits for what they
    /// did. Their machines have no names if the name of this one is to be left out.
    fn ask<T>(
        self,
        tasks: &[Value],
        decode: fn(Value) -> serde_json::Result<Joint<T>>,
    ) -> Result<Joint<T>, Failure> {
        say(&json!({"ask": {"tasks": tasks, "memory": self.memory, "seed": self.seed}}))?;
        let mut found = decode(answer()?).map_err(|error| no_measurement(&error))?;
        if output::is_anonymous() {
            unname(found.each.iter_mut().map(|one| &mut one.host));
        }
        Ok(found)
    }

    /// Has the clients work together, each on its own task.
    pub fn work(self, tasks: &[ClientTask]) -> Result<Joint<Worked>, Failure> {
        let tasks = tasks.iter().map(|task| json!({"vxbench": task}));
        self.ask(&Vec::from_iter(tasks), from_value)
    }

    /// Has all clients run one cell of a campaign; returns the warnings about it as well.
    pub fn cell(self, plan: &CellPlan) -> Result<(CampaignSample, Vec<Warning>), Failure> {
        let tasks = cells(plan, self.clients).into_iter().map(|task| json!({"cell": task}));
        let found: Joint<Celled> = self.ask(&Vec::from_iter(tasks), from_value)?;
        Ok(found.sample())
    }
}

/// Why a client failed, as partial results report it; without the name of its machine if names are
/// to be left out.
fn told(why: &str, host: Option<&str>) -> String {
    match host.filter(|_| output::is_anonymous()) {
        Some(host) => why.replacen(&format!(" on {host}"), "", 1),
        None => why.to_owned(),
    }
}

/// Writes one line for the process that leads the clients.
///
/// # Errors
/// Nobody reads it.
pub fn say(line: &Value) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|_| interrupted())
}

fn answer() -> Result<Value, Failure> {
    let mut line = String::new();
    match io::stdin().lock().read_line(&mut line) {
        Ok(0) | Err(_) => return Err(interrupted()),
        Ok(_) => {}
    }
    let value: Value = serde_json::from_str(&line).map_err(|error| no_measurement(&error))?;
    if let Some(why) = value["refused"].as_str() {
        return Err(Failure::Misuse(why.to_owned()));
    }
    if let Some(why) = value["failed"].as_str() {
        return Err(Failure::Failed(told(why, value["host"].as_str())));
    }
    if value["interrupted"].as_bool() == Some(true) {
        return Err(interrupted());
    }
    Ok(value)
}

fn interrupted() -> Failure {
    Failure::Interrupted("interrupted".to_owned())
}

fn no_measurement(error: &serde_json::Error) -> Failure {
    Failure::Failed(format!("what the clients answered is no measurement: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_is_told_its_seed_and_how_long_its_set_may_take_to_come_in() {
        let relay = Relay { fill_s: 12.5, ..Relay::of(Some(3), None, 1).expect("clients") };
        let tasks = relay.tasks(&Workload::default(), 2.0, 2, 77);
        let seeds: Vec<Option<u64>> = tasks.iter().map(|task| task["seed"].as_u64()).collect();
        assert_eq!(seeds, [Some(77), Some(78)]);
        assert!(tasks.iter().all(|task| task["fill_s"] == 12.5), "{tasks:?}");
    }
}
