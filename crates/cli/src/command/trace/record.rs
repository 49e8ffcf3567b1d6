//! `ioscape trace record`: gathers the kernel's events, and writes them to files with the types of
//! their blocks.

use super::convert;
use crate::failure::{Failure, both, no_thread};
use crate::output;
use crate::outputs;
use crate::traces::Output;
use ioscape_arguments::{FileArgs, RecordArgs};
use ioscape_machine::interrupt;
use ioscape_machine::output::{Destination, Rotation, is_standard_output};
use ioscape_machine::terminal::Progress;
use ioscape_machine::thread::builder;
use ioscape_observe::record::{
    BUFFER_BYTES, Cuts, DISKS, DISKS_NOT_SEEN, Gathered, Maps, OwnRequests, RECORDING,
    RecordOptions, RecordedCommand, RecordedDisk, RecordedPart, Recorder, RecordingSource,
    SpoolFolder, gather, this_thread,
};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Document, TraceFile};
use ioscape_trace::ring::{Layout, Part, Parts};
use ioscape_trace::slow::{COLUMNS, Slow};
use ioscape_trace::{BlockTypes, OutFormat, Recorded, Source};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Instant;

/// Time between two checks of the free space, in seconds.
const SPACE_S: f64 = 1.0;

/// Seconds from a part's start on whose files may already exist: twelve days.
const MOST_TAKEN: usize = 1 << 20;

/// Runs the command.
///
/// # Errors
/// No permission to record, a disk does not exist, or a place cannot be written or is nearly full.
pub fn record(args: &RecordArgs) -> Result<(), Failure> {
    let mut document = output::document(0);
    let disks = RecordedDisk::chosen(&args.device, &args.path)?;
    let whole = args.rotate.is_none().then(|| destination(args, &args.out.output)).transpose()?;
    let interrupted = interrupt::flag();
    let spool = spool(&args.out)?;
    let options = RecordOptions {
        disks: disks.clone(),
        buffer_bytes: args.buffer.unwrap_or(BUFFER_BYTES),
        spool: Some(&spool),
    };
    let mut recorder = Recorder::start(&options)?;
    let place = spool.path().display();
    output::tell(&format!("recording\nif this is killed, what it gathered is in {place}"));
    let command = RecordedCommand::start(&args.command, output::is_for_result(args.out.json))?;
    let source = recorder.source();
    tell_notes(&source);
    let progress = args.seconds.map_or_else(Progress::of_rows, Progress::of_evaluation);
    let since = OnceLock::new();
    let mut watch = Watch::new(args.seconds, &progress, &interrupted, &since, &spool);
    let (give, parts) = channel();
    let (recorded, begun) = (AtomicBool::new(false), Instant::now());
    let (ended, files) = thread::scope(|scope| -> Result<_, Failure> {
        let maps = Maps {
            disks: &disks,
            interrupted: &interrupted,
            recorded: &recorded,
            begun,
            since: &since,
        };
        let folder = &spool;
        let write = move || Files::new(args, maps, source, whole, folder)?.write(&parts);
        let files = builder().and_then(|one| one.spawn_scoped(scope, write)).map_err(no_thread)?;
        let mut on_part = |part| {
            // A place that cannot be written ends the recording.
            if give.send((part, 0)).is_err() || files.is_finished() {
                interrupted.store(true, Ordering::Relaxed);
            }
        };
        let mut cuts = Cuts { every_s: args.rotate, on_part: &mut on_part };
        let show = &mut |now| watch.show(now);
        let gathered = gather(&mut recorder, command, args.seconds, &interrupted, &mut cuts, show);
        recorded.store(true, Ordering::Relaxed);
        progress.done();
        let ended = gathered.and_then(|ended| recorder.stop().map(|last| (ended, last)));
        let ended = ended.map(|(ended, last)| {
            // A thread that ended gives the reason when it is joined.
            let _ = give.send((last, ended.left_bytes));
            ended.complaint
        });
        drop(give);
        Ok((ended, files.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))))
    })?;
    let full = watch.full;
    let (files, ended) = match (files, ended.map_err(Failure::from)) {
        (Ok(files), Ok(ended)) => (files, ended),
        (Err(failure), _) | (_, Err(failure)) => return Err(kept(spool, failure)),
    };
    drop(spool);
    document.interrupted = interrupted.load(Ordering::Relaxed);
    finish(args, document, files, full, ended)
}

