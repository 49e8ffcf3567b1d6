//! The keys of fio that map to a workload, and why the others do not.

use crate::jobs::Job;
use ioscape_schema::{Access, Advice, Engine, SizeDistribution, Workers, Workload};
use std::collections::BTreeSet;

/// A line of a job file, or a part of fio's output, that cannot be taken over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}", .line.map_or(String::new(), |line| format!("line {line}: ")))]
pub struct FioError {
    /// The line of the job file, from 1; absent of what is wrong with fio's output.
    pub line: Option<usize>,
    /// What is wrong and what to do.
    pub what: String,
}

impl FioError {
    pub(super) fn new(line: usize, what: String) -> Self {
        Self { line: Some(line), what }
    }

    pub(super) fn of_output(what: String) -> Self {
        Self { line: None, what }
    }
}

/// Keys that change nothing about what is measured, or that ioscape does in its own way.
const LEFT_OUT: [(&str, &str); 35] = [
    ("description", ""),
    ("name", ""),
    ("group_reporting", ""),
    ("time_based", ""),
    ("clocksource", ""),
    ("gtod_reduce", "every request is timed"),
    ("disable_lat", "every request is timed"),
    ("randrepeat", "requests follow --seed"),
    ("norandommap", "random requests are drawn with replacement"),
    ("random_generator", "requests follow --seed"),
    ("ramp_time", "the warm-up ends when the cache is in a steady state"),
    (
        "invalidate",
        "the file cache is emptied of the set before every job, not again at every pass",
    ),
    ("directory", "the target is the one on the command line"),
    ("filename", "the target is the one on the command line"),
    ("refill_buffers", "written data is never all zeros"),
    ("softrandommap", "random requests are drawn with replacement"),
    ("fallocate", "the set is written before it is measured"),
    ("overwrite", "the set is written before it is measured"),
    ("create_serialize", "the set is written before it is measured"),
    ("unlink", "files made for the run are removed"),
    ("unlink_each_loop", "files made for the run are removed"),
    ("write_bw_log", NO_LOG),
    ("write_lat_log", NO_LOG),
    ("write_iops_log", NO_LOG),
    ("write_hist_log", NO_LOG),
    ("log_avg_msec", ""),
    ("log_hist_msec", ""),
    ("per_job_logs", ""),
    ("bwavgtime", ""),
    ("iopsavgtime", ""),
    ("percentile_list", "percentiles are the median, 90 %, 99 % and 99.9 %"),
    ("clat_percentiles", ""),
    ("lat_percentiles", ""),
    ("slat_percentiles", ""),
    ("unified_rw_reporting", ""),
];

const NO_LOG: &str = "there are no logs; -o keeps the result";

const LIBAIO_DIRECT: &str = "ioengine=libaio: io_uring issues the requests, at the same depth";
/// fio's HOWTO: "Linux may only support queued behavior with non-buffered I/O".
const LIBAIO_BUFFERED: &str =
    "ioengine=libaio: psync, since its requests wait for one another without direct=1";

/// What is known of a job so far.
#[derive(Clone, Debug)]
pub(super) struct FioOptions {
    rw: String,
    read_percent: f64,
    random_percent: Option<f64>,
    block_bytes: u64,
    size_bytes: Option<u64>,
    shared_file: bool,
    jobs: u32,
    threads: bool,
    depth: u32,
    engine: Engine,
    /// Whether the engine is Linux's older asynchronous I/O, which ioscape has not.
    pub is_libaio: bool,
    access: Access,
    think_ns: u64,
    hints: bool,
    seconds: Option<f64>,
    seed: Option<u64>,
    /// Whether the job waits for those above it.
    pub stonewall: bool,
    left_out: BTreeSet<String>,
}

impl Default for FioOptions {
    /// fio's own defaults.
    fn default() -> Self {
        Self {
            rw: "read".to_owned(),
            read_percent: 50.0,
            random_percent: None,
            block_bytes: 4096,
            size_bytes: None,
            shared_file: false,
            jobs: 1,
            threads: false,
            depth: 1,
            engine: Engine::Psync,
            is_libaio: false,
            access: Access::Buffered,
            think_ns: 0,
            hints: true,
            seconds: None,
            seed: None,
            stonewall: false,
            left_out: BTreeSet::new(),
        }
    }
}

