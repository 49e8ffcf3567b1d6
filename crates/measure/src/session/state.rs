//! The state of a session: its target, its memory limit, and what was done to the target so far.

use super::options::{Course, SessionOptions};
use crate::verify::{Ledger, NoteBook};
use ioscape_machine::cgroup::MemoryGroup;
use ioscape_machine::clock::Clock;
use ioscape_machine::error::Error;
use ioscape_machine::limits::raise_open_files;
use ioscape_machine::target::Target;
use ioscape_machine::witness::Sources;
use ioscape_schema::{Access, Io, Measurement};
use std::fs::File;

/// One target, its memory limit, and what was done to it so far.
pub struct Session {
    /// What the I/O goes to.
    pub(super) target: Target,
    /// What holds for all runs.
    pub(super) options: SessionOptions,
    /// The control group that holds the memory limit.
    pub(super) group: Option<MemoryGroup>,
    /// The clock that all times are taken from.
    pub(super) clock: Clock,
    /// The kernel's counters of what goes on below.
    pub(super) sources: Sources,
    /// The target, open for questions about its pages.
    pub(super) file: File,
    /// Bytes from the beginning that hold data of ours.
    pub(super) laid_out: u64,
    /// Bytes from the beginning that were read since the cache was last emptied by us.
    pub(super) touched: u64,
    /// Whether an application's requests have brought pages into the file cache, in folios of their own sizes.
    pub(super) as_applications_do: bool,
    /// The set of the run before, in bytes.
    pub(super) last_set: u64,
    /// Whether that set was to be read past the file cache and was not, or not wholly, since it would have taken too long.
    pub(super) not_read_in: bool,
    /// Lowest rate at which a set was read past the file cache, in bytes per second; infinite before.
    pub(super) slowest_pass: f64,
    /// Lowest rate at which a set was read into the file cache, in bytes per second; infinite before.
    pub(super) slowest_fill: f64,
    /// The set of the run before and how much of it that left in the file cache, in bytes.
    pub(super) left: (u64, u64),
    /// Whether pages that a run had left were gone before the next one although nobody here dropped them, or a set that was read left none.
    pub(super) drops: bool,
    /// Whether something may have been written since the last flush.
    pub(super) dirty: bool,
    /// The clock's properties, and the harness's own cost per request in nanoseconds.
    pub(super) calibration: Option<(ioscape_schema::environment::Clock, f64)>,
    /// A size of requests in bytes and the nanoseconds that it takes to change all of one, once that was needed.
    pub(super) marking: Option<(usize, f64)>,
    /// The measured requests of the run before, where they were asked for.
    pub(super) rows: Vec<Io>,
    /// The course of the run before, where it was asked for.
    pub(super) course: Option<Course>,
    /// What the blocks of the set hold, while all writes to them are known.
    pub(super) ledger: Option<Ledger>,
    /// What the present run finds in them, if it is verified.
    pub(super) notes: Option<NoteBook>,
    /// What the last run measured, where its blocks could then not be read back.
    pub(super) unread: Option<Measurement>,
}

impl Session {
    /// Begins a session; makes the control group that holds the memory limit, if there is one.
    ///
    /// # Errors
    /// No control group can be made, or the target cannot be opened.
    pub fn new(target: Target, options: SessionOptions) -> Result<Self, Error> {
        // Each of many threads opens several.
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
            rows: Vec::new(),
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

    /// What the I/O goes to.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The clock that all times are taken from.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The largest set that fits, in bytes.
    pub fn max_unique_bytes(&self) -> u64 {
        self.target.capacity_bytes()
    }

    /// What is known of the blocks, since [`Self::keep_ledger`] and as long as all writes to them are known.
    pub fn ledger(&self) -> Option<&Ledger> {
        self.ledger.as_ref()
    }

    /// The measured requests of the last run in the order of arrival, the first at time 0: `process` is the number of the
    /// stream from 1, offsets lie within the set, the times are the run's clock. Empty unless
    /// [`RunOptions::rows_most`](super::RunOptions::rows_most) asked for them.
    pub fn take_rows(&mut self) -> Vec<Io> {
        std::mem::take(&mut self.rows)
    }

    /// What the last run measured where it failed only in reading its blocks back, with what its own reads had found wrong.
    pub fn take_unread(&mut self) -> Option<Measurement> {
        self.unread.take()
    }

    /// The course of the last run; `None` unless [`RunOptions::course`](super::RunOptions::course) asked for it.
    pub fn take_course(&mut self) -> Option<Course> {
        self.course.take()
    }
}

#[cfg(test)]
impl Session {
    /// For tests: on a scratch file in a directory of the build.
    pub(super) fn of_build() -> Self {
        let place = ioscape_machine::testing::build_directory();
        let options = ioscape_machine::TargetOptions { destroy_data: false, write_needed: true };
        let target = Target::open(&place, &options).expect("a target");
        Self::new(target, SessionOptions::default()).expect("a session")
    }
}
