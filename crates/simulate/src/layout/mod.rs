//! Where every block lies: zones, skews, spares, slips and remaps, compiled once into a table of
//! tracks.

mod check;
mod filling;
mod plan;
mod runs;

pub use plan::{Plan, Remap, TrackOrder, TrackRun, Zone};

use check::check;
use filling::Filling;
use plan::heads_of;
use runs::RunTrack;

/// One track that holds data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Track {
    /// Number of its first block.
    pub first_block: u64,
    /// Cylinder.
    pub cylinder: u32,
    /// Angle of its sector 0, expressed as rotation time.
    pub angle_ns: u32,
    /// Zone; on a disk without zones, the index of its number of sectors per track.
    pub zone: u16,
    /// Head, 0 for the first.
    pub head: u16,
    /// Sector of its first block.
    first_slot: u32,
    /// Whether the track has slipped sectors, so that its blocks may not be consecutive.
    slipped: bool,
}

/// Where a block is on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorAddress {
    /// Index into the tracks.
    pub track: usize,
    /// Sector on the track.
    pub slot: u32,
    /// Blocks from this one to the end of the track.
    pub left: u32,
}

/// A range of tracks in which a block's track is found by interpolation.
#[derive(Clone, Copy, Debug)]
struct Band {
    first_block: u64,
    first_track: usize,
    /// Tracks per block, in 2^-64.
    track_share: u64,
}

/// Tracks per band of runs: few enough that interpolation lands near a block's track, however many
/// blocks each track holds.
const BAND_TRACKS: usize = 512;

/// The spacing of a track's sectors.
#[derive(Clone, Copy, Debug)]
struct Pitch {
    /// Sectors of a track, spares included.
    sectors: u32,
    /// Time of one sector, in 2^-20 ns.
    sector: u64,
}

impl Pitch {
    fn new(sectors: u32, rotation_ns: u64) -> Self {
        Self { sectors, sector: (rotation_ns << FRACTION) / u64::from(sectors) }
    }
}

/// Binary digits after the point in a sector time: angles are accurate to 1 ns over a track.
const FRACTION: u32 = 20;

/// The zones with their slips sorted by sector: files list slips in the order they were found.
fn in_order(zones: &[Zone]) -> Vec<Zone> {
    let mut zones = zones.to_vec();
    for zone in &mut zones {
        zone.slips.sort_unstable();
        zone.slipped_tracks.sort_unstable();
    }
    zones
}

/// The table of all tracks.
#[derive(Clone, Debug)]
pub struct Layout {
    tracks: Vec<Track>,
    bands: Vec<Band>,
    /// Indexed by [`Track::zone`].
    pitches: Vec<Pitch>,
    /// Each (track, slot) that the block numbering skips, in order.
    slips: Vec<(u32, u32)>,
    /// Remapped blocks and their addresses, sorted by block.
    remaps: Vec<(u64, SectorAddress)>,
    blocks: u64,
    cylinders: u32,
    rotation_ns: u64,
    /// 2^64 divided by the time of a rotation.
    rotations: u64,
    /// Whether cylinder numbers never fall as block numbers rise.
    rises: bool,
}

