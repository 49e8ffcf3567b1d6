//! The sections of a trace's page.

use super::compare::left_out;
use super::few::{share, share_of};
use super::headlines::headlines;
use super::reference::{self, Printed};
use super::tables::{self, Rows};
use super::{charts, maps, over_time, traits};
use crate::application::commands_of;
use crate::html::figure::{Figure, legend, two_sizes};
use crate::html::section::Section;
use crate::html::tables::table;
use crate::html::values::Values;
use crate::plot::{Chart, Frame, Scale};
use crate::text::{esc, inert, percent};
use ioscape_schema::trace_summary::{MissRatioCurve, Times};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Distribution, TraceCharacterization, TraceSummary};
use std::fmt::Write as _;

const LOW: Frame = Frame { width: 1080.0, height: 320.0 };

pub(super) fn rows(all: Rows) -> String {
    if all.rows.is_empty() {
        return String::new();
    }
    let more = match all.left_out {
        0 => String::new(),
        left_out => format!("<p>and {left_out} more in the result file</p>"),
    };
    table("", &all.head, all.rows.into_iter()) + &more
}

/// A collapsed table, as the paper prints it.
fn printed(name: &str, of: &Printed) -> String {
    let inside = table("", of.head(), of.rows());
    format!("<details><summary>{name}<small>as printed</small></summary>{inside}</details>")
}

/// A figure of one chart, with the remark on values that are 0; empty if it has no points.
pub(super) fn figure(id: &str, title: &str, caption: &str, chart: &Chart) -> String {
    if !chart.has_points() {
        return String::new();
    }
    let zeros = charts::zeros(&charts::begun_at_zeros(id, chart));
    let caption = &format!("{caption}{}", esc(&zeros));
    let figure = Figure { id, title, caption, scales: &[Scale::Linear] };
    let named = if chart.series.len() > 1 { legend(&chart.series, "") } else { String::new() };
    figure.html(|_| two_sizes(chart, LOW), &named, &Values::of(&[chart]))
}

/// A figure whose picture is already drawn, with its values.
fn picture(id: &str, title: &str, caption: &str, (svg, values): (String, Values)) -> String {
    let figure = Figure { id, title, caption, scales: &[Scale::Linear] };
    figure.html(|_| svg.clone(), "", &values)
}

/// The sections of the page.
pub fn sections(trace: &TraceSummary) -> Vec<Section> {
    vec![
        Section::new("summary", "Summary", summary(trace)),
        Section::new("paper", "The paper's systems", paper(trace)),
        Section::new("load", "Load", load(trace)),
        Section::new("times", "Response times", times(trace)),
        Section::new("queues", "Queues", queues(trace)),
        Section::new("arrivals", "Arrivals", arrivals(trace)),
        Section::new("types", "Types and sizes", types(trace)),
        Section::new("placement", "Placement", placement(trace)),
        Section::new("writes", "Writes", writes(trace)),
        Section::new("set", "Working set", set(trace)),
        Section::new("processes", "Processes", processes(trace)),
    ]
}

