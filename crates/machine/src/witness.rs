//! What the kernel counts during a run besides its throughput: the difference of two snapshots.
//!
//! A snapshot reads six to ten small files, once at each end of a run. Residency is queried
//! separately, since it costs milliseconds per GiB of the set. Workers count their own waits,
//! faults and reads.

use crate::cgroup::{self, MemoryGroup, Quota, Throttled};
use crate::device::BlockDevice;
use crate::extents::SECTOR;
use crate::load;
use crate::target::Target;
use crate::text;
use ioscape_schema::Witness;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The locations of the counters for runs on one target; found once.
#[derive(Clone, Debug)]
pub struct Sources {
    /// Counters of the devices below the target; empty if one of them is not counted, or one of
    /// several may not be.
    devices: Vec<PathBuf>,
    /// Whether they may be off, and then stand still.
    may_be_off: bool,
    /// Number of copies of the data that the file system writes.
    copies: u64,
    /// Counters of the whole drives that hold these devices.
    disks: Vec<PathBuf>,
    /// `memory.stat` of the memory group, or of the limited group that this program was started in.
    memory_stat: Option<PathBuf>,
    /// Whether the workers are alone in that group.
    is_own: bool,
    /// The quota on the workers.
    quota: Option<Quota>,
    /// Files for memory and I/O pressure: of the memory group if groups have them, otherwise of the
    /// machine.
    pressures: [PathBuf; 2],
}

/// All counters at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    taken: Instant,
    /// Load of the machine's processors.
    pub load: load::Snapshot,
    device_bytes: Option<[u64; 2]>,
    may_be_off: bool,
    dirty_bytes: Option<u64>,
    throttled: Option<Throttled>,
    stalled_us: [Option<u64>; 2],
}

impl Sources {
    /// Finds the counters for I/O on `target` by members of `group`.
    pub fn of(target: &Target, group: Option<&MemoryGroup>) -> Self {
        let numbers = target.file_system().devices().into_iter();
        let mut below: Vec<BlockDevice> = numbers.filter_map(BlockDevice::at).collect();
        let may_be_off = below.iter().any(BlockDevice::has_statistics_off);
        if !below.iter().all(BlockDevice::is_counted) || may_be_off && below.len() > 1 {
            // The transfers of the other devices would not be the whole.
            below.clear();
        }
        let mut disks: Vec<PathBuf> = below.iter().map(|d| counted_drive(d).stat_file()).collect();
        disks.sort_unstable();
        disks.dedup();
        let file = |name: &str| group.map(|g| g.file(name)).filter(|path| path.exists());
        let pressure = |resource: &str| {
            let of_machine = || Path::new("/proc/pressure").join(resource);
            file(&format!("{resource}.pressure")).unwrap_or_else(of_machine)
        };
        Self {
            copies: target.file_system().copies(),
            devices: below.iter().map(BlockDevice::stat_file).collect(),
            may_be_off,
            disks,
            is_own: file("memory.stat").is_some(),
            memory_stat: file("memory.stat").or_else(cgroup::enclosing_stat),
            quota: Quota::on(group),
            pressures: ["memory", "io"].map(pressure),
        }
    }

    /// Returns the dirty and write-back bytes; `None` if they cannot be read. They are those of the
    /// memory group, else of the limited group that this program was started in, else of the
    /// machine.
    pub fn dirty_bytes(&self) -> Option<u64> {
        match &self.memory_stat {
            Some(path) => cgroup::dirty_bytes(&text::read(path)?),
            None => dirty_of_machine(&text::read("/proc/meminfo")?),
        }
    }

    /// Returns whether the dirty bytes are those of the memory group alone, so that no other
    /// program adds to them.
    pub fn has_own_dirty_bytes(&self) -> bool {
        self.is_own
    }

    /// Returns the bytes read and written by the whole drives since boot, including other
    /// partitions and volumes; `None` if one does not report them.
    pub fn disk_bytes(&self) -> Option<u64> {
        moved(&self.disks).map(|[read, written]| read + written)
    }

    /// Reads all counters.
    pub fn snapshot(&self) -> Snapshot {
        let stalled = |path: &PathBuf| some_total(&text::read(path)?);
        Snapshot {
            load: load::Snapshot::take(),
            taken: Instant::now(),
            device_bytes: moved(&self.devices).map(|[read, written]| [read, written / self.copies]),
            may_be_off: self.may_be_off,
            dirty_bytes: self.dirty_bytes(),
            throttled: self.quota.as_ref().map(Quota::throttled),
            stalled_us: self.pressures.each_ref().map(stalled),
        }
    }
}

