//! Warnings about a result. They are stored in it and shown, never only printed.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The kind of a warning; scripts match on this. Newer versions add kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// Pages left the file cache although memory was free (a reclaimer drops what is not re-read
    /// soon).
    PagesDropped,
    /// The measuring program emptied the file cache of the set at the beginning and at every pass:
    /// fio does, unless `invalidate=0`.
    CacheEmptied,
    /// The first touch of memory was several times slower than later ones.
    FirstTouch,
    /// Pages of the set are charged to another control group, so the memory limit does not apply to
    /// them.
    ForeignPages,
    /// `O_DIRECT` was accepted, but requests may end in memory, in a file cache or at a server
    /// instead of a device.
    DirectWithoutDevice,
    /// The kernel's read counters stay at zero on this file system, or count all reads, so cached
    /// and uncached reads cannot be distinguished.
    CountersSilent,
    /// Other programs used the processors, or read from the device, during a point.
    LoadByOthers,
    /// The hypervisor took processor time away during a point.
    Steal,
    /// The speed of the reference workload changed during the evaluation.
    Drift,
    /// The confidence interval did not reach its target before the time cap.
    NotConfident,
    /// The run is not limited by I/O in the paper's sense.
    NotIoLimited,
    /// Little's law and the measured mean response time disagree.
    LittlesLaw,
    /// Steady state was not reached during warm-up.
    NotSteady,
    /// The set was limited by free space, time or the user and may not exceed the cache.
    SetLimited,
    /// The workers ran under a memory limit.
    MemoryLimited,
    /// The clock or its precision is doubtful.
    Clock,
    /// A phase was skipped or shortened to keep the time budget.
    BudgetSpent,
    /// The result was interrupted and is partial.
    Interrupted,
    /// Predictions lie outside what was measured: their intervals are guesses.
    Extrapolated,
    /// The compared results were measured in different ways, or the processors of one run are of
    /// different kinds.
    DifferentKinds,
    /// An option could not be honoured by this system.
    Unsupported,
    /// A traced command did I/O that system calls do not show.
    CallsUnseen,
    /// The five parameters do not describe the application well.
    PoorFit,
    /// Tracing slowed the command down so much that its times mean little.
    TracingCost,
    /// A benchmark does not measure what its name says, or part of it was answered without real
    /// work.
    Trap,
    /// Other load disturbed most of a measurement.
    Contaminated,
    /// Events were lost while a trace was recorded.
    EventsLost,
    /// Broken records of a trace were skipped.
    RecordsSkipped,
    /// A trace lacks the beginning or end of requests, or its rows are out of order.
    TraceIncomplete,
    /// A trace does not record when requests completed, or records arrivals only in coarse steps.
    TimesUnknown,
    /// A trace does not record which requests read and which write, or has object numbers instead
    /// of places.
    OperationsUnknown,
    /// A trace does not record flags and block contents, or records them as numbers whose meaning
    /// is not fully published.
    TypesUnknown,
    /// A trace holds only the slow requests of a recording.
    RequestsLeftOut,
    /// Processes of the measurement were stopped or frozen for part of it.
    Stopped,
    /// Data was verified while the workload ran, which slows it down.
    Verified,
    /// What was read holds no data (holes, reserved space, zeros that are not stored), so it came
    /// from no storage.
    NeverWritten,
    /// A warning of no kind above, or of one that only a newer version of this program knows.
    #[serde(other)]
    Other,
}

impl WarningKind {
    /// Whether warnings of this kind state a fact about the place of measurement: two that differ
    /// are two facts, and not two grades of one doubt about a run.
    fn is_of_place(self) -> bool {
        matches!(self, Self::Trap | Self::DirectWithoutDevice)
    }
}

/// One warning: its kind, a sentence for people, and the place it concerns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// The kind, for scripts.
    pub kind: WarningKind,
    /// One sentence: what was observed and what to do about it.
    pub message: String,
    /// The part of the result concerned, such as `unique_bytes = 64 MiB`; empty for the whole.
    #[serde(default, rename = "where", skip_serializing_if = "String::is_empty")]
    pub place: String,
}

impl Warning {
    /// Returns a warning about the whole result.
    pub fn new(kind: WarningKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), place: String::new() }
    }

    /// Returns whether it tells the same as `other`, whatever place and figures they name.
    pub fn is_like(&self, other: &Self) -> bool {
        // Figures are in parentheses: a limit of reads is part of one of reads and writes.
        let [own, theirs] = [self, other].map(|one| one.message.split('(').next());
        self.kind == other.kind && (!self.kind.is_of_place() || own == theirs)
    }

    /// Returns the warning with `place` set.
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
