//! Several tasks that perform the same operation concurrently: they start together, and the last
//! one to finish ends the batch.
//!
//! Between batches they all sleep, so that the fixed computation finds every processor idle but its
//! own.

use super::case::{Op, Timing, advised};
use super::pace::pace_ns;
use super::process::UNTOLD;
use super::waiting::{Meter, Waiting};
use ioscape_machine::affinity::pin;
use ioscape_machine::clock::monotonic_ns;
use ioscape_machine::crew::{Crew, DONE};
use ioscape_machine::limits::raise_open_files;
use ioscape_machine::shared::Shared;
use ioscape_machine::thread::builder;
use ioscape_schema::OsTasks;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Requests to a member.
const BATCH: u8 = 1;
const PACE: u8 = 2;

/// Answers of a member: done, failed, or impossible here; a message follows the last two.
const FINE: u8 = 1;
const FAILED: u8 = 2;
const ABSENT: u8 = 3;

/// Words of a member on the board.
const BEGAN: usize = 0;
const ENDED: usize = 1;
const WAITED: usize = 2;
const PACED: usize = 3;

/// Common words: operations of a batch, arrivals at the start summed over all batches, batches so
/// far, and whether all is over.
const COUNT: usize = 0;
const CAME: usize = 1;
const ROUND: usize = 2;
const OVER: usize = 3;

/// Words per report on the board: a cache line.
const WORDS: usize = 8;

/// Spins while waiting for the others before yielding the processor to them.
const SPINS: u32 = 2000;

/// How many members' processors are tested after one batch; with more members, they take turns.
const PACED_AT_ONCE: usize = 16;

/// The plan of a team.
#[derive(Clone, Debug)]
pub(crate) struct TeamPlan {
    /// Processes, or threads of this process.
    pub(crate) kind: OsTasks,
    /// The number of tasks.
    pub(crate) count: u32,
    /// A processor for each task; empty if the scheduler is to place them.
    pub(crate) cpus: Vec<usize>,
    /// Processors of a slower kind than the first in `cpus`, some of which may be in `cpus`.
    pub(crate) slower: Vec<usize>,
    /// How a member detects that others used its processor.
    pub(crate) waiting: Waiting,
}

/// The tasks, alive until this is dropped.
pub(crate) struct Team {
    board: Arc<Shared>,
    lines: Vec<UnixStream>,
    threads: Vec<std::thread::JoinHandle<()>>,
    /// Killed when dropped.
    _processes: Vec<Crew>,
    pinned: bool,
    next_paced: usize,
    kinds: Kinds,
}

/// Times of the fixed computation on processors of different kinds. A slower kind is at full speed
/// when it is as fast as at its own best, since it never reaches the first processor's speed.
#[derive(Debug)]
struct Kinds {
    /// The least on the first processor, in nanoseconds.
    first_ns: u64,
    /// The least of each task on a processor of a slower kind.
    slower_ns: BTreeMap<usize, u64>,
}

impl Kinds {
    fn of(plan: &TeamPlan) -> Self {
        let tasks = plan.cpus.iter().take(plan.count as usize).enumerate();
        let slower = tasks.filter(|(_, cpu)| plan.slower.contains(cpu));
        let slower_ns = slower.map(|(task, _)| (task, u64::MAX)).collect();
        Self { first_ns: u64::MAX, slower_ns }
    }

    /// Tests the first processor, if there is another kind to compare with it.
    fn try_first(&mut self) {
        if !self.slower_ns.is_empty() {
            self.first_ns = self.first_ns.min(pace_ns());
        }
    }

    /// Converts the `ns` of `task` to the nanoseconds of a first processor that is slower than its
    /// best by the same factor.
    fn as_on_first(&mut self, task: usize, ns: u64) -> u64 {
        let Some(least) = self.slower_ns.get_mut(&task) else { return ns };
        *least = ns.min(*least);
        (self.first_ns as f64 * ns as f64 / (*least).max(1) as f64) as u64
    }
}

impl Team {
    /// Starts the tasks; `make` prepares the operation in each task, given the task's number.
    ///
    /// # Errors
    /// A task could not be created, or its operation could not be prepared.
    pub(crate) fn start(
        plan: &TeamPlan,
        make: impl Fn(u32) -> io::Result<Op> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        // This process holds its end of every line, and all files of its threads.
        raise_open_files();
        let make = Arc::new(make);
        let board = Arc::new(Shared::new(plan.count as usize + 1, WORDS)?);
        let (lines, threads, pinned) = (Vec::new(), Vec::new(), !plan.cpus.is_empty());
        let (_processes, kinds) = (Vec::new(), Kinds::of(plan));
        let mut team = Self { board, lines, threads, _processes, pinned, next_paced: 0, kinds };
        for number in 0..plan.count {
            // Created just before its task, so that no other task holds the member's end, and the
            // task's death is noticed.
            let (ours, theirs) = UnixStream::pair()?;
            team.lines.push(ours);
            let member = Member {
                number,
                line: theirs,
                board: Arc::clone(&team.board),
                cpu: plan.cpus.get(number as usize).copied(),
                waiting: plan.waiting,
            };
            match plan.kind {
                OsTasks::Processes => {
                    team._processes.push(Crew::fork(1, |_| member.serve(&*make))?);
                }
                OsTasks::Threads => {
                    let make = Arc::clone(&make);
                    let body = move || {
                        member.serve(&*make);
                    };
                    team.threads.push(builder()?.spawn(body)?);
                }
            }
        }
        team.lines.iter().try_for_each(answer)?;
        Ok(team)
    }

