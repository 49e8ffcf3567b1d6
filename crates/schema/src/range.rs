//! Ranges of the numbers in a result file, declared at each field and checked on reading.
//!
//! A field names its range: `#[serde(deserialize_with = "fraction")]`. The range holds for every
//! number in the field, whether it is a single number, an optional one, a pair or a list. Integers
//! are checked by their type.

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};

/// Reads fractions: numbers from 0 to 1.
///
/// # Errors
/// A number is out of range, or a value has another type.
pub fn fraction<'de, D: Deserializer<'de>, T: Numbers<Fraction>>(
    deserializer: D,
) -> Result<T, D::Error> {
    T::Checked::deserialize(deserializer).map(T::of)
}

/// Reads quantities that cannot be negative.
///
/// # Errors
/// A number is negative or not finite, or a value has another type.
pub fn not_negative<'de, D: Deserializer<'de>, T: Numbers<NotNegative>>(
    deserializer: D,
) -> Result<T, D::Error> {
    T::Checked::deserialize(deserializer).map(T::of)
}

/// A number from 0 to 1.
pub struct Fraction(f64);

/// A finite number from 0 up.
pub struct NotNegative(f64);

/// Formats a number briefly: nobody counts 300 digits.
fn told(number: f64) -> String {
    match number == 0.0 || (1e-6..1e15).contains(&number.abs()) {
        true => number.to_string(),
        false => format!("{number:e}"),
    }
}

impl<'de> Deserialize<'de> for Fraction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        if (0.0..=1.0).contains(&number) {
            return Ok(Self(number));
        }
        Err(D::Error::custom(format!("{} is not a fraction from 0 to 1", told(number))))
    }
}

impl<'de> Deserialize<'de> for NotNegative {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        if number >= 0.0 && number.is_finite() {
            return Ok(Self(number));
        }
        Err(D::Error::custom(format!("{} cannot be negative", told(number))))
    }
}

impl From<Fraction> for f64 {
    fn from(number: Fraction) -> Self {
        number.0
    }
}

impl From<NotNegative> for f64 {
    fn from(number: NotNegative) -> Self {
        number.0
    }
}

/// A type made of numbers, each in the range `N`.
pub trait Numbers<N> {
    /// The same type made of checked numbers, so that an error points at the number itself.
    type Checked: DeserializeOwned;

    /// The plain numbers.
    fn of(checked: Self::Checked) -> Self;
}

impl<N: Into<f64> + DeserializeOwned> Numbers<N> for f64 {
    type Checked = N;

    fn of(checked: N) -> Self {
        checked.into()
    }
}

impl<N, T: Numbers<N>> Numbers<N> for Option<T> {
    type Checked = Option<T::Checked>;

    fn of(checked: Self::Checked) -> Self {
        checked.map(T::of)
    }
}

impl<N, T: Numbers<N>> Numbers<N> for Vec<T> {
    type Checked = Vec<T::Checked>;

    fn of(checked: Self::Checked) -> Self {
        checked.into_iter().map(T::of).collect()
    }
}

impl<N, T: Numbers<N>> Numbers<N> for [T; 2] {
    type Checked = [T::Checked; 2];

    fn of(checked: Self::Checked) -> Self {
        checked.map(T::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Sample {
        #[serde(deserialize_with = "fraction")]
        one: f64,
        #[serde(default, deserialize_with = "not_negative")]
        maybe: Option<[f64; 2]>,
        #[serde(default, deserialize_with = "not_negative")]
        list: Vec<f64>,
    }

    fn read(text: &str) -> Result<Sample, String> {
        serde_json::from_str(text).map_err(|e| e.to_string())
    }

    #[test]
    fn the_ends_of_a_range_belong_to_it() {
        let sample = read(r#"{"one": 1, "maybe": [0, 1e300], "list": [-0.0]}"#).unwrap();
        assert_eq!(sample, Sample { one: 1.0, maybe: Some([0.0, 1e300]), list: vec![0.0] });
        assert_eq!(read(r#"{"one": 0}"#).unwrap().maybe, None);
    }

    #[test]
    fn every_number_of_a_field_is_checked() {
        for (text, told) in [
            (r#"{"one": 1.0001}"#, "1.0001 is not a fraction from 0 to 1"),
            (r#"{"one": -0.5}"#, "-0.5 is not a fraction from 0 to 1"),
            (r#"{"one": 0, "maybe": [0, -2]}"#, "-2 cannot be negative"),
            (r#"{"one": 0, "list": [1, 2, -1e-9]}"#, "-1e-9 cannot be negative"),
            (r#"{"one": 0, "list": [-1e308]}"#, "-1e308 cannot be negative"),
            (r#"{"one": null}"#, "invalid type"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(told), "{error}");
        }
    }
}
