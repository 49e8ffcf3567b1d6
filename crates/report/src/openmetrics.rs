//! Measured workloads as OpenMetrics text, for a scraper or the textfile collector of Prometheus.

use crate::text::{inert, run_name};
use ioscape_schema::text::METRICS_MARK;
use ioscape_schema::{Document, Measurement, Outcome, ResponseTime, Stop};
use std::fmt::Write as _;

/// A family of metrics: its name, its unit (the end of that name) and its help text.
pub struct Family {
    name: &'static str,
    kind: &'static str,
    unit: &'static str,
    help: &'static str,
}

/// A family whose values go up and down.
pub const fn gauge(name: &'static str, unit: &'static str, help: &'static str) -> Family {
    Family { name, kind: "gauge", unit, help }
}

/// A sample: the suffix to the family's name, its labels, and its value.
pub type Sample = (&'static str, Vec<(&'static str, String)>, f64);

/// Returns the samples of one run, if any.
type Of = fn(&Measurement) -> Vec<Sample>;

const FAMILIES: [(Family, Of); 9] = [
    (
        gauge(
            "throughput_bytes_per_second",
            "bytes_per_second",
            "Bytes moved per second: in total, by reads and by writes.",
        ),
        throughput,
    ),
    (
        gauge(
            "throughput_ci95_bytes_per_second",
            "bytes_per_second",
            "Ends of the 95 % confidence interval of the throughput.",
        ),
        interval,
    ),
    (gauge("ios_per_second", "", "Requests per second (IOPS): in total, reads and writes."), rates),
    (
        Family {
            name: "latency_seconds",
            kind: "summary",
            unit: "seconds",
            help: "Response times of the requests; of several clients the quantiles of the one with the longest.",
        },
        latencies,
    ),
    (gauge("latency_max_seconds", "seconds", "Longest response time."), longest),
    (gauge("cpu_seconds_per_io", "", "User and system time per request."), processor),
    (
        gauge(
            "cache_hit_ratio",
            "ratio",
            "Share of the bytes read that did not come from storage; absent where the kernel does not tell.",
        ),
        hits,
    ),
    (
        gauge(
            "run_confident",
            "",
            "1 where the run ended because its interval was narrow, 0 where time was up, its phases were over, or it was interrupted.",
        ),
        confident,
    ),
    (gauge("run_warnings", "", "Warnings about the run."), warnings),
];

/// The runs of a document on `target` as OpenMetrics text.
///
/// Each run has a sample, labelled with the target and the name of its job. Units are seconds,
/// bytes and ratios, as the format demands. Documents of other kinds have no samples of runs.
pub fn openmetrics(document: &Document, target: &str) -> String {
    let mut out = info(document, target);
    if let Some(Outcome::Measurements(runs)) = &document.outcome {
        for (family, of) in &FAMILIES {
            let samples = runs.iter().enumerate().flat_map(|(index, run)| {
                let job = run_name(index + 1, run);
                of(run).into_iter().map(move |(end, labels, value)| {
                    let of = [("target", target.to_owned()), ("job_name", job.clone())];
                    (end, of.into_iter().chain(labels).collect::<Vec<_>>(), value)
                })
            });
            out += &family.text(samples.filter(|(_, _, value)| value.is_finite()));
        }
    }
    out + "# EOF\n"
}

/// The machine and the version, as labels of a sample that is always 1.
///
/// They include no time, which would start a new series with every run.
fn info(document: &Document, target: &str) -> String {
    let machine = &document.environment;
    let known = |value: &Option<String>| value.clone().unwrap_or_default();
    let labels = vec![
        ("target", target.to_owned()),
        ("version", document.tool.version.clone()),
        ("kernel", known(&machine.kernel)),
        ("file_system", known(&machine.file_system)),
        ("device_model", known(&machine.device_model)),
    ];
    gauge("run_info", "", "The machine that was measured, and the version of ioscape.")
        .text(std::iter::once(("", labels, 1.0)))
}

