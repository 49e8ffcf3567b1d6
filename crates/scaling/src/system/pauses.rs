//! Predicts a workload that pauses longer between its requests than the evaluated ones did.

use crate::model::{COMPUTING, numbers_below, rate_at_best, rate_with_pauses};
use ioscape_schema::{Prediction, Workload};

/// Predicts `workload` by what `predict` says of workloads that pause for `evaluated_ns`, like the
/// evaluated ones. With longer pauses it is a closed system: each process either waits for its
/// requests or pauses, so that fewer of them wait at once.
///
/// The rate is that of pauses of random lengths. Its interval reaches up to that of requests that
/// never meet by chance. A queue drains before each pause, and what storage serves meanwhile was not
/// measured: with a queue depth above 1 the interval spans storage that serves one request at a time
/// and storage that serves all at once; rate and response time are the geometric middle. The
/// response time that `predict` tells with pauses must be that of the whole queue.
pub(super) fn with_pauses<E>(
    workload: &Workload,
    evaluated_ns: u64,
    predict: impl Fn(&Workload) -> Result<Prediction, E>,
) -> Result<Prediction, E> {
    let think_time_ns = workload.think_time_ns.min(evaluated_ns);
    let of = |process_num| predict(&Workload { process_num, think_time_ns, ..workload.clone() });
    let whole = of(workload.process_num)?;
    let found = if workload.think_time_ns == think_time_ns {
        whole
    } else {
        let mut told =
            numbers_below(workload.process_num).map(of).collect::<Result<Vec<_>, _>>()?;
        told.push(whole);
        paused(workload, &told)
    };
    let share = if workload.think_time_ns > 0 { mean_share(workload.queue_depth) } else { 1.0 };
    Ok(Prediction { response_time_ns: found.response_time_ns * share, ..found })
}

/// The prediction for `workload` from those for increasing numbers of its processes, the last for
/// all of them, with shorter pauses. Its response time is that of the whole queue.
fn paused(workload: &Workload, told: &[Prediction]) -> Prediction {
    let whole = &told[told.len() - 1];
    let depth = f64::from(workload.queue_depth.max(1));
    let longest = longest_of(workload.queue_depth);
    // Where the evaluation paused, too, its rates are those of queues that drain.
    let slower = if whole.workload.think_time_ns > 0 { 1.0 } else { longest };
    let in_flight = whole.iops * (whole.response_time_ns + whole.workload.pause_ns()) / 1e9;
    // With several clients, each has so many processes.
    let users = in_flight / depth;
    let each = users / f64::from(workload.process_num.max(1));
    // So many processes pause longer than evaluated for each request per second.
    let more_s = (workload.think_time_ns - whole.workload.think_time_ns) as f64 / 1e9;
    let bytes = whole.throughput_bytes_per_s / whole.iops;
    let station = |which: fn(&Prediction) -> f64, drain: f64| -> Vec<[f64; 2]> {
        let point = |one: &Prediction| {
            [f64::from(one.workload.process_num.max(1)) * each, which(one) / bytes / drain]
        };
        told.iter().map(point).collect()
    };
    let middle = station(|one| one.throughput_bytes_per_s, slower.sqrt());
    let iops = rate_with_pauses(&middle, more_s);
    let low = rate_with_pauses(&station(|one| one.interval90[0], slower), more_s);
    let high = rate_at_best(&station(|one| one.interval90[1], 1.0), more_s);
    let computing = COMPUTING * (iops * more_s / users).min(1.0);
    let off = |end: f64| (end / iops).ln().hypot(computing).exp();
    let throughput_bytes_per_s = iops * bytes;
    Prediction {
        workload: workload.clone(),
        throughput_bytes_per_s,
        interval90: [throughput_bytes_per_s / off(low), throughput_bytes_per_s * off(high)],
        iops,
        response_time_ns: (in_flight / iops * 1e9 - workload.pause_ns()).max(0.0),
        ..whole.clone()
    }
}

/// The mean response time of a queue that drains, as a share of the time from its first issue to its
/// last completion: between storage that serves one request at a time and storage that serves all
/// at once.
fn mean_share(depth: u32) -> f64 {
    let requests = f64::from(depth.max(1));
    ((requests + 1.0) / (2.0 * requests) / longest_of(depth)).sqrt()
}

