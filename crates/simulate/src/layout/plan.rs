//! The input of a disk's layout: zones, track order and remapped blocks.

use serde::{Deserialize, Serialize};

/// A band of cylinders with the same number of sectors on every track.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// First cylinder.
    pub first_cylinder: u32,
    /// Head of the first data track on the first cylinder.
    #[serde(default)]
    pub first_head: u16,
    /// Last cylinder, inclusive.
    pub last_cylinder: u32,
    /// Last head with data on the last cylinder; absent: the disk's last.
    #[serde(default)]
    pub last_head: Option<u16>,
    /// Sectors that pass under the head in one rotation, spares included.
    pub sectors_per_track: u32,
    /// Spare sectors at the end of every track.
    #[serde(default)]
    pub spares_per_track: u32,
    /// Spare sectors at the end of every cylinder.
    #[serde(default)]
    pub spares_per_cylinder: u32,
    /// Whether the `spares_per_cylinder` are at the front of the cylinder instead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spares_at_front: bool,
    /// Number of cylinders that share `spares_per_cylinder`, at the end of the last one; with 0 or
    /// 1, each cylinder has its own.
    #[serde(default)]
    pub cylinders_per_spares: u32,
    /// Spare tracks at the end of every cylinder.
    #[serde(default)]
    pub spare_tracks_per_cylinder: u16,
    /// Sectors by which a track's first sector lags that of the track before it on the same cylinder.
    pub track_skew: u32,
    /// Sectors by which a cylinder's first track lags the last track of the cylinder before.
    pub cylinder_skew: u32,
    /// Angle of the zone's first sector from the index mark, in sectors of this zone.
    #[serde(default)]
    pub offset: u32,
    /// Sectors at the zone's beginning that hold no data.
    #[serde(default)]
    pub unused_at_front: u64,
    /// Most blocks to number; further sectors at the zone's end are spare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// Defective sectors that the numbering skips, counted from the zone's first sector without
    /// spares.
    #[serde(default)]
    pub slips: Vec<u64>,
    /// Whether the spares of a slip's own cylinder (or track, if tracks have spares) make up for
    /// it; slips then count the spares too.
    #[serde(default)]
    pub slips_within_cylinder: bool,
    /// Defective tracks that the numbering skips, counted from the zone's first track.
    #[serde(default)]
    pub slipped_tracks: Vec<u64>,
    /// Tracks, counted from the zone's first, at which a preceding slip shifts that track and all
    /// later ones by one sector beyond their skews. In non-falling order; a track named twice
    /// shifts by two sectors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pushed_tracks: Vec<u64>,
}

impl Zone {
    /// The number of sectors by which slips shift a track, counted from the zone's first, beyond
    /// its skews.
    pub fn pushed(&self, track: u64) -> u64 {
        self.pushed_tracks.partition_point(|from| *from <= track) as u64
    }

    /// Whether the zone has a track skew, and whether it has a cylinder skew: a cylinder with one
    /// track has no track skew, and a zone with one cylinder has no cylinder skew.
    pub fn has_skews(&self, heads: u16) -> [bool; 2] {
        let tracks = heads.saturating_sub(self.spare_tracks_per_cylinder);
        [tracks > 1, self.last_cylinder > self.first_cylinder]
    }
}

/// Consecutively numbered tracks of one head at equal distances. For disks whose track order zones
/// cannot describe because they fill one surface after the other, or whose angles were measured
/// track by track.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrackRun {
    /// Cylinder of the first track.
    pub cylinder: u32,
    /// Cylinders from each track to the next; negative where cylinder numbers fall.
    #[serde(default)]
    pub cylinder_step: i32,
    /// Head.
    pub head: u16,
    /// Tracks.
    pub tracks: u32,
    /// Sectors that pass under the head in one rotation.
    pub sectors_per_track: u32,
    /// Sector of a track's first block, from 0.
    #[serde(default)]
    pub first_sector: u32,
    /// Places for blocks on each track, from `first_sector` on.
    pub blocks_per_track: u32,
    /// Angle of the first track's first block, in rotations from the index mark.
    #[serde(default)]
    pub angle: f64,
    /// Angle from each track's first block to that of the next track, in rotations.
    #[serde(default)]
    pub angle_step: f64,
}

/// A block that was remapped to a spare sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remap {
    /// The block.
    pub block: u64,
    /// Cylinder of its new sector.
    pub cylinder: u32,
    /// Head.
    pub head: u16,
    /// Sector on the track, from 0.
    pub sector: u32,
}

/// The order in which a cylinder's tracks are numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrackOrder {
    /// Upwards from head 0 on every cylinder.
    #[default]
    Rising,
    /// Downwards from the last head on every second cylinder of a zone, so that the step to the
    /// next cylinder needs no head switch.
    Serpentine,
    /// As [`Self::Serpentine`], but by the cylinder's own number: odd cylinders run downwards.
    SerpentineByNumber,
}

impl TrackOrder {
    /// Whether the tracks of a zone's cylinder are numbered downwards from the last head.
    pub fn runs_down(self, zone: &Zone, cylinder: u32) -> bool {
        match self {
            Self::Rising => false,
            Self::Serpentine => (cylinder - zone.first_cylinder) % 2 == 1,
            Self::SerpentineByNumber => cylinder % 2 == 1,
        }
    }
}

/// Everything a layout is built from.
#[derive(Clone, Debug, Default)]
pub struct Plan<'a> {
    /// Zones in block order.
    pub zones: &'a [Zone],
    /// Runs of tracks in block order, for a disk without zones.
    pub track_runs: &'a [TrackRun],
    /// Ranges of places in these runs that the numbering skips: the first place, counted from the
    /// disk's first, and how many.
    pub slipped_places: &'a [[u64; 2]],
    /// Heads.
    pub heads: u16,
    /// Cylinders the arm can reach, including all those of the zones.
    pub cylinders: u32,
    /// Order of tracks.
    pub order: TrackOrder,
    /// Time of a rotation.
    pub rotation_ns: u64,
    /// Most blocks to number; further sectors stay unused.
    pub blocks: Option<u64>,
    /// Remapped blocks.
    pub remaps: &'a [Remap],
}

/// The data heads on a cylinder, in block order.
pub(super) fn heads_of(zone: &Zone, cylinder: u32, plan: &Plan<'_>) -> Vec<u16> {
    let first = if cylinder == zone.first_cylinder { zone.first_head } else { 0 };
    let end = match zone.last_head {
        Some(last) if cylinder == zone.last_cylinder => last + 1,
        _ => plan.heads - zone.spare_tracks_per_cylinder,
    };
    let down = plan.order.runs_down(zone, cylinder);
    if down { (first..end).rev().collect() } else { (first..end).collect() }
}
