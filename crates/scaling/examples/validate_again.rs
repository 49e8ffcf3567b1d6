//! Judges stored validations again with the present models, without measuring anything.
//!
//! `cargo run --release -p ioscape-scaling --example validate_again -- EVALUATION VALIDATION [EVALUATION VALIDATION]...`: results of
//! `ioscape evaluate` and of `ioscape validate` on it. With `ROWS=20` in the environment the 20 workloads that are missed most are
//! printed too. With `LEARN=30` 30 workloads of the validation, evenly spread over its course, count as points off the curves of the
//! evaluation, and the models are judged on the others. With `WHAT_IF=memory=256M` or `WHAT_IF=storage=RESULT` the validation is of
//! the system with that exchanged, and `OWN=RESULT`, an evaluation of that system itself, is judged on the same workloads beside it.
//! With `STARTS=8` the model is fitted from 8 different starts, and how far its predictions lie apart is printed too.

use ioscape_scaling::System;
use ioscape_scaling::model::{Model, ModelKind, Predict, Validated, validate, validate_what_if};
use ioscape_scaling::system::{ChangedSystem, Exchange};
use ioscape_schema::statistics::median_interval;
use ioscape_schema::units::parse_bytes;
use ioscape_schema::{Document, ErrorFigures, Evaluation, Point, Validation, ValidationPoint};
use std::error::Error;
use std::io::Write;
use std::path::Path;

#[expect(
    clippy::disallowed_methods,
    reason = "an example is a program of its own and reads what it is given"
)]
fn document(path: &str) -> Result<Document, Box<dyn Error>> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    Ok(serde_json::from_str(&text).map_err(|e| format!("{path}: {e}"))?)
}

/// The rounds of `point`, of which only the first was kept whole.
fn validated(point: &ValidationPoint) -> Validated {
    let round = |throughput: &f64| {
        let mut measurement = point.measurement.clone();
        measurement.throughput_bytes_per_s = *throughput;
        measurement
    };
    let repeated = point.rounds_bytes_per_s.iter().skip(1).map(round).collect();
    Validated { measurement: point.measurement.clone(), repeated }
}

/// A workload of a validation as a point off the curves of an evaluation.
fn learned(point: &ValidationPoint) -> Point {
    let rounds = point.rounds_bytes_per_s.clone();
    let unique_bytes = point.measurement.workload.unique_bytes as f64;
    Point { value: unique_bytes, measurement: point.measurement.clone(), rounds, spread: None }
}

fn number(variable: &str) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn again(evaluation: &str, stored: &str) -> Result<(Evaluation, Validation), Box<dyn Error>> {
    let evaluated = document(evaluation)?;
    let mut evaluated =
        evaluated.evaluation().ok_or_else(|| format!("{evaluation}: no evaluation"))?.clone();
    let stored = document(stored)?;
    let run = stored.validation().and_then(|run| run.validation.as_ref());
    let points = &run.ok_or("no finished validation")?.points;
    let (learn, all) = (number("LEARN").min(points.len()), points.len());
    let is_learned = |i: &usize| (i + 1) * learn / all > i * learn / all;
    evaluated.extra.extend((0..all).filter(is_learned).map(|i| learned(&points[i])));
    let judged = (0..all).filter(|i| !is_learned(i)).map(|i| validated(&points[i]));
    let judged: Vec<Validated> = judged.collect();
    let validation = validate(&evaluated, &[], &judged)?;
    Ok((evaluated, validation))
}

/// The evaluation at `path` with what `WHAT_IF` exchanges, judged by the validation at `stored`.
fn exchanged(path: &str, stored: &str, what: &str) -> Result<Validation, Box<dyn Error>> {
    let system = System::of(Path::new(path), document(path)?, ModelKind::Default)?;
    let exchange = match what.split_once('=').ok_or("WHAT_IF is memory=SIZE or storage=RESULT")? {
        ("memory", size) => Exchange::Memory(parse_bytes(size)?),
        (_, lender) => {
            let there = System::of(Path::new(lender), document(lender)?, ModelKind::Default)?;
            Exchange::Storage(Box::new(there))
        }
    };
    let changed = ChangedSystem::new(&system, vec![exchange])?;
    let stored = document(stored)?;
    let run = stored.validation().and_then(|run| run.validation.as_ref());
    let judged: Vec<Validated> =
        run.ok_or("no finished validation")?.points.iter().map(validated).collect();
    Ok(validate_what_if(&system.evaluation, changed.what_if(), &[], &judged)?)
}

/// The models of the evaluation at `path`, judged on the workloads of `validation`.
fn on_the_same(path: &str, validation: &Validation) -> Result<Validation, Box<dyn Error>> {
    let evaluated = document(path)?;
    let evaluation = evaluated.evaluation().ok_or_else(|| format!("{path}: no evaluation"))?;
    let judged: Vec<Validated> = validation.points.iter().map(validated).collect();
    Ok(validate(evaluation, &[], &judged)?)
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1}", 100.0 * share))
}

