//! `ioscape trace record`: gathers the kernel's events, then makes rows of them with the types of their blocks.

use super::convert;
use crate::failure::Failure;
use crate::output;
use crate::outputs;
use crate::traces::Output;
use ioscape_arguments::RecordArgs;
use ioscape_machine::interrupt;
use ioscape_machine::terminal::Progress;
use ioscape_observe::record::{
    BUFFER_BYTES, Gathered, OwnRequests, RecordOptions, RecordedCommand, RecordedDisk, Recorder,
    Recording, block_map, gather, this_thread,
};
use ioscape_schema::units::Bytes;
use ioscape_schema::{BlockMap, TraceFile, TraceInfo};
use ioscape_trace::queue::Queues;
use ioscape_trace::{BlockTypes, OutFormat, Reader, Source, Writer, classify, ring};
use std::path::Path;
use std::sync::atomic::Ordering;

/// Records.
///
/// # Errors
/// No right to record, a disk that does not exist, or a place that cannot be written.
pub fn record(args: &RecordArgs) -> Result<(), Failure> {
    let mut document = output::document(0);
    let disks = RecordedDisk::chosen(&args.device, &args.path)?;
    let (file, writer) =
        Output::new(outputs::names(args.out.force), &args.out.output, OutFormat::Parquet)?;
    let interrupted = interrupt::flag();
    let spool =
        args.out.output.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let options = RecordOptions {
        disks: disks.clone(),
        buffer_bytes: args.buffer.unwrap_or(BUFFER_BYTES),
        spool: spool.to_path_buf(),
    };
    let mut recorder = Recorder::start(&options)?;
    output::tell("recording");
    let command = RecordedCommand::start(&args.command)?;
    let progress = args.seconds.map_or_else(Progress::of_rows, Progress::of_evaluation);
    let mut show = |now: Gathered| {
        let events = format!("{} of events", Bytes(now.bytes as f64));
        match args.seconds {
            Some(all) => progress.advance(now.spent_s, (all - now.spent_s).max(0.0), &events),
            None => progress.doing(&events),
        }
    };
    // The file systems are mapped during the recording: it takes seconds, which would delay the start.
    let (ended, before) = std::thread::scope(|scope| {
        let mapper = scope.spawn(|| (block_map(&disks), this_thread()));
        let ended = gather(&mut recorder, command, args.seconds, &interrupted, &mut show);
        (ended, mapper.join().unwrap_or((BlockMap::default(), u32::MAX)))
    });
    progress.done();
    let ended = ended?;
    document.interrupted = interrupted.load(Ordering::Relaxed);
    let mut recording = recorder.stop()?;
    recording.own.with_thread(before.1);
    let maps = [block_map(&disks), before.0].map(BlockTypes::new);
    let own = recording.own.clone();
    let mut reader = rows(recording)?;
    let (told, info) = keep(&mut reader, &own, &maps, file, writer)?;
    convert::finish(&mut document, told, info);
    output::show(&document, args.out.json)?;
    if document.interrupted {
        let file = args.out.output.display();
        let text = format!("interrupted; what was recorded until then is in {file}");
        return Err(Failure::Interrupted(text));
    }
    ended.map_or(Ok(()), |(code, text)| Err(Failure::Command { code, text }))
}

/// Writes the rows, with the types of their blocks and without the recorder's own.
fn keep(
    reader: &mut Reader,
    own: &OwnRequests,
    maps: &[BlockTypes; 2],
    file: Output,
    mut writer: Writer,
) -> Result<(TraceFile, TraceInfo), Failure> {
    let mut told = TraceFile {
        format: OutFormat::Parquet.name().to_owned(),
        path: file.path().display().to_string(),
        ..TraceFile::default()
    };
    let (mut first_ns, mut batch, mut queues, mut excluded) =
        (None, Vec::new(), Queues::default(), 0u64);
    let progress = Progress::of_rows();
    while reader.next_batch(&mut batch).map_err(convert::of_trace)? {
        let all = batch.len();
        batch.retain(|io| !own.contains(io));
        excluded += (all - batch.len()) as u64;
        for io in &mut batch {
            io.queue_length = queues.arrive(io);
            let command =
                reader.info().commands.get(io.command as usize).map_or("", String::as_str);
            io.io_type = classify(io, command, &[&maps[0], &maps[1]]);
        }
        writer.rows(&batch, reader.info()).map_err(convert::of_trace)?;
        told.count(&mut first_ns, &batch);
        progress.rows(told.rows);
    }
    progress.done();
    let mut info = reader.info().clone();
    info.notes.insert("requests of the recorder, left out".to_owned(), excluded.to_string());
    writer.finish(&info).map_err(convert::of_trace)?;
    told.file_bytes = file.keep()?;
    Ok((told, info))
}

/// The recording as rows.
fn rows(recording: Recording) -> Result<Reader, Failure> {
    let layout = ring::Layout::parse(&recording.header_page, &recording.formats)
        .map_err(|e| Failure::Failed(e.to_string()))?;
    let numbers: Vec<u32> = recording.disks.iter().map(|disk| disk.number).collect();
    let info = recording.info();
    let cpus = recording.cpus.into_iter().enumerate();
    let cpus = cpus.map(|(cpu, file)| Source::file(format!("CPU {cpu}'s events"), file)).collect();
    ring::open(layout, cpus, &numbers, info).map_err(convert::of_trace)
}
