//! Which partitions carry the load, and how much of it is reads? (Table 3, Figure 5)

use super::accumulate::Accumulate;
use super::counted::Counted;
use super::names::disk_name;
use ioscape_schema::trace_summary::PartitionShare;
use ioscape_schema::{Io, TraceInfo};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Devices and partitions with numbers below this have a direct place.
const DEVICES: usize = 256;
const PARTITIONS: usize = 16;

/// Requests and bytes by device and partition.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Partitions {
    small: Vec<[Counted; PARTITIONS]>,
    others: BTreeMap<(u16, u16), Counted>,
}

impl Partitions {
    #[inline]
    fn at(&mut self, device: u16, partition: u16) -> &mut Counted {
        let place = (usize::from(device), usize::from(partition));
        if place.0 >= DEVICES || place.1 >= PARTITIONS {
            return self.others.entry((device, partition)).or_default();
        }
        if place.0 >= self.small.len() {
            self.small.resize(place.0 + 1, Default::default());
        }
        &mut self.small[place.0][place.1]
    }

    /// Renumbers the devices; `numbers` maps present numbers to new ones.
    pub fn renumber(&mut self, numbers: &[u16]) {
        let used = self.used();
        *self = Self::default();
        for ((device, partition), load) in used {
            let device = numbers.get(usize::from(device)).copied().unwrap_or(device);
            *self.at(device, partition) = load;
        }
    }

    /// All partitions with requests, in order.
    fn used(&self) -> BTreeMap<(u16, u16), Counted> {
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
        self.at(io.device, io.partition).count(io);
    }

    fn merge(&mut self, later: Self) {
        for ((device, partition), load) in later.used() {
            self.at(device, partition).add(&load);
        }
    }
}

impl Partitions {
    /// The rows of Table 3, ordered by device and partition.
    pub fn finish(&self, info: &TraceInfo) -> Vec<PartitionShare> {
        let row = |(&(device, partition), load): (&(u16, u16), &Counted)| {
            let known = info.devices.get(usize::from(device));
            let named = known.and_then(|d| d.partitions.iter().find(|p| p.number == partition));
            PartitionShare {
                device,
                disk: disk_name(info, device),
                partition,
                name: named.map_or_else(String::new, |p| p.name.clone()),
                load: load.load(),
            }
        };
        self.used().iter().map(row).collect()
    }
}
