//! The findings, at the top of the page: numbers, sentences, and differences from region to region.

use super::tables::table;
use super::values::{anchor, sentences};
use crate::levels::CacheEnd;
use crate::regional::{self, is_tabled};
use crate::text::esc;
use ioscape_schema::units::Rate;
use ioscape_schema::{BorderOperation, Evaluation, WritePolicy};
use std::fmt::Write as _;

/// A sentence with its number in the result.
type Numbered<'a> = (usize, &'a str);

/// The section; never empty, so that an unfinished evaluation is reported as such.
pub fn findings(evaluation: &Evaluation) -> String {
    let findings = &evaluation.findings;
    let mut out = format!("<h2>Findings</h2>{}", numbers(evaluation));
    let numbered = (1..).zip(findings.sentences.iter().map(String::as_str));
    let (tabled, others): (Vec<Numbered>, Vec<Numbered>) =
        numbered.partition(|(_, sentence)| is_tabled(evaluation, sentence));
    if findings.sentences.is_empty() {
        out.push_str(r#"<p class="lead">The evaluation was too short to conclude anything.</p>"#);
    } else {
        out += &sentences("finding", others.into_iter());
    }
    out += &by_region(evaluation);
    if !tabled.is_empty() {
        let _ = write!(
            out,
            "<details><summary>The same in sentences</summary>{}</details>",
            sentences("finding", tabled.into_iter())
        );
    }
    out
}

fn numbers(evaluation: &Evaluation) -> String {
    let findings = &evaluation.findings;
    let mut out = r#"<dl class="numbers">"#.to_owned();
    let [read, write] = [BorderOperation::Read, BorderOperation::Write]
        .map(|of| CacheEnd::of(evaluation, of).words());
    number(&mut out, "read", "Cache for reads", read);
    number(&mut out, "write", "Cache for writes", write);
    if let Some(found) = findings.write_policy {
        let value = (found.word().to_owned(), meaning(found).to_owned());
        number(&mut out, "policy", "Write policy", value);
    }
    if let (Some(first), Some(last)) = (evaluation.regions.first(), evaluation.regions.last()) {
        let speed = |region| {
            crate::figures::focal_point(region).map(|point| Rate(point.throughput()).to_string())
        };
        if let (Some(fast), Some(slow)) = (speed(first), speed(last)) {
            let under = match evaluation.regions.len() {
                1 if evaluation.count_doubt().is_none() => {
                    format!("in the only region, {}", first.name)
                }
                1 => format!("in the only region seen, {}", first.name),
                _ => format!("in {}; {slow} in {}", first.name, last.name),
            };
            number(&mut out, "speed", "Speed at the focal vector", (fast, under));
        }
    }
    out.push_str("</dl>");
    out
}

fn meaning(policy: WritePolicy) -> &'static str {
    match policy {
        WritePolicy::WriteThrough => "writes run at the speed of the storage behind the cache",
        WritePolicy::WriteCancelling => "the cache absorbs rewrites of data that fit",
        WritePolicy::Mixed => "between the speeds of memory and storage",
        WritePolicy::NotCached => "small sets are no faster than large ones",
    }
}

fn number(out: &mut String, class: &str, name: &str, (value, under): (String, String)) {
    let word = if value.starts_with(|c: char| c.is_ascii_digit()) { "" } else { " word" };
    let _ = write!(
        out,
        r#"<div class="number {class}" id="finding-{class}"><dt>{name}{}</dt><dd class="big{word}">{}</dd><dd class="low">{}</dd></div>"#,
        anchor(&format!("finding-{class}"), "finding"),
        esc(&value),
        esc(&under)
    );
}

/// The findings that differ from region to region, with a column for each region.
fn by_region(evaluation: &Evaluation) -> String {
    let rows = regional::rows(evaluation);
    if rows.is_empty() {
        return String::new();
    }
    let regions = evaluation.regions.iter().map(|region| &*region.name);
    let head: Vec<&str> = ["Finding"].into_iter().chain(regions).collect();
    table("cards finding", &head, rows.into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn what_is_withheld_is_not_called_absent() {
        let mut evaluation = sample::evaluation();
        evaluation.findings.read_cache_bytes = None;
        evaluation.regions.truncate(1);
        assert!(numbers(&evaluation).contains("in the only region, region 1"));
        evaluation.level_counts = vec![sample::level_count(1, 0.7), sample::level_count(2, 0.3)];
        let page = numbers(&evaluation);
        assert!(page.contains("cannot be told") && page.contains("perhaps 123 MiB"), "{page}");
        assert!(!page.contains("not found") && !page.contains("no border was seen"), "{page}");
        assert!(page.contains("in the only region seen, region 1"), "{page}");
    }
}
