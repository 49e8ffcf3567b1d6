//! Decodes the pages of all CPUs: events in order of time, paired into rows.

use super::layout::Layout;
use super::page::Pages;
use super::part::NextPart;
use crate::error::Error;
use crate::read::{Decode, Epoch, Event, Pairing, Sink, Tables};
use ioscape_schema::{Io, TraceInfo};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Events taken between two checks of the output.
const BATCH: usize = 8192;

/// Decoder of all CPUs' pages.
pub(crate) struct Ring {
    layout: Layout,
    cpus: Vec<Pages>,
    /// Times of the CPUs' next events; `None` before the first.
    heads: Option<BinaryHeap<Reverse<(u64, usize)>>>,
    tables: Tables,
    pairing: Pairing,
    unix_offset_ns: Option<i64>,
    /// The part that begins with the next row, and when the present one ends.
    next: NextPart,
    until_ns: Option<u64>,
    ended: bool,
}

impl Ring {
    /// A recording that has no parts yet.
    pub fn new(layout: Layout, devices: &[u32], info: TraceInfo, next: NextPart) -> Self {
        let unix_offset_ns = info.started_unix_ns;
        let mut tables = Tables::default();
        tables.restore_numbered(TraceInfo { started_unix_ns: None, ..info }, devices);
        let (cpus, pairing) = (Vec::new(), Pairing::of_whole());
        let (heads, until_ns) = Default::default();
        Self { layout, cpus, heads, tables, pairing, unix_offset_ns, next, until_ns, ended: false }
    }

    /// Takes over the waiting part, if there is one.
    fn begin_part(&mut self) {
        let Some((inputs, part)) = self.next.take() else { return };
        self.cpus.resize_with(self.cpus.len().max(inputs.len()), Pages::default);
        for (cpu, input) in self.cpus.iter_mut().zip(inputs) {
            cpu.add(input);
            cpu.lost = 0;
        }
        self.tables.info.lost_by_cpu = part.lost_by_cpu;
        self.unix_offset_ns = part.unix_offset_ns.or(self.unix_offset_ns);
        self.pairing.stopped_ns = part.stopped_ns;
        (self.until_ns, self.heads, self.ended) = (part.until_ns, None, false);
    }

    /// The time of CPU `index`'s next event.
    fn head(&mut self, index: usize) -> Result<Option<Reverse<(u64, usize)>>, Error> {
        let Some(cpu) = self.cpus.get_mut(index) else { return Ok(None) };
        let time = cpu.peek(&self.layout)?;
        let in_part = |time: &u64| self.until_ns.is_none_or(|until| *time < until);
        Ok(time.filter(in_part).map(|time| Reverse((time, index))))
    }

    fn take(&mut self, index: usize, into: &mut Vec<Io>) -> Result<(), Error> {
        let Some(found) = self.cpus.get_mut(index).and_then(Pages::next) else { return Ok(()) };
        let command = self.tables.command(found.command());
        let event = Event { command, ..found.event };
        let mut sink = Sink { rows: into, tables: &mut self.tables };
        self.pairing
            .take(event, &mut sink)
            .map_err(|reason| Error::Unsupported(reason.into_owned()))
    }

    /// Ends a part; requests in flight remain for the next part, if there is one.
    fn end(&mut self, into: &mut Vec<Io>) {
        let mut sink = Sink { rows: into, tables: &mut self.tables };
        match self.until_ns {
            None => self.pairing.end(&mut sink),
            Some(_) => self.pairing.pause(&mut sink),
        }
        self.count_lost();
    }

    /// Adds the losses that the pages report.
    fn count_lost(&mut self) {
        for (index, cpu) in self.cpus.iter().enumerate().filter(|(_, cpu)| cpu.lost > 0) {
            let lost = &mut self.tables.info.lost_by_cpu;
            lost.resize(lost.len().max(index + 1), 0);
            lost[index] = lost[index].max(cpu.lost);
        }
    }
}

impl Decode for Ring {
    fn decode(&mut self, into: &mut Vec<Io>) -> Result<bool, Error> {
        self.begin_part();
        let mut heads = match self.heads.take() {
            Some(heads) => heads,
            None => {
                let mut heads = BinaryHeap::new();
                for index in 0..self.cpus.len() {
                    heads.extend(self.head(index)?);
                }
                heads
            }
        };
        for _ in 0..BATCH {
            let Some(Reverse((_, index))) = heads.pop() else {
                self.heads = Some(heads);
                if std::mem::replace(&mut self.ended, true) {
                    return Ok(false);
                }
                self.end(into);
                return Ok(true);
            };
            self.take(index, into)?;
            heads.extend(self.head(index)?);
        }
        self.heads = Some(heads);
        Ok(true)
    }

    fn info(&self) -> &TraceInfo {
        &self.tables.info
    }

    fn epoch(&self) -> Epoch {
        Epoch::Clock { unix_offset_ns: self.unix_offset_ns }
    }
}
