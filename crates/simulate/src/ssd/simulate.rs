//! A trace against solid-state drives, one for every disk of the trace.

use super::{Model, Ssd};
use crate::command::{Command, Done, Traffic};
use crate::simulate::{Arrivals, Job, SimulatedRequest, SimulatedTrace};
use ioscape_schema::IoFlags;

/// Simulates jobs; requests go to the drive when they come, many at a time, but one at a time in a closed system.
pub fn simulate(model: &Model, jobs: &[Job], arrivals: Arrivals) -> SimulatedTrace {
    let count = jobs.iter().map(|j| usize::from(j.disk) + 1).max().unwrap_or(0);
    let mut drives: Vec<(Ssd<'_>, [u64; 2])> =
        (0..count).map(|_| (Ssd::new(model), [0, 0])).collect();
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    if arrivals == Arrivals::Issued {
        order.sort_by_key(|&at| jobs[at].io.issued_ns);
    }
    let mut rows = vec![SimulatedRequest::default(); jobs.len()];
    for at in order {
        let job = &jobs[at];
        let (drive, [free_ns, before_ns]) = &mut drives[usize::from(job.disk)];
        let now = match arrivals {
            Arrivals::Queued => job.io.queued_ns,
            Arrivals::Issued => job.io.issued_ns,
            Arrivals::Closed => *free_ns + job.io.queued_ns.saturating_sub(*before_ns),
        };
        let done = act(drive, now, job.command, job.io.flags);
        (*free_ns, *before_ns) = (done.completed_ns, job.io.completed_ns);
        let queued_ns = if arrivals == Arrivals::Issued { job.io.queued_ns } else { now };
        rows[at] = SimulatedRequest::new(job, queued_ns, now, done);
    }
    let traffic =
        drives.iter().fold(Traffic::default(), |sum, (drive, _)| sum.plus(&drive.traffic()));
    SimulatedTrace { rows, traffic }
}

/// A request with its flags: releases blocks, flushes before, or is on the medium before it is complete.
fn act(drive: &mut Ssd<'_>, now_ns: u64, command: Command, flags: IoFlags) -> Done {
    if flags.intersects(IoFlags::DISCARD | IoFlags::ZEROES) {
        return drive.discard(now_ns, command.block, command.count);
    }
    let mut last = None;
    if flags.contains(IoFlags::FLUSH) || command.count == 0 {
        last = Some(drive.flush(now_ns));
    }
    let begun = last.map_or(now_ns, |done: Done| done.completed_ns);
    if command.count > 0 {
        let done = drive.serve(begun, command);
        last = Some(joined(last, done));
    }
    if command.write && flags.contains(IoFlags::FUA) {
        let begun = last.map_or(now_ns, |done| done.completed_ns);
        last = Some(joined(last, drive.flush(begun)));
    }
    last.unwrap_or_default()
}

/// One thing after another.
fn joined(before: Option<Done>, after: Done) -> Done {
    let Some(Done { parts, .. }) = before else { return after };
    let mut all = after;
    all.parts.waited_ns += parts.waited_ns;
    all.parts.overhead_ns += parts.overhead_ns;
    all.parts.bus_ns += parts.bus_ns;
    all.parts.transfer_ns += parts.transfer_ns;
    all
}
