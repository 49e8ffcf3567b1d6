//! What a document measured, as rows that another document of its kind may have too.

use super::figures::{BETWEEN_RUNS, Figure, NORMAL95, UNKNOWN_BETWEEN};
use super::jobs::{Cells, of_campaign, of_percentiles, of_vxbench, other_campaign, other_work};
use super::os::{missing, of_os};
use super::refusal::NotComparable;
use super::row::{NamedDocument, Row, RowsByName, RunWork, Work};
use crate::quantity::{LONGEST, QUANTITIES, Quantity};
use ioscape_schema::statistics::median;
use ioscape_schema::{
    Document, Engine, Evaluation, Measurement, Metric, Outcome, Parameter, Point, ValidationPoint,
    WarningKind,
};
use std::collections::HashMap;

/// The kind of a document's outcome, in words.
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
        Some(Outcome::TraceSummary(_)) => "a summary of a trace",
        Some(Outcome::TraceComparison(_)) => "a comparison of traces",
        Some(Outcome::TraceReplay(_)) => "a replay of a trace",
        Some(Outcome::Simulation(_)) => "a simulation",
        Some(other) => other.key(),
    }
}

/// The outcome key that both documents share; refuses campaigns that are known to be other work as
/// a whole.
pub(super) fn shared_kind(
    first: NamedDocument<'_>,
    second: NamedDocument<'_>,
) -> Result<&'static str, NotComparable> {
    let key = |one: NamedDocument<'_>| one.document.outcome.as_ref().map(Outcome::key);
    let (ours, theirs) = (key(first), key(second));
    let Some(kind) = ours.filter(|_| ours == theirs) else {
        return Err(NotComparable::Kinds(
            first.name.to_owned(),
            words(first.document),
            second.name.to_owned(),
            words(second.document),
        ));
    };
    match other_campaign(first.document, second.document) {
        Some(how) => Err(differently(first, second, how, None)),
        None => Ok(kind),
    }
}

/// Refuses rows that are not the same work: they differ as `how` says, and `help`, if known, would
/// make them the same.
fn differently(
    first: NamedDocument<'_>,
    second: NamedDocument<'_>,
    how: String,
    help: Option<&'static str>,
) -> NotComparable {
    let help = help.unwrap_or(match first.document.outcome {
        Some(Outcome::Campaign(_)) => {
            "run the same campaign on both, with the same --max-file-size"
        }
        _ => "run the same jobs on files of the same sizes on both",
    });
    let (first, second) = (first.name.to_owned(), second.name.to_owned());
    NotComparable::OtherWork { first, second, how, help }
}

/// The rows of a document.
#[derive(Default)]
pub(super) struct Rows {
    /// The rows with a figure, each once.
    pub(super) told: RowsByName,
    /// The rows that were measured but have no figure.
    empty: RowsByName,
}

impl Rows {
    /// Whether this work was measured but none of its requests ended.
    pub(super) fn none_ended(&self, row: &Row) -> bool {
        // Older campaigns have no times, however many requests ended.
        let tells = row.metric != Metric::Time || matches!(row.work, Some(Work::Run(_)));
        tells && self.empty.like(row).is_some()
    }
}

/// Why jobs may be missing from runs that ended early, as far as the document says.
pub(super) fn partial(document: &Document) -> Option<String> {
    let is_runs = matches!(document.outcome, Some(Outcome::Measurements(_)));
    let told = document.warnings.iter().find(|one| one.kind == WarningKind::Interrupted);
    let why = told.map_or("the runs are partial", |one| one.message.as_str());
    (is_runs && document.interrupted).then(|| format!("there {why}"))
}

/// Runs by the names of their jobs.
pub(super) type Runs<'a> = HashMap<Option<&'a str>, Vec<&'a Measurement>>;

/// The runs of several documents.
pub(super) fn runs<'a>(all: &[NamedDocument<'a>]) -> Runs<'a> {
    let mut runs = Runs::new();
    for run in all.iter().filter_map(|one| one.document.measurements()).flatten() {
        runs.entry(run.name.as_deref()).or_default().push(run);
    }
    runs
}

