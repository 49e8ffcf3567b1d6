//! The tables that rows refer to, filled while the trace is read.

use crate::columns;
use ioscape_schema::{Device, Io, TraceInfo};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The reason why a line or record is not a row.
pub(crate) type Bad = Cow<'static, str>;

/// The most names in a table of commands; any further command counts as unknown.
const MOST_COMMANDS: usize = 1 << 20;
/// The longest name that is kept, in bytes.
const LONGEST_NAME: usize = 255;

/// The tables of the trace so far.
#[derive(Default)]
pub(crate) struct Tables {
    /// The tables themselves.
    pub info: TraceInfo,
    devices: FxHashMap<Box<[u8]>, u16>,
    commands: HashMap<Box<[u8]>, u32>,
    latest_device: (Vec<u8>, u16),
    latest_command: (Vec<u8>, u32),
    /// The name of the single device of a source that names none.
    only: String,
}

impl Tables {
    /// Creates empty tables for a trace of the format named `format`, from the file `source`.
    pub fn new(format: &str, source: &str) -> Self {
        let info = TraceInfo { format: format.to_owned(), ..TraceInfo::default() };
        Self { info, only: stem(source).to_owned(), ..Self::default() }
    }

    /// Takes over the tables that a source has at its beginning.
    pub fn restore(&mut self, info: TraceInfo) {
        let devices = info.devices.iter().enumerate().take(1 << 16);
        self.devices =
            devices.map(|(at, device)| (device.name.as_bytes().into(), at as u16)).collect();
        let commands = info.commands.iter().enumerate().skip(1).take(MOST_COMMANDS);
        self.commands = commands.map(|(at, name)| (name.as_bytes().into(), at as u32)).collect();
        self.latest_command = Default::default();
        self.info = info;
    }

    /// Takes over tables whose devices the source identifies by these numbers.
    pub fn restore_numbered(&mut self, info: TraceInfo, numbers: &[u32]) {
        self.restore(info);
        let numbered = numbers.iter().enumerate().take(self.info.devices.len().min(1 << 16));
        self.devices =
            numbered.map(|(at, number)| (number.to_le_bytes().into(), at as u16)).collect();
    }

    /// Returns the index of the device with the name or number `key`; `name` names a new device.
    pub fn device(&mut self, key: &[u8], name: impl FnOnce() -> String) -> Result<u16, Bad> {
        if self.latest_device.0 == key
            && usize::from(self.latest_device.1) < self.info.devices.len()
            && !key.is_empty()
        {
            return Ok(self.latest_device.1);
        }
        let index = match self.devices.get(key) {
            Some(&index) => index,
            None => self.new_device(key, name())?,
        };
        self.latest_device.0.clear();
        self.latest_device.0.extend_from_slice(key);
        self.latest_device.1 = index;
        Ok(index)
    }

    fn new_device(&mut self, key: &[u8], name: String) -> Result<u16, Bad> {
        let index = u16::try_from(self.info.devices.len())
            .map_err(|_| Bad::from("more than 65,536 devices in one trace"))?;
        self.devices.insert(key.into(), index);
        self.info.devices.push(Device { name: short(&name), ..Device::default() });
        Ok(index)
    }

    /// Returns the index of the device named `name`.
    pub fn device_named(&mut self, name: &[u8]) -> Result<u16, Bad> {
        self.device(name, || String::from_utf8_lossy(name).into_owned())
    }

    /// Returns the index of a name in a column of devices or commands.
    pub fn number(&mut self, column: &str, name: &[u8]) -> Result<u64, Bad> {
        match column {
            columns::DEVICE => self.device_named(name).map(u64::from),
            _ => Ok(u64::from(self.command(name))),
        }
    }

    /// Returns the index of the single device of a source that names none. The file's name names
    /// it.
    pub fn only_device(&mut self) -> Result<u16, Bad> {
        if self.info.devices.is_empty() { self.new_device(b"", self.only.clone()) } else { Ok(0) }
    }

    /// Whether the trace has such a single, unnamed device.
    pub fn has_only_device(&self) -> bool {
        self.has_device(b"")
    }

    /// Whether the trace has the device with the name or number `key`.
    pub fn has_device(&self, key: &[u8]) -> bool {
        self.devices.contains_key(key)
    }

