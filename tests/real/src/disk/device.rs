//! The simulated disk without its data: the fate of each request, and orders that change it.

use super::cache::DeviceCache;
use super::counters::Counters;
use super::faults::{Fault, Faults, Lie};
use super::mechanism::Mechanism;
use super::parameters::Parameters;

/// A request for bytes on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Whether it writes.
    pub write: bool,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub length: u64,
}

/// The fate of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// At `at_ns` it is answered with the number of bytes done, or fails.
    Answered {
        /// When, in nanoseconds.
        at_ns: u64,
        /// Bytes done.
        done: Result<u64, Fault>,
    },
    /// It waits until the disk stops hanging.
    Held,
}

/// What an order to the disk asks of its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing more.
    None,
    /// Held requests can be tried again.
    Release,
    /// The process must die at once.
    Die,
}

/// The state of the disk.
pub struct Device {
    parameters: Parameters,
    /// Whether service takes no time, so that files can be prepared.
    untimed: bool,
    faults: Faults,
    counters: Counters,
    cache: DeviceCache,
    mechanism: Mechanism,
}

impl Device {
    /// Creates a disk without faults.
    pub fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            untimed: false,
            faults: Faults::default(),
            counters: Counters::default(),
            cache: DeviceCache::new(),
            mechanism: Mechanism::default(),
        }
    }

    /// What the disk has done.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Counts a request to make writes durable.
    pub fn synced(&mut self) {
        self.counters.syncs += 1;
    }

    /// Counts how late an answer was given.
    pub fn answered(&mut self, late_ns: u64) {
        self.counters.late_ns += late_ns;
    }

    /// Takes in a request that arrives at `now_ns`.
    pub fn submit(&mut self, request: Request, now_ns: u64) -> Fate {
        if self.faults.hang {
            return Fate::Held;
        }
        let Request { write, offset, length } = request;
        let fault = self.faults.meets(write, offset, length);
        if let Some(Fault::NoSpace) = fault {
            self.counters.faults += 1;
            return Fate::Answered { at_ns: now_ns, done: Err(Fault::NoSpace) };
        }
        let at_ns = self.served(request, now_ns);
        let done = fault.map_or_else(|| Ok(self.faults.done(length)), Err);
        match (done, write) {
            (Err(_), _) => self.counters.faults += 1,
            (Ok(bytes), false) => {
                self.counters.reads += 1;
                self.counters.read_bytes += bytes;
            }
            (Ok(bytes), true) => {
                self.counters.writes += 1;
                self.counters.write_bytes += bytes;
            }
        }
        Fate::Answered { at_ns, done }
    }

    /// What really happens to a write that is reported as done.
    pub fn lie(&self, request: &Request) -> Option<Lie> {
        self.faults.lie(request.offset, request.length)
    }

    /// When the cache or the arms finish a request.
    fn served(&mut self, request: Request, now_ns: u64) -> u64 {
        let Request { write, offset, length } = request;
        let capacity = (self.parameters.cache_mib * 1_048_576.0) as u64;
        let hit = self.cache.touch(offset, length, capacity);
        if self.untimed || length == 0 {
            return now_ns;
        }
        if hit && (!write || self.parameters.cached_writes != 0.0) {
            self.counters.cache_hits += 1;
            return now_ns + (self.parameters.hit_us * 1e3) as u64;
        }
        self.mechanism.submit(&self.parameters, &mut self.counters, (offset, length), now_ns)
    }

    /// Carries out an order: one line of text, as listed in [`ORDERS`].
    ///
    /// # Errors
    /// One sentence about what is wrong with it.
    pub fn order(&mut self, line: &str) -> Result<Effect, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |text: &str| {
            text.parse::<u64>().map_err(|_| format!("{line:?}: {text:?} is not a whole number"))
        };
        match words[..] {
            ["set", name, value] => self.parameters.set(name, value)?,
            ["eio_read", first, last] => {
                self.faults.unreadable = Some((number(first)?, number(last)?));
            }
            ["eio_write", first, last] => {
                self.faults.unwritable = Some((number(first)?, number(last)?));
            }
            ["enospc", from] => self.faults.full_from = Some(number(from)?),
            [lie @ ("corrupt" | "drop" | "misplace" | "tear"), first, last] => {
                let range = (number(first)?, number(last)?);
                self.faults.lie = Lie::named(lie).map(|lie| (lie, range));
            }
            ["short", flag] => self.faults.short = number(flag)? != 0,
            ["hang", flag] => {
                self.faults.hang = number(flag)? != 0;
                return Ok(Effect::Release);
            }
            ["clear"] => {
                self.faults = Faults::default();
                return Ok(Effect::Release);
            }
            ["untimed"] => self.untimed = true,
            ["timed"] => self.untimed = false,
            ["reset"] => self.counters = Counters::default(),
            ["die"] => return Ok(Effect::Die),
            _ => return Err(format!("{line:?} is none of: {ORDERS}")),
        }
        Ok(Effect::None)
    }
}

