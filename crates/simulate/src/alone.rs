//! Which recorded times exclude queueing, in a trace that does not record when requests were
//! issued: those of requests that overlapped no other.

use crate::job::Job;

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
    let came = jobs.iter().map(|job| job.io.queued_ns);
    let next: Vec<u64> = came.skip(1).chain([u64::MAX]).collect();
    let (mut until_ns, mut forgotten) = (0, 0);
    for (job, next_ns) in jobs.iter_mut().zip(next) {
        let io = &mut job.io;
        let has_met = io.queued_ns < until_ns || next_ns < io.completed_ns;
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
    use ioscape_schema::{Io, Op};

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
    fn kept(times: &[[u64; 3]], tells_issue: Option<bool>) -> (Vec<bool>, u64) {
        let mut jobs = recorded(times);
        let forgotten = forget_queued(&mut jobs, tells_issue);
        (jobs.iter().map(|job| job.io.is_timed()).collect(), forgotten)
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
}
