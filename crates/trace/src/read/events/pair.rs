//! Makes rows from events: matches the arrival, issue and completion of a request by device, sector
//! and operation.

use super::arrival::Arrival;
use super::event::{Event, Kind, device_name};
use super::fading::{Fading, Key};
use super::lacking::Lacking;
use super::levels::Levels;
use crate::read::tables::{Bad, Sink};
use crate::read::text::SECTOR;
use ioscape_schema::{Io, IoFlags, Op, Partition, Request};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Events examined to find which kinds the source has.
const PROBE: usize = 1 << 14;
/// When another request comes to its place, a request open for this long has lost its end: the
/// kernel gives up after 30 s.
const LONGEST_NS: u64 = 60_000_000_000;
/// A request open for this many times the mean duration has lost its end too. Otherwise each later
/// request at its place would be given the end of the next. Durations below `LEAST_NS` never count.
const LONGEST_TIMES: u64 = 64;
const LEAST_NS: u64 = 1_000_000;
/// How many of the latest arrivals are searched for a request that the device mapper or md cuts.
const RECENT: usize = 256;

/// The note about rows without times of completion.
const NO_ENDS: &str = "the trace has no completions: times at the device are not known";
/// The note about rows without any other times.
const ENDS_ALONE: &str = "the trace has completions alone: response times are not known; record arrivals and issues too (blktrace -a queue -a issue -a complete, perf -e 'block:*')";

/// A request at the device.
#[derive(Clone, Copy)]
struct Issued {
    io: Io,
    /// Its first byte when issued, before parts of it completed.
    first: u64,
    len: u64,
    /// How many of its bytes have completed.
    done: u64,
    is_unarrived: bool,
}

/// Which events make a row in this source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowsFrom {
    Completions,
    Issues,
    Arrivals,
    /// Completions, where the source has nothing that comes before them.
    Ends,
}

/// The open requests, whose events are matched to make rows.
#[derive(Default)]
pub(crate) struct Pairing {
    held: Vec<Event>,
    rows_from: Option<RowsFrom>,
    arrivals: Fading<Arrival>,
    /// The places of the latest arrivals, the last one last.
    recent: VecDeque<Key>,
    issued: Fading<Issued>,
    partitions: Fading<u32>,
    /// Which devices lie above others.
    levels: Levels,
    /// Devices that were sent flushes without bytes. Any other completion there without bytes is
    /// the second end of such a flush.
    flushed: FxHashSet<u32>,
    /// Devices to which requests are issued: what ends there without an issue lost it.
    issuing: FxHashSet<u32>,
    /// Whether the source records issues; unless it does, it cannot be told whether what arrives
    /// and completes at a device was issued in between.
    tells_issues: bool,
    /// Devices where requests complete and none is issued.
    unqueued: FxHashSet<u32>,
    /// Requests of which an event is not in the trace.
    lacking: Lacking,
    /// From when on the recorder was stopping: what completes later without a beginning began too
    /// late to be recorded.
    pub stopped_ns: Option<u64>,
    /// Requests that ended alone at their place, and their total time from arrival on.
    ended: u64,
    took_ns: u64,
}

fn key(event: &Event) -> Key {
    (event.device, event.sector, operation(event))
}

/// Returns what distinguishes requests at one place. Flushes have no bytes, and their events do not
/// all record the same operation.
fn operation(event: &Event) -> Option<Op> {
    (event.bytes > 0).then_some(event.op)
}

impl Pairing {
    /// Matches the events of a recorder that records whole requests.
    pub fn of_whole() -> Self {
        Self { rows_from: Some(RowsFrom::Completions), tells_issues: true, ..Self::default() }
    }

    /// Takes the next event in the order of time.
    pub fn take(&mut self, event: Event, sink: &mut Sink<'_>) -> Result<(), Bad> {
        if self.rows_from.is_some() {
            return self.apply(&event, sink);
        }
        self.held.push(event);
        if self.held.len() >= PROBE { self.decide(sink) } else { Ok(()) }
    }

    /// Ends a part of the trace; requests that are still open may complete in the next part.
    pub fn pause(&mut self, sink: &mut Sink<'_>) {
        self.lacking.end += self.issued.forgotten();
        self.tell(sink);
    }

