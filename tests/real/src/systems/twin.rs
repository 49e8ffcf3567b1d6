//! Twins of disks with known numbers: a twin's statements about requests, and the rates that it
//! finds to hold, are compared with the truth.

use super::{Checks, slow_disk};
use crate::check::{Check, between, equal, named};
use crate::disk::{Counters, Parameters};
use crate::lab::Lab;
use crate::lab::storage::Disk;
use ioscape_schema::{Bounded, CourseKind, Measurement, WarningKind};
use std::fmt::Write as _;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Instant;

const MIB: f64 = 1_048_576.0;
/// Sizes of the requests about which the twin is asked, in KiB.
const SIZES_KIB: [u64; 3] = [4, 64, 512];
/// Number of requests for each size and direction.
const EACH: u64 = 64;
/// Time from one request to the next when only one is in flight.
const APART_NS: u64 = 2_000_000_000;
/// Size of the disk with seeks.
const SET_BYTES: u64 = 64 << 20;
/// How far a twin's statements may be from the truth. Service times vary by 21 % at 4 KiB and less
/// at larger sizes. So the two seconds of a workload's measurement give its mean to within 0.9 %
/// (standard error), and ten or more workloads show each time.
const CLOSE: f64 = 0.02;
/// The largest median error of a twin that is called calibrated, and the largest median uncertainty
/// of its criterion, in percent.
const OFF_MOST: f64 = 15.0;
/// See [`OFF_MOST`].
const OPEN_MOST: f64 = 7.5;
/// The mean square root of the distance between two random places, as a fraction of the root of the
/// whole: the integral of 2 (1 - d) sqrt(d) from 0 to 1.
const MEAN_ROOT: f64 = 8.0 / 15.0;

/// A hard disk with a seek curve, rotation, a rate and one arm. A twin has no arm: its random
/// requests should take as long as the disk's do on average, plus the overhead of the path to the
/// disk, which plain requests show in comparison with the disk's own counters. With many requests
/// in flight, the path is covered while others are served: they follow one another as fast as the
/// arm allows.
pub fn of_a_hard_disk(lab: &Lab) -> Checks {
    let parameters = Parameters { direct_io: 1.0, ..slow_disk(64.0) };
    let mut up = lab.up();
    let disk = up.disk("tw", &parameters)?;
    let measured = "--unique-bytes 64M --workloads 0 --seconds 500ms --json --force -o w/twin.toml";
    disk.order("reset")?;
    lab.command(&format!("twin mnt/tw.disk/disk --destroy-data {measured}"))?;
    let mut checks = served(&parameters, &disk.counters()?);
    for (what, write) in [("reads", false), ("writes", true)] {
        for kib in SIZES_KIB {
            let [usual, added] = added_ms(&disk, kib, write)?;
            let bounds = [usual, added.max(usual)].map(|ms| truth_ms(&parameters, kib) + ms);
            let told = mean(&told_ms(lab, kib, write, APART_NS)?);
            let what = format!("ms of single random {what} of {kib} KiB ({usual:.2} on the way)");
            checks.push(within(&what, bounds, told));
        }
    }
    for kib in [4, 64] {
        let told = told_ms(lab, kib, false, 0)?;
        let each = told.iter().copied().fold(0.0, f64::max) / told.len() as f64;
        let what = format!("ms of each of {EACH} reads of {kib} KiB in flight");
        checks.push(within(&what, [truth_ms(&parameters, kib); 2], each));
    }
    Ok(checks)
}

/// The mean time of a random request on the disk.
fn truth_ms(disk: &Parameters, kib: u64) -> f64 {
    law_ms(disk, 1.0, kib as f64 * 1024.0)
}

/// The mean time of requests on a disk if this share of them is away from the arm, and they have
/// this many bytes on average.
fn law_ms(disk: &Parameters, elsewhere: f64, bytes: f64) -> f64 {
    let seek_us = disk.seek_min_us + (disk.seek_max_us - disk.seek_min_us) * MEAN_ROOT;
    let position_us = elsewhere * (seek_us + disk.rotation_us);
    (disk.overhead_us + position_us + bytes / disk.bandwidth_mb_s) / 1e3
}

/// Compares what the disk says it served with its formula. If they differ, the places of the
/// requests were by chance not average; if its answers are late, it is slower than it says.
fn served(disk: &Parameters, counters: &Counters) -> Vec<Check> {
    let requests = (counters.reads + counters.writes).max(1) as f64;
    let elsewhere = counters.seeks as f64 / requests;
    let bytes = (counters.read_bytes + counters.write_bytes) as f64 / requests;
    let [served_ms, late_ms] =
        [counters.busy_ns, counters.late_ns].map(|ns| ns as f64 / 1e6 / requests);
    let law_ms = law_ms(disk, elsewhere, bytes);
    let what =
        format!("ms of each of {requests} requests by the disk's law, and as it served them");
    vec![
        named(&what, &format!("{law_ms:.3}, {served_ms:.3}")),
        named("ms by which it answered them late", &format!("{late_ms:.3}")),
    ]
}