/// The orders that a disk accepts.
pub const ORDERS: &str = "set NAME VALUE, eio_read FIRST LAST, eio_write FIRST LAST, enospc BYTE, corrupt|drop|misplace|tear FIRST LAST, short 0|1, hang 0|1, clear, untimed, timed, reset, die";

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(words: &[&str]) -> Device {
        Device::new(Parameters::parse(words.iter().copied()).unwrap())
    }

    fn read(offset: u64, length: u64) -> Request {
        Request { write: false, offset, length }
    }

    fn write(offset: u64, length: u64) -> Request {
        Request { write: true, offset, length }
    }

    #[test]
    fn counters_tell_what_was_done() {
        let mut disk = disk(&["overhead_us=10", "bandwidth_mb_s=4"]);
        assert_eq!(
            disk.submit(read(0, 4000), 5_000),
            Fate::Answered { at_ns: 1_015_000, done: Ok(4000) }
        );
        disk.submit(write(8000, 4000), 5_000);
        disk.synced();
        let told = Counters {
            reads: 1,
            writes: 1,
            read_bytes: 4000,
            write_bytes: 4000,
            sequential: 1,
            seeks: 1,
            syncs: 1,
            busy_ns: 2_020_000,
            ..Counters::default()
        };
        assert_eq!(disk.counters(), told);
        disk.order("reset").unwrap();
        assert_eq!(disk.counters(), Counters::default());
    }

    #[test]
    fn the_cache_serves_reads_and_writes_only_when_told() {
        let mut disk = disk(&["cache_mib=1", "hit_us=3", "overhead_us=100"]);
        let at = |fate| match fate {
            Fate::Answered { at_ns, .. } => at_ns,
            Fate::Held => panic!("held"),
        };
        assert_eq!(at(disk.submit(read(0, 4096), 0)), 100_000);
        assert_eq!(at(disk.submit(read(0, 4096), 1_000_000)), 1_003_000);
        assert_eq!(at(disk.submit(write(0, 4096), 2_000_000)), 2_100_000);
        disk.order("set cached_writes 1").unwrap();
        assert_eq!(at(disk.submit(write(0, 4096), 3_000_000)), 3_003_000);
        assert_eq!(disk.counters().cache_hits, 2);
    }

    #[test]
    fn faults_come_and_go_by_order() {
        let mut disk = disk(&[]);
        let done = |fate| match fate {
            Fate::Answered { done, .. } => done,
            Fate::Held => panic!("held"),
        };
        disk.order("eio_read 0 99999").unwrap();
        assert_eq!(done(disk.submit(read(0, 4096), 0)), Err(Fault::Io));
        assert_eq!(done(disk.submit(write(0, 4096), 0)), Ok(4096));
        disk.order("enospc 4096").unwrap();
        assert_eq!(done(disk.submit(write(4096, 4096), 0)), Err(Fault::NoSpace));
        disk.order("eio_write 8192 8192").unwrap();
        disk.order("short 1").unwrap();
        assert_eq!(done(disk.submit(read(1 << 20, 65536), 0)), Ok(32768));
        disk.order("hang 1").unwrap();
        assert_eq!(disk.submit(read(0, 1), 0), Fate::Held);
        assert_eq!(disk.order("clear").unwrap(), Effect::Release);
        assert_eq!(done(disk.submit(read(0, 4096), 0)), Ok(4096));
        assert_eq!(disk.counters().faults, 2);
        assert_eq!(disk.order("die").unwrap(), Effect::Die);
    }

    #[test]
    fn an_untimed_disk_takes_no_time_and_moves_no_arm() {
        let mut disk = disk(&["overhead_us=100"]);
        disk.order("untimed").unwrap();
        assert_eq!(disk.submit(read(0, 4096), 7), Fate::Answered { at_ns: 7, done: Ok(4096) });
        disk.order("timed").unwrap();
        assert_eq!(
            disk.submit(read(0, 4096), 7),
            Fate::Answered { at_ns: 100_007, done: Ok(4096) }
        );
    }

    #[test]
    fn wrong_orders_are_refused() {
        let mut disk = disk(&[]);
        for line in ["", "explode", "eio_read 1", "short yes", "set arms 99"] {
            assert!(disk.order(line).is_err(), "{line}");
        }
    }
}
