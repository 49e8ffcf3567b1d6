//! Writes a recording, or a part of it, as a trace file: adds the types of blocks and leaves out
//! the recorder's own requests.

use crate::classify::{BlockTypes, classify};
use crate::error::Error;
use crate::queue::Queues;
use crate::read::Reader;
use crate::slow::Slow;
use crate::write::Writer;
use ioscape_schema::trace_file::SlowRequests;
use ioscape_schema::trace_lacks::{LEFT_IN_MEMORY, SLOW_ALONE};
use ioscape_schema::units::{Bytes, Nanos};
use ioscape_schema::{Io, Op, TraceFile, TraceInfo};

/// Written data still in memory at the end is mentioned if it is more than the larger of these: a
/// share of the bytes written in the trace, and bytes that any machine writes meanwhile.
const LEFT_SHARE_MAX: f64 = 0.1;
const LEFT_MIN: u64 = 1 << 20;

/// How recorded rows become a file.
pub struct Recorded<'a> {
    /// Whether a request is the recorder's own.
    pub is_own: &'a dyn Fn(&Io) -> bool,
    /// Maps of what the blocks hold, the later one first.
    pub maps: [&'a BlockTypes; 2],
    /// Set if only slow requests are kept; the writer then has the columns of slow requests too.
    pub slow: Option<Slow>,
    /// A further note for the file: its name and text.
    pub note: Option<(&'static str, String)>,
    /// Bytes written meanwhile that were still in memory when the recorded command ended.
    pub left_bytes: u64,
}

impl Recorded<'_> {
    /// Writes all rows and returns what was written, except for the file's name and size.
    ///
    /// After each batch, `on_rows` receives the number of rows so far.
    ///
    /// # Errors
    /// The recording cannot be read, or the file cannot be written.
    pub fn write(
        mut self,
        reader: &mut Reader,
        mut writer: Writer,
        on_rows: &mut dyn FnMut(u64),
    ) -> Result<TraceFile, Error> {
        let mut told = TraceFile::begun();
        let (mut first_ns, mut batch, mut queues) = (None, Vec::new(), Queues::default());
        let (mut excluded, mut written) = (0u64, 0);
        while reader.next_batch(&mut batch)? {
            let all = batch.len();
            batch.retain(|io| !(self.is_own)(io));
            excluded += (all - batch.len()) as u64;
            let commands = &reader.info().commands;
            for io in &mut batch {
                if io.request.op == Op::Write && io.moves_data() {
                    written += u64::from(io.request.len);
                }
                io.queue_length = queues.arrive(io);
                let command = commands.get(io.command as usize).map_or("", String::as_str);
                io.io_type = classify(io, command, &self.maps);
            }
            match &mut self.slow {
                None => writer.rows(&batch, reader.info())?,
                Some(slow) => {
                    let more = slow.keep(&mut batch);
                    writer.rows_with(&batch, &more, reader.info())?;
                }
            }
            told.count(&mut first_ns, &batch);
            on_rows(told.rows);
        }
        if let Some(slow) = &mut self.slow {
            let more = slow.rest(&mut batch);
            writer.rows_with(&batch, &more, reader.info())?;
            told.count(&mut first_ns, &batch);
        }
        let mut info: TraceInfo = reader.info().clone();
        let note = "requests of the recorder, left out".to_owned();
        info.notes.insert(note, excluded.to_string());
        info.notes.extend(self.note.take().map(|(name, text)| (name.to_owned(), text)));
        let left = left_in_memory(self.left_bytes, written);
        info.notes.extend(left.map(|text| (LEFT_IN_MEMORY.to_owned(), text)));
        told.slow = self.slow.map(|slow| slow.finish(&info));
        info.notes.extend(told.slow.as_ref().map(|slow| (SLOW_ALONE.to_owned(), alone(slow))));
        writer.finish(&info)?;
        told.about(info);
        Ok(told)
    }
}

