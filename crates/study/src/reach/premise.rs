//! What an evaluation says about its reach: below which layout rate it will be divided, and what
//! the findings of each part hold for.

use super::{GROUP_WEIGHT, OUTGROWING_SHARE, ReachLimits, UNDIVIDED_SHARE, well_past};
use ioscape_schema::units::{Bytes, Rate};

impl ReachLimits {
    /// Says, before the layout rate is known, below which rate the evaluation will be divided.
    /// `is_possible` says whether a control group with a given limit can be made, `has_direct`
    /// whether files can be opened for direct I/O.
    ///
    /// Returns `None` if that is already certain, if the user chose memory, sets or direct
    /// access, or if there is nothing among which the time could be divided.
    pub fn divided_below(
        &self,
        is_possible: impl Fn(u64) -> bool,
        has_direct: bool,
    ) -> Option<String> {
        let is_open = self.layout_bytes_per_s.is_none() && self.group().is_none();
        let memory = self.memory_bytes.filter(|_| is_open)?;
        let rate = |share: f64| well_past(memory) as f64 / (self.budget_s * share);
        let slower = Self { layout_bytes_per_s: Some(0.9 * rate(OUTGROWING_SHARE)), ..*self };
        let (rate, sets, ways) = match is_possible(slower.group()?) {
            true => (
                rate(OUTGROWING_SHARE),
                "few could outgrow",
                "the time is divided among a control group with less memory (which gets half as much again as each of the others), the machine as it is and the device with direct I/O, as far as each is possible",
            ),
            false if has_direct => (
                rate(UNDIVIDED_SHARE),
                "few could be well past",
                "the machine as it is and the device with direct I/O share the time",
            ),
            false => return None,
        };
        let (rate, memory) = (Rate(rate), Bytes(memory as f64));
        Some(format!(
            "where sets are laid out more slowly than {rate}, {sets} this machine's memory of {memory}: then {ways}"
        ))
    }

    /// Says what the findings hold for when they were made in one of several ways because no set is
    /// well past the memory. `limit` is the limit of the control group in bytes, `own` the one that
    /// applies to these findings; `has_direct` says whether the device by itself is one of the
    /// ways.
    pub fn premise(&self, limit: u64, own: Option<u64>, has_direct: bool) -> String {
        let limit = Bytes(limit as f64);
        let [_, size] = Self { memory_limit_bytes: own, ..*self }.size_mean();
        let (is_past_memory, short) = self.shortness(has_direct);
        match (own, self.direct) {
            (Some(_), _) => format!(
                "Measured in a control group of {limit}, file cache included, because no set {short}. Findings on borders, caches and regions hold under that limit, for mean request sizes of up to {}. Without the limit, the file cache takes whatever memory is free.",
                Bytes(size as f64)
            ),
            (None, true) => format!(
                "Measured with direct I/O, past the file cache, because no set {short}: what follows is of the device, or of its server or a virtual machine's host, without this machine's file cache."
            ),
            (None, false) => format!(
                "No set {short}, so {}. The end of that cache is looked for in a control group of {limit}{} in a separate evaluation. To cover all of it in one evaluation, give a longer --budget, more free space, or --memory.",
                match is_past_memory {
                    true => "few sets here are larger than the file cache",
                    false => "few sets here, if any, outgrow the file cache",
                },
                match has_direct {
                    true => " and the device, or its server, is measured with direct I/O, each",
                    false => ",",
                }
            ),
        }
    }

