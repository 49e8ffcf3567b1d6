//! blktrace's binary records (`blktrace_api.h`), versions 7 and 8: one stream per CPU, or one
//! stream of several CPUs, merged by time.

use crate::error::{Error, FilePosition};
use crate::read::decode::{BATCH, Decode, Epoch};
use crate::read::events::{Event, Kind, Numbers, Pairing, Window, positive_error};
use crate::read::head::{Head, Likeness};
use crate::read::input::Input;
use crate::read::source::Opened;
use crate::read::tables::{Sink, Tables, passed_over};
use ioscape_schema::{Io, IoFlags, Op, TraceInfo};
use rustc_hash::FxHashMap;

/// The upper three bytes of the magic number; the lowest byte is the version.
const MAGIC: u32 = 0x6561_7400;
/// Size of a record's head in bytes, by version.
const HEAD: [(u32, usize); 2] = [(7, 48), (8, 64)];
/// The part of an action that says what happened.
const WHAT: u32 = 0xff;
/// Set if the payload begins with a cgroup's number of 8 bytes.
const CGROUP: u32 = 0x100;
/// Bits of an action's upper half: the kind of request.
const TC_WRITE: u32 = 1 << 17;
const TC_FLUSH: u32 = 1 << 18;
const TC_SYNC: u32 = 1 << 19;
const TC_COMMANDS: u32 = 1 << 25;
const TC_NOTIFY: u32 = 1 << 26;
const TC_AHEAD: u32 = 1 << 27;
const TC_META: u32 = 1 << 28;
const TC_DISCARD: u32 = 1 << 29;
const TC_FUA: u32 = 1 << 31;
/// Kinds of notes: a process's name, the wall clock.
const NOTE_PROCESS: u32 = 0;
const NOTE_TIMESTAMP: u32 = 1;
/// The most processes whose names are remembered.
const MOST_PROCESSES: usize = 1 << 20;
/// How many bytes of all streams together are examined for records of several CPUs or devices. They
/// hold as many records as are then held back.
const LOOK: usize = 1 << 22;
/// The fewest bytes examined in one stream.
const LEAST: usize = 1 << 18;

/// Recognizes the format if the source begins with a record.
pub(super) fn looks_like(head: &Head<'_>) -> Likeness {
    Likeness::certain_if(head.is_binary() && version(head.bytes).is_some())
}

/// Opens one decoder for all sources: each is the stream of one CPU of a recording.
pub(super) fn open(
    name: &str,
    sources: Vec<Opened>,
    skip_bad: bool,
) -> Result<Vec<Box<dyn Decode>>, Error> {
    let inputs = sources.into_iter().map(Opened::into_input).collect::<Result<_, _>>()?;
    Ok(vec![Box::new(Blktrace::new(name, inputs, skip_bad)?)])
}

/// Returns the version of the first record, and whether its bytes are swapped.
fn version(bytes: &[u8]) -> Option<(u32, bool)> {
    let magic = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
    [(magic, false), (magic.swap_bytes(), true)]
        .into_iter()
        .find(|(magic, _)| magic & !0xff == MAGIC && HEAD.iter().any(|(v, _)| *v == magic & 0xff))
        .map(|(magic, swapped)| (magic & 0xff, swapped))
}

/// One record's head.
#[derive(Clone, Copy)]
struct Record {
    time_ns: u64,
    sequence: u32,
    sector: u64,
    bytes: u32,
    action: u32,
    pid: u32,
    device: u32,
    cpu: u32,
    error: u16,
    payload: usize,
    head: usize,
    /// Whether its numbers are big-endian.
    swapped: bool,
}

