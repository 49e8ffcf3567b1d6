//! What the unit tests share: a plausible measurement of a given speed.

use ioscape_schema::{Measurement, ResponseTime, Stop, Workload};

/// A measurement of `workload` at `throughput` bytes per second whose mean request took one second over `iops`.
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