    fn common(&self) -> &[AtomicU64] {
        self.board.report(self.lines.len())
    }

    /// Lets every task perform `count` operations, and returns how long that took.
    ///
    /// # Errors
    /// A task failed or ended.
    pub(crate) fn run(&mut self, count: u64) -> io::Result<Timing> {
        let common = self.common();
        common[COUNT].store(count, Ordering::Relaxed);
        common[ROUND].fetch_add(1, Ordering::Release);
        // The first task shares its processor with this process, so it is called last: it must not
        // preempt the calls to the others.
        for mut line in self.lines.iter().rev() {
            line.write_all(&[BATCH])?;
        }
        self.lines.iter().try_for_each(answer)?;
        let pace_ns = if self.pinned { self.pace()? } else { 0 };
        let (mut began, mut ended, mut waited) = (u64::MAX, 0, 0);
        for at in 0..self.lines.len() {
            let of = |word: usize| self.board.report(at)[word].load(Ordering::Acquire);
            began = began.min(of(BEGAN));
            ended = ended.max(of(ENDED));
        }
        for at in 0..self.lines.len() {
            let of = |word: usize| self.board.report(at)[word].load(Ordering::Acquire);
            // A task that could not start with the others waited as well.
            waited = waited.max(of(WAITED).saturating_add(of(BEGAN) - began));
        }
        let waited_ns = (waited != UNTOLD).then_some(waited);
        Ok(Timing { passed_ns: ended.saturating_sub(began).max(1), waited_ns, pace_ns })
    }

    /// Returns the longest time of the fixed computation on the processors of the tasks, tested in
    /// turn; the harness tests the first one.
    fn pace(&mut self) -> io::Result<u64> {
        let others = self.lines.len() - 1;
        let mut longest = 0;
        self.kinds.try_first();
        for _ in 0..others.min(PACED_AT_ONCE) {
            let at = 1 + self.next_paced % others;
            self.next_paced += 1;
            (&self.lines[at]).write_all(&[PACE])?;
            answer(&self.lines[at])?;
            let paced = self.board.report(at)[PACED].load(Ordering::Acquire);
            longest = longest.max(self.kinds.as_on_first(at, paced));
        }
        Ok(longest)
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.common()[OVER].store(1, Ordering::Release);
        self.lines.clear();
        for thread in self.threads.drain(..) {
            // A thread that panicked has ended too.
            let _ = thread.join();
        }
    }
}

/// Waits for a task's answer.
fn answer(mut line: &UnixStream) -> io::Result<()> {
    let mut byte = [0];
    line.read_exact(&mut byte).map_err(|_| io::Error::other("one of the tasks ended"))?;
    let kind = match byte[0] {
        FINE => return Ok(()),
        ABSENT => io::ErrorKind::Unsupported,
        _ => io::ErrorKind::Other,
    };
    let mut why = String::new();
    line.read_to_string(&mut why)?;
    Err(io::Error::new(kind, why))
}

/// One task, from its own side.
struct Member {
    number: u32,
    line: UnixStream,
    board: Arc<Shared>,
    cpu: Option<usize>,
    waiting: Waiting,
}

impl Member {
    /// Serves requests until the line closes; returns the exit code of a process.
    fn serve(&self, make: &dyn Fn(u32) -> io::Result<Op>) -> i32 {
        let Err(error) = self.work(make).map_err(advised) else { return DONE };
        let kind = if error.kind() == io::ErrorKind::Unsupported { ABSENT } else { FAILED };
        // If nobody listens any more, nobody needs the message.
        let _ = (&self.line).write_all(&[&[kind], error.to_string().as_bytes()].concat());
        DONE
    }

    fn work(&self, make: &dyn Fn(u32) -> io::Result<Op>) -> io::Result<()> {
        if let Some(cpu) = self.cpu {
            pin(cpu)?;
        }
        let mut op = make(self.number)?;
        let meter = Meter::of_thread(self.waiting)?;
        let (mut line, mut order) = (&self.line, [0]);
        line.write_all(&[FINE])?;
        while line.read(&mut order)? == 1 {
            match order[0] {
                PACE => self.own()[PACED].store(pace_ns(), Ordering::Release),
                _ => self.batch(&mut op, &meter)?,
            }
            line.write_all(&[FINE])?;
        }
        Ok(())
    }

    fn own(&self) -> &[AtomicU64] {
        self.board.report(self.number as usize)
    }

