//! What a layout of DiskSim's comes to: zones, or runs of tracks.

use crate::layout::{Remap, TrackOrder, TrackRun, Zone};

/// What the layout says.
#[derive(Default)]
pub struct Found {
    /// Zones.
    pub zones: Vec<Zone>,
    /// Instead of zones, runs of tracks.
    pub runs: Vec<TrackRun>,
    /// Places of these runs that hold no block.
    pub slipped_places: Vec<[u64; 2]>,
    /// Blocks of these runs that were moved.
    pub remaps: Vec<Remap>,
    /// Order of tracks in zones.
    pub order: TrackOrder,
    /// Defects of every zone that were moved: sectors, or tracks where those are spared, counted from the zone's first, and
    /// where they are now.
    pub defects: Vec<Vec<[u64; 2]>>,
}
