//! What is learned of each disk by itself.

use super::address_map::Addresses;
use super::distance::Distance;
use super::partitions::{add, count};
use super::queue_length::QueueLength;
use super::write_groups::WriteGroups;
use super::{Options, disk_name};
use ioscape_schema::trace_summary::{AddressMap, DiskSummary, Load};
use ioscape_schema::{Io, TraceInfo};

/// The analyses that follow one disk's requests.
#[derive(Clone, Debug)]
pub struct Disk {
    load: Load,
    queue: QueueLength,
    distance: Distance,
    groups: WriteGroups,
    addresses: Addresses,
}

impl Disk {
    /// Nothing seen yet.
    pub fn new(options: &Options, head_most: usize) -> Self {
        Self {
            load: Load::default(),
            queue: QueueLength::new(options.origin_ns, head_most),
            distance: Distance::default(),
            groups: WriteGroups::default(),
            addresses: Addresses::new(options.origin_ns),
        }
    }

    /// Takes in the next request of the disk.
    #[inline]
    pub fn update(&mut self, io: &Io) {
        count(&mut self.load, io);
        self.queue.update(io);
        self.distance.update(io);
        self.groups.update(io);
        self.addresses.update(io);
    }

    /// Adds the later part.
    pub fn merge(&mut self, later: Self) {
        add(&mut self.load, &later.load);
        self.queue.merge(later.queue);
        self.distance.merge(later.distance);
        self.groups.merge(later.groups);
        self.addresses.merge(later.addresses);
    }

    /// Its distances.
    pub fn distance(&self) -> &Distance {
        &self.distance
    }

    /// Requests whose queue length may be too small because parts met in a long backlog.
    pub fn doubtful(&self) -> u64 {
        self.queue.doubtful()
    }

    /// The disk's summary.
    pub fn finish(&self, device: u16, info: &TraceInfo, interleave: Option<u64>) -> DiskSummary {
        let mut summary = DiskSummary {
            device,
            name: disk_name(info, device),
            load: self.load,
            distances: self.distance.finish(),
            sequential: self.distance.sequential(interleave),
            ..DiskSummary::default()
        };
        self.queue.finish(&mut summary);
        self.groups.finish(&mut summary);
        summary
    }

    /// Where its load went over time.
    pub fn address_map(&self, device: u16) -> AddressMap {
        self.addresses.finish(device)
    }
}
