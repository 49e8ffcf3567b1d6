//! Simulated requests as rows of a trace, with extra columns that say where their time at the disk
//! went.

use crate::job::SimulatedRequest;
use ioscape_schema::TraceInfo;
use std::collections::BTreeMap;

/// Names of the columns that a simulation adds to those of a trace, in the order of
/// [`SimulatedRequest::columns`].
pub const COLUMNS: [&str; 8] =
    ["row", "wait_ns", "overhead_ns", "bus_ns", "seek_ns", "rotation_ns", "transfer_ns", "cached"];

impl SimulatedRequest {
    /// The values of [`COLUMNS`].
    pub fn columns(&self) -> [u64; COLUMNS.len()] {
        let parts = &self.parts;
        [
            self.row,
            parts.waited_ns,
            parts.overhead_ns,
            parts.bus_ns,
            parts.seek_ns,
            parts.rotation_ns,
            parts.transfer_ns,
            u64::from(parts.cached),
        ]
    }
}

/// Puts rows into order of arrival, like those of a trace, though they complete in another order: a
/// row waits for those before it.
#[derive(Clone, Debug, Default)]
pub struct InOrder {
    waiting: BTreeMap<u64, Option<SimulatedRequest>>,
    /// Whether rows arrive in another order than recorded, like those of several disks in a closed
    /// system: all then wait for the end.
    whole: bool,
}

impl InOrder {
    /// Starts without rows; with `whole`, the order of arrival is known only at the end.
    pub fn new(whole: bool) -> Self {
        Self { waiting: BTreeMap::new(), whole }
    }

    /// Announces a row of the trace that will complete.
    pub fn expect(&mut self, row: u64) {
        self.waiting.insert(row, None);
    }

    /// Takes a completed row.
    pub fn done(&mut self, row: SimulatedRequest) {
        self.waiting.insert(row.row, Some(row));
    }

    /// Moves to `into` the rows that no incomplete row precedes; with `at_end`, all of them.
    pub fn release(&mut self, into: &mut Vec<SimulatedRequest>, at_end: bool) {
        if self.whole {
            if at_end {
                let from = into.len();
                into.extend(std::mem::take(&mut self.waiting).into_values().flatten());
                into[from..].sort_by_key(|row| row.io.queued_ns);
            }
            return;
        }
        while let Some(first) = self.waiting.first_entry()
            && let Some(row) = *first.get()
        {
            first.remove();
            into.push(row);
        }
    }
}

/// The description of the simulated rows as a trace: the tables of the original trace, and the
/// drive.
pub fn info(trace: &TraceInfo, drive: &str) -> TraceInfo {
    let mut info = TraceInfo { format: "simulation".to_owned(), ..trace.clone() };
    // A simulation of simulated rows keeps the format of the original recording.
    if trace.format != info.format || !trace.notes.contains_key("recorded as") {
        info.notes.insert("recorded as".to_owned(), trace.format.clone());
    }
    info.notes.insert("simulated drive".to_owned(), drive.to_owned());
    info
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Parts;
    use ioscape_schema::Io;

    #[test]
    fn every_part_has_its_column() {
        let parts = Parts {
            waited_ns: 1,
            overhead_ns: 2,
            bus_ns: 3,
            seek_ns: 4,
            rotation_ns: 5,
            transfer_ns: 6,
            cached: true,
        };
        let row = SimulatedRequest { row: 9, parts, ..SimulatedRequest::default() };
        assert_eq!(row.columns(), [9, 1, 2, 3, 4, 5, 6, 1]);
    }

    #[test]
    fn rows_are_put_in_the_order_of_arrival() {
        let row = |row, queued_ns| SimulatedRequest {
            row,
            io: Io { queued_ns, ..Io::default() },
            ..SimulatedRequest::default()
        };
        let numbers = |whole, at_end| {
            let mut rows = InOrder::new(whole);
            let mut out = Vec::new();
            (0..4).for_each(|row| rows.expect(row));
            [row(2, 5), row(0, 5), row(1, 2)].into_iter().for_each(|row| rows.done(row));
            rows.release(&mut out, at_end);
            out.iter().map(|r| r.row).collect::<Vec<_>>()
        };
        assert_eq!(numbers(false, false), [0, 1, 2]);
        assert!(numbers(true, false).is_empty());
        assert_eq!(numbers(true, true), [1, 0, 2]);
    }
}
