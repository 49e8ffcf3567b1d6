//! Candidates: shapes are first selected by the reads, and then by the writes.

use super::moved::Part;
use super::search::{Fitted, Pass, Search, distinct, reads_the_same, writes};
use super::seen::{BATCHES, CHANNELS, DIES, Seen};
use crate::Error;
use ioscape_schema::statistics::sort_by_number;

/// Passes over the reads for each kind of start: many shapes roughly, and some well. Then follow
/// the passes over the best of all starts.
pub const READING: [Pass; 3] = [
    Pass { part: Part::Reads, kept: 40, rounds: 2, open_least: 0.01, is_rough: true },
    Pass { part: Part::Reads, kept: 15, rounds: 3, open_least: 0.01, is_rough: true },
    Pass { part: Part::Reads, kept: 6, rounds: 6, open_least: 0.01, is_rough: false },
];
const READ: [Pass; 2] = [
    Pass { part: Part::Reads, kept: 5, rounds: 10, open_least: 0.01, is_rough: false },
    Pass { part: Part::Reads, kept: 16, rounds: 10, open_least: 0.001, is_rough: false },
];
/// As [`READ`], for measurements with noise: many candidates explain them equally well, and no
/// number of simulations distinguishes these.
const READ_NOISY: [Pass; 2] = [
    Pass { part: Part::Reads, kept: 5, rounds: 10, open_least: 0.01, is_rough: false },
    Pass { part: Part::Reads, kept: 6, rounds: 10, open_least: 0.001, is_rough: false },
];
/// Pass over other shapes that read like the best [`OTHERS_OF`] candidates; `kept` limits the
/// number of all candidates.
const OTHERS: Pass =
    Pass { part: Part::Reads, kept: 24, rounds: 4, open_least: 0.001, is_rough: false };
const OTHERS_OF: usize = 3;
/// With exact measurements, this many candidates are fitted more closely, to see which explain
/// them.
const SETTLED: usize = 12;
/// Drives of one shape count as different if a time or rate differs by this factor.
const DIFFERENT: f64 = 1.1;
/// Most candidates that go on to the writes.
const READERS_MOST: usize = 32;
/// Most starts for the writes, of all shapes together.
const STARTS: usize = 32;
/// Candidates for the writes whose score is worse by more are dropped. This is more than at the end
/// of a search, since the steps to come may still bring a candidate nearer.
const FARTHEST: f64 = 60.0;
/// Passes over the writes: all starts, then the best. Nothing is simulated roughly: reads overtake
/// writes that wait for room, and with few large requests left, the throughput is off by up to
/// half, which is more than the difference between shapes.
const WRITING: [Pass; 2] = [
    Pass { part: Part::Writes, kept: STARTS, rounds: 2, open_least: 0.01, is_rough: false },
    Pass { part: Part::Writes, kept: 12, rounds: 4, open_least: 0.01, is_rough: false },
];
/// For measurements with noise: passes over the best of all starts of [`SHAPES_NOISY`] shapes.
const WRITING_NOISY: [Pass; 3] = [
    Pass { part: Part::Writes, kept: 10, rounds: 2, open_least: 0.01, is_rough: true },
    Pass { part: Part::Writes, kept: 5, rounds: 4, open_least: 0.01, is_rough: true },
    Pass { part: Part::Writes, kept: 2, rounds: 8, open_least: 0.01, is_rough: false },
];
const SHAPES_NOISY: usize = 4;

/// All shapes to try: channels, dies per channel, and pages that a die programs at once.
pub fn shapes() -> impl Iterator<Item = [u32; 3]> {
    let dies = |channels| DIES.map(|dies| [channels, dies]);
    let all = CHANNELS.into_iter().flat_map(dies);
    all.flat_map(|[channels, dies]| BATCHES.map(|batch| [channels, dies, batch]))
}

/// Keeps the best drive of each shape.
pub fn best_of_each_shape(found: Vec<Fitted>, search: &Search<'_>) -> Vec<Fitted> {
    best_of_each(found, search, |one, other| one.shape() == other.shape())
}

