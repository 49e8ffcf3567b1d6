//! Two documents of one kind compared by what they measured: every shared row as a ratio with an interval and a verdict.

mod condition;
mod figures;
mod firsts;
mod jobs;
mod os;
mod refusal;
mod row;
mod rows;

pub use condition::{Condition, ConditionError};
pub use figures::MARGIN;
pub use firsts::compare_with_firsts;
pub use refusal::NotComparable;
pub use row::NamedDocument;

use figures::{Judged, judge};
use ioscape_schema::{ConditionResult, LoneRow, MeasuredComparison, MeasuredRow};
use row::Row;
use rows::rows;

/// Compares `second` with `first`: ratios are the second's figures over the first's.
///
/// Verdicts rule out chance over all rows together (Holm, "A simple sequentially rejective multiple test procedure", 1979), at
/// 5 %: two equal systems get one false "faster" or "slower" in twenty comparisons, however many rows they share.
///
/// # Errors
/// The documents are of different kinds, hold nothing measured, did other work, share no row, or none that counts what `condition` speaks of.
pub fn compare_measured(
    first: NamedDocument<'_>,
    second: NamedDocument<'_>,
    condition: Option<&Condition>,
) -> Result<MeasuredComparison, NotComparable> {
    let kind = rows::shared_kind(first, second)?;
    let (base, other) = (rows(first)?, rows(second)?);
    let pairs = paired(&base, &other);
    if pairs.is_empty() {
        return Err(rows::nothing_shared(first, second, &base, &other));
    }
    let figures: Vec<_> = pairs.iter().map(|(b, a)| [&a.figure, &b.figure]).collect();
    let metrics: Vec<_> = pairs.iter().map(|(row, _)| row.metric).collect();
    let judged = judge(&figures, &metrics, is_one(first, second));
    let only_in = [&other, &base].map(|all| (all.len() - pairs.len()) as u32);
    let rows: Vec<MeasuredRow> =
        pairs.iter().zip(&judged).map(|((base, other), judged)| row(base, other, judged)).collect();
    condition.map_or(Ok(()), |condition| has_metric(&rows, condition))?;
    Ok(MeasuredComparison {
        kind: kind.to_owned(),
        systems: [second, first].map(|one| one.name.to_owned()),
        environments: [second, first].map(|one| one.document.environment.clone()),
        condition: condition.map(|condition| kept(condition, &rows, &judged)),
        rows,
        only_in,
        lone: [lone([second, first], &other, &base), lone([first, second], &base, &other)].concat(),
        differences: os::differences(first, second),
        margin: MARGIN,
    })
}

/// The rows that both have, the first's before the second's.
fn paired<'a>(base: &'a [Row], other: &'a [Row]) -> Vec<(&'a Row, &'a Row)> {
    let alike = |row: &'a Row| other.iter().find(|one| one.is_like(row)).map(|one| (row, one));
    base.iter().filter_map(alike).collect()
}

/// Whether both are one result: the same outcome, or one that was begun by the same machine at the same time and continued since.
fn is_one(first: NamedDocument<'_>, second: NamedDocument<'_>) -> bool {
    let (one, other) = (first.document, second.document);
    let is_begun_together = !one.started_at.is_empty() && one.started_at == other.started_at;
    one.outcome == other.outcome || (is_begun_together && one.host == other.host)
}

/// The rows of the first of two documents without a counterpart in the second, `there`, and why they have none.
fn lone([first, second]: [NamedDocument<'_>; 2], here: &[Row], there: &[Row]) -> Vec<LoneRow> {
    let alone = here.iter().filter(|row| !there.iter().any(|one| one.is_like(row)));
    let lone = |row: &Row| {
        let name = row.name.clone().unwrap_or_default();
        let other = there.iter().find(|one| one.is_called_like(row));
        let why = other.and_then(|one| jobs::other_work(one, row));
        let why = why.map(|how| format!("not the same work: {how}"));
        let why = why.or_else(|| os::not_measured(second.document, &name));
        let why = why.or_else(|| jobs::impossible(second.document, &name)).unwrap_or_default();
        LoneRow { name, system: first.name.to_owned(), why }
    };
    alone.filter(|row| row.name.is_some()).map(lone).collect()
}

fn row(base: &Row, other: &Row, judged: &Judged) -> MeasuredRow {
    MeasuredRow {
        name: base.name.clone(),
        workload: base.workload.clone(),
        metric: base.metric,
        values: [other.figure.value, base.figure.value],
        rounds: [&other.figure, &base.figure].map(|figure| figure.samples.len() as u32),
        samples: None,
        ratio: judged.ratio(),
        ci95: judged.ci95(),
        basis: judged.basis,
        verdict: judged.verdict,
    }
}

/// Which rows meet `condition` beyond chance.
fn kept(condition: &Condition, rows: &[MeasuredRow], judged: &[Judged]) -> ConditionResult {
    let about: Vec<usize> =
        (0..rows.len()).filter(|&index| rows[index].metric == condition.metric).collect();
    let chances: Vec<f64> = about.iter().map(|&index| condition.chance(&judged[index])).collect();
    let sure = figures::holm(&chances);
    let met_by = about.iter().zip(sure).filter(|(_, sure)| *sure).map(|(&i, _)| i as u32);
    ConditionResult { fail_if: condition.text.clone(), met_by: met_by.collect() }
}

/// Whether a condition can be judged: some row counts what it speaks of.
fn has_metric(rows: &[MeasuredRow], condition: &Condition) -> Result<(), NotComparable> {
    if rows.iter().any(|row| row.metric == condition.metric) {
        return Ok(());
    }
    let mut found: Vec<&str> = rows.iter().map(|row| row.metric.word()).collect();
    found.sort_unstable();
    found.dedup();
    let (condition, metric) = (condition.text.clone(), condition.metric.word());
    Err(NotComparable::NoMetric { condition, metric, found: found.join(" and ") })
}

/// In words, the first comparison of which some row meets its condition beyond chance.
pub fn condition_met(all: &[MeasuredComparison]) -> Option<String> {
    all.iter().find_map(|one| {
        let condition = one.condition.as_ref().filter(|condition| !condition.met_by.is_empty())?;
        Some(format!(
            "{} of {} rows of {} against {} meet `{}` beyond chance",
            condition.met_by.len(),
            one.rows.len(),
            one.systems[0],
            one.systems[1],
            condition.fail_if
        ))
    })
}

#[cfg(test)]
mod tests;
