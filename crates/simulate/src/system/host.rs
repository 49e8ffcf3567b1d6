//! A host: a processor and a file cache on top of a disk, or of a wire and another host.

pub use super::computed::Computed;
use super::flusher::Flusher;
use super::log::Log;
use super::lru::Lru;
pub use super::parameters::BLOCK;
use super::parameters::{
    CacheParameters, ProcessorParameters, SystemParameters, WireParameters, WritePolicy,
    block_sectors,
};
use crate::Error;
use crate::command::Command;
use crate::disk::Disk;
use crate::drive::Drive;
use crate::extent::Extent;
use crate::seek::nanoseconds;
use crate::ssd::{Model, Ssd};
use ioscape_schema::IoFlags;

/// Most blocks written to a disk by one command.
const RUN_BLOCKS: u32 = 16;

/// Most blocks appended to a log by one command: a segment has 512 KB (Rosenblum & Ousterhout 1991,
/// "The design and implementation of a log-structured file system").
const SEGMENT_BLOCKS: usize = 128;

/// When the room for dirty blocks is full, one part in this many is cleaned.
const CLEANED: usize = 16;

/// Converts a rate to the time per block, in 2^-10 ns.
fn per_block(bytes_per_s: f64) -> u64 {
    libm::round(BLOCK as f64 / bytes_per_s * 1e9 * 1024.0) as u64
}

/// The level below a file cache.
#[derive(Clone, Debug)]
enum Lower<'a> {
    /// A local disk, and its sectors per block.
    Disk(Box<Disk<'a>>, u64),
    /// A solid-state drive, and its sectors per block.
    Flash(Box<Ssd<'a>>, u64),
    /// A server behind a wire.
    Server(Box<Host<'a>>, Wire),
}

#[derive(Clone, Copy, Debug)]
struct Wire {
    each: u64,
    latency_ns: u64,
    message_blocks: u32,
    free_ns: u64,
}

/// The file cache's parameters, in the units of a run.
#[derive(Clone, Copy, Debug)]
struct Policy {
    writes: WritePolicy,
    dirty_blocks: usize,
    lock: bool,
    ahead_blocks: u32,
}

/// The drive on which a system stores its data.
#[derive(Clone, Copy, Debug)]
pub enum Storage<'a> {
    /// A disk.
    Disk(&'a Drive),
    /// A solid-state drive.
    Flash(&'a Model),
}

impl<'a> From<&'a Drive> for Storage<'a> {
    fn from(drive: &'a Drive) -> Self {
        Self::Disk(drive)
    }
}

impl<'a> From<&'a Model> for Storage<'a> {
    fn from(model: &'a Model) -> Self {
        Self::Flash(model)
    }
}

impl<'a> Storage<'a> {
    /// The drive's name and size.
    pub fn extent(&self) -> Extent<'a> {
        match *self {
            Self::Disk(drive) => drive.into(),
            Self::Flash(model) => model.into(),
        }
    }

    /// The drive at rest, with data in its first `blocks`, each of this many sectors.
    fn at_rest(&self, blocks: u32, sectors: u64) -> Lower<'a> {
        match *self {
            Self::Disk(drive) => {
                Lower::Disk(Box::new(Disk::new(drive, drive.buffer.usual())), sectors)
            }
            Self::Flash(model) => {
                let laid_out = Ssd::laid_out(model, u64::from(blocks) * sectors);
                Lower::Flash(Box::new(laid_out), sectors)
            }
        }
    }
}

/// A host and its state.
#[derive(Clone, Debug)]
pub struct Host<'a> {
    call_ns: u64,
    copy: u64,
    cpu_free_ns: u64,
    computed: Computed,
    policy: Policy,
    cache: Lru,
    lower: Lower<'a>,
    blocks: u32,
    flusher: Flusher,
    /// Block after the last one read, to detect sequential reads.
    sequential: u32,
    log: Option<Log>,
}

/// How requests use the file cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Writes follow the cache's write policy.
    #[default]
    Buffered,
    /// Every write must be on the disk.
    Synchronous,
    /// Requests bypass the issuing host's file cache, and are not copied if the storage is local. A
    /// server treats them as buffered.
    Direct,
}

