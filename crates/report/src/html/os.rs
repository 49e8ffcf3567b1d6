//! The operating-system micro-benchmarks on the page.
//!
//! It shows Figure 1, every case, and the paper's tables with this machine added.

use super::figure::{Figure, legend, two_sizes};
use super::tables::{table, table_with_own};
use super::values::Values;
use crate::os::NamedResults;
use crate::os::{self, case, clean, headlines, interval, speed, value};
use crate::plot::{Frame, Scale};
use crate::text::esc;
use ioscape_schema::os::paper;
use ioscape_schema::{MeasuredComparison, OsResults, OsSystem};
use std::collections::BTreeSet;
use std::fmt::Write as _;

const LOW: Frame = Frame { width: 1080.0, height: 420.0 };

/// The headlines and Figure 1.
pub fn summary(results: &OsResults) -> String {
    let mut out = "<h2>Operating system</h2>".to_owned();
    out += r#"<p class="lead">How fast the operating system is for a processor as fast as this one. A MIPS-relative speed of 1 is what the
        MicroVAX II of 1990 had for its rating; below 1, the operating system is slower than the processor's rating predicts.</p>"#;
    let rows = headlines(results).into_iter().map(|(name, figure)| vec![name.to_owned(), figure]);
    let rows: Vec<Vec<String>> = rows.collect();
    out += &if rows.is_empty() {
        "<p>No figure can be told: the benchmarks that it takes have no value, and say why below.</p>".to_owned()
    } else {
        table("words", &["Figure", "Value"], rows.into_iter())
    };
    out += &ranking(results);
    let Some(chart) = os::figure1(results) else { return out };
    let figure = Figure {
        id: "figure-1-of-1990",
        title: "The paper's Figure 1, with this machine",
        caption: "Each point is the geometric mean of a machine's MIPS-relative speeds without bcopy; this machine's says \
                  of how many where these are not the paper's seven. The ten machines of 1990 are read off the printed figure. \
                  All speeds share the rating as a factor, which is good to about a quarter; ratios between benchmarks do not depend on it.",
        scales: &[Scale::Log10],
    };
    let values = Values::of(&[&chart]);
    out + &figure.html(|_| two_sizes(&chart, LOW), &legend(&chart.series, ""), &values)
}

