//! Several clients as one: windows that they ran at the same time become a measurement of their
//! sum.

mod cell;
mod curve;
mod hosts;
mod joint;
mod room;
mod witness;
mod work;

pub(crate) use cell::sentence;
pub use cell::{Celled, cells};
pub use curve::{curves, exploring_s};
pub use hosts::unname;
pub use joint::{ByClient, Joint};
pub use room::{check_files, check_sets};
pub use work::{ClientTask, Worked, dealt};

use ioscape_schema::statistics::{mean, median};
use ioscape_schema::tally::{Interval, Looks, StopRule, ends_of, interval_of_requests};
use ioscape_schema::{
    Client, Clients, Direction, Evaluation, Measurement, ResponseTime, Stop, Warning, WarningKind,
    Witness, Workload,
};
use joint::{STRAGGLES, evenness, own_doubts, rates, skewed};
use serde::Deserialize;

/// The sum is known well enough when half its interval is at most this share of the throughput.
const CONFIDENCE: f64 = 0.03;
/// Shortest measured part that clients agree on, in seconds.
const LEAST_S: f64 = 0.5;

/// The number of clients that ran an evaluation.
pub fn number_of(evaluation: &Evaluation) -> u32 {
    let mut clients =
        evaluation.unique_bytes_curve.iter().filter_map(|point| point.measurement.clients.as_ref());
    clients.next().map_or(1, |clients| clients.each.len() as u32)
}

/// Refuses to validate with `asked` clients if another number of clients ran the evaluation.
pub fn check_number(evaluation: &Evaluation, asked: u32) -> Result<(), String> {
    match number_of(evaluation) {
        found if found == asked => Ok(()),
        1 => Err(format!(
            "the evaluation is of one client, and its predictions do not hold for {asked}: evaluate with {asked} clients first"
        )),
        found => Err(format!(
            "the evaluation is of {found} clients together, and predicts the sum of so many: mpiexec -n {found} python -m ioscape.mpi validate ..."
        )),
    }
}

/// What one client did in one window.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Windowed {
    /// What it measured.
    pub measurement: Measurement,
    /// Bytes per second of each slice of the window; slices of all clients are equally long.
    pub rates: Vec<f64>,
}

/// The rule for when the sum of the clients is known well enough: after `min_s` to `cap_s` seconds,
/// but never too short for agreeing.
pub fn rule(min_s: f64, cap_s: f64) -> StopRule {
    StopRule { min_s: min_s.max(LEAST_S), cap_s: cap_s.max(LEAST_S), confidence: CONFIDENCE }
}

/// Windows of one workload, added until the sum of the clients is known well enough.
#[derive(Clone, Debug)]
pub struct Together {
    workload: Workload,
    rule: StopRule,
    looks: Looks,
    windows: Vec<Joint<Windowed>>,
}

impl Together {
    /// Returns the state before the first window.
    pub fn new(workload: Workload, rule: StopRule) -> Self {
        Self { workload, rule, looks: Looks::new(rule), windows: Vec::new() }
    }

    /// Seconds that the next window should last: half of the allowed time, so that a quiet system
    /// is done after the first window.
    pub fn next_s(&self) -> f64 {
        let cap = self.rule.cap_s.max(self.rule.min_s);
        (cap - self.elapsed_s()).min((cap / 2.0).max(self.rule.min_s)).max(0.1)
    }

    /// Adds a window; returns the measurement if it was the last one.
    pub fn add(&mut self, window: Joint<Windowed>) -> Option<Measurement> {
        self.windows.push(window);
        // A slice may be missing at the end of each window.
        let elapsed_s = self.elapsed_s() + 0.06 * self.windows.len() as f64;
        let ios: u64 = self.runs().map(|run| run.did.measurement.ios).sum();
        self.looks.look(&self.rates(), ios as f64, elapsed_s).map(|stop| self.measurement(stop))
    }

    fn elapsed_s(&self) -> f64 {
        self.slowest_s(|one| one.elapsed_s)
    }

    /// Seconds of the slowest client, summed over all windows.
    fn slowest_s(&self, of: fn(&Measurement) -> f64) -> f64 {
        let of_window = |window: &Joint<Windowed>| {
            window.each.iter().map(|run| of(&run.did.measurement)).fold(0.0, f64::max)
        };
        self.windows.iter().map(of_window).sum()
    }

    /// Bytes per second of all clients together, slice by slice.
    fn rates(&self) -> Vec<f64> {
        let of_window = |window: &Joint<Windowed>| -> Vec<f64> {
            let slices = window.each.iter().map(|run| run.did.rates.len()).min().unwrap_or(0);
            (0..slices).map(|at| window.each.iter().map(|run| run.did.rates[at]).sum()).collect()
        };
        self.windows.iter().flat_map(of_window).collect()
    }

