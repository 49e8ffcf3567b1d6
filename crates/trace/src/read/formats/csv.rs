//! This project's own rows as text: a comment with the tables, a header that names the columns, and
//! a line for each row.

use crate::columns::{self, ALL, NEEDED};
use crate::read::decode::Epoch;
use crate::read::head::{Head, Likeness};
use crate::read::lines::Pieces;
use crate::read::tables::{Bad, Sink};
use crate::read::text::{Places, number, other, request, wrong};
use ioscape_schema::text::TRACE_MARK;
use ioscape_schema::{Io, IoFlags, IoType, Op, TraceInfo};
use std::borrow::Cow;

/// First bytes of a file; the tables follow as JSON.
const MAGIC: &[u8] = TRACE_MARK.as_bytes();

/// Recognizes the format if the source begins with the tables, or one of the first lines names the
/// columns.
pub(super) fn looks_like(head: &Head<'_>) -> Likeness {
    let found = head.bytes.starts_with(MAGIC) || head.lines.iter().any(|line| is_header(line));
    Likeness::certain_if(found)
}

/// Whether a line names the columns.
fn is_header(line: &[u8]) -> bool {
    let names: Vec<Cow<'_, [u8]>> = Fields::of(line).collect();
    NEEDED.iter().all(|needed| names.iter().any(|name| **name == *needed.as_bytes()))
}

/// Parses lines of this project's CSV.
#[derive(Default)]
pub(crate) struct Csv {
    header: Option<Header>,
    flags: Latest<IoFlags>,
    io_type: Latest<IoType>,
    /// What times count from; known with the tables, else with the first row.
    epoch: Option<Epoch>,
}

/// What the fields of a line hold, and which optional columns the lines have.
struct Header {
    fields: Vec<Field>,
    issued: bool,
    completed: bool,
    device: bool,
}

/// What a field holds.
#[derive(Clone, Copy)]
enum Field {
    /// An unknown column, which is ignored.
    Nothing,
    Device,
    Command,
    Flags,
    Type,
    IsWrite,
    /// A whole number: the place of its column in [`ALL`], and the function that sets it.
    Whole(usize, fn(u64, &mut Io) -> bool),
}

/// The text of a field in the previous line and its value: neighbouring lines often agree.
#[derive(Default)]
struct Latest<V> {
    text: Vec<u8>,
    value: Option<V>,
}

impl<V: Copy> Latest<V> {
    fn get(&mut self, text: &[u8], find: impl FnOnce() -> Option<V>) -> Option<V> {
        // Two empty texts are not compared, which would cost the C library more than any other
        // text.
        let is_same = self.text.len() == text.len() && (text.is_empty() || self.text == text);
        if self.value.is_none() || !is_same {
            self.text.clear();
            self.text.extend_from_slice(text);
            self.value = find();
        }
        self.value
    }
}

impl Header {
    fn of(line: &[u8]) -> Self {
        let names: Vec<Cow<'_, [u8]>> = Fields::of(line).collect();
        let has = |name: &str| names.iter().any(|one| **one == *name.as_bytes());
        Self {
            fields: names.iter().map(|name| Field::named(name)).collect(),
            issued: has(columns::ISSUED),
            completed: has(columns::COMPLETED),
            device: has(columns::DEVICE),
        }
    }
}

impl Field {
    fn named(name: &[u8]) -> Self {
        let Some(column) = ALL.iter().position(|known| known.as_bytes() == name) else {
            return Self::Nothing;
        };
        match ALL[column] {
            columns::DEVICE => Self::Device,
            columns::COMMAND => Self::Command,
            columns::FLAGS => Self::Flags,
            columns::TYPE => Self::Type,
            columns::IS_WRITE => Self::IsWrite,
            _ => Self::Whole(column, columns::setter(column)),
        }
    }
}

impl Pieces for Csv {
    const EPOCH: Epoch = Epoch::Start;
    const HEADER: bool = false;

    fn piece(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        if line.starts_with(b"#") {
            return match line.strip_prefix(MAGIC) {
                Some(json) if self.header.is_none() => {
                    self.epoch = Some(Epoch::Start);
                    restore(json, sink)
                }
                Some(json) => complete(json, sink),
                None => Ok(()),
            };
        }
        let Some(header) = self.header.take() else {
            if !is_header(line) {
                return Err(format!("the header must name at least {}", NEEDED.join(", ")).into());
            }
            self.header = Some(Header::of(line));
            return Ok(());
        };
        let row = self.row(&header, line, sink);
        self.header = Some(header);
        let io = row?;
        self.epoch.get_or_insert_with(|| Epoch::of_first(io.queued_ns));
        sink.rows.push(io);
        Ok(())
    }

    fn epoch(&self) -> Epoch {
        self.epoch.unwrap_or(Self::EPOCH)
    }
}