/// Shows the progress of a recording, and ends it before it takes the last free space from other
/// writers.
struct Watch<'a> {
    /// The intended duration.
    seconds: Option<f64>,
    progress: &'a Progress,
    interrupted: &'a AtomicBool,
    since: &'a OnceLock<Instant>,
    spool: &'a SpoolFolder,
    /// When the free space is checked next, in seconds since the start.
    looks_s: f64,
    /// The message if lack of space ended the recording.
    full: Option<String>,
}

impl<'a> Watch<'a> {
    fn new(
        seconds: Option<f64>,
        progress: &'a Progress,
        interrupted: &'a AtomicBool,
        since: &'a OnceLock<Instant>,
        spool: &'a SpoolFolder,
    ) -> Self {
        // The free space was checked before the start.
        Self { seconds, progress, interrupted, since, spool, looks_s: SPACE_S, full: None }
    }

    /// Whether to check the free space: lack of space does not end a recording that is complete.
    fn is_due(&self, now: Gathered) -> bool {
        !now.is_last && now.spent_s >= self.looks_s
    }

    fn show(&mut self, now: Gathered) {
        if self.is_due(now) {
            self.looks_s = now.spent_s + SPACE_S;
            self.leave_space();
        }
        if self.interrupted.load(Ordering::Relaxed) {
            self.since.get_or_init(Instant::now);
        }
        let events = format!("{} of events", Bytes(now.bytes as f64));
        match self.seconds {
            Some(all) => self.progress.advance(now.spent_s, (all - now.spent_s).max(0.0), &events),
            None => self.progress.doing(&events),
        }
    }

    fn leave_space(&mut self) {
        let Some(free) = self.spool.last_bytes().filter(|_| self.full.is_none()) else { return };
        self.full = Some(format!(
            "the recording ended because only {} are free where it gathers events, {}: make room there, or write the trace elsewhere (-o)",
            Bytes(free as f64),
            self.spool.path().display()
        ));
        self.interrupted.store(true, Ordering::Relaxed);
    }
}

fn finish(
    args: &RecordArgs,
    mut document: Document,
    files: Vec<TraceFile>,
    full: Option<String>,
    ended: Option<(u8, String)>,
) -> Result<(), Failure> {
    convert::finish(&mut document, files);
    let told = output::show_beside(&document, args.out.json);
    both(ending(args, document.interrupted, full, ended), told)
}

/// How the command ends: as the recorded command did, unless it was interrupted or ended because
/// the space was `full`. A recording in parts that nothing else would end is complete when it is
/// interrupted.
fn ending(
    args: &RecordArgs,
    interrupted: bool,
    full: Option<String>,
    ended: Option<(u8, String)>,
) -> Result<(), Failure> {
    let place = if args.rotate.is_some() { "in the files named after" } else { "in" };
    let file = args.out.output.display();
    let until = format!("what was recorded until then is {place} {file}");
    if let Some(why) = full {
        return Err(Failure::Failed(format!("{why}; {until}")));
    }
    let goes_on = args.rotate.is_some() && args.seconds.is_none() && args.command.is_empty();
    if interrupted && !goes_on {
        return Err(Failure::Interrupted(format!("interrupted; {until}")));
    }
    ended.map_or(Ok(()), |(code, text)| Err(Failure::Command { code, text }))
}

/// Creates a folder for the events until they become a trace: beside the output, unless that is not
/// a file but a device or a pipe.
fn spool(out: &FileArgs) -> Result<SpoolFolder, Failure> {
    let output = out.output.as_path();
    let is_file =
        !is_standard_output(output) && output.metadata().map_or(true, |found| found.is_file());
    let beside = output.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let elsewhere = std::env::temp_dir();
    let folder = if is_file { beside } else { &elsewhere };
    let mut name = output.file_name().unwrap_or_default().to_owned();
    name.push(".recording-");
    let made = tempfile::Builder::new().prefix(&name).tempdir_in(folder);
    let made = made.map_err(|e| {
        Failure::Misuse(format!("cannot make a folder in {}: {e}", folder.display()))
    })?;
    let held = SpoolFolder::open(made.path())?;
    // `SpoolFolder` removes the folder that it holds, whatever has its name by then.
    let _ = made.keep();
    has_room(held.last_bytes(), folder)?;
    Ok(held)
}

