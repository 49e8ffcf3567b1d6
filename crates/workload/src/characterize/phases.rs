//! When processes are in their I/O phase, and how many are at the same time.

/// A process that issues nothing for this long, in nanoseconds, has left its I/O phase.
pub(super) const PAUSE_NS: u64 = 10_000_000_000;

/// The I/O phases of one process: from a request's issue to the completion of the last request
/// before a long pause, and the syncs after it.
#[derive(Clone, Debug, Default)]
pub(super) struct Phases {
    /// From the first request of a phase to its last.
    spans: Vec<(u64, u64)>,
    /// The syncs that no request of their phase follows; none overlap.
    syncs: Vec<(u64, u64)>,
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
        let span = self.span(issued_ns);
        *span = (span.0.min(issued_ns), span.1.max(completed_ns));
        let (begin, end) = *span;
        let rest = self.syncs.pop_if(|(_, to)| *to > end);
        while self.syncs.pop_if(|(from, _)| *from >= begin).is_some() {}
        self.syncs.extend(rest.map(|(from, to)| (from.max(end), to)));
    }

    /// Adds a sync: a wait for storage is no pause.
    pub(super) fn sync(&mut self, issued_ns: u64, completed_ns: u64) {
        let (_, end) = *self.span(issued_ns);
        let before = self.syncs.last().map_or(end, |(_, to)| end.max(*to));
        if completed_ns > before {
            self.syncs.push((issued_ns.max(before), completed_ns));
        }
    }

    /// Returns the span, perhaps a new one, of the phase that what is issued then belongs to.
    fn span(&mut self, issued_ns: u64) -> &mut (u64, u64) {
        let mut ends = self.spans.last().into_iter().chain(self.syncs.last());
        if !ends.any(|(_, end)| issued_ns.saturating_sub(*end) <= PAUSE_NS) {
            self.spans.push((issued_ns, issued_ns));
        }
        let at = self.spans.len() - 1;
        &mut self.spans[at]
    }

    /// Returns the mean number of requests in flight while there are any, at least 1: pauses and
    /// syncs belong to all of them.
    fn in_flight(&self) -> f64 {
        let (begin, end) = self.stretch;
        let busy_ns = self.busy_ns.saturating_add(end - begin).max(1);
        (self.in_flight_ns as f64 / busy_ns as f64).max(1.0)
    }

    /// Returns the beginnings and ends of what is in the phases.
    fn edges(&self) -> impl Iterator<Item = Edge> {
        let spans = self.spans.iter().map(|span| (span, 1));
        let all = spans.chain(self.syncs.iter().map(|sync| (sync, 0)));
        all.flat_map(|(&(begin, end), spans)| {
            let in_flight = self.in_flight();
            let change = |at_ns, by| Edge {
                at_ns,
                spans: spans * by,
                processes: by,
                in_flight: in_flight * by as f64,
            };
            [change(begin, 1), change(end, -1)]
        })
    }
}

/// What begins or, where numbers are negative, ends in the phases of a process.
struct Edge {
    at_ns: u64,
    /// The process's requests.
    spans: i64,
    /// Its requests or one of its syncs.
    processes: i64,
    /// Its requests in flight, meanwhile and on average.
    in_flight: f64,
}

/// How long processes were in their I/O phases.
///
/// They are at work while at least one of them is between the first and the last request of a phase.
/// Beyond that, they only wait for syncs: however many worked before, one may wait for all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Activity {
    /// Time at work.
    work_ns: u64,
    /// The time at work that processes are in their phases, over all of them.
    length_ns: f64,
    /// The same, but a process with several requests in flight counts that many times.
    sum_ns: f64,
    /// The time beyond work that processes wait for syncs, over all of them.
    beyond_ns: f64,
    /// Total time that sequential requests were in flight behind the requests that they follow.
    pub(super) queued_ns: u64,
    /// Time with at least one process in its phase.
    pub(super) union_ns: u64,
}

impl Activity {
    /// Returns the activity of several processes.
    pub(super) fn of<'a>(all: impl Iterator<Item = &'a Phases> + Clone) -> Self {
        let mut edges: Vec<Edge> = all.clone().flat_map(Phases::edges).collect();
        edges.sort_unstable_by_key(|edge| edge.at_ns);
        let queued_ns = all.map(|phases| phases.queued_ns).fold(0, u64::saturating_add);
        let mut found = Self { queued_ns, ..Self::default() };
        let mut now = Edge { at_ns: 0, spans: 0, processes: 0, in_flight: 0.0 };
        for edge in edges {
            found.pass(&now, edge.at_ns - now.at_ns);
            now = Edge {
                at_ns: edge.at_ns,
                spans: now.spans + edge.spans,
                processes: now.processes + edge.processes,
                in_flight: now.in_flight + edge.in_flight,
            };
        }
        found
    }

    /// Adds a time in which so much is in the phases.
    fn pass(&mut self, now: &Edge, passed_ns: u64) {
        let each_ns = passed_ns as f64 * now.processes as f64;
        self.union_ns += if now.processes > 0 { passed_ns } else { 0 };
        if now.spans > 0 {
            self.work_ns += passed_ns;
            self.length_ns += each_ns;
            self.sum_ns += passed_ns as f64 * now.in_flight;
        } else {
            self.beyond_ns += each_ns;
        }
    }

    /// Returns the mean number of requests that a process has in flight while it has any, at least
    /// 1.
    pub(super) fn in_flight(&self) -> f64 {
        (self.sum_ns / self.length_ns.max(1.0)).max(1.0)
    }

    /// Returns the mean number of processes in their phases while at least one is at work, rounded,
    /// at least 1.
    pub(super) fn processes(&self) -> u32 {
        let mean = self.sum_ns / self.work_ns.max(1) as f64;
        mean.round().clamp(1.0, f64::from(u32::MAX)) as u32
    }

    /// Returns the time at work that so many processes have, over all of them.
    pub(super) fn at_work_ns(&self) -> f64 {
        self.work_ns as f64 * f64::from(self.processes())
    }

    /// Returns the part of `sync_ns`, the time of all syncs, that falls into the time at work; the
    /// wait of a process with several requests in flight counts that many times.
    pub(super) fn synced_ns(&self, sync_ns: f64) -> f64 {
        (sync_ns - self.beyond_ns).max(0.0) * self.in_flight()
    }

    /// Returns the same with the time beyond work, in which all processes wait.
    pub(super) fn all_synced_ns(&self, sync_ns: f64) -> f64 {
        let beyond_ns = (self.union_ns - self.work_ns) as f64;
        self.synced_ns(sync_ns) + beyond_ns * f64::from(self.processes())
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
        (sum_ns.round() as u64, union_ns)
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
        assert_eq!((activity.sum_ns, activity.queued_ns, activity.processes()), (70.0, 80, 1));
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
        waiting.sync(20, late);
        waiting.add(late + 5, late + 10, 0);
        assert_eq!(active(&[waiting]), (late + 10, late + 10), "a long sync is no pause");
    }
}
