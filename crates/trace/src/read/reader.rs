//! The reader of a trace: detects the format, decodes, orders, and hands out batches.

use super::damage::Damage;
use super::decode::{BATCH, Decode, Epoch};
use super::events::{add_levels, keep_levels};
use super::formats::Format;
use super::ordered::{Merged, Ordered};
use super::source::{self, Opened, Source};
use super::steps::stepped;
use crate::clock::TraceClock;
use crate::error::Error;
use ioscape_schema::{Io, TraceInfo};

/// How to read a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format; `None` to detect it from the content.
    pub format: Option<Format>,
    /// Whether to leave broken records out and count them in [`TraceInfo::skipped`] rather than
    /// fail.
    pub skip_bad: bool,
    /// Only rows from this time on are wanted, counted from the beginning of the trace. The reader
    /// skips what it need not read, so other rows may still come.
    pub from_ns: Option<u64>,
    /// Only rows before this time are wanted.
    pub to_ns: Option<u64>,
}

/// A trace being read: its rows in the order of arrival (`queued_ns`), batch by batch.
pub struct Reader {
    rows: Ordered,
    /// Time of the first row, in the decoder's own time.
    base_ns: Option<u64>,
    /// Rows that arrived before `base_ns` and came too late to be sorted in.
    early: u64,
    info: TraceInfo,
    /// The damage of compressed sources.
    damages: Vec<Damage>,
}

/// Opens a trace of one or several files: the per-CPU files of one `blktrace` recording, or traces
/// to merge by time.
///
/// Unpacks compressed files, and detects the format from the content unless `options` names it.
///
/// # Errors
/// There is no source, a source cannot be read, a format is unknown or ambiguous, a header is
/// broken, or the files cannot be merged.
pub fn open(sources: Vec<Source>, options: &ReadOptions) -> Result<Reader, Error> {
    // One recording may consist of many files, so files of a format are opened together.
    let mut by_format: Vec<(Format, Vec<Opened>)> = Vec::new();
    let (mut damages, mut empty) = (Vec::new(), None);
    let count = sources.len();
    for source in sources {
        let (mut opened, damaged) = source::open(source, count, options.skip_bad)?;
        damages.push(damaged);
        let format = match options.format {
            Some(format) => format,
            None => match Format::of(&mut opened) {
                Ok(format) => format,
                // A CPU without requests leaves an empty file in a recording.
                Err(error @ Error::Empty { .. })
                    if damages.last().and_then(Damage::told).is_none() =>
                {
                    empty = Some(error);
                    continue;
                }
                Err(error) => return Err(of_damage(error, damages.last())),
            },
        };
        match by_format.iter_mut().find(|(known, _)| *known == format) {
            Some((_, others)) => others.push(opened),
            None => by_format.push((format, vec![opened])),
        }
    }
    if let (Some(error), true) = (empty, by_format.is_empty()) {
        return Err(error);
    }
    let mut decoders = Vec::new();
    for (format, opened) in by_format {
        decoders.extend(format.open(opened, options.skip_bad)?.into_iter().map(stepped));
    }
    // It is not yet known when other traces begin. Several traces that record their beginning count
    // time from the earliest one.
    let is_one = decoders.len() == 1;
    let is_asked = |decoder: &&mut Box<dyn Decode>| {
        decoder.epoch() == Epoch::Start && (is_one || decoder.info().started_unix_ns.is_none())
    };
    for decoder in decoders.iter_mut().filter(is_asked) {
        decoder.narrow(options.from_ns, options.to_ns, is_one);
    }
    Ok(Reader { damages, ..Reader::new(one(decoders)?) })
}

/// Returns the error for a source of unknown format. If damage left too little of it to detect the
/// format, the error says so.
fn of_damage(error: Error, damage: Option<&Damage>) -> Error {
    match (error, damage.and_then(Damage::told)) {
        (Error::Unknown { name, .. } | Error::Empty { name }, Some(told)) => {
            let reason =
                format!("its format cannot be found in what could be decompressed: {told}");
            Error::Header { name, reason }
        }
        (error, _) => error,
    }
}

fn one(mut decoders: Vec<Box<dyn Decode>>) -> Result<Box<dyn Decode>, Error> {
    match (decoders.pop(), decoders.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(last), false) => {
            decoders.push(last);
            Ok(Box::new(Merged::new(decoders)))
        }
        (None, _) => Err(Error::Unsupported("name a trace to read".to_owned())),
    }
}

impl Reader {
    /// Reads the rows of `decoder`.
    pub(crate) fn new(decoder: Box<dyn Decode>) -> Self {
        let info = decoder.info().clone();
        Self { rows: Ordered::new(decoder), base_ns: None, early: 0, info, damages: Vec::new() }
    }

    /// Returns the decoder after its rows were read.
    pub(crate) fn into_decoder(self) -> Box<dyn Decode> {
        self.rows.decoder
    }

    /// Replaces the rows in `into` by the next ones, at most [`BATCH`]; returns `false` when there
    /// are no more.
    ///
    /// Rows come in the order of `queued_ns`. Rows that a source delivers late are sorted in if no
    /// more than 65,536 rows lie between. The note `rows out of order` counts the rows that came
    /// later still. Those that arrived before the first row are taken to arrive with it; the note
    /// `rows before the first` counts them.
    ///
    /// # Errors
    /// The trace cannot be read, or a record is broken and broken records are not skipped.
    pub fn next_batch(&mut self, into: &mut Vec<Io>) -> Result<bool, Error> {
        self.rows.take(BATCH, into)?;
        let epoch = self.rows.decoder.epoch();
        if let (None, Some(first)) = (self.base_ns, into.first()) {
            self.base_ns = Some(if epoch == Epoch::Start { 0 } else { first.queued_ns });
        }
        let base_ns = self.base_ns.unwrap_or(0);
        for io in into.iter_mut() {
            self.early += u64::from(io.queued_ns < base_ns);
            // No time can be before the beginning, but the request keeps its duration.
            let base_ns = base_ns.min(io.queued_ns);
            io.queued_ns -= base_ns;
            io.issued_ns = io.issued_ns.saturating_sub(base_ns).max(io.queued_ns);
            io.completed_ns = io.completed_ns.saturating_sub(base_ns).max(io.issued_ns);
        }
        self.tell(epoch);
        Ok(!into.is_empty())
    }

