//! Synthetic simulations: a sweep over a disk's write caches, a solid-state drive, and hostile
//! names.

use super::document_of;
use ioscape_schema::{
    Document, HostCacheAbsorption, HostCachePoint, SimulatedCell, SimulatedOperations,
    SimulatedParts, SimulatedTimes, Simulation, SimulationAgreement,
};

const MS: f64 = 1e6;

fn times(requests: u64, mean_ms: f64) -> SimulatedTimes {
    let at = |factor: f64| (mean_ms * factor * MS) as u64;
    SimulatedTimes {
        requests,
        mean_ns: mean_ms * MS,
        p50_ns: at(0.8),
        p90_ns: at(2.0),
        p99_ns: at(4.5),
        max_ns: at(9.0),
    }
}

fn operations(read_ms: f64, write_ms: f64) -> SimulatedOperations {
    SimulatedOperations {
        all: times(1000, 0.3 * read_ms + 0.7 * write_ms),
        read: times(300, read_ms),
        write: times(700, write_ms),
    }
}

fn distribution(mean_ms: f64) -> Vec<[f64; 2]> {
    (1..=20).map(|n| [mean_ms * MS * f64::from(n) / 10.0, f64::from(n) / 20.0]).collect()
}

fn cell(cache: &str, destage: Option<&str>, bytes: Option<u64>, write_ms: f64) -> SimulatedCell {
    SimulatedCell {
        scheduler: "c-scan".into(),
        cache: cache.into(),
        destage: destage.map(str::to_owned),
        cache_bytes: bytes,
        physical: operations(27.4, write_ms),
        elapsed: operations(36.0, 5.0 * write_ms),
        parts: SimulatedParts { seek_ns: 9.0 * MS, rotation_ns: 7.5 * MS, ..Default::default() },
        written_bytes: 5 << 20,
        absorbed_bytes: bytes.map_or(0, |bytes| bytes.min(128 << 10) * 4),
        physical_distribution: distribution(write_ms),
        ..SimulatedCell::default()
    }
}

/// A sweep on a disk, with a trace that has recorded times.
pub fn simulation() -> Simulation {
    let nvram =
        |destage, kilobytes: u64, ms| cell("nvram", Some(destage), Some(kilobytes << 10), ms);
    Simulation {
        left_out: Vec::new(),
        drive: "hp-c2200a".into(),
        drive_status: "calibrated".into(),
        trace: "week.srt".into(),
        devices: vec!["disk0".into()],
        arrivals: "queued".into(),
        requests: 1000,
        cells: vec![
            cell("none", None, None, 24.1),
            cell("immediate", None, Some(32 << 10), 19.5),
            nvram("fcfs", 8, 18.2),
            nvram("fcfs", 128, 7.4),
            nvram("satf", 8, 18.3),
            nvram("satf", 128, 6.9),
        ],
        agreement: Some(SimulationAgreement {
            rms_ns: 534_600.0,
            requests: 1000,
            measured_mean_ns: 25.1 * MS,
            simulated_mean_ns: 25.0 * MS,
            demerit: 0.0213,
            paired_requests: 800,
            paired_median_ns: 0.07 * MS,
            paired_within_1ms: 0.93,
            measured_distribution: distribution(25.1),
            simulated_distribution: distribution(25.0),
            devices: Vec::new(),
        }),
        absorption: vec![HostCacheAbsorption {
            writes: "all".into(),
            interval_s: 30.0,
            intervals: 120,
            points: [8u64, 64, 512]
                .map(|kilobytes| HostCachePoint {
                    cache_bytes: kilobytes << 10,
                    intervals: 0.3 + kilobytes as f64 / 800.0,
                    total: 0.2 + kilobytes as f64 / 900.0,
                    overwrites: kilobytes as f64 / 2000.0,
                })
                .to_vec(),
        }],
    }
}

/// The document of this simulation.
pub fn simulated() -> Document {
    document_of(simulation())
}

/// A solid-state drive, with a trace that has a hostile name and no recorded times.
pub fn simulated_flash() -> Document {
    let only = SimulatedCell {
        write_amplification: Some(1.234),
        scheduler: "no host queue".into(),
        ..cell("write buffer", None, Some(16 << 20), 0.1)
    };
    let simulation = Simulation {
        drive: "generic-ssd".into(),
        drive_status: "generic".into(),
        trace: "<script>alert(1)</script>\u{1b}[31m.csv".into(),
        devices: vec!["<b>".into()],
        cells: vec![only],
        agreement: None,
        absorption: Vec::new(),
        ..simulation()
    };
    document_of(simulation)
}
