//! The table of a campaign as it fills up: its columns, its ratios, and how it is continued.

use super::filling::is_filling;
use crate::ratio::paired_ratio;
use ioscape_schema::statistics::{interval, median};
use ioscape_schema::{
    CampaignCell, CampaignColumn, CampaignResult, CampaignRow, CampaignSample, Document,
    ResponseTime, RowPlan, Warning, WarningKind,
};

/// A place as the table presents it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceColumns {
    /// Name in the table.
    pub label: String,
    /// Directory or device.
    pub path: String,
    /// Its file system; `block` for a device.
    pub file_system: String,
    /// Whether it is a device.
    pub raw: bool,
    /// The command that made its file system; empty if the file system already existed.
    pub made_by: String,
    /// Its mount options.
    pub mount_options: String,
}

/// A method as the table presents it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodColumns {
    /// Heading.
    pub name: String,
    /// Whether it is for devices.
    pub raw: bool,
}

/// One column for every place and every method that can run there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// Place and method of each column, as indices into the lists that the columns were made from.
    pub arms: Vec<(usize, usize)>,
    /// The headings.
    pub heads: Vec<CampaignColumn>,
    /// Labels of the places that no method applies to.
    pub left_out: Vec<String>,
}

impl Columns {
    /// Returns the columns of `places`, each with the methods that apply to it.
    pub fn new(places: &[PlaceColumns], methods: &[MethodColumns]) -> Self {
        let (mut arms, mut heads, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for (at, place) in places.iter().enumerate() {
            let fitting = methods.iter().enumerate().filter(|(_, method)| method.raw == place.raw);
            let before = arms.len();
            for (number, method) in fitting {
                arms.push((at, number));
                let several = methods.len() > 1;
                heads.push(CampaignColumn {
                    place: place.label.clone(),
                    method: if several { method.name.clone() } else { String::new() },
                    path: place.path.clone(),
                    file_system: place.file_system.clone(),
                    made_by: place.made_by.clone(),
                    mount_options: place.mount_options.clone(),
                });
            }
            if arms.len() == before {
                left_out.push(place.label.clone());
            }
        }
        Self { arms, heads, left_out }
    }

    /// Refuses places that no method of the campaign `name` applies to.
    ///
    /// # Errors
    /// The sentence that says what the methods are for, if there is no column.
    pub fn check(&self, name: &str, places: &[PlaceColumns]) -> Result<(), String> {
        if !self.arms.is_empty() {
            return Ok(());
        }
        let is_on_device = places.iter().any(|place| place.raw);
        Err(format!(
            "{name} has no method for these places: its methods are for {}",
            if is_on_device { "directories" } else { "devices" }
        ))
    }

    /// One warning for every place without a column, in the campaign `name`.
    pub fn doubts(&self, name: &str) -> Vec<Warning> {
        let doubt = |label: &String| {
            let text = format!("{label} is left out: no method of {name} applies to it");
            Warning::new(WarningKind::Unsupported, text)
        };
        self.left_out.iter().map(doubt).collect()
    }

    /// Returns `table` with these columns and, in every row, an empty cell for each.
    pub fn table(&self, rows: &[RowPlan], table: CampaignResult) -> CampaignResult {
        let row = |row: &RowPlan| {
            let plans = self.arms.iter().map(|&(_, method)| row.cells.get(method).cloned());
            let cells = plans.map(|plan| CampaignCell { plan, ..CampaignCell::default() });
            CampaignRow { settings: row.settings.clone(), cells: cells.collect() }
        };
        CampaignResult {
            columns: self.heads.clone(),
            rows: rows.iter().map(row).collect(),
            ..table
        }
    }
}

/// Adds a cell's sample, or the reason why the cell is impossible, and updates the row's summary.
pub fn record(row: &mut CampaignRow, column: usize, found: Result<CampaignSample, String>) {
    let CampaignCell { samples, impossible, .. } = &mut row.cells[column];
    *impossible = found.map(|sample| samples.push(sample)).err();
    summarize(row);
}

/// Computes medians, and ratios to the first column that does the same kind of work.
fn summarize(row: &mut CampaignRow) {
    let samples = |cell: &CampaignCell, pick: fn(&CampaignSample) -> f64| {
        cell.samples.iter().map(pick).collect::<Vec<f64>>()
    };
    let bases: Vec<usize> = (0..row.cells.len()).map(|column| row.base_of(column)).collect();
    // Methods may move different amounts, so it is not seconds that are paired.
    let picks = [CampaignSample::rate, CampaignSample::cpu_each_s];
    let all: Vec<[Vec<f64>; 2]> =
        row.cells.iter().map(|cell| picks.map(|pick| samples(cell, pick))).collect();
    for (index, cell) in row.cells.iter_mut().enumerate() {
        let [own, each] = &all[index];
        let cost = samples(cell, |sample| sample.cpu_s);
        let on_names = cell.samples.iter().any(|sample| sample.operations.is_some());
        cell.operations_per_s = on_names.then(|| median(own));
        cell.throughput_bytes_per_s = if on_names { 0.0 } else { median(own) };
        cell.cpu_s = median(&cost);
        (cell.rate_ci95, cell.cpu_ci95) = (interval(own), interval(&cost));
        cell.response_time_ns = times(cell, |sample| sample.response_time_ns);
        cell.fsync_ns = times(cell, |sample| sample.fsync_ns);
        if bases[index] != index {
            let [rates, base] = &all[bases[index]];
            let (rate, cpu) = (paired_ratio(own, rates), paired_ratio(each, base));
            (cell.ratio, cell.ratio_ci95) = (rate.map(|r| r.mean), rate.map(|r| r.ci95));
            (cell.cpu_ratio, cell.cpu_ratio_ci95) = (cpu.map(|r| r.mean), cpu.map(|r| r.ci95));
        }
    }
}

/// The median over the runs of each percentile; `None` if no run has any.
fn times(
    cell: &CampaignCell,
    of: fn(&CampaignSample) -> Option<ResponseTime>,
) -> Option<ResponseTime> {
    let all: Vec<ResponseTime> = cell.samples.iter().filter_map(of).collect();
    let middle = |pick: fn(&ResponseTime) -> f64| median(&all.iter().map(pick).collect::<Vec<_>>());
    (!all.is_empty()).then(|| ResponseTime {
        mean: middle(|t| t.mean),
        p50: middle(|t| t.p50 as f64) as u64,
        p90: middle(|t| t.p90 as f64) as u64,
        p99: middle(|t| t.p99 as f64) as u64,
        p999: middle(|t| t.p999 as f64) as u64,
        max: middle(|t| t.max as f64) as u64,
    })
}

/// Why a campaign cannot be continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotContinued {
    /// The result is of another kind.
    #[error("the file holds no campaign to continue")]
    OtherKind,
    /// It is of another table.
    #[error(
        "the file holds a campaign with other rows, columns or clients: give the same name, places and limits"
    )]
    OtherTable,
}

