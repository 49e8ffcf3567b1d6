//! Axes: maps values to positions, and writes the values of each unit.

use crate::text::percent;
use ioscape_schema::units::{Bytes, Count, Nanos, Rate};

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly, from zero.
    Linear,
    /// Evenly by ratio, with ticks at powers of 2.
    Log2,
    /// Evenly by ratio, with ticks at powers of 10.
    Log10,
}

impl Scale {
    fn is_log(self) -> bool {
        self != Self::Linear
    }

    /// Whether a value has a place on an axis with this scale.
    pub fn can_show(self, value: f64) -> bool {
        value.is_finite() && value.abs() < 1e300 && (!self.is_log() || value > 1e-300)
    }

    /// A range that shows all `values` with some margin; linear axes start at zero unless a value
    /// is below.
    pub fn fit(self, values: impl Iterator<Item = f64>) -> [f64; 2] {
        let (low, high) = values
            .filter(|&value| self.can_show(value))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        if low > high {
            return if self.is_log() { [1.0, 10.0] } else { [0.0, 1.0] };
        }
        if self.is_log() {
            let air = (high / low).powf(0.06).clamp(1.08, 3.0);
            return [low / air, high * air];
        }
        let low = low.min(0.0);
        let high = if high > low { high } else { low + 1.0 };
        let air = (high - low) * 0.06;
        [if low < 0.0 { low - air } else { 0.0 }, high + air]
    }

    /// The position of `value` between the ends of `range`: 0 to 1 if inside.
    pub fn place(self, value: f64, range: [f64; 2]) -> f64 {
        let map = |v: f64| if self.is_log() { v.max(1e-300).ln() } else { v };
        let [from, to] = range.map(map);
        if to > from { (map(value) - from) / (to - from) } else { 0.5 }
    }
}

/// The unit of an axis, which decides how its ticks and values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes, powers of 1024.
    Bytes,
    /// Bytes per second, powers of 1000.
    Rate,
    /// A share, shown in per cent.
    Percent,
    /// A number of things.
    Count,
    /// A number without unit.
    Number,
    /// Nanoseconds.
    Nanos,
}

impl Unit {
    /// A value with its unit.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Bytes => Bytes(value).to_string(),
            Self::Rate => Rate(value).to_string(),
            Self::Percent => percent(value),
            Self::Count => Count(value).to_string(),
            Self::Number => number(value).replace('-', "\u{2212}"),
            Self::Nanos => Nanos(value).to_string().replace("us", "\u{b5}s"),
        }
    }

    /// The unit for a whole linear axis up to `largest`: its name and its size.
    pub fn common(self, largest: f64) -> Option<(&'static str, f64)> {
        let rates = [("B/s", 1.0), ("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9), ("TB/s", 1e12)];
        match self {
            Self::Rate => {
                rates.into_iter().rev().find(|&(_, one)| largest >= one).or(Some(rates[0]))
            }
            _ => None,
        }
    }
}

/// A number with at most three decimals, or two significant digits if small, so that only 0 is "0".
fn number(value: f64) -> String {
    // The rounding error of a sum that should be 0.
    const EXACT: f64 = 1e-12;
    match value.abs() {
        EXACT..1e-6 => format!("{value:.1e}"),
        size @ 1e-6..0.1 => trimmed(value, (1.0 - size.log10().floor()) as usize),
        _ => trimmed(value, 3),
    }
}

/// `value` with at most `decimals` decimals, without trailing zeros.
pub fn trimmed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// One axis of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it shows; plain text.
    pub label: String,
    /// How values are spread along it.
    pub scale: Scale,
    /// The unit of its values.
    pub unit: Unit,
    /// The values at its ends.
    pub range: [f64; 2],
}

impl Axis {
    /// An axis between these ends.
    pub fn new(label: impl Into<String>, scale: Scale, unit: Unit, range: [f64; 2]) -> Self {
        Self { label: label.into(), scale, unit, range }
    }

    /// An axis that shows all `values`.
    pub fn fitted(
        label: impl Into<String>,
        scale: Scale,
        unit: Unit,
        values: impl Iterator<Item = f64>,
    ) -> Self {
        Self::new(label, scale, unit, scale.fit(values))
    }

    /// The position of `value` along the axis: 0 to 1 if inside.
    pub fn place(&self, value: f64) -> f64 {
        self.scale.place(value, self.range)
    }

    /// Whether `value` lies between the axis's ends.
    pub fn holds(&self, value: f64) -> bool {
        (0.0..=1.0).contains(&self.place(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_axis_spreads_by_ratio() {
        let place = |value| Scale::Log10.place(value, [1.0, 100.0]);
        assert!((place(10.0) - 0.5).abs() < 1e-12);
        assert!(Scale::Linear.place(25.0, [0.0, 100.0]) == 0.25);
    }

    #[test]
    fn a_range_shows_all_values_and_survives_none() {
        for scale in [Scale::Linear, Scale::Log2, Scale::Log10] {
            for values in [vec![], vec![5.0], vec![0.0, f64::NAN, 3e9], vec![1.0, 1e12]] {
                let [from, to] = scale.fit(values.iter().copied());
                assert!(from < to, "{scale:?} {values:?}");
                for &value in values.iter().filter(|&&v| scale.can_show(v)) {
                    assert!((from..=to).contains(&value));
                }
            }
        }
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([trimmed(2.50, 2), trimmed(-0.001, 1), trimmed(100.0, 0)], ["2.5", "0", "100"]);
        assert_eq!(Unit::Percent.show(0.25), "25 %");
        assert_eq!(Unit::Rate.common(6.9e9), Some(("GB/s", 1e9)));
    }

    #[test]
    fn of_numbers_only_nothing_is_zero() {
        let shown = |value: f64| Unit::Number.show(value);
        let small = [1.0 / 3600.0, 0.05, 0.0005, -0.00123].map(shown);
        assert_eq!(small, ["0.00028", "0.05", "0.0005", "\u{2212}0.0012"]);
        let others = [2.5e-7, 1e-17, 0.0, 0.12345, 1234.5].map(shown);
        assert_eq!(others, ["2.5e\u{2212}7", "0", "0", "0.123", "1234.5"]);
    }
}
