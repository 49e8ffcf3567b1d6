//! The five-parameter workload of Chen and Patterson (1994, section 5) and how it is issued.

use crate::advice::Advice;
use crate::by_operation::ByOperation;
use crate::parameter::Parameter;
use crate::phase::Phase;
use crate::range::fraction;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// How request sizes are drawn; all except `Fixed` aim at a coefficient of variation of 1.
///
/// The self-scaling paper specifies a normal distribution, the Unix I/O paper Bernoulli. The
/// default is normal. Whatever truncation and alignment do, the generated mean is `size_mean`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeDistribution {
    /// Normal with standard deviation equal to its mean, redrawn until positive (self-scaling paper, section 5).
    #[default]
    Normal,
    /// Two equally probable sizes, the smallest possible and about twice the mean (Unix I/O paper,
    /// section 5).
    Bernoulli,
    /// Exponential: coefficient of variation exactly 1 before truncation.
    Exponential,
    /// Every request has `size_mean` bytes. If that is not a multiple of the alignment, the two
    /// nearest multiples are mixed so that their mean is `size_mean`.
    Fixed,
}

/// How requests reach the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// `pread` and `pwrite`, one request at a time.
    #[default]
    Psync,
    /// `io_uring` with a registered file and buffers, `queue_depth` requests at a time.
    IoUring,
    /// Loads and stores on a shared mapping.
    Mmap,
    /// `preadv2` and `pwritev2` with `RWF_DONTCACHE`, one request at a time: through the file
    /// cache, which drops the pages when the request is done (Linux 6.14).
    Dontcache,
    /// Generates every request but issues none: measures the harness's own cost.
    Null,
    /// A simulated system.
    Sim,
}

/// The access mode with which the file is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Through the file cache.
    #[default]
    Buffered,
    /// `O_DIRECT`: bypasses the file cache.
    Direct,
    /// `O_DSYNC`: every write reaches stable storage before it returns.
    Dsync,
}

impl Access {
    /// Returns whether reads are served from the file cache on a hit. `O_DSYNC` affects writes
    /// only, and the pages they write stay in the cache (`open(2)`).
    pub fn reads_cached(self) -> bool {
        self != Self::Direct
    }
}

/// What executes each stream of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Workers {
    /// One operating-system process per stream, as in the papers.
    #[default]
    Processes,
    /// One thread per stream in a single process.
    Threads,
}

/// A workload: a point in the papers' five-parameter space, and how it is executed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Number of distinct bytes read or written by all processes together: the size of the set.
    pub unique_bytes: u64,
    /// Mean request size in bytes, at most `unique_bytes`.
    pub size_mean: u64,
    /// Distribution of the request sizes.
    #[serde(default)]
    pub size_distribution: SizeDistribution,
    /// Probability that a request is a read, 0 to 1.
    #[serde(deserialize_with = "fraction")]
    pub read_frac: f64,
    /// Probability that a request starts where the same process's previous request, of either kind, ended, 0 to 1.
    #[serde(deserialize_with = "fraction")]
    pub seq_frac: f64,
    /// Number of processes issuing I/O at the same time, at least 1.
    pub process_num: u32,
    /// Requests each process keeps in flight, at least 1; more than 1 needs `io_uring`.
    #[serde(default = "one")]
    pub queue_depth: u32,
    /// Time for which a process pauses between two requests.
    #[serde(default)]
    pub think_time_ns: u64,
    /// Offsets and sizes are rounded to a multiple of this, a power of two. Absent: 4096, or less
    /// for a smaller `size_mean`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align_bytes: Option<u64>,
    /// How requests reach the kernel.
    #[serde(default)]
    pub engine: Engine,
    /// Buffered, direct or synchronous.
    #[serde(default)]
    pub access: Access,
    /// Requests larger than this many bytes bypass the file cache: discovered direct I/O (VERITAS
    /// 1996, p. 19). It requires `psync` and buffered access, which all smaller requests use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct_above_bytes: Option<u64>,
    /// Processes or threads.
    #[serde(default)]
    pub workers: Workers,
    /// Advice to the kernel about the coming accesses.
    #[serde(default, skip_serializing_if = "crate::absent::is_default")]
    pub advice: Advice,
    /// How reads and writes differ; absent if the five parameters hold for both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_operation: Option<ByOperation>,
    /// Phases of an application. A run executes them once, in order, starting with an empty file
    /// cache. Empty if the parameters hold all the time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// Memory that the processes hold together besides the file cache, in bytes; absent if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

