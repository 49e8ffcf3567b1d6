//! What is learned about each disk separately, however many there are.

use super::address_map::Addresses;
use super::counted::Counted;
use super::distance::Distance;
use super::names::disk_name;
use super::queue_length::{QueueLength, Unseen};
use super::write_groups::WriteGroups;
use ioscape_schema::trace_summary::{AddressMap, DiskSummary};
use ioscape_schema::{Io, Op, TraceInfo};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Requests of a disk kept as they are; one more starts the analyses, which take 10 to 200 KB.
const FEW: usize = 32;

/// One disk. A trace may have tens of thousands of disks, most of them nearly idle.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Disk {
    head_most: usize,
    /// First and last arrival.
    arrivals_ns: Option<[u64; 2]>,
    state: State,
}

/// What is kept of a disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum State {
    Few(Vec<Io>),
    Full(Box<FullDisk>),
    /// Memory did not suffice for more.
    Counted(CountedDisk),
}

/// What is kept of a disk without memory for its analyses; its distances are pooled with those of
/// all such disks.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct CountedDisk {
    load: Counted,
    /// Beginning and operation of the first request that moves data, and end of the last.
    bounds: Option<(u64, Op, u64)>,
}

impl CountedDisk {
    fn update(&mut self, io: &Io, distances: &mut Distance) {
        self.load.count(io);
        if io.moves_data() {
            self.go_on((io.request.offset, io.request.op, io.end()), distances);
        }
    }

    fn go_on(&mut self, (begin, op, end): (u64, Op, u64), distances: &mut Distance) {
        match &mut self.bounds {
            Some(bounds) => distances.gap(std::mem::replace(&mut bounds.2, end), begin, op),
            None => self.bounds = Some((begin, op, end)),
        }
    }
}

impl Disk {
    /// Starts with nothing seen; keeps `head_most` arrivals for a merge.
    pub fn new(head_most: usize) -> Self {
        Self { head_most, arrivals_ns: None, state: State::Few(Vec::new()) }
    }

    /// Takes in the disk's next request; returns the memory taken, except its analyses' growth.
    /// If the disk is only counted, its distance goes to `distances`.
    #[inline]
    pub fn update(&mut self, io: &Io, distances: &mut Distance) -> usize {
        self.arrivals_ns.get_or_insert([io.queued_ns; 2])[1] = io.queued_ns;
        match &mut self.state {
            State::Full(full) => full.update(io),
            State::Counted(counted) => counted.update(io, distances),
            State::Few(few) if few.len() < FEW => {
                let before = few.capacity();
                few.push(*io);
                return (few.capacity() - before) * size_of::<Io>();
            }
            State::Few(_) => {
                let Some(full) = self.grown() else { return 0 };
                full.update(io);
                return full.bytes();
            }
        }
        0
    }

    /// Takes in the next requests of a disk that [is settled](Self::is_settled).
    pub fn update_all(&mut self, ios: &[Io], distances: &mut Distance) {
        if let (State::Full(full), [first, .., last]) = (&mut self.state, ios) {
            self.arrivals_ns.get_or_insert([first.queued_ns; 2])[1] = last.queued_ns;
            full.update_all(ios);
            return;
        }
        for io in ios {
            self.update(io, distances);
        }
    }

    /// Returns the analyses, started from the requests kept.
    fn grown(&mut self) -> Option<&mut FullDisk> {
        if let State::Few(few) = &self.state {
            self.state = State::Full(Box::new(begun(self.head_most, few)));
        }
        match &mut self.state {
            State::Full(full) => Some(full),
            _ => None,
        }
    }

    /// Gives up everything but the counts; distances are pooled with those of all such disks.
    pub fn give_up(&mut self, distances: &mut Distance) {
        if matches!(self.state, State::Counted(_)) {
            return;
        }
        let full = self.full();
        distances.add(&full.distance);
        let counted = CountedDisk { load: full.load, bounds: full.distance.bounds() };
        self.state = State::Counted(counted);
    }

    /// Adds the later part; if either was only counted, the result is only counted.
    pub fn merge(&mut self, mut later: Self, distances: &mut Distance) {
        if let Some([first, last]) = later.arrivals_ns {
            self.arrivals_ns.get_or_insert([first; 2])[1] = last;
        }
        if self.is_given_up() || later.is_given_up() {
            self.give_up(distances);
            later.give_up(distances);
        }
        match later.state {
            State::Full(theirs) => {
                if let Some(mine) = self.grown() {
                    mine.merge(*theirs);
                }
            }
            State::Few(few) => {
                for io in &few {
                    self.update(io, distances);
                }
            }
            State::Counted(theirs) => {
                if let State::Counted(mine) = &mut self.state {
                    mine.load.add(&theirs.load);
                    theirs.bounds.into_iter().for_each(|bounds| mine.go_on(bounds, distances));
                }
            }
        }
    }

