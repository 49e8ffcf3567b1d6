//! `ioscape trace record`: gathers the kernel's events, and makes files of them with the types of their blocks.

use super::convert;
use crate::failure::{Failure, both, no_thread};
use crate::output;
use crate::outputs;
use crate::traces::Output;
use ioscape_arguments::{FileArgs, RecordArgs};
use ioscape_machine::interrupt;
use ioscape_machine::output::{Destination, Rotation};
use ioscape_machine::terminal::Progress;
use ioscape_machine::thread::builder;
use ioscape_observe::record::{
    BUFFER_BYTES, Cuts, DISKS, DISKS_NOT_SEEN, Gathered, Maps, OwnRequests, RecordOptions,
    RecordedCommand, RecordedDisk, RecordedPart, Recorder, RecordingSource, SpoolFolder, gather,
    this_thread,
};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Document, TraceFile};
use ioscape_trace::ring::{Layout, Part, Parts};
use ioscape_trace::slow::{COLUMNS, Slow};
use ioscape_trace::{BlockTypes, OutFormat, Recorded, Source};
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Instant;

/// Records.
///
/// # Errors
/// No right to record, a disk that does not exist, or a place that cannot be written.
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
    let command = RecordedCommand::start(&args.command)?;
    let source = recorder.source();
    tell_disks(&source);
    let progress = args.seconds.map_or_else(Progress::of_rows, Progress::of_evaluation);
    let since = OnceLock::new();
    let mut show = |now: Gathered| {
        if interrupted.load(Ordering::Relaxed) {
            since.get_or_init(Instant::now);
        }
        let events = format!("{} of events", Bytes(now.bytes as f64));
        match args.seconds {
            Some(all) => progress.advance(now.spent_s, (all - now.spent_s).max(0.0), &events),
            None => progress.doing(&events),
        }
    };
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
            if give.send(part).is_err() || files.is_finished() {
                interrupted.store(true, Ordering::Relaxed);
            }
        };
        let mut cuts = Cuts { every_s: args.rotate, on_part: &mut on_part };
        let gathered =
            gather(&mut recorder, command, args.seconds, &interrupted, &mut cuts, &mut show);
        recorded.store(true, Ordering::Relaxed);
        progress.done();
        let ended = gathered.and_then(|ended| recorder.stop().map(|last| (ended, last)));
        let ended = ended.map(|(ended, last)| {
            // A thread that ended says why when it is joined.
            let _ = give.send(last);
            ended
        });
        drop(give);
        Ok((ended, files.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))))
    })?;
    let (files, ended) = match (files, ended.map_err(Failure::from)) {
        (Ok(files), Ok(ended)) => (files, ended),
        (Err(failure), _) | (_, Err(failure)) => return Err(kept(spool, failure)),
    };
    drop(spool);
    document.interrupted = interrupted.load(Ordering::Relaxed);
    finish(args, document, files, ended)
}

fn finish(
    args: &RecordArgs,
    mut document: Document,
    files: Vec<TraceFile>,
    ended: Option<(u8, String)>,
) -> Result<(), Failure> {
    convert::finish(&mut document, files);
    let told = output::show_beside(&document, args.out.json);
    both(ending(args, document.interrupted, ended), told)
}

/// How the command ends: as the recorded one did, unless it was interrupted. A recording in parts that nothing else would end is whole then.
fn ending(
    args: &RecordArgs,
    interrupted: bool,
    ended: Option<(u8, String)>,
) -> Result<(), Failure> {
    let goes_on = args.rotate.is_some() && args.seconds.is_none() && args.command.is_empty();
    if interrupted && !goes_on {
        let place = if args.rotate.is_some() { "in the files named after" } else { "in" };
        let file = args.out.output.display();
        let text = format!("interrupted; what was recorded until then is {place} {file}");
        return Err(Failure::Interrupted(text));
    }
    ended.map_or(Ok(()), |(code, text)| Err(Failure::Command { code, text }))
}

/// A folder for what is gathered until it is a trace: beside the output, unless that is no file, as a device in `/dev` or a pipe.
fn spool(out: &FileArgs) -> Result<SpoolFolder, Failure> {
    let output = out.output.as_path();
    let is_file = !out.is_standard() && output.metadata().map_or(true, |found| found.is_file());
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
    // It is removed as the folder that it is, and not by its name.
    let _ = made.keep();
    Ok(held)
}

/// Leaves what was gathered and is no trace for its user.
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

/// Says of which disks the requests are recorded elsewhere, or not at all.
pub(super) fn tell_disks(source: &RecordingSource) {
    let notes = [DISKS, DISKS_NOT_SEEN].map(|name| source.info.notes.get(name));
    notes.into_iter().flatten().for_each(|text| output::tell(text));
}

/// A part as the decoder takes it.
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
    Ok(Part { cpus, until_ns: part.until_ns, lost_by_cpu: part.lost_by_cpu })
}

