//! `ioscape campaign`: tables of vxbench runs, listed, shown and measured.

mod cell;
mod forecast;
mod room;

pub use cell::measure;
use cell::{at_other_places, runs_before};

use super::single_writer;
use super::vxbench;
use crate::failure::Failure;
use crate::output;
use crate::outputs;
use crate::relay::Relay;
use crate::save::{Keeper, Work};
use ioscape_arguments::{CampaignAction, CampaignArgs, CampaignRunArgs};
use ioscape_machine::Clock;
use ioscape_machine::cgroup::Traffic;
use ioscape_machine::environment;
use ioscape_machine::environment::identity::{self, Identity};
use ioscape_machine::interrupt;
use ioscape_machine::output::Names;
use ioscape_machine::terminal::Progress;
use ioscape_machine::traps;
use ioscape_measure::vxbench::site::CampaignSite;
use ioscape_measure::vxbench::{blocks_may_be_empty, cold_here_alone};
use ioscape_schema::{
    Access, CampaignResult, Document, Environment, RowPlan, VxJob, Warning, WarningKind,
};
use ioscape_study::campaign::{
    Columns, MethodColumns, NotContinued, PlaceColumns, Schedule, add_fillings, budget_spent,
    continued, doubts_of_sizes, filling, has_concurrent_writers, lasting_doubts, left_behind,
    left_s, measured_late, not_measured, place_of, record, sentences, take_back,
};
use ioscape_study::clients::check_files;
use ioscape_study::resume::{self, GivenOptions};
use ioscape_study::writers::WriterEffort;
use ioscape_workload::campaign::{Campaign, CampaignError, Method, SHIPPED, Shipped};
use room::{foreseen, sites};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Runs the command.
///
/// # Errors
/// Misuse before anything is touched; other failures with all finished cells saved.
pub fn main(args: &CampaignArgs, typed: &GivenOptions) -> Result<(), Failure> {
    match &args.action {
        CampaignAction::List => {
            output::print(&Shipped::list().map_err(|e| Failure::Failed(e.to_string()))?)
        }
        CampaignAction::Show { name } => {
            let text = text(name)?;
            let checked = Campaign::parse(&text);
            checked.map_err(|error| Failure::Misuse(format!("{name}: {error}")))?;
            output::print(&text)
        }
        CampaignAction::Run(args) => run(args, typed),
    }
}

/// The text of a campaign, found by name or read from a file.
fn text(name: &str) -> Result<String, Failure> {
    if let Some(shipped) = Shipped::find(name) {
        return Ok(shipped.text.to_owned());
    }
    ioscape_machine::input::read_text(name.as_ref()).map_err(|error| {
        let names: Vec<&str> = SHIPPED.iter().map(|one| one.name).collect();
        let names = names.join(", ");
        let why = "is neither a campaign nor a campaign file";
        Failure::of_input(format!("{name} {why} ({error}): choose from {names}"), &error)
    })
}

