//! Who issues the load, and how much of the disk does each touch?

use super::blocks::{BlockSize, spread, touched};
use super::counted::Counted;
use super::sketch::Sketch;
use ioscape_schema::trace_summary::ProcessShare;
use ioscape_schema::{Io, TraceInfo};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Most processes told apart; what further ones issue is counted together.
const MOST: usize = 4096;
/// Most that are listed in the result.
const LISTED: usize = 64;
/// Processes that are found again without a search.
const RECENT: usize = 64;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Process {
    command: u32,
    load: Counted,
    /// Arrival of its last request.
    last_ns: u64,
    /// Requests whose completion is told, and the sum of their times.
    timed: u64,
    elapsed_ns: u128,
    blocks: Sketch,
}

/// Load by process, in the order of their first request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Processes {
    size: BlockSize,
    index: FxHashMap<u32, usize>,
    seen: Vec<(u32, Process)>,
    /// Places where processes were found last, by the low bits of their numbers.
    #[serde(skip, default = "nowhere")]
    recent: [usize; RECENT],
    others: u64,
}

fn nowhere() -> [usize; RECENT] {
    [0; RECENT]
}

impl Processes {
    /// Footprints are counted in blocks of that size.
    pub fn new(size: BlockSize) -> Self {
        Self { size, index: FxHashMap::default(), seen: Vec::new(), recent: nowhere(), others: 0 }
    }

    fn find(&mut self, number: u32) -> Option<&mut Process> {
        let recent = &mut self.recent[number as usize % RECENT];
        if self.seen.get(*recent).is_none_or(|one| one.0 != number) {
            match self.index.get(&number) {
                Some(&index) => *recent = index,
                None if self.seen.len() < MOST => {
                    *recent = self.seen.len();
                    self.index.insert(number, *recent);
                    self.seen.push((number, Process::default()));
                }
                None => return None,
            }
        }
        Some(&mut self.seen[*recent].1)
    }

    /// Gives the commands other numbers: `numbers` by the present ones.
    pub fn renumber(&mut self, numbers: &[u32]) {
        for (_, process) in &mut self.seen {
            process.command = numbers.get(process.command as usize).copied().unwrap_or(0);
        }
    }

    /// Requests of processes beyond the first 4096.
    pub fn others(&self) -> u64 {
        self.others
    }

    /// The busiest processes; empty when the source tells none.
    pub fn finish(&self, info: &TraceInfo) -> Vec<ProcessShare> {
        if self.seen.iter().all(|(number, process)| *number == 0 && process.command == 0) {
            return Vec::new();
        }
        let mut all: Vec<&(u32, Process)> = self.seen.iter().collect();
        all.sort_by_key(|(number, process)| (std::cmp::Reverse(process.load.ios), *number));
        let share = |(number, process): &(u32, Process)| ProcessShare {
            process: *number,
            command: info.commands.get(process.command as usize).cloned().unwrap_or_default(),
            load: process.load.load(),
            footprint_bytes: (process.blocks.estimate() * self.size.bytes() as f64) as u64,
            elapsed_mean_ns: (process.timed > 0)
                .then(|| process.elapsed_ns as f64 / process.timed as f64),
        };
        all.into_iter().take(LISTED).map(share).collect()
    }

    /// Takes in the next request; `device` is its device's number by name.
    #[inline]
    pub fn update(&mut self, io: &Io, device: u64) {
        let keys = touched(io, self.size);
        let Some(process) = self.find(io.process) else {
            self.others += 1;
            return;
        };
        process.load.count(io);
        (process.command, process.last_ns) = (io.command, io.queued_ns);
        if io.is_timed() {
            process.timed += 1;
            process.elapsed_ns += u128::from(io.elapsed_ns());
        }
        keys.for_each(|key| process.blocks.add_spread(spread(key, device)));
    }

    /// Adds the later part.
    pub fn merge(&mut self, later: Self) {
        self.others += later.others;
        for (number, theirs) in later.seen {
            match self.find(number) {
                Some(mine) => {
                    if theirs.last_ns >= mine.last_ns {
                        (mine.command, mine.last_ns) = (theirs.command, theirs.last_ns);
                    }
                    mine.load.add(&theirs.load);
                    mine.timed += theirs.timed;
                    mine.elapsed_ns += theirs.elapsed_ns;
                    mine.blocks.merge(&theirs.blocks);
                }
                None => self.others += theirs.load.ios,
            }
        }
    }
}
