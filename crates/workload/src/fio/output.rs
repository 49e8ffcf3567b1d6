//! Converts fio's JSON output (`--output-format=json`) to measurements.

use super::options::FioOptions;
use crate::jobs::LineError;
use ioscape_schema::{
    Access, Direction, Measurement, ResponseTime, Stop, Warning, WarningKind, Workload,
};
use serde::Deserialize;
use serde_json::{Deserializer, Map, Value};

/// The parts of fio's output that are taken over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioOutput {
    /// Version as fio writes it, such as `fio-3.33`.
    pub version: String,
    /// Start of the output in seconds since 1970; 0 if unknown.
    pub timestamp: i64,
    /// One measurement per job.
    pub measurements: Vec<Measurement>,
}

/// Quantile of the normal distribution for a 95 % interval.
const Z95: f64 = 1.96;

/// The field that distinguishes fio's output from other JSON. The JSON itself is not kept, because
/// that would take many times the text's memory.
#[derive(Deserialize)]
struct Mark {
    #[serde(rename = "fio version")]
    version: Option<String>,
}

/// Parses fio's output; `None` if the text is something else.
///
/// Throughput is that of the whole run. Its interval comes from fio's own samples of the bandwidth
/// (`bw_mean`, `bw_dev`), assumed independent; a warning in each measurement says so.
///
/// # Errors
/// It is fio's output, but lacks what a measurement needs.
pub fn read_output(text: &str) -> Option<Result<FioOutput, LineError>> {
    // Warnings may precede the JSON, and `--output-format=normal,json` surrounds it with other
    // output. With `--status-interval`, the last of several covers the whole run.
    let begin = text.rfind("\n{").or_else(|| text.find('{'))?;
    let json = || Deserializer::from_str(&text[begin..]);
    let version = Mark::deserialize(&mut json()).ok()?.version?;
    let root = Value::deserialize(&mut json()).ok()?;
    let jobs = root["jobs"].as_array().map(Vec::as_slice).unwrap_or_default();
    let global = root["global options"].as_object();
    let named = |job: &Value| job["jobname"].as_str().map(str::to_owned);
    if let Some(pair) = jobs.windows(2).find(|pair| named(&pair[0]) == named(&pair[1])) {
        let name = named(&pair[0]).unwrap_or_default();
        let what =
            format!("fio's job {name:?} is there once per process: run fio with --group_reporting");
        return Some(Err(LineError::of_output(what)));
    }
    let measured = jobs.iter().map(|job| measurement(job, jobs, global)).collect();
    let timestamp = root["timestamp"].as_i64().unwrap_or_default();
    let whole = |measurements| FioOutput { version, timestamp, measurements };
    Some(match measured {
        Ok(_) if jobs.is_empty() => {
            Err(LineError::of_output("fio's output holds no job".to_owned()))
        }
        found => found.map(whole),
    })
}