/// How many times their mean the longest of `depth` response times is, if they are exponential. So
/// many times as long as in a full queue do as many requests take that are served all at once.
fn longest_of(depth: u32) -> f64 {
    (1..=depth.max(1)).map(|left| 1.0 / f64::from(left)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that takes 100 us per request and serves one at a time or, if `is_wide`, all at
    /// once; its speed is known to within a third.
    fn predicted(workload: &Workload, is_wide: bool) -> Prediction {
        let predict = |one: &Workload| {
            assert_eq!(one.think_time_ns, 0);
            let in_flight = f64::from(one.process_num * one.queue_depth);
            let iops = 1e4 * if is_wide { in_flight } else { 1.0 };
            let throughput_bytes_per_s = iops * 4096.0;
            Ok::<_, ()>(Prediction {
                name: None,
                system: String::new(),
                workload: one.clone(),
                throughput_bytes_per_s,
                interval90: [throughput_bytes_per_s / 1.5, throughput_bytes_per_s * 1.5],
                iops,
                response_time_ns: in_flight / iops * 1e9,
                region: String::new(),
                extrapolated: false,
                application: None,
            })
        };
        with_pauses(workload, 0, predict).expect("a prediction")
    }

    fn near(one: f64, other: f64, within: f64) -> bool {
        (one / other - 1.0).abs() < within
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
        assert!(near(paused(1, 0, true).iops, 1e4, 1e-9));
        let one = paused(1, 900_000, true);
        assert!(near(one.iops, 1e3, 1e-9) && near(one.response_time_ns, 1e5, 1e-9), "{one:?}");
        // The speed of the device hardly matters.
        assert!(one.interval90[1] / one.interval90[0] < 1.3, "{one:?}");
        assert!(near(paused(8, 900_000, true).iops, 8e3, 1e-9));
        // Of eight processes, seven or more keep the device busy; of two with long pauses, hardly
        // one does.
        assert!(near(paused(8, 100_000, false).iops, 1e4, 1e-4));
        assert!(near(paused(2, 1_900_000, false).iops, 1e3, 3e-3));
    }

    /// Guards against 0.1 ms for eight processes that keep a device busy with one request at a
    /// time: their requests meet, unless their pauses are all alike.
    #[test]
    fn requests_meet_at_a_busy_device() {
        let workload = Workload { process_num: 8, think_time_ns: 700_000, ..Workload::default() };
        let told = predicted(&workload, false);
        assert!(near(told.iops, 8_200.0, 0.01), "{told:?}");
        assert!(near(told.response_time_ns, 274_000.0, 0.01), "{told:?}");
        assert!(told.interval90[1] >= 1e4 * 4096.0, "{told:?}");
    }

    /// Guards against a rate too high by the depth of the queue: a process pauses for each request.
    #[test]
    fn processes_pause_for_each_request_of_their_queue() {
        let workload = Workload {
            process_num: 2,
            queue_depth: 8,
            think_time_ns: 2_000_000,
            ..Workload::default()
        };
        let told = predicted(&workload, true);
        assert!(near(told.iops, 16.0 / 16.1e-3, 0.01), "{told:?}");
    }

    #[test]
    fn queues_that_drained_when_evaluated_are_no_slower() {
        let workload = Workload { queue_depth: 8, ..Workload::default() };
        let evaluated = predicted(&workload, true);
        let asked = Workload { think_time_ns: 1001, ..workload };
        let predict = |one: &Workload| {
            let response_time_ns = evaluated.response_time_ns - one.pause_ns();
            Ok::<_, ()>(Prediction { workload: one.clone(), response_time_ns, ..evaluated.clone() })
        };
        let told = with_pauses(&asked, 1000, predict).expect("a prediction");
        assert!(near(told.iops, evaluated.iops, 0.01), "{told:?}");
        // Guards against half the response time for a nanosecond more of pauses.
        let asked = Workload { think_time_ns: 1000, ..asked };
        let same = with_pauses(&asked, 1000, predict).expect("a prediction");
        assert!(near(told.response_time_ns, same.response_time_ns, 0.01), "{told:?} {same:?}");
    }

    /// Guards against twice the rate and, where one request is served at a time, twice the response
    /// time of a run: its queue drains before each pause. The truth is that of exponential times.
    #[test]
    fn a_queue_drains_before_each_pause() {
        let longest = (1..=8).map(|left| 1.0 / f64::from(left)).sum::<f64>();
        for (is_wide, think_time_ns, drain_s, mean_ns) in
            [(false, 100_000, 8e-4, 4.5e5), (true, 10_000, longest * 1e-4, 1e5)]
        {
            let workload = Workload { queue_depth: 8, think_time_ns, ..Workload::default() };
            let told = predicted(&workload, is_wide);
            let truth = 8.0 / (drain_s + workload.pause_ns() / 1e9);
            let [low, high] = told.interval90.map(|end| end / 4096.0);
            assert!(low < truth && truth < high, "{truth}: {told:?}");
            assert!(near(told.iops, truth, 0.45), "{truth}: {told:?}");
            assert!(near(told.response_time_ns, mean_ns, 0.34), "{told:?}");
        }
    }
}
