//! Cuts traces into text lines or fixed-size records, counts them, and reports which one is broken.

use super::decode::{BATCH, Decode, Epoch};
use super::head::{Head, Likeness};
use super::input::{Input, LONGEST};
use super::plausible::are_plausible;
use super::source::Opened;
use super::tables::{Bad, Sink, Tables, passed_over};
use crate::error::{Error, FilePosition};
use ioscape_schema::{Io, TraceInfo};

/// A format of pieces: lines or records.
pub(crate) trait Pieces: Send {
    /// What times count from.
    const EPOCH: Epoch;
    /// Size of a record in bytes; 0 for lines.
    const RECORD: usize = 0;
    /// Whether to skip comments, which begin with #, and a first line without digits, which names
    /// the fields.
    const HEADER: bool = true;
    /// The names of the fields in such a first line, as its source writes them, if it has one.
    const NAMES: &'static str = "";

    /// Takes one line without its end, or one record, and adds its rows to `sink`.
    fn piece(&mut self, piece: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad>;

    /// Adds the rows that were held back, after the last piece.
    fn end(&mut self, _sink: &mut Sink<'_>) {}

    /// Returns what times count from, if that depends on the pieces so far.
    fn epoch(&self) -> Epoch {
        Self::EPOCH
    }
}

/// A decoder of a format of pieces.
struct Cutter<P> {
    input: Input,
    pieces: P,
    tables: Tables,
    skip_bad: bool,
    /// Number of pieces so far.
    count: u64,
    /// The first line if it has no digits: the names of the fields, which come again in each file
    /// that was joined to the first.
    names: Vec<u8>,
    ended: bool,
}

impl<P: Pieces> Cutter<P> {
    /// Decodes `input` with `pieces`.
    fn new(input: Input, pieces: P, tables: Tables, skip_bad: bool) -> Self {
        Self { input, pieces, tables, skip_bad, count: 0, names: Vec::new(), ended: false }
    }

    /// Decodes one block of pieces; returns `false` if no whole piece is at hand.
    fn block(&mut self, into: &mut Vec<Io>) -> Result<bool, Error> {
        let rows = into.len() + BATCH;
        let start = self.input.position();
        let Self { input, pieces, tables, skip_bad, count, names, .. } = self;
        let bytes = input.at_hand();
        let mut at = 0;
        let mut bad = None;
        while into.len() < rows
            && let Some((piece, length)) = first(&bytes[at..], P::RECORD)
        {
            *count += 1;
            let taken = if is_passed_over::<P>(piece, *count, names) {
                Ok(())
            } else {
                taken(pieces, piece, &mut Sink { rows: into, tables })
            };
            if let Err(reason) = taken {
                if !*skip_bad {
                    bad = Some((position::<P>(*count, start + at as u64), reason));
                    break;
                }
                tables.info.skipped += 1;
            }
            at += length;
        }
        input.consume(at);
        match bad {
            Some((position, reason)) => Err(self.input.bad_record(position, reason)),
            None => Ok(at > 0),
        }
    }

    /// Skips a line that does not end within what memory may hold.
    fn pass_over_line(&mut self) -> Result<bool, Error> {
        let from = self.input.position();
        loop {
            let bytes = self.input.at_hand();
            let end = memchr::memchr(b'\n', bytes);
            let length = bytes.len();
            self.input.consume(end.map_or(length, |end| end + 1));
            if end.is_some() || !self.input.more()? {
                break;
            }
        }
        self.count += 1;
        self.tables.info.skipped += 1;
        passed_over(&mut self.tables.info, self.input.position() - from);
        Ok(true)
    }

    /// Decodes the last piece, which may lack an end of line, and releases the rows held back.
    fn rest(&mut self, into: &mut Vec<Io>) -> Result<(), Error> {
        self.ended = true;
        let start = self.input.position();
        let rest = self.input.at_hand().to_vec();
        self.input.consume(rest.len());
        let mut sink = Sink { rows: into, tables: &mut self.tables };
        let taken = match rest.trim_ascii_end() {
            _ if rest.is_empty() => Ok(()),
            _ if P::RECORD > 0 => Err("the file ends within a record".into()),
            line if is_passed_over::<P>(line, self.count + 1, &mut self.names) => Ok(()),
            line => taken(&mut self.pieces, line, &mut sink),
        };
        self.count += 1;
        if let Err(reason) = taken {
            if !self.skip_bad {
                return Err(self.input.bad_record(position::<P>(self.count, start), reason));
            }
            sink.tables.info.skipped += 1;
        }
        self.pieces.end(&mut sink);
        Ok(())
    }
}

/// Takes a piece; refuses rows whose times cannot be represented.
#[inline]
fn taken<P: Pieces>(pieces: &mut P, piece: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
    let from = sink.rows.len();
    pieces.piece(piece, sink)?;
    // The completion is the latest of a row's times.
    match sink.rows[from..].iter().all(|io| i64::try_from(io.completed_ns).is_ok()) {
        true => Ok(()),
        false => {
            sink.rows.truncate(from);
            Err("a time beyond the 292 years (2^63 ns) that can be counted".into())
        }
    }
}

/// Opens a decoder with `P` for each source. It is the registry's `open` for formats of pieces.
pub(crate) fn cut<P: Pieces + Default + 'static>(
    format: &'static str,
    sources: Vec<Opened>,
    skip_bad: bool,
) -> Result<Vec<Box<dyn Decode>>, Error> {
    let decoder = |source: Opened| -> Result<Box<dyn Decode>, Error> {
        Ok(cut_rest(format, source.into_input()?, P::default(), skip_bad))
    };
    sources.into_iter().map(decoder).collect()
}

/// Opens a decoder with `pieces` for the rest of `input`, after a header if the format has one.
pub(crate) fn cut_rest<P: Pieces + 'static>(
    format: &'static str,
    input: Input,
    pieces: P,
    skip_bad: bool,
) -> Box<dyn Decode> {
    let tables = Tables::new(format, input.name());
    Box::new(Cutter::new(input, pieces, tables, skip_bad))
}