/// Returns the measurement of a job, one of `jobs`.
fn measurement(
    job: &Value,
    jobs: &[Value],
    global: Option<&Map<String, Value>>,
) -> Result<Measurement, LineError> {
    let name = job["jobname"].as_str().unwrap_or("job");
    let fails = |what: &str| LineError::of_output(format!("fio's job {name:?} {what}"));
    let (workload, mut options) = workload(job, global).map_err(|what| fails(&what))?;
    let emptied = empties_cache(job, global, &workload);
    let (read, write) = (direction(&job["read"]), direction(&job["write"]));
    let both = [read, write];
    let sum = |of: fn(&Part) -> f64| total(&both, of);
    let elapsed_s = elapsed_s(&both);
    if let Some(what) = lacking(job, global, &workload, &both) {
        return Err(fails(&what));
    }
    let (ios, bytes) = (sum(|part| part.ios), sum(|part| part.bytes));
    let rate = bytes / elapsed_s;
    let passes = bytes / options.pass_bytes();
    let untold = untold(&mut options, job, global, [elapsed_s, passes]);
    // fio counts the samples of all n processes of a group, but each sample is of one process. The
    // variance of the mean of n k such samples is an n-th of that of the processes' sum. Reads and
    // writes of one job become slow together, so their errors add up.
    let half = Z95 * sum(|part| part.error_of_mean) * f64::from(workload.process_num);
    // fio's shares refer to the total time of all processes of a group.
    let all_s = job["job_runtime"].as_f64().filter(|ms| *ms > 0.0).map_or(elapsed_s, |ms| ms / 1e3);
    let cpu = |key: &str| job[key].as_f64().unwrap_or_default() / 100.0 * all_s;
    let (user, system) = (cpu("usr_cpu"), cpu("sys_cpu"));
    let shown = |part: Option<Part>| {
        part.map(|part| Direction {
            ios: part.ios as u64,
            bytes: part.bytes as u64,
            throughput_bytes_per_s: part.bytes / elapsed_s,
            response_time_ns: part.times,
        })
    };
    let most = both.into_iter().flatten().max_by(|a, b| a.ios.total_cmp(&b.ios));
    let mean = sum(|part| part.times.mean * part.ios) / ios.max(1.0);
    let max = both.iter().flatten().map(|part| part.times.max).max().unwrap_or_default();
    let times =
        most.map_or_else(ResponseTime::default, |part| ResponseTime { mean, max, ..part.times });
    let mut one = Measurement {
        name: Some(name.to_owned()),
        ios: ios as u64,
        bytes: bytes as u64,
        elapsed_s,
        throughput_bytes_per_s: rate,
        throughput_ci95: [(rate - half).max(0.0), rate + half],
        response_time_ns: times,
        read: shown(read),
        write: shown(write),
        cpu_user_s: user,
        cpu_system_s: system,
        cpu_ns_per_io: (user + system) * 1e9 / ios.max(1.0),
        ..Measurement::empty(workload, Stop::TimeCap)
    };
    one.warnings = doubts(&one);
    one.warnings.extend(without_submission(&both));
    one.warnings.extend(otherwise(&options));
    one.warnings.extend(untold);
    one.warnings.extend(emptied.then(|| Warning::new(WarningKind::CacheEmptied, EMPTIED)));
    one.warnings.extend(beside(job, jobs));
    Ok(one)
}

/// Returns what keeps a job from being a measurement, as words that follow its name.
fn lacking(
    job: &Value,
    global: Option<&Map<String, Value>>,
    workload: &Workload,
    both: &[Option<Part>; 2],
) -> Option<String> {
    if let Some(error) = job["error"].as_i64().filter(|error| *error != 0) {
        let known = i32::try_from(error).map(std::io::Error::from_raw_os_error);
        let why = known.map_or(format!("error {error}"), |known| known.to_string());
        return Some(format!("failed: {why}: mend this and run it again"));
    }
    let parts = || both.iter().flatten();
    if parts().next().is_none() && job["mixed"].is_object() {
        let what = "has its reads and writes as one: run fio without unified_rw_reporting=1";
        return Some(what.to_owned());
    }
    if parts().all(|part| part.runtime_s <= 0.0) {
        return Some("moved no data".to_owned());
    }
    if parts().all(|part| part.samples >= 2.0) {
        // fio reports times in milliseconds, so shorter jobs cannot be judged.
        return is_sum(job, workload, both).then(|| SUM.to_owned());
    }
    let is_set = |key: &&str| option(job, global, key).is_some_and(|value| value != "0");
    let unsampled = ["gtod_reduce", "disable_bw", "disable_bw_measurement"];
    let set = unsampled.into_iter().find(is_set);
    let advice = set.map_or("run it for longer".to_owned(), |key| format!("run fio without {key}"));
    Some(format!(
        "has fewer than two samples of its bandwidth, so its interval is not known: {advice}"
    ))
}

const SUM: &str = "is the sum of its group of jobs, with the options of one of them: give each job `stonewall`, so that fio runs and counts it alone";

/// Mean sizes count as equal up to this relative difference.
const SIZES_ALIKE: f64 = 0.01;

/// A process may have lived longer than it was measured, up to this relative difference.
const TIMES_ALIKE: f64 = 0.05;

/// Whether the figures are not those of the workload, because fio (`group_reporting`) summed the
/// jobs of a group.
fn is_sum(job: &Value, workload: &Workload, both: &[Option<Part>; 2]) -> bool {
    let [read, write] = both;
    let other_kind =
        read.is_some() && workload.read_frac <= 0.0 || write.is_some() && workload.read_frac >= 1.0;
    let (bytes, size) = (total(both, |part| part.bytes), workload.size_mean as f64);
    let processes = f64::from(workload.process_num);
    // A request counts when it is issued, but its bytes when it completes.
    let in_flight = processes * f64::from(workload.queue_depth);
    let off = (bytes - total(both, |part| part.ios) * size).abs();
    let other_size = off > SIZES_ALIKE * bytes + in_flight * size;
    let all_s = job["job_runtime"].as_f64().unwrap_or_default() / 1e3;
    let more_processes = all_s > ((1.0 + TIMES_ALIKE) * processes + 0.5) * elapsed_s(both);
    other_kind || other_size || more_processes
}