fn one() -> u32 {
    1
}

/// The largest mean request size, in bytes: buffers must stay small compared with any cache being
/// measured.
pub const SIZE_MEAN_MAX: u64 = 64 << 20;

impl Default for Workload {
    /// The papers' nominal workload over 64 MiB: 32 KB requests, half reads, half sequential, one process.
    fn default() -> Self {
        Self {
            unique_bytes: 64 << 20,
            size_mean: 32 << 10,
            size_distribution: SizeDistribution::Normal,
            read_frac: 0.5,
            seq_frac: 0.5,
            process_num: 1,
            queue_depth: 1,
            think_time_ns: 0,
            align_bytes: None,
            engine: Engine::Psync,
            access: Access::Buffered,
            direct_above_bytes: None,
            workers: Workers::Processes,
            advice: Advice::Normal,
            by_operation: None,
            phases: Vec::new(),
            memory_bytes: None,
        }
    }
}

/// Why a workload is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorkloadError {
    /// A fraction is not between 0 and 1.
    #[error("{name} is {value}, but a fraction must be from 0 to 1")]
    Fraction {
        /// Which parameter.
        name: &'static str,
        /// The value given.
        value: f64,
    },
    /// A count or size is zero.
    #[error("{name} is 0, but must be at least {least}")]
    Zero {
        /// Which parameter.
        name: &'static str,
        /// The least allowed value.
        least: u64,
    },
    /// The mean size does not fit into the set.
    #[error(
        "size_mean ({size_mean} bytes) is larger than unique_bytes ({unique_bytes} bytes): make the set larger or the requests smaller"
    )]
    SizeAboveSet {
        /// The requested mean.
        size_mean: u64,
        /// The requested set.
        unique_bytes: u64,
    },
    /// The mean size is above the limit.
    #[error("size_mean ({0} bytes) is above {SIZE_MEAN_MAX} bytes, the largest supported")]
    SizeTooLarge(u64),
    /// The alignment is unusable.
    #[error(
        "align_bytes ({align}) must be a power of two and not above size_mean ({size_mean}) or unique_bytes"
    )]
    Align {
        /// The requested alignment.
        align: u64,
        /// The requested mean.
        size_mean: u64,
    },
    /// More requests in flight than the engine can hold.
    #[error(
        "queue_depth {0} needs the io_uring engine; all others issue one request at a time per process"
    )]
    Depth(u32),
    /// A count is above the supported limit.
    #[error("{name} is {value}, but at most {most} is supported")]
    TooMany {
        /// Which parameter.
        name: &'static str,
        /// The value given.
        value: u32,
        /// The largest allowed value.
        most: u32,
    },
    /// Direct or synchronous access is meaningless for a mapping.
    #[error(
        "the mmap engine goes through the file cache and cannot be combined with direct or dsync access"
    )]
    MappedAccess,
    /// Pages should be dropped from the file cache, but direct I/O does not use it.
    #[error(
        "the dontcache engine goes through the file cache and cannot be combined with direct access: use the psync engine"
    )]
    UncachedDirect,
    /// The separate description of reads and writes is invalid.
    #[error("by_operation: {0}")]
    ByOperation(&'static str),
    /// A phase is invalid.
    #[error("phases: {0}")]
    Phases(&'static str),
    /// Some requests should bypass the cache, but the engine or the access mode does not allow it.
    #[error(
        "direct_above_bytes chooses buffered or direct I/O for each request, which needs the psync engine and buffered access"
    )]
    Discovered,
}

impl Workload {
    /// How long a process pauses each time, in nanoseconds: once all its requests in flight have
    /// completed, its think time for each of them.
    pub fn pause_ns(&self) -> f64 {
        self.think_time_ns as f64 * f64::from(self.queue_depth.max(1))
    }

    /// Returns the five parameters in one short line.
    pub fn summary(&self) -> String {
        format!(
            "set {}, size {}, reads {:.0} %, sequential {:.0} %, processes {}",
            Bytes(self.unique_bytes as f64),
            Bytes(self.size_mean as f64),
            self.read_frac * 100.0,
            self.seq_frac * 100.0,
            self.process_num
        )
    }

