//! The table of blocks in a part's saved state: blocks in order, each as its difference from the
//! one before, in 8 to 25 bytes.

use super::block::{Block, First};
use super::shard::Shard;
use super::size::BlockSize;
use super::table::{SHARDS, Table};
use super::touch::Counts;
use crate::analyze::log_histogram::LogHistogram;
use crate::analyze::set_windows::{Moment, SetWindows};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A block minus the block before it; differences wrap around, so that any two blocks have one.
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
    one_in: u64,
    tracked: u64,
    windows: W,
    delays: H,
    block_writes: u64,
    cut: u64,
    untracked: u64,
    most_bytes: usize,
}

/// Rotates the marks below the number of writes, so that a small number encodes short.
fn rotated(writes: u32) -> u32 {
    writes.rotate_left(2)
}

impl Serialize for Shard {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rest = Rest {
            size: self.size,
            one_in: self.table.one_in(),
            tracked: self.counts.tracked,
            windows: &self.counts.windows,
            delays: &self.counts.delays,
            block_writes: self.block_writes,
            cut: self.cut,
            untracked: self.untracked + self.table.untracked(),
            most_bytes: self.most_bytes,
        };
        (rest, InOrder(&self.table)).serialize(serializer)
    }
}

/// The blocks of a table in order of their keys.
struct InOrder<'a>(&'a Table);

impl Serialize for InOrder<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut blocks: Vec<(u64, Block, First)> = self.0.iter().collect();
        blocks.sort_unstable_by_key(|one| one.0);
        let mut before = Absolute::default();
        serializer.collect_seq(blocks.iter().map(|(key, block, first)| {
            let this = Absolute { key: *key, block: *block };
            this.less(&std::mem::replace(&mut before, this), first)
        }))
    }
}

/// One block with its key.
#[derive(Clone, Copy, Default)]
struct Absolute {
    key: u64,
    block: Block,
}

impl Absolute {
    fn less(&self, before: &Self, first: &First) -> Entry {
        let last = self.block.last.number();
        let write_ns = self.block.last_write_ns;
        Entry {
            key: self.key.wrapping_sub(before.key),
            last: last.wrapping_sub(before.block.last.number()) as i32,
            first: last.wrapping_sub(first.touch.number()) as i32,
            writes: rotated(self.block.writes),
            last_write_ns: write_ns.wrapping_sub(before.block.last_write_ns) as i64,
            first_write_ns: write_ns.wrapping_sub(first.write_ns) as i64,
        }
    }

    fn after(&self, entry: &Entry) -> Self {
        let last = self.block.last.number().wrapping_add(entry.last as u32);
        Self {
            key: self.key.wrapping_add(entry.key),
            block: Block {
                last: Moment::numbered(last),
                writes: entry.writes.rotate_right(2),
                last_write_ns: self.block.last_write_ns.wrapping_add(entry.last_write_ns as u64),
            },
        }
    }

    fn first(&self, entry: &Entry) -> First {
        First {
            touch: Moment::numbered(self.block.last.number().wrapping_sub(entry.first as u32)),
            write_ns: self.block.last_write_ns.wrapping_sub(entry.first_write_ns as u64),
        }
    }
}

/// The table, filled while it is read.
struct Filled(Table);

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
        // The number of a shard follows from its place among the shards.
        let (mut table, mut one) = (Table::new(true, 0), Absolute::default());
        while let Some(entry) = entries.next_element::<Entry>()? {
            one = one.after(&entry);
            table.restore(one.key, &one.block, &one.first(&entry));
        }
        Ok(Filled(table))
    }
}

impl<'de> Deserialize<'de> for Shard {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (rest, filled): (Rest<SetWindows, LogHistogram>, Filled) =
            Deserialize::deserialize(deserializer)?;
        let mut table = filled.0;
        while table.one_in() < rest.one_in && table.halve() {}
        let counts = Counts { tracked: rest.tracked, windows: rest.windows, delays: rest.delays };
        Ok(Self {
            table,
            counts,
            block_writes: rest.block_writes,
            cut: rest.cut,
            untracked: rest.untracked,
            ..Self::new(0, rest.size, true, rest.most_bytes)
        })
    }
}

/// Reads all shards and numbers them.
pub(super) fn numbered<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Shard>, D::Error> {
    let mut shards: Vec<Shard> = Deserialize::deserialize(deserializer)?;
    if shards.len() != SHARDS {
        return Err(D::Error::invalid_length(shards.len(), &"another number of shards"));
    }
    (0..).zip(&mut shards).for_each(|(number, shard)| shard.set_number(number));
    Ok(shards)
}
