//! Which recorded times exclude queueing, before the disk or in it: those of requests that
//! overlapped no other.

use crate::job::Job;
use ioscape_schema::Io;

/// Discards the recorded times of one disk's jobs that may include queueing, and returns how many
/// it discarded.
///
/// `jobs` are in order of arrival. A job's time may include queueing if the job overlapped another
/// and the trace does not record when requests were issued. If that is unknown (`tells_issue` is
/// `None`), a single job that was issued later than it arrived shows that the trace records it.
pub fn forget_queued(jobs: &mut [Job], tells_issue: Option<bool>) -> u64 {
    let is_later = |job: &Job| job.io.issued_ns > job.io.queued_ns;
    if tells_issue.unwrap_or_else(|| jobs.iter().any(is_later)) {
        return 0;
    }
    forget_met(jobs, |io| io.queued_ns)
}

/// Discards the recorded times of one disk's jobs that were at the disk together, and returns how
/// many it discarded.
///
/// `jobs` are in order of issue. A disk serves such requests in any order (NCQ), so their times say
/// nothing about single accesses.
pub fn forget_together(jobs: &mut [Job]) -> u64 {
    forget_met(jobs, |io| io.issued_ns)
}

/// Discards the times of jobs that overlapped another, from when they `came`, in whose order they
/// are, to their completion.
fn forget_met(jobs: &mut [Job], came: fn(&Io) -> u64) -> u64 {
    let next: Vec<u64> = jobs.iter().skip(1).map(|job| came(&job.io)).chain([u64::MAX]).collect();
    let (mut until_ns, mut forgotten) = (0, 0);
    for (job, next_ns) in jobs.iter_mut().zip(next) {
        let io = &mut job.io;
        let has_met = came(io) < until_ns || next_ns < io.completed_ns;
        until_ns = until_ns.max(io.completed_ns);
        if has_met && io.is_timed() {
            io.completed_ns = io.issued_ns;
            forgotten += 1;
        }
    }
    forgotten
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs;
    use crate::testing::{io, simple};
    use ioscape_schema::Op;

    /// Jobs that arrived, were issued and completed at these times.
    fn recorded(times: &[[u64; 3]]) -> Vec<Job> {
        let row = |&[queued_ns, issued_ns, completed_ns]: &[u64; 3]| Io {
            issued_ns,
            completed_ns,
            ..io(Op::Read, 0, 512, queued_ns)
        };
        let rows: Vec<Io> = times.iter().map(row).collect();
        jobs(&rows, &[0], &simple()).unwrap()
    }

    /// Returns which jobs keep their times, and how many times were discarded.
    fn kept_by(times: &[[u64; 3]], forget: impl FnOnce(&mut [Job]) -> u64) -> (Vec<bool>, u64) {
        let mut jobs = recorded(times);
        let forgotten = forget(&mut jobs);
        (jobs.iter().map(|job| job.io.is_timed()).collect(), forgotten)
    }

    fn kept(times: &[[u64; 3]], tells_issue: Option<bool>) -> (Vec<bool>, u64) {
        kept_by(times, |jobs| forget_queued(jobs, tells_issue))
    }

    #[test]
    fn times_of_requests_that_met_others_are_forgotten_where_no_issue_is_told() {
        // The first two overlap; the third arrives as the second ends; the completion of the fourth
        // is not recorded.
        let times = [[0, 0, 10], [5, 5, 20], [20, 20, 30], [40, 40, 40], [50, 50, 60]];
        let alone = (vec![false, false, true, false, true], 2);
        assert_eq!(kept(&times, Some(false)), alone);
        assert_eq!(kept(&times, None), alone);
        assert_eq!(kept(&times, Some(true)), (vec![true, true, true, false, true], 0));
        assert_eq!(kept(&[[0, 0, 10], [0, 0, 20]], None), (vec![false; 2], 2));
    }

    #[test]
    fn one_that_was_issued_later_than_it_came_tells_the_issue_of_all() {
        let times = [[0, 0, 10], [5, 10, 20]];
        assert_eq!(kept(&times, None), (vec![true; 2], 0));
        assert_eq!(kept(&times, Some(false)), (vec![false; 2], 2));
    }

    #[test]
    fn times_of_requests_that_were_at_the_disk_together_are_forgotten() {
        // The second waits in the host's queue; the third and the fourth are at the disk together.
        let times = [[0, 0, 10], [5, 10, 20], [20, 21, 40], [22, 23, 30], [41, 41, 50]];
        assert_eq!(kept_by(&times, forget_together), (vec![true, true, false, false, true], 2));
    }
}
