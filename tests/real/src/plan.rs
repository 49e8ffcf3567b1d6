//! Which systems a run tries, for how long it tries again, and how many of them it may miss.

use crate::systems::{self, System};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::time::Duration;

/// In every quick run: they must hold, and take seconds.
const ALWAYS: &[&str] = &["disk-model", "faults", "lost-writes"];

/// The parts of the quick run, one for each day in turn; each takes up to four minutes on two processors.
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

/// A quick run tries nothing again after this.
const QUICK_RETRY: Duration = Duration::from_secs(4 * 60);
/// Nor does any other after this.
const RETRY: Duration = Duration::from_secs(40 * 60);
/// One system in so many may be missed in every attempt, for others' load may last for all of them.
const TOLERATED_OF: usize = 5;

/// What a run tries.
pub struct Plan<'a> {
    /// The systems, in order.
    pub systems: Vec<&'a System>,
    /// After this nothing is tried again.
    pub retry_until: Duration,
}

impl Plan<'static> {
    /// What the arguments ask for.
    ///
    /// # Errors
    /// One sentence if they ask for nothing that is there.
    pub fn of(words: &[&str]) -> Result<Self, String> {
        match words {
            [] => Err("say which systems to try".to_owned()),
            ["quick"] => {
                let day = Timestamp::now().to_zoned(TimeZone::UTC).day_of_year();
                Self::quick(day.unsigned_abs() as usize % QUICK.len())
            }
            ["quick", part] => match part.parse::<usize>() {
                Ok(part) if (1..=QUICK.len()).contains(&part) => Self::quick(part - 1),
                _ => Err(format!("there is no part {part:?}: they are 1 to {}", QUICK.len())),
            },
            ["full"] => Ok(Self { systems: systems::ALL.iter().collect(), retry_until: RETRY }),
            words => Self::named(words),
        }
    }

    fn quick(part: usize) -> Result<Self, String> {
        let names = || ALWAYS.iter().chain(QUICK[part]);
        let systems = names().filter_map(|name| systems::ALL.iter().find(|s| s.name == *name));
        Ok(Self { systems: systems.collect(), retry_until: QUICK_RETRY })
    }

    fn named(words: &[&str]) -> Result<Self, String> {
        let unknown = words.iter().find(|w| systems::ALL.iter().all(|s| !s.name.contains(**w)));
        if let Some(word) = unknown {
            return Err(format!("no system's name contains {word:?}: see `ioscape-real list`"));
        }
        let is_named = |system: &&System| words.iter().any(|word| system.name.contains(word));
        Ok(Self { systems: systems::ALL.iter().filter(is_named).collect(), retry_until: RETRY })
    }
}

impl Plan<'_> {
    /// How many systems may be missed, apart from those that must hold; one that cannot be brought up or evaluated never may.
    pub fn tolerated(&self) -> usize {
        self.systems.len() / TOLERATED_OF
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for wrong in [&["nonesuch"][..], &["quick", "0"], &["quick", "12"], &[]] {
            assert!(Plan::of(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn few_may_be_missed_and_none_that_was_named_alone() {
        assert_eq!(Plan::of(&["sprite"]).unwrap().tolerated(), 0);
        assert_eq!(Plan::of(&["quick", "1"]).unwrap().tolerated(), 1);
    }
}
