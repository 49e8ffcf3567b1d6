//! What models say, as comma-separated values: a row per prediction, comparison, or workload of a validation.

use super::rows::{line, number, of_workload};
use crate::text::{row_name, verdict};
use ioscape_schema::{
    ApplicationForecast, Comparison, MeasuredComparison, MeasuredRow, Prediction, Validation,
    ValidationPoint, Workload,
};
use std::collections::BTreeMap;

const WORKLOAD: [&str; 10] = [
    "unique_bytes",
    "size_mean",
    "read_frac",
    "seq_frac",
    "process_num",
    "queue_depth",
    "engine",
    "access",
    "direct_above_bytes",
    "workers",
];

fn header(first: &[&str], last: &[String]) -> String {
    line(first.iter().copied().chain(WORKLOAD).chain(last.iter().map(String::as_str)))
}

fn row(first: &[String], workload: &Workload, last: &[String]) -> String {
    let middle = of_workload(workload);
    line(first.iter().chain(&middle).chain(last).map(String::as_str))
}

fn name(name: Option<&String>) -> String {
    name.cloned().unwrap_or_default()
}

/// What only an application has: what the caches hold of what it reads, what storage gets of what it writes, and the memory that it needs.
const APPLICATION: [&str; 10] = [
    "elapsed_s",
    "read_hit_frac",
    "read_hit_interval90_low",
    "read_hit_interval90_high",
    "written_through_frac",
    "written_through_interval90_low",
    "written_through_interval90_high",
    "memory_for_90_percent_bytes",
    "memory_for_90_percent_interval90_low",
    "memory_for_90_percent_interval90_high",
];

/// These fields; the low end of the memory is empty where it is not above the least that was looked at, since less may do too.
fn of_application(one: &ApplicationForecast) -> [String; APPLICATION.len()] {
    let ends = |both: Option<[f64; 2]>| [0, 1].map(|end| number(both.map(|both| both[end])));
    let [read_low, read_high] = ends(one.read_hit_interval90);
    let [written_low, written_high] = ends(one.written_through_interval90);
    let memory = one.memory.as_ref();
    let between = memory.and_then(|memory| memory.for_90_percent_interval90);
    let low = between.map(|[low, _]| low);
    let is_told = |low: &f64| memory.is_some_and(|memory| !memory.is_least(*low));
    [
        one.elapsed_s.to_string(),
        one.read_hit_frac.to_string(),
        read_low,
        read_high,
        one.written_through_frac.to_string(),
        written_low,
        written_high,
        number(memory.map(|memory| memory.for_90_percent_bytes)),
        number(low.filter(is_told)),
        number(between.map(|[_, high]| high)),
    ]
}

/// A row per workload and system; the last fields are empty but for an application.
pub fn predictions(all: &[Prediction]) -> String {
    let first = [
        "name",
        "system",
        "throughput_bytes_per_s",
        "interval90_low",
        "interval90_high",
        "iops",
        "response_time_ns",
        "region",
        "extrapolated",
    ];
    let mut out = header(&first, &APPLICATION.map(str::to_owned));
    for one in all {
        let first = [
            name(one.name.as_ref()),
            one.system.clone(),
            one.throughput_bytes_per_s.to_string(),
            one.interval90[0].to_string(),
            one.interval90[1].to_string(),
            one.iops.to_string(),
            one.response_time_ns.to_string(),
            one.region.clone(),
            one.extrapolated.to_string(),
        ];
        let application = one.application.as_ref().map(of_application);
        out += &row(&first, &one.workload, &application.unwrap_or_default());
    }
    out
}

const COMPARED: [&str; 12] = [
    "name",
    "system",
    "other_system",
    "throughput_bytes_per_s",
    "other_throughput_bytes_per_s",
    "ratio",
    "interval90_low",
    "interval90_high",
    "significant",
    "extrapolated",
    "throughput_per_price",
    "other_throughput_per_price",
];

fn of_comparison(one: &Comparison) -> [String; COMPARED.len()] {
    let price = |index: usize| number(one.throughput_per_price.map(|both| both[index]));
    [
        name(one.name.as_ref()),
        one.systems[0].clone(),
        one.systems[1].clone(),
        one.throughput_bytes_per_s[0].to_string(),
        one.throughput_bytes_per_s[1].to_string(),
        one.ratio.to_string(),
        one.interval90[0].to_string(),
        one.interval90[1].to_string(),
        one.significant.to_string(),
        one.extrapolated.to_string(),
        price(0),
        price(1),
    ]
}

