//! Disks with a known seek curve and number of arms, under a page cache of 64 MiB.

use super::{Checks, slow_disk};
use crate::check::{between, end_to_end, ends, evaluation};
use crate::disk::Parameters;
use crate::lab::storage::FileSystem;
use crate::lab::{Lab, Up};

fn disk<'a>(lab: &'a Lab, parameters: &Parameters) -> Result<Up<'a>, String> {
    let mut up = lab.up();
    up.disk_with("dk", FileSystem::Ext4, parameters)?;
    Ok(up)
}

/// The gain from several processes that each wait for the disk at every read and write.
fn concurrency(lab: &Lab) -> Result<Option<f64>, String> {
    let document = lab.evaluate("mnt/dk", "--direct --max-unique-bytes 200M --budget 75s")?;
    let found = evaluation(&document)?;
    let (_, last) = ends(found)?;
    let gain = found.findings.concurrency_gain.iter().find(|f| f.region == last.name);
    Ok(gain.map(|f| f.value))
}

/// Figures 7 d and i of the self-scaling paper, and one arm that serves one request at a time.
pub fn one_arm(lab: &Lab) -> Checks {
    let _up = disk(lab, &slow_disk(512.0))?;
    let document = lab.evaluate("mnt/dk", "--memory 64M --max-unique-bytes 200M --budget 4m")?;
    let found = evaluation(&document)?;
    let (first, last) = ends(found)?;
    Ok(vec![
        between("sequential gain on the disk", 1.5, 100.0, end_to_end(&last.curves.seq_frac)),
        between("sequential gain in the cache", 0.7, 1.4, end_to_end(&first.curves.seq_frac)),
        between("concurrency gain on the disk", 0.7, 1.4, concurrency(lab)?),
    ])
}

/// Four arms serve four requests at a time.
pub fn four_arms(lab: &Lab) -> Checks {
    let _up = disk(lab, &Parameters { arms: 4.0, stripe_kib: 1024.0, ..slow_disk(512.0) })?;
    Ok(vec![between("concurrency gain on the disk", 1.8, 8.0, concurrency(lab)?)])
}
