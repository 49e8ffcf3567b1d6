//! How the blocks of a zone fill its tracks: spares, slips and unused sectors.

use super::plan::Zone;

/// How the blocks of a zone fill its tracks.
pub(super) struct Filling<'a> {
    zone: &'a Zone,
    /// Sectors of a track that may hold data.
    usable: u64,
    /// Sectors that may still hold data on this cylinder, or on the cylinders that share spares
    /// with it.
    room: u64,
    /// Spares yet to come at the front of these cylinders.
    spares: u64,
    /// Sectors without data yet to come at the front of the zone.
    unused: u64,
    /// Sectors passed so far, in the numbering that slips use.
    sector: u64,
    /// Tracks filled so far.
    tracks: u64,
    /// Blocks that may still be numbered in the zone.
    left: u64,
    /// Index of the next slip.
    slip: usize,
}

impl<'a> Filling<'a> {
    pub(super) fn new(zone: &'a Zone) -> Self {
        let usable = u64::from(zone.sectors_per_track - zone.spares_per_track);
        let (unused, left) = (zone.unused_at_front, zone.blocks.unwrap_or(u64::MAX));
        Self { zone, usable, room: 0, spares: 0, unused, sector: 0, tracks: 0, left, slip: 0 }
    }

    pub(super) fn begin_range(&mut self, heads: usize) {
        let tracks = u64::from(self.zone.cylinders_per_spares.max(1)) * heads as u64;
        let spares = u64::from(self.zone.spares_per_cylinder);
        self.room = (tracks * self.usable).saturating_sub(spares);
        let ahead = match self.zone.slips_within_cylinder {
            true => self.next_slips(tracks * u64::from(self.zone.sectors_per_track)),
            false => &[],
        };
        // Each slip uses up one spare, so that the last block stays in place.
        let free = spares.saturating_sub(ahead.len() as u64);
        self.spares = if self.zone.spares_at_front { free } else { 0 };
    }

    /// The slips among the next `sectors` sectors.
    fn next_slips(&self, sectors: u64) -> &'a [u64] {
        let ahead = &self.zone.slips[self.slip..];
        &ahead[..ahead.partition_point(|slip| *slip < self.sector + sectors)]
    }

    /// Fills the next track; returns the sector of its first block and its number of blocks.
    pub(super) fn track(&mut self, track: u32, slips: &mut Vec<(u32, u32)>) -> (u32, u64) {
        let is_lost = self.zone.slipped_tracks.binary_search(&self.tracks).is_ok();
        self.tracks += 1;
        if is_lost {
            // A lost track uses up none of the unused front, which counts sectors that could hold
            // data.
            return (0, 0);
        }
        let within = self.zone.slips_within_cylinder;
        // `counted` sectors from here on have numbers that slips refer to.
        let base = if within { 0 } else { self.spares.min(self.usable) };
        let counted = match within {
            true => u64::from(self.zone.sectors_per_track),
            false => (self.usable - base).min(self.room),
        };
        let lost = self.next_slips(counted);
        self.slip += lost.len();
        let slots: Vec<u64> = lost.iter().map(|slip| base + slip - self.sector).collect();
        let good = counted - slots.len() as u64;
        let spares = if within { self.spares.min(good) } else { base };
        let skipped = if within { spares } else { 0 };
        let unused = self.unused.min(good - skipped).min(self.usable.min(self.room));
        let front = passed(&slots, base, skipped + unused);
        (self.sector, self.spares, self.unused) =
            (self.sector + counted, self.spares - spares, self.unused - unused);
        let behind = slots.partition_point(|slot| *slot < front);
        slips.extend(slots[behind..].iter().map(|slot| (track, *slot as u32)));
        let good = good - skipped - unused;
        let most = if within { self.usable.min(self.room) - unused } else { good };
        let blocks = good.min(most).min(self.left);
        let taken = if within { good.min(most) + unused } else { self.usable - base };
        self.room = self.room.saturating_sub(taken);
        self.left -= blocks;
        (front as u32, blocks)
    }

    /// After the last track, checks that the zone held all it promised; `blocks` were numbered.
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

/// The sector after `count` good sectors from `from` on; those in `lost` do not count.
fn passed(lost: &[u64], from: u64, mut count: u64) -> u64 {
    let mut at = from;
    while count > 0 {
        count -= u64::from(lost.binary_search(&at).is_err());
        at += 1;
    }
    at
}
