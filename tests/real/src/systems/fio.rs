//! The peer: fio replays exactly the measured requests, in turns with us, and must be equally fast.

use super::{Checks, slow_disk};
use crate::check::{Check, between};
use crate::disk::Parameters;
use crate::lab::Lab;
use crate::lab::storage::FileSystem;

/// Number of turns; the median of their ratios counts, because machines drift.
const TURNS: usize = 9;

/// Our throughput over fio's for the same requests, turn by turn.
fn ratios(lab: &Lab, file: &str, ours: &str, fio: &str) -> Result<Vec<f64>, String> {
    let mut ratios = Vec::new();
    for turn in 0..TURNS {
        let options = format!(
            "--destroy-data --force --fio-iolog w/requests.log --seed {turn} --json {ours}"
        );
        let document = lab.command(&format!("run {file} {options}"))?;
        let measured = document.measurements().and_then(|m| m.first()).ok_or("no measurement")?;
        let replay = "fio --name=replay --read_iolog=w/requests.log --replay_no_stall=1 --invalidate=0 --ioengine=psync";
        let text = lab.shell(&format!("{replay} {fio} --output-format=json"))?;
        let json: serde_json::Value =
            serde_json::from_str(&text).map_err(|e| format!("fio's result: {e}"))?;
        let job = &json["jobs"][0];
        let bytes =
            ["read", "write"].iter().filter_map(|d| job[d]["io_bytes"].as_f64()).sum::<f64>();
        let runtime_s = job["job_runtime"].as_f64().ok_or("fio gives no runtime")? / 1000.0;
        ratios.push(measured.throughput_bytes_per_s / (bytes / runtime_s));
    }
    ratios.sort_by(f64::total_cmp);
    Ok(ratios)
}

/// The range within which our speed over fio's must lie.
const AS_FAST: [f64; 2] = [0.90, 1.10];
/// The same if a thread of the loop device takes half of the CPU time, whose recipient varies from
/// run to run.
const NO_SLOWER: [f64; 2] = [0.75, 2.0];

fn check(what: &str, ratios: &[f64], [least, most]: [f64; 2]) -> Check {
    let (low, high) = (ratios[0], ratios[ratios.len() - 1]);
    let what = format!("ioscape / fio, {what} ({low:.2} to {high:.2})");
    between(&what, least, most, Some(ratios[ratios.len() / 2]))
}

/// Cached requests at memory speed, and direct ones on a disk of known speed.
pub fn replay(lab: &Lab) -> Checks {
    lab.shell("rm -f w/fio.dat; truncate -s 64M w/fio.dat")?;
    let cached = ratios(lab, "w/fio.dat", "--unique-bytes 64M --size-mean 64k --seconds 1s", "")?;
    lab.shell("rm -f w/fio.dat")?;
    let mut up = lab.up();
    up.disk("fi", &Parameters { direct_io: 1.0, ..slow_disk(64.0) })?;
    let disk = ratios(lab, "mnt/fi.disk/disk", "--unique-bytes 64M --seconds 2s", "")?;
    Ok(vec![check("in the file cache", &cached, AS_FAST), check("on the disk", &disk, AS_FAST)])
}

/// Direct requests on ext4 over a device in memory: their cost is CPU time.
pub fn fast(lab: &Lab) -> Checks {
    let mut up = lab.up();
    let device = up.fast_device("fs", 256)?;
    up.file_system("fs", FileSystem::Ext4, &device)?;
    lab.shell("head -c 64M /dev/zero > mnt/fs/file && sync -f mnt/fs")?;
    let options = "--unique-bytes 64M --size-mean 64k --direct --seconds 1s";
    let found = ratios(lab, "mnt/fs/file", options, "--direct=1")?;
    Ok(vec![check("direct, on a fast device", &found, NO_SLOWER)])
}