/// Every row of `one` of two documents; the `runs` and the `cells` of both tell what its times are
/// called.
pub(super) fn rows(
    one: NamedDocument<'_>,
    runs: &Runs<'_>,
    cells: &[Cells<'_>; 2],
) -> Result<Rows, NotComparable> {
    let mut found: Vec<Row> = match &one.document.outcome {
        Some(Outcome::Measurements(all)) => {
            all.iter().flat_map(|run| all_of_run(run, runs)).collect()
        }
        Some(Outcome::Evaluation(one)) => {
            let limit = one.memory_limit_bytes();
            one.each_access().flat_map(|each| of_evaluation(each, limit)).collect()
        }
        Some(Outcome::Validation(run)) => {
            let points = run.validation.iter().flat_map(|validation| &validation.points);
            let row = |one: &ValidationPoint| of_rounds(&one.measurement, &one.rounds_bytes_per_s);
            points.map(row).collect()
        }
        Some(Outcome::Vxbench(all)) => all.runs.iter().map(of_vxbench).collect(),
        Some(Outcome::Campaign(campaign)) => of_campaign(campaign, cells),
        Some(Outcome::Os(results)) => of_os(results),
        _ => {
            let help = match one.document.outcome {
                Some(Outcome::TraceSummary(_)) => {
                    "compare the traces themselves with `ioscape trace compare A B`"
                }
                Some(Outcome::TraceReplay(_) | Outcome::Simulation(_)) => {
                    "write the requests of both with --rows, and compare these with `ioscape trace compare A B`"
                }
                Some(Outcome::Predictions(_)) => "give the evaluations that they come from",
                _ => "measure both with `ioscape run`",
            };
            return Err(NotComparable::Unmeasured(one.name.to_owned(), words(one.document), help));
        }
    };
    coarsen(&mut found, one.document);
    let has_figure = |row: &Row| row.figure.value.is_finite() && row.figure.value > 0.0;
    let mut all = Rows::default();
    for row in found {
        if has_figure(&row) {
            put_once(&mut all.told, row);
        } else if !row.figure.samples.is_empty() {
            all.empty.push(row);
        }
    }
    Ok(all)
}

/// Makes measured times no surer than a step of the clock that counted them. The operating-system
/// benchmarks time many operations at once.
fn coarsen(rows: &mut [Row], document: &Document) {
    let is_counted = !matches!(document.outcome, Some(Outcome::Os(_)));
    for row in rows.iter_mut().filter(|row| is_counted && row.metric == Metric::Time) {
        let step = document.environment.clock.precision_ns / row.figure.value;
        row.figure.least_error = row.figure.least_error.max(step);
    }
}

/// Adds a row, or merges it with one that is alike: a repeated measurement is one more sample.
fn put_once(rows: &mut RowsByName, mut row: Row) {
    row.figure.samples.retain(|sample| sample.is_finite() && *sample > 0.0);
    match rows.like_mut(&row) {
        // The resolution of percentiles is so coarse that those of two runs may be equal.
        Some(known) if known.figure == row.figure && row.metric != Metric::Time => {}
        Some(known) => {
            known.figure.samples.extend(&row.figure.samples);
            known.figure.value = median(&known.figure.samples);
        }
        None => rows.push(row),
    }
}

/// Standard deviations of the logarithm of a run's throughput, by the ends of its interval. One that
/// reaches from 0 to twice the throughput says nothing.
fn within(one: &Measurement) -> [f64; 2] {
    let [low, high] = one.throughput_ci95.map(|end| end / one.throughput_bytes_per_s);
    let is_unknown = low <= 0.0 && high <= 2.0;
    let off = |end: f64| (end.max(0.0).ln().abs() / NORMAL95).min(UNKNOWN_BETWEEN);
    if is_unknown { [UNKNOWN_BETWEEN; 2] } else { [low, high].map(off) }
}

fn of_measurement(one: &Measurement, samples: Vec<f64>) -> Figure {
    Figure {
        value: median(&samples),
        samples,
        within: within(one),
        between: BETWEEN_RUNS,
        least_error: 0.0,
        is_exact: one.workload.engine == Engine::Sim,
    }
}

fn of_run(one: &Measurement) -> Row {
    let work = RunWork {
        emptied: one.warnings.iter().any(|doubt| doubt.kind == WarningKind::CacheEmptied),
        verified: one.verify.is_some(),
        clients: one.clients.as_ref().map_or(1, |all| all.each.len() as u64),
    };
    Row {
        name: one.name.clone(),
        workload: Some(one.workload.clone()),
        work: Some(Work::Run(work)),
        metric: Metric::Throughput,
        figure: of_measurement(one, vec![one.throughput_bytes_per_s]),
    }
}

/// The rows of a run: its throughput and its response times. The longest time stands for a
/// percentile of which some of the `runs` of its job has too few requests: slow ones have fewer, and
/// the percentiles of the others would be those of a faster job.
fn all_of_run(one: &Measurement, runs: &Runs<'_>) -> Vec<Row> {
    let throughput = of_run(one);
    let name = one.name.clone().unwrap_or_else(|| one.workload.summary());
    let time = |quantity: &Quantity| {
        let time = Some((quantity.of)(one)).filter(|time| *time > 0.0 || one.ios == 0);
        let is_exact = throughput.figure.is_exact;
        Row {
            name: Some(format!("{name}{}", quantity.suffix)),
            metric: quantity.metric,
            figure: Figure { is_exact, ..of_percentiles(time.into_iter().collect()) },
            ..throughput.clone()
        }
    };
    let of_name = runs.get(&one.name.as_deref()).map_or(&[][..], Vec::as_slice);
    let told = |of: &'static Quantity| {
        let has_few =
            |run: &&Measurement| run.workload == one.workload && (1..of.least).contains(&run.ios);
        if of_name.iter().any(has_few) { &LONGEST } else { of }
    };
    let times = QUANTITIES.iter().filter(|of| of.metric == Metric::Time).map(told);
    [vec![throughput.clone()], times.map(time).collect()].concat()
}