impl FioOptions {
    /// Takes one key over.
    pub fn set(&mut self, line: usize, key: &str, value: &str) -> Result<(), FioError> {
        let wrong = |what: &str| FioError::new(line, format!("{key}={value}: {what}"));
        if let Some((_, instead)) = LEFT_OUT.iter().find(|(name, _)| *name == key) {
            self.shared_file |= key == "filename";
            if !instead.is_empty() {
                self.left_out.insert(format!("{key}: {instead}"));
            }
            return Ok(());
        }
        match key {
            "rw" | "readwrite" => {
                self.rw = pattern(value)
                    .ok_or_else(|| wrong("is not read, write, randread, randwrite, rw or randrw"))?
            }
            "rwmixread" => {
                self.read_percent = percent(value).ok_or_else(|| wrong("is no percentage"))?
            }
            "rwmixwrite" => {
                self.read_percent =
                    100.0 - percent(value).ok_or_else(|| wrong("is no percentage"))?;
            }
            "percentage_random" => {
                self.random_percent =
                    Some(percent(value).ok_or_else(|| wrong("is not one percentage"))?);
            }
            "bs" | "blocksize" | "bsrange" | "blocksize_range" => {
                let (least, most) = value.split_once('-').unwrap_or((value, value));
                let least = Some(least).filter(|least| *least == most).and_then(bytes);
                self.block_bytes = least.ok_or_else(|| wrong("is not one size, such as 4k"))?
            }
            "size" => {
                self.size_bytes =
                    Some(bytes(value).ok_or_else(|| wrong("is no size in bytes, such as 1g"))?)
            }
            "runtime" | "timeout" => {
                self.seconds = Some(seconds(value).ok_or_else(|| wrong("is no time, such as 30s"))?)
            }
            "randseed" => self.seed = Some(value.parse().map_err(|_| wrong("is no whole number"))?),
            _ => return self.set_how(line, key, value),
        }
        Ok(())
    }

    /// The same for keys that say how requests are issued.
    fn set_how(&mut self, line: usize, key: &str, value: &str) -> Result<(), FioError> {
        let wrong = |what: &str| FioError::new(line, format!("{key}={value}: {what}"));
        let count = || {
            value
                .parse::<u32>()
                .ok()
                .filter(|n| *n > 0)
                .ok_or_else(|| wrong("is no whole number above 0"))
        };
        match key {
            "numjobs" => self.jobs = count()?,
            "iodepth" => self.depth = count()?,
            "thread" => self.threads = flag(value).ok_or_else(|| wrong("is neither 0 nor 1"))?,
            "stonewall" | "wait_for_previous" => {
                self.stonewall = flag(value).ok_or_else(|| wrong("is neither 0 nor 1"))?
            }
            "ioengine" => {
                self.is_libaio = value == "libaio";
                self.engine = match value {
                    "psync" | "sync" | "pvsync" | "pvsync2" | "vsync" => Engine::Psync,
                    "io_uring" | "libaio" => Engine::IoUring,
                    "mmap" => Engine::Mmap,
                    _ => {
                        return Err(wrong(
                            "ioscape has psync, io_uring (also for libaio) and mmap",
                        ));
                    }
                }
            }
            "direct" => {
                self.access = match flag(value).ok_or_else(|| wrong("is neither 0 nor 1"))? {
                    true => Access::Direct,
                    false => Access::Buffered,
                }
            }
            "buffered" => {
                self.access = match flag(value).ok_or_else(|| wrong("is neither 0 nor 1"))? {
                    true => Access::Buffered,
                    false => Access::Direct,
                }
            }
            "sync" => match value {
                "0" | "none" => {}
                "dsync" => self.access = Access::Dsync,
                _ => return Err(wrong("ioscape has O_DSYNC alone: write sync=dsync")),
            },
            "thinktime" => {
                let us = value.strip_suffix("us").unwrap_or(value).parse::<u64>();
                self.think_ns = us
                    .ok()
                    .and_then(|us| us.checked_mul(1000))
                    .ok_or_else(|| wrong("is no time in microseconds"))?;
            }
            "fadvise_hint" => {
                self.hints = flag(value).ok_or_else(|| wrong("is neither 0 nor 1"))?
            }
            "loops" | "thinktime_blocks" if value == "1" => {}
            "fsync" | "fdatasync" | "do_verify" | "create_on_open" if value == "0" => {}
            _ => {
                return Err(FioError::new(
                    line,
                    format!("{key} is no key that ioscape can carry out: leave it out, or run fio"),
                ));
            }
        }
        Ok(())
    }

