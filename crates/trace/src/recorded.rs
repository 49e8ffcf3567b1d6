//! A recording, or a part of it, as a trace file: rows with the types of their blocks, without the recorder's own.

use crate::classify::{BlockTypes, classify};
use crate::error::Error;
use crate::queue::Queues;
use crate::read::Reader;
use crate::slow::Slow;
use crate::write::Writer;
use ioscape_schema::{Io, TraceFile, TraceInfo};

/// How rows become a file.
pub struct Recorded<'a> {
    /// Tells the recorder's own requests.
    pub is_own: &'a dyn Fn(&Io) -> bool,
    /// What the blocks hold, the later map first.
    pub maps: [&'a BlockTypes; 2],
    /// Where only slow requests are kept; the writer has the further columns then.
    pub slow: Option<Slow>,
    /// What else the file is to say of itself: a name and a text.
    pub note: Option<(&'static str, String)>,
}

impl Recorded<'_> {
    /// Writes all rows; `on_rows` is told how many after each batch. What was written, but for the file's name and size.
    ///
    /// # Errors
    /// Pages that cannot be read, and a file that cannot be written.
    pub fn write(
        mut self,
        reader: &mut Reader,
        mut writer: Writer,
        on_rows: &mut dyn FnMut(u64),
    ) -> Result<TraceFile, Error> {
        let mut told = TraceFile::default();
        let (mut first_ns, mut batch, mut queues, mut excluded) =
            (None, Vec::new(), Queues::default(), 0u64);
        while reader.next_batch(&mut batch)? {
            let all = batch.len();
            batch.retain(|io| !(self.is_own)(io));
            excluded += (all - batch.len()) as u64;
            let commands = &reader.info().commands;
            for io in &mut batch {
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
        let mut info: TraceInfo = reader.info().clone();
        let note = "requests of the recorder, left out".to_owned();
        info.notes.insert(note, excluded.to_string());
        info.notes.extend(self.note.take().map(|(name, text)| (name.to_owned(), text)));
        writer.finish(&info)?;
        told.slow = self.slow.map(|slow| slow.finish(&info));
        told.info = info;
        Ok(told)
    }
}
