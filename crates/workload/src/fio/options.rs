//! The keys of fio that map to a workload, and the resulting workload.

use super::keys::{
    LEFT_OUT, LIBAIO_BUFFERED, LIBAIO_DIRECT, NO_AMOUNT, ONE_BEGINNING, OWN_FILES, PAUSED,
    SYNCHRONOUS, advice,
};
use super::values::{SECOND_NS, bytes, flag, nanoseconds, no_size, pattern, percent};
use crate::jobs::{Job, LineError};
use ioscape_schema::{Access, Advice, Engine, SizeDistribution, Workers, Workload};
use std::collections::BTreeSet;

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
    /// Whether the engine is Linux's older asynchronous I/O, which ioscape lacks.
    pub is_libaio: bool,
    direct: bool,
    dsync: bool,
    think_ns: u64,
    hints: bool,
    /// The longest that it runs, in seconds.
    pub seconds: Option<f64>,
    seed: Option<u64>,
    /// Whether the job waits for those above it.
    pub stonewall: bool,
    left_out: BTreeSet<String>,
    /// Whether offsets are drawn with replacement, as in ioscape.
    pub repeats_places: bool,
    /// Whether fio is told to continue until its time is up.
    pub time_based: bool,
    /// Whether the note about the amount that ends the job is already given.
    is_amount_told: bool,
    /// Whether fio writes its files before the job, as ioscape does.
    overwrites: bool,
    /// Whether fio evicts the set from the file cache before the job, as it does by default.
    invalidates: bool,
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
            direct: false,
            dsync: false,
            think_ns: 0,
            hints: true,
            seconds: None,
            seed: None,
            stonewall: false,
            left_out: BTreeSet::new(),
            repeats_places: false,
            time_based: false,
            is_amount_told: false,
            overwrites: false,
            invalidates: true,
        }
    }
}

impl FioOptions {
    /// Takes keys over, each with its line; returns errors for those that cannot be.
    pub fn take(&mut self, settings: &[(usize, String, String)]) -> Vec<LineError> {
        settings.iter().filter_map(|(line, key, value)| self.set(*line, key, value).err()).collect()
    }

    /// Takes one key over.
    pub fn set(&mut self, line: usize, key: &str, value: &str) -> Result<(), LineError> {
        let wrong = |what: &str| LineError::new(line, format!("{key}={value}: {what}"));
        if let Some((_, instead)) = LEFT_OUT.iter().find(|(name, _)| *name == key) {
            match key {
                "filename" => self.shared_file = true,
                "norandommap" => self.repeats_places = value != "0",
                "overwrite" => self.overwrites = value != "0",
                "time_based" => self.time_based = value != "0",
                _ => self.is_amount_told |= *instead == NO_AMOUNT,
            }
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
            "invalidate" => self.invalidates = value != "0",
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
            "size" => self.size_bytes = Some(bytes(value).ok_or_else(|| wrong(no_size(value)))?),
            "runtime" | "timeout" => {
                let time = nanoseconds(value, SECOND_NS).filter(|ns| *ns > 0);
                let time = time.ok_or_else(|| wrong("is no time, such as 30s"))?;
                self.seconds = Some(time as f64 / SECOND_NS as f64);
            }
            "randseed" => self.seed = Some(value.parse().map_err(|_| wrong("is no whole number"))?),
            _ => return self.set_how(line, key, value),
        }
        Ok(())
    }

