//! A drive: its parameter file, and the integers that a run needs of it.

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

/// When data cross the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BusTransfer {
    /// All of a request's data, before or after the medium.
    StoreAndForward,
    /// Track by track: a read takes the bus when its first track is read, a write goes to a track when that track's data
    /// have come.
    ByTrack,
    /// While the medium passes.
    Overlapped,
}

/// Delays of the moving parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MechanismParameters {
    /// Switching heads on a cylinder, in milliseconds.
    pub head_switch_ms: f64,
    /// What a write waits for on top of a seek or switch, in milliseconds; less than 0 where it needs less than a read.
    #[serde(default)]
    pub write_settle_ms: f64,
    /// What a write needs at least to get to its track, in milliseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub write_seek_least_ms: f64,
    /// Whether reads begin with any sector of the track.
    #[serde(default)]
    pub read_on_arrival: bool,
    /// Whether writes do.
    #[serde(default)]
    pub write_on_arrival: bool,
}

/// Time that the controller takes on top, in milliseconds.
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
    /// To get the bus back for a read's data, after it was given up to wait for the medium.
    #[serde(default, skip_serializing_if = "is_default")]
    pub read_reconnect_ms: f64,
    /// To get the bus back for saying that a write is on the medium.
    #[serde(default, skip_serializing_if = "is_default")]
    pub write_reconnect_ms: f64,
    /// A write elsewhere than behind the write before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scattered_write: Option<ScatteredWrite>,
}

/// Times of a write that comes after a write elsewhere, where a controller gives the bus up once more before the data.
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
    /// Time to get hold of it, in milliseconds.
    #[serde(default)]
    pub arbitration_ms: f64,
    /// When data cross it.
    pub transfer: BusTransfer,
    /// Share of a read's blocks that must have come from the medium before it takes the bus, when data cross it
    /// overlapped; rounded down, at least one block. Of a read longer than a segment of the buffer, the share of a segment's blocks.
    #[serde(default)]
    pub read_water_mark: f64,
    /// Pairs of a write's least length and the blocks of it that must have come over the bus before writing begins; one
    /// block where no pair applies.
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
    /// To the end of the track, and of the next one too when the data held began on an earlier track, even if the buffer is too
    /// small for it: what comes then takes the place of what came first (DiskSim's scheme 4).
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
    /// Blocks that are read ahead at most; absent: as many as there is room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_blocks: Option<u64>,
    /// Parts of equal size that the memory is divided into, each holding one stretch of blocks after it was read or
    /// written. 0: it is one piece that holds nothing but what is being read ahead or waits to be written.
    #[serde(default, skip_serializing_if = "is_default")]
    pub segments: u32,
    /// Whether one of the segments is kept for writes, and reads never look into it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub own_write_segment: bool,
    /// Whether the sectors of a track that pass before the first that was asked for are kept as well.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reads_from_arrival: bool,
    /// Whether what a read asked for is forgotten when the host has it, to read ahead into its room.
    #[serde(default, skip_serializing_if = "is_default")]
    pub forgets_delivered: bool,
    /// Whether what a read asked for takes up room of what is read ahead behind it, where no number of blocks limits that: the buffer then
    /// still holds all of it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub keeps_requested: bool,
    /// Whether what was written is forgotten once it is on the medium, so that no read finds it in the buffer.
    #[serde(default, skip_serializing_if = "is_default")]
    pub forgets_written: bool,
    /// Whether reading ahead stops in the middle of a sector for a command that needs the arm, not at the sector's end.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stops_in_sector: bool,
    /// Whether everything written goes to the medium before any command but a write that follows it without a gap and a read that the
    /// buffer answers (DiskSim's "fast write": CMU-PDL-08-101). With `immediate_reporting`, all writes are reported when their data are in the
    /// buffer then, whoever waits for them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub flushes_first: bool,
    /// Whether a read that finds its data in the buffer makes an idle drive read on behind them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub read_ahead_after_hit: bool,
    /// Whether eligible writes are reported when their data are in it.
    #[serde(default)]
    pub immediate_reporting: bool,
    /// Whether all writes are reported when their data are in it, though it loses them without power.
    #[serde(default, skip_serializing_if = "is_default")]
    pub write_back: bool,
}

impl BufferParameters {
    /// What a drive does with its buffer unless it is told otherwise.
    pub fn usual(&self) -> DiskOptions {
        let cache = match (self.write_back, self.immediate_reporting) {
            (true, _) => WriteCache::Volatile { bytes: self.bytes },
            (false, true) => WriteCache::Immediate,
            (false, false) => WriteCache::None,
        };
        DiskOptions { read_ahead: self.read_ahead, cache, queue_depth: 1 }
    }

