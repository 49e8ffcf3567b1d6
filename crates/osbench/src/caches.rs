//! Checks two things by comparing copy rates: whether the reported shared caches are usable, and
//! whether the data sized to exceed the last cache really does.
//!
//! The kernel of a virtual machine may report a third-level cache that the whole host shares, or
//! only a small part of the cache that the machine has.

use super::bcopy::{self, MEMORY, TWICE};
use super::result::withdraw;
use super::sizes::PastAll;
use ioscape_schema::units::Rate;
use ioscape_schema::{OsBenchmark, Warning, WarningKind};

/// Copies within a usable shared cache are faster than copies in memory by more than this factor.
const FASTER: f64 = 1.05;

/// A copy that is faster than one in memory by more than this factor lies at least partly in a
/// cache.
const IN_CACHE: f64 = 1.1;

/// Withdraws the values of shared caches that are not, or not provably, faster than memory, and of
/// data that should exceed the last cache but does not. The warning names data that may lie in a
/// cache.
pub(crate) fn judge(all: &mut [OsBenchmark], past_all: PastAll) -> Option<Warning> {
    let (memory, twice) = (copy_of(all, MEMORY), copy_of(all, TWICE));
    for one in all.iter_mut().filter(|one| one.value.is_some() && is_shared(one)) {
        if let Some(why) = absent(one, memory.as_ref(), past_all.copies) {
            withdraw(one, why.to_owned());
        }
    }
    let compared = twice.as_ref().zip(memory.as_ref()).filter(|_| past_all.copies);
    let in_cache = compared.and_then(|(twice, memory)| is_faster(twice, memory, IN_CACHE));
    if let Some((twice, memory)) = compared.filter(|_| in_cache == Some(true)) {
        let why = in_part(twice, memory);
        let others = all.iter_mut().filter(|one| one.value.is_some() && is_sized_alike(one));
        others.for_each(|one| withdraw(one, why.clone()));
    }
    let is_unsure = |one: &&OsBenchmark| {
        let copied = one.name == bcopy::NAME && one.case.starts_with(MEMORY) && !past_all.copies;
        let other = is_sized_alike(one) && !past_all.others && in_cache.is_none();
        one.value.is_some() && (copied || other)
    };
    let unsure = all.iter().filter(is_unsure);
    unsure_of(&unsure.collect::<Vec<_>>(), past_all)
}

/// Returns the `bcopy` result of this case, if it has a value.
fn copy_of(all: &[OsBenchmark], case: &str) -> Option<OsBenchmark> {
    let of_case = |one: &&OsBenchmark| one.name == bcopy::NAME && one.case == case;
    all.iter().find(of_case).filter(|one| one.value.is_some()).cloned()
}

/// Whether `one` is more than `factor` times as fast as `other`, judged by their intervals; `None`
/// where the intervals cannot decide.
pub(crate) fn is_faster(one: &OsBenchmark, other: &OsBenchmark, factor: f64) -> Option<bool> {
    let ([low, high], [least, most]) = (one.ci95?, other.ci95?);
    if low > most * factor {
        return Some(true);
    }
    (high <= least * factor).then_some(false)
}

/// Returns why a shared cache's case has no value, judged against the copy in memory; `None` if the
/// case is faster. `is_memory` says whether that copy is too large for any cache.
fn absent(
    one: &OsBenchmark,
    memory: Option<&OsBenchmark>,
    is_memory: bool,
) -> Option<&'static str> {
    let Some(memory) = memory else {
        return Some(
            "whether this machine has such a cache for itself cannot be told, for the copy in memory has no value to compare with",
        );
    };
    match (is_faster(one, memory, FASTER), is_memory) {
        (Some(true), _) => None,
        (Some(false), true) => Some(
            "it is no faster than a copy in memory, so this machine has no such cache for itself, whatever the kernel reports",
        ),
        (Some(false), false) => Some(
            "it is no faster than the copy that is taken for one in memory, and which of the two is in no cache cannot be told",
        ),
        (None, _) => Some(
            "whether this machine has such a cache for itself cannot be told, for the intervals of this copy and of the one in memory are not apart",
        ),
    }
}

/// Returns why data as large as the copies within twice the last cache has no value.
fn in_part(twice: &OsBenchmark, memory: &OsBenchmark) -> String {
    let [twice, memory] = [twice, memory].map(|one| Rate(one.value.unwrap_or(0.0)));
    format!(
        "it was to be past the last cache, but lies in one, at least in part: copies within as much memory run at {twice}, and in memory at {memory}"
    )
}

/// Returns the warning about these cases, if there are any.
fn unsure_of(cases: &[&OsBenchmark], past_all: PastAll) -> Option<Warning> {
    let names: Vec<String> =
        cases.iter().map(|one| format!("{} ({})", one.name, one.case)).collect();
    let why = match past_all.copies {
        true => "the copies that would tell (bcopy) were not measured, or their intervals do not",
        false => {
            "copies that are past any cache take half a gigabyte, more than a quarter of the available memory"
        }
    };
    (!names.is_empty()).then(|| {
        let text = format!(
            "{}: whether this lies past the last cache cannot be told, for that may be larger than the kernel tells, and {why}",
            names.join(", ")
        );
        Warning::new(WarningKind::Unsupported, text)
    })
}