impl Record {
    fn read(bytes: &[u8]) -> Option<Self> {
        let (version, swapped) = version(bytes)?;
        let (_, head) = HEAD.into_iter().find(|(v, _)| *v == version)?;
        let bytes = bytes.get(..head)?;
        let u16_at = |at: usize| {
            let value = u16::from_le_bytes([bytes[at], bytes[at + 1]]);
            if swapped { value.swap_bytes() } else { value }
        };
        let u32_at = |at: usize| {
            let value =
                u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
            if swapped { value.swap_bytes() } else { value }
        };
        let u64_at = |at: usize| {
            let (low, high) = if swapped { (at + 4, at) } else { (at, at + 4) };
            u64::from(u32_at(high)) << 32 | u64::from(u32_at(low))
        };
        // Version 8 widens the action and puts the process before it. The new upper half concerns
        // zones only.
        let (action, pid, after) = if version == 7 {
            (u32_at(28), u32_at(32), 36)
        } else {
            (u64_at(32) as u32, u32_at(28), 40)
        };
        Some(Self {
            time_ns: u64_at(8),
            sequence: u32_at(4),
            sector: u64_at(16),
            bytes: u32_at(24),
            action,
            pid,
            device: u32_at(after),
            cpu: u32_at(after + 4),
            error: u16_at(after + 8),
            payload: usize::from(u16_at(after + 10)),
            head,
            swapped,
        })
    }

    fn is_note(&self) -> bool {
        self.action & TC_NOTIFY != 0
    }

    fn kind(&self) -> Option<Kind> {
        if self.action & (TC_NOTIFY | TC_COMMANDS) != 0 {
            return None;
        }
        Some(match self.action & WHAT {
            1 => Kind::Queue,
            2 => Kind::BackMerge,
            3 => Kind::FrontMerge,
            4 | 12 => Kind::Start,
            6 => Kind::Requeue,
            7 => Kind::Issue,
            8 => Kind::Complete,
            13 => Kind::Split,
            15 => Kind::Remap,
            _ => return None,
        })
    }

    fn flags(&self) -> IoFlags {
        let bits = [
            (TC_FLUSH, IoFlags::FLUSH),
            (TC_SYNC, IoFlags::SYNC),
            (TC_AHEAD, IoFlags::READ_AHEAD),
            (TC_META, IoFlags::META),
            (TC_DISCARD, IoFlags::DISCARD),
            (TC_FUA, IoFlags::FUA),
        ];
        bits.iter().fold(IoFlags::empty(), |flags, (bit, flag)| {
            if self.action & bit != 0 { flags | *flag } else { flags }
        })
    }

    fn event(&self, kind: Kind, payload: &[u8]) -> Event {
        let writes = self.action & (TC_WRITE | TC_DISCARD | TC_FLUSH) != 0;
        let mut event = Event {
            bytes: u64::from(self.bytes),
            op: if writes { Op::Write } else { Op::Read },
            flags: self.flags(),
            process: self.pid,
            error: if kind == Kind::Complete { positive_error(self.error) } else { 0 },
            ..Event::new(kind, self.time_ns, self.device, self.sector)
        };
        if self.bytes == 0 && event.flags.contains(IoFlags::FLUSH) {
            event.sector = 0;
        }
        let payload = payload.get(if self.action & CGROUP != 0 { 8 } else { 0 }..).unwrap_or(&[]);
        let be = |at: usize| {
            let bytes = payload.get(at..at + 4).and_then(|b| b.try_into().ok());
            bytes.map_or(0, u32::from_be_bytes)
        };
        match kind {
            Kind::Split => event.from.1 = u64::from(be(0)) << 32 | u64::from(be(4)),
            Kind::Remap => event.from = (be(0), u64::from(be(8)) << 32 | u64::from(be(12))),
            _ => {}
        }
        event
    }
}

/// What a record reports.
enum Told {
    Event(Event),
    Name { process: u32, command: u32 },
}

/// One stream, usually of one CPU, with its next record.
struct Cpu {
    input: Input,
    records: u64,
    next: Option<Record>,
    numbers: Numbers,
}

/// The sort key of a record among all streams: its time, number and stream.
type Moment = (u64, u32, usize);

impl Cpu {
    /// Finds the next record; leaves none at the end.
    fn advance(&mut self, skip_bad: bool, info: &mut TraceInfo) -> Result<(), Error> {
        self.next = None;
        loop {
            let bytes = self.input.peek(HEAD[1].1)?;
            if bytes.is_empty() {
                return Ok(());
            }
            let found = Record::read(bytes);
            let length = found.map(|record| record.head + record.payload);
            let whole = match length {
                Some(length) => self.input.peek(length)?.len() >= length,
                None => false,
            };
            self.records += 1;
            if whole {
                self.next = found;
                return Ok(());
            }
            let position =
                FilePosition::Record { number: self.records, byte: self.input.position() };
            let reason = if found.is_some() {
                "the file ends within a record"
            } else {
                "no record begins here"
            };
            if !skip_bad {
                return Err(self.input.bad_record(position, reason));
            }
            info.skipped += 1;
            let from = self.input.position();
            resynchronize(&mut self.input)?;
            passed_over(info, self.input.position() - from);
        }
    }