/// Keeps the best drive of each shape and of each way to explain the measurements: for example, the
/// dies or the channels may limit reads.
fn best_of_each_way(found: Vec<Fitted>, search: &Search<'_>) -> Vec<Fitted> {
    let is_near = |one: &Fitted, other: &Fitted| {
        let [mut ours, mut theirs] = [one, other].map(|one| one.parameters.clone());
        Part::All.moved(&one.parameters, search.writes).all(|moved| {
            let ratio = *(moved.of)(&mut ours) / *(moved.of)(&mut theirs);
            ratio.ln().abs() < DIFFERENT.ln()
        })
    };
    best_of_each(found, search, |one, other| one.shape() == other.shape() && is_near(one, other))
}

/// The best drive of each shape, then the second best of each, and so on, so that many ways of one
/// shape leave room for the other shapes.
fn shape_by_shape(found: Vec<Fitted>, search: &Search<'_>) -> Vec<Fitted> {
    in_turns(best_of_each_way(found, search))
}

/// The first of each shape, then the second of each, and so on.
fn in_turns(mut left: Vec<Fitted>) -> Vec<Fitted> {
    let mut sorted: Vec<Fitted> = Vec::new();
    while !left.is_empty() {
        let mut met: Vec<[u32; 3]> = Vec::new();
        let (mut next, later) = left.into_iter().partition(|one| {
            let is_first = !met.contains(&one.shape());
            met.push(one.shape());
            is_first
        });
        sorted.append(&mut next);
        left = later;
    }
    sorted
}

/// Keeps the best of the drives that `is_same` calls equal.
fn best_of_each(
    mut found: Vec<Fitted>,
    search: &Search<'_>,
    is_same: impl Fn(&Fitted, &Fitted) -> bool,
) -> Vec<Fitted> {
    sort_by_number(&mut found, |one| search.score(one));
    let mut best: Vec<Fitted> = Vec::new();
    for one in found {
        if best.iter().all(|other| !is_same(&one, other)) {
            best.push(one);
        }
    }
    best
}

