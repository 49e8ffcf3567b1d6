//! HP Labs' SRT: the traces of Ruemmler & Wilkes 1993. A text header precedes big-endian records.
//!
//! Sources: `src/disksim_hptrace.h` of DiskSim for versions 1.x; `srt2ds.cpp` of DataSeries for
//! 1.7.

mod header;

use crate::error::{Error, FilePosition};
use crate::read::decode::{BATCH, Decode, Epoch};
use crate::read::head::{Head, Likeness};
use crate::read::input::Input;
use crate::read::source::Opened;
use crate::read::tables::passed_over;
use header::{Header, MAGIC};
use ioscape_schema::{Device, Io, IoFlags, IoType, Op, Request, TraceInfo};
use std::collections::BTreeMap;

/// Size of a record's own header: size, id, seconds, microseconds.
const RECORD_HEADER: usize = 16;
/// The longest plausible record.
const LONGEST_RECORD: usize = 4096;
/// The number of bytes after a record within which another must begin.
const AHEAD: usize = 2 * LONGEST_RECORD;
/// The `id` of a short I/O record, and of a suspect one, which has additional flags.
const SHORT_IO: u32 = 1;
const SUSPECT_IO: u32 = 4;
/// The latest record version that is known.
const LATEST_VERSION: u32 = 7;
/// The first record version with process, logical volume and byte offset.
const LONG_VERSION: u32 = 7;

/// What is doubtful about flags and types of records since version 7.
const TYPES_SINCE_7: &str = "flags and types of SRT 1.7 are taken by the numbers of 1.3, as one published converter reads both; types without a published number count as unknown";

/// Flags of `ioflags` (HP-UX 8.0 `sys/buf.h`).
const B_READ: u32 = 0x1;
const B_PHYS: u32 = 0x10;
const B_ASYNC: u32 = 0x100;
const B_FSYSIO: u32 = 0x8_0000;
const B_SYNC: u32 = 0x100_0000;

/// Recognizes the format by its magic number.
pub(super) fn looks_like(head: &Head<'_>) -> Likeness {
    Likeness::certain_if(head.bytes.starts_with(MAGIC))
}

/// Opens a decoder for each source.
pub(super) fn open(
    name: &str,
    sources: Vec<Opened>,
    skip_bad: bool,
) -> Result<Vec<Box<dyn Decode>>, Error> {
    let decoder = |source: Opened| -> Result<Box<dyn Decode>, Error> {
        Ok(Box::new(Srt::new(name, source.into_input()?, skip_bad)?))
    };
    sources.into_iter().map(decoder).collect()
}

/// The decoder of one file.
struct Srt {
    input: Input,
    skip_bad: bool,
    header: Header,
    devices: BTreeMap<u32, u16>,
    info: TraceInfo,
    records: u64,
    /// The latest size of a record of each kind and version.
    usual: BTreeMap<u32, usize>,
    /// Number of records that are not I/O.
    other_kinds: u64,
    unix: bool,
    ended: bool,
}

impl Srt {
    /// Reads the header.
    fn new(name: &str, mut input: Input, skip_bad: bool) -> Result<Self, Error> {
        let header = header::read(&mut input)?;
        let mut info = TraceInfo {
            format: name.to_owned(),
            started_unix_ns: header.started_ns,
            notes: header.notes.clone(),
            ..TraceInfo::default()
        };
        let mut devices = BTreeMap::new();
        for disk in &header.disks {
            if let Ok(index) = u16::try_from(info.devices.len()) {
                devices.insert(disk.number, index);
                info.devices.push(disk.device.clone());
            }
        }
        let (records, usual, other_kinds, unix, ended) = Default::default();
        Ok(Self {
            input,
            skip_bad,
            header,
            devices,
            info,
            records,
            usual,
            other_kinds,
            unix,
            ended,
        })
    }

