//! Candidates: shapes by what was read, and from these by what was written.

use super::moved::Part;
use super::search::{Fitted, Pass, Search};
use super::seen::{BATCHES, CHANNELS, DIES, Seen};
use crate::Error;
use ioscape_schema::statistics::sort_by_number;

/// Many shapes roughly, some well: with what was read, for each kind of start, and the best of all.
pub const READING: [Pass; 3] = [
    Pass { part: Part::Reads, kept: 40, rounds: 2, open_least: 0.01, is_rough: true },
    Pass { part: Part::Reads, kept: 15, rounds: 3, open_least: 0.01, is_rough: true },
    Pass { part: Part::Reads, kept: 6, rounds: 6, open_least: 0.01, is_rough: false },
];
const READ: [Pass; 2] = [
    Pass { part: Part::Reads, kept: 5, rounds: 10, open_least: 0.01, is_rough: false },
    Pass { part: Part::Reads, kept: 16, rounds: 10, open_least: 0.001, is_rough: false },
];
/// The same where the measurements leave something open: many candidates explain them alike, and no number of simulations tells these apart.
const READ_NOISY: [Pass; 2] = [
    Pass { part: Part::Reads, kept: 5, rounds: 10, open_least: 0.01, is_rough: false },
    Pass { part: Part::Reads, kept: 6, rounds: 10, open_least: 0.001, is_rough: false },
];
/// Other shapes that read as the best ones do: of so many of these, and so many in all.
const OTHERS: Pass =
    Pass { part: Part::Reads, kept: 24, rounds: 4, open_least: 0.001, is_rough: false };
const OTHERS_OF: usize = 3;
/// So many of them are brought nearer where all was measured exactly, to see which explain it.
const SETTLED: usize = 12;
/// Drives of one shape are different ones if a time or rate is so many times as large.
const DIFFERENT: f64 = 1.1;
/// What was written: so many starts of all shapes together, and at least so many of each.
const STARTS: usize = 32;
const STARTS_LEAST: usize = 2;
/// The first for each shape, then the best of each; the rest for all.
const WRITING: [Pass; 2] = [
    Pass { part: Part::Writes, kept: STARTS, rounds: 2, open_least: 0.01, is_rough: true },
    Pass { part: Part::Writes, kept: 8, rounds: 4, open_least: 0.01, is_rough: true },
];
/// Where the measurements leave something open, the best of all starts of so many shapes.
const WRITING_NOISY: [Pass; 3] = [
    Pass { part: Part::Writes, kept: 10, rounds: 2, open_least: 0.01, is_rough: true },
    Pass { part: Part::Writes, kept: 5, rounds: 4, open_least: 0.01, is_rough: true },
    Pass { part: Part::Writes, kept: 2, rounds: 8, open_least: 0.01, is_rough: false },
];
const SHAPES_NOISY: usize = 4;

/// All shapes that are tried: channels, dies of a channel, and pages that a die programs at once.
pub fn shapes() -> impl Iterator<Item = [u32; 3]> {
    let dies = |channels| DIES.map(|dies| [channels, dies]);
    let all = CHANNELS.into_iter().flat_map(dies);
    all.flat_map(|[channels, dies]| BATCHES.map(|batch| [channels, dies, batch]))
}

/// The best of each shape.
pub fn best_of_each_shape(found: Vec<Fitted>, search: &Search<'_>) -> Vec<Fitted> {
    best_of_each(found, search, |one, other| one.shape() == other.shape())
}

/// The best of each shape and, within it, of each way to explain what was measured: the dies may be what limits reads, or the channels.
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

/// The best of those that are the same.
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
    /// Drives that explain what was read, the best of each way to do so.
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

    /// These, and drives of other shapes that explain what was read as well as the best: where the link or the channels limit all reads, these do
    /// not tell the dies.
    pub fn other_shapes(&mut self, mut found: Vec<Fitted>) -> Result<Vec<Fitted>, Error> {
        self.pass = &OTHERS;
        let mut others = Vec::new();
        for one in found.iter().take(OTHERS_OF) {
            for shape in shapes().filter(|shape| *shape != one.shape()) {
                others.push(self.judged(Seen::shaped(&one.parameters, shape))?);
            }
        }
        others = best_of_each_way(others, self);
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
        Ok(found)
    }

    /// Drives that explain what was written, too, where the measurements leave something open.
    pub fn writers(&mut self, seen: &Seen, readers: &[Fitted]) -> Result<Vec<Fitted>, Error> {
        self.pass = &WRITING_NOISY[0];
        let starts = readers.iter().take(SHAPES_NOISY);
        let starts = starts.flat_map(|one| seen.writers(&one.parameters));
        let mut found = starts.map(|start| self.judged(start)).collect::<Result<_, _>>()?;
        self.through(&WRITING_NOISY, &mut found)?;
        Ok(found)
    }

    /// The same where all was measured exactly: the likeliest of each way to explain it roughly.
    pub fn writers_exactly(
        &mut self,
        seen: &Seen,
        readers: &[Fitted],
    ) -> Result<Vec<Fitted>, Error> {
        let mut found = Vec::new();
        for reader in readers {
            self.pass = &WRITING[0];
            let starts = seen.writers(&reader.parameters).into_iter();
            let mut some: Vec<Fitted> =
                starts.map(|start| self.judged(start)).collect::<Result<_, _>>()?;
            sort_by_number(&mut some, |one| self.score(one));
            some.truncate((STARTS / readers.len()).max(STARTS_LEAST));
            self.through(&WRITING[..1], &mut some)?;
            // The next best start may lead farther.
            some.truncate(2);
            found.append(&mut some);
        }
        self.through(&WRITING[1..], &mut found)?;
        Ok(best_of_each_way(found, self))
    }
}
