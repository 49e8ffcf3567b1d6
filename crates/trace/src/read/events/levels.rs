//! Devices that send their requests on to others (LVM, LUKS, md), where these have rows again.

use super::event::device_name;
use crate::read::tables::Tables;
use ioscape_schema::TraceInfo;
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, HashSet};
use std::iter::successors;

/// The note of the devices whose requests have rows at a device below too: `253,0 on 8,0`, and so
/// on.
const NOTE: &str = "requests of two levels";
/// What is between the pairs of the note.
const AND: &str = "; ";
/// What is between the two of a pair.
const ON: &str = " on ";
/// The most levels below a device that are followed.
const LEVELS_MOST: usize = 8;

/// Which devices lie above others.
#[derive(Default)]
pub(super) struct Levels {
    /// Devices that send requests on, with the latest device that they sent one to.
    below: FxHashMap<u32, u32>,
    /// Those whose requests have rows at a device below too, with that device.
    doubled: BTreeSet<(u32, u32)>,
}

impl Levels {
    /// Remembers that device `from` sent a request on to device `to`.
    pub fn send_on(&mut self, from: u32, to: u32) {
        self.below.insert(from, to);
    }

    /// Notes, before `device` gets a row, if its requests have rows at devices below as well. All
    /// stay, since only the user knows which of them are meant.
    pub fn find_doubled(&mut self, device: u32, tables: &mut Tables) {
        let below = successors(self.below.get(&device), |one| self.below.get(one));
        for &below in below.take(LEVELS_MOST) {
            if tables.has_device(&below.to_le_bytes()) && self.doubled.insert((device, below)) {
                let note = tables.info.notes.entry(NOTE.to_owned()).or_default();
                let and = if note.is_empty() { "" } else { AND };
                *note += &[and, &device_name(device), ON, &device_name(below)].concat();
            }
        }
    }
}

/// Keeps in the note only pairs of `chosen` devices, since no others count twice among their rows.
pub(crate) fn keep_levels(info: &mut TraceInfo, chosen: &[u16]) {
    let Some(note) = info.notes.remove(NOTE) else { return };
    let chosen = chosen.iter().filter_map(|&index| info.devices.get(usize::from(index)));
    let names: HashSet<&str> = chosen.map(|device| device.name.as_str()).collect();
    let is_kept = |pair: &&str| pair.split(ON).all(|name| names.contains(name));
    let kept: Vec<&str> = note.split(AND).filter(is_kept).collect();
    if !kept.is_empty() {
        info.notes.insert(NOTE.to_owned(), kept.join(AND));
    }
}

/// Adds the pairs of another note, for the rows of more devices or of another part or file.
pub(crate) fn add_levels(info: &mut TraceInfo, other: &TraceInfo) {
    let mut seen = HashSet::new();
    let notes = [&*info, other].into_iter().filter_map(|one| one.notes.get(NOTE));
    let pairs = notes.flat_map(|note| note.split(AND)).filter(|pair| seen.insert(*pair));
    let pairs = pairs.collect::<Vec<_>>().join(AND);
    if !pairs.is_empty() {
        info.notes.insert(NOTE.to_owned(), pairs);
    }
}

/// Returns what is doubtful in a trace with this note.
pub(crate) fn doubt_of_levels(info: &TraceInfo) -> Option<String> {
    info.notes.get(NOTE).map(|pairs| {
        format!(
            "disks of the trace lie on others ({pairs}), where their requests count a second time unless --disk chooses disks of one level"
        )
    })
}
