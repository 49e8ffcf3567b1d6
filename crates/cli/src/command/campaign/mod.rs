//! `ioscape campaign`: tables of vxbench runs, listed, shown and measured.

mod cells;
mod forecast;
mod places;

use super::single_writer;
use crate::args::{CampaignAction, CampaignArgs, CampaignRunArgs, Typed};
use crate::failure::Failure;
use crate::outputs;
use crate::progress::Progress;
use crate::save::{Keeper, Work};
use crate::{output, resume};
use cells::Cells;
use ioscape_machine::Clock;
use ioscape_machine::environment::{self, identity};
use ioscape_machine::interrupt;
use ioscape_machine::output::Names;
use ioscape_schema::units::Bytes;
use ioscape_schema::{CampaignResult, Document, Environment, RowPlan, Warning, WarningKind};
use ioscape_study::campaign::{
    Columns, MethodColumns, Schedule, budget_spent, continued, has_concurrent_writers, limited,
    record, sentences,
};
use ioscape_study::writers::WriterEffort;
use ioscape_workload::campaign::{Campaign, CampaignError, Method, SHIPPED, Shipped};
use places::{CampaignPlace, Places};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Runs the command.
///
/// # Errors
/// Misuse before anything is touched; failures with all finished cells saved.
pub fn main(args: &CampaignArgs, typed: &Typed) -> Result<(), Failure> {
    match &args.action {
        CampaignAction::List => output::print(&list()?),
        CampaignAction::Show { name } => output::print(&text(name)?),
        CampaignAction::Run(args) => run(args, typed),
    }
}

/// One line per campaign that comes with ioscape.
fn list() -> Result<String, Failure> {
    let line = |one: &Shipped| Ok(format!("{:<34} {}\n", one.name, one.campaign()?.title));
    let lines: Result<String, CampaignError> = SHIPPED.iter().map(line).collect();
    lines.map_err(|error| Failure::Failed(error.to_string()))
}

/// The text of a campaign, by name or from a file.
fn text(name: &str) -> Result<String, Failure> {
    if let Some(shipped) = Shipped::find(name) {
        return Ok(shipped.text.to_owned());
    }
    ioscape_machine::input::read_text(name.as_ref()).map_err(|error| {
        let names: Vec<&str> = SHIPPED.iter().map(|one| one.name).collect();
        Failure::Misuse(format!(
            "{name} is neither a campaign nor a campaign file ({error}): choose from {}",
            names.join(", ")
        ))
    })
}

fn run(args: &CampaignRunArgs, typed: &Typed) -> Result<(), Failure> {
    let misuse = |error: CampaignError| Failure::Misuse(format!("{}: {error}", args.name));
    let mut campaign = Campaign::parse(&text(&args.name)?).map_err(misuse)?;
    campaign.rounds = args.rounds.unwrap_or(campaign.rounds);
    let outputs = names(args).open()?;
    let interrupt = interrupt::flag();
    let whole = campaign.rows(u64::MAX).map_err(misuse)?;
    if args.dry_run {
        let rows = rows(&campaign, args.max_file_size.unwrap_or(u64::MAX))?;
        return forecast::print(args, &campaign, &rows, &interrupt);
    }
    let earlier = args.resume.as_deref().map(output::read_result).transpose()?;
    let mut document = output::document(1);
    held_against(args, typed, earlier.as_ref(), &mut document)?;
    let mut places = Places::open(args)?;
    let begun_with = document.environment.identity.get(LARGEST_FILE).and_then(|n| n.parse().ok());
    let most = args.max_file_size.or(begun_with);
    let most = most.unwrap_or_else(|| places.max_file_bytes(&whole));
    document.environment.identity.insert(LARGEST_FILE.to_owned(), most.to_string());
    let rows = rows(&campaign, most)?;
    if let Some(file_system) = places.all.first().map(|place| &place.file_system) {
        let identity = std::mem::take(&mut document.environment.identity);
        document.environment = Environment { identity, ..environment::capture_on(file_system) };
    }
    document.environment.clock = Clock::new().measure();
    limited(&whole, most).into_iter().for_each(|doubt| document.warn(doubt));
    let columns = columns(args, &campaign, &places)?;
    columns.doubts(&args.name).into_iter().for_each(|doubt| document.warn(doubt));
    let mut result = begun(args, earlier, columns.table(&rows, empty(args, &campaign)))?;
    let mut keeper = Keeper::new(Work::Campaign, outputs, &args.out, &document)?;
    let mut cells = Cells { interrupt, destroy_data: args.destroy_data };
    let work = Table { args, columns: &columns, rows: &rows };
    let finished = work
        .all(&mut places.all, &mut cells, &mut document, &mut result, &mut keeper)
        .and_then(|()| work.conclusions(&places.all, &cells, &mut result));
    drop(places);
    if let Err(error) = &finished {
        let message = format!("the campaign is partial: {error}");
        document.warn(Warning::new(WarningKind::Interrupted, message));
    }
    document.outcome = Some(result.into());
    keeper.end(document, finished)
}

fn columns(
    args: &CampaignRunArgs,
    campaign: &Campaign,
    places: &Places,
) -> Result<Columns, Failure> {
    let head = |one: &Method| MethodColumns { name: one.name.clone(), raw: one.raw };
    let methods: Vec<MethodColumns> = campaign.method.iter().map(head).collect();
    let columns = Columns::new(&places.columns(), &methods);
    if !columns.arms.is_empty() {
        return Ok(columns);
    }
    let on_device = places.all.iter().any(|place| place.folder.is_none());
    Err(Failure::Misuse(format!(
        "{} has no method for these places: its methods are for {}",
        args.name,
        if on_device { "directories" } else { "devices" }
    )))
}

