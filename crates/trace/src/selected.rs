//! Reads only the chosen rows of a trace: an interval of time, and some of its devices.

use crate::analyze::state::Asked;
use crate::{Error, Reader, TraceClock, Wanted};
use ioscape_schema::{Io, TraceInfo};

/// A trace being read, restricted to the chosen rows.
pub struct SelectedRows {
    reader: Reader,
    asked: Asked,
    wanted: Option<Wanted>,
    /// The requested devices that were found so far; `None` for all.
    devices: Option<Vec<u16>>,
    read: u64,
    chosen: u64,
}

/// Why there are no rows.
#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    /// The trace cannot be read.
    #[error(transparent)]
    Read(#[from] Error),
    /// A device is asked for twice or is not in the trace.
    #[error("{0}")]
    Disk(String),
    /// The trace has no rows.
    #[error("the trace holds no requests")]
    Empty,
    /// No row of the trace was chosen.
    #[error("no request of the trace is within --from, --to and --disk")]
    NothingChosen,
}

impl SelectedRows {
    /// Chooses the rows of `reader` from `from_ns` until before `to_ns`, on `disks` as the user
    /// names them; all disks if `disks` is empty.
    pub fn new(reader: Reader, from_ns: Option<u64>, to_ns: Option<u64>, disks: &[String]) -> Self {
        let wanted = Wanted::new(disks);
        let devices = wanted.as_ref().map(|_| Vec::new());
        let asked = Asked { from_ns, to_ns };
        Self { reader, asked, wanted, devices, read: 0, chosen: 0 }
    }

    /// Replaces the rows in `into` by the next chosen ones, possibly none; returns `false` at the
    /// end of the trace.
    ///
    /// # Errors
    /// The trace cannot be read, a record is broken, or a disk is not in the trace or named twice.
    pub fn next(&mut self, into: &mut Vec<Io>) -> Result<bool, SelectError> {
        let more = self.reader.next_batch(into)?;
        self.read += into.len() as u64;
        if let Some(wanted) = &mut self.wanted {
            // A source may name a device only when its first row comes.
            let devices = &self.reader.info().devices;
            self.devices = Some(wanted.find(devices, !more).map_err(SelectError::Disk)?);
        }
        if self.devices.is_some() || self.asked != Asked::default() {
            into.retain(|io| self.holds(io));
        }
        self.chosen += into.len() as u64;
        Ok(more)
    }

    /// Whether a row is chosen.
    fn holds(&self, io: &Io) -> bool {
        self.asked.from_ns.is_none_or(|from| io.queued_ns >= from)
            && self.asked.to_ns.is_none_or(|to| io.queued_ns < to)
            && self.devices.as_ref().is_none_or(|devices| devices.contains(&io.device))
    }

    /// Refuses a choice that matches nothing. Call this at the end of the trace.
    ///
    /// # Errors
    /// No row was chosen.
    pub fn check(&self) -> Result<(), SelectError> {
        match (self.chosen, self.read) {
            (0, 0) => Err(SelectError::Empty),
            (0, _) => Err(SelectError::NothingChosen),
            _ => Ok(()),
        }
    }

    /// Returns the number of rows read so far, chosen or not.
    pub fn read(&self) -> u64 {
        self.read
    }

    /// Returns the number of rows that came after a later arrival and were sorted into place.
    pub fn moved(&self) -> u64 {
        self.reader.moved()
    }

    /// Returns what is known of the trace as a whole; complete after the last batch.
    pub fn info(&self) -> &TraceInfo {
        self.reader.info()
    }

    /// Returns what times count from, and when the trace begins on that clock; known after the
    /// first batch.
    pub fn clock(&self) -> (TraceClock, u64) {
        self.reader.clock()
    }

    /// Returns the interval that was asked for.
    pub fn asked(&self) -> Asked {
        self.asked.clone()
    }

    /// The requested devices that were found so far; `None` for all.
    pub fn devices(&self) -> Option<Vec<u16>> {
        self.devices.clone()
    }
}
