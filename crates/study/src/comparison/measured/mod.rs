//! Two documents of one kind compared by what they measured: every shared row as a ratio with an
//! interval and a verdict.

mod condition;
mod environments;
mod figures;
mod firsts;
mod jobs;
mod kinds;
mod os;
mod places;
mod refusal;
mod row;
mod rows;
mod systems;

pub use condition::{Condition, ConditionError};
pub use firsts::compare_with_firsts;
pub use refusal::NotComparable;
pub use row::NamedDocument;

use figures::{Judged, judge};
use ioscape_schema::{
    ConditionResult, LoneRow, MARGIN, MeasuredComparison, MeasuredRow, Metric, Workload,
};
use jobs::Cells;
use row::{Row, RowsByName};
use rows::{Rows, rows};

/// The beginning of the reason for a row without a counterpart, if the other document did other
/// work.
const OTHER_WORK: &str = "not the same work: ";

/// A comparison, how sure each of its ratios is, and the names of rows that fail the condition
/// because they lost their figure.
type Compared = (MeasuredComparison, Vec<Judged>, Vec<String>);

/// A row without a counterpart, and its metric.
type Lone = (LoneRow, Metric);

/// Compares `second` with `first`: ratios are the second's figures over the first's.
///
/// Verdicts rule out chance over all rows together (Holm, "A simple sequentially rejective multiple
/// test procedure", 1979), at 5 %: two equal systems get one false "faster" or "slower" in twenty
/// comparisons, however many rows they share.
///
/// # Errors
/// The documents are of different kinds, hold nothing measured, did other work, share no row, or
/// share none that counts the metric of `condition`.
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

/// Compares each of `others` with `first`, as [`compare_measured`] does. Meeting `condition` by
/// chance is ruled out over the rows of all of them together, so that many equal systems meet it no
/// more often than one.
///
/// # Errors
/// The errors of [`compare_measured`], for any of them.
pub fn compare_all_measured(
    first: NamedDocument<'_>,
    others: &[NamedDocument<'_>],
    condition: &Condition,
) -> Result<Vec<MeasuredComparison>, NotComparable> {
    let each = others.iter().map(|other| compare_rows(first, *other, Some(condition)));
    let mut all: Vec<Compared> = each.collect::<Result<_, _>>()?;
    judge_condition(condition, &mut all);
    Ok(all.into_iter().map(|(one, ..)| one).collect())
}

/// Compares without judging `condition`, but refuses if `condition` would apply to no row. Rows
/// that fail it because they lost their figure suffice for a comparison of two documents that share
/// no other row.
fn compare_rows(
    first: NamedDocument<'_>,
    second: NamedDocument<'_>,
    condition: Option<&Condition>,
) -> Result<Compared, NotComparable> {
    let kind = rows::shared_kind(first, second)?;
    let both = [first.document, second.document];
    let alike = places::called_alike(first.document, second.document);
    let [one, other] = alike.as_ref().map_or(both, |[one, other]| [one, other]);
    let first = NamedDocument { name: first.name, document: one };
    let second = NamedDocument { name: second.name, document: other };
    let runs = rows::runs(&[first, second]);
    let cells = [first, second].map(|one| jobs::cells(one.document));
    let (base, other) = (rows(first, &runs, &cells)?, rows(second, &runs, &cells)?);
    let pairs = paired(&base.told, &other.told);
    let new = lone([second, first], &other, &base, &cells[0]);
    let gone = lone([first, second], &base, &other, &cells[1]);
    let lost = condition.map_or_else(Vec::new, |condition| lost(&gone, kind, condition));
    if pairs.is_empty() && lost.is_empty() {
        let reason = gone.iter().chain(&new).find(|(row, _)| is_lost(row));
        let reason = reason.map(|(row, _)| no_figure([first.name, second.name], row));
        return Err(rows::nothing_shared([first, second], [&base.told, &other.told], reason));
    }
    let figures: Vec<_> = pairs.iter().map(|(b, a)| [&a.figure, &b.figure]).collect();
    let metrics: Vec<_> = pairs.iter().map(|(row, _)| row.metric).collect();
    let judged = judge(&figures, &metrics, is_one(first, second));
    let only_in = [&other, &base].map(|all| (all.told.all().len() - pairs.len()) as u32);
    let rows: Vec<MeasuredRow> =
        pairs.iter().zip(&judged).map(|((base, other), judged)| row(base, other, judged)).collect();
    condition.filter(|_| lost.is_empty()).map_or(Ok(()), |one| has_metric(&rows, one))?;
    let of_place = match kind {
        "os" => systems::differences(first, second),
        _ => environments::of_place(first, second),
    };
    let of_machine = environments::of_machine(first, second);
    let of_kinds = kinds::differences(first, second, &pairs);
    // A run without a counterpart is reported only by its throughput, unless times are asked about.
    let are_times_told =
        kind != "measurements" || condition.is_some_and(|one| one.metric == Metric::Time);
    let is_told = |(_, metric): &Lone| *metric != Metric::Time || are_times_told;
    let comparison = MeasuredComparison {
        kind: kind.to_owned(),
        systems: [second, first].map(|one| one.name.to_owned()),
        environments: [second, first].map(|one| one.document.environment.clone()),
        condition: None,
        rows,
        only_in,
        lone: new.into_iter().chain(gone).filter(is_told).map(|(row, _)| row).collect(),
        differences: [of_place, of_machine, of_kinds].concat(),
        margin: MARGIN,
    };
    Ok((comparison, judged, lost))
}

/// The rows that both have, each the first's before the second's.
fn paired<'a>(base: &'a RowsByName, other: &'a RowsByName) -> Vec<(&'a Row, &'a Row)> {
    base.all().iter().filter_map(|row| Some((row, other.like(row)?))).collect()
}

