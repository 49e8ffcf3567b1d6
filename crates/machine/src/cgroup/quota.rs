//! Quotas of processor time: how much of the processors a control group may use, and how long it was stopped for using more.

use super::hierarchy::{Hierarchy, Version};
use super::{quota_files, throttled_ns};
use crate::text;
use std::path::{Path, PathBuf};

/// The tightest quota on this process (kernel documentation: scheduler/sched-bwc, admin-guide/cgroup-v2).
#[derive(Clone, Debug, PartialEq)]
pub struct Quota {
    /// Processors' worth of time that the members may use together; below 1, a single busy thread is stopped in every period.
    pub processors: f64,
    /// Counters of the groups, this process's own and those above it.
    stats: Vec<PathBuf>,
}

impl Quota {
    /// The quota in force; `None` without one.
    pub fn find() -> Option<Self> {
        let hierarchy = Hierarchy::with("cpu")?;
        let all = hierarchy.line().filter_map(|directory| processors(hierarchy.version, directory));
        let least = all.min_by(f64::total_cmp)?;
        Some(Self { processors: least, stats: quota_files(None) })
    }

    /// Seconds, since each group was made, in which its quota kept it off the processors, of all groups together.
    pub fn throttled_s(&self) -> f64 {
        let of = |path| throttled_ns(&text::read(path)?);
        self.stats.iter().filter_map(of).map(|ns| ns as f64 / 1e9).sum()
    }
}

/// Quota over period of the group at `directory`; `None` without a limit.
fn processors(version: Version, directory: &Path) -> Option<f64> {
    let read = |name: &str| text::read(directory.join(name));
    let (quota, period) = match version {
        Version::V1 => (read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?),
        Version::V2 => {
            let both = read("cpu.max")?;
            let (quota, period) = both.split_once(' ')?;
            (quota.to_owned(), period.to_owned())
        }
    };
    // Without a limit the first is `max`, or negative.
    let (quota, period) = (quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?);
    (quota > 0.0 && period > 0.0).then(|| quota / period)
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
        write("cpu.max", "20000 100000\n");
        write("cpu.cfs_quota_us", "150000\n");
        assert_eq!((of(Version::V1), of(Version::V2)), (Some(1.5), Some(0.2)));
    }

    #[test]
    fn time_stopped_is_the_sum_over_groups() {
        let home = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = home.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let own = file("own", "nr_throttled 3\nthrottled_usec 1500000\n");
        let above = file("above", "nr_throttled 3\nthrottled_time 500000000\n");
        let quota = Quota { processors: 1.0, stats: vec![own, above] };
        assert_eq!(quota.throttled_s(), 2.0);
    }
}