    /// Returns the effective alignment, in bytes: as given, or 4096 lowered to the largest power of
    /// two within `size_mean` and within every size of `by_operation` that is not rare.
    pub fn align(&self) -> u64 {
        self.align_bytes.unwrap_or_else(|| {
            let least = self.by_operation.as_ref().and_then(ByOperation::least_size);
            let size = self.size_mean.min(least.unwrap_or(self.size_mean)).max(1);
            (1u64 << (63 - size.leading_zeros())).min(4096)
        })
    }

    /// Returns the bytes that all phases move together; `None` if there are no phases.
    pub fn pass_bytes(&self) -> Option<u64> {
        let sum = self.phases.iter().fold(0, |sum: u64, phase| sum.saturating_add(phase.bytes));
        (!self.phases.is_empty()).then_some(sum)
    }

    /// Returns the workload without its phases and what goes with them, which only `run` on a real
    /// system supports.
    #[must_use]
    pub fn without_phases(self) -> Self {
        let advice = if self.phases.is_empty() { self.advice } else { Advice::Normal };
        Self { phases: Vec::new(), memory_bytes: None, advice, ..self }
    }

    /// Returns whether some request may bypass the file cache.
    pub fn may_be_direct(&self) -> bool {
        self.access == Access::Direct || self.direct_above_bytes.is_some()
    }

    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// The first parameter that is out of range, in words that the user can act on.
    pub fn validate(&self) -> Result<(), WorkloadError> {
        for (name, value) in [("read_frac", self.read_frac), ("seq_frac", self.seq_frac)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(WorkloadError::Fraction { name, value });
            }
        }
        for (name, value) in [
            ("unique_bytes", self.unique_bytes),
            ("size_mean", self.size_mean),
            ("process_num", u64::from(self.process_num)),
            ("queue_depth", u64::from(self.queue_depth)),
        ] {
            if value == 0 {
                return Err(WorkloadError::Zero { name, least: 1 });
            }
        }
        if self.size_mean > self.unique_bytes {
            let (size_mean, unique_bytes) = (self.size_mean, self.unique_bytes);
            return Err(WorkloadError::SizeAboveSet { size_mean, unique_bytes });
        }
        if let Some(own) = &self.by_operation {
            own.validate(self.unique_bytes.min(SIZE_MEAN_MAX))
                .map_err(WorkloadError::ByOperation)?;
        }
        for phase in &self.phases {
            phase.validate(self.unique_bytes, SIZE_MEAN_MAX).map_err(WorkloadError::Phases)?;
        }
        self.validate_limits()
    }

    fn validate_limits(&self) -> Result<(), WorkloadError> {
        if self.size_mean > SIZE_MEAN_MAX {
            return Err(WorkloadError::SizeTooLarge(self.size_mean));
        }
        let align = self.align();
        if !align.is_power_of_two() || align > self.size_mean {
            return Err(WorkloadError::Align { align, size_mean: self.size_mean });
        }
        if self.queue_depth > 1 && !matches!(self.engine, Engine::IoUring | Engine::Sim) {
            return Err(WorkloadError::Depth(self.queue_depth));
        }
        for (name, value, most) in
            [("process_num", self.process_num, 4096), ("queue_depth", self.queue_depth, 4096)]
        {
            if value > most {
                return Err(WorkloadError::TooMany { name, value, most });
            }
        }
        if self.engine == Engine::Mmap && self.access != Access::Buffered {
            return Err(WorkloadError::MappedAccess);
        }
        if self.engine == Engine::Dontcache && self.access == Access::Direct {
            return Err(WorkloadError::UncachedDirect);
        }
        let can_choose = self.engine == Engine::Psync && self.access == Access::Buffered;
        if self.direct_above_bytes.is_some() && !can_choose {
            return Err(WorkloadError::Discovered);
        }
        Ok(())
    }

    /// Returns the value of a parameter, in its own unit.
    pub fn get(&self, parameter: Parameter) -> f64 {
        match parameter {
            Parameter::UniqueBytes => self.unique_bytes as f64,
            Parameter::SizeMean => self.size_mean as f64,
            Parameter::ReadFrac => self.read_frac,
            Parameter::SeqFrac => self.seq_frac,
            Parameter::ProcessNum => f64::from(self.process_num),
            Parameter::QueueDepth => f64::from(self.queue_depth),
        }
    }

    /// Returns this workload with the five parameters of another one. Everything else, such as the
    /// access mode and the queue depth, stays.
    #[must_use]
    pub fn with_parameters_of(self, other: &Self) -> Self {
        Parameter::ALL.into_iter().fold(self, |one, p| one.with(p, other.get(p)))
    }

    /// Returns the workload with one parameter set; whole-number parameters are rounded.
    #[must_use]
    pub fn with(mut self, parameter: Parameter, value: f64) -> Self {
        match parameter {
            Parameter::UniqueBytes => self.unique_bytes = value.round().max(1.0) as u64,
            Parameter::SizeMean => self.size_mean = value.round().max(1.0) as u64,
            Parameter::ReadFrac => self.read_frac = value.clamp(0.0, 1.0),
            Parameter::SeqFrac => self.seq_frac = value.clamp(0.0, 1.0),
            Parameter::ProcessNum => self.process_num = value.round().max(1.0) as u32,
            Parameter::QueueDepth => self.queue_depth = value.round().max(1.0) as u32,
        }
        self
    }
}

