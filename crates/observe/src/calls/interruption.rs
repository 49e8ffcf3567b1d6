//! The end of a command that its user interrupts. Each process that has not been asked to end is
//! asked once. All of them have the time that they need, unless the user interrupts again.
//!
//! Many programs take a second SIGINT as a wish to abandon their work, so processes that have
//! already received one get none from us.

use super::threads::{LiveThreads, send};
use ioscape_machine::{interrupt, terminal, text};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time after which the command gets a signal from us. The terminal sends Ctrl-C to the command
/// itself; this is for processes that did not receive it.
const PATIENCE: Duration = Duration::from_millis(300);
/// The command may have received the signal this long before we get a processor and notice ours.
const BEFORE: Duration = Duration::from_secs(5);
/// A command that takes longer than this to end is reported as being waited for.
const SILENCE: Duration = Duration::from_secs(1);
/// How often this is checked.
const LOOK: Duration = Duration::from_millis(20);
/// How many times in a row a process must ignore or block a signal to count as deaf to it. A shell
/// blocks all signals while it starts a program, which lasts longer on busy processors.
const LOOKS: u32 = 15;
/// The most processes that are named.
const NAMED: usize = 3;

/// Once `asked` is set, has all followed processes asked to end, `root` first; once `forced` is
/// set, has them killed. If that takes long, reports which processes are being waited for. Returns
/// when all is `done`.
pub(super) fn watch([asked, forced, done]: [&AtomicBool; 3], living: &LiveThreads, root: i32) {
    let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
    while !is_set(asked) {
        if is_set(done) {
            return;
        }
        std::thread::sleep(LOOK);
    }
    let since = Instant::now();
    let (mut have_heard, mut is_told) = (false, false);
    while !is_set(done) {
        std::thread::sleep(LOOK);
        let left = root_first(living, root);
        if is_set(forced) {
            left.into_iter().for_each(|pid| send(pid, libc::SIGKILL));
        } else if since.elapsed() > PATIENCE && !have_heard {
            have_heard = true;
            ask(&left, living, since);
        } else if since.elapsed() > SILENCE && !is_told && !left.is_empty() {
            is_told = true;
            terminal::tell(&waiting(&left));
        }
    }
}

/// The followed processes, `root` first.
fn root_first(living: &LiveThreads, root: i32) -> Vec<i32> {
    let mut processes: Vec<i32> = living.processes().into_iter().collect();
    processes.sort_by_key(|pid| *pid != root);
    processes
}

/// Asks those processes to end that have not been asked yet.
fn ask(processes: &[i32], living: &LiveThreads, since: Instant) {
    let since = since.checked_sub(BEFORE).unwrap_or(since);
    // A server may take SIGHUP as a request to reload its configuration.
    let wanted = if interrupt::signal() == libc::SIGINT { libc::SIGINT } else { libc::SIGTERM };
    for &pid in processes.iter().filter(|pid| !living.is_asked(**pid, since)) {
        send(pid, request(pid, wanted));
    }
}

/// Whether a signal that is about to reach a thread asks its process to end, and is not ignored
/// there.
pub(super) fn is_heard(tid: i32, signal: i32) -> bool {
    [libc::SIGINT, libc::SIGTERM].contains(&signal) && !is_deaf(tid, signal)
}

/// The signal that asks a process to end: `wanted` or, if the process is deaf to that for more than
/// a moment, the other one of SIGINT and SIGTERM.
fn request(pid: i32, wanted: i32) -> i32 {
    let is_deaf = |_| {
        std::thread::sleep(LOOK);
        is_deaf(pid, wanted)
    };
    let other = if wanted == libc::SIGINT { libc::SIGTERM } else { libc::SIGINT };
    if (0..LOOKS).all(is_deaf) { other } else { wanted }
}

/// Whether a thread ignores or blocks a signal, as servers do that wait for SIGTERM alone.
fn is_deaf(tid: i32, signal: i32) -> bool {
    let status = text::read(format!("/proc/{tid}/status")).unwrap_or_default();
    let masks = ["SigIgn", "SigBlk"].map(|name| text::field_in(&status, name, 16));
    masks.into_iter().flatten().any(|mask| mask >> (signal - 1) & 1 == 1)
}

/// The message that names the processes being waited for, and what ends the wait.
fn waiting(processes: &[i32]) -> String {
    let name = |pid: &i32| {
        let name = text::read(format!("/proc/{pid}/comm")).unwrap_or_default();
        format!("{name} (process {pid})")
    };
    let named: Vec<String> = processes.iter().take(NAMED).map(name).collect();
    let others = match processes.len().saturating_sub(NAMED) {
        0 => String::new(),
        1 => " and another".to_owned(),
        many => format!(" and {many} others"),
    };
    format!(
        "interrupted: waiting for {}{others} to end; Ctrl-C again kills what is left and keeps what was seen",
        named.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn what_a_program_ignores_does_not_ask_it_to_end() {
        let line = "trap '' INT; exec sleep 60";
        let mut child = Command::new("sh").args(["-c", line]).spawn().unwrap();
        let pid = child.id() as i32;
        while text::read(format!("/proc/{pid}/comm")).is_none_or(|name| name != "sleep") {
            std::thread::yield_now();
        }
        let heard = [libc::SIGINT, libc::SIGTERM].map(|one| is_heard(pid, one));
        let asked = [libc::SIGINT, libc::SIGTERM].map(|one| request(pid, one));
        // It may mean to reload a configuration.
        let hangs_up = is_heard(pid, libc::SIGHUP);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((heard, asked), ([false, true], [libc::SIGTERM; 2]));
        assert!(!hangs_up);
    }

    #[test]
    fn who_is_waited_for_is_named() {
        let own = std::process::id() as i32;
        let told = |count| waiting(&(own..own + count).collect::<Vec<_>>());
        assert!(told(1).contains(&format!("(process {own}) to end;")), "{}", told(1));
        assert!(told(4).contains(") and another to end;"), "{}", told(4));
        assert!(told(5).contains(") and 2 others to end;"), "{}", told(5));
    }

    #[test]
    fn the_command_itself_is_named_first() {
        let living = LiveThreads::default();
        for pid in [7, 9, 8] {
            living.add(pid, pid, None);
        }
        assert_eq!(root_first(&living, 8), [8, 7, 9]);
        assert_eq!(root_first(&living, 1), [7, 8, 9]);
    }
}
