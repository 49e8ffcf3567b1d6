//! All combinations of all setups, simulated on one trace, and their results together.

use crate::cell::{Batch, Cell};
use crate::combinations::Choices;
use crate::error::Error;
use crate::fit::{Fitting, device_name};
use crate::setup::Setup;
use ioscape_schema::units::counted;
use ioscape_schema::{SimulatedCell, Simulation, TraceInfo, Warning, WarningKind};

/// One combination being simulated, the number of its setup, and why it stopped, if it did.
pub struct AtWork<'a> {
    /// The combination.
    pub cell: Cell<'a>,
    setup: usize,
    error: Option<Error>,
}

impl<'a> AtWork<'a> {
    /// Returns all combinations of all setups. The first is compared with the recorded times and,
    /// if `keeps_rows`, keeps its rows.
    ///
    /// # Errors
    /// Options that contradict each other or have no effect.
    pub fn all(
        setups: &'a [Setup],
        choices: &'a Choices,
        fitting: Fitting,
        keeps_rows: bool,
    ) -> Result<Vec<Self>, String> {
        let mut all = Vec::new();
        for (number, setup) in setups.iter().enumerate() {
            for options in setup.combinations(choices)? {
                let mut cell = Cell::new(setup, choices, options, fitting);
                if all.is_empty() {
                    // Times recorded under another load reveal nothing about this one.
                    if fitting.scale_time.is_none_or(|factor| factor == 1.0) {
                        cell.judge();
                    }
                    if keeps_rows {
                        cell.keep_rows();
                    }
                }
                all.push(Self { cell, setup: number, error: None });
            }
        }
        Ok(all)
    }

    /// Simulates more of the trace; returns `false` once something did not fit.
    pub fn take(&mut self, batch: &Batch) -> bool {
        self.error = self.cell.take(batch).err();
        self.error.is_none()
    }
}

/// Why a simulation has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSimulated {
    /// Some combinations failed.
    #[error("{0}")]
    Defect(String),
    /// The trace, the drives and the options do not fit.
    #[error("{0}")]
    Misfit(String),
}

/// A trace that was simulated to its end.
pub struct Simulated<'a> {
    setups: &'a [Setup],
    all: Vec<AtWork<'a>>,
}

impl<'a> Simulated<'a> {
    /// Completes `count` combinations of `setups`; an `Err` in `found` numbers those that failed.
    ///
    /// # Errors
    /// A combination failed, or a request does not fit.
    pub fn of(
        setups: &'a [Setup],
        found: Result<Vec<AtWork<'a>>, Vec<usize>>,
        count: usize,
    ) -> Result<Self, NotSimulated> {
        let mut all = found.map_err(|failed| {
            let numbers: Vec<String> = failed.iter().map(usize::to_string).collect();
            NotSimulated::Defect(format!(
                "combination {} of {count} failed: no result is written (this is a defect of ioscape)",
                numbers.join(", ")
            ))
        })?;
        for at in &mut all {
            if let Some(error) = &at.error {
                // A request longer than the drive has no place on it, wherever it begins.
                let can_wrap =
                    matches!(error, Error::Beyond { len, capacity, .. } if len <= capacity);
                let wrap = if can_wrap { ", or give --wrap" } else { "" };
                return Err(NotSimulated::Misfit(format!("{error}{wrap}")));
            }
            at.cell.finish();
        }
        Ok(Self { setups, all })
    }

