//! Do writes come singly, in groups, in bursts, and to the same place again? (Figure 10)

use super::column::{Column, STRIDE};
use super::runs::RunLengths;
use ioscape_schema::trace_summary::DiskSummary;
use ioscape_schema::{Io, Op, Request};
use serde::{Deserialize, Serialize};

/// Two writes less than this apart belong to one burst.
pub const BURST_NS: u64 = 30_000_000;

/// Groups: writes of one disk with no read between them. Bursts: writes of one disk, ignoring
/// reads, each less than 30 ms after the one before. The paper's share of writes in bursts is the
/// share that follow the previous write so soon
/// ([`Runs::following_frac`](ioscape_schema::trace_summary::Runs)). Requests that move no data,
/// such as flushes and discards, are skipped.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WriteGroups {
    groups: RunLengths,
    bursts: RunLengths,
    /// First and last write: time and request.
    ends: Option<[(u64, Request); 2]>,
    writes: u64,
    rewrites: u64,
}

impl WriteGroups {
    /// Takes in the next request of the disk.
    #[inline]
    pub fn update(&mut self, io: &Io) {
        match io.request.op {
            _ if !io.moves_data() => {}
            Op::Read => self.groups.end(),
            Op::Write => self.write(io),
        }
    }

    /// Takes in the next requests of the disk.
    pub fn update_all(&mut self, ios: &[Io]) {
        for ios in ios.chunks(STRIDE) {
            let mut writes = Column::default();
            for (at, io) in (0..).zip(ios) {
                writes.push_if(io.request.op == Op::Write && io.moves_data(), at);
            }
            let mut next = 0;
            for at in writes.iter().map(|at| at as usize) {
                // There may be reads between this write and the one before.
                if ios[next..at].iter().any(reads) {
                    self.groups.end();
                }
                self.write(&ios[at]);
                next = at + 1;
            }
            if ios[next..].iter().any(reads) {
                self.groups.end();
            }
        }
    }

    #[inline]
    fn write(&mut self, io: &Io) {
        self.groups.extend();
        self.writes += 1;
        let this = (io.queued_ns, io.request);
        match &mut self.ends {
            Some([_, last]) => {
                let before = std::mem::replace(last, this);
                self.joint(before, this);
            }
            None => self.ends = Some([this, this]),
        }
        self.bursts.extend();
    }

    /// Compares two successive writes: ends the burst if the pause is long, and counts a rewrite.
    #[inline]
    fn joint(&mut self, before: (u64, Request), after: (u64, Request)) {
        if after.0.saturating_sub(before.0) >= BURST_NS {
            self.bursts.end();
        }
        self.rewrites += u64::from(before.1 == after.1);
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.groups.bytes() + self.bursts.bytes()
    }

    /// Adds the later part.
    pub fn merge(&mut self, later: Self) {
        if let Some([first, last]) = later.ends {
            match &mut self.ends {
                Some([_, mine]) => {
                    let before = std::mem::replace(mine, last);
                    self.joint(before, first);
                }
                None => self.ends = later.ends,
            }
        }
        self.groups.merge(later.groups);
        self.bursts.merge(later.bursts);
        self.writes += later.writes;
        self.rewrites += later.rewrites;
    }

    /// Fills in the figures of a disk's summary that concern writes.
    pub fn finish(&self, summary: &mut DiskSummary) {
        summary.write_groups = self.groups.finish();
        summary.write_bursts = self.bursts.finish();
        summary.rewrite_frac = (self.writes > 0).then(|| self.rewrites as f64 / self.writes as f64);
    }
}

fn reads(io: &Io) -> bool {
    io.request.op == Op::Read && io.moves_data()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::IoFlags;

    fn io(op: Op, ms: u64, offset: u64) -> Io {
        let request = Request { op, offset, len: 8192 };
        Io { request, queued_ns: ms * 1_000_000, ..Io::default() }
    }

    #[test]
    fn reads_part_groups_and_pauses_part_bursts() {
        let mut seen = WriteGroups::default();
        for (op, ms, offset) in [
            (Op::Write, 0, 0),
            (Op::Write, 29, 0),
            (Op::Read, 30, 0),
            (Op::Write, 50, 0),
            (Op::Write, 80, 8192),
        ] {
            seen.update(&io(op, ms, offset));
        }
        let mut found = DiskSummary::default();
        seen.finish(&mut found);
        assert_eq!((found.write_groups.runs, found.write_groups.longest), (2, 2));
        assert_eq!((found.write_bursts.runs, found.write_bursts.longest), (2, 3));
        assert_eq!((found.rewrite_frac, found.write_bursts.following_frac), (Some(0.5), 0.5));
    }

    #[test]
    fn flushes_and_discards_are_no_writes_and_end_no_group() {
        let (write, read) = (io(Op::Write, 0, 0), io(Op::Read, 0, 0));
        let discard = Io { flags: IoFlags::DISCARD, ..write };
        let nothing = Request { op: Op::Write, ..Request::default() };
        let flush = Io { request: nothing, flags: IoFlags::FLUSH, ..write };
        let of = |rows: &[Io]| {
            let (mut single, mut together) = (WriteGroups::default(), WriteGroups::default());
            rows.iter().for_each(|io| single.update(io));
            together.update_all(rows);
            [single, together].map(|seen| {
                let mut found = DiskSummary::default();
                seen.finish(&mut found);
                (found.write_groups.runs, found.write_groups.ios, found.rewrite_frac)
            })
        };
        assert_eq!(of(&[flush, write, discard, flush, write, flush]), [(1, 2, Some(0.5)); 2]);
        assert_eq!(of(&[write, flush, read, write]), [(2, 2, Some(0.5)); 2]);
        assert_eq!(of(&[flush, discard]), [(0, 0, None); 2]);
    }
}