/// Counts how many of the first lines can be rows of `P`. It is the registry's `looks_like` for
/// formats of lines without a mark of their own. Other names of the fields may mean another order
/// or other units. Under the format's own names times may count from anywhere.
pub(crate) fn fits<P: Pieces + Default>(head: &Head<'_>) -> Likeness {
    let (count, rows) = rows_of::<P>(&head.lines);
    match head.names() {
        Some(names) if !are_own::<P>(names) => Likeness::NONE,
        None if !are_plausible(P::EPOCH, &rows) => Likeness::Doubtful(count),
        _ => Likeness::Lines(count),
    }
}

/// Whether these names are the format's own, apart from blanks and capitals.
fn are_own<P: Pieces>(names: &[u8]) -> bool {
    let names = names.iter().filter(|byte| **byte != b' ').map(u8::to_ascii_lowercase);
    names.eq(P::NAMES.bytes().map(|byte| byte.to_ascii_lowercase()))
}

/// Returns how many of the lines `P` accepts, and their rows.
pub(crate) fn rows_of<P: Pieces + Default>(lines: &[&[u8]]) -> (usize, Vec<Io>) {
    let (mut parser, mut tables, mut rows) = (P::default(), Tables::default(), Vec::new());
    let mut sink = Sink { rows: &mut rows, tables: &mut tables };
    let count = lines.iter().filter(|line| parser.piece(line, &mut sink).is_ok()).count();
    (count, rows)
}

/// Returns the first piece of `bytes` and its length with its end; `None` if it is not whole.
fn first(bytes: &[u8], record: usize) -> Option<(&[u8], usize)> {
    if record > 0 {
        return bytes.get(..record).map(|piece| (piece, record));
    }
    let end = memchr::memchr(b'\n', bytes)?;
    let line = &bytes[..end];
    Some((line.strip_suffix(b"\r").unwrap_or(line), end + 1))
}

/// Whether to skip a line: one that is empty, a comment, or one of names, which the first line
/// puts into `names`.
fn is_passed_over<P: Pieces>(line: &[u8], number: u64, names: &mut Vec<u8>) -> bool {
    if P::RECORD > 0 || line.is_empty() {
        return P::RECORD == 0;
    }
    if number > 1 {
        return line == names.as_slice() || P::HEADER && line.starts_with(b"#");
    }
    if !line.iter().any(u8::is_ascii_digit) {
        names.extend_from_slice(line);
    }
    P::HEADER && (line.starts_with(b"#") || !names.is_empty())
}

fn position<P: Pieces>(number: u64, byte: u64) -> FilePosition {
    if P::RECORD == 0 { FilePosition::Line(number) } else { FilePosition::Record { number, byte } }
}

impl<P: Pieces> Decode for Cutter<P> {
    fn decode(&mut self, into: &mut Vec<Io>) -> Result<bool, Error> {
        if self.ended {
            return Ok(false);
        }
        if self.block(into)? {
            return Ok(true);
        }
        if self.input.at_hand().len() > LONGEST && self.skip_bad {
            return self.pass_over_line();
        }
        if self.input.at_hand().len() > LONGEST {
            let reason = format!("a line longer than {LONGEST} bytes");
            return Err(self.input.bad_record(FilePosition::Line(self.count + 1), reason));
        }
        if !self.input.more()? {
            self.rest(into)?;
        }
        Ok(true)
    }

    fn info(&self) -> &TraceInfo {
        &self.tables.info
    }

    fn epoch(&self) -> Epoch {
        self.pieces.epoch()
    }

    fn namesake(&self) -> Option<&str> {
        self.tables.has_only_device().then(|| self.input.name())
    }
}