fn run(args: &CampaignRunArgs, typed: &GivenOptions) -> Result<(), Failure> {
    let misuse = |error: CampaignError| Failure::Misuse(format!("{}: {error}", args.name));
    let mut campaign = Campaign::parse(&text(&args.name)?).map_err(misuse)?;
    let relay = Relay::of(args.together.clients, None, 1);
    if relay.is_some() {
        args.places.iter().try_for_each(|place| Relay::check_shared(place))?;
    }
    let outputs = names(args).open()?;
    let interrupt = interrupt::flag();
    let earlier = args.resume.as_deref().map(output::read_begun).transpose()?;
    let begun = earlier.as_ref().and_then(Document::campaign).map(|table| table.rounds);
    campaign.rounds = args.rounds.or(begun).unwrap_or(campaign.rounds);
    let whole = campaign.rows(u64::MAX).map_err(misuse)?;
    let identity = identity(args, typed, earlier.as_ref())?;
    let begun_with = identity.get(LARGEST_FILE).and_then(|n| n.parse().ok());
    let largest = args.max_file_size.or(begun_with);
    if args.dry_run {
        let most = largest.map_or_else(|| foreseen(args, &whole), Ok)?;
        let rows = campaign.rows_left(most).map_err(Failure::misuse)?;
        let doubts = doubts_of_sizes(&whole, &rows, most);
        doubts.iter().for_each(|doubt| output::tell(&format!("Note: {}", doubt.message)));
        return forecast::print(args, &campaign, &rows, &interrupt);
    }
    let mut document = output::document(1);
    document.environment.identity = identity;
    let clients = relay.map_or(1, |relay| u64::from(relay.clients));
    let (mut sites, room) = sites(args, &whole, clients, largest)?;
    let most = largest.unwrap_or(room);
    document.environment.identity.insert(LARGEST_FILE.to_owned(), most.to_string());
    let rows = campaign.rows_left(most).map_err(Failure::misuse)?;
    if let (Some(relay), Some(site)) = (relay, sites.first()) {
        let place = site.path.display().to_string();
        check_files(&place, relay.clients, &rows, site.free_bytes).map_err(Failure::Misuse)?;
    }
    let places = sites.iter().map(|site| (&*site.path, &site.file_system));
    if let Some(found) = environment::capture_on_all(places) {
        let identity = std::mem::take(&mut document.environment.identity);
        document.environment = Environment { identity, ..found };
    }
    output::time(&mut document, &Clock::new());
    let before = earlier.as_ref().map(|found| doubts_of_before(found, &document.environment));
    before.into_iter().flatten().for_each(|doubt| document.warn(doubt));
    doubts_of_sizes(&whole, &rows, most).into_iter().for_each(|doubt| document.warn(doubt));
    doubts_of_places(&rows, &sites).into_iter().for_each(|doubt| document.warn(doubt));
    let columns = columns(args, &campaign, &sites)?;
    columns.doubts(&args.name).into_iter().for_each(|doubt| document.warn(doubt));
    let empty = CampaignResult { clients: args.together.clients, ..campaign.table(&args.name) };
    let fresh = columns.table(&rows, empty);
    let late = earlier.as_ref().and_then(Document::campaign).map(left_behind).unwrap_or_default();
    let mut result = match args.resume.as_deref().zip(earlier.as_ref()) {
        None => fresh,
        Some((path, found)) => continued(found, fresh)
            .map_err(|why| Failure::Misuse(format!("--resume {}: {why}", path.display())))?,
    };
    let mut keeper = Keeper::new(Work::Campaign, outputs, &args.out, &document)?;
    if let Some(found) = &earlier {
        document.started_at.clone_from(&found.started_at);
    }
    let work = Table { args, columns: &columns, rows: &rows, interrupt: &interrupt, relay, late };
    let measured = work.all(&mut sites, &mut document, &mut result, &mut keeper);
    add_fillings(&mut result.sentences, fillings(&sites));
    // However it ended, the sentences are about the runs beside them.
    result.sentences.splice(..0, sentences(&result));
    let finished = measured.and_then(|()| has_figures(&result));
    let finished = finished.and_then(|()| work.diagnose_writers(&sites, &mut result));
    document.outcome = Some(result.into());
    conclude(keeper, document, finished, sites)
}

/// Reports how the campaign ended before the files at the `sites` are removed, since an interrupted
/// process that takes long for that may be killed. After a failure they are removed first, since
/// they may occupy the space that the result needs, as on a full disk or under a quota.
fn conclude(
    keeper: Keeper,
    document: Document,
    finished: Result<(), Failure>,
    mut sites: Vec<CampaignSite>,
) -> Result<(), Failure> {
    if matches!(finished, Err(Failure::Failed(_))) {
        sites.clear();
    }
    let told = keeper.conclude(document, finished).map_err(|why| Failure::Told(why.report()));
    drop(sites);
    told
}

/// Fails if no cell was measured, with the reason for the first: a table without figures is not a
/// success.
fn has_figures(table: &CampaignResult) -> Result<(), Failure> {
    let cells = || table.rows.iter().flat_map(|row| &row.cells);
    if cells().any(|cell| !cell.samples.is_empty()) {
        return Ok(());
    }
    let why = cells().find_map(|cell| cell.impossible.as_deref()).unwrap_or("there was no time");
    Err(Failure::Failed(format!("no cell was measured: {why}")))
}

