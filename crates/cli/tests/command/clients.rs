//! Commands that let several clients measure: what they ask for, and what they make of the answers.

use crate::common::{ioscape, path, skipped};
use ioscape_machine::cgroup::MemoryGroup;
use ioscape_schema::{Measurement, Stop, Workload};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::Stdio;

/// The outcome of a command whose clients were played by the test.
struct Led {
    code: Option<i32>,
    /// The tasks of each window.
    asked: Vec<Vec<Value>>,
    /// Everything else that it printed.
    printed: String,
}

/// Runs a command and answers all its requests to clients.
fn lead(words: &[&str], answer: impl Fn(&[Value]) -> Value) -> Led {
    let mut command = ioscape(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    let mut answers = child.stdin.take().expect("a pipe");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let (mut asked, mut printed) = (Vec::new(), String::new());
    for line in lines {
        let line = line.expect("text");
        if !line.starts_with(r#"{"ask":"#) {
            printed += &line;
            continue;
        }
        let ask: Value = serde_json::from_str(&line).expect("JSON");
        let tasks = ask["ask"]["tasks"].as_array().expect("tasks").clone();
        writeln!(answers, "{}", answer(&tasks)).expect("it listens");
        asked.push(tasks);
    }
    let code = child.wait().expect("it ends").code();
    Led { code, asked, printed }
}

/// The answers of clients on these machines: too imprecise to stop before time is up.
fn window(tasks: &[Value], hosts: &[&str]) -> Value {
    let client = |(rank, (task, host)): (usize, (&Value, &&str))| {
        let workload = serde_json::from_value(task["workload"].clone());
        let workload: Workload = workload.expect("a workload");
        let measurement = Measurement {
            bytes: 1 << 20,
            elapsed_s: task["seconds"].as_f64().expect("seconds"),
            ..Measurement::empty(workload, Stop::TimeCap)
        };
        json!({"rank": rank, "host": host, "measurement": measurement, "rates": []})
    };
    let clients: Vec<Value> = tasks.iter().zip(hosts).enumerate().map(client).collect();
    json!({"clients": clients})
}

#[test]
fn every_client_and_window_has_requests_of_its_own_which_follow_from_the_jobs_seed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (place, jobs) = (folder.path().join("shared"), folder.path().join("jobs.toml"));
    std::fs::create_dir(&place).expect("a folder");
    let job = |name: &str, seed: &str| {
        let reads = "unique_bytes = \"1M\"\nread_frac = 1.0\nseconds = 4";
        format!("[[job]]\nname = \"{name}\"\n{reads}\n{seed}\n")
    };
    std::fs::write(&jobs, job("one", "") + &job("other", "seed = 77")).expect("a job file");
    let words = ["run", path(&place), path(&jobs), "--clients", "2", "--seed", "5", "--json"];
    let led = lead(&words, |tasks| window(tasks, &["alpha-node", "beta-node"]));
    assert_eq!(led.code, Some(0), "{}", led.printed);
    let tasks: Vec<&Value> = led.asked.iter().flatten().collect();
    let seeds: Vec<u64> = tasks.iter().map(|one| one["seed"].as_u64().expect("a seed")).collect();
    // Two windows of each job.
    assert_eq!(seeds.len(), 8, "{seeds:?}");
    assert_eq!((&seeds[..2], &seeds[4..6]), (&[5, 6][..], &[77, 78][..]));
    assert_eq!(seeds.iter().collect::<BTreeSet<_>>().len(), 8, "{seeds:?}");
    assert!(tasks.iter().all(|one| one["fill_s"] == 0.0), "{tasks:?}");
}

#[test]
fn an_anonymous_result_of_clients_has_no_name_of_their_machines() {
    let folder = tempfile::tempdir().expect("a folder");
    let hosts = ["alpha-node", "beta-node", "alpha-node"];
    let job = ["run", path(folder.path()), "--unique-bytes", "1M", "--seconds", "1s", "--json"];
    let run_of = |more: &[&str]| {
        let words = [&job[..], &["--clients", "3"], more].concat();
        let led = lead(&words, |tasks| window(tasks, &hosts));
        assert_eq!(led.code, Some(0), "{}", led.printed);
        led.printed
    };
    assert!(run_of(&[]).contains("beta-node"));
    let anonymous = run_of(&["--anonymous"]);
    let is_named = hosts.iter().any(|host| anonymous.contains(*host));
    assert!(!is_named, "{anonymous}");
    let document: Value = serde_json::from_str(&anonymous).expect("JSON");
    let each = document["measurements"][0]["clients"]["each"].as_array().expect("clients");
    let told: Vec<&Value> = each.iter().map(|client| &client["host"]).collect();
    assert_eq!(told, ["host-0", "host-1", "host-0"]);
}

#[test]
fn an_anonymous_result_does_not_name_the_machine_of_a_client_that_failed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (place, saved) = (folder.path().join("shared"), folder.path().join("r.ioscape.json"));
    std::fs::create_dir(&place).expect("a folder");
    let words = ["evaluate", path(&place), "--budget", "1m", "--clients", "2", "--anonymous"];
    let words = [&words[..], &["--json", "-o", path(&saved)]].concat();
    let failed = json!({"failed": "client 1 on beta-node is gone", "host": "beta-node"});
    let led = lead(&words, |_| failed.clone());
    assert_eq!(led.code, Some(1), "{}", led.printed);
    assert!(led.printed.contains("client 1 is gone"), "{}", led.printed);
    assert!(!led.printed.contains("beta-node"), "{}", led.printed);
}

/// Once, a client on a machine with more memory than the leader's measured with more than the
/// result said.
#[test]
#[expect(unsafe_code, reason = "the command is started in a control group")]
fn clients_are_told_of_the_memory_that_is_planned_with() {
    let Ok(group) = MemoryGroup::create(512 << 20) else {
        return skipped("no control group can be made");
    };
    let limit = group.limit_bytes();
    let folder = tempfile::tempdir().expect("a folder");
    let (place, saved) = (folder.path().join("shared"), folder.path().join("r.ioscape.json"));
    std::fs::create_dir(&place).expect("a folder");
    let words = ["evaluate", path(&place), "--budget", "1m", "--max-unique-bytes", "16M"];
    let more = ["--memory", "1T", "--clients", "2", "-o", path(&saved)];
    let mut command = ioscape(&[&words[..], &more].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    // SAFETY: joining is a single system call, which is allowed between fork and exec.
    unsafe { command.pre_exec(move || group.join()) };
    let mut child = command.spawn().expect("it starts");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let asked = lines.map_while(Result::ok).find(|line| line.starts_with(r#"{"ask":"#));
    // Without further answers, it ends.
    child.wait().expect("it ends");
    let asked: Value = serde_json::from_str(&asked.expect("it asks")).expect("JSON");
    assert_eq!(asked["ask"]["memory"], limit);
}
