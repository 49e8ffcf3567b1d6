//! Systems with a cache of known size that is easily overlooked: storage hardly slower than memory, a limit on dirty pages alone, a cache
//! inside the disk, and a file system whose pages are dropped at every open.

use super::{Checks, slow_disk};
use crate::check::{Check, bytes_near, evaluation, nearest_border, value};
use crate::disk::Parameters;
use crate::lab::Lab;
use crate::lab::storage::FileSystem;
use ioscape_schema::{Document, Evaluation};

const MIB: f64 = 1_048_576.0;

/// Storage three to five times slower than memory: the fall at the cache's border is shallow.
pub fn fast_storage(lab: &Lab) -> Checks {
    let mut up = lab.up();
    let device = up.fast_device("fs", 3072)?;
    up.file_system("fs", FileSystem::Ext4, &device)?;
    let document = lab.evaluate("mnt/fs", "--memory 300M --max-unique-bytes 1200M --budget 2m")?;
    read_cache(&document, 300.0)
}

/// Writers wait from halfway between the background limit and the limit of dirty bytes on, here at 48 of 64 MiB, long before memory is full
/// (the kernel's `balance_dirty_pages`, with the device's limit kept strictly).
pub fn dirty_limit(lab: &Lab) -> Checks {
    let mut up = lab.up();
    let (_, device) = up.disk_with("dl", FileSystem::Ext4, &slow_disk(1024.0))?;
    up.dirty_limit(&device, 64 << 20)?;
    let document = lab.evaluate("mnt/dl", "--memory 200M --max-unique-bytes 400M --budget 3m")?;
    let found = evaluation(&document)?;
    Ok(vec![
        border(found, 48.0),
        bytes_near(
            "write-cache size",
            48.0 * MIB,
            value(found.findings.write_cache_bytes.as_ref()),
            0.20,
        ),
    ])
}

/// Direct I/O leaves out the file cache, and the disk has one of its own.
pub fn device_cache(lab: &Lab) -> Checks {
    let mut up = lab.up();
    let parameters = Parameters { cache_mib: 80.0, hit_us: 100.0, ..slow_disk(512.0) };
    up.disk("dc", &parameters)?;
    let document = lab.evaluate(
        "mnt/dc.disk/disk",
        "--direct --destroy-data --max-unique-bytes 400M --budget 3m",
    )?;
    Ok(vec![border(evaluation(&document)?, 80.0)])
}

/// Nothing that was cached before a file is opened is cached afterwards: every measurement begins without a cached page.
pub fn dropped_pages(lab: &Lab) -> Checks {
    let mut up = lab.up();
    up.disk("dp", &Parameters { keep_cache: 0.0, ..slow_disk(512.0) })?;
    let document = lab.evaluate(
        "mnt/dp.disk/disk",
        "--memory 96M --destroy-data --max-unique-bytes 384M --budget 6m",
    )?;
    read_cache(&document, 96.0)
}

fn read_cache(document: &Document, mib: f64) -> Checks {
    let found = evaluation(document)?;
    let size = value(found.findings.read_cache_bytes.as_ref());
    Ok(vec![border(found, mib), bytes_near("read-cache size", mib * MIB, size, 0.15)])
}

fn border(found: &Evaluation, mib: f64) -> Check {
    bytes_near("border", mib * MIB, nearest_border(found, mib * MIB), 0.20)
}
