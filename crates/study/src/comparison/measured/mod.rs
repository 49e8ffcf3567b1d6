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

/// A comparison, and how sure each of its ratios is.
type Compared = (MeasuredComparison, Vec<Judged>);

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
    let mut one = compare_rows(first, second, condition)?;
    if let Some(condition) = condition {
        judge_condition(condition, std::slice::from_mut(&mut one));
    }
    Ok(one.0)
}

/// Compares each of `others` with `first`, as [`compare_measured`] does. That rows meet `condition` by chance is ruled out over the
/// rows of all of them together, so that many equal systems meet it no more often than one.
///
/// # Errors
/// As of [`compare_measured`], of any of them.
pub fn compare_all_measured(
    first: NamedDocument<'_>,
    others: &[NamedDocument<'_>],
    condition: &Condition,
) -> Result<Vec<MeasuredComparison>, NotComparable> {
    let each = others.iter().map(|other| compare_rows(first, *other, Some(condition)));
    let mut all: Vec<Compared> = each.collect::<Result<_, _>>()?;
    judge_condition(condition, &mut all);
    Ok(all.into_iter().map(|(one, _)| one).collect())
}

/// The comparison without a condition; refused where `condition` would speak of no row.
fn compare_rows(
    first: NamedDocument<'_>,
    second: NamedDocument<'_>,
    condition: Option<&Condition>,
) -> Result<Compared, NotComparable> {
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
    let comparison = MeasuredComparison {
        kind: kind.to_owned(),
        systems: [second, first].map(|one| one.name.to_owned()),
        environments: [second, first].map(|one| one.document.environment.clone()),
        condition: None,
        rows,
        only_in,
        lone: [lone([second, first], &other, &base), lone([first, second], &base, &other)].concat(),
        differences: os::differences(first, second),
        margin: MARGIN,
    };
    Ok((comparison, judged))
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

/// Finds the rows of each comparison that meet `condition`, beyond what chance does over all of them together.
fn judge_condition(condition: &Condition, all: &mut [Compared]) {
    let (mut about, mut chances) = (Vec::new(), Vec::new());
    for (number, (one, judged)) in all.iter().enumerate() {
        for (at, (row, judged)) in one.rows.iter().zip(judged).enumerate() {
            if row.metric == condition.metric {
                about.push((number, at as u32));
                chances.push(condition.chance(judged));
            }
        }
    }
    let mut met: Vec<Vec<u32>> = vec![Vec::new(); all.len()];
    for ((number, at), sure) in about.into_iter().zip(figures::holm(&chances)) {
        if sure {
            met[number].push(at);
        }
    }
    for ((one, _), met_by) in all.iter_mut().zip(met) {
        one.condition = Some(ConditionResult { fail_if: condition.text.clone(), met_by });
    }
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
