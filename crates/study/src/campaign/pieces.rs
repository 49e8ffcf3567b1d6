//! The effect of ageing: into how many pieces files that were written alternately are split.

use ioscape_schema::statistics::median;
use ioscape_schema::{CampaignCell, CampaignResult, CampaignRow, Prepare};

/// Name of the parameter that holds the number of files written alternately.
const WRITTEN: &str = "files_written";
/// Name of the parameter that holds the number of those files that were read.
const READ: &str = "files";

/// Returns one sentence per column: the pieces of a file (`FIEMAP`, median over the runs) for each
/// number of files written alternately. Empty if that number does not vary or the file system does
/// not report pieces.
pub fn pieces_of_aged_files(result: &CampaignResult) -> Vec<String> {
    let mut counts: Vec<f64> = result.rows.iter().filter_map(|row| value(row, WRITTEN)).collect();
    counts.sort_unstable_by(f64::total_cmp);
    counts.dedup();
    let sentence = |column: usize| {
        let parts: Vec<String> = counts
            .iter()
            .filter_map(|count| Some(part(pieces(result, column, *count)?, *count)))
            .collect();
        let name = result.columns[column].name();
        (!parts.is_empty()).then(|| format!("{name}: fragments per file: {}.", parts.join(", ")))
    };
    (0..result.columns.len()).filter_map(sentence).collect()
}

fn part(pieces: f64, written: f64) -> String {
    if written == 1.0 {
        format!("{pieces} written alone")
    } else {
        format!("{pieces} if {written} are written alternately")
    }
}

fn value(row: &CampaignRow, name: &str) -> Option<f64> {
    row.setting(name).map(|setting| setting.value)
}

/// Median pieces of one file over all rows and runs in which `written` files were written
/// alternately, rounded.
fn pieces(result: &CampaignResult, column: usize, written: f64) -> Option<f64> {
    let rows = result.rows.iter().filter(|row| value(row, WRITTEN) == Some(written));
    // Every client has its own files, and the pieces are summed over all of them.
    let clients = f64::from(result.clients.unwrap_or(1).max(1));
    let each = rows.flat_map(|row| {
        let cell = row.cells.get(column).filter(|cell| is_aged(cell));
        let planned = cell.and_then(|cell| cell.plan.as_ref()).map(|plan| f64::from(plan.files));
        let files = planned.or(value(row, READ)).unwrap_or(1.0).max(1.0) * clients;
        let samples = cell.map_or(&[][..], |cell| &cell.samples);
        samples.iter().filter_map(move |sample| Some(sample.fragments? as f64 / files))
    });
    let each: Vec<f64> = each.collect();
    (!each.is_empty()).then(|| median(&each).round())
}

/// Whether files were written alternately; assumed in results that do not say how.
fn is_aged(cell: &CampaignCell) -> bool {
    cell.plan.as_ref().is_none_or(|plan| plan.prepare == Prepare::Aged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{CampaignColumn, CampaignSample, CampaignSetting, CellPlan, VxJob};

    fn row(written: f64, files: f64, fragments: &[u64]) -> CampaignRow {
        let setting = |name: &str, value: f64| CampaignSetting {
            name: name.into(),
            text: value.to_string(),
            value,
        };
        let sample = |n: &u64| CampaignSample { fragments: Some(*n), ..CampaignSample::default() };
        let told = CampaignCell {
            samples: fragments.iter().map(sample).collect(),
            ..CampaignCell::default()
        };
        let silent =
            CampaignCell { samples: vec![CampaignSample::default()], ..CampaignCell::default() };
        CampaignRow {
            settings: vec![setting(WRITTEN, written), setting(READ, files)],
            cells: vec![told, silent],
        }
    }

    /// Guards against a defect: of files written one after another it was said that ageing does
    /// nothing.
    #[test]
    fn files_that_were_written_one_after_another_are_not_called_aged() {
        let told = |prepare| {
            let plan = CellPlan { prepare, ..CellPlan::of_file(VxJob::default(), 1 << 20) };
            let mut row = row(2.0, 1.0, &[2]);
            row.cells[0].plan = Some(plan);
            let columns = vec![CampaignColumn::default()];
            let rows = vec![row];
            pieces_of_aged_files(&CampaignResult { columns, rows, ..CampaignResult::default() })
        };
        assert_eq!(told(Prepare::Aged).len(), 1);
        assert_eq!(told(Prepare::Written), [""; 0]);
    }

    #[test]
    fn pieces_are_given_of_one_file_for_each_number_written() {
        let columns = ["xfs", "nfs"]
            .map(|place| CampaignColumn { place: place.into(), ..CampaignColumn::default() });
        let rows = vec![row(2.0, 1.0, &[16, 16]), row(1.0, 1.0, &[1]), row(2.0, 2.0, &[32, 34])];
        let table = CampaignResult { columns: columns.into(), rows, ..CampaignResult::default() };
        assert_eq!(
            pieces_of_aged_files(&table),
            ["xfs: fragments per file: 1 written alone, 16 if 2 are written alternately."]
        );
        let bare = CampaignRow { settings: Vec::new(), ..row(1.0, 1.0, &[9]) };
        let table = CampaignResult { rows: vec![bare], ..table };
        assert!(pieces_of_aged_files(&table).is_empty(), "no files were written alternately");
    }
}
