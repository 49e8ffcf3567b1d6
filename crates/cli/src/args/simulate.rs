//! What was typed for the commands that simulate: `simulate` and `calibrate`.

use super::{ResultArgs, RowsArgs, bytes};
use clap::Args;
use ioscape_simulate::cache::{Destage, Freeing};
use ioscape_simulate::{Arrivals, SCHEDULERS, Scheduler};
use std::path::PathBuf;

/// What a disk does with writes, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheChoice {
    /// Nothing.
    None,
    /// Immediate reporting.
    Immediate,
    /// A non-volatile buffer of this many bytes.
    Nvram(u64),
}

/// One `--sweep`: what is varied, and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// Write caches.
    Cache(Vec<CacheChoice>),
    /// Orders of destaging.
    Destage(Vec<Destage>),
    /// Host schedulers.
    Scheduler(Vec<Scheduler>),
    /// Reading ahead.
    ReadAhead(Vec<bool>),
}

/// `ioscape simulate`.
#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// Block traces, in any format that can be read; - is standard input
    #[arg(required = true)]
    pub trace: Vec<PathBuf>,
    /// A drive by name, its parameter file (.toml), or a DiskSim file (.diskspecs)
    #[arg(long, value_name = "NAME | FILE")]
    pub drive: String,
    /// Write cache at the disk: none, immediate or nvram:SIZE [default: as the drive does]
    #[arg(long, value_name = "CACHE", value_parser = cache)]
    pub cache: Option<CacheChoice>,
    /// Order in which a non-volatile cache is written: fcfs or satf [default: fcfs]
    #[arg(long, value_name = "ORDER", value_parser = destage)]
    pub destage: Option<Destage>,
    /// When the room of a write in a non-volatile cache is free again: whole (all of it is written) or as-written
    /// [default: whole]
    #[arg(long, value_name = "WHEN", value_parser = freeing)]
    pub freeing: Option<Freeing>,
    /// The host's order: fcfs, c-scan, scan, look, c-look, sstf, satf or aged-satf [default: c-scan]
    #[arg(long, value_name = "ORDER", value_parser = scheduler)]
    pub scheduler: Option<Scheduler>,
    /// Whether the disk reads ahead: on or off [default: as the drive does]
    #[arg(long, value_name = "WHETHER", value_parser = switch)]
    pub read_ahead: Option<bool>,
    /// When requests come: queued (recorded arrivals), issued (recorded order at the disk) or closed (think times)
    #[arg(long, value_name = "WHEN", default_value = "queued", value_parser = arrivals)]
    pub arrivals: Arrivals,
    /// What of the trace.
    #[command(flatten)]
    pub of_trace: RowsArgs,
    /// All disks share one bus
    #[arg(long)]
    pub shared_bus: bool,
    /// Vary an option: cache=none,immediate,8K..4M (doubling), destage=fcfs,satf, scheduler=..., read-ahead=on,off
    #[arg(long, value_name = "KEY=VALUES", value_parser = sweep)]
    pub sweep: Vec<Sweep>,
    /// Threads that simulate [default: one per processor]; the result is the same with any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Write a row per request of the first combination to FILE (.parquet or .csv)
    #[arg(long, value_name = "FILE")]
    pub rows: Option<PathBuf>,
    /// Where the result goes.
    #[command(flatten)]
    pub out: ResultArgs,
}

/// `ioscape calibrate`.
#[derive(Debug, Args)]
pub struct CalibrateArgs {
    /// Block traces with times measured on the drive; - is standard input
    #[arg(required = true)]
    pub trace: Vec<PathBuf>,
    /// Where the search starts: a drive by name, or its parameter file (.toml)
    #[arg(long, value_name = "NAME | FILE")]
    pub drive: String,
    /// What of the trace: one device, the one with most requests unless --disk names another.
    #[command(flatten)]
    pub of_trace: RowsArgs,
    /// Rounds through all times; each one searches at half the step of the one before
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(0..=12))]
    pub rounds: u32,
    /// Leave the skews as they are
    #[arg(long)]
    pub keep_skews: bool,
    /// Write the fitted parameter file to FILE (.toml) instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

fn one_of<T: Copy>(text: &str, known: &[(&str, T)]) -> Result<T, String> {
    let names = || known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let found = known.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| format!("{text:?} is none of {}", names()))
}

fn scheduler(text: &str) -> Result<Scheduler, String> {
    one_of(text, &SCHEDULERS)
}

fn destage(text: &str) -> Result<Destage, String> {
    one_of(text, &[("fcfs", Destage::Fcfs), ("satf", Destage::Satf)])
}

fn freeing(text: &str) -> Result<Freeing, String> {
    one_of(text, &[("whole", Freeing::WholeWrite), ("as-written", Freeing::AsWritten)])
}

fn switch(text: &str) -> Result<bool, String> {
    one_of(text, &[("on", true), ("off", false)])
}

fn arrivals(text: &str) -> Result<Arrivals, String> {
    let known =
        [("queued", Arrivals::Queued), ("issued", Arrivals::Issued), ("closed", Arrivals::Closed)];
    one_of(text, &known)
}

fn cache(text: &str) -> Result<CacheChoice, String> {
    match text {
        "none" => Ok(CacheChoice::None),
        "immediate" => Ok(CacheChoice::Immediate),
        other => {
            let size = bytes(other.strip_prefix("nvram:").unwrap_or(other));
            size.map(CacheChoice::Nvram)
                .map_err(|e| format!("none, immediate or nvram:SIZE is wanted: {e}"))
        }
    }
}

/// Most values of one sweep.
const VALUES_MOST: usize = 64;

/// One value, or a range of sizes that doubles.
fn caches(text: &str) -> Result<Vec<CacheChoice>, String> {
    let Some((from, to)) = text.split_once("..") else { return Ok(vec![cache(text)?]) };
    let (from, to) = (bytes(from)?, bytes(to)?);
    if from == 0 || to < from {
        return Err(format!("{text}: a range goes from a size above 0 to a larger one"));
    }
    let sizes = std::iter::successors(Some(from), |&size| size.checked_mul(2));
    Ok(sizes.take_while(|&size| size <= to).map(CacheChoice::Nvram).collect())
}

fn sweep(text: &str) -> Result<Sweep, String> {
    let (key, values) = text.split_once('=').ok_or("KEY=VALUES is wanted")?;
    let values = values.split(',');
    let sweep = match key {
        "cache" => {
            let all: Result<Vec<Vec<CacheChoice>>, String> = values.map(caches).collect();
            Sweep::Cache(all?.concat())
        }
        "destage" => Sweep::Destage(values.map(destage).collect::<Result<_, _>>()?),
        "scheduler" => Sweep::Scheduler(values.map(scheduler).collect::<Result<_, _>>()?),
        "read-ahead" => Sweep::ReadAhead(values.map(switch).collect::<Result<_, _>>()?),
        other => {
            return Err(format!("{other:?} is none of cache, destage, scheduler, read-ahead"));
        }
    };
    let count = match &sweep {
        Sweep::Cache(values) => values.len(),
        Sweep::Destage(values) => values.len(),
        Sweep::Scheduler(values) => values.len(),
        Sweep::ReadAhead(values) => values.len(),
    };
    if count > VALUES_MOST { Err(format!("more than {VALUES_MOST} values")) } else { Ok(sweep) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_are_read() {
        let found = sweep("cache=none,immediate,8k..64k").unwrap();
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
