//! The state of a session: its target, its memory limit, and what was done to the target so far.

use super::options::{Course, SessionOptions};
use crate::verify::{Ledger, NoteBook};
use crate::worker::rows::KeptRows;
use ioscape_machine::cgroup::MemoryGroup;
use ioscape_machine::clock::Clock;
use ioscape_machine::error::Error;
use ioscape_machine::limits::raise_open_files;
use ioscape_machine::memory::memory;
use ioscape_machine::target::Target;
use ioscape_machine::witness::Sources;
use ioscape_schema::{Access, Measurement};
use std::fs::File;

/// One target, its memory limit, and what was done to it so far.
pub struct Session {
    /// The target of the I/O.
    pub(super) target: Target,
    /// Options that apply to all runs.
    pub(super) options: SessionOptions,
    /// The control group that holds the memory limit.
    pub(super) group: Option<MemoryGroup>,
    /// Total memory at the beginning, in bytes.
    pub(super) memory_bytes: u64,
    /// The source of all times.
    pub(super) clock: Clock,
    /// The kernel's counters of the layers below.
    pub(super) sources: Sources,
    /// The target, open for queries about its pages.
    pub(super) file: File,
    /// Bytes from the beginning that hold our data.
    pub(super) laid_out: u64,
    /// Bytes from the beginning that were read since we last emptied the cache.
    pub(super) touched: u64,
    /// Whether requests of an application have brought pages into the file cache, in folios of
    /// their own sizes.
    pub(super) as_applications_do: bool,
    /// Size of the previous run's set in bytes.
    pub(super) last_set: u64,
    /// Whether that set should have been read past the file cache, but was not, or not entirely,
    /// because it would have taken too long.
    pub(super) not_read_in: bool,
    /// Lowest rate at which a set was read past the file cache, in bytes per second; infinite
    /// before the first reading.
    pub(super) slowest_pass: f64,
    /// Lowest rate at which a set was read into the file cache, in bytes per second; infinite
    /// before the first reading.
    pub(super) slowest_fill: f64,
    /// The previous run's set and how much of it that run left in the file cache, both in bytes.
    pub(super) left: (u64, u64),
    /// Whether pages that one run had left were gone before the next although nothing here dropped
    /// them, or a set that was read left none.
    pub(super) drops: bool,
    /// Whether something may have been written since the last flush.
    pub(super) dirty: bool,
    /// The clock's properties, and the harness's own cost per request in nanoseconds.
    pub(super) calibration: Option<(ioscape_schema::environment::Clock, f64)>,
    /// A request size in bytes and the nanoseconds that changing all bytes of one takes, once that
    /// was needed.
    pub(super) marking: Option<(usize, f64)>,
    /// The measured requests of the previous run, if requested.
    pub(super) rows: KeptRows,
    /// The course of the previous run, if requested.
    pub(super) course: Option<Course>,
    /// What the blocks of the set hold, as long as all writes to them are known.
    pub(super) ledger: Option<Ledger>,
    /// What the present run finds in them, if it is verified.
    pub(super) notes: Option<NoteBook>,
    /// What the last run measured, if its blocks could not be read back afterwards.
    pub(super) unread: Option<Measurement>,
}

impl Session {
    /// Begins a session; creates the control group for the memory limit, if there is one.
    ///
    /// # Errors
    /// No control group can be made, or the target cannot be opened.
    pub fn new(target: Target, options: SessionOptions) -> Result<Self, Error> {
        // Each thread opens several files, and there may be many threads.
        raise_open_files();
        let group = options.memory_limit.map(MemoryGroup::create).transpose()?;
        let file = target.open_file(Access::Buffered, false)?;
        let sources = Sources::of(&target, group.as_ref());
        let clock = Clock::new();
        let (laid_out, touched, last_set, dirty, calibration) = (0, 0, 0, false, None);
        Ok(Self {
            target,
            options,
            group,
            memory_bytes: memory().total,
            clock,
            sources,
            file,
            laid_out,
            touched,
            as_applications_do: false,
            last_set,
            not_read_in: false,
            slowest_pass: f64::INFINITY,
            slowest_fill: f64::INFINITY,
            left: (0, 0),
            drops: false,
            dirty,
            calibration,
            marking: None,
            rows: KeptRows::default(),
            course: None,
            ledger: None,
            notes: None,
            unread: None,
        })
    }

    /// Bytes that the control group holds now; absent without one.
    pub(super) fn group_usage(&self) -> Option<u64> {
        self.group.as_ref().and_then(MemoryGroup::usage_bytes)
    }

    /// The target of the I/O.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The source of all times.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The largest set that fits, in bytes.
    pub fn max_unique_bytes(&self) -> u64 {
        self.target.capacity_bytes()
    }

    /// What is known of the blocks, from [`Self::keep_ledger`] on and as long as all writes to them
    /// are known.
    pub fn ledger(&self) -> Option<&Ledger> {
        self.ledger.as_ref()
    }

    /// Takes the measured requests of the last run, in the order of arrival, the first at time 0.
    /// `process` is the number of the stream, from 1; offsets lie within the set; times are those
    /// of the run's clock. Empty unless [`RunOptions::rows_most`](super::RunOptions::rows_most)
    /// requested them.
    pub fn take_rows(&mut self) -> KeptRows {
        std::mem::take(&mut self.rows)
    }

    /// Takes what the last run measured if it failed only in reading its blocks back, or was
    /// interrupted after the measured part. Includes what its own reads had found wrong.
    pub fn take_unread(&mut self) -> Option<Measurement> {
        self.unread.take()
    }

    /// Takes the course of the last run; `None` unless
    /// [`RunOptions::course`](super::RunOptions::course) requested it.
    pub fn take_course(&mut self) -> Option<Course> {
        self.course.take()
    }
}

#[cfg(test)]
impl Session {
    /// A session for tests, on a scratch file in a directory of the build.
    pub(super) fn of_build() -> Self {
        let place = ioscape_machine::testing::build_directory();
        let options = ioscape_machine::TargetOptions { destroy_data: false, write_needed: true };
        let target = Target::open(&place, &options).expect("a target");
        Self::new(target, SessionOptions::default()).expect("a session")
    }
}
