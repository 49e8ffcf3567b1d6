//! Checks of zones and track runs before blocks are numbered.

use super::plan::{Plan, Zone};
use std::collections::BTreeSet;

/// Most tracks of a layout: bounds memory at ten times the tracks of the largest drives.
const TRACKS_MOST: u64 = 40_000_000;

/// Most zones; no known drive has a tenth as many.
const ZONES_MOST: usize = 4096;

/// Rejects impossible or overlapping zones; the error names the zone's number.
pub(super) fn check(plan: &Plan<'_>) -> Result<(), String> {
    if plan.heads == 0
        || plan.rotation_ns == 0
        || plan.zones.is_empty() == plan.track_runs.is_empty()
        || plan.rotation_ns > u64::from(u32::MAX)
    {
        return Err(
            "a disk needs heads, a rotation of under four seconds, and either zones or track_runs"
                .into(),
        );
    }
    if plan.track_runs.is_empty() && !plan.slipped_places.is_empty() {
        return Err("slipped_places are places of track_runs, and there are none".into());
    }
    let in_runs: u64 = plan.track_runs.iter().map(|run| u64::from(run.tracks)).sum();
    if in_runs.max(u64::from(plan.cylinders) * u64::from(plan.heads)) > TRACKS_MOST {
        return Err(format!("more than {TRACKS_MOST} tracks: is the number of cylinders right?"));
    }
    if plan.zones.len() > ZONES_MOST {
        return Err(format!("{} zones: at most {ZONES_MOST} are possible", plan.zones.len()));
    }
    let pitches: BTreeSet<u32> = plan.track_runs.iter().map(|run| run.sectors_per_track).collect();
    if pitches.len() > ZONES_MOST {
        return Err(format!(
            "{} numbers of sectors per track: at most {ZONES_MOST} are possible",
            pitches.len()
        ));
    }
    let mut seen: Vec<(u64, u64)> = Vec::new();
    for (number, zone) in plan.zones.iter().enumerate() {
        check_zone(zone, plan).map_err(|why| format!("zone {number} (from 0): {why}"))?;
        let last_head = zone.last_head.unwrap_or(plan.heads - 1);
        let key = |cylinder: u32, head: u16| u64::from(cylinder) << 16 | u64::from(head);
        let range = (key(zone.first_cylinder, zone.first_head), key(zone.last_cylinder, last_head));
        if seen.iter().any(|other| range.0 <= other.1 && other.0 <= range.1) {
            return Err(format!("zone {number} (from 0): it overlaps an earlier zone"));
        }
        seen.push(range);
    }
    Ok(())
}

fn check_zone(zone: &Zone, plan: &Plan<'_>) -> Result<(), String> {
    if zone.first_cylinder > zone.last_cylinder || zone.last_cylinder >= plan.cylinders {
        return Err(format!(
            "cylinders {} to {} of {}",
            zone.first_cylinder, zone.last_cylinder, plan.cylinders
        ));
    }
    if zone.sectors_per_track == 0 || zone.spares_per_track >= zone.sectors_per_track {
        return Err("no sectors are left for data".into());
    }
    let (track, cylinder, all) = (zone.track_skew, zone.cylinder_skew, zone.sectors_per_track);
    if track >= all || cylinder >= all {
        return Err(format!(
            "a skew of {} sectors is impossible on a track of {all}",
            track.max(cylinder)
        ));
    }
    if zone.offset >= all {
        return Err(format!("an offset of {} sectors on a track of {all}", zone.offset));
    }
    let last = zone.last_head.unwrap_or(0);
    if zone.first_head >= plan.heads
        || last >= plan.heads
        || zone.spare_tracks_per_cylinder >= plan.heads
    {
        return Err(format!("it names a head that a disk of {} heads does not have", plan.heads));
    }
    if [&zone.slips, &zone.slipped_tracks].iter().any(|s| s.windows(2).any(|w| w[0] >= w[1])) {
        return Err("the slips must rise".into());
    }
    if !zone.pushed_tracks.is_sorted() {
        return Err("pushed_tracks must not fall".into());
    }
    Ok(())
}
