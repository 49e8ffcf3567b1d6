//! `ioscape campaign`: tables of vxbench runs, listed, shown and measured.

mod catalogue;
mod cells;
mod forecast;
mod loops;
mod places;
mod table;

use super::single_writer;
use crate::args::{CampaignAction, CampaignArgs, CampaignRunArgs, ResultArgs};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{interrupt, output};
use cells::Cells;
use ioscape_measure::Clock;
use ioscape_measure::environment;
use ioscape_schema::units::Bytes;
use ioscape_schema::{CampaignResult, Document, Warning, WarningKind};
use ioscape_study::campaign::{growth_in_threads, pieces_of_aged_files};
use ioscape_study::writers::WriterEffort;
use ioscape_workload::campaign::{Campaign, RowPlan};
use places::{Place, Places};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

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
    let interrupt = interrupt::flag();
    if args.dry_run {
        let rows = rows(&campaign, args.max_file_size.unwrap_or(u64::MAX))?;
        return forecast::print(args, &campaign, &rows, &interrupt);
    }
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
    let labels = places.all.iter().map(|place| place.label.as_str());
    table::left_out(&fresh, labels).into_iter().for_each(|warning| document.warn(warning));
    let mut result = match &args.resume {
        Some(path) => table::resumed(path, fresh)?,
        None => fresh,
    };
    let file = saved_at(args, &document);
    output::check_writable(&file)?;
    let mut cells = Cells { interrupt, destroy_data: args.destroy_data };
    let work = Work { args, rounds: campaign.rounds, rows: &rows, file: &file };
    let finished = work
        .all(&mut places.all, &mut cells, &mut document, &mut result)
        .and_then(|()| work.conclusions(&places.all, &cells, &mut result));
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
        for column in table::order(result.columns.len(), round, row) {
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

    /// What the table says of several threads on one file, and whether writers to it wait for one another.
    fn conclusions(
        &self,
        places: &[Place],
        cells: &Cells,
        result: &mut CampaignResult,
    ) -> Result<(), Failure> {
        result.sentences = growth_in_threads(result);
        result.sentences.extend(pieces_of_aged_files(result));
        let plans = self.rows.iter().flat_map(|row| &row.cells);
        let mut several = plans.filter(|plan| plan.job.nthreads > 1 && plan.job.workload.writes());
        if several.next().is_none() {
            return Ok(());
        }
        let progress = Progress::of_jobs(0, 1, "single writer");
        let watch = super::vxbench::watch(&cells.interrupt, &progress);
        for place in places {
            let Some(folder) = &place.folder else { continue };
            let told =
                match single_writer::diagnose(folder.path(), WriterEffort::SHORT, &watch, None) {
                    Ok(diagnosis) => diagnosis.found.into_iter().map(|one| one.sentence).collect(),
                    Err(interrupted @ Failure::Interrupted(_)) => return Err(interrupted),
                    Err(failure) => {
                        vec![format!(
                            "Whether writers wait for one another was not measured: {failure}."
                        )]
                    }
                };
            // The sentences name the file system themselves.
            let named = place.label == place.file_system.name;
            let label = if named { String::new() } else { format!("{}: ", place.label) };
            result.sentences.extend(told.into_iter().map(|one| format!("{label}{one}")));
        }
        progress.done();
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
