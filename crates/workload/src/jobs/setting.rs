//! One `key = value` of a job file with its position, and the value converted to what the key
//! needs.

use crate::jobs::error::JobError;
use ioscape_schema::units::{parse_bytes, parse_delay_ns, parse_duration_ns};
use std::fmt::Display;
use std::str::FromStr;
use toml::de::{DeInteger, DeTable, DeValue};

/// The longest run, in seconds: about 30 years.
const SECONDS_MAX: f64 = 1e9;

/// The most characters of a text value that an error repeats.
const SHOWN_MAX: usize = 40;

/// The requirement for a pause.
const PAUSE: &str = "be text with a unit, such as \"10us\" (or use think_time_ns)";

/// A key with its value and position.
#[derive(Clone, Debug)]
pub(super) struct Setting<'a> {
    pub(super) key: &'a str,
    pub(super) value: &'a DeValue<'a>,
    /// The whole file, and the byte positions at which the key and the value start.
    pub(super) text: &'a str,
    pub(super) key_start: usize,
    pub(super) start: usize,
    /// The part of the file that contains it, for errors.
    pub(super) table: String,
}

/// Returns the settings of a table in the order written.
pub(super) fn settings<'a>(text: &'a str, table: &'a DeTable<'a>, label: &str) -> Vec<Setting<'a>> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let setting = |(key, value): (&'a toml::Spanned<_>, &'a toml::Spanned<_>)| {
        let (key_start, start) = (key.span().start, value.span().start);
        let key: &'a std::borrow::Cow<'a, str> = key.get_ref();
        Setting { key, value: value.get_ref(), text, key_start, start, table: label.to_owned() }
    };
    entries.into_iter().map(setting).collect()
}

impl Setting<'_> {
    /// Returns the error with this `message`, which begins with a key, at the value.
    pub(super) fn fails(&self, message: String) -> JobError {
        self.fails_at(self.start, message)
    }

    /// Returns the same for a value at another byte of the file.
    pub(super) fn fails_at(&self, start: usize, message: String) -> JobError {
        JobError::at(self.text, start, format!("{}: {message}", self.table))
    }

    /// Returns the error that the value cannot be parsed.
    fn unread(&self, error: impl Display) -> JobError {
        self.fails(format!("{}: {error}", self.key))
    }

    /// Returns the error that the value violates a requirement.
    pub(super) fn must(&self, requirement: &str) -> JobError {
        let message = format!("{} is {}, but must {requirement}", self.key, self.shown());
        self.fails(message)
    }

    /// Returns the error that the key does not exist here.
    pub(super) fn unknown(&self, known: &str) -> JobError {
        let Self { table, key, .. } = self;
        let message = format!("{table} has the unknown key {key:?}: use {known}");
        JobError::at(self.text, self.key_start, message)
    }

    fn shown(&self) -> String {
        match self.value {
            DeValue::String(text) if text.chars().count() > SHOWN_MAX => {
                format!("{:?}...", text.chars().take(SHOWN_MAX).collect::<String>())
            }
            DeValue::String(text) => format!("{text:?}"),
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            DeValue::Boolean(truth) => truth.to_string(),
            DeValue::Array(_) => "an array".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
            DeValue::Datetime(_) => "a date or time".to_owned(),
        }
    }

    fn whole<N: TryFrom<u64>>(&self, requirement: &str) -> Result<N, JobError> {
        let number = self.value.as_integer().and_then(unsigned).and_then(|n| N::try_from(n).ok());
        number.ok_or_else(|| self.must(requirement))
    }

    /// Parses a count of processes or requests.
    pub(super) fn count(&self) -> Result<u32, JobError> {
        self.whole("be a whole number from 1 to 4096")
    }

    /// Parses a seed.
    pub(super) fn seed(&self) -> Result<u64, JobError> {
        self.whole("be a whole number from 0 to 18446744073709551615")
    }

    /// Parses a whole number of nanoseconds.
    pub(super) fn nanoseconds(&self) -> Result<u64, JobError> {
        self.whole("be a whole number of nanoseconds")
    }

    /// Parses a size: a whole number of bytes, or text with a suffix.
    pub(super) fn bytes(&self) -> Result<u64, JobError> {
        match self.value {
            DeValue::String(text) => parse_bytes(text).map_err(|error| self.unread(error)),
            _ => self.whole("be a size: a whole number of bytes, or text such as \"64M\""),
        }
    }

    /// Parses a number from 0 to 1; validation checks the range later.
    pub(super) fn fraction(&self) -> Result<f64, JobError> {
        self.number().ok_or_else(|| self.must("be a number from 0 to 1"))
    }

    fn number(&self) -> Option<f64> {
        match self.value {
            DeValue::Integer(number) => unsigned(number).map(|number| number as f64),
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => None,
        }
    }

    /// Parses text with a unit of time; returns nanoseconds.
    pub(super) fn duration_ns(&self) -> Result<u64, JobError> {
        let text = self.value.as_str().ok_or_else(|| self.must(PAUSE))?;
        parse_duration_ns(text).map_err(|error| self.unread(error))
    }

    /// Parses a pause in the same way, but accepts 0 with any unit: so a job can cancel the pause
    /// of the defaults.
    pub(super) fn pause_ns(&self) -> Result<u64, JobError> {
        let text = self.value.as_str().ok_or_else(|| self.must(PAUSE))?;
        match parse_delay_ns(text) {
            Ok(0) => Ok(0),
            // A bare number means seconds elsewhere, but microseconds in fio's files.
            _ if !text.ends_with(char::is_alphabetic) => Err(self.must(PAUSE)),
            pause => pause.map_err(|error| self.unread(error)),
        }
    }

    /// Parses a number of seconds above 0, or text with a unit of time.
    pub(super) fn seconds(&self) -> Result<f64, JobError> {
        let seconds = match self.value {
            DeValue::String(_) => Some(self.duration_ns()? as f64 / 1e9),
            _ => self.number(),
        };
        seconds
            .filter(|&seconds| seconds > 0.0 && seconds <= SECONDS_MAX)
            .ok_or_else(|| self.must("be a number of seconds above 0, or text such as \"2m\""))
    }

    /// Parses one of the words of a type.
    pub(super) fn word<T: FromStr<Err = String>>(&self) -> Result<T, JobError> {
        let text = self.value.as_str().ok_or_else(|| self.must("be text in quotes"))?;
        text.parse().map_err(|error: String| self.unread(error))
    }

    /// Parses `true` or `false`.
    pub(super) fn truth(&self) -> Result<bool, JobError> {
        self.value.as_bool().ok_or_else(|| self.must("be true or false"))
    }

    /// Parses text that is not empty.
    pub(super) fn name(&self) -> Result<String, JobError> {
        let name = self.value.as_str().filter(|name| !name.trim().is_empty());
        name.map(str::to_owned).ok_or_else(|| self.must("be text that is not empty"))
    }
}

/// Returns a TOML integer if it is not negative.
fn unsigned(number: &DeInteger<'_>) -> Option<u64> {
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}
