//! A disk that fails in the middle: exit code 1, one sentence, and everything measured so far saved and named.

use super::Checks;
use crate::check::{Check, equal};
use crate::disk::Parameters;
use crate::lab::Lab;
use ioscape_schema::Document;

/// Evaluates a simulated disk without a kernel cache and has it fail after some points.
fn fails(lab: &Lab, fault: &str, word: &str) -> Result<Vec<Check>, String> {
    let result = lab.path("results/fault.ioscape.json").display().to_string();
    let mut up = lab.up();
    let fast = Parameters {
        size_mib: 64.0,
        direct_io: 1.0,
        bandwidth_mb_s: 200.0,
        ..Parameters::default()
    };
    let disk = up.disk("ft", &fast)?;
    let evaluate = format!(
        "'{}' evaluate mnt/ft.disk/disk --destroy-data --budget 60s -o {result} 2> w/fault.err",
        lab.binary()
    );
    let wait = format!("until grep -q purpose {result} 2>/dev/null; do sleep .1; done");
    let inject =
        format!("({wait}; echo '{fault}' > {}) > /dev/null 2>&1 &", disk.orders().display());
    let code = lab.shell(&format!("rm -f {result}; {inject} {evaluate} > /dev/null; echo $?"))?;
    let told = lab.shell("cat w/fault.err")?;
    let sentence = told.lines().last().unwrap_or_default().to_owned();
    let text = std::fs::read_to_string(&result).map_err(|e| format!("{result}: {e}"))?;
    let saved: Document = serde_json::from_str(&text).map_err(|e| format!("{result}: {e}"))?;
    let probes = saved.evaluation().map_or(0, |e| e.probes.len());
    let says = |what: &str| if sentence.contains(what) { "yes" } else { "no" };
    Ok(vec![
        equal(&format!("{word}: exit code"), "1", &code),
        equal(&format!("{word}: the sentence says what"), "yes", says(word)),
        equal(&format!("{word}: and where the results are"), "yes", says("fault.ioscape.json")),
        equal(&format!("{word}: results are saved"), "yes", if probes > 0 { "yes" } else { "no" }),
    ])
}

/// An I/O error on reading, and a disk that is suddenly full.
pub fn in_the_middle(lab: &Lab) -> Checks {
    let mut checks = fails(lab, "eio_read 0 99999999999", "Input/output error")?;
    checks.extend(fails(lab, "enospc 1048576", "No space left on device")?);
    Ok(checks)
}
