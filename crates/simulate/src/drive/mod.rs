//! A drive: its parameter file, and the integers that a run computes from it.

pub use power::Power;
pub use status::Status;

use crate::Error;
use crate::command::{DiskOptions, WriteCache};
use crate::layout::{Layout, Plan, Remap, TrackOrder, TrackRun, Zone};
use crate::mechanism::Mechanism;
use crate::seek::{SeekCurve, least_from, nanoseconds};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod check;
mod power;
mod status;

/// When a request's data cross the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BusTransfer {
    /// All of a request's data, before or after the medium.
    StoreAndForward,
    /// Track by track: a read takes the bus once its first track has been read; a write starts on a
    /// track once that track's data have arrived.
    ByTrack,
    /// While the medium is being read or written.
    Overlapped,
}

/// Delays of the moving parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MechanismParameters {
    /// Switching heads on a cylinder, in milliseconds.
    pub head_switch_ms: f64,
    /// Extra settling time of a write after a seek or head switch, in milliseconds; negative if a
    /// write needs less time than a read.
    #[serde(default)]
    pub write_settle_ms: f64,
    /// Least time a write takes to reach its track, in milliseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub write_seek_least_ms: f64,
    /// Whether a read may begin at any sector of the track.
    #[serde(default)]
    pub read_on_arrival: bool,
    /// Whether a write may begin at any sector of the track.
    #[serde(default)]
    pub write_on_arrival: bool,
}

/// Overhead of the controller, in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerParameters {
    /// From a read's command to the arm's start.
    pub read_before_ms: f64,
    /// From a read's last byte on the bus to its completion.
    pub read_after_ms: f64,
    /// From a write's command to the arm's start and the data on the bus.
    pub write_before_ms: f64,
    /// From a write's last sector to its completion.
    pub write_after_ms: f64,
    /// Instead of `read_before_ms` when the buffer holds the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_hit_before_ms: Option<f64>,
    /// Instead of `read_before_ms` when the command before was a write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_before_after_write_ms: Option<f64>,
    /// Instead of `read_hit_before_ms` when the command before was a write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_hit_before_after_write_ms: Option<f64>,
    /// Instead of `write_before_ms` when the command before was a write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_before_after_write_ms: Option<f64>,
    /// Instead of `write_before_ms` when the buffer takes the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_hit_before_ms: Option<f64>,
    /// Instead of `write_hit_before_ms` when the command before was a write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_hit_before_after_write_ms: Option<f64>,
    /// Time to reacquire the bus for a read's data, after releasing it to wait for the medium.
    #[serde(default, skip_serializing_if = "is_default")]
    pub read_reconnect_ms: f64,
    /// Time to reacquire the bus to report that a write is on the medium.
    #[serde(default, skip_serializing_if = "is_default")]
    pub write_reconnect_ms: f64,
    /// Times of a write that does not continue the write before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scattered_write: Option<ScatteredWrite>,
}

/// Times of a write that does not continue the write before it, for a controller that releases
/// the bus once more before the data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScatteredWrite {
    /// From the command to the arm's start, in milliseconds.
    pub seek_after_ms: f64,
    /// From the command to the data on the bus, in milliseconds.
    pub data_after_ms: f64,
    /// Instead of `write_reconnect_ms`.
    pub reconnect_ms: f64,
}

/// The bus between host and drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BusParameters {
    /// Its kind.
    pub name: String,
    /// Bytes a second towards the host.
    pub to_host_bytes_per_s: f64,
    /// Bytes a second towards the drive.
    pub to_drive_bytes_per_s: f64,
    /// Time to acquire the bus, in milliseconds.
    #[serde(default)]
    pub arbitration_ms: f64,
    /// When data cross it.
    pub transfer: BusTransfer,
    /// Share of a read's blocks that must have come from the medium before the read takes the bus,
    /// if transfers overlap the medium; rounded down, at least one block. For a read longer than a
    /// buffer segment, the share of the segment's blocks.
    #[serde(default)]
    pub read_water_mark: f64,
    /// Pairs of a least write length and the number of its blocks that must have crossed the bus
    /// before writing begins; one block if no pair applies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write_lead: Vec<[u64; 2]>,
}