    /// Returns the index of a command; 0 is the unknown command.
    #[inline]
    pub fn command(&mut self, name: &[u8]) -> u32 {
        // Neighbouring rows often have the same command. Comparing two empty names would cost the C
        // library more than any other name: a masked load from no address.
        if name.is_empty() {
            return 0;
        }
        if self.latest_command.0 != name {
            self.latest_command.1 = self.other_command(name);
            self.latest_command.0.clear();
            self.latest_command.0.extend_from_slice(name);
        }
        self.latest_command.1
    }

    fn other_command(&mut self, name: &[u8]) -> u32 {
        if let Some(&index) = self.commands.get(name) {
            return index;
        }
        if self.info.commands.is_empty() {
            self.info.commands.push(String::new());
        }
        let index = self.info.commands.len();
        if index > MOST_COMMANDS {
            return 0;
        }
        let index = index as u32;
        self.commands.insert(name.into(), index);
        self.info.commands.push(short(&String::from_utf8_lossy(name)));
        index
    }
}

/// Notes, once, what the source does not record.
#[inline]
pub(crate) fn without(sink: &mut Sink<'_>, what: &str, text: &str) {
    if sink.rows.is_empty() && !sink.tables.info.notes.contains_key(what) {
        sink.tables.info.notes.insert(what.to_owned(), text.to_owned());
    }
}

/// Notes, once, that the source does not record operations.
#[inline]
pub(crate) fn without_operations(sink: &mut Sink<'_>) {
    let text = "the format does not tell what reads and what writes: all requests count as reads, and figures of reads or of writes are left out";
    without(sink, "operations", text);
}

/// Notes, once, that the source records times in whole seconds.
#[inline]
pub(crate) fn in_seconds(sink: &mut Sink<'_>) {
    sink.tables.info.arrival_step_ns = Some(1_000_000_000);
}

/// Notes, once, that the source numbers objects, which are taken for sectors.
#[inline]
pub(crate) fn of_objects(sink: &mut Sink<'_>) {
    let text = "the format numbers objects, which are taken for sectors of 512 bytes: distances, alignment and addresses are left out, and figures of blocks hold for traces of block devices alone";
    without(sink, "objects", text);
}

/// Adds to the count of bytes that had to be skipped to find the next record.
pub(crate) fn passed_over(info: &mut TraceInfo, bytes: u64) {
    let note = info.notes.entry("bytes not read".to_owned()).or_default();
    *note = (note.parse().unwrap_or(0) + bytes).to_string();
}

/// Returns a file's name up to its first dot: `w106` for `folder/w106.vscsi.gz`.
fn stem(source: &str) -> &str {
    let file = source.rsplit('/').next().unwrap_or(source);
    match file.trim_start_matches('.').split('.').next() {
        Some(stem) if !stem.is_empty() => stem,
        _ => "disk 0",
    }
}

/// Returns a device of which only the number is known.
pub(crate) fn unnamed(number: usize) -> Device {
    Device { name: format!("disk {number}"), ..Device::default() }
}

/// Adds devices of which only the number is known, up to number `last`.
///
/// Their names must differ from those of known devices: two devices of one name would be one disk
/// in text formats and where traces are merged.
pub(crate) fn add_unnamed(devices: &mut Vec<Device>, last: usize) {
    // New names never collide with each other. A set, because up to 65,536 devices may be added at
    // once.
    let names = || devices.iter().map(|device| device.name.clone()).collect();
    let known: Option<HashSet<String>> = (last > devices.len()).then(names);
    for number in devices.len()..=last {
        let mut device = unnamed(number);
        let mut same = 1;
        let is_taken = |name: &String| match &known {
            Some(known) => known.contains(name),
            None => devices.iter().any(|other| other.name == *name),
        };
        while is_taken(&device.name) {
            same += 1;
            device.name = format!("disk {number} ({same})");
        }
        devices.push(device);
    }
}

fn short(name: &str) -> String {
    let end = name.char_indices().map(|(at, _)| at).take_while(|&at| at <= LONGEST_NAME).last();
    if name.len() <= LONGEST_NAME { name.to_owned() } else { name[..end.unwrap_or(0)].to_owned() }
}

/// Where a parser puts what it finds.
pub(crate) struct Sink<'a> {
    /// The rows.
    pub rows: &'a mut Vec<Io>,
    /// The tables.
    pub tables: &'a mut Tables,
}