impl<'a> Host<'a> {
    /// Creates a system with a set of `bytes` laid out on its disk, the end of which is in the file
    /// cache.
    ///
    /// # Errors
    /// The set is larger than the drive, or a block is not a whole number of the drive's sectors.
    pub fn new(
        system: &SystemParameters,
        storage: impl Into<Storage<'a>>,
        bytes: u64,
    ) -> Result<Self, Error> {
        let storage = storage.into();
        let extent = storage.extent();
        let sectors = block_sectors(extent)?;
        if bytes > extent.bytes() || bytes.div_ceil(BLOCK) >= u64::from(u32::MAX) {
            return Err(Error::Configuration(format!(
                "a set of {bytes} bytes is larger than the drive {}",
                extent.name
            )));
        }
        let blocks = bytes.div_ceil(BLOCK).max(1) as u32;
        let disk = storage.at_rest(blocks, sectors);
        let (lower, own) = match (&system.wire, &system.server_cache, &system.server_processor) {
            (Some(wire), Some(cache), Some(processor)) => {
                let server = Self::with(processor, cache, blocks, disk);
                (Lower::Server(Box::new(server), Wire::new(wire)), &system.cache)
            }
            _ => (disk, &system.cache),
        };
        Ok(Self::with(&system.processor, own, blocks, lower))
    }

    fn with(
        processor: &ProcessorParameters,
        cache: &CacheParameters,
        blocks: u32,
        lower: Lower<'a>,
    ) -> Self {
        let room = (cache.bytes / BLOCK).min(u64::from(u32::MAX - 1)) as u32;
        let dirty = cache.dirty_bytes.unwrap_or(cache.bytes) / BLOCK;
        let policy = Policy {
            // A cache without room can hold back no writes.
            writes: if room == 0 { WritePolicy::Through } else { cache.writes },
            dirty_blocks: dirty.max(1) as usize,
            lock: cache.lock_while_flushing,
            ahead_blocks: (cache.read_ahead_bytes / BLOCK) as u32,
        };
        let mut lru = Lru::new(blocks, room);
        for block in blocks.saturating_sub(room)..blocks {
            lru.touch(block);
        }
        Self {
            call_ns: nanoseconds(processor.call_ms),
            copy: per_block(processor.copy_bytes_per_s),
            cpu_free_ns: 0,
            computed: Computed::default(),
            policy,
            cache: lru,
            lower,
            blocks,
            flusher: Flusher::new(cache.flush_interval_s.map(|s| nanoseconds(s * 1e3))),
            sequential: u32::MAX,
            log: cache.log_structured.then(|| Log::new(blocks)),
        }
    }

    /// Carries out a request that arrives at `now_ns` and returns its completion time. Ignores
    /// blocks beyond the set.
    pub fn request(
        &mut self,
        now_ns: u64,
        first: u32,
        count: u32,
        write: bool,
        access: Access,
    ) -> u64 {
        let first = first.min(self.blocks);
        let end = first.saturating_add(count).min(self.blocks);
        self.flush_when_due(now_ns);
        if let Lower::Flash(ssd, _) = &mut self.lower {
            ssd.pass(now_ns);
        }
        let start = now_ns.max(self.cpu_free_ns);
        // A local drive transfers directly to and from the process; data from a wire are copied.
        let is_copied = access != Access::Direct || matches!(self.lower, Lower::Server(..));
        let copied = if is_copied { u64::from(end - first) } else { 0 };
        let copy_ns = (copied * self.copy) >> 10;
        self.cpu_free_ns = start + self.call_ns + copy_ns;
        self.computed.busy_ns += self.call_ns + copy_ns;
        self.computed.delayed_ns += start - now_ns;
        let called = start + self.call_ns;
        let ready = match (access, write) {
            (Access::Direct, _) => self.lower(called, first, end - first, write, access),
            (_, false) => self.read(called, first, end),
            (_, true) => self.write(called, first, end, access),
        };
        ready + copy_ns
    }

    /// The processor time of all requests so far.
    pub fn computed(&self) -> Computed {
        self.computed
    }

    fn read(&mut self, now_ns: u64, first: u32, end: u32) -> u64 {
        let mut now = now_ns;
        let follows = first == self.sequential;
        self.sequential = end;
        let mut block = first;
        while block < end {
            if self.cache.holds(block) {
                now = self.keep(now, block);
                block += 1;
                continue;
            }
            let mut missing = block + 1;
            let most =
                if follows { (end + self.policy.ahead_blocks).min(self.blocks) } else { end };
            while missing < most && !self.cache.holds(missing) {
                missing += 1;
            }
            now = self.lower(now, block, missing - block, false, Access::Buffered);
            for came in block..missing {
                now = self.keep(now, came);
            }
            block = missing.min(end);
        }
        now
    }

    /// Puts a block into the cache, writing back a dirty victim first; returns the time afterwards.
    fn keep(&mut self, now_ns: u64, block: u32) -> u64 {
        match self.cache.touch(block) {
            Some((victim, true)) => self.lower(now_ns, victim, 1, true, Access::Buffered),
            _ => now_ns,
        }
    }

