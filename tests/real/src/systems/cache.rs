//! Systems with a file cache of known size.

use super::{Checks, slow_disk};
use crate::check::{
    Truth, between, bounds, bytes_near, covers, equal, evaluation, nearest_border, no_other_border,
    value,
};
use crate::lab::Lab;
use crate::lab::storage::FileSystem;
use ioscape_schema::BorderOperation;

const MIB: f64 = 1_048_576.0;

/// Memory is the file system: there is nothing slower behind it.
pub fn tmpfs(lab: &Lab) -> Checks {
    let mut up = lab.up();
    up.tmpfs("tm", 1024)?;
    let document = lab.evaluate("mnt/tm", "--budget 45s")?;
    let found = evaluation(&document)?;
    Ok(vec![equal("regions", "1", &found.regions.len().to_string())])
}

/// A page cache limited by a memory control group, on the machine's own file system.
fn limited(lab: &Lab, mib: u32, budget: &str) -> Checks {
    let document = lab.evaluate(
        "w",
        &format!("--memory {mib}M --max-unique-bytes {}M --budget {budget}", mib * 4),
    )?;
    let found = evaluation(&document)?;
    let size = found.findings.read_cache_bytes.as_ref();
    let limit = f64::from(mib) * MIB;
    let truth = Truth::of_group(limit);
    Ok(vec![
        bytes_near("effective read-cache size", limit, value(size), 0.15),
        covers("effective read-cache size", truth, bounds(size)),
        no_other_border(found, BorderOperation::Read, &[truth], 0.20),
        between("regions", 2.0, 3.0, Some(found.regions.len() as f64)),
    ])
}

pub fn limit_64(lab: &Lab) -> Checks {
    limited(lab, 64, "2m")
}

pub fn limit_512(lab: &Lab) -> Checks {
    limited(lab, 512, "3m")
}

/// Sprite's effect: fewer pages may be dirty than cached; with the kernel's usual settings 24 MiB,
/// where a device may have 32.
pub fn sprite(lab: &Lab) -> Checks {
    let mut up = lab.up();
    let (_, device) = up.disk_with("sp", FileSystem::Ext4, &slow_disk(1024.0))?;
    let limit = up.dirty_limit(&device, 32 << 20)?;
    let before = limit.waits_from()?;
    let document = lab.evaluate("mnt/sp", "--memory 128M --max-unique-bytes 300M --budget 5m")?;
    let writes = Truth::moving([before, limit.waits_from()?]);
    let (most, reads) = (128.0 * MIB, Truth::of_group(128.0 * MIB));
    let found = evaluation(&document)?;
    let told = &found.findings;
    let [read, write] = [told.read_cache_bytes.as_ref(), told.write_cache_bytes.as_ref()];
    let near = |what: &str, bytes: f64, size| bytes_near(what, bytes, size, 0.20);
    Ok(vec![
        equal("regions", "3", &found.regions.len().to_string()),
        near("write border", writes.bytes, nearest_border(found, writes.bytes)),
        near("read border", most, nearest_border(found, most)),
        near("write-cache size", writes.bytes, value(write)),
        near("read-cache size", most, value(read)),
        covers("write-cache size", writes, bounds(write)),
        covers("read-cache size", reads, bounds(read)),
        no_other_border(found, BorderOperation::Write, &[writes, reads], 0.20),
        no_other_border(found, BorderOperation::Read, &[reads], 0.20),
    ])
}