/// Returns the table in `found`, to be continued as `fresh` requests. Of its sentences only those on
/// fillings stay, since the runs to come may refute the others.
///
/// # Errors
/// There is no table, it has other columns or rows, or its runs were done by another set of
/// clients.
pub fn continued(found: &Document, fresh: CampaignResult) -> Result<CampaignResult, NotContinued> {
    let found = found.campaign().ok_or(NotContinued::OtherKind)?;
    let key = |table: &CampaignResult| {
        // A file system may share its name with one that was made differently.
        let column =
            |one: &CampaignColumn| (one.name(), one.file_system.clone(), one.made_by.clone());
        let columns: Vec<_> = table.columns.iter().map(column).collect();
        let rows: Vec<_> = table.rows.iter().map(|row| row.settings.clone()).collect();
        (table.title.clone(), table.clients, columns, rows)
    };
    let is_whole = found.rows.iter().all(|row| row.cells.len() == found.columns.len());
    match is_whole && key(found) == key(&fresh) {
        true => {
            let (rounds, columns) = (fresh.rounds, fresh.columns);
            let mut table = CampaignResult { rounds, columns, ..found.clone() };
            table.sentences.retain(|sentence| is_filling(sentence));
            Ok(table)
        }
        false => Err(NotContinued::OtherTable),
    }
}

/// Cells of `found` that were impossible when other cells of their row were measured, by row and
/// column.
pub fn left_behind(found: &CampaignResult) -> Vec<[usize; 2]> {
    let is_begun = |row: &CampaignRow| row.cells.iter().any(|cell| !cell.samples.is_empty());
    let begun = found.rows.iter().enumerate().filter(|(_, row)| is_begun(row));
    let cells = begun.flat_map(|(row, one)| (0..one.cells.len()).map(move |at| [row, at]));
    cells.filter(|&[row, at]| found.rows[row].cells[at].impossible.is_some()).collect()
}

