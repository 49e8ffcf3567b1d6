//! What is measured of a drive without moving parts: latencies by size, throughput by how much is in flight, and writes.

use ioscape_schema::{Access, Engine, SizeDistribution, Workload};

const KIB: u64 = 1024;
/// Sizes of single requests, from the page of most drives up to where only the rate counts.
const SIZES: [u64; 5] = [4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, 1024 * KIB];
/// Requests in flight.
const DEPTHS: [u32; 6] = [2, 4, 8, 16, 32, 64];

/// Mean sizes, and most requests in flight, of the workloads that a twin is judged by.
pub const UNSEEN_SIZES: [u64; 2] = [4 * KIB, 512 * KIB];
/// See [`UNSEEN_SIZES`].
pub const UNSEEN_DEPTH: u32 = 32;

/// The workloads on a set of `unique_bytes` that a twin is fitted to; those that write only if `writes`.
pub fn probes(unique_bytes: u64, writes: bool) -> Vec<Workload> {
    let one = |size, depth, read_frac: f64| probe(unique_bytes, size, depth, read_frac);
    let mut probes: Vec<Workload> = SIZES.iter().map(|&size| one(size, 1, 1.0)).collect();
    probes.extend(DEPTHS.iter().map(|&depth| one(4 * KIB, depth, 1.0)));
    probes.extend([one(64 * KIB, 8, 1.0), one(256 * KIB, 16, 1.0), one(1024 * KIB, 8, 1.0)]);
    if writes {
        probes.extend(SIZES.iter().map(|&size| one(size, 1, 0.0)));
        probes.extend([4, 16, 64].map(|depth| one(4 * KIB, depth, 0.0)));
        probes.extend([one(64 * KIB, 8, 0.0), one(1024 * KIB, 8, 0.0)]);
        let synchronous = SIZES[..4].iter().map(|&size| one(size, 1, 0.0));
        let synchronous = synchronous.chain([one(4 * KIB, 16, 0.0)]);
        probes.extend(synchronous.map(|w| Workload { access: Access::Dsync, ..w }));
        probes.extend([1, 16].map(|depth| one(4 * KIB, depth, 0.5)));
    }
    probes
}

/// What is common to all workloads of a twin: past the file cache.
pub fn base() -> Workload {
    Workload { access: Access::Direct, process_num: 1, ..Workload::default() }
}

/// A workload of several processes as one process with as many requests in flight; without `writes` it only reads.
pub fn in_flight(workload: Workload, writes: bool) -> Workload {
    let queue_depth = workload.process_num;
    Workload {
        process_num: 1,
        queue_depth,
        engine: engine(queue_depth),
        read_frac: if writes { workload.read_frac } else { 1.0 },
        ..workload
    }
}

fn engine(depth: u32) -> Engine {
    if depth > 1 { Engine::IoUring } else { Engine::Psync }
}

fn probe(unique_bytes: u64, size: u64, depth: u32, read_frac: f64) -> Workload {
    Workload {
        unique_bytes,
        size_mean: size.min(unique_bytes),
        size_distribution: SizeDistribution::Fixed,
        read_frac,
        seq_frac: 0.0,
        queue_depth: depth,
        engine: engine(depth),
        ..base()
    }
}
