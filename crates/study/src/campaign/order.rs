//! The order in which the cells of a table are measured: round after round, row after row, with the
//! columns of each row shuffled.

use ioscape_schema::chance::mix;
use ioscape_schema::{CampaignCell, CampaignResult, Prepare, Warning, WarningKind};

/// All rows of all rounds, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Rounds requested.
    pub rounds: usize,
    /// Rows of the table.
    pub rows: usize,
}

impl Schedule {
    /// The number of row measurements in all rounds.
    pub fn steps(self) -> usize {
        self.rounds * self.rows
    }

    /// Round and row of step `step`, both from 0.
    pub fn round_and_row(self, step: usize) -> (usize, usize) {
        (step / self.rows, step % self.rows)
    }

    /// Returns the columns of `table` still to be measured in step `step`, in measurement order.
    ///
    /// Impossible cells are tried again in the first round after a table is continued, since the
    /// obstacle (a kernel setting, other files) may be gone. In later rounds only those are retried
    /// that hardly anything but lack of space can stop, since each try removes the files laid out
    /// for other cells.
    pub fn due(self, step: usize, table: &CampaignResult) -> Vec<usize> {
        let (round, row) = self.round_and_row(step);
        let cells = &table.rows[row].cells;
        let is_due = |column: &usize| {
            let cell = &cells[*column];
            let is_tried = cell.impossible.is_none() || round == 0 || may_find_room(cell);
            is_tried && cell.samples.len() <= round
        };
        order(cells.len(), round, row).into_iter().filter(is_due).collect()
    }

    /// The number of steps of `table` in which something is still to be measured, as far as is
    /// known now.
    pub fn steps_due(self, table: &CampaignResult) -> usize {
        (0..self.steps()).filter(|&step| !self.due(step, table).is_empty()).count()
    }
}

/// Whether the run itself creates the cell's files and needs nothing that a system may lack
/// permanently.
fn may_find_room(cell: &CampaignCell) -> bool {
    let Some(plan) = &cell.plan else { return false };
    let is_laid_out = plan.prepare != Prepare::Fresh || plan.raw || plan.fill.is_some();
    let job = &plan.job;
    let asks_more = job.is_direct() || job.queue_depth.is_some() || job.reservation.is_some();
    !is_laid_out && !asks_more && plan.names.is_none()
}

/// Estimates the seconds that the remaining steps take, given that `done` of the `due` steps took
/// `spent_s`; 0 before the first step is done.
pub fn left_s(spent_s: f64, done: usize, due: usize) -> f64 {
    match done {
        0 => 0.0,
        _ => spent_s / done as f64 * due.saturating_sub(done) as f64,
    }
}

/// The warning that the budget ran out before step `step` of a table.
pub fn budget_spent(schedule: Schedule, step: usize) -> Warning {
    let (steps, rounds) = (schedule.steps(), schedule.rounds);
    let message = format!(
        "the budget was spent after {step} of {steps} rows in {rounds} rounds; give a longer --budget"
    );
    Warning::new(WarningKind::BudgetSpent, message)
}

/// The order in which a row's columns are measured in a round. It differs from round to round, so
/// that no column always inherits the pages or dirty blocks of the same other column.
fn order(columns: usize, round: usize, row: usize) -> Vec<usize> {
    let draw = |column: usize| {
        let number = ((round as u64) << 40) | ((row as u64) << 20) | column as u64;
        // SplitMix64's draw of this number, from seed 0.
        mix(number.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    };
    let mut order: Vec<usize> = (0..columns).collect();
    order.sort_by_key(|column| draw(*column));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{CampaignRow, CampaignSample, CellPlan, VxJob};

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

    /// Which of these cells, all marked impossible, are tried again in the second round.
    fn tried(plans: [CellPlan; 2]) -> Vec<usize> {
        let of = |plan| {
            let impossible = Some("1 GiB is needed, 500 MB is left".to_owned());
            CampaignCell { plan: Some(plan), impossible, ..CampaignCell::default() }
        };
        let rows = vec![CampaignRow { settings: Vec::new(), cells: plans.map(of).into() }];
        let table = CampaignResult { rows, ..CampaignResult::default() };
        let schedule = Schedule { rounds: 2, rows: 1 };
        assert_eq!(schedule.due(0, &table).len(), 2);
        schedule.due(1, &table)
    }

    /// Guards against a defect: a backup left no space for forty minutes, and a cell that was due
    /// then was skipped in all rounds of a weekend.
    #[test]
    fn a_cell_for_whose_files_there_was_no_room_is_tried_in_every_round() {
        let of = |prepare| CellPlan { prepare, ..CellPlan::of_file(VxJob::default(), 1 << 30) };
        let fresh = of(Prepare::Fresh);
        assert_eq!(tried([fresh.clone(), of(Prepare::Written)]), [0], "others are laid out");
        assert_eq!(tried([CellPlan { raw: true, ..fresh.clone() }, fresh]), [1], "so is a device");
    }

    /// Guards against a defect: direct writes to new files, impossible in that place, made each of
    /// a hundred steps lay out the other cells' files again: 25 GB.
    #[test]
    fn a_cell_that_asks_for_what_a_place_may_lack_for_good_is_tried_once() {
        let of = |job| {
            let plan = CellPlan::of_file(job, 1 << 30);
            CellPlan { prepare: Prepare::Fresh, ..plan }
        };
        let direct = of(VxJob { direct: true, ..VxJob::default() });
        let queued = of(VxJob { queue_depth: Some(8), ..VxJob::default() });
        assert_eq!(tried([direct, queued]), Vec::<usize>::new());
    }

    /// Once, steps done before a continuation counted as taking no time: 14 s were said to be left
    /// of 24 minutes.
    #[test]
    fn the_time_left_is_that_of_the_steps_still_due() {
        let measured = |count| {
            let samples = vec![CampaignSample::default(); count];
            let cells = vec![CampaignCell { samples, ..CampaignCell::default() }];
            CampaignRow { settings: Vec::new(), cells }
        };
        let rows = [5; 25].map(measured).into();
        let table = CampaignResult { rows, ..CampaignResult::default() };
        assert_eq!(Schedule { rounds: 6, rows: 25 }.steps_due(&table), 25);
        let left = [0, 1, 25].map(|done| left_s(60.0, done, 25));
        assert_eq!(left, [0.0, 1440.0, 0.0]);
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
        // In 400 orders, each pair is expected 100 times.
        for (before, after) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
            let seen = follows[before][after];
            assert!(before == after || (60..140).contains(&seen), "{before} {after}: {seen}");
        }
        assert_eq!(orders[7], order(4, 0, 7), "the same in every attempt");
    }
}
