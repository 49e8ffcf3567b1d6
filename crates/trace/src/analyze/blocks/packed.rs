//! The table of blocks as a part's state keeps it: blocks in order, each as its difference from the one before, 8 to 25 bytes.

use super::{Blocks, Firsts, GROUP, GROUP_BITS, Group, MOST_WAITING};
use crate::analyze::blocks::size::BlockSize;
use crate::analyze::key_table::KeyTable;
use crate::analyze::log_histogram::LogHistogram;
use crate::analyze::set_windows::{Moment, SetWindows};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A block less the block before it; differences wrap around, so that any two have one.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Entry {
    key: u64,
    last: i32,
    first: i32,
    writes: u32,
    last_write_ns: i64,
    first_write_ns: i64,
}

/// What precedes the blocks.
#[derive(Serialize, Deserialize)]
struct Rest<W, H> {
    size: BlockSize,
    tracked: u64,
    windows: W,
    delays: H,
    block_writes: u64,
    cut: u64,
    untracked: u64,
    most: usize,
}

/// Marks and number of writes with the marks lowest: a small number is a short one.
fn rotated(writes: u32) -> u32 {
    writes.rotate_left(2)
}

impl Serialize for Blocks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rest = Rest {
            size: self.size,
            tracked: self.tracked,
            windows: &self.windows,
            delays: &self.delays,
            block_writes: self.block_writes,
            cut: self.cut,
            untracked: self.untracked,
            most: self.most,
        };
        let mut keys: Vec<(u64, u32)> = self.table.iter().collect();
        keys.sort_unstable();
        let blocks = keys.iter().flat_map(|&(key, number)| {
            (0..GROUP).map(move |block| ((key << GROUP_BITS) | block as u64, number, block))
        });
        let known = blocks.filter(|&(_, number, block)| {
            self.groups[number as usize].last[block] != Moment::NEVER
        });
        let mut before = Absolute::default();
        let entries = known.map(|(key, number, block)| {
            let this = Absolute::of(key, &self.groups[number as usize], block);
            let firsts = self.firsts.get(number as usize).copied().unwrap_or_default();
            this.less(&std::mem::replace(&mut before, this), &firsts, block)
        });
        let entries: Vec<Entry> = entries.collect();
        (rest, entries).serialize(serializer)
    }
}

/// The values of one block.
#[derive(Clone, Copy, Default)]
struct Absolute {
    key: u64,
    last: u32,
    writes: u32,
    last_write_ns: u64,
}

impl Absolute {
    fn of(key: u64, group: &Group, block: usize) -> Self {
        Self {
            key,
            last: group.last[block].number(),
            writes: group.writes[block],
            last_write_ns: group.last_write_ns[block],
        }
    }

    fn less(&self, before: &Self, firsts: &Firsts, block: usize) -> Entry {
        Entry {
            key: self.key.wrapping_sub(before.key),
            last: self.last.wrapping_sub(before.last) as i32,
            first: self.last.wrapping_sub(firsts.touch[block].number()) as i32,
            writes: rotated(self.writes),
            last_write_ns: self.last_write_ns.wrapping_sub(before.last_write_ns) as i64,
            first_write_ns: self.last_write_ns.wrapping_sub(firsts.write_ns[block]) as i64,
        }
    }

    fn after(&self, entry: &Entry) -> Self {
        Self {
            key: self.key.wrapping_add(entry.key),
            last: self.last.wrapping_add(entry.last as u32),
            writes: entry.writes.rotate_right(2),
            last_write_ns: self.last_write_ns.wrapping_add(entry.last_write_ns as u64),
        }
    }
}

/// The table, filled while it is read.
#[derive(Default)]
struct Filled {
    table: KeyTable,
    groups: Vec<Group>,
    firsts: Vec<Firsts>,
}

impl Filled {
    fn put(&mut self, block: &Absolute, entry: &Entry) -> Option<()> {
        let number = self.table.number(block.key >> GROUP_BITS, super::MOST_GROUPS)? as usize;
        self.groups.resize(self.table.len(), Group::default());
        self.firsts.resize(self.table.len(), Firsts::default());
        let at = block.key as usize & (GROUP - 1);
        let (group, firsts) = (&mut self.groups[number], &mut self.firsts[number]);
        group.last[at] = Moment::numbered(block.last);
        group.writes[at] = block.writes;
        group.last_write_ns[at] = block.last_write_ns;
        firsts.touch[at] = Moment::numbered(block.last.wrapping_sub(entry.first as u32));
        firsts.write_ns[at] = block.last_write_ns.wrapping_sub(entry.first_write_ns as u64);
        Some(())
    }
}

impl<'de> Deserialize<'de> for Filled {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Filling)
    }
}

struct Filling;

impl<'de> Visitor<'de> for Filling {
    type Value = Filled;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("blocks")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Filled, A::Error> {
        let (mut filled, mut block) = (Filled::default(), Absolute::default());
        while let Some(entry) = entries.next_element::<Entry>()? {
            block = block.after(&entry);
            filled.put(&block, &entry).ok_or_else(|| A::Error::custom("too many blocks"))?;
        }
        Ok(filled)
    }
}

impl<'de> Deserialize<'de> for Blocks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (rest, filled): (Rest<SetWindows, LogHistogram>, Filled) =
            Deserialize::deserialize(deserializer)?;
        Ok(Self {
            size: rest.size,
            table: filled.table,
            groups: filled.groups,
            firsts: filled.firsts,
            part: true,
            tracked: rest.tracked,
            windows: rest.windows,
            delays: rest.delays,
            block_writes: rest.block_writes,
            cut: rest.cut,
            untracked: rest.untracked,
            most: rest.most,
            waiting: Vec::with_capacity(MOST_WAITING),
        })
    }
}
