//! What was found, first: the numbers, the sentences, and what differs from region to region.

use super::tables::table;
use crate::regional::{self, is_tabled};
use crate::text::{esc, policy};
use ioscape_schema::units::{Bytes, Rate};
use ioscape_schema::{BorderOperation, Bounded, Evaluation, WritePolicy};
use std::fmt::Write as _;

/// The section; never empty, so that an unfinished evaluation says so.
pub fn findings(evaluation: &Evaluation) -> String {
    let findings = &evaluation.findings;
    let mut out = format!("<h2>Findings</h2>{}", numbers(evaluation));
    let (tabled, others): (Vec<&String>, Vec<&String>) =
        findings.sentences.iter().partition(|sentence| is_tabled(evaluation, sentence));
    if findings.sentences.is_empty() {
        out.push_str(r#"<p class="lead">The evaluation was too short to conclude anything.</p>"#);
    } else {
        out += &list(&others);
    }
    out += &by_region(evaluation);
    if !tabled.is_empty() {
        let _ = write!(
            out,
            "<details><summary>The same in sentences</summary>{}</details>",
            list(&tabled)
        );
    }
    out
}

fn list(sentences: &[&String]) -> String {
    let items: String = sentences.iter().map(|one| format!("<li>{}</li>", esc(one))).collect();
    format!(r#"<ul class="sentences">{items}</ul>"#)
}

fn numbers(evaluation: &Evaluation) -> String {
    let findings = &evaluation.findings;
    let mut out = r#"<dl class="numbers">"#.to_owned();
    for (class, name, found, operation) in [
        ("read", "Cache for reads", findings.read_cache_bytes, BorderOperation::Read),
        ("write", "Cache for writes", findings.write_cache_bytes, BorderOperation::Write),
    ] {
        let untold = || {
            let (value, why) = regional::no_cache(evaluation, operation);
            (value.to_owned(), why.to_owned())
        };
        number(&mut out, class, name, found.as_ref().map_or_else(untold, size));
    }
    if let Some(found) = findings.write_policy {
        let value = (policy(found).to_owned(), meaning(found).to_owned());
        number(&mut out, "policy", "Write policy", value);
    }
    if let (Some(first), Some(last)) = (evaluation.regions.first(), evaluation.regions.last()) {
        let speed = |region| {
            crate::figures::focal_point(region).map(|point| Rate(point.throughput()).to_string())
        };
        if let (Some(fast), Some(slow)) = (speed(first), speed(last)) {
            let under = match evaluation.regions.len() {
                1 => format!("in the only region, {}", first.name),
                _ => format!("in {}; {slow} in {}", first.name, last.name),
            };
            number(&mut out, "speed", "Speed at the focal vector", (fast, under));
        }
    }
    out.push_str("</dl>");
    out
}

fn size(bounded: &Bounded) -> (String, String) {
    let range = format!("{} to {}", Bytes(bounded.low), Bytes(bounded.high));
    (Bytes(bounded.value).to_string(), range)
}

fn meaning(policy: WritePolicy) -> &'static str {
    match policy {
        WritePolicy::WriteThrough => "writes run at the speed of the storage behind the cache",
        WritePolicy::WriteCancelling => "writes that fit run at memory speed",
        WritePolicy::Mixed => "between the speeds of memory and storage",
        WritePolicy::NotCached => "small sets are no faster than large ones",
    }
}

fn number(out: &mut String, class: &str, name: &str, (value, under): (String, String)) {
    let word = if value.starts_with(|c: char| c.is_ascii_digit()) { "" } else { " word" };
    let _ = write!(
        out,
        r#"<div class="number {class}"><dt>{name}</dt><dd class="big{word}">{}</dd><dd class="low">{}</dd></div>"#,
        esc(&value),
        esc(&under)
    );
}

/// What differs from region to region, a column for each.
fn by_region(evaluation: &Evaluation) -> String {
    let rows = regional::rows(evaluation);
    if rows.is_empty() {
        return String::new();
    }
    let regions = evaluation.regions.iter().map(|region| &*region.name);
    let head: Vec<&str> = ["Finding"].into_iter().chain(regions).collect();
    table("cards finding", &head, rows.into_iter())
}
