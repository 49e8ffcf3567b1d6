//! The experiment as a state machine: it says which run comes next and takes the throughput of
//! each.

use super::throughputs::{Arm, Throughputs};
use super::verdict::verdict;
use super::{WriterEffort, Writing};
use ioscape_schema::{VxJob, VxUsers, VxWorkload, WriterScaling};

/// Writes of the first run, which is too short to count.
const WRITES_FIRST: u64 = 16;
/// Most writes of one writer in a run.
const WRITES_MAX: u64 = 1 << 20;
/// Rounds that an interval needs.
const ROUNDS_MIN: usize = 2;

/// One run to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Who writes where.
    pub arm: Arm,
    /// The job for each file.
    pub job: VxJob,
}

/// The experiment for one way of writing.
///
/// First come runs of one writer until one lasts long enough, then rounds of all three arms, each
/// starting with a different arm. [`next`](Self::next) says what to run, [`record`](Self::record)
/// takes its throughput.
#[derive(Clone, Debug)]
pub struct Experiment {
    way: Writing,
    writers: u32,
    effort: WriterEffort,
    /// Writes of each writer in a run.
    writes: u64,
    /// Whether a run of `writes` writes lasts long enough.
    sized: bool,
    throughputs: Throughputs,
}

impl Experiment {
    /// Returns an experiment with as many writers as suit this number of processors.
    pub fn new(way: Writing, processors: u32, effort: WriterEffort) -> Self {
        Self {
            way,
            writers: way.writers(processors),
            effort,
            writes: WRITES_FIRST,
            sized: false,
            throughputs: Throughputs::default(),
        }
    }

    /// The number of concurrent writers.
    pub fn writers(&self) -> u32 {
        self.writers
    }

    /// Size of each writer's own file, in bytes.
    pub fn own_file_bytes(&self) -> u64 {
        self.effort.share_bytes
    }

    /// Size of the common file, in bytes.
    pub fn common_file_bytes(&self) -> u64 {
        u64::from(self.writers) * self.effort.share_bytes
    }

    /// The job that writes a file of `bytes` before anything is measured, so that all its blocks
    /// are allocated.
    pub fn layout(bytes: u64) -> VxJob {
        VxJob {
            workload: VxWorkload::Write,
            iosize: 1 << 20,
            iocount: Some(bytes >> 20),
            fsync: true,
            ..VxJob::default()
        }
    }

    /// The run to be made next, `elapsed_s` seconds after the first one began; `None` when the
    /// experiment is over.
    pub fn next(&self, elapsed_s: f64) -> Option<Trial> {
        if !self.sized {
            return Some(self.trial(Arm::Alone));
        }
        let (round, turn) = (self.throughputs.rounds(), self.throughputs.runs() % 3);
        let late = round >= ROUNDS_MIN && elapsed_s > self.effort.rounds_max_s;
        if round >= self.effort.rounds || (turn == 0 && late) {
            return None;
        }
        let mut arms = [Arm::Alone, Arm::OneFile, Arm::OwnFiles];
        arms.rotate_left(round % 3);
        Some(self.trial(arms[turn]))
    }

    fn trial(&self, arm: Arm) -> Trial {
        let job = VxJob {
            workload: VxWorkload::RandWrite,
            users: VxUsers::Processes,
            iosize: self.way.iosize(),
            iocount: Some(self.writes),
            nthreads: if arm == Arm::OneFile { self.writers } else { 1 },
            direct: self.way.is_direct(),
            ..VxJob::default()
        };
        Trial { arm, job }
    }

    /// Takes the throughput, in bytes per second, of the run that [`next`](Self::next) returned.
    pub fn record(&mut self, arm: Arm, bytes_per_s: f64) {
        if self.sized {
            self.throughputs.of(arm).push(bytes_per_s);
            return;
        }
        let elapsed_s = (self.writes * self.way.iosize()) as f64 / bytes_per_s.max(1.0);
        self.sized = elapsed_s >= self.effort.run_min_s;
        if !self.sized {
            let factor = (self.effort.run_min_s / elapsed_s.max(1e-6) * 1.2).clamp(1.2, 16.0);
            self.writes = (self.writes as f64 * factor).ceil() as u64;
            self.sized = self.writes >= WRITES_MAX;
        }
    }

