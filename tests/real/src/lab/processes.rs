//! Processes that the laboratory starts, and how to tell them from later ones with the same ID.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// When a process was started, in clock ticks since boot; `None` if there is none with this ID.
pub fn started(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may contain anything; the 20th of the words after it is the start time.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

fn numbered(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// Kills a single process.
pub fn kill(pid: u32) {
    if let Some(pid) = numbered(pid) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Kills the group of a process that was started at this time, and gives it time to end.
pub fn kill_group(pid: u32, since: u64) {
    let Some(number) = numbered(pid) else { return };
    if started(pid) != Some(since) {
        return;
    }
    let _ = kill_process_group(number, Signal::KILL);
    for _ in 0..50 {
        if !is_running(pid) {
            return;
        }
        sleep(Duration::from_millis(10));
    }
}

/// Kills what is left of the group of a process that has just ended. While any member is left, no
/// other group gets its ID.
pub fn kill_left(pid: u32) {
    if let Some(group) = numbered(pid) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Whether there is such a process that has not ended.
pub fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// The output of a program; empty if it cannot be run.
pub fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    output.map_or_else(|_| String::new(), |o| String::from_utf8_lossy(&o.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;

    #[test]
    fn only_the_process_that_was_meant_is_killed() {
        let mut child = Command::new("sleep").arg("60").process_group(0).spawn().unwrap();
        let since = started(child.id()).unwrap();
        kill_group(child.id(), since + 1);
        assert!(child.try_wait().unwrap().is_none(), "it was started at another time");
        kill_group(child.id(), since);
        assert!(!child.wait().unwrap().success());
        assert_eq!(started(child.id()), None);
    }
}