fn of_point(point: &Point) -> Row {
    // A simulation of the same requests is not another round; results of older versions contain
    // such rounds.
    let is_one = point.measurement.workload.engine == Engine::Sim
        && point.rounds.windows(2).all(|pair| pair[0].to_bits() == pair[1].to_bits());
    of_rounds(&point.measurement, if is_one { &[] } else { &point.rounds })
}

/// The row of a measurement with these rounds, or of the measurement itself if there are none.
fn of_rounds(one: &Measurement, rounds: &[f64]) -> Row {
    let alone = [one.judged_bytes_per_s()];
    let samples: &[f64] = if rounds.is_empty() { &alone } else { rounds };
    Row { figure: of_measurement(one, samples.to_vec()), ..of_run(one) }
}

/// The points of one evaluation; under a memory limit other than `usual`, they are different rows.
fn of_evaluation(one: &Evaluation, usual: Option<u64>) -> Vec<Row> {
    let name = (one.memory_limit_bytes() != usual).then(|| one.way());
    let row = |point: &Point| {
        let row = of_point(point);
        Row { name: name.clone().or(row.name.clone()), ..row }
    };
    one.curves(&Parameter::WITH_DEPTH).flatten().chain(&one.extra).map(row).collect()
}

/// Why two documents of one kind share no row: they were measured in different ways, did other work
/// or, as `reason` says, one has no figure.
pub(super) fn nothing_shared(
    [first, second]: [NamedDocument<'_>; 2],
    [base, other]: [&RowsByName; 2],
    reason: Option<String>,
) -> NotComparable {
    let (base_rows, other_rows) = (base.all(), other.all());
    let (asked, measured) = (ways(base_rows), ways(other_rows));
    let counterpart = |row: &Row| other_work(row, other.called_like(row).next()?);
    // The names of vxbench runs say what they do.
    let names = || {
        let is_run = matches!(first.document.outcome, Some(Outcome::Vxbench(_)));
        let (one, other) = (base_rows.first()?.name.clone()?, other_rows.first()?.name.clone()?);
        is_run.then(|| (format!("{other} against {one}"), None))
    };
    if let Some((how, help)) = base_rows.iter().find_map(counterpart).or_else(names) {
        return differently(first, second, how, help);
    }
    let help = help(first, second, reason);
    let by_processes = [&asked, &measured].map(|ways| ways.replace("threads", "processes"));
    let is_fio = [first, second].iter().any(|one| one.document.command == ["fio"]);
    let bare = if is_fio && by_processes[0] == by_processes[1] { BARE } else { "" };
    let (first, second) = (first.name.to_owned(), second.name.to_owned());
    match asked == measured || asked.is_empty() || measured.is_empty() {
        true => NotComparable::NothingShared(first, second, help),
        false => NotComparable::Ways { first, second, asked, measured, help: bare },
    }
}

/// Why fio's threads may be taken for processes.
const BARE: &str = "; fio's output does not repeat a `thread` without a value: write `thread=1`";

/// What would make two documents share a row, or why one of them has no figures.
fn help(first: NamedDocument<'_>, second: NamedDocument<'_>, reason: Option<String>) -> String {
    let missing =
        [first, second].into_iter().find_map(|one| Some((one.name, missing(one.document)?)));
    match (&first.document.outcome, missing, reason) {
        (Some(Outcome::Os(_)), Some((name, why)), _) => format!("{name} has no {why}"),
        (Some(Outcome::Os(_)), None, _) => "run the same benchmarks on both (--only)".to_owned(),
        (_, _, Some(reason)) => reason,
        (Some(Outcome::Campaign(_)), ..) => {
            "run the same campaign on both, in as many places: columns are called after the type of the file system, with the path where several have the same".to_owned()
        }
        (Some(Outcome::Vxbench(_)), ..) => "give both the same `ioscape vxbench`".to_owned(),
        (Some(Outcome::Validation(_)), ..) => {
            "validate both with the same --seed and --workloads".to_owned()
        }
        _ => "run the same jobs on both, `ioscape run DIR JOBS.toml`".to_owned(),
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

#[cfg(test)]
mod tests {
    use super::super::{NamedDocument, NotComparable, compare_measured};
    use ioscape_schema::{
        Client, Clients, Document, Measurement, Stop, Verdict, VerifyReport, Workers, Workload,
    };

    /// Guards against a defect: rounds that a stall left with fewer than 100 requests dropped out, and
    /// the others showed no difference.
    #[test]
    fn slow_rounds_of_few_requests_do_not_make_a_job_faster() {
        let of = |stalled: u64, ios: u64| {
            let round = |number: u64| {
                let (ios, late) = if number < stalled { (ios, 1160) } else { (150, 16) };
                let ns = 1_000_000 * late + number * 10_000;
                let mut run = Measurement { ios, ..Measurement::default() };
                let times = &mut run.response_time_ns;
                (times.p50, times.p99, times.max) = (13_000_000 + number, ns, ns + 2_000_000);
                run
            };
            let rounds: Vec<Measurement> = (0..7).map(round).collect();
            Document { outcome: Some(rounds.into()), ..Document::default() }
        };
        let told = |stalled: u64, ios: u64| {
            let [a, b] = [of(0, 0), of(stalled, ios)];
            let [a, b] =
                [("a", &a), ("b", &b)].map(|(name, document)| NamedDocument { name, document });
            let row = compare_measured(a, b, None).unwrap().rows.pop().unwrap();
            (row.name.unwrap().rsplit(", ").next().map(str::to_owned), row.verdict, row.rounds)
        };
        let [p99, longest] = ["p99 response time", "longest response time"];
        let row = |name: &str, verdict| (Some(name.to_owned()), verdict, [7, 7]);
        assert_eq!(told(0, 0), row(p99, Verdict::NoDifference));
        assert_eq!(told(5, 101), row(p99, Verdict::Slower));
        assert_eq!(told(5, 60), row(longest, Verdict::Slower));
        assert_eq!(told(7, 60), row(longest, Verdict::Slower));
    }

    /// Guards against a defect: two runs of one request each, about which nothing else is known,
    /// were told apart from a ratio of 4.5 on.
    #[test]
    fn runs_whose_intervals_reach_to_0_are_not_told_apart() {
        let verdict = |relative: f64| {
            let [a, b] = [6.4e6, 6.4e7].map(|rate| {
                let one = Measurement {
                    throughput_bytes_per_s: rate,
                    throughput_ci95: [rate * (1.0 - relative), rate * (1.0 + relative)],
                    ..Measurement::empty(Workload::default(), Stop::TimeCap)
                };
                Document { outcome: Some(vec![one].into()), ..Document::default() }
            });
            let [a, b] =
                [("a", &a), ("b", &b)].map(|(name, document)| NamedDocument { name, document });
            compare_measured(a, b, None).unwrap().rows[0].verdict
        };
        assert_eq!([1.0, 0.03].map(verdict), [Verdict::CannotBeTold, Verdict::Faster]);
    }

    /// Guards against a defect: a log in memory was not told from one on a disk that was 200 times
    /// slower, since a few bursts made the interval of the latter reach 0.
    #[test]
    fn an_upper_end_alone_tells_that_another_run_is_faster() {
        let verdict = |slow: [f64; 2], fast: [f64; 2]| {
            let [a, b] = [(1.5e7, slow), (3e9, fast)].map(|(rate, ends)| {
                let one = Measurement {
                    throughput_bytes_per_s: rate,
                    throughput_ci95: ends.map(|end| rate * end),
                    ..Measurement::empty(Workload::default(), Stop::TimeCap)
                };
                Document { outcome: Some(vec![one].into()), ..Document::default() }
            });
            let [a, b] =
                [("a", &a), ("b", &b)].map(|(name, document)| NamedDocument { name, document });
            compare_measured(a, b, None).unwrap().rows[0].verdict
        };
        let (unsure, wide) = ([0.0, 3.05], [0.5, 1.5]);
        assert_eq!(verdict(unsure, wide), Verdict::Faster);
        assert_eq!(verdict(wide, unsure), Verdict::CannotBeTold, "it may be slow");
        assert_eq!(verdict([0.0, 400.0], wide), Verdict::CannotBeTold, "it may be fast");
    }

    /// Guards against a defect: fio's output does not repeat a bare `thread`, so its threads were
    /// reported as processes without advice on what to do.
    #[test]
    fn threads_of_fio_that_may_be_taken_for_processes_are_said_to_be() {
        let by = |workers, command: &str| {
            let workload = Workload { workers, ..Workload::default() };
            let one = Measurement {
                throughput_bytes_per_s: 5e8,
                ..Measurement::empty(workload, Stop::Confident)
            };
            let command = vec![command.to_owned()];
            Document { command, outcome: Some(vec![one].into()), ..Document::default() }
        };
        let ours = by(Workers::Threads, "ioscape");
        for (command, is_told) in [("fio", true), ("ioscape", false)] {
            let other = by(Workers::Processes, command);
            let [a, b] = [&ours, &other].map(|document| NamedDocument { name: "x", document });
            let refused = compare_measured(a, b, None).unwrap_err().to_string();
            assert_eq!(refused.contains("write `thread=1`"), is_told, "{refused}");
        }
    }

    /// Guards against a defect: four clients were called four times as fast as one, and a run that
    /// verifies half as fast as one that does not.
    #[test]
    fn runs_by_more_clients_or_of_verified_data_are_other_work() {
        let plain = Measurement {
            throughput_bytes_per_s: 5e8,
            ..Measurement::empty(Workload::default(), Stop::Confident)
        };
        let clients = Clients { each: vec![Client::default(); 4], ..Clients::default() };
        let many = Measurement { clients: Some(clients), ..plain.clone() };
        let verified = Measurement { verify: Some(VerifyReport::default()), ..plain.clone() };
        let [plain, many, verified] = [plain, many, verified]
            .map(|one| Document { outcome: Some(vec![one].into()), ..Document::default() });
        let compared = |first, second| {
            let [a, b] = [("a", first), ("b", second)];
            let named = |(name, document)| NamedDocument { name, document };
            compare_measured(named(a), named(b), None)
        };
        for (other, how) in [
            (&many, "4 clients against 1 client; measure both with the same number of clients"),
            (&verified, "data verified against not verified; verify both or neither"),
        ] {
            let refused = compared(&plain, other).unwrap_err();
            assert!(matches!(refused, NotComparable::OtherWork { .. }), "{refused}");
            assert!(refused.to_string().ends_with(how), "{refused}");
            assert!(compared(other, other).is_ok());
        }
    }
}
