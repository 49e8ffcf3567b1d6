//! Measurements that clients elsewhere make: asked for on standard output and answered on standard input, a line of JSON each.

use crate::failure::Failure;
use ioscape_schema::{Measurement, Workload};
use ioscape_study::clients::{Together, Window, rule};
use serde_json::{Value, json};
use std::io::{self, BufRead, Write};

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
        let mut together = Together::new(workload.clone(), rule(min_s, cap_s));
        loop {
            let seconds = together.next_s();
            say(&json!({"ask": {"workload": workload, "seconds": seconds, "clients": clients}}))?;
            if let Some(measurement) = together.add(answer()?) {
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

fn answer() -> Result<Window, RelayError> {
    let mut line = String::new();
    match io::stdin().lock().read_line(&mut line) {
        Ok(0) | Err(_) => return Err(RelayError::Interrupted),
        Ok(_) => {}
    }
    let none = |error: serde_json::Error| {
        RelayError::Failed(format!("what the clients answered is no measurement: {error}"))
    };
    let value: Value = serde_json::from_str(&line).map_err(none)?;
    if let Some(why) = value["failed"].as_str() {
        return Err(RelayError::Failed(why.to_owned()));
    }
    if value["interrupted"].as_bool() == Some(true) {
        return Err(RelayError::Interrupted);
    }
    serde_json::from_value(value).map_err(none)
}