    /// What the runs so far show about the file system `file_system`.
    pub fn conclude(&self, file_system: &str) -> WriterScaling {
        verdict(self.way, self.writers, file_system, &self.throughputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the experiment on a machine where the arms have these throughputs and each run takes
    /// `run_s`.
    fn run(effort: WriterEffort, rates: [f64; 3], run_s: f64) -> (Vec<Trial>, WriterScaling) {
        let mut experiment = Experiment::new(Writing::Buffered, 4, effort);
        let mut trials: Vec<Trial> = Vec::new();
        while let Some(trial) = experiment.next(trials.len() as f64 * run_s) {
            experiment.record(trial.arm, rates[trial.arm as usize]);
            trials.push(trial);
        }
        (trials, experiment.conclude("xfs"))
    }

    #[test]
    fn runs_grow_until_they_last_and_then_take_turns() {
        let (trials, found) = run(WriterEffort::FULL, [1e9, 1e9, 4e9], 0.2);
        let (sizing, rounds) = trials.split_at(trials.len() - 21);
        assert!(sizing.iter().all(|trial| trial.arm == Arm::Alone));
        assert!(sizing.windows(2).all(|pair| pair[0].job.iocount < pair[1].job.iocount));
        let writes = rounds[0].job.iocount.unwrap();
        assert!(writes * 65536 >= 200_000_000, "{writes} writes of 64 KiB at 1 GB/s last 0.2 s");
        assert!(rounds.iter().all(|trial| trial.job.iocount == Some(writes)));
        let firsts: Vec<Arm> = rounds.iter().step_by(3).map(|trial| trial.arm).collect();
        assert_eq!(firsts[..4], [Arm::Alone, Arm::OneFile, Arm::OwnFiles, Arm::Alone]);
        for round in rounds.chunks(3) {
            let mut arms: Vec<usize> = round.iter().map(|trial| trial.arm as usize).collect();
            arms.sort_unstable();
            assert_eq!(arms, [0, 1, 2]);
        }
        let threads = |arm| rounds.iter().find(|trial| trial.arm == arm).unwrap().job.nthreads;
        assert_eq!([Arm::Alone, Arm::OneFile, Arm::OwnFiles].map(threads), [1, 4, 1]);
        assert_eq!(found.serialised, Some(true));
    }

    #[test]
    fn a_slow_machine_is_measured_in_two_rounds() {
        let (trials, found) = run(WriterEffort::SHORT, [1e5, 4e5, 4e5], 10.0);
        assert_eq!(trials.len(), 1 + 6, "the first run of one writer already lasts");
        assert_eq!(found.serialised, Some(false));
    }

    #[test]
    fn a_rate_of_nothing_ends_too() {
        let (trials, found) = run(WriterEffort::SHORT, [0.0; 3], 0.1);
        assert!(trials.len() < 100);
        assert_eq!(found.serialised, None);
    }

    #[test]
    fn direct_writers_outnumber_few_processors() {
        assert_eq!(Writing::ALL.map(|way| way.writers(1)), [2, 4]);
        assert_eq!(Writing::ALL.map(|way| way.writers(64)), [16, 16]);
        assert_eq!(WriterEffort::SHORT.layout_bytes(1), 2 * (2 + 4) * (4 << 20));
    }

    #[test]
    fn an_evaluation_makes_room_only_where_it_is_cheap() {
        let fits = |budget_s, rate| WriterEffort::SHORT.fits(budget_s, rate, 1);
        assert_eq!(fits(600.0, None), Ok(()));
        assert_eq!(fits(600.0, Some(1e9)), Ok(()));
        assert!(fits(600.0, Some(1e6)).unwrap_err().contains("laying out"));
        assert!(fits(60.0, Some(1e9)).unwrap_err().contains("budget"));
    }
}
