//! The ways in which one target is evaluated, each with its part of the budget: by access, or where no set outgrows the memory, by what is
//! then to be told apart.

use crate::reach::{GROUP_WEIGHT, ReachLimits};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Access, Warning, WarningKind};

/// One way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// How requests go to the target.
    pub access: Access,
    /// Memory limit of the workers, in bytes.
    pub memory_limit_bytes: Option<u64>,
}

impl Way {
    /// With `group`, the limit in bytes of a control group that sets outgrow where none outgrows the memory: the file cache as it is, in
    /// that group, and the device by itself. Otherwise the `accesses` asked for, under the memory limit asked for.
    pub fn all(group: Option<u64>, accesses: Vec<Access>, asked: Option<u64>) -> Vec<Self> {
        let of = |access, memory_limit_bytes| Self { access, memory_limit_bytes };
        match group {
            Some(_) => vec![
                of(Access::Buffered, None),
                of(Access::Buffered, group),
                of(Access::Direct, None),
            ],
            None => accesses.into_iter().map(|access| of(access, asked)).collect(),
        }
    }

    /// Whether the time of an evaluation that was `asked` for with this memory limit is divided among ways that nobody asked for: also where not
    /// all of them turn out to be possible.
    pub fn are_divided(ways: &[Self], asked: Option<u64>) -> bool {
        ways.iter().any(|way| way.memory_limit_bytes != asked)
    }

    /// What part of the time of an evaluation with these `ways` this one of them gets, from 0 to 1: a group that nobody `asked` for has a border and
    /// regions on both sides of it to be measured, and gets half as much time again as each of the others.
    pub fn share(self, ways: &[Self], asked: Option<u64>) -> f64 {
        let weight = |way: &Self| if way.memory_limit_bytes == asked { 1.0 } else { GROUP_WEIGHT };
        weight(&self) / ways.iter().map(weight).sum::<f64>()
    }

    /// What bounds the sets of this way, given the `limits` of the whole evaluation with its access. Where the time is divided and it gets a `share` of
    /// it, it takes nothing of the others' for laying out.
    pub fn limits(self, share: Option<f64>, limits: ReachLimits) -> ReachLimits {
        let is_part = share.is_some();
        let budget_s = limits.budget_s * share.unwrap_or(1.0);
        ReachLimits { memory_limit_bytes: self.memory_limit_bytes, budget_s, is_part, ..limits }
    }

    /// Its name among several: the access, and the memory limit that it has and the others may not.
    pub fn name(self) -> String {
        match self.memory_limit_bytes {
            Some(limit) => {
                format!("{} in a control group of {}", self.access, Bytes(limit as f64))
            }
            None => self.access.to_string(),
        }
    }

    /// That this way, which nobody asked for, is left out, and why.
    pub fn left_out(self, why: &str) -> Warning {
        let what = match self.memory_limit_bytes {
            Some(_) => {
                "where the file cache ends is not searched: no set outgrows the memory, and no control group could be made that sets outgrow"
            }
            None => "the device is not measured by itself",
        };
        Warning::new(WarningKind::SetLimited, format!("{what}: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_that_nobody_asked_for_share_the_budget() {
        let limits = ReachLimits {
            budget_s: 600.0,
            max_unique_bytes: None,
            memory_limit_bytes: None,
            memory_bytes: Some(1 << 34),
            capacity_bytes: 1 << 30,
            layout_bytes_per_s: None,
            direct: false,
            is_part: false,
        };
        let divided = Way::all(Some(1 << 28), vec![Access::Buffered], None);
        assert_eq!(divided.len(), 3);
        assert!(Way::are_divided(&divided, None));
        let shares: Vec<f64> = divided.iter().map(|way| way.share(&divided, None)).collect();
        assert_eq!(shares, [2.0, 3.0, 2.0].map(|part| part / 7.0));
        let group = divided[1].limits(Some(0.5), limits);
        assert_eq!((group.budget_s, group.memory_limit_bytes), (300.0, Some(1 << 28)));
        // Where one of them turns out to be impossible.
        assert_eq!([0, 2].map(|at| divided[at].share(&[divided[0], divided[2]], None)), [0.5; 2]);
        let names: Vec<String> = divided.iter().map(|way| way.name()).collect();
        assert_eq!(names, ["buffered", "buffered in a control group of 256 MiB", "direct"]);
        assert!(group.is_part && divided[1].left_out("no").message.ends_with("outgrow: no"));
        let asked = Way::all(None, vec![Access::Direct, Access::Dsync], None);
        assert!(!Way::are_divided(&asked, None));
        assert_eq!(asked[1].limits(None, limits), limits);
        let limited = Way::all(None, vec![Access::Direct, Access::Buffered], Some(1 << 28));
        assert_eq!(limited[0].share(&limited, Some(1 << 28)), 0.5);
    }
}
