//! The workloads to measure on a drive without moving parts: latency by request size, throughput by
//! queue depth, and writes.

use ioscape_schema::{Access, Engine, SizeDistribution, Workload};
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

const KIB: u64 = 1024;
/// Sizes of single requests, from the page size of most drives to sizes where only the transfer
/// rate matters.
const SIZES: [u64; 5] = [4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, 1024 * KIB];
/// Request sizes and queue depths of sequential workloads, whose requests may be merged on their
/// way.
const SEQUENTIAL: [(u64, u32); 2] = [(16 * KIB, 16), (64 * KIB, 8)];
/// Queue depths.
const DEPTHS: [u32; 6] = [2, 4, 8, 16, 32, 64];

/// Least and greatest mean request size of the workloads by which a twin is judged.
pub const UNSEEN_SIZES: [u64; 2] = [4 * KIB, 512 * KIB];
/// Greatest queue depth of the workloads by which a twin is judged.
pub const UNSEEN_DEPTH: u32 = 32;

/// The number of judging workloads that are measured twice: no twin predicts what the drive itself
/// does not repeat.
pub const REPEATED: usize = 10;

/// The workloads on a set of `unique_bytes` to which a twin is fitted; includes writes only if
/// `writes` is set.
pub fn probes(unique_bytes: u64, writes: bool) -> Vec<Workload> {
    let one = |size, depth, read_frac: f64| probe(unique_bytes, size, depth, read_frac);
    let mut probes: Vec<Workload> = SIZES.iter().map(|&size| one(size, 1, 1.0)).collect();
    probes.extend(DEPTHS.iter().map(|&depth| one(4 * KIB, depth, 1.0)));
    probes.extend([one(64 * KIB, 8, 1.0), one(256 * KIB, 16, 1.0), one(1024 * KIB, 8, 1.0)]);
    let sequential = |read_frac| {
        SEQUENTIAL.map(|(size, depth)| Workload { seq_frac: 1.0, ..one(size, depth, read_frac) })
    };
    probes.extend(sequential(1.0));
    if writes {
        probes.extend(sequential(0.0));
        probes.extend(SIZES.iter().map(|&size| one(size, 1, 0.0)));
        probes.extend([4, 16, 64].map(|depth| one(4 * KIB, depth, 0.0)));
        probes.extend([one(64 * KIB, 8, 0.0), one(1024 * KIB, 8, 0.0)]);
        // One at a time: the host serializes several, whatever the drive could do.
        let synchronous = SIZES.iter().map(|&size| one(size, 1, 0.0));
        probes.extend(synchronous.map(|w| Workload { access: Access::Dsync, ..w }));
        let mixed = [(4 * KIB, 1), (4 * KIB, 16), (64 * KIB, 8), (256 * KIB, 16)];
        probes.extend(mixed.map(|(size, depth)| one(size, depth, 0.5)));
    }
    probes
}

/// The workloads to measure at the beginning and again at the end, to detect a change of the drive:
/// small reads, large reads and large writes.
pub fn references(unique_bytes: u64) -> Vec<Workload> {
    let one = |size, depth, read_frac: f64| probe(unique_bytes, size, depth, read_frac);
    vec![one(4 * KIB, 1, 1.0), one(128 * KIB, 8, 1.0), one(128 * KIB, 8, 0.0)]
}

/// The order in which to measure `workloads` workloads. It is random, so that if the drive becomes
/// faster or slower meanwhile, this affects fitting and judging workloads alike on average.
pub fn order(workloads: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..workloads).collect();
    order.shuffle(&mut Pcg64Mcg::new(u128::from(seed) << 1 | 1));
    order
}

/// The seed of a workload's requests, derived from the run's `seed`. Each workload gets its own
/// offsets. With the same offsets in all, chance effects such as the distance an arm has to move
/// would be a common error, which more workloads would not average out.
pub fn seed_of(workload: &Workload, seed: u64) -> u64 {
    let Workload { unique_bytes, size_mean, read_frac, seq_frac, queue_depth, access, .. } =
        *workload;
    let own = [
        unique_bytes,
        size_mean,
        read_frac.to_bits(),
        seq_frac.to_bits(),
        u64::from(queue_depth),
        access as u64,
    ];
    // The generator's lowest bit is always set.
    let mixed = |seed, own| Pcg64Mcg::new(u128::from(seed) << 65 ^ u128::from(own) << 1).next_u64();
    own.into_iter().fold(mixed(0, seed), mixed)
}

/// The common base of all a twin's workloads: direct access, past the file cache.
pub fn base() -> Workload {
    Workload { access: Access::Direct, process_num: 1, ..Workload::default() }
}

/// Turns a workload of several processes into one process with as many requests in flight; without
/// `writes` it only reads.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_has_requests_of_its_own_and_always_the_same() {
        let seeds = |seed| -> Vec<u64> {
            probes(1 << 26, true).iter().map(|workload| seed_of(workload, seed)).collect()
        };
        let mut all = [seeds(1), seeds(2)].concat();
        assert_eq!(seeds(1), all[..all.len() / 2]);
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn every_workload_is_measured_once_in_an_order_of_the_seed() {
        for (workloads, seed) in [(0, 1), (1, 1), (81, 1), (81, 2)] {
            let mut found = order(workloads, seed);
            assert_eq!(found, order(workloads, seed));
            let half = found.iter().take(40).filter(|&&at| at < 40).count();
            assert!(workloads < 81 || (8..33).contains(&half), "mixed: {half} of 40");
            found.sort_unstable();
            assert!(found.into_iter().eq(0..workloads));
        }
        assert_ne!(order(81, 1), order(81, 2));
    }
}
