//! The notes that accompany the rows of a measured comparison.

use ioscape_schema::{
    Basis, ConditionResult, LoneRow, MeasuredComparison, MeasuredRow, Metric, Verdict,
};

/// Gives the reason for at most this many rows without a counterpart.
const LONE_MOST: usize = 12;

fn lone(row: &LoneRow) -> String {
    format!("Only {} has {}: {}.", row.system, row.name, row.why.trim_end_matches('.'))
}

/// What the columns mean, what was assumed, and whether the condition was met.
pub fn notes(one: &MeasuredComparison) -> Vec<String> {
    let margin = one.margin * 100.0;
    if one.kind == "ab" {
        let mut notes = vec![format!(
            "Figures: medians of the runs. Ratio: geometric mean of the ratios of the pairs, which may differ from that of the medians; \
             from, to: the interval that holds at all times, with 95 % over all throughputs, and over all response times, unless an arm has a slow state of its own. No \
             difference: the interval lies within {margin:.0} % of 1."
        )];
        if one.rows.iter().any(|row| row.verdict == Verdict::NotAsked) {
            notes.push("Not asked: the condition is about response times, so throughput has its interval, but no verdict.".to_owned());
        }
        notes.extend(one.condition.iter().flat_map(|condition| ended(one, condition)));
        return notes;
    }
    let mut notes = vec![format!(
        "Ratio: figure over that of the other system; from, to: its 95 % interval. Faster, slower: beyond chance at 5 % over all rows together; no \
         difference: the interval lies within {margin:.0} % of 1."
    )];
    notes.extend(of_single_runs(one));
    let [this, other] = one.only_in;
    if this + other > 0 {
        let [a, b] = &one.systems;
        notes.push(format!("Without a counterpart: {this} of {a}'s rows, {other} of {b}'s."));
    }
    notes.extend(one.lone.iter().filter(|row| !row.why.is_empty()).take(LONE_MOST).map(lone));
    notes.extend(one.differences.iter().map(|text| format!("The systems differ: {text}.")));
    notes.extend(one.condition.iter().flat_map(|condition| ended(one, condition)));
    notes
}

/// Whether the condition was met.
fn ended(one: &MeasuredComparison, condition: &ConditionResult) -> Vec<String> {
    let ([this, base], fail_if) = (&one.systems, &condition.fail_if);
    let (met, all, lost) = (condition.met_by.len(), one.rows.len(), condition.lost.len());
    let mut told = Vec::new();
    if met > 0 {
        told.push(format!("FAILED: {met} of {all} rows meet `{fail_if}` beyond chance."));
    }
    if lost > 0 {
        told.push(format!(
            "FAILED: {this} has no figure for {lost} of {base}'s rows, which fails `{fail_if}`."
        ));
    }
    if told.is_empty() {
        let judged = match one.only_in[1] {
            0 => String::new(),
            _ => format!("; rows of {base} without a counterpart were not judged"),
        };
        told.push(format!("No row meets `{fail_if}` beyond chance{judged}."));
    }
    told
}