    /// Reads the next record.
    fn record(&mut self) -> Result<Record, Error> {
        let byte = self.input.position();
        let head = self.input.peek(RECORD_HEADER)?;
        if head.is_empty() {
            return Ok(Record::End);
        }
        self.records += 1;
        let position = FilePosition::Record { number: self.records, byte };
        if head.len() < RECORD_HEADER {
            self.input.consume(RECORD_HEADER);
            return self.broken(position, "the file ends within a record").map(|()| Record::Other);
        }
        let (size, id) = (word(head, 0) as usize, word(head, 1));
        if !is_header(head) {
            let told = self.broken(position, &format!("a record of {size} bytes"));
            return told.and_then(|()| self.resynchronize()).map(|()| Record::Other);
        }
        let at_hand = self.input.peek(size + AHEAD)?;
        let doubt = match () {
            () if at_hand.len() < size => Some("the file ends within a record".to_owned()),
            () if self.usual.get(&id) == Some(&size) || leads_on(at_hand, size) => None,
            () => Some(format!("a record of {size} bytes behind which no other begins")),
        };
        if let Some(reason) = doubt {
            let told = self.broken(position, &reason);
            return told.and_then(|()| self.resynchronize()).map(|()| Record::Other);
        }
        self.usual.insert(id, size);
        let row = match id & 0xffff {
            SHORT_IO | SUSPECT_IO => row(&at_hand[..size], id >> 16, &self.header).map(Some),
            _ => Ok(None),
        };
        if id >> 16 >= LONG_VERSION && !self.unix {
            self.unix = true;
            self.info.notes.insert("types".to_owned(), TYPES_SINCE_7.to_owned());
        }
        self.input.consume(size);
        match row {
            Ok(Some((io, disk))) => self.placed(io, disk, position),
            Ok(None) => {
                self.other_kinds += 1;
                let note = "records of other kinds".to_owned();
                self.info.notes.insert(note, self.other_kinds.to_string());
                Ok(Record::Other)
            }
            Err(reason) => self.broken(position, reason).map(|()| Record::Other),
        }
    }

    /// Skips bytes until two I/O records in a row, or the last one, may begin; counts the skipped
    /// bytes.
    fn resynchronize(&mut self) -> Result<(), Error> {
        let from = self.input.position();
        self.input.consume(1);
        loop {
            let at_hand = self.input.peek(2 * LONGEST_RECORD)?;
            if at_hand.is_empty() || begins_records(at_hand) {
                break;
            }
            let near = 1..at_hand.len().saturating_sub(2 * LONGEST_RECORD).max(2);
            let found = near.clone().find(|&at| begins_records(&at_hand[at..]));
            self.input.consume(found.unwrap_or(near.end));
        }
        passed_over(&mut self.info, self.input.position() - from);
        Ok(())
    }

    /// Returns the row with its device's index.
    fn placed(&mut self, io: Io, disk: u32, position: FilePosition) -> Result<Record, Error> {
        if let Some(&device) = self.devices.get(&disk) {
            return Ok(Record::Row(Io { device, ..io }));
        }
        let Ok(device) = u16::try_from(self.info.devices.len()) else {
            return self.broken(position, "more than 65,535 devices").map(|()| Record::Other);
        };
        self.devices.insert(disk, device);
        let name = self.header.name(disk);
        self.info.devices.push(Device { name, ..Device::default() });
        Ok(Record::Row(Io { device, ..io }))
    }

    fn broken(&mut self, position: FilePosition, reason: &str) -> Result<(), Error> {
        if self.skip_bad {
            self.info.skipped += 1;
            return Ok(());
        }
        Err(self.input.bad_record(position, reason))
    }
}

/// What was read: a row, a record of another kind, or the end of the trace.
enum Record {
    Row(Io),
    Other,
    End,
}

impl Decode for Srt {
    fn decode(&mut self, into: &mut Vec<Io>) -> Result<bool, Error> {
        for _ in 0..BATCH {
            if self.ended {
                return Ok(false);
            }
            match self.record()? {
                Record::Row(io) => into.push(io),
                Record::Other => {}
                Record::End => self.ended = true,
            }
        }
        Ok(true)
    }

    fn info(&self) -> &TraceInfo {
        &self.info
    }

    fn epoch(&self) -> Epoch {
        if self.unix { Epoch::Unix } else { Epoch::Start }
    }
}

/// Whether a record may begin here: its size is plausible.
fn is_header(bytes: &[u8]) -> bool {
    bytes.len() >= RECORD_HEADER
        && (RECORD_HEADER..=LONGEST_RECORD).contains(&(word(bytes, 0) as usize))
}

/// Whether an I/O record may begin here.
fn is_io(bytes: &[u8]) -> bool {
    is_header(bytes)
        && matches!(word(bytes, 1) & 0xffff, SHORT_IO | SUSPECT_IO)
        && word(bytes, 1) >> 16 <= LATEST_VERSION
        && word(bytes, 3) < 1_000_000
}

