//! In which order the cells of a table are measured: round after round, row after row, the columns of a row in turns.

use ioscape_schema::{CampaignResult, Warning, WarningKind};

/// All rows of all rounds, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Rounds asked for.
    pub rounds: usize,
    /// Rows of the table.
    pub rows: usize,
}

impl Schedule {
    /// How many times a row is measured.
    pub fn steps(self) -> usize {
        self.rounds * self.rows
    }

    /// Round and row of step `step`, both from 0.
    pub fn round_and_row(self, step: usize) -> (usize, usize) {
        (step / self.rows, step % self.rows)
    }

    /// The columns of `table` still to be measured in step `step`, in the order to measure them. In the first round of a table that goes on, what
    /// was impossible is among them: what stood in its way (a setting of the kernel, files of others) may be gone.
    pub fn due(self, step: usize, table: &CampaignResult) -> Vec<usize> {
        let (round, row) = self.round_and_row(step);
        let cells = &table.rows[row].cells;
        let is_due = |column: &usize| {
            let cell = &cells[*column];
            (cell.impossible.is_none() || round == 0) && cell.samples.len() <= round
        };
        order(cells.len(), round, row).into_iter().filter(is_due).collect()
    }
}

/// The doubt about a table whose time was over before step `step`.
pub fn budget_spent(schedule: Schedule, step: usize) -> Warning {
    let (steps, rounds) = (schedule.steps(), schedule.rounds);
    let message = format!(
        "the budget was spent after {step} of {steps} rows in {rounds} rounds; give a longer --budget"
    );
    Warning::new(WarningKind::BudgetSpent, message)
}

/// The order in which a row's columns are measured in a round: a different one each time, so that no column always follows the same
/// other one, whose pages or dirty blocks it would inherit.
fn order(columns: usize, round: usize, row: usize) -> Vec<usize> {
    let draw = |column: usize| {
        // The finalizer of splitmix64, on numbers that are all different.
        let z = (((round as u64) << 40) | ((row as u64) << 20) | column as u64) + 1;
        let z = z.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let mut order: Vec<usize> = (0..columns).collect();
    order.sort_by_key(|column| draw(*column));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{CampaignCell, CampaignRow, CampaignSample};

    #[test]
    fn what_was_measured_is_not_due_and_what_cannot_be_only_in_the_first_round() {
        let measured =
            CampaignCell { samples: vec![CampaignSample::default()], ..CampaignCell::default() };
        let impossible = CampaignCell { impossible: Some("no".into()), ..CampaignCell::default() };
        let cells = vec![measured, impossible, CampaignCell::default()];
        let rows = vec![CampaignRow { settings: Vec::new(), cells }];
        let table = CampaignResult { rows, ..CampaignResult::default() };
        let schedule = Schedule { rounds: 2, rows: 1 };
        let due = |step| {
            let mut due = schedule.due(step, &table);
            due.sort_unstable();
            due
        };
        assert_eq!((due(0), due(1)), (vec![1, 2], vec![0, 2]));
        assert_eq!(Schedule { rounds: 2, rows: 3 }.round_and_row(4), (1, 1));
    }

    #[test]
    fn every_column_has_its_turn_and_follows_every_other() {
        let orders: Vec<Vec<usize>> =
            (0..20).flat_map(|round| (0..20).map(move |row| order(4, round, row))).collect();
        let mut follows = [[0; 4]; 4];
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3]);
            order.windows(2).for_each(|pair| follows[pair[0]][pair[1]] += 1);
        }
        // Of 400 orders, each pair is expected in 100.
        for (before, after) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
            let seen = follows[before][after];
            assert!(before == after || (60..140).contains(&seen), "{before} {after}: {seen}");
        }
        assert_eq!(orders[7], order(4, 0, 7), "the same in every attempt");
    }
}
