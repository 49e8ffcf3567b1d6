//! What a document measured, as rows that another document of its kind may have too.

use super::figures::Figure;
use crate::ratio::median;
use ioscape_schema::{
    CampaignResult, CampaignSample, Document, Engine, Evaluation, Measurement, Metric, OsResults,
    OsUnit, Outcome, Parameter, Point, ValidationPoint, VxRun, Workload,
};

/// Half the width of a normal distribution's 95 % interval, in standard deviations.
const NORMAL95: f64 = 1.96;

/// A document and the name of its system.
#[derive(Clone, Copy, Debug)]
pub struct NamedDocument<'a> {
    /// The name.
    pub name: &'a str,
    /// The document.
    pub document: &'a Document,
}

/// Why two documents cannot be compared by what they measured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotComparable {
    /// They are of different kinds.
    #[error(
        "{0} holds {1} and {2} holds {3}: only results of one kind can be compared; measure both with the same command"
    )]
    Kinds(String, &'static str, String, &'static str),
    /// One holds nothing that was measured in rows.
    #[error(
        "{0} holds {1}: runs, evaluations, validations, campaigns, vxbench runs and os results can be compared; measure both with `ioscape run`, or trace summaries with `ioscape trace analyze`"
    )]
    Unmeasured(String, &'static str),
    /// Their workloads were carried out in different ways.
    #[error(
        "{first} was measured with {asked}, {second} with {measured}: their rows are not the same work; measure both the same way, or one against the other with `ioscape ab`"
    )]
    Ways {
        /// The first system.
        first: String,
        /// The second system.
        second: String,
        /// How the first was measured.
        asked: String,
        /// How the second was.
        measured: String,
    },
    /// They share no row.
    #[error(
        "{0} and {1} measured nothing alike: no row has the same name and workload in both; run the same jobs on both, `ioscape run DIR JOBS.toml`"
    )]
    NothingShared(String, String),
    /// No row counts what the condition speaks of.
    #[error("--fail-if {condition}: no row counts {metric}: these results have {found}")]
    NoMetric {
        /// The condition, as it was given.
        condition: String,
        /// What it speaks of.
        metric: &'static str,
        /// What the rows count instead.
        found: String,
    },
}

/// A row: what was measured, and its figure.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) name: Option<String>,
    pub(super) workload: Option<Workload>,
    pub(super) metric: Metric,
    pub(super) figure: Figure,
}

impl Row {
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.metric == other.metric && self.name == other.name && self.workload == other.workload
    }
}

/// What a document's outcome is, in words.
fn words(document: &Document) -> &'static str {
    match &document.outcome {
        None => "no outcome",
        Some(Outcome::Measurements(_)) => "runs",
        Some(Outcome::Evaluation(_)) => "an evaluation",
        Some(Outcome::Predictions(_)) => "predictions",
        Some(Outcome::Comparison(_)) => "a comparison",
        Some(Outcome::Validation(_)) => "a validation",
        Some(Outcome::Characterization(_)) => "a characterized application",
        Some(Outcome::Vxbench(_)) => "vxbench runs",
        Some(Outcome::Campaign(_)) => "a campaign",
        Some(Outcome::Os(_)) => "os results",
        Some(other) => other.key(),
    }
}

/// The key of the outcome that both documents have.
pub(super) fn shared_kind(
    first: NamedDocument<'_>,
    second: NamedDocument<'_>,
) -> Result<&'static str, NotComparable> {
    let key = |one: NamedDocument<'_>| one.document.outcome.as_ref().map(Outcome::key);
    match (key(first), key(second)) {
        (Some(one), Some(other)) if one == other => Ok(one),
        _ => Err(NotComparable::Kinds(
            first.name.to_owned(),
            words(first.document),
            second.name.to_owned(),
            words(second.document),
        )),
    }
}

/// Every row of a document, each once.
pub(super) fn rows(one: NamedDocument<'_>) -> Result<Vec<Row>, NotComparable> {
    let found = match &one.document.outcome {
        Some(Outcome::Measurements(all)) => all.iter().map(of_run).collect(),
        Some(Outcome::Evaluation(one)) => {
            let limit = one.memory_limit_bytes();
            one.each_access().flat_map(|each| of_evaluation(each, limit)).collect()
        }
        Some(Outcome::Validation(run)) => {
            let points = run.validation.iter().flat_map(|validation| &validation.points);
            points.map(of_validation).collect()
        }
        Some(Outcome::Vxbench(all)) => all.runs.iter().map(of_vxbench).collect(),
        Some(Outcome::Campaign(campaign)) => of_campaign(campaign),
        Some(Outcome::Os(results)) => of_os(results),
        _ => {
            let words = words(one.document);
            return Err(NotComparable::Unmeasured(one.name.to_owned(), words));
        }
    };
    Ok(each_once(found))
}

/// Joins rows that are alike: what was measured again is one more sample.
fn each_once(found: Vec<Row>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let usable = |row: &Row| row.figure.value.is_finite() && row.figure.value > 0.0;
    for mut row in found.into_iter().filter(usable) {
        row.figure.samples.retain(|sample| sample.is_finite() && *sample > 0.0);
        match rows.iter_mut().find(|known| known.is_like(&row)) {
            Some(known) if known.figure == row.figure => {}
            Some(known) => {
                known.figure.samples.extend(&row.figure.samples);
                known.figure.value = median(&known.figure.samples);
            }
            None => rows.push(row),
        }
    }
    rows
}

