//! Which partitions carry the load, and how much of it reads? (Table 3, Figure 5)

use super::accumulate::Accumulate;
use ioscape_schema::trace_summary::{Load, PartitionShare};
use ioscape_schema::{Io, Op, TraceInfo};
use std::collections::BTreeMap;

/// Adds one request to a load.
#[inline]
pub fn count(load: &mut Load, io: &Io) {
    let bytes = if io.moves_data() { u64::from(io.request.len) } else { 0 };
    load.ios += 1;
    match io.request.op {
        Op::Read => {
            load.reads += 1;
            load.read_bytes = load.read_bytes.saturating_add(bytes);
        }
        Op::Write => load.write_bytes = load.write_bytes.saturating_add(bytes),
    }
}

/// Adds one load to another.
pub fn add(load: &mut Load, other: &Load) {
    load.ios += other.ios;
    load.reads += other.reads;
    load.read_bytes = load.read_bytes.saturating_add(other.read_bytes);
    load.write_bytes = load.write_bytes.saturating_add(other.write_bytes);
}

/// Requests and bytes by device and partition.
#[derive(Clone, Debug, Default)]
pub struct Partitions {
    seen: BTreeMap<(u16, u16), Load>,
    /// The partition of the request before and its load, not yet in `seen`: requests come in runs of one partition.
    recent: ((u16, u16), Load),
}

impl Partitions {
    fn settle(&mut self) {
        if self.recent.1.ios > 0 {
            add(self.seen.entry(self.recent.0).or_default(), &self.recent.1);
            self.recent.1 = Load::default();
        }
    }
}

impl Accumulate for Partitions {
    #[inline]
    fn update(&mut self, io: &Io) {
        let key = (io.device, io.partition);
        if key != self.recent.0 {
            self.settle();
            self.recent.0 = key;
        }
        count(&mut self.recent.1, io);
    }

    fn merge(&mut self, mut later: Self) {
        self.settle();
        later.settle();
        for (key, load) in &later.seen {
            add(self.seen.entry(*key).or_default(), load);
        }
    }
}

impl Partitions {
    /// The rows of Table 3, in order of device and partition.
    pub fn finish(&self, info: &TraceInfo) -> Vec<PartitionShare> {
        let mut all = self.clone();
        all.settle();
        let row = |(&(device, partition), &load): (&(u16, u16), &Load)| {
            let known = info.devices.get(usize::from(device));
            let named = known.and_then(|d| d.partitions.iter().find(|p| p.number == partition));
            PartitionShare {
                device,
                disk: super::disk_name(info, device),
                partition,
                name: named.map_or_else(String::new, |p| p.name.clone()),
                load,
            }
        };
        all.seen.iter().map(row).collect()
    }
}