impl Csv {
    fn row(&mut self, header: &Header, line: &[u8], sink: &mut Sink<'_>) -> Result<Io, Bad> {
        let mut io = Io::default();
        let mut fields = Fields::of(line);
        for field in &header.fields {
            let text = fields.next().ok_or("fewer fields than the header names")?;
            self.set(*field, &text, &mut io, sink)?;
        }
        if fields.start.is_some() {
            return Err("more fields than the header names".into());
        }
        request(io.request.op, io.request.offset, u64::from(io.request.len))?;
        io.issued_ns = if header.issued { io.issued_ns } else { io.queued_ns };
        io.completed_ns = if header.completed { io.completed_ns } else { io.issued_ns };
        if let Some(why) = columns::backwards(&io) {
            return Err(why.into());
        }
        if !header.device {
            io.device = sink.tables.only_device()?;
        }
        Ok(io)
    }

    #[inline]
    fn set(
        &mut self,
        field: Field,
        text: &[u8],
        io: &mut Io,
        sink: &mut Sink<'_>,
    ) -> Result<(), Bad> {
        match field {
            // A missing value stays 0, as in tables of other programs.
            Field::Whole(column, _) if text.is_empty() && !NEEDED.contains(&ALL[column]) => {}
            Field::Type if text.is_empty() => {}
            Field::Whole(column, set) => {
                if !set(number(ALL[column], text)?, io) {
                    return Err(wrong(ALL[column], text));
                }
            }
            Field::Device => io.device = sink.tables.device_named(text)?,
            Field::Command => io.command = sink.tables.command(text),
            Field::Flags => {
                let named = || columns::flags_of(std::str::from_utf8(text).ok()?);
                let flags = self.flags.get(text, named);
                io.flags =
                    flags.ok_or_else(|| other(columns::FLAGS, text, &columns::all_flags()))?;
            }
            Field::Type => {
                let place = || columns::TYPES.iter().position(|name| name.as_bytes() == text);
                let known = self.io_type.get(text, || IoType::ALL.get(place()?).copied());
                io.io_type =
                    known.ok_or_else(|| other(columns::TYPE, text, &columns::TYPES.join(", ")))?;
            }
            Field::IsWrite => {
                io.request.op = match text {
                    b"1" | b"true" | b"True" => Op::Write,
                    b"0" | b"false" | b"False" => Op::Read,
                    _ => return Err(wrong(columns::IS_WRITE, text)),
                };
            }
            Field::Nothing => {}
        }
        Ok(())
    }
}

fn restore(json: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
    sink.tables.restore(parsed(json)?);
    Ok(())
}

fn parsed(json: &[u8]) -> Result<TraceInfo, Bad> {
    serde_json::from_slice(json)
        .map_err(|e| Bad::from(format!("the tables in a comment cannot be read: {e}")))
}

/// Takes over what follows the last row: what the whole trace lacks, and what is known of its
/// devices.
fn complete(json: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
    let told = parsed(json)?;
    let info = &mut sink.tables.info;
    for device in told.devices {
        if let Some(known) = info.devices.iter_mut().find(|known| known.name == device.name) {
            *known = device;
        }
    }
    (info.lost_by_cpu, info.notes) = (told.lost_by_cpu, told.notes);
    info.skipped = info.skipped.max(told.skipped);
    Ok(())
}

/// The fields of a line.
struct Fields<'a> {
    line: &'a [u8],
    /// Where the next field begins, if there is one.
    start: Option<usize>,
    ends: Places<'a>,
}

impl<'a> Fields<'a> {
    fn of(line: &'a [u8]) -> Self {
        Self { line, start: Some(0), ends: Places::of(b',', line, 0) }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Cow<'a, [u8]>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let start = self.start?;
        if let Some(quoted) = self.line[start..].strip_prefix(b"\"") {
            let (field, rest) = unquoted(quoted);
            self.start = rest.strip_prefix(b",").map(|rest| self.line.len() - rest.len());
            self.ends = Places::of(b',', self.line, self.start.unwrap_or(self.line.len()));
            return Some(field.into());
        }
        let end = self.ends.next();
        self.start = end.map(|end| end + 1);
        Some(self.line[start..end.unwrap_or(self.line.len())].trim_ascii().into())
    }
}

/// Splits at the closing quote: returns the quoted text, whose opening quote was removed, and the
/// rest.
fn unquoted(quoted: &[u8]) -> (Vec<u8>, &[u8]) {
    let (mut field, mut rest) = (Vec::new(), quoted);
    while let Some(end) = memchr::memchr(b'"', rest) {
        field.extend_from_slice(&rest[..end]);
        rest = &rest[end + 1..];
        let Some(after) = rest.strip_prefix(b"\"") else { break };
        field.push(b'"');
        rest = after;
    }
    (field, rest)
}
