//! Which systems a run tries, for how long it retries, and how many of them it may miss.

use crate::check::Outcome;
use crate::systems::{self, System};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::time::Duration;

/// Systems in every quick run: they must hold, and take seconds.
const ALWAYS: &[&str] = &["disk-model", "faults", "lost-writes"];

/// The parts of the quick run, one per day in turn; each takes up to four minutes on two
/// processors.
pub const QUICK: &[&[&str]] = &[
    &["fio", "memcg-64"],
    &["write-through", "nfs-like"],
    &["vxbench"],
    &["memcg-512"],
    &["write-back", "dux-like"],
    &["hang", "tmpfs"],
    &["unrelated-hang", "sprite"],
    &["fast", "flush"],
    &["four-arms", "sort"],
    &["one-arm", "tpc-b"],
    &["fast-storage", "dirty-limit"],
];

/// Attempts at a system before a miss counts: on a shared machine, memory speed changes twofold
/// within minutes.
const ATTEMPTS: u32 = 3;
/// [`Plan::retry_until`] of a quick run.
const QUICK_RETRY: Duration = Duration::from_secs(4 * 60);
/// [`Plan::retry_until`] of every other run.
const RETRY: Duration = Duration::from_secs(40 * 60);
/// One in this many systems that need not hold may be missed in every attempt, because other load
/// may last through all of them.
const TOLERATED_OF: usize = 5;

/// What a run tries.
pub struct Plan<'a> {
    /// The words that ask for it again.
    pub name: String,
    /// The systems, in order.
    pub systems: Vec<&'a System>,
    /// After this, nothing is tried a third time; every system that missed gets a second attempt.
    pub retry_until: Duration,
}

impl Plan<'static> {
    /// Parses the arguments.
    ///
    /// # Errors
    /// One sentence if they ask for nothing that exists.
    pub fn of(words: &[&str]) -> Result<Self, String> {
        match words {
            [] => Err("say which systems to try".to_owned()),
            ["quick"] => {
                let asked = std::env::var("IOSCAPE_PART").ok().and_then(|n| n.parse().ok());
                Self::quick(asked.unwrap_or_else(today) % QUICK.len())
            }
            ["quick", part] => match part.parse::<usize>() {
                Ok(part) if (1..=QUICK.len()).contains(&part) => Self::quick(part - 1),
                _ => Err(format!("there is no part {part:?}: they are 1 to {}", QUICK.len())),
            },
            ["full"] => Ok(Self::of_systems(words, |_| true)),
            words => Self::named(words),
        }
    }

    fn quick(part: usize) -> Result<Self, String> {
        let names = || ALWAYS.iter().chain(QUICK[part]);
        let systems = names().filter_map(|name| systems::ALL.iter().find(|s| s.name == *name));
        let name = format!("quick {}", part + 1);
        Ok(Self { name, systems: systems.collect(), retry_until: QUICK_RETRY })
    }

    fn named(words: &[&str]) -> Result<Self, String> {
        let unknown = words.iter().find(|w| systems::ALL.iter().all(|s| !s.name.contains(**w)));
        if let Some(word) = unknown {
            return Err(format!("no system's name contains {word:?}: see `ioscape-real list`"));
        }
        Ok(Self::of_systems(words, |name| words.iter().any(|word| name.contains(word))))
    }

    /// The systems whose names are wanted.
    pub fn of_systems(words: &[&str], is_wanted: impl Fn(&str) -> bool) -> Self {
        let systems = systems::ALL.iter().filter(|system| is_wanted(system.name)).collect();
        Self { name: words.join(" "), systems, retry_until: RETRY }
    }
}

/// The day of the year.
fn today() -> usize {
    let day = Timestamp::now().to_zoned(TimeZone::UTC).day_of_year();
    day.unsigned_abs() as usize
}

