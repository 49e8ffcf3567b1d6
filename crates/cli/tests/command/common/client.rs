//! `ioscape client`: a run whose measured part begins when the test says so.

use super::started::Started;
use ioscape_schema::{Measurement, Workload};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

/// A client that has been asked to measure.
pub struct Client {
    /// Its processes.
    pub started: Started,
    ask: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Client {
    /// Starts `command` and has it warm up `workload`, to be measured for `seconds`.
    pub fn ready(mut command: Command, workload: &Workload, seconds: f64) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut started = Started::has(command.spawn().expect("it starts"));
        let (ask, answers) = (started.0.stdin.take(), started.0.stdout.take());
        let answers = BufReader::new(answers.expect("a pipe")).lines();
        let mut client = Self { started, ask: ask.expect("a pipe"), answers };
        client.until("client");
        client.say(&json!({"workload": workload, "seconds": seconds}));
        client.until("ready");
        client
    }

    /// Agrees on the beginning of the measured part.
    pub fn begin(&mut self, at: SystemTime) {
        let since = at.duration_since(UNIX_EPOCH).expect("not before 1970");
        self.say(&json!({"begin_unix_ns": since.as_nanos() as u64}));
    }

    /// Waits for the measurement and for the client to end.
    pub fn measurement(mut self) -> Measurement {
        let answer = self.until("measurement");
        drop(self.ask);
        self.started.0.wait().expect("it ends");
        serde_json::from_value(answer).expect("a measurement")
    }

    fn say(&mut self, value: &Value) {
        writeln!(self.ask, "{value}").expect("it listens");
    }

    /// The next answer with this key.
    fn until(&mut self, key: &str) -> Value {
        loop {
            let line = self.answers.next().expect(key).expect("text");
            let mut value: Value = serde_json::from_str(&line).expect("JSON");
            if value.get(key).is_some() {
                return value[key].take();
            }
        }
    }
}
