//! Predicts a workload that pauses longer between its requests than the evaluated ones did.

use crate::model::COMPUTING;
use ioscape_schema::{Prediction, Workload};

/// Predicts `workload` by what `predict` says of workloads that pause for `evaluated_ns`, like the
/// evaluated ones. With longer pauses it is a closed system: each process either waits for its
/// request or pauses, so that fewer of them wait at once.
///
/// # Errors
/// Those of `predict`.
pub(super) fn with_pauses<E>(
    workload: &Workload,
    evaluated_ns: u64,
    predict: impl Fn(&Workload) -> Result<Prediction, E>,
) -> Result<Prediction, E> {
    let think_time_ns = workload.think_time_ns.min(evaluated_ns);
    let of = |process_num| predict(&Workload { process_num, think_time_ns, ..workload.clone() });
    let whole = of(workload.process_num)?;
    let more_ns = (workload.think_time_ns - think_time_ns) as f64;
    if more_ns == 0.0 {
        return Ok(whole);
    }
    let in_flight = whole.iops * (whole.response_time_ns + think_time_ns as f64) / 1e9;
    let processes = f64::from(workload.process_num);
    // The processes that pause, per request per second of all processes together.
    let paused_s = more_ns / 1e9 * processes / in_flight;
    let bytes = whole.throughput_bytes_per_s / whole.iops;
    let at = |which: fn(&Prediction) -> f64| {
        let iops = |busy: u32| match busy {
            0 => Ok(0.0),
            _ => of(busy).map(|one| which(&one) / bytes),
        };
        closed(workload.process_num, paused_s, iops).map(|iops| iops * bytes)
    };
    let throughput = at(|one| one.throughput_bytes_per_s)?;
    let [low, high] = [at(|one| one.interval90[0])?, at(|one| one.interval90[1])?];
    let iops = throughput / bytes;
    let computing = COMPUTING * (iops * paused_s / processes).min(1.0);
    let off = |end: f64| (end / throughput).ln().hypot(computing).exp();
    Ok(Prediction {
        workload: workload.clone(),
        throughput_bytes_per_s: throughput,
        interval90: [throughput / off(low), throughput * off(high)],
        iops,
        response_time_ns: (in_flight / iops * 1e9 - workload.think_time_ns as f64).max(0.0),
        ..whole
    })
}

/// Requests per second of a closed system: `busy` processes make `iops(busy)`, while the number of
/// pausing processes is `paused_s` times that rate.
fn closed<E>(
    processes: u32,
    paused_s: f64,
    iops: impl Fn(u32) -> Result<f64, E>,
) -> Result<f64, E> {
    let needed = |busy: u32| iops(busy).map(|rate| (f64::from(busy) + rate * paused_s, rate));
    let (mut below, mut above) = (0, processes.max(1));
    while above - below > 1 {
        let middle = u32::midpoint(below, above);
        match needed(middle)?.0 < f64::from(processes) {
            true => below = middle,
            false => above = middle,
        }
    }
    let ((fewer, slower), (more, faster)) = (needed(below)?, needed(above)?);
    Ok(slower + (faster - slower) * (f64::from(processes) - fewer) / (more - fewer))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that takes 100 us per request and serves one at a time or, if `is_wide`, all at
    /// once; its speed is known to within a third.
    fn predicted(workload: &Workload, is_wide: bool) -> Prediction {
        let predict = |one: &Workload| {
            assert_eq!(one.think_time_ns, 0);
            let iops = 1e4 * if is_wide { f64::from(one.process_num) } else { 1.0 };
            let throughput_bytes_per_s = iops * 4096.0;
            Ok::<_, ()>(Prediction {
                name: None,
                system: String::new(),
                workload: one.clone(),
                throughput_bytes_per_s,
                interval90: [throughput_bytes_per_s / 1.5, throughput_bytes_per_s * 1.5],
                iops,
                response_time_ns: f64::from(one.process_num) / iops * 1e9,
                region: String::new(),
                extrapolated: false,
                application: None,
            })
        };
        with_pauses(workload, 0, predict).expect("a prediction")
    }

    /// Guards against predicting 129,000 reads per second for a program that sleeps for a
    /// millisecond between reads of 8 us.
    #[test]
    fn pauses_bound_what_a_workload_asks_for() {
        let paused = |process_num, think_time_ns, is_wide| {
            let workload = Workload { process_num, think_time_ns, ..Workload::default() };
            let told = predicted(&workload, is_wide);
            assert_eq!(told.workload, workload);
            let [low, high] = told.interval90;
            assert!(low < told.throughput_bytes_per_s && told.throughput_bytes_per_s < high);
            told
        };
        let near = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-9;
        assert!(near(paused(1, 0, true).iops, 1e4));
        let one = paused(1, 900_000, true);
        assert!(near(one.iops, 1e3) && near(one.response_time_ns, 1e5), "{one:?}");
        // The speed of the device hardly matters.
        assert!(one.interval90[1] / one.interval90[0] < 1.3, "{one:?}");
        assert!(near(paused(8, 900_000, true).iops, 8e3));
        // Of eight processes, seven or more keep the device busy; of two with long pauses, hardly
        // one does.
        assert!(near(paused(8, 100_000, false).iops, 1e4));
        assert!(near(paused(2, 1_900_000, false).iops, 1e3));
    }
}
