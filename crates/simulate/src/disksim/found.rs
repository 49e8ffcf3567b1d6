//! The result of reading a DiskSim layout: zones, or runs of tracks.

use crate::layout::{Remap, TrackOrder, TrackRun, Zone};

/// The contents of a layout.
#[derive(Default)]
pub struct Found {
    /// Zones.
    pub zones: Vec<Zone>,
    /// Runs of tracks, instead of zones.
    pub runs: Vec<TrackRun>,
    /// Places of these runs that hold no block.
    pub slipped_places: Vec<[u64; 2]>,
    /// Blocks of these runs that were moved.
    pub remaps: Vec<Remap>,
    /// Order of tracks in zones.
    pub order: TrackOrder,
    /// The remapped defects of every zone, each with its new place. Both are sectors counted from
    /// the zone's first, or tracks if whole tracks are spared.
    pub defects: Vec<Vec<[u64; 2]>>,
}
