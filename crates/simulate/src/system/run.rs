//! A workload on a simulated system: processes in virtual time, each with one request at a time.

use super::host::{Access, BLOCK, Computed, Host};
use ioscape_schema::tally::{STEADY_TOLERANCE, Slices, is_steady};
use ioscape_schema::{Io, Op, Request, RowTally, StopRule, Tally};

/// How long a run lasts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Course {
    /// Least virtual time of the warm-up.
    pub warm_min_ns: u64,
    /// Most virtual time of the warm-up, even if the rate is not steady by then.
    pub warm_cap_ns: u64,
    /// When the measured part may stop, in virtual time.
    pub rule: StopRule,
    /// Period of the system's own activity, such as flushes.
    pub period_ns: Option<u64>,
    /// Fewest requests of the measured part.
    pub requests_least: usize,
    /// Fewest blocks of the warm-up, whatever time they take.
    pub warm_blocks_least: u64,
    /// Most blocks of the warm-up, once it had its least, and of the measured part: the number of
    /// blocks determines the cost of a simulation, and a fast memory moves millions per second.
    pub blocks_most: u64,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The measured part.
    pub tally: Tally,
    /// The processor time of the requests in the measured part.
    pub computed: Computed,
    /// Length of the warm-up in virtual time.
    pub warm_up_ns: u64,
    /// Whether the rate was steady when the warm-up ended.
    pub steady: bool,
}

/// Processes in virtual time.
struct Processes<'h, 'd, N> {
    host: &'h mut Host<'d>,
    access: Access,
    think_ns: u64,
    next: N,
    /// When each process issues its next request.
    times: Vec<u64>,
}

impl<N: FnMut(usize) -> Request> Processes<'_, '_, N> {
    /// The process that issues the next request (among equals, the lowest number), and the time.
    fn first(&self) -> (usize, u64) {
        let times = self.times.iter().copied().enumerate();
        times.min_by_key(|&(_, at)| at).unwrap_or_default()
    }

    /// Carries out the next request. Afterwards all completions before [`first`](Self::first) are
    /// known.
    fn step(&mut self) -> Io {
        let (process, now) = self.first();
        let request = (self.next)(process);
        let block = (request.offset / BLOCK) as u32;
        let count = request.len.div_ceil(BLOCK as u32);
        let write = request.op == Op::Write;
        let completed_ns = self.host.request(now, block, count, write, self.access);
        self.times[process] = completed_ns + self.think_ns;
        let process = process as u32;
        Io { request, process, queued_ns: now, issued_ns: now, completed_ns, ..Io::default() }
    }

    /// Runs until the rate is steady or the warm-up reaches its limit, but not before its least
    /// blocks; returns whether it was steady.
    fn warm_up(&mut self, course: &Course) -> bool {
        let (mut slices, mut look_ns) = (Slices::new(0), course.warm_min_ns);
        let steady = |slices: &Slices, now| is_steady(&slices.rates(now), STEADY_TOLERANCE);
        let mut blocks = 0;
        loop {
            let (_, now) = self.first();
            let may_end = blocks >= course.warm_blocks_least;
            if may_end && (now >= course.warm_cap_ns || blocks >= course.blocks_most) {
                return steady(&slices, now);
            }
            if may_end && now >= look_ns {
                if steady(&slices, now) {
                    return true;
                }
                look_ns = now + now / 8;
            }
            let io = self.step();
            slices.add(io.completed_ns, u64::from(io.request.len));
            blocks += cost(&io);
        }
    }

    fn measure(&mut self, course: &Course) -> Tally {
        let (_, begun_ns) = self.first();
        let mut tally = RowTally::new(course.rule, begun_ns, self.think_ns, course.period_ns);
        let (mut count, mut blocks) = (0, 0);
        loop {
            let io = self.step();
            tally.add(&io);
            (count, blocks) = (count + 1, blocks + cost(&io));
            let (_, now) = self.first();
            if count >= course.requests_least
                && let Some(stop) = tally.look(now)
            {
                return tally.finish(now, stop);
            }
            if count >= course.requests_least && blocks >= course.blocks_most {
                let stop = tally.verdict(now);
                return tally.finish(now, stop);
            }
        }
    }
}

/// The number of blocks that a request touches, at least one.
fn cost(io: &Io) -> u64 {
    u64::from(io.request.len).div_ceil(BLOCK).max(1)
}

/// Runs processes against a host. `next` gives the next request of a process. The process with the
/// earliest time goes first; among equals, the one with the lowest number.
pub fn run(
    host: &mut Host<'_>,
    processes: u32,
    next: impl FnMut(usize) -> Request,
    think_ns: u64,
    access: Access,
    course: &Course,
) -> Ran {
    let times = vec![0u64; processes.max(1) as usize];
    let mut processes = Processes { host, access, think_ns, next, times };
    let steady = processes.warm_up(course);
    let (_, warm_up_ns) = processes.first();
    let before = processes.host.computed();
    let tally = processes.measure(course);
    let computed = processes.host.computed().since(before);
    Ran { tally, computed, warm_up_ns, steady }
}
