//! Rows of `vxbench` runs and campaigns, and whether two of them are the same work: only then can
//! their rates be compared.

use super::figures::{BETWEEN_RUNS, Figure, UNKNOWN_BETWEEN};
use super::row::{Row, RowsByName, RunWork, Work};
use crate::comparison::differences::ways_apart;
use crate::quantity::BIN;
use ioscape_schema::statistics;
use ioscape_schema::units::{Bytes, counted};
use ioscape_schema::{
    CampaignCell, CampaignColumn, CampaignResult, CampaignRow, CampaignSample, CellPlan, Document,
    Metric, Outcome, Parameter, ResponseTime, VxJob, VxRun, Warning, WarningKind, Workload,
};
use std::collections::HashMap;

/// An option of a job that is off by default, with its word.
type Switch = (&'static str, fn(&VxJob) -> bool);

/// The switches that are part of a row's name.
const SWITCHES: [Switch; 15] = [
    ("direct", |job| job.direct),
    ("dsync", |job| job.dsync),
    ("sync", |job| job.sync),
    ("noreuse", |job| job.noreuse),
    ("atomic", |job| job.atomic),
    ("random", |job| job.random),
    ("seq", |job| job.seq),
    ("fsync", |job| job.fsync),
    ("append", |job| job.append),
    ("trunc", |job| job.trunc),
    ("reserved only", |job| job.reserve_only),
    ("cold", |job| job.cold),
    ("locked buffers", |job| job.lock_buffers),
    ("huge buffers", |job| job.huge_buffers),
    ("verified", |job| job.verify),
];

/// What the rows of a cell's times are called.
const TAILS: [&str; 2] = ["p99", "longest"];

fn of_samples(value: f64, samples: Vec<f64>) -> Figure {
    let between = BETWEEN_RUNS;
    Figure { value, samples, within: [0.0; 2], between, least_error: 0.0, is_exact: false }
}

/// The median of the percentiles of several runs. How the percentiles of single runs scatter is
/// unknown, but it is far more than throughput.
pub(super) fn of_percentiles(all: Vec<f64>) -> Figure {
    let usual = of_samples(statistics::median(&all), all);
    Figure { between: UNKNOWN_BETWEEN, least_error: BIN, ..usual }
}

/// The options of a job beyond its size and its streams, each after a comma.
fn options(job: &VxJob) -> String {
    let switches = SWITCHES.iter().filter(|(_, is_on)| is_on(job));
    let numbers = [
        ("iocount", job.iocount),
        ("queue depth", job.queue_depth.map(u64::from)),
        ("repeated", (job.nrep > 1).then_some(u64::from(job.nrep))),
        ("direct above", job.direct_above),
        ("extents of", job.extsize),
        ("reserved", job.reservation),
    ];
    let numbers = numbers.into_iter().filter_map(|(word, number)| Some((word, number?)));
    let words: Vec<String> = switches
        .map(|(word, _)| format!(", {word}"))
        .chain(numbers.map(|(word, number)| format!(", {word} {number}")))
        .collect();
    words.concat()
}

/// The row of a run.
pub(super) fn of_vxbench(run: &VxRun) -> Row {
    let (job, rate) = (&run.job, run.total.throughput_bytes_per_s);
    let clients = run.clients.as_ref().map(|all| format!(", {} clients", all.each.len()));
    let name = format!(
        "{} of {}, {}, {} each{}{}",
        job.workload,
        Bytes(job.iosize as f64),
        counted(run.files.len() as u64, "file"),
        counted(job.nthreads.into(), "stream"),
        options(job),
        clients.unwrap_or_default()
    );
    // A file that grows with every run is not other work, nor is one larger than the run's requests
    // reach.
    let is_bound =
        job.iocount.is_some() && (!job.workload.is_random() || job.max_file_size.is_some());
    let matters = !job.append && !is_bound;
    let sizes = run.files.iter().map(|file| file.size_bytes.filter(|_| matters)).collect();
    // How much slower it ran for that is unknown.
    let is_slowed =
        |doubt: &Warning| matches!(doubt.kind, WarningKind::LoadByOthers | WarningKind::Stopped);
    let between = if run.warnings.iter().any(is_slowed) { UNKNOWN_BETWEEN } else { BETWEEN_RUNS };
    Row {
        name: Some(name),
        workload: None,
        work: Some(Work::Vxbench(Box::new(job.clone()), sizes)),
        metric: Metric::Throughput,
        figure: Figure { between, ..of_samples(rate, vec![rate]) },
    }
}

/// The rows of a campaign: the rate of every cell, and how long its requests and its `fsync` took.
/// `both` are the cells of the two results that are compared.
pub(super) fn of_campaign(campaign: &CampaignResult, both: &[Cells<'_>; 2]) -> Vec<Row> {
    let of_row = |row: &CampaignRow| {
        let cells = campaign.columns.iter().zip(&row.cells);
        let rows =
            cells.flat_map(|(column, cell)| of_cell(&cell_name(campaign, row, column), cell, both));
        rows.collect::<Vec<Row>>()
    };
    campaign.rows.iter().flat_map(of_row).collect()
}

fn cell_name(campaign: &CampaignResult, row: &CampaignRow, column: &CampaignColumn) -> String {
    let clients = campaign.clients.map(|count| format!(" by {count} clients")).unwrap_or_default();
    let settings: Vec<String> =
        row.settings.iter().map(|s| format!("{} {}", s.name, s.text)).collect();
    format!("{}{clients}: {}", column.name(), settings.join(", "))
}

fn of_cell(name: &str, cell: &CampaignCell, both: &[Cells<'_>; 2]) -> Vec<Row> {
    let samples: Vec<f64> = cell.samples.iter().map(CampaignSample::rate).collect();
    let row = |name: String, metric, figure| Row {
        name: Some(name),
        workload: None,
        work: Some(Work::Campaign(cell.plan.clone().map(Box::new))),
        metric,
        figure,
    };
    let (metric, value) = match cell.operations_per_s {
        Some(rate) => (Metric::Rate, rate),
        None => (Metric::Throughput, cell.throughput_bytes_per_s),
    };
    let late = |what: &str, of: fn(&CampaignSample) -> Option<ResponseTime>| {
        let alike = both.iter().filter_map(|cells| cells.get(name));
        let (tail, ns) = tail(alike.flat_map(|cell| &cell.samples).filter_map(of));
        let all = cell.samples.iter().filter_map(of).map(|times| ns(&times) as f64).collect();
        row(format!("{name}, {tail} {what}"), Metric::Time, of_percentiles(all))
    };
    vec![
        row(name.to_owned(), metric, of_samples(value, samples)),
        late("response time", |sample| sample.response_time_ns),
        late("fsync", |sample| sample.fsync_ns),
    ]
}

/// What a cell's times are called, and which they are: the 99th percentiles, or the longest times
/// where none of its `runs` in either result tells another percentile. All runs do as much, so one
/// that does has enough requests for all: in the others the longest time is just within the
/// histogram's bin of the percentile.
fn tail(mut runs: impl Iterator<Item = ResponseTime>) -> (&'static str, fn(&ResponseTime) -> u64) {
    match runs.any(|times| times.p99_below_longest().is_some()) {
        true => (TAILS[0], |times| times.p99),
        false => (TAILS[1], |times| times.max),
    }
}

/// How the work of two campaigns differs as a whole, if their cells do not say what they did.
pub(super) fn other_campaign(first: &Document, second: &Document) -> Option<String> {
    let (Some(Outcome::Campaign(one)), Some(Outcome::Campaign(other))) =
        (&first.outcome, &second.outcome)
    else {
        return None;
    };
    let tells = |campaign: &CampaignResult| {
        campaign.rows.iter().flat_map(|row| &row.cells).all(|cell| cell.plan.is_some())
    };
    if tells(one) && tells(other) {
        return None;
    }
    let quoted = |campaign: &CampaignResult| format!("{:?}", campaign.title);
    let hash = |document: &Document| document.environment.identity.get("campaign file").cloned();
    let files = hash(first).zip(hash(second)).filter(|(one, other)| one != other);
    let limits = [limit(first), limit(second)];
    if one.title != other.title {
        Some(format!("campaign {} against {}", quoted(other), quoted(one)))
    } else if files.is_some() {
        Some("their campaign files are not the same text".to_owned())
    } else if limits[0] != limits[1] {
        let [one, other] = limits.map(|limit| limit.map_or("no limit".to_owned(), |text| text));
        Some(format!("largest file {other} against {one}"))
    } else {
        None
    }
}

/// The size to which the files of a campaign were limited, if some would have been larger.
fn limit(document: &Document) -> Option<String> {
    let limited = document.warnings.iter().find(|one| one.kind == WarningKind::SetLimited)?;
    let bytes = document.environment.identity.get("largest file").and_then(|n| n.parse().ok());
    let told = || limited.message.rsplit("limited to ").next().unwrap_or_default().to_owned();
    Some(bytes.map_or_else(told, |bytes: f64| Bytes(bytes).to_string()))
}

/// How two rows of the same name differ in their work, the second's against the first's, and what
/// would make it the same, if known; `None` if they are the same work.
pub(super) fn other_work(first: &Row, second: &Row) -> Option<(String, Option<&'static str>)> {
    match (&first.work, &second.work) {
        (Some(Work::Campaign(Some(one))), Some(Work::Campaign(Some(other)))) if one != other => {
            Some((other_plan(one, other), None))
        }
        (Some(Work::Vxbench(one, sizes)), Some(Work::Vxbench(job, others))) => {
            let total = |sizes: &[Option<u64>]| sizes.iter().flatten().sum::<u64>() as f64;
            let [ours, theirs] = [total(sizes), total(others)].map(|all| Bytes(all).to_string());
            let how = match one == job {
                false => Some(other_job(one, job)),
                true => (sizes != others).then(|| format!("files of {theirs} against {ours}")),
            };
            Some((how?, None))
        }
        (Some(Work::Run(one)), Some(Work::Run(other))) => {
            other_run(*one, *other).map(|(how, help)| (how, Some(help)))
        }
        _ => None,
    }
}

fn other_run(one: RunWork, other: RunWork) -> Option<(String, &'static str)> {
    let cache = |run: RunWork| if run.emptied { "emptied at every pass" } else { "kept" };
    let data = |run: RunWork| if run.verified { "verified" } else { "not verified" };
    let clients = |run: RunWork| counted(run.clients, "client");
    if one.emptied != other.emptied {
        let help = "give fio --invalidate=0, which keeps the file cache, or both direct I/O";
        Some((format!("file cache {} against {}", cache(other), cache(one)), help))
    } else if one.verified != other.verified {
        let how = format!("data {} against {}", data(other), data(one));
        Some((how, "verify both or neither"))
    } else if one.clients != other.clients {
        let how = format!("{} against {}", clients(other), clients(one));
        Some((how, "measure both with the same number of clients"))
    } else {
        None
    }
}

/// How `row` differs from the only row of its name `there`, if that row has no counterpart `here`
/// either.
pub(super) fn other_workload(row: &Row, here: &RowsByName, there: &RowsByName) -> Option<String> {
    let mut called = there.called_like(row);
    let one = called.next().filter(|one| here.like(one).is_none())?;
    let (ours, theirs) = (row.workload.as_ref()?, one.workload.as_ref()?);
    (called.next().is_none() && ours != theirs).then(|| apart(theirs, ours))
}

/// How two workloads differ, the second against the first.
fn apart(first: &Workload, second: &Workload) -> String {
    let ways = ways_apart(first, second);
    let parameters = Parameter::ALL.into_iter().filter_map(|parameter| {
        let [ours, theirs] = [first, second].map(|one| one.get(parameter).to_string());
        (ours != theirs).then(|| format!("{parameter} {theirs} against {ours}"))
    });
    let found: Vec<String> = if ways.is_empty() { parameters.collect() } else { ways };
    if found.is_empty() { "their options differ".to_owned() } else { found.join(", ") }
}

fn other_plan(one: &CellPlan, other: &CellPlan) -> String {
    let size = |plan: &CellPlan| Bytes(plan.file_bytes as f64).to_string();
    let count = |plan: &CellPlan| format!("{} of {}", plan.files, plan.files_written);
    let pairs = [("files of", size(other), size(one)), ("files", count(other), count(one))];
    match pairs.into_iter().find(|(_, theirs, ours)| theirs != ours) {
        _ if one.job.workload != other.job.workload => other_job(&one.job, &other.job),
        Some((what, theirs, ours)) => format!("{what} {theirs} against {ours}"),
        None if one.job != other.job => other_job(&one.job, &other.job),
        None => "the files are prepared otherwise".to_owned(),
    }
}

fn other_job(one: &VxJob, other: &VxJob) -> String {
    let said = |job: &VxJob| format!("{}{}", job.workload, options(job));
    let (ours, theirs) = (said(one), said(other));
    if ours != theirs {
        format!("{theirs} against {ours}")
    } else if one.iosize != other.iosize {
        let [ours, theirs] = [one, other].map(|job| Bytes(job.iosize as f64));
        format!("requests of {theirs} against {ours}")
    } else {
        "their options differ".to_owned()
    }
}

/// The cells of a campaign by name.
pub(super) type Cells<'a> = HashMap<String, &'a CampaignCell>;

/// The cells of a campaign; none for any other outcome.
pub(super) fn cells(document: &Document) -> Cells<'_> {
    let mut cells = Cells::new();
    let Some(Outcome::Campaign(campaign)) = &document.outcome else { return cells };
    for row in &campaign.rows {
        for (column, cell) in campaign.columns.iter().zip(&row.cells) {
            cells.entry(cell_name(campaign, row, column)).or_insert(cell);
        }
    }
    cells
}

/// The cell that a row of this name belongs to: the row of its rate is called as it is, those of
/// its times as [`of_cell`] says.
fn cell_of<'a>(cells: &Cells<'a>, name: &str) -> Option<&'a CampaignCell> {
    let is_time = |rest: &str| TAILS.iter().any(|tail| rest.starts_with(&format!("{tail} ")));
    let of_times = || name.rsplit_once(", ").filter(|(_, rest)| is_time(rest));
    let cell = cells.get(name).or_else(|| cells.get(of_times()?.0));
    cell.copied()
}

