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
    pub fn dirty_limit(&mut self, device: &Path, bytes: u64) -> Result<(), String> {
        let directory = Path::new("/sys/class/bdi").join(number(device)?);
        // The limit in bytes is kept as a share: to write the share back is what undoes it.
        self.note(Undo::Write { path: directory.join("max_ratio"), text: "100".to_owned() })?;
        let limit = directory.join("max_bytes");
        fs::write(&limit, bytes.to_string()).map_err(|e| format!("{}: {e}", limit.display()))?;
        self.set(directory.join("strict_limit"), "1")
    }
}
