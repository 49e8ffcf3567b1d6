//! What evaluations cannot show because their sets are limited in size.

use super::{LAYOUT_SHARE, ReachLimits};
use ioscape_schema::units::{Bytes, Rate};
use ioscape_schema::{Warning, WarningKind};

impl ReachLimits {
    /// Whether the time limits the sets.
    fn is_bounded_by_time(&self) -> bool {
        let untimed = Self { layout_bytes_per_s: None, is_part: false, ..*self };
        self.unique_bytes()[1] < untimed.unique_bytes()[1]
    }

    /// Below which rate of laying out its sets are smaller than planned, if the rate is unknown and
    /// that makes such a difference.
    fn smaller_below(&self, name: &str) -> Option<String> {
        let memory = self.memory_bytes.filter(|_| self.layout_bytes_per_s.is_none())?;
        let rate = memory as f64 / (self.budget_s * self.layout_share());
        let slower = Self { layout_bytes_per_s: Some(0.9 * rate), ..*self };
        let [planned, largest] = [*self, slower].map(|limits| limits.unique_bytes()[1]);
        (self.is_part && slower.outgrows_nothing() && largest < planned).then(|| {
            let (rate, largest) = (Rate(rate), Bytes(largest as f64));
            format!("where sets are laid out more slowly than {rate}, the largest ({name}) has at most {largest}")
        })
    }

    /// What the evaluation cannot show because its sets are not well past the memory.
    fn doubt_of_memory(&self) -> Option<String> {
        let memory = self.memory().unwrap_or(0);
        let is_short = !self.direct && self.is_short_of(memory);
        let why = match self.is_in_memory && self.memory_limit_bytes.is_some() {
            true => "its files lie in that memory themselves, so that no set outgrows it",
            false => {
                "the file cache may be larger than any set; free space, --max-unique-bytes or --budget limit the sets"
            }
        };
        is_short.then(|| {
            format!(
                "the largest set, {}, is not well past the memory of {}: {why}",
                Bytes(self.unique_bytes()[1] as f64),
                Bytes(memory as f64)
            )
        })
    }
}

/// The warnings about what the evaluations of a target, each with its name, cannot show because
/// their sets are limited in size.
pub fn doubts(all: &[(String, ReachLimits)]) -> Vec<Warning> {
    let bounded = all.iter().filter(|(_, limits)| limits.is_bounded_by_time());
    let (held, slow): (Vec<_>, Vec<_>) = bounded.partition(|(_, limits)| limits.outgrows_nothing());
    let (alike, rounded): (Vec<_>, Vec<_>) =
        held.into_iter().partition(|(_, limits)| limits.counted() <= limits.in_time());
    let named = |some: &[&(String, ReachLimits)]| {
        let one = |(name, limits): &&(String, ReachLimits)| {
            let largest = Bytes(limits.unique_bytes()[1] as f64).to_string();
            if all.len() > 1 { format!("{largest} ({name})") } else { largest }
        };
        (!some.is_empty()).then(|| some.iter().map(one).collect::<Vec<_>>().join(" or "))
    };
    let share = match all {
        [(_, limits)] if limits.layout_share() < LAYOUT_SHARE => "a seventh of the time there is",
        [_] => "a quarter of the time there is",
        _ => "the time there is for it",
    };
    let slow = named(&slow).map(|sets| {
        format!("laying out sets larger than {sets} would take more than {share}; give a longer --budget to reach further")
    });
    let within = |some: &[&(String, ReachLimits)], why: &str| {
        named(some).map(|sets| {
            format!("sets that are to outgrow no memory have at most {sets}, a power of two{why}; give a longer --budget for larger ones")
        })
    };
    let twice = format!(": laying out twice as much would take more than {share}");
    let rounded = within(&rounded, &twice);
    let alike = within(&alike, " that another evaluation will choose too");
    let mut messages: Vec<String> = slow.into_iter().chain(rounded).chain(alike).collect();
    messages.extend(all.iter().filter_map(|(name, limits)| limits.smaller_below(name)));
    messages.extend(all.iter().filter_map(|(_, limits)| limits.doubt_of_memory()));
    messages.dedup();
    let doubt = |message: String| Warning::new(WarningKind::SetLimited, message);
    messages.into_iter().map(doubt).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::LIMITS;
    use super::*;

    /// Guards against a defect: a part of 171 s at 2 GB/s was said to have no time for sets larger
    /// than 4 GiB, although it could lay out 45 GiB.
    #[test]
    fn what_is_chosen_for_another_evaluation_is_not_said_to_take_too_long() {
        let whole = ReachLimits { memory_bytes: Some(512 << 30), ..LIMITS };
        let whole = ReachLimits { layout_bytes_per_s: Some(2e9), ..whole };
        let part = ReachLimits { budget_s: whole.budget_s * 2.0 / 7.0, is_part: true, ..whole };
        let direct = ReachLimits { direct: true, ..part };
        let said = doubts(&[("buffered".into(), part), ("direct".into(), direct)]);
        let all: String = said.iter().map(|doubt| doubt.message.as_str()).collect();
        let each = "at most 4 GiB (buffered) or 4 GiB (direct), a power of two that another";
        assert!(all.contains(each) && !all.contains("would take"), "{all}");
    }

    /// Guards against a defect: a plan named sets of 28 GiB where no run took more than 256 MiB.
    #[test]
    fn a_plan_names_the_sets_of_a_run() {
        let memory_bytes = Some(24 << 30);
        let part = ReachLimits { memory_bytes, budget_s: 8.0, is_part: true, ..LIMITS };
        let direct = ReachLimits { direct: true, ..part };
        assert_eq!(direct.unique_bytes()[1], 256 << 20, "however fast sets are laid out");
        let told = |limits| {
            let messages = doubts(&[("it".to_owned(), limits)]).into_iter().map(|one| one.message);
            messages.collect::<String>()
        };
        let slow = "than 22.5 GB/s, the largest (it) has at most 256 MiB";
        assert!(told(part).contains(slow) && !told(direct).contains("slowly"), "{}", told(part));
        let known = ReachLimits { layout_bytes_per_s: Some(1e9), ..part };
        assert!(!told(known).contains("slowly"), "{}", told(known));
        let small = ReachLimits { capacity_bytes: 100 << 20, ..part };
        assert!(!told(small).contains("slowly"), "{}", told(small));
    }

    /// The two rates are those of different zones of one disk.
    #[test]
    fn what_a_slow_disk_bounds_is_not_said_to_be_chosen_again() {
        for (rate, gib) in [(150e6, 2), (180e6, 4)] {
            let part = ReachLimits {
                budget_s: 1200.0 / 7.0,
                memory_bytes: Some(512 << 30),
                layout_bytes_per_s: Some(rate),
                is_part: true,
                ..LIMITS
            };
            assert_eq!(part.unique_bytes()[1] >> 30, gib);
            let said = doubts(&[("buffered".into(), part)]).remove(0).message;
            assert!(said.contains("twice as much") && !said.contains("another evaluation"));
        }
    }

    #[test]
    fn a_short_reach_is_a_doubt() {
        let doubts = |limits| doubts(&[("buffered".to_owned(), limits)]);
        assert!(doubts(LIMITS).is_empty());
        let slow = ReachLimits { layout_bytes_per_s: Some((1 << 20) as f64), ..LIMITS };
        assert_eq!(doubts(slow).len(), 2);
        let small = ReachLimits { capacity_bytes: 9 << 30, ..LIMITS };
        assert!(doubts(small)[0].message.contains("not well past"));
        assert!(doubts(ReachLimits { direct: true, ..small }).is_empty());
    }
}
