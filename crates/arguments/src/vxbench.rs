//! Options of `vxbench`, one by one as in the white paper's usage text (VERITAS 1996, pp. 5-7).

use super::result::ResultArgs;
use clap::{ArgAction, Args};
use ioscape_schema::{VxShow, VxUsers};
use ioscape_workload::VxWords;
use ioscape_workload::vxbench::DETAILS;
use std::path::PathBuf;

/// `ioscape vxbench`.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_long_help = DETAILS, mut_arg("output", |arg| arg.short(None)))]
pub struct VxbenchArgs {
    /// Files or block devices to work on, one user each
    #[arg(value_name = "FILE", required_unless_present = "diagnose")]
    pub files: Vec<PathBuf>,
    /// Kind of I/O: read, write, rand_read, rand_write, rand_mixed, mmap_read or mmap_write
    #[arg(short, long, value_name = "WORKLOAD", required_unless_present = "diagnose")]
    pub workload: Option<String>,
    /// Print this detailed help message
    #[arg(short, long, action = ArgAction::HelpLong)]
    pub help: Option<bool>,
    /// Use processes for users, threads for multithreaded I/O (default)
    #[arg(short = 'P', overrides_with_all = ["processes", "threads"])]
    pub processes_of_threads: bool,
    /// Use processes for users and for multithreaded I/O
    #[arg(short = 'p', conflicts_with = "threads")]
    pub processes: bool,
    /// Use threads for users and for multithreaded I/O
    #[arg(short = 't')]
    pub threads: bool,
    /// Lock I/O buffers in memory
    #[arg(short = 'm')]
    pub lock: bool,
    /// For multiuser tests only print summary results
    #[arg(short = 's', conflicts_with = "per_thread")]
    pub summary: bool,
    /// For multithreaded tests print per-thread results
    #[arg(short = 'v')]
    pub per_thread: bool,
    /// Report every step on a line of its own, also without a terminal
    #[arg(long, conflicts_with = "quiet", help_heading = "Display")]
    pub verbose: bool,
    /// Print throughput in KB/sec, 1 KB = 1024 bytes (default)
    #[arg(short = 'k', conflicts_with = "megabytes")]
    pub kilobytes: bool,
    /// Print throughput in MB/sec, 1 MB = 1024 KB and 1 KB = 1024 bytes
    #[arg(short = 'M')]
    pub megabytes: bool,
    /// Suboptions that describe the test, such as iosize=8k,iocount=128k
    #[arg(short = 'i', value_name = "SUBOPTS")]
    pub suboptions: Vec<String>,
    /// Flags for opening the file: append, sync, trunc
    #[arg(short = 'o', value_name = "OPENTYPE")]
    pub opens: Vec<String>,
    /// Caching: direct, dsync, noreuse, random, seq; direct,atomic
    #[arg(short = 'c', value_name = "CACHEOPTS")]
    pub cache: Vec<String>,
    /// Fixed extent size (XFS)
    #[arg(short = 'e', value_name = "SIZE")]
    pub extsize: Option<String>,
    /// Space to reserve for each file
    #[arg(short = 'r', value_name = "SIZE")]
    pub reservation: Option<String>,
    /// For reservations and extents: align, chgsize, contig, noextend, noreserve, trim
    #[arg(short = 'f', value_name = "FLAGS")]
    pub flags: Vec<String>,
    /// Discovered direct I/O: requests larger than SIZE bypass the file cache (the paper: 256k)
    #[arg(long, value_name = "SIZE")]
    pub direct_above: Option<String>,
    /// Keep N requests of each stream in flight through io_uring, instead of one at a time
    #[arg(long, value_name = "N")]
    pub queue_depth: Option<u32>,
    /// Write the requests of the run, one by one, as a trace in ioscape's schema (CSV or Parquet)
    #[arg(long, value_name = "FILE", conflicts_with = "diagnose")]
    pub rows: Option<PathBuf>,
    /// Drop the files from the file cache first
    #[arg(long)]
    pub cold: bool,
    /// Turn options that this system cannot honour into warnings
    #[arg(long)]
    pub best_effort: bool,
    /// Check in every read, and once more at the end, that each block holds what was last written to it
    #[arg(long, conflicts_with = "diagnose")]
    pub verify: bool,
    /// Put all I/O buffers into huge pages, where the kernel gives them
    #[arg(long)]
    pub huge_buffers: bool,
    /// Allow the data of existing files and devices to be overwritten
    #[arg(long)]
    pub destroy_data: bool,
    /// Measure in DIR whether concurrent writers to one file wait for one another, buffered and direct
    #[arg(long, value_name = "DIR", conflicts_with_all = ["files", "workload"])]
    pub diagnose: Option<PathBuf>,
    /// Have N clients work together, asked on standard output and answering on standard input; for `python -m ioscape.mpi`
    #[arg(long, value_name = "N", hide = true, requires = "shared", conflicts_with = "diagnose", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub clients: Option<u32>,
    /// The directory that the clients share: the files are in it
    #[arg(long, value_name = "DIR", hide = true, requires = "clients")]
    pub shared: Option<PathBuf>,
    /// Where the result goes; -o is the open type here.
    #[command(flatten)]
    pub out: ResultArgs,
}

