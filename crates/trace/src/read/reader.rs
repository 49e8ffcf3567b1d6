//! The reader: finds the format, decodes, orders, and hands out batches.

use super::decode::Decode;
use super::input::Input;
use super::order::Order;
use super::source::{Bytes, Source};
use super::{Format, Options, srt};
use crate::error::Error;
use ioscape_schema::{Io, TraceInfo};

/// Most rows in one batch.
pub const BATCH: usize = 8192;

/// A trace being read: its rows in the order of arrival (`queued_ns`), batch by batch.
pub struct Reader {
    decoder: Box<dyn Decode>,
    order: Order,
    ready: Vec<Io>,
    given: usize,
    ended: bool,
    info: TraceInfo,
}

/// Opens a trace of one or several files.
///
/// # Errors
/// No source, bytes that cannot be read, an unknown format or a broken header.
pub fn open(mut sources: Vec<Source>, options: &Options) -> Result<Reader, Error> {
    let source = match (sources.pop(), sources.is_empty()) {
        (Some(source), true) => source,
        (Some(_), false) => return Err(Error::Unsupported("name one file".to_owned())),
        (None, _) => return Err(Error::Unsupported("name a trace to read".to_owned())),
    };
    let bytes: Box<dyn std::io::Read + Send> = match source.bytes {
        Bytes::Stream(bytes) => bytes,
        Bytes::File(bytes) => Box::new(bytes),
    };
    let mut input = Input::new(source.name, bytes);
    let format = match options.format {
        Some(format) => format,
        None => detect(&mut input)?,
    };
    let decoder: Box<dyn Decode> = match format {
        Format::HpSrt => Box::new(srt::Srt::new(input, options.skip_bad)?),
    };
    Ok(Reader::new(decoder))
}

fn detect(input: &mut Input) -> Result<Format, Error> {
    if input.peek(1 << 16)?.starts_with(srt::MAGIC) {
        return Ok(Format::HpSrt);
    }
    Err(Error::Unknown { name: input.name().to_owned() })
}

impl Reader {
    fn new(decoder: Box<dyn Decode>) -> Self {
        let info = decoder.info().clone();
        Self { decoder, order: Order::default(), ready: Vec::new(), given: 0, ended: false, info }
    }

    /// Replaces the rows in `into` by the next ones, at most [`BATCH`]; `false` when there are no more.
    ///
    /// Rows come in the order of `queued_ns`. What a source tells later than its neighbours is sorted in, as long as
    /// no more than 65,536 rows lie between.
    ///
    /// # Errors
    /// Bytes that cannot be read, and a broken record unless such are skipped.
    pub fn next_batch(&mut self, into: &mut Vec<Io>) -> Result<bool, Error> {
        into.clear();
        if self.given == self.ready.len() {
            self.refill()?;
        }
        let count = (self.ready.len() - self.given).min(BATCH);
        into.extend_from_slice(&self.ready[self.given..self.given + count]);
        self.given += count;
        Ok(count > 0)
    }

    fn refill(&mut self) -> Result<(), Error> {
        self.ready.clear();
        self.given = 0;
        while self.ready.is_empty() && !(self.ended && self.order.waiting().is_empty()) {
            while !self.ended && !self.order.full() {
                self.ended = !self.decoder.decode(self.order.waiting())?;
            }
            let epoch = self.decoder.epoch();
            self.order.release(&mut self.ready, self.ended, epoch);
            self.info.clone_from(self.decoder.info());
            self.order.date(&mut self.info, epoch);
            if self.order.late > 0 {
                self.info.notes.insert("rows out of order".to_owned(), self.order.late.to_string());
            }
        }
        Ok(())
    }

    /// The tables the rows point into and what is known of the trace. A device or command is in its table at the latest
    /// when the first batch with it was handed out; losses and skipped records are complete after the last batch.
    pub fn info(&self) -> &TraceInfo {
        &self.info
    }
}