    /// Ends the trace; notes how many requests are still open.
    pub fn end(&mut self, sink: &mut Sink<'_>) {
        // What was read so far has at most 65,536 devices; any excess was already reported.
        let _ = self.decide(sink);
        let unended = |key: &Key, one: &Arrival| one.is_own && self.unqueued.contains(&key.0);
        self.lacking.end += self.issued.len() + self.arrivals.count(unended);
        self.tell(sink);
    }

    /// Notes what this part lacks.
    fn tell(&mut self, sink: &mut Sink<'_>) {
        if self.tells_issues {
            // Those that were not issued went to devices without a queue of their own.
            self.lacking.issue = 0;
        }
        self.lacking.tell(&mut sink.tables.info.notes);
    }

    fn decide(&mut self, sink: &mut Sink<'_>) -> Result<(), Bad> {
        let held = std::mem::take(&mut self.held);
        let has = |kind| held.iter().any(|event| event.kind == kind);
        if self.rows_from.is_none() {
            let begins = [Kind::Queue, Kind::Start, Kind::Issue].into_iter().any(has);
            let (rows_from, lacking) = match () {
                () if has(Kind::Complete) && begins => (RowsFrom::Completions, None),
                () if has(Kind::Complete) => (RowsFrom::Ends, Some(ENDS_ALONE)),
                () if has(Kind::Issue) => (RowsFrom::Issues, Some(NO_ENDS)),
                () => (RowsFrom::Arrivals, Some(NO_ENDS)),
            };
            self.rows_from = Some(rows_from);
            if let Some(text) = lacking.filter(|_| !held.is_empty()) {
                sink.tables.info.notes.insert("times".to_owned(), text.to_owned());
            }
        }
        held.iter().try_for_each(|event| self.apply(event, sink))
    }

    fn apply(&mut self, event: &Event, sink: &mut Sink<'_>) -> Result<(), Bad> {
        match event.kind {
            Kind::Queue => self.arrive(event, true),
            Kind::Start => self.arrive(event, false),
            Kind::BackMerge => self.merge(event),
            Kind::FrontMerge => self.front_merge(event),
            Kind::Requeue => self.requeue(event),
            Kind::Split => self.split(event),
            Kind::Remap => self.remap(event),
            Kind::Issue => return self.issue(event, sink),
            Kind::Complete if self.rows_from == Some(RowsFrom::Ends) => {}
            Kind::Complete => return self.complete(event, sink),
        }
        let makes_row = match self.rows_from {
            Some(RowsFrom::Arrivals) => event.kind == Kind::Queue,
            // A flush ends twice, and what ends without bytes need not be one.
            Some(RowsFrom::Ends) => event.kind == Kind::Complete && event.bytes > 0,
            _ => false,
        };
        if makes_row {
            let io = self.row(event, sink)?;
            self.lacking.arrival += u64::from(event.kind == Kind::Complete);
            sink.rows.push(io);
        }
        Ok(())
    }

    fn arrive(&mut self, event: &Event, is_own: bool) {
        // Rows made from arrivals have no other times.
        if self.rows_from != Some(RowsFrom::Arrivals)
            && (is_own || self.arrivals.get(&key(event)).is_none())
        {
            self.arrived(key(event), Arrival::of(event, is_own));
        }
    }

    /// Adds an arrival. An earlier one at the same place stays, unless it has no arrival event of
    /// its own or lost its end.
    fn arrived(&mut self, key: Key, arrival: Arrival) {
        let longest_ns = self.longest_ns();
        let since_ns = |before: &Arrival| arrival.queued_ns.saturating_sub(before.queued_ns);
        let given_up =
            self.arrivals.add(key, arrival, |one| one.is_own && since_ns(one) < longest_ns);
        let is_lost = given_up.is_some_and(|one| one.is_own && self.unqueued.contains(&key.0));
        self.lacking.end += u64::from(is_lost);
        if self.recent.len() >= RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(key);
    }

    /// Drops the arrival of a request that was added to another one.
    fn merge(&mut self, event: &Event) {
        self.arrivals.take_latest(&key(event), |one| one.process == event.process);
    }

