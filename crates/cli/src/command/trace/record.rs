//! `ioscape trace record`: gathers the kernel's events, then makes rows of them with the types of their blocks.

use super::convert;
use crate::args::RecordArgs;
use crate::failure::Failure;
use crate::output;
use crate::outputs;
use crate::progress::Progress;
use crate::traces::Output;
use ioscape_machine::interrupt;
use ioscape_observe::record::{
    BUFFER_BYTES, BlockRange, Holds, RecordOptions, RecordedCommand, RecordedDisk, Recorder,
    Recording, of_file_system, this_thread,
};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Device, Io, IoType, Partition, TraceFile, TraceInfo};
use ioscape_trace::queue::Queues;
use ioscape_trace::{BlockTypes, OutFormat, Reader, Source, TypedRange, Writer, classify, ring};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Between two looks at the kernel's buffers; at 60,000 I/O per second they then hold a small part of what they can.
const LOOK: Duration = Duration::from_millis(50);
/// Time that a command gets to end by itself after an interruption.
const PATIENCE: Duration = Duration::from_secs(3);

/// Records.
///
/// # Errors
/// No right to record, a disk that does not exist, or a place that cannot be written.
pub fn record(args: &RecordArgs) -> Result<(), Failure> {
    let mut document = output::document(0);
    let disks = disks(args)?;
    let (file, writer) = Output::new(outputs::names(args.force), &args.output, OutFormat::Parquet)?;
    let interrupted = interrupt::flag();
    let spool =
        args.output.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let options = RecordOptions {
        disks: disks.clone(),
        buffer_bytes: args.buffer.unwrap_or(BUFFER_BYTES),
        spool: spool.to_path_buf(),
    };
    let mut recorder = Recorder::start(&options)?;
    output::tell("recording");
    let command = RecordedCommand::start(&args.command)?;
    // The file systems are looked at beside the recording, which their maps, of seconds to make, would delay.
    let (ended, (before, mapper)) = std::thread::scope(|scope| {
        let mapper = scope.spawn(|| (maps(&disks), this_thread()));
        let ended = gather(&mut recorder, command, args.seconds, &interrupted);
        (ended, mapper.join().unwrap_or((Vec::new(), u32::MAX)))
    });
    let ended = ended?;
    document.interrupted = interrupted.load(Ordering::Relaxed);
    let recording = recorder.stop()?;
    let after = maps(&disks);
    let (own, processes) = (recording.own.clone(), [recording.process, mapper]);
    let (mut reader, numbers) = rows(recording)?;
    let those = |is: fn(&RecordedDisk) -> bool| -> Vec<u32> {
        disks.iter().filter(|disk| is(disk)).map(|disk| disk.number).collect()
    };
    let [journals, extents] = [those(RecordedDisk::has_journal), those(RecordedDisk::is_ext)];
    let typed = |ranges: &[BlockRange]| typed(ranges, &numbers, [&journals, &extents]);
    let maps = Maps { own, processes, maps: [typed(&after), typed(&before)], numbers };
    let (told, info) = keep(&mut reader, &maps, &args.output, file, writer)?;
    convert::finish(&mut document, told, info);
    output::show(&document, args.json)?;
    if document.interrupted {
        let place = args.output.display();
        let text = format!("interrupted; what was recorded until then is in {place}");
        return Err(Failure::Interrupted(text));
    }
    ended.map_or(Ok(()), |(code, text)| Err(Failure::Command { code, text }))
}

/// Writes the rows, with the types of their blocks and without the recorder's own.
fn keep(
    reader: &mut Reader,
    maps: &Maps,
    path: &Path,
    file: Output,
    mut writer: Writer,
) -> Result<(TraceFile, TraceInfo), Failure> {
    let mut told =
        TraceFile { format: OutFormat::Parquet.name().to_owned(), ..TraceFile::default() };
    told.path = path.display().to_string();
    let (mut first_ns, mut batch, mut queues, mut excluded) =
        (None, Vec::new(), Queues::default(), 0u64);
    let progress = Progress::of_rows();
    while reader.next_batch(&mut batch).map_err(convert::of_trace)? {
        let all = batch.len();
        batch.retain(|io| !maps.is_own(io));
        excluded += (all - batch.len()) as u64;
        for io in &mut batch {
            io.queue_length = queues.arrive(io);
            let command =
                reader.info().commands.get(io.command as usize).map_or("", String::as_str);
            io.io_type = classify(io, command, &[&maps.maps[0], &maps.maps[1]]);
        }
        writer.rows(&batch, reader.info()).map_err(convert::of_trace)?;
        convert::count(&mut told, &mut first_ns, &batch);
        progress.rows(told.rows);
    }
    progress.done();
    let mut info = reader.info().clone();
    info.notes.insert("requests of the recorder, left out".to_owned(), excluded.to_string());
    writer.finish(&info).map_err(convert::of_trace)?;
    told.file_bytes = file.keep()?;
    Ok((told, info))
}

/// The disks that were asked for; none asked for means all.
fn disks(args: &RecordArgs) -> Result<Vec<RecordedDisk>, Failure> {
    let named = args.device.iter().map(|name| RecordedDisk::named(name));
    let below = args.path.iter().map(|path| RecordedDisk::below(path));
    let mut disks = named.chain(below).collect::<Result<Vec<_>, _>>()?;
    if disks.is_empty() {
        disks = RecordedDisk::all();
    }
    disks.sort_by_key(|disk| disk.number);
    disks.dedup();
    Ok(disks)
}

