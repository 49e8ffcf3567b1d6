//! Chooses the ticks of an axis: round values, as many as fit without touching.

use super::scale::trimmed;
use super::{Axis, Scale, Unit};

/// The width in user units of text that is 12 units high: an upper estimate for the usual system
/// fonts.
pub fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * 6.9
}

/// Height of a line of text.
pub const LINE: f64 = 15.0;

/// A value written beside an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// The value.
    pub value: f64,
    /// Its text.
    pub label: String,
}

/// The ticks of an axis `length` units long; its labels stand side by side if `across`.
pub fn ticks(axis: &Axis, length: f64, across: bool) -> Vec<Tick> {
    let mut last = Vec::new();
    for values in candidates(axis) {
        let ticks = label(axis, &values);
        if ticks.len() >= 2 && fits(axis, &ticks, length, across) {
            return ticks;
        }
        if !ticks.is_empty() {
            last = ticks;
        }
    }
    last.truncate(1);
    last
}

/// The name of the axis, with the unit if all its ticks share one.
pub fn title(axis: &Axis) -> String {
    match common(axis) {
        Some((unit, _)) => format!("{}, {unit}", axis.label),
        None => axis.label.clone(),
    }
}

fn common(axis: &Axis) -> Option<(&'static str, f64)> {
    if axis.scale == Scale::Linear { axis.unit.common(axis.range[1]) } else { None }
}

fn label(axis: &Axis, values: &[f64]) -> Vec<Tick> {
    let gap = values.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    let write = |value: f64| match common(axis) {
        Some((_, one)) => {
            let decimals = (-(gap / one).log10()).ceil().clamp(0.0, 4.0);
            trimmed(value / one, decimals as usize + 1)
        }
        None => axis.unit.show(value),
    };
    values.iter().map(|&value| Tick { value, label: write(value) }).collect()
}

fn fits(axis: &Axis, ticks: &[Tick], length: f64, across: bool) -> bool {
    ticks.windows(2).all(|pair| {
        let distance = (axis.place(pair[1].value) - axis.place(pair[0].value)) * length;
        let need = if across {
            f64::midpoint(text_width(&pair[0].label), text_width(&pair[1].label)) + 10.0
        } else {
            LINE * 1.5
        };
        distance >= need && pair[0].label != pair[1].label
    })
}

/// Sets of round values on the axis, the densest first.
fn candidates(axis: &Axis) -> Vec<Vec<f64>> {
    let inside = |values: Vec<f64>| -> Vec<f64> {
        let [from, to] = axis.range;
        let slack = match axis.scale {
            Scale::Linear => 1e-9 * (to - from),
            Scale::Log2 | Scale::Log10 => 1e-9 * from,
        };
        values.into_iter().filter(|&v| v >= from - slack && v <= to + slack).collect()
    };
    let sets = match axis.scale {
        Scale::Linear => linear(axis),
        Scale::Log2 => powers(axis, 2.0, &[1, 2, 4, 5, 10, 20, 40]),
        Scale::Log10 => {
            let mut sets = powers(axis, 10.0, &[1, 2, 3, 6, 12, 50]);
            // Ticks between the decades are useful only if there are few decades.
            if (axis.range[1] / axis.range[0]).log10() < 2.5 {
                let dense: [&[f64]; 2] = [&[1.0, 2.0, 5.0], &[1.0, 3.0]];
                sets.splice(0..0, dense.map(|each| mantissas(axis, each)));
                sets.extend([2.0, 5.0].map(|each| mantissas(axis, &[each])));
            }
            sets
        }
    };
    let mut sets: Vec<Vec<f64>> = sets.into_iter().map(inside).collect();
    // An axis within one octave or decade has fewer than two powers: evenly spaced values must do.
    sets.extend(linear(axis).into_iter().map(inside));
    sets
}

fn linear(axis: &Axis) -> Vec<Vec<f64>> {
    let [from, to] = axis.range;
    let span = to - from;
    if !(span.is_finite() && span > 0.0) {
        return Vec::new();
    }
    if axis.unit == Unit::Percent && from >= -0.2 && to <= 1.2 {
        return [0.1, 0.25, 0.5, 1.0].map(|step| steps(from, to, step)).into();
    }
    if axis.unit == Unit::Bytes {
        // Round in the displayed units, which are powers of 1024.
        let least = (span / 16.0).log2().floor();
        let each = (0..7).map(|power| (least + f64::from(power)).exp2());
        return each.filter(|&step| step >= 1.0).map(|step| steps(from, to, step)).collect();
    }
    let decade = 10f64.powf((span / 10.0).log10().floor());
    let whole = if axis.unit == Unit::Count { 1.0 } else { 0.0 };
    [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]
        .into_iter()
        .map(|factor| factor * decade)
        .filter(|&step| step >= whole)
        .map(|step| steps(from, to, step))
        .collect()
}

