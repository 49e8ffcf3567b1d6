//! DiskSim's layout G4 as runs of tracks. It has patterns of tracks (`TP`), and lists (`IDX`) whose
//! entries repeat a pattern or another list; the last list is the whole disk (CMU-PDL-08-101 and
//! the comments of its parameters).

use super::found::Found;
use super::parse::{Block, Value};
use crate::layout::{Remap, TrackRun};

/// Most levels of lists within lists: more means that they form a cycle.
const DEPTH_MOST: usize = 16;
/// Most runs of tracks: bounds memory, at several times the tracks of the largest drives.
const RUNS_MOST: usize = 8_000_000;

/// A pattern of a track: its first and last sector with data, and the number of all sectors.
struct Pattern {
    first: u32,
    last: u32,
    sectors: u32,
}

/// The child that an entry repeats.
enum Of {
    /// A list by its number.
    List(usize),
    /// A pattern by its number, under a head.
    Track { pattern: usize, head: u16 },
}

/// An entry of a list: repeats a child until the entry's blocks are full.
struct Entry {
    /// First block and cylinder, relative to the list's, and angle from the list's first block, in
    /// rotations.
    block: u64,
    cylinder: i64,
    angle: f64,
    /// Blocks, cylinders and angle from one repetition to the next.
    each_blocks: u64,
    each_cylinders: i64,
    each_angle: f64,
    /// Blocks of all repetitions.
    blocks: u64,
    of: Of,
}

/// Where a list or an entry begins, and how many lists it is nested in.
#[derive(Clone, Copy, Default)]
struct Place {
    cylinder: i64,
    angle: f64,
    depth: usize,
}

/// Patterns and lists as written in the file.
struct Tree {
    patterns: Vec<Pattern>,
    lists: Vec<Vec<Entry>>,
}

/// Returns the runs of tracks of a block `dm_layout_g4`, as far as `blocks` blocks need them.
pub fn layout(block: &Block, blocks: Option<u64>) -> Result<Found, String> {
    let lists = list(block, "IDX")?.iter().enumerate().map(|(at, one)| entries(one, at));
    let tree =
        Tree { patterns: patterns(list(block, "TP")?)?, lists: lists.collect::<Result<_, _>>()? };
    let slipped_places = slips(list(block, "Slips").unwrap_or_default())?;
    let lost: u64 = slipped_places.iter().map(|[_, count]| count).sum();
    let root = tree.lists.len().checked_sub(1).ok_or("IDX has no lists")?;
    let most = blocks.map_or(u64::MAX, |blocks| blocks.saturating_add(lost));
    let mut runs = Vec::new();
    tree.unfold(&mut runs, root, Place::default(), most)?;
    let remaps = remaps(list(block, "Remaps").unwrap_or_default())?;
    Ok(Found { runs, slipped_places, remaps, ..Found::default() })
}

fn list<'a>(block: &'a Block, key: &str) -> Result<&'a [Value], String> {
    match block.get(key) {
        Some(Value::List(all)) => Ok(all),
        _ => Err(format!("{key} is missing")),
    }
}

/// Reads a whole number within bounds; errors name it `what`.
pub(super) fn whole(value: Option<&Value>, what: &str, bounds: [i64; 2]) -> Result<i64, String> {
    match value {
        Some(Value::Number(number))
            if (bounds[0] as f64..=bounds[1] as f64).contains(number)
                && libm::floor(*number) == *number =>
        {
            Ok(*number as i64)
        }
        Some(Value::Number(number)) => {
            Err(format!("{what} {number} is no whole number from {} to {}", bounds[0], bounds[1]))
        }
        _ => Err(format!("{what} is missing")),
    }
}

fn angle(value: Option<&Value>, what: &str) -> Result<f64, String> {
    match value {
        Some(Value::Number(number)) if number.abs() <= 1e3 => Ok(*number),
        Some(Value::Number(number)) => Err(format!("{what} {number} is no part of a rotation")),
        _ => Err(format!("{what} is missing")),
    }
}

/// Bounds of block numbers, which are exact as floating-point numbers.
const BLOCKS: [i64; 2] = [0, 1 << 53];
const SECTORS: [i64; 2] = [0, 1 << 24];
const CYLINDERS: [i64; 2] = [-(1 << 31), 1 << 31];

