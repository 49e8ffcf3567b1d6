//! A workload on a simulated system: processes in virtual time, each with one request at a time.

use super::host::{Access, BLOCK, Host};
use ioscape_schema::{Direction, Op, Request, ResponseTime};

/// How long a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Course {
    /// Virtual time before the measured part.
    pub warm_up_ns: u64,
    /// Virtual time of the measured part.
    pub measure_ns: u64,
    /// Fewest requests of the measured part.
    pub requests_least: usize,
    /// Most requests of either part.
    pub requests_most: usize,
}

/// Parts of the measured time that the confidence interval is computed from.
const BATCHES: usize = 20;

/// Two-sided 95 % quantile of Student's t with one degree of freedom less than batches.
const STUDENT: f64 = 2.093;

/// What a run yields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ran {
    /// Requests.
    pub ios: u64,
    /// Bytes.
    pub bytes: u64,
    /// Length of the measured part.
    pub elapsed_ns: u64,
    /// 95 % confidence interval of the bytes per second.
    pub ci95: [f64; 2],
    /// Busiest tenth of the time over the mean.
    pub burst_ratio: f64,
    /// Response times.
    pub response: ResponseTime,
    /// Reads.
    pub read: Option<Direction>,
    /// Writes.
    pub write: Option<Direction>,
}

/// One completed request.
#[derive(Clone, Copy, Debug)]
struct Completed {
    at_ns: u64,
    response_ns: u64,
    bytes: u32,
    write: bool,
}

/// Runs processes against a host. `next` gives the next request of a process; the process with the earliest time goes
/// first, the lowest number among equals.
pub fn run(
    host: &mut Host<'_>,
    processes: u32,
    mut next: impl FnMut(usize) -> Request,
    think_ns: u64,
    access: Access,
    course: Course,
) -> Ran {
    let mut times = vec![0u64; processes.max(1) as usize];
    let mut done: Vec<Completed> = Vec::new();
    let (mut warm, mut begun_ns) = (0, None);
    while let Some(process) = (0..times.len()).min_by_key(|&p| times[p]) {
        let now = times[process];
        if begun_ns.is_none() && (now >= course.warm_up_ns || warm >= course.requests_most) {
            begun_ns = Some(now);
        }
        let request = next(process);
        let first = (request.offset / BLOCK) as u32;
        let count = request.len.div_ceil(BLOCK as u32);
        let write = request.op == Op::Write;
        let completed_ns = host.request(now, first, count, write, access);
        times[process] = completed_ns + think_ns;
        let Some(begun) = begun_ns else {
            warm += 1;
            continue;
        };
        done.push(Completed {
            at_ns: completed_ns,
            response_ns: completed_ns - now,
            bytes: request.len,
            write,
        });
        let long_enough = now - begun >= course.measure_ns && done.len() >= course.requests_least;
        if long_enough || done.len() >= course.requests_most {
            break;
        }
    }
    let begun = begun_ns.unwrap_or(0);
    let end = done.iter().map(|c| c.at_ns).max().unwrap_or(begun);
    summed(&done, begun, end)
}

fn summed(done: &[Completed], begun: u64, end: u64) -> Ran {
    let elapsed_ns = (end - begun).max(1);
    let seconds = elapsed_ns as f64 / 1e9;
    let mut batches = [0.0; BATCHES];
    for one in done {
        let at = (one.at_ns - begun) as u128 * BATCHES as u128 / u128::from(elapsed_ns);
        batches[(at as usize).min(BATCHES - 1)] += f64::from(one.bytes);
    }
    let part = seconds / BATCHES as f64;
    let rates: Vec<f64> = batches.iter().map(|b| b / part).collect();
    let mean = rates.iter().sum::<f64>() / BATCHES as f64;
    let variance =
        rates.iter().map(|r| (r - mean) * (r - mean)).sum::<f64>() / (BATCHES - 1) as f64;
    let half = STUDENT * libm::sqrt(variance / BATCHES as f64);
    let fastest = rates.iter().copied().fold(0.0, f64::max);
    let all: Vec<&Completed> = done.iter().collect();
    Ran {
        ios: done.len() as u64,
        bytes: done.iter().map(|c| u64::from(c.bytes)).sum(),
        elapsed_ns,
        ci95: [(mean - half).max(0.0), mean + half],
        burst_ratio: if mean > 0.0 { fastest / mean } else { 1.0 },
        response: response(&all),
        read: direction(done, false, seconds),
        write: direction(done, true, seconds),
    }
}

fn direction(done: &[Completed], write: bool, seconds: f64) -> Option<Direction> {
    let all: Vec<&Completed> = done.iter().filter(|c| c.write == write).collect();
    let bytes = all.iter().map(|c| u64::from(c.bytes)).sum::<u64>();
    (!all.is_empty()).then(|| Direction {
        ios: all.len() as u64,
        bytes,
        throughput_bytes_per_s: bytes as f64 / seconds,
        response_time_ns: response(&all),
    })
}

fn response(done: &[&Completed]) -> ResponseTime {
    let mut times: Vec<u64> = done.iter().map(|c| c.response_ns).collect();
    times.sort_unstable();
    let Some(&max) = times.last() else { return ResponseTime::default() };
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let mean = times.iter().map(|&t| t as f64).sum::<f64>() / times.len() as f64;
    ResponseTime { mean, p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max }
}
