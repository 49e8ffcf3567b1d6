//! Systems with a file cache of known size.

use super::{Checks, slow_disk};
use crate::check::{between, bytes_near, equal, evaluation, nearest_border, value};
use crate::lab::Lab;
use crate::lab::storage::FileSystem;

const MIB: f64 = 1_048_576.0;

/// Memory is the file system: nothing slower is behind it.
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
    let size = value(found.findings.read_cache_bytes.as_ref());
    let limit = f64::from(mib) * MIB;
    Ok(vec![
        bytes_near("effective read-cache size", limit, size, 0.15),
        between("regions", 2.0, 3.0, Some(found.regions.len() as f64)),
    ])
}

pub fn limit_64(lab: &Lab) -> Checks {
    limited(lab, 64, "2m")
}

pub fn limit_512(lab: &Lab) -> Checks {
    limited(lab, 512, "3m")
}

/// Sprite's effect: fewer dirty pages are allowed than cached ones.
pub fn sprite(lab: &Lab) -> Checks {
    let mut up = lab.up();
    let (_, device) = up.disk_with("sp", FileSystem::Ext4, &slow_disk(1024.0))?;
    up.dirty_limit(&device, 32 << 20)?;
    let document = lab.evaluate("mnt/sp", "--memory 128M --max-unique-bytes 300M --budget 5m")?;
    let found = evaluation(&document)?;
    let border = |mib: f64| nearest_border(found, mib * MIB);
    Ok(vec![
        equal("regions", "3", &found.regions.len().to_string()),
        bytes_near("write border", 24.0 * MIB, border(24.0), 0.20),
        bytes_near("read border", 128.0 * MIB, border(128.0), 0.20),
        bytes_near(
            "write-cache size",
            24.0 * MIB,
            value(found.findings.write_cache_bytes.as_ref()),
            0.20,
        ),
        bytes_near(
            "read-cache size",
            128.0 * MIB,
            value(found.findings.read_cache_bytes.as_ref()),
            0.20,
        ),
    ])
}
