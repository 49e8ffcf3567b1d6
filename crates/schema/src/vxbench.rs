//! The work of `vxbench` and its results: exact-work I/O on named files, as described in a VERITAS
//! white paper (1996, pp. 5-7).

use crate::range::not_negative;
use crate::{Clients, ResponseTime, VerifyReport, Warning};
use serde::{Deserialize, Serialize};

/// Kind of I/O, `-w`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VxWorkload {
    /// Sequential reads.
    #[default]
    Read,
    /// Sequential writes.
    Write,
    /// Reads at random places.
    RandRead,
    /// Writes at random places.
    RandWrite,
    /// Reads and writes at random places.
    RandMixed,
    /// Sequential loads from a mapping of the file.
    MmapRead,
    /// Sequential stores to a mapping of the file.
    MmapWrite,
}

impl VxWorkload {
    /// All kinds, in the paper's order.
    pub const ALL: [Self; 7] = [
        Self::Read,
        Self::Write,
        Self::RandRead,
        Self::RandWrite,
        Self::RandMixed,
        Self::MmapRead,
        Self::MmapWrite,
    ];

    /// Returns whether some of its requests read the file's contents.
    pub fn reads(self) -> bool {
        !self.writes() || self == Self::RandMixed
    }

    /// Returns whether it changes the file.
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::RandWrite | Self::RandMixed | Self::MmapWrite)
    }

    /// Returns whether its offsets are random.
    pub fn is_random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandMixed)
    }

    /// Returns whether it uses a mapping.
    pub fn is_mapped(self) -> bool {
        matches!(self, Self::MmapRead | Self::MmapWrite)
    }
}

crate::words!(VxWorkload, Read => "read", Write => "write", RandRead => "rand_read",
    RandWrite => "rand_write", RandMixed => "rand_mixed", MmapRead => "mmap_read",
    MmapWrite => "mmap_write");

/// What executes users (one per file) and their streams: `-P`, `-p`, `-t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VxUsers {
    /// A process per user, a thread per stream in it (`-P`, the default).
    #[default]
    ProcessesOfThreads,
    /// A process per stream (`-p`).
    Processes,
    /// One process, a thread per stream (`-t`).
    Threads,
}

/// All options of one run except the names of its files. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct VxJob {
    /// `-w`.
    pub workload: VxWorkload,
    /// `-P`, `-p` or `-t`.
    pub users: VxUsers,
    /// `-m`: the buffers are locked in memory.
    pub lock_buffers: bool,
    /// `-i nrep`: how often every stream repeats its requests.
    pub nrep: u32,
    /// `-i nthreads`: number of streams on each file.
    pub nthreads: u32,
    /// `-i iosize`: size of each request, in bytes.
    pub iosize: u64,
    /// `-i iocount`: requests per stream; absent: as many as the file holds, divided among its
    /// streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iocount: Option<u64>,
    /// `-i fsync`: the time includes an `fsync` after the last write of each stream.
    pub fsync: bool,
    /// `-i remove`: the files are removed after the test.
    pub remove: bool,
    /// `-i reserveonly`: space is only reserved; nothing is written.
    pub reserve_only: bool,
    /// `-i maxfilesize`: random requests end before this byte; absent: the end of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_file_size: Option<u64>,
    /// `-i randseed`: seed of the random choices.
    pub rand_seed: u64,
    /// `-i truncup`: before random I/O the file is extended to this size in bytes; 0: the size that
    /// the requests need.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncup: Option<u64>,
    /// `-i rdpct`: percentage of reads in `rand_mixed`, 0 to 100.
    pub rdpct: u32,
    /// `-o append`: every write goes to the end of the file.
    pub append: bool,
    /// `-o sync`: `O_SYNC`.
    pub sync: bool,
    /// `-o trunc`: the file is emptied first.
    pub trunc: bool,
    /// `-c direct`: `O_DIRECT`.
    pub direct: bool,
    /// `-c dsync`: `O_DSYNC`.
    pub dsync: bool,
    /// `-c noreuse`: the data is not kept in the file cache.
    pub noreuse: bool,
    /// `-c atomic`: every direct write reaches storage completely or not at all, whatever happens
    /// (`RWF_ATOMIC`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub atomic: bool,
    /// `-c random`: advises the kernel of random access.
    pub random: bool,
    /// `-c seq`: advises the kernel of sequential access.
    pub seq: bool,
    /// Discovered direct I/O: requests larger than this, in bytes, bypass the file cache (the paper, p. 19: 256 KB).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direct_above: Option<u64>,
    /// `-e`: fixed extent size, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extsize: Option<u64>,
    /// `-r`: space reserved for each file, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reservation: Option<u64>,
    /// `-f align`: extents must begin at multiples of the extent size.
    pub align: bool,
    /// `-f chgsize`: the file size is set to that of the reservation.
    pub chgsize: bool,
    /// `-f contig`: the reservation must be one extent.
    pub contig: bool,
    /// `-f noextend`: no write may go past the reservation.
    pub noextend: bool,
    /// `-f noreserve`: space is allocated only for the run, not set aside for the file.
    pub noreserve: bool,
    /// `-f trim`: the unused part of the reservation is released at the last close.
    pub trim: bool,
    /// `--queue-depth`: requests in flight per stream, through `io_uring`; absent: one at a time,
    /// by `pread` and `pwrite`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// Drops the pages of the files from the file cache before the run.
    pub cold: bool,
    /// Makes an option that the system cannot honour a warning instead of an error.
    pub best_effort: bool,
    /// `--huge-buffers`: all buffers use huge pages if the kernel provides them, whatever their
    /// size and the caching.
    #[serde(default)]
    pub huge_buffers: bool,
    /// Writes each block with its place, the number of its write and a checksum, which reads check.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verify: bool,
}