/// How the work of a row differs from that of the cell of its name in a campaign, whether or not
/// that cell has a figure.
pub(super) fn other_cell(cells: &Cells<'_>, row: &Row) -> Option<String> {
    let there = cell_of(cells, row.name.as_deref()?)?.plan.as_ref()?;
    match &row.work {
        Some(Work::Campaign(Some(here))) if **here != *there => Some(other_plan(there, here)),
        _ => None,
    }
}

/// Why a campaign has no figure in a row of this name, if it says so.
pub(super) fn impossible(cells: &Cells<'_>, name: &str) -> Option<String> {
    cell_of(cells, name)?.impossible.clone()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{campaign, compared};
    use super::*;
    use ioscape_schema::{CampaignSetting, Verdict, VxFigures, Vxbench};

    /// Once, a run beside two busy loops was "0.052x, slower" beyond chance.
    #[test]
    fn a_run_that_others_slowed_is_not_judged() {
        let of = |rate, slowed_by: Option<WarningKind>| {
            let total = VxFigures { throughput_bytes_per_s: rate, ..VxFigures::default() };
            let warnings: Vec<_> =
                slowed_by.map(|kind| Warning::new(kind, "")).into_iter().collect();
            let runs = vec![VxRun { total, warnings, ..VxRun::default() }];
            let outcome = Some(Outcome::Vxbench(Vxbench { runs, ..Vxbench::default() }));
            Document { outcome, ..Document::default() }
        };
        let verdict = |slowed_by| {
            let both = [of(1e9, None), of(5e7, slowed_by)];
            compared(&both[0], &both[1], Some("throughput < 0.95")).unwrap().rows[0].verdict
        };
        assert_ne!(verdict(None), Verdict::CannotBeTold);
        for kind in [WarningKind::LoadByOthers, WarningKind::Stopped] {
            assert_eq!(verdict(Some(kind)), Verdict::CannotBeTold);
        }
    }

    /// Guards against a defect: for each row without a counterpart the names of all cells were made
    /// again, in a minute for 4000 cells.
    #[test]
    fn every_row_of_a_campaign_finds_its_cell_by_name() {
        let mut document = campaign(1.0, [0.99, 1.0, 1.01]);
        let Some(Outcome::Campaign(campaign)) = &mut document.outcome else { panic!("a campaign") };
        let threads = CampaignSetting { name: "threads".into(), text: "2".into(), value: 2.0 };
        for (row, why) in campaign.rows.iter_mut().zip(["a", "b", "c", "d"]) {
            row.settings.push(threads.clone());
            row.cells[0].impossible = Some(why.to_owned());
        }
        let rows = of_campaign(campaign, &Default::default());
        let names: Vec<_> = rows.into_iter().filter_map(|row| row.name).collect();
        let cells = cells(&document);
        let told = names.iter().filter_map(|name| impossible(&cells, name)).collect::<String>();
        assert_eq!(told, "aaabbbcccddd");
        assert_eq!(impossible(&cells, "xfs direct: iosize 8k, threads 2, mean"), None);
        assert!(super::cells(&Document::default()).is_empty());
    }

    /// Guards against a defect: times ten times as long had no counterpart, since among few requests
    /// held at a rate the second longest time lay within the histogram's bin of the longest.
    #[test]
    fn times_are_compared_where_a_single_run_of_either_result_tells_a_percentile() {
        let of = |ns: u64, longest: [u64; 3]| {
            let mut document = campaign(1.0, [0.99, 1.0, 1.01]);
            let Some(Outcome::Campaign(campaign)) = &mut document.outcome else {
                panic!("a campaign")
            };
            for (sample, max) in campaign.rows[0].cells[0].samples.iter_mut().zip(longest) {
                let times = ResponseTime { p99: ns, max, ..ResponseTime::default() };
                sample.response_time_ns = Some(times);
            }
            document
        };
        let (some, none) = (of(100, [100, 100, 105]), of(1000, [1000; 3]));
        let row = |a: &Document, b: &Document| {
            let found = compared(a, b, Some("time > 1.05")).unwrap();
            let row = found.rows.into_iter().find(|row| row.metric == Metric::Time).unwrap();
            (row.name.unwrap(), (row.ratio * 10.0).round(), found.only_in)
        };
        let [p99, longest] =
            ["p99", "longest"].map(|tail| format!("xfs direct: iosize 8k, {tail} response time"));
        assert_eq!(row(&some, &none), (p99.clone(), 100.0, [0, 0]));
        assert_eq!(row(&none, &some), (p99, 1.0, [0, 0]));
        assert_eq!(row(&none, &none).0, longest);
    }
}
