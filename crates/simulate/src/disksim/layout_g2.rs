//! DiskSim's layout G2 as runs of tracks. A map file, written by an extraction program, gives the
//! places, one per line (`lbn 0 --> cyl 0, head 0, sect 4, seqcnt 107`); its zones give the width
//! of sectors and the skews of tracks.

use super::found::Found;
use super::layout_g4::whole;
use super::parse::{Block, Value};
use crate::layout::{Remap, TrackRun};

/// Consecutive blocks on a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    block: u64,
    count: u64,
    cylinder: u32,
    head: u16,
    sector: u32,
}

impl Extent {
    fn track(&self) -> (u32, u16) {
        (self.cylinder, self.head)
    }
}

/// A zone: its cylinders, the sectors per track, and angles in rotations.
struct Zone {
    first: u32,
    last: u32,
    sectors: u32,
    /// Angle of sector 0 of the first track.
    angle: f64,
    /// Skews from each track to the next, by head and by cylinder.
    skews: [f64; 2],
}

const CYLINDERS: [i64; 2] = [0, 1 << 31];
const SECTORS: [i64; 2] = [1, 1 << 24];

/// The name of the map file of a block `dm_layout_g2`.
pub fn map_file(block: &Block) -> Option<&str> {
    match block.get("Layout Map File") {
        Some(Value::Word(name) | Value::Source(name)) => Some(name.trim_matches('"')),
        _ => None,
    }
}

/// Returns the runs of tracks of a block `dm_layout_g2` with this map.
pub fn layout(block: &Block, map: &str) -> Result<Found, String> {
    let Some(Value::List(all)) = block.get("Zones") else { return Err("no Zones".to_owned()) };
    let zones = all.iter().enumerate().map(|(at, one)| {
        let zone = if let Value::Block(block) = one { zone(block) } else { Err("no zone".into()) };
        zone.map_err(|why| format!("zone {at} (from 0): {why}"))
    });
    let zones = zones.collect::<Result<Vec<Zone>, String>>()?;
    tracks(&zones, &extents(map)?)
}

/// Whether skews are in revolutions rather than sectors, which is the default.
pub(super) fn in_revolutions(unit: Option<&Value>) -> Result<bool, String> {
    match unit {
        Some(Value::Word(unit)) if unit == "revolutions" => Ok(true),
        Some(Value::Word(unit)) if unit == "sectors" => Ok(false),
        None => Ok(false),
        _ => Err("Skew units are neither sectors nor revolutions".to_owned()),
    }
}

fn zone(block: &Block) -> Result<Zone, String> {
    let number = |key: &str, bounds| {
        whole(block.get(key), key, bounds).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
    };
    let sectors = number("Blocks per track", SECTORS)?;
    let in_rotations = in_revolutions(block.get("Skew units"))?;
    let angle = |key: &str| {
        let value = block.number(key).unwrap_or(0.0);
        // DiskSim truncates to whole sectors.
        if in_rotations { value } else { libm::trunc(value) / f64::from(sectors) }
    };
    Ok(Zone {
        first: number("First cylinder number", CYLINDERS)?,
        last: number("Last cylinder number", CYLINDERS)?,
        sectors,
        angle: angle("Zone Skew"),
        skews: [angle("Skew for track switch"), angle("Skew for cylinder switch")],
    })
}

/// The extents of a map: they follow two lines and one with its size, and end at the first other
/// line.
fn extents(map: &str) -> Result<Vec<Extent>, String> {
    let mut found = Vec::new();
    let mut next = 0;
    for (number, line) in map.lines().enumerate().skip(3) {
        if !line.trim_start().starts_with("lbn ") {
            break;
        }
        let named = |why: &str| format!("Layout Map File, line {}: {why}", number + 1);
        let extent = extent(line)
            .ok_or_else(|| named("it is not lbn N --> cyl N, head N, sect N, seqcnt N"))?;
        if extent.block != next || extent.count == 0 {
            return Err(named(&format!(
                "it begins at block {}, where {next} is next",
                extent.block
            )));
        }
        next = extent.block + extent.count;
        found.push(extent);
    }
    if found.is_empty() {
        return Err(
            "Layout Map File: its fourth line is no lbn N --> cyl N, head N, sect N, seqcnt N"
                .to_owned(),
        );
    }
    Ok(found)
}