impl Snapshot {
    /// Returns the counts since `earlier`: a witness without residency, the workers' own counts,
    /// and rates.
    pub fn since(&self, earlier: &Self) -> Witness {
        let elapsed_s = self.taken.duration_since(earlier.taken).as_secs_f64();
        let is_off = self.may_be_off && self.device_bytes == earlier.device_bytes;
        let device_bytes = self.device_bytes.filter(|_| !is_off);
        let moved = |i: usize| Some(device_bytes?[i].saturating_sub(earlier.device_bytes?[i]));
        let stalled = |i: usize| {
            let us = self.stalled_us[i]?.saturating_sub(earlier.stalled_us[i]?);
            (elapsed_s > 0.0).then(|| (us as f64 / 1e6 / elapsed_s).min(1.0))
        };
        let throttled =
            || Some(self.throttled.as_ref()?.since(earlier.throttled.as_ref()?, elapsed_s));
        // Every kernel reports these times; if they are missing, their sum is 0.
        let has_times = earlier.load.total_s > 0.0;
        Witness {
            device_read_bytes: moved(0),
            device_written_bytes: moved(1),
            dirty_bytes: earlier.dirty_bytes.zip(self.dirty_bytes).map(|(a, b)| [a, b]),
            steal_s: has_times.then(|| (self.load.steal_s - earlier.load.steal_s).max(0.0)),
            throttled_s: throttled(),
            memory_pressure_frac: stalled(0),
            io_pressure_frac: stalled(1),
            ..Witness::default()
        }
    }
}

/// Returns the drive that holds `device`, or its disk if the drive is not counted.
fn counted_drive(device: &BlockDevice) -> BlockDevice {
    let drive = device.drive();
    if drive.is_counted() { drive } else { device.disk() }
}

/// Returns the dirty and write-back bytes in `/proc/meminfo`.
fn dirty_of_machine(meminfo: &str) -> Option<u64> {
    Some((text::field(meminfo, "Dirty")? + text::field(meminfo, "Writeback")?) * 1024)
}

/// Returns the bytes read and written by all devices with these counters; `None` without devices,
/// or if one does not report.
fn moved(counters: &[PathBuf]) -> Option<[u64; 2]> {
    let all: Option<Vec<[u64; 2]>> =
        counters.iter().map(|path| moved_by_device(&text::read(path)?)).collect();
    let sum = |all: Vec<[u64; 2]>| all.iter().fold([0, 0], |s, d| [s[0] + d[0], s[1] + d[1]]);
    all.filter(|all| !all.is_empty()).map(sum)
}

/// Returns the bytes read and written from the `stat` file of a block device (kernel documentation,
/// block/stat): the third and the seventh number, in sectors.
///
/// `None` if the device has completed no read and no write since it appeared (first and fifth
/// number). It is then not counted, like multipath NVMe drives up to Linux 6.2, or has not been
/// used yet.
fn moved_by_device(stat: &str) -> Option<[u64; 2]> {
    let number = |at: usize| stat.split_whitespace().nth(at)?.parse::<u64>().ok();
    if number(0)? == 0 && number(4)? == 0 {
        return None;
    }
    Some([number(2)?.saturating_mul(SECTOR), number(6)?.saturating_mul(SECTOR)])
}