    fn runs(&self) -> impl Iterator<Item = &ByClient<Windowed>> {
        self.windows.iter().flat_map(|window| &window.each)
    }

    fn measurement(&self, stop: Stop) -> Measurement {
        let clients = self.clients();
        let throughput: f64 = clients.each.iter().map(|client| client.throughput_bytes_per_s).sum();
        let all = || self.runs().map(|run| &run.did.measurement);
        let bytes: u64 = all().map(|one| one.bytes).sum();
        // The time that all bytes take at the throughput, as for the streams of one client; the
        // slowest client's time would contradict it.
        let elapsed_s = match throughput > 0.0 {
            true => bytes as f64 / throughput,
            false => self.elapsed_s(),
        };
        let ios: u64 = all().map(|one| one.ios).sum();
        let found = interval_of_requests(&self.rates(), ios as f64);
        let cpu = |of: fn(&Measurement) -> f64| all().map(of).sum::<f64>();
        let (user, system) = (cpu(|one| one.cpu_user_s), cpu(|one| one.cpu_system_s));
        let mut sum = Measurement {
            ios,
            bytes,
            elapsed_s,
            throughput_bytes_per_s: throughput,
            throughput_ci95: ends_of(throughput, found),
            response_time_ns: times(all().map(|one| (one.ios, one.response_time_ns))),
            read: directions(all().filter_map(|one| one.read), elapsed_s),
            write: directions(all().filter_map(|one| one.write), elapsed_s),
            cpu_user_s: user,
            cpu_system_s: system,
            cpu_ns_per_io: 1e9 * (user + system) / ios.max(1) as f64,
            io_time_frac: mean(&all().map(|one| one.io_time_frac).collect::<Vec<_>>()),
            fill_s: Some(self.slowest_s(|one| one.fill_s.unwrap_or(0.0))).filter(|&s| s > 0.0),
            warm_up_s: all().map(|one| one.warm_up_s).fold(0.0, f64::max),
            cost_s: self.slowest_s(|one| one.cost_s),
            storage_read_bytes: all().map(|one| one.storage_read_bytes).sum(),
            // Share of the clients' sets in their caches, if all of them report it.
            resident_frac: witness::mean_share(all().map(|one| one.resident_frac)),
            witness: self.witness(),
            disturbed: all().any(|one| one.disturbed),
            not_read_in: all().any(|one| one.not_read_in),
            ..Measurement::empty(self.workload.clone(), stop)
        };
        sum.warnings = self.warnings(&clients, found);
        sum.clients = Some(clients);
        sum
    }

    fn witness(&self) -> Witness {
        let of_window = |window: &Joint<Windowed>| {
            window.each.iter().map(|run| run.did.measurement.witness.clone()).collect()
        };
        witness::of_all(&self.windows.iter().map(of_window).collect::<Vec<_>>())
    }

    fn clients(&self) -> Clients {
        let mut ranks: Vec<u32> = self.runs().map(|run| run.rank).collect();
        ranks.sort_unstable();
        ranks.dedup();
        let mut each: Vec<Client> = ranks.into_iter().map(|rank| self.client(rank)).collect();
        let median = median(&rates(&each));
        for client in &mut each {
            client.straggles = client.throughput_ci95[1] < STRAGGLES * median;
        }
        Clients {
            start_skew_ns: self.windows.iter().map(Joint::skew_ns).max().unwrap_or(0),
            clock_error_ns: self.windows.iter().map(|w| w.clock_error_ns).max().unwrap_or(0),
            coordination_s: self.windows.iter().map(|window| window.coordination_s).sum(),
            windows: self.windows.len() as u32,
            ..evenness(each)
        }
    }

    fn client(&self, rank: u32) -> Client {
        let own: Vec<&ByClient<Windowed>> = self.runs().filter(|run| run.rank == rank).collect();
        let bytes: u64 = own.iter().map(|run| run.did.measurement.bytes).sum();
        let elapsed_s: f64 = own.iter().map(|run| run.did.measurement.elapsed_s).sum();
        let throughput = if elapsed_s > 0.0 { bytes as f64 / elapsed_s } else { 0.0 };
        let rates: Vec<f64> = own.iter().flat_map(|run| run.did.rates.iter().copied()).collect();
        let ios: u64 = own.iter().map(|run| run.did.measurement.ios).sum();
        let found = interval_of_requests(&rates, ios as f64);
        let times =
            own.iter().map(|run| (run.did.measurement.ios, run.did.measurement.response_time_ns));
        Client {
            rank,
            host: own.first().map(|run| run.host.clone()).unwrap_or_default(),
            throughput_bytes_per_s: throughput,
            throughput_ci95: ends_of(throughput, found),
            response_time_mean_ns: self::times(times).mean,
            straggles: false,
        }
    }

