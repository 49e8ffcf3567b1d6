//! One run from beginning to end: calibration, checks, preparation, measurement, summary.

use super::options::RunOptions;
use super::state::Session;
use super::verify::verified_block;
use crate::conductor::failure::from_fault;
use crate::engine::buffer::{BUFFERS, check_room, time_of_marking};
use crate::engine::uring;
use crate::verify::ledger::{LESS, check_memory, memory_of};
use ioscape_machine::arrays;
use ioscape_machine::cgroup::available_memory;
use ioscape_machine::environment;
use ioscape_machine::error::Error;
use ioscape_machine::memory::{doubt_of_change, memory};
use ioscape_schema::{Access, Engine, Environment, Measurement, Op, Request, Stop, Workload};
use std::fmt::Display;
use std::time::Instant;

/// What to do where a file system does not support direct I/O.
const THROUGH_CACHE: &str =
    ": go through the file cache, or name a directory on another file system";

impl Session {
    /// Determines the clock's precision and cost, and the harness's own processor time per request
    /// in nanoseconds, from a run of the null engine. It does so only once, in about a fifth of a
    /// second.
    ///
    /// # Errors
    /// No worker could be made, or it died.
    pub fn calibrate(&mut self) -> Result<(ioscape_schema::environment::Clock, f64), Error> {
        if let Some(known) = self.calibration {
            return Ok(known);
        }
        self.calibrate_with(|process| typical_stream(process.into()))
    }

    /// Like [`Session::calibrate`], but with the streams that will really be run. Their generator
    /// may cost more or less than a typical one.
    pub fn calibrate_with<F, S>(
        &mut self,
        streams: F,
    ) -> Result<(ioscape_schema::environment::Clock, f64), Error>
    where
        F: Fn(u32) -> S + Sync,
        S: FnMut() -> Request + Send,
    {
        let workload = Workload { engine: Engine::Null, ..Workload::default() };
        let options = RunOptions {
            min_s: 0.1,
            cap_s: 0.15,
            warm_min_s: 0.05,
            warm_cap_s: 0.05,
            ..RunOptions::default()
        };
        let trial = self.conduct(&workload, 1, &options, &streams)?;
        let cost = trial.cost();
        let overhead_ns = (cost.user_ns + cost.system_ns) as f64 / trial.ios().max(1) as f64;
        Ok(*self.calibration.insert((self.clock.measure(), overhead_ns)))
    }

    /// Nanoseconds per request, on average, that changing all bytes of the writes takes, where that
    /// is done between requests.
    fn marking_ns(&mut self, workload: &Workload) -> f64 {
        if workload.read_frac >= 1.0 || !self.target.file_system().compresses() {
            return 0.0;
        }
        let bytes = usize::try_from(workload.size_mean).unwrap_or(usize::MAX);
        let known = self.marking.filter(|(size, _)| *size == bytes);
        let (_, ns) =
            *self.marking.insert(known.unwrap_or_else(|| (bytes, time_of_marking(bytes))));
        (1.0 - workload.read_frac) * ns
    }

    /// Describes the machine, the clock and the harness's own cost.
    pub fn environment(&mut self) -> Result<Environment, Error> {
        let (clock, harness_overhead_ns_per_io) = self.calibrate()?;
        let captured = environment::capture(&self.target, self.options.memory_limit);
        Ok(Environment { clock, harness_overhead_ns_per_io, ..captured })
    }

    /// Runs `workload` and measures it: `streams` makes the request source of each process, and
    /// `buffer_bytes` is the size of the largest request that any of them makes.
    ///
    /// The set is laid out, flushed and read into the file cache as needed. Then the workload warms
    /// up until its rate is steady, and is measured until the confidence interval of its throughput
    /// is narrow enough. At the end, its writes are flushed, so that pages lost on the way to
    /// storage are an error. Wrong blocks found by verification are no error but part of the
    /// measurement. If the blocks cannot be read back, or the user interrupts from the final flush
    /// on, that is an error, and [`Self::take_unread`] returns what was measured.
    ///
    /// # Errors
    /// The workload is impossible here, the set cannot be laid out, a request fails, a worker dies,
    /// or the user interrupts.
    pub fn run<F, S>(
        &mut self,
        workload: &Workload,
        buffer_bytes: usize,
        options: &RunOptions,
        streams: F,
    ) -> Result<Measurement, Error>
    where
        F: Fn(u32) -> S + Sync,
        S: FnMut() -> Request + Send,
    {
        let begin = Instant::now();
        self.unread = None;
        self.check(workload, buffer_bytes)?;
        let (_, overhead_ns) = self.calibrate()?;
        self.begin_verify(workload, options.verify)?;
        let doubts =
            self.prepare(workload, options)?.into_iter().chain(self.doubt_of_age(workload));
        let of_arrays = match workload.engine {
            Engine::Null => Vec::new(),
            _ => arrays::doubts(self.target.file_system()),
        };
        let mut trial = self.conduct(workload, buffer_bytes, options, &streams)?;
        self.note_fill(workload, &trial.filled);
        // Readings in order take longer, and half of both lies outside of a request's own time.
        let is_ordered = workload.engine == Engine::Mmap;
        let ordering_ns = if is_ordered { self.clock.ordering_ns() } else { 0.0 };
        let overhead_ns = overhead_ns + self.marking_ns(workload) + ordering_ns;
        let mut measurement = self.summarize(workload, options, &trial, overhead_ns);
        measurement.warnings.splice(0..0, doubts);
        // A rebuild that ended meanwhile is no longer among the traps.
        let ended = of_arrays.into_iter().filter(|one| !measurement.warnings.contains(one));
        measurement.warnings.extend(ended.collect::<Vec<_>>());
        let is_unlimited = self.group.is_none() && workload.access.reads_cached();
        let of_memory = doubt_of_change(self.memory_bytes, memory().total);
        measurement.warnings.extend(of_memory.filter(|_| is_unlimited));
        self.note_left(workload, measurement.resident_frac);
        self.rows = std::mem::take(&mut trial.rows);
        self.course = trial.course.take();
        if trial.stop == Stop::Interrupted {
            // Nothing follows that would have to wait for these writes.
            measurement.verify = self.finding();
            measurement.cost_s = begin.elapsed().as_secs_f64();
            return Ok(measurement);
        }
        let found = match self.settle(workload, options) {
            Err(error) if !matches!(error, Error::Interrupted) => return Err(error),
            settled => settled.and_then(|()| self.end_verify(options)),
        };
        measurement.cost_s = begin.elapsed().as_secs_f64();
        self.with_report(measurement, found)
    }

