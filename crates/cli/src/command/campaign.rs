//! `ioscape campaign`: tables of vxbench runs, listed, shown and measured.

mod catalogue;
mod cells;
mod loops;
mod places;
mod table;

use crate::args::{CampaignAction, CampaignArgs, CampaignRunArgs, ResultArgs};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{interrupt, output};
use cells::Cells;
use ioscape_measure::Clock;
use ioscape_measure::environment;
use ioscape_schema::units::{Bytes, Seconds};
use ioscape_schema::{CampaignResult, Document, Warning, WarningKind};
use ioscape_workload::campaign::{Campaign, RowPlan};
use places::{Place, Places};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Rate assumed for the time of a dry run, in bytes per second.
const ASSUMED_RATE: f64 = 300e6;

/// Runs the command.
///
/// # Errors
/// Misuse before anything is touched; failures with all finished cells saved.
pub fn main(args: &CampaignArgs) -> Result<(), Failure> {
    match &args.action {
        CampaignAction::List => output::print(&catalogue::list()?),
        CampaignAction::Show { name } => output::print(&catalogue::text(name)?),
        CampaignAction::Run(args) => run(args),
    }
}

fn run(args: &CampaignRunArgs) -> Result<(), Failure> {
    let mut campaign = catalogue::read(&args.name)?;
    campaign.rounds = args.rounds.unwrap_or(campaign.rounds);
    output::check_places(args.out.files())?;
    if args.dry_run {
        return dry_run(args, &campaign);
    }
    let interrupt = interrupt::flag();
    let mut places = Places::open(args)?;
    let most = args.max_file_size.unwrap_or_else(|| places.most(&campaign));
    let rows = rows(&campaign, most)?;
    let mut document = output::document(1);
    if let Some(file_system) = places.all.first().map(|place| &place.file_system) {
        document.environment = environment::capture_on(file_system);
    }
    document.environment.clock = Clock::new().measure();
    limit(&mut document, &campaign, most)?;
    let fresh = table::new(args, &campaign, &places.all, &rows)?;
    let mut result = match &args.resume {
        Some(path) => table::resumed(path, fresh)?,
        None => fresh,
    };
    let file = saved_at(args, &document);
    output::check_writable(&file)?;
    let mut cells = Cells { interrupt, destroy_data: args.destroy_data };
    let work = Work { args, rounds: campaign.rounds, rows: &rows, file: &file };
    let finished = work.all(&mut places.all, &mut cells, &mut document, &mut result);
    drop(places);
    conclude(args, document, result, &file, finished)
}

/// Where the table is kept: as asked; unasked, in the current directory, or out of the way while all is well.
fn saved_at(args: &CampaignRunArgs, document: &Document) -> PathBuf {
    let unnamed = output::default_path(document, "ioscape.json");
    match &args.out.output {
        Some(path) => path.clone(),
        None if is_kept(args) => unnamed,
        None => std::env::temp_dir().join(unnamed),
    }
}

/// Whether the user wants the result file when all is done; it is needed until then in any case.
fn is_kept(args: &CampaignRunArgs) -> bool {
    args.out.output.is_some() || (!args.out.json && args.out.html.is_none())
}

/// The rows with no file larger than `most`.
fn rows(campaign: &Campaign, most: u64) -> Result<Vec<RowPlan>, Failure> {
    let rows = campaign.rows(most).map_err(|error| Failure::Misuse(error.to_string()))?;
    match rows.is_empty() {
        true => Err(Failure::Misuse(format!(
            "no row is left with files of at most {}: free some space, or give a larger --max-file-size",
            Bytes(most as f64)
        ))),
        false => Ok(rows),
    }
}

/// Says so where the campaign's files are larger than what there is room for.
fn limit(document: &mut Document, campaign: &Campaign, most: u64) -> Result<(), Failure> {
    let whole = rows(campaign, u64::MAX)?;
    let largest = whole.iter().flat_map(|row| &row.cells).map(|cell| cell.file_bytes).max();
    if let Some(largest) = largest.filter(|largest| *largest > most) {
        document.warn(Warning::new(
            WarningKind::SetLimited,
            format!(
                "the campaign's files of up to {} are limited to {}",
                Bytes(largest as f64),
                Bytes(most as f64)
            ),
        ));
    }
    Ok(())
}

/// What is to be done, and where it is kept on the way.
struct Work<'a> {
    args: &'a CampaignRunArgs,
    rounds: u32,
    rows: &'a [RowPlan],
    file: &'a Path,
}