/// Several results in one table, with their comparison, and in one Figure 1.
pub fn side_by_side(all: &[NamedResults<'_>], compared: &[MeasuredComparison]) -> String {
    let (head, rows) = os::side::table(all, compared);
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut out = "<h2>Operating systems side by side</h2>".to_owned();
    for sentence in os::side::sentences(all, compared) {
        let _ = write!(out, "<p>{}</p>", esc(&sentence));
    }
    out += &table("words", &head, rows.into_iter());
    let Some(chart) = os::figure1_of(all) else { return out };
    let figure = Figure {
        id: "figure-1-of-1990-with-all",
        title: "The paper's Figure 1, with these systems",
        caption: "Each point is the geometric mean of a machine's MIPS-relative speeds without bcopy; those of these systems \
                  have their names, and say of how many where these are not the paper's seven.",
        scales: &[Scale::Log10],
    };
    let values = Values::of(&[&chart]);
    out + &figure.html(|_| two_sizes(&chart, LOW), &legend(&chart.series, ""), &values)
}

/// The slow benchmarks of this machine, in a sentence and a table.
fn ranking(results: &OsResults) -> String {
    let all = os::ranking(results);
    let Some(sentence) = os::sentence(&all, &os::unranked(results)) else { return String::new() };
    let head = ["Benchmark", "Here", "Interval", "Median of 1990", "Here over 1990"];
    let rows = all.iter().map(|one| {
        let range = one.range.map(|[low, high]| format!("{} to {}", speed(low), speed(high)));
        let over = speed(one.here / one.past);
        vec![one.name.clone(), speed(one.here), range.unwrap_or_default(), speed(one.past), over]
    });
    format!(
        r#"<h3>What is slow here</h3><p class="lead">{} MIPS-relative speeds, slowest first; the intervals leave out the error of the
        rating, which all share.</p>{}"#,
        esc(&sentence),
        table("", &head, rows)
    )
}

/// Every case with what it tells, and the properties of the system that shape it.
pub fn benchmarks(results: &OsResults) -> String {
    let head =
        ["Benchmark", "Case", "Value", "95 % interval", "MIPS-relative", "Clean", "What it tells"];
    let others = results.benchmarks.iter().filter(|one| !os::is_scaling(one));
    let rows = others.map(|one| {
        let note = one.not_measured.as_ref().map(|why| format!("Not measured: {why}"));
        vec![
            one.name.clone(),
            case(one),
            value(one),
            interval(one),
            one.mips_relative.map_or_else(String::new, speed),
            clean(one),
            note.unwrap_or_else(|| one.teaches.clone()),
        ]
    });
    let mut out = "<h2>Benchmarks</h2>".to_owned();
    out += r#"<p class="lead">Medians over fresh processes in rounds; the interval holds the long-run median 95 times of 100, from six
        processes on for any distribution. Clean is the share of batches in which no other program used the processor.</p>"#;
    out += &table("words lessons", &head, rows);
    out + &scaling(results) + &proof(results) + &system(&results.system)
}

/// The combined rates of several tasks.
fn scaling(results: &OsResults) -> String {
    let all = os::scaling(results);
    if all.is_empty() {
        return String::new();
    }
    let (head, rows) = os::scaling_table(&all);
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let sentence = os::scaling_sentence(&all).unwrap_or_default();
    let why: BTreeSet<&str> = results
        .benchmarks
        .iter()
        .filter(|one| os::is_scaling(one))
        .filter_map(|one| one.not_measured.as_deref())
        .collect();
    let why = why.into_iter().map(|why| format!("<p>Not measured: {}.</p>", esc(why)));
    format!(
        r#"<h3>Scaling over processors</h3><p class="lead">{} The same operation by one task and by several at the same time, each on a
        processor of its own and with nothing to share: operations per second of all together.</p>{}{}"#,
        esc(&sentence),
        table("", &head, rows.into_iter()),
        why.collect::<String>()
    )
}

fn proof(results: &OsResults) -> String {
    results.mab.as_ref().map_or_else(String::new, |p| format!("<p>{}.</p>", esc(&os::proof(p))))
}

fn system(system: &OsSystem) -> String {
    let all = system.settings.iter().chain(&system.vulnerabilities);
    let rows = all.map(|(name, state)| vec![name.clone(), state.clone()]);
    if system.settings.is_empty() && system.vulnerabilities.is_empty() {
        return String::new();
    }
    format!(
        "<details><summary>What affects these numbers<small>mitigations and settings</small></summary>{}</details>",
        table("words", &["What", "State"], rows)
    )
}

/// The paper's tables with this machine as a new row, and the printed cells that the paper's own
/// figures contradict.
pub fn of_1990(results: &OsResults) -> String {
    let tables = os::tables(results);
    if tables.is_empty() {
        return String::new();
    }
    let mut out = "<h2>The tables of 1990</h2>".to_owned();
    out += r#"<p class="lead">J. K. Ousterhout, Why Aren't Operating Systems Getting Faster As Fast as Hardware?, USENIX Summer Conference
        1990, with this machine as an additional row.</p>"#;
    for one in tables {
        let rows = one.rows.into_iter();
        let rows = table_with_own("", &one.head, rows, |name| name.starts_with(os::THIS));
        let _ = write!(out, "<h3>{}</h3>{rows}", esc(&one.title));
    }
    let head = ["Table", "Configuration", "Printed", "Recomputed"];
    let wrong = paper::disagreements().into_iter().map(|one| {
        let recomputed = format!("{:.3}", one.recomputed);
        vec![one.table.to_string(), one.configuration, one.printed.to_owned(), recomputed]
    });
    out += "<h3>Printed cells that do not follow from the paper's own figures</h3>";
    out + &table("words", &head, wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{OsBenchmark, OsTasks};

    #[test]
    fn what_has_no_value_says_why_and_has_no_empty_table() {
        let page = summary(&OsResults::default());
        assert!(page.contains("No figure can be told") && !page.contains("<table"), "{page}");
        let case = |case: &str| OsBenchmark {
            name: "scaling".into(),
            case: case.into(),
            tasks: Some(1),
            task_kind: Some(OsTasks::Threads),
            not_measured: Some("no time was left".into()),
            ..OsBenchmark::default()
        };
        let benchmarks = vec![case("pipe, 1 thread"), case("futex, 1 thread")];
        let page = scaling(&OsResults { benchmarks, ..OsResults::default() });
        assert_eq!(page.matches("Not measured: no time was left.").count(), 1, "{page}");
    }
}
