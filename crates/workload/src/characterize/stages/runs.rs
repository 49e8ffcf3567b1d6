//! The sequential runs that a process has open, and which of them a request continues.

use ioscape_schema::FileCall;
use ioscape_schema::phase::RUNS_MOST;

/// The number of runs that are remembered.
const REMEMBERED: usize = RUNS_MOST as usize;

/// How a request relates to the open runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It continues where the process's previous request of this kind ended.
    Stays,
    /// It continues another run. `depth` says how many runs ago (counting itself) that run was last
    /// used: among the runs that were left and resumed before, if it is one of these, otherwise
    /// among all remembered runs.
    Turns {
        /// Whether the run was left and resumed before.
        again: bool,
        /// The number of runs.
        depth: u32,
        /// The number of runs that it could have continued.
        open: u32,
    },
    /// It begins elsewhere.
    Jumps {
        /// The number of runs that it could have continued.
        open: u32,
    },
}

#[derive(Clone, Copy, Debug)]
struct Run {
    file: u32,
    end: u64,
    /// Whether it was continued after another run.
    resumed: bool,
}

/// The runs of one process and kind, in the order of last use.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenRuns(Vec<Run>);

impl OpenRuns {
    /// Adds the next request; returns its relation to the runs.
    pub(super) fn follow(&mut self, call: &FileCall) -> Step {
        let (file, offset) = (call.file, call.request.offset);
        let end = offset.saturating_add(u64::from(call.request.len));
        let open = self.0.len() as u32;
        let found = self.0.iter().rposition(|run| (run.file, run.end) == (file, offset));
        let Some(at) = found else {
            if self.0.len() == REMEMBERED {
                let oldest = self.0.iter().position(|run| !run.resumed).unwrap_or(0);
                self.0.remove(oldest);
            }
            self.0.push(Run { file, end, resumed: false });
            return Step::Jumps { open };
        };
        if at + 1 == self.0.len() {
            self.0[at].end = end;
            return Step::Stays;
        }
        let run = self.0.remove(at);
        let later = self.0[at..].iter().filter(|other| other.resumed || !run.resumed).count();
        self.0.push(Run { end, resumed: true, ..run });
        Step::Turns { again: run.resumed, depth: later as u32 + 1, open }
    }
}
