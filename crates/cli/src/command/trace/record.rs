//! `ioscape trace record`: gathers the kernel's events, then makes rows of them with the types of their blocks.

use super::convert;
use super::files::Output;
use crate::args::RecordArgs;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{interrupt, output};
use ioscape_measure::record::{
    BUFFER_BYTES, BlockRange, Holds, RecordOptions, RecordedDisk, Recorder, Recording,
    of_file_system,
};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Device, Io, IoType, Partition, TraceFile, TraceInfo};
use ioscape_trace::queue::Queues;
use ioscape_trace::{BlockTypes, OutFormat, Reader, Source, TypedRange, classify, ring};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Between two looks at the kernel's buffers; at 60,000 I/O per second they then hold a small part of what they can.
const LOOK: Duration = Duration::from_millis(50);

/// Records.
///
/// # Errors
/// No right to record, a disk that does not exist, or a place that cannot be written.
pub fn record(args: &RecordArgs) -> Result<(), Failure> {
    let mut document = output::document(0);
    let disks = disks(args)?;
    let (file, mut writer) = Output::new(&args.output, OutFormat::Parquet)?;
    let interrupted = interrupt::flag();
    let before = maps(&disks);
    let spool =
        args.output.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let options = RecordOptions {
        disks: disks.clone(),
        buffer_bytes: args.buffer.unwrap_or(BUFFER_BYTES),
        spool: spool.to_path_buf(),
    };
    let mut recorder = Recorder::start(&options)?;
    let child = start(&args.command)?;
    gather(&mut recorder, child, args.seconds, &interrupted)?;
    let recording = recorder.stop()?;
    let after = maps(&disks);
    let own = (recording.process, recording.own.clone());
    let (mut reader, numbers) = rows(recording)?;
    let maps = Maps {
        own: own.1,
        process: own.0,
        maps: [typed(&after, &numbers), typed(&before, &numbers)],
        numbers,
    };
    let mut told =
        TraceFile { format: OutFormat::Parquet.name().to_owned(), ..TraceFile::default() };
    told.path = args.output.display().to_string();
    let (mut first_ns, mut batch, mut queues, mut excluded) =
        (None, Vec::new(), Queues::default(), 0u64);
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
    }
    let mut info = reader.info().clone();
    info.notes.insert("requests of the recorder, left out".to_owned(), excluded.to_string());
    writer.finish(&info).map_err(convert::of_trace)?;
    told.file_bytes = file.keep()?;
    convert::finish(&mut document, told, info);
    output::show(&document, args.json)
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

fn start(command: &[String]) -> Result<Option<Child>, Failure> {
    let Some((program, words)) = command.split_first() else { return Ok(None) };
    // Standard output is for the result; what the command says goes where messages go.
    let child = Command::new(program).args(words).stdout(std::io::stderr()).spawn();
    child.map(Some).map_err(|e| Failure::Misuse(format!("cannot start {program}: {e}")))
}

/// Gathers until the command has ended, the time is over, or the user interrupts; the recording is kept in any case.
fn gather(
    recorder: &mut Recorder,
    mut child: Option<Child>,
    seconds: Option<f64>,
    interrupted: &AtomicBool,
) -> Result<(), Failure> {
    let started = Instant::now();
    let progress = Progress::of_evaluation(seconds.unwrap_or(0.0));
    let mut bytes = 0;
    while !interrupted.load(Ordering::Relaxed) {
        bytes += recorder.drain()?;
        let spent = started.elapsed().as_secs_f64();
        let left = seconds.map_or(0.0, |all| all - spent);
        progress.advance(spent, left.max(0.0), &format!("{} of events", Bytes(bytes as f64)));
        let ended = match &mut child {
            Some(child) => matches!(child.try_wait(), Ok(Some(_)) | Err(_)),
            None => seconds.is_some_and(|_| left <= 0.0),
        };
        if ended {
            break;
        }
        std::thread::sleep(LOOK);
    }
    progress.done();
    Ok(())
}

/// What the blocks of all file systems on the disks hold.
fn maps(disks: &[RecordedDisk]) -> Vec<BlockRange> {
    let mounts = disks.iter().flat_map(RecordedDisk::mounts);
    // A file system that tells nothing leaves its blocks unknown.
    mounts.flat_map(|mount| of_file_system(&mount).unwrap_or_default()).collect()
}

/// The ranges with the indices of the devices.
fn typed(ranges: &[BlockRange], numbers: &[u32]) -> BlockTypes {
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
    BlockTypes::new(ranges.iter().filter_map(|range| {
        let device = numbers.iter().position(|number| *number == range.disk)? as u16;
        Some(TypedRange { device, from: range.from, to: range.to, io_type: io_type(range.holds) })
    }))
}

/// What is known of blocks and of the recorder's own doings.
struct Maps {
    numbers: Vec<u32>,
    process: u32,
    own: Vec<(u32, u64, u64)>,
    maps: [BlockTypes; 2],
}

impl Maps {
    /// Whether the recorder itself caused the request: by its process, or in its files, which the kernel writes later.
    fn is_own(&self, io: &Io) -> bool {
        let disk = self.numbers.get(usize::from(io.device)).copied();
        let at = io.request.offset;
        io.process == self.process
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