fn extent(line: &str) -> Option<Extent> {
    let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let ["lbn", block, "-->", "cyl", cylinder, "head", head, "sect", sector, what, count] =
        words.as_slice()
    else {
        return None;
    };
    // `seqcnt` is the number of blocks that follow the first; `len` is the number of all.
    let more = u64::from(*what == "seqcnt");
    let count = count.parse::<u32>().ok()?;
    Some(Extent {
        block: block.parse::<u32>().ok()?.into(),
        count: u64::from(count) + more,
        cylinder: cylinder.parse().ok()?,
        head: head.parse().ok()?,
        sector: sector.parse().ok()?,
    })
}

/// The track being filled.
struct Open {
    run: TrackRun,
    /// Sector behind the last place.
    next: u32,
}

/// Returns runs of one track each. Blocks that lie elsewhere, between two stretches of a track,
/// were remapped from the sectors between them.
fn tracks(zones: &[Zone], extents: &[Extent]) -> Result<Found, String> {
    let (mut found, mut open) = (Found::default(), None::<Open>);
    let mut places = 0;
    let (mut skew, mut in_zone) = (0.0, None);
    for (at, extent) in extents.iter().enumerate() {
        let home = open.as_ref().map(|open| (open.run.cylinder, open.run.head));
        if let Some(open) = open.as_mut().filter(|_| home == Some(extent.track()))
            && extent.sector >= open.next
        {
            let gap = extent.sector - open.next;
            if gap > 0 {
                found.slipped_places.push([places, gap.into()]);
            }
            places += u64::from(gap) + extent.count;
            open.next = extent.sector + extent.count as u32;
            continue;
        }
        let returns = extents.get(at + 1).filter(|then| Some(then.track()) == home);
        if let (Some(open), Some(then)) = (open.as_mut(), returns)
            && u64::from(then.sector) >= u64::from(open.next) + extent.count
        {
            found.remaps.extend((0..extent.count).map(|nth| Remap {
                block: extent.block + nth,
                cylinder: extent.cylinder,
                head: extent.head,
                sector: extent.sector + nth as u32,
            }));
            places += extent.count;
            open.next += extent.count as u32;
            continue;
        }
        close(&mut found, open.take());
        let number = zones.iter().position(|z| (z.first..=z.last).contains(&extent.cylinder));
        let number = number.ok_or_else(|| format!("no zone has cylinder {}", extent.cylinder))?;
        let zone = &zones[number];
        skew = match home {
            // These blocks continue before the first of their track, so the skew stays the same.
            Some(home) if home == extent.track() => skew,
            Some(home) if in_zone == Some(number) => {
                skew + zone.skews[usize::from(home.0 != extent.cylinder)]
            }
            _ => zone.angle,
        };
        in_zone = Some(number);
        let first = f64::from(extent.sector) / f64::from(zone.sectors);
        let angle = skew + first;
        let run = TrackRun {
            cylinder: extent.cylinder,
            cylinder_step: 0,
            head: extent.head,
            tracks: 1,
            sectors_per_track: zone.sectors,
            first_sector: extent.sector,
            blocks_per_track: 0,
            angle: angle - libm::floor(angle),
            angle_step: 0.0,
        };
        open = Some(Open { run, next: extent.sector + extent.count as u32 });
        places += extent.count;
    }
    close(&mut found, open);
    Ok(found)
}