    /// Merges a request in front of the one behind it, which then starts here and keeps its
    /// arrival.
    fn front_merge(&mut self, event: &Event) {
        let behind = event.sector.saturating_add(event.bytes / SECTOR);
        let behind = (event.device, behind, operation(event));
        if let Some(arrival) = self.arrivals.take_latest(&behind, |_| true) {
            self.merge(event);
            self.arrived(key(event), Arrival { first: event.sector, ..arrival });
        }
    }

    fn requeue(&mut self, event: &Event) {
        if let Some(issued) = self.issued.take_earliest(&key(event), |_| true) {
            let Io { queued_ns, process, command, flags, .. } = issued.io;
            let again = Arrival::of(event, true);
            self.arrived(key(event), Arrival { queued_ns, process, command, flags, ..again });
        }
    }

    /// Splits an arrival; the second part arrived when the whole did.
    fn split(&mut self, event: &Event) {
        if event.sector == event.from.1 {
            return self.cut_off(event);
        }
        let (place, first) = ((event.device, event.sector, Some(event.op)), event.from.1);
        let holds = |one: &Arrival| one.bytes_from(first) > 0;
        if let Some(whole) = self.arrivals.take_latest(&place, holds) {
            // Text does not record how long the parts are.
            let bytes = whole.bytes_from(first);
            self.arrivals.add(place, Arrival { bytes: whole.bytes - bytes, ..whole }, |_| true);
            let second = Arrival { first, bytes, is_own: false, ..whole };
            self.arrived((event.device, first, Some(event.op)), second);
        }
    }

    /// Moves a split request to where its rest begins. The device mapper (since Linux 5.19) records
    /// no more than that, and the whole completes as the rest.
    fn cut_off(&mut self, event: &Event) {
        let is_whole = |one: &Arrival| {
            let holds = event.sector > one.first && one.bytes_from(event.sector) > 0;
            holds && one.process == event.process
        };
        if let Some((_, whole)) = self.take_recent(event, is_whole) {
            self.arrived((event.device, event.sector, Some(event.op)), whole);
        }
    }

    /// Returns the part that ends here of a request that begins earlier. md cuts requests at the
    /// ends of its chunks, but reports that (`block_split`) only since 2025. Each part ends by
    /// itself, in any order.
    fn part(&mut self, event: &Event) -> Option<Arrival> {
        if event.bytes == 0 {
            return None;
        }
        let holds =
            |one: &Arrival| event.sector > one.first && one.bytes_from(event.sector) >= event.bytes;
        let (place, whole) = self.take_recent(event, holds)?;
        let bytes = whole.bytes_from(event.sector);
        self.arrived(place, Arrival { bytes: whole.bytes - bytes, ..whole });
        Some(Arrival { first: event.sector, bytes, ..whole })
    }

    /// Keeps the rest of a request of which only the first part has ended.
    fn keep_rest(&mut self, event: &Event, arrival: &Arrival) {
        let first = event.sector.saturating_add(event.bytes / SECTOR);
        let bytes = arrival.bytes_from(first);
        if arrival.first == event.sector && event.bytes > 0 && bytes > 0 && event.error == 0 {
            let rest = Arrival { first, bytes, ..*arrival };
            self.arrived((event.device, first, operation(event)), rest);
        }
    }

    /// Drops the arrivals that were added unseen to the request that ended.
    fn end_merged(&mut self, event: &Event, arrival: &Arrival) {
        let end = event.sector.saturating_add(event.bytes / SECTOR);
        let mut next = arrival.end();
        while next < end
            && let Some(one) =
                self.arrivals.take_earliest(&(event.device, next, operation(event)), |_| true)
        {
            next = one.end();
        }
    }

    /// Takes out the latest fitting arrival of the event's device and operation, and returns its
    /// place.
    fn take_recent(
        &mut self,
        event: &Event,
        fits: impl Fn(&Arrival) -> bool,
    ) -> Option<(Key, Arrival)> {
        let is_there = |key: &&Key| {
            let (device, _, op) = **key;
            device == event.device && op == Some(event.op) && self.arrivals.any(key, &fits)
        };
        let place = self.recent.iter().rev().find(is_there).copied()?;
        self.arrivals.take_latest(&place, fits).map(|arrival| (place, arrival))
    }

