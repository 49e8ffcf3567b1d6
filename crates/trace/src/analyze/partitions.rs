//! Which partitions carry the load, and how much of it reads? (Table 3, Figure 5)

use super::accumulate::Accumulate;
use super::names::disk_name;
use ioscape_schema::trace_summary::{Load, PartitionShare};
use ioscape_schema::{Io, Op, TraceInfo};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Adds one request to a load.
#[inline]
pub fn count(load: &mut Load, io: &Io) {
    // No branch on the operation: nobody can guess it.
    let bytes = if io.moves_data() { u64::from(io.request.len) } else { 0 };
    let read = u64::from(io.request.op == Op::Read);
    load.ios += 1;
    load.reads += read;
    load.read_bytes = load.read_bytes.saturating_add(bytes * read);
    load.write_bytes = load.write_bytes.saturating_add(bytes * (1 - read));
}

/// Adds one load to another.
pub fn add(load: &mut Load, other: &Load) {
    load.ios += other.ios;
    load.reads += other.reads;
    load.read_bytes = load.read_bytes.saturating_add(other.read_bytes);
    load.write_bytes = load.write_bytes.saturating_add(other.write_bytes);
}

/// Devices and partitions of small numbers, which have a place of their own.
const DEVICES: usize = 256;
const PARTITIONS: usize = 16;

/// Requests and bytes by device and partition.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Partitions {
    small: Vec<[Load; PARTITIONS]>,
    others: BTreeMap<(u16, u16), Load>,
}

impl Partitions {
    #[inline]
    fn at(&mut self, device: u16, partition: u16) -> &mut Load {
        let place = (usize::from(device), usize::from(partition));
        if place.0 >= DEVICES || place.1 >= PARTITIONS {
            return self.others.entry((device, partition)).or_default();
        }
        if place.0 >= self.small.len() {
            self.small.resize(place.0 + 1, Default::default());
        }
        &mut self.small[place.0][place.1]
    }

    /// Gives the devices other numbers: `numbers` by the present ones.
    pub fn renumber(&mut self, numbers: &[u16]) {
        let used = self.used();
        *self = Self::default();
        for ((device, partition), load) in used {
            let device = numbers.get(usize::from(device)).copied().unwrap_or(device);
            *self.at(device, partition) = load;
        }
    }

    /// All that were used, in order.
    fn used(&self) -> BTreeMap<(u16, u16), Load> {
        let mut used = self.others.clone();
        for (device, partitions) in (0u16..).zip(&self.small) {
            let of = (0u16..).zip(partitions).filter(|(_, load)| load.ios > 0);
            used.extend(of.map(|(partition, load)| ((device, partition), *load)));
        }
        used
    }
}

impl Accumulate for Partitions {
    #[inline]
    fn update(&mut self, io: &Io) {
        count(self.at(io.device, io.partition), io);
    }

    fn merge(&mut self, later: Self) {
        for ((device, partition), load) in later.used() {
            add(self.at(device, partition), &load);
        }
    }
}

impl Partitions {
    /// The rows of Table 3, in order of device and partition.
    pub fn finish(&self, info: &TraceInfo) -> Vec<PartitionShare> {
        let row = |(&(device, partition), &load): (&(u16, u16), &Load)| {
            let known = info.devices.get(usize::from(device));
            let named = known.and_then(|d| d.partitions.iter().find(|p| p.number == partition));
            PartitionShare {
                device,
                disk: disk_name(info, device),
                partition,
                name: named.map_or_else(String::new, |p| p.name.clone()),
                load,
            }
        };
        self.used().iter().map(row).collect()
    }
}