impl Work<'_> {
    /// Round after round, row after row, all columns of a row in turns.
    fn all(
        &self,
        places: &mut [Place],
        cells: &mut Cells,
        document: &mut Document,
        result: &mut CampaignResult,
    ) -> Result<(), Failure> {
        let begun = Instant::now();
        let steps = self.rounds as usize * self.rows.len();
        let progress = Progress::of_evaluation(1.0);
        for step in 0..steps {
            let (round, row) = (step / self.rows.len(), step % self.rows.len());
            let spent_s = begun.elapsed().as_secs_f64();
            if self.args.budget.is_some_and(|budget_s| spent_s > budget_s) {
                document.warn(Warning::new(
                    WarningKind::BudgetSpent,
                    format!(
                        "the time was over after {step} of {steps} rows in {} rounds",
                        self.rounds
                    ),
                ));
                break;
            }
            let left_s = if step > 0 { spent_s / step as f64 * (steps - step) as f64 } else { 0.0 };
            let doing = format!("round {} row {}", round + 1, row + 1);
            progress.advance(spent_s, left_s, &doing);
            self.row(round, row, places, cells, result, &progress)?;
            self.save(document, result);
        }
        progress.done();
        Ok(())
    }

    /// Measures the cells of one row that lack this round's run.
    fn row(
        &self,
        round: usize,
        row: usize,
        places: &mut [Place],
        cells: &mut Cells,
        result: &mut CampaignResult,
        progress: &Progress,
    ) -> Result<(), Failure> {
        let count = result.columns.len();
        for turn in 0..count {
            let column = (turn + round + row) % count;
            if cells.interrupt.load(Ordering::Relaxed) {
                return Err(Failure::Interrupted("interrupted".to_owned()));
            }
            let cell = &mut result.rows[row].cells[column];
            if cell.impossible.is_some() || cell.samples.len() > round {
                continue;
            }
            let (place, method) = table::arms(places, &self.rows[row], column);
            match cells.run(place, &self.rows[row].cells[method], progress) {
                Ok(sample) => cell.samples.push(sample),
                Err(Failure::Misuse(why)) => cell.impossible = Some(why),
                Err(other) => return Err(other),
            }
            table::summarize(&mut result.rows[row]);
        }
        Ok(())
    }

    fn save(&self, document: &Document, result: &CampaignResult) {
        let partial =
            Document { campaign: Some(result.clone()), interrupted: true, ..document.clone() };
        let saved = output::json(&partial).and_then(|text| output::write_file(self.file, &text));
        if let Err(failure) = saved {
            output::tell(&format!("ioscape: not saved so far: {failure}"));
        }
    }
}

/// Pours the table out, whole or partial, and says how it ended.
fn conclude(
    args: &CampaignRunArgs,
    mut document: Document,
    result: CampaignResult,
    file: &Path,
    finished: Result<(), Failure>,
) -> Result<(), Failure> {
    document.interrupted = matches!(finished, Err(Failure::Interrupted(_)));
    if let Err(error) = &finished {
        let message = format!("the campaign is partial: {error}");
        document.warn(Warning::new(WarningKind::Interrupted, message));
    }
    document.campaign = Some(result);
    let out = ResultArgs { output: Some(file.to_path_buf()), ..args.out.clone() };
    output::pour(&document, &out)?;
    if is_kept(args) || finished.is_err() {
        output::tell(&format!("Result: {}", file.display()));
    } else {
        // The result is where the user asked for it; the safety copy has done its duty.
        let _ = std::fs::remove_file(file);
    }
    let more = format!("; continue with --resume {}", file.display());
    finished.map_err(|failure| match failure {
        Failure::Interrupted(text) => Failure::Interrupted(text + &more),
        Failure::Failed(text) => Failure::Failed(text + &more),
        other => other,
    })
}

/// Prints the rows with the space and time they need, and touches nothing.
fn dry_run(args: &CampaignRunArgs, campaign: &Campaign) -> Result<(), Failure> {
    let rows = rows(campaign, args.max_file_size.unwrap_or(u64::MAX))?;
    let places = if args.fs.is_empty() { args.places.len() } else { args.fs.len() };
    let (mut space, mut moved) = (0u64, 0.0);
    let mut out = format!("{}\n", campaign.title);
    for row in &rows {
        let names: Vec<String> =
            row.settings.iter().map(|s| format!("{} {}", s.name, s.text)).collect();
        let of_row: f64 = row.cells.iter().map(|cell| cell.moved_bytes() as f64).sum();
        let needed = row.cells.iter().map(|cell| cell.space_bytes()).max().unwrap_or(0);
        space = space.max(needed);
        // Files are laid out before they are read or overwritten.
        moved += (of_row + needed as f64) * places as f64 * f64::from(campaign.rounds);
        out += &format!(
            "  {:<44} space {:>9}, moves {:>9} per place and round\n",
            names.join(", "),
            Bytes(needed as f64),
            Bytes(of_row)
        );
    }
    out += &format!(
        "{} rows, {} methods, {places} places, {} rounds: up to {} of space per place; {} to move, about {} at {:.0} MB/s\n",
        rows.len(),
        campaign.method.len(),
        campaign.rounds,
        Bytes(space as f64),
        Bytes(moved),
        Seconds(moved / ASSUMED_RATE),
        ASSUMED_RATE / 1e6
    );
    output::print(&out)
}
