//! Follows a command and everything that it starts from stop to stop, and keeps account of the
//! threads.

use super::described::Recording;
use super::description::Shared;
use super::descriptors::Descriptors;
use super::faults::{Fault, Faults, MappedUse};
use super::interruption;
use super::launch::Launched;
use super::mappings::Mappings;
use super::numbers;
use super::own_memory::OwnMemory;
use super::ptrace::{self, CallStop, Go, Stop, Stops};
use super::requests::{Caller, Held, Ledger, Pending, parted};
use super::rights;
use super::schedule::{Schedule, Turns};
use super::threads::{LiveThreads, TracedProcess};
use ioscape_machine::clock::monotonic_ns;
use ioscape_machine::error::Error;
use ioscape_machine::limits::open_files;
use ioscape_machine::text;
use ioscape_schema::{Ending, TracingCost};
use std::collections::HashMap;
use std::path::Path;

/// A traced thread.
struct Task {
    descriptors: Shared<Descriptors>,
    pending: Option<Pending>,
    /// Its number, once it has moved bytes.
    number: Option<u32>,
    schedule: Schedule,
    /// Its stops for the tracer, which the kernel's schedule does not count.
    beside: Turns,
    /// When its last request ended, and its schedule up to then.
    last: Option<(u64, Turns)>,
}

impl Task {
    fn new(descriptors: Shared<Descriptors>, schedule: Schedule) -> Self {
        Self {
            descriptors,
            pending: None,
            number: None,
            schedule,
            beside: Turns::default(),
            last: None,
        }
    }

    /// Its number among the threads that moved bytes, assigned now if it has none.
    fn number(&mut self, tid: i32, all: &mut Vec<TracedProcess>) -> u32 {
        *self.number.get_or_insert_with(|| {
            all.push(introduce(tid));
            (all.len() - 1) as u32
        })
    }

    fn so_far(&self) -> Turns {
        let Turns { late_ns, stops, .. } = self.beside;
        Turns { late_ns, stops, ..self.schedule.so_far() }
    }
}

/// Everything known while the command runs.
pub(super) struct Tracer<'a> {
    launched: Launched,
    ledger: Ledger<'a>,
    living: &'a LiveThreads,
    /// The recording so far.
    recording: Recording,
    /// Whether the program itself is running, rather than the preparations for it.
    begun: bool,
    begun_ns: u64,
    tasks: HashMap<i32, Task>,
    /// Numbers of threads that have ended.
    gone: HashMap<i32, u32>,
    faults: Option<Faults>,
    /// The number of faults at unknown places, by process.
    unplaced: HashMap<i32, u64>,
    mapped: Mappings,
    /// When it began, on the monotonic clock, which the kernel's events use too.
    begin_ns: u64,
    trials: Trials,
    own_schedule: Schedule,
    /// The most schedules that are kept open: other information about threads needs open files too.
    schedules_most: usize,
    own_waited_ns: u64,
    own_memory: OwnMemory,
}

/// A command that was followed to its end.
pub(super) struct Followed {
    pub(super) launched: Launched,
    /// Whether the program itself ran.
    pub(super) has_begun: bool,
    /// What is known of it, except what the recorder was asked for.
    pub(super) recording: Recording,
}

/// Times of calls that do nothing.
#[derive(Default)]
struct Trials {
    issued_ns: Option<u64>,
    completed_ns: Option<u64>,
    in_call_ns: Vec<u64>,
    between_ns: Vec<u64>,
}

impl Trials {
    fn enter(&mut self, now_ns: u64) {
        if let Some(last) = self.completed_ns.take() {
            self.between_ns.push(now_ns.saturating_sub(last));
        }
        self.issued_ns = Some(now_ns);
    }

    fn leave(&mut self, now_ns: u64) {
        if let Some(begin) = self.issued_ns.take() {
            self.in_call_ns.push(now_ns.saturating_sub(begin));
            self.completed_ns = Some(now_ns);
        }
    }

    fn cost(&mut self) -> TracingCost {
        TracingCost {
            in_call_ns: median(&mut self.in_call_ns),
            between_calls_ns: median(&mut self.between_ns),
        }
    }
}

fn median(values: &mut [u64]) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

impl<'a> Tracer<'a> {
    pub(super) fn new(launched: Launched, ledger: Ledger<'a>, living: &'a LiveThreads) -> Self {
        let first = Task::new(Shared::default(), Schedule::of(launched.pid, true));
        Self {
            gone: HashMap::new(),
            faults: Faults::of(launched.pid),
            unplaced: HashMap::new(),
            mapped: Mappings::default(),
            begin_ns: monotonic_ns(),
            tasks: HashMap::from([(launched.pid, first)]),
            launched,
            ledger,
            living,
            recording: Recording::default(),
            begun: false,
            begun_ns: 0,
            trials: Trials::default(),
            own_schedule: Schedule::own(),
            schedules_most: open_files() / 2,
            own_waited_ns: 0,
            own_memory: OwnMemory::default(),
        }
    }