/// The warnings about cells measured earlier, and about a table begun on a system that has changed
/// since.
fn doubts_of_before(earlier: &Document, now: &Environment) -> Vec<Warning> {
    let changed = resume::changed_since(&earlier.environment, now);
    lasting_doubts(earlier).cloned().chain(changed).collect()
}

/// The warnings that cold files and direct I/O show little about places whose data comes from a
/// server or another program, that reads show little about devices, and about what requests pass
/// on their way to a device.
fn doubts_of_places(rows: &[RowPlan], sites: &[CampaignSite]) -> Vec<Warning> {
    let cells = || rows.iter().flat_map(|row| &row.cells);
    let has = |what: fn(&VxJob) -> bool| cells().any(|cell| what(&cell.job));
    let (is_cold, is_direct) = (has(|job| job.cold), has(VxJob::is_direct));
    let reads_devices = cells().any(|cell| cell.raw && cell.job.workload.reads());
    let devices = sites.iter().filter(|site| reads_devices && site.is_named_device());
    let empty = devices.filter_map(|site| blocks_may_be_empty(&site.file_system));
    let remote = sites.iter().filter(|site| site.file_system.is_network_or_fuse);
    let of = |site: &CampaignSite| {
        let cold = cold_here_alone(&site.file_system).filter(|_| is_cold);
        let all = traps::judge(&site.file_system, Access::Direct, false);
        let direct = |doubt: &Warning| is_direct && doubt.kind == WarningKind::DirectWithoutDevice;
        cold.into_iter().chain(all.into_iter().filter(direct)).collect::<Vec<_>>()
    };
    let access = match is_direct {
        true => Access::Direct,
        false if has(VxJob::is_synced) => Access::Dsync,
        false => Access::Buffered,
    };
    let (reads, writes) = (has(|job| job.workload.reads()), has(|job| job.workload.writes()));
    let below = |site: &CampaignSite| {
        let lays_out = !site.is_named_device();
        traps::below(&site.file_system, Traffic { access, reads, writes, lays_out })
    };
    let below = sites.iter().flat_map(below);
    remote.flat_map(of).chain(empty).chain(below).collect()
}

/// What the file systems were filled with.
fn fillings(sites: &[CampaignSite]) -> Vec<String> {
    let of = |site: &CampaignSite| {
        let told = site.fillings().iter();
        let told =
            told.map(|(fill, it)| filling(&site.label, *fill, it.files, it.bytes, it.percent));
        told.collect::<Vec<_>>()
    };
    sites.iter().flat_map(of).collect()
}

fn columns(
    args: &CampaignRunArgs,
    campaign: &Campaign,
    sites: &[CampaignSite],
) -> Result<Columns, Failure> {
    let head = |one: &Method| MethodColumns { name: one.name.clone(), raw: one.raw };
    let methods: Vec<MethodColumns> = campaign.method.iter().map(head).collect();
    let place = |site: &CampaignSite| PlaceColumns {
        label: site.label.clone(),
        path: site.path.display().to_string(),
        file_system: site.file_system.name.clone(),
        raw: site.folder().is_none(),
        made_by: site.made_by.clone(),
        mount_options: site.file_system.mount_options.clone(),
    };
    let places: Vec<PlaceColumns> = sites.iter().map(place).collect();
    let columns = Columns::new(&places, &methods);
    columns.check(&args.name, &places).map_err(Failure::Misuse)?;
    Ok(columns)
}

/// The identity's name for the file size, in bytes, that the free space allowed when the campaign
/// began.
const LARGEST_FILE: &str = "largest file";

/// What distinguishes this campaign from others, and from itself elsewhere or with other options;
/// refuses to continue those.
fn identity(
    args: &CampaignRunArgs,
    typed: &GivenOptions,
    earlier: Option<&Document>,
) -> Result<Identity, Failure> {
    let before = args.resume.as_deref().zip(earlier);
    if let Some((path, _)) = before.filter(|(_, found)| found.campaign().is_none()) {
        let (path, why) = (path.display(), NotContinued::OtherKind);
        return Err(Failure::Misuse(format!("--resume {path}: {why}")));
    }
    let text = format!("{:016x}", identity::hash(text(&args.name)?.as_bytes()));
    let places = args.places.len().to_string();
    let work = [("campaign file".to_owned(), text), ("number of places".to_owned(), places)].into();
    let label = |number: usize| match args.places.len() {
        1 => "place".to_owned(),
        _ => format!("place {}", number + 1),
    };
    let places = args.places.iter().enumerate().map(|(n, path)| (label(n), path.as_path()));
    let before = before.map(|(path, found)| (path, &found.environment));
    // More rounds and more time only add to the existing cells.
    let options = typed.without(&["--rounds", "--budget"]);
    let here = identity::of_work(places, work);
    resume::identity(before, here, &options).map_err(Failure::misuse)
}

