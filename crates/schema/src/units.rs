//! Units: sizes, times and rates as people write and read them.

use std::fmt;

/// Why a size or duration could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a {what}: {hint}")]
pub struct UnitError {
    text: String,
    what: &'static str,
    hint: &'static str,
}

const SIZE_HINT: &str = "give a whole or decimal number above 0 with an optional k, M, G or T (powers of 1024), such as 64k or 1.5G";
const TIME_HINT: &str =
    "give a number above 0 with an optional us, ms, s, m or h, such as 10m or 1.5s";

const RATE_HINT: &str = "give a number above 0 with an optional kB, MB, GB or TB (powers of 1000) or KiB, MiB, GiB (powers of 1024), with or without /s, such as 500MB/s";

/// Splits `64k` into its number and its suffix.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    Some((number, text[end..].trim()))
}

/// Returns the power of 1000 or 1024 that a prefix stands for.
fn power(prefix: &str) -> Option<i32> {
    (0..).zip(["", "k", "m", "g", "t", "p"]).find_map(|(at, one)| (one == prefix).then_some(at))
}

/// Reads a size in bytes; suffixes are powers of 1024 in either case: `4k`, `64M`, `1.5GiB`, `512`.
///
/// # Errors
/// The text is not a positive number with a known suffix, or is below one byte or above 2^63.
pub fn parse_bytes(text: &str) -> Result<u64, UnitError> {
    let fail = || UnitError { text: text.to_owned(), what: "size", hint: SIZE_HINT };
    let (number, suffix) = split(text).ok_or_else(fail)?;
    let lower = suffix.to_ascii_lowercase();
    let letter = lower.trim_end_matches("ib").trim_end_matches('b');
    let power = power(letter).ok_or_else(fail)?;
    if lower.matches('b').count() > 1 || lower == "ib" {
        return Err(fail());
    }
    let bytes = number * 1024f64.powi(power);
    if (1.0..9.2e18).contains(&bytes) { Ok(bytes.round() as u64) } else { Err(fail()) }
}

/// Reads a duration in nanoseconds: `10m`, `1.5s`, `200ms`; a bare number is seconds.
///
/// # Errors
/// The text is not a positive number with a known suffix, or is below one nanosecond or above 30
/// years.
pub fn parse_duration_ns(text: &str) -> Result<u64, UnitError> {
    let fail = || UnitError { text: text.to_owned(), what: "duration", hint: TIME_HINT };
    let (number, suffix) = split(text).ok_or_else(fail)?;
    let scale = match suffix {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "" | "s" => 1e9,
        "m" | "min" => 60e9,
        "h" => 3600e9,
        _ => return Err(fail()),
    };
    let ns = number * scale;
    if (1.0..1e18).contains(&ns) { Ok(ns.round() as u64) } else { Err(fail()) }
}

/// Does the same, and reads 0 with any unit or none.
pub fn parse_delay_ns(text: &str) -> Result<u64, UnitError> {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let unit_of_0 = text.strip_prefix('0').filter(|unit| !unit.contains(is_number));
    match unit_of_0.map(|unit| parse_duration_ns(&format!("1{unit}"))) {
        Some(Ok(_)) => Ok(0),
        _ => parse_duration_ns(text),
    }
}

/// Reads a rate in bytes per second, as [`Rate`] shows it: `500MB/s`, `1.5G`, powers of 1000; `64MiB/s`, powers of 1024.
///
/// # Errors
/// The text is not a positive number with a known suffix, or is below one byte or above 2^63 bytes
/// per second.
pub fn parse_rate(text: &str) -> Result<f64, UnitError> {
    let fail = || UnitError { text: text.to_owned(), what: "rate", hint: RATE_HINT };
    let (number, suffix) = split(text).ok_or_else(fail)?;
    let lower = suffix.to_ascii_lowercase();
    let unit = lower.strip_suffix("/s").unwrap_or(&lower);
    let (prefix, base) = match unit.strip_suffix("ib") {
        Some(prefix) if !prefix.is_empty() => (prefix, 1024f64),
        _ => (unit.strip_suffix('b').unwrap_or(unit), 1000f64),
    };
    let power = power(prefix).filter(|_| prefix != "p").ok_or_else(fail)?;
    let rate = number * base.powi(power);
    if (1.0..9.2e18).contains(&rate) { Ok(rate) } else { Err(fail()) }
}

/// Formats with three significant digits and no exponent.
fn digits(value: f64) -> String {
    if value >= 100.0 {
        format!("{value:.0}")
    } else if value >= 10.0 {
        trim(format!("{value:.1}"))
    } else {
        trim(format!("{value:.2}"))
    }
}