fn summary(trace: &TraceSummary) -> String {
    let mut out = "<h2>Summary</h2>".to_owned();
    for doubt in trace.warnings.iter().filter(|doubt| tables::is_first(doubt.kind)) {
        let _ = write!(out, r#"<p class="lead">{}</p>"#, esc(&inert(&doubt.message)));
    }
    out.push_str(r#"<dl class="numbers">"#);
    for (what, value, more) in headlines(trace) {
        let _ = write!(
            out,
            r#"<div class="number"><dt>{what}</dt><dd class="big">{}</dd><dd class="low">{}</dd></div>"#,
            esc(&value),
            esc(&more)
        );
    }
    out.push_str("</dl>");
    let notes = trace.info.notes.iter().map(|(name, value)| vec![name.clone(), value.clone()]);
    let format = [vec!["format".to_owned(), trace.info.format.clone()]];
    out + &table("words", &["What the trace says of itself", ""], format.into_iter().chain(notes))
}

fn paper(trace: &TraceSummary) -> String {
    let Rows { head, rows, .. } = tables::paper(trace);
    if rows.is_empty() {
        return String::new();
    }
    format!(
        r#"<h2>Compared with the systems of 1992</h2><p class="lead">What Ruemmler and Wilkes print of their three systems: cello (timesharing), snake (server of
        diskless clients) and hplajw (workstation). Their tables cover 63 days. {}</p>{}"#,
        left_out(trace).unwrap_or_default(),
        table("prose", &head, rows.into_iter())
    )
}

fn load(trace: &TraceSummary) -> String {
    let mut out = "<h2>Load</h2>".to_owned();
    out += &rows(tables::partitions(trace));
    let chart = over_time::rates(trace);
    out += &figure("rates", "Requests over time", "Figure 4 of the paper.", &chart);
    let caption = "Figure 8 of the paper. Steps without requests are left out.";
    if tables::tells_operations(trace) {
        let chart = over_time::read_fraction(trace);
        out += &figure("read-fraction", "Reads over time", caption, &chart);
    }
    if trace.disks.len() > 1 {
        out += &rows(tables::disks(trace));
    }
    out + &rows(tables::days(trace))
}

fn times(trace: &TraceSummary) -> String {
    if trace.response_times.is_empty() {
        return "<h2>Response times</h2><p>The trace does not tell when requests completed.</p>"
            .to_owned();
    }
    let mut out = "<h2>Response times</h2>".to_owned();
    out += &rows(tables::times(trace));
    let Times { physical_ns, elapsed_ns } = &trace.response_times.all;
    let (title, caption) = match [physical_ns, elapsed_ns].map(Distribution::is_empty) {
        [true, _] => (
            "Elapsed times",
            "Figure 1 of the paper. From arrival to completion, the queue included.",
        ),
        [_, true] => (
            "Physical times",
            "Figure 1 of the paper. From issue to completion, without the queue.",
        ),
        _ => (
            "Physical and elapsed times",
            "Figure 1 of the paper. Physical: from issue to completion. Elapsed: from arrival, the queue included.",
        ),
    };
    out += &figure("times", title, caption, &charts::response_times(trace));
    let caption = "Elapsed times of the requests that arrived in each step.";
    out += &figure("tails", "Tail latencies over time", caption, &over_time::tails(trace));
    if let Some(map) = &trace.latency_map {
        let caption =
            "The stronger the colour, the more requests, by the logarithm of their number.";
        out += &picture("latency-map", "Elapsed times over time", caption, maps::latency(map));
    }
    out
}

fn queues(trace: &TraceSummary) -> String {
    let table = rows(tables::queues(trace));
    if table.is_empty() {
        return String::new();
    }
    let mut out = format!("<h2>Queues</h2>{table}");
    out += &printed("Table 5 of the paper: queue lengths", &reference::table_5());
    let agreement = trace.disks.iter().filter_map(|disk| disk.queue_agreement);
    let [recorded, equal] =
        agreement.fold([0u64; 2], |sum, one| [sum[0] + one.recorded, sum[1] + one.equal]);
    let recorded = if recorded == 0 {
        String::new()
    } else {
        format!(" The recorded lengths agree in {equal} of {recorded} requests.")
    };
    let caption =
        format!("Figure 2 of the paper, recomputed from the times of the requests.{recorded}");
    out += &figure("queues", "Queue lengths", &caption, &charts::queue_lengths(trace));
    let daily = charts::daily_queues(trace);
    out += &figure("daily-queues", "Mean queue length by day", "Figure 3 of the paper.", &daily);
    let caption = "From the completion of the last request in the queue to the next arrival. Disks whose periods are all 0 have no line.";
    out + &figure("idle", "Idle periods", caption, &charts::idle_times(trace))
}

fn arrivals(trace: &TraceSummary) -> String {
    let mut out = String::new();
    let caption = "Figure 6 of the paper: over all disks.";
    if !trace.inter_arrival_ns.is_empty() {
        let chart = charts::inter_arrival(trace);
        out += &figure("inter-arrival", "Time between arrivals", caption, &chart);
    }
    let burst = &trace.burstiness;
    let hurst = burst.hurst.map_or_else(String::new, |h| format!(" Hurst exponent {h:.2}."));
    let scv = burst.inter_arrival_scv.map_or_else(String::new, |scv| {
        format!(" Squared coefficient of variation of the times between arrivals: {scv:.1}.")
    });
    let caption = format!(
        "1 is a Poisson process; a line that rises means bursts within bursts.{hurst}{scv}"
    );
    out += &figure("dispersion", "Burstiness by time scale", &caption, &charts::dispersion(trace));
    if out.is_empty() { out } else { format!("<h2>Arrivals</h2>{out}") }
}

fn types(trace: &TraceSummary) -> String {
    let mut out = "<h2>Types and sizes</h2>".to_owned();
    let table = rows(tables::types(trace));
    if !table.is_empty() {
        out += &table;
        out += &printed("Table 6 of the paper: I/Os by type", &reference::table_6());
    }
    let caption = "Figure 11 of the paper: the types with most requests, of those that move data.";
    out += &figure("sizes", "Transfer sizes", caption, &charts::sizes(trace));
    let aligned = rows(tables::alignment(trace));
    if aligned.is_empty() { out } else { out + "<h3>Begin and end at multiples of</h3>" + &aligned }
}

fn placement(trace: &TraceSummary) -> String {
    let table = rows(tables::placement(trace));
    if table.is_empty() && trace.address_maps.is_empty() {
        return String::new();
    }
    let mut out = "<h2>Placement</h2>".to_owned();
    out += &table;
    let name = "Table 7 of the paper: logically sequential, of all I/Os";
    if !table.is_empty() {
        out += &printed(name, &reference::table_7());
    }
    let peaks = trace.distances.peaks.iter().filter(|peak| peak.1 > 1).take(4);
    let peaks =
        peaks.map(|peak| format!("{} KiB ({})", peak.0, share(peak.1, trace.distances.count)));
    let peaks: Vec<String> = peaks.collect();
    let frequent = match peaks.is_empty() {
        true => String::new(),
        false => format!(" Most frequent: {}.", peaks.join(", ")),
    };
    let caption = format!(
        "Figure 9 of the paper: from the end of one request to the beginning of the next on its disk.{frequent}"
    );
    out += &figure("distances", "Distances between requests", &caption, &charts::distances(trace));
    for (index, map) in trace.address_maps.iter().enumerate() {
        let disk = trace.disks.iter().find(|disk| disk.device == map.device);
        let name = disk.map_or_else(String::new, |disk| inert(&disk.name).into_owned());
        let title = format!("Addresses over time: {}", esc(&name));
        let caption = "Green: mostly reads; orange: mostly writes; the stronger, the more.";
        out += &picture(
            &format!("addresses-{index}"),
            &title,
            caption,
            maps::addresses(map, &name, index),
        );
    }
    out
}

fn writes(trace: &TraceSummary) -> String {
    let table = rows(tables::writes(trace));
    if table.is_empty() && trace.overwrites.is_empty() {
        return String::new();
    }
    let mut out = format!("<h2>Writes</h2>{table}");
    let caption = "Figure 10 of the paper, on the disk with most writes.";
    out += &figure("groups", "Write groups and bursts", caption, &charts::groups(trace));
    let chart = charts::overwrites(trace);
    out += &figure("overwrites", "Overwrite delays", &rewritten(trace), &chart);
    let caption = match trace.popularity.blocks_written {
        1 => "Figure 13 of the paper: one block is written.".to_owned(),
        few @ 0..100 => format!("Figure 13 of the paper: {few} blocks are written."),
        blocks => format!(
            "Figure 13 of the paper: 1 % of the {blocks} blocks written take {} of the writes.",
            percent(trace.popularity.top_1_percent_written)
        ),
    };
    out +=
        &figure("popularity", "Writes by block popularity", &caption, &charts::popularity(trace));
    let caption =
        "Figure 17 of the paper: non-volatile memory that would absorb all writes of 30 seconds.";
    out += &figure("absorption", "Absorbing writes", caption, &charts::absorption(trace));
    let caption = "Figure 18 of the paper: what a cache takes that is emptied every 30 seconds. At least: of an interval that does not fit, only as much counts as fills it.";
    out + &figure("absorbed", "Writes absorbed by cache size", caption, &charts::absorbed(trace))
}

/// The text about the delays of overwrites.
fn rewritten(trace: &TraceSummary) -> String {
    let o = &trace.overwrites;
    let shares = [(o.within_1s, "a second"), (o.within_30s, "30 s"), (o.within_1h, "an hour")];
    let told = shares.into_iter().filter_map(|(share, window)| Some((share?, window)));
    let told = told.map(|(share, window)| format!("{} within {window}", share_of(share, o.seen())));
    let told: Vec<String> = told.collect();
    let told = if told.is_empty() { String::new() } else { format!(": {}", told.join(", ")) };
    let block = Bytes(trace.block_bytes as f64);
    format!(
        "Figure 12 of the paper, in blocks of {block}, of the {} block writes that overwrite what was written before in the trace{told}. The longer a delay, the more such pairs have their first write before the trace or their second behind it.",
        o.seen()
    )
}

/// The text about the errors of sampled curves: measured if there is an exact curve, else bounds.
fn stated(curves: &[MissRatioCurve]) -> String {
    let errors = curves.iter().filter(|curve| curve.one_in > 1);
    let errors = errors.map(|curve| format!("one block in {}: {:.4}", curve.one_in, curve.error));
    let errors: Vec<String> = errors.collect();
    if errors.is_empty() {
        return String::new();
    }
    let mean = match curves.iter().any(|curve| curve.one_in == 1) {
        true => "Mean difference from the exact curve here",
        false => "Mean error, for nine traces of ten at most",
    };
    format!(
        " Around a sampled curve: where the exact one lies, for nine traces of ten at every size. {mean}: {}.",
        errors.join(", ")
    )
}

fn set(trace: &TraceSummary) -> String {
    if trace.working_set.is_empty() {
        return String::new();
    }
    let mut out = "<h2>Working set</h2>".to_owned();
    let caption = "Distinct bytes touched in each window, in whole blocks.";
    out += &figure("working-set", "Working set over time", caption, &over_time::working_set(trace));
    let caption = format!(
        "One cache for all disks, reads and writes alike, every miss allocating.{}",
        stated(&trace.miss_ratio.curves)
    );
    out + &figure("miss-ratio", "Miss ratio by cache size", &caption, &charts::miss_ratio(trace))
}

fn processes(trace: &TraceSummary) -> String {
    let table = rows(tables::processes(trace));
    if table.is_empty() { table } else { format!("<h2>Processes</h2>{table}") }
}

/// A trace as workloads of five parameters.
pub fn workloads(found: &TraceCharacterization) -> String {
    let [run, predict] = commands_of(&found.overall.workload);
    format!(
        r#"<h2>Workloads</h2><p class="lead">{}</p>{}<p>To go on with: <code>{}</code> or <code>{}</code></p>"#,
        esc(&traits::likeness(found)),
        rows(traits::table(found)),
        esc(&run),
        esc(&predict)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::trace_summary::Overwrites;

    #[test]
    fn without_arrivals_there_are_times_at_the_device_and_overwrites() {
        let mut trace = TraceSummary::default();
        let bins = vec![(2e5, 3), (1e6, 5)];
        let times = Distribution { count: 8, max: 1e6, bins, ..Distribution::default() };
        trace.response_times.all.physical_ns = times.clone();
        let told = super::times(&trace);
        assert!(told.contains("without the queue") && !told.contains("Elapsed"), "{told}");
        let delay_ns = times.clone();
        trace.overwrites = Overwrites { block_writes: 9, delay_ns, ..Overwrites::default() };
        assert!(writes(&trace).contains("Overwrite delays"), "groups need the order of arrival");
        trace.response_times.all.elapsed_ns = times;
        assert!(super::times(&trace).contains("Elapsed: from arrival"));
    }
}