    /// Whether another request takes no memory beyond the growth of its analyses.
    pub fn is_settled(&self) -> bool {
        !matches!(self.state, State::Few(_))
    }

    /// Whether memory sufficed only to count its requests.
    pub fn is_given_up(&self) -> bool {
        matches!(self.state, State::Counted(_))
    }

    /// Everything that was learned.
    pub fn full(&self) -> Cow<'_, FullDisk> {
        match &self.state {
            State::Full(full) => Cow::Borrowed(full),
            State::Few(few) => Cow::Owned(begun(self.head_most, few)),
            State::Counted(counted) => {
                let mut full = FullDisk::new(0);
                (full.load, full.given_up) = (counted.load, true);
                Cow::Owned(full)
            }
        }
    }

    /// Number of its requests.
    pub fn ios(&self) -> u64 {
        match &self.state {
            State::Full(full) => full.load.ios,
            State::Few(few) => few.len() as u64,
            State::Counted(counted) => counted.load.ios,
        }
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        match &self.state {
            State::Full(full) => full.bytes(),
            State::Few(few) => few.capacity() * size_of::<Io>(),
            State::Counted(_) => 0,
        }
    }

    /// First and last arrival, once there is one.
    pub fn arrivals_ns(&self) -> Option<[u64; 2]> {
        self.arrivals_ns
    }

    /// Its distances; `None` if they are pooled with those of all such disks.
    pub fn distance(&self) -> Option<Cow<'_, Distance>> {
        match &self.state {
            State::Counted(_) => None,
            State::Full(full) => Some(Cow::Borrowed(&full.distance)),
            State::Few(few) => Some(Cow::Owned(begun(self.head_most, few).distance)),
        }
    }

    /// What its queue lengths miss because parts met in a long backlog.
    pub fn unseen(&self) -> Unseen {
        match &self.state {
            State::Full(full) => full.queue.unseen(),
            _ => Unseen::default(),
        }
    }
}

fn begun(head_most: usize, few: &[Io]) -> FullDisk {
    let mut full = FullDisk::new(head_most);
    few.iter().for_each(|io| full.update(io));
    full
}

/// The analyses that follow one disk's requests.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FullDisk {
    load: Counted,
    queue: QueueLength,
    distance: Distance,
    groups: WriteGroups,
    addresses: Addresses,
    /// Whether nothing but the load is known.
    #[serde(skip)]
    given_up: bool,
}

impl FullDisk {
    /// Starts with nothing seen.
    fn new(head_most: usize) -> Self {
        Self {
            load: Counted::default(),
            queue: QueueLength::new(head_most),
            distance: Distance::default(),
            groups: WriteGroups::default(),
            addresses: Addresses::default(),
            given_up: false,
        }
    }

    /// Takes in the next request of the disk.
    #[inline]
    fn update(&mut self, io: &Io) {
        self.load.count(io);
        self.queue.update(io);
        self.distance.update(io);
        self.groups.update(io);
        self.addresses.update(io);
    }

    /// Takes in the disk's next requests, one figure at a time, so that its counters stay in the
    /// processor's registers.
    fn update_all(&mut self, ios: &[Io]) {
        self.load.count_all(ios);
        self.queue.update_all(ios);
        self.distance.update_all(ios);
        self.groups.update_all(ios);
        self.addresses.update_all(ios);
    }

    /// Adds the later part.
    fn merge(&mut self, later: Self) {
        self.load.add(&later.load);
        self.queue.merge(later.queue);
        self.distance.merge(later.distance);
        self.groups.merge(later.groups);
        self.addresses.merge(later.addresses);
    }

    /// Whether nothing but the load is known.
    pub fn is_given_up(&self) -> bool {
        self.given_up
    }

    /// Memory, in bytes.
    fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.queue.bytes()
            + self.distance.bytes()
            + self.groups.bytes()
            + self.addresses.bytes()
    }

    /// Returns the disk's summary, in a trace that begins at `begin_ns`.
    pub fn finish(
        &self,
        device: u16,
        info: &TraceInfo,
        interleave: Option<u64>,
        begin_ns: u64,
    ) -> DiskSummary {
        let mut summary = DiskSummary {
            device,
            name: disk_name(info, device),
            load: self.load.load(),
            distances: self.distance.finish(),
            sequential: (!self.given_up).then(|| self.distance.sequential(interleave)),
            ..DiskSummary::default()
        };
        self.queue.finish(&mut summary, begin_ns);
        self.groups.finish(&mut summary);
        summary
    }

    /// Where its load went over time, from `origin_ns` on.
    pub fn address_map(&self, device: u16, origin_ns: u64) -> AddressMap {
        self.addresses.finish(device, origin_ns)
    }
}
