//! A trace against solid-state drives, one for every disk of the trace: requests go to the drive when they come, many at a time, but one
//! at a time in a closed system.

use super::{Model, Ssd};
use crate::command::{Command, Done, Traffic};
use crate::job::{Arrivals, Job, SimulatedRequest, SimulatedTrace};
use crate::stream::IssueOrder;
use ioscape_schema::IoFlags;

/// Simulates jobs that are in memory.
pub fn simulate(model: &Model, jobs: &[Job], arrivals: Arrivals) -> SimulatedTrace {
    let mut rows = vec![SimulatedRequest::default(); jobs.len()];
    let mut into = |ticket: u64, row: SimulatedRequest| rows[ticket as usize] = row;
    let mut stream = FlashStream::new(arrivals);
    let disks = jobs.iter().map(|j| usize::from(j.disk) + 1).max().unwrap_or(0);
    (0..disks).for_each(|_| stream.add(model));
    stream.take(jobs, &mut into);
    let traffic = stream.finish(&mut into);
    SimulatedTrace { rows, traffic }
}

/// Solid-state drives that take jobs as they come, as [`Stream`](crate::Stream) does for disks.
#[derive(Clone, Debug)]
pub struct FlashStream<'a> {
    arrivals: Arrivals,
    by_issue: IssueOrder,
    next: u64,
    drives: Vec<Place<'a>>,
}

/// A drive, and where a closed system stands.
#[derive(Clone, Debug)]
struct Place<'a> {
    drive: Ssd<'a>,
    free_ns: u64,
    /// Recorded completion of the job before.
    before_ns: u64,
}

impl<'a> FlashStream<'a> {
    /// A simulation without drives.
    pub fn new(arrivals: Arrivals) -> Self {
        Self { arrivals, by_issue: IssueOrder::default(), next: 0, drives: Vec::new() }
    }

    /// Adds a drive, the next after those there are.
    pub fn add(&mut self, model: &'a Model) {
        self.drives.push(Place { drive: Ssd::new(model), free_ns: 0, before_ns: 0 });
    }

    /// Takes more jobs in the order of arrival; `done` hears of what is complete.
    pub fn take(&mut self, jobs: &[Job], done: &mut impl FnMut(u64, SimulatedRequest)) {
        for job in jobs {
            if self.arrivals == Arrivals::Issued {
                self.by_issue.push(self.next, *job);
                while let Some((ticket, job)) = self.by_issue.pop(false) {
                    done(ticket, self.serve(&job));
                }
            } else {
                done(self.next, self.serve(job));
            }
            self.next += 1;
        }
    }

    /// Completes all that was taken, and tells what the drives wrote.
    pub fn finish(&mut self, done: &mut impl FnMut(u64, SimulatedRequest)) -> Traffic {
        while let Some((ticket, job)) = self.by_issue.pop(true) {
            done(ticket, self.serve(&job));
        }
        self.drives.iter().fold(Traffic::default(), |sum, at| sum.plus(&at.drive.traffic()))
    }

    fn serve(&mut self, job: &Job) -> SimulatedRequest {
        let place = &mut self.drives[usize::from(job.disk)];
        let now = match self.arrivals {
            Arrivals::Queued => job.io.queued_ns,
            Arrivals::Issued => job.io.issued_ns,
            Arrivals::Closed => place.free_ns + job.io.queued_ns.saturating_sub(place.before_ns),
        };
        let done = act(&mut place.drive, now, job.command, job.io.flags);
        (place.free_ns, place.before_ns) = (done.completed_ns, job.io.completed_ns);
        SimulatedRequest::new(job, self.arrivals.queued_ns(job, now), now, done)
    }
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
