//! Which processes issue the load, and how much of the disk does each touch?

use super::blocks::{BlockSize, spread, touched};
use super::column::STRIDE;
use super::counted::Counted;
use super::device_names::DeviceNames;
use super::sketch::Sketch;
use super::uses::Use;
use ioscape_schema::trace_summary::ProcessShare;
use ioscape_schema::{Io, TraceInfo};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// Memory for the processes followed, in bytes: some 70,000 that touch few blocks, or 12,000 that
/// touch many.
const MOST_BYTES: usize = 16 << 20;
/// The most processes listed in the result.
const LISTED: usize = 64;
/// Processes that are found again without a search.
const RECENT: usize = 64;
/// Size of a process without its sketch, with its place in the index, which is half empty at worst.
const EACH_BYTES: usize = size_of::<(u32, Process)>() + 2 * size_of::<(u32, usize)>();

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Process {
    command: u32,
    load: Counted,
    /// Upper bound on its requests that may have been forgotten earlier.
    missed_most: u64,
    /// Arrival of its last request.
    last_ns: u64,
    /// Requests with a known completion, and the sum of their times.
    timed: u64,
    elapsed_ns: u128,
    blocks: Sketch,
}

impl Process {
    /// Counts a request, except for its blocks.
    #[inline]
    fn count(&mut self, io: &Io) {
        self.load.count(io);
        (self.command, self.last_ns) = (io.command, io.queued_ns);
        if io.is_timed() {
            self.timed += 1;
            self.elapsed_ns += u128::from(io.elapsed_ns());
        }
    }

    /// Upper bound on the number of its requests.
    fn ios_most(&self) -> u64 {
        self.load.ios + self.missed_most
    }
}

/// Load by process, exact while all processes fit into their memory. Then the less busy half is
/// given up, as often as necessary. Giving up a process forgets its requests; the largest number
/// forgotten this way bounds what any process lacks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Processes {
    size: BlockSize,
    most_bytes: usize,
    index: FxHashMap<u32, usize>,
    seen: Vec<(u32, Process)>,
    /// Memory that the processes take.
    bytes: usize,
    /// Places where processes were last found, by the low bits of their numbers.
    #[serde(skip, default = "nowhere")]
    recent: [usize; RECENT],
    /// Requests forgotten, and the most that a process not followed can have had.
    given_up: u64,
    unseen_most: u64,
}

/// What the list of processes lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lacking {
    /// Requests of processes that were given up.
    pub ios: u64,
    /// The most requests that an unlisted process may have had.
    pub unlisted_most: u64,
    /// The most requests that a listed process lacks.
    pub listed_most: u64,
}

fn nowhere() -> [usize; RECENT] {
    [0; RECENT]
}

impl Processes {
    /// Counts footprints in blocks of this size.
    pub fn new(size: BlockSize) -> Self {
        Self::within(size, MOST_BYTES)
    }

    fn within(size: BlockSize, most_bytes: usize) -> Self {
        Self {
            size,
            most_bytes,
            index: FxHashMap::default(),
            seen: Vec::new(),
            bytes: 0,
            recent: nowhere(),
            given_up: 0,
            unseen_most: 0,
        }
    }

    /// Returns the place of a process, a new one if it is not followed yet.
    #[inline]
    fn find(&mut self, number: u32) -> usize {
        let recent = self.recent[number as usize % RECENT];
        if self.seen.get(recent).is_some_and(|one| one.0 == number) {
            return recent;
        }
        let at = self.search(number);
        self.recent[number as usize % RECENT] = at;
        at
    }

    #[inline(never)]
    fn search(&mut self, number: u32) -> usize {
        if let Some(&at) = self.index.get(&number) {
            return at;
        }
        self.make_room();
        let at = self.seen.len();
        self.index.insert(number, at);
        let missed_most = self.unseen_most;
        self.seen.push((number, Process { missed_most, ..Process::default() }));
        self.bytes += EACH_BYTES;
        at
    }

    /// Gives up the less busy half if memory is full.
    fn make_room(&mut self) {
        if self.bytes <= self.most_bytes {
            return;
        }
        let busiest = |(number, one): &(u32, Process)| (Reverse(one.ios_most()), *number);
        self.seen.sort_unstable_by_key(busiest);
        for (_, process) in self.seen.drain(self.seen.len() / 2..) {
            self.given_up += process.load.ios;
            self.unseen_most = self.unseen_most.max(process.ios_most());
        }
        let places = self.seen.iter().enumerate();
        self.index = places.map(|(at, (number, _))| (*number, at)).collect();
        self.bytes = self.seen.iter().map(|(_, one)| EACH_BYTES + one.blocks.bytes()).sum();
    }

    /// Renumbers the commands; `numbers` maps present numbers to new ones.
    pub fn renumber(&mut self, numbers: &[u32]) {
        for (_, process) in &mut self.seen {
            process.command = numbers.get(process.command as usize).copied().unwrap_or(0);
        }
    }

