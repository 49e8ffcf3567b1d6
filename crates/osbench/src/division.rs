//! How the time of a run is divided among its cases: how many processes each case gets, and for
//! what part of the usual time each process measures.

/// Processes are shortened to this part of their usual time before any case gets fewer processes.
pub(crate) const PART_FIRST: f64 = 0.5;
/// The least part of its usual time that a process measures.
const PART_LEAST: f64 = 0.25;

/// The share of a process's time that does not depend on how long it measures: starting it and
/// preparing the case.
const FIXED: f64 = 0.4;

/// The least number of processes that a value needs.
pub(crate) const COUNTED_LEAST: u32 = 3;

/// The time of a process that measures for `part` of its usual time, relative to a full one.
pub(crate) fn cost(part: f64) -> f64 {
    FIXED + (1.0 - FIXED) * part
}

/// What the division needs to know about a case.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Claim {
    /// Seconds that a process takes if it measures for its full time.
    pub(crate) process_s: f64,
    /// Processes that are done.
    pub(crate) done: u32,
}

impl Claim {
    /// Seconds that the processes still missing from `wanted` take.
    fn missing_s(&self, wanted: u32) -> f64 {
        self.process_s * f64::from(wanted.saturating_sub(self.done))
    }
}

/// What each case gets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Division {
    /// Processes of each case, including those that are done.
    pub(crate) processes: Vec<u32>,
    /// The part of its usual time that a process measures.
    pub(crate) part: f64,
}

/// Divides `left_s` seconds. If possible, all cases get `rounds` processes that measure for their
/// full time. Otherwise processes measure for half of it; then the slowest cases get half as many
/// processes; then all measure for a quarter of the time; then the last cases get no more.
pub(crate) fn divide(claims: &[Claim], rounds: u32, left_s: f64) -> Division {
    let mut processes = vec![rounds; claims.len()];
    let missing = |processes: &[u32]| -> f64 {
        claims.iter().zip(processes).map(|(claim, &wanted)| claim.missing_s(wanted)).sum()
    };
    let room = |part: f64| left_s / cost(part);
    let fewer = rounds.div_ceil(2).max(COUNTED_LEAST).min(rounds);
    let mut longest: Vec<usize> = (0..claims.len()).collect();
    longest.sort_by(|&one, &other| claims[other].process_s.total_cmp(&claims[one].process_s));
    for at in longest {
        if missing(&processes) <= room(PART_FIRST) {
            break;
        }
        processes[at] = fewer;
    }
    for at in (0..claims.len()).rev() {
        if missing(&processes) <= room(PART_LEAST) {
            break;
        }
        processes[at] = claims[at].done.min(processes[at]);
    }
    let whole_s = missing(&processes);
    let fits = if whole_s > 0.0 { (left_s / whole_s - FIXED) / (1.0 - FIXED) } else { 1.0 };
    Division { processes, part: fits.clamp(PART_LEAST, 1.0) }
}

/// Returns a permutation of `0..count` that differs between rounds and is the same in every run.
pub(crate) fn order(count: usize, round: u32) -> Vec<usize> {
    let mut state = u64::from(round).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut all: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        all.swap(last, (state >> 33) as usize % (last + 1));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn claims(seconds: &[f64], done: u32) -> Vec<Claim> {
        seconds.iter().map(|&process_s| Claim { process_s, done }).collect()
    }

    #[test]
    fn time_is_divided_before_anything_is_left_out() {
        let cases = claims(&[1.0, 5.0, 2.0], 1);
        // Five more of each take 40 s, or 28 s if they measure for half of the time.
        let divided = |left_s| divide(&cases, 6, left_s);
        assert_eq!(divided(40.0), Division { processes: vec![6; 3], part: 1.0 });
        let shorter = divided(34.0);
        assert!(shorter.processes == [6; 3] && (0.5..1.0).contains(&shorter.part), "{shorter:?}");
        assert_eq!(divided(27.0).processes, [6, 3, 6], "the longest gets fewer");
        assert_eq!(divided(13.0).processes, [3, 3, 3]);
        let least = divided(9.0);
        assert!(least.processes == [3; 3] && least.part < 0.5, "{least:?}");
        let last = divided(7.0);
        assert!(last.processes == [3, 3, 1] && last.part < 0.5, "the last gets none: {last:?}");
        assert_eq!(divided(0.0).processes, [1; 3]);
    }

    #[test]
    fn what_is_divided_fits() {
        for left_s in (1..400).map(f64::from) {
            let cases = claims(&[0.1, 7.0, 2.0, 0.4, 3.0], 2);
            let Division { processes, part } = divide(&cases, 12, left_s);
            let whole: f64 = cases.iter().zip(&processes).map(|(one, &n)| one.missing_s(n)).sum();
            assert!(whole * cost(part) <= left_s + 1e-9, "{whole} s in {left_s} s");
            assert!(processes.iter().all(|&n| n == 2 || (6..=12).contains(&n)), "{processes:?}");
        }
    }

    #[test]
    fn nothing_is_known_before_the_first() {
        let all = divide(&claims(&[0.0; 2], 0), 12, 1.0);
        assert_eq!(all, Division { processes: vec![12; 2], part: 1.0 });
        assert!(divide(&[], 6, 0.0).processes.is_empty());
    }

    #[test]
    fn every_round_has_another_order_of_all() {
        let orders: BTreeSet<Vec<usize>> = (0..8).map(|round| order(20, round)).collect();
        assert!(orders.len() == 8);
        for one in orders {
            assert_eq!(one.iter().copied().collect::<BTreeSet<_>>().len(), 20);
        }
        assert!(order(0, 1).is_empty());
    }
}
