//! Preparation of a run: the set is laid out, dirty pages are flushed, and a device's own cache is
//! filled.

use super::options::{Phase, RunOptions};
use super::state::Session;
use crate::conductor::failure;
use crate::verify::Ledger;
use crate::worker::report::REPORT_WORDS;
use crate::worker::task::{self, Site, Task};
use ioscape_machine::cache;
use ioscape_machine::cgroup::{MemoryGroup, enclosing_limit};
use ioscape_machine::crew::{Crew, DONE};
use ioscape_machine::error::{Death, Error, Spared};
use ioscape_machine::extents::{Extent, first_extents, fragments};
use ioscape_machine::limits::file_size;
use ioscape_machine::memory::memory;
use ioscape_machine::shared::{Shared, phase};
use ioscape_machine::witness::Sources;
use ioscape_schema::units::Bytes;
use ioscape_schema::{Access, Engine, Warning, WarningKind, Workload};
use std::io::{self, ErrorKind};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The most seconds for reading a set into a cache that may exist behind the file system.
pub(super) const BEHIND_CAP_S: f64 = 15.0;

/// Reading a set past the file cache may take this many times as long as measuring it.
pub(super) const PASS: f64 = 2.0;

/// Alignment of direct requests where the kernel does not report one.
const ALIGN: u32 = 4096;

/// The most extents of a set that are examined to judge whether it is scattered.
const LOOKED_AT: usize = 4096;
/// The kernel's usual read-ahead for sequential requests, in bytes.
const READ_AHEAD: f64 = 131_072.0;

/// How often the worker of a task is checked.
const LOOK: Duration = Duration::from_millis(100);

impl Session {
    /// Writes incompressible data to the first `bytes` of the target; keeps what is already
    /// written. If there is no room, a scratch file is cut back at once to its former size: other
    /// programs need that room too, as within a quota.
    ///
    /// # Errors
    /// The target is too small or full, writing fails, or the user interrupts.
    pub fn layout(&mut self, bytes: u64, options: &RunOptions) -> Result<(), Error> {
        if bytes <= self.laid_out {
            return Ok(());
        }
        self.check_room(bytes)?;
        self.check_free(bytes)?;
        let from = self.laid_out;
        if from == 0 && !self.target.is_scratch() {
            // Pages that are already cached would stay as they came.
            self.evict(options)?;
        }
        self.dirty = true;
        let (done, outcome) = self.do_task(&Task::Layout(from..bytes), options, None);
        self.laid_out = from + done;
        self.touched = self.touched.min(from);
        if self.target.is_scratch() && outcome.as_ref().is_err_and(is_full) {
            // The file itself is removed with the session, whether or not this succeeds.
            let _ = self.do_task(&Task::Shrink(from), options, None);
            self.laid_out = from;
        }
        outcome?;
        self.dirty = false;
        let system = self.target.file_system();
        if system.comes_by_pages() && system.syncs_each_write() {
            // The set was written in large pieces, and is to be read page by page.
            self.evict(options)?;
        }
        Ok(())
    }

    /// Whether a run failed with `error` because there was no room to lay out the first `bytes` of
    /// the target, and the space taken was given back.
    pub fn lacks_room(&self, bytes: u64, error: &Error) -> bool {
        self.target.is_scratch() && self.laid_out < bytes && is_full(error)
    }

    /// Refuses a set that the target has no room for.
    ///
    /// # Errors
    /// There is too little room; the error says how large the set may be.
    pub(super) fn check_room(&self, bytes: u64) -> Result<(), Error> {
        let capacity = self.max_unique_bytes();
        if bytes <= capacity {
            return Ok(());
        }
        let path = self.target.path().to_owned();
        let of_what = match self.target.len() {
            _ if capacity == file_size() => "the limit of file sizes (ulimit -f)",
            _ if self.target.is_scratch() => "part of the free space",
            Ok(len) if len > capacity && self.target.file_system().name == "block" => {
                "as far as what is left below suffices, since the device lies in memory or on a sparse file"
            }
            Ok(len) if len > capacity => {
                "as far as part of the free space suffices, since the file has holes, shares blocks with a copy or snapshot, or is not overwritten in place"
            }
            _ => "its size",
        };
        let (set, most) = (Bytes(bytes as f64), Bytes(capacity as f64));
        let reason =
            format!("a set of {set} does not fit: at most {most}, {of_what}; make it smaller");
        Err(Error::Target { path, reason })
    }

