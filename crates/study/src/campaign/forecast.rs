//! What a campaign will take: its rows, their space, and the time at the speed of each place.

use super::jobs::TRIAL_NAMES;
use ioscape_schema::units::counted;
use ioscape_schema::units::{Bytes, Rate, Seconds};
use ioscape_schema::{CellPlan, FileSet, NameJob, Prepare, RowPlan};

/// How fast a place is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Writing to the device, in bytes per second.
    pub write_bytes_per_s: f64,
    /// Reading from the device, in bytes per second.
    pub read_bytes_per_s: f64,
    /// Time that any run takes in addition to its requests, in seconds.
    pub run_s: f64,
    /// Time per operation on a name, in seconds.
    pub name_s: f64,
}

impl Pace {
    /// The pace assumed where no trial is possible.
    pub const ASSUMED: Self =
        Self { write_bytes_per_s: 300e6, read_bytes_per_s: 300e6, run_s: 0.01, name_s: 20e-6 };

    /// The pace that a trial shows: `bytes` written and read again at these rates, all in
    /// `elapsed_s` seconds. The pace of name operations is the assumed one.
    pub fn of_trial(bytes: u64, write: f64, read: f64, elapsed_s: f64) -> Self {
        let (write, read) = (write.max(1.0), read.max(1.0));
        let moving_s = bytes as f64 / write + bytes as f64 / read;
        let run_s = (elapsed_s - moving_s).max(0.0) / 2.0;
        Self { write_bytes_per_s: write, read_bytes_per_s: read, run_s, ..Self::ASSUMED }
    }

    /// Returns the same pace, with that of name operations taken from
    /// [`trial_names`](super::trial_names), which took `elapsed_s` seconds.
    pub fn with_names(self, elapsed_s: f64) -> Self {
        Self { name_s: elapsed_s / TRIAL_NAMES.operations() as f64, ..self }
    }
}

/// The work of all rounds in one place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Bytes written.
    pub written_bytes: f64,
    /// Bytes read.
    pub read_bytes: f64,
    /// Runs, including those that lay files out.
    pub runs: f64,
    /// Random requests, whose latency the forecast leaves out.
    pub random_requests: f64,
    /// Operations on names, including those that lay files out and remove them.
    pub name_operations: f64,
}

impl Work {
    /// Returns the work of all rounds in a directory, or on a device if `raw`. Files are laid out
    /// again whenever a cell needs other ones; file systems of `fs_bytes` that the campaign makes
    /// are made and filled again whenever a cell needs it.
    pub fn of(rows: &[RowPlan], rounds: u32, raw: bool, fs_bytes: u64) -> Self {
        let mut all = Self::default();
        let mut laid_out: Option<FileSet> = None;
        let mut filled = None;
        for _ in 0..rounds {
            for plan in rows.iter().flat_map(|row| &row.cells).filter(|plan| plan.raw == raw) {
                let needed = Some(FileSet::of(plan));
                if let Some(fill) = plan.fill.filter(|_| plan.fill != filled) {
                    all.written_bytes += fill.written_bytes(fs_bytes) as f64;
                }
                filled = plan.fill;
                let is_new = laid_out != needed;
                laid_out = needed.filter(|_| !plan.job.append);
                if let Some(names) = &plan.names {
                    all.name_operations += names.operations() as f64;
                    if is_new {
                        all.name_operations += names.layout_operations() as f64;
                        all.written_bytes += plan.layout_bytes() as f64;
                    }
                    continue;
                }
                if is_new && (raw || plan.prepare != Prepare::Fresh) {
                    all.written_bytes += plan.layout_bytes() as f64;
                    all.runs += f64::from(plan.files_written);
                }
                all.runs += 1.0;
                let moved = plan.moved_bytes() as f64;
                if plan.job.workload.is_random() {
                    all.random_requests += moved / plan.job.iosize as f64;
                }
                match plan.job.workload.writes() {
                    true => all.written_bytes += moved,
                    false => all.read_bytes += moved,
                }
            }
        }
        all
    }

    /// How long the work takes at this pace, in seconds.
    pub fn seconds(&self, pace: &Pace) -> f64 {
        self.written_bytes / pace.write_bytes_per_s
            + self.read_bytes / pace.read_bytes_per_s
            + self.runs * pace.run_s
            + self.name_operations * pace.name_s
    }
}

