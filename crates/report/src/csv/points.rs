//! Measured points as comma-separated values: a row per run, or per point of a curve.

use super::rows::{WORKLOAD, line, number};
use crate::clients::curve;
use crate::columns::fields;
use ioscape_schema::{Evaluation, Measurement, Parameter, Point};

const HEADER: &str = "curve,region,parameter,value,throughput_bytes_per_s,ci95_low,ci95_high,iops,\
response_mean_ns,response_p50_ns,response_p99_ns,response_max_ns,cpu_ns_per_io,unique_bytes,size_mean,read_frac,\
seq_frac,process_num,queue_depth,engine,access,direct_above_bytes,workers,stop,disturbed,spread,median_bytes_per_s,rounds,memory_limit_bytes,name";

/// The header alone.
pub fn none() -> String {
    format!("{HEADER}\n")
}

/// A row per run.
pub fn measurements(all: &[Measurement]) -> String {
    let mut out = none();
    for (index, measurement) in all.iter().enumerate() {
        row(&mut out, ["run", "", "job", &(index + 1).to_string()], measurement, [""; 4]);
    }
    out
}

/// Every point of every access of an evaluation.
pub fn evaluation(evaluation: &Evaluation) -> String {
    let mut table = none();
    evaluation.each_access().for_each(|one| with_one_access(&mut table, one));
    table
}

fn with_one_access(out: &mut String, evaluation: &Evaluation) {
    let unique_bytes = Parameter::UniqueBytes;
    let limit = evaluation.memory_limit_bytes().map(|bytes| bytes.to_string()).unwrap_or_default();
    let mut points = |curve, region: &str, parameter: Parameter, all: &[Point]| {
        points(out, [curve, region, parameter.word(), &limit], all);
    };
    points("mixed", "", unique_bytes, &evaluation.unique_bytes_curve);
    points("read", "", unique_bytes, &evaluation.unique_bytes_read_curve);
    points("write", "", unique_bytes, &evaluation.unique_bytes_write_curve);
    for region in &evaluation.regions {
        for parameter in Parameter::WITH_DEPTH {
            if let Some(curve) = region.curves.get(parameter) {
                points("region", &region.name, parameter, curve);
            }
        }
    }
    points("off the curves", "", unique_bytes, &evaluation.extra);
    for range in evaluation.all_parameters.iter().flat_map(|all| &all.ranges) {
        points("all_parameters", "", range.parameter, &range.curve);
    }
    for region in &evaluation.regions {
        let of = ["region", &region.name, curve::NAME, &limit];
        self::points(out, of, &region.curves.client_num);
    }
}

fn points(out: &mut String, [curve, region, parameter, limit]: [&str; 4], points: &[Point]) {
    for point in points {
        let spread = number(point.spread);
        let rounds: Vec<String> = point.rounds.iter().map(f64::to_string).collect();
        let median = point.throughput().to_string();
        row(
            out,
            [curve, region, parameter, &point.value.to_string()],
            &point.measurement,
            [&spread, &median, &rounds.join(" "), limit],
        );
    }
}

fn row(out: &mut String, first: [&str; 4], measurement: &Measurement, last: [&str; 4]) {
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
    let end = [measurement.stop.word().to_owned(), measurement.disturbed.to_string()];
    let workload: Vec<String> = fields(&WORKLOAD, workload).collect();
    let middle = middle.iter().chain(&workload).chain(&end);
    let name = measurement.name.as_deref().unwrap_or_default();
    let fields = first.into_iter().chain(middle.map(String::as_str)).chain(last).chain([name]);
    out.push_str(&line(fields));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn every_point_has_one_row_with_as_many_fields_as_the_header() {
        let text = evaluation(sample::with_all_parameters().evaluation().unwrap());
        let rows: Vec<&str> = text.lines().collect();
        let columns = HEADER.split(',').count();
        assert!(rows.iter().all(|row| row.split(',').count() == columns));
        let regions = 3 * (14 + 7 + 7 + 5);
        assert_eq!(rows.len(), 1 + 3 * 25 + regions + (25 + 14 + 7 + 7 + 5));
        assert!(rows[1].starts_with("mixed,,unique_bytes,65536,"));
        assert_eq!(measurements(&sample::runs()).lines().count(), 4);
    }

    #[test]
    fn a_run_has_the_name_of_its_job() {
        let mut runs = sample::runs();
        runs[1].name = Some("scan, cold".into());
        let text = measurements(&runs);
        assert!(text.lines().nth(2).is_some_and(|row| row.ends_with(",\"scan, cold\"")), "{text}");
    }

    #[test]
    fn points_off_the_curves_are_points_too() {
        let mut all = sample::evaluation();
        let before = evaluation(&all).lines().count();
        all.extra = all.unique_bytes_curve[..2].to_vec();
        let text = evaluation(&all);
        let off = text.lines().filter(|row| row.starts_with("off the curves,,unique_bytes,"));
        assert_eq!((off.count(), text.lines().count()), (2, before + 2));
    }

    #[test]
    fn a_field_with_commas_and_quotes_is_quoted() {
        let mut all = sample::evaluation();
        all.regions[0].name = "a,\"b\"\u{1b}".into();
        assert!(evaluation(&all).contains(r#"region,"a,""b""\u{1b}",size_mean"#));
    }
}