    /// Follows the command until its last process is gone.
    ///
    /// # Errors
    /// The kernel refuses to say what a process does.
    pub(super) fn follow(mut self) -> Result<Followed, Error> {
        let mut stops = Stops::default();
        loop {
            let next = stops.next();
            let next = next.map_err(|e| Error::io("trace", Path::new("the command"), e))?;
            let Some((tid, stop)) = next else { break };
            self.take_faults();
            self.handle(tid, stop)?;
        }
        let lost = self.faults.as_mut().and_then(Faults::end);
        self.take_faults();
        let elapsed_ns = self.since_begun(self.now_ns());
        let (is_watched, lost) = (lost.is_some(), lost.unwrap_or(0));
        let bytes_later = self.mapped.used_later;
        let Ledger { files, elsewhere, unseen_calls, .. } = self.ledger;
        let recording = Recording {
            unread_descriptors: files.unread,
            untold_copied_bytes: files.untold_copied,
            files: files.into_list(),
            elapsed_ns,
            elsewhere,
            unseen_calls,
            mapped: MappedUse { is_watched, lost, bytes_later, ..self.recording.mapped },
            memory_bytes: self.own_memory.most_bytes(),
            ..self.recording
        };
        Ok(Followed { launched: self.launched, has_begun: self.begun, recording })
    }

    fn now_ns(&self) -> u64 {
        monotonic_ns().saturating_sub(self.begin_ns)
    }

    fn handle(&mut self, tid: i32, stop: Stop) -> Result<(), Error> {
        let seen_ns = self.now_ns();
        self.count_stop(tid);
        match stop {
            Stop::Exited(code) => self.record_exit(tid, Ending::Exit(code)),
            Stop::Killed(signal) => self.record_exit(tid, Ending::Signal(signal)),
            Stop::Filtered | Stop::Call => self.at_call(tid, seen_ns)?,
            Stop::Suspended => ptrace::listen(tid),
            Stop::Attached => {
                self.adopt(tid, None);
                self.go(tid, 0);
            }
            Stop::Birth => {
                if let Some(child) = ptrace::message(tid) {
                    self.adopt(child, Some(tid));
                }
                self.go(tid, 0);
            }
            Stop::Exec => {
                self.exec(tid, seen_ns);
                self.go(tid, 0);
            }
            Stop::Signal(libc::SIGSTOP) if !self.begun && tid == self.launched.pid => {
                self.recording.filtered = self.launched.is_filtered();
                self.go(tid, 0);
            }
            Stop::Leaving => {
                self.own_memory.look((self.living.process(tid), tid));
                self.own_memory.look_at_all(self.living);
                self.mapped.end(tid, &self.ledger.files);
                self.go(tid, 0);
            }
            Stop::Signal(signal) => {
                if interruption::is_heard(tid, signal) {
                    self.living.asked(tid);
                }
                self.go(tid, signal);
            }
        }
        Ok(())
    }

    /// Counts a stop. A thread that stopped while we had no processor stood still because of us.
    fn count_stop(&mut self, tid: i32) {
        let own_waited_ns = self.own_schedule.so_far().waited_ns;
        if let Some(task) = self.tasks.get_mut(&tid) {
            task.beside.stops += 1;
            task.beside.late_ns += own_waited_ns.saturating_sub(self.own_waited_ns);
        }
        self.own_waited_ns = own_waited_ns;
    }

    /// Resumes a thread until its next stop of interest.
    fn go(&self, tid: i32, signal: i32) {
        let awaits_exit = self.tasks.get(&tid).is_some_and(|task| task.pending.is_some())
            || self.trials.issued_ns.is_some();
        let go = if self.recording.filtered && !awaits_exit { Go::On } else { Go::ToCall };
        ptrace::resume(tid, go, signal);
    }

    /// Registers a new thread with the descriptors of its parent: shared within a process,
    /// otherwise a copy.
    fn adopt(&mut self, tid: i32, parent: Option<i32>) {
        if self.tasks.contains_key(&tid) {
            return;
        }
        let status = text::read(format!("/proc/{tid}/status")).unwrap_or_default();
        let number = |name: &str| text::field(&status, name).and_then(|n| i32::try_from(n).ok());
        let leader = number("Tgid").filter(|&leader| leader != tid);
        let known = |tid: i32| self.tasks.get(&tid).map(|task| &task.descriptors);
        let siblings = leader.and_then(|leader| known(leader).or_else(|| known(parent?)));
        let parent = parent.or(number("PPid"));
        let descriptors = match siblings {
            Some(shared) => Shared::clone(shared),
            None => parent.and_then(known).map(parted).unwrap_or_default(),
        };
        let schedule = Schedule::of(tid, self.tasks.len() < self.schedules_most);
        self.tasks.insert(tid, Task::new(descriptors, schedule));
        self.living.add(tid, leader.unwrap_or(tid), parent);
        if leader.is_none() {
            let parent = parent.map(|parent| self.living.process(parent));
            parent.into_iter().for_each(|parent| self.mapped.fork(parent, tid));
            self.own_memory.begin(tid, parent, &status);
        }
    }