impl VxbenchArgs {
    /// The words that describe the job.
    pub fn words(&self) -> VxWords {
        let users = match (self.processes, self.threads) {
            (true, _) => VxUsers::Processes,
            (_, true) => VxUsers::Threads,
            _ => VxUsers::ProcessesOfThreads,
        };
        VxWords {
            workload: self.workload.clone().unwrap_or_default(),
            suboptions: self.suboptions.clone(),
            opens: self.opens.clone(),
            cache: self.cache.clone(),
            extsize: self.extsize.clone(),
            reservation: self.reservation.clone(),
            flags: self.flags.clone(),
            users,
            lock_buffers: self.lock,
            direct_above: self.direct_above.clone(),
            cold: self.cold,
            best_effort: self.best_effort,
            huge_buffers: self.huge_buffers,
            verify: self.verify,
            queue_depth: self.queue_depth,
        }
    }

    /// How the result is shown.
    pub fn show(&self) -> VxShow {
        let (megabytes, summary_only) = (self.megabytes, self.summary);
        VxShow { megabytes, per_thread: self.per_thread, summary_only }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Cli, Command};
    use clap::{CommandFactory, Parser};

    #[test]
    fn the_help_says_how_large_its_kilobytes_and_megabytes_are() {
        let cli = Cli::command();
        let vxbench = cli.find_subcommand("vxbench").expect("a command");
        for short in ['k', 'M'] {
            let mut options = vxbench.get_arguments();
            let option = options.find(|one| one.get_short() == Some(short)).expect("an option");
            let help = option.get_help().expect("its help").to_string();
            assert!(help.contains("1 KB = 1024 bytes"), "{help}");
        }
    }

    #[test]
    fn its_own_v_is_not_the_one_of_every_command() {
        let parsed = |words: &str| {
            let cli = Cli::try_parse_from(words.split(' ')).expect("a command");
            let Command::Vxbench(args) = cli.command else { panic!("another command") };
            (cli.display.verbose, args.show().per_thread)
        };
        assert_eq!(parsed("ioscape vxbench -w read a"), (false, false));
        assert_eq!(parsed("ioscape vxbench -w read a -v"), (false, true));
        assert_eq!(parsed("ioscape vxbench -w read a --verbose"), (true, false));
        assert_eq!(parsed("ioscape --verbose vxbench -w read a"), (true, false));
        assert_eq!(parsed("ioscape -v vxbench -w read a -v"), (true, true));
        let both = ["ioscape", "vxbench", "-w", "read", "a", "-v", "-s"];
        assert!(Cli::try_parse_from(both).is_err());
    }
}