    /// The processes, busiest first.
    fn busiest(&self) -> Vec<&(u32, Process)> {
        let mut all: Vec<&(u32, Process)> = self.seen.iter().collect();
        all.sort_by_key(|(number, process)| (Reverse(process.load.ios), *number));
        all
    }

    /// What the list lacks because processes were given up.
    pub fn lacking(&self) -> Lacking {
        if self.given_up == 0 {
            return Lacking::default();
        }
        let all = self.busiest();
        let (listed, others) = all.split_at(all.len().min(LISTED));
        let others = others.iter().map(|(_, one)| one.ios_most()).max().unwrap_or(0);
        Lacking {
            ios: self.given_up,
            unlisted_most: others.max(self.unseen_most),
            listed_most: listed.iter().map(|(_, one)| one.missed_most).max().unwrap_or(0),
        }
    }

    /// The busiest processes; empty if the source records none.
    pub fn finish(&self, info: &TraceInfo) -> Vec<ProcessShare> {
        if self.seen.iter().all(|(number, process)| *number == 0 && process.command == 0) {
            return Vec::new();
        }
        let share = |(number, process): &(u32, Process)| ProcessShare {
            process: *number,
            command: info.commands.get(process.command as usize).cloned().unwrap_or_default(),
            load: process.load.load(),
            footprint_bytes: (process.blocks.estimate() * self.size.bytes() as f64) as u64,
            elapsed_mean_ns: (process.timed > 0)
                .then(|| process.elapsed_ns as f64 / process.timed as f64),
        };
        self.busiest().into_iter().take(LISTED).map(share).collect()
    }

    /// Takes in the next requests, at most [`STRIDE`], and the uses of their blocks.
    pub fn update_all(&mut self, ios: &[Io], uses: &[Use], names: &DeviceNames) {
        let Some(places) = self.places(ios) else {
            // A new process may need the room of others as they are at that moment.
            ios.iter().for_each(|io| self.update(io, names.hash(io.device)));
            return;
        };
        for (io, &at) in ios.iter().zip(&places) {
            self.seen[at].1.count(io);
        }
        for one in uses {
            let sketch = &mut self.seen[places[one.row as usize]].1.blocks;
            self.bytes += sketch.add_spread(one.hash);
        }
    }

    /// The places of the requests' processes; `None` if any is not followed yet.
    fn places(&mut self, ios: &[Io]) -> Option<[usize; STRIDE]> {
        let mut places = [0; STRIDE];
        for (place, io) in places.iter_mut().zip(ios) {
            let recent = self.recent[io.process as usize % RECENT];
            *place = match self.seen.get(recent) {
                Some(one) if one.0 == io.process => recent,
                _ => *self.index.get(&io.process)?,
            };
            self.recent[io.process as usize % RECENT] = *place;
        }
        Some(places)
    }

    /// Takes in the next request; `device` is its device's number, derived from the name.
    #[inline]
    pub fn update(&mut self, io: &Io, device: u64) {
        let keys = touched(io, self.size);
        let at = self.find(io.process);
        let process = &mut self.seen[at].1;
        process.count(io);
        for key in keys {
            self.bytes += process.blocks.add_spread(spread(key, device));
        }
    }

    /// Adds the later part.
    pub fn merge(&mut self, later: Self) {
        let ours_unseen = self.unseen_most;
        // The later part may have given up the processes that it does not follow.
        self.seen.iter_mut().for_each(|(_, one)| one.missed_most += later.unseen_most);
        let mut theirs = later.seen;
        theirs.sort_unstable_by_key(|(number, one)| (Reverse(one.load.ios), *number));
        let mut fresh = Vec::new();
        for (number, theirs) in theirs {
            match self.index.get(&number) {
                Some(&at) => self.join(at, theirs, later.unseen_most),
                None => fresh.push((number, theirs)),
            }
        }
        for (number, mut theirs) in fresh {
            theirs.missed_most += ours_unseen;
            let at = self.find(number);
            self.bytes += theirs.blocks.bytes();
            self.seen[at].1 = theirs;
        }
        self.given_up += later.given_up;
        self.unseen_most = self.unseen_most.max(ours_unseen + later.unseen_most);
    }

    /// Adds the later part's process; `unseen_most` was already added to what it lacks.
    fn join(&mut self, at: usize, theirs: Process, unseen_most: u64) {
        let mine = &mut self.seen[at].1;
        if theirs.last_ns >= mine.last_ns {
            (mine.command, mine.last_ns) = (theirs.command, theirs.last_ns);
        }
        mine.missed_most = mine.missed_most - unseen_most + theirs.missed_most;
        mine.load.add(&theirs.load);
        mine.timed += theirs.timed;
        mine.elapsed_ns += theirs.elapsed_ns;
        let before = mine.blocks.bytes();
        mine.blocks.merge(&theirs.blocks);
        self.bytes = self.bytes + mine.blocks.bytes() - before;
    }
}

#[cfg(test)]
#[path = "processes_tests.rs"]
mod tests;
