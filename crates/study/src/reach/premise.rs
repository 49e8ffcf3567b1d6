//! What an evaluation says of its reach: below what speed it will be divided, and what the findings of each part hold for.

use super::{OUTGROWING_SHARE, PARTS, ReachLimits, well_past};
use ioscape_schema::units::{Bytes, Rate};

impl ReachLimits {
    /// Before it is known how fast sets are laid out: below what speed the evaluation will be divided, in a sentence. `None` where that is
    /// certain already, or the user chose memory, sets or direct access.
    pub fn divided_below(&self) -> Option<String> {
        let is_open = self.layout_bytes_per_s.is_none() && self.group().is_none();
        let memory = self.memory_bytes.filter(|_| is_open)?;
        let rate = well_past(memory) as f64 / (self.budget_s * OUTGROWING_SHARE);
        let slower = Self { layout_bytes_per_s: Some(0.9 * rate), ..*self };
        slower.group().is_some().then(|| format!(
            "where sets are laid out more slowly than {}, few could outgrow this machine's memory of {}: then a control group with less memory, the machine as it is and the device with direct I/O share the time, as far as they can be had, the group with half as much again as the others",
            Rate(rate),
            Bytes(memory as f64)
        ))
    }

    /// What the findings hold for that were made in one of several ways because no set is well past the memory: `limit` is that
    /// of the control group in bytes, and `own` that of these findings.
    pub fn premise(&self, limit: u64, own: Option<u64>) -> String {
        let limit = Bytes(limit as f64);
        let [_, size] = Self { memory_limit_bytes: own, ..*self }.size_mean();
        let (is_past_memory, short) = self.shortness();
        match (own, self.direct) {
            (Some(_), _) => format!(
                "Measured in a control group of {limit}, file cache included, because no set {short}: what is said of borders, caches and regions holds under that limit, with mean requests of up to {}; without it the file cache takes what memory is free.",
                Bytes(size as f64)
            ),
            (None, true) => format!(
                "Measured with direct I/O, past the file cache, because no set {short}: what follows is of the device, or of its server, without this machine's file cache."
            ),
            (None, false) => format!(
                "No set {short}: {}. The border of that cache is searched in a control group of {limit} and the device, or its server, is measured with direct I/O, each in an evaluation of its own. A longer --budget, more free space, or --memory, measures all in one.",
                match is_past_memory {
                    true => "few sets here are larger than the file cache",
                    false => "few sets here, if any, outgrow the file cache",
                }
            ),
        }
    }

    /// Whether the largest set of an evaluation that is one of several ways is larger than the memory, and what no set is then.
    fn shortness(&self) -> (bool, String) {
        let (budget_s, memory_limit_bytes) = (self.budget_s / PARTS, None);
        let part = Self { budget_s, memory_limit_bytes, is_part: true, ..*self };
        let [_, largest] = part.unique_bytes();
        let memory = self.memory_bytes.unwrap_or(0);
        let is_slow = !self.is_short_of(memory) && self.is_slow_past(memory);
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
        let told = open.divided_below().unwrap_or_default();
        assert!(told.contains("1.79 GB/s") && told.contains("24 GiB"), "{told}");
        assert!(ReachLimits { layout_bytes_per_s: Some(1.9e9), ..open }.group().is_none());
        assert!(ReachLimits { layout_bytes_per_s: Some(1.7e9), ..open }.group().is_some());
        let chosen = ReachLimits { max_unique_bytes: Some(1 << 30), ..open };
        let full = ReachLimits { capacity_bytes: 9 << 30, ..open };
        for certain in [chosen, full, ReachLimits { layout_bytes_per_s: Some(1e9), ..open }] {
            assert_eq!(certain.divided_below(), None, "{certain:?}");
        }
    }

    #[test]
    fn a_set_that_is_larger_than_memory_is_not_said_to_be_smaller() {
        let tight = ReachLimits { capacity_bytes: 9 << 30, ..LIMITS };
        for limits in [tight, ReachLimits { direct: true, ..tight }] {
            for own in [None, Some(512 << 20)] {
                let told = limits.premise(512 << 20, own);
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
        let of = |limits: ReachLimits, own| limits.premise(limit, own);
        let whole = of(server, None);
        assert!(
            whole.contains("memory of 512 GiB") && whole.contains("group of 256 MiB"),
            "{whole}"
        );
        let group = of(server, Some(limit));
        assert!(group.contains("holds under that limit") && group.contains("512 KiB"), "{group}");
        let device = of(ReachLimits { direct: true, ..server }, None);
        assert!(
            device.contains("the device, or of its server") && !device.contains("alone"),
            "{device}"
        );
        // The cache holds less than the memory, so that a set of nearly that size may outgrow it.
        let tight =
            ReachLimits { memory_bytes: Some(24 << 30), capacity_bytes: 47 << 29, ..LIMITS };
        let told = of(tight, None);
        assert!(told.contains("few sets here, if any") && !told.contains("alone"), "{told}");
    }
}
