//! The ways in which one target is evaluated, each with its share of the budget. They differ in
//! access or, if no set outgrows the memory, in what they single out: the file cache as it is, one
//! in a control group, or the device.

use crate::reach::{GROUP_WEIGHT, ReachLimits};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Access, Warning, WarningKind};

/// Why the device gets no time of its own if there is no group but time for sets larger than the
/// memory.
const SPARED: &str = "no control group could be made, so the whole budget goes to one evaluation in which sets outgrow the memory (--access buffered,direct measures both)";

/// One way of evaluating a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// How requests reach the target.
    pub access: Access,
    /// Memory limit of the workers, in bytes.
    pub memory_limit_bytes: Option<u64>,
}

impl Way {
    /// Returns all ways. `group` is the limit, in bytes, of a control group that sets outgrow where
    /// none outgrows the memory. With it, the ways are the file cache as it is, the file cache in
    /// that group, and the device by itself. Otherwise they are the requested `accesses` under the
    /// requested memory limit.
    fn all(group: Option<u64>, accesses: &[Access], asked: Option<u64>) -> Vec<Self> {
        let of = |access, memory_limit_bytes| Self { access, memory_limit_bytes };
        match group {
            Some(_) => vec![
                of(Access::Buffered, None),
                of(Access::Buffered, group),
                of(Access::Direct, None),
            ],
            None => accesses.iter().map(|&access| of(access, asked)).collect(),
        }
    }

    /// Returns the ways that are possible for a target with these `limits` as a whole, and the
    /// warnings about the others. `group` is the limit of the control group to be used if the
    /// target would be divided. `refusal` says why a way that nobody asked for is not possible. If
    /// there is no group, but time for more than a few sets well past the memory, dividing that
    /// time would only cost such sets, so the requested accesses keep all of it.
    pub fn possible(
        limits: &ReachLimits,
        group: Option<u64>,
        accesses: &[Access],
        refusal: impl Fn(Self) -> Option<String>,
    ) -> (Vec<Self>, Vec<Warning>) {
        let asked = limits.memory_limit_bytes;
        let is_group = |way: &Self| way.memory_limit_bytes != asked;
        let is_asked = |way: &Self| !is_group(way) && accesses.contains(&way.access);
        let too_small = |way: &Self| limits.too_small_for(way.memory_limit_bytes?);
        let why_not = |way: &Self| match is_asked(way) {
            true => None,
            false => too_small(way).or_else(|| refusal(*way)),
        };
        let all = Self::all(group, accesses, asked).into_iter();
        let tried: Vec<_> = all.map(|way| (way, why_not(&way))).collect();
        let has_no_group = tried.iter().any(|(way, why)| is_group(way) && why.is_some());
        let is_whole = has_no_group && limits.outgrows_memory_often();
        let spared = |way: &Self| (is_whole && !is_asked(way)).then(|| SPARED.to_owned());
        let (mut possible, mut refused) = (Vec::new(), Vec::new());
        for (way, why) in tried {
            match why.or_else(|| spared(&way)) {
                None => possible.push(way),
                Some(why) => refused.push((way, why)),
            }
        }
        // Where the time is shared, no part has time for a set larger than the memory.
        let is_slow = limits.outgrows_memory() && !Self::are_divided(&possible, accesses);
        let left_out = refused.iter().map(|(way, why)| way.left_out(is_slow, why)).collect();
        (possible, left_out)
    }

    /// Whether the time is divided among `ways` that nobody asked for, in addition to the requested
    /// `accesses`.
    pub fn are_divided(ways: &[Self], accesses: &[Access]) -> bool {
        ways.len() > accesses.len()
    }

