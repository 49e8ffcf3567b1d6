//! Destaging: the disk writes its buffer to the medium while it has no commands.

use super::state::{Destaging, Disk};
use crate::cache::{Destage, Dirty, Freeing};
use crate::command::{Command, WriteCache};
use crate::mechanism::Feed;

/// Up to so many stretches are examined one by one, which is faster; more are kept in order of
/// position.
const FEW: usize = 32;

impl Disk<'_> {
    /// Works out the disk's background work before `now_ns`.
    #[inline]
    pub(super) fn advance(&mut self, now_ns: u64) {
        if self.destaging.is_none() && self.buffer.is_empty() {
            return;
        }
        loop {
            if let Some(destaging) = self.destaging {
                if destaging.access.end_ns > now_ns {
                    return;
                }
                self.destaging = None;
            }
            if !self.destage(now_ns) {
                return;
            }
        }
    }

    /// Returns [`Self::wrote`], after the disk's background work before `now_ns` was worked out.
    pub fn wrote_until(&mut self, now_ns: u64) -> [u64; 2] {
        self.advance(now_ns);
        self.wrote
    }

    /// From when on the disk may destage: reads take precedence until they complete.
    fn spare_ns(&self) -> u64 {
        self.free_ns.max(self.read_until_ns)
    }

    /// When the next write to the medium starts, if no command comes first. If the disk is
    /// predicted from a recorded state, its data may arrive after the disk is done, and the
    /// mechanism may be free before the write in progress ends.
    fn next_start_ns(&self) -> u64 {
        let arrived_ns = self.buffer.oldest().map_or(0, |oldest| oldest.arrived_ns);
        let ends_ns = self.destaging.map_or(0, |destaging| destaging.access.end_ns);
        self.spare_ns().max(arrived_ns).max(ends_ns)
    }

    /// Starts the next write to the medium if it starts before `now_ns`.
    fn destage(&mut self, now_ns: u64) -> bool {
        let Some(oldest) = self.buffer.oldest() else { return false };
        let start = self.next_start_ns();
        if start >= now_ns {
            return false;
        }
        let chosen = self.choose(start, oldest);
        self.buffer.remove(chosen.block);
        let asked = [chosen.block, chosen.count];
        let feed = self.feed(&chosen);
        let access = self.drive.mechanism.access(&mut self.arm, start, feed, asked, true);
        self.free_ns = access.end_ns;
        let from_ns = if start > self.wrote[1] { start } else { self.wrote[0] };
        self.wrote = [from_ns, access.end_ns];
        self.traffic.destaged += chosen.count;
        self.destaging = Some(Destaging { dirty: chosen, access });
        true
    }

    /// How the data of a stretch arrive: a drive that flushes first moves its arm meanwhile.
    fn feed(&self, dirty: &Dirty) -> Feed {
        match self.drive.buffer.flushes_first {
            true => {
                let each = self.drive.bus.to_drive;
                Feed { from_ns: dirty.arrived_ns, each, whole: false, lead: 1 }
            }
            false => Feed::default(),
        }
    }

    /// Chooses the stretch to write next.
    fn choose(&mut self, start: u64, oldest: Dirty) -> Dirty {
        match self.options.cache {
            WriteCache::Volatile { .. } | WriteCache::Nvram { destage: Destage::Satf, .. } => {
                self.cheapest(start, || {}).unwrap_or(oldest)
            }
            _ => oldest,
        }
    }

    /// The stretch with the least access time per block. Since blocks pass equally fast everywhere,
    /// that is the one with the least positioning time per block. `looks` is called at every step
    /// of the search among many.
    fn cheapest(&mut self, start: u64, looks: impl FnMut()) -> Option<Dirty> {
        let (mechanism, stretches) = (&self.drive.mechanism, self.buffer.stretches());
        if stretches > FEW {
            let places = self.buffer.placed(&mechanism.layout);
            let block = places.cheapest(mechanism, &self.arm, start, looks)?;
            return self.buffer.at(block);
        }
        if stretches < FEW / 2 {
            self.buffer.misplace();
        }
        let cost = |dirty: &&Dirty| {
            let position = mechanism.positioning_ns(&self.arm, start, dirty.block, true);
            (position / dirty.count, dirty.block)
        };
        self.buffer.iter().min_by_key(cost).copied()
    }

    /// Whether all of these blocks are in the buffer, dirty or on their way to the medium. Drives
    /// that report immediately keep what they wrote in segments, if at all.
    pub(super) fn holds(&self, block: u64, count: u64) -> bool {
        let end = block + count;
        let dirty = match self.destaging {
            Some(Destaging { dirty, .. }) if self.options.cache != WriteCache::Immediate => dirty,
            _ => return self.buffer.holds(block, count),
        };
        let [from, to] = [dirty.block, dirty.block + dirty.count].map(|at| at.clamp(block, end));
        let waits = |from: u64, to: u64| from == to || self.buffer.holds(from, to - from);
        if from == to { waits(block, end) } else { waits(block, from) && waits(to, end) }
    }

    /// Blocks of the buffer in use at `now_ns`, including those on their way to the medium.
    fn used(&self, now_ns: u64) -> u64 {
        let leaving = self.destaging.map_or(0, |d| self.still_held(&d, now_ns));
        self.buffer.blocks() + leaving
    }

    /// Blocks of a write in progress that still take space.
    fn still_held(&self, destaging: &Destaging, now_ns: u64) -> u64 {
        let (count, access) = (destaging.dirty.count, &destaging.access);
        match self.options.cache {
            WriteCache::Volatile { .. } | WriteCache::Nvram { freeing: Freeing::AsWritten, .. } => {
                let left = access.end_ns.saturating_sub(now_ns).min(access.transfer_ns);
                (count * left).div_ceil(access.transfer_ns.max(1))
            }
            _ => count,
        }
    }

    /// When the buffer has space for a write, from `ready` on.
    pub(super) fn make_room(&mut self, ready: u64, command: Command) -> u64 {
        let mut now = ready;
        self.advance(now);
        // The blocks that it overwrites in the buffer free their space for it.
        self.traffic.absorbed += self.buffer.discard(command.block, command.count);
        while self.used(now) + command.count > self.room {
            now = match self.destaging {
                Some(destaging) => self.freed(&destaging, now, command.count),
                None => self.next_start_ns().max(now) + 1,
            };
            self.advance(now);
        }
        now
    }

    /// When a write in progress leaves space for `count` blocks, or ends.
    fn freed(&self, destaging: &Destaging, now: u64, count: u64) -> u64 {
        let end = destaging.access.end_ns.max(now + 1);
        let held_most = self.room.saturating_sub(count + self.buffer.blocks());
        match self.options.cache {
            WriteCache::Volatile { .. } | WriteCache::Nvram { freeing: Freeing::AsWritten, .. }
                if held_most < destaging.dirty.count =>
            {
                let each = destaging.access.transfer_ns / destaging.dirty.count.max(1);
                (end - (each * held_most).min(end)).max(now + 1)
            }
            _ => end,
        }
    }

    /// When the mechanism has finished its current work.
    pub(super) fn idle(&mut self, ready: u64) -> u64 {
        self.free_ns.max(ready)
    }

    /// When all data written are on the medium, including those on their way.
    pub(super) fn flushed(&mut self, ready: u64) -> u64 {
        if self.destaging.is_none() && self.buffer.is_empty() { ready } else { self.drain(ready) }
    }

    /// When everything in the buffer is on the medium.
    pub(super) fn drain(&mut self, ready: u64) -> u64 {
        while !self.buffer.is_empty() {
            let until = self.next_start_ns().max(ready) + 1;
            self.advance(until);
        }
        self.free_ns.max(ready)
    }

    /// Destages the rest of the buffer; returns when that is done.
    pub fn flush(&mut self, now_ns: u64) -> u64 {
        self.advance(now_ns);
        self.drain(now_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::DiskOptions;
    use proptest::prelude::*;

    const VOLATILE: WriteCache = WriteCache::Volatile { bytes: 10 << 20 };

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        /// The search by position finds what a search among all stretches would find.
        #[test]
        fn the_cheapest_stretch_is_found(
            written in prop::collection::vec((0u64..18_900, 1u64..60), 1..120),
            longest in prop::sample::select(vec![1u64, 3, 60]),
            phase_ns in 0u64..10_000_000,
        ) {
            for drive in crate::testing::unlike() {
                let cache = VOLATILE;
                let mut disk = Disk::new(&drive, DiskOptions { cache, ..DiskOptions::default() });
                disk.arm.phase_ns = phase_ns;
                let (early, late) = written.split_at(written.len() * 2 / 3);
                for &(block, count) in early {
                    disk.buffer.insert(block, 1 + count % longest, 0);
                }
                let mut late = late.iter();
                let mechanism = &drive.mechanism;
                while let Some(oldest) = disk.buffer.oldest() {
                    let start = disk.free_ns;
                    let cost = |dirty: &&Dirty| {
                        let sector = mechanism.layout.span_ns(mechanism.layout.locate(oldest.block).track, 1);
                        let position = mechanism.positioning_ns(&disk.arm, start, dirty.block, true);
                        ((position + sector * dirty.count) / dirty.count, dirty.block)
                    };
                    let known = disk.buffer.iter().min_by_key(cost).copied();
                    prop_assert_eq!(Some(disk.choose(start, oldest)), known);
                    disk.advance(start + 1);
                    // More writes arrive, and overwrite parts of waiting ones.
                    if let Some(&(block, count)) = late.next() {
                        disk.buffer.insert(block, 1 + count % longest, 0);
                    }
                }
            }
        }
    }

    /// Mean number of steps in the search for the next stretch, over the second third of the
    /// requests and over the last. The disk writes `requests` as fast as it can, with a buffer of
    /// `blocks`.
    fn steps(
        drive: &crate::Drive,
        [blocks, requests]: [u64; 2],
        sizes: [u64; 2],
        within: u64,
    ) -> [f64; 2] {
        let cache = WriteCache::Volatile { bytes: blocks * 512 };
        let mut disk = Disk::new(drive, DiskOptions { cache, ..DiskOptions::default() });
        let (mut state, mut now_ns) = (4711u64, 0);
        let (mut steps, mut searches) = ([0; 3], [0; 3]);
        for request in 0..requests {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let block = (state >> 33).wrapping_mul(48_271) % (within - sizes[1]);
            let count = sizes[usize::from(state >> 60 == 0)];
            let command = Command { block, count, write: true, synchronous: false };
            now_ns = disk.serve(now_ns, command).completed_ns;
            if request % 64 == 0 {
                let third = (3 * request / requests) as usize;
                let found = disk.cheapest(disk.spare_ns(), || steps[third] += 1);
                searches[third] += u32::from(found.is_some());
            }
        }
        [1, 2].map(|third| f64::from(steps[third]) / f64::from(searches[third]))
    }

    #[test]
    fn data_that_come_later_are_not_waited_for_by_the_nanosecond() {
        let drive = crate::testing::simple();
        let cache = WriteCache::Nvram {
            bytes: 32 * 512,
            destage: Destage::Satf,
            freeing: Freeing::WholeWrite,
        };
        let mut disk = Disk::new(&drive, DiskOptions { cache, ..DiskOptions::default() });
        const LATER_NS: u64 = 1 << 50;
        disk.buffer.insert(50, 32, LATER_NS);
        let command = Command { block: 90, count: 4, write: true, synchronous: true };
        let room_ns = disk.clone().make_room(0, command);
        assert!((LATER_NS..LATER_NS + 30_000_000).contains(&room_ns), "{room_ns}");
        assert_eq!(disk.drain(0), room_ns, "the same write to the medium");
        // The write in progress ends after the recorded completion to which the disk is reset.
        disk.buffer.insert(50, 8, LATER_NS);
        disk.advance(LATER_NS + 1);
        disk.buffer.insert(60, 8, LATER_NS);
        disk.resynchronize([90, 4], 0, LATER_NS);
        assert!(disk.drain(LATER_NS) > LATER_NS && disk.buffer.is_empty());
    }

    #[test]
    fn a_search_takes_no_longer_in_a_larger_buffer() {
        let drive = crate::testing::simple();
        for (sizes, within) in [([1, 1], 20_000), ([2, 32], 20_000), ([1, 1], 8_000)] {
            let [small, large] =
                [400, 6_400].map(|blocks| steps(&drive, [blocks, 3 * blocks], sizes, within)[1]);
            assert!(large < small.max(25.0), "{sizes:?} within {within}: {small}, {large}");
        }
    }

    /// With thousands of stretches on millions of tracks, the work per request does not grow with
    /// the number of requests.
    #[test]
    fn a_search_takes_no_longer_the_more_a_large_disk_has_written() {
        let shipped = crate::drives::find("generic-hdd").expect("it is shipped");
        let drive = shipped.build().expect("it can be built");
        let (blocks, all) = (drive.buffer.bytes / 512, drive.mechanism.layout.blocks());
        let of = |requests| steps(&drive, [blocks, requests], [16, 16], all)[1];
        let [early, late] = [20_000, 80_000].map(of);
        assert!(early < 250.0 && late < 1.5 * early, "{early}, {late}");
    }

    /// Guards against a defect: the bound on seeks left out that writes settle, so that of 16,384
    /// stretches within 16 GiB two thirds were examined.
    #[test]
    fn of_many_stretches_close_together_few_are_examined() {
        let shipped = crate::drives::find("generic-hdd").expect("it is shipped");
        let drive = shipped.build().expect("it can be built");
        let blocks = drive.buffer.bytes / 512;
        let [_, late] = steps(&drive, [blocks, 40_000], [8, 8], (16 << 30) / 512);
        assert!(late < 500.0, "{late}");
    }
}