    /// Performs one batch.
    fn batch(&self, op: &mut Op, meter: &Meter) -> io::Result<()> {
        let count = self.board.report(self.board.streams() - 1)[COUNT].load(Ordering::Acquire);
        self.start_together();
        let (began, before) = (monotonic_ns(), meter.read());
        op(count)?;
        let after = meter.read();
        let ended = monotonic_ns();
        let waited = meter.waited(before, after, ended.saturating_sub(began));
        let words = [(BEGAN, began), (ENDED, ended), (WAITED, waited.unwrap_or(UNTOLD))];
        words.into_iter().for_each(|(at, word)| self.own()[at].store(word, Ordering::Release));
        Ok(())
    }

    /// Waits, without sleeping, until all have arrived.
    fn start_together(&self) {
        let members = self.board.streams() - 1;
        let common = self.board.report(members);
        let wanted = common[ROUND].load(Ordering::Acquire) * members as u64;
        common[CAME].fetch_add(1, Ordering::AcqRel);
        let mut spins = 0;
        while common[CAME].load(Ordering::Acquire) < wanted
            && common[OVER].load(Ordering::Relaxed) == 0
        {
            spins += 1;
            if spins > SPINS {
                std::thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Case, Scene, not_here};
    use crate::process::{Ended, ran};
    use rustix::process::{Resource, Rlimit, setrlimit};

    fn plan(kind: OsTasks, count: u32) -> TeamPlan {
        let (cpus, slower) = (Vec::new(), Vec::new());
        TeamPlan { kind, count, cpus, slower, waiting: Waiting::Busy }
    }

    #[test]
    fn a_processor_of_a_slower_kind_is_held_against_its_own_best() {
        let cpus = vec![7, 0, 5];
        let mut kinds =
            Kinds::of(&TeamPlan { cpus, slower: vec![0, 1], ..plan(OsTasks::Threads, 3) });
        kinds.first_ns = 10;
        let told = [16, 16, 24, 16].map(|ns| kinds.as_on_first(1, ns));
        assert_eq!(told, [10, 10, 15, 10], "half as slow again where others use it");
        assert_eq!(kinds.as_on_first(2, 16), 16, "of the first one's kind");
    }

    #[test]
    fn every_task_does_its_operations() {
        for kind in [OsTasks::Processes, OsTasks::Threads] {
            let done = Arc::new(Shared::new(3, 1).unwrap());
            let seen = Arc::clone(&done);
            let mut team = Team::start(&plan(kind, 3), move |number| {
                let done = Arc::clone(&done);
                Ok(Box::new(move |count| {
                    done.report(number as usize)[0].fetch_add(count, Ordering::Relaxed);
                    Ok(())
                }))
            })
            .unwrap();
            for count in [5, 7] {
                let timing = team.run(count).unwrap();
                let waited = timing.waited_ns.unwrap();
                assert!(waited <= timing.passed_ns, "{waited} of {}", timing.passed_ns);
            }
            let counts: Vec<u64> =
                (0..3).map(|at| seen.report(at)[0].load(Ordering::Relaxed)).collect();
            assert_eq!(counts, [12; 3], "{kind:?}");
        }
    }

    #[test]
    fn what_one_task_cannot_do_is_told() {
        for kind in [OsTasks::Processes, OsTasks::Threads] {
            let refused = Team::start(&plan(kind, 2), |number| match number {
                0 => Ok(Box::new(|_| Ok(()))),
                _ => Err(not_here("not for the second")),
            });
            let error = refused.err().unwrap();
            assert_eq!(
                (error.kind(), error.to_string().as_str()),
                (io::ErrorKind::Unsupported, "not for the second")
            );
            let mut team = Team::start(&plan(kind, 2), |number| {
                Ok(Box::new(move |_| match number {
                    0 => Ok(()),
                    _ => Err(io::Error::other("broke")),
                }))
            })
            .unwrap();
            assert_eq!(team.run(1).unwrap_err().to_string(), "broke");
        }
    }

    #[test]
    fn too_few_open_files_are_no_kernel_without_counts() {
        // Three standard descriptors; for each of two tasks, the ends of a line and of a pipe; and
        // the count.
        for most in 6..13 {
            let case = Case::new("x", "", "", move |_| {
                let few = Rlimit { current: Some(most), maximum: Some(most) };
                setrlimit(Resource::Nofile, few)?;
                let plan = TeamPlan { waiting: Waiting::Queued, ..plan(OsTasks::Threads, 2) };
                let mut team = Team::start(&plan, |_| {
                    let pipe = rustix::pipe::pipe()?;
                    Ok(Box::new(move |_| {
                        let _open = &pipe;
                        Ok(())
                    }))
                })?;
                Ok(Box::new(move |count| team.run(count).map(|_| ())))
            });
            let ended = ran(case, &Scene::default(), 1);
            let Ended::Refused(why) = ended else { panic!("{most}: {ended:?}") };
            assert!(why.contains(&format!("more than {most} open files")), "{why}");
        }
    }

    #[test]
    fn a_task_that_dies_is_noticed() {
        let mut team = Team::start(&plan(OsTasks::Processes, 2), |number| {
            Ok(Box::new(move |_| if number == 1 { panic!("on purpose") } else { Ok(()) }))
        })
        .unwrap();
        assert!(team.run(1).unwrap_err().to_string().contains("ended"));
    }
}
