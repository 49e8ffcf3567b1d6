//! What the kernel says of a run in addition to its throughput: where the bytes came from, and what held the workers up.

use serde::{Deserialize, Serialize};

/// The second witness of a measurement: counters of the kernel over the measured part of a run.
///
/// A field is absent where it cannot be asked: residency and storage bytes on most network and FUSE mounts, control-group
/// figures outside a group, device counters where no block device lies under the target or one that the kernel does not count, residency and dirty bytes on ZFS
/// and GPFS, which have caches of their own. Absent never means zero. Pairs are values at the beginning and at the end of the measured part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Witness {
    /// Share of the set's pages in the file cache before and after, each 0 to 1 (`cachestat` or `mincore`).
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "crate::range::fraction")]
    pub resident_frac: Option<[f64; 2]>,
    /// Bytes the storage layer read for the workers (`read_bytes` of `/proc/PID/io`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_read_bytes: Option<u64>,
    /// Bytes the target's device read, for everybody (`/proc/diskstats`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_read_bytes: Option<u64>,
    /// Bytes the target's device wrote, for everybody (`/proc/diskstats`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_written_bytes: Option<u64>,
    /// Dirty and write-back bytes before and after: of the memory group where there is one, of the machine elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty_bytes: Option<[u64; 2]>,
    /// Seconds the workers were ready to run and waited for a processor, all together (`/proc/PID/schedstat`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_delay_s: Option<f64>,
    /// Processor seconds the hypervisor took from the machine (`steal` of `/proc/stat`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal_s: Option<f64>,
    /// Seconds a quota of the control group kept the workers off the processors (`cpu.stat`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled_s: Option<f64>,
    /// Page faults that needed I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub major_faults: Option<u64>,
    /// Share of the time some task of the group or machine stalled for memory (`memory.pressure`, "some"), 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_pressure_frac: Option<f64>,
    /// Share of the time some task of the group or machine stalled for I/O (`io.pressure`, "some"), 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_pressure_frac: Option<f64>,
    /// Throughput over the time less what the workers waited for processors, in bytes per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undisturbed_bytes_per_s: Option<f64>,
    /// Bytes written less the growth of dirty bytes, per second: what the system can keep up. Absent without writes, and of
    /// buffered ones where dirty bytes are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sustained_write_bytes_per_s: Option<f64>,
}

impl Witness {
    /// Whether nothing could be asked.
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