    fn record_exit(&mut self, tid: i32, ending: Ending) {
        let task = self.tasks.remove(&tid);
        self.gone.extend(task.iter().filter_map(|task| Some((tid, task.number?))));
        if let Some(Task { descriptors, .. }) = task
            && Shared::strong_count(&descriptors) == 1
        {
            let now_ns = self.since_begun(self.now_ns());
            self.ledger.end(&mut descriptors.borrow_mut().asynchronous, now_ns);
        }
        self.living.remove(tid);
        self.own_memory.forget(tid);
        self.mapped.end(tid, &self.ledger.files);
        if tid == self.launched.pid {
            self.recording.ending = Some(ending);
        }
    }

    /// Handles a thread that executed another program: the other threads of its process are gone,
    /// and its number may have changed.
    fn exec(&mut self, tid: i32, now_ns: u64) {
        if let Some(former) = ptrace::message(tid).filter(|&former| former != tid)
            && let Some(task) = self.tasks.remove(&former)
        {
            self.living.remove(former);
            self.tasks.insert(tid, task);
        }
        if !self.begun {
            self.begun = true;
            self.begun_ns = now_ns;
            self.trials.issued_ns = None;
            self.recording.cost = self.trials.cost();
        }
        self.own_memory.forget(tid);
        self.mapped.exec(tid, &self.ledger.files);
        if is_32_bit(tid) {
            self.recording.foreign.get_or_insert_with(|| command_name(tid));
        }
        if rights::is_unprivileged(tid).unwrap_or(false) {
            self.recording.unprivileged.get_or_insert_with(|| command_name(tid));
        }
        let Some(task) = self.tasks.get_mut(&tid) else { return };
        task.pending = None;
        // A process made by vfork may have been separated from its parent only now.
        task.descriptors = parted(&task.descriptors);
        task.descriptors.borrow_mut().settle(&mut self.ledger.files, tid);
        let process = task.number.and_then(|n| self.recording.processes.get_mut(n as usize));
        if let Some(process) = process {
            process.command = command_name(tid);
        }
    }

    fn at_call(&mut self, tid: i32, seen_ns: u64) -> Result<(), Error> {
        match ptrace::call(tid) {
            Ok(CallStop::Entry(number, arguments)) => self.enter(tid, number, arguments, seen_ns),
            Ok(CallStop::Exit(value)) => self.leave(tid, value, seen_ns),
            // It was killed meanwhile, and now stands at its end or at the exec of its process,
            // which is yet to be reported.
            Ok(CallStop::None) => return Ok(()),
            // It was killed meanwhile.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
            Err(error) => {
                return Err(Error::Unsupported {
                    what: "identifying traced calls".into(),
                    why: format!("PTRACE_GET_SYSCALL_INFO: {error}; it needs Linux 5.3 or newer"),
                });
            }
        }
        self.go(tid, 0);
        Ok(())
    }

    fn enter(&mut self, tid: i32, number: u64, arguments: [u64; 6], seen_ns: u64) {
        let Some(call) = numbers::call(number, arguments[1]) else { return };
        if !self.begun {
            let is_trial = number == libc::SYS_lseek as u64 && arguments[0] as i32 == -1;
            if is_trial {
                self.trials.enter(seen_ns);
            }
            return;
        }
        self.recording.calls_traced += 1;
        self.adopt(tid, None);
        let issued_ns = self.since_begun(self.now_ns());
        let Some(task) = self.tasks.get_mut(&tid) else { return };
        let caller = Caller { tid, descriptors: &task.descriptors };
        let all_mappings = self.ledger.files.mappings;
        let mut pending = self.ledger.enter(&caller, call, arguments, issued_ns);
        if let Some(pending) = &mut pending {
            pending.before = task.so_far();
            self.ledger.about_to_submit(&caller, pending);
        }
        task.pending = pending;
        if let Some(file) = self.ledger.mapped.take() {
            // It may be gone when its faults are reported.
            if self.faults.is_some() {
                task.number(tid, &mut self.recording.processes);
            }
            self.mapped.add(self.living.process(tid), file, arguments[1]);
        }
        if self.ledger.files.mappings > all_mappings {
            self.own_memory.map((self.living.process(tid), tid), arguments[1]);
        }
    }