/// Gathers until the command has ended, the time is over, or the user interrupts, which ends the command; the recording is kept
/// in any case. A command that ended badly: its exit code, as a shell gives it, and a sentence.
fn gather(
    recorder: &mut Recorder,
    mut command: Option<RecordedCommand>,
    seconds: Option<f64>,
    interrupted: &AtomicBool,
) -> Result<Option<(u8, String)>, Failure> {
    let started = Instant::now();
    let progress = seconds.map_or_else(Progress::of_rows, Progress::of_evaluation);
    let mut asked_to_end: Option<Instant> = None;
    let mut bytes = 0;
    loop {
        bytes += recorder.drain()?;
        let events = format!("{} of events", Bytes(bytes as f64));
        let spent = started.elapsed().as_secs_f64();
        match seconds {
            Some(all) => progress.advance(spent, (all - spent).max(0.0), &events),
            None => progress.doing(&events),
        }
        let stopped = interrupted.load(Ordering::Relaxed);
        let Some(command) = &mut command else {
            if stopped || seconds.is_some_and(|all| spent >= all) {
                break;
            }
            std::thread::sleep(LOOK);
            continue;
        };
        if command.has_ended() {
            break;
        }
        match asked_to_end {
            None if stopped => {
                command.ask_to_end();
                asked_to_end = Some(Instant::now());
            }
            Some(since) if since.elapsed() > PATIENCE => command.kill(),
            _ => {}
        }
        std::thread::sleep(LOOK);
    }
    progress.done();
    Ok(command.and_then(|command| command.complaint()))
}

/// What the blocks of all file systems on the disks hold.
fn maps(disks: &[RecordedDisk]) -> Vec<BlockRange> {
    let mounts = disks.iter().flat_map(RecordedDisk::mounts);
    // A file system that tells nothing leaves its blocks unknown.
    mounts.flat_map(|mount| of_file_system(&mount).unwrap_or_default()).collect()
}

/// The ranges with the indices of the devices; of the disks those with a journal, and those with extents only among the files.
fn typed(ranges: &[BlockRange], numbers: &[u32], [journals, extents]: [&[u32]; 2]) -> BlockTypes {
    let io_type = |holds| match holds {
        Holds::Superblock => IoType::Superblock,
        Holds::Bitmap => IoType::Bitmap,
        Holds::Inode => IoType::Inode,
        Holds::Directory => IoType::Directory,
        Holds::Indirect => IoType::Indirect,
        Holds::Journal => IoType::Journal,
        Holds::UserData => IoType::UserData,
        Holds::InUse => IoType::Unknown,
    };
    let index = |disk: u32| numbers.iter().position(|number| *number == disk);
    let index = |disk: u32| index(disk).and_then(|index| u16::try_from(index).ok());
    let range = |range: &BlockRange| {
        let io_type = io_type(range.holds);
        Some(TypedRange { device: index(range.disk)?, from: range.from, to: range.to, io_type })
    };
    let indices = |disks: &[u32]| disks.iter().filter_map(|disk| index(*disk)).collect::<Vec<_>>();
    BlockTypes::new(ranges.iter().filter_map(range))
        .with_journals(indices(journals))
        .with_extents(indices(extents))
}

/// What is known of blocks and of the recorder's own doings.
struct Maps {
    numbers: Vec<u32>,
    /// The threads that record and look around.
    processes: [u32; 2],
    own: Vec<(u32, u64, u64)>,
    maps: [BlockTypes; 2],
}

impl Maps {
    /// Whether the recorder itself caused the request: by its process, or in its files, which the kernel writes later.
    fn is_own(&self, io: &Io) -> bool {
        let disk = self.numbers.get(usize::from(io.device)).copied();
        let at = io.request.offset;
        self.processes.contains(&io.process)
            || io.request.len > 0
                && self
                    .own
                    .iter()
                    .any(|(number, from, to)| Some(*number) == disk && (*from..*to).contains(&at))
    }
}

/// The recording as rows, and the numbers of its disks.
fn rows(recording: Recording) -> Result<(Reader, Vec<u32>), Failure> {
    let layout = ring::Layout::parse(&recording.header_page, &recording.formats)
        .map_err(|e| Failure::Failed(e.to_string()))?;
    let device = |disk: &RecordedDisk| Device {
        name: disk.name.clone(),
        sector_bytes: disk.sector_bytes,
        capacity_bytes: disk.capacity_bytes,
        partitions: disk
            .partitions
            .iter()
            .map(|(number, name, _)| Partition { number: *number, name: name.clone() })
            .collect(),
    };
    let info = TraceInfo {
        format: "recorded".to_owned(),
        started_unix_ns: Some(recording.unix_offset_ns),
        devices: recording.disks.iter().map(device).collect(),
        lost_by_cpu: recording.lost_by_cpu,
        ..TraceInfo::default()
    };
    let numbers: Vec<u32> = recording.disks.iter().map(|disk| disk.number).collect();
    let cpus = recording.cpus.into_iter().enumerate();
    let cpus = cpus.map(|(cpu, file)| Source::file(format!("CPU {cpu}'s events"), file)).collect();
    let reader = ring::open(layout, cpus, &numbers, info).map_err(convert::of_trace)?;
    Ok((reader, numbers))
}