/// Returns a figure summed over reads and writes.
fn total(both: &[Option<Part>; 2], of: fn(&Part) -> f64) -> f64 {
    both.iter().flatten().map(of).sum()
}

/// Returns a job's duration in seconds: the longer of its reads and its writes.
fn elapsed_s(both: &[Option<Part>; 2]) -> f64 {
    both.iter().flatten().map(|part| part.runtime_s).fold(0.0, f64::max)
}

/// Returns the doubt about a job that ran concurrently with another: fio begins a new group at a
/// job that waits for those above it.
fn beside(job: &Value, jobs: &[Value]) -> Option<Warning> {
    let group = job["groupid"].as_i64()?;
    let is_other =
        |other: &&Value| !std::ptr::eq(*other, job) && other["groupid"].as_i64() == Some(group);
    let name = jobs.iter().find(is_other)?["jobname"].as_str().unwrap_or("job");
    let what = format!(
        "fio ran this at the same time as its job {name:?}: with `stonewall` in each job it runs them one after the other"
    );
    Some(Warning::new(WarningKind::NotConfident, what))
}

/// Returns the value of a key: of this job, or otherwise the global one.
fn option<'a>(
    job: &'a Value,
    global: Option<&'a Map<String, Value>>,
    key: &str,
) -> Option<&'a str> {
    let own = job["job options"].as_object().and_then(|options| options.get(key));
    own.or_else(|| global?.get(key)).and_then(Value::as_str)
}

const EMPTIED: &str = "fio emptied the file cache of the file at the beginning and at every pass, so reads came from storage that would otherwise have come from memory: --invalidate=0 keeps the cache, --direct=1 bypasses it";

/// Whether fio made reads of this job come from storage that a cache would have served.
fn empties_cache(job: &Value, global: Option<&Map<String, Value>>, workload: &Workload) -> bool {
    let asked = option(job, global, "invalidate");
    workload.access != Access::Direct && workload.read_frac > 0.0 && asked != Some("0")
}

fn doubts(one: &Measurement) -> Vec<Warning> {
    let interval = "measured by fio: the interval takes its samples as independent, so the true one may be wider";
    let mut all = vec![Warning::new(WarningKind::NotConfident, interval)];
    if one.read.is_some() && one.write.is_some() {
        let both = "percentiles are those of the more frequent of reads and writes: fio does not give them together";
        all.push(Warning::new(WarningKind::NotConfident, both));
    }
    let parts = [&one.read, &one.write].into_iter().flatten();
    let times: Vec<ResponseTime> = parts.map(|part| part.response_time_ns).collect();
    if times.iter().any(|t| t.mean <= 0.0) {
        let none = "fio's output has no response times, which stand as 0: run fio without disable_lat and disable_clat";
        all.push(Warning::new(WarningKind::NotConfident, none));
    } else if times.iter().any(|t| [t.p50, t.p90, t.p99, t.p999].contains(&0)) {
        let none = "fio's output lacks some of the percentiles 50, 90, 99 and 99.9 %, which stand as 0: run fio without percentile_list and clat_percentiles=0";
        all.push(Warning::new(WarningKind::NotConfident, none));
    }
    all
}

/// A submission is long if it takes more than this share of the mean response time.
const SUBMISSION_LONG: f64 = 0.02;

/// Returns the doubt about percentiles whose clock starts later than that of the mean of the same
/// requests.
fn without_submission(both: &[Option<Part>; 2]) -> Option<Warning> {
    let share = both.iter().flatten().map(|part| part.submission).fold(0.0, f64::max);
    let what = format!(
        "percentiles are without the submission, which mean and longest hold ({:.0} % of the mean): run fio with lat_percentiles=1",
        share * 100.0
    );
    (share > SUBMISSION_LONG).then(|| Warning::new(WarningKind::NotConfident, what))
}

const LIBAIO: &str =
    "measured by fio's libaio, which is shown as the engine of ioscape that is most like it";