crate::words!(SizeDistribution, "size distribution", Normal => "normal", Bernoulli => "bernoulli",
    Exponential => "exponential", Fixed => "fixed");
crate::words!(Engine, "engine", Psync => "psync", IoUring => "io_uring", Mmap => "mmap",
    Dontcache => "dontcache", Null => "null", Sim => "sim");
crate::words!(Access, "access", Buffered => "buffered", Direct => "direct", Dsync => "dsync");
crate::words!(Workers, "workers", Processes => "processes", Threads => "threads");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_valid() {
        assert_eq!(Workload::default().validate(), Ok(()));
    }

    #[test]
    fn a_fraction_above_one_is_refused_by_name() {
        let bad = Workload { read_frac: 1.5, ..Workload::default() };
        assert_eq!(
            bad.validate().unwrap_err().to_string(),
            "read_frac is 1.5, but a fraction must be from 0 to 1"
        );
        let nan = Workload { seq_frac: f64::NAN, ..Workload::default() };
        assert!(nan.validate().is_err());
    }

    #[test]
    fn alignment_follows_the_mean_size() {
        let size = |size_mean| Workload { size_mean, ..Workload::default() }.align();
        assert_eq!(
            [size(32768), size(5000), size(4095), size(512), size(1)],
            [4096, 4096, 2048, 512, 1]
        );
    }

    #[test]
    fn depth_needs_an_engine_that_has_it() {
        let deep = Workload { queue_depth: 8, ..Workload::default() };
        assert!(deep.validate().is_err());
        assert!(Workload { engine: Engine::IoUring, ..deep }.validate().is_ok());
    }

    #[test]
    fn only_buffered_requests_one_by_one_can_choose_their_way() {
        let chooses = Workload { direct_above_bytes: Some(1 << 18), ..Workload::default() };
        assert!(chooses.validate().is_ok() && chooses.may_be_direct());
        for other in [
            Workload { engine: Engine::Mmap, ..chooses.clone() },
            Workload { engine: Engine::Dontcache, ..chooses.clone() },
            Workload { engine: Engine::IoUring, ..chooses.clone() },
            Workload { access: Access::Direct, ..chooses },
        ] {
            assert_eq!(other.validate(), Err(WorkloadError::Discovered));
        }
        let uncached =
            Workload { engine: Engine::Dontcache, access: Access::Direct, ..Workload::default() };
        assert_eq!(uncached.validate(), Err(WorkloadError::UncachedDirect));
    }

    #[test]
    fn words_go_both_ways() {
        for engine in [
            Engine::Psync,
            Engine::IoUring,
            Engine::Mmap,
            Engine::Dontcache,
            Engine::Null,
            Engine::Sim,
        ] {
            assert_eq!(engine.word().parse(), Ok(engine));
            assert_eq!(serde_json::to_string(&engine).unwrap(), format!("\"{}\"", engine.word()));
        }
        assert!("spdk".parse::<Engine>().unwrap_err().contains("psync"));
    }

    #[test]
    fn with_sets_what_get_gives() {
        for (parameter, value) in Parameter::ALL.into_iter().zip([65536.0, 512.0, 0.25, 0.75, 4.0])
        {
            assert_eq!(Workload::default().with(parameter, value).get(parameter), value);
        }
    }
}
