//! What several clients did after a common start, and how evenly they were served.

use ioscape_schema::statistics::median;
use ioscape_schema::{Client, Clients, Warning, WarningKind};
use serde::Deserialize;

/// A client straggles below this share of the median client's throughput.
pub(super) const STRAGGLES: f64 = 0.8;
/// Starts further apart than this are reported, in nanoseconds.
const SKEW_MAX_NS: u64 = 1_000_000;

/// What one client did.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ByClient<T> {
    /// Number of the client.
    pub rank: u32,
    /// The machine that it ran on.
    pub host: String,
    /// What it did.
    #[serde(flatten)]
    pub did: T,
    /// When it began, in nanoseconds since 1970 on the first client's clock.
    #[serde(default)]
    pub began_unix_ns: i64,
}

/// What all clients did after a common start.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Joint<T> {
    /// The clients.
    #[serde(rename = "clients")]
    pub each: Vec<ByClient<T>>,
    /// Seconds spent on agreeing.
    #[serde(default)]
    pub coordination_s: f64,
    /// How far the clock offsets may be off, in nanoseconds.
    #[serde(default)]
    pub clock_error_ns: u64,
}

impl<T> Joint<T> {
    /// Nanoseconds between the first start and the last.
    pub(super) fn skew_ns(&self) -> u64 {
        let times = || self.each.iter().map(|one| one.began_unix_ns);
        times().max().zip(times().min()).map_or(0, |(last, first)| last.abs_diff(first))
    }

    /// Seconds from the first start to the last end, if each client was busy for `busy_s`.
    pub(super) fn elapsed_s(&self, busy_s: impl Fn(&T) -> f64) -> f64 {
        let first = self.each.iter().map(|one| one.began_unix_ns).min().unwrap_or(0);
        let ended_s =
            |one: &ByClient<T>| one.began_unix_ns.abs_diff(first) as f64 / 1e9 + busy_s(&one.did);
        self.each.iter().map(ended_s).fold(0.0, f64::max)
    }

    /// The clients, with the figures that `figures` gives of each.
    pub(super) fn clients(&self, figures: impl Fn(&T) -> Client) -> Clients {
        let client = |one: &ByClient<T>| Client {
            rank: one.rank,
            host: one.host.clone(),
            ..figures(&one.did)
        };
        Clients {
            start_skew_ns: self.skew_ns(),
            clock_error_ns: self.clock_error_ns,
            coordination_s: self.coordination_s,
            windows: 1,
            ..evenness(self.each.iter().map(client).collect())
        }
    }

    /// The warnings about `clients` of a single run, and those of each client with its name.
    pub(super) fn doubts(&self, clients: &Clients, own: impl Fn(&T) -> &[Warning]) -> Vec<Warning> {
        let mut doubts = Vec::from_iter(skewed(clients));
        doubts.extend(slow(clients));
        for one in &self.each {
            own_doubts(&mut doubts, one, own(&one.did).iter());
        }
        doubts
    }
}

/// The warning that the clients did not begin together, or that their clocks are too inexact to
/// show it.
pub(super) fn skewed(clients: &Clients) -> Option<Warning> {
    let mut message =
        format!("the clients began {:.1} ms apart", clients.start_skew_ns as f64 / 1e6);
    let untold = clients.clock_error_ns > SKEW_MAX_NS;
    if untold {
        let error_ms = clients.clock_error_ns as f64 / 1e6;
        message += &format!(", by clocks that may be {error_ms:.1} ms wrong");
    }
    (untold || clients.start_skew_ns > SKEW_MAX_NS)
        .then(|| Warning::new(WarningKind::NotSteady, message))
}

/// One warning for each client that the others waited for.
fn slow(clients: &Clients) -> Vec<Warning> {
    let median = median(&rates(&clients.each));
    let slow = clients.each.iter().filter(|one| one.throughput_bytes_per_s < STRAGGLES * median);
    let sentence = |one: &Client| {
        let message = format!(
            "client {} on {} had {:.0} % of the median client's throughput in this run: more runs would tell whether it straggles",
            one.rank,
            one.host,
            100.0 * one.throughput_bytes_per_s / median
        );
        Warning::new(WarningKind::NotSteady, message)
    };
    slow.map(sentence).collect()
}

/// Adds the warnings of one client, with its name, unless there is already one of that kind.
pub(super) fn own_doubts<'a, T>(
    warnings: &mut Vec<Warning>,
    client: &ByClient<T>,
    own: impl Iterator<Item = &'a Warning>,
) {
    let ByClient { rank, host, .. } = client;
    for warning in own {
        if warnings.iter().all(|one| one.kind != warning.kind) {
            let message = format!("client {rank} on {host}: {}", warning.message);
            warnings.push(Warning::new(warning.kind, message));
        }
    }
}

pub(super) fn rates(each: &[Client]) -> Vec<f64> {
    each.iter().map(|client| client.throughput_bytes_per_s).collect()
}

/// The clients with Jain's fairness index and their spread.
pub(super) fn evenness(each: Vec<Client>) -> Clients {
    let rates = rates(&each);
    let (sum, squares) = (rates.iter().sum::<f64>(), rates.iter().map(|r| r * r).sum::<f64>());
    let mean = sum / rates.len().max(1) as f64;
    let over_mean = |rate: f64| if mean > 0.0 { rate / mean } else { 0.0 };
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = rates.iter().copied().fold(0.0, f64::max);
    Clients {
        fairness: if squares > 0.0 { sum * sum / (rates.len() as f64 * squares) } else { 1.0 },
        spread: [over_mean(least), over_mean(most)],
        each,
        ..Clients::default()
    }
}