fn close(found: &mut Found, open: Option<Open>) {
    found.runs.extend(open.map(|open| {
        let blocks_per_track = open.next - open.run.first_sector;
        TrackRun { blocks_per_track, ..open.run }
    }));
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;
    use crate::layout::{Layout, Plan};

    /// Two heads on four cylinders, in two zones of 10 and 8 sectors per track. The last sector of
    /// each track is its spare. Sector 3 of the second track is slipped, and sector 4 of the third
    /// track is remapped to the spare of the second.
    const MAP: &str = "Vendor: V\nModel: M\n4 cylinders, 10000 rot, 2 heads
lbn 0 --> cyl 0, head 0, sect 0, seqcnt 8
lbn 9 --> cyl 0, head 1, sect 0, seqcnt 2
lbn 12 --> cyl 0, head 1, sect 4, seqcnt 4
lbn 17 --> cyl 1, head 1, sect 0, seqcnt 3
lbn 21 --> cyl 0, head 1, sect 9, len 1
lbn 22 --> cyl 1, head 1, sect 5, seqcnt 3
lbn 26 --> cyl 1, head 0, sect 0, seqcnt 8
lbn 35 --> cyl 2, head 0, sect 1, seqcnt 6
lbn 42 --> cyl 3, head 0, sect 1, seqcnt 6
Defect at cyl 0, head 1, sect 3\n";
    const BLOCK: &str = "dm_layout_g2 { Layout Map File = a.map, Zones = [
        dm_layout_g2_zone { First cylinder number = 0, Last cylinder number = 1, First LBN = 0, Last LBN = 34,
            Blocks per track = 10, Zone Skew = 1, Skew for track switch = 2, Skew for cylinder switch = 3 },
        dm_layout_g2_zone { First cylinder number = 2, Last cylinder number = 3, First LBN = 35, Last LBN = 48,
            Blocks per track = 8, Skew units = revolutions, Zone Skew = 0.5, Skew for cylinder switch = 0.25 } ] }";

    fn found(map: &str) -> Result<Found, String> {
        layout(&parse(BLOCK, "g2").unwrap().blocks[0], map)
    }

    fn numbered(found: &Found) -> Layout {
        let plan = Plan {
            track_runs: &found.runs,
            slipped_places: &found.slipped_places,
            heads: 2,
            cylinders: 4,
            rotation_ns: 8_000_000,
            remaps: &found.remaps,
            ..Plan::default()
        };
        Layout::new(&plan).unwrap()
    }

    #[test]
    fn a_map_is_followed_block_by_block() {
        let layout = numbered(&found(MAP).unwrap());
        assert_eq!(layout.blocks(), 49);
        for extent in extents(MAP).unwrap() {
            for nth in 0..extent.count {
                let at = layout.locate(extent.block + nth);
                let on = layout.tracks()[at.track];
                let told = (on.cylinder, on.head, u64::from(at.slot));
                let known = (extent.cylinder, extent.head, u64::from(extent.sector) + nth);
                assert_eq!(told, known, "block {}", extent.block + nth);
            }
        }
        // In tenths and eighths of a rotation: a zone's skew, then those of head and cylinder, track by track.
        let angle = |block| {
            let at = layout.locate(block);
            layout.angle_ns(at.track, at.slot)
        };
        assert_eq!([0, 9, 17, 26].map(angle), [800_000, 2_400_000, 4_800_000, 6_400_000]);
        assert_eq!([35, 42].map(angle), [5_000_000, 7_000_000]);
    }

    #[test]
    fn a_track_whose_blocks_wrap_is_turned_once() {
        let block = "dm_layout_g2 { Layout Map File = a.map, Zones = [
            dm_layout_g2_zone { First cylinder number = 0, Last cylinder number = 1, Blocks per track = 100,
                Skew for track switch = 12, Skew for cylinder switch = 20 } ] }";
        let block = &parse(block, "g2").unwrap().blocks[0];
        let angles = |first: &str, blocks: [u64; 4]| {
            let map = format!(
                "V\nM\n2 cylinders, 10000 rot, 2 heads\n{first}
lbn 100 --> cyl 0, head 1, sect 0, seqcnt 99
lbn 200 --> cyl 1, head 1, sect 0, seqcnt 99\n"
            );
            let layout = numbered(&layout(block, &map).unwrap());
            blocks.map(|block| {
                let at = layout.locate(block);
                layout.angle_ns(at.track, at.slot)
            })
        };
        let whole = "lbn 0 --> cyl 0, head 0, sect 0, seqcnt 99";
        let wrapped = "lbn 0 --> cyl 0, head 0, sect 40, seqcnt 59
lbn 60 --> cyl 0, head 0, sect 0, seqcnt 39";
        // Sectors take 80,000 ns: the last sector of the track, its first, and the first of the
        // next two tracks.
        let known = [7_920_000, 0, 960_000, 2_560_000];
        assert_eq!(angles(wrapped, [59, 60, 100, 200]), known);
        assert_eq!(angles(whole, [99, 0, 100, 200]), known);
    }

    #[test]
    fn what_a_map_cannot_be_is_refused_with_its_line() {
        for (from, to, words) in [
            ("lbn 12 -->", "lbn 13 -->", "line 6: it begins at block 13, where 12 is next"),
            ("sect 5, seqcnt 3", "sect 5 seqcnt", "line 9: it is not lbn N"),
            ("cyl 3, head 0", "cyl 7, head 0", "no zone has cylinder 7"),
            ("lbn 0 -->", "LBN 0 -->", "fourth line"),
        ] {
            let error = found(&MAP.replacen(from, to, 1)).map(|_| ()).unwrap_err();
            assert!(error.contains(words), "{to}: {error}");
        }
    }
}
