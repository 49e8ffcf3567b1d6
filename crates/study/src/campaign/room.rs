//! The files of a campaign: which ones a cell needs, and how large they may be.

use ioscape_schema::units::Bytes;
use ioscape_schema::{CellPlan, Prepare, RowPlan, Warning, WarningKind};

/// The files that must lie at a place before a cell can run there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSet {
    prepare: Prepare,
    file_bytes: u64,
    files: u32,
    age_piece: u64,
}

impl FileSet {
    /// What `plan` needs.
    pub fn of(plan: &CellPlan) -> Self {
        let CellPlan { prepare, file_bytes, files_written: files, age_piece, .. } = *plan;
        let written = Self { prepare: Prepare::Written, file_bytes, files, age_piece: 0 };
        match prepare {
            _ if plan.raw => Self { files: 1, ..written },
            Prepare::Fresh => Self { prepare, file_bytes: 0, files: 0, age_piece: 0 },
            Prepare::Written => written,
            Prepare::Aged => Self { prepare, age_piece, ..written },
        }
    }
}

/// The largest file, in bytes, of which half of the free space of every directory holds as many as the rows want.
pub fn max_file_bytes(rows: &[RowPlan], free_bytes: impl Iterator<Item = u64>) -> u64 {
    let cells = rows.iter().flat_map(|row| &row.cells);
    let files = cells.map(|cell| u64::from(cell.files_written)).max().unwrap_or(1);
    let least = free_bytes.map(|free| free / 2 / files.max(1)).min();
    // Whole blocks of the largest requests that campaigns use.
    least.map_or(u64::MAX, |bytes| if bytes > 2 << 20 { bytes >> 21 << 21 } else { bytes })
}

/// Says so where the files of `rows`, planned without a limit, are larger than `most` bytes.
pub fn limited(rows: &[RowPlan], most: u64) -> Option<Warning> {
    let largest = rows.iter().flat_map(|row| &row.cells).map(|cell| cell.file_bytes).max()?;
    (largest > most).then(|| {
        let message = format!(
            "the campaign's files of up to {} are limited to {}",
            Bytes(largest as f64),
            Bytes(most as f64)
        );
        Warning::new(WarningKind::SetLimited, message)
    })
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use ioscape_schema::{VxJob, VxWorkload};

    /// A cell with one file of 1 MiB.
    pub fn cell(prepare: Prepare, raw: bool, workload: VxWorkload) -> CellPlan {
        let job = VxJob { workload, ..VxJob::default() };
        let (file_bytes, age_piece) = (1 << 20, 65536);
        CellPlan { job, files: 1, files_written: 1, file_bytes, prepare, age_piece, raw }
    }

    fn row(files_written: u32) -> RowPlan {
        let cell = cell(Prepare::Written, false, VxWorkload::Read);
        RowPlan { settings: Vec::new(), cells: vec![CellPlan { files_written, ..cell }] }
    }

    #[test]
    fn the_fullest_directory_limits_the_files() {
        let rows = [row(1), row(4)];
        assert_eq!(max_file_bytes(&rows, [1 << 40, 80 << 20].into_iter()), 10 << 20);
        assert_eq!(max_file_bytes(&rows, [1 << 40, (80 << 20) + 9].into_iter()), 10 << 20);
        assert_eq!(max_file_bytes(&rows, std::iter::empty()), u64::MAX, "devices have their size");
        assert_eq!(limited(&rows, 1 << 20), None);
        assert!(limited(&rows, 4096).unwrap().message.contains("limited to 4 KiB"));
    }

    #[test]
    fn cells_share_files_that_are_the_same() {
        let of = |prepare, raw| FileSet::of(&cell(prepare, raw, VxWorkload::Read));
        assert_ne!(of(Prepare::Written, false), of(Prepare::Aged, false));
        assert_ne!(of(Prepare::Written, false), of(Prepare::Fresh, false));
        assert_eq!(of(Prepare::Written, true), of(Prepare::Aged, true), "a device is one file");
    }
}