    /// The same for keys that say how requests are issued.
    fn set_how(&mut self, line: usize, key: &str, value: &str) -> Result<(), LineError> {
        let wrong = |what: &str| LineError::new(line, format!("{key}={value}: {what}"));
        let count = || {
            value
                .parse::<u32>()
                .ok()
                .filter(|n| *n > 0)
                .ok_or_else(|| wrong("is no whole number above 0"))
        };
        let switch = || flag(value).ok_or_else(|| wrong("is neither 0 nor 1"));
        match key {
            "numjobs" => self.jobs = count()?,
            "iodepth" => self.depth = count()?,
            "thread" => self.threads = switch()?,
            "stonewall" | "wait_for_previous" => self.stonewall = switch()?,
            "ioengine" => {
                self.is_libaio = value == "libaio";
                self.engine = match value {
                    "psync" | "sync" | "pvsync" | "pvsync2" | "vsync" => Engine::Psync,
                    "io_uring" | "libaio" => Engine::IoUring,
                    "mmap" => Engine::Mmap,
                    "null" => Engine::Null,
                    _ => {
                        return Err(wrong(
                            "ioscape has psync, io_uring (also for libaio), mmap and null",
                        ));
                    }
                }
            }
            "direct" => self.direct = switch()?,
            "buffered" => self.direct = !switch()?,
            "sync" => match value {
                "0" | "none" => self.dsync = false,
                "dsync" => self.dsync = true,
                _ => return Err(wrong("ioscape has O_DSYNC alone: write sync=dsync")),
            },
            "thinktime" => {
                let time = nanoseconds(value, 1_000);
                self.think_ns = time.ok_or_else(|| wrong("is no time, such as 100us"))?;
            }
            "fadvise_hint" => self.hints = switch()?,
            "thinktime_blocks" | "nrfiles" if value == "1" => {}
            "random_distribution" if value == "random" => {}
            "fsync" | "fdatasync" | "end_fsync" | "do_verify" | "create_on_open"
                if value == "0" => {}
            "fsync_on_close" | "verify" if value == "0" => {}
            _ => {
                let said = if value.is_empty() { key.to_owned() } else { format!("{key}={value}") };
                return Err(LineError::new(line, format!("{said}: {}", advice(key))));
            }
        }
        Ok(())
    }

    /// Returns the keys that were left out, with what ioscape does instead.
    pub fn left_out(&self) -> BTreeSet<String> {
        let libaio = match (self.is_libaio, self.engine()) {
            (false, _) => None,
            (true, Engine::Psync) => Some(LIBAIO_BUFFERED),
            (true, _) => Some(LIBAIO_DIRECT),
        };
        let told = libaio.map(str::to_owned).into_iter().chain(self.unused_depth());
        let told = told.chain(self.cached()).chain(self.whole_time());
        self.left_out.iter().cloned().chain(told).chain(self.differences()).collect()
    }

    /// Returns how fio's work differs from that of ioscape with the same keys, one sentence each.
    pub fn differences(&self) -> Vec<String> {
        let told = self.other_places().into_iter().chain(self.one_pass()).chain(self.new_file());
        told.chain(self.other_order()).collect()
    }

    /// Returns the note on reads through the file cache, which fio evicts first.
    fn cached(&self) -> Option<String> {
        let reads = self.rw.trim_start_matches("rand") != "write";
        let is_cached = !self.direct && self.engine() != Engine::Null;
        (self.invalidates && is_cached && reads).then(|| {
            "invalidate: the set is read into the file cache before the job, as far as it fits; fio drops it there first and reads it from storage".to_owned()
        })
    }

    /// Whether fio continues until its time is up: it ignores `time_based` without a time.
    fn goes_on(&self) -> bool {
        self.time_based && self.seconds.is_some()
    }

    /// Returns the note on a time that fio measures to its end.
    fn whole_time(&self) -> Option<String> {
        let note = || format!("runtime: {NO_AMOUNT}; with time_based fio goes on for all of it");
        self.goes_on().then(note)
    }

    /// Returns the note on an end that fio would reach before its time is up.
    fn one_pass(&self) -> Option<String> {
        (!self.goes_on() && !self.is_amount_told).then(|| {
            format!(
                "size: {NO_AMOUNT}; fio ends after one pass over it, unless runtime and time_based are both set"
            )
        })
    }

    /// Returns the note on write-only jobs, for which fio lays out no file.
    fn new_file(&self) -> Option<String> {
        let only_writes = self.rw.trim_start_matches("rand") == "write";
        // A mapping needs an existing file, so fio writes the file first.
        let extends = !matches!(self.engine(), Engine::Null | Engine::Mmap);
        let is_new = only_writes && !self.overwrites && extends;
        is_new.then(|| {
            format!(
                "rw={}: the set was written before; without overwrite=1 fio writes a new file, unless it is there or a device",
                self.rw
            )
        })
    }

    /// Whether all or some requests go to random offsets.
    pub fn is_random(&self) -> bool {
        self.rw.starts_with("rand")
    }

    /// Whether some requests continue where others ended.
    fn is_in_sequence(&self) -> bool {
        !self.is_random() || self.random_percent.is_some_and(|percent| percent < 100.0)
    }

    /// Returns the note on several processes, which here share one set and start at even distances
    /// in it.
    fn other_places(&self) -> Option<String> {
        let what = match (self.jobs, self.shared_file) {
            (1, _) => return None,
            (_, false) => OWN_FILES,
            (_, true) if self.is_in_sequence() => ONE_BEGINNING,
            (_, true) => return None,
        };
        Some(format!("numjobs={}: {what}", self.jobs))
    }

