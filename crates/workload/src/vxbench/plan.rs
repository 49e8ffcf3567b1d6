//! Turns a job and a file size into the requests of every stream on that file.
//!
//! The streams of a sequential workload take turns: stream t of n issues blocks t, t + n, t + 2n
//! and so on, like the paper's processes, which perform successive operations on one file (p. 30).
//! Random offsets are uniform over the blocks of the file.

use super::VxError;
use crate::stream::generator;
use ioscape_schema::chance::mix;
use ioscape_schema::{Op, Request, VxJob, VxWorkload};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// The plan of a job for one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VxPlan {
    /// Requests lie in this many bytes from the start of the file; for an appending workload, from
    /// its end.
    pub range_bytes: u64,
    /// The size to which the file is extended first; absent if it keeps its own.
    pub grow_to: Option<u64>,
    /// The size of the file after the run, in bytes, if it grows; 0 for reads.
    pub end_bytes: u64,
    /// Requests of each stream.
    counts: Vec<u64>,
}

/// Plans `job` on a file of `file_bytes`; absent means that the file does not exist yet.
///
/// # Errors
/// The file is too small for the requests, or their number is unknown.
pub fn plan(job: &VxJob, file_bytes: Option<u64>) -> Result<VxPlan, VxError> {
    let fail = |text: String| Err(VxError::Contradiction(text));
    let size = if job.trunc { 0 } else { file_bytes.unwrap_or(0) };
    let span = match job.iocount {
        None => None,
        Some(_) => Some(job.span_bytes().filter(|span| *span < 1 << 62).ok_or_else(|| {
            VxError::Contradiction("iosize times iocount times nthreads is too large".to_owned())
        })?),
    };
    if job.reserve_only {
        return Ok(VxPlan { range_bytes: 0, grow_to: None, end_bytes: 0, counts: Vec::new() });
    }
    let grow_to = job.truncup.map(|asked| if asked > 0 { asked } else { span.unwrap_or(0) });
    let reserved = job.reservation.filter(|_| job.chgsize).unwrap_or(0);
    let present = size.max(grow_to.unwrap_or(0)).max(reserved);
    let extends = matches!(job.workload, VxWorkload::Write);
    let range = if extends {
        span.unwrap_or(if job.append { 0 } else { present })
    } else if job.workload.is_random() {
        let fresh = if job.workload.writes() && present == 0 { span.unwrap_or(0) } else { present };
        job.max_file_size.unwrap_or(fresh)
    } else {
        span.unwrap_or(present)
    };
    if range == 0 {
        return fail(format!(
            "{} needs an amount: give iocount (an empty or new file has no size to use)",
            job.workload
        ));
    }
    let reads = job.workload.reads();
    if (reads || job.workload.is_mapped()) && range > present {
        return fail(format!(
            "{} reaches byte {range}, but the file has {present} bytes: write it first, or give a smaller iocount or maxfilesize",
            job.workload
        ));
    }
    if range < job.iosize && (job.workload.is_random() || job.is_direct()) {
        return fail(format!(
            "requests of {} bytes do not fit into {range} bytes: give a smaller iosize",
            job.iosize
        ));
    }
    let reserved = job.reservation.filter(|_| job.noextend).unwrap_or(u64::MAX);
    if job.workload.writes() && range > reserved {
        return fail(format!(
            "{} reaches byte {range}, past the reservation of {reserved} bytes, which -f noextend forbids: give a smaller iocount or maxfilesize",
            job.workload
        ));
    }
    let end_bytes = match job.workload.writes() {
        true if job.append => size.saturating_add(range),
        true => range.max(present),
        false => 0,
    };
    Ok(VxPlan { range_bytes: range, grow_to, end_bytes, counts: counts(job, range) })
}

/// Plans `job` on an existing file or device of `size` bytes; absent means that it does not exist.
///
/// # Errors
/// As for [`plan`]; or there is nothing to read, or the device is smaller than the data to write.
pub fn plan_on(job: &VxJob, size: Option<u64>, is_device: bool) -> Result<VxPlan, VxError> {
    if size.is_none() && !job.workload.writes() {
        let text = format!("the file does not exist, and {} needs one to read", job.workload);
        return Err(VxError::Contradiction(text));
    }
    let planned = plan(job, size)?;
    match size.filter(|size| is_device && planned.end_bytes > *size) {
        Some(size) => Err(VxError::Contradiction(format!(
            "{} reaches byte {}, but the device has {size} bytes: give a smaller iocount",
            job.workload, planned.end_bytes
        ))),
        None => Ok(planned),
    }
}

/// Returns the requests of every stream: as requested, or the blocks of the range divided among
/// them.
fn counts(job: &VxJob, range: u64) -> Vec<u64> {
    let streams = u64::from(job.nthreads);
    let tail = !job.workload.is_random();
    let blocks = if tail { range.div_ceil(job.iosize) } else { range / job.iosize };
    let share = |thread: u64| (blocks + streams - 1 - thread) / streams;
    (0..streams).map(|thread| job.iocount.unwrap_or_else(|| share(thread))).collect()
}

impl VxPlan {
    /// Returns the requests of all streams in one repetition.
    pub fn ios(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Returns the most bytes that all streams move in one repetition.
    pub fn bytes(&self, job: &VxJob) -> u64 {
        self.ios().saturating_mul(job.iosize)
    }

    /// Returns the requests of stream `thread` of user `user` in one repetition.
    pub fn requests(&self, job: &VxJob, user: u32, thread: u32) -> VxRequests {
        let count = self.counts.get(thread as usize).copied().unwrap_or(0);
        let rng = generator(mix(job.rand_seed) ^ u64::from(user), thread);
        VxRequests {
            rng,
            workload: job.workload,
            rdpct: u64::from(job.rdpct),
            iosize: job.iosize,
            range: self.range_bytes,
            next: u64::from(thread),
            step: u64::from(job.nthreads),
            left: count,
        }
    }
}

/// The requests of one stream.
#[derive(Clone, Debug)]
pub struct VxRequests {
    rng: Pcg64Mcg,
    workload: VxWorkload,
    rdpct: u64,
    iosize: u64,
    range: u64,
    /// The next block of a sequential stream.
    next: u64,
    /// The distance in blocks from one request of a sequential stream to its next.
    step: u64,
    left: u64,
}

impl VxRequests {
    /// Returns a number below `end`, which is above 0: multiply and shift (Lemire 2019), biased by
    /// less than `end` / 2^64.
    fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.rng.next_u64()) * u128::from(end)) >> 64) as u64
    }
}

impl Iterator for VxRequests {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        self.left = self.left.checked_sub(1)?;
        let op = match self.workload {
            VxWorkload::Read | VxWorkload::RandRead | VxWorkload::MmapRead => Op::Read,
            VxWorkload::Write | VxWorkload::RandWrite | VxWorkload::MmapWrite => Op::Write,
            VxWorkload::RandMixed => match self.below(100) < self.rdpct {
                true => Op::Read,
                false => Op::Write,
            },
        };
        if self.workload.is_random() {
            let blocks = (self.range / self.iosize).max(1);
            let offset = self.below(blocks) * self.iosize;
            return Some(Request { op, offset, len: self.iosize as u32 });
        }
        let offset = self.next * self.iosize;
        self.next += self.step;
        let len = self.range.saturating_sub(offset).min(self.iosize) as u32;
        (len > 0).then_some(Request { op, offset, len })
    }
}
