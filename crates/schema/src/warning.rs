//! Warnings about a result: stored in it and shown, never only a line on the screen.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What kind of warning it is; scripts match on this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// Pages left the file cache though memory was free (a reclaimer drops what is not re-read soon).
    PagesDropped,
    /// The program that measured emptied the file cache of the set, at the beginning and at every pass: fio does, unless `invalidate=0`.
    CacheEmptied,
    /// The first touch of memory was several times slower than later ones.
    FirstTouch,
    /// Pages of the set are charged to another control group, so the memory limit does not bind them.
    ForeignPages,
    /// `O_DIRECT` was accepted by a file system that has no device below it.
    DirectWithoutDevice,
    /// The kernel's read counters stay at zero on this file system, so cached and uncached reads cannot be distinguished.
    CountersSilent,
    /// Other programs used the processors, or read from the device, during a point.
    LoadByOthers,
    /// The hypervisor took processor time away during a point.
    Steal,
    /// The reference workload changed its speed during the evaluation.
    Drift,
    /// The confidence interval did not reach its aim before the time cap.
    NotConfident,
    /// The run is not limited by I/O in the paper's sense.
    NotIoLimited,
    /// Little's law and the measured mean response time disagree.
    LittlesLaw,
    /// Steady state was not reached during warm-up.
    NotSteady,
    /// The set was limited by free space, time or the user and may not reach past the cache.
    SetLimited,
    /// The workers ran under a memory limit.
    MemoryLimited,
    /// The clock or its precision is doubtful.
    Clock,
    /// A phase was left out or shortened to keep the time budget.
    BudgetSpent,
    /// The result was interrupted and is partial.
    Interrupted,
    /// Predictions lie outside what was measured: their intervals are guesses.
    Extrapolated,
    /// Results that are compared were measured in different ways, or the processors of one run are of different kinds.
    DifferentKinds,
    /// An option could not be honoured by this system.
    Unsupported,
    /// A traced command did I/O that system calls do not show.
    CallsUnseen,
    /// What was characterized is not well described by the five parameters.
    PoorFit,
    /// Tracing slowed the command down so much that its times mean little.
    TracingCost,
    /// A benchmark does not measure what its name says, or a part of it was answered without work.
    Trap,
    /// Others disturbed most of a measurement.
    Contaminated,
    /// Events were lost while a trace was recorded.
    EventsLost,
    /// Broken records of a trace were left out.
    RecordsSkipped,
    /// Requests whose beginning or end is not in a trace, or rows that are not in their order.
    TraceIncomplete,
    /// A trace does not tell when requests completed, or when they arrived to less than a second.
    TimesUnknown,
    /// A trace does not tell what reads and what writes, or numbers objects instead of places.
    OperationsUnknown,
    /// A trace does not tell flags and what blocks hold, or by numbers whose meaning is not published in full.
    TypesUnknown,
    /// A trace holds the slow requests of a recording alone.
    RequestsLeftOut,
    /// Processes of the measurement were stopped or frozen for a part of it.
    Stopped,
    /// Data was verified while the workload ran, which slows it down.
    Verified,
    /// What was read holds no data (holes, reserved space, zeros that are not stored), so that it came from no storage.
    NeverWritten,
    /// A warning of a newer version of this program.
    #[serde(other)]
    Other,
}

/// One warning: its kind, a sentence for people, and what it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// The kind, for scripts.
    pub kind: WarningKind,
    /// One sentence: what was seen and what to do about it.
    pub message: String,
    /// What part of the result is concerned, such as `unique_bytes = 64 MiB`; empty for the whole.
    #[serde(default, rename = "where", skip_serializing_if = "String::is_empty")]
    pub place: String,
}

impl Warning {
    /// A warning about the whole result.
    pub fn new(kind: WarningKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), place: String::new() }
    }

    /// The same warning, about `place`.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = place.into();
        self
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.place, self.message)
        }
    }
}
