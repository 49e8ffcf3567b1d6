//! Parses values as fio writes them: patterns, switches, percentages, sizes and times.

pub(super) fn pattern(value: &str) -> Option<String> {
    let known = ["read", "write", "randread", "randwrite", "rw", "readwrite", "randrw"];
    known.contains(&value).then(|| value.to_owned())
}

pub(super) fn flag(value: &str) -> Option<bool> {
    match value {
        "" | "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}

/// Parses a percentage.
pub fn percent(value: &str) -> Option<f64> {
    value.parse().ok().filter(|part: &f64| (0.0..=100.0).contains(part))
}

/// Parses a size in fio's units: powers of 1024 by one letter. `Ki` is refused, because it means
/// 1000 to fio and 1024 to everyone else.
pub fn bytes(value: &str) -> Option<u64> {
    let value = value.to_ascii_lowercase();
    let value = value.strip_suffix('b').unwrap_or(&value);
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let power = match &value[digits.len()..] {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1024_u64.pow(power)).filter(|bytes| *bytes > 0)
}

/// Says why a text is no size, and how to write it.
pub(super) fn no_size(value: &str) -> &'static str {
    match value.to_ascii_lowercase().trim_end_matches('b').ends_with('i') {
        true => {
            "is no size in bytes: fio's Ki, Mi and Gi are powers of 1000, its k, m and g of 1024: write those"
        }
        false => "is no size in bytes, such as 1g",
    }
}

/// Parses a time in fio's units; returns nanoseconds. `bare_ns` is the unit of a bare number.
pub(super) fn nanoseconds(value: &str, bare_ns: u64) -> Option<u64> {
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit_ns = match &value[digits.len()..] {
        "" => bare_ns,
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" => SECOND_NS,
        "m" => 60 * SECOND_NS,
        "h" => 3_600 * SECOND_NS,
        "d" => 86_400 * SECOND_NS,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit_ns)
}

/// Nanoseconds in a second.
pub(super) const SECOND_NS: u64 = 1_000_000_000;
