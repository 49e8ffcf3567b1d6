//! Run definitions: the duration, the workload, and the parameters that vary.

use super::lines::{Definition, alone, list};
use super::parameters::Parameters;
use crate::fio::bytes;
use crate::jobs::{Job, LineError};

/// The most values of a list, because ranges may be long.
const VALUES_MOST: usize = 10_000;

/// The `for` lists of a run and the parameters that they vary.
const VARIED: [(&str, &str); 4] = [
    ("forthreads", "threads"),
    ("forxfersize", "xfersize"),
    ("forrdpct", "rdpct"),
    ("forseekpct", "seekpct"),
];

/// A run definition.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    /// Its line, from 1.
    pub line: usize,
    name: String,
    workload: Option<String>,
    seconds: Option<f64>,
    /// Varied parameters with their values, outermost first.
    varied: Vec<(&'static str, Vec<String>)>,
    /// The run's own parameters, which override those of the other definitions.
    pub own: Parameters,
}

impl Run {
    /// Parses a run, based on `rd=default`; also returns errors for what cannot be carried out.
    pub fn of(definition: &Definition, defaults: Option<&Self>) -> (Self, Vec<LineError>) {
        let (line, name) = (definition.line, definition.name.clone());
        let mut run = defaults.cloned().unwrap_or(Self {
            line,
            name: String::new(),
            workload: None,
            seconds: None,
            varied: Vec::new(),
            own: Parameters::default(),
        });
        (run.line, run.name) = (line, name);
        let all = definition.parameters.iter();
        let refused = all.filter_map(|(line, key, value)| run.set(*line, key, value).err());
        let refused = refused.collect();
        (run, refused)
    }

    fn set(&mut self, line: usize, key: &str, value: &str) -> Result<(), LineError> {
        let wrong = |what: &str| LineError::new(line, format!("{key}={value}: {what}"));
        // As in vdbench, it replaces the list of the run or of `rd=default`.
        let named = if key == "wrpct" { "rdpct" } else { key };
        let has = |(list_name, name): &&(&str, &str)| *list_name == named || *name == named;
        if let Some((_, again)) = VARIED.iter().find(has) {
            self.varied.retain(|(name, _)| name != again);
        }
        // A list also varies the parameter without `for`.
        let varied = |(list_name, name): &&(&str, &str)| {
            *list_name == key || *name == key && list(value).len() > 1
        };
        match key {
            "wd" => self.workload = Some(alone(value).to_owned()),
            "elapsed" => {
                self.seconds =
                    Some(seconds(value).ok_or_else(|| wrong("is no time, such as 30 or 5m"))?)
            }
            "iorate" | "foriorate" if alone(value).eq_ignore_ascii_case("max") => {}
            "iorate" | "foriorate" => {
                return Err(wrong(
                    "ioscape issues the next request when one is done: write iorate=max",
                ));
            }
            _ => match VARIED.iter().find(varied) {
                Some((_, parameter)) => {
                    let values = values(value)
                        .ok_or_else(|| wrong("is no list, such as (4k,8k) or (4k-64k,d)"))?;
                    self.varied.push((parameter, values));
                }
                None => self.own.set(line, key, value)?,
            },
        }
        Ok(())
    }

    /// Returns the workload definition of the run; `None` if it only names storage, which implies
    /// `wd=default`.
    pub fn workload(&self) -> Result<Option<&str>, LineError> {
        let missing = || LineError::new(self.line, format!("rd={}: wd is missing", self.name));
        match (&self.workload, &self.own.storage) {
            (None, None) => Err(missing()),
            (workload, _) => Ok(workload.as_deref()),
        }
    }

    /// Returns a job for every combination of the lists, based on the other definitions, and notes
    /// on what differs from vdbench; an error if there are more than `most`.
    pub fn jobs(
        &self,
        beneath: &Parameters,
        most: usize,
    ) -> Result<Vec<(Job, Vec<String>)>, LineError> {
        let lengths = self.varied.iter().map(|(_, values)| values.len());
        let count = lengths.fold(1, usize::saturating_mul);
        if count > most {
            let what = format!(
                "rd={}: its lists make {count} jobs, which are too many: shorten them",
                self.name
            );
            return Err(LineError::new(self.line, what));
        }
        let mut all = vec![(self.name.clone(), self.own.over(beneath))];
        for (parameter, values) in &self.varied {
            let mut next = Vec::new();
            for (name, parameters) in &all {
                for value in values {
                    let mut parameters = parameters.clone();
                    parameters.set(self.line, parameter, value)?;
                    next.push((format!("{name} {parameter}={value}"), parameters));
                }
            }
            all = next;
        }
        let job = |(name, parameters): (String, Parameters)| {
            self.job(name, &parameters).map(|job| (job, parameters.other_order()))
        };
        all.into_iter().map(job).collect()
    }

    fn job(&self, name: String, parameters: &Parameters) -> Result<Job, LineError> {
        let fails = |what: String| LineError::new(self.line, format!("rd={name}: {what}"));
        let missing = || fails("size is missing: write size= at the storage definition".to_owned());
        let workload = parameters.workload().ok_or_else(missing)?;
        workload.validate().map_err(|e| fails(e.to_string()))?;
        Ok(Job { seconds: self.seconds, ..Job::named(&name, workload) })
    }
}

/// Returns the values of a list, with ranges expanded: `(4k-64k,d)` doubles, `(1-9,2)` adds two.
fn values(value: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut items = list(value).into_iter();
    while let Some(item) = items.next() {
        let Some((low, high)) = item.split_once('-').filter(|(low, _)| !low.is_empty()) else {
            found.push(item.to_owned());
            continue;
        };
        let (mut at, high) = (number(low)?, number(high)?);
        let step = items.next()?;
        if at > high {
            return None;
        }
        let (factor, more) = if step == "d" { (2, 0) } else { (1, number(step)?) };
        while at <= high {
            found.push(at.to_string());
            let next = at.checked_mul(factor)?.checked_add(more)?;
            if next == at || found.len() > VALUES_MOST {
                return None;
            }
            at = next;
        }
    }
    Some(found)
}

/// Parses a count, or a size in bytes.
fn number(value: &str) -> Option<u64> {
    value.parse().ok().or_else(|| bytes(value))
}

/// Parses a time; a bare number means seconds.
fn seconds(value: &str) -> Option<f64> {
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &value[digits.len()..] {
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    digits.parse::<u32>().ok().filter(|n| *n > 0).map(|n| f64::from(n) * unit)
}
