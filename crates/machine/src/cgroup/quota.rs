//! CPU quotas: how much processor time a control group may use, and how long it was throttled.

use super::hierarchy::{Hierarchy, Version};
use super::{MemoryGroup, throttled_ns};
use crate::parallel::allowed;
use crate::text;
use ioscape_schema::{Warning, WarningKind};
use std::path::{Path, PathBuf};

/// The tightest quota on a process (kernel documentation: scheduler/sched-bwc, admin-guide/cgroup-v2).
#[derive(Clone, Debug, PartialEq)]
pub struct Quota {
    /// Processor time that the members may use together, in processors. Below 1, a single busy
    /// thread is throttled in every period.
    pub processors: f64,
    /// The groups that count throttling: the process's own and those above it.
    groups: Vec<Group>,
}

/// A group that counts its throttling.
#[derive(Clone, Debug, PartialEq)]
struct Group {
    /// Its counters.
    stat: PathBuf,
    /// Length of a quota period; absent if unknown.
    period_s: Option<f64>,
}

/// What the groups of a quota count; absent if it cannot be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Throttled(Vec<Option<Counts>>);

/// What a group counts since it was created.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Counts {
    /// Nanoseconds summed over the throttled processors.
    ns: u64,
    /// Periods in which one of them was throttled.
    periods: u64,
    /// Length of a period; absent if unknown.
    period_s: Option<f64>,
}

impl Quota {
    /// Returns the quota on this process; `None` without one.
    pub fn find() -> Option<Self> {
        Self::on(None)
    }

    /// Returns the quota on the members of `group`, or without one on this process; `None` without
    /// a quota.
    pub fn on(group: Option<&MemoryGroup>) -> Option<Self> {
        let mut hierarchy = Hierarchy::with("cpu")?;
        let version = hierarchy.version;
        if let Some(group) = group.filter(|g| (g.version, version) == (Version::V2, Version::V2)) {
            hierarchy.own = group.directory.clone();
        }
        let all = hierarchy.line().filter_map(|directory| processors(version, directory));
        let processors = all.min_by(f64::total_cmp)?;
        let counting = |directory: &Path| {
            let stat = directory.join("cpu.stat");
            throttled_ns(&text::read(&stat)?)?;
            Some(Group { stat, period_s: period_s(version, directory) })
        };
        Some(Self { processors, groups: hierarchy.line().filter_map(counting).collect() })
    }

    /// Returns the quota in force if it is less than the processors this thread may run on; any
    /// other quota does not throttle.
    pub fn tight() -> Option<Self> {
        Self::find().filter(|quota| quota.processors < allowed() as f64)
    }

    /// Returns the warning about everything measured under the quota.
    pub fn doubt(&self) -> Warning {
        let message = format!(
            "a quota of a control group (cpu.max) gives this program {:.2} processors' worth of time and stops it when that is used up: what computes \
             is as fast as the quota allows, not as the machine",
            self.processors
        );
        Warning::new(WarningKind::Stopped, message)
    }

    /// Returns the counts of its groups.
    pub fn throttled(&self) -> Throttled {
        let of = |group: &Group| {
            let stat = text::read(&group.stat)?;
            let periods = text::field(&stat, "nr_throttled").unwrap_or(0);
            Some(Counts { ns: throttled_ns(&stat)?, periods, period_s: group.period_s })
        };
        Throttled(self.groups.iter().map(of).collect())
    }
}

impl Throttled {
    /// Returns how many of the `elapsed_s` seconds since `earlier` the quota can have stopped a
    /// process, by the group throttled longest. The kernel adds up over processors, which are
    /// throttled at the same time, whichever member was to run there.
    pub fn since(&self, earlier: &Self, elapsed_s: f64) -> f64 {
        let counted = earlier.0.iter().zip(&self.0).filter_map(|(then, now)| {
            let (then, now) = then.zip(*now)?;
            let summed_s = now.ns.saturating_sub(then.ns) as f64 / 1e9;
            let periods = now.periods.saturating_sub(then.periods);
            let in_periods_s = now.period_s.filter(|_| periods > 0).map(|s| s * periods as f64);
            Some(in_periods_s.map_or(summed_s, |most| summed_s.min(most)))
        });
        counted.fold(0.0, f64::max).min(elapsed_s)
    }
}

