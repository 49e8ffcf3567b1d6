//! All disks of a trace, each by itself.

use super::disk::{Disk, FullDisk};
use ioscape_schema::Io;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::cmp::Reverse;

/// Disks by number.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Disks {
    head_most: usize,
    all: Vec<Option<Disk>>,
}

impl Disks {
    /// None seen yet; `head_most` arrivals of each are kept for a merge.
    pub fn new(head_most: usize) -> Self {
        Self { head_most, all: Vec::new() }
    }

    /// Takes in the next request.
    #[inline]
    pub fn update(&mut self, io: &Io) {
        self.at(io.device).update(io);
    }

    #[inline]
    fn at(&mut self, device: u16) -> &mut Disk {
        let index = usize::from(device);
        if index >= self.all.len() {
            self.all.resize_with(index + 1, || None);
        }
        let new = || Disk::new(self.head_most);
        self.all[index].get_or_insert_with(new)
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
        for (device, theirs) in later.all.into_iter().enumerate() {
            if let (Some(theirs), Ok(device)) = (theirs, u16::try_from(device)) {
                self.at(device).merge(theirs);
            }
        }
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