    /// Refuses a workload that [`Self::run`] would refuse: its set has no room, or it cannot be
    /// carried out or verified here.
    ///
    /// # Errors
    /// The reason why it cannot be run.
    pub fn vet(&self, workload: &Workload, buffer_bytes: usize, verify: bool) -> Result<(), Error> {
        self.check(workload, buffer_bytes)?;
        if workload.engine == Engine::IoUring {
            uring::trial().map_err(|fault| from_fault(fault, self.target.path()))?;
        }
        if verify {
            let needed = memory_of(workload.unique_bytes, verified_block(workload)?, None);
            check_memory(needed, self.options.memory_limit, LESS)?;
        }
        if workload.engine == Engine::Null {
            Ok(())
        } else {
            self.check_room(workload.unique_bytes)
        }
    }

    /// Refuses what cannot be run here, before anything is touched.
    fn check(&self, workload: &Workload, buffer_bytes: usize) -> Result<(), Error> {
        let unsupported =
            |what: &str, why: String| Err(Error::Unsupported { what: what.into(), why });
        if let Err(error) = workload.validate() {
            return unsupported("this workload", error.to_string());
        }
        if workload.engine == Engine::Sim {
            return unsupported(
                "the sim engine",
                "it simulates; choose sim:SYSTEM as target".into(),
            );
        }
        let limit = self.options.memory_limit.unwrap_or(u64::MAX).min(available_memory());
        if workload.memory_bytes.is_some_and(|held| held > limit / 10 * 9) {
            let why = format!(
                "its processes hold {} MiB, and there are {} MiB for them and the file cache: give it more memory",
                workload.memory_bytes.unwrap_or(0) >> 20,
                limit >> 20
            );
            return unsupported("this workload", why);
        }
        let needed = (buffer_bytes as u64)
            .saturating_mul(u64::from(workload.process_num) * u64::from(workload.queue_depth))
            .saturating_mul(1 + u64::from(workload.direct_above_bytes.is_some()));
        if workload.engine != Engine::Null {
            let advice = "fewer processes, a smaller queue or smaller requests fit";
            check_room(needed, BUFFERS, self.options.memory_limit, advice)?;
        }
        let align = u64::from(self.target.direct_align().unwrap_or(1).max(1));
        if workload.may_be_direct() && !workload.align().is_multiple_of(align) {
            let place = self.target.path().display();
            return unsupported("direct access", unaligned(workload, align, place));
        }
        if workload.engine != Engine::Null {
            let access = if workload.may_be_direct() { Access::Direct } else { workload.access };
            let opened = self.target.open_file(access, workload.read_frac < 1.0);
            opened.map_err(|error| match error {
                Error::Unsupported { what, why } => {
                    Error::Unsupported { what, why: why + THROUGH_CACHE }
                }
                other => other,
            })?;
        }
        Ok(())
    }
}

/// Returns the refusal of direct I/O on a `place` that needs multiples of `align` bytes. Larger
/// requests alone would not help: their alignment stays.
fn unaligned(workload: &Workload, align: u64, place: impl Display) -> String {
    let larger = match workload.size_mean < align {
        true => format!(" and --size-mean {align} or more"),
        false => String::new(),
    };
    format!(
        "requests are multiples of {} bytes, but direct I/O on {place} needs multiples of {align}: give --align {align}{larger}",
        workload.align()
    )
}

/// A source about as costly as that of a workload: random sizes, places and directions.
fn typical_stream(seed: u64) -> impl FnMut() -> Request + Send {
    let sizes: Vec<u32> = (1..=64).map(|i| i * 4096).collect();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut end = 0;
    move || {
        let mut draw = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let (coins, place) = (draw(), draw());
        let len = sizes[(coins & 63) as usize];
        let op = if coins & 64 == 0 { Op::Read } else { Op::Write };
        let jump = ((u128::from(place) * (1 << 14)) >> 64) as u64 * 4096;
        let offset = if coins & 128 == 0 { jump } else { end };
        end = (offset + u64::from(len)) & ((64 << 20) - 1);
        Request { op, offset, len }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against a defect: larger requests were advised, and refused alike.
    #[test]
    fn what_is_advised_for_direct_io_is_possible() {
        let told = |size_mean| {
            let workload = Workload { size_mean, ..Workload::default() };
            unaligned(&workload, 65536, "/dev/x")
        };
        assert!(told(1 << 20).ends_with("needs multiples of 65536: give --align 65536"));
        assert!(told(4096).ends_with("give --align 65536 and --size-mean 65536 or more"));
        let align_bytes = Some(65536);
        for size_mean in [65536, 1 << 20] {
            let advised = Workload { size_mean, align_bytes, ..Workload::default() };
            assert!(advised.validate().is_ok() && advised.align() == 65536);
        }
    }
}
