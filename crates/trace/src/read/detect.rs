//! Finds the format by the content: magic numbers first, then the format whose parser takes most of the first lines.

use super::events::{
    Blkparse, TraceEvents, looks_like_blkparse, looks_like_blktrace, looks_like_trace_events,
};
use super::formats::{
    Alibaba, Ascii, CloudPhysics, FIO_MAGICS, FioLog, Fiu, Msr, OracleGeneral, Replayer, Spc,
    SsdSim, Systor, Tencent, Validate, VscsiOne, VscsiTwo, is_vscsi_one, is_vscsi_two,
    looks_like_oracle,
};
use super::input::Input;
use super::lines::{Cutter, Pieces};
use super::source::Opened;
use super::tables::{Sink, Tables};
use super::text::SECTOR;
use super::{Format, Options, csv, parquet, srt};
use crate::error::Error;
use ioscape_schema::Io;

/// Whether bytes look like a format.
type Looks = fn(&[u8]) -> bool;

/// Bytes looked at.
const HEAD: usize = 1 << 16;
/// Lines looked at.
const LINES: usize = 64;

/// The format of a source.
///
/// # Errors
/// Bytes that cannot be read, and a format that is not known.
pub(crate) fn format(opened: &mut Opened) -> Result<Format, Error> {
    let input = match opened {
        Opened::Parquet(..) => return Ok(Format::Parquet),
        Opened::Input(input) => input,
    };
    let name = input.name().to_owned();
    let head = input.peek(HEAD)?;
    let head = &head[..head.len().min(HEAD)];
    binary(head).or_else(|| text(head)).ok_or(Error::Unknown { name })
}

/// A format with a magic number or with records that cannot be text.
fn binary(head: &[u8]) -> Option<Format> {
    let magics: [(&[u8], Format); 4] = [
        (srt::MAGIC, Format::HpSrt),
        (FIO_MAGICS[0], Format::FioLog),
        (FIO_MAGICS[1], Format::FioLog),
        (csv::MAGIC, Format::Csv),
    ];
    if let Some((_, format)) = magics.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some(*format);
    }
    let looks: [(Looks, Format); 4] = [
        (looks_like_blktrace, Format::Blktrace),
        (is_vscsi_one, Format::VscsiOne),
        (is_vscsi_two, Format::VscsiTwo),
        (looks_like_oracle, Format::OracleGeneral),
    ];
    let found = looks.iter().find(|(looks_like, _)| looks_like(head)).map(|(_, format)| *format);
    found.filter(|_| head.contains(&0))
}

/// The text format that fits best.
fn text(head: &[u8]) -> Option<Format> {
    let whole = if head.len() < HEAD { head.len() } else { memchr::memrchr(b'\n', head)? };
    let lines: Vec<&[u8]> = head[..whole]
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii_end)
        .filter(|line| !line.is_empty())
        .take(LINES)
        .collect();
    if lines.iter().any(|line| csv::is_header(line)) {
        return Some(Format::Csv);
    }
    let events: [(Looks, Format); 2] =
        [(looks_like_blkparse, Format::Blkparse), (looks_like_trace_events, Format::TraceEvents)];
    if let Some((_, format)) = events.iter().find(|(looks, _)| lines.iter().any(|line| looks(line)))
    {
        return Some(*format);
    }
    let fits = [
        (fitting::<Msr>(&lines), Format::Msr),
        (fitting::<Systor>(&lines), Format::Systor),
        (fitting::<Alibaba>(&lines), Format::Alibaba),
        (fitting::<CloudPhysics>(&lines), Format::CloudPhysics),
        (fitting::<Tencent>(&lines), Format::Tencent),
        (fitting::<Spc>(&lines), Format::Spc),
        (fitting::<Fiu>(&lines), Format::Fiu),
        (fitting::<Validate>(&lines), Format::DiskSimValidate),
        (five_numbers(&lines), Format::DiskSim),
    ];
    let (count, format) = fits.into_iter().rev().max_by_key(|(count, _)| *count)?;
    if count == 0 || 2 * count < lines.len() {
        return None;
    }
    Some(if format == Format::DiskSim { which_of_five(&lines) } else { format })
}