impl Family {
    /// The lines of the family; empty without samples.
    pub fn text(&self, samples: impl Iterator<Item = Sample>) -> String {
        let mut lines = String::new();
        for (end, labels, value) in samples {
            let labels: Vec<String> = labels
                .iter()
                .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
                .collect();
            let _ = writeln!(lines, "ioscape_{}{end}{{{}}} {value}", self.name, labels.join(","));
        }
        if lines.is_empty() {
            return lines;
        }
        let Self { name, kind, unit, help } = self;
        let unit = match unit.is_empty() {
            true => String::new(),
            false => format!("# UNIT ioscape_{name} {unit}\n"),
        };
        format!("{METRICS_MARK}{name} {help}\n# TYPE ioscape_{name} {kind}\n{unit}{lines}")
    }
}

/// A label's value with backslashes, quotes and ends of lines escaped.
fn escaped(value: &str) -> String {
    inert(value).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// One label.
pub fn label(name: &'static str, value: &str) -> Vec<(&'static str, String)> {
    vec![(name, value.to_owned())]
}

fn throughput(run: &Measurement) -> Vec<Sample> {
    directions(run, |one| one.throughput)
}

fn interval(run: &Measurement) -> Vec<Sample> {
    // If no data was moved, the interval has no width and means nothing.
    let is_known = run.relative_error().is_finite();
    let ends = ["low", "high"].into_iter().zip(run.throughput_ci95).filter(|_| is_known);
    ends.map(|(end, value)| ("", label("bound", end), value)).collect()
}

fn rates(run: &Measurement) -> Vec<Sample> {
    let per_s = |ios: u64| if run.elapsed_s > 0.0 { ios as f64 / run.elapsed_s } else { 0.0 };
    directions(run, |one| per_s(one.ios))
}

fn latencies(run: &Measurement) -> Vec<Sample> {
    let mut out = Vec::new();
    for one in all(run) {
        let (times, ios) = (&one.times, one.ios as f64);
        for (quantile, ns) in ["0.5", "0.9", "0.99", "0.999"].into_iter().zip(times.told(one.ios)) {
            let Some(ns) = ns else { continue };
            let labels = [label("operation", one.operation), label("quantile", quantile)].concat();
            out.push(("", labels, ns as f64 / 1e9));
        }
        out.push(("_count", label("operation", one.operation), ios));
        out.push(("_sum", label("operation", one.operation), times.mean * ios / 1e9));
    }
    out
}

fn longest(run: &Measurement) -> Vec<Sample> {
    match run.ios {
        0 => Vec::new(),
        _ => directions(run, |one| one.times.max as f64 / 1e9),
    }
}

fn processor(run: &Measurement) -> Vec<Sample> {
    match run.ios {
        0 => Vec::new(),
        _ => vec![("", Vec::new(), run.cpu_ns_per_io / 1e9)],
    }
}

fn hits(run: &Measurement) -> Vec<Sample> {
    run.read_hit_frac().map(|share| ("", Vec::new(), share)).into_iter().collect()
}

fn confident(run: &Measurement) -> Vec<Sample> {
    vec![("", Vec::new(), f64::from(u8::from(run.stop == Stop::Confident)))]
}

fn warnings(run: &Measurement) -> Vec<Sample> {
    vec![("", Vec::new(), run.warnings.len() as f64)]
}

/// All requests of a run, or those of a single operation.
struct Requests<'a> {
    operation: &'static str,
    ios: u64,
    throughput: f64,
    times: &'a ResponseTime,
}

/// All requests, then the reads and the writes if there are any.
fn all(run: &Measurement) -> Vec<Requests<'_>> {
    let whole = Requests {
        operation: "all",
        ios: run.ios,
        throughput: run.throughput_bytes_per_s,
        times: &run.response_time_ns,
    };
    let parts = [("read", &run.read), ("write", &run.write)];
    let parts = parts.into_iter().filter_map(|(operation, part)| {
        part.as_ref().map(|one| Requests {
            operation,
            ios: one.ios,
            throughput: one.throughput_bytes_per_s,
            times: &one.response_time_ns,
        })
    });
    std::iter::once(whole).chain(parts).collect()
}