impl Layout {
    /// Builds the table.
    ///
    /// # Errors
    /// A sentence that names the zone or run: zones overlap, a skew is longer than a track, nothing
    /// is left for data, or a number is otherwise impossible.
    pub fn new(plan: &Plan<'_>) -> Result<Self, String> {
        let zones = in_order(plan.zones);
        let plan = &Plan { zones: &zones, ..plan.clone() };
        check(plan)?;
        let mut layout = Self {
            tracks: Vec::new(),
            bands: Vec::new(),
            pitches: Vec::new(),
            slips: Vec::new(),
            remaps: Vec::new(),
            blocks: 0,
            cylinders: plan.cylinders,
            rotation_ns: plan.rotation_ns,
            rotations: u64::MAX / plan.rotation_ns,
            rises: false,
        };
        for (number, zone) in plan.zones.iter().enumerate() {
            layout
                .add(number, zone, plan)
                .map_err(|why| format!("zone {number} (from 0): {why}"))?;
        }
        layout.add_runs(plan)?;
        if let Some(most) = plan.blocks {
            if most == 0 || most > layout.blocks {
                return Err(format!(
                    "the zones hold {} blocks, not the {most} that are promised",
                    layout.blocks
                ));
            }
            layout.blocks = most;
        }
        layout.remaps = plan.remaps.iter().map(|r| layout.moved(r)).collect::<Result<_, _>>()?;
        layout.remaps.sort_by_key(|(block, _)| *block);
        if let Some(twice) = layout.remaps.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(format!("block {} is moved twice", twice[0].0));
        }
        layout.rises = layout.remaps.is_empty()
            && layout.tracks.windows(2).all(|pair| pair[0].cylinder <= pair[1].cylinder);
        Ok(layout)
    }

    /// A remapped block and its new address.
    fn moved(&self, remap: &Remap) -> Result<(u64, SectorAddress), String> {
        let track = self
            .find(remap.cylinder, remap.head)
            .filter(|&at| remap.sector < self.pitches[usize::from(self.tracks[at].zone)].sectors);
        match track {
            Some(track) if remap.block < self.blocks => {
                Ok((remap.block, SectorAddress { track, slot: remap.sector, left: 1 }))
            }
            _ => Err(format!("remap of block {}: no such block, track or sector", remap.block)),
        }
    }

    /// Numbers the blocks of one zone.
    fn add(&mut self, number: usize, zone: &Zone, plan: &Plan<'_>) -> Result<(), String> {
        let physical = u64::from(zone.sectors_per_track);
        let pitch = Pitch::new(zone.sectors_per_track, plan.rotation_ns);
        let (first_track, first_block) = (self.tracks.len(), self.blocks);
        let mut filling = Filling::new(zone);
        let mut skew = u64::from(zone.offset);
        for cylinder in zone.first_cylinder..=zone.last_cylinder {
            let heads = heads_of(zone, cylinder, plan);
            if (cylinder - zone.first_cylinder).is_multiple_of(zone.cylinders_per_spares.max(1)) {
                filling.begin_range(heads.len());
            }
            for (nth, &head) in heads.iter().enumerate() {
                if nth > 0 || cylinder > zone.first_cylinder {
                    skew += u64::from(if nth > 0 { zone.track_skew } else { zone.cylinder_skew });
                }
                let (first_slot, blocks) = filling.track(self.tracks.len() as u32, &mut self.slips);
                let slipped = self.slips.last().is_some_and(|s| s.0 as usize == self.tracks.len());
                let first_sector = skew + zone.pushed((self.tracks.len() - first_track) as u64);
                self.tracks.push(Track {
                    first_block: self.blocks,
                    cylinder,
                    angle_ns: (((first_sector % physical) * pitch.sector) >> FRACTION) as u32,
                    zone: number as u16,
                    head,
                    first_slot,
                    slipped,
                });
                self.blocks += blocks;
            }
        }
        self.pitches.push(pitch);
        self.add_band(first_track, first_block);
        filling.check(self.blocks - first_block)
    }

    /// Numbers the blocks of all runs.
    fn add_runs(&mut self, plan: &Plan<'_>) -> Result<(), String> {
        let mut band = (self.tracks.len(), self.blocks);
        runs::each(plan, &mut |track| {
            if self.tracks.len() - band.0 == BAND_TRACKS {
                self.add_band(band.0, band.1);
                band = (self.tracks.len(), self.blocks);
            }
            self.add_track(&track);
        })?;
        if !plan.track_runs.is_empty() {
            self.add_band(band.0, band.1);
            if self.blocks == 0 {
                return Err("no sectors are left for data".into());
            }
        }
        Ok(())
    }

    fn add_track(&mut self, track: &RunTrack) {
        let at = self.tracks.len() as u32;
        let zone = self.pitch_of(track.sectors);
        self.slips.extend(track.lost.iter().map(|place| (at, track.first_sector + place)));
        self.tracks.push(Track {
            first_block: self.blocks,
            cylinder: track.cylinder,
            angle_ns: track.angle_ns,
            zone,
            head: track.head,
            first_slot: track.first_sector,
            slipped: !track.lost.is_empty(),
        });
        self.blocks += u64::from(track.places) - track.lost.len() as u64;
    }

    /// The index of this number of sectors per track.
    fn pitch_of(&mut self, sectors: u32) -> u16 {
        let known = self.pitches.iter().position(|pitch| pitch.sectors == sectors);
        let at = known.unwrap_or_else(|| {
            self.pitches.push(Pitch::new(sectors, self.rotation_ns));
            self.pitches.len() - 1
        });
        at as u16
    }

    /// Makes one band of the tracks from `first_track` on, which begin with `first_block`.
    fn add_band(&mut self, first_track: usize, first_block: u64) {
        let tracks = (self.tracks.len() - first_track) as u64;
        let blocks = (self.blocks - first_block).max(1);
        let track_share = ((u128::from(tracks) << 64) / u128::from(blocks.max(tracks + 1))) as u64;
        self.bands.push(Band { first_block, first_track, track_share });
    }

    /// The number of blocks of the disk.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The number of cylinders the arm can reach.
    pub fn cylinders(&self) -> u32 {
        self.cylinders
    }

    /// The time of one rotation.
    pub fn rotation_ns(&self) -> u64 {
        self.rotation_ns
    }

    /// The platter's angle after `time_ns`, as rotation time: the remainder, computed without a
    /// division.
    #[inline]
    pub fn turned_ns(&self, time_ns: u64) -> u64 {
        let turns = (u128::from(time_ns) * u128::from(self.rotations)) >> 64;
        let mut rest = time_ns - turns as u64 * self.rotation_ns;
        while rest >= self.rotation_ns {
            rest -= self.rotation_ns;
        }
        rest
    }

    /// All tracks in block order.
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    fn find(&self, cylinder: u32, head: u16) -> Option<usize> {
        self.tracks.iter().position(|t| (t.cylinder, t.head) == (cylinder, head))
    }

    /// The number of blocks on a track.
    fn blocks_of(&self, track: usize) -> u64 {
        let next =
            self.tracks.get(track + 1).map_or(self.blocks, |t| t.first_block.min(self.blocks));
        next.saturating_sub(self.tracks[track].first_block)
    }

    /// Finds the address of a block.
    #[inline]
    pub fn locate(&self, block: u64) -> SectorAddress {
        if let Some(moved) = self.remapped(block) {
            return moved;
        }
        let zone = self.bands.partition_point(|b| b.first_block <= block).max(1) - 1;
        let band = &self.bands[zone];
        // Interpolation; slips and spares put it off by a track or two.
        let within = u128::from(block - band.first_block);
        let guess = (within * u128::from(band.track_share)) >> 64;
        let mut track = (band.first_track + guess as usize).min(self.tracks.len() - 1);
        while self.tracks[track].first_block > block {
            track -= 1;
        }
        while self.tracks.get(track + 1).is_some_and(|t| t.first_block <= block) {
            track += 1;
        }
        let index = (block - self.tracks[track].first_block) as u32;
        let left = self.blocks_of(track) as u32 - index;
        SectorAddress { track, slot: self.slot(track, index), left }
    }

    /// The first block of a block's track, and the block after the track's last.
    pub fn track_of(&self, block: u64) -> [u64; 2] {
        let address = self.locate(block);
        let first = self.tracks[address.track].first_block;
        [first, first + self.blocks_of(address.track)]
    }

    /// The block after the last one of a block's cylinder.
    pub fn cylinder_end(&self, block: u64) -> u64 {
        let track = self.locate(block).track;
        let cylinder = self.tracks[track].cylinder;
        let after = self.tracks[track..].iter().find(|t| t.cylinder != cylinder);
        after.map_or(self.blocks, |t| t.first_block)
    }

    /// The first block on this cylinder or a later one; `None` unless blocks lie in cylinder order.
    pub fn first_block_from(&self, cylinder: u32) -> Option<u64> {
        let at = self.tracks.partition_point(|track| track.cylinder < cylinder);
        let first = || self.tracks.get(at).map_or(self.blocks, |track| track.first_block);
        self.rises.then(first)
    }

    fn remapped(&self, block: u64) -> Option<SectorAddress> {
        let at = self.remaps.binary_search_by_key(&block, |(moved, _)| *moved).ok()?;
        Some(self.remaps[at].1)
    }

    /// The block that lies on this sector, remaps aside.
    pub fn block_at(&self, cylinder: u32, head: u16, sector: u32) -> Option<u64> {
        let track = self.find(cylinder, head)?;
        let index = (0..self.blocks_of(track)).find(|&i| self.slot(track, i as u32) == sector)?;
        Some(self.tracks[track].first_block + index)
    }

    /// How many of the `left` blocks from `block` on lie together: up to the next remapped block.
    pub fn together(&self, block: u64, left: u32) -> u32 {
        if self.remaps.is_empty() {
            return left;
        }
        let after = self.remaps.partition_point(|(moved, _)| *moved <= block);
        match self.remaps.get(after) {
            Some((next, _)) => left.min((next - block).min(u64::from(u32::MAX)) as u32),
            None => left,
        }
    }

    /// The sector of the `index`-th block of a track.
    #[inline]
    pub fn slot(&self, track: usize, index: u32) -> u32 {
        let about = &self.tracks[track];
        let mut slot = about.first_slot + index;
        if about.slipped {
            let first = self.slips.partition_point(|s| s.0 < track as u32);
            for slip in self.slips[first..].iter().take_while(|s| s.0 == track as u32) {
                if slip.1 <= slot {
                    slot += 1;
                }
            }
        }
        slot
    }

    /// The sector after `count` blocks that begin at sector `slot`.
    #[inline]
    pub fn slot_after(&self, track: usize, slot: u32, count: u32) -> u32 {
        let mut end = slot + count;
        if self.tracks[track].slipped {
            let first = self.slips.partition_point(|s| *s <= (track as u32, slot));
            for slip in self.slips[first..].iter().take_while(|s| s.0 == track as u32) {
                if slip.1 < end {
                    end += 1;
                }
            }
        }
        end
    }

    /// The angle at which a sector begins, as rotation time.
    #[inline]
    pub fn angle_ns(&self, track: usize, slot: u32) -> u64 {
        let about = &self.tracks[track];
        let angle = u64::from(about.angle_ns) + self.span_ns(track, slot);
        if angle >= self.rotation_ns { angle - self.rotation_ns } else { angle }
    }

    /// The time in which `sectors` sectors of a track pass under the head.
    #[inline]
    pub fn span_ns(&self, track: usize, sectors: u32) -> u64 {
        (u64::from(sectors) * self.pitches[usize::from(self.tracks[track].zone)].sector) >> FRACTION
    }
}

#[cfg(test)]
mod tests;
