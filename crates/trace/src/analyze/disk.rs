//! What is learned of each disk by itself, however many there are.

use super::address_map::Addresses;
use super::counted::Counted;
use super::distance::Distance;
use super::names::disk_name;
use super::queue_length::{QueueLength, Unseen};
use super::write_groups::WriteGroups;
use ioscape_schema::trace_summary::{AddressMap, DiskSummary};
use ioscape_schema::{Io, TraceInfo};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Requests of a disk that are kept as they are; the analyses, which take 10 to 200 KB, begin with one more.
const FEW: usize = 32;

/// One disk: a trace may have tens of thousands, most of them nearly idle.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Disk {
    head_most: usize,
    /// First and last arrival.
    arrivals_ns: Option<[u64; 2]>,
    few: Vec<Io>,
    full: Option<Box<FullDisk>>,
}

impl Disk {
    /// Nothing seen yet; `head_most` arrivals are kept for a merge.
    pub fn new(head_most: usize) -> Self {
        Self { head_most, arrivals_ns: None, few: Vec::new(), full: None }
    }

    /// Takes in the next request of the disk.
    #[inline]
    pub fn update(&mut self, io: &Io) {
        self.arrivals_ns.get_or_insert([io.queued_ns; 2])[1] = io.queued_ns;
        match &mut self.full {
            Some(full) => full.update(io),
            None if self.few.len() < FEW => self.few.push(*io),
            None => self.grown().update(io),
        }
    }

    /// The analyses, begun with what was kept.
    fn grown(&mut self) -> &mut FullDisk {
        let few = std::mem::take(&mut self.few);
        let begun = || Box::new(begun(self.head_most, &few));
        self.full.get_or_insert_with(begun)
    }

    /// Adds the later part.
    pub fn merge(&mut self, later: Self) {
        if let Some([first, last]) = later.arrivals_ns {
            self.arrivals_ns.get_or_insert([first; 2])[1] = last;
        }
        match later.full {
            Some(theirs) => self.grown().merge(*theirs),
            None => later.few.iter().for_each(|io| self.update(io)),
        }
    }

    /// All that was learned.
    pub fn full(&self) -> Cow<'_, FullDisk> {
        match &self.full {
            Some(full) => Cow::Borrowed(full),
            None => Cow::Owned(begun(self.head_most, &self.few)),
        }
    }

    /// Number of its requests.
    pub fn ios(&self) -> u64 {
        self.full.as_ref().map_or(self.few.len() as u64, |full| full.load.ios)
    }

    /// First and last arrival, once there is one.
    pub fn arrivals_ns(&self) -> Option<[u64; 2]> {
        self.arrivals_ns
    }

    /// Its distances.
    pub fn distance(&self) -> Cow<'_, Distance> {
        match self.full() {
            Cow::Borrowed(full) => Cow::Borrowed(&full.distance),
            Cow::Owned(full) => Cow::Owned(full.distance),
        }
    }

    /// What its queue lengths miss because parts met in a long backlog.
    pub fn unseen(&self) -> Unseen {
        self.full.as_ref().map_or_else(Unseen::default, |full| full.queue.unseen())
    }
}

fn begun(head_most: usize, few: &[Io]) -> FullDisk {
    let mut full = FullDisk::new(head_most);
    few.iter().for_each(|io| full.update(io));
    full
}

/// The analyses that follow one disk's requests.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FullDisk {
    load: Counted,
    queue: QueueLength,
    distance: Distance,
    groups: WriteGroups,
    addresses: Addresses,
}

impl FullDisk {
    /// Nothing seen yet.
    fn new(head_most: usize) -> Self {
        Self {
            load: Counted::default(),
            queue: QueueLength::new(head_most),
            distance: Distance::default(),
            groups: WriteGroups::default(),
            addresses: Addresses::default(),
        }
    }

    /// Takes in the next request of the disk.
    #[inline]
    fn update(&mut self, io: &Io) {
        self.load.count(io);
        self.queue.update(io);
        self.distance.update(io);
        self.groups.update(io);
        self.addresses.update(io);
    }

    /// Adds the later part.
    fn merge(&mut self, later: Self) {
        self.load.add(&later.load);
        self.queue.merge(later.queue);
        self.distance.merge(later.distance);
        self.groups.merge(later.groups);
        self.addresses.merge(later.addresses);
    }

    /// The disk's summary.
    pub fn finish(&self, device: u16, info: &TraceInfo, interleave: Option<u64>) -> DiskSummary {
        let mut summary = DiskSummary {
            device,
            name: disk_name(info, device),
            load: self.load.load(),
            distances: self.distance.finish(),
            sequential: Some(self.distance.sequential(interleave)),
            ..DiskSummary::default()
        };
        self.queue.finish(&mut summary);
        self.groups.finish(&mut summary);
        summary
    }

    /// Where its load went over time, from `origin_ns` on.
    pub fn address_map(&self, device: u16, origin_ns: u64) -> AddressMap {
        self.addresses.finish(device, origin_ns)
    }
}
