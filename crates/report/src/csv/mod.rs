//! Every point as comma-separated values: one row per point, RFC 4180 quoting.

mod models;

use crate::text::{inert, stop};
use ioscape_schema::{Document, Evaluation, Measurement, Parameter, Point, Workload};

const HEADER: &str = "curve,region,parameter,value,throughput_bytes_per_s,ci95_low,ci95_high,iops,\
response_mean_ns,response_p50_ns,response_p99_ns,response_max_ns,cpu_ns_per_io,unique_bytes,size_mean,read_frac,\
seq_frac,process_num,queue_depth,engine,access,direct_above_bytes,workers,stop,disturbed,spread,rounds";

/// All points of the document, one row each under a header.
///
/// `curve` is `run` (one row per job of `ioscape run`), `mixed`, `read` or `write` (against `unique_bytes`),
/// `region` (the four curves of a region) or `all_parameters`; `rounds` holds the throughput of every round,
/// separated by spaces. A document of predictions, of a comparison or of a validation has rows of these instead, under a header
/// of their own. Numbers are in full precision, in the units that the JSON has.
pub fn csv(document: &Document) -> String {
    match document {
        Document { predictions: Some(all), .. } => return models::predictions(all),
        Document { comparison: Some(all), .. } => return models::comparison(all),
        Document { validation: Some(validation), .. } => return models::validation(validation),
        _ => {}
    }
    let mut out = format!("{HEADER}\n");
    for (index, measurement) in document.measurements.iter().flatten().enumerate() {
        row(&mut out, ["run", "", "job", &(index + 1).to_string()], measurement, ["", ""]);
    }
    if let Some(evaluation) = &document.evaluation {
        evaluation_rows(&mut out, evaluation);
    }
    out
}

fn evaluation_rows(out: &mut String, evaluation: &Evaluation) {
    let unique_bytes = Parameter::UniqueBytes;
    points(out, "mixed", "", unique_bytes, &evaluation.unique_bytes_curve);
    points(out, "read", "", unique_bytes, &evaluation.unique_bytes_read_curve);
    points(out, "write", "", unique_bytes, &evaluation.unique_bytes_write_curve);
    for region in &evaluation.regions {
        for parameter in Parameter::ALL {
            if let Some(curve) = region.curves.get(parameter) {
                points(out, "region", &region.name, parameter, curve);
            }
        }
    }
    for range in evaluation.all_parameters.iter().flat_map(|all| &all.ranges) {
        points(out, "all_parameters", "", range.parameter, &range.curve);
    }
}

fn points(out: &mut String, curve: &str, region: &str, parameter: Parameter, points: &[Point]) {
    for point in points {
        let spread = point.spread.map_or_else(String::new, |spread| spread.to_string());
        let rounds: Vec<String> = point.rounds.iter().map(f64::to_string).collect();
        row(
            out,
            [curve, region, parameter.name(), &point.value.to_string()],
            &point.measurement,
            [&spread, &rounds.join(" ")],
        );
    }
}

fn row(out: &mut String, first: [&str; 4], measurement: &Measurement, last: [&str; 2]) {
    let Measurement { workload, response_time_ns: times, throughput_ci95: [low, high], .. } =
        measurement;
    let middle = [
        measurement.throughput_bytes_per_s.to_string(),
        low.to_string(),
        high.to_string(),
        measurement.iops().to_string(),
        times.mean.to_string(),
        times.p50.to_string(),
        times.p99.to_string(),
        times.max.to_string(),
        measurement.cpu_ns_per_io.to_string(),
    ];
    let end = [stop(measurement.stop).to_owned(), measurement.disturbed.to_string()];
    let workload = of_workload(workload);
    let middle = middle.iter().chain(&workload).chain(&end);
    let fields = first.into_iter().chain(middle.map(String::as_str)).chain(last);
    out.push_str(&line(fields));
}

/// The workload's own columns, in the order of both headers.
fn of_workload(workload: &Workload) -> [String; 10] {
    [
        workload.unique_bytes.to_string(),
        workload.size_mean.to_string(),
        workload.read_frac.to_string(),
        workload.seq_frac.to_string(),
        workload.process_num.to_string(),
        workload.queue_depth.to_string(),
        workload.engine.to_string(),
        workload.access.to_string(),
        workload.direct_above_bytes.map_or_else(String::new, |above| above.to_string()),
        workload.workers.to_string(),
    ]
}

/// A line of these fields.
fn line<'a>(fields: impl Iterator<Item = &'a str>) -> String {
    let fields: Vec<String> = fields.map(field).collect();
    fields.join(",") + "\n"
}

/// A field, in quotes where it needs them.
fn field(text: &str) -> String {
    let text = inert(text);
    if text.contains([',', '"']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn every_point_has_one_row_with_as_many_fields_as_the_header() {
        let text = csv(&sample::with_all_parameters());
        let rows: Vec<&str> = text.lines().collect();
        let columns = HEADER.split(',').count();
        assert!(rows.iter().all(|row| row.split(',').count() == columns));
        let regions = 3 * (14 + 7 + 7 + 5);
        assert_eq!(rows.len(), 1 + 3 * 25 + regions + (25 + 14 + 7 + 7 + 5));
        assert!(rows[1].starts_with("mixed,,unique_bytes,65536,"));
        assert_eq!(csv(&sample::measured()).lines().count(), 4);
    }

    #[test]
    fn a_field_with_commas_and_quotes_is_quoted() {
        let mut document = sample::evaluated();
        document.evaluation.as_mut().unwrap().regions[0].name = "a,\"b\"\u{1b}".into();
        assert!(csv(&document).contains(r#"region,"a,""b""\u{1b}",size_mean"#));
    }
}