impl Search<'_> {
    /// Drives that explain the reads, the best of each way to do so.
    pub fn readers(&mut self, seen: &Seen) -> Result<Vec<Fitted>, Error> {
        let mut found = Vec::new();
        for is_narrow in [false, true] {
            self.pass = &READING[0];
            let starts = shapes().map(|shape| seen.reader(shape, is_narrow));
            let mut some = starts.map(|start| self.judged(start)).collect::<Result<_, _>>()?;
            self.through(&READING, &mut some)?;
            found.append(&mut some);
        }
        found = best_of_each_shape(found, self);
        let read = if self.is_exact { &READ } else { &READ_NOISY };
        self.through(&read[..1], &mut found)?;
        let others = found.iter().flat_map(|one| seen.otherwise_limited(&one.parameters));
        let others = others.map(|other| self.descend(other)).collect::<Result<Vec<_>, _>>()?;
        found.extend(others);
        self.through(&read[1..], &mut found)?;
        self.drop_unlikely(&mut found);
        let best = if self.is_exact { best_of_each_way } else { best_of_each_shape };
        Ok(best(found, self))
    }

    /// Adds drives of other shapes that explain the reads as well as the best: if the link or the
    /// channels limit all reads, these do not show the dies.
    pub fn other_shapes(&mut self, mut found: Vec<Fitted>) -> Result<Vec<Fitted>, Error> {
        self.pass = &OTHERS;
        let mut others = Vec::new();
        for one in found.iter().take(OTHERS_OF) {
            for shape in shapes().filter(|shape| *shape != one.shape()) {
                others.push(self.judged(Seen::shaped(&one.parameters, shape))?);
            }
        }
        sort_by_number(&mut others, |one| self.score(one));
        others = best_of_each_way(distinct(others), self);
        others.truncate(OTHERS.kept.saturating_sub(found.len()));
        for other in others {
            found.push(self.descend(other.parameters)?);
        }
        found = best_of_each_way(found, self);
        self.drop_unlikely(&mut found);
        for one in found.iter_mut().take(SETTLED) {
            *one = self.nearer(one.clone())?;
        }
        found = best_of_each_way(found, self);
        self.drop_unlikely(&mut found);
        self.with_batches(found)
    }

    /// Adds drives that read the same, but whose dies program another number of pages at once.
    fn with_batches(&self, found: Vec<Fitted>) -> Result<Vec<Fitted>, Error> {
        let mut all = Vec::new();
        for one in found {
            let [channels, dies, batch] = one.shape();
            for pages in BATCHES.into_iter().filter(|pages| *pages != batch) {
                let other = self.judged(Seen::shaped(&one.parameters, [channels, dies, pages]))?;
                if reads_the_same(&one, &other) {
                    all.push(other);
                }
            }
            all.push(one);
        }
        all = shape_by_shape(all, self);
        all.truncate(READERS_MOST);
        Ok(all)
    }

    /// Drives that explain the writes, too, for measurements with noise.
    pub fn writers(&mut self, seen: &Seen, readers: &[Fitted]) -> Result<Vec<Fitted>, Error> {
        self.pass = &WRITING_NOISY[0];
        let starts = readers.iter().take(SHAPES_NOISY);
        let starts = starts.flat_map(|one| seen.writers(&one.parameters));
        let mut found = starts.map(|start| self.judged(start)).collect::<Result<_, _>>()?;
        self.through(&WRITING_NOISY, &mut found)?;
        Ok(found)
    }

    /// Drives that explain the writes, too, for exact measurements: the likeliest of each shape,
    /// then of each other way within a shape.
    pub fn writers_exactly(
        &mut self,
        seen: &Seen,
        readers: &[Fitted],
    ) -> Result<Vec<Fitted>, Error> {
        let mut found = Vec::new();
        self.pass = &WRITING[0];
        for reader in readers {
            // The residuals of workloads that only read are known.
            let mut read = reader.residuals.iter().copied();
            let each = self.trials.measured.iter();
            let known: Vec<f64> =
                each.map(|m| if writes(m) { 0.0 } else { read.next().unwrap_or(0.0) }).collect();
            for start in seen.writers(&reader.parameters) {
                found.push(self.judged_as(&known, start)?);
            }
        }
        found = shape_by_shape(found, self);
        found.truncate(STARTS);
        self.descend_each(&mut found)?;
        self.pass = &WRITING[1];
        found = shape_by_shape(found, self);
        found.truncate(WRITING[1].kept);
        self.descend_each(&mut found)?;
        let least = found.first().map_or(0.0, |best| self.score(best));
        found.retain(|one| self.score(one) < least + FARTHEST);
        Ok(shape_by_shape(found, self))
    }

    /// Descends from each drive, and sorts them by score.
    fn descend_each(&self, found: &mut [Fitted]) -> Result<(), Error> {
        for one in found.iter_mut() {
            *one = self.descend_from(one.clone())?;
        }
        sort_by_number(found, |one| self.score(one));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Drives of these shapes, each with this residual.
    fn drives(all: &[([u32; 3], f64)]) -> Vec<Fitted> {
        let mut shipped = crate::ssd::find("generic-ssd").expect("it is shipped");
        shipped.flash.planes_per_die = None;
        let one = |(shape, residual): &([u32; 3], f64)| {
            Fitted::new(Seen::shaped(&shipped, *shape), vec![*residual])
        };
        all.iter().map(one).collect()
    }

    fn told(found: &[Fitted]) -> Vec<([u32; 3], f64)> {
        found.iter().map(|one| (one.shape(), one.residuals[0])).collect()
    }

    #[test]
    fn many_ways_of_one_shape_leave_room_for_the_other_shapes() {
        let [a, b, c] = [[1, 8, 1], [2, 4, 1], [2, 4, 2]];
        let all = [(a, 0.1), (a, 0.2), (b, 0.3), (a, 0.4), (c, 0.5), (b, 0.6)];
        let turns = [(a, 0.1), (b, 0.3), (c, 0.5), (a, 0.2), (b, 0.6), (a, 0.4)];
        assert_eq!(told(&in_turns(drives(&all))), turns);
    }

    #[test]
    fn of_drives_that_differ_only_in_what_reads_do_not_tell_one_is_kept() {
        let all = [([1, 8, 1], 0.1), ([1, 8, 2], 0.1), ([2, 4, 1], 0.1), ([1, 8, 4], 0.2)];
        assert_eq!(told(&distinct(drives(&all))), [all[0], all[2], all[3]]);
    }
}