    /// Whether the largest set of an evaluation that is one of several ways is larger than the
    /// memory, and the words for what no set then is.
    fn shortness(&self, has_direct: bool) -> (bool, String) {
        let parts = GROUP_WEIGHT + if has_direct { 2.0 } else { 1.0 };
        let (budget_s, memory_limit_bytes) = (self.budget_s / parts, None);
        let part = Self { budget_s, memory_limit_bytes, is_part: true, direct: false, ..*self };
        let [_, largest] = part.unique_bytes();
        let memory = self.memory_bytes.unwrap_or(0);
        let is_slow = !self.is_short_of(memory) && self.is_slow_past(memory, OUTGROWING_SHARE);
        let short = match largest > memory {
            false if is_slow => format!(
                "can outgrow this machine's memory of {} and be measured often enough in the time",
                Bytes(memory as f64)
            ),
            true => format!(
                "that budget and space allow is well past this machine's memory of {} (the largest has {})",
                Bytes(memory as f64),
                Bytes(largest as f64)
            ),
            false => format!(
                "that budget and space allow outgrows this machine's memory of {}",
                Bytes(memory as f64)
            ),
        };
        (largest > memory, short)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::LIMITS;
    use super::*;

    #[test]
    fn a_plan_says_below_what_speed_it_will_be_divided() {
        let open = ReachLimits { memory_bytes: Some(24 << 30), budget_s: 180.0, ..LIMITS };
        let told = open.divided_below(|_| true, true).unwrap_or_default();
        assert!(told.contains("1.79 GB/s") && told.contains("24 GiB"), "{told}");
        assert!(ReachLimits { layout_bytes_per_s: Some(1.9e9), ..open }.group().is_none());
        assert!(ReachLimits { layout_bytes_per_s: Some(1.7e9), ..open }.group().is_some());
        let chosen = ReachLimits { max_unique_bytes: Some(1 << 30), ..open };
        let full = ReachLimits { capacity_bytes: 9 << 30, ..open };
        for certain in [chosen, full, ReachLimits { layout_bytes_per_s: Some(1e9), ..open }] {
            assert_eq!(certain.divided_below(|_| true, true), None, "{certain:?}");
        }
    }

    #[test]
    fn a_plan_without_groups_is_divided_only_where_few_sets_outgrow_the_memory() {
        let open = ReachLimits { memory_bytes: Some(24 << 30), budget_s: 180.0, ..LIMITS };
        let told = open.divided_below(|_| false, true).unwrap_or_default();
        assert!(told.contains("1.43 GB/s, few could be well past") && !told.contains("group"));
        let of = |rate| ReachLimits { layout_bytes_per_s: Some(rate), ..open };
        assert!(of(1.44e9).outgrows_memory_often() && !of(1.43e9).outgrows_memory_often());
        assert_eq!(open.divided_below(|_| false, false), None, "nothing else can be had");
    }

    #[test]
    fn a_set_that_is_larger_than_memory_is_not_said_to_be_smaller() {
        let tight = ReachLimits { capacity_bytes: 9 << 30, ..LIMITS };
        for limits in [tight, ReachLimits { direct: true, ..tight }] {
            for own in [None, Some(512 << 20)] {
                let told = limits.premise(512 << 20, own, true);
                assert!(told.contains("well past") && told.contains("9 GiB"), "{told}");
                assert!(!told.contains("outgrows") && !told.contains("alone"), "{told}");
            }
        }
    }

    #[test]
    fn each_way_says_what_it_holds_for() {
        let server =
            ReachLimits { memory_bytes: Some(512 << 30), capacity_bytes: 64 << 30, ..LIMITS };
        let limit = 256 << 20;
        let of = |limits: ReachLimits, own| limits.premise(limit, own, true);
        let whole = of(server, None);
        assert!(
            whole.contains("memory of 512 GiB") && whole.contains("group of 256 MiB"),
            "{whole}"
        );
        let group = of(server, Some(limit));
        assert!(group.contains("hold under that limit") && group.contains("512 KiB"), "{group}");
        let device = of(ReachLimits { direct: true, ..server }, None);
        assert!(
            device.contains("the device, or of its server") && !device.contains("alone"),
            "{device}"
        );
        // The cache holds less than the memory, so a set of nearly that size may outgrow it.
        let tight =
            ReachLimits { memory_bytes: Some(24 << 30), capacity_bytes: 47 << 29, ..LIMITS };
        let told = of(tight, None);
        assert!(told.contains("few sets here, if any") && !told.contains("alone"), "{told}");
    }
}