/// Whether an I/O record or the end follows a record of `size` bytes at the start of `bytes`, at
/// once or after records of other kinds. A damaged size leads into the middle of another record.
fn leads_on(bytes: &[u8], size: usize) -> bool {
    let is_end = bytes.len() < size + AHEAD;
    let mut at = size;
    while let Some(rest) = bytes.get(at..) {
        if is_io(rest) || (rest.is_empty() && is_end) {
            return true;
        }
        if !is_header(rest) {
            return false;
        }
        at += word(rest, 0) as usize;
    }
    !is_end
}

/// Whether a whole I/O record may begin here, followed by another one or the end.
fn begins_records(bytes: &[u8]) -> bool {
    let size = word(bytes, 0) as usize;
    is_io(bytes) && bytes.get(size..).is_some_and(|next| next.is_empty() || is_io(next))
}

/// Returns the `index`th word of a record.
fn word(record: &[u8], index: usize) -> u32 {
    record
        .get(4 * index..4 * index + 4)
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(0, u32::from_be_bytes)
}

/// Returns a record as a row without its device's index, and the number of its disk.
fn row(record: &[u8], version: u32, header: &Header) -> Result<(Io, u32), &'static str> {
    let long = version >= LONG_VERSION;
    if record.len() < if long { 72 } else { 56 } {
        return Err("an I/O record that is too short for its version");
    }
    if word(record, 3) >= 1_000_000 {
        return Err("a second of more than a million microseconds");
    }
    let queued_ns = u64::from(word(record, 2)) * 1_000_000_000 + u64::from(word(record, 3)) * 1000;
    let (start, stop) = (u64::from(word(record, 4)), u64::from(word(record, 5)));
    let times = (queued_ns + start * 1000, queued_ns + stop.max(start) * 1000);
    let (flags, info, dev) = (word(record, 11), word(record, 12), word(record, 8));
    let op = if flags & B_READ == 0 { Op::Write } else { Op::Read };
    let io = Io {
        queued_ns,
        issued_ns: times.0,
        completed_ns: times.1,
        ..if long {
            long_fields(record, flags, info)
        } else {
            short_fields(record, flags, info, dev)
        }
    };
    let (offset, disk) = if long {
        (u64::from(word(record, 16)) << 32 | u64::from(word(record, 17)), dev)
    } else {
        let disk = dev >> 8 & 0xff;
        (u64::from(word(record, 7)) * u64::from(header.sector_bytes(disk)), disk)
    };
    Ok((Io { request: Request { op, offset, len: word(record, 6) }, ..io }, disk))
}

/// Returns the further fields of records since version 7. Their queue length is left out, because
/// it does not agree with the one counted from the times.
fn long_fields(record: &[u8], flags: u32, info: u32) -> Io {
    Io { process: word(record, 14), ..typed_fields(flags, info) }
}

/// Returns the further fields of the records of the 1992 traces.
fn short_fields(record: &[u8], flags: u32, info: u32, dev: u32) -> Io {
    Io {
        partition: (dev & 0xff) as u16,
        queue_length: word(record, 13),
        ..typed_fields(flags, info)
    }
}

/// Returns flags and type, which have the same numbers in all versions: `srt2ds.cpp` uses the same
/// names for 1.3 and 1.7.
fn typed_fields(flags: u32, info: u32) -> Io {
    let io_type = io_type(info);
    let mut set = IoFlags::empty();
    set.set(IoFlags::SYNC, flags & B_SYNC != 0);
    set.set(IoFlags::ASYNC, flags & B_ASYNC != 0);
    set.set(IoFlags::RAW, flags & B_FSYSIO == 0 && flags & B_PHYS != 0);
    set.set(IoFlags::META, io_type.is_metadata());
    set.set(IoFlags::SWAP, io_type == IoType::Swap);
    Io { flags: set, io_type, ..Io::default() }
}

/// Returns the block's type, from bits 16 to 20. Type 9 is paging from a file system, which Table 6
/// calls unknown.
fn io_type(info: u32) -> IoType {
    match info >> 16 & 0x1f {
        1 => IoType::UserData,
        2 => IoType::Inode,
        3 => IoType::Directory,
        4 => IoType::Indirect,
        5 => IoType::Superblock,
        6 => IoType::Bitmap,
        7 => IoType::Swap,
        _ => IoType::Unknown,
    }
}