/// Returns the microseconds that some task was stalled: `total=` in the `some` line of a pressure
/// file.
fn some_total(pressure: &str) -> Option<u64> {
    let line = pressure.lines().find(|line| line.starts_with("some "))?;
    line.split(' ').find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build_directory, skipped};
    use std::io::{Seek, Write};
    use std::time::Duration;

    #[test]
    fn counters_are_read_from_what_kernels_write() {
        let disk = " 3279069   128081 146591274  5382904   624396   382433 215062688  1487595        0   226604  6912397   183470       28 105836112    41012     8854      884\n";
        assert_eq!(moved_by_device(disk), Some([146_591_274 * 512, 215_062_688 * 512]));
        assert_eq!(moved_by_device("1 2 3"), None);
        assert_eq!(moved_by_device("0 0 0 0 0 0 0 0 0 0 0"), None, "absent never means zero");
        assert_eq!(moved_by_device("1 0 8 0 0 0 0 0 0 0 0"), Some([4096, 0]));
        let meminfo =
            "Dirty:             37908 kB\nWriteback:            12 kB\nWritebackTmp: 5 kB\n";
        assert_eq!(dirty_of_machine(meminfo), Some(37_920 * 1024));
        assert_eq!(dirty_of_machine("Dirty: 1 kB\n"), None);
        let text = "some avg10=0.18 avg60=0.57 avg300=0.30 total=8577639\nfull avg10=0.00 total=5";
        assert_eq!(some_total(text), Some(8_577_639));
        assert_eq!(some_total("full avg10=0.00 total=5"), None);
    }

    #[test]
    fn both_versions_of_control_groups_are_understood() {
        let first =
            "cache 10448896\nshmem 9084928\ndirty 122880\nwriteback 4096\ntotal_dirty 344702976\n";
        let second = "anon 1531904\nfile_mapped 0\nfile_dirty 540672\nfile_writeback 135168\n";
        assert_eq!(cgroup::dirty_bytes(first), Some(126_976));
        assert_eq!(cgroup::dirty_bytes(second), Some(675_840));
        assert_eq!(cgroup::dirty_bytes("cache 1\n"), None);
        let first = "nr_periods 9\nnr_throttled 2\nthrottled_time 150000\n";
        let second = "usage_usec 847332\nnr_periods 9\nnr_throttled 2\nthrottled_usec 150\n";
        assert_eq!(cgroup::throttled_ns(first), Some(150_000));
        assert_eq!(cgroup::throttled_ns(second), Some(150_000));
        assert_eq!(cgroup::throttled_ns("usage_usec 847332\n"), None, "no controller");
    }

    /// A snapshot of an invented machine.
    fn snapshot(taken: Instant) -> Snapshot {
        Snapshot {
            taken,
            load: load::Snapshot { total_s: 1.0, ..load::Snapshot::default() },
            device_bytes: Some([1000, 2000]),
            may_be_off: false,
            dirty_bytes: Some(500),
            throttled: None,
            stalled_us: [Some(100), None],
        }
    }

    #[test]
    fn the_difference_of_two_snapshots_is_the_witness() {
        let begin = Instant::now();
        let before = snapshot(begin);
        let mut after = snapshot(begin + Duration::from_secs(2));
        after.device_bytes = Some([1600, 2000]);
        after.dirty_bytes = Some(400);
        after.load.steal_s = 0.25;
        after.stalled_us = [Some(1_000_100), Some(5)];
        let told = after.since(&before);
        assert_eq!((told.device_read_bytes, told.device_written_bytes), (Some(600), Some(0)));
        assert_eq!(told.dirty_bytes, Some([500, 400]));
        assert_eq!((told.steal_s, told.throttled_s), (Some(0.25), None));
        assert_eq!((told.memory_pressure_frac, told.io_pressure_frac), (Some(0.5), None));
    }

    /// Once, writes to an array whose `iostats` was off seemed to stay in the file cache.
    #[test]
    fn counters_that_may_be_off_and_stand_still_tell_nothing() {
        let taken = Instant::now();
        let told = |may_be_off, written| {
            let device_bytes = Some([1000, written]);
            let after = Snapshot { device_bytes, may_be_off, ..snapshot(taken) };
            let told = after.since(&snapshot(taken));
            [told.device_read_bytes, told.device_written_bytes]
        };
        assert_eq!(told(false, 2000), [Some(0); 2]);
        assert_eq!(told(true, 2000), [None; 2]);
        assert_eq!(told(true, 2500), [Some(0), Some(500)], "they count");
    }

    #[test]
    fn the_device_below_a_file_is_seen() {
        let directory = tempfile::tempdir_in(build_directory()).unwrap();
        let target = Target::open(directory.path(), &Default::default()).unwrap();
        let sources = Sources::of(&target, None);
        let before = sources.snapshot();
        let mut file = target.open_file(ioscape_schema::Access::Buffered, true).unwrap();
        file.write_all(&vec![5; 8 << 20]).unwrap();
        file.sync_data().unwrap();
        file.rewind().unwrap();
        let told = sources.snapshot().since(&before);
        assert!(told.dirty_bytes.is_some() && told.steal_s.is_some());
        assert!(told.io_pressure_frac.is_none_or(|share| (0.0..=1.0).contains(&share)));
        if target.file_system().devices().is_empty() {
            return skipped("no device lies below the directory of the build");
        }
        assert!(told.device_written_bytes.is_some_and(|bytes| bytes >= 8 << 20), "{told:?}");
    }
}