    /// Updates `info` with what the decoder knows by now.
    fn tell(&mut self, epoch: Epoch) {
        self.info.follow(self.rows.decoder.info());
        let base = self.base_ns.and_then(|base| i64::try_from(base).ok());
        match (epoch, base) {
            (Epoch::Unix, Some(base)) => self.info.started_unix_ns = Some(base),
            (Epoch::Clock { unix_offset_ns: Some(offset) }, Some(base)) => {
                self.info.started_unix_ns = offset.checked_add(base);
            }
            _ => {}
        }
        let damages: Vec<String> = self.damages.iter().filter_map(Damage::told).collect();
        if !damages.is_empty() {
            self.info.notes.insert("damage".to_owned(), damages.join("; "));
        }
        if self.rows.order.late > 0 {
            let late = self.rows.order.late.to_string();
            self.info.notes.insert("rows out of order".to_owned(), late);
        }
        if self.early > 0 {
            let early = self.early.to_string();
            self.info.notes.insert("rows before the first".to_owned(), early);
        }
    }

    /// Takes from [`Self::info`] what does not hold of the rows of the `chosen` devices alone, until
    /// the next batch comes.
    pub(crate) fn choose(&mut self, chosen: &[u16]) {
        keep_levels(&mut self.info, chosen);
    }

    /// Returns [`Self::info`] with what [`Self::choose`] took from it.
    pub(crate) fn info_of_all_disks(&self) -> TraceInfo {
        let mut info = self.info.clone();
        // The parts of one file must tell the same: otherwise its losses count for each of them.
        keep_levels(&mut info, &[]);
        add_levels(&mut info, self.rows.decoder.info());
        info
    }

    /// Returns the number of rows that came after a later arrival and were sorted into place.
    pub fn moved(&self) -> u64 {
        self.rows.order.moved
    }

    /// Returns what the rows' times count from, and when `queued_ns` 0 is on that clock; known
    /// after the first batch.
    pub fn clock(&self) -> (TraceClock, u64) {
        let started = self.info.started_unix_ns.and_then(|ns| u64::try_from(ns).ok());
        match (self.rows.decoder.epoch(), started) {
            (_, Some(started)) => (TraceClock::Unix, started),
            (Epoch::Clock { .. }, None) => (TraceClock::Machine, self.base_ns.unwrap_or(0)),
            _ => (TraceClock::Trace, 0),
        }
    }

    /// Returns the tables that rows refer to, and what is known of the trace.
    ///
    /// A device or command is in its table by the time the first batch with it is handed out.
    /// Losses and skipped records are complete after the last batch.
    pub fn info(&self) -> &TraceInfo {
        &self.info
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of a decoder that counts time from 1970.
    struct Rows(Vec<Io>, TraceInfo);

    impl Decode for Rows {
        fn decode(&mut self, into: &mut Vec<Io>) -> Result<bool, Error> {
            let rest = self.0.split_off(self.0.len().min(BATCH));
            let next = std::mem::replace(&mut self.0, rest);
            into.extend_from_slice(&next);
            Ok(!next.is_empty())
        }

        fn info(&self) -> &TraceInfo {
            &self.1
        }

        fn epoch(&self) -> Epoch {
            Epoch::Unix
        }
    }

    /// Guards against a defect: every batch copied the names of all commands.
    #[test]
    fn names_are_not_copied_for_every_batch() {
        let info = TraceInfo { commands: vec!["fio".to_owned()], ..TraceInfo::default() };
        let mut reader = Reader::new(Box::new(Rows(vec![Io::default(); 3 * BATCH], info)));
        let held = reader.info().commands[0].as_ptr();
        let mut batch = Vec::new();
        while reader.next_batch(&mut batch).unwrap() {
            assert_eq!(reader.info().commands[0].as_ptr(), held);
        }
    }

    #[test]
    fn rows_before_the_first_keep_what_they_took_and_are_counted() {
        let row = |queued_ns: u64| {
            let (issued_ns, completed_ns) = (queued_ns + 5, queued_ns + 7);
            Io { queued_ns, issued_ns, completed_ns, ..Io::default() }
        };
        // More rows than the window holds back.
        let later = (0..2 * (1 << 16) + BATCH as u64).map(|at| row(1_000_000 + 1000 * at));
        let rows: Vec<Io> = later.chain([10, 20, 30].map(row)).collect();
        let count = rows.len();
        let mut reader = Reader::new(Box::new(Rows(rows, TraceInfo::default())));
        let (mut all, mut batch) = (Vec::new(), Vec::new());
        while reader.next_batch(&mut batch).unwrap() {
            all.extend_from_slice(&batch);
        }
        assert_eq!(all.len(), count);
        let took = |io: &Io| (io.issued_ns - io.queued_ns, io.completed_ns - io.queued_ns);
        assert!(all.iter().all(|io| took(io) == (5, 7)));
        assert_eq!(all.iter().filter(|io| io.queued_ns == 0).count(), 4);
        assert_eq!(reader.info().notes["rows before the first"], "3");
        assert_eq!(reader.info().notes["rows out of order"], "3");
    }
}