/// A row per workload and pair of systems; fields about prices are empty without prices.
pub fn comparison(all: &[Comparison]) -> String {
    let rows = all.iter().map(|one| row(&of_comparison(one), &one.workload, &[]));
    header(&COMPARED, &[]) + &rows.collect::<String>()
}

const MEASURED: [&str; 12] = [
    "name",
    "system",
    "other_system",
    "metric",
    "value",
    "other_value",
    "rounds",
    "other_rounds",
    "ratio",
    "ci95_low",
    "ci95_high",
    "verdict",
];

fn of_measured(systems: &[String; 2], row: &MeasuredRow) -> [String; MEASURED.len()] {
    let [low, high] = row.ci95.map(|end| end.to_string());
    [
        row_name(row),
        systems[0].clone(),
        systems[1].clone(),
        row.metric.word().to_owned(),
        row.values[0].to_string(),
        row.values[1].to_string(),
        row.rounds[0].to_string(),
        row.rounds[1].to_string(),
        row.ratio.to_string(),
        low,
        high,
        row.verdict.words().to_owned(),
    ]
}

/// A row per measured row and pair of systems.
pub fn measured(all: &[MeasuredComparison]) -> String {
    let mut out = line(MEASURED.into_iter());
    for one in all {
        for row in &one.rows {
            out += &line(of_measured(&one.systems, row).iter().map(String::as_str));
        }
    }
    out
}

/// Both: what is predicted with its verdict, then what was measured. Behind the columns of predictions stand which of the two a row is, `how`,
/// and the columns that only measured rows have; what a row has no value for is empty.
pub fn predicted_and_measured(all: &[Comparison], measured: &[MeasuredComparison]) -> String {
    let further = || MEASURED.into_iter().filter(|column| !COMPARED.contains(column));
    let columns = || COMPARED.into_iter().chain(WORKLOAD).chain(["how"]).chain(further());
    let mut out = line(columns());
    for one in all {
        let fields = of_comparison(one).into_iter().chain(of_workload(&one.workload));
        let mut fields: Fields = columns().zip(fields).collect();
        fields.insert("how", "predicted".to_owned());
        fields.insert("verdict", verdict(one).to_owned());
        out += &of_columns(columns(), &fields);
    }
    for one in measured {
        for row in &one.rows {
            let fields = MEASURED.into_iter().zip(of_measured(&one.systems, row));
            let mut fields: Fields = fields.collect();
            fields.insert("how", "measured".to_owned());
            if let Some(workload) = &row.workload {
                fields.extend(WORKLOAD.into_iter().zip(of_workload(workload)));
            }
            out += &of_columns(columns(), &fields);
        }
    }
    out
}

/// Fields by their columns.
type Fields = BTreeMap<&'static str, String>;

/// A line of the fields in these columns.
fn of_columns(columns: impl Iterator<Item = &'static str>, fields: &Fields) -> String {
    line(columns.map(|column| fields.get(column).map_or("", String::as_str)))
}

/// A row per workload; `rounds` holds every measurement, separated by spaces, and behind the workload stands what each other
/// model predicts.
pub fn validation(validation: &Validation) -> String {
    let first = [
        "measured_bytes_per_s",
        "rounds",
        "near_border",
        "predicted_bytes_per_s",
        "interval90_low",
        "interval90_high",
        "region",
    ];
    let others: Vec<&String> =
        validation.points.first().map(|point| point.models.keys().collect()).unwrap_or_default();
    let columns: Vec<String> =
        others.iter().map(|model| format!("{model}_predicted_bytes_per_s")).collect();
    let mut out = header(&first, &columns);
    for point in &validation.points {
        let of_other = |model: &&String| point.models.get(*model).map(f64::to_string);
        let last: Vec<String> =
            others.iter().map(|model| of_other(model).unwrap_or_default()).collect();
        out += &row(&of_point(point), &point.measurement.workload, &last);
    }
    out
}

fn of_point(point: &ValidationPoint) -> [String; 7] {
    let rounds: Vec<String> = point.rounds_bytes_per_s.iter().map(f64::to_string).collect();
    let said = &point.prediction;
    [
        point.measured_bytes_per_s().to_string(),
        rounds.join(" "),
        point.near_border.to_string(),
        said.throughput_bytes_per_s.to_string(),
        said.interval90[0].to_string(),
        said.interval90[1].to_string(),
        said.region.clone(),
    ]
}
