//! Results of models as comma-separated values: a row per prediction, comparison, or validated
//! workload.

use super::rows::{WORKLOAD, line, number};
use crate::columns::{Column, fields, heads};
use crate::text::verdict;
use ioscape_schema::{
    ApplicationForecast, Comparison, MeasuredComparison, MeasuredRow, Prediction, Validation,
    ValidationPoint,
};
use std::collections::BTreeMap;

/// An end of an interval, or an empty field if there is no interval.
fn end(both: Option<[f64; 2]>, which: usize) -> String {
    number(both.map(|both| both[which]))
}

/// Columns for applications only: how much of their reads the caches hold, how much of their writes
/// reaches storage, and the memory that they need.
const APPLICATION: [Column<ApplicationForecast>; 10] = [
    ("elapsed_s", |one| one.elapsed_s.to_string()),
    ("read_hit_frac", |one| one.read_hit_frac.to_string()),
    ("read_hit_interval90_low", |one| end(one.read_hit_interval90, 0)),
    ("read_hit_interval90_high", |one| end(one.read_hit_interval90, 1)),
    ("written_through_frac", |one| one.written_through_frac.to_string()),
    ("written_through_interval90_low", |one| end(one.written_through_interval90, 0)),
    ("written_through_interval90_high", |one| end(one.written_through_interval90, 1)),
    ("memory_for_90_percent_bytes", |one| {
        number(one.memory.as_ref().map(|memory| memory.for_90_percent_bytes))
    }),
    ("memory_for_90_percent_interval90_low", least_memory),
    ("memory_for_90_percent_interval90_high", |one| end(memory_interval(one), 1)),
];

fn memory_interval(one: &ApplicationForecast) -> Option<[f64; 2]> {
    one.memory.as_ref()?.for_90_percent_interval90
}

/// The low end of the memory needed; empty if it is the smallest size considered: less may do too.
fn least_memory(one: &ApplicationForecast) -> String {
    let is_told = |low: &f64| one.memory.as_ref().is_some_and(|memory| !memory.is_least(*low));
    number(memory_interval(one).map(|[low, _]| low).filter(is_told))
}

const PREDICTED: [Column<Prediction>; 9] = [
    ("name", |one| one.name.clone().unwrap_or_default()),
    ("system", |one| one.system.clone()),
    ("throughput_bytes_per_s", |one| one.throughput_bytes_per_s.to_string()),
    ("interval90_low", |one| one.interval90[0].to_string()),
    ("interval90_high", |one| one.interval90[1].to_string()),
    ("iops", |one| one.iops.to_string()),
    ("response_time_ns", |one| one.response_time_ns.to_string()),
    ("region", |one| one.region.clone()),
    ("extrapolated", |one| one.extrapolated.to_string()),
];

/// A row per workload and system; the last fields are empty except for an application.
pub fn predictions(all: &[Prediction]) -> String {
    let mut out = line(heads(&PREDICTED).chain(heads(&WORKLOAD)).chain(heads(&APPLICATION)));
    for one in all {
        let first = fields(&PREDICTED, one).chain(fields(&WORKLOAD, &one.workload));
        out += &match &one.application {
            Some(own) => line(first.chain(fields(&APPLICATION, own))),
            None => line(first.chain(APPLICATION.map(|_| String::new()))),
        };
    }
    out
}

const COMPARED: [Column<Comparison>; 12] = [
    ("name", |one| one.name.clone().unwrap_or_default()),
    ("system", |one| one.systems[0].clone()),
    ("other_system", |one| one.systems[1].clone()),
    ("throughput_bytes_per_s", |one| one.throughput_bytes_per_s[0].to_string()),
    ("other_throughput_bytes_per_s", |one| one.throughput_bytes_per_s[1].to_string()),
    ("ratio", |one| one.ratio.to_string()),
    ("interval90_low", |one| one.interval90[0].to_string()),
    ("interval90_high", |one| one.interval90[1].to_string()),
    ("significant", |one| one.significant.to_string()),
    ("extrapolated", |one| one.extrapolated.to_string()),
    ("throughput_per_price", |one| end(one.throughput_per_price, 0)),
    ("other_throughput_per_price", |one| end(one.throughput_per_price, 1)),
];

fn of_comparison(one: &Comparison) -> impl Iterator<Item = String> {
    fields(&COMPARED, one).chain(fields(&WORKLOAD, &one.workload))
}

/// A row per workload and pair of systems; price fields are empty without prices.
pub fn comparison(all: &[Comparison]) -> String {
    let rows = all.iter().map(|one| line(of_comparison(one)));
    line(heads(&COMPARED).chain(heads(&WORKLOAD))) + &rows.collect::<String>()
}