    fn leave(&mut self, tid: i32, value: i64, seen_ns: u64) {
        if !self.begun {
            return self.trials.leave(seen_ns);
        }
        let completed_ns = self.since_begun(seen_ns);
        let Some(task) = self.tasks.get_mut(&tid) else { return };
        let Some(pending) = task.pending.take() else { return };
        if pending.parts_descriptors() && value == 0 {
            task.descriptors = parted(&task.descriptors);
        }
        if pending.is_asynchronous() {
            return self.leave_asynchronous(tid, &pending, value, completed_ns);
        }
        let caller = Caller { tid, descriptors: &task.descriptors };
        if let Some(file) = pending.deletes.filter(|_| value == 0) {
            return self.delete(file);
        }
        let moved = self.ledger.leave(&caller, &pending, value);
        if moved.iter().any(Option::is_some) {
            let after = task.so_far();
            let TracingCost { in_call_ns, between_calls_ns } = self.recording.cost;
            let (passed_ns, own) = (completed_ns - pending.issued_ns, after.since(&pending.before));
            let mut held = Held { before_ns: 0, within_ns: own.held_ns(passed_ns, in_call_ns) };
            if let Some((ended_ns, before)) = task.last.replace((completed_ns, after)) {
                let passed_ns = pending.issued_ns.saturating_sub(ended_ns);
                let own = pending.before.since(&before);
                held.before_ns = own.held_ns(passed_ns, between_calls_ns);
            }
            let process = task.number(tid, &mut self.recording.processes);
            self.ledger.post(process, &pending, (completed_ns, held), moved);
        }
    }

    /// Counts the faults on mapped files reported meanwhile.
    fn take_faults(&mut self) {
        while let Some(fault) = self.faults.as_ref().and_then(Faults::next) {
            let Some(file) = self.ledger.files.mapped(fault.file) else {
                self.recording.mapped.unmatched += 1;
                continue;
            };
            let Some(offset) = fault.offset else {
                let own = self.unplaced.entry(self.living.process(fault.thread)).or_default();
                self.recording.mapped.add_unplaced(own);
                continue;
            };
            self.recording.mapped.pages += 1;
            let process = self.process_of(&fault);
            let times = [fault.at_ns, fault.ended_ns]
                .map(|at_ns| self.since_begun(at_ns.saturating_sub(self.begin_ns)));
            self.ledger.fault((process, file), offset, times);
        }
    }

    /// The number of the thread that had a fault.
    fn process_of(&mut self, fault: &Fault) -> u32 {
        let tid = fault.thread;
        match self.tasks.get_mut(&tid) {
            Some(task) => task.number(tid, &mut self.recording.processes),
            None => *self.gone.entry(tid).or_insert_with(|| {
                self.recording.processes.push(introduce(tid));
                (self.recording.processes.len() - 1) as u32
            }),
        }
    }

    /// Handles a file that lost its last name: it is gone, unless some process has it open, and
    /// then it is kept to the end.
    fn delete(&mut self, file: u32) {
        if !self.ledger.files.is_open(file) {
            self.ledger.sink.given_up(file, 0);
        }
    }

    /// Handles the exit of a call that submits requests, or waits for their completions.
    fn leave_asynchronous(&mut self, tid: i32, pending: &Pending, value: i64, completed_ns: u64) {
        let Some(task) = self.tasks.get_mut(&tid) else { return };
        let is_submitting = task.descriptors.borrow().asynchronous.is_submitting(tid);
        let process = is_submitting.then(|| task.number(tid, &mut self.recording.processes));
        let caller = Caller { tid, descriptors: &task.descriptors };
        if let Some(process) = process {
            self.ledger.submitted(&caller, pending, value, process);
        }
        self.ledger.left(&caller, pending, value, completed_ns);
    }

    fn since_begun(&self, at_ns: u64) -> u64 {
        at_ns.saturating_sub(self.begun_ns)
    }
}

fn introduce(tid: i32) -> TracedProcess {
    let status = text::read(format!("/proc/{tid}/status")).unwrap_or_default();
    let pid = text::field(&status, "Tgid").and_then(|n| u32::try_from(n).ok());
    TracedProcess { pid: pid.unwrap_or(tid as u32), tid: tid as u32, command: command_name(tid) }
}

fn command_name(tid: i32) -> String {
    text::read(format!("/proc/{tid}/comm")).unwrap_or_default()
}

/// Whether a process runs a 32-bit program, whose calls have other numbers.
fn is_32_bit(tid: i32) -> bool {
    use std::io::Read;
    let mut head = [0; 5];
    let read =
        std::fs::File::open(format!("/proc/{tid}/exe")).and_then(|mut f| f.read_exact(&mut head));
    read.is_ok() && head == *b"\x7fELF\x01"
}