fn patterns(all: &[Value]) -> Result<Vec<Pattern>, String> {
    let each = all.chunks(3).enumerate().map(|(at, one)| {
        let number = |nth: usize, what: &str| {
            let number = whole(one.get(nth), what, SECTORS);
            number.map(|n| n as u32).map_err(|why| format!("TP, pattern {at} (from 0): {why}"))
        };
        let (first, last) = (number(0, "lowest sector")?, number(1, "highest sector")?);
        let sectors = number(2, "sectors")?;
        if first > last || last >= sectors {
            return Err(format!(
                "TP, pattern {at} (from 0): sectors {first} to {last} are not on a track of {sectors}"
            ));
        }
        Ok(Pattern { first, last, sectors })
    });
    each.collect()
}

/// The entries of one list: ten words each, or eleven for a track, the last of which is its head.
fn entries(value: &Value, at: usize) -> Result<Vec<Entry>, String> {
    let Value::List(all) = value else {
        return Err(format!("IDX, list {at} (from 0) is no list"));
    };
    let (mut found, mut rest) = (Vec::new(), all.as_slice());
    while !rest.is_empty() {
        let (entry, taken) = entry(rest)
            .map_err(|why| format!("IDX, list {at}, entry {} (from 0): {why}", found.len()))?;
        found.push(entry);
        rest = &rest[taken..];
    }
    Ok(found)
}

fn entry(of: &[Value]) -> Result<(Entry, usize), String> {
    let at = |nth: usize| of.get(nth);
    let falls = whole(at(7), "cylrunlen", CYLINDERS)? < 0;
    let cylinders = whole(at(4), "cyllen", CYLINDERS)?;
    let child = |what: &str| whole(at(9), what, [0, 1 << 24]).map(|child| child as usize);
    let (of_what, taken) = match at(8) {
        Some(Value::Word(word)) if word == "TRACK" => {
            let head = whole(at(10), "head", [0, i64::from(u16::MAX)])? as u16;
            (Of::Track { pattern: child("the number of a track pattern")?, head }, 11)
        }
        Some(Value::Word(word)) if word == "IDX" => (Of::List(child("the number of a list")?), 10),
        _ => return Err("neither TRACK nor IDX in the ninth place".to_owned()),
    };
    let entry = Entry {
        block: whole(at(0), "lbn", BLOCKS)? as u64,
        cylinder: whole(at(1), "cyl", CYLINDERS)?,
        angle: angle(at(2), "off")?,
        each_blocks: whole(at(3), "len", [1, BLOCKS[1]])? as u64,
        each_cylinders: if falls { -cylinders } else { cylinders },
        each_angle: angle(at(5), "alen")?,
        blocks: whole(at(6), "runlen", BLOCKS)? as u64,
        of: of_what,
    };
    Ok((entry, taken))
}

fn slips(all: &[Value]) -> Result<Vec<[u64; 2]>, String> {
    let each = all.chunks(2).enumerate().map(|(at, one)| {
        let named = |why: String| format!("Slips, pair {at} (from 0): {why}");
        let first = whole(one.first(), "lbn", BLOCKS).map_err(named)? as u64;
        match one.get(1) {
            Some(Value::Number(count)) if *count < 0.0 => Err(named(format!(
                "a count of {count}, which makes up for slips before it, is not simulated"
            ))),
            count => Ok([first, whole(count, "count", [0, 1 << 32]).map_err(named)? as u64]),
        }
    });
    each.collect()
}

fn remaps(all: &[Value]) -> Result<Vec<Remap>, String> {
    let mut found = Vec::new();
    for (at, one) in all.chunks(6).enumerate() {
        let number = |nth: usize, what: &str, bounds: [i64; 2]| {
            whole(one.get(nth), what, bounds)
                .map_err(|why| format!("Remaps, row {at} (from 0): {why}"))
        };
        let first = number(0, "lbn", BLOCKS)? as u64;
        let cylinder = number(2, "cylinder", [0, CYLINDERS[1]])? as u32;
        let head = number(3, "head", [0, i64::from(u16::MAX)])? as u16;
        let sector = number(4, "sector", SECTORS)? as u32;
        for nth in 0..number(1, "len", SECTORS)? as u32 {
            let block = first + u64::from(nth);
            found.push(Remap { block, cylinder, head, sector: sector + nth });
        }
    }
    Ok(found)
}