/// The command's inputs and outputs.
fn names(args: &CampaignRunArgs) -> Names {
    let names = outputs::names_of(&args.out).reads("the campaign", [&args.name]);
    names.reads("--resume", &args.resume).reads("the place", &args.places)
}

/// What is to be done, and where it is saved on the way.
struct Table<'a> {
    args: &'a CampaignRunArgs,
    columns: &'a Columns,
    rows: &'a [RowPlan],
    interrupt: &'a Arc<AtomicBool>,
    /// The clients that measure instead of this process.
    relay: Option<Relay>,
    /// Cells that were impossible when others of their row were measured, by row and column.
    late: Vec<[usize; 2]>,
}

/// The progress of a round.
struct Round {
    /// Its number, from 0.
    round: usize,
    /// Whether a cell was measured in it, now or before the table was continued.
    is_measured: bool,
    /// Why a cell that was measured in other rounds was refused in this one.
    refused: Option<String>,
}

impl Round {
    /// Returns the state of a round of `table` as it begins.
    fn of(round: usize, table: &CampaignResult) -> Self {
        let mut cells = table.rows.iter().flat_map(|row| &row.cells);
        let is_measured = cells.any(|cell| cell.samples.len() > round);
        Self { round, is_measured, refused: None }
    }

    /// Moves on to this round of `table`, unless it is the current one.
    fn enter(&mut self, round: usize, table: &CampaignResult) -> Result<(), Failure> {
        if round == self.round {
            return Ok(());
        }
        std::mem::replace(self, Self::of(round, table)).end()
    }

    /// Fails if nothing was measured in the round: a reason that refuses all cells is not
    /// temporary.
    fn end(self) -> Result<(), Failure> {
        match self.refused {
            Some(why) if !self.is_measured => Err(Failure::Failed(why)),
            _ => Ok(()),
        }
    }
}