/// Whether a case has as much data as the copies within twice the last cache, in order to be in no
/// cache.
fn is_sized_alike(one: &OsBenchmark) -> bool {
    match one.name.as_str() {
        "read" => one.case.starts_with("file cache"),
        "memory-latency" => one.case.starts_with(MEMORY),
        _ => false,
    }
}

/// Whether a case is a copy within a cache that several cores share.
fn is_shared(one: &OsBenchmark) -> bool {
    let level = one.case.strip_prefix("level ").and_then(|rest| rest.split(' ').next());
    let level = level.and_then(|level| level.parse::<u32>().ok());
    one.name == bcopy::NAME && level.is_some_and(|level| level > 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAST: &str = "level 3 cache";
    const ROOM: PastAll = PastAll { copies: true, others: false };

    fn named(name: &str, case: &str, value: f64) -> OsBenchmark {
        OsBenchmark {
            name: name.into(),
            case: case.into(),
            value: Some(value),
            ci95: Some([value * 0.99, value * 1.01]),
            processes: vec![value; 6],
            ..OsBenchmark::default()
        }
    }

    fn one(case: &str, value: f64) -> OsBenchmark {
        named(bcopy::NAME, case, value)
    }

    fn why(one: &OsBenchmark) -> &str {
        one.not_measured.as_deref().unwrap_or_default()
    }

    #[test]
    fn a_cache_that_is_as_slow_as_memory_is_none() {
        let mut all = [one("level 2 cache", 10e9), one(LAST, 10.2e9), one(MEMORY, 10e9)];
        assert_eq!(judge(&mut all, ROOM), None);
        assert!(all[0].value.is_some() && all[2].value.is_some());
        assert!(all[1].value.is_none() && all[1].set_aside.len() == 6);
        assert!(why(&all[1]).contains("no such cache for itself"), "{}", why(&all[1]));
        let mut all = [one(LAST, 30e9), one(MEMORY, 10e9)];
        judge(&mut all, ROOM);
        assert!(all[0].value.is_some());
        all[1].value = None;
        judge(&mut all, ROOM);
        assert_eq!((all[0].value, all[0].set_aside.len()), (None, 6));
        assert!(why(&all[0]).contains("cannot be told"), "{}", why(&all[0]));
        let mut all = [one("level 2 cache", 30e9)];
        judge(&mut all, ROOM);
        assert!(all[0].value.is_some(), "the core's own");
    }

    #[test]
    fn what_lies_in_a_larger_cache_than_told_is_not_memory() {
        let mut all = [
            one(LAST, 20e9),
            one(TWICE, 20e9),
            one(MEMORY, 9e9),
            named("read", "file cache", 18e9),
            named("read", "level 2 cache", 19e9),
            named("memory-latency", "memory, huge pages", 20.0),
            named("memory-latency", "16 KB", 1.0),
        ];
        assert_eq!(judge(&mut all, ROOM), None);
        let kept = all.iter().filter(|one| one.value.is_some()).map(|one| one.case.as_str());
        assert_eq!(kept.collect::<Vec<_>>(), [LAST, TWICE, MEMORY, "level 2 cache", "16 KB"]);
        for one in all.iter().filter(|one| one.value.is_none()) {
            assert!(why(one).contains("run at 20 GB/s, and in memory at 9 GB/s"), "{}", why(one));
        }
        let mut all = [one(TWICE, 9.3e9), one(MEMORY, 9e9), named("read", "file cache", 8e9)];
        assert_eq!(judge(&mut all, ROOM), None);
        assert!(all[2].value.is_some(), "as slow as memory");
    }

    #[test]
    fn without_room_for_large_copies_it_cannot_be_told_which_is_in_no_cache() {
        let of = || [one(LAST, 20e9), one(MEMORY, 20e9), named("read", "file cache", 18e9)];
        let mut all = of();
        let told = judge(&mut all, PastAll { copies: false, others: false }).unwrap().message;
        assert!(told.contains("bcopy (memory), read (file cache): whether"), "{told}");
        assert!(told.contains("available memory"), "{told}");
        assert!(all[0].value.is_none() && all[1].value.is_some() && all[2].value.is_some());
        assert!(why(&all[0]).contains("which of the two is in no cache"), "{}", why(&all[0]));
        let told = judge(&mut of(), ROOM).unwrap().message;
        assert!(told.starts_with("read (file cache): whether"), "{told}");
        assert!(told.contains("would tell (bcopy)"), "{told}");
        assert_eq!(judge(&mut of(), PastAll { copies: true, others: true }), None);
    }

    #[test]
    fn intervals_decide_and_not_values() {
        let wide = OsBenchmark { ci95: Some([8e9, 14e9]), ..one(MEMORY, 10e9) };
        let mut all = [one(LAST, 12e9), one(TWICE, 12e9), wide, named("read", "file cache", 8e9)];
        let told = judge(&mut all, ROOM).unwrap().message;
        assert!(why(&all[0]).contains("are not apart"), "{}", why(&all[0]));
        assert!(told.contains("read (file cache)") && all[3].value.is_some(), "{told}");
    }
}