/// The warning about a cell that was [`left_behind`] and has been measured since.
pub fn measured_late() -> Warning {
    let text = "it was impossible when others of its row were measured, and was measured later: ratios between it and others of its row are of runs of different times";
    Warning::new(WarningKind::DifferentKinds, text)
}

/// The place that a warning about this cell gives; row and column are counted from 0.
pub fn place_of([row, column]: [usize; 2]) -> String {
    format!("row {} column {}", row + 1, column + 1)
}

/// The kind of [`not_measured`]. No run of a cell has a warning of this kind, so none can take its
/// place.
const LEFT_OUT: WarningKind = WarningKind::Interrupted;

/// The warning about a cell that was measured in other rounds but refused in this one (counted from
/// 0), for a reason that may pass.
pub fn not_measured(round: usize, why: &str) -> Warning {
    let text = format!(
        "it was not measured in round {}, and perhaps in others, so that ratios between it and others of its row are of runs of different rounds: {why}",
        round + 1
    );
    Warning::new(LEFT_OUT, text)
}

/// Removes the [`not_measured`] warnings of cells that by now have all rounds of `table`.
pub fn take_back(doubts: &mut Vec<Warning>, table: &CampaignResult) {
    let is_whole = |cell: &CampaignCell| cell.samples.len() >= table.rounds as usize;
    let has_all = |doubt: &Warning| {
        let mut rows = table.rows.iter().enumerate();
        rows.any(|(row, one)| {
            let mut cells = one.cells.iter().enumerate();
            cells.any(|(at, cell)| is_whole(cell) && place_of([row, at]) == doubt.place)
        })
    };
    doubts.retain(|doubt| doubt.kind != LEFT_OUT || !has_all(doubt));
}