impl Table<'_> {
    /// Measures all cells that are due, step by step, and saves after each step.
    fn all(
        &self,
        sites: &mut [CampaignSite],
        document: &mut Document,
        result: &mut CampaignResult,
        keeper: &mut Keeper,
    ) -> Result<(), Failure> {
        let begun = Instant::now();
        let schedule = Schedule { rounds: result.rounds as usize, rows: self.rows.len() };
        let progress = Progress::of_evaluation(1.0);
        let (mut done, steps_due) = (0, schedule.steps_due(result));
        let mut course = Round::of(0, result);
        for step in 0..schedule.steps() {
            let due = schedule.due(step, result);
            if due.is_empty() {
                continue;
            }
            let spent_s = begun.elapsed().as_secs_f64();
            if self.args.budget.is_some_and(|budget_s| spent_s > budget_s) {
                document.warn(budget_spent(schedule, step));
                progress.done();
                return Ok(());
            }
            let (round, row) = schedule.round_and_row(step);
            course.enter(round, result)?;
            let left_s = left_s(spent_s, done, steps_due);
            progress.advance(spent_s, left_s, &format!("round {} row {}", round + 1, row + 1));
            for column in due {
                let doubts = self.cell([row, column], sites, result, &mut course, &progress)?;
                // Reported once, however many rounds have it.
                doubts.into_iter().for_each(|doubt| document.warn_once(doubt));
            }
            done += 1;
            take_back(&mut document.warnings, result);
            keeper.save(document, result.clone());
        }
        progress.done();
        course.end()
    }

    /// Measures one cell once; returns the warnings about its figures.
    fn cell(
        &self,
        [row, column]: [usize; 2],
        sites: &mut [CampaignSite],
        result: &mut CampaignResult,
        course: &mut Round,
        progress: &Progress,
    ) -> Result<Vec<Warning>, Failure> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted("interrupted".to_owned()));
        }
        let (site, method) = self.columns.arms[column];
        let taken = result.rows[row].cells[column].samples.len();
        let extent = [self.rows.len(), self.columns.arms.len()];
        let runs_before = runs_before(taken, [row, column], extent);
        let plan = &at_other_places(&self.rows[row].cells[method], runs_before);
        let place = place_of([row, column]);
        let watch = vxbench::watch(self.interrupt, progress);
        let found = match self.relay {
            Some(relay) => relay.cell(plan),
            None => measure(&mut sites[site], plan, &watch, self.args.destroy_data),
        };
        let (found, mut doubts) = match found {
            Ok((sample, doubts)) => (Ok(sample), doubts),
            // Measuring was possible before and may be again: another program may have taken the
            // space.
            Err(Failure::Misuse(why)) if taken > 0 => {
                let doubt = not_measured(course.round, &why).at(place);
                course.refused = Some(why);
                return Ok(vec![doubt]);
            }
            Err(Failure::Misuse(why)) => (Err(why), Vec::new()),
            Err(other) => return Err(other),
        };
        course.is_measured |= found.is_ok();
        let is_late = self.late.contains(&[row, column]) || taken < course.round;
        if found.is_ok() && is_late {
            doubts.push(measured_late());
        }
        record(&mut result.rows[row], column, found);
        Ok(doubts.into_iter().map(|doubt| doubt.at(&place)).collect())
    }

    /// Adds whether writers to one file wait for one another, if that matters.
    fn diagnose_writers(
        &self,
        sites: &[CampaignSite],
        result: &mut CampaignResult,
    ) -> Result<(), Failure> {
        // Several clients do not share a file.
        if self.relay.is_some() || !has_concurrent_writers(self.rows) {
            return Ok(());
        }
        let progress = Progress::of_jobs(0, 1, "single writer");
        let watch = vxbench::watch(self.interrupt, &progress);
        for site in sites {
            let Some(folder) = site.folder() else { continue };
            let effort = WriterEffort::SHORT;
            let sentences = match single_writer::diagnose(folder, effort, &watch, None) {
                Ok(diagnosis) => diagnosis.found.into_iter().map(|one| one.sentence).collect(),
                Err(interrupted @ Failure::Interrupted(_)) => return Err(interrupted),
                Err(failure) => {
                    vec![format!(
                        "Whether writers wait for one another was not measured: {failure}."
                    )]
                }
            };
            // The sentences already name the file system.
            let named = site.label == site.file_system.name;
            let label = if named { String::new() } else { format!("{}: ", site.label) };
            result.sentences.extend(sentences.into_iter().map(|one| format!("{label}{one}")));
        }
        progress.done();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{CampaignCell, CampaignRow, CampaignSample};

    /// Guards against a defect: a file system that was full for a while at night ended a weekend's
    /// campaign, including its part on another disk.
    #[test]
    fn only_a_round_in_which_every_cell_is_refused_ends_a_campaign() {
        let refused = |is_measured| {
            let refused = Some("500 MB is left".to_owned());
            let mut course = Round { round: 3, is_measured, refused };
            let table = CampaignResult::default();
            assert!(course.enter(3, &table).is_ok(), "it goes on");
            course.enter(4, &table).and_then(|()| course.end())
        };
        assert!(refused(true).is_ok());
        assert!(matches!(refused(false), Err(Failure::Failed(why)) if why == "500 MB is left"));
    }

    /// Guards against a defect: in a continued table, a row that lacked rounds and found no space
    /// ended the campaign before the other row got its new rounds.
    #[test]
    fn a_round_that_others_have_had_before_does_not_end_a_campaign() {
        let row = |count| {
            let samples = vec![CampaignSample::default(); count];
            let cells = vec![CampaignCell { samples, ..CampaignCell::default() }];
            CampaignRow { settings: Vec::new(), cells }
        };
        let table = CampaignResult { rows: vec![row(10), row(8)], ..CampaignResult::default() };
        let refused_in = |round| {
            let refused = Some("500 MB is left".to_owned());
            Round { refused, ..Round::of(round, &table) }.end()
        };
        assert!(refused_in(8).is_ok() && refused_in(9).is_ok());
        assert!(refused_in(10).is_err(), "all were refused");
    }
}
