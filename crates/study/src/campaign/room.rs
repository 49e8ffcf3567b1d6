//! How large the files of a campaign may be.

use ioscape_schema::units::Bytes;
use ioscape_schema::{CellPlan, RowPlan, Warning, WarningKind};

/// The largest file, in bytes, of which half of the free space of every directory, or of what is left of it once it was filled, holds
/// as many as the rows want.
pub fn max_file_bytes(rows: &[RowPlan], free_bytes: impl Iterator<Item = u64>) -> u64 {
    let files = cells(rows).map(|cell| u64::from(cell.files_written)).max().unwrap_or(1);
    let full_percent = u64::from(fullest(rows));
    let left = free_bytes.map(|free| free - free / 100 * full_percent);
    let least = left.map(|left| left / 2 / files.max(1)).min();
    // Whole blocks of the largest requests that campaigns use.
    least.map_or(u64::MAX, |bytes| if bytes > 2 << 20 { bytes >> 21 << 21 } else { bytes })
}

fn cells(rows: &[RowPlan]) -> impl Iterator<Item = &CellPlan> {
    rows.iter().flat_map(|row| &row.cells)
}

/// The percentage to which the fullest file system is filled beforehand.
pub fn fullest(rows: &[RowPlan]) -> u8 {
    cells(rows).filter_map(|cell| cell.fill).map(|fill| fill.percent).max().unwrap_or(0)
}

/// Says so where the files of `rows`, planned without a limit, are larger than `most` bytes.
pub fn limited(rows: &[RowPlan], most: u64) -> Option<Warning> {
    let largest = cells(rows).map(|cell| cell.file_bytes).max()?;
    (largest > most).then(|| {
        let message = format!(
            "the campaign's files of up to {} are limited to {}",
            Bytes(largest as f64),
            Bytes(most as f64)
        );
        Warning::new(WarningKind::SetLimited, message)
    })
}

/// Says so where requests are smaller than their row is called, since none is larger than its file.
pub fn shortened(rows: &[RowPlan]) -> Option<Warning> {
    let of_row = |row: &RowPlan| {
        let asked = row.settings.iter().find(|setting| setting.name == "iosize")?;
        let moves = row.cells.iter().filter(|cell| cell.names.is_none());
        let most = moves.map(|cell| cell.job.iosize).max()?;
        ((most as f64) < asked.value).then(|| format!("{} are {}", asked.text, Bytes(most as f64)))
    };
    let mut all: Vec<String> = rows.iter().filter_map(of_row).collect();
    all.dedup();
    (!all.is_empty()).then(|| {
        let message = format!(
            "no request is larger than its file: those of the rows with iosize {}",
            all.join(", ")
        );
        Warning::new(WarningKind::SetLimited, message)
    })
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use ioscape_schema::{CampaignSetting, Fill, Prepare, VxJob, VxWorkload};

    #[test]
    fn requests_that_are_smaller_than_their_row_says_are_told() {
        let row = |text: &str, asked: u32, iosize: u64| {
            let mut cell = cell(Prepare::Written, false, VxWorkload::Read);
            cell.job.iosize = iosize;
            let (name, text) = ("iosize".to_owned(), text.to_owned());
            let settings = vec![CampaignSetting { name, text, value: f64::from(asked) }];
            RowPlan { settings, cells: vec![cell] }
        };
        let told = shortened(&[row("64k", 65_536, 65_536), row("2M", 2 << 20, 1 << 20)]);
        assert!(told.is_some_and(|one| one.message.ends_with("iosize 2M are 1 MiB")));
        assert_eq!(shortened(&[row("64k", 65_536, 65_536)]), None);
    }

    /// A cell with one file of 1 MiB.
    pub fn cell(prepare: Prepare, raw: bool, workload: VxWorkload) -> CellPlan {
        let job = VxJob { workload, ..VxJob::default() };
        CellPlan { prepare, age_piece: 65536, raw, ..CellPlan::of_file(job, 1 << 20) }
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
        let full = Fill { percent: 90, turnover: 2 };
        let mut filled = rows.clone();
        filled[0].cells[0].fill = Some(full);
        assert_eq!(max_file_bytes(&filled, [800 << 20].into_iter()), 10 << 20);
        assert_eq!(full.written_bytes(1000), 1800, "filled, and twice half of it again");
        assert_eq!(limited(&rows, 1 << 20), None);
        assert!(limited(&rows, 4096).unwrap().message.contains("limited to 4 KiB"));
    }
}