    /// Returns the notes on requests that come in another order here.
    fn other_order(&self) -> Vec<String> {
        let (rw, is_random) = (&self.rw, self.is_random());
        let is_mixed = !matches!(rw.trim_start_matches("rand"), "read" | "write");
        let mut told = Vec::new();
        if is_mixed && self.is_in_sequence() {
            told.push(format!("rw={rw}: reads and writes go on where the last of either ended, where fio has a place for each"));
        }
        if is_random && !self.repeats_places {
            told.push(format!("rw={rw}: places are drawn with replacement (fio's norandommap), where fio visits each once before any again"));
        }
        if is_random && !self.block_bytes.is_power_of_two() {
            told.push(format!(
                "bs={}: random requests do not begin at its multiples, since it is no power of two",
                self.block_bytes
            ));
        }
        told
    }

    /// Returns the note on a queue depth without effect.
    fn unused_depth(&self) -> Option<String> {
        let what = match self.engine() {
            Engine::IoUring => PAUSED,
            // The note on libaio says so.
            _ if self.is_libaio => return None,
            _ => SYNCHRONOUS,
        };
        (self.depth > self.queue_depth()).then(|| format!("iodepth={}: {what}", self.depth))
    }

    /// Returns the requests in flight. As in fio, a synchronous engine has one, whatever the depth,
    /// and all complete before a pause.
    fn queue_depth(&self) -> u32 {
        if self.engine() == Engine::IoUring && self.think_ns == 0 { self.depth } else { 1 }
    }

    fn engine(&self) -> Engine {
        match self.is_libaio && !self.direct {
            true => Engine::Psync,
            false => self.engine,
        }
    }

    fn access(&self) -> Result<Access, &'static str> {
        match (self.direct, self.dsync) {
            (true, true) => {
                Err("direct=1 and sync=dsync are both set, and ioscape has one of them at a time")
            }
            (true, false) => Ok(Access::Direct),
            (false, true) => Ok(Access::Dsync),
            (false, false) => Ok(Access::Buffered),
        }
    }

    /// Returns how much data all processes touch together.
    fn unique_bytes(&self) -> Result<u64, &'static str> {
        let size = self.size_bytes.ok_or(
            "size is missing: say how much data it touches, such as size=1g (fio would take the whole file or device)",
        )?;
        let files = if self.shared_file { 1 } else { u64::from(self.jobs) };
        size.checked_mul(files).ok_or("size times numjobs is more than can be counted")
    }

    /// Returns the bytes that all processes move in one pass each; on a shared file each makes its own.
    pub fn pass_bytes(&self) -> f64 {
        self.size_bytes.unwrap_or_default() as f64 * f64::from(self.jobs)
    }

    /// Returns the whole workload, or what is missing for one.
    pub fn workload(&self) -> Result<Workload, &'static str> {
        let random = self.is_random();
        let advice = match (self.hints && !self.direct, random) {
            (false, _) => Advice::Normal,
            (true, true) => Advice::Random,
            (true, false) => Advice::Sequential,
        };
        let read_frac = match self.rw.trim_start_matches("rand") {
            "read" => 1.0,
            "write" => 0.0,
            _ => self.read_percent / 100.0,
        };
        let workload = Workload {
            unique_bytes: self.unique_bytes()?,
            size_mean: self.block_bytes,
            size_distribution: SizeDistribution::Fixed,
            // fio's `blockalign`: the size of a request.
            align_bytes: Some(self.block_bytes).filter(|size| random && size.is_power_of_two()),
            read_frac,
            seq_frac: if random { 1.0 - self.random_percent.unwrap_or(100.0) / 100.0 } else { 1.0 },
            process_num: self.jobs,
            queue_depth: self.queue_depth(),
            think_time_ns: self.think_ns,
            engine: self.engine(),
            access: self.access()?,
            workers: if self.threads { Workers::Threads } else { Workers::Processes },
            advice,
            ..Workload::default()
        };
        Ok(workload.with_exact_size())
    }

    /// Returns the job with this name.
    pub fn job(&self, line: usize, name: &str) -> Result<Job, LineError> {
        let fails = |what: String| LineError::new(line, format!("job {name:?}: {what}"));
        let workload = self.workload().map_err(|what| fails(what.to_owned()))?;
        workload.validate().map_err(|e| fails(e.to_string()))?;
        Ok(Job { seconds: self.seconds, seed: self.seed, ..Job::named(name, workload) })
    }
}