    /// Returns the share, from 0 to 1, of the time of an evaluation with these `ways` that this one
    /// gets. A group that nobody `asked` for has a border, and regions on both sides of it, to be
    /// measured; so it gets half as much time again as each of the others.
    pub fn share(self, ways: &[Self], asked: Option<u64>) -> f64 {
        let weight = |way: &Self| if way.memory_limit_bytes == asked { 1.0 } else { GROUP_WEIGHT };
        weight(&self) / ways.iter().map(weight).sum::<f64>()
    }

    /// Returns the limits on the sets of this way, given the `limits` of the whole evaluation with
    /// its access. If the time is divided and this way gets a `share` of it, laying out its sets
    /// must fit into that share.
    pub fn limits(self, share: Option<f64>, limits: ReachLimits) -> ReachLimits {
        let is_part = share.is_some();
        let budget_s = limits.budget_s * share.unwrap_or(1.0);
        ReachLimits { memory_limit_bytes: self.memory_limit_bytes, budget_s, is_part, ..limits }
    }

    /// Its name among several ways: the access, and its memory limit if there is one.
    pub fn name(self) -> String {
        match self.memory_limit_bytes {
            Some(limit) => {
                format!("{} in a control group of {}", self.access, Bytes(limit as f64))
            }
            None => self.access.to_string(),
        }
    }

