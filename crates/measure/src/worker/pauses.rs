//! How long a process thinks before each request in the phases of an application.

use ioscape_schema::{Engine, Op, Request, Workload};

/// One phase.
struct Step {
    /// Bytes that one process moves in the phase.
    bytes: u64,
    /// The pause before a request of the same kind as the previous one, and before one of the other
    /// kind.
    think_ns: [u64; 2],
}

/// The pauses of one stream.
pub(crate) struct Pauses {
    steps: Vec<Step>,
    at: usize,
    left: u64,
    last: Op,
}

impl Pauses {
    /// The pauses of a workload; without phases, there are none.
    pub(crate) fn new(workload: &Workload) -> Self {
        let step = |phase: &ioscape_schema::Phase| Step {
            bytes: phase.bytes_of_each(workload.process_num),
            think_ns: [phase.think_time_ns, phase.change_think_time_ns],
        };
        let steps: Vec<Step> = workload.phases.iter().map(step).collect();
        let left = steps.first().map_or(0, |step| step.bytes);
        Self { steps, at: 0, left, last: Op::Read }
    }

    /// Whether a workload thinks before each request: its engine issues one at a time, and it has
    /// phases.
    pub(crate) fn are_of(workload: &Workload) -> bool {
        !workload.phases.is_empty() && workload.engine != Engine::IoUring
    }

    /// The pause before `request`, in nanoseconds.
    #[inline]
    pub(crate) fn before(&mut self, request: &Request) -> u64 {
        let Some(step) = self.steps.get(self.at) else { return 0 };
        let pause_ns = step.think_ns[usize::from(request.op != self.last)];
        self.last = request.op;
        self.left = self.left.saturating_sub(u64::from(request.len));
        if self.left == 0 {
            self.at = (self.at + 1) % self.steps.len();
            self.left = self.steps[self.at].bytes;
        }
        pause_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Phase;

    #[test]
    fn each_phase_has_its_own_pauses_and_longer_ones_where_the_kind_changes() {
        let phase = |bytes, think_time_ns| Phase {
            bytes,
            think_time_ns,
            change_think_time_ns: 10 * think_time_ns,
            ..Phase::default()
        };
        let phases = vec![phase(8192, 1), phase(4096, 2)];
        let mut pauses = Pauses::new(&Workload { phases, ..Workload::default() });
        let mut before = |op| pauses.before(&Request { op, offset: 0, len: 4096 });
        let (read, write) = (Op::Read, Op::Write);
        assert_eq!([read, write, write, write, read].map(&mut before), [1, 10, 2, 1, 10]);
        assert_eq!(Pauses::new(&Workload::default()).before(&Request::default()), 0);
    }
}