fn line(name: &str, errors: &ErrorFigures) -> String {
    let all = [errors.median_error, errors.p75_error, errors.p90_error].map(|e| percent(Some(e)));
    let (away, covered) = (errors.enhanced_median_error, errors.interval90_coverage);
    format!(
        "  {name:8} {} | off borders {} | coverage {}",
        all.join(" / "),
        percent(away),
        percent(covered)
    )
}

fn row(point: &ValidationPoint) -> String {
    let w = &point.measurement.workload;
    let [low, high] = point.prediction.interval90.map(|t| t / 1e6);
    let models: Vec<String> =
        point.models.iter().map(|(name, t)| format!("{name} {:.1}", t / 1e6)).collect();
    format!(
        "    {:7.1} MiB {:6.1} KiB r {:.2} q {:.2} p {:2} | said {:.1} ({low:.1} to {high:.1}), measured {:?} MB/s | {}",
        w.unique_bytes as f64 / f64::from(1 << 20),
        w.size_mean as f64 / 1024.0,
        w.read_frac,
        w.seq_frac,
        w.process_num,
        point.prediction.throughput_bytes_per_s / 1e6,
        point.rounds_bytes_per_s.iter().map(|t| (t / 1e5).round() / 10.0).collect::<Vec<_>>(),
        models.join(", "),
    )
}

fn off(point: &ValidationPoint) -> f64 {
    (point.prediction.throughput_bytes_per_s / point.measured_bytes_per_s()).ln().abs()
}

fn error(point: &ValidationPoint) -> f64 {
    (point.prediction.throughput_bytes_per_s / point.measured_bytes_per_s() - 1.0).abs()
}

/// One validation's figures, and the workloads that are missed most.
fn print(out: &mut impl Write, name: &str, validation: &Validation) -> std::io::Result<()> {
    let repeated = percent(validation.repeatability_error);
    writeln!(out, "{name}: {} workloads, repeatability {repeated}", validation.workloads)?;
    for (name, errors) in &validation.models {
        writeln!(out, "{}", line(name, errors))?;
    }
    let errors: Vec<f64> = validation.points.iter().map(error).collect();
    let [from, to] = median_interval(&errors).map_or([None; 2], |ends| ends.map(Some)).map(percent);
    writeln!(out, "  the default's median error lies between {from} and {to} (95 %)")?;
    let mut points: Vec<&ValidationPoint> = validation.points.iter().collect();
    points.sort_by(|a, b| off(b).total_cmp(&off(a)));
    points.iter().take(number("ROWS")).try_for_each(|point| writeln!(out, "{}", row(point)))
}

/// What models whose fits started at different places say of one workload: standard deviation of ln(throughput).
fn apart(models: &[Model], point: &ValidationPoint) -> f64 {
    let workload = &point.measurement.workload;
    let logs: Vec<f64> = models.iter().map(|model| model.throughput(workload).ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    (squares / (logs.len() - 1) as f64).sqrt()
}

fn median_error(model: &Model, points: &[ValidationPoint]) -> f64 {
    let error = |point: &ValidationPoint| {
        (model.throughput(&point.measurement.workload) / point.measured_bytes_per_s() - 1.0).abs()
    };
    let mut errors: Vec<f64> = points.iter().map(error).collect();
    errors.sort_by(f64::total_cmp);
    (errors[(errors.len() - 1) / 2] + errors[errors.len() / 2]) / 2.0
}

/// How much depends on where the fit starts.
fn print_starts(
    out: &mut impl Write,
    evaluation: &Evaluation,
    points: &[ValidationPoint],
) -> Result<(), Box<dyn Error>> {
    let models = (0..number("STARTS")).map(|start| Model::started(evaluation, start as u64));
    let models: Vec<Model> = models.collect::<Result<_, _>>()?;
    if models.len() < 2 || points.is_empty() {
        return Ok(());
    }
    let mut errors: Vec<f64> = models.iter().map(|model| median_error(model, points)).collect();
    errors.sort_by(f64::total_cmp);
    let mut all: Vec<f64> = points.iter().map(|point| apart(&models, point)).collect();
    all.sort_by(f64::total_cmp);
    let [least, most] = [errors.first(), errors.last()].map(|error| percent(error.copied()));
    let [median, p90] =
        [2, 10].map(|part| percent(all.get(all.len() - 1 - (all.len() - 1) / part).copied()));
    let starts = models.len();
    writeln!(
        out,
        "  {starts} starts: median error {least} to {most}, one prediction apart by {median} in the median, {p90} in one of ten"
    )?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let mut out = std::io::stdout().lock();
    for pair in files.chunks_exact(2) {
        let Ok(what) = std::env::var("WHAT_IF") else {
            let (evaluation, validation) = again(&pair[0], &pair[1])?;
            let name = format!("{}: {} points", pair[1], evaluation.points_measured);
            print(&mut out, &name, &validation)?;
            print_starts(&mut out, &evaluation, &validation.points)?;
            continue;
        };
        let validation = exchanged(&pair[0], &pair[1], &what)?;
        print(&mut out, &format!("{} with {what}", pair[0]), &validation)?;
        if let Ok(own) = std::env::var("OWN") {
            print(&mut out, &own, &on_the_same(&own, &validation)?)?;
        }
    }
    Ok(())
}