    /// The warning that this way, which nobody asked for, is left out, and why. `is_slow`: sets of
    /// the other ways outgrow the memory, but only a few in the time available.
    fn left_out(self, is_slow: bool, why: &str) -> Warning {
        let what = match self.memory_limit_bytes {
            Some(_) if is_slow => {
                "the end of the file cache may not be found: few sets outgrow the memory in the time there is, and no control group with less memory could be made"
            }
            Some(_) => {
                "the end of the file cache may not be found: no set is well past the memory, and no control group with less memory could be made"
            }
            None => "the device is not measured by itself",
        };
        Warning::new(WarningKind::SetLimited, format!("{what}: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limits of a machine with little free space.
    const LIMITS: ReachLimits = ReachLimits {
        memory_bytes: Some(1 << 34),
        capacity_bytes: 1 << 30,
        ..crate::reach::tests::LIMITS
    };

    #[test]
    fn ways_that_nobody_asked_for_share_the_budget() {
        let divided = Way::all(Some(1 << 28), &[Access::Buffered], None);
        assert_eq!(divided.len(), 3);
        assert!(Way::are_divided(&divided, &[Access::Buffered]));
        let shares: Vec<f64> = divided.iter().map(|way| way.share(&divided, None)).collect();
        assert_eq!(shares, [2.0, 3.0, 2.0].map(|part| part / 7.0));
        let group = divided[1].limits(Some(0.5), LIMITS);
        assert_eq!((group.budget_s, group.memory_limit_bytes), (300.0, Some(1 << 28)));
        // The case where one of them turns out to be impossible.
        assert_eq!([0, 2].map(|at| divided[at].share(&[divided[0], divided[2]], None)), [0.5; 2]);
        let names: Vec<String> = divided.iter().map(|way| way.name()).collect();
        assert_eq!(names, ["buffered", "buffered in a control group of 256 MiB", "direct"]);
        assert!(group.is_part);
        let accesses = [Access::Direct, Access::Dsync];
        let asked = Way::all(None, &accesses, None);
        assert!(!Way::are_divided(&asked, &accesses));
        assert_eq!(asked[1].limits(None, LIMITS), LIMITS);
        let limited = Way::all(None, &[Access::Direct, Access::Buffered], Some(1 << 28));
        assert_eq!(limited[0].share(&limited, Some(1 << 28)), 0.5);
    }

    /// The ways for a target without control groups (and without direct I/O if `has_direct` is
    /// false), and the warnings.
    fn without_group(limits: &ReachLimits, has_direct: bool) -> (Vec<Way>, String) {
        assert!(limits.group().is_some(), "it would be divided");
        let refusal = |way: Way| {
            let is_refused = way.memory_limit_bytes.is_some() || !has_direct;
            is_refused.then(|| "no".to_owned())
        };
        let (ways, left_out) = Way::possible(limits, limits.group(), &[Access::Buffered], refusal);
        (ways, left_out.into_iter().map(|doubt| doubt.message + "\n").collect())
    }

    const BUFFERED: Way = Way { access: Access::Buffered, memory_limit_bytes: None };

    #[test]
    fn without_a_group_time_for_sets_past_the_memory_is_not_divided() {
        let slow = ReachLimits {
            memory_bytes: Some(24 << 30),
            capacity_bytes: 100 << 30,
            layout_bytes_per_s: Some(450e6),
            ..LIMITS
        };
        for has_direct in [true, false] {
            let (ways, said) = without_group(&slow, has_direct);
            assert_eq!(ways, [BUFFERED]);
            assert!(!Way::are_divided(&ways, &[Access::Buffered]));
            assert_eq!(BUFFERED.limits(None, slow).unique_bytes()[1] >> 30, 62);
            assert!(said.contains("few sets outgrow the memory in the time"), "{said}");
            let why = if has_direct { "itself: no control group" } else { "itself: no\n" };
            assert!(said.contains(why) && said.lines().count() == 2, "{said}");
        }
    }

    /// Guards against a defect: there was time for one set larger than the memory, which showed no
    /// border, and none for the device.
    #[test]
    fn without_a_group_time_for_few_sets_past_the_memory_is_shared_with_the_device() {
        let short = ReachLimits {
            budget_s: 180.0,
            memory_bytes: Some(24 << 30),
            capacity_bytes: 100 << 30,
            layout_bytes_per_s: Some(1.3e9),
            ..LIMITS
        };
        let (ways, said) = without_group(&short, true);
        assert_eq!(ways, [BUFFERED, Way { access: Access::Direct, ..BUFFERED }]);
        let part = BUFFERED.limits(Some(BUFFERED.share(&ways, None)), short);
        assert!(part.unique_bytes()[1] < 24 << 30);
        assert!(said.contains("no set is well past") && said.lines().count() == 1, "{said}");
        let (ways, said) = without_group(&short, false);
        assert_eq!(ways, [BUFFERED]);
        assert!(said.contains("few sets outgrow the memory") && said.contains("itself: no\n"));
    }

    #[test]
    fn what_cannot_be_had_leaves_its_time_to_the_others() {
        let (ways, said) = without_group(&LIMITS, true);
        assert_eq!(ways, [BUFFERED, Way { access: Access::Direct, ..BUFFERED }]);
        assert!(Way::are_divided(&ways, &[Access::Buffered]));
        assert!(said.contains("no set is well past the memory") && said.ends_with("made: no\n"));
        let (ways, said) = without_group(&LIMITS, false);
        assert_eq!(ways, [BUFFERED], "what is left alone has all of the time");
        assert!(!Way::are_divided(&ways, &[Access::Buffered]));
        assert!(said.contains("the device is not measured by itself: no"), "{said}");
    }

    /// Guards against a defect: where no group had room, the device was not measured either, and
    /// nothing said so.
    #[test]
    fn without_room_for_a_group_the_device_is_measured_by_itself() {
        let small = ReachLimits { capacity_bytes: 100 << 20, ..LIMITS };
        let ways = |refusal: fn(Way) -> Option<String>| {
            Way::possible(&small, small.group(), &[Access::Buffered], refusal)
        };
        let (possible, left_out) = ways(|_| None);
        assert_eq!(possible, [BUFFERED, Way { access: Access::Direct, ..BUFFERED }]);
        let why = "could be made: the smallest has 32 MiB, takes sets of 128 MiB";
        assert!(left_out[0].message.contains(why) && left_out.len() == 1, "{left_out:?}");
        let (possible, left_out) = ways(|_| Some("no".to_owned()));
        assert_eq!((possible, left_out.len()), (vec![BUFFERED], 2));
    }
}