/// Returns quota and period of the group at `directory` as written, in microseconds. Without a
/// limit the quota is `max`, or negative.
fn written(version: Version, directory: &Path) -> Option<[String; 2]> {
    let read = |name: &str| text::read(directory.join(name));
    match version {
        Version::V1 => Some([read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?]),
        Version::V2 => {
            let both = read("cpu.max")?;
            let (quota, period) = both.split_once(' ')?;
            Some([quota.to_owned(), period.to_owned()])
        }
    }
}

/// Returns quota over period of the group at `directory`; `None` without a limit.
fn processors(version: Version, directory: &Path) -> Option<f64> {
    let [quota, period] = written(version, directory)?.map(|us| us.parse::<f64>().ok());
    let (quota, period) = quota.zip(period)?;
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

/// Returns the period length of the group at `directory`, with or without a limit.
fn period_s(version: Version, directory: &Path) -> Option<f64> {
    let [_, period] = written(version, directory)?;
    period.parse::<f64>().ok().map(|us| us / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_of_a_quota_are_read() {
        let home = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(home.path().join(name), text).unwrap();
        let of = |version| processors(version, home.path());
        assert_eq!((of(Version::V1), of(Version::V2)), (None, None));
        write("cpu.max", "max 100000\n");
        write("cpu.cfs_quota_us", "-1\n");
        write("cpu.cfs_period_us", "100000\n");
        assert_eq!((of(Version::V1), of(Version::V2)), (None, None));
        let periods = [Version::V1, Version::V2].map(|version| period_s(version, home.path()));
        assert_eq!(periods, [Some(0.1); 2]);
        write("cpu.max", "20000 100000\n");
        write("cpu.cfs_quota_us", "150000\n");
        assert_eq!((of(Version::V1), of(Version::V2)), (Some(1.5), Some(0.2)));
    }

    /// Once, 62 of 64 processors throttled in each of five periods of 0.1 s were reported as 31 s
    /// of one.
    #[test]
    fn processors_that_are_stopped_at_once_are_stopped_for_no_longer_than_the_periods() {
        let home = tempfile::tempdir().unwrap();
        let stat = |name: &str| home.path().join(name);
        let write = |name: &str, text: &str| std::fs::write(stat(name), text).unwrap();
        let group = |name: &str, period_s| Group { stat: stat(name), period_s };
        let groups = vec![group("own", Some(0.1)), group("above", None), group("gone", Some(0.1))];
        let quota = Quota { processors: 1.5, groups };
        write("own", "nr_throttled 3\nthrottled_usec 1500000\n");
        write("above", "nr_throttled 3\nthrottled_time 500000000\n");
        let before = quota.throttled();
        assert_eq!(before.since(&before, 1.0), 0.0);
        write("own", "nr_throttled 8\nthrottled_usec 32500000\n");
        write("above", "nr_throttled 4\nthrottled_time 800000000\n");
        write("gone", "nr_throttled 90\nthrottled_usec 9000000\n");
        let after = quota.throttled();
        assert_eq!(after.since(&before, 1.0), 0.5);
        assert_eq!(after.since(&before, 0.4), 0.4, "no longer than all the time");
        write("own", "nr_throttled 4\nthrottled_usec 1580000\n");
        write("above", "nr_throttled 3\nthrottled_time 500000000\n");
        let alone = quota.throttled().since(&before, 1.0);
        assert!((alone - 0.08).abs() < 1e-9, "one processor for a part of a period: {alone}");
    }

    #[test]
    fn a_quota_is_named_with_what_it_does() {
        let told = Quota { processors: 0.5, groups: Vec::new() }.doubt().message;
        assert!(told.contains("0.50 processors' worth of time and stops it"), "{told}");
    }
}