/// The time that the path to the disk and back adds to a request, one at a time: the time of plain
/// requests, minus the service time in the disk's own counters. Returns the median, and the mean,
/// which is far above it if other programs had the processors.
fn added_ms(disk: &Disk, kib: u64, write: bool) -> Result<[f64; 2], String> {
    let path = disk.file();
    let fails = |e: std::io::Error| format!("{}: {e}", path.display());
    let file = File::options().read(true).write(true).open(&path).map_err(fails)?;
    // Written to, so that it is memory of its own, not the shared page of zeros, which is copied faster.
    let mut buffer = vec![1; (kib << 10) as usize];
    let mut added_ms = Vec::new();
    for offset in offsets(kib) {
        disk.order("reset")?;
        let begun = Instant::now();
        match write {
            true => file.write_all_at(&buffer, offset).map_err(fails)?,
            false => file.read_exact_at(&mut buffer, offset).map_err(fails)?,
        }
        let took_ms = begun.elapsed().as_secs_f64() * 1e3;
        added_ms.push(took_ms - disk.counters()?.busy_ns as f64 / 1e6);
    }
    added_ms.sort_by(f64::total_cmp);
    Ok([added_ms[added_ms.len() / 2], mean(&added_ms)])
}

/// Random places on the disk, for requests of this size.
fn offsets(kib: u64) -> impl Iterator<Item = u64> {
    let last = (SET_BYTES - (kib << 10)) >> 12;
    (0..EACH).map(move |n| ((((n * 0x9E37_79B9) & 0xFFFF_FFFF) * last) >> 32) << 12)
}

/// The times of such requests according to the twin's file, with this interval between them.
fn told_ms(lab: &Lab, kib: u64, write: bool, apart_ns: u64) -> Result<Vec<f64>, String> {
    let mut trace = "queued_ns,is_write,offset_bytes,length_bytes\n".to_owned();
    for (n, offset) in (0..EACH).zip(offsets(kib)) {
        let _ = writeln!(trace, "{},{},{offset},{}", n * apart_ns, u8::from(write), kib << 10);
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
    Ok(all)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Checks that a value equals the truth, or lies between its bounds, to within [`CLOSE`].
fn within(what: &str, [least, most]: [f64; 2], told: f64) -> Check {
    between(what, least * (1.0 - CLOSE), most * (1.0 + CLOSE), Some(told))
}

/// A device in memory, of which only the measured numbers are known. So its twin is compared with
/// the throughput of workloads to which it was not fitted: it must come as close as a calibrated
/// twin must, or as close as the device comes to itself. If the machine does not show these
/// numbers, the twin must say so.
pub fn of_a_fast_device(lab: &Lab) -> Checks {
    let mut up = lab.up();
    let device = up.fast_device("tf", 512)?;
    let measured =
        "--unique-bytes 512M --workloads 30 --seconds 500ms --json --force -o w/twin-fast.toml";
    lab.command(&format!("twin {} --destroy-data {measured}", device.display()))?;
    let verdict = lab.shell("grep ^verdict w/twin-fast.toml")?;
    let [open] = numbers(&verdict, "themselves are known to ")?;
    let [off, _, low, high] = numbers(&verdict, "unseen workloads: throughput off by ")?;
    let [itself, ..] = numbers::<4>(&verdict, "measured once more: throughput off by ")?;
    let off_what = format!("% off, median of 30 unseen workloads ({low} to {high})");
    let noise = format!("{open} % open, {itself} % from itself");
    let mut checks = vec![named("the measured throughputs (medians)", &noise)];
    if open > OPEN_MOST {
        checks.push(named(&off_what, &off.to_string()));
        let says = verdict.contains("too noisy to tell");
        checks.push(equal("says that it is too noisy to tell", "true", &says.to_string()));
    } else {
        checks.push(between(&off_what, 0.0, OFF_MOST.max(itself), Some(off)));
    }
    Ok(checks)
}

/// The first numbers after these words of a verdict, such as "21.6 % (median; 95 % interval 7.5 to
/// 37.0 %), nine of ten within 50.1 %".
fn numbers<const N: usize>(verdict: &str, words: &str) -> Result<[f64; N], String> {
    let (_, text) = verdict.split_once(words).ok_or_else(|| format!("no {words:?}: {verdict}"))?;
    let numbers = text.split([' ', '(']).filter_map(|word| word.parse().ok());
    let found: Vec<f64> = numbers.take(N).collect();
    found.try_into().map_err(|_| format!("too few numbers in {text:?}"))
}

/// A limit of 20 MB/s after a credit of 300 MiB, and of 150 MB/s before. On a busy machine it may
/// go unreported, but no number may be wrong.
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

/// Checks for a burst that ends, and for the credit minus what laying out the set used.
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

/// Reads start without credit.
fn of_reads(reads: &Measurement) -> Check {
    let course = reads.sustained.as_deref();
    let Some(course) = course.filter(|course| course.kind != CourseKind::CannotBeTold) else {
        return untold("reads", reads);
    };
    let last = course.phases.last().map(|phase| phase.bytes_per_s.value / 1e6);
    between("MB/s that hold of reads", 19.4, 20.6, last)
}

/// Reporting nothing is right only if other programs had the processors.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_a_verdict() {
        let said = "30 unseen workloads: throughput off by 21.6 % (median; 95 % interval 7.5 to 37.0 %), nine of ten within 50.1 %; 30 unseen workloads: p50";
        let words = "unseen workloads: throughput off by ";
        assert_eq!(numbers(said, words), Ok([21.6, 95.0, 7.5, 37.0]));
        assert!(numbers::<1>(said, "measured once more: ").is_err());
        assert!(numbers::<9>("off by 21.6 %", "off by ").is_err());
    }
}
