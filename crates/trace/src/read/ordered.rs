//! A decoder with its rows in the order of arrival, and several such decoders merged into one.

use super::decode::{BATCH, Decode, Epoch};
use super::events::add_levels;
use super::order::Order;
use super::tables::{Bad, Tables};
use crate::error::Error;
use ioscape_schema::{Io, TraceInfo};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet, VecDeque};

/// A decoder and the window that orders its rows.
pub(crate) struct Ordered {
    pub decoder: Box<dyn Decode>,
    pub order: Order,
    /// Batches in order, none of them empty, and how many rows of the first were handed out.
    ready: VecDeque<Vec<Io>>,
    given: usize,
    ended: bool,
}

impl Ordered {
    /// Orders the rows of `decoder`; times stay the decoder's own.
    pub fn new(decoder: Box<dyn Decode>) -> Self {
        Self::one_of(decoder, 1)
    }

    /// Orders the rows of one of `traces` traces. Their windows together are as large as that of a
    /// single trace; the window of the merged trace sorts rows that are farther out of order.
    fn one_of(decoder: Box<dyn Decode>, traces: usize) -> Self {
        let order = Order::sharing(traces);
        Self { decoder, order, ready: VecDeque::new(), given: 0, ended: false }
    }

    /// Returns the next rows, at most `most`; none at the end.
    pub fn next(&mut self, most: usize) -> Result<&[Io], Error> {
        self.fill()?;
        let Some(batch) = self.ready.front() else { return Ok(&[]) };
        let from = self.given;
        self.given = (from + most).min(batch.len());
        Ok(&batch[from..self.given])
    }

    /// Replaces the rows in `into` by the next ones, at most `most`; none at the end.
    pub fn take(&mut self, most: usize, into: &mut Vec<Io>) -> Result<(), Error> {
        into.clear();
        self.fill()?;
        let is_whole = |batch: &Vec<Io>| self.given == 0 && batch.len() <= most;
        if !self.ready.front().is_some_and(is_whole) {
            into.extend_from_slice(self.next(most)?);
        } else if let Some(batch) = self.ready.pop_front() {
            self.order.give_back(std::mem::replace(into, batch));
        }
        Ok(())
    }

    /// Returns the next row without taking it.
    fn peek(&mut self) -> Result<Option<&Io>, Error> {
        self.fill()?;
        Ok(self.ready.front().and_then(|batch| batch.get(self.given)))
    }

    /// Makes a row ready unless there are no more.
    fn fill(&mut self) -> Result<(), Error> {
        if self.ready.front().is_some_and(|batch| self.given == batch.len()) {
            self.ready.pop_front().into_iter().for_each(|batch| self.order.give_back(batch));
            self.given = 0;
        }
        if !self.ready.is_empty() {
            return Ok(());
        }
        if !self.decoder.is_ordered() {
            while !self.ended && !self.order.full() {
                let (batch, more) = self.decode(self.order.window().min(BATCH / 2));
                self.order.push(batch);
                self.ended = !more?;
            }
            self.order.release(&mut self.ready, self.ended);
            return Ok(());
        }
        while !self.ended && self.ready.is_empty() {
            let (batch, more) = self.decode(0);
            if !batch.is_empty() {
                self.ready.push_back(batch);
            }
            self.ended = !more?;
        }
        Ok(())
    }

    /// Decodes until there are more than `least` rows or the decoder has no more for now. Also
    /// returns whether more may come.
    fn decode(&mut self, least: usize) -> (Vec<Io>, Result<bool, Error>) {
        let mut batch = self.order.spare();
        loop {
            match self.decoder.decode(&mut batch) {
                Ok(true) if batch.len() <= least => {}
                more => return (batch, more),
            }
        }
    }
}

/// Several traces as one: merges rows by time, and devices and commands by name.
pub(crate) struct Merged {
    children: Vec<Child>,
    heads: BinaryHeap<Reverse<(u64, usize)>>,
    tables: Tables,
    started: bool,
    /// The first trace with rows; its epoch is that of the merged trace.
    first: usize,
    /// The note about files that may be of two disks or two times but count as parts of one.
    shared: Option<String>,
}

struct Child {
    rows: Ordered,
    /// What to add to its times to get times of the merged trace.
    shift_ns: u64,
    devices: Vec<u16>,
    commands: Vec<u32>,
}