/// The warnings of an earlier campaign that stay when it is continued: those about its cells, and
/// about systems that had changed before. Warnings about the whole campaign are raised again if
/// they still apply.
pub fn lasting_doubts(found: &Document) -> impl Iterator<Item = &Warning> {
    found.warnings.iter().filter(|doubt| !doubt.place.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::{Schedule, filling};
    use ioscape_schema::{CellPlan, Fill, VxJob, VxWorkload};

    #[test]
    fn doubts_about_cells_stay_when_a_table_is_continued() {
        let of_cell = Warning::new(WarningKind::Stopped, "stopped for 2 s").at("row 1 column 1");
        let mut found = Document::default();
        found.warn(of_cell.clone());
        found.warn(Warning::new(WarningKind::Interrupted, "the campaign is partial"));
        found.warn(Warning::new(WarningKind::BudgetSpent, "the budget was spent"));
        found.warn(Warning::new(WarningKind::SetLimited, "files are limited"));
        assert_eq!(lasting_doubts(&found).collect::<Vec<_>>(), [&of_cell]);
    }

    /// Guards against two defects: the warning was missing beside one about the cell's direct I/O,
    /// and it stayed when the cell had all its rounds.
    #[test]
    fn a_cell_is_said_to_lack_rounds_as_long_as_it_does() {
        let columns = Columns::new(&[place("a", false)], &[method("", false)]);
        let mut table = CampaignResult { rounds: 2, ..table(&columns) };
        let mut found = Document::default();
        let of_run = Warning::new(WarningKind::Unsupported, "direct I/O went through the cache");
        found.warn_once(of_run.clone().at(place_of([1, 0])));
        record(&mut table.rows[1], 0, Ok(CampaignSample::default()));
        found.warn_once(not_measured(1, "500 MB is left").at(place_of([1, 0])));
        take_back(&mut found.warnings, &table);
        assert_eq!(found.warnings.len(), 2);
        record(&mut table.rows[1], 0, Ok(CampaignSample::default()));
        take_back(&mut found.warnings, &table);
        assert_eq!(found.warnings, [of_run.at("row 2 column 1")]);
    }

    fn place(label: &str, raw: bool) -> PlaceColumns {
        let text = label.to_owned();
        let (path, file_system) = (text.clone(), text.clone());
        let (made_by, mount_options) = (String::new(), "rw".to_owned());
        PlaceColumns { label: text, path, file_system, raw, made_by, mount_options }
    }

    fn plan() -> CellPlan {
        CellPlan::of_file(VxJob::default(), 1 << 20)
    }

    fn method(name: &str, raw: bool) -> MethodColumns {
        MethodColumns { name: name.to_owned(), raw }
    }

    fn table(columns: &Columns) -> CampaignResult {
        let row = RowPlan { settings: Vec::new(), cells: Vec::new() };
        columns.table(&[row.clone(), row], CampaignResult::default())
    }

    #[test]
    fn a_column_is_a_place_and_one_of_its_methods() {
        let places = [place("xfs", false), place("raw", true)];
        let methods = [method("buffered", false), method("raw", true), method("direct", false)];
        let columns = Columns::new(&places, &methods);
        assert_eq!(columns.arms, [(0, 0), (0, 2), (1, 1)]);
        let names: Vec<String> = columns.heads.iter().map(CampaignColumn::name).collect();
        assert_eq!(names, ["xfs buffered", "xfs direct", "raw"]);
        assert!(columns.left_out.is_empty());
        assert!(table(&columns).rows.iter().all(|row| row.cells.len() == 3));
    }

    #[test]
    fn a_place_without_a_column_is_named() {
        let columns =
            Columns::new(&[place("xfs", false), place("raw", true)], &[method("a", false)]);
        let said = columns.doubts("t");
        assert_eq!(said.len(), 1);
        assert_eq!(said[0].message, "raw is left out: no method of t applies to it");
        let none = [place("raw", true)];
        let why = Columns::new(&none, &[method("a", false)]).check("t", &none).unwrap_err();
        assert_eq!(why, "t has no method for these places: its methods are for directories");
        assert_eq!(columns.check("t", &none), Ok(()));
    }

    #[test]
    fn a_row_is_summed_up_after_every_run() {
        let columns = Columns::new(&[place("a", false), place("b", false)], &[method("", false)]);
        let mut row = table(&columns).rows.remove(0);
        let sample = |throughput_bytes_per_s, cpu_s| CampaignSample {
            bytes: 1,
            throughput_bytes_per_s,
            cpu_s,
            ..CampaignSample::default()
        };
        for round in [1.0, 2.0, 4.0] {
            record(&mut row, 0, Ok(sample(round, 1.0)));
            record(&mut row, 1, Ok(sample(3.0 * round, 0.5)));
        }
        assert_eq!((row.cells[0].throughput_bytes_per_s, row.cells[0].ratio), (2.0, None));
        let (ratio, cpu) = (row.cells[1].ratio.unwrap(), row.cells[1].cpu_ratio.unwrap());
        let [low, high] = row.cells[0].rate_ci95.unwrap();
        assert!(low < 1.0 && high > 4.0, "{low} {high}");
        assert!((ratio - 3.0).abs() < 1e-9 && (cpu - 0.5).abs() < 1e-9, "{ratio} {cpu}");
        assert_eq!(row.cells[0].response_time_ns, None, "runs of older results have none");
        let times = ResponseTime { p99: 7, ..ResponseTime::default() };
        let told = CampaignSample { response_time_ns: Some(times), ..sample(1.0, 1.0) };
        record(&mut row, 0, Ok(told));
        assert_eq!(row.cells[0].response_time_ns.map(|times| times.p99), Some(7));
        assert_eq!(row.cells[0].fsync_ns, None);
        record(&mut row, 1, Err("a device is one file".to_owned()));
        assert!(row.cells[1].impossible.is_some());
    }

    /// Guards against a defect: four files cost four times the processor time of one, though no
    /// byte cost more.
    #[test]
    fn processor_seconds_are_compared_by_what_they_were_spent_on() {
        let columns = Columns::new(&[place("a", false), place("b", false)], &[method("", false)]);
        let ratio = |of: fn(u64) -> CampaignSample| {
            let mut row = table(&columns).rows.remove(0);
            for (column, amount) in [1, 4].repeat(2).into_iter().enumerate() {
                let sample = CampaignSample { cpu_s: amount as f64, ..of(amount) };
                record(&mut row, column % 2, Ok(sample));
            }
            assert_eq!(row.cells[1].cpu_s, 4.0);
            row.cells[1].cpu_ratio
        };
        assert_eq!(ratio(|bytes| CampaignSample { bytes, ..CampaignSample::default() }), Some(1.0));
        let on_names = |count| {
            let operations = Some(count);
            CampaignSample { operations, ..CampaignSample::default() }
        };
        assert_eq!(ratio(on_names), Some(1.0));
        assert_eq!(ratio(|_| CampaignSample::default()), None, "nothing was moved");
    }

    #[test]
    fn ratios_are_to_the_first_column_of_the_same_work() {
        let methods = [method("read", false), method("write", false)];
        let columns = Columns::new(&[place("a", false), place("b", false)], &methods);
        let mut row = table(&columns).rows.remove(0);
        let workloads = [VxWorkload::Read, VxWorkload::Write].repeat(2);
        for (cell, workload) in row.cells.iter_mut().zip(workloads) {
            let job = VxJob { workload, ..VxJob::default() };
            cell.plan = Some(CellPlan { job, ..plan() });
        }
        for (column, throughput_bytes_per_s) in [8.0, 2.0, 4.0, 3.0].into_iter().enumerate() {
            for _ in 0..2 {
                let sample = CampaignSample { throughput_bytes_per_s, ..CampaignSample::default() };
                record(&mut row, column, Ok(sample));
            }
        }
        let ratios: Vec<Option<f64>> = row.cells.iter().map(|cell| cell.ratio).collect();
        assert_eq!(ratios, [None, None, Some(0.5), Some(1.5)]);
        row.cells.iter_mut().for_each(|cell| cell.plan = None);
        assert_eq!(row.base_of(3), 0, "as in results that do not hold what was done");
    }

    /// Guards against two defects: cells that had asked for the kernel's io_uring stayed impossible
    /// after it was allowed, and a second interruption before they were measured made the table
    /// forget that they are of a later day than the others.
    #[test]
    fn a_table_that_goes_on_tries_again_what_was_impossible() {
        let columns = Columns::new(&[place("a", false), place("b", false)], &[method("", false)]);
        let fresh = CampaignResult { rounds: 2, ..table(&columns) };
        let mut begun = fresh.clone();
        for _ in 0..2 {
            record(&mut begun.rows[0], 0, Ok(CampaignSample::default()));
        }
        for row in &mut begun.rows {
            record(row, 1, Err("allow it (sysctl)".to_owned()));
        }
        let goes_on = |table: CampaignResult| {
            let found = Document { outcome: Some(table.into()), ..Document::default() };
            continued(&found, fresh.clone()).unwrap()
        };
        // Interrupted before it reached the cell.
        let mut goes_on = goes_on(goes_on(begun));
        assert_eq!(left_behind(&goes_on), [[0, 1]], "nothing of the second row was measured");
        let schedule = Schedule { rounds: 2, rows: 2 };
        assert_eq!(schedule.due(0, &goes_on), [1]);
        record(&mut goes_on.rows[0], 1, Ok(CampaignSample::default()));
        let reason = goes_on.rows[0].cells[1].impossible.as_ref();
        assert_eq!((reason, left_behind(&goes_on)), (None, Vec::new()));
        assert_eq!(schedule.due(0, &goes_on), Vec::<usize>::new());
        assert_eq!(schedule.due(2, &goes_on), [1], "it catches up with the others");
    }

    #[test]
    fn a_table_continues_only_one_like_itself() {
        let columns = Columns::new(&[place("a", false)], &[method("", false)]);
        let fresh = CampaignResult { rounds: 9, ..table(&columns) };
        let mut begun = table(&columns);
        record(&mut begun.rows[0], 0, Ok(CampaignSample::default()));
        let filled = filling("a", Fill { percent: 50, turnover: 0 }, 9, 1 << 20, 50.0);
        begun.sentences = vec!["4 threads are twice as fast.".to_owned(), filled.clone()];
        let of =
            |table: CampaignResult| Document { outcome: Some(table.into()), ..Document::default() };
        let whole = continued(&of(begun.clone()), fresh.clone()).unwrap();
        assert_eq!((whole.rounds, whole.rows[0].cells[0].samples.len()), (9, 1));
        assert_eq!(whole.sentences, [filled], "more rounds may tell another story");
        let other = CampaignResult { title: "other".into(), ..begun.clone() };
        assert_eq!(continued(&of(other), fresh.clone()), Err(NotContinued::OtherTable));
        let together = CampaignResult { clients: Some(3), ..begun.clone() };
        assert_eq!(continued(&of(together), fresh.clone()), Err(NotContinued::OtherTable));
        let mut made = begun.clone();
        made.columns[0].made_by = "mkfs.ext4 -q -F -O ^has_journal".to_owned();
        assert_eq!(continued(&of(made), fresh.clone()), Err(NotContinued::OtherTable));
        let none = continued(&Document::default(), fresh.clone());
        assert_eq!(none, Err(NotContinued::OtherKind));
        begun.rows[0].cells.clear();
        assert_eq!(continued(&of(begun), fresh), Err(NotContinued::OtherTable), "a damaged file");
    }
}