/// The assumptions about rows that rest on a single run, and which measurements would tell more.
fn of_single_runs(one: &MeasuredComparison) -> Vec<String> {
    let alone = one.rows.iter().filter(|row| row.basis == Basis::SingleRun);
    let is_percentile = |row: &&MeasuredRow| one.kind != "os" && row.metric == Metric::Time;
    let (percentiles, others): (Vec<&MeasuredRow>, Vec<&MeasuredRow>) =
        alone.partition(is_percentile);
    let of_others = "Some rows rest on a single run. Runs are then assumed to vary by at least 14 %, by more where other rows do: for a \
                     sharper verdict compare results of several rounds (evaluations, `campaign run --rounds`), or use `ioscape ab`.";
    let of_percentiles = "Percentiles of a single run or round tell no difference, since it is not known how they vary from one to the next: \
                          measure several (`campaign run --rounds`), or use `ioscape ab`.";
    let told = [(others, of_others), (percentiles, of_percentiles)];
    let told = told.into_iter().filter(|(rows, _)| !rows.is_empty());
    told.map(|(_, text)| text.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Environment;

    fn row(metric: Metric) -> MeasuredRow {
        MeasuredRow {
            name: None,
            workload: None,
            metric,
            values: [1.0, 1.0],
            rounds: [1, 1],
            samples: None,
            ratio: 1.0,
            ci95: [0.5, 2.0],
            basis: Basis::SingleRun,
            verdict: Verdict::CannotBeTold,
        }
    }

    /// A comparison of these rows.
    fn comparison(kind: &str, rows: Vec<MeasuredRow>) -> MeasuredComparison {
        MeasuredComparison {
            kind: kind.to_owned(),
            systems: ["a", "b"].map(str::to_owned),
            environments: [Environment::default(), Environment::default()],
            rows,
            only_in: [0, 0],
            lone: Vec::new(),
            differences: Vec::new(),
            margin: 0.03,
            condition: None,
        }
    }

    /// Once, 176 and 667 MB/s stood beside a ratio of 0.47, and nothing said why.
    #[test]
    fn of_runs_in_turns_the_figures_are_said_to_be_medians() {
        let one = comparison("ab", Vec::new());
        assert!(notes(&one)[0].starts_with("Figures: medians of the runs. Ratio: geometric mean"));
    }

    /// Once, such a row was said to be one that cannot be told.
    #[test]
    fn a_row_without_a_verdict_since_it_was_not_asked_about_is_said_to_be_one() {
        let told = |verdict| {
            let row = MeasuredRow { verdict, ..row(Metric::Throughput) };
            notes(&comparison("ab", vec![row])).len()
        };
        assert_eq!([Verdict::CannotBeTold, Verdict::NotAsked].map(told), [1, 2]);
    }

    /// Once, the notes of `ab` did not mention the condition.
    #[test]
    fn of_runs_in_turns_it_is_told_how_the_condition_ended() {
        let fail_if = "throughput < 0.95".to_owned();
        let condition = Some(ConditionResult { fail_if, met_by: vec![0], lost: Vec::new() });
        let one = comparison("ab", vec![row(Metric::Throughput)]);
        let told = notes(&MeasuredComparison { condition, ..one });
        assert!(told[1].starts_with("FAILED: 1 of 1 rows"), "{told:?}");
    }

    #[test]
    fn rows_of_the_base_without_a_counterpart_are_said_not_to_be_judged() {
        let fail_if = "throughput < 0.95".to_owned();
        let condition = Some(ConditionResult { fail_if, met_by: Vec::new(), lost: Vec::new() });
        let told = |only_in| {
            let one = comparison("campaign", vec![row(Metric::Throughput)]);
            let one = MeasuredComparison { only_in, condition: condition.clone(), ..one };
            notes(&one).pop().unwrap_or_default()
        };
        assert!(told([1, 0]).ends_with("< 0.95` beyond chance."), "{}", told([1, 0]));
        assert!(told([0, 1]).ends_with("rows of b without a counterpart were not judged."));
    }

    #[test]
    fn rows_that_meet_a_condition_and_rows_without_a_figure_are_both_told() {
        let told = |met_by: Vec<u32>| {
            let (fail_if, lost) = ("throughput < 0.95".to_owned(), vec!["x".to_owned()]);
            let condition = Some(ConditionResult { fail_if, met_by, lost });
            let one = comparison("campaign", vec![row(Metric::Throughput)]);
            notes(&MeasuredComparison { only_in: [0, 1], condition, ..one })
        };
        let has = |notes: &[String], begin: &str| notes.iter().any(|note| note.starts_with(begin));
        for met_by in [vec![0], Vec::new()] {
            let (is_met, notes) = (!met_by.is_empty(), told(met_by));
            assert_eq!(has(&notes, "FAILED: 1 of 1 rows meet"), is_met, "{notes:?}");
            assert!(has(&notes, "FAILED: a has no figure for 1 of b's rows"), "{notes:?}");
            assert!(!has(&notes, "No row meets"), "{notes:?}");
        }
    }

    /// Such as two documents that share only a job that hung in one of them.
    #[test]
    fn a_comparison_without_a_shared_row_speaks_of_no_medians() {
        let told = notes(&comparison("measurements", Vec::new()));
        assert!(told[0].starts_with("Ratio: figure over"), "{told:?}");
    }

    #[test]
    fn what_is_assumed_of_single_runs_is_told_and_that_their_percentiles_tell_nothing() {
        let told = |kind: &str, metric| notes(&comparison(kind, vec![row(metric)])).swap_remove(1);
        assert!(told("campaign", Metric::Throughput).contains("vary by at least 14 %"));
        assert!(told("campaign", Metric::Time).contains("measure several"));
        assert!(told("os", Metric::Time).contains("vary by at least 14 %"));
    }
}
