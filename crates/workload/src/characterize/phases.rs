//! When processes are in their I/O phase, and how many are at the same time.

/// A process that issues nothing for this long, in nanoseconds, has left its I/O phase.
pub(super) const PAUSE_NS: u64 = 10_000_000_000;

/// The I/O phases of one process: from a request's issue to the completion of the last request or
/// sync before a long pause.
#[derive(Clone, Debug, Default)]
pub(super) struct Phases {
    spans: Vec<(u64, u64)>,
    /// Total time of all requests, without [`Self::queued_ns`].
    in_flight_ns: u64,
    /// Time that sequential requests were in flight before the request that they follow completed.
    queued_ns: u64,
    /// Time with a request in flight before the last stretch of such time, and that stretch.
    busy_ns: u64,
    stretch: (u64, u64),
}

impl Phases {
    /// Adds a request. Requests arrive in the order of completion; concurrent ones in the order of
    /// submission. A request that continues where another one of its file ended counts from
    /// `after_ns` on, when that one completed (0 for others). So a sequential stream counts as one,
    /// however much of it is in flight.
    pub(super) fn add(&mut self, issued_ns: u64, completed_ns: u64, after_ns: u64) {
        let completed_ns = completed_ns.max(issued_ns);
        let from_ns = after_ns.clamp(issued_ns, completed_ns);
        self.in_flight_ns = self.in_flight_ns.saturating_add(completed_ns - from_ns);
        self.queued_ns = self.queued_ns.saturating_add(from_ns - issued_ns);
        let (begin, end) = self.stretch;
        if issued_ns <= end {
            self.stretch = (begin.min(issued_ns), end.max(completed_ns));
        } else {
            self.busy_ns = self.busy_ns.saturating_add(end - begin);
            self.stretch = (issued_ns, completed_ns);
        }
        self.extend(issued_ns, completed_ns);
    }

    /// Extends the phases to a request or a sync: waits for storage are no pauses.
    pub(super) fn extend(&mut self, issued_ns: u64, completed_ns: u64) {
        match self.spans.last_mut() {
            Some((begin, end)) if issued_ns.saturating_sub(*end) <= PAUSE_NS => {
                *begin = (*begin).min(issued_ns);
                *end = (*end).max(completed_ns);
            }
            _ => self.spans.push((issued_ns, completed_ns.max(issued_ns))),
        }
    }

    /// Returns the total length of the phases.
    fn length_ns(&self) -> u64 {
        let lengths = self.spans.iter().map(|(begin, end)| end - begin);
        lengths.fold(0, u64::saturating_add)
    }

    /// Returns that length times the mean number of requests in flight while there are any: pauses
    /// and syncs belong to all of them.
    fn sum_ns(&self) -> u64 {
        let (begin, end) = self.stretch;
        let busy_ns = self.busy_ns.saturating_add(end - begin).max(1);
        let in_flight = (self.in_flight_ns as f64 / busy_ns as f64).max(1.0);
        (self.length_ns() as f64 * in_flight).round() as u64
    }
}

/// How long processes were in their I/O phases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Activity {
    /// Total over the processes.
    length_ns: u64,
    /// The same, but a process with several requests in flight counts that many times.
    sum_ns: u64,
    /// Total time that sequential requests were in flight behind the requests that they follow.
    pub(super) queued_ns: u64,
    /// Time with at least one process in its phase.
    pub(super) union_ns: u64,
}

impl Activity {
    /// Returns the activity of several processes.
    pub(super) fn of<'a>(all: impl Iterator<Item = &'a Phases> + Clone) -> Self {
        let mut phases: Vec<(u64, u64)> =
            all.clone().flat_map(|p| p.spans.iter().copied()).collect();
        phases.sort_unstable();
        let (mut union_ns, mut covered) = (0, 0);
        for (begin, end) in phases {
            union_ns += end.saturating_sub(begin.max(covered));
            covered = covered.max(end);
        }
        let sum = |of: fn(&Phases) -> u64| all.clone().map(of).fold(0, u64::saturating_add);
        let (length_ns, sum_ns) = (sum(Phases::length_ns), sum(Phases::sum_ns));
        Self { length_ns, sum_ns, queued_ns: sum(|phases| phases.queued_ns), union_ns }
    }

    /// Returns the mean number of requests that a process has in flight while it has any, at least
    /// 1.
    pub(super) fn in_flight(&self) -> f64 {
        (self.sum_ns as f64 / self.length_ns.max(1) as f64).max(1.0)
    }

    /// Returns the mean number of processes in their phases while at least one is, rounded, at
    /// least 1.
    pub(super) fn processes(&self) -> u32 {
        let mean = self.sum_ns as f64 / self.union_ns.max(1) as f64;
        mean.round().clamp(1.0, f64::from(u32::MAX)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phases(spans: &[(u64, u64)]) -> Phases {
        let mut phases = Phases::default();
        spans.iter().for_each(|&(from, to)| phases.add(from, to, 0));
        phases
    }

    /// Returns the total time in phases, and the time with at least one process in its phase.
    fn active(all: &[Phases]) -> (u64, u64) {
        let Activity { sum_ns, union_ns, .. } = Activity::of(all.iter());
        (sum_ns, union_ns)
    }

    #[test]
    fn overlap_is_concurrency() {
        let all =
            [phases(&[(0, 10), (90, 100)]), phases(&[(0, 50), (60, 100)]), phases(&[(50, 100)])];
        assert_eq!(active(&all), (250, 100));
        assert_eq!(Activity::of(all.iter()).processes(), 3);
        assert_eq!(Activity::of([].iter()).processes(), 1);
    }

    #[test]
    fn requests_in_flight_together_are_concurrency() {
        let all = [phases(&[(0, 40), (10, 50), (20, 60), (30, 100)])];
        assert_eq!(active(&all), (190, 100));
        // A request does not begin later because another one completed before it.
        let late = [phases(&[(50, 60), (0, 100)])];
        assert_eq!(active(&late), (110, 100));
    }

    #[test]
    fn a_pause_is_one_of_all_that_was_in_flight_before_it() {
        let bursts = [phases(&[(0, 10), (0, 10), (90, 100), (90, 100)])];
        assert_eq!(active(&bursts), (200, 100));
        // Requests that complete while another one is in flight throughout add to the time in
        // flight.
        let mixed = [phases(&[(10, 20), (30, 40), (0, 100)])];
        assert_eq!(active(&mixed), (109, 100));
    }

    #[test]
    fn a_sequential_stream_is_one_however_much_of_it_is_in_flight() {
        let mut one = Phases::default();
        for (from, to, after) in [(0, 40, 0), (0, 50, 40), (10, 50, 50), (60, 70, 50)] {
            one.add(from, to, after);
        }
        let activity = Activity::of([&one].into_iter());
        assert_eq!((activity.sum_ns, activity.queued_ns, activity.processes()), (70, 80, 1));
    }

    #[test]
    fn one_after_another_is_not() {
        let all = [phases(&[(0, 10)]), phases(&[(10, 20)]), phases(&[(25, 30)])];
        assert_eq!(active(&all), (25, 25));
    }

    #[test]
    fn a_long_pause_ends_a_phase() {
        let late = 2 * PAUSE_NS;
        let apart = [(0, 10), (late, late + 10)];
        assert_eq!(active(&[phases(&apart)]), (20, 20));
        let mut waiting = phases(&apart[..1]);
        waiting.extend(20, late);
        waiting.add(late + 5, late + 10, 0);
        assert_eq!(active(&[waiting]), (late + 10, late + 10), "a long sync is no pause");
    }
}
