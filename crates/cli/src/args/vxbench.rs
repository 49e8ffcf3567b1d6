//! Options of `vxbench`, one by one as in the white paper's usage text (VERITAS 1996, pp. 5-7).

use super::result::ResultArgs;
use clap::{ArgAction, Args};
use ioscape_schema::{VxShow, VxUsers};
use ioscape_workload::VxWords;
use std::path::PathBuf;

const DETAILS: &str = "\
Workloads (-w):
  read         sequential read of the test files
  write        sequential write of the test files
  rand_read    random read of the test files
  rand_write   random write of the test files
  rand_mixed   mix of random reads and writes
  mmap_read    use mmap to read the test files, every page
  mmap_write   use mmap to overwrite the test files, every page
Suboptions (-i), separated by commas:
  nrep=N         repeat the I/O loop N times
  nthreads=N     streams on each file; those of a sequential workload alternate block by block
  iosize=SIZE    size of each I/O [8k]
  iocount=N      I/Os of each stream [as many as the file holds]; 128k is 131072
  fsync          fsync after the last write of each stream; its time counts
  remove         remove each file after the test
  reserveonly    reserve space (-r) and do no I/O
  maxfilesize=N  random I/O ends before N KB (or a size with suffix)
  randseed=N     seed of the random offsets [1]
  truncup[=SIZE] give the file an initial size for random I/O
  rdpct=N        percentage of reads in rand_mixed [50]
Open types (-o): append, sync (O_SYNC), trunc
Cache options (-c):
  direct   bypass the file cache (O_DIRECT)
  dsync    data synchronous (O_DSYNC)
  noreuse  leave nothing in the file cache (RWF_DONTCACHE, or else POSIX_FADV_NOREUSE)
  random   POSIX_FADV_RANDOM, MADV_RANDOM
  seq      POSIX_FADV_SEQUENTIAL, MADV_SEQUENTIAL
Flags (-f) for reservations (-r) and extent sizes (-e):
  align      extents must begin at multiples of the extent size
  chgsize    the file gets the size of the reservation (also: chgsiz)
  contig     the reservation must be one extent
  noextend   no write may go past the reservation
  noreserve  space for the run only: unused space is given back at the last close
  trim       unused space of the reservation is given back at the last close

Sizes are powers of 1024. Several files: one user per file, nthreads streams each. A file that exists is never
overwritten without --destroy-data. To write 1 GB in blocks of 8 KB:
  ioscape vxbench -w write -i iosize=8k,iocount=128k FILE";

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
    #[arg(short = 's', conflicts_with = "verbose")]
    pub summary: bool,
    /// For multithreaded tests print per-thread results
    #[arg(short = 'v')]
    pub verbose: bool,
    /// Print throughput in KB/sec (default)
    #[arg(short = 'k', conflicts_with = "megabytes")]
    pub kilobytes: bool,
    /// Print throughput in MB/sec
    #[arg(short = 'M')]
    pub megabytes: bool,
    /// Suboptions that describe the test, such as iosize=8k,iocount=128k
    #[arg(short = 'i', value_name = "SUBOPTS")]
    pub suboptions: Vec<String>,
    /// Flags for opening the file: append, sync, trunc
    #[arg(short = 'o', value_name = "OPENTYPE")]
    pub opens: Vec<String>,
    /// Caching: direct, dsync, noreuse, random, seq
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
    /// Drop the files from the file cache first
    #[arg(long)]
    pub cold: bool,
    /// Turn options that this system cannot honour into warnings
    #[arg(long)]
    pub best_effort: bool,
    /// Check that every block holds what was written to it last, in every read and once more at the end
    #[arg(long, conflicts_with = "diagnose")]
    pub verify: bool,
    /// Allow the data of existing files and devices to be overwritten
    #[arg(long)]
    pub destroy_data: bool,
    /// Measure in DIR whether concurrent writers to one file wait for one another, buffered and direct
    #[arg(long, value_name = "DIR", conflicts_with_all = ["files", "workload"])]
    pub diagnose: Option<PathBuf>,
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
            verify: self.verify,
        }
    }

    /// How the result is shown.
    pub fn show(&self) -> VxShow {
        VxShow { megabytes: self.megabytes, per_thread: self.verbose, summary_only: self.summary }
    }
}
