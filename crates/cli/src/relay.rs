//! Measurements that clients elsewhere make: asked for on standard output and answered on standard input, a line of JSON each.

use crate::failure::Failure;
use ioscape_schema::tally::StopRule;
use ioscape_schema::{Measurement, Workload};
use ioscape_study::clients::{ClientRun, Together, Window};
use serde_json::{Value, json};
use std::io::{self, BufRead, Write};

/// Half the interval of the sum that is narrow enough, over the throughput.
const CONFIDENCE: f64 = 0.03;
/// Shortest measured part that clients agree on, in seconds.
const LEAST_S: f64 = 0.5;

/// Why clients did not measure.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// One of them failed, or whoever leads them.
    #[error("{0}")]
    Failed(String),
    /// The user interrupted.
    #[error("interrupted")]
    Interrupted,
}

impl From<RelayError> for Failure {
    fn from(error: RelayError) -> Self {
        match error {
            RelayError::Failed(text) => Self::Failed(text),
            RelayError::Interrupted => Self::Interrupted("interrupted".to_owned()),
        }
    }
}

/// The clients.
#[derive(Clone, Copy, Debug)]
pub struct Relay {
    /// How many there are.
    pub clients: u32,
}

impl Relay {
    /// Has the first `clients` of them measure a workload, each on a set of its own, until their sum is known or `cap_s` is over.
    ///
    /// # Errors
    /// A client failed, an answer that is none, or the user interrupted.
    pub fn measure(
        self,
        workload: &Workload,
        min_s: f64,
        cap_s: f64,
        clients: u32,
    ) -> Result<Measurement, RelayError> {
        let (min_s, cap_s) = (min_s.max(LEAST_S), cap_s.max(LEAST_S));
        let rule = StopRule { min_s, cap_s, confidence: CONFIDENCE };
        let mut together = Together::new(workload.clone(), rule);
        loop {
            let seconds = together.next_s();
            say(&json!({"ask": {"workload": workload, "seconds": seconds, "clients": clients}}))?;
            if let Some(measurement) = together.add(window(&answer()?)?) {
                return Ok(measurement);
            }
        }
    }
}

/// Writes one line for whoever leads the clients.
///
/// # Errors
/// Nobody reads it.
pub fn say(line: &Value) -> Result<(), RelayError> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|_| RelayError::Interrupted)
}

fn answer() -> Result<Value, RelayError> {
    let mut line = String::new();
    match io::stdin().lock().read_line(&mut line) {
        Ok(0) | Err(_) => return Err(RelayError::Interrupted),
        Ok(_) => {}
    }
    let value: Value = serde_json::from_str(&line).map_err(|e| none(&e.to_string()))?;
    if let Some(why) = value["failed"].as_str() {
        return Err(RelayError::Failed(why.to_owned()));
    }
    if value["interrupted"].as_bool() == Some(true) {
        return Err(RelayError::Interrupted);
    }
    Ok(value)
}

fn none(why: &str) -> RelayError {
    RelayError::Failed(format!("what the clients answered is no measurement: {why}"))
}

fn window(answer: &Value) -> Result<Window, RelayError> {
    let clients = answer["clients"].as_array().ok_or_else(|| none("no clients"))?;
    Ok(Window {
        runs: clients.iter().map(run).collect::<Result<_, _>>()?,
        coordination_s: answer["coordination_s"].as_f64().unwrap_or(0.0),
        clock_error_ns: answer["clock_error_ns"].as_u64().unwrap_or(0),
    })
}

fn run(client: &Value) -> Result<ClientRun, RelayError> {
    let measurement = serde_json::from_value(client["measurement"].clone());
    let rates = client["rates"].as_array().ok_or_else(|| none("no rates"))?;
    Ok(ClientRun {
        rank: client["rank"].as_u64().and_then(|rank| u32::try_from(rank).ok()).unwrap_or(0),
        host: client["host"].as_str().unwrap_or_default().to_owned(),
        measurement: measurement.map_err(|e| none(&e.to_string()))?,
        rates: rates.iter().filter_map(Value::as_f64).collect(),
        began_unix_ns: client["began_unix_ns"].as_i64().unwrap_or(0),
    })
}