    /// Refuses to take the last free space for a set. Other programs may have taken some since the
    /// target was opened.
    fn check_free(&self, bytes: u64) -> Result<(), Error> {
        let Some([needed, spared, free]) = self.target.lacks(self.laid_out, bytes) else {
            return Ok(());
        };
        let path = self.target.path();
        if self.target.len().is_ok_and(|len| len == 0) {
            let path = path.parent().unwrap_or(path).to_owned();
            return Err(Error::Space { path, needed, spared, free });
        }
        // Something may have been measured by now, so that running out of room is no misuse.
        let [needed, free] = [needed, free].map(|bytes| Bytes(bytes as f64));
        let why = format!(
            "{needed} of free space is needed{}, but only {free} is left: free some space, or make the set smaller",
            Spared(spared)
        );
        let source = io::Error::new(ErrorKind::StorageFull, why);
        Err(Error::io_at("write", path, self.laid_out, source))
    }

    /// Prepares everything for `workload` that can be prepared before the workers open the set;
    /// returns any doubt about it.
    pub(super) fn prepare(
        &mut self,
        workload: &Workload,
        options: &RunOptions,
    ) -> Result<Option<Warning>, Error> {
        if workload.engine == Engine::Null {
            return Ok(None);
        }
        let mut doubt = None;
        let fresh = self.laid_out < workload.unique_bytes;
        self.layout(workload.unique_bytes, options)?;
        if self.dirty {
            self.do_task(&Task::Flush, options, None).1?;
            self.dirty = false;
        }
        if workload.engine == Engine::Dontcache {
            // Pages that other programs left in the cache would stay there, and the set would be
            // read from them.
            self.evict(options)?;
        } else if workload.access == Access::Direct {
            if fresh {
                self.evict(options)?;
            }
            if passes_cache(workload, options) {
                self.pass(workload.unique_bytes, options)?;
            }
        } else if !workload.phases.is_empty() {
            // An application finds its files where they were left long ago.
            self.evict(options)?;
            self.as_applications_do = true;
        } else {
            if std::mem::take(&mut self.as_applications_do) {
                self.evict(options)?;
            }
            doubt = self.evict_foreign_pages(workload.unique_bytes, options)?;
        }
        self.dirty = workload.read_frac < 1.0;
        Ok(doubt)
    }

    /// The doubt that reads go to a set that was rewritten in parts, and so scattered by a file
    /// system that does not overwrite in place. The cold files of an application are left alone:
    /// asking where they lie brings that information into memory.
    pub(super) fn doubt_of_age(&self, workload: &Workload) -> Option<Warning> {
        let system = self.target.file_system();
        let is_asked = workload.read_frac > 0.0 && workload.phases.is_empty();
        if !is_asked || workload.engine == Engine::Null || !system.relocates() {
            return None;
        }
        let mut found = first_extents(&self.file, LOOKED_AT).ok()?;
        found.retain(|extent| extent.logical < workload.unique_bytes);
        if !is_scattered(&found, workload) {
            return None;
        }
        let message = format!(
            "the set lies on the device in pieces that are smaller on average than such reads with their read-ahead: {} does not overwrite in place, so earlier writes here may have made these reads slower than those of a new set; measure sequential and large reads first",
            system.name
        );
        Some(Warning::new(WarningKind::Trap, message))
    }

    /// Puts the workers under this memory limit, in bytes, from now on, or under none. Also drops
    /// the target's pages from the file cache, since they are charged to whoever brought them in.
    ///
    /// # Errors
    /// No control group can be made, or the cache cannot be emptied.
    pub fn limit_memory(&mut self, limit: Option<u64>, options: &RunOptions) -> Result<(), Error> {
        if limit == self.options.memory_limit {
            return Ok(());
        }
        self.evict(options)?;
        // The old group goes first: removing it may disable the controller that the new one needs.
        self.group = None;
        self.group = limit.map(MemoryGroup::create).transpose()?;
        self.sources = Sources::of(&self.target, self.group.as_ref());
        self.options.memory_limit = limit;
        self.last_set = 0;
        Ok(())
    }

    pub(super) fn evict(&mut self, options: &RunOptions) -> Result<(), Error> {
        self.touched = 0;
        self.left = (0, 0);
        self.do_task(&Task::Evict, options, None).1
    }

    /// After `workload`, sees that its writes reach storage. Their loss is an error.
    pub(super) fn settle(
        &mut self,
        workload: &Workload,
        options: &RunOptions,
    ) -> Result<(), Error> {
        if workload.read_frac < 1.0 && workload.engine != Engine::Null {
            self.do_task(&Task::Flush, options, None).1?;
            self.dirty = false;
        }
        Ok(())
    }

    /// Share of the first `bytes` of the target in the file cache, where the kernel can tell.
    pub(super) fn resident_frac(&self, bytes: u64) -> Option<f64> {
        let counted = cache::resident_bytes(&self.file, 0, bytes);
        let resident = self.target.file_system().resident(counted)?;
        Some((resident as f64 / bytes.max(1) as f64).min(1.0))
    }

