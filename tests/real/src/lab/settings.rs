//! The kernel's settings of dirty pages: how many there may be, and when they are written.

use super::Up;
use super::storage::number;
use super::undo::Undo;
use std::fs;
use std::path::{Path, PathBuf};

/// When dirty pages are written on the whole machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// Everything that was dirty for a second, every second.
    EverySecond,
    /// Only when memory runs short.
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
    /// Changes a setting of the kernel until the system is taken down.
    fn set(&mut self, path: PathBuf, text: &str) -> Result<(), String> {
        let fails = |e: std::io::Error| format!("{}: {e}", path.display());
        let old = fs::read_to_string(&path).map_err(fails)?.trim().to_owned();
        self.note(Undo::Write { path: path.clone(), text: old })?;
        fs::write(&path, text).map_err(fails)
    }

    /// Says when dirty pages of the whole machine are written.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn flush(&mut self, flush: Flush) -> Result<(), String> {
        let vm = Path::new("/proc/sys/vm");
        for &(name, value) in flush.settings() {
            // A ratio of 0 says that a number of bytes holds instead, and that is what has to be put back.
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

    /// Lets a device have no more dirty pages than this, in bytes.
    ///
    /// # Errors
    /// The kernel's refusal: it may be too old for such a limit (6.2 has it).
    pub fn dirty_limit(&mut self, device: &Path, bytes: u64) -> Result<DirtyLimit, String> {
        let directory = Path::new("/sys/class/bdi").join(number(device)?);
        // The limit in bytes is kept as a share: to write the share back is what undoes it.
        self.note(Undo::Write { path: directory.join("max_ratio"), text: "100".to_owned() })?;
        let limit = directory.join("max_bytes");
        fs::write(&limit, bytes.to_string()).map_err(|e| format!("{}: {e}", limit.display()))?;
        self.set(directory.join("strict_limit"), "1")?;
        Ok(DirtyLimit(limit))
    }
}

/// A limit on the dirty pages of one device: the kernel's file that tells it.
pub struct DirtyLimit(PathBuf);

impl DirtyLimit {
    /// Dirty bytes of the device from which on its writers wait, as the kernel's settings are now. It changes with the memory that can be dirty, of
    /// which the kernel keeps the limit as a share.
    ///
    /// # Errors
    /// The kernel does not tell it.
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

/// From how many dirty pages on the kernel writes in the background, and how many the machine may have: what `vm.dirty_*` comes to, be it in shares or
/// in bytes.
fn thresholds(vmstat: &str) -> Option<[f64; 2]> {
    let pages = |name: &str| {
        let mut words = vmstat.lines().filter_map(|line| line.split_once(' '));
        let found = words.find(|(word, _)| *word == name)?;
        found.1.trim().parse::<f64>().ok()
    };
    let limit = pages("nr_dirty_threshold").filter(|limit| *limit > 0.0)?;
    Some([pages("nr_dirty_background_threshold")?, limit])
}

/// Writers wait from halfway between the device's limit and its share of the background threshold on (the kernel's `dirty_freerun_ceiling`, and
/// `wb_dirty_limits` where the limit is strict).
fn waits_from(most: f64, [background, limit]: [f64; 2]) -> f64 {
    most * (1.0 + background / limit) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dirty bytes from which on writers wait where a device may have 64, by a table of pages of 4 KiB.
    fn of_64(background: u64, limit: u64) -> Option<f64> {
        let table = format!(
            "nr_dirty 47\nnr_dirty_threshold {limit}\nnr_dirty_background_threshold {background}\n"
        );
        thresholds(&table).map(|found| waits_from(64.0, found))
    }

    #[test]
    fn writers_wait_halfway_between_background_and_limit() {
        // Of 6 million pages that can be dirty: vm.dirty_background_ratio and vm.dirty_ratio are 10 and 20, and 10 and 40.
        assert_eq!(of_64(600_000, 1_200_000), Some(48.0));
        assert_eq!(of_64(600_000, 2_400_000), Some(40.0));
        // vm.dirty_background_bytes is 16 MiB and vm.dirty_bytes 256 MiB.
        assert_eq!(of_64(4096, 65536), Some(34.0));
        assert_eq!(thresholds("nr_dirty 47\n"), None);
        assert_eq!(of_64(1, 0), None, "there is no such limit");
    }
}