/// Whether both are one result: the same outcome, or a result that the same machine began at the
/// same time and later continued.
fn is_one(first: NamedDocument<'_>, second: NamedDocument<'_>) -> bool {
    let (one, other) = (first.document, second.document);
    let is_begun_together = !one.started_at.is_empty() && one.started_at == other.started_at;
    one.outcome == other.outcome || (is_begun_together && one.host == other.host)
}

/// The rows of the first of two documents that have no counterpart in the second, `there` with its
/// `cells`, and why. There may be many rows without a name; they are reported only if none of their
/// requests ended.
fn lone(
    [first, second]: [NamedDocument<'_>; 2],
    here: &Rows,
    there: &Rows,
    cells: &Cells<'_>,
) -> Vec<Lone> {
    let alone = here.told.all().iter().filter(|row| there.told.like(row).is_none());
    let lone = |row: &Row| {
        let ended = there.none_ended(row).then(|| "no request ended there".to_owned());
        let described = || row.workload.as_ref().filter(|_| ended.is_some()).map(Workload::summary);
        let name = row.name.clone().or_else(described)?;
        let other_work = || {
            let other = there.told.called_like(row).next();
            let how = other.and_then(|one| jobs::other_work(one, row)).map(|(how, _)| how);
            let how = how.or_else(|| jobs::other_workload(row, &here.told, &there.told));
            let how = how.or_else(|| jobs::other_cell(cells, row))?;
            Some(format!("{OTHER_WORK}{how}"))
        };
        let why = ended.or_else(other_work);
        let why = why.or_else(|| os::not_measured(second.document, &name));
        let why = why.or_else(|| jobs::impossible(cells, &name));
        let why = why.or_else(|| rows::partial(second.document)).unwrap_or_default();
        Some((LoneRow { name, system: first.name.to_owned(), why }, row.metric))
    };
    alone.filter_map(lone).collect()
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

/// Finds the rows of each comparison that meet `condition`, beyond chance over all of them
/// together.
fn judge_condition(condition: &Condition, all: &mut [Compared]) {
    let (mut about, mut chances) = (Vec::new(), Vec::new());
    for (number, (one, judged, _)) in all.iter().enumerate() {
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
    for ((one, _, lost), met_by) in all.iter_mut().zip(met) {
        let lost = std::mem::take(lost);
        one.condition = Some(ConditionResult { fail_if: condition.text.clone(), met_by, lost });
    }
}

/// Checks that a condition can be judged: some row counts its metric.
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

/// Describes the first comparison in which some row meets its condition beyond chance, or lost its
/// figure.
pub fn condition_met(all: &[MeasuredComparison]) -> Option<String> {
    all.iter().find_map(|one| {
        let condition = one.condition.as_ref()?;
        let ([this, base], fail_if) = (&one.systems, &condition.fail_if);
        let (met, all) = (condition.met_by.len(), one.rows.len());
        let met = (met > 0).then(|| {
            format!("{met} of {all} rows of {this} against {base} meet `{fail_if}` beyond chance")
        });
        let fails = |row: &&LoneRow| {
            row.system == *base && is_lost(row) && condition.lost.contains(&row.name)
        };
        let lost = one.lone.iter().find(fails).map(|row| no_figure([base, this], row));
        let lost = lost.map(|lost| format!("{lost}, which fails `{fail_if}`"));
        let told: Vec<String> = met.into_iter().chain(lost).collect();
        (!told.is_empty()).then(|| told.join("; "))
    })
}

/// Names of the rows with the condition's metric that the other document measured without getting a
/// figure, if the condition fails on what is slower. Rows of `os` results do not count: there, the
/// machine's state kept a case from being measured.
fn lost(gone: &[Lone], kind: &str, condition: &Condition) -> Vec<String> {
    let is_on_slower = condition.below == condition.metric.more_is_faster();
    let counts = |(row, metric): &&Lone| *metric == condition.metric && is_lost(row);
    let some = gone.iter().filter(|_| is_on_slower && kind != "os").filter(counts);
    some.map(|(row, _)| row.name.clone()).collect()
}

/// Whether a row without a counterpart was measured in the other document but has no figure there.
fn is_lost(row: &LoneRow) -> bool {
    !row.why.is_empty() && !row.why.starts_with(OTHER_WORK)
}

/// The sentence that one of these two systems has no figure for the other's row.
fn no_figure([first, second]: [&str; 2], row: &LoneRow) -> String {
    let here = if row.system == first { second } else { first };
    let why = row.why.trim_end_matches('.');
    format!("{here} has no figure of {}'s {}: {why}", row.system, row.name)
}

#[cfg(test)]
mod lost_tests;
#[cfg(test)]
mod tests;