/// How many of the lines a format's parser takes.
fn fitting<P: Pieces + Default>(lines: &[&[u8]]) -> usize {
    rows::<P>(lines).0
}

fn rows<P: Pieces + Default>(lines: &[&[u8]]) -> (usize, Vec<Io>) {
    let (mut parser, mut tables, mut rows) = (P::default(), Tables::default(), Vec::new());
    let mut sink = Sink { rows: &mut rows, tables: &mut tables };
    let count = lines.iter().filter(|line| parser.piece(line, &mut sink).is_ok()).count();
    (count, rows)
}

fn five_numbers(lines: &[&[u8]]) -> usize {
    fitting::<Ascii>(lines).max(fitting::<Replayer>(lines))
}

/// DiskSim, MQSim and the replayer all write five numbers: bytes are multiples of sectors, nanoseconds have no point.
fn which_of_five(lines: &[&[u8]]) -> Format {
    let (taken, rows) = rows::<Replayer>(lines);
    let in_bytes = |io: &Io| {
        io.request.offset.is_multiple_of(SECTOR) && u64::from(io.request.len).is_multiple_of(SECTOR)
    };
    if 2 * taken >= lines.len() && rows.iter().all(in_bytes) {
        return Format::Replayer;
    }
    let count = fitting::<SsdSim>(lines);
    if count == fitting::<Ascii>(lines) { Format::SsdSim } else { Format::DiskSim }
}

/// The decoder of a format.
///
/// # Errors
/// A broken header.
pub(crate) fn decoder(
    format: Format,
    opened: Opened,
    options: &Options,
) -> Result<Box<dyn super::decode::Decode>, Error> {
    let input = match opened {
        Opened::Parquet(name, file) if format == Format::Parquet => {
            return Ok(Box::new(parquet::Columns::new(name, file)?));
        }
        other => other.into_input()?,
    };
    let cut = Cut { input, format, skip_bad: options.skip_bad };
    Ok(match format {
        Format::Parquet => {
            return Err(cut.input.bad_header("does not begin as a Parquet file does"));
        }
        Format::HpSrt => Box::new(srt::Srt::new(cut.input, options.skip_bad)?),
        Format::Blktrace => {
            Box::new(super::events::Blktrace::new(vec![cut.input], options.skip_bad)?)
        }
        Format::Csv => cut.by::<csv::Csv>(),
        Format::Blkparse => cut.by::<Blkparse>(),
        Format::TraceEvents => cut.by::<TraceEvents>(),
        Format::Msr => cut.by::<Msr>(),
        Format::Alibaba => cut.by::<Alibaba>(),
        Format::Tencent => cut.by::<Tencent>(),
        Format::Spc => cut.by::<Spc>(),
        Format::Systor => cut.by::<Systor>(),
        Format::Fiu => cut.by::<Fiu>(),
        Format::VscsiOne => cut.by::<VscsiOne>(),
        Format::VscsiTwo => cut.by::<VscsiTwo>(),
        Format::CloudPhysics => cut.by::<CloudPhysics>(),
        Format::FioLog => cut.by::<FioLog>(),
        Format::DiskSim => cut.by::<Ascii>(),
        Format::DiskSimValidate => cut.by::<Validate>(),
        Format::SsdSim => cut.by::<SsdSim>(),
        Format::Replayer => cut.by::<Replayer>(),
        Format::OracleGeneral => cut.by::<OracleGeneral>(),
    })
}

/// What a decoder of pieces is made of.
struct Cut {
    input: Input,
    format: Format,
    skip_bad: bool,
}

impl Cut {
    fn by<P: Pieces + Default + 'static>(self) -> Box<dyn super::decode::Decode> {
        let tables = Tables::new(self.format, self.input.name());
        Box::new(Cutter::new(self.input, P::default(), tables, self.skip_bad))
    }
}
