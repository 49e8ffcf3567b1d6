//! All disks of a trace, each analyzed separately.

use super::disk::{Disk, FullDisk};
use super::distance::Distance;
use ioscape_schema::Io;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

/// Fewest requests between two checks of the memory.
const LOOK: usize = 1 << 12;
/// And at least this many requests for each disk that is checked.
const LOOK_EACH: usize = 16;

/// Requests that are taken in disk by disk, and the most disks by which they are sorted.
const TOGETHER: usize = 1 << 10;
const MOST_SORTED: usize = 64;

/// Requests between two checks of the memory of so many disks.
fn look_after(disks: usize) -> usize {
    LOOK.max(disks * LOOK_EACH)
}

/// Disks by number. When memory runs out, those with the fewest requests are only
/// [counted](Disk::give_up) from then on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Disks {
    head_most: usize,
    most_bytes: usize,
    all: Vec<Option<Disk>>,
    /// Distances of the disks that are only counted.
    distances: Distance,
    /// The memory that the disks take, as far as known, and the requests since the last check.
    #[serde(skip)]
    bytes: usize,
    #[serde(skip)]
    since: usize,
    /// Requests by disk, while they are taken in.
    #[serde(skip)]
    sorted: Vec<Io>,
}

impl Disks {
    /// Starts with no disks and a limit of about `most_bytes`; keeps `head_most` arrivals of each
    /// disk for a merge.
    pub fn new(head_most: usize, most_bytes: usize) -> Self {
        let (all, distances, sorted) = Default::default();
        Self { head_most, most_bytes, all, distances, bytes: 0, since: 0, sorted }
    }

    /// Takes in the next request.
    #[inline]
    pub fn update(&mut self, io: &Io) {
        let index = self.place(io.device);
        let new = || Disk::new(self.head_most);
        let disk = self.all[index].get_or_insert_with(new);
        self.bytes += disk.update(io, &mut self.distances);
        self.since += 1;
        if self.since >= look_after(self.all.len()) || self.bytes > self.most_bytes {
            self.look();
        }
    }

    /// Takes in the next requests.
    pub fn update_all(&mut self, ios: &[Io]) {
        if self.all.len() > MOST_SORTED {
            ios.iter().for_each(|io| self.update(io));
            return;
        }
        for ios in ios.chunks(TOGETHER) {
            if !self.by_disk(ios) {
                ios.iter().for_each(|io| self.update(io));
            }
        }
    }

    /// Takes in requests disk by disk, so that the counters of one disk stay in the processor's
    /// first-level cache. The result is the same only if no disk is certain to take more memory and
    /// none is given up meanwhile; otherwise it does nothing and returns `false`.
    fn by_disk(&mut self, ios: &[Io]) -> bool {
        let left = look_after(self.all.len()).saturating_sub(self.since);
        if ios.len() > left || self.bytes > self.most_bytes {
            return false;
        }
        let Some(ranges) = by_device(ios, self.all.len()) else { return false };
        let is_settled = |disk: &Option<Disk>| disk.as_ref().is_some_and(Disk::is_settled);
        if self.all.iter().zip(&ranges).any(|(disk, of)| !of.is_empty() && !is_settled(disk)) {
            return false;
        }
        sort(ios, &ranges, &mut self.sorted);
        for (disk, of) in self.all.iter_mut().zip(ranges) {
            if let Some(disk) = disk {
                disk.update_all(&self.sorted[of], &mut self.distances);
            }
        }
        self.since += ios.len();
        if ios.len() == left {
            self.look();
        }
        true
    }

    #[inline]
    fn place(&mut self, device: u16) -> usize {
        let index = usize::from(device);
        if index >= self.all.len() {
            self.all.resize_with(index + 1, || None);
        }
        index
    }

    /// Gives up disks if they take too much memory.
    #[inline(never)]
    fn look(&mut self) {
        self.since = 0;
        self.bytes = self.iter().map(|(_, disk)| disk.bytes()).sum();
        while self.bytes > self.most_bytes {
            self.give_up_half();
        }
    }

