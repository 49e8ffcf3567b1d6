//! What is said with the rows of a measured comparison.

use ioscape_schema::{Basis, LoneRow, MeasuredComparison};

/// Most rows without a counterpart whose reason is told.
const LONE_MOST: usize = 12;

fn lone(row: &LoneRow) -> String {
    format!("Only {} has {}: {}.", row.system, row.name, row.why.trim_end_matches('.'))
}

/// What the columns mean, what was assumed, and how the condition ended.
pub fn notes(one: &MeasuredComparison) -> Vec<String> {
    let margin = one.margin * 100.0;
    if one.rows.iter().all(|row| row.basis == Basis::Interleaved) {
        return vec![format!(
            "Figures: medians of the runs. Ratio: geometric mean of the ratios of the pairs, which may differ from that of the medians; \
             from, to: the interval that holds at all times, over all rows with 95 %. No \
             difference: the interval lies within {margin:.0} % of 1."
        )];
    }
    let mut notes = vec![format!(
        "Ratio: figure over that of the other system; from, to: its 95 % interval. Chance is ruled out over all rows together; no \
         difference: the interval lies within {margin:.0} % of 1."
    )];
    if one.rows.iter().any(|row| row.basis == Basis::SingleRun) {
        notes.push(
            "Some rows rest on a single run, so it is assumed that runs scatter as they usually do (14 %): measure in rounds to tell \
             more, or interleaved with `ioscape ab`."
                .to_owned(),
        );
    }
    let [this, other] = one.only_in;
    if this + other > 0 {
        let [a, b] = &one.systems;
        notes.push(format!("Without a counterpart: {this} of {a}'s rows, {other} of {b}'s."));
    }
    notes.extend(one.lone.iter().filter(|row| !row.why.is_empty()).take(LONE_MOST).map(lone));
    notes.extend(one.differences.iter().map(|text| format!("The systems differ: {text}.")));
    if let Some(condition) = &one.condition {
        let (met, all, fail_if) = (condition.met_by.len(), one.rows.len(), &condition.fail_if);
        notes.push(match met {
            0 => format!("No row meets `{fail_if}` beyond chance."),
            _ => format!("FAILED: {met} of {all} rows meet `{fail_if}` beyond chance."),
        });
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Environment;

    /// 176 and 667 MB/s stood beside a ratio of 0.47, and nothing said why.
    #[test]
    fn of_runs_in_turns_the_figures_are_said_to_be_medians() {
        let one = MeasuredComparison {
            kind: "ab".to_owned(),
            systems: ["a", "b"].map(str::to_owned),
            environments: [Environment::default(), Environment::default()],
            rows: Vec::new(),
            only_in: [0, 0],
            lone: Vec::new(),
            differences: Vec::new(),
            margin: 0.03,
            condition: None,
        };
        assert!(notes(&one)[0].starts_with("Figures: medians of the runs. Ratio: geometric mean"));
    }
}
