//! This project's own rows as text: a comment with the tables, a header that names the columns, a line for each row.

use crate::columns::{self, ALL};
use crate::read::decode::Epoch;
use crate::read::head::{Head, Likeness};
use crate::read::lines::Pieces;
use crate::read::tables::{Bad, Sink};
use crate::read::text::{request, whole, wrong};
use ioscape_schema::text::TRACE_MARK;
use ioscape_schema::{Io, TraceInfo};
use std::borrow::Cow;

/// What a file begins with; the tables follow as JSON.
const MAGIC: &[u8] = TRACE_MARK.as_bytes();

/// Columns without which there is no row.
const NEEDED: [&str; 4] = [columns::QUEUED, columns::IS_WRITE, columns::OFFSET, columns::LENGTH];

/// It begins with the tables, or one of the first lines names the columns.
pub(super) fn looks_like(head: &Head<'_>) -> Likeness {
    let found = head.bytes.starts_with(MAGIC) || head.lines.iter().any(|line| is_header(line));
    Likeness::certain_if(found)
}

/// Whether a line names the columns.
fn is_header(line: &[u8]) -> bool {
    let names: Vec<&[u8]> = line.split(|byte| *byte == b',').collect();
    NEEDED.iter().all(|needed| names.contains(&needed.as_bytes()))
}

/// Parser of its lines.
#[derive(Default)]
pub(crate) struct Csv {
    /// The place of each field of a line in [`ALL`]; unknown columns are passed over.
    header: Option<Vec<Option<usize>>>,
}

impl Pieces for Csv {
    const HEADER: bool = false;

    fn piece(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
        if line.starts_with(b"#") {
            let tables = line.strip_prefix(MAGIC).filter(|_| self.header.is_none());
            return tables.map_or(Ok(()), |json| restore(json, sink));
        }
        let Some(header) = &self.header else {
            if !is_header(line) {
                return Err(format!("the header must name at least {}", NEEDED.join(", ")).into());
            }
            let place = |name: &[u8]| ALL.iter().position(|known| known.as_bytes() == name);
            self.header = Some(line.split(|byte| *byte == b',').map(place).collect());
            return Ok(());
        };
        let mut io = Io::default();
        let mut rest = Some(line);
        let mut later = (false, false);
        for column in header {
            let (field, after) = next(rest.ok_or("fewer fields than the header names")?);
            rest = after;
            let Some(column) = column else { continue };
            later.0 |= ALL[*column] == columns::ISSUED;
            later.1 |= ALL[*column] == columns::COMPLETED;
            set(*column, &field, &mut io, sink)?;
        }
        if rest.is_some() {
            return Err("more fields than the header names".into());
        }
        request(io.request.op, io.request.offset, u64::from(io.request.len))?;
        io.issued_ns = if later.0 { io.issued_ns } else { io.queued_ns };
        io.completed_ns = if later.1 { io.completed_ns } else { io.issued_ns };
        if !header.contains(&Some(DEVICE_COLUMN)) {
            io.device = sink.tables.only_device()?;
        }
        sink.rows.push(io);
        Ok(())
    }

    fn epoch(&self) -> Epoch {
        Epoch::Start
    }
}

/// The place of the device among the columns.
const DEVICE_COLUMN: usize = 3;

fn restore(json: &[u8], sink: &mut Sink<'_>) -> Result<(), Bad> {
    let info: TraceInfo = serde_json::from_slice(json)
        .map_err(|e| Bad::from(format!("the tables in the first line cannot be read: {e}")))?;
    sink.tables.restore(info);
    Ok(())
}

/// The first field, without its quotes, and what follows the comma.
fn next(line: &[u8]) -> (Cow<'_, [u8]>, Option<&[u8]>) {
    let Some(quoted) = line.strip_prefix(b"\"") else {
        return match memchr::memchr(b',', line) {
            Some(comma) => (line[..comma].trim_ascii().into(), Some(&line[comma + 1..])),
            None => (line.trim_ascii().into(), None),
        };
    };
    let mut field = Vec::new();
    let mut rest = quoted;
    while let Some(end) = memchr::memchr(b'"', rest) {
        field.extend_from_slice(&rest[..end]);
        rest = &rest[end + 1..];
        let Some(after) = rest.strip_prefix(b"\"") else { break };
        field.push(b'"');
        rest = after;
    }
    (field.into(), rest.strip_prefix(b","))
}

fn set(column: usize, field: &[u8], io: &mut Io, sink: &mut Sink<'_>) -> Result<(), Bad> {
    let bad = || wrong(ALL[column], field);
    match ALL[column] {
        columns::DEVICE => io.device = sink.tables.device_named(field)?,
        columns::COMMAND => io.command = sink.tables.command(field),
        columns::FLAGS => {
            let names = std::str::from_utf8(field).map_err(|_| bad())?;
            io.flags = columns::flags_of(names).ok_or_else(bad)?;
        }
        columns::TYPE => {
            let place = columns::TYPES.iter().position(|name| name.as_bytes() == field);
            columns::set(column, place.ok_or_else(bad)? as u64, io);
        }
        columns::IS_WRITE => {
            let writes = match field {
                b"1" | b"true" | b"True" => 1,
                b"0" | b"false" | b"False" => 0,
                _ => return Err(bad()),
            };
            columns::set(column, writes, io);
        }
        _ => {
            let value = whole(field).ok_or_else(bad)?;
            if !columns::set(column, value, io) {
                return Err(bad());
            }
        }
    }
    Ok(())
}