    /// Bytes of one segment, or of all when there are none.
    pub fn segment_bytes(&self) -> u64 {
        self.bytes / u64::from(self.segments.max(1))
    }
}

/// Whether a value need not be written to a file.
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
    /// Heads with data.
    pub heads: u16,
    /// Cylinders that the arm can reach.
    pub cylinders: u32,
    /// Time of a rotation, in milliseconds (60000 / rpm).
    pub rotation_ms: f64,
    /// Order of tracks in a cylinder.
    #[serde(default)]
    pub track_order: TrackOrder,
    /// Blocks that are used, when not all that the zones hold.
    #[serde(default)]
    pub blocks: Option<u64>,
    /// Zones in the order of their blocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<Zone>,
    /// Instead of zones, runs of tracks in the order of their blocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub track_runs: Vec<TrackRun>,
    /// First of the places of these runs that hold no block, and how many, counted from the disk's first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slipped_places: Vec<[u64; 2]>,
    /// Moved blocks.
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
    /// Commands that the drive takes at once, to choose their order by the shortest access (tagged or native command queueing).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// What it takes from the power supply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<Power>,
    /// Where each group of numbers comes from, by the group's key.
    pub sources: BTreeMap<String, String>,
}

/// Controller times of a run; pairs are those after a read and after a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Controller {
    /// From a read's command to the arm's start.
    pub read_before_ns: [u64; 2],
    /// The same when the buffer holds the data.
    pub hit_before_ns: [u64; 2],
    /// From a read's last byte on the bus to its completion.
    pub read_after_ns: u64,
    /// From a write's command to the arm's start.
    pub write_before_ns: [u64; 2],
    /// From a write's command to its data's way into the buffer.
    pub write_hit_before_ns: [u64; 2],
    /// From a write's last sector to its completion, getting the bus back included.
    pub write_after_ns: u64,
    /// From the bus' end to the completion of a write that went into the buffer.
    pub write_hit_after_ns: u64,
    /// To get the bus back for a read's data.
    pub read_reconnect_ns: u64,
    /// Arm's start, data on the bus, and last sector to completion of a write after a write elsewhere.
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

/// Bus times of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bus {
    /// Time of one block towards the host, in 2^-20 ns.
    pub to_host: u64,
    /// Time of one block towards the drive, in 2^-20 ns.
    pub to_drive: u64,
    /// Time to get hold of it.
    pub arbitration_ns: u64,
    /// When data cross it.
    pub transfer: BusTransfer,
    /// Share of a read that must have come before it takes the bus, in 1024ths.
    pub read_water_mark: u64,
    /// Least length of a write and the blocks that must have come before writing begins, by rising length.
    pub write_lead: Vec<[u64; 2]>,
}

/// Fraction of a nanosecond that bus times of a block are kept in.
const BUS_FRACTION: u32 = 20;

impl Bus {
    /// Time of `blocks` blocks.
    #[inline]
    pub fn time_ns(&self, blocks: u64, to_drive: bool) -> u64 {
        let each = if to_drive { self.to_drive } else { self.to_host };
        (blocks * each) >> BUS_FRACTION
    }

    /// Blocks of a write of `count` that must have come before writing begins.
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
    /// Commands that it takes at once.
    pub queue_depth: u32,
    /// What it takes from the power supply, if that is known.
    pub power: Option<Power>,
}

impl Parameters {
    /// Reads a parameter file; `name` is the file's, for errors.
    ///
    /// # Errors
    /// A key that is unknown, missing or of the wrong kind, with its line.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        Error::or_parsed(name, text)
    }

    /// These parameters as a file.
    ///
    /// # Errors
    /// A number that a file cannot hold.
    pub fn text(&self) -> Result<String, Error> {
        toml::to_string(self).map_err(|e| Error::parameter(&self.name, e.to_string()))
    }

    /// The drive these parameters describe.
    ///
    /// # Errors
    /// Names the key with an impossible value.
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
    /// Reads a parameter file and makes its drive.
    ///
    /// # Errors
    /// As [`Parameters::parse`] and [`Parameters::build`].
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        Parameters::parse(text, name)?.build()
    }

    /// What it does unless it is told otherwise.
    pub fn usual(&self) -> DiskOptions {
        DiskOptions { queue_depth: self.queue_depth, ..self.buffer.usual() }
    }
}

#[cfg(test)]
mod tests;