impl Child {
    /// Returns when its next row arrives, in times of the merged trace.
    fn next_ns(&mut self) -> Result<Option<u64>, Error> {
        Ok(self.rows.peek()?.map(|io| io.queued_ns.saturating_add(self.shift_ns)))
    }
}

impl Merged {
    /// Merges the rows of `decoders`.
    pub fn new(decoders: Vec<Box<dyn Decode>>) -> Self {
        let traces = decoders.len();
        let child = |decoder| {
            let rows = Ordered::one_of(decoder, traces);
            Child { rows, shift_ns: 0, devices: Vec::new(), commands: Vec::new() }
        };
        Self {
            children: decoders.into_iter().map(child).collect(),
            heads: BinaryHeap::new(),
            tables: Tables::default(),
            started: false,
            first: 0,
            shared: None,
        }
    }

    /// Examines every trace's first row. All traces must count time from the same beginning, or
    /// record when they begin.
    fn start(&mut self) -> Result<(), Error> {
        self.started = true;
        // Some traces show when they began only with their first row; a trace without rows need
        // not.
        let mut has_rows = Vec::new();
        for child in &mut self.children {
            has_rows.push(child.rows.peek()?.is_some());
        }
        self.first = has_rows.iter().position(|has_rows| *has_rows).unwrap_or(0);
        self.align(&has_rows)?;
        for (index, child) in self.children.iter_mut().enumerate() {
            self.heads.extend(child.next_ns()?.map(|next_ns| Reverse((next_ns, index))));
        }
        self.restore_tables();
        Ok(())
    }

    /// Makes all traces with rows count time from the earliest beginning, if each counts from its
    /// own.
    fn align(&mut self, has_rows: &[bool]) -> Result<(), Error> {
        let refused = || {
            let why = "the traces count time from different beginnings: import them one by one";
            Error::Unsupported(why.to_owned())
        };
        let told = || self.children.iter().zip(has_rows).filter(|(_, has_rows)| **has_rows);
        let decoders = || told().map(|(child, _)| &child.rows.decoder);
        let mut clocks = decoders().map(|decoder| clock(decoder.as_ref()));
        let first = clocks.next();
        if clocks.any(|clock| Some(clock) != first) {
            return Err(refused());
        }
        if first.map(|(epoch, _)| epoch) != Some(Epoch::Start) {
            return Ok(());
        }
        let begun: Vec<i64> =
            decoders().filter_map(|decoder| decoder.info().started_unix_ns).collect();
        let Some(earliest) = begun.iter().min() else { return Ok(()) };
        if begun.len() < told().count() {
            return Err(refused());
        }
        let with_rows = self.children.iter_mut().zip(has_rows).filter(|(_, has_rows)| **has_rows);
        for ((child, _), own) in with_rows.zip(&begun) {
            child.shift_ns = own.saturating_sub(*earliest).unsigned_abs();
        }
        Ok(())
    }

    /// Takes over the tables if all traces have the same ones. Parts of one trace do, whichever
    /// devices have requests in a part.
    fn restore_tables(&mut self) {
        let tables = |child: &Child| {
            let info = child.rows.decoder.info();
            (info.devices.clone(), info.commands.clone())
        };
        let Some(first) = self.children.first().map(tables) else { return };
        if self.children.iter().all(|child| tables(child) == first) {
            let (devices, commands) = first;
            self.tables.restore(TraceInfo { devices, commands, ..TraceInfo::default() });
        }
    }

    /// Notes if another file has requests of the same disk and goes on after this one began, though
    /// it names no disk or does not tell when it began. Parts of one recording would follow one
    /// another.
    fn find_shared(&mut self, index: usize, now_ns: u64) -> Result<(), Error> {
        let (before, rest) = self.children.split_at_mut(index);
        let Some((this, after)) = rest.split_first_mut() else { return Ok(()) };
        for other in before.iter_mut().chain(after) {
            let goes_on = other.next_ns()?.is_some_and(|next_ns| next_ns > now_ns);
            let has_begun = !other.devices.is_empty();
            if has_begun && goes_on && self.shared.is_none() {
                self.shared = shared(this, other);
            }
        }
        Ok(())
    }

    /// Sums up what the traces record about themselves as wholes.
    fn collect(&mut self) {
        let info = &mut self.tables.info;
        (info.skipped, info.lost_by_cpu, info.started_unix_ns) = (0, Vec::new(), None);
        info.arrival_step_ns = None;
        info.format.clear();
        info.notes.clear();
        for child in &self.children {
            info.absorb(child.rows.decoder.info());
            add_levels(info, child.rows.decoder.info());
        }
        if let Some(shared) = &self.shared {
            info.notes.insert("files of one disk".to_owned(), shared.clone());
        }
    }
}

