//! Disks with a known seek curve and number of arms, under a page cache of 64 MiB.

use super::{Checks, DISK};
use crate::check::{between, end_to_end, ends, evaluation};
use crate::lab::Lab;
use ioscape_schema::{Document, RegionFinding};

fn evaluate(lab: &Lab, arms: &str) -> Result<Document, String> {
    let _up = lab
        .up(&format!("./simdisk.sh upfs dk ext4 size=512 {DISK} {arms}"), "./simdisk.sh down dk")?;
    lab.evaluate("", "mnt/dk", "--memory 64M --max-unique-bytes 200M --budget 4m")
}

fn of_region(finding: &[RegionFinding], region: &str) -> Option<f64> {
    finding.iter().find(|f| f.region == region).map(|f| f.value)
}

/// Figures 7 d and i of the self-scaling paper, and one arm that serves one request at a time.
pub fn one_arm(lab: &Lab) -> Checks {
    let document = evaluate(lab, "")?;
    let found = evaluation(&document)?;
    let (first, last) = ends(found)?;
    Ok(vec![
        between("sequential gain on the disk", 1.5, 100.0, end_to_end(&last.curves.seq_frac)),
        between("sequential gain in the cache", 0.7, 1.5, end_to_end(&first.curves.seq_frac)),
        between(
            "concurrency gain on the disk",
            0.7,
            1.5,
            of_region(&found.findings.concurrency_gain, &last.name),
        ),
    ])
}

/// Four arms serve four requests at a time.
pub fn four_arms(lab: &Lab) -> Checks {
    let document = evaluate(lab, "disks=4 stripe=64")?;
    let found = evaluation(&document)?;
    let (_, last) = ends(found)?;
    Ok(vec![between(
        "concurrency gain on the disk",
        1.8,
        8.0,
        of_region(&found.findings.concurrency_gain, &last.name),
    )])
}
