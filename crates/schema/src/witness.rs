//! What the kernel reports about a run besides its throughput: where the bytes came from and what
//! delayed the workers.

use serde::{Deserialize, Serialize};

/// Kernel counters over the measured part of a run: a second witness beside its throughput.
///
/// A field is absent where the kernel cannot report it; absent never means zero:
/// - residency and storage bytes on most network and FUSE mounts;
/// - control-group figures outside a group;
/// - device counters where the target has no block device or the kernel does not count for it;
/// - residency and dirty bytes on ZFS and GPFS, which have their own caches;
/// - storage bytes on ZFS, which counts bytes served by its cache.
///
/// Pairs are the values at the beginning and at the end of the measured part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Witness {
    /// Fraction of the set's pages in the file cache before and after, each 0 to 1 (`cachestat` or
    /// `mincore`).
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "crate::range::fraction")]
    pub resident_frac: Option<[f64; 2]>,
    /// Bytes the storage layer read for the workers (`read_bytes` of `/proc/PID/io`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_read_bytes: Option<u64>,
    /// Bytes read by the target's device for all processes (`/proc/diskstats`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_read_bytes: Option<u64>,
    /// Bytes written by the target's device for all processes (`/proc/diskstats`); replicas made by
    /// the file system count once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_written_bytes: Option<u64>,
    /// Dirty and write-back bytes before and after, of the memory control group if there is one,
    /// otherwise of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty_bytes: Option<[u64; 2]>,
    /// Total seconds that the workers were runnable but waited for a processor
    /// (`/proc/PID/schedstat`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_delay_s: Option<f64>,
    /// Processor seconds that the hypervisor took from the machine (`steal` in `/proc/stat`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal_s: Option<f64>,
    /// Most seconds for which a control-group quota can have stopped each worker: as counted
    /// (`cpu.stat`) or, in a container that does not show the groups above it, as the worker waited
    /// for a processor and one was idle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled_s: Option<f64>,
    /// Whether processors of this machine serve the storage: a program, or the kernel for a loop
    /// device, encryption, integrity checks or parity. Other work on them then delays even what
    /// waits for storage. Absent if nothing indicates that.
    #[serde(default, skip_serializing_if = "crate::absent::is_default")]
    pub served_by_processors: bool,
    /// Page faults that needed I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub major_faults: Option<u64>,
    /// Fraction of the time that some task of the group or machine stalled for memory
    /// (`memory.pressure`, "some"), 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_pressure_frac: Option<f64>,
    /// Fraction of the time that some task of the group or machine stalled for I/O (`io.pressure`,
    /// "some"), 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_pressure_frac: Option<f64>,
    /// Greatest fraction of its time, 0 to 1, for which others, neither a quota nor the kernel as it
    /// writes back, can have kept a worker from the processors. Absent if that is unknown, and if
    /// the workers had think times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_frac: Option<f64>,
    /// Throughput in bytes per second, not counting the time in which others kept the workers from
    /// the processors; a quota, and the kernel as it writes back, are no others. Absent in these
    /// cases:
    /// - this time is 10 % or more, and more than 1 % of the bytes, or an unknown part, went to or
    ///   came from storage: read-ahead and write-back go on in that time;
    /// - an `io_uring` uses the file cache: whether its kernel threads waited is unknown;
    /// - the workers had think times;
    /// - the hypervisor took time: how much of it was theirs is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undisturbed_bytes_per_s: Option<f64>,
    /// Sustainable write throughput in bytes per second: bytes written less the growth of dirty
    /// bytes. Absent without writes, and for buffered writes where dirty bytes are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sustained_write_bytes_per_s: Option<f64>,
}

impl Witness {
    /// Returns whether the kernel reported nothing.
    pub fn is_silent(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_asked_is_absent() {
        assert!(Witness::default().is_silent());
        assert_eq!(serde_json::to_string(&Witness::default()).unwrap(), "{}");
        let told = Witness { resident_frac: Some([1.0, 0.5]), ..Witness::default() };
        let text = serde_json::to_string(&told).unwrap();
        assert_eq!(text, r#"{"resident_frac":[1.0,0.5]}"#);
        assert_eq!(serde_json::from_str::<Witness>(&text).unwrap(), told);
        assert!(!told.is_silent());
    }
}
