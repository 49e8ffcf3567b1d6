//! Numbers with their bounds in words.

use ioscape_schema::units::{Bytes, Rate};
use ioscape_schema::{Bounded, Point, is_uncertain};

/// A factor with the digits that its accuracy justifies.
pub(super) fn factor(value: f64) -> String {
    match value {
        10.0.. => format!("{value:.0}"),
        2.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// The text with a capital and a full stop.
pub(super) fn sentence(text: String) -> String {
    let mut rest = text.chars();
    rest.next().into_iter().flat_map(char::to_uppercase).chain(rest).chain(['.']).collect()
}

/// " (1.3 to 1.5)", or " (1.3 or more)".
pub(super) fn within(by: Bounded) -> String {
    match by.high.is_finite() {
        true => format!(" ({} to {})", factor(by.low), factor(by.high)),
        false => format!(" ({} or more)", factor(by.low)),
    }
}

/// "1.4 (1.3 to 1.5)".
pub(super) fn bounded(by: Bounded) -> String {
    factor(by.value) + &within(by)
}

/// " (1.4 (0.90 to 2.1) times)"; empty if the bounds are too wide to say anything.
pub(super) fn open_times(by: Bounded) -> String {
    match is_uncertain(by.low, by.high) {
        true => String::new(),
        false => format!(" ({} times)", bounded(by)),
    }
}

/// " (tried: 3 and 8)": the values of a curve but its first, with which they are compared; empty
/// without any. The best may lie between them.
pub(super) fn tried(curve: &[Point]) -> String {
    let several: Vec<String> = curve.iter().skip(1).map(|p| p.value.to_string()).collect();
    match &several[..] {
        [] => String::new(),
        [one] => format!(" (tried: {one})"),
        [first @ .., last] => format!(" (tried: {} and {last})", first.join(", ")),
    }
}

/// "22.4 GiB (21.9 GiB to 22.9 GiB)".
pub(super) fn size_within(size: Bounded) -> String {
    format!("{} ({} to {})", Bytes(size.value), Bytes(size.low), Bytes(size.high))
}

/// "5.4 GB/s (4.9 GB/s to 6 GB/s)", from the error in log throughput.
pub(super) fn speed_within(speed: f64, error: f64) -> String {
    let [low, high] = [-error, error].map(|error| Rate(speed * error.exp()));
    format!("{} ({low} to {high})", Rate(speed))
}

/// "97 %"; never rounded to certainty.
pub(super) fn percent(probability: f64) -> String {
    match probability {
        0.99.. => "over 99 %".into(),
        0.01.. => format!("{:.0} %", 100.0 * probability),
        _ => "under 1 %".into(),
    }
}