fn trim(text: String) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Scales `value` down by `base` until it is below `base`, and returns it with its unit.
fn scaled(value: f64, base: f64, units: &[&'static str]) -> (f64, &'static str) {
    let mut value = value;
    let mut index = 0;
    while index + 1 < units.len() && value >= base * 0.9995 {
        value /= base;
        index += 1;
    }
    (value, units[index])
}

/// Formats `bytes` exactly, as [`parse_bytes`] reads it, with the largest suffix that leaves a
/// whole number: `64M`.
pub fn bytes_word(bytes: u64) -> String {
    let units = [(30, "G"), (20, "M"), (10, "k")];
    let whole = units.iter().find(|(shift, _)| bytes > 0 && bytes.is_multiple_of(1 << shift));
    whole.map_or_else(|| bytes.to_string(), |(shift, unit)| format!("{}{unit}", bytes >> shift))
}

/// Formats a count with its noun: `1 file`, `2 files`.
pub fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Declares numbers that are shown with three digits, scaled down by a base to one of their units.
macro_rules! shown {
    ($($(#[$doc:meta])* $name:ident: $base:literal, $units:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name(pub f64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let (value, unit) = scaled(self.0, $base, &$units);
                f.pad(&format!("{}{unit}", digits(value)))
            }
        }
    )+};
}

shown! {
    /// Shows bytes in powers of 1024: `64 MiB`, `1.5 GiB`.
    Bytes: 1024.0, [" B", " KiB", " MiB", " GiB", " TiB", " PiB"];
    /// Shows a rate in bytes per second, in powers of 1000: `5.2 GB/s`.
    Rate: 1000.0, [" B/s", " kB/s", " MB/s", " GB/s", " TB/s"];
    /// Shows a number per second or without unit: `72.1k`.
    Count: 1000.0, ["", "k", "M", "G"];
    /// Shows nanoseconds: `850 ns`, `1.2 us`, `7.6 ms`, `3 s`.
    Nanos: 1000.0, [" ns", " us", " ms", " s"];
}

/// Shows seconds as people say them: `8 s`, `4 m 10 s`, `1 h 5 m`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seconds(pub f64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.0.max(0.0).round() as u64;
        let text = match whole {
            0..60 => format!("{whole} s"),
            60..3600 => format!("{} m {} s", whole / 60, whole % 60),
            _ => format!("{} h {} m", whole / 3600, whole % 3600 / 60),
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_read_in_powers_of_1024() {
        for (text, bytes) in [
            ("512", 512),
            ("4k", 4096),
            ("4K", 4096),
            ("1.5G", 3 << 29),
            ("64MiB", 64 << 20),
            ("2 MB", 2 << 20),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
    }

    proptest! {
        #[test]
        fn words_of_sizes_are_read_as_the_same_sizes(whole in 1u64..1 << 20, shift in 0u32..40) {
            let bytes = whole << shift;
            prop_assert_eq!(parse_bytes(&bytes_word(bytes)), Ok(bytes));
        }
    }

    #[test]
    fn bad_sizes_are_refused() {
        for text in ["-1", "4kk", "0", "", "k", "1e3", "nan", "4 kbb", "9999999P", "1..2", "0.2"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_are_read() {
        for (text, ns) in [
            ("10m", 600_000_000_000),
            ("1.5s", 1_500_000_000),
            ("200ms", 200_000_000),
            ("3", 3_000_000_000),
        ] {
            assert_eq!(parse_duration_ns(text), Ok(ns), "{text}");
        }
        for text in ["-1s", "0", "5 parsecs", "s", ""] {
            assert!(parse_duration_ns(text).is_err(), "{text}");
        }
        let delays = ["0", "0us", "2us", "0.0s", "00"].map(|text| parse_delay_ns(text).ok());
        assert_eq!(delays, [Some(0), Some(0), Some(2000), None, None]);
    }

    #[test]
    fn rates_are_read_in_powers_of_1000() {
        for (text, rate) in [
            ("500MB/s", 5e8),
            ("500 MB/s", 5e8),
            ("1.5G", 1.5e9),
            ("64MiB/s", f64::from(64 << 20)),
            ("800", 800.0),
            ("20 B/s", 20.0),
        ] {
            assert_eq!(parse_rate(text), Ok(rate), "{text}");
        }
        for text in ["-1", "0", "", "fast", "5 ib", "3 m/h", "1e9", "nan"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn values_are_shown_short() {
        assert_eq!(Bytes(67_108_864.0).to_string(), "64 MiB");
        assert_eq!(Bytes(1023.9).to_string(), "1 KiB");
        assert_eq!(Rate(5.234e9).to_string(), "5.23 GB/s");
        assert_eq!(Nanos(1234.0).to_string(), "1.23 us");
        assert_eq!(Seconds(250.0).to_string(), "4 m 10 s");
        assert_eq!(Count(72_100.0).to_string(), "72.1k");
        assert_eq!(format!("{:>9}", Bytes(1024.0)), "    1 KiB");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,20}") {
            let _ = parse_bytes(&text);
            let _ = parse_duration_ns(&text);
            let _ = parse_rate(&text);
        }

        #[test]
        fn what_is_shown_is_read_back_closely(bytes in 1u64..1 << 50) {
            let back = parse_bytes(&Bytes(bytes as f64).to_string()).unwrap();
            prop_assert!((back as f64 / bytes as f64 - 1.0).abs() < 0.006);
        }
    }
}