    /// Whether the next bytes have records of several CPUs or devices.
    fn is_mixed(&mut self, bytes: usize) -> Result<bool, Error> {
        let bytes = self.input.peek(bytes)?;
        let (mut at, mut first) = (0, None);
        while let Some(record) = bytes.get(at..).and_then(Record::read) {
            let of = (record.device, record.cpu);
            if !record.is_note() && *first.get_or_insert(of) != of {
                return Ok(true);
            }
            at += record.head + record.payload;
        }
        Ok(false)
    }
}

/// The decoder of the streams of all CPUs.
pub(crate) struct Blktrace {
    cpus: Vec<Cpu>,
    skip_bad: bool,
    /// Holds back and sorts records, once a stream is known to have several CPUs or devices.
    window: Option<Window<Told>>,
    pairing: Pairing,
    tables: Tables,
    commands: FxHashMap<u32, u32>,
    unix_offset_ns: Option<i64>,
    ended: bool,
}

impl Blktrace {
    /// Reads the streams' first records.
    fn new(name: &str, inputs: Vec<Input>, skip_bad: bool) -> Result<Self, Error> {
        let mut this = Self {
            cpus: Vec::with_capacity(inputs.len()),
            skip_bad,
            window: None,
            pairing: Pairing::default(),
            tables: Tables::new(name, ""),
            commands: FxHashMap::default(),
            unix_offset_ns: None,
            ended: false,
        };
        let (look, mut is_mixed) = ((LOOK / inputs.len().max(1)).max(LEAST), false);
        for input in inputs {
            let mut cpu = Cpu { input, records: 0, next: None, numbers: Numbers::default() };
            cpu.advance(skip_bad, &mut this.tables.info)?;
            is_mixed |= cpu.is_mixed(look)?;
            this.cpus.push(cpu);
        }
        this.window = is_mixed.then(Window::default);
        Ok(this)
    }

    /// Takes the next record of stream `index`, which must have one.
    fn take(&mut self, index: usize, into: &mut Vec<Io>) -> Result<(), Error> {
        let Some(cpu) = self.cpus.get_mut(index) else { return Ok(()) };
        let Some(record) = cpu.next else { return Ok(()) };
        let length = record.head + record.payload;
        let payload = cpu.input.at_hand().get(record.head..length).unwrap_or(&[]);
        let told = if record.is_note() {
            note(&record, payload, &mut self.tables, &mut self.unix_offset_ns)
        } else {
            // The kernel does not number notes: the field has whatever the buffer held before.
            let of = (record.device, record.cpu);
            cpu.numbers.count(of, record.sequence, &mut self.tables.info);
            record.kind().map(|kind| Told::Event(record.event(kind, payload)))
        };
        if cpu.numbers.are_several() && self.window.is_none() {
            self.window = Some(Window::default());
        }
        cpu.input.consume(length);
        let advanced = cpu.advance(self.skip_bad, &mut self.tables.info);
        let Some(told) = told else { return advanced };
        match &mut self.window {
            None => self.pair(told, into)?,
            Some(window) => {
                let number = if record.is_note() { 0 } else { record.sequence };
                window.push((record.time_ns, number, record.cpu), told);
            }
        }
        advanced
    }

