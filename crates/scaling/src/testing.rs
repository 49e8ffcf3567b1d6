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
        name: None,
        workload: workload.clone(),
        ios: iops as u64,
        bytes: throughput as u64,
        elapsed_s: 1.0,
        throughput_bytes_per_s: throughput,
        throughput_ci95: [throughput * 0.98, throughput * 1.02],
        response_time_ns: ResponseTime { p50: response, max: response, ..ResponseTime::default() },
        response_time_littles_law_ns: None,
        read: None,
        write: None,
        cpu_user_s: 0.0,
        cpu_system_s: 0.0,
        cpu_ns_per_io: 0.0,
        io_time_frac: 1.0,
        io_limited: None,
        stop: Stop::Confident,
        warm_up_s: 0.0,
        cost_s,
        burst_ratio: None,
        storage_read_bytes: None,
        resident_frac: None,
        other_cpu: None,
        disturbed: false,
        warnings: Vec::new(),
    }
}