impl Plan<'_> {
    /// Whether no attempt follows this one, which ended so long after the run began.
    pub fn is_last(&self, attempt: u32, since: Duration) -> bool {
        attempt == ATTEMPTS || attempt > 1 && since > self.retry_until
    }

    /// How many of the systems that need not hold may be missed.
    pub fn tolerated(&self) -> usize {
        self.systems.iter().filter(|system| !system.must_hold).count() / TOLERATED_OF
    }

    /// Whether the run passes: every system was brought up and evaluated, those that must hold do,
    /// and no more of the others were missed than is tolerated.
    pub fn is_met(&self, outcomes: &[(&System, Outcome)]) -> bool {
        let mut missed = 0;
        for (system, outcome) in outcomes {
            match outcome {
                Outcome::Broken(_) => return false,
                _ if outcome.is_good() => {}
                _ if system.must_hold => return false,
                _ => missed += 1,
            }
        }
        missed <= self.tolerated()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::equal;

    fn names(words: &[&str]) -> Vec<&'static str> {
        Plan::of(words).unwrap().systems.iter().map(|system| system.name).collect()
    }

    #[test]
    fn every_part_names_systems_that_are_there_and_no_two_the_same() {
        let mut all: Vec<&str> = Vec::new();
        for (at, part) in QUICK.iter().enumerate() {
            let found = names(&["quick", &(at + 1).to_string()]);
            assert_eq!(found, [ALWAYS, part].concat());
            all.extend(*part);
        }
        all.sort_unstable();
        let length = all.len();
        all.dedup();
        assert_eq!(all.len(), length);
    }

    #[test]
    fn words_choose_by_part_of_a_name_and_unknown_ones_are_refused() {
        assert_eq!(names(&["memcg"]), ["memcg-64", "memcg-512"]);
        assert_eq!(names(&["full"]).len(), systems::ALL.len());
        assert!(names(&["quick"]).len() > ALWAYS.len());
        let again = Plan::of(&["quick"]).unwrap().name;
        assert_eq!(names(&again.split(' ').collect::<Vec<_>>()), names(&["quick"]));
        for wrong in [&["nonesuch"][..], &["quick", "0"], &["quick", "12"], &[]] {
            assert!(Plan::of(wrong).is_err(), "{wrong:?}");
        }
    }

    /// A plan with so many systems that must hold, and so many others.
    fn plan(must_hold: usize, others: usize) -> Plan<'static> {
        let of = |must_hold: bool| systems::ALL.iter().filter(move |s| s.must_hold == must_hold);
        let systems = of(true).take(must_hold).chain(of(false).take(others)).collect();
        Plan { name: String::new(), systems, retry_until: RETRY }
    }

    #[test]
    fn a_second_attempt_is_made_however_late_it_is_and_a_third_only_early() {
        let is_last = |after| [1, 2, 3].map(|attempt| plan(0, 1).is_last(attempt, after));
        assert_eq!(is_last(RETRY), [false, false, true]);
        assert_eq!(is_last(RETRY * 2), [false, true, true]);
    }

    #[test]
    fn few_may_be_missed_and_none_that_was_named_alone() {
        assert_eq!(Plan::of(&["sprite"]).unwrap().tolerated(), 0);
        assert_eq!(Plan::of(&["quick", "1"]).unwrap().tolerated(), 0, "three of five must hold");
        assert_eq!(plan(4, 4).tolerated(), 0);
        assert_eq!(plan(4, 5).tolerated(), 1);
    }

    #[test]
    fn a_miss_is_tolerated_of_systems_that_need_not_hold_alone() {
        let met = |missed: &[usize]| {
            let plan = plan(3, 5);
            let one = |(n, &system): (usize, &&'static System)| {
                let found = if missed.contains(&n) { "wrong" } else { "right" };
                (system, Outcome::Checked(vec![equal("it", "right", found)]))
            };
            let outcomes: Vec<_> = plan.systems.iter().enumerate().map(one).collect();
            plan.is_met(&outcomes)
        };
        assert!(met(&[]) && met(&[3]) && met(&[7]));
        assert!(!met(&[3, 7]), "two of five");
        assert!(!met(&[0]), "it must hold");
        let broken = [(plan(0, 5).systems[0], Outcome::Broken("no such device".to_owned()))];
        assert!(!plan(0, 5).is_met(&broken));
    }
}