/// Parts of a recording on their way to their files.
struct Files<'a> {
    args: &'a RecordArgs,
    spool: &'a SpoolFolder,
    maps: Maps<'a>,
    parts: Parts,
    rotation: Option<Rotation>,
    /// Where a recording of one part goes.
    whole: Option<Destination>,
    /// What the blocks held when the recording began, then when the part before ended.
    before: BlockTypes,
    /// What the part before left to be written back.
    left: Option<OwnRequests>,
    begins_unix_ns: i64,
    unix_offset_ns: i64,
    /// The second that the latest file is named after.
    named_s: i64,
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
            unix_offset_ns: source.info.started_unix_ns.unwrap_or(0),
            parts: Parts::new(layout, &source.devices, source.info),
            rotation: args
                .rotate
                .map(|_| Rotation::new(&args.out.output, args.keep.map(|keep| keep as usize))),
            whole,
            before: maps.at_begin().map(BlockTypes::new).unwrap_or_default(),
            maps,
            left: None,
            begins_unix_ns: jiff::Timestamp::now().as_nanosecond() as i64,
            named_s: 0,
        })
    }

    /// Writes all parts that come; those files that are still there.
    fn write(mut self, parts: &Receiver<RecordedPart>) -> Result<Vec<TraceFile>, Failure> {
        let mut told: Vec<TraceFile> = Vec::new();
        for part in parts {
            told.push(self.one(part)?);
            let Some(rotation) = &self.rotation else { continue };
            let gone = rotation.prune();
            let gone = gone.map_err(|e| Failure::of_write("the files beyond --keep", &e))?;
            told.retain(|file| gone.iter().all(|path| *path != Path::new(&file.path)));
        }
        Ok(told)
    }

    fn one(&mut self, part: RecordedPart) -> Result<TraceFile, Failure> {
        let mut own = part.own()?;
        own.with_thread(this_thread());
        let later = own.clone();
        self.left.take().iter().for_each(|left| own.with(left));
        let destination = match self.whole.take() {
            Some(whole) => whole,
            None => destination(self.args, &self.path())?,
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
        let until_ns = until_ns.and_then(|until| i64::try_from(until).ok());
        self.begins_unix_ns = until_ns.unwrap_or(0).saturating_add(self.unix_offset_ns);
        let (format, path) = (OutFormat::Parquet.name(), file.path().display().to_string());
        let file_bytes = file.keep()?;
        self.spool.remove(&spooled);
        Ok(TraceFile { format: format.to_owned(), path, file_bytes, ..told })
    }

    /// What the blocks hold now and held before; where it cannot be had in time, what the trace is to say of that.
    fn types(&mut self) -> (Option<BlockTypes>, BlockTypes, Option<(&'static str, String)>) {
        let before = std::mem::take(&mut self.before);
        if let Some(now) = self.maps.at_end().map(BlockTypes::new) {
            return (Some(now), before, None);
        }
        let text = "as it was when the recording began, where it is known: the file systems took too long to answer again";
        output::tell(&format!("what the blocks hold: {text}"));
        (None, before.outlived(), Some(("what the blocks hold", text.to_owned())))
    }

    /// The file of the part that begins now.
    fn path(&mut self) -> std::path::PathBuf {
        // A look that came late must not give two files one name.
        self.named_s = self.begins_unix_ns.div_euclid(1_000_000_000).max(self.named_s + 1);
        let begins = jiff::Timestamp::from_second(self.named_s);
        let begins = begins.unwrap_or_default().strftime("%Y%m%dT%H%M%SZ").to_string();
        let whole = || self.args.out.output.clone();
        self.rotation.as_ref().map_or_else(whole, |rotation| rotation.name(&begins))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use ioscape_arguments::{Cli, Command, TraceCommand};

    /// How a recording with these words ends that is interrupted, and ends its own command, if it has one, by a signal.
    fn interrupted(words: &str) -> Result<(), Failure> {
        let line = format!("ioscape trace record -o a.parquet {words}");
        let parsed = Cli::try_parse_from(line.split_whitespace()).expect("a command");
        let Command::Trace(args) = parsed.command else { panic!("another command") };
        let TraceCommand::Record(args) = args.command else { panic!("another command") };
        let ended = (!args.command.is_empty()).then(|| (143, "it was ended".to_owned()));
        ending(&args, true, ended)
    }

    /// In parts it passed on the exit code of the command that it had ended itself.
    #[test]
    fn an_interruption_is_told_unless_nothing_else_would_have_ended_the_recording() {
        for words in ["", "-- a", "--seconds 1h", "--rotate 1h -- a", "--rotate 1h --seconds 9h"] {
            let ended = interrupted(words);
            assert!(matches!(ended, Err(Failure::Interrupted(_))), "{words}: {ended:?}");
        }
        assert!(interrupted("--rotate 1h").is_ok());
    }
}
