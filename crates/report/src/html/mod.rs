//! The document as one page that needs nothing else: no network, no other file, no script to be readable.

mod campaign;
mod characterization;
pub(crate) mod figure;
mod findings;
mod models;
mod os;
mod replay;
mod sections;
mod simulation;
pub(crate) mod tables;
mod vxbench;

use crate::text::{esc, short_time, target};
use ioscape_schema::units::{Bytes, Seconds};
use ioscape_schema::{Document, Environment};
use std::fmt::Write as _;

const STYLE: &str = concat!(include_str!("../plot/chart.css"), include_str!("page.css"));
const SCRIPT: &str = include_str!("page.js");

/// SHA-256 of the script in base 64: the page's own policy lets no other script run, should an escape ever fail.
const SCRIPT_HASH: &str = "mfltcpXgbW1OUMclXf7GnA57NsBmE0hvr9iE6Qvz3Fg=";

/// The document as a page of HTML.
///
/// It holds its style, charts and script, forbids every other resource by a content security policy, and shows
/// everything without scripts; the script adds values on hover and a legend that hides lines.
pub fn html(document: &Document) -> String {
    let mut out = String::with_capacity(1 << 19);
    head(&mut out, document);
    let sections = sections(document);
    header(&mut out, document, &sections);
    out.push_str("<main>");
    for section in &sections {
        let _ = write!(out, r#"<section id="{}">{}</section>"#, section.id, section.body);
    }
    out.push_str("</main>");
    footer(&mut out, document);
    let _ = writeln!(out, "<script>{SCRIPT}</script></body></html>");
    out
}

/// A part of the page that the navigation leads to.
struct Section {
    id: &'static str,
    name: &'static str,
    body: String,
}

fn sections(document: &Document) -> Vec<Section> {
    let mut all = Vec::new();
    let mut add = |id, name, body: String| {
        if !body.is_empty() {
            all.push(Section { id, name, body });
        }
    };
    if let Some(evaluation) = &document.evaluation {
        add("findings", "Findings", findings::findings(evaluation));
        add("landscape", "Landscape", sections::landscape(evaluation));
        add("regions", "Regions", sections::regions(evaluation));
        add("mix", "Reads and writes", sections::reads_and_writes(evaluation));
        add("well", "Where it performs well", sections::well(evaluation));
        add("drift", "Steadiness", sections::drift(evaluation));
    }
    if !document.runs().is_empty() {
        add("runs", "Runs", sections::runs(document.runs()));
    }
    if let Some(one) = &document.characterization {
        add("application", "Application", characterization::section(one));
    }
    if let Some(all) = &document.predictions {
        add("predictions", "Predictions", models::predictions(all));
    }
    if let Some(all) = &document.comparison {
        add("comparison", "Comparison", models::comparison(all));
    }
    if let Some(all) = &document.cheapest {
        add("cheapest", "Cheapest", models::cheapest(all));
    }
    if let Some(validation) = &document.validation {
        add("validation", "Validation", models::validation(validation));
    }
    if let Some(result) = &document.vxbench {
        add("vxbench", "vxbench", vxbench::vxbench(result));
    }
    if let Some(result) = &document.campaign {
        add("campaign", "Campaign", campaign::campaign(result));
    }
    if let Some(results) = &document.os {
        add("os", "Operating system", os::summary(results));
        add("benchmarks", "Benchmarks", os::benchmarks(results));
        add("of-1990", "Tables of 1990", os::of_1990(results));
    }
    if let Some(one) = &document.trace_replay {
        add("replay", "Replay", replay::section(one));
    }
    if let Some(one) = &document.simulation {
        add("simulation", "Simulation", simulation::section(one));
    }
    if let Some(trace) = &document.trace_summary {
        for (id, name, body) in crate::trace::sections(trace) {
            add(id, name, body);
        }
    }
    if let Some(found) = &document.trace_characterization {
        add("workloads", "Workloads", crate::trace::workloads(found));
    }
    add("doubts", "Doubts", tables::doubts(document));
    if document.environment != Environment::default() {
        add("machine", "Machine", tables::machine(&document.environment));
    }
    if let Some(evaluation) = &document.evaluation {
        add("points", "All points", tables::points(evaluation));
        add("how", "How to read it", tables::how());
    }
    all
}

fn head(out: &mut String, document: &Document) {
    let title = esc(&target(document));
    let policy =
        format!("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{SCRIPT_HASH}'");
    let _ = write!(
        out,
        r#"<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer"><meta name="generator" content="ioscape {}">
<title>{title} - ioscape</title><style>{STYLE}</style></head><body>"#,
        esc(&document.tool.version)
    );
}

fn header(out: &mut String, document: &Document, sections: &[Section]) {
    let kind = match document {
        Document { validation: Some(_), .. } => "validation",
        Document { evaluation: Some(_), .. } => "self-scaling evaluation",
        Document { characterization: Some(_), .. } => "characterization",
        Document { campaign: Some(_), .. } => "campaign",
        Document { vxbench: Some(_), .. } => "vxbench",
        Document { comparison: Some(_), .. } => "comparison",
        Document { predictions: Some(_), .. } => "predictions",
        Document { os: Some(_), .. } => "operating-system benchmarks",
        Document { simulation: Some(_), .. } => "simulation",
        Document { trace_replay: Some(_), .. } => "replay",
        Document { trace_summary: Some(_), .. } => "trace",
        Document { trace_characterization: Some(_), .. } => "trace as workloads",
        _ => "runs",
    };
    let _ = write!(
        out,
        r#"<header><p class="brand">ioscape {kind}</p><h1>{}</h1><p class="facts">"#,
        esc(&target(document))
    );
    for fact in facts(document) {
        let _ = write!(out, "<span>{}</span>", esc(&fact));
    }
    out.push_str("</p><nav>");
    for section in sections {
        let _ = write!(out, r##"<a href="#{}">{}</a>"##, section.id, section.name);
    }
    out.push_str("</nav>");
    if document.interrupted {
        out.push_str(
            r#"<p class="notice"><b>Interrupted.</b> This result holds only what was finished by then.</p>"#,
        );
    }
    out.push_str("</header>");
}

fn facts(document: &Document) -> Vec<String> {
    let Environment { file_system, device, kernel, memory_bytes, memory_limit_bytes, .. } =
        &document.environment;
    let mut facts = vec![short_time(&document.started_at)];
    if let Some(evaluation) = &document.evaluation {
        let (points, time) = (evaluation.points_measured, Seconds(evaluation.elapsed_s));
        facts.push(format!("{points} points in {time}"));
    }
    match (file_system, device) {
        (Some(file_system), Some(device)) => facts.push(format!("{file_system} on {device}")),
        (Some(one), None) | (None, Some(one)) => facts.push(one.clone()),
        (None, None) => {}
    }
    facts.extend(kernel.clone());
    facts.extend(memory_bytes.map(|bytes| format!("{} memory", Bytes(bytes as f64))));
    facts.extend(memory_limit_bytes.map(|bytes| format!("limited to {}", Bytes(bytes as f64))));
    facts.retain(|fact| !fact.is_empty());
    facts
}

fn footer(out: &mut String, document: &Document) {
    let _ = write!(
        out,
        "<footer><p>ioscape {} &middot; {} &middot; seed {}</p><p><code>{}</code></p></footer>",
        esc(&document.tool.version),
        esc(&document.schema),
        document.seed,
        esc(&crate::text::command(&document.command))
    );
}

#[cfg(test)]
mod tests;