    /// Keys that were left out, and what ioscape does instead.
    pub fn left_out(&self) -> BTreeSet<String> {
        let libaio = match (self.is_libaio, self.engine()) {
            (false, _) => None,
            (true, Engine::Psync) => Some(LIBAIO_BUFFERED),
            (true, _) => Some(LIBAIO_DIRECT),
        };
        self.left_out.iter().cloned().chain(libaio.map(str::to_owned)).collect()
    }

    fn engine(&self) -> Engine {
        match self.is_libaio && self.access != Access::Direct {
            true => Engine::Psync,
            false => self.engine,
        }
    }

    /// The whole workload; `None` without a size.
    pub fn workload(&self) -> Option<Workload> {
        let random = self.rw.starts_with("rand");
        let advice = match (self.hints && self.access != Access::Direct, random) {
            (false, _) => Advice::Normal,
            (true, true) => Advice::Random,
            (true, false) => Advice::Sequential,
        };
        let read_frac = match self.rw.trim_start_matches("rand") {
            "read" => 1.0,
            "write" => 0.0,
            _ => self.read_percent / 100.0,
        };
        let files = if self.shared_file { 1 } else { u64::from(self.jobs) };
        let engine = self.engine();
        Some(Workload {
            unique_bytes: self.size_bytes?.checked_mul(files)?,
            size_mean: self.block_bytes,
            size_distribution: SizeDistribution::Fixed,
            read_frac,
            seq_frac: if random { 1.0 - self.random_percent.unwrap_or(100.0) / 100.0 } else { 1.0 },
            process_num: self.jobs,
            // As fio does: a synchronous engine has one request in flight, whatever the depth.
            queue_depth: if engine == Engine::IoUring { self.depth } else { 1 },
            think_time_ns: self.think_ns,
            engine,
            access: self.access,
            workers: if self.threads { Workers::Threads } else { Workers::Processes },
            advice,
            ..Workload::default()
        })
    }

    /// The job of this name.
    pub fn job(&self, line: usize, name: &str) -> Result<Job, FioError> {
        let fails = |what: String| FioError::new(line, format!("job {name:?}: {what}"));
        let workload = self.workload();
        let workload = workload
            .ok_or_else(|| fails("size is missing: say how much data it touches".to_owned()))?;
        workload.validate().map_err(|e| fails(e.to_string()))?;
        Ok(Job {
            name: name.to_owned(),
            workload,
            seconds: self.seconds,
            seed: self.seed,
            verify: None,
        })
    }
}

fn pattern(value: &str) -> Option<String> {
    let known = ["read", "write", "randread", "randwrite", "rw", "readwrite", "randrw"];
    known.contains(&value).then(|| value.to_owned())
}

fn flag(value: &str) -> Option<bool> {
    match value {
        "" | "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}

/// A percentage.
pub(crate) fn percent(value: &str) -> Option<f64> {
    value.parse().ok().filter(|part: &f64| (0.0..=100.0).contains(part))
}

/// A size in fio's units: powers of 1024 by one letter. `Ki` means 1000 to fio and 1024 to everyone else: it is refused.
pub(crate) fn bytes(value: &str) -> Option<u64> {
    let value = value.to_ascii_lowercase();
    let value = value.strip_suffix('b').unwrap_or(&value);
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let power = match &value[digits.len()..] {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1024_u64.pow(power)).filter(|bytes| *bytes > 0)
}

/// A time in fio's units; a bare number is seconds.
fn seconds(value: &str) -> Option<f64> {
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &value[digits.len()..] {
        "us" => 1e-6,
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86400.0,
        _ => return None,
    };
    digits.parse::<u32>().ok().filter(|n| *n > 0).map(|n| f64::from(n) * unit)
}