    /// The warnings about the sum, and those of each client with its name.
    fn warnings(&self, clients: &Clients, found: Option<Interval>) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let relative = found.map_or(f64::INFINITY, |found| found.relative());
        if relative > self.rule.confidence {
            let message = match found {
                Some(_) => format!(
                    "when time was up the sum of the clients was known to {:.0} % only",
                    100.0 * relative
                ),
                None => {
                    "the clients had too few slices in common for an interval: give a longer time"
                        .to_owned()
                }
            };
            warnings.push(Warning::new(WarningKind::NotConfident, message));
        }
        warnings.extend(skewed(clients));
        let median = median(&rates(&clients.each));
        for client in clients.each.iter().filter(|client| client.straggles) {
            let message = format!(
                "client {} on {} straggles: {:.0} % of the median client's throughput",
                client.rank,
                client.host,
                100.0 * client.throughput_bytes_per_s / median
            );
            warnings.push(Warning::new(WarningKind::NotSteady, message));
        }
        for run in self.runs() {
            let own = run.did.measurement.warnings.iter();
            let own = own.filter(|one| !matches!(one.kind, WarningKind::NotConfident));
            own_doubts(&mut warnings, run, own);
        }
        warnings
    }
}

/// The mean over all requests. The quantiles are those of the client with the longest, so no
/// client's are longer.
fn times(each: impl Iterator<Item = (u64, ResponseTime)>) -> ResponseTime {
    let (mut ios, mut sum, mut all) = (0u64, 0.0, ResponseTime::default());
    for (count, one) in each {
        ios += count;
        sum += count as f64 * one.mean;
        all.p50 = all.p50.max(one.p50);
        all.p90 = all.p90.max(one.p90);
        all.p99 = all.p99.max(one.p99);
        all.p999 = all.p999.max(one.p999);
        all.max = all.max.max(one.max);
    }
    ResponseTime { mean: if ios > 0 { sum / ios as f64 } else { 0.0 }, ..all }
}