/// Returns a line for every row with its space and the bytes it moves, and a line for the whole
/// table.
pub fn describe_rows(rows: &[RowPlan], methods: usize, places: usize, rounds: u32) -> String {
    let line = |row: &RowPlan| {
        let names: Vec<String> =
            row.settings.iter().map(|s| format!("{} {}", s.name, s.text)).collect();
        format!(
            "  {:<44} space {:>9}, {} and round\n",
            names.join(", "),
            Bytes(row.space_bytes() as f64),
            moved(row)
        )
    };
    let lines: String = rows.iter().map(line).collect();
    let space = rows.iter().map(RowPlan::space_bytes).max().unwrap_or(0);
    let counts = [
        (rows.len() as u64, "row"),
        (methods as u64, "method"),
        (places as u64, "place"),
        (rounds.into(), "round"),
    ];
    let counts = counts.map(|(count, what)| counted(count, what));
    format!("{lines}{}: up to {} of space per place\n", counts.join(", "), Bytes(space as f64))
}

/// What a row moves in each directory and on each device (their methods differ), or how many name
/// operations it does.
fn moved(row: &RowPlan) -> String {
    let names = row.cells.iter().filter_map(|plan| plan.names.as_ref());
    let names: u64 = names.map(NameJob::operations).sum();
    if names > 0 {
        return format!("{} on names per directory", counted(names, "operation"));
    }
    let of = |raw: bool, what: &str| {
        let cells = row.cells.iter().filter(|plan| plan.raw == raw);
        let bytes: u64 = cells.map(CellPlan::moved_bytes).sum();
        (bytes > 0).then(|| format!("{:>9} per {what}", Bytes(bytes as f64)))
    };
    let all = [of(false, "directory"), of(true, "device")];
    format!("moves {}", all.into_iter().flatten().collect::<Vec<_>>().join(" and "))
}

/// Returns a line for the place `label` with all its work, and the seconds it takes. Without a
/// measured pace, it uses the assumed one and says why none was measured.
pub fn describe_place(
    label: &str,
    works: &[Work],
    measured: Result<Pace, String>,
) -> (String, f64) {
    let sum = |of: fn(&Work) -> f64| works.iter().map(of).sum::<f64>();
    let (moved, names) =
        (sum(|work| work.read_bytes + work.written_bytes), sum(|work| work.name_operations));
    if sum(|work| work.runs) + names == 0.0 {
        return (format!("{label}: left out, since no method applies to it\n"), 0.0);
    }
    let (pace, how, why) = match measured {
        Ok(pace) => (pace, "a measured", String::new()),
        Err(why) => (Pace::ASSUMED, "an assumed", format!(", since {why}")),
    };
    let seconds: f64 = works.iter().map(|work| work.seconds(&pace)).sum();
    let (todo, rate) = match names > 0.0 {
        true => (
            format!(" and {} on names to do", counted(names as u64, "operation")),
            format!(" and {:.0} operations on names per second", 1.0 / pace.name_s),
        ),
        false => Default::default(),
    };
    let random = match sum(|work| work.random_requests) {
        0.0 => String::new(),
        requests => format!(
            "; {} are counted by their bytes, and take longer where latency or a limit on IOPS holds them up",
            counted(requests as u64, "random request")
        ),
    };
    let line = format!(
        "{label}: {} to move{todo}, about {} at {how} {} writing and {} reading{rate}{why}{random}\n",
        Bytes(moved),
        Seconds(seconds),
        Rate(pace.write_bytes_per_s),
        Rate(pace.read_bytes_per_s)
    );
    (line, seconds)
}

#[cfg(test)]
mod tests {
    use super::super::room::tests::cell;
    use super::*;
    use ioscape_schema::VxWorkload::{RandRead, Read, Write};
    use ioscape_schema::{Fill, NameOperation};

    const MIB: f64 = 1048576.0;

    fn rows(cells: Vec<CellPlan>, count: usize) -> Vec<RowPlan> {
        vec![RowPlan { settings: Vec::new(), cells }; count]
    }

    #[test]
    fn files_are_laid_out_once_while_all_rows_need_the_same() {
        let cells = [false, true].map(|raw| cell(Prepare::Written, raw, Read));
        let rows = rows(cells.into(), 2);
        let once = Work { written_bytes: MIB, read_bytes: 6.0 * MIB, runs: 7.0, ..Work::default() };
        assert_eq!(Work::of(&rows, 3, false, 0), once);
        assert_eq!(Work::of(&rows, 3, true, 0), once);
        let pace = Pace {
            write_bytes_per_s: MIB,
            read_bytes_per_s: 2.0 * MIB,
            run_s: 0.5,
            ..Pace::ASSUMED
        };
        assert_eq!(once.seconds(&pace), 1.0 + 3.0 + 3.5);
    }

