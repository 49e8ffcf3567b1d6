//! Simulates a trace in memory, either as a whole or request by request from the recorded state of
//! the disk.

use crate::command::{Command, DiskOptions};
use crate::disk::Disk;
use crate::drive::Drive;
use crate::job::{Configuration, Job, SimulatedRequest, SimulatedTrace};
use crate::stream::{Kind, Stream, on_disk, wants_flush};
use ioscape_schema::IoFlags;

/// Simulates jobs, which are in order of arrival or of issue.
///
/// Events are ordered by time, then by disk, so the same jobs give the same rows on every machine.
pub fn simulate(drive: &Drive, jobs: &[Job], options: &Configuration) -> SimulatedTrace {
    let mut run = SimulatedTrace::default();
    simulate_into(drive, jobs, options, &mut run);
    run
}

/// Does the same as [`simulate()`], in the memory of an earlier simulation: allocating the rows
/// takes as long as simulating.
pub fn simulate_into(
    drive: &Drive,
    jobs: &[Job],
    options: &Configuration,
    run: &mut SimulatedTrace,
) {
    run.rows.clear();
    run.rows.resize(jobs.len(), SimulatedRequest::default());
    let rows = &mut run.rows;
    let mut into = |ticket: u64, row: SimulatedRequest| rows[ticket as usize] = row;
    let mut stream = Stream::new(options);
    let disks = jobs.iter().map(|j| usize::from(j.disk) + 1).max().unwrap_or(0);
    (0..disks).for_each(|_| stream.add(Kind::Disk(drive, options.disk)));
    stream.take(jobs, &mut into);
    run.traffic = stream.finish(&mut into);
}

/// Predicts every request by itself, from the recorded state: the disk is where the recorded
/// request before it left it, and the platter is turned so that the recorded completion of that
/// request was right.
///
/// Returns the predicted physical times in nanoseconds, job by job. The jobs are those of one disk,
/// in the order in which they were issued to it. A prediction long (seconds) after the request
/// before has lost the platter's angle.
pub fn one_step(drive: &Drive, options: DiskOptions, jobs: &[Job]) -> Vec<u64> {
    let mut disk = Disk::new(drive, options);
    let mut predicted = Vec::with_capacity(jobs.len());
    for job in jobs {
        let done = on_disk(&mut disk, job.io.issued_ns, job.command, job.io.flags);
        predicted.push(done.completed_ns - job.io.issued_ns);
        let Command { block, count, .. } = job.command;
        if !job.io.is_timed() {
            continue;
        }
        if done.parts.cached || count == 0 {
            // It reveals nothing about the platter.
            if wants_flush(job.command, job.io.flags) {
                disk.was_flushed(job.io.completed_ns);
            }
            continue;
        }
        disk.resynchronize([block, count], done.completed_ns, job.io.completed_ns);
    }
    predicted
}

/// Requests that come later than this after the one before reveal nothing about the angle.
const SHORT_GAP_NS: u64 = 30_000_000;

/// Whether the time of a request can be predicted from that of the one before, because the
/// platter's angle is still known. A flush has no place on the platter, and how long a flush delays
/// the data that come with it is not recorded.
pub fn tells_angle(before: &Job, job: &Job) -> bool {
    let gap_ns = job.io.issued_ns.checked_sub(before.io.completed_ns);
    let tells = |job: &Job| job.io.is_timed() && job.command.count > 0;
    let flushes = job.io.flags.contains(IoFlags::FLUSH);
    tells(before) && tells(job) && !flushes && gap_ns.is_some_and(|ns| ns < SHORT_GAP_NS)
}

#[cfg(test)]
#[path = "simulate_tests.rs"]
mod tests;