/// Refuses a folder with too little free space: the recording, and the command that it started,
/// would end at once.
fn has_room(last_bytes: Option<u64>, folder: &Path) -> Result<(), Failure> {
    let Some(free) = last_bytes else { return Ok(()) };
    Err(Failure::Misuse(format!(
        "only {} are free in {}, where the events would be gathered, and others need some: make room there, or write the trace elsewhere (-o)",
        Bytes(free as f64),
        folder.display()
    )))
}

/// Leaves gathered events that are not yet a trace to the user.
fn kept(spool: SpoolFolder, failure: Failure) -> Failure {
    let place = spool.keep();
    failure.with(&format!(
        "; what was gathered lies in {}: `ioscape trace import` reads its files together",
        place.display()
    ))
}

fn destination(args: &RecordArgs, path: &Path) -> Result<Destination, Failure> {
    Output::destination(outputs::names(args.out.force), path, OutFormat::Parquet)
}

/// Reports which of the recorder's own requests will be recorded, and which disks' requests are
/// recorded elsewhere or not at all.
pub(super) fn tell_notes(source: &RecordingSource) {
    notes(source).for_each(|text| output::tell(text));
}

/// The notes that the user should see before a night's recording, not only in its analysis.
fn notes(source: &RecordingSource) -> impl Iterator<Item = &String> {
    let names = [RECORDING, DISKS, DISKS_NOT_SEEN].into_iter();
    names.filter_map(move |name| source.info.notes.get(name))
}

/// Converts a part for the decoder.
///
/// # Errors
/// Its pages cannot be read.
pub(super) fn part_of(part: RecordedPart) -> Result<Part, Failure> {
    let pages = |(cpu, mut pages): (usize, File)| {
        let name = format!("CPU {cpu}'s events");
        pages.seek(SeekFrom::Start(part.head_bytes)).map(|_| Source::stream(name, pages))
    };
    let cpus = part.cpus.into_iter().enumerate().map(pages).collect::<Result<_, _>>();
    let cpus =
        cpus.map_err(|e| Failure::Failed(format!("cannot read the recorded events: {e}")))?;
    let RecordedPart { until_ns, stopped_ns, lost_by_cpu, unix_offset_ns, .. } = part;
    let unix_offset_ns = Some(unix_offset_ns);
    Ok(Part { cpus, until_ns, stopped_ns, lost_by_cpu, unix_offset_ns })
}

/// Parts of a recording on their way to their files.
struct Files<'a> {
    args: &'a RecordArgs,
    spool: &'a SpoolFolder,
    maps: Maps<'a>,
    parts: Parts,
    rotation: Option<Rotation>,
    /// The destination of a recording in one part.
    whole: Option<Destination>,
    /// What the blocks held when the recording began, and later when the previous part ended.
    before: BlockTypes,
    /// What the previous part left to be written back.
    left: Option<OwnRequests>,
    /// When the next part begins, on the events' clock.
    begins_ns: i64,
    /// The seconds used as file names so far.
    named_s: BTreeSet<i64>,
}

impl<'a> Files<'a> {
    fn new(
        args: &'a RecordArgs,
        maps: Maps<'a>,
        source: RecordingSource,
        whole: Option<Destination>,
        spool: &'a SpoolFolder,
    ) -> Result<Self, Failure> {
        let layout = Layout::parse(&source.header_page, &source.formats)
            .map_err(|e| Failure::Failed(e.to_string()))?;
        Ok(Self {
            args,
            spool,
            begins_ns: i64::try_from(source.begins_ns).unwrap_or(0),
            parts: Parts::new(layout, &source.devices, source.info),
            rotation: args
                .rotate
                .map(|_| Rotation::new(&args.out.output, args.keep.map(|keep| keep as usize))),
            whole,
            before: maps.at_begin().map(BlockTypes::new).unwrap_or_default(),
            maps,
            left: None,
            named_s: BTreeSet::new(),
        })
    }

