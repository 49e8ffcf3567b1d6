//! SimulatedRequest requests as rows of a trace, with further columns that say where their time at the disk went.

use crate::simulate::{SimulatedRequest, SimulatedTrace};
use ioscape_schema::TraceInfo;

/// Names of the columns that a simulation adds to those of a trace, as [`SimulatedRequest::columns`] gives them.
pub const COLUMNS: [&str; 8] =
    ["row", "wait_ns", "overhead_ns", "bus_ns", "seek_ns", "rotation_ns", "transfer_ns", "cached"];

impl SimulatedRequest {
    /// The values of [`COLUMNS`].
    pub fn columns(&self) -> [u64; COLUMNS.len()] {
        let parts = &self.parts;
        [
            u64::from(self.row),
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

impl SimulatedTrace {
    /// Puts the rows in the order of arrival, as those of a trace are: several disks of a closed system arrive in another
    /// order than recorded.
    pub fn sort_by_arrival(&mut self) {
        self.rows.sort_by_key(|row| row.io.queued_ns);
    }
}

/// What holds for the simulated rows as a whole: the tables of the trace, and the drive.
pub fn info(trace: &TraceInfo, drive: &str) -> TraceInfo {
    let mut info = TraceInfo { format: "simulation".to_owned(), ..trace.clone() };
    info.notes.insert("recorded as".to_owned(), trace.format.clone());
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
        let mut run = SimulatedTrace {
            rows: vec![row(0, 5), row(1, 2), row(2, 5)],
            ..SimulatedTrace::default()
        };
        run.sort_by_arrival();
        assert_eq!(run.rows.iter().map(|r| r.row).collect::<Vec<_>>(), [1, 0, 2]);
    }
}
