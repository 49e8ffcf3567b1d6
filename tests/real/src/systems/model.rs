//! The laboratory's own proof: its disk is timed with plain reads and compared with its parameters,
//! and its counters with what was done.

use super::{Checks, slow_disk};
use crate::check::{Check, between, equal};
use crate::disk::{Counters, Parameters, service_ns};
use crate::lab::Lab;
use crate::lab::storage::Disk;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;
/// Size of a read in bytes.
const LENGTH: usize = 4096;
/// Reads at each distance; their median counts.
const TURNS: usize = 30;
/// Distances of the seek curve, in bytes; the disk has 64 MiB.
const DISTANCES: [u64; 7] = [0, 65536, MIB, 4 * MIB, 16 * MIB, 36 * MIB, 60 * MIB];

/// The seek curve, the rate of the medium, the device cache, the arms, and the counters.
pub fn simulated_disk(lab: &Lab) -> Checks {
    let mut checks = seek_curve(lab)?;
    checks.extend(device_cache(lab)?);
    checks.extend(arms(lab)?);
    Ok(checks)
}

/// Times a read.
fn read(file: &File, offset: u64, length: usize) -> Result<Duration, String> {
    let mut buffer = vec![0; length];
    let begun = Instant::now();
    file.read_exact_at(&mut buffer, offset).map_err(|e| format!("byte {offset}: {e}"))?;
    Ok(begun.elapsed())
}

fn open(disk: &Disk) -> Result<File, String> {
    File::open(disk.file()).map_err(|e| format!("{}: {e}", disk.file().display()))
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Reads at known distances from the arm's position.
fn seek_curve(lab: &Lab) -> Checks {
    let parameters = Parameters { direct_io: 1.0, ..slow_disk(64.0) };
    let mut up = lab.up();
    let disk = up.disk("model", &parameters)?;
    let file = open(&disk)?;
    let (mut expected_ms, mut found_ms, mut busy_ns, mut early) = (vec![], vec![], 0, 0);
    // The arm is at byte 0, and after each read at its end.
    let mut at = 0;
    for distance in DISTANCES {
        let mut times = Vec::new();
        let wanted_ns = service_ns(&parameters, distance, LENGTH as u64);
        for _ in 0..TURNS {
            let back = service_ns(&parameters, at, LENGTH as u64);
            busy_ns += back + wanted_ns;
            read(&file, 0, LENGTH)?;
            let took = read(&file, LENGTH as u64 + distance, LENGTH)?;
            at = 2 * LENGTH as u64 + distance;
            early += u32::from((took.as_nanos() as u64) < wanted_ns);
            times.push(took.as_secs_f64() * 1e3);
        }
        expected_ms.push(wanted_ns as f64 / 1e6);
        found_ms.push(median(&mut times));
    }
    let (slope, added_ms) = line(&expected_ms, &found_ms);
    let reads = (2 * TURNS * DISTANCES.len()) as u64;
    // At distance 0, the second read of a pair is sequential; the very first read found the arm in place.
    let sequential = TURNS as u64 + 1;
    let truth = Counters {
        reads,
        read_bytes: reads * LENGTH as u64,
        seeks: reads - sequential,
        sequential,
        busy_ns,
        ..Counters::default()
    };
    // How late it was depends on the machine.
    let counted = Counters { late_ns: 0, ..disk.counters()? };
    Ok(vec![
        between("seek curve: found over expected, slope", 0.95, 1.05, Some(slope)),
        between("ms that the kernel and the processor add", 0.0, 0.6, Some(added_ms)),
        equal("reads answered before their time", "0", &early.to_string()),
        equal("counters", &format!("{truth:?}"), &format!("{counted:?}")),
    ])
}

/// Slope and intercept of the least-squares line.
fn line(x: &[f64], y: &[f64]) -> (f64, f64) {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (x_mean, y_mean) = (mean(x), mean(y));
    let covariance: f64 = x.iter().zip(y).map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    let slope = covariance / x.iter().map(|x| (x - x_mean).powi(2)).sum::<f64>();
    (slope, y_mean - slope * x_mean)
}

/// Half of what the device cache holds hits the second time; of twice as much, read cyclically,
/// nothing ever does.
fn device_cache(lab: &Lab) -> Result<Vec<Check>, String> {
    const LINE: u64 = 65536;
    let parameters =
        Parameters { direct_io: 1.0, cache_mib: 8.0, overhead_us: 100.0, ..Parameters::default() };
    let mut up = lab.up();
    let disk = up.disk("cache", &parameters)?;
    let file = open(&disk)?;
    let mut hits = Vec::new();
    for (mib, round) in [(4, 1), (4, 2), (16, 1), (16, 2)] {
        disk.order("reset")?;
        for offset in (0..mib * MIB).step_by(LINE as usize) {
            read(&file, offset, LINE as usize)?;
        }
        hits.push((mib, round, disk.counters()?.cache_hits));
    }
    // The first 4 MiB are still there when 16 are first read.
    let wanted = [(4, 1, 0), (4, 2, 64), (16, 1, 64), (16, 2, 0)];
    Ok(vec![equal("(MiB, round, device-cache hits)", &format!("{wanted:?}"), &format!("{hits:?}"))])
}

/// Four requests take the time of one on four arms, and of four on one arm.
fn arms(lab: &Lab) -> Result<Vec<Check>, String> {
    let mut times = Vec::new();
    for arms in [1.0, 4.0] {
        let parameters = Parameters {
            arms,
            stripe_kib: 1024.0,
            overhead_us: 20_000.0,
            direct_io: 1.0,
            ..Parameters::default()
        };
        let mut up = lab.up();
        let disk = up.disk("arms", &parameters)?;
        let file = open(&disk)?;
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let reader = |arm: u64| {
                let file = &file;
                scope.spawn(move || read(file, arm * MIB, LENGTH).map(drop))
            };
            let readers: Vec<_> = (0..4).map(reader).collect();
            readers
                .into_iter()
                .try_for_each(|r| r.join().map_err(|_| "a reader broke".to_owned())?)
        })?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(vec![
        between("ms for four requests of 20 ms on one arm", 80.0, 100.0, Some(times[0])),
        between("ms for four requests of 20 ms on four arms", 20.0, 40.0, Some(times[1])),
    ])
}