fn directions(each: impl Iterator<Item = Direction>, elapsed_s: f64) -> Option<Direction> {
    let all: Vec<Direction> = each.collect();
    let bytes: u64 = all.iter().map(|one| one.bytes).sum();
    (!all.is_empty()).then(|| Direction {
        ios: all.iter().map(|one| one.ios).sum(),
        bytes,
        throughput_bytes_per_s: if elapsed_s > 0.0 { bytes as f64 / elapsed_s } else { 0.0 },
        response_time_ns: times(all.iter().map(|one| (one.ios, one.response_time_ns))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: StopRule = StopRule { min_s: 1.0, cap_s: 4.0, confidence: 0.05 };

    fn run(rank: u32, rate: f64, wobble: f64) -> ByClient<Windowed> {
        let rates: Vec<f64> =
            (0..40u32).map(|at| rate * (1.0 + wobble * f64::from(at * at % 7) / 7.0)).collect();
        let bytes = (2.0 * mean(&rates)) as u64;
        let workload = Workload::default();
        let measurement = Measurement {
            ios: 10,
            bytes,
            elapsed_s: 2.0,
            response_time_ns: ResponseTime {
                mean: 5.0 * f64::from(rank + 1),
                ..ResponseTime::default()
            },
            ..Measurement::empty(workload, Stop::TimeCap)
        };
        let began_unix_ns = 1_000_000_000 + i64::from(rank) * 300_000;
        let did = Windowed { measurement, rates };
        ByClient { rank, host: format!("h{rank}"), did, began_unix_ns }
    }

    fn window(rates: &[f64], wobble: f64) -> Joint<Windowed> {
        let each = (0u32..).zip(rates).map(|(rank, &rate)| run(rank, rate, wobble)).collect();
        Joint { each, coordination_s: 0.1, clock_error_ns: 20_000 }
    }

    #[test]
    fn a_steady_sum_is_known_after_one_window() {
        let mut together = Together::new(Workload::default(), RULE);
        assert_eq!(together.next_s(), 2.0);
        let found = together.add(window(&[1e8, 1e8, 1e8, 2e7], 0.0)).expect("it is steady");
        assert_eq!((found.stop, found.ios), (Stop::Confident, 40));
        assert!((found.throughput_bytes_per_s / 3.2e8 - 1.0).abs() < 1e-6);
        assert_eq!(found.response_time_ns.mean, 12.5);
        let clients = found.clients.expect("there were clients");
        let straggling: Vec<u32> =
            clients.each.iter().filter(|one| one.straggles).map(|one| one.rank).collect();
        assert_eq!((straggling, clients.start_skew_ns, clients.windows), (vec![3], 900_000, 1));
        let jain = 3.2f64 * 3.2 / (4.0 * (3.0 + 0.04));
        assert!((clients.fairness - jain).abs() < 1e-9, "{}", clients.fairness);
        assert!(found.warnings.iter().any(|one| one.message.contains("client 3 on h3 straggles")));
    }

    /// Guards against a defect: it was reported as a share of the mean, which another straggler
    /// lowers: 99 %.
    #[test]
    fn who_straggles_is_told_beside_the_median_client() {
        let mut all = window(&[1e8, 1e8, 1e8, 7.5e7, 5e6], 0.0);
        all.each.iter_mut().for_each(|run| run.did.measurement.ios = 1000);
        let found = Together::new(Workload::default(), RULE).add(all).expect("it is steady");
        let told: Vec<&str> = found.warnings.iter().map(|one| &*one.message).collect();
        let expected = "client 3 on h3 straggles: 75 % of the median client's throughput";
        assert!(told.contains(&expected), "{told:?}");
    }

    #[test]
    fn a_wild_sum_takes_all_the_time_and_says_so() {
        let mut together =
            Together::new(Workload::default(), StopRule { confidence: 1e-4, ..RULE });
        assert_eq!(together.add(window(&[1e8, 1e8], 5.0)), None);
        let found = together.add(window(&[1e8, 1e8], 5.0)).expect("time is up");
        assert_eq!((found.stop, found.elapsed_s), (Stop::TimeCap, 4.0));
        assert!(found.warnings[0].message.contains("the sum of the clients was known to"));
        assert!(found.clients.is_some_and(|clients| clients.fairness > 0.999));
    }

    /// Guards against a defect: reads alone were reported as a third slower than all requests,
    /// because of the slowest client's last request.
    #[test]
    fn figures_of_the_sum_agree_where_a_client_ends_late() {
        let mut late = window(&[1e8; 2], 0.0);
        late.each[1].did.measurement.elapsed_s = 4.0;
        for run in &mut late.each {
            let (ios, bytes) = (run.did.measurement.ios, run.did.measurement.bytes);
            run.did.measurement.read = Some(Direction { ios, bytes, ..Direction::default() });
        }
        let found = Together::new(Workload::default(), RULE).add(late).expect("time is up");
        assert_eq!((found.bytes, found.throughput_bytes_per_s), (400_000_000, 1.5e8));
        let read = found.read.expect("it reads").throughput_bytes_per_s;
        assert!((read / 1.5e8 - 1.0).abs() < 1e-9, "{read}");
        assert!((found.iops() * 2e7 / 1.5e8 - 1.0).abs() < 1e-9, "{}", found.iops());
    }

    #[test]
    fn sets_come_in_when_that_of_the_slowest_client_has() {
        let mut together =
            Together::new(Workload::default(), StopRule { confidence: 1e-4, ..RULE });
        let filled = |each: [Option<f64>; 2]| {
            let mut window = window(&[1e8, 1e8], 5.0);
            for (run, fill_s) in window.each.iter_mut().zip(each) {
                run.did.measurement.fill_s = fill_s;
            }
            window
        };
        assert_eq!(together.add(filled([Some(3.0), Some(8.0)])), None);
        let found = together.add(filled([None, Some(1.0)])).expect("time is up");
        assert_eq!(found.fill_s, Some(9.0));
    }

    #[test]
    fn a_set_that_one_client_did_not_read_in_is_not_read_in() {
        let mut all = window(&[1e8; 3], 0.0);
        all.each[1].did.measurement.not_read_in = true;
        let found = Together::new(Workload::default(), RULE).add(all).expect("it is steady");
        assert!(found.not_read_in);
    }

    #[test]
    fn equal_clients_are_served_evenly_and_late_ones_are_told() {
        let mut late = window(&[1e8; 3], 0.0);
        late.each[2].began_unix_ns += 5_000_000;
        let found = Together::new(Workload::default(), RULE).add(late).expect("it is steady");
        let clients = found.clients.as_ref().expect("there were clients");
        assert!((clients.fairness - 1.0).abs() < 1e-9);
        assert!(clients.each.iter().all(|client| !client.straggles));
        assert!(found.warnings.iter().any(|one| one.message == "the clients began 5.6 ms apart"));
    }

    #[test]
    fn a_window_is_read_as_whoever_leads_the_clients_writes_it() {
        let one = run(1, 1e8, 0.0);
        let client = serde_json::json!({"rank": 1, "host": "h1", "measurement": one.did.measurement, "rates": one.did.rates,
            "began_unix_ns": one.began_unix_ns});
        let text = serde_json::json!({"clients": [client], "coordination_s": 0.1, "clock_error_ns": 20_000});
        let read: Joint<Windowed> = serde_json::from_value(text).expect("a window");
        assert_eq!(read, Joint { each: vec![one], coordination_s: 0.1, clock_error_ns: 20_000 });
        assert!(serde_json::from_str::<Joint<Windowed>>(r#"{"ready": true}"#).is_err());
    }
}