    /// Gives up the disks that take half of the memory by themselves, or else the less busy half.
    fn give_up_half(&mut self) {
        let mut rest: Vec<&mut Disk> =
            self.all.iter_mut().flatten().filter(|disk| !disk.is_given_up()).collect();
        let most = self.most_bytes / 2;
        if rest.iter().any(|disk| disk.bytes() > most) {
            rest.retain(|disk| disk.bytes() > most);
        } else {
            // A stable sort: among equally busy disks, the later numbers go.
            rest.sort_by_key(|disk| Reverse(disk.ios()));
            rest.drain(..rest.len() / 2);
        }
        for disk in rest {
            self.bytes = self.bytes.saturating_sub(disk.bytes());
            disk.give_up(&mut self.distances);
        }
    }

    /// Number of disks that are only counted.
    pub fn given_up(&self) -> u64 {
        self.iter().filter(|(_, disk)| disk.is_given_up()).count() as u64
    }

    /// Distances of all disks together.
    pub fn distance(&self) -> Distance {
        let mut all = Distance::default();
        all.add(&self.distances);
        let each = self.iter().filter_map(|(_, disk)| disk.distance());
        each.for_each(|distance| all.add(&distance));
        all
    }

    /// Renumbers the disks; `numbers` maps present numbers to new ones.
    pub fn renumber(&mut self, numbers: &[u16]) {
        for (disk, &number) in std::mem::take(&mut self.all).into_iter().zip(numbers) {
            let index = usize::from(number);
            if disk.is_some() {
                self.all.resize_with(self.all.len().max(index + 1), || None);
                self.all[index] = disk;
            }
        }
    }

    /// Adds the later part.
    pub fn merge(&mut self, later: Self) {
        self.distances.add(&later.distances);
        for (device, theirs) in later.all.into_iter().enumerate() {
            if let (Some(theirs), Ok(device)) = (theirs, u16::try_from(device)) {
                let index = self.place(device);
                let new = || Disk::new(self.head_most);
                let disk = self.all[index].get_or_insert_with(new);
                disk.merge(theirs, &mut self.distances);
            }
        }
        self.look();
    }

    /// The disks with requests, by number.
    pub fn iter(&self) -> impl Iterator<Item = (u16, &Disk)> {
        let each = (0u16..=u16::MAX).zip(&self.all);
        each.filter_map(|(number, disk)| Some((number, disk.as_ref()?)))
    }

    /// The `most` busiest disks, busiest first.
    pub fn busiest(&self, most: usize) -> Vec<(u16, Cow<'_, FullDisk>)> {
        let mut all: Vec<_> = self.iter().collect();
        all.sort_by_key(|(number, disk)| (Reverse(disk.ios()), *number));
        all.truncate(most);
        all.into_iter().map(|(number, disk)| (number, disk.full())).collect()
    }
}

/// Returns where each device's requests lie once they are sorted by device; `None` if a device's
/// number is not below `devices`, or if there are many devices.
fn by_device(ios: &[Io], devices: usize) -> Option<[Range<usize>; MOST_SORTED]> {
    let mut counts = [0; MOST_SORTED];
    for io in ios {
        let device = usize::from(io.device);
        *counts.get_mut(device).filter(|_| device < devices)? += 1;
    }
    let mut end = 0;
    Some(counts.map(|count| {
        end += count;
        end - count..end
    }))
}

/// Sorts requests by device and keeps the order within each device.
fn sort(ios: &[Io], ranges: &[Range<usize>; MOST_SORTED], sorted: &mut Vec<Io>) {
    sorted.resize(ios.len(), Io::default());
    let mut places = ranges.each_ref().map(|range| range.start);
    for io in ios {
        let place = &mut places[usize::from(io.device)];
        sorted[*place] = *io;
        *place += 1;
    }
}

#[cfg(test)]
#[path = "disks_tests.rs"]
mod tests;