fn steps(from: f64, to: f64, step: f64) -> Vec<f64> {
    let first = (from / step).ceil();
    let count = ((to / step).floor() - first).clamp(0.0, 200.0) as usize;
    (0..=count).map(|index| (first + index as f64) * step).collect()
}

/// Powers of `base` whose exponents are multiples of each step.
fn powers(axis: &Axis, base: f64, every: &[i32]) -> Vec<Vec<f64>> {
    let [first, last] = axis.range.map(|value| value.log(base).clamp(-1100.0, 1100.0));
    let exponents = |step: i32| {
        (first.floor() as i32..=last.ceil() as i32)
            .filter(move |exponent| exponent % step == 0)
            .map(|exponent| base.powi(exponent))
            .collect()
    };
    every.iter().map(|&step| exponents(step)).collect()
}

fn mantissas(axis: &Axis, mantissas: &[f64]) -> Vec<f64> {
    let [first, last] = axis.range.map(|value| value.log10().clamp(-300.0, 300.0) as i32);
    (first - 1..=last)
        .flat_map(|exponent| mantissas.iter().map(move |m| m * 10f64.powi(exponent)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(scale: Scale, unit: Unit, range: [f64; 2], length: f64, across: bool) -> String {
        let axis = Axis { label: "x".into(), scale, unit, range };
        let ticks = ticks(&axis, length, across);
        ticks.iter().map(|tick| tick.label.clone()).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn round_values_are_chosen() {
        let mib = 1024.0 * 1024.0;
        let wide = labels(Scale::Log2, Unit::Bytes, [6e4, 4100.0 * mib], 1000.0, true);
        assert_eq!(
            wide,
            "64 KiB|128 KiB|256 KiB|512 KiB|1 MiB|2 MiB|4 MiB|8 MiB|16 MiB|32 MiB|64 MiB|128 MiB|256 MiB|512 MiB|\
             1 GiB|2 GiB|4 GiB"
        );
        let narrow = labels(Scale::Log2, Unit::Bytes, [6e4, 4100.0 * mib], 280.0, true);
        assert_eq!(narrow, "64 KiB|1 MiB|16 MiB|256 MiB|4 GiB");
        assert_eq!(
            labels(Scale::Linear, Unit::Bytes, [0.0, 2.5e11], 150.0, false),
            "0 B|64 GiB|128 GiB|192 GiB"
        );
        assert_eq!(labels(Scale::Linear, Unit::Rate, [0.0, 7.2e9], 150.0, false), "0|2|4|6");
        assert_eq!(
            labels(Scale::Log10, Unit::Rate, [1e7, 9e9], 150.0, false),
            "10 MB/s|100 MB/s|1 GB/s"
        );
        assert_eq!(
            labels(Scale::Linear, Unit::Percent, [-0.02, 1.02], 230.0, true),
            "0 %|25 %|50 %|75 %|100 %"
        );
        assert_eq!(labels(Scale::Log2, Unit::Count, [0.9, 17.0], 230.0, true), "1|2|4|8|16");
    }

    #[test]
    fn a_low_axis_within_a_decade_has_ticks() {
        let of = |range| labels(Scale::Log10, Unit::Nanos, range, 72.0, false);
        assert_eq!(of([1.2e6, 1.18e7]), "3 ms|10 ms");
        assert_eq!(of([1.2e6, 6e7]), "2 ms|20 ms");
        assert_eq!(of([1.2e6, 1.9e6]), "1.5 ms");
    }

    #[test]
    fn no_place_of_a_logarithmic_axis_of_numbers_is_called_zero() {
        for from in [1e-9, 2e-6, 3e-4, 0.02] {
            let shown = labels(Scale::Log10, Unit::Number, [from, 5.0], 230.0, false);
            let places: Vec<&str> = shown.split('|').collect();
            assert!(places.len() > 1 && !places.contains(&"0"), "{shown}");
        }
    }

    proptest! {
        #[test]
        fn labels_never_touch(
            from in 1e-3..1e12f64, ratio in 1.0001..1e12f64, length in 80.0..1200.0f64, across in any::<bool>(),
        ) {
            for scale in [Scale::Linear, Scale::Log2, Scale::Log10] {
                for unit in [Unit::Bytes, Unit::Rate, Unit::Count, Unit::Percent, Unit::Number, Unit::Nanos] {
                    let axis = Axis { label: String::new(), scale, unit, range: [from, from * ratio] };
                    let ticks = ticks(&axis, length, across);
                    prop_assert!(ticks.len() < 2 || fits(&axis, &ticks, length, across));
                    prop_assert!(ticks.len() < 300);
                }
            }
        }
    }
}