impl Default for VxJob {
    /// Returns one stream of sequential 8 KB reads of the whole file, as `vxbench -w read FILE`
    /// does.
    fn default() -> Self {
        Self {
            workload: VxWorkload::Read,
            users: VxUsers::ProcessesOfThreads,
            lock_buffers: false,
            nrep: 1,
            nthreads: 1,
            iosize: 8 << 10,
            iocount: None,
            fsync: false,
            remove: false,
            reserve_only: false,
            max_file_size: None,
            rand_seed: 1,
            truncup: None,
            rdpct: 50,
            append: false,
            sync: false,
            trunc: false,
            direct: false,
            dsync: false,
            noreuse: false,
            atomic: false,
            random: false,
            seq: false,
            direct_above: None,
            queue_depth: None,
            extsize: None,
            reservation: None,
            align: false,
            chgsize: false,
            contig: false,
            noextend: false,
            noreserve: false,
            trim: false,
            cold: false,
            best_effort: false,
            huge_buffers: false,
            verify: false,
        }
    }
}

impl VxJob {
    /// Returns whether the run changes the file or its space.
    pub fn changes_files(&self) -> bool {
        self.workload.writes() || self.remove || self.trunc || self.reservation.is_some()
    }

    /// Returns whether requests bypass the file cache, by either option.
    pub fn is_direct(&self) -> bool {
        self.direct || self.direct_above.is_some_and(|above| self.iosize > above)
    }

    /// Returns whether streams wait until what they wrote is on the device.
    pub fn is_synced(&self) -> bool {
        self.sync || self.dsync || self.fsync
    }

    /// Returns the bytes, from the beginning of an empty file, that all streams of one user need,
    /// if `iocount` is set.
    pub fn span_bytes(&self) -> Option<u64> {
        let streams = u64::from(self.nthreads);
        let each = self.iosize.checked_mul(self.iocount?)?;
        each.checked_mul(streams)
    }
}

/// Figures of one stream, one user or all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VxFigures {
    /// Completed requests.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Time from the first request issued to the last one completed, including `fsync`, in seconds.
    #[serde(deserialize_with = "not_negative")]
    pub elapsed_s: f64,
    /// `bytes` over `elapsed_s`.
    #[serde(deserialize_with = "not_negative")]
    pub throughput_bytes_per_s: f64,
    /// User time of the streams, in seconds.
    pub cpu_user_s: f64,
    /// System time of the streams, in seconds.
    pub cpu_system_s: f64,
    /// Whether the kernel could separate user from system time. It samples at its ticks, so with
    /// little CPU time only the sum is known, and it is divided by whatever samples there were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_split_told: Option<bool>,
    /// Response times of the requests; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_time_ns: Option<ResponseTime>,
    /// Times of the `fsync` after each stream's last write, which do not count as requests; absent
    /// without `fsync`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fsync_ns: Option<ResponseTime>,
}

impl VxFigures {
    /// Returns system plus user time: the paper's measure of cost for the same data moved (p. 7).
    pub fn cpu_s(&self) -> f64 {
        self.cpu_user_s + self.cpu_system_s
    }

