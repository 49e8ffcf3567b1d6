//! Several results on one page: their origin, findings side by side, and figures with a line each.

use super::figure::{Figure, chosen, hollow, legend, two_sizes};
use super::sections::{of_parameters, scales, small};
use super::tables::table;
use super::values::Values;
use crate::clients::measured::number;
use crate::figures::focal_point;
use crate::levels::CacheEnd;
use crate::outcome;
use crate::overlay::{EvaluatedSystem, RegionEnd, over_memory, over_parameter, over_sets};
use crate::plot::{Chart, Frame, Scale};
use crate::quantity::Quantity;
use crate::regional;
use crate::text::{bounded, esc, none, percent, ratio, short_time};
use ioscape_schema::units::{Bytes, Rate};
use ioscape_schema::{
    BorderOperation, Bounded, CountDoubt, Document, Evaluation, Parameter, Point, Region,
    RegionFinding,
};

/// A row of a table with a column per result: its name, and the function that returns a result's
/// cell.
type Row<T> = (&'static str, fn(&T) -> Option<String>);

/// The rows that have a value for at least one of `all`.
fn known_rows<T>(rows: &[Row<T>], all: &[&T]) -> Vec<Vec<String>> {
    let row = |(name, cell): &Row<T>| {
        let cells: Vec<Option<String>> = all.iter().map(|one| cell(one)).collect();
        let known = cells.iter().any(Option::is_some);
        let cells = cells.into_iter().map(|cell| cell.unwrap_or_else(none));
        known.then(|| [(*name).to_owned()].into_iter().chain(cells).collect())
    };
    rows.iter().filter_map(row).collect()
}

/// The machine and origin of every result, one column each.
pub fn systems(named: &[(String, &Document)]) -> String {
    let rows: [Row<Document>; 16] = [
        ("Kind", |d| outcome::of(d).map(|one| one.kind().to_owned())),
        ("About", |d| Some(outcome::subject(d))),
        ("Started", |d| Some(short_time(&d.started_at)).filter(|text| !text.is_empty())),
        ("Host", |d| d.host.clone()),
        ("Kernel", |d| d.environment.kernel.clone()),
        ("Mitigations", |d| d.environment.mitigations.clone()),
        ("Processor", |d| d.environment.cpu_model.clone()),
        ("Memory", |d| shown(d.environment.memory_bytes)),
        ("Memory limit", |d| shown(d.environment.memory_limit_bytes)),
        ("File system", |d| d.environment.file_system.clone()),
        ("Mount options", |d| d.environment.mount_options.clone()),
        ("Device", |d| d.environment.device.clone()),
        ("Model", |d| d.environment.device_model.clone()),
        ("Firmware", |d| d.environment.device_firmware.clone()),
        ("Link", |d| d.environment.device_link.clone()),
        ("Written by", |d| Some(format!("ioscape {}", d.tool.version))),
    ];
    let head: Vec<&str> = ["Property"].into_iter().chain(named.iter().map(|(n, _)| &**n)).collect();
    let all: Vec<&Document> = named.iter().map(|(_, document)| *document).collect();
    format!("<h2>Systems</h2>{}", table("words side", &head, known_rows(&rows, &all).into_iter()))
}

fn shown(bytes: Option<u64>) -> Option<String> {
    bytes.map(|bytes| Bytes(bytes as f64).to_string())
}

/// The findings of all evaluations in one table; the sentences are with each result.
pub fn findings(systems: &[EvaluatedSystem]) -> String {
    if systems.is_empty() {
        return String::new();
    }
    let all: Vec<&Evaluation> = systems.iter().map(|system| system.evaluation).collect();
    let of_memory: [Row<EvaluatedSystem>; 4] = [
        ("Cache for reads", |s| cache(s.evaluation, BorderOperation::Read)),
        ("... as a share of memory", |s| share(s, s.evaluation.findings.read_cache_bytes)),
        ("Cache for writes", |s| cache(s.evaluation, BorderOperation::Write)),
        ("... as a share of memory", |s| share(s, s.evaluation.findings.write_cache_bytes)),
    ];
    let rows: [Row<Evaluation>; 9] = [
        ("Clients", |e| number(e).map(|number| number.to_string())),
        ("Write policy", |e| e.findings.write_policy.map(|found| found.word().to_owned())),
        ("Flush slowdown", flush),
        ("Regions", |e| Some(regions(e))),
        ("Speed in the first region", |e| speed(RegionEnd::First.of(e)?)),
        ("Speed in the last region", |e| speed(RegionEnd::Last.of(e)?)),
        ("Sequential over random, last region", |e| gain(e, &e.findings.sequential_gain)),
        ("Several processes over one, last region", |e| gain(e, &e.findings.concurrency_gain)),
        ("Writes over reads, last region", |e| gain(e, &e.findings.write_to_read_ratio)),
    ];
    let head = ["Finding"].into_iter().chain(systems.iter().map(|system| system.name));
    let head: Vec<&str> = head.collect();
    let whole: Vec<&EvaluatedSystem> = systems.iter().collect();
    let mut cells = known_rows(&of_memory, &whole);
    cells.extend(known_rows(&rows, &all));
    format!("<h2>Findings</h2>{}", table("words side", &head, cells.into_iter()))
}

/// Says which evaluation the findings and figures show, for results with several; else empty.
pub fn firsts(systems: &[EvaluatedSystem]) -> String {
    let several = systems.iter().filter(|one| !one.evaluation.other_accesses.is_empty());
    let named: Vec<String> =
        several.map(|one| format!("{} (access {})", esc(one.name), one.evaluation.way())).collect();
    if named.is_empty() {
        return String::new();
    }
    format!(
        r#"<p class="lead">Of a result with several evaluations this table and the figures below show the first: {}. The others stand with the result itself.</p>"#,
        named.join(", ")
    )
}

/// The cost of flushing, if the evaluation has a sentence about it.
///
/// It has none if writes leave nothing to flush: the ratio may then exceed 1 by chance.
fn flush(evaluation: &Evaluation) -> Option<String> {
    let Bounded { value, low, high } = evaluation.findings.flush_slowdown?;
    let sentences = &evaluation.findings.sentences;
    let says = |start: &str| sentences.iter().any(|one| one.starts_with(start));
    if says("In the run that was long enough for a flush, writes in the cache are ") {
        Some(bounded(&ratio(value), &ratio(low), &ratio(high)))
    } else if says("A flush does not slow writes in the cache ") {
        Some("less than 1.5x".to_owned())
    } else {
        says("Whether a flush slows writes ").then(|| "cannot be told".to_owned())
    }
}

/// The number of regions, with its probability if known, or the statement that it cannot be told.
fn regions(evaluation: &Evaluation) -> String {
    let (found, counts) = (evaluation.regions.len(), &evaluation.level_counts);
    let own = counts.iter().find(|count| count.regions as usize == found);
    let shown = match (counts.is_empty(), own.map_or(0.0, |count| count.probability)) {
        (true, _) => found.to_string(),
        (_, 0.99..) => format!("{found} (over 99 %)"),
        (_, ..0.01) => format!("{found} (under 1 %)"),
        (_, probability) => format!("{found} ({})", percent(probability)),
    };
    let why = match evaluation.count_doubt() {
        None => return shown,
        Some(CountDoubt::SlowerBeyond) => ", the largest sets were measured only in the pilot",
        Some(CountDoubt::FewSets) => ", too few sets of reads or writes",
        Some(CountDoubt::Filling(_)) => ", a cache was still filling with the largest sets",
        Some(CountDoubt::WritesAlone(_)) => ", only writes slow down further",
        Some(CountDoubt::Improbable) => "",
    };
    format!("cannot be told{why}; shown: {shown}")
}

fn share(system: &EvaluatedSystem, cache: Option<Bounded>) -> Option<String> {
    let found = system.share_of_memory(cache.as_ref())?;
    Some(bounded(&percent(found.value), &percent(found.low), &percent(found.high)))
}

/// The cache as a share of memory; only if it is known for more than one system.
pub fn memory(systems: &[EvaluatedSystem]) -> String {
    let Some(chart) = over_memory(systems).filter(|chart| chart.series.len() > 1) else {
        return String::new();
    };
    let figure = Figure {
        id: "memory",
        title: "File cache for reads as a share of memory",
        caption: "100 %: all memory serves as a cache. Error bars are the bounds of the cache's border.",
        scales: &[Scale::Linear],
    };
    let values = Values::of(&[&chart]);
    let drawn = figure.html(|_| two_sizes(&chart, MEMORY), &legend(&chart.series, ""), &values);
    format!("<h2>Share of memory</h2>{drawn}")
}

const MEMORY: Frame = Frame { width: 1080.0, height: 300.0 };

/// Where a cache ends, as far as known; `None` if no set was measured for it.
fn cache(evaluation: &Evaluation, operation: BorderOperation) -> Option<String> {
    match CacheEnd::of(evaluation, operation) {
        CacheEnd::Unmeasured(_) | CacheEnd::Untested => None,
        found => {
            let (said, beneath) = found.words();
            Some(if beneath.is_empty() { said } else { format!("{said} ({beneath})") })
        }
    }
}

fn speed(region: &Region) -> Option<String> {
    focal_point(region).map(|point| Rate(point.throughput()).to_string())
}

fn gain(evaluation: &Evaluation, found: &[RegionFinding]) -> Option<String> {
    let last = &evaluation.regions.last()?.name;
    let one = found.iter().find(|one| one.region == *last)?;
    Some(regional::times(one))
}

/// A curve of an evaluation against the size of the set: identifier, heading, and how to get it.
type SetCurve = (&'static str, &'static str, fn(&Evaluation) -> &Vec<Point>);

/// Figures against the size of the set, one per mix.
pub fn landscapes(systems: &[EvaluatedSystem]) -> String {
    let curves: [SetCurve; 3] = [
        ("mixed", "Reads and writes mixed", |e| &e.unique_bytes_curve),
        ("reads", "Pure reads", |e| &e.unique_bytes_read_curve),
        ("writes", "Pure writes", |e| &e.unique_bytes_write_curve),
    ];
    let mut out = String::new();
    for (id, title, curve) in curves {
        let figure = Figure {
            id: &format!("sets-{id}"),
            title: &format!("{title}: {} against the size of the set", chosen()),
            caption: "Each system at its own focal vector.",
            scales: &[Scale::Log10, Scale::Linear],
        };
        let chart = |quantity| over_sets(quantity, title, systems, curve);
        out += &figure.of_curve(chart, Frame::WIDE);
    }
    if out.is_empty() { out } else { format!("<h2>Landscapes</h2>{out}") }
}

/// Figures against the other parameters, in the first and in the last region.
pub fn parameters(systems: &[EvaluatedSystem]) -> String {
    let ends = [
        ("first", RegionEnd::First, "in the first region, the fastest level"),
        ("last", RegionEnd::Last, "in the last region, the slowest level"),
    ];
    let mut out = String::new();
    for (id, end, title) in ends {
        let each = || Parameter::WITH_DEPTH.into_iter().filter(|p| *p != Parameter::UniqueBytes);
        let charts = |quantity| -> Vec<(Parameter, Chart)> {
            each().filter_map(|p| Some((p, over_parameter(quantity, p, end, systems)?))).collect()
        };
        let of_throughput = charts(Quantity::Throughput);
        if of_throughput.is_empty() {
            continue;
        }
        let figure = Figure {
            id: &format!("region-{id}"),
            title: &format!("{}: {title}", chosen()),
            caption: "One parameter is varied, the others stay at each system's focal vector. The charts share their vertical axis.",
            scales: scales(&of_throughput),
        };
        out += &figure.by_quantity(
            |quantity, scale| small(&charts(quantity), scale, "four", Frame::SMALL),
            |quantity| {
                let charts = charts(quantity).into_iter().map(|(_, chart)| chart);
                below(&charts.collect::<Vec<_>>())
            },
            |quantity| of_parameters(&charts(quantity)),
        );
    }
    if out.is_empty() { out } else { format!("<h2>Parameters</h2>{out}") }
}

/// The legend of charts with the same lines.
fn below(charts: &[Chart]) -> String {
    let Some(first) = charts.first() else { return String::new() };
    legend(&first.series, hollow(&charts.iter().collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn what_flushing_costs_is_told_as_in_its_sentence() {
        let told = |sentences: &[&str]| {
            let mut evaluation = sample::evaluation();
            let found = &mut evaluation.findings;
            found.flush_slowdown = Some(Bounded { value: 1.62, low: 1.57, high: 1.67 });
            found.sentences = sentences.iter().map(|one| (*one).to_owned()).collect();
            flush(&evaluation)
        };
        let slower = "In the run that was long enough for a flush, writes in the cache are 1.62";
        assert_eq!(told(&[slower]).as_deref(), Some("1.62x (1.57x to 1.67x)"));
        let single = "In the run that was long enough for a flush, it does not stall writes";
        assert_eq!(told(&[single]), None, "no ratio is told");
        let level = "A flush does not slow writes in the cache by a factor of 1.5 or more";
        assert_eq!(told(&[level]).as_deref(), Some("less than 1.5x"));
        let open = "Whether a flush slows writes in the cache cannot be told from this run";
        assert_eq!(told(&[open]).as_deref(), Some("cannot be told"));
        assert_eq!(told(&["Writes are written through."]), None, "nothing is left to flush");
    }

    #[test]
    fn a_number_of_regions_has_its_probability() {
        let told = |counts: &[(u32, f64)]| {
            let count = |&(regions, probability)| sample::level_count(regions, probability);
            let level_counts = counts.iter().map(count).collect();
            regions(&Evaluation { level_counts, ..sample::evaluation() })
        };
        let found = sample::evaluation().regions.len() as u32;
        assert_eq!(told(&[]), found.to_string());
        assert_eq!(
            told(&[(found, 0.84), (found + 1, 0.16)]),
            format!("cannot be told; shown: {found} (84 %)")
        );
        assert_eq!(told(&[(found, 0.999)]), format!("{found} (over 99 %)"));
        assert_eq!(
            told(&[(found + 1, 1.0)]),
            format!("cannot be told; shown: {found} (under 1 %)")
        );
        let counted = sample::level_count(found, 1.0);
        let mut sparse = Evaluation { level_counts: vec![counted], ..sample::evaluation() };
        sparse.unique_bytes_read_curve.truncate(3);
        assert!(regions(&sparse).starts_with("cannot be told, too few sets of reads or writes"));
        let mut cold = sample::evaluation();
        cold.level_counts = vec![sample::level_count(found, 1.0)];
        for point in &mut cold.unique_bytes_read_curve {
            point.measurement.not_read_in = point.value > 125.0 * 1_048_576.0;
        }
        let told = "cannot be told, a cache was still filling with the largest sets; shown: ";
        assert!(regions(&cold).starts_with(told), "{}", regions(&cold));
    }
}