    /// Takes what a record reports, in the order of time.
    fn pair(&mut self, told: Told, into: &mut Vec<Io>) -> Result<(), Error> {
        let mut event = match told {
            Told::Event(event) => event,
            Told::Name { process, command } => {
                if self.commands.len() < MOST_PROCESSES {
                    self.commands.insert(process, command);
                }
                return Ok(());
            }
        };
        event.command = self.commands.get(&event.process).copied().unwrap_or(0);
        let mut sink = Sink { rows: into, tables: &mut self.tables };
        match self.pairing.take(event, &mut sink) {
            Err(reason) if !self.skip_bad => Err(Error::Unsupported(reason.into_owned())),
            Err(_) => {
                self.tables.info.skipped += 1;
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Takes what the window releases.
    fn release(&mut self, at_end: bool, into: &mut Vec<Io>) -> Result<(), Error> {
        while let Some(told) = self.window.as_mut().and_then(|window| window.pop(at_end)) {
            self.pair(told, into)?;
        }
        Ok(())
    }

    /// Ends the trace after the last record.
    fn end(&mut self, into: &mut Vec<Io>) -> Result<(), Error> {
        self.release(true, into)?;
        self.pairing.end(&mut Sink { rows: into, tables: &mut self.tables });
        let late = self.window.as_ref().map_or(0, Window::late);
        if late > 0 {
            self.tables.info.notes.insert("events out of order".to_owned(), late.to_string());
        }
        Ok(())
    }

    /// Returns the stream with the earliest record, and the moment of the next record of any other
    /// stream.
    fn earliest(&self) -> Option<(usize, Option<Moment>)> {
        let (mut first, mut second): (Option<Moment>, Option<Moment>) = (None, None);
        for moment in (0..self.cpus.len()).filter_map(|index| self.moment(index)) {
            if first.is_none_or(|first| moment < first) {
                (first, second) = (Some(moment), first);
            } else if second.is_none_or(|second| moment < second) {
                second = Some(moment);
            }
        }
        first.map(|first| (first.2, second))
    }

    /// Returns the moment of a stream's next record.
    fn moment(&self, index: usize) -> Option<Moment> {
        let next = self.cpus.get(index)?.next?;
        Some((next.time_ns, next.sequence, index))
    }
}

/// Skips bytes until a record may begin.
fn resynchronize(input: &mut Input) -> Result<(), Error> {
    input.consume(1);
    loop {
        let bytes = input.at_hand();
        let found = (0..bytes.len().saturating_sub(3)).find(|&at| version(&bytes[at..]).is_some());
        let passed = found.unwrap_or(bytes.len().saturating_sub(3));
        input.consume(passed);
        if found.is_some() {
            return Ok(());
        }
        if !input.more()? {
            input.consume(usize::MAX >> 1);
            return Ok(());
        }
    }
}

/// Returns a process's name, if the note is one; takes over the wall clock.
fn note(
    record: &Record,
    payload: &[u8],
    tables: &mut Tables,
    unix_offset_ns: &mut Option<i64>,
) -> Option<Told> {
    match record.action & WHAT {
        NOTE_PROCESS => {
            let name = payload.split(|byte| *byte == 0).next().unwrap_or(&[]);
            Some(Told::Name { process: record.pid, command: tables.command(name) })
        }
        NOTE_TIMESTAMP => {
            let word = |at: usize| {
                let word: [u8; 4] = payload.get(at..at + 4)?.try_into().ok()?;
                let number = u32::from_le_bytes(word);
                Some(if record.swapped { number.swap_bytes() } else { number })
            };
            let (seconds, nanos) = (word(0)?, word(4)?);
            let wall = i64::from(seconds) * 1_000_000_000 + i64::from(nanos);
            *unix_offset_ns = i64::try_from(record.time_ns).ok().map(|clock| wall - clock);
            None
        }
        _ => None,
    }
}

impl Decode for Blktrace {
    fn decode(&mut self, into: &mut Vec<Io>) -> Result<bool, Error> {
        let mut left = BATCH;
        while left > 0 {
            let Some((index, until)) = self.earliest() else {
                if self.ended {
                    return Ok(false);
                }
                self.ended = true;
                self.end(into)?;
                return Ok(true);
            };
            let is_next = |moment: Moment| until.is_none_or(|until| moment < until);
            while left > 0 && self.moment(index).is_some_and(is_next) {
                self.take(index, into)?;
                left -= 1;
            }
        }
        self.release(false, into)?;
        Ok(true)
    }

    fn info(&self) -> &TraceInfo {
        &self.tables.info
    }

    fn epoch(&self) -> Epoch {
        Epoch::Clock { unix_offset_ns: self.unix_offset_ns }
    }
}