    /// Returns the first combination, whose rows are kept.
    ///
    /// # Errors
    /// Says that no request of the trace moved data.
    pub fn first(&self) -> Result<&Cell<'a>, String> {
        let first = self.all.first().map(|at| &at.cell).filter(|cell| cell.requests() > 0);
        first.ok_or_else(|| "no request of the trace moves data on these devices".to_owned())
    }

    /// Takes the remaining rows of the combinations.
    pub fn take_rows(&mut self) -> Vec<crate::SimulatedRequest> {
        self.all.iter_mut().flat_map(|at| at.cell.take_rows()).collect()
    }

    /// Refuses a drive given for a device without requests, since it would have no effect.
    ///
    /// # Errors
    /// Names the device, and the devices with requests.
    pub fn check_met(&self, trace: &TraceInfo) -> Result<(), String> {
        let seen = self.first()?.devices();
        let unmet = self.setups[0].unmet(&trace.devices, &seen);
        if unmet.is_empty() {
            return Ok(());
        }
        Err(format!(
            "--drive {}=...: no request of the trace is of that device; requests are of {}",
            unmet.join("=..., "),
            names(trace, &seen).join(", ")
        ))
    }

    /// Says what part of the trace was not simulated.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for what in self.all.iter().flat_map(|at| at.cell.left_out()) {
            add_once(&mut notes, format!("Not simulated: {what}"));
        }
        notes
    }

    /// Warns of combinations whose figures may not be those of the trace.
    pub fn doubts(&self) -> Vec<Warning> {
        let mut doubts = Vec::new();
        for AtWork { cell, .. } in &self.all {
            let mut doubt =
                |kind, message| add_once(&mut doubts, Warning::new(kind, message).at(cell.name()));
            if cell.wrapped() > 0 {
                let message = format!(
                    "{} wrapped: seeks, hits and what caches absorb are not those of the trace",
                    requests_were(cell.wrapped(), "beyond its end")
                );
                doubt(WarningKind::Unsupported, message);
            }
            if cell.unwritten_reads() > 0 {
                let message = format!(
                    "{} of its drives found nothing, and took no flash: they began empty, and what was read had never been written or was discarded",
                    counted(cell.unwritten_reads(), "read")
                );
                doubt(WarningKind::NeverWritten, message);
            }
            cell.overloads().for_each(|message| doubt(WarningKind::Other, message));
            cell.doubts().for_each(|message| doubt(WarningKind::Extrapolated, message));
        }
        doubts
    }

    /// The result, but for the trace's origin, the arrivals and the agreement with recorded times.
    pub fn simulation(&self, trace: &TraceInfo) -> Simulation {
        let joined = |what: fn(&Setup) -> String| {
            let mut all: Vec<String> = self.setups.iter().map(what).collect();
            all.dedup();
            all.join("; ")
        };
        let kept = |at: &AtWork<'_>| {
            let setup = &self.setups[at.setup];
            let of_many = self.setups.len() > 1 || !setup.named.is_empty();
            SimulatedCell { drive: of_many.then(|| setup.name()), ..at.cell.kept() }
        };
        let first = self.all.first().map(|at| &at.cell);
        Simulation {
            drive: joined(Setup::name),
            drive_status: joined(Setup::status),
            devices: names(trace, &first.map(Cell::devices).unwrap_or_default()),
            requests: first.map_or(0, Cell::requests),
            cells: self.all.iter().map(kept).collect(),
            left_out: self.left_out(),
            ..Simulation::default()
        }
    }

    /// What was not simulated, over all combinations, each item once.
    fn left_out(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for AtWork { cell, setup, .. } in &self.all {
            let left_out = self.setups[*setup].left_out.iter().cloned().chain(cell.left_out());
            left_out.for_each(|what| add_once(&mut all, what));
        }
        all
    }
}

/// Adds an item that may come from several combinations, unless it is there already.
fn add_once<T: PartialEq>(all: &mut Vec<T>, what: T) {
    if !all.contains(&what) {
        all.push(what);
    }
}

fn names(trace: &TraceInfo, devices: &[u16]) -> Vec<String> {
    devices.iter().map(|&device| device_name(&trace.devices, device)).collect()
}
/// A number of requests as the subject of a sentence: `1 request beyond 10 MiB was`.
pub fn requests_were(count: u64, kind: &str) -> String {
    let verb = if count == 1 { "was" } else { "were" };
    let space = if kind.is_empty() { "" } else { " " };
    format!("{}{space}{kind} {verb}", counted(count, "request"))
}

#[cfg(test)]
#[path = "work_tests.rs"]
mod tests;