    /// Writes all parts as they arrive, each with the bytes that were still in memory when the
    /// command ended; returns the files that still exist.
    fn write(mut self, parts: &Receiver<(RecordedPart, u64)>) -> Result<Vec<TraceFile>, Failure> {
        let mut told: Vec<TraceFile> = Vec::new();
        let mut refused = BTreeSet::new();
        for (part, left_bytes) in parts {
            let written = self.one(part, left_bytes)?;
            let pruned =
                self.rotation.as_ref().map(|rotation| rotation.prune(Path::new(&written.path)));
            told.push(written);
            let Some(pruned) = pruned else { continue };
            told.retain(|file| pruned.gone.iter().all(|path| *path != Path::new(&file.path)));
            // A file that cannot be removed does not end a long recording; it is reported once.
            for text in pruned.refused {
                if refused.insert(text.clone()) {
                    output::tell(&text);
                }
            }
        }
        Ok(told)
    }

    fn one(&mut self, part: RecordedPart, left_bytes: u64) -> Result<TraceFile, Failure> {
        let mut own = part.own()?;
        own.with_thread(this_thread());
        let later = own.clone();
        self.left.take().iter().for_each(|left| own.with(left));
        let destination = match self.whole.take() {
            Some(whole) => whole,
            None => destination(self.args, &self.path(part.unix_offset_ns))?,
        };
        let slow = self.args.latency_above.map(Slow::new);
        let columns = if slow.is_some() { &COLUMNS[..] } else { &[] };
        let (file, writer) = Output::with_columns(destination, OutFormat::Parquet, columns)?;
        let (now, before, note) = self.types();
        let (until_ns, spooled) = (part.until_ns, part.names.clone());
        let mut reader = self.parts.begin(part_of(part)?)?;
        let is_own = |io: &_| own.contains(io);
        let recorded = Recorded {
            is_own: &is_own,
            maps: [now.as_ref().unwrap_or(&before), &before],
            slow,
            note,
            left_bytes,
        };
        let progress = Progress::of_rows();
        let rows = &mut |rows| progress.rows(rows);
        let told = recorded.write(&mut reader, writer, rows);
        let name = file.path().display().to_string();
        let told = told.map_err(|e| Failure::of_trace(&name, e))?;
        progress.done();
        self.parts.end(reader);
        self.left = Some(later);
        self.before = now.unwrap_or(before);
        self.begins_ns = until_ns.and_then(|until| i64::try_from(until).ok()).unwrap_or(0);
        let (format, path) = (OutFormat::Parquet.name(), file.path().display().to_string());
        let file_bytes = file.keep()?;
        self.spool.remove(&spooled);
        Ok(TraceFile { format: format.to_owned(), path, file_bytes, ..told })
    }

    /// What the blocks hold now and held before; if that comes too late, a note for the trace.
    fn types(&mut self) -> (Option<BlockTypes>, BlockTypes, Option<(&'static str, String)>) {
        let before = std::mem::take(&mut self.before);
        if let Some(now) = self.maps.at_end().map(BlockTypes::new) {
            return (Some(now), before, None);
        }
        let text = "as it was when the recording began, where it is known: the file systems took too long to answer again";
        output::tell(&format!("what the blocks hold: {text}"));
        (None, before.outlived(), Some(("what the blocks hold", text.to_owned())))
    }

    /// The file of the next part, given the offset of the wall clock from the events' clock.
    fn path(&mut self, unix_offset_ns: i64) -> std::path::PathBuf {
        let Some(rotation) = &self.rotation else { return self.args.out.output.clone() };
        let named_after = |second| {
            let begins = jiff::Timestamp::from_second(second).unwrap_or_default();
            rotation.name(&begins.strftime("%Y%m%dT%H%M%SZ").to_string())
        };
        let begins_s = self.begins_ns.saturating_add(unix_offset_ns).div_euclid(1_000_000_000);
        // In a shared directory, a name taken by another user must not end a long recording.
        let is_free = |second| named_after(second).symlink_metadata().is_err();
        let path = named_after(name_s(&mut self.named_s, begins_s, is_free));
        if !is_free(begins_s) {
            let taken = named_after(begins_s);
            let (taken, path) = (taken.display(), path.display());
            output::tell(&format!("{taken} is there already: {path} is written instead"));
        }
        path
    }
}

/// The second that names a file beginning at `begins_s`: the next one without a file. A late check,
/// or a clock that was set back, must not give two files one name.
fn name_s(named_s: &mut BTreeSet<i64>, begins_s: i64, is_free: impl Fn(i64) -> bool) -> i64 {
    let mut seconds = (begins_s..).take(MOST_TAKEN);
    seconds.find(|second| is_free(*second) && named_s.insert(*second)).unwrap_or(begins_s)
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
