//! Systems with an easily overlooked cache of known size: storage hardly slower than memory, a
//! limit on dirty pages alone, a cache inside the disk, a file system whose pages are dropped at
//! every open, and one without a cache.

use super::{Checks, slow_disk};
use crate::check::{
    Check, Truth, bounds, bytes_near, covers, equal, evaluation, nearest_border, no_other_border,
    policy, value,
};
use crate::disk::Parameters;
use crate::lab::Lab;
use crate::lab::storage::FileSystem;
use ioscape_schema::units::Bytes;
use ioscape_schema::{Border, BorderOperation, Document, Evaluation};

const MIB: f64 = 1_048_576.0;

/// Storage three to five times slower than memory: a shallow fall at the cache's border.
pub fn fast_storage(lab: &Lab) -> Checks {
    let mut up = lab.up();
    let device = up.fast_device("fs", 3072)?;
    up.file_system("fs", FileSystem::Ext4, &device)?;
    let document = lab.evaluate("mnt/fs", "--memory 300M --max-unique-bytes 1200M --budget 2m")?;
    read_cache(&document, 300.0)
}

/// Writers wait from halfway between the background limit and the limit of dirty bytes; with the
/// kernel's usual settings that is at 48 of 64 MiB, long before memory is full (the kernel's
/// `balance_dirty_pages`, with a strict device limit).
pub fn dirty_limit(lab: &Lab) -> Checks {
    let mut up = lab.up();
    let (_, device) = up.disk_with("dl", FileSystem::Ext4, &slow_disk(1024.0))?;
    let limit = up.dirty_limit(&device, 64 << 20)?;
    let before = limit.waits_from()?;
    let document = lab.evaluate("mnt/dl", "--memory 200M --max-unique-bytes 400M --budget 3m")?;
    let truth = Truth::moving([before, limit.waits_from()?]);
    let found = evaluation(&document)?;
    let size = found.findings.write_cache_bytes.as_ref();
    let all = [truth, Truth::of_group(200.0 * MIB)];
    Ok(vec![
        border(found, truth.bytes),
        bytes_near("write-cache size", truth.bytes, value(size), 0.20),
        covers("write-cache size", truth, bounds(size)),
        no_other_border(found, BorderOperation::Write, &all, 0.20),
        no_other_border(found, BorderOperation::Read, &all[1..], 0.20),
    ])
}

/// Direct I/O bypasses the file cache, and the disk has a cache of its own.
pub fn device_cache(lab: &Lab) -> Checks {
    let mut up = lab.up();
    let parameters = Parameters { cache_mib: 80.0, hit_us: 100.0, ..slow_disk(512.0) };
    up.disk("dc", &parameters)?;
    let document = lab.evaluate(
        "mnt/dc.disk/disk",
        "--direct --destroy-data --max-unique-bytes 400M --budget 3m",
    )?;
    let found = evaluation(&document)?;
    let truth = Truth::known(80.0 * MIB);
    // If the file cache takes no part, borders are reported, but no cache size.
    let reads = found.borders.iter().filter(|border| border.operation == BorderOperation::Read);
    let distance = |border: &&Border| (border.unique_bytes - truth.bytes).abs();
    let nearest = reads.min_by(|a, b| distance(a).total_cmp(&distance(b)));
    Ok(vec![
        border(found, truth.bytes),
        covers("border of reads", truth, nearest.map(|border| [border.low, border.high])),
        no_other_border(found, BorderOperation::Read, &[truth], 0.20),
    ])
}

/// Nothing cached before a file is opened stays cached afterwards: every measurement begins without
/// a cached page.
pub fn dropped_pages(lab: &Lab) -> Checks {
    let mut up = lab.up();
    up.disk("dp", &Parameters { keep_cache: 0.0, ..slow_disk(512.0) })?;
    let document = lab.evaluate(
        "mnt/dp.disk/disk",
        "--memory 96M --destroy-data --max-unique-bytes 384M --budget 6m",
    )?;
    read_cache(&document, 96.0)
}

/// The kernel caches nothing of a disk with a cache of its own, whose size and policy must not be
/// taken for the file cache's.
pub fn no_file_cache(lab: &Lab) -> Checks {
    let mut up = lab.up();
    let parameters =
        Parameters { cache_mib: 48.0, hit_us: 100.0, direct_io: 1.0, ..slow_disk(256.0) };
    up.disk("nf", &parameters)?;
    let document =
        lab.evaluate("mnt/nf.disk/disk", "--destroy-data --max-unique-bytes 192M --budget 2m")?;
    let found = evaluation(&document)?;
    let size = found.findings.read_cache_bytes;
    let told = size.map_or("none".to_owned(), |size| Bytes(size.value).to_string());
    Ok(vec![
        equal("file cache for reads", "none", &told),
        equal("write policy", "none", &policy(found)),
    ])
}

fn read_cache(document: &Document, mib: f64) -> Checks {
    let found = evaluation(document)?;
    let size = found.findings.read_cache_bytes.as_ref();
    let truth = Truth::of_group(mib * MIB);
    Ok(vec![
        border(found, mib * MIB),
        bytes_near("read-cache size", mib * MIB, value(size), 0.15),
        covers("read-cache size", truth, bounds(size)),
        no_other_border(found, BorderOperation::Read, &[truth], 0.20),
    ])
}

fn border(found: &Evaluation, bytes: f64) -> Check {
    bytes_near("border", bytes, nearest_border(found, bytes), 0.20)
}