    fn write(&mut self, now_ns: u64, first: u32, end: u32, access: Access) -> u64 {
        let mut now = now_ns;
        let goes_on = access == Access::Synchronous || self.policy.writes == WritePolicy::Through;
        for block in first..end {
            if self.policy.lock {
                now = now.max(self.cache.locked_ns(block));
            }
            now = self.keep(now, block);
            // Mark it at once: later blocks of a request larger than the cache evict earlier ones.
            if !goes_on {
                self.cache.soil(block);
            }
        }
        if goes_on {
            for block in first..end {
                self.cache.wash(block);
            }
            return self.lower(now, first, end - first, true, access);
        }
        let share = self.policy.dirty_blocks.div_ceil(CLEANED);
        while self.cache.dirty() > self.policy.dirty_blocks {
            now = if self.flushes_beside() {
                self.flusher.begin(now, share);
                self.flush_next(u64::MAX).unwrap_or(now).max(now)
            } else {
                self.clean(now, first, share)
            };
        }
        now
    }

    /// Writes at least `count` dirty blocks, if there are as many, in disk order from `from` on;
    /// returns the time when they are written.
    fn clean(&mut self, now_ns: u64, from: u32, count: usize) -> u64 {
        let runs = self.cache.clean(from, count, RUN_BLOCKS);
        let mut now = now_ns;
        if self.log.is_some() {
            let blocks: Vec<u32> = runs.iter().flat_map(|&(first, n)| first..first + n).collect();
            now = self.append(now, &blocks);
        }
        for (first, length) in runs {
            if self.log.is_none() {
                now = self.lower(now, first, length, true, Access::Buffered);
            }
            if self.policy.lock {
                (first..first + length).for_each(|block| self.cache.lock(block, now));
            }
        }
        now
    }

    /// Writes blocks at the end of the log; returns the time when they are written.
    fn append(&mut self, now_ns: u64, blocks: &[u32]) -> u64 {
        let mut now = now_ns;
        for segment in blocks.chunks(SEGMENT_BLOCKS) {
            let Some(log) = &mut self.log else { break };
            let place = log.append(segment);
            now = self.send(now, place, segment.len() as u32, true, Access::Buffered);
        }
        now
    }

    /// Whether flushes run beside other requests, as on a solid-state drive, not on a disk's arm.
    fn flushes_beside(&self) -> bool {
        matches!(self.lower, Lower::Flash(..)) && self.log.is_none() && !self.policy.lock
    }

    /// Flushes all dirty blocks if due; only requests that need the disk or a locked block wait.
    fn flush_when_due(&mut self, now_ns: u64) {
        self.flush_on(now_ns);
        let Some(at) = self.flusher.begins(now_ns) else { return };
        if self.flushes_beside() {
            self.flusher.begin(at, self.cache.dirty());
            self.flush_on(now_ns);
        } else {
            self.clean(at, 0, usize::MAX);
        }
    }

    /// Sends all commands of the flush in progress that are due by `now_ns`.
    fn flush_on(&mut self, now_ns: u64) {
        while self.flush_next(now_ns).is_some() {}
    }

    /// Sends the flush's next command if due by `now_ns`; returns the time when it is written.
    fn flush_next(&mut self, now_ns: u64) -> Option<u64> {
        let (at, from) = self.flusher.next(now_ns, self.cache.dirty())?;
        let (first, count) = self.cache.clean(from, 1, RUN_BLOCKS).pop()?;
        let written_ns = self.send(at, first, count, true, Access::Buffered);
        self.flusher.written((first, count), written_ns);
        Some(written_ns)
    }

    /// Sends a request to the level below, through the log if there is one.
    fn lower(&mut self, now_ns: u64, first: u32, count: u32, write: bool, access: Access) -> u64 {
        let Some(log) = &self.log else { return self.send(now_ns, first, count, write, access) };
        let blocks = first..first + count;
        if write {
            return self.append(now_ns, &blocks.collect::<Vec<u32>>());
        }
        let runs = log.runs(blocks);
        runs.iter().fold(now_ns, |now, &(place, n)| self.send(now, place, n, write, access))
    }

