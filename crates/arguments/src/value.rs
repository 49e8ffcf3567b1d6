//! Values of options that several commands take: sizes, times, fractions, engines and places.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use ioscape_report::Quantity;
use ioscape_schema::Engine;
use ioscape_schema::units::{parse_bytes, parse_delay_ns, parse_duration_ns};
use ioscape_workload::jobs::KnownJobs;
use std::path::Path;

/// A size, such as 64k.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    parse_bytes(text).map_err(|e| e.to_string())
}

/// A size of at least `least`.
pub(super) fn bytes_from(least: &str, text: &str) -> Result<u64, String> {
    let size = bytes(text)?;
    if size >= bytes(least)? { Ok(size) } else { Err(format!("give at least {least}")) }
}

/// A time, such as 500ms, in nanoseconds.
pub(super) fn nanos(text: &str) -> Result<u64, String> {
    parse_duration_ns(text).map_err(|e| e.to_string())
}

/// A time since some start, or of a pause; 0 is allowed, with any unit.
pub(super) fn nanos_since(text: &str) -> Result<u64, String> {
    parse_delay_ns(text).map_err(|e| e.to_string())
}

/// A pause: 0, or a time with its unit, since a bare number means microseconds in fio's files.
pub(super) fn pause(text: &str) -> Result<u64, String> {
    let pause = nanos_since(text)?;
    match pause > 0 && text.ends_with(|c: char| c.is_ascii_digit() || c == '.') {
        true => Err("give a unit, such as 10us".to_owned()),
        false => Ok(pause),
    }
}

/// A time in seconds.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    nanos(text).map(|ns| ns as f64 / 1e9)
}

/// A number from 0 to 1.
pub(super) fn fraction(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("give a number from 0 to 1".to_owned()),
    }
}

/// An engine that runs on a target.
pub(super) fn run_engine(text: &str) -> Result<Engine, String> {
    engine_of(text, "psync, io_uring, mmap, dontcache or null")
}

/// The engine of this name; for any other name, the error lists the `known` ones.
fn engine_of(text: &str, known: &str) -> Result<Engine, String> {
    match text.parse::<Engine>().map_err(|_| format!("give {known}"))? {
        Engine::Sim => {
            Err("the sim engine needs no target: use `ioscape evaluate sim:SYSTEM`".to_owned())
        }
        engine => Ok(engine),
    }
}

/// An engine that does I/O on a target.
pub(super) fn real_engine(text: &str) -> Result<Engine, String> {
    match engine_of(text, "psync, io_uring, mmap or dontcache")? {
        Engine::Null => {
            Err("the null engine does no I/O, so there is nothing to evaluate".to_owned())
        }
        engine => Ok(engine),
    }
}

/// What the vertical axis of figures counts.
pub(super) fn metric() -> impl TypedValueParser<Value = Quantity> {
    let known = [
        ("throughput", "Bytes per second"),
        ("iops", "Requests per second"),
        ("latency", "Response times, median and 99th percentile"),
    ];
    let known = known.map(|(word, help)| PossibleValue::new(word).help(help));
    PossibleValuesParser::new(known).try_map(|word| word.parse::<Quantity>())
}

/// Whether the name of a place is that of a job file.
pub(super) fn is_job_file(place: &Path) -> bool {
    let ending = place.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ending == "json" || KnownJobs::is_ending(ending))
}

/// The simulated system or drive that a target names, if any.
pub(super) fn simulated(target: &Path) -> Option<&str> {
    target.to_str()?.strip_prefix("sim:")
}
