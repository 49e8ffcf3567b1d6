//! The ring buffer of Linux's tracefs, read raw (`per_cpu/cpu*/trace_pipe_raw`): pages of events, one stream for each CPU.

mod layout;
mod page;

pub use layout::{Layout, LayoutError};

use crate::error::Error;
use crate::read::{Decode, Epoch, Event, Pairing, Reader, Sink, Source, Tables, input_of};
use ioscape_schema::{Io, TraceInfo};
use page::Pages;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Rows' events taken between two looks at the output.
const BATCH: usize = 8192;

/// Opens a recording: the pages of each CPU, their layout, and what the recorder knows of the trace.
///
/// `info` names the devices in the order of `devices`, their numbers (major times 2^20 plus minor); its
/// `started_unix_ns` is what to add to the trace's clock to have nanoseconds since 1970. Lost events that the pages
/// themselves tell are added to `info.lost_by_cpu`.
///
/// # Errors
/// Pages that cannot be read.
pub fn open(
    layout: Layout,
    cpus: Vec<Source>,
    devices: &[u32],
    info: TraceInfo,
) -> Result<Reader, Error> {
    let unix_offset_ns = info.started_unix_ns;
    let mut tables = Tables::default();
    tables.restore_numbered(TraceInfo { started_unix_ns: None, ..info }, devices);
    let cpus = cpus.into_iter().map(|cpu| input_of(cpu).map(Pages::new));
    let cpus = cpus.collect::<Result<Vec<_>, _>>()?;
    let ring = Ring {
        layout,
        cpus,
        heads: None,
        tables,
        pairing: Pairing::default(),
        unix_offset_ns,
        ended: false,
    };
    Ok(Reader::new(Box::new(ring)))
}

/// Decoder of all CPUs' pages.
struct Ring {
    layout: Layout,
    cpus: Vec<Pages>,
    /// Times of the CPUs' next events; not there before the first.
    heads: Option<BinaryHeap<Reverse<(u64, usize)>>>,
    tables: Tables,
    pairing: Pairing,
    unix_offset_ns: Option<i64>,
    ended: bool,
}

impl Ring {
    /// The time of CPU `index`'s next event.
    fn head(&mut self, index: usize) -> Result<Option<Reverse<(u64, usize)>>, Error> {
        let Some(cpu) = self.cpus.get_mut(index) else { return Ok(None) };
        let time = cpu.peek(&self.layout)?;
        Ok(time.map(|time| Reverse((time, index))))
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

    /// Adds the losses that the pages tell.
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
                self.pairing.end(&mut Sink { rows: into, tables: &mut self.tables });
                self.count_lost();
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
