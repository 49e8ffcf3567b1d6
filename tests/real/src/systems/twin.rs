//! Twins of disks whose numbers are known: what a twin says of requests, and which rates it finds to hold, is held to the truth.

use super::{Checks, slow_disk};
use crate::check::{Check, between, equal, named};
use crate::disk::Parameters;
use crate::lab::Lab;
use ioscape_schema::{Bounded, CourseKind, Measurement, WarningKind};
use std::fmt::Write as _;

const MIB: f64 = 1_048_576.0;
/// Sizes of the requests that the twin is asked about, in KiB.
const SIZES_KIB: [u64; 3] = [4, 64, 512];
/// Requests of each size and direction, two seconds apart.
const EACH: u64 = 20;
/// The mean square root of the distance of two random places, as a share of all: the integral of 2 (1 - d) sqrt(d) from 0 to 1.
const MEAN_ROOT: f64 = 8.0 / 15.0;
/// What the kernel and the processor add to a request of the disk, in milliseconds, on a busy machine.
const ADDED_MS: f64 = 0.8;

/// A hard disk with a seek curve, rotation, a rate and one arm. A twin has no arm: its random requests are to take what those of the disk
/// take on average.
pub fn of_a_hard_disk(lab: &Lab) -> Checks {
    let parameters = Parameters { direct_io: 1.0, ..slow_disk(64.0) };
    let mut up = lab.up();
    up.disk("tw", &parameters)?;
    let measured = "--unique-bytes 64M --workloads 8 --seconds 1s --json --force -o w/twin.toml";
    lab.command(&format!("twin mnt/tw.disk/disk --destroy-data {measured}"))?;
    let mut checks = Vec::new();
    for (what, write) in [("reads", 0), ("writes", 1)] {
        for kib in SIZES_KIB {
            let told = told_ms(lab, kib, write)?;
            let truth = truth_ms(&parameters, kib);
            let what = format!("ms of single random {what} of {kib} KiB");
            checks.push(between(&what, 0.95 * truth, 1.05 * truth + ADDED_MS, Some(told)));
        }
    }
    let status = lab.shell("grep ^status w/twin.toml")?;
    checks.push(named("of workloads that follow one another it was not fitted to", &status));
    Ok(checks)
}

/// What a random request of the disk takes on average.
fn truth_ms(disk: &Parameters, kib: u64) -> f64 {
    let seek_us = disk.seek_min_us + (disk.seek_max_us - disk.seek_min_us) * MEAN_ROOT;
    let transfer_us = kib as f64 * 1024.0 / disk.bandwidth_mb_s;
    (disk.overhead_us + seek_us + disk.rotation_us + transfer_us) / 1e3
}

/// What the twin's file says that such a request takes, alone.
fn told_ms(lab: &Lab, kib: u64, write: u8) -> Result<f64, String> {
    let mut trace = "queued_ns,is_write,offset_bytes,length_bytes\n".to_owned();
    for n in 0..EACH {
        let (at_ns, offset) = (n * 2_000_000_000, n * 7919 % 97 * (512 << 10));
        let _ = writeln!(trace, "{at_ns},{write},{offset},{}", kib << 10);
    }
    std::fs::write(lab.path("w/twin.csv"), trace).map_err(|e| format!("w/twin.csv: {e}"))?;
    lab.shell("rm -f w/twin-rows.csv")?;
    let simulate = "simulate w/twin.csv --drive w/twin.toml --rows w/twin-rows.csv";
    lab.shell(&format!("'{}' {simulate}", lab.binary()))?;
    let rows = lab.path("w/twin-rows.csv");
    let text = std::fs::read_to_string(&rows).map_err(|e| format!("{}: {e}", rows.display()))?;
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let head: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = |name: &str| {
        let at = head.iter().position(|head| *head == name);
        at.ok_or_else(|| format!("the rows have no {name}: {head:?}"))
    };
    let [from, to] = [column("queued_ns")?, column("completed_ns")?];
    let took = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let ns = |at: usize| cells.get(at).and_then(|cell| cell.parse::<f64>().ok());
        Some((ns(to)? - ns(from)?) / 1e6)
    };
    let all: Vec<f64> = lines.filter_map(took).collect();
    if all.len() as u64 != EACH {
        return Err(format!("{} rows of {EACH} requests", all.len()));
    }
    Ok(all.iter().sum::<f64>() / EACH as f64)
}

/// A limit of 20 MB/s behind a credit of 300 MiB, and of 150 MB/s before. A busy machine leaves it untold: no number may be wrong.
pub fn of_a_limited_disk(lab: &Lab) -> Checks {
    let limited = Parameters {
        direct_io: 1.0,
        size_mib: 64.0,
        bandwidth_mb_s: 150.0,
        limit_mb_s: 20.0,
        credit_mib: 300.0,
        ..Parameters::default()
    };
    let mut up = lab.up();
    up.disk("li", &limited)?;
    let document = lab
        .command("twin mnt/li.disk/disk --destroy-data --sustain=20s --unique-bytes 32M --json")?;
    let found = document.measurements().ok_or("the result holds no measurements")?;
    let [writes, _, reads, _] = &found[..] else {
        return Err(format!("{} measurements instead of four", found.len()));
    };
    let mut checks = of_writes(writes);
    checks.push(of_reads(reads));
    Ok(checks)
}

/// A burst that ends, and the credit less what laying the set out took of it.
fn of_writes(writes: &Measurement) -> Vec<Check> {
    let Some(course) = writes.sustained.as_deref() else { return vec![untold("writes", writes)] };
    if course.kind == CourseKind::CannotBeTold {
        return vec![untold("writes", writes)];
    }
    let last = course.phases.last().map(|phase| phase.bytes_per_s.value / 1e6);
    let mib = |bytes: Bounded| bytes.value / MIB;
    let back = course.recovered_bytes_per_s.map(|rate| rate.value / 1e6);
    vec![
        equal("writes", "Burst", &format!("{:?}", course.kind)),
        between("MB/s that hold of writes", 19.4, 20.6, last),
        between("MiB of credit", 255.0, 302.0, course.credit_bytes.map(mib)),
        between("MB/s at which credit comes back", 18.0, 22.0, back),
    ]
}

/// Reads begin without credit.
fn of_reads(reads: &Measurement) -> Check {
    let course = reads.sustained.as_deref();
    let Some(course) = course.filter(|course| course.kind != CourseKind::CannotBeTold) else {
        return untold("reads", reads);
    };
    let last = course.phases.last().map(|phase| phase.bytes_per_s.value / 1e6);
    between("MB/s that hold of reads", 19.4, 20.6, last)
}

/// That nothing was told is right only where others had the processors.
fn untold(what: &str, run: &Measurement) -> Check {
    use WarningKind::{LoadByOthers, Steal, Stopped};
    let is_busy = run.warnings.iter().any(|w| matches!(w.kind, LoadByOthers | Steal | Stopped));
    let why = run.sustained.as_deref().and_then(|course| course.sentences.first());
    Check {
        what: what.to_owned(),
        want: "told, unless the machine is busy".to_owned(),
        found: why.cloned().unwrap_or_else(|| "no course".to_owned()),
        holds: is_busy,
    }
}