/// Returns what is doubtful in two traces with rows at the same times, if they have rows of one
/// disk.
fn shared(this: &Child, other: &Child) -> Option<String> {
    let [mine, theirs] = [this, other].map(|child| child.rows.decoder.as_ref());
    if let (Some(file), Some(one)) = (mine.namesake(), theirs.namesake()) {
        return (this.devices == other.devices).then(|| format!("{one} and {file} name no disk and count as one, though their times overlap; if they are of two, tell them apart by a column \"device\" or, in a format without columns, by names of the files that differ before the first dot"));
    }
    let is_dated = matches!(mine.epoch(), Epoch::Unix | Epoch::Clock { unix_offset_ns: Some(_) })
        || mine.info().started_unix_ns.is_some();
    // The logs of fio's jobs do begin together, and tables of other programs are parts of one.
    if is_dated || ["fio-iolog", "parquet", "arrow", "csv"].contains(&mine.info().format.as_str()) {
        return None;
    }
    let names: HashSet<&str> = names_of(theirs).collect();
    let disk = names_of(mine).find(|name| names.contains(name))?;
    Some(format!(
        "several files have requests of {disk} at the same times and do not tell when they began; if they are of different recordings, rates, queues and distances of that disk are of all at once: analyze them one by one, or compare them (trace compare)"
    ))
}

/// Returns the names of the devices of a trace so far.
fn names_of(decoder: &dyn Decode) -> impl Iterator<Item = &str> {
    decoder.info().devices.iter().map(|device| device.name.as_str())
}

/// Returns what the times of a trace count from. Only traces of one format can share an unknown
/// clock, so the format is part of the result then.
fn clock(decoder: &dyn Decode) -> (Epoch, &str) {
    let epoch = decoder.epoch();
    let is_untold = epoch == Epoch::Clock { unix_offset_ns: None };
    (epoch, if is_untold { decoder.info().format.as_str() } else { "" })
}

/// Returns the row with its device, command and times as in the merged trace.
fn placed(child: &mut Child, io: Io, tables: &mut Tables) -> Result<Io, Bad> {
    let info = child.rows.decoder.info();
    while child.devices.len() <= usize::from(io.device) {
        let Some(device) = info.devices.get(child.devices.len()) else { break };
        let index = tables.device_named(device.name.as_bytes())?;
        tables.info.devices[usize::from(index)] = device.clone();
        child.devices.push(index);
    }
    while child.commands.len() <= io.command as usize {
        let Some(command) = info.commands.get(child.commands.len()) else { break };
        child.commands.push(tables.command(command.as_bytes()));
    }
    let device = child.devices.get(usize::from(io.device)).copied().unwrap_or(io.device);
    let command = child.commands.get(io.command as usize).copied().unwrap_or(0);
    let shifted = |ns: u64| ns.saturating_add(child.shift_ns);
    Ok(Io {
        device,
        command,
        queued_ns: shifted(io.queued_ns),
        issued_ns: shifted(io.issued_ns),
        completed_ns: shifted(io.completed_ns),
        ..io
    })
}

impl Decode for Merged {
    fn decode(&mut self, into: &mut Vec<Io>) -> Result<bool, Error> {
        if !self.started {
            self.start()?;
        }
        for _ in 0..BATCH {
            let Some(Reverse((_, index))) = self.heads.pop() else { break };
            let child = &mut self.children[index];
            if let Some(&io) = child.rows.next(1)?.first() {
                let is_first = child.devices.is_empty();
                let io = placed(child, io, &mut self.tables)
                    .map_err(|reason| Error::Unsupported(reason.into_owned()))?;
                into.push(io);
                if is_first {
                    self.find_shared(index, io.queued_ns)?;
                }
            }
            let next_ns = self.children[index].next_ns()?;
            self.heads.extend(next_ns.map(|next_ns| Reverse((next_ns, index))));
        }
        self.collect();
        Ok(!self.heads.is_empty())
    }

    fn info(&self) -> &TraceInfo {
        &self.tables.info
    }

    fn epoch(&self) -> Epoch {
        self.children.get(self.first).map_or(Epoch::Start, |child| child.rows.decoder.epoch())
    }
}