    /// Returns whether user and system time are known apart. Older results do not say, and give
    /// whatever the ticks had sampled.
    pub fn is_split(&self) -> bool {
        self.cpu_split_told == Some(true)
    }
}

/// One file and its user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VxFile {
    /// The file, as the user named it.
    pub path: String,
    /// Figures of all its streams together.
    pub figures: VxFigures,
    /// Figures of each stream.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<VxFigures>,
    /// Size after the run, in bytes; absent if the file was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Extents after the run (`FIEMAP`). Absent if the file system does not report them, or stores
    /// some compressed, for which it does not report their ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extents: Option<u64>,
    /// Alignment required for direct I/O here, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct_align: Option<u32>,
    /// Time taken by the reservation (`-r`), in seconds; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservation_s: Option<f64>,
    /// How `noreuse` was implemented: `RWF_DONTCACHE` or `POSIX_FADV_NOREUSE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noreuse_by: Option<String>,
}

/// One run of `vxbench`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VxRun {
    /// The requested job.
    pub job: VxJob,
    /// The files, in the order named.
    pub files: Vec<VxFile>,
    /// Total over all files.
    pub total: VxFigures,
    /// Result of verifying the data, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<VerifyReport>,
    /// The clients that did the run together, if several. One run gives no intervals for them, so
    /// none is marked as straggling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<Clients>,
    /// Warnings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// How a run is shown: `-k`, `-M`, `-v`, `-s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct VxShow {
    /// Throughput in MB/s instead of KB/s, both in powers of 1024.
    pub megabytes: bool,
    /// Also every stream.
    pub per_thread: bool,
    /// Only the summary.
    pub summary_only: bool,
}

/// Writers to one file compared with writers to separate files: the effect of a file system's
/// single-writer lock (pp. 32-35).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WriterScaling {
    /// Whether writes bypass the file cache (`O_DIRECT`) or go through it.
    pub direct: bool,
    /// Size of each write, in bytes.
    pub iosize: u64,
    /// Number of concurrent writers.
    pub writers: u32,
    /// Throughput of one writer, in bytes per second: the median of the rounds.
    pub alone_bytes_per_s: f64,
    /// Throughput of all writers on one file, in bytes per second.
    pub one_file_bytes_per_s: f64,
    /// Throughput of all writers on separate files, in bytes per second.
    pub own_files_bytes_per_s: f64,
    /// Throughput on one file over that on separate files: the geometric mean.
    #[serde(deserialize_with = "not_negative")]
    pub ratio: f64,
    /// 95 % interval of that ratio.
    pub ratio_ci95: [f64; 2],
    /// 95 % interval of the throughput on separate files over that of one writer; absent without
    /// two rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain_ci95: Option<[f64; 2]>,
    /// 95 % interval of the throughput on one file over the geometric mean of that of one writer
    /// and that on separate files; absent without two rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position_ci95: Option<[f64; 2]>,
    /// Whether the writers wait for one another; absent if the intervals do not decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serialised: Option<bool>,
    /// The finding in words.
    pub sentence: String,
}

/// The part of a document that `vxbench` fills.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Vxbench {
    /// How to show the results.
    #[serde(default)]
    pub show: VxShow,
    /// The runs.
    #[serde(default)]
    pub runs: Vec<VxRun>,
    /// Whether concurrent writers to one file wait for one another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub single_writer: Vec<WriterScaling>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_survives_the_round_trip_and_older_ones_are_read() {
        let job = VxJob { direct_above: Some(256 << 10), nthreads: 4, ..VxJob::default() };
        let text = serde_json::to_string(&job).unwrap();
        assert_eq!(serde_json::from_str::<VxJob>(&text).unwrap(), job);
        assert_eq!(serde_json::from_str::<VxJob>("{}").unwrap(), VxJob::default());
    }

    #[test]
    fn discovered_direct_begins_above_its_size() {
        let at = |iosize| VxJob { direct_above: Some(256 << 10), iosize, ..VxJob::default() };
        assert!(!at(256 << 10).is_direct());
        assert!(at((256 << 10) + 4096).is_direct());
    }

    #[test]
    fn spans_do_not_overflow() {
        let job = |iosize, iocount, nthreads| VxJob {
            iosize,
            iocount: Some(iocount),
            nthreads,
            ..VxJob::default()
        };
        assert_eq!(job(8 << 10, 128 << 10, 1).span_bytes(), Some(1 << 30));
        assert_eq!(job(4, 5, 6).span_bytes(), Some(120));
        assert_eq!(job(u64::MAX, 2, 1).span_bytes(), None);
    }
}
