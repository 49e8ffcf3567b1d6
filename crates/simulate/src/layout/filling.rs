//! How the blocks of a zone fill its tracks: spares, slips and unused sectors.

use super::plan::Zone;

/// How the blocks of a zone fill its tracks.
pub(super) struct Filling<'a> {
    zone: &'a Zone,
    /// Sectors of a track that may hold data.
    usable: u32,
    /// Sectors that still may hold data on this cylinder, or on those that share their spares.
    room: u64,
    /// Sectors counted so far, as slips count them.
    sector: u64,
    /// Tracks so far.
    tracks: u64,
    /// Blocks that the zone may still number.
    left: u64,
    /// Next of the slips.
    slip: usize,
}

impl<'a> Filling<'a> {
    pub(super) fn new(zone: &'a Zone) -> Self {
        let usable = zone.sectors_per_track - zone.spares_per_track;
        let left = zone.blocks.unwrap_or(u64::MAX);
        Self { zone, usable, room: 0, sector: 0, tracks: 0, left, slip: 0 }
    }

    pub(super) fn begin_range(&mut self, heads: usize) {
        let cylinders = u64::from(self.zone.cylinders_per_spares.max(1));
        let all = cylinders * heads as u64 * u64::from(self.usable);
        self.room = all.saturating_sub(u64::from(self.zone.spares_per_cylinder));
    }

    /// The next track: sector of its first block, and its blocks.
    pub(super) fn track(&mut self, track: u32, slips: &mut Vec<(u32, u32)>) -> (u32, u64) {
        let is_lost = self.zone.slipped_tracks.binary_search(&self.tracks).is_ok();
        self.tracks += 1;
        if is_lost {
            // Whole tracks take their number with them: the unused front is counted in sectors that hold data.
            return (0, 0);
        }
        let (counted, usable) = if self.zone.slips_within_cylinder {
            (u64::from(self.zone.sectors_per_track), u64::from(self.usable))
        } else {
            let here = u64::from(self.usable).min(self.room);
            (here, here)
        };
        let front = self.zone.unused_at_front.saturating_sub(self.sector).min(usable);
        let mut lost = 0;
        while let Some(&slip) =
            self.zone.slips.get(self.slip).filter(|&&s| s < self.sector + counted)
        {
            self.slip += 1;
            if slip >= self.sector + front {
                slips.push((track, (slip - self.sector) as u32));
                lost += 1;
            }
        }
        self.sector += counted;
        let good = (usable - front).saturating_sub(lost);
        let blocks = if self.zone.slips_within_cylinder { good.min(self.room) } else { good };
        self.room = self.room.saturating_sub(if self.zone.slips_within_cylinder {
            blocks + front
        } else {
            usable
        });
        let blocks = blocks.min(self.left);
        self.left -= blocks;
        (front as u32, blocks)
    }

    /// After the last track: whether all that was asked for was there. `blocks` were numbered.
    pub(super) fn check(&self, blocks: u64) -> Result<(), String> {
        if blocks == 0 {
            return Err("no sectors are left for data".into());
        }
        if self.zone.blocks.is_some_and(|promised| blocks < promised) {
            return Err(format!("it holds {blocks} blocks, fewer than are promised"));
        }
        if self.zone.slips.last().is_some_and(|&slip| slip >= self.sector) {
            return Err(format!("a slip lies beyond its {} sectors", self.sector));
        }
        if self.zone.slipped_tracks.last().is_some_and(|&track| track >= self.tracks) {
            return Err(format!("a slipped track lies beyond its {} tracks", self.tracks));
        }
        Ok(())
    }
}
