//! Options that describe a workload: its five parameters, and how its requests are drawn and issued.

use super::value::{bytes, fraction, pause, run_engine};
use clap::Args;
use ioscape_schema::{Access, Advice, Engine, SizeDistribution, Workers, Workload};

/// The five parameters, where given.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct FiveArgs {
    /// Working set: distinct bytes that all processes touch together [default: 64M]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub unique_bytes: Option<u64>,
    /// Mean request size [default: 32k]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub size_mean: Option<u64>,
    /// Fraction of reads, 0 to 1 [default: 0.5]
    #[arg(long, value_name = "FRAC", value_parser = fraction)]
    pub read_frac: Option<f64>,
    /// Fraction of requests that start where the process's previous one ended, 0 to 1 [default: 0.5]
    #[arg(long, value_name = "FRAC", value_parser = fraction)]
    pub seq_frac: Option<f64>,
    /// Processes issuing I/O at the same time [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub processes: Option<u32>,
}

impl FiveArgs {
    /// Returns `base` with the given parameters. A given mean size, read or sequential fraction
    /// discards the values that `base` has separately for reads and writes.
    pub fn on(&self, base: Workload) -> Workload {
        let order = [self.read_frac, self.seq_frac];
        let of_both = self.size_mean.is_some() || order.iter().any(Option::is_some);
        Workload {
            by_operation: base.by_operation.filter(|_| !of_both),
            unique_bytes: self.unique_bytes.unwrap_or(base.unique_bytes),
            size_mean: self.size_mean.unwrap_or(base.size_mean),
            read_frac: self.read_frac.unwrap_or(base.read_frac),
            seq_frac: self.seq_frac.unwrap_or(base.seq_frac),
            process_num: self.processes.unwrap_or(base.process_num),
            ..base
        }
    }
}

/// How requests are drawn and issued, where given.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct WaysArgs {
    /// How request sizes are drawn: normal, bernoulli, exponential or fixed [default: normal]
    #[arg(long, value_name = "DIST")]
    pub size_dist: Option<SizeDistribution>,
    /// Requests in flight per process; above 1 needs --engine io_uring [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub queue_depth: Option<u32>,
    /// Time each process pauses between two requests [default: 0]
    #[arg(long, value_name = "TIME", value_parser = pause)]
    pub think_time: Option<u64>,
    /// Multiple that offsets and sizes are rounded to [default: 4k, less for smaller requests]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub align: Option<u64>,
    /// How requests reach the kernel: psync, io_uring, mmap, dontcache or null [default: psync]
    #[arg(long, value_name = "ENGINE", value_parser = run_engine)]
    pub engine: Option<Engine>,
    /// Bypass the file cache (O_DIRECT)
    #[arg(long, conflicts_with = "dsync")]
    pub direct: bool,
    /// Every write reaches stable storage before it returns (O_DSYNC)
    #[arg(long)]
    pub dsync: bool,
    /// Requests larger than this bypass the file cache, all others go through it (discovered direct I/O)
    #[arg(long, value_name = "SIZE", value_parser = bytes, conflicts_with_all = ["direct", "dsync"])]
    pub direct_above: Option<u64>,
    /// What issues each stream of requests: processes or threads [default: processes]
    #[arg(long, value_name = "KIND")]
    pub workers: Option<Workers>,
    /// Access pattern announced to the kernel (posix_fadvise, of a mapping also madvise): normal, random or sequential [default: normal]
    #[arg(long, value_name = "ADVICE")]
    pub advice: Option<Advice>,
}

impl WaysArgs {
    /// Returns `base` with the given options.
    pub fn on(&self, base: Workload) -> Workload {
        let access = match (self.direct, self.dsync) {
            (true, _) => Access::Direct,
            (_, true) => Access::Dsync,
            _ if self.direct_above.is_some() => Access::Buffered,
            _ => base.access,
        };
        let direct_above_bytes = match self.direct || self.dsync {
            true => None,
            false => self.direct_above.or(base.direct_above_bytes),
        };
        Workload {
            by_operation: base.by_operation.filter(|_| self.size_dist.is_none()),
            size_distribution: self.size_dist.unwrap_or(base.size_distribution),
            queue_depth: self.queue_depth.unwrap_or(base.queue_depth),
            think_time_ns: self.think_time.unwrap_or(base.think_time_ns),
            align_bytes: self.align.or(base.align_bytes),
            engine: self.engine.unwrap_or(base.engine),
            access,
            direct_above_bytes,
            workers: self.workers.unwrap_or(base.workers),
            advice: self.advice.unwrap_or(base.advice),
            ..base
        }
    }
}

/// A whole workload, where given.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct WorkloadArgs {
    /// The five parameters.
    #[command(flatten)]
    pub five: FiveArgs,
    /// How its requests are drawn and issued.
    #[command(flatten)]
    pub ways: WaysArgs,
}

impl WorkloadArgs {
    /// Returns `base` with everything that is given.
    pub fn on(&self, base: Workload) -> Workload {
        self.ways.on(self.five.on(base))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cli, Command};
    use clap::Parser;
    use ioscape_workload::command_line::measuring;

    fn typed(workload: &Workload) -> Command {
        let words = measuring("/srv/data", Some(512 << 20), workload).expect("a command");
        Cli::try_parse_from(words.split(' ')).expect("a command that can be typed").command
    }

    #[test]
    fn a_pause_may_be_none() {
        for text in ["0", "0ms"] {
            let words = ["ioscape", "run", "--think-time", text];
            let Command::Run(args) = Cli::try_parse_from(words).expect(text).command else {
                panic!("another command")
            };
            assert_eq!(args.workload.ways.think_time, Some(0), "{text}");
        }
        for text in ["-1", "50"] {
            let read = Cli::try_parse_from(["ioscape", "run", "--think-time", text]);
            assert!(read.is_err(), "{text}");
        }
    }

    #[test]
    fn what_can_be_evaluated_is_and_all_else_is_run() {
        let base = Workload::default();
        let direct = Workload {
            access: Access::Direct,
            workers: Workers::Threads,
            size_distribution: SizeDistribution::Fixed,
            ..base.clone()
        };
        let Command::Evaluate(args) = typed(&direct) else { panic!("another command") };
        assert!(args.direct && args.memory == Some(512 << 20) && args.engine.is_none());
        assert_eq!(
            (args.workers, args.size_dist),
            (Some(Workers::Threads), SizeDistribution::Fixed)
        );
        let Command::Evaluate(args) = typed(&Workload { access: Access::Dsync, ..base.clone() })
        else {
            panic!("another command")
        };
        assert_eq!(args.accesses(), [Access::Dsync]);
        let deep = Workload { queue_depth: 32, engine: Engine::IoUring, ..base.clone() };
        let Command::Evaluate(args) = typed(&deep) else { panic!("another command") };
        assert_eq!((args.queue_depth, args.engine), (Some(32), Some(Engine::IoUring)));
        let others = [
            Workload { access: Access::Dsync, advice: Advice::Random, ..base.clone() },
            Workload { advice: Advice::Random, ..deep },
            Workload { advice: Advice::Random, unique_bytes: 12_345_678, ..base.clone() },
            Workload { think_time_ns: 1500, align_bytes: Some(512), ..base },
        ];
        for other in others {
            let Command::Run(args) = typed(&other) else { panic!("another command") };
            assert_eq!(args.workload.on(Workload::default()), other);
        }
    }
}