    fn remap(&mut self, event: &Event) {
        let from = (event.from.0, event.from.1, operation(event));
        // A recording of a partition alone gives the disk the partition's number.
        let arrival = self.arrivals.get(&from).filter(|_| event.from.0 != event.device);
        if let Some(arrival) = arrival {
            let (first, bytes) = (event.sector, event.bytes);
            let below = Arrival { first, bytes, is_own: false, is_sent_on: true, ..arrival };
            self.arrived(key(event), below);
        }
        // Device-mapper devices stacked on each other share a major number, but requests arrive at
        // each by themselves. Nothing arrives at a partition by itself, although kernels before
        // Linux 4.14 report what is sent on to a partition.
        let is_stacked = arrival.is_some_and(|one| !one.is_sent_on);
        if !is_stacked && event.from.0 >> 20 == event.device >> 20 {
            self.partitions.put(key(event), event.from.0);
        } else {
            self.levels.send_on(event.from.0, event.device);
        }
    }

    fn issue(&mut self, event: &Event, sink: &mut Sink<'_>) -> Result<(), Bad> {
        let mut io = self.row(event, sink)?;
        let arrival = self.waiting(event);
        // The kernel sends a flush for those that wait for one.
        let is_unarrived = arrival.is_none() && event.bytes > 0;
        if let Some(arrival) = arrival {
            io.queued_ns = arrival.queued_ns.min(event.time_ns);
            (io.process, io.command) = (arrival.process, arrival.command);
        }
        self.tells_issues = true;
        self.issuing.insert(event.device);
        self.unqueued.remove(&event.device);
        if event.bytes == 0 && event.flags.contains(IoFlags::FLUSH) {
            self.flushed.insert(event.device);
        }
        if self.rows_from == Some(RowsFrom::Completions) {
            let (first, len) = (io.request.offset, event.bytes);
            self.send(key(event), Issued { io, first, len, done: 0, is_unarrived }, event.time_ns);
        } else if self.rows_from == Some(RowsFrom::Issues) {
            self.lacking.arrival += u64::from(is_unarrived);
            sink.rows.push(io);
        }
        Ok(())
    }

    /// Returns the arrival of the issued request. An earlier one at its place may have been merged
    /// unseen, and one flush is sent for all that wait.
    fn waiting(&mut self, event: &Event) -> Option<Arrival> {
        match event.bytes {
            0 => self.arrivals.take_all(&key(event)),
            _ => self.arrivals.take_latest(&key(event), |one| one.process == event.process),
        }
    }

    /// Adds an issued request. An earlier one at the device for the same place completes first,
    /// unless its end was lost.
    fn send(&mut self, key: Key, issued: Issued, now_ns: u64) {
        let longest_ns = self.longest_ns();
        let since_ns = |before: &Issued| now_ns.saturating_sub(before.io.issued_ns);
        self.issued.add(key, issued, |one| since_ns(one) < longest_ns);
    }

    /// Returns how long a request may be open before its end counts as lost when another comes to
    /// its place.
    fn longest_ns(&self) -> u64 {
        let mean_ns = self.took_ns.checked_div(self.ended);
        let longest_ns = mean_ns.map(|mean_ns| mean_ns.saturating_mul(LONGEST_TIMES));
        longest_ns.map_or(LONGEST_NS, |longest_ns| longest_ns.clamp(LEAST_NS, LONGEST_NS))
    }

    /// Counts the duration of a request that was alone at its place.
    fn took(&mut self, io: &Io) {
        self.ended += 1;
        self.took_ns = self.took_ns.saturating_add(io.elapsed_ns());
    }