/// The table without columns and rows.
fn empty(args: &CampaignRunArgs, campaign: &Campaign) -> CampaignResult {
    CampaignResult {
        name: args.name.clone(),
        title: campaign.title.clone(),
        source: campaign.source.clone(),
        x: campaign.x(),
        rounds: campaign.rounds,
        reference: Shipped::find(&args.name).and_then(|one| one.reference().ok()),
        ..CampaignResult::default()
    }
}

/// The table to fill: `fresh`, or the one that is to be continued.
fn begun(
    args: &CampaignRunArgs,
    earlier: Option<Document>,
    fresh: CampaignResult,
) -> Result<CampaignResult, Failure> {
    let (Some(path), Some(found)) = (&args.resume, earlier) else { return Ok(fresh) };
    let misuse = |text: &str| Failure::Misuse(format!("--resume {}: {text}", path.display()));
    let found = found.campaign().ok_or_else(|| misuse("the file holds no campaign to continue"))?;
    continued(found.clone(), fresh).ok_or_else(|| {
        misuse("the file holds a campaign with other rows or columns: give the same name, places and limits")
    })
}

/// Name of the size, in bytes, that the free space allowed when the campaign was begun.
const LARGEST_FILE: &str = "largest file";

/// Refuses to continue another campaign, or this one elsewhere or with other options.
fn held_against(
    args: &CampaignRunArgs,
    typed: &Typed,
    earlier: Option<&Document>,
    document: &mut Document,
) -> Result<(), Failure> {
    let text = format!("{:016x}", identity::hash(text(&args.name)?.as_bytes()));
    let file = [("campaign file".to_owned(), text)].into();
    let label = |number: usize| match args.places.len() {
        1 => "place".to_owned(),
        _ => format!("place {}", number + 1),
    };
    let places = args.places.iter().enumerate().map(|(n, path)| (label(n), path.as_path()));
    let before = args.resume.as_deref().zip(earlier.map(|found| &found.environment));
    // More rounds and more time only add to what is there.
    let options = typed.without(&["--rounds", "--budget"]);
    let here = resume::identity(places, file);
    resume::held_against(before, here, &options, &mut document.environment)
}

/// What the command reads and writes.
fn names(args: &CampaignRunArgs) -> Names {
    let names = outputs::names_of(&args.out).reads("the campaign", [&args.name]);
    names.reads("--resume", &args.resume).reads("the place", &args.places)
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

/// What is to be done, and where it is kept on the way.
struct Table<'a> {
    args: &'a CampaignRunArgs,
    columns: &'a Columns,
    rows: &'a [RowPlan],
}

impl Table<'_> {
    /// Measures all that is due, step after step, and saves after each.
    fn all(
        &self,
        places: &mut [CampaignPlace],
        cells: &mut Cells,
        document: &mut Document,
        result: &mut CampaignResult,
        keeper: &mut Keeper,
    ) -> Result<(), Failure> {
        let begun = Instant::now();
        let schedule = Schedule { rounds: result.rounds as usize, rows: self.rows.len() };
        let progress = Progress::of_evaluation(1.0);
        for step in 0..schedule.steps() {
            let spent_s = begun.elapsed().as_secs_f64();
            if self.args.budget.is_some_and(|budget_s| spent_s > budget_s) {
                document.warn(budget_spent(schedule, step));
                break;
            }
            let (round, row) = schedule.round_and_row(step);
            let left_s = spent_s / step.max(1) as f64 * (schedule.steps() - step) as f64;
            progress.advance(spent_s, left_s, &format!("round {} row {}", round + 1, row + 1));
            for column in schedule.due(step, result) {
                self.cell(row, column, places, cells, result, &progress)?;
            }
            let outcome = Some(result.clone().into());
            let so_far = Document { outcome, interrupted: true, ..document.clone() };
            keeper.save_document(&so_far);
        }
        progress.done();
        Ok(())
    }

    /// Measures one cell once.
    fn cell(
        &self,
        row: usize,
        column: usize,
        places: &mut [CampaignPlace],
        cells: &mut Cells,
        result: &mut CampaignResult,
        progress: &Progress,
    ) -> Result<(), Failure> {
        if cells.interrupt.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted("interrupted".to_owned()));
        }
        let (place, method) = self.columns.arms[column];
        let found = match cells.run(&mut places[place], &self.rows[row].cells[method], progress) {
            Ok(sample) => Ok(sample),
            Err(Failure::Misuse(why)) => Err(why),
            Err(other) => return Err(other),
        };
        record(&mut result.rows[row], column, found);
        Ok(())
    }

    /// What the table shows, and whether writers to one file wait for one another where that matters.
    fn conclusions(
        &self,
        places: &[CampaignPlace],
        cells: &Cells,
        result: &mut CampaignResult,
    ) -> Result<(), Failure> {
        result.sentences = sentences(result);
        if !has_concurrent_writers(self.rows) {
            return Ok(());
        }
        let progress = Progress::of_jobs(0, 1, "single writer");
        let watch = super::vxbench::watch(&cells.interrupt, &progress);
        for place in places {
            let Some(folder) = &place.folder else { continue };
            let effort = WriterEffort::SHORT;
            let sentences = match single_writer::diagnose(folder.path(), effort, &watch, None) {
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
            result.sentences.extend(sentences.into_iter().map(|one| format!("{label}{one}")));
        }
        progress.done();
        Ok(())
    }
}
