//! Numbers only as precise as the events allow.
//!
//! Shares of few requests are written as counts, and quantiles only if a request lies at or beyond
//! them.

use crate::text::{none, percent};
use ioscape_schema::Distribution;
use ioscape_schema::statistics::least_for;

/// Below this number of events a percentage would be too precise: one event is more than 1 %.
pub const FEW: u64 = 100;

/// The measured value, or a dash.
pub fn told(value: Option<f64>, show: fn(f64) -> String) -> String {
    value.map_or_else(none, show)
}

/// A share of requests or the like: `25 %`, or `1 of 4` if there are few, or a dash if there are
/// none.
pub fn share(part: u64, whole: u64) -> String {
    match whole {
        0 => none(),
        1..FEW => format!("{part} of {whole}"),
        _ => percent(part as f64 / whole as f64),
    }
}

/// Like [`share`], if the fraction is known but not the number of its events.
pub fn share_of(share: f64, whole: u64) -> String {
    self::share((share * whole as f64).round() as u64, whole)
}

/// The requests that may have a place: none if they moved no `bytes`.
pub fn placed(requests: u64, bytes: Option<u64>) -> u64 {
    if bytes == Some(0) { 0 } else { requests }
}

/// The quantile of so many thousandths, or a dash if there are too few values to tell it.
pub fn quantile(of: &Distribution, part: u64, value: f64, show: fn(f64) -> String) -> String {
    if of.count < least_for(part) { none() } else { show(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_few_the_count_is_told() {
        let shares = [(0, 0), (1, 4), (4, 4), (50, 99), (50, 100), (0, 5000), (1, 5000)];
        let shown = shares.map(|(part, whole)| share(part, whole));
        let meant = ["\u{2013}", "1 of 4", "4 of 4", "50 of 99", "50 %", "0 %", "< 0.1 %"];
        assert_eq!(shown, meant);
        assert_eq!([share_of(1.0 / 3.0, 3), share_of(0.25, 1000)], ["1 of 3", "25 %"]);
    }

    #[test]
    fn a_quantile_beyond_all_values_is_not_told() {
        let of = |count| Distribution { count, p99: 7.0, ..Distribution::default() };
        let shown = [99, 100].map(|count| quantile(&of(count), 990, of(count).p99, percent));
        assert_eq!(shown, ["\u{2013}", "700 %"]);
    }
}