    /// Share of the set of `workload` in the file cache, where the kernel can tell.
    pub(super) fn resident_of(&self, workload: &Workload) -> Option<f64> {
        match workload.engine {
            Engine::Null => None,
            _ => self.resident_frac(workload.unique_bytes),
        }
    }

    /// Evicts pages that other programs brought in: under a memory limit, the cache cannot hold
    /// more pages than the limit allows unless they did.
    fn evict_foreign_pages(
        &mut self,
        bytes: u64,
        options: &RunOptions,
    ) -> Result<Option<Warning>, Error> {
        let Some(limit) = self.group.as_ref().map(|g| g.limit_bytes()) else { return Ok(None) };
        let allowed = limit + limit / 50 + (4 << 20);
        let resident = |s: &Self| cache::resident_bytes(&s.file, 0, bytes).unwrap_or(0);
        if resident(self) > allowed {
            self.evict(options)?;
            let left = resident(self);
            if left > allowed {
                let message = format!(
                    "{} MiB of the set stay in the file cache though the memory limit is {} MiB: another group holds \
                     them, so the limit does not bind",
                    left >> 20,
                    limit >> 20
                );
                return Ok(Some(Warning::new(WarningKind::ForeignPages, message)));
            }
        }
        Ok(None)
    }

    /// Memory that the file cache could fill: the limit, including one that this program was
    /// started under, or the available memory plus what the set already occupies.
    pub(super) fn cache_room(&self) -> u64 {
        let limit = self.group.as_ref().map(MemoryGroup::limit_bytes).or_else(enclosing_limit);
        memory().available.min(limit.unwrap_or(u64::MAX))
    }

    /// Reads a new set once past the file cache, unless that takes much longer than measuring it.
    /// The device, or whatever serves the files, may have a cache of its own, which a short warm-up
    /// of random requests does not fill.
    fn pass(&mut self, bytes: u64, options: &RunOptions) -> Result<(), Error> {
        let is_new = std::mem::replace(&mut self.last_set, bytes) != bytes;
        let cap_s = (PASS * options.cap_s).clamp(0.0, BEHIND_CAP_S);
        if !is_new {
            return Ok(());
        }
        self.not_read_in = true;
        if bytes as f64 > cap_s * self.slowest_pass {
            return Ok(());
        }
        let align = u64::from(self.target.direct_align().unwrap_or(ALIGN).max(1));
        let whole = bytes - bytes % align;
        let task = Task::Touch(0..whole, Access::Direct);
        let begun = Instant::now();
        let (done, outcome) = self.do_task(&task, options, Some(Duration::from_secs_f64(cap_s)));
        let elapsed_s = begun.elapsed().as_secs_f64();
        if done > 0 {
            self.slowest_pass = self.slowest_pass.min(done as f64 / elapsed_s.max(1e-9));
        }
        self.not_read_in = done < whole;
        outcome
    }

    /// Has a worker do `task` for at most `cap`; returns the bytes done, and whether it succeeded.
    pub(super) fn do_task(
        &self,
        task: &Task,
        options: &RunOptions,
        cap: Option<Duration>,
    ) -> (u64, Result<(), Error>) {
        let path = self.target.path();
        let shared = match Shared::new(1, REPORT_WORDS) {
            Ok(shared) => shared,
            Err(error) => return (0, Err(Error::io("get shared memory for", path, error))),
        };
        let forked = Crew::fork(1, |_| {
            let site = Site {
                shared: &shared,
                target: &self.target,
                opened: &self.file,
                group: self.group.as_ref(),
                ledger: self.ledger.as_ref(),
                notes: self.notes.as_ref(),
            };
            task::carry_out(task, &site)
        });
        let outcome = match forked {
            Ok(crew) => self.watch_task(task, crew, &shared, options, cap),
            Err(error) => Err(Error::io("fork a worker for", path, error)),
        };
        (shared.header().progress.load(Ordering::Relaxed), outcome)
    }