/// A column of measured rows, each of which belongs to a comparison.
type MeasuredColumn = (&'static str, fn(&MeasuredComparison, &MeasuredRow) -> String);

const MEASURED: [MeasuredColumn; 12] = [
    ("name", |_, row| row.name.clone().unwrap_or_default()),
    ("system", |one, _| one.systems[0].clone()),
    ("other_system", |one, _| one.systems[1].clone()),
    ("metric", |_, row| row.metric.word().to_owned()),
    ("value", |_, row| row.values[0].to_string()),
    ("other_value", |_, row| row.values[1].to_string()),
    ("rounds", |_, row| row.rounds[0].to_string()),
    ("other_rounds", |_, row| row.rounds[1].to_string()),
    ("ratio", |_, row| row.ratio.to_string()),
    ("ci95_low", |_, row| row.ci95[0].to_string()),
    ("ci95_high", |_, row| row.ci95[1].to_string()),
    ("verdict", |_, row| row.verdict.word().to_owned()),
];

/// A row per measured row and pair of systems; the last fields are empty for a row without a
/// workload.
pub fn measured(all: &[MeasuredComparison]) -> String {
    let columns: Vec<&'static str> =
        MEASURED.map(|(name, _)| name).into_iter().chain(heads(&WORKLOAD)).collect();
    let mut out = line(&columns);
    for one in all {
        out += &one
            .rows
            .iter()
            .map(|row| of_columns(&columns, &of_measured(one, row)))
            .collect::<String>();
    }
    out
}

fn of_measured(one: &MeasuredComparison, row: &MeasuredRow) -> Cells {
    let mut cells = Cells::from(MEASURED.map(|(name, field)| (name, field(one, row))));
    if let Some(workload) = &row.workload {
        cells.extend(heads(&WORKLOAD).zip(fields(&WORKLOAD, workload)));
    }
    cells
}

/// Predicted rows with their verdicts, then measured rows.
///
/// After the columns of predictions come `how`, which tells the two kinds of rows apart, and the
/// columns that only measured rows have. Fields without a value are empty.
pub fn predicted_and_measured(all: &[Comparison], measured: &[MeasuredComparison]) -> String {
    let compared = || heads(&COMPARED).chain(heads(&WORKLOAD));
    let further = MEASURED.map(|(name, _)| name).into_iter();
    let further = further.filter(|name| !heads(&COMPARED).any(|known| known == *name));
    let columns: Vec<&'static str> = compared().chain(["how"]).chain(further).collect();
    let mut out = line(&columns);
    for one in all {
        let mut cells: Cells = compared().zip(of_comparison(one)).collect();
        cells.insert("how", "predicted".to_owned());
        cells.insert("verdict", verdict(one).to_owned());
        out += &of_columns(&columns, &cells);
    }
    for one in measured {
        for row in &one.rows {
            let mut cells = of_measured(one, row);
            cells.insert("how", "measured".to_owned());
            out += &of_columns(&columns, &cells);
        }
    }
    out
}

/// Fields by column name.
type Cells = BTreeMap<&'static str, String>;

/// A line with the fields of these columns.
fn of_columns(columns: &[&'static str], cells: &Cells) -> String {
    line(columns.iter().map(|column| cells.get(column).map_or("", String::as_str)))
}

const VALIDATED: [Column<ValidationPoint>; 7] = [
    ("measured_bytes_per_s", |one| one.measured_bytes_per_s().to_string()),
    ("rounds", |one| {
        let rounds = one.rounds_bytes_per_s.iter().map(f64::to_string);
        rounds.collect::<Vec<_>>().join(" ")
    }),
    ("near_border", |one| one.near_border.to_string()),
    ("predicted_bytes_per_s", |one| one.prediction.throughput_bytes_per_s.to_string()),
    ("interval90_low", |one| one.prediction.interval90[0].to_string()),
    ("interval90_high", |one| one.prediction.interval90[1].to_string()),
    ("region", |one| one.prediction.region.clone()),
];

/// A row per workload.
///
/// `rounds` holds every measurement, separated by spaces. The predictions of the other models
/// follow the columns of the workload.
pub fn validation(validation: &Validation) -> String {
    let others: Vec<&String> =
        validation.points.first().map(|point| point.models.keys().collect()).unwrap_or_default();
    let last = others.iter().map(|model| format!("{model}_predicted_bytes_per_s"));
    let first = heads(&VALIDATED).chain(heads(&WORKLOAD)).map(str::to_owned);
    let mut out = line(first.chain(last));
    for point in &validation.points {
        let own = fields(&VALIDATED, point).chain(fields(&WORKLOAD, &point.measurement.workload));
        let last = others.iter().map(|model| number(point.models.get(*model)));
        out += &line(own.chain(last));
    }
    out
}
