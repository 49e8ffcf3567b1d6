//! Disks, loop devices and file systems: slow ones, fast ones and failing ones.

use super::undo::{self, Undo};
use super::{Lab, Up};
use crate::disk::{Counters, Parameters};
use std::fs;
use std::path::{Path, PathBuf};

/// The block layer's throttles, for all processes and the kernel's own write-back (control groups
/// version 1, root group).
const THROTTLE: &str = "/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device";

/// The type of a file system to create.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSystem {
    Ext4,
    Xfs,
    Btrfs,
}

impl FileSystem {
    /// The command that creates it. Everything is written at once, so that no background
    /// initialisation disturbs a measurement.
    fn make(self) -> &'static str {
        match self {
            Self::Ext4 => "mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0,nodiscard",
            Self::Xfs => "mkfs.xfs -q -f -K",
            Self::Btrfs => "mkfs.btrfs -q -f -K",
        }
    }
}

/// A simulated disk that is up.
pub struct Disk {
    directory: PathBuf,
}

impl Disk {
    /// The disk's one file.
    pub fn file(&self) -> PathBuf {
        self.directory.join("disk")
    }

    /// The file that takes orders.
    pub fn orders(&self) -> PathBuf {
        self.directory.join("ctl")
    }

    /// Gives the disk an order.
    ///
    /// # Errors
    /// One sentence if it is refused.
    pub fn order(&self, line: &str) -> Result<(), String> {
        fs::write(self.orders(), line).map_err(|e| format!("the disk refuses {line:?}: {e}"))
    }

    /// Returns what the disk has done.
    ///
    /// # Errors
    /// One sentence if it cannot be asked.
    pub fn counters(&self) -> Result<Counters, String> {
        let path = self.directory.join("stat");
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
    }
}

impl Up<'_> {
    /// Brings up a simulated disk on `mnt/NAME.disk`.
    ///
    /// # Errors
    /// One sentence from its process.
    pub fn disk(&mut self, name: &str, parameters: &Parameters) -> Result<Disk, String> {
        let directory = self.mount_point(&format!("mnt/{name}.disk"))?;
        let own = std::env::current_exe().map_err(|e| format!("where am I: {e}"))?;
        let (own, target) = (own.to_string_lossy(), directory.to_string_lossy());
        let settings = parameters.words();
        let mut words = vec![&*own, "disk", &*target];
        words.extend(settings.iter().map(String::as_str));
        let log = format!("disk-{name}");
        self.start(&log, &words)?;
        self.wait_for(&log, || undo::is_mounted(&directory))?;
        Ok(Disk { directory })
    }

    /// Brings up a simulated disk with a file system on `mnt/NAME`, created while untimed.
    ///
    /// # Errors
    /// One sentence from its process, or from the programs that create the file system.
    pub fn disk_with(
        &mut self,
        name: &str,
        kind: FileSystem,
        parameters: &Parameters,
    ) -> Result<(Disk, PathBuf), String> {
        let disk = self.disk(name, parameters)?;
        disk.order("untimed")?;
        let device = self.loop_device(&disk.file())?;
        self.file_system(name, kind, &device)?;
        // Undone first, so that nothing still to be written waits for the disk, or fails.
        self.note(Undo::Write { path: disk.orders(), text: "clear\nuntimed\n".to_owned() })?;
        disk.order("timed\nreset\n")?;
        Ok((disk, device))
    }

    /// Sets up a loop device over a file, bypassing the file's page cache.
    ///
    /// # Errors
    /// One sentence from losetup.
    pub fn loop_device(&mut self, file: &Path) -> Result<PathBuf, String> {
        self.note(Undo::Detach(file.to_owned()))?;
        let made = format!("losetup --find --show --direct-io=on '{}'", file.display());
        self.shell(&made).map(PathBuf::from)
    }

    /// Creates a file system on a device and mounts it on `mnt/NAME`.
    ///
    /// # Errors
    /// One sentence from mkfs or mount.
    pub fn file_system(
        &mut self,
        name: &str,
        kind: FileSystem,
        device: &Path,
    ) -> Result<(), String> {
        let directory = self.mount_point(&format!("mnt/{name}"))?;
        let (device, directory) = (device.display(), directory.display());
        self.shell(&format!("{} {device} && mount {device} {directory}", kind.make())).map(drop)
    }

    /// Mounts a tmpfs on `mnt/NAME`.
    ///
    /// # Errors
    /// One sentence from mount.
    pub fn tmpfs(&mut self, name: &str, mib: u32) -> Result<PathBuf, String> {
        let directory = self.mount_point(&format!("mnt/{name}"))?;
        let target = directory.display();
        self.shell(&format!("mount -t tmpfs -o size={mib}m tmpfs '{target}'"))?;
        Ok(directory)
    }

    /// Creates a fast device: a loop device over a file in memory, all of it touched, so that its
    /// first use causes no page faults.
    ///
    /// # Errors
    /// One sentence from the programs that create it.
    pub fn fast_device(&mut self, name: &str, mib: u32) -> Result<PathBuf, String> {
        let file = self.tmpfs(&format!("{name}.ram"), mib + 1)?.join("image");
        let fill = format!("head -c {mib}M /dev/zero > '{}'", file.display());
        self.shell(&fill)?;
        self.loop_device(&file)
    }

    /// Creates a file system on `mnt/NAME` whose device writes no faster than this. The block layer
    /// throttles it, exactly on average, in bursts of a tenth of a second; if that is impossible,
    /// it is on a simulated disk with this rate.
    ///
    /// # Errors
    /// One sentence from the programs that create it, or the kernel refuses.
    pub fn slow_file_system(
        &mut self,
        name: &str,
        kind: FileSystem,
        mib: u32,
        mb_per_s: u32,
    ) -> Result<(), String> {
        if !Path::new(THROTTLE).exists() {
            let rate = Parameters {
                size_mib: f64::from(mib),
                bandwidth_mb_s: f64::from(mb_per_s),
                ..Parameters::default()
            };
            return self.disk_with(name, kind, &rate).map(drop);
        }
        let device = self.fast_device(name, mib)?;
        self.file_system(name, kind, &device)?;
        let number = number(&device)?;
        self.note(Undo::Write { path: THROTTLE.into(), text: format!("{number} 0") })?;
        let rule = format!("{number} {mb_per_s}000000");
        fs::write(THROTTLE, rule).map_err(|e| format!("{THROTTLE}: {e}"))
    }
}

impl Lab {
    /// Remounts the file system of a device on a directory in the laboratory, so that nothing of it
    /// is cached.
    ///
    /// # Errors
    /// One sentence from umount or mount.
    pub fn mount_anew(&self, below: &str, device: &Path) -> Result<(), String> {
        self.shell(&format!("umount {below} && mount {} {below}", device.display())).map(drop)
    }
}

/// Major and minor number of a block device, `MAJOR:MINOR`.
pub fn number(device: &Path) -> Result<String, String> {
    let name = device.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let path = format!("/sys/block/{name}/dev");
    let text = fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
    Ok(text.trim().to_owned())
}
