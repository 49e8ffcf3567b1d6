//! DiskSim's layouts: G1 as zones, with its sparing schemes, slips and mapping orders; G2 and G4 as runs of tracks.

use super::found::Found;
use super::parse::{Block, Value};
use super::{layout_g2, layout_g4};
use crate::layout::{TrackOrder, Zone};

/// Reads the layout of a block; `blocks` is the stated number of blocks of the drive, and `file`
/// returns the text of another file.
pub fn layout(
    block: &Block,
    heads: u16,
    blocks: Option<u64>,
    file: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Found, String> {
    let found = match block.kind.as_str() {
        "dm_layout_g1" => zoned(block, heads),
        "dm_layout_g2" => {
            let name = layout_g2::map_file(block).ok_or("Layout Map File is missing");
            name.map_err(str::to_owned)
                .and_then(file)
                .and_then(|map| layout_g2::layout(block, &map))
        }
        "dm_layout_g4" => layout_g4::layout(block, blocks),
        kind => Err(format!(
            "{kind} is no layout of DiskSim 4.0: dm_layout_g1, dm_layout_g2 and dm_layout_g4 are read"
        )),
    };
    found.map_err(|why| format!("Layout Model: {why}"))
}

fn whole(block: &Block, key: &str) -> Result<u64, String> {
    let number = block.number(key).ok_or_else(|| format!("{key:?} is missing"))?;
    if !(0.0..1e15).contains(&number) {
        return Err(format!("{key:?}: {number} is no count"));
    }
    Ok(libm::round(number) as u64)
}

fn numbers(block: &Block, key: &str) -> Result<Vec<u64>, String> {
    let Some(Value::List(all)) = block.get(key) else { return Ok(Vec::new()) };
    all.iter()
        .map(|value| match value {
            Value::Number(number) if *number >= 0.0 => Ok(*number as u64),
            other => Err(format!("{key:?}: {other:?} is no number of a sector")),
        })
        .collect()
}

/// The zones of a block `dm_layout_g1`, for a disk with `heads` heads.
fn zoned(block: &Block, heads: u16) -> Result<Found, String> {
    let order = match whole(block, "LBN-to-PBN mapping scheme")? {
        0 => TrackOrder::Rising,
        1 => TrackOrder::Serpentine,
        2 => TrackOrder::SerpentineByNumber,
        other => return Err(format!("mapping scheme {other} is not known")),
    };
    let scheme = whole(block, "Sparing scheme used")?;
    let range = whole(block, "Rangesize for sparing").unwrap_or(1);
    let Some(Value::List(all)) = block.get("Zones") else { return Err("no Zones".into()) };
    let (mut zones, mut defects) = (Vec::new(), Vec::new());
    for value in all {
        let Value::Block(zone) = value else {
            return Err("Zones holds something else than zones".into());
        };
        let unit = zone.get("Skew units").or_else(|| block.get("Skew units"));
        let skews = skews(zone, layout_g2::in_revolutions(unit)?)?;
        zones.push(self::zone(zone, heads, scheme, range, skews)?);
        let moved = numbers(zone, "defects")?;
        if moved.len() % 2 > 0 {
            return Err(format!("\"defects\": {} numbers are no pairs", moved.len()));
        }
        defects.push(moved.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect());
    }
    Ok(Found { zones, order, defects, ..Found::default() })
}

/// Keys of a zone's skews: at a switch of tracks, at a switch of cylinders, and of its first block.
pub const SKEWS: [&str; 3] =
    ["Skew for track switch", "Skew for cylinder switch", "Offset of first block"];

/// The skews of a zone in whole sectors; missing ones are 0.
fn skews(zone: &Block, in_revolutions: bool) -> Result<[u32; 3], String> {
    let sectors = whole(zone, "Blocks per track")? as f64;
    let mut found = [0; 3];
    for (skew, key) in found.iter_mut().zip(SKEWS) {
        let told = zone.number(key).unwrap_or(0.0);
        let inside = match in_revolutions {
            true => libm::round(told * sectors) % sectors.max(1.0),
            false => libm::trunc(told),
        };
        if !(0.0..=f64::from(u32::MAX)).contains(&inside) {
            return Err(format!("{key:?}: {told} is no count"));
        }
        *skew = inside as u32;
    }
    Ok(found)
}

/// Reads one zone. Spares by number of DiskSim's sparing scheme: 1 has tracks at the end of the
/// zone; 2 and 4 have sectors at the end of every cylinder, 5 and 6 at its front; 3 has sectors at
/// the end of every track, 8 of every range of cylinders, and 7, 9 and 10 of the zone. Slips use up
/// spares, except in 4, 6 and 10, where they shift all blocks behind them.
fn zone(
    block: &Block,
    heads: u16,
    scheme: u64,
    range: u64,
    [track_skew, cylinder_skew, offset]: [u32; 3],
) -> Result<Zone, String> {
    let narrow = |key: &str| {
        whole(block, key).and_then(|n| u32::try_from(n).map_err(|e| format!("{key:?}: {e}")))
    };
    let mut zone = Zone {
        first_cylinder: narrow("First cylinder number")?,
        last_cylinder: narrow("Last cylinder number")?,
        sectors_per_track: narrow("Blocks per track")?,
        track_skew,
        cylinder_skew,
        offset,
        unused_at_front: whole(block, "Empty space at zone front")?,
        ..Zone::default()
    };
    let spares = whole(block, "Number of spares")?;
    let mut slips = numbers(block, "slips")?;
    slips.sort_unstable();
    slips.dedup();
    let cylinders = u64::from(zone.last_cylinder.saturating_sub(zone.first_cylinder)) + 1;
    let all = cylinders * u64::from(heads) * u64::from(zone.sectors_per_track);
    let spare_sectors = u32::try_from(spares).map_err(|e| e.to_string())?;
    let mut at_end = 0;
    match scheme {
        0 => {}
        1 => {
            zone.slipped_tracks = slips.clone();
            at_end = spares * u64::from(zone.sectors_per_track);
        }
        2 | 4..=6 => {
            zone.spares_per_cylinder = spare_sectors;
            zone.spares_at_front = scheme > 4;
        }
        3 => zone.spares_per_track = spare_sectors,
        8 => {
            zone.spares_per_cylinder = spare_sectors;
            zone.cylinders_per_spares = u32::try_from(range).map_err(|e| e.to_string())?;
        }
        7 | 9 => at_end = spares,
        10 => at_end = spares + slips.len() as u64,
        other => {
            return Err(format!("Sparing scheme used = {other} is not one of DiskSim's (0 to 10)"));
        }
    }
    zone.slips_within_cylinder = matches!(scheme, 2 | 3 | 5 | 8);
    zone.pushed_tracks = pushed_tracks(&slips, scheme, heads, zone.sectors_per_track);
    zone.slips = match scheme {
        1 => Vec::new(),
        4 | 6 => without_spares(&slips, all / cylinders, spares, zone.spares_at_front),
        _ => slips,
    };
    if at_end > 0 {
        zone.blocks = Some(all.saturating_sub(zone.unused_at_front + at_end));
    }
    Ok(zone)
}

/// For each slip, the track from which on it turns the zone by a sector: the first of the next
/// cylinder, or the next track if tracks have their own spares. This follows DiskSim's source,
/// which counts slips among spares as well.
fn pushed_tracks(slips: &[u64], scheme: u64, heads: u16, sectors: u32) -> Vec<u64> {
    let tracks = match scheme {
        2 | 4..=6 => u64::from(heads),
        3 => 1,
        _ => return Vec::new(),
    };
    let behind = |slip: &u64| {
        let passed = slip.checked_div(tracks * u64::from(sectors))?;
        Some(passed.saturating_add(1).saturating_mul(tracks))
    };
    slips.iter().filter_map(behind).collect()
}

/// Slips counted without the spares at the end or front of every cylinder; slips among the spares
/// cost no block.
fn without_spares(slips: &[u64], sectors: u64, spares: u64, at_front: bool) -> Vec<u64> {
    let data = sectors.saturating_sub(spares);
    let first = if at_front { spares } else { 0 };
    let kept = slips.iter().filter_map(|slip| {
        let cylinder = slip.checked_div(sectors)?;
        let at = (slip % sectors).checked_sub(first)?;
        (at < data).then_some(cylinder * data + at)
    });
    kept.collect()
}