/// Returns the note of a recording of `written` bytes after which `left_bytes` were still in memory;
/// `None` if these are few.
fn left_in_memory(left_bytes: u64, written: u64) -> Option<String> {
    let is_much = left_bytes > LEFT_MIN && left_bytes as f64 > written as f64 * LEFT_SHARE_MAX;
    is_much.then(|| {
        format!(
            "when the command ended, at least {} of newly written data, its own or of other programs, were still in memory and are not in the trace: to record them too, let the command end with sync (`sh -c 'COMMAND; sync'`)",
            Bytes(left_bytes as f64)
        )
    })
}

/// Returns the note of a file of slow requests, which every reader of the trace reports first.
fn alone(slow: &SlowRequests) -> String {
    format!(
        "{} of {} requests are in the trace, those that took longer than {}: all numbers are of these alone, and rates, queues, idle times, distances and figures of blocks, which follow from the others too, are left out",
        slow.ios,
        slow.of_ios,
        Nanos(slow.above_ns as f64)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OutFormat;
    use crate::analyze::{Analysis, AnalysisOptions};
    use crate::{ReadOptions, Source, open};
    use ioscape_schema::WarningKind;
    use std::fmt::Write as _;
    use std::io::Cursor;

    /// Requests of 1 MiB, one microsecond apart; every tenth takes a millisecond.
    fn requests(is_write: bool) -> Reader {
        let is_write = u8::from(is_write);
        let mut text =
            "queued_ns,issued_ns,completed_ns,is_write,offset_bytes,length_bytes\n".to_owned();
        for at in 0..100u64 {
            let (queued, took) = (at * 1000, if at.is_multiple_of(10) { 1_000_000 } else { 500 });
            let _ =
                writeln!(text, "{queued},{},{},{is_write},0,1048576", queued + 10, queued + took);
        }
        let source = Source::stream("t.csv".to_owned(), Cursor::new(text.into_bytes()));
        open(vec![source], &ReadOptions::default()).unwrap()
    }

    /// The slow ones among these requests; 3 MiB were left in memory.
    fn slow(is_write: bool) -> TraceFile {
        let none = BlockTypes::default();
        let writer = Writer::with_columns(
            OutFormat::Csv,
            Cursor::new(Vec::new()),
            &crate::slow::COLUMNS[..],
        );
        let recorded = Recorded {
            is_own: &|_| false,
            maps: [&none, &none],
            slow: Some(Slow::new(100_000)),
            note: None,
            left_bytes: 3 << 20,
        };
        recorded.write(&mut requests(is_write), writer.unwrap(), &mut |_| {}).unwrap()
    }

    #[test]
    fn a_file_of_slow_requests_says_that_it_is_one() {
        let told = slow(false);
        assert_eq!(told.rows, 10, "those that were to be explained last are there too");
        let found = Analysis::new(&AnalysisOptions::default()).finish("t", &told.info);
        let first = &found.warnings[0];
        assert_eq!(first.kind, WarningKind::RequestsLeftOut);
        assert!(first.message.starts_with("10 of 100 requests are in the trace"), "{first}");
        let left =
            found.warnings.iter().find(|one| one.message.contains("at least 3 MiB of newly"));
        assert_eq!(left.expect("a warning").kind, WarningKind::TraceIncomplete);
    }

    /// Guards against silence about the output of a command that reads ten times as much, as a
    /// compressor does.
    #[test]
    fn what_was_left_in_memory_is_compared_with_what_was_written() {
        let has_note = |told: TraceFile| told.info.notes.contains_key(LEFT_IN_MEMORY);
        assert_eq!([false, true].map(|is_write| has_note(slow(is_write))), [true, false]);
    }

    /// As with a copy that ends before the kernel begins to write.
    #[test]
    fn what_the_file_cache_still_holds_is_told_unless_it_is_little() {
        const MIB: u64 = 1 << 20;
        let told = [(100, 0), (100, 900), (100, 1100), (1, 0), (0, 0)]
            .map(|(left, all)| left_in_memory(left * MIB, all * MIB).is_some());
        assert_eq!(told, [true, true, false, false, false]);
    }
}