    fn watch_task(
        &self,
        task: &Task,
        mut crew: Crew,
        shared: &Shared,
        options: &RunOptions,
        cap: Option<Duration>,
    ) -> Result<(), Error> {
        let begin = Instant::now();
        let (name, total) = match task {
            Task::Layout(range) => (Phase::Layout, range.end - range.start),
            Task::Flush | Task::Evict | Task::Shrink(_) | Task::Free(_) => (Phase::Flush, 0),
            Task::Touch(range, _) => (Phase::Touch, range.end - range.start),
            Task::ReadBack => (Phase::ReadBack, self.ledger.as_ref().map_or(0, Ledger::bytes)),
        };
        let mut stopped = false;
        while !crew.wait(LOOK, || options.is_interrupted()) {
            if options.is_interrupted() {
                shared.set_phase(phase::STOP);
                crew.kill();
                return Err(Error::Interrupted);
            }
            if crew.is_held() {
                crew.kill();
                return Err(Error::Worker { process: 0, death: Death::Hung });
            }
            if !stopped && cap.is_some_and(|cap| begin.elapsed() > cap) {
                shared.set_phase(phase::STOP);
                crew.wait(Duration::from_secs(10), || options.is_interrupted());
                // A worker that cannot be killed is waiting for an answer, which may still come.
                stopped = true;
                crew.kill();
            }
            options.tell(name, shared.header().progress.load(Ordering::Relaxed), total);
        }
        match crew.first_dead() {
            Some((_, Death::Exit(DONE))) | None => Ok(()),
            Some((_, Death::Signal(libc::SIGKILL))) if stopped => Ok(()),
            Some((process, death)) => {
                Err(failure::from_death(process, death, shared, |_| self.target.path()))
            }
        }
    }
}

/// Whether the set of `workload` is read past the file cache before the measurement.
pub(super) fn passes_cache(workload: &Workload, options: &RunOptions) -> bool {
    let is_direct = workload.access == Access::Direct
        && !matches!(workload.engine, Engine::Null | Engine::Dontcache);
    is_direct && workload.read_frac > 0.0 && !options.course
}

/// Whether the pieces in which a set with these extents lies are smaller on average than what
/// `workload` reads at a time.
fn is_scattered(extents: &[Extent], workload: &Workload) -> bool {
    let bytes: u64 = extents.iter().map(|extent| extent.len).sum();
    let ahead = if workload.seq_frac >= 0.5 { READ_AHEAD } else { 0.0 };
    // Without extents, the mean is not a number, which compares as false.
    let is_small =
        |count: u64| bytes as f64 / (count as f64) < ahead.max(workload.size_mean as f64);
    fragments(extents).is_some_and(is_small)
}

/// Whether a file could not grow because its file system or a quota is full, or its size is
/// limited.
fn is_full(error: &Error) -> bool {
    let Error::Io { source, .. } = error else { return false };
    matches!(
        source.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against silence about a scattered set: on btrfs, sequential reads took five times as
    /// long after random 4 KiB writes.
    #[test]
    fn a_set_in_pieces_smaller_than_what_is_read_at_once_is_scattered() {
        let extents = |len: u64| -> Vec<Extent> {
            let at = |i| Extent { logical: i * len, physical: 3 * i * len, len, is_encoded: false };
            (0..8).map(at).collect()
        };
        let reads = |size_mean, seq_frac| Workload { size_mean, seq_frac, ..Workload::default() };
        assert!(is_scattered(&extents(4096), &reads(1 << 20, 0.0)));
        assert!(is_scattered(&extents(4096), &reads(4096, 1.0)), "read ahead");
        assert!(!is_scattered(&extents(4096), &reads(4096, 0.0)));
        assert!(!is_scattered(&extents(8 << 20), &reads(1 << 20, 1.0)));
        assert!(!is_scattered(&[], &reads(1 << 20, 1.0)), "absent never means scattered");
    }

    #[test]
    fn a_new_set_is_read_once_past_the_file_cache_for_direct_reads_only() {
        let mut session = Session::of_build();
        if session.target.open_file(Access::Direct, false).is_err() {
            return ioscape_machine::testing::skipped("the file system refuses direct access");
        }
        let options = RunOptions::default();
        let of = |unique_bytes, read_frac| Workload {
            access: Access::Direct,
            unique_bytes,
            read_frac,
            ..Workload::default()
        };
        session.prepare(&of(4 << 20, 0.0), &options).expect("prepared");
        assert!(session.slowest_pass.is_infinite(), "nothing is read of what is only written");
        session.prepare(&of(4 << 20, 1.0), &options).expect("prepared");
        let first = std::mem::replace(&mut session.slowest_pass, f64::INFINITY);
        assert!(first.is_finite() && first > 0.0 && !session.not_read_in);
        session.prepare(&of(4 << 20, 0.5), &options).expect("prepared");
        assert!(session.slowest_pass.is_infinite(), "the set of the run before is not read again");
        session.slowest_pass = 1.0;
        let begun = session.last_set;
        session.prepare(&of(8 << 20, 1.0), &options).expect("prepared");
        assert_ne!(begun, session.last_set);
        assert!((session.slowest_pass - 1.0).abs() < 1e-9, "what would take too long is not read");
        assert!(session.not_read_in);
        session.prepare(&of(8 << 20, 1.0), &options).expect("prepared");
        assert!(session.not_read_in, "nor has it been read when it is measured again");
    }
}
