//! A disk that fails in the middle: exit code 1, one sentence, and everything measured so far saved and named.

use super::Checks;
use crate::check::{Check, equal};
use crate::lab::Lab;
use ioscape_schema::Document;

/// Evaluates a simulated disk without a kernel cache and has it fail after some points.
fn fails(lab: &Lab, fault: &str, word: &str) -> Result<Vec<Check>, String> {
    let result = "/tmp/ioscape-lab/w/fault.ioscape.json";
    let _up = lab.up("./simdisk.sh up ft size=64 dio=1 bw=200", "./simdisk.sh down ft")?;
    let evaluate = format!(
        "'{}' evaluate mnt/ft.sd/disk --destroy-data --budget 60s -o {result} 2> w/fault.err",
        lab.binary()
    );
    let wait = format!("until grep -q purpose {result} 2>/dev/null; do sleep .1; done");
    let inject = format!("({wait}; ./simdisk.sh ctl ft '{fault}') > /dev/null 2>&1 &");
    let code = lab.shell(&format!("rm -f {result}; {inject} {evaluate} > /dev/null; echo $?"))?;
    let told = lab.shell("cat w/fault.err")?;
    let sentence = told.lines().last().unwrap_or_default().to_owned();
    let text = std::fs::read_to_string(result).map_err(|e| format!("{result}: {e}"))?;
    let saved: Document = serde_json::from_str(&text).map_err(|e| format!("{result}: {e}"))?;
    let probes = saved.evaluation.map_or(0, |e| e.probes.len());
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
    let mut checks = fails(lab, "eio_r 0 99999999999", "Input/output error")?;
    checks.extend(fails(lab, "enospc 1048576", "No space left on device")?);
    Ok(checks)
}
