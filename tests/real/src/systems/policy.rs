//! Systems with a known write policy and flush behaviour.

use super::{Checks, slow_disk};
use crate::check::{Check, at, between, ends, equal, evaluation, policy};
use crate::disk::Parameters;
use crate::lab::settings::Flush;
use crate::lab::storage::{Disk, FileSystem};
use crate::lab::{Lab, Up};
use ioscape_schema::{Region, Workload};

/// Size of the simulated disk in MiB.
const DISK_MIB: f64 = 64.0;
/// Options for a file of the simulated disk that fits into the machine's own file cache.
const IN_CACHE: &str = "--destroy-data --max-unique-bytes 32M --budget 2m";

fn fuse(lab: &Lab, write_back: f64) -> Result<(Up<'_>, Disk), String> {
    let mut up = lab.up();
    let parameters = Parameters { write_back, keep_cache: 1.0, ..slow_disk(DISK_MIB) };
    let disk = up.disk("wp", &parameters)?;
    Ok((up, disk))
}

/// FUSE without a write-back cache sends every write to its disk.
pub fn write_through(lab: &Lab) -> Checks {
    let (_up, _) = fuse(lab, 0.0)?;
    let document = lab.evaluate("mnt/wp.disk/disk", IN_CACHE)?;
    let found = evaluation(&document)?;
    let (first, _) = ends(found)?;
    let mut checks = vec![equal("write policy", "write-through", &policy(found))];
    checks.extend(law(first)?);
    Ok(checks)
}

/// Milliseconds that the disk needs for a write of the focal vector when `read_frac` of the
/// requests are reads from the cache: only a write that follows a write is sequential for the disk.
fn write_ms(focal: &Workload, read_frac: f64) -> f64 {
    let disk = slow_disk(DISK_MIB);
    // The mean square root of the distance between two places in an interval is 8/15 of the square root of its length.
    let share = focal.unique_bytes as f64 / disk.size_bytes() as f64;
    let seek_us =
        disk.seek_min_us + (disk.seek_max_us - disk.seek_min_us) * 8.0 / 15.0 * share.sqrt();
    let random = 1.0 - focal.seq_frac * (1.0 - read_frac);
    let transfer_us = focal.size_mean as f64 / disk.bandwidth_mb_s;
    (disk.overhead_us + random * (seek_us + disk.rotation_us) + transfer_us) / 1e3
}

/// Compares each mixed point of a write-through cache with T_disk / (1 - r), where T_disk is scaled
/// from the speed of pure writes.
fn law(region: &Region) -> Result<Vec<Check>, String> {
    let curve = &region.curves.read_frac;
    let pure = at(curve, 0.0).ok_or("no point of pure writes")?;
    let mixed = curve.iter().filter(|p| p.value > 0.0 && p.value < 1.0);
    Ok(mixed
        .map(|p| {
            let slower = write_ms(&region.focal, p.value) / write_ms(&region.focal, 0.0);
            let share = p.throughput() * (1.0 - p.value) * slower / pure;
            between(&format!("T (1-r) / T_disk at r = {:.2}", p.value), 0.85, 1.15, Some(share))
        })
        .collect())
}

/// FUSE with a write-back cache keeps writes in memory.
pub fn write_back(lab: &Lab) -> Checks {
    let (_up, _) = fuse(lab, 1.0)?;
    let document =
        lab.evaluate("mnt/wp.disk/disk", "--destroy-data --max-unique-bytes 16M --budget 60s")?;
    Ok(vec![equal("write policy", "write-cancelling", &policy(evaluation(&document)?))])
}

/// The HP/UX effect: a flusher that locks the pages it writes stalls the cache's writers.
pub fn flush(lab: &Lab) -> Checks {
    let mut checks = Vec::new();
    let intervals = [(Flush::EverySecond, "1s", 1.5, 1e6), (Flush::Never, "infinite", 0.9, 1.5)];
    for (flush, interval, low, high) in intervals {
        let mut up = lab.up();
        up.slow_file_system("fl", FileSystem::Btrfs, 3000, 10)?;
        up.flush(flush)?;
        let document = lab.evaluate("mnt/fl", "--max-unique-bytes 48M --budget 2m")?;
        let slowdown = evaluation(&document)?.findings.flush_slowdown.map(|f| f.value);
        checks.push(between(&format!("flush slowdown, interval {interval}"), low, high, slowdown));
    }
    Ok(checks)
}