fn directions(run: &Measurement, value: impl Fn(&Requests<'_>) -> f64) -> Vec<Sample> {
    all(run).iter().map(|one| ("", label("operation", one.operation), value(one))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use std::collections::BTreeSet;

    /// A document of one run whose name needs escapes.
    fn text() -> String {
        let mut document = sample::measured();
        if let Some(Outcome::Measurements(runs)) = &mut document.outcome {
            runs[0].name = Some("a \"b\\c\"".to_owned());
        }
        openmetrics(&document, "/mnt/data")
    }

    #[test]
    fn every_line_is_a_sample_of_a_family_that_was_introduced() {
        let text = text();
        let mut known = BTreeSet::new();
        let mut samples = BTreeSet::new();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.last(), Some(&"# EOF"));
        for line in &lines[..lines.len() - 1] {
            if let Some(family) = line.strip_prefix("# TYPE ") {
                assert!(known.insert(family.split(' ').next().unwrap().to_owned()), "{line} twice");
            } else if !line.starts_with('#') {
                let (series, value) = line.rsplit_once(' ').unwrap();
                assert!(value.parse::<f64>().unwrap().is_finite(), "{line}");
                assert!(samples.insert(series.to_owned()), "{series} twice");
                let name = series.split('{').next().unwrap();
                let family = name.trim_end_matches("_count").trim_end_matches("_sum");
                assert!(known.contains(family), "{line}");
            }
        }
        assert!(samples.iter().any(|one| one.contains(r#"job_name="a \"b\\c\"""#)), "{text}");
    }

    /// Once, a scrape of two disks held each series twice, so that Prometheus refused or merged
    /// them.
    #[test]
    fn runs_on_two_targets_share_no_series() {
        let series = |target| -> BTreeSet<String> {
            let text = openmetrics(&sample::measured(), target);
            let samples = text.lines().filter(|line| !line.starts_with('#'));
            samples.map(|line| line.rsplit_once(' ').unwrap().0.to_owned()).collect()
        };
        assert!(series("/mnt/a").is_disjoint(&series("/mnt/b")));
    }

    #[test]
    fn a_run_that_is_not_confident_may_have_ended_in_other_ways_than_by_time() {
        let mut document = sample::measured();
        let Some(Outcome::Measurements(runs)) = &mut document.outcome else { panic!("runs") };
        runs.truncate(1);
        runs[0].stop = Stop::PhasesOver;
        let text = openmetrics(&document, "/mnt/data");
        let of = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap();
        assert!(of("ioscape_run_confident{").ends_with(" 0"), "{text}");
        let help = of("# HELP ioscape_run_confident ");
        for way in ["time was up", "phases were over", "interrupted"] {
            assert!(help.contains(way), "{help}");
        }
    }

    #[test]
    fn units_end_the_names_and_sums_follow_from_means() {
        for (family, _) in &FAMILIES {
            assert!(family.name.ends_with(family.unit), "{}", family.name);
        }
        let mut run = Measurement::empty(ioscape_schema::Workload::default(), Stop::Confident);
        (run.ios, run.response_time_ns.mean) = (4, 250e6);
        let sum = latencies(&run).into_iter().find(|(end, _, _)| *end == "_sum");
        assert_eq!(sum.map(|(_, _, value)| value), Some(1.0));
    }

    #[test]
    fn of_a_run_in_which_no_request_ended_no_time_is_told() {
        let mut document = sample::measured();
        let Some(Outcome::Measurements(runs)) = &mut document.outcome else { panic!("runs") };
        *runs = vec![Measurement::empty(runs[0].workload.clone(), Stop::TimeCap)];
        let text = openmetrics(&document, "/mnt/data");
        let count = |line: &str| line.starts_with("ioscape_latency_seconds_count{");
        assert!(text.lines().any(|line| count(line) && line.ends_with(" 0")), "{text}");
        for told in ["quantile=", "latency_max", "cpu_seconds", "bound="] {
            assert!(!text.contains(told), "{told}: {text}");
        }
    }

    #[test]
    fn what_holds_no_runs_says_nothing_of_runs() {
        let text = openmetrics(&sample::predicted(), "/mnt/data");
        assert!(text.starts_with(METRICS_MARK) && text.ends_with("# EOF\n"), "{text}");
        assert!(!text.contains("throughput"), "{text}");
    }
}