/// How far a drive reads ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadAheadTo {
    /// Until the buffer is full.
    #[default]
    Buffer,
    /// To the end of the cylinder.
    Cylinder,
    /// To the end of the track.
    OwnTrack,
    /// To the end of the track, and to the end of the next track too if the buffered data began on
    /// an earlier track. If the buffer is too small, new data overwrite the oldest (DiskSim's
    /// scheme 4).
    Track,
}

/// Memory in the drive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferParameters {
    /// Bytes.
    pub bytes: u64,
    /// Whether the drive reads ahead into it.
    #[serde(default)]
    pub read_ahead: bool,
    /// How far.
    #[serde(default, skip_serializing_if = "is_default")]
    pub read_ahead_to: ReadAheadTo,
    /// Most blocks to read ahead; absent: as many as there is room for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_blocks: Option<u64>,
    /// Number of equal segments, each of which keeps one run of blocks after they were read or
    /// written. 0: one piece, which holds only read-ahead and data waiting to be written.
    #[serde(default, skip_serializing_if = "is_default")]
    pub segments: u32,
    /// Whether one segment is reserved for writes; reads never hit it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub own_write_segment: bool,
    /// Whether the drive also keeps the sectors that pass under the head before the first requested
    /// one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reads_from_arrival: bool,
    /// Whether a read's blocks are dropped once the host has them, to make room for read-ahead.
    #[serde(default, skip_serializing_if = "is_default")]
    pub forgets_delivered: bool,
    /// Whether a read's blocks stay in the buffer and so reduce the room for read-ahead, if
    /// `read_ahead_blocks` does not limit it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub keeps_requested: bool,
    /// Whether written blocks are dropped once they are on the medium, so that no read hits them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub forgets_written: bool,
    /// Whether a command that needs the arm stops read-ahead within a sector, not at the sector's
    /// end.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stops_in_sector: bool,
    /// Whether buffered writes go to the medium before any other command, except a write that
    /// continues them without a gap or a read that the buffer answers (DiskSim's "fast write":
    /// CMU-PDL-08-101). With `immediate_reporting`, every write, even a synchronous one, is then
    /// reported when its data are in the buffer.
    #[serde(default, skip_serializing_if = "is_default")]
    pub flushes_first: bool,
    /// Whether a buffer hit makes an idle drive continue reading after the buffered blocks.
    #[serde(default, skip_serializing_if = "is_default")]
    pub read_ahead_after_hit: bool,
    /// Whether eligible writes are reported when their data are in the buffer.
    #[serde(default)]
    pub immediate_reporting: bool,
    /// Whether all writes are reported when their data are in the buffer, although a power failure
    /// loses them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub write_back: bool,
}

impl BufferParameters {
    /// The drive's default use of its buffer.
    pub fn usual(&self) -> DiskOptions {
        let cache = match (self.write_back, self.immediate_reporting) {
            (true, _) => WriteCache::Volatile { bytes: self.bytes },
            (false, true) => WriteCache::Immediate,
            (false, false) => WriteCache::None,
        };
        DiskOptions { read_ahead: self.read_ahead, cache, queue_depth: 1 }
    }

    /// Bytes of one segment, or of the whole buffer if it has no segments.
    pub fn segment_bytes(&self) -> u64 {
        self.bytes / u64::from(self.segments.max(1))
    }
}

