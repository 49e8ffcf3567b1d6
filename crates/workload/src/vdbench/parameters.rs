//! The parameters of storage, workload and run definitions.

use super::lines::{Definition, alone, list};
use crate::fio::{DATA, bytes, percent};
use crate::jobs::LineError;
use ioscape_schema::{Access, Engine, SizeDistribution, Workers, Workload};
use std::collections::BTreeSet;

/// Parameters that do not affect what is measured, or that ioscape handles in its own way.
const LEFT_OUT: [(&str, &str); 16] = [
    ("lun", "the target is the one on the command line"),
    ("host", "ioscape runs on this host"),
    ("hd", "ioscape runs on this host"),
    ("journal", "ioscape keeps none"),
    ("interval", "the result is one figure with its interval"),
    ("warmup", "the warm-up ends when the rate and the cache are steady"),
    ("pause", "the next job begins at once"),
    ("skew", "there is one workload at a time"),
    ("priority", "there is one workload at a time"),
    ("dedupratio", DATA),
    ("dedupunit", DATA),
    ("dedupsets", DATA),
    ("compratio", DATA),
    ("compression", DATA),
    ("hitarea", "no request is steered into the cache"),
    ("maxdata", "a job ends when its throughput is known well enough, or time is up"),
];

/// Returns what ioscape does instead of a parameter that is left out.
pub(super) fn instead(key: &str) -> Option<&'static str> {
    LEFT_OUT.iter().find(|(name, _)| *name == key).map(|(_, what)| *what)
}

/// The known parameters; absent ones come from the definition beneath, or from vdbench's defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Parameters {
    /// The storage that a workload definition names.
    pub storage: Option<String>,
    size_bytes: Option<u64>,
    access: Option<Access>,
    threads: Option<u32>,
    request_bytes: Option<u64>,
    read_frac: Option<f64>,
    random_frac: Option<f64>,
    align_bytes: Option<u64>,
    /// Parameters that were left out, with what ioscape does instead.
    pub left_out: BTreeSet<String>,
}

impl Parameters {
    /// Takes the parameters of a definition over; returns errors for those that cannot be.
    pub fn take(&mut self, definition: &Definition) -> Vec<LineError> {
        let all = definition.parameters.iter();
        all.filter_map(|(line, key, value)| self.set(*line, key, value).err()).collect()
    }

    /// Takes one parameter over.
    pub fn set(&mut self, line: usize, key: &str, value: &str) -> Result<(), LineError> {
        let wrong = |what: &str| LineError::new(line, format!("{key}={value}: {what}"));
        if let Some(instead) = instead(key) {
            self.left_out.insert(format!("{key}: {instead}"));
            return Ok(());
        }
        let value = alone(value);
        let percentage = || percent(value).map(|part| part / 100.0);
        match key {
            "sd" => self.storage = Some(value.to_owned()),
            "size" => {
                self.size_bytes = Some(bytes(value).ok_or_else(|| wrong("is no size, such as 1g"))?)
            }
            "openflags" => self.access = Some(access(value).map_err(|what| wrong(&what))?),
            "threads" => {
                let count = value.parse().ok().filter(|count| *count > 0);
                self.threads = Some(count.ok_or_else(|| wrong("is no whole number above 0"))?);
            }
            "xfersize" => {
                self.request_bytes =
                    Some(bytes(value).ok_or_else(|| wrong("is not one size, such as 4k"))?)
            }
            "rdpct" => {
                self.read_frac = Some(percentage().ok_or_else(|| wrong("is no percentage"))?)
            }
            "wrpct" => {
                let written = percentage().ok_or_else(|| wrong("is no percentage"))?;
                self.read_frac = Some(1.0 - written);
            }
            "align" => {
                self.align_bytes =
                    Some(bytes(value).ok_or_else(|| wrong("is no size, such as 4k"))?)
            }
            "seekpct" => self.random_frac = Some(random(value).ok_or_else(|| {
                wrong("is no percentage: 100 is random, 0 sequential; runs that stop at the end are not carried out")
            })?),
            "rhpct" | "whpct" if value == "0" => {}
            "range" if value == "(0,100)" => {}
            "range" => return Err(wrong("the whole set is used: write range=(0,100), and at the storage definition a smaller size=")),
            _ => return Err(wrong("is nothing that ioscape can carry out: leave it out, or run vdbench")),
        }
        Ok(())
    }

    /// Returns these parameters, with those of `beneath` where these are absent.
    pub fn over(&self, beneath: &Self) -> Self {
        Self {
            storage: self.storage.clone(),
            size_bytes: self.size_bytes.or(beneath.size_bytes),
            access: self.access.or(beneath.access),
            threads: self.threads.or(beneath.threads),
            request_bytes: self.request_bytes.or(beneath.request_bytes),
            read_frac: self.read_frac.or(beneath.read_frac),
            random_frac: self.random_frac.or(beneath.random_frac),
            align_bytes: self.align_bytes.or(beneath.align_bytes),
            left_out: BTreeSet::new(),
        }
    }

    /// Returns the whole workload, with vdbench's own defaults; `None` without a size.
    pub fn workload(&self) -> Option<Workload> {
        let request_bytes = self.request_bytes.unwrap_or(4096);
        let workload = Workload {
            unique_bytes: self.size_bytes?,
            size_mean: request_bytes,
            size_distribution: SizeDistribution::Fixed,
            read_frac: self.read_frac.unwrap_or(1.0),
            seq_frac: 1.0 - self.random_frac.unwrap_or(1.0),
            process_num: self.threads.unwrap_or(8),
            engine: Engine::Psync,
            access: self.access.unwrap_or_default(),
            workers: Workers::Threads,
            // vdbench addresses blocks: its offsets are multiples of the request size.
            align_bytes: self
                .align_bytes
                .or(Some(request_bytes).filter(|size| size.is_power_of_two())),
            ..Workload::default()
        };
        Some(workload.with_exact_size())
    }

    /// Returns the notes on requests that come in another order here.
    pub fn other_order(&self) -> Vec<String> {
        let Some(workload) = self.workload() else { return Vec::new() };
        let (size, threads) = (workload.size_mean, workload.process_num);
        let (ours, theirs) = (workload.align(), self.align_bytes.unwrap_or(size));
        let mut told = Vec::new();
        if workload.seq_frac > 0.0 && threads > 1 {
            told.push(format!(
                "seekpct with threads={threads}: each thread goes on from its own last request; vdbench's threads share one sequence, as threads=1 has"
            ));
        }
        if workload.seq_frac < 1.0 && ours != theirs {
            told.push(format!(
                "xfersize={size}: random requests begin at multiples of {ours} bytes, where vdbench's begin at those of {theirs}"
            ));
        }
        told
    }
}

/// Parses how files are opened.
fn access(value: &str) -> Result<Access, String> {
    match list(value)[..] {
        ["o_direct" | "directio"] => Ok(Access::Direct),
        ["o_dsync"] => Ok(Access::Dsync),
        ["o_direct" | "directio" | "o_dsync", _] => {
            Err("ioscape has one of them at a time".to_owned())
        }
        _ => Err("ioscape has o_direct and o_dsync".to_owned()),
    }
}

/// Parses the share of random requests.
fn random(value: &str) -> Option<f64> {
    let begins = |word: &str| !value.is_empty() && word.starts_with(value);
    match value {
        _ if begins("sequential") => Some(0.0),
        _ if begins("random") => Some(1.0),
        _ => percent(value).map(|part| part / 100.0),
    }
}
