//! When processes are in their I/O phase, and how many are at the same time.

/// A process that issues nothing for so long has left its I/O phase, in nanoseconds.
pub(super) const PAUSE_NS: u64 = 10_000_000_000;

/// The I/O phases of one process: from a request's issue to the completion of the last one before a long pause.
#[derive(Clone, Debug, Default)]
pub(super) struct Phases(Vec<(u64, u64)>);

impl Phases {
    /// Adds a request; requests arrive in the order of their completions.
    pub(super) fn add(&mut self, issued_ns: u64, completed_ns: u64) {
        match self.0.last_mut() {
            Some((_, end)) if issued_ns.saturating_sub(*end) <= PAUSE_NS => {
                *end = (*end).max(completed_ns);
            }
            _ => self.0.push((issued_ns, completed_ns.max(issued_ns))),
        }
    }

    /// Their total length.
    fn length_ns(&self) -> u64 {
        self.0.iter().map(|(begin, end)| end - begin).sum()
    }
}

/// How long processes were in their phases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Activity {
    /// Every process for itself, added up.
    pub(super) sum_ns: u64,
    /// At least one of them.
    pub(super) union_ns: u64,
}

impl Activity {
    /// The activity of several processes.
    pub(super) fn of<'a>(all: impl Iterator<Item = &'a Phases> + Clone) -> Self {
        let mut phases: Vec<(u64, u64)> = all.clone().flat_map(|p| p.0.iter().copied()).collect();
        phases.sort_unstable();
        let (mut union_ns, mut covered) = (0, 0);
        for (begin, end) in phases {
            union_ns += end.saturating_sub(begin.max(covered));
            covered = covered.max(end);
        }
        Self { sum_ns: all.map(Phases::length_ns).sum(), union_ns }
    }

    /// Mean number of processes in their phases while at least one is, rounded, at least 1.
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
        spans.iter().for_each(|&(from, to)| phases.add(from, to));
        phases
    }

    #[test]
    fn overlap_is_concurrency() {
        let all =
            [phases(&[(0, 10), (90, 100)]), phases(&[(0, 50), (60, 100)]), phases(&[(50, 100)])];
        let activity = Activity::of(all.iter());
        assert_eq!(activity, Activity { sum_ns: 250, union_ns: 100 });
        assert_eq!(activity.processes(), 3);
        assert_eq!(Activity::of([].iter()).processes(), 1);
    }

    #[test]
    fn one_after_another_is_not() {
        let all = [phases(&[(0, 10)]), phases(&[(10, 20)]), phases(&[(25, 30)])];
        assert_eq!(Activity::of(all.iter()), Activity { sum_ns: 25, union_ns: 25 });
    }

    #[test]
    fn a_long_pause_ends_a_phase() {
        let late = 2 * PAUSE_NS;
        let activity = Activity::of([phases(&[(0, 10), (late, late + 10)])].iter());
        assert_eq!(activity, Activity { sum_ns: 20, union_ns: 20 });
    }
}