    fn complete(&mut self, event: &Event, sink: &mut Sink<'_>) -> Result<(), Bad> {
        let place = key(event);
        let is_rest = |one: &Issued| one.len - one.done == event.bytes;
        let as_long = |one: &Arrival| one.bytes_from(event.sector) == event.bytes;
        let is_late = self.stopped_ns.is_some_and(|stopped_ns| event.time_ns >= stopped_ns);
        if let Some(mut issued) = self.issued.take_earliest(&place, is_rest) {
            issued.done = issued.done.saturating_add(event.bytes);
            if issued.done < issued.len && event.bytes > 0 && event.error == 0 {
                let next = event.sector.saturating_add(event.bytes / SECTOR);
                self.send((event.device, next, operation(event)), issued, event.time_ns);
                return Ok(());
            }
            issued.io.request.offset = issued.first;
            issued.io.completed_ns = event.time_ns.max(issued.io.issued_ns);
            issued.io.error = event.error;
            if self.issued.get(&place).is_none() {
                self.took(&issued.io);
            }
            self.lacking.arrival += u64::from(issued.is_unarrived);
            sink.rows.push(issued.io);
        } else if event.bytes == 0 && self.flushed.contains(&event.device) {
            // The kernel completes the flush that it sent, then each request that asked for one;
            // none of these was issued.
        } else if event.bytes > 0 && event.error == 0 && self.issuing.contains(&event.device) {
            self.lacking.beginning += u64::from(!is_late);
        } else if let Some(arrival) =
            self.arrivals.take_earliest(&place, as_long).or_else(|| self.part(event))
        {
            let io = self.without_queue(event, &arrival, sink)?;
            self.keep_rest(event, &arrival);
            self.end_merged(event, &arrival);
            self.lacking.issue += u64::from(event.bytes > 0);
            if !self.issuing.contains(&event.device) {
                self.unqueued.insert(event.device);
            }
            if self.arrivals.get(&place).is_none() {
                self.took(&io);
            }
            sink.rows.push(io);
        } else if event.bytes > 0 {
            self.lacking.beginning += u64::from(!is_late);
        }
        Ok(())
    }

    /// Returns the row of a request that arrived but was not issued: a device without a queue of
    /// its own (device mapper, md) completed it.
    fn without_queue(
        &mut self,
        event: &Event,
        arrival: &Arrival,
        sink: &mut Sink<'_>,
    ) -> Result<Io, Bad> {
        let whole = Event { sector: arrival.first, bytes: arrival.bytes, ..*event };
        let mut io = self.row(if arrival.first == event.sector { event } else { &whole }, sink)?;
        io.queued_ns = arrival.queued_ns.min(event.time_ns);
        io.issued_ns = io.queued_ns;
        (io.process, io.command) = (arrival.process, arrival.command);
        // The completion of a flush does not say that it was one.
        io.flags |= arrival.flags;
        io.error = event.error;
        Ok(io)
    }

    /// Returns a row with all times at this event.
    fn row(&mut self, event: &Event, sink: &mut Sink<'_>) -> Result<Io, Bad> {
        let device =
            sink.tables.device(&event.device.to_le_bytes(), || device_name(event.device))?;
        self.levels.find_doubled(event.device, sink.tables);
        let flushes = event.bytes == 0 && event.flags.contains(IoFlags::FLUSH);
        // The kernel gives a flush the sector -1. The bytes of a discard may not fit, but none of
        // them moves.
        let offset = if event.bytes == 0 { 0 } else { event.sector.saturating_mul(SECTOR) };
        let most = u64::from(u32::MAX) / SECTOR * SECTOR;
        let len = event.bytes.min(most).min(u64::MAX - offset) as u32;
        let op = if flushes { Op::Write } else { event.op };
        // A request ends while any process runs.
        let is_known = event.kind != Kind::Complete;
        let mut io = Io {
            request: Request { op, offset, len },
            queued_ns: event.time_ns,
            issued_ns: event.time_ns,
            completed_ns: event.time_ns,
            device,
            process: if is_known { event.process } else { 0 },
            command: if is_known { event.command } else { 0 },
            flags: event.flags,
            error: event.error,
            ..Io::default()
        };
        if let Some(from) = self.partitions.take_all(&key(event)) {
            io.partition = partition(device, event.device, from, sink);
        }
        Ok(io)
    }
}

/// Returns the number of the partition `from` of a device: its minor number less the device's if
/// that is 1 to 255, else its minor number; 0 if it is unknown.
fn partition(index: u16, device: u32, from: u32, sink: &mut Sink<'_>) -> u16 {
    let number = match from.checked_sub(device) {
        Some(number @ 1..=255) => number as u16,
        _ => (from & 0xffff) as u16,
    };
    if number == 0 {
        return number;
    }
    if let Some(device) = sink.tables.info.devices.get_mut(usize::from(index))
        && !device.partitions.iter().any(|known| known.number == number)
        && device.partitions.len() < 1 << 10
    {
        device.partitions.push(Partition { number, name: device_name(from) });
    }
    number
}