/// Whether a value is the default, and so is left out of the file.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A drive's parameter file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// What it is called on the command line.
    pub name: String,
    /// The product's name.
    pub title: String,
    /// How far to trust it.
    pub status: Status,
    /// Bytes of a block.
    pub sector_bytes: u32,
    /// Data heads.
    pub heads: u16,
    /// Cylinders that the arm can reach.
    pub cylinders: u32,
    /// Time of a rotation, in milliseconds (60000 / rpm).
    pub rotation_ms: f64,
    /// Order of tracks in a cylinder.
    #[serde(default)]
    pub track_order: TrackOrder,
    /// Blocks in use, if fewer than the zones hold.
    #[serde(default)]
    pub blocks: Option<u64>,
    /// Zones in block order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<Zone>,
    /// Runs of tracks in block order, instead of zones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub track_runs: Vec<TrackRun>,
    /// Ranges of places in these runs that hold no block: the first place, counted from the disk's
    /// first, and how many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slipped_places: Vec<[u64; 2]>,
    /// Remapped blocks.
    #[serde(default)]
    pub remaps: Vec<Remap>,
    /// Seek curve.
    pub seek: SeekCurve,
    /// Moving parts.
    pub mechanism: MechanismParameters,
    /// Controller.
    pub controller: ControllerParameters,
    /// Bus.
    pub bus: BusParameters,
    /// Memory.
    #[serde(default)]
    pub buffer: BufferParameters,
    /// Commands the drive accepts at once and orders by shortest access time (tagged or native
    /// command queueing).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// Its power consumption.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<Power>,
    /// The source of each group of numbers, by the group's key.
    pub sources: BTreeMap<String, String>,
}

/// Controller times for a run. In a pair, the first is after a read and the second after a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Controller {
    /// From a read's command to the arm's start.
    pub read_before_ns: [u64; 2],
    /// From a read's command to the bus transfer when the buffer holds the data.
    pub hit_before_ns: [u64; 2],
    /// From a read's last byte on the bus to its completion.
    pub read_after_ns: u64,
    /// From a write's command to the arm's start.
    pub write_before_ns: [u64; 2],
    /// From a write's command to the start of the transfer into the buffer.
    pub write_hit_before_ns: [u64; 2],
    /// From a write's last sector to its completion, including reacquiring the bus.
    pub write_after_ns: u64,
    /// From the end of the bus transfer to the completion of a write into the buffer.
    pub write_hit_after_ns: u64,
    /// Time to reacquire the bus for a read's data.
    pub read_reconnect_ns: u64,
    /// Times of a write that does not continue the write before it: from its command to the arm's
    /// start, from its command to the data on the bus, and from its last sector to its completion.
    pub scattered_write_ns: Option<[u64; 3]>,
}

impl ControllerParameters {
    fn build(&self) -> Controller {
        let pair = |first: f64, second: Option<f64>| {
            [nanoseconds(first), nanoseconds(second.unwrap_or(first))]
        };
        let hit = self.read_hit_before_ms.unwrap_or(self.read_before_ms);
        Controller {
            read_before_ns: pair(self.read_before_ms, self.read_before_after_write_ms),
            hit_before_ns: pair(hit, self.read_hit_before_after_write_ms),
            read_after_ns: nanoseconds(self.read_after_ms),
            write_before_ns: pair(self.write_before_ms, self.write_before_after_write_ms),
            write_hit_before_ns: pair(
                self.write_hit_before_ms.unwrap_or(self.write_before_ms),
                self.write_hit_before_after_write_ms,
            ),
            write_after_ns: nanoseconds(self.write_reconnect_ms + self.write_after_ms),
            write_hit_after_ns: nanoseconds(self.write_after_ms),
            read_reconnect_ns: nanoseconds(self.read_reconnect_ms),
            scattered_write_ns: self.scattered_write.map(|s| {
                [s.seek_after_ms, s.data_after_ms, s.reconnect_ms + self.write_after_ms]
                    .map(nanoseconds)
            }),
        }
    }
}

/// Bus times for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bus {
    /// Time of one block towards the host, in 2^-20 ns.
    pub to_host: u64,
    /// Time of one block towards the drive, in 2^-20 ns.
    pub to_drive: u64,
    /// Time to acquire the bus.
    pub arbitration_ns: u64,
    /// When data cross it.
    pub transfer: BusTransfer,
    /// Share of a read that must have come from the medium before it takes the bus, in 1024ths.
    pub read_water_mark: u64,
    /// Pairs of a least write length and the blocks that must have arrived before writing begins,
    /// in order of rising length.
    pub write_lead: Vec<[u64; 2]>,
}

/// Binary digits after the point in a block's bus time.
const BUS_FRACTION: u32 = 20;

impl Bus {
    /// The time that `blocks` blocks take on the bus.
    #[inline]
    pub fn time_ns(&self, blocks: u64, to_drive: bool) -> u64 {
        let each = if to_drive { self.to_drive } else { self.to_host };
        (blocks * each) >> BUS_FRACTION
    }

