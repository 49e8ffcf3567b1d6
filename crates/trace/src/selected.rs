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
    /// When the first and the last row read arrive.
    span_ns: Option<(u64, u64)>,
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
    /// No row of the trace was chosen; the first and the last that were read arrive at these times.
    #[error(
        "no request of the trace is within --from, --to and --disk; those read arrive from {:.3} to {:.3} s",
        *.0 as f64 / 1e9,
        *.1 as f64 / 1e9
    )]
    NothingChosen(u64, u64),
}

impl SelectedRows {
    /// Chooses the rows of `reader` from `from_ns` until before `to_ns`, on `disks` as the user
    /// names them; all disks if `disks` is empty.
    pub fn new(reader: Reader, from_ns: Option<u64>, to_ns: Option<u64>, disks: &[String]) -> Self {
        let wanted = Wanted::new(disks);
        let devices = wanted.as_ref().map(|_| Vec::new());
        let asked = Asked { from_ns, to_ns };
        Self { reader, asked, wanted, devices, read: 0, chosen: 0, span_ns: None }
    }

    /// Replaces the rows in `into` by the next chosen ones, possibly none; returns `false` at the
    /// end of the trace.
    ///
    /// # Errors
    /// The trace cannot be read, a record is broken, or a disk is not in the trace or named twice.
    pub fn next(&mut self, into: &mut Vec<Io>) -> Result<bool, SelectError> {
        let more = self.reader.next_batch(into)?;
        self.read += into.len() as u64;
        if let [first, .., last] | [first @ last] = &into[..] {
            let first_ns = self.span_ns.map_or(first.queued_ns, |span_ns| span_ns.0);
            self.span_ns = Some((first_ns, last.queued_ns));
        }
        if let Some(wanted) = &mut self.wanted {
            // A source may name a device only when its first row comes.
            let devices = &self.reader.info().devices;
            let found = wanted.find(devices, !more).map_err(SelectError::Disk)?;
            self.reader.choose(&found);
            self.devices = Some(found);
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
        match self.span_ns {
            None => Err(SelectError::Empty),
            Some((first, last)) if self.chosen == 0 => Err(SelectError::NothingChosen(first, last)),
            Some(_) => Ok(()),
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

    /// Returns the same of the trace with all its disks, for a part that is merged with those of
    /// others.
    pub fn info_of_all_disks(&self) -> TraceInfo {
        self.reader.info_of_all_disks()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ReadOptions, Source, open};

    /// As in tables with times since the machine began.
    #[test]
    fn where_nothing_is_chosen_the_times_of_the_requests_are_said() {
        let text = "queued_ns,is_write,offset_bytes,length_bytes\n1000000000000000,0,0,512\n1000073500000000,0,0,512\n";
        let source = Source::stream("t", std::io::Cursor::new(text.as_bytes().to_vec()));
        let reader = open(vec![source], &ReadOptions::default()).unwrap();
        let mut rows = SelectedRows::new(reader, None, Some(20_000_000_000), &[]);
        while rows.next(&mut Vec::new()).unwrap() {}
        let said = rows.check().unwrap_err().to_string();
        assert!(said.ends_with("those read arrive from 1000000.000 to 1000073.500 s"), "{said}");
    }
}
