//! All disks of a trace, each by itself.

use super::disk::{Disk, FullDisk};
use super::distance::Distance;
use ioscape_schema::Io;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::cmp::Reverse;

/// Requests from one look at the memory to the next, at least.
const LOOK: usize = 1 << 12;
/// And at least so many for each disk that is looked at.
const LOOK_EACH: usize = 16;

/// Disks by number. At the bound of the memory those with the fewest requests go on as [counted](Disk::give_up) only.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Disks {
    head_most: usize,
    most_bytes: usize,
    all: Vec<Option<Disk>>,
    /// Distances of the disks that are only counted.
    distances: Distance,
    /// The memory that the disks take, as far as it was seen, and the requests since it was looked at.
    #[serde(skip)]
    bytes: usize,
    #[serde(skip)]
    since: usize,
}

impl Disks {
    /// None seen yet, in at most about so many bytes; `head_most` arrivals of each are kept for a merge.
    pub fn new(head_most: usize, most_bytes: usize) -> Self {
        let (all, distances) = Default::default();
        Self { head_most, most_bytes, all, distances, bytes: 0, since: 0 }
    }

    /// Takes in the next request.
    #[inline]
    pub fn update(&mut self, io: &Io) {
        let index = self.place(io.device);
        let new = || Disk::new(self.head_most);
        let disk = self.all[index].get_or_insert_with(new);
        self.bytes += disk.update(io, &mut self.distances);
        self.since += 1;
        if self.since >= LOOK.max(self.all.len() * LOOK_EACH) || self.bytes > self.most_bytes {
            self.look();
        }
    }

    #[inline]
    fn place(&mut self, device: u16) -> usize {
        let index = usize::from(device);
        if index >= self.all.len() {
            self.all.resize_with(index + 1, || None);
        }
        index
    }

    /// Gives up disks where they take too much memory.
    #[inline(never)]
    fn look(&mut self) {
        self.since = 0;
        self.bytes = self.iter().map(|(_, disk)| disk.bytes()).sum();
        while self.bytes > self.most_bytes {
            self.give_up_half();
        }
    }

    /// Gives up those that take half of the memory by themselves, or else the less busy half.
    fn give_up_half(&mut self) {
        let mut rest: Vec<&mut Disk> =
            self.all.iter_mut().flatten().filter(|disk| !disk.is_given_up()).collect();
        let most = self.most_bytes / 2;
        if rest.iter().any(|disk| disk.bytes() > most) {
            rest.retain(|disk| disk.bytes() > most);
        } else {
            // Stable, so that of equally busy ones the later numbers go.
            rest.sort_by_key(|disk| Reverse(disk.ios()));
            rest.drain(..rest.len() / 2);
        }
        for disk in rest {
            self.bytes = self.bytes.saturating_sub(disk.bytes());
            disk.give_up(&mut self.distances);
        }
    }

    /// How many are only counted.
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

    /// Gives the disks other numbers: `numbers` by the present ones.
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

    /// Those with requests, by number.
    pub fn iter(&self) -> impl Iterator<Item = (u16, &Disk)> {
        let each = (0u16..=u16::MAX).zip(&self.all);
        each.filter_map(|(number, disk)| Some((number, disk.as_ref()?)))
    }

    /// The `most` busiest, in that order.
    pub fn busiest(&self, most: usize) -> Vec<(u16, Cow<'_, FullDisk>)> {
        let mut all: Vec<_> = self.iter().collect();
        all.sort_by_key(|(number, disk)| (Reverse(disk.ios()), *number));
        all.truncate(most);
        all.into_iter().map(|(number, disk)| (number, disk.full())).collect()
    }
}

#[cfg(test)]
#[path = "disks_tests.rs"]
mod tests;