    /// Sends a request for blocks that lie together to the level below.
    fn send(&mut self, now_ns: u64, first: u32, count: u32, write: bool, access: Access) -> u64 {
        if count == 0 {
            return now_ns;
        }
        let is_through = write && access == Access::Synchronous;
        match &mut self.lower {
            Lower::Disk(disk, sectors) => {
                let block = u64::from(first) * *sectors;
                let count = u64::from(count) * *sectors;
                // The disk takes one command at a time.
                let at = now_ns.max(disk.last_completed_ns());
                let command = Command { block, count, write, synchronous: true };
                let done = disk.serve(at, command).completed_ns;
                // As Linux does if the disk has no FUA: flush after a write that was reported
                // early.
                if is_through && disk.reports_early() { disk.flush(done) } else { done }
            }
            Lower::Flash(ssd, sectors) => {
                let block = u64::from(first) * *sectors;
                let count = u64::from(count) * *sectors;
                let command = Command { block, count, write, synchronous: true };
                let flags = if is_through { IoFlags::FUA } else { IoFlags::empty() };
                ssd.act_ahead(now_ns, command, flags).completed_ns
            }
            Lower::Server(server, wire) => {
                let (mut now, mut block, end) = (now_ns, first, first + count);
                // A direct request bypasses this host's cache, but not the server's.
                let there_as = if access == Access::Direct { Access::Buffered } else { access };
                while block < end {
                    let length = wire.message_blocks.min(end - block);
                    let sent = now.max(wire.free_ns);
                    wire.free_ns = sent + ((u64::from(length) * wire.each) >> 10);
                    let there = wire.free_ns + wire.latency_ns;
                    now = server.request(there, block, length, write, there_as);
                    block += length;
                }
                now
            }
        }
    }
}

impl Wire {
    fn new(wire: &WireParameters) -> Self {
        Self {
            each: per_block(wire.bytes_per_s),
            latency_ns: nanoseconds(wire.latency_ms),
            message_blocks: (wire.message_bytes / BLOCK).max(1) as u32,
            free_ns: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drives;
    use crate::system::find;

    #[test]
    fn a_synchronous_write_waits_for_the_medium_behind_one_that_was_reported_early() {
        let system = find("generic-nvme").unwrap();
        let parameters = drives::find("hp-97560").unwrap();
        assert!(parameters.buffer.immediate_reporting && !parameters.buffer.write_back);
        let drive = parameters.build().unwrap();
        let mut host = Host::new(&system, &drive, 64 << 20).unwrap();
        let Lower::Disk(disk, sectors) = &mut host.lower else { panic!("its storage is a disk") };
        let count = *sectors;
        let early = Command { block: 0, count, write: true, synchronous: false };
        let done = disk.serve(0, early);
        assert!(done.parts.cached, "nobody waits for it: {:?}", done.parts);
        // The disk writes its buffered data first.
        let written_ns = host.send(done.completed_ns, 1, 1, true, Access::Synchronous);
        let Lower::Disk(disk, _) = &mut host.lower else { panic!("its storage is a disk") };
        assert_eq!(disk.flush(written_ns), written_ns, "nothing is left to be written");
    }

    /// A client with a write-back cache of `blocks` blocks, and a server with room for all its
    /// writes.
    fn client(blocks: u64) -> SystemParameters {
        let mut system = find("hp-dux").unwrap();
        system.cache.bytes = blocks * BLOCK;
        system.cache.flush_interval_s = None;
        let server = system.server_cache.as_mut().unwrap();
        (server.bytes, server.flush_interval_s) = (64 << 20, None);
        system
    }

    /// The number of dirty blocks at the server.
    fn at_server(host: &Host<'_>) -> usize {
        let Lower::Server(server, _) = &host.lower else { panic!("it has a server") };
        server.cache.dirty()
    }

    #[test]
    fn no_block_of_a_write_larger_than_the_cache_is_lost() {
        let drive = drives::find("hp-97560").unwrap().build().unwrap();
        for (cache, written) in [(64, 32), (64, 64), (64, 128), (64, 129), (1, 9), (0, 128)] {
            let mut host = Host::new(&client(cache), &drive, 1 << 20).unwrap();
            host.request(0, 0, written, true, Access::Buffered);
            let (sent, dirty) = (at_server(&host), host.cache.dirty());
            assert_eq!(sent + dirty, written as usize, "{sent} sent from a cache of {cache}");
            assert!(dirty as u64 <= cache);
        }
    }

    #[test]
    fn a_client_without_a_cache_writes_no_faster_than_its_wire() {
        let system = client(0);
        let drive = drives::find("hp-97560").unwrap().build().unwrap();
        let mut host = Host::new(&system, &drive, 1 << 20).unwrap();
        let done_ns = host.request(0, 0, 128, true, Access::Buffered);
        let wire_s = (128 * BLOCK) as f64 / system.wire.unwrap().bytes_per_s;
        assert!(done_ns as f64 >= wire_s * 1e9, "{done_ns} ns for {wire_s} s");
    }
}
