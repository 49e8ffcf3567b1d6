//! A finished run: turns the counts of its streams into a measurement.

use super::counters::Counters;
use super::interval::{Interval, burst_ratio, ends_of, interval};
use crate::{Direction, Engine, Measurement, Stop, Workload};

/// A finished run: the counts of its streams and its rate by slice.
#[derive(Clone, Debug)]
pub struct Tally {
    counters: [Counters; 2],
    bytes_per_s: f64,
    longest_ns: u64,
    /// Total length of all streams' measured parts.
    streams_ns: u64,
    /// Total think time of the streams in these parts.
    thought_ns: u64,
    rates: Vec<f64>,
    interval: Option<Interval>,
    stop: Stop,
}

impl Tally {
    /// Starts the tally of a run whose slices of equal length had these `rates`, in bytes per
    /// second, and that ended for the reason `stop`.
    pub fn new(rates: Vec<f64>, stop: Stop) -> Self {
        let interval = interval(&rates);
        Self::with_interval(rates, interval, stop)
    }

    /// Does the same with an interval from other batches.
    pub fn with_interval(rates: Vec<f64>, interval: Option<Interval>, stop: Stop) -> Self {
        let counters = [Counters::new(), Counters::new()];
        Self {
            counters,
            bytes_per_s: 0.0,
            longest_ns: 0,
            streams_ns: 0,
            thought_ns: 0,
            rates,
            interval,
            stop,
        }
    }

    /// Adds a stream: its reads, its writes, and the length of its own measured part.
    pub fn add_stream(&mut self, counters: &[Counters; 2], elapsed_ns: u64) {
        for (sum, one) in self.counters.iter_mut().zip(counters) {
            sum.merge(one);
        }
        let bytes: u64 = counters.iter().map(|c| c.bytes).sum();
        if elapsed_ns > 0 {
            self.bytes_per_s += bytes as f64 * 1e9 / elapsed_ns as f64;
        }
        self.longest_ns = self.longest_ns.max(elapsed_ns);
        self.streams_ns = self.streams_ns.saturating_add(elapsed_ns);
    }

    /// Adds the nanoseconds that a stream thought. It is needed for phases, which have their own
    /// think times; without phases, the workload's think time counts if nothing was added.
    pub fn add_thinking(&mut self, thought_ns: u64) {
        self.thought_ns = self.thought_ns.saturating_add(thought_ns);
    }

    /// Returns the measurement; `overhead_ns` is the harness's own cost per request.
    ///
    /// The throughput is the sum of the streams' throughputs, and the elapsed time is that of all
    /// bytes at this rate. An application's phases run only once, so both come from the longest
    /// stream. With fewer than ten slices the interval is from 0 to twice the throughput; otherwise
    /// it is at least as wide as one request makes it.
    pub fn measurement(&self, workload: &Workload, overhead_ns: f64) -> Measurement {
        let [read, write] = &self.counters;
        let mut all = read.clone();
        all.merge(write);
        let longest_s = self.longest_ns as f64 / 1e9;
        let (throughput, elapsed_s) = match self.bytes_per_s {
            _ if !workload.phases.is_empty() && longest_s > 0.0 => {
                (all.bytes as f64 / longest_s, longest_s)
            }
            rate if rate > 0.0 => (rate, all.bytes as f64 / rate),
            rate => (rate, longest_s),
        };
        let ios = all.ios as f64;
        let known = self.interval.map(|found| found.of_requests(ios));
        // A stream that has finished all its phases does not wait.
        let (streams_s, thought_ns) = match workload.phases.is_empty() {
            true => {
                let streams_s = f64::from(workload.process_num) * elapsed_s;
                let asked_ns = workload.think_time_ns as f64 * ios;
                (streams_s, if self.thought_ns > 0 { self.thought_ns as f64 } else { asked_ns })
            }
            false => (self.streams_ns as f64 / 1e9, self.thought_ns as f64),
        };
        let in_flight_ns =
            f64::from(workload.queue_depth) * (streams_s * 1e9 - thought_ns).max(0.0);
        let mut m = Measurement {
            ios: all.ios,
            bytes: all.bytes,
            elapsed_s,
            throughput_bytes_per_s: throughput,
            throughput_ci95: ends_of(throughput, known),
            response_time_ns: all.response_time(),
            response_time_littles_law_ns: (all.ios > 0).then(|| in_flight_ns / ios),
            read: direction(read, elapsed_s),
            write: direction(write, elapsed_s),
            burst_ratio: burst_ratio(&self.rates),
            stalled_s: all.stalled_s(),
            ..Measurement::empty(workload.clone(), self.stop)
        };
        share_of_io(&mut m, streams_s * 1e9, overhead_ns * ios + thought_ns);
        m
    }
}

fn direction(counters: &Counters, elapsed_s: f64) -> Option<Direction> {
    let bytes = counters.bytes;
    (counters.ios > 0).then(|| Direction {
        ios: counters.ios,
        bytes,
        throughput_bytes_per_s: if elapsed_s > 0.0 { bytes as f64 / elapsed_s } else { 0.0 },
        response_time_ns: counters.response_time(),
    })
}

/// Sets the fraction of the streams' time left to I/O by the harness and by thinking, which
/// together took `besides_ns`.
fn share_of_io(m: &mut Measurement, streams_ns: f64, besides_ns: f64) {
    let is_null = m.workload.engine == Engine::Null;
    m.io_time_frac = match streams_ns > 0.0 && !is_null {
        true => (1.0 - besides_ns / streams_ns).clamp(0.0, 1.0),
        false => 0.0,
    };
    m.io_limited = (!is_null).then_some(m.io_time_frac > 0.5);
}
