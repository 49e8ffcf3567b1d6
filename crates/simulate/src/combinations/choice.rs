//! The values that a simulation's options and sweeps can take, and how they are parsed.

use crate::array::Array;
use crate::cache::{Destage, Freeing};
use crate::ssd::Filled;
use crate::{Arrivals, SCHEDULERS, Scheduler};
use ioscape_schema::units::parse_bytes;

/// The chosen write cache of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheChoice {
    /// No write cache.
    None,
    /// Immediate reporting.
    Immediate,
    /// A non-volatile buffer of this many bytes.
    Nvram(u64),
    /// A volatile buffer of this many bytes, or the drive's whole buffer.
    Volatile(Option<u64>),
}

/// One `--sweep`: the option it varies, and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// Write caches.
    Cache(Vec<CacheChoice>),
    /// Orders of destaging.
    Destage(Vec<Destage>),
    /// Host schedulers.
    Scheduler(Vec<Scheduler>),
    /// Read-ahead on or off.
    ReadAhead(Vec<bool>),
    /// Arrays.
    Array(Vec<Array>),
}

fn one_of<T: Copy>(text: &str, known: &[(&str, T)]) -> Result<T, String> {
    let names = || known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let found = known.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| format!("{text:?} is not one of {}", names()))
}

/// Reads a scheduler's name.
///
/// # Errors
/// The text is not the name of a scheduler.
pub fn scheduler(text: &str) -> Result<Scheduler, String> {
    one_of(text, &SCHEDULERS)
}

/// Reads an order of destaging: `fcfs` or `satf`.
///
/// # Errors
/// The text is none of these.
pub fn destage(text: &str) -> Result<Destage, String> {
    one_of(text, &[("fcfs", Destage::Fcfs), ("satf", Destage::Satf)])
}

/// Reads when the cache frees a write's space: `whole` or `as-written`.
///
/// # Errors
/// The text is none of these.
pub fn freeing(text: &str) -> Result<Freeing, String> {
    one_of(text, &[("whole", Freeing::WholeWrite), ("as-written", Freeing::AsWritten)])
}

/// Reads `on` or `off`.
///
/// # Errors
/// The text is none of these.
pub fn switch(text: &str) -> Result<bool, String> {
    one_of(text, &[("on", true), ("off", false)])
}

/// Reads a solid-state drive's initial state: `empty`, `full` or `steady-state`.
///
/// # Errors
/// The text is none of these.
pub fn precondition(text: &str) -> Result<Filled, String> {
    let known =
        [("empty", Filled::Empty), ("full", Filled::Full), ("steady-state", Filled::SteadyState)];
    one_of(text, &known)
}

/// Reads when requests arrive: `queued`, `issued` or `closed`.
///
/// # Errors
/// The text is none of these.
pub fn arrivals(text: &str) -> Result<Arrivals, String> {
    let known = [Arrivals::Queued, Arrivals::Issued, Arrivals::Closed];
    one_of(text, &known.map(|one| (one.word(), one)))
}

/// Reads a write cache: `none`, `immediate`, `volatile[:SIZE]` or `nvram:SIZE`.
///
/// # Errors
/// The text is none of these.
pub fn cache(text: &str) -> Result<CacheChoice, String> {
    match text {
        "none" => Ok(CacheChoice::None),
        "immediate" => Ok(CacheChoice::Immediate),
        "volatile" => Ok(CacheChoice::Volatile(None)),
        other => {
            if let Some(size) = other.strip_prefix("volatile:") {
                let size = parse_bytes(size).map_err(|e| e.to_string())?;
                return Ok(CacheChoice::Volatile(Some(size)));
            }
            let size = parse_bytes(other.strip_prefix("nvram:").unwrap_or(other));
            size.map(CacheChoice::Nvram)
                .map_err(|e| format!("give none, immediate, volatile or nvram:SIZE: {e}"))
        }
    }
}

/// Most values of one sweep.
const VALUES_MOST: usize = 64;

/// Reads one value, or a range of sizes, each twice the one before.
fn caches(text: &str) -> Result<Vec<CacheChoice>, String> {
    let Some((from, to)) = text.split_once("..") else { return Ok(vec![cache(text)?]) };
    let size = |text| parse_bytes(text).map_err(|e| e.to_string());
    let (from, to) = (size(from)?, size(to)?);
    if from == 0 || to < from {
        return Err(format!("{text}: a range goes from a size above 0 to a larger one"));
    }
    let sizes = std::iter::successors(Some(from), |&size| size.checked_mul(2));
    Ok(sizes.take_while(|&size| size <= to).map(CacheChoice::Nvram).collect())
}

/// Reads a sweep, such as `cache=none,8k..64k`.
///
/// # Errors
/// The key is unknown, a value is invalid, or there are too many values.
pub fn sweep(text: &str) -> Result<Sweep, String> {
    let (key, values) = text.split_once('=').ok_or("give KEY=VALUES")?;
    let values = values.split(',');
    let sweep = match key {
        "cache" => {
            let all: Result<Vec<Vec<CacheChoice>>, String> = values.map(caches).collect();
            Sweep::Cache(all?.concat())
        }
        "destage" => Sweep::Destage(values.map(destage).collect::<Result<_, _>>()?),
        "scheduler" => Sweep::Scheduler(values.map(scheduler).collect::<Result<_, _>>()?),
        "read-ahead" => Sweep::ReadAhead(values.map(switch).collect::<Result<_, _>>()?),
        "array" => Sweep::Array(values.map(Array::parse).collect::<Result<_, _>>()?),
        other => {
            return Err(format!(
                "{other:?} is not one of cache, destage, scheduler, read-ahead, array"
            ));
        }
    };
    let count = match &sweep {
        Sweep::Cache(values) => values.len(),
        Sweep::Destage(values) => values.len(),
        Sweep::Scheduler(values) => values.len(),
        Sweep::ReadAhead(values) => values.len(),
        Sweep::Array(values) => values.len(),
    };
    if count > VALUES_MOST {
        Err(format!("{count} values: at most {VALUES_MOST}"))
    } else {
        Ok(sweep)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_are_read() {
        let found = sweep("cache=none,immediate,8k..64k").unwrap();
        assert_eq!(cache("volatile:8M"), Ok(CacheChoice::Volatile(Some(8 << 20))));
        let sizes = [8, 16, 32, 64].map(|k| CacheChoice::Nvram(k << 10));
        let all = [&[CacheChoice::None, CacheChoice::Immediate], &sizes[..]].concat();
        assert_eq!(found, Sweep::Cache(all));
        assert_eq!(sweep("read-ahead=on,off"), Ok(Sweep::ReadAhead(vec![true, false])));
        for wrong in ["cache", "cache=", "cache=9..4", "cache=0..4", "colour=red", "destage=lifo"] {
            assert!(sweep(wrong).is_err(), "{wrong}");
        }
        assert_eq!(cache("nvram:128K"), Ok(CacheChoice::Nvram(128 << 10)));
    }
}