    /// How many blocks of a write of `count` must have arrived before writing begins.
    #[inline]
    pub fn lead(&self, count: u64) -> u64 {
        let rule = self.write_lead.iter().rev().find(|[least, _]| count >= *least);
        rule.map_or(1, |[_, blocks]| (*blocks).clamp(1, count.max(1)))
    }
}

/// A drive ready to run.
#[derive(Clone, Debug)]
pub struct Drive {
    /// What it is called.
    pub name: String,
    /// How far to trust it.
    pub status: Status,
    /// Bytes of a block.
    pub sector_bytes: u32,
    /// Moving parts.
    pub mechanism: Mechanism,
    /// Controller.
    pub controller: Controller,
    /// Bus.
    pub bus: Bus,
    /// Memory.
    pub buffer: BufferParameters,
    /// Commands it accepts at once.
    pub queue_depth: u32,
    /// Its power consumption, if known.
    pub power: Option<Power>,
}

impl Parameters {
    /// Reads a parameter file; `name` is the file's name, for errors.
    ///
    /// # Errors
    /// A key is unknown, missing or of the wrong type; names its line.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        Error::or_parsed(name, text)
    }

    /// Returns the text of a parameter file with these parameters.
    ///
    /// # Errors
    /// A number cannot be written to a file.
    pub fn text(&self) -> Result<String, Error> {
        toml::to_string(self).map_err(|e| Error::parameter(&self.name, e.to_string()))
    }

    /// Builds the drive that these parameters describe.
    ///
    /// # Errors
    /// A value is impossible; names its key.
    pub fn build(&self) -> Result<Drive, Error> {
        let wrong = |key: &str, why: String| Error::parameter(&self.name, format!("{key}: {why}"));
        self.check()?;
        let rotation_ns = nanoseconds(self.rotation_ms);
        let plan = Plan {
            zones: &self.zones,
            track_runs: &self.track_runs,
            slipped_places: &self.slipped_places,
            heads: self.heads,
            cylinders: self.cylinders,
            order: self.track_order,
            rotation_ns,
            blocks: self.blocks,
            remaps: &self.remaps,
        };
        let of = if self.track_runs.is_empty() { "zones" } else { "track_runs" };
        let layout = Layout::new(&plan).map_err(|why| wrong(of, why))?;
        let seek_ns = self.seek.table(self.cylinders).map_err(|why| wrong("seek", why))?;
        let bus = |rate: f64| {
            libm::round(f64::from(self.sector_bytes) / rate * 1e9 * f64::from(1u32 << BUS_FRACTION))
                as u64
        };
        Ok(Drive {
            name: self.name.clone(),
            status: self.status,
            sector_bytes: self.sector_bytes,
            mechanism: Mechanism {
                layout,
                seek_from_ns: least_from(&seek_ns),
                seek_ns,
                head_switch_ns: nanoseconds(self.mechanism.head_switch_ms),
                write_seek_least_ns: nanoseconds(self.mechanism.write_seek_least_ms),
                write_settle_ns: libm::round(self.mechanism.write_settle_ms * 1e6) as i64,
                read_on_arrival: self.mechanism.read_on_arrival,
                write_on_arrival: self.mechanism.write_on_arrival,
            },
            controller: self.controller.build(),
            bus: Bus {
                to_host: bus(self.bus.to_host_bytes_per_s),
                to_drive: bus(self.bus.to_drive_bytes_per_s),
                arbitration_ns: nanoseconds(self.bus.arbitration_ms),
                transfer: self.bus.transfer,
                read_water_mark: libm::round(self.bus.read_water_mark * 1024.0) as u64,
                write_lead: self.bus.write_lead.clone(),
            },
            buffer: self.buffer.clone(),
            queue_depth: self.queue_depth.unwrap_or(1),
            power: self.power,
        })
    }
}

impl Drive {
    /// Reads a parameter file and builds its drive.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        Parameters::parse(text, name)?.build()
    }

    /// The drive's default options.
    pub fn usual(&self) -> DiskOptions {
        DiskOptions { queue_depth: self.queue_depth, ..self.buffer.usual() }
    }
}

#[cfg(test)]
mod tests;
