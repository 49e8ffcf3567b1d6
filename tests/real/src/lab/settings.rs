//! The kernel's settings for dirty pages: how many there may be, and when they are written.

use super::Up;
use super::storage::number;
use super::undo::Undo;
use std::fs;
use std::path::{Path, PathBuf};

/// When the whole machine's dirty pages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// Every second, everything that has been dirty for a second.
    EverySecond,
    /// Only if memory runs short.
    Never,
}

impl Flush {
    /// The settings in `/proc/sys/vm`.
    fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::EverySecond => {
                &[("dirty_writeback_centisecs", "100"), ("dirty_expire_centisecs", "100")]
            }
            Self::Never => &[
                ("dirty_writeback_centisecs", "0"),
                ("dirty_expire_centisecs", "360000"),
                ("dirty_background_ratio", "80"),
                ("dirty_ratio", "90"),
            ],
        }
    }
}

impl Up<'_> {
    /// Changes a kernel setting until the system is taken down.
    fn set(&mut self, path: PathBuf, text: &str) -> Result<(), String> {
        let fails = |e: std::io::Error| format!("{}: {e}", path.display());
        let old = fs::read_to_string(&path).map_err(fails)?.trim().to_owned();
        self.note(Undo::Write { path: path.clone(), text: old })?;
        fs::write(&path, text).map_err(fails)
    }

    /// Sets when the whole machine's dirty pages are written.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn flush(&mut self, flush: Flush) -> Result<(), String> {
        let vm = Path::new("/proc/sys/vm");
        for &(name, value) in flush.settings() {
            // A ratio of 0 means that a number of bytes is in force instead, which must then be restored.
            let bytes = vm.join(name.replace("ratio", "bytes"));
            let ratio_rules = name.ends_with("ratio")
                && fs::read_to_string(vm.join(name)).is_ok_and(|text| text.trim() == "0");
            if ratio_rules {
                let old =
                    fs::read_to_string(&bytes).map_err(|e| format!("{}: {e}", bytes.display()))?;
                self.note(Undo::Write { path: bytes, text: old.trim().to_owned() })?;
                fs::write(vm.join(name), value).map_err(|e| format!("{name}: {e}"))?;
            } else {
                self.set(vm.join(name), value)?;
            }
        }
        Ok(())
    }

    /// Limits the dirty pages of a device, in bytes.
    ///
    /// # Errors
    /// The kernel refuses: it may be too old for such a limit (6.2 has it).
    pub fn dirty_limit(&mut self, device: &Path, bytes: u64) -> Result<DirtyLimit, String> {
        let directory = Path::new("/sys/class/bdi").join(number(device)?);
        // The kernel keeps the limit in bytes as a share, so writing the share back undoes it.
        self.note(Undo::Write { path: directory.join("max_ratio"), text: "100".to_owned() })?;
        let limit = directory.join("max_bytes");
        fs::write(&limit, bytes.to_string()).map_err(|e| format!("{}: {e}", limit.display()))?;
        self.set(directory.join("strict_limit"), "1")?;
        Ok(DirtyLimit(limit))
    }
}

/// A limit on the dirty pages of a device: the kernel's file that shows it.
pub struct DirtyLimit(PathBuf);

impl DirtyLimit {
    /// Dirty bytes of the device from which on its writers wait, with the kernel's present
    /// settings. It changes with the memory that may be dirty, because the kernel keeps the limit
    /// as a share of that.
    ///
    /// # Errors
    /// The kernel does not report it.
    pub fn waits_from(&self) -> Result<f64, String> {
        const TABLE: &str = "/proc/vmstat";
        let path = self.0.display();
        let most = fs::read_to_string(&self.0).map_err(|e| format!("{path}: {e}"))?;
        let most = most.trim().parse::<f64>().map_err(|e| format!("{path}: {most:?}: {e}"))?;
        let table = fs::read_to_string(TABLE).map_err(|e| format!("{TABLE}: {e}"))?;
        thresholds(&table)
            .map(|thresholds| waits_from(most, thresholds))
            .ok_or_else(|| format!("{TABLE} has no limits of dirty pages"))
    }
}

/// The number of dirty pages from which on the kernel writes in the background, and the most that
/// the machine may have: the effect of `vm.dirty_*`, whether given as shares or in bytes.
fn thresholds(vmstat: &str) -> Option<[f64; 2]> {
    let pages = |name: &str| {
        let mut words = vmstat.lines().filter_map(|line| line.split_once(' '));
        let found = words.find(|(word, _)| *word == name)?;
        found.1.trim().parse::<f64>().ok()
    };
    let limit = pages("nr_dirty_threshold").filter(|limit| *limit > 0.0)?;
    Some([pages("nr_dirty_background_threshold")?, limit])
}

/// Writers wait from halfway between the device's limit and its share of the background threshold
/// (the kernel's `dirty_freerun_ceiling`, and `wb_dirty_limits` if the limit is strict).
fn waits_from(most: f64, [background, limit]: [f64; 2]) -> f64 {
    most * (1.0 + background / limit) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dirty bytes from which on writers wait if a device may have 64; the table is in 4 KiB pages.
    fn of_64(background: u64, limit: u64) -> Option<f64> {
        let table = format!(
            "nr_dirty 47\nnr_dirty_threshold {limit}\nnr_dirty_background_threshold {background}\n"
        );
        thresholds(&table).map(|found| waits_from(64.0, found))
    }

    #[test]
    fn writers_wait_halfway_between_background_and_limit() {
        // 6 million pages may be dirty; vm.dirty_background_ratio and vm.dirty_ratio are 10 and 20, then 10 and 40.
        assert_eq!(of_64(600_000, 1_200_000), Some(48.0));
        assert_eq!(of_64(600_000, 2_400_000), Some(40.0));
        // vm.dirty_background_bytes is 16 MiB and vm.dirty_bytes 256 MiB.
        assert_eq!(of_64(4096, 65536), Some(34.0));
        assert_eq!(thresholds("nr_dirty 47\n"), None);
        assert_eq!(of_64(1, 0), None, "there is no such limit");
    }
}