/// Returns the doubts about an engine that ioscape lacks, and about work that it does differently.
fn otherwise(options: &FioOptions) -> Vec<Warning> {
    let libaio = options.is_libaio.then(|| Warning::new(WarningKind::NotConfident, LIBAIO));
    let differs = |what: String| {
        let message = format!("not the work of ioscape by the same options: {what}");
        Warning::new(WarningKind::DifferentKinds, message)
    };
    libaio.into_iter().chain(options.differences().into_iter().map(differs)).collect()
}

/// Returns the workload from the options that fio repeats in its output, and these options.
fn workload(
    job: &Value,
    global: Option<&Map<String, Value>>,
) -> Result<(Workload, FioOptions), String> {
    let mut options = FioOptions::default();
    let own = job["job options"].as_object();
    for (key, value) in [global, own].into_iter().flatten().flatten() {
        let value = value.as_str().unwrap_or_default();
        options.set(1, key, value).map_err(|e| format!("is no workload of ioscape: {}", e.what))?;
    }
    let workload =
        options.workload().map_err(|what| format!("is no workload of ioscape: {what}"))?;
    Ok((workload, options))
}

/// A job that ran for this share of its `runtime` ran for all of it.
const WHOLE_TIME: f64 = 0.98;

/// A job that moved its set more often than this, which allows for coarse counting, continued after
/// one pass.
const MORE_THAN_A_PASS: f64 = 1.01;

/// Infers options that were written without a value, which fio's output does not repeat, from what
/// fio did. Returns the doubt about one that cannot be inferred.
fn untold(
    options: &mut FioOptions,
    job: &Value,
    global: Option<&Map<String, Value>>,
    [elapsed_s, passes]: [f64; 2],
) -> Option<Warning> {
    let goes_on = |asked_s: f64| elapsed_s > WHOLE_TIME * asked_s || passes > MORE_THAN_A_PASS;
    if option(job, global, "time_based").is_none() && options.seconds.is_some_and(goes_on) {
        options.time_based = true;
    }
    if option(job, global, "norandommap").is_some() || !options.is_random() {
        return None;
    }
    options.repeats_places = true;
    let what = "fio visits each place once before any again, unless norandommap is set; its output does not repeat options that are written without a value: where it is set, write norandommap=1";
    Some(Warning::new(WarningKind::NotConfident, what))
}

/// The reads or the writes of a job.
#[derive(Clone, Copy)]
struct Part {
    ios: f64,
    bytes: f64,
    runtime_s: f64,
    samples: f64,
    /// Standard deviation of the mean bandwidth, in bytes per second.
    error_of_mean: f64,
    times: ResponseTime,
    /// Share of the mean response time that is the submission, if the percentiles exclude it;
    /// otherwise 0.
    submission: f64,
}

fn direction(part: &Value) -> Option<Part> {
    let number = |key: &str| part[key].as_f64().unwrap_or_default();
    let ios = number("total_ios");
    if ios <= 0.0 {
        return None;
    }
    let samples = number("bw_samples");
    // `bw_dev` is in KiB per second.
    let deviation = number("bw_dev") * 1024.0;
    // Mean and maximum are those of `lat_ns`, which includes the submission, unless `disable_lat`
    // leaves it 0. It has percentiles only if fio was asked for them.
    let latency = [&part["lat_ns"], &part["clat_ns"]];
    let percentile = |key: &str| {
        let found = latency.iter().find_map(|one| one["percentile"][key].as_u64());
        found.unwrap_or_default()
    };
    let of_all = |key: &str| {
        let mut found = latency.iter().filter_map(|one| one[key].as_f64());
        found.find(|time| *time > 0.0).unwrap_or_default()
    };
    let [whole, completion] = latency;
    let mean = |one: &Value| one["mean"].as_f64().filter(|time| *time > 0.0);
    let is_without = whole["percentile"].is_null() && completion["percentile"].is_object();
    let means = mean(whole).zip(mean(completion)).filter(|_| is_without);
    Some(Part {
        ios,
        bytes: number("io_bytes"),
        runtime_s: number("runtime") / 1e3,
        samples,
        error_of_mean: deviation / samples.max(1.0).sqrt(),
        times: ResponseTime {
            mean: of_all("mean"),
            p50: percentile("50.000000"),
            p90: percentile("90.000000"),
            p99: percentile("99.000000"),
            p999: percentile("99.900000"),
            max: of_all("max") as u64,
        },
        submission: means.map_or(0.0, |(whole, completion)| 1.0 - completion / whole),
    })
}