fn of_measurement(one: &Measurement, samples: Vec<f64>) -> Figure {
    let within = one.relative_error() / NORMAL95;
    Figure {
        value: median(&samples),
        samples,
        within: if within.is_finite() { within.clamp(0.0, 1.0) } else { 1.0 },
        is_exact: one.workload.engine == Engine::Sim,
    }
}

fn of_run(one: &Measurement) -> Row {
    Row {
        name: one.name.clone(),
        workload: Some(one.workload.clone()),
        metric: Metric::Throughput,
        figure: of_measurement(one, vec![one.throughput_bytes_per_s]),
    }
}

fn of_point(point: &Point) -> Row {
    let alone = || vec![point.measurement.throughput_bytes_per_s];
    let samples = if point.rounds.is_empty() { alone() } else { point.rounds.clone() };
    Row { figure: of_measurement(&point.measurement, samples), ..of_run(&point.measurement) }
}

/// The points of one evaluation; under another memory limit than `usual` they are other rows.
fn of_evaluation(one: &Evaluation, usual: Option<u64>) -> Vec<Row> {
    let across =
        [&one.unique_bytes_curve, &one.unique_bytes_read_curve, &one.unique_bytes_write_curve];
    let within = one.regions.iter().flat_map(|region| {
        Parameter::WITH_DEPTH.into_iter().filter_map(|parameter| region.curves.get(parameter))
    });
    let name = (one.memory_limit_bytes() != usual).then(|| one.way());
    let row = |point: &Point| {
        let row = of_point(point);
        Row { name: name.clone().or(row.name.clone()), ..row }
    };
    across.into_iter().chain(within).chain([&one.extra]).flatten().map(row).collect()
}

fn of_validation(point: &ValidationPoint) -> Row {
    let alone = || vec![point.measurement.throughput_bytes_per_s];
    let rounds = &point.rounds_bytes_per_s;
    let samples = if rounds.is_empty() { alone() } else { rounds.clone() };
    Row { figure: of_measurement(&point.measurement, samples), ..of_run(&point.measurement) }
}

fn of_samples(value: f64, samples: Vec<f64>) -> Figure {
    Figure { value, samples, within: 0.0, is_exact: false }
}

fn of_vxbench(run: &VxRun) -> Row {
    let job = &run.job;
    let (size, rate) = (job.iosize, run.total.throughput_bytes_per_s);
    let way = if job.direct { ", direct" } else { "" };
    let name = format!(
        "{} of {size} bytes, {} files, {} streams each{way}",
        job.workload,
        run.files.len(),
        job.nthreads
    );
    Row {
        name: Some(name),
        workload: None,
        metric: Metric::Throughput,
        figure: of_samples(rate, vec![rate]),
    }
}

fn of_campaign(campaign: &CampaignResult) -> Vec<Row> {
    let mut rows = Vec::new();
    for row in &campaign.rows {
        let settings: Vec<String> =
            row.settings.iter().map(|s| format!("{} {}", s.name, s.text)).collect();
        for (column, cell) in campaign.columns.iter().zip(&row.cells) {
            let samples = cell.samples.iter().map(CampaignSample::rate).collect();
            rows.push(Row {
                name: Some(format!("{}: {}", column.name(), settings.join(", "))),
                workload: None,
                metric: Metric::Throughput,
                figure: of_samples(
                    cell.operations_per_s.unwrap_or(cell.throughput_bytes_per_s),
                    samples,
                ),
            });
        }
    }
    rows
}

fn of_os(results: &OsResults) -> Vec<Row> {
    let row = |one: &ioscape_schema::OsBenchmark| {
        let place = one.place.map(|place| format!(" ({})", place.word())).unwrap_or_default();
        Some(Row {
            name: Some(format!("{}, {}{place}", one.name, one.case)),
            workload: None,
            metric: match one.unit {
                OsUnit::Nanos => Metric::Time,
                OsUnit::BytesPerS => Metric::Throughput,
                OsUnit::PerS => Metric::Rate,
            },
            figure: of_samples(one.value?, one.processes.clone()),
        })
    };
    results.benchmarks.iter().filter_map(row).collect()
}

/// Why two documents of one kind share no row: they were measured in different ways, or it was other work.
pub(super) fn nothing_shared(
    first: NamedDocument<'_>,
    second: NamedDocument<'_>,
    base: &[Row],
    other: &[Row],
) -> NotComparable {
    let (asked, measured) = (ways(base), ways(other));
    let (first, second) = (first.name.to_owned(), second.name.to_owned());
    match asked == measured || asked.is_empty() || measured.is_empty() {
        true => NotComparable::NothingShared(first, second),
        false => NotComparable::Ways { first, second, asked, measured },
    }
}

/// The ways in which a document's workloads were carried out, in words.
fn ways(rows: &[Row]) -> String {
    let mut found: Vec<String> = rows
        .iter()
        .filter_map(|row| row.workload.as_ref())
        .map(|w| format!("access {}, engine {}, {}", w.access, w.engine, w.workers))
        .collect();
    found.sort_unstable();
    found.dedup();
    found.join(" and ")
}
