//! What the layout of a disk is made from: zones, order of tracks, moved blocks.

use serde::{Deserialize, Serialize};

/// A band of cylinders with the same number of sectors on every track.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// First cylinder.
    pub first_cylinder: u32,
    /// Head that the first data track of the first cylinder is under.
    #[serde(default)]
    pub first_head: u16,
    /// Last cylinder, itself included.
    pub last_cylinder: u32,
    /// Last head with data on the last cylinder; absent: the disk's last.
    #[serde(default)]
    pub last_head: Option<u16>,
    /// Sectors that pass under the head in one rotation, spares included.
    pub sectors_per_track: u32,
    /// Sectors at the end of every track that are kept as spares.
    #[serde(default)]
    pub spares_per_track: u32,
    /// Sectors at the end of every cylinder that are kept as spares.
    #[serde(default)]
    pub spares_per_cylinder: u32,
    /// Whether these are at its front instead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spares_at_front: bool,
    /// Cylinders that share `spares_per_cylinder`, at the end of the last of them; 0 and 1 mean each its own.
    #[serde(default)]
    pub cylinders_per_spares: u32,
    /// Tracks at the end of every cylinder that are kept as spares.
    #[serde(default)]
    pub spare_tracks_per_cylinder: u16,
    /// Sectors by which a track's first sector lags that of the track before it on the same cylinder.
    pub track_skew: u32,
    /// Sectors by which a cylinder's first track lags the last track of the cylinder before.
    pub cylinder_skew: u32,
    /// Angle of the zone's first sector, in its sectors from the index mark.
    #[serde(default)]
    pub offset: u32,
    /// Sectors at the zone's beginning that hold no data.
    #[serde(default)]
    pub unused_at_front: u64,
    /// Blocks that are numbered at most: what is left at the zone's end is spare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// Defective sectors that the numbering slips past, counted from the zone's first sector, spares not counted.
    #[serde(default)]
    pub slips: Vec<u64>,
    /// Whether a slip is made up for by the spares of its own cylinder, or track where these have spares, and counted with them.
    #[serde(default)]
    pub slips_within_cylinder: bool,
    /// Defective tracks that the numbering slips past, counted from the zone's first track.
    #[serde(default)]
    pub slipped_tracks: Vec<u64>,
    /// Tracks, counted from the zone's first, from each of which on all lie a sector later than the skews say, since a slip before it pushes
    /// them on; not falling. Two sectors where one is named twice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pushed_tracks: Vec<u64>,
}

impl Zone {
    /// Sectors by which a track, counted from the zone's first, lies later than the skews say.
    pub fn pushed(&self, track: u64) -> u64 {
        self.pushed_tracks.partition_point(|from| *from <= track) as u64
    }

    /// Whether it has a skew of tracks, and one of cylinders: the only track of a cylinder lags no other there, nor does the only cylinder.
    pub fn has_skews(&self, heads: u16) -> [bool; 2] {
        let tracks = heads.saturating_sub(self.spare_tracks_per_cylinder);
        [tracks > 1, self.last_cylinder > self.first_cylinder]
    }
}

/// Tracks of one head that follow one another in the numbering at equal distances: for disks whose order of tracks zones do not
/// tell, since they fill one surface after the other, or whose angles were measured track by track.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrackRun {
    /// Cylinder of the first track.
    pub cylinder: u32,
    /// Cylinders from each track to the next; less than 0 on the way back.
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
    /// Places for blocks on each track, from there on.
    pub blocks_per_track: u32,
    /// Angle of the first track's first block, in rotations from the index mark.
    #[serde(default)]
    pub angle: f64,
    /// Angle from each track's first block to the next's, in rotations.
    #[serde(default)]
    pub angle_step: f64,
}

/// A block that was moved to a spare sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remap {
    /// The block.
    pub block: u64,
    /// Where it lies now.
    pub cylinder: u32,
    /// Head.
    pub head: u16,
    /// Sector on the track, from 0.
    pub sector: u32,
}

/// In which order the tracks of a cylinder are numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrackOrder {
    /// From head 0 up on every cylinder.
    #[default]
    Rising,
    /// Every second cylinder of a zone from the last head down, so that going to the next cylinder switches no head.
    Serpentine,
    /// The same by the cylinder's own number: odd ones run down.
    SerpentineByNumber,
}

impl TrackOrder {
    /// Whether the tracks of a zone's cylinder are numbered from the last head down.
    pub fn runs_down(self, zone: &Zone, cylinder: u32) -> bool {
        match self {
            Self::Rising => false,
            Self::Serpentine => (cylinder - zone.first_cylinder) % 2 == 1,
            Self::SerpentineByNumber => cylinder % 2 == 1,
        }
    }
}

/// All a layout is made from.
#[derive(Clone, Debug, Default)]
pub struct Plan<'a> {
    /// Zones in the order of their blocks.
    pub zones: &'a [Zone],
    /// Runs of tracks in the order of their blocks, for a disk without zones.
    pub track_runs: &'a [TrackRun],
    /// First of the places of these runs that the numbering slips past, and how many, counted from the disk's first place.
    pub slipped_places: &'a [[u64; 2]],
    /// Heads.
    pub heads: u16,
    /// Cylinders the arm can reach; at least those of the zones.
    pub cylinders: u32,
    /// Order of tracks.
    pub order: TrackOrder,
    /// Time of a rotation.
    pub rotation_ns: u64,
    /// Blocks to number at most; the rest stays unused.
    pub blocks: Option<u64>,
    /// Moved blocks.
    pub remaps: &'a [Remap],
}

/// Heads with data on a cylinder, in the order of its blocks.
pub(super) fn heads_of(zone: &Zone, cylinder: u32, plan: &Plan<'_>) -> Vec<u16> {
    let first = if cylinder == zone.first_cylinder { zone.first_head } else { 0 };
    let end = match zone.last_head {
        Some(last) if cylinder == zone.last_cylinder => last + 1,
        _ => plan.heads - zone.spare_tracks_per_cylinder,
    };
    let down = plan.order.runs_down(zone, cylinder);
    if down { (first..end).rev().collect() } else { (first..end).collect() }
}