impl Tree {
    /// Adds the runs of a list, for at most `most` blocks; returns its number of blocks.
    fn unfold(
        &self,
        runs: &mut Vec<TrackRun>,
        list: usize,
        place: Place,
        most: u64,
    ) -> Result<u64, String> {
        let of_list = |why: String| format!("IDX, list {list} (from 0): {why}");
        if place.depth > DEPTH_MOST {
            return Err(of_list("it is within itself".to_owned()));
        }
        let entries = self.lists.get(list).ok_or_else(|| of_list("there is none".to_owned()))?;
        let mut done = 0;
        for entry in entries {
            if done >= most {
                break;
            }
            if entry.block != done {
                let why = format!("an entry begins at block {}, where {done} is next", entry.block);
                return Err(of_list(why));
            }
            let blocks = entry.blocks.min(most - done);
            let at = place.then(entry.cylinder, entry.angle);
            match entry.of {
                Of::Track { pattern, head } => {
                    self.tracks(runs, entry, [pattern, head.into()], at, blocks)?;
                }
                Of::List(child) => self.repeat(runs, entry, child, at, blocks)?,
            }
            done += blocks;
        }
        Ok(done)
    }

    /// Adds the first `blocks` blocks of an entry that repeats a list.
    fn repeat(
        &self,
        runs: &mut Vec<TrackRun>,
        entry: &Entry,
        child: usize,
        at: Place,
        blocks: u64,
    ) -> Result<(), String> {
        for nth in 0..blocks.div_ceil(entry.each_blocks) {
            let part = (blocks - nth * entry.each_blocks).min(entry.each_blocks);
            let times = nth as i64;
            let at = at.then(times * entry.each_cylinders, times as f64 * entry.each_angle);
            let within = Place { depth: at.depth + 1, ..at };
            let found = self.unfold(runs, child, within, part)?;
            if found < part {
                return Err(format!(
                    "IDX, list {child} (from 0): it holds {found} blocks, where {part} are needed"
                ));
            }
        }
        Ok(())
    }

    /// Adds the first `blocks` blocks of an entry that repeats a track pattern.
    fn tracks(
        &self,
        runs: &mut Vec<TrackRun>,
        entry: &Entry,
        [pattern, head]: [usize; 2],
        at: Place,
        blocks: u64,
    ) -> Result<(), String> {
        let known = self.patterns.get(pattern);
        let pattern = known.ok_or_else(|| format!("TP has no pattern {pattern} (from 0)"))?;
        let room = u64::from(pattern.last - pattern.first) + 1;
        if entry.each_blocks > room {
            return Err(format!(
                "IDX: {} blocks of a track whose pattern has room for {room}",
                entry.each_blocks
            ));
        }
        let (full, part) = (blocks / entry.each_blocks, blocks % entry.each_blocks);
        for (first, tracks, of_each) in [(0, full, entry.each_blocks), (full, 1, part)] {
            if tracks == 0 || of_each == 0 {
                continue;
            }
            let times = first as i64;
            let at = at.then(times * entry.each_cylinders, first as f64 * entry.each_angle);
            let wrong = |_| format!("IDX: a track lies on cylinder {}", at.cylinder);
            let tracks = u32::try_from(tracks).map_err(|_| "IDX: too many tracks".to_owned())?;
            runs.push(TrackRun {
                cylinder: u32::try_from(at.cylinder).map_err(wrong)?,
                cylinder_step: i32::try_from(entry.each_cylinders).map_err(wrong)?,
                head: head as u16,
                tracks,
                sectors_per_track: pattern.sectors,
                first_sector: pattern.first,
                blocks_per_track: of_each as u32,
                angle: at.angle - libm::floor(at.angle),
                angle_step: entry.each_angle,
            });
        }
        if runs.len() > RUNS_MOST {
            return Err(format!("IDX: more than {RUNS_MOST} runs of tracks"));
        }
        Ok(())
    }
}

impl Place {
    /// Returns the place that is `cylinders` and an angle farther on.
    fn then(self, cylinders: i64, angle: f64) -> Self {
        Self { cylinder: self.cylinder + cylinders, angle: self.angle + angle, depth: self.depth }
    }
}

#[cfg(test)]
#[path = "layout_g4_tests.rs"]
mod tests;
