//! Helpers of the unit tests: plausible measurements, points of a given speed, borders and regions.

use ioscape_schema::{
    Border, BorderOperation, Direction, Measurement, Parameter, Point, Region, RegionCurves,
    ResponseTime, Stop, Workload,
};

/// A measurement of `workload` at `throughput` bytes per second, with a mean response time of one
/// second over `iops`.
pub(crate) fn measurement(
    workload: &Workload,
    throughput: f64,
    cost_s: f64,
    iops: f64,
) -> Measurement {
    let response = (1e9 / iops.max(1e-6)) as u64;
    Measurement {
        ios: iops as u64,
        bytes: throughput as u64,
        elapsed_s: 1.0,
        throughput_bytes_per_s: throughput,
        throughput_ci95: [throughput * 0.98, throughput * 1.02],
        response_time_ns: ResponseTime { p50: response, max: response, ..ResponseTime::default() },
        io_time_frac: 1.0,
        cost_s,
        ..Measurement::empty(workload.clone(), Stop::Confident)
    }
}

/// A point at this value on the curve of a parameter; all its rounds have the same speed, in bytes
/// per second.
pub(crate) fn point((parameter, value): (Parameter, f64), speed: f64, rounds: usize) -> Point {
    let workload = Workload::default().with(parameter, value);
    let measurement = measurement(&workload, speed, 1.0, speed);
    Point { value, measurement, rounds: vec![speed; rounds], spread: None }
}

/// A border of storage between these two sets.
pub(crate) fn border(
    operation: BorderOperation,
    [low, unique_bytes, high]: [f64; 3],
    ratio: f64,
) -> Border {
    let (in_memory, slower) = (false, None);
    Border { operation, unique_bytes, low, high, ratio, in_memory, slower }
}

/// The first region, with sets of a byte or two and these curves.
pub(crate) fn region(curves: RegionCurves) -> Region {
    let (name, unique_bytes) = ("region 1".to_owned(), [1.0, 2.0]);
    Region { name, unique_bytes, focal: Workload::default(), curves }
}

/// A round of reads that wait for storage, while others read this many bytes from it.
pub(crate) fn reading(unique_bytes: u64, speed: f64, others: u64) -> Measurement {
    let workload = Workload { unique_bytes, size_mean: 4096, ..Workload::default() };
    let mut m = measurement(&workload, speed, 1.0, speed);
    let bytes = speed as u64;
    m.read = Some(Direction { bytes, ..Direction::default() });
    (m.cpu_system_s, m.storage_read_bytes) = (0.05, Some(bytes));
    m.witness.device_read_bytes = Some(bytes + others);
    m
}