    #[test]
    fn files_that_have_grown_are_laid_out_again() {
        let mut rows = rows(vec![cell(Prepare::Written, false, Write)], 1);
        rows[0].cells[0].job.append = true;
        let expected = Work { written_bytes: 4.0 * MIB, runs: 4.0, ..Work::default() };
        assert_eq!(Work::of(&rows, 2, false, 0), expected);
    }

    #[test]
    fn fresh_files_are_not_laid_out() {
        let rows = rows(vec![cell(Prepare::Fresh, false, Write)], 1);
        let expected = Work { written_bytes: 2.0 * MIB, runs: 2.0, ..Work::default() };
        assert_eq!(Work::of(&rows, 2, false, 0), expected);
    }

    #[test]
    fn a_file_system_is_filled_once_for_all_rows_that_want_it_so() {
        let mut rows = rows(vec![cell(Prepare::Fresh, false, Read)], 4);
        for (row, percent) in rows.iter_mut().zip([0, 0, 50, 50]) {
            row.cells[0].fill = Some(Fill { percent, turnover: 2 });
        }
        assert_eq!(Work::of(&rows, 3, false, 1000).written_bytes, 3.0 * 1000.0);
    }

    #[test]
    fn work_on_names_is_counted_in_operations() {
        let names = NameJob {
            operation: NameOperation::Stat,
            threads: 4,
            entries: 10,
            shared: false,
            tree_files: 100,
            tree_churn: 2,
        };
        let mut rows = rows(vec![cell(Prepare::Fresh, false, Write); 2], 1);
        rows[0].cells.iter_mut().for_each(|plan| plan.names = Some(names));
        let work = Work::of(&rows, 3, false, 0);
        let expected = 3.0 * 2.0 * 3.0 * 40.0 + 400.0;
        assert_eq!((work.name_operations, work.runs, work.read_bytes), (expected, 0.0, 0.0));
        let pace = Pace { name_s: 0.5, write_bytes_per_s: MIB, ..Pace::ASSUMED };
        assert_eq!(work.seconds(&pace), expected / 2.0 + 1.0, "the tree's bytes are written once");
        let line = describe_place("/a", &[work], Ok(pace)).0;
        assert!(line.contains("1120 operations on names to do"), "{line}");
        assert!(line.contains("and 2 operations on names per second"), "{line}");
        let row = describe_rows(&rows, 2, 1, 3);
        assert!(row.contains("240 operations on names per directory and round"), "{row}");
    }

    #[test]
    fn random_requests_are_said_to_be_counted_by_their_bytes() {
        let told = |workload| {
            let work =
                Work::of(&rows(vec![cell(Prepare::Written, false, workload)], 1), 1, false, 0);
            describe_place("/a", &[work], Ok(Pace::ASSUMED)).0
        };
        assert!(
            told(RandRead).contains("; 128 random requests are counted by their bytes"),
            "{}",
            told(RandRead)
        );
        assert!(!told(Read).contains("random"));
    }

    #[test]
    fn what_a_trial_does_not_move_is_the_cost_of_its_two_runs() {
        let pace = Pace::of_trial(100, 100.0, 50.0, 4.0);
        assert_eq!((pace.write_bytes_per_s, pace.read_bytes_per_s, pace.run_s), (100.0, 50.0, 0.5));
        assert_eq!(Pace::of_trial(100, 100.0, 50.0, 1.0).run_s, 0.0);
    }

    #[test]
    fn a_forecast_says_on_which_pace_it_rests() {
        let work = Work { written_bytes: 600e6, runs: 1.0, ..Work::default() };
        let (line, seconds) = describe_place("/a", &[work, work], Err("it is far away".into()));
        assert!((seconds - 4.02).abs() < 1e-9, "{line}");
        assert!(
            line.contains("an assumed") && line.ends_with(", since it is far away\n"),
            "{line}"
        );
        assert!(describe_place("/a", &[work], Ok(Pace::ASSUMED)).0.contains("a measured"));
        let nothing = describe_place("/a", &[Work::default()], Ok(Pace::ASSUMED));
        assert!(nothing.0.contains("left out") && nothing.1 == 0.0, "{}", nothing.0);
        let both = [false, false, true].map(|raw| cell(Prepare::Written, raw, Read));
        assert_eq!(
            moved(&rows(both.into(), 1)[0]).split_whitespace().collect::<Vec<_>>().join(" "),
            "moves 2 MiB per directory and 1 MiB per device"
        );
        let told = describe_rows(&rows(vec![cell(Prepare::Fresh, false, Write)], 3), 1, 2, 5);
        assert!(
            told.ends_with(
                "3 rows, 1 method, 2 places, 5 rounds: up to 1 MiB of space per place\n"
            )
        );
    }
}
