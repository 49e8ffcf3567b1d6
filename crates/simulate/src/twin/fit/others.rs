//! With noise, many shapes explain the measurements equally well: looks for drives of other shapes
//! than those that the search ended with.

use super::candidates::{best_of_each_shape, shapes};
use super::moved::Part;
use super::search::{Fitted, Pass, Search};
use super::seen::Seen;
use crate::Error;

/// Passes over the other shapes: fewer and fewer of the nearest are fitted more and more closely.
const OTHERS: [Pass; 3] = [
    Pass { part: Part::All, kept: 12, rounds: 2, open_least: 0.01, is_rough: true },
    Pass { part: Part::All, kept: 6, rounds: 4, open_least: 0.01, is_rough: true },
    Pass { part: Part::All, kept: 4, rounds: 5, open_least: 0.01, is_rough: false },
];

impl Search<'_> {
    /// Adds the nearest drives of other shapes, and sorts all, the best first. Each other shape
    /// starts with drives as fast as the best of `found`.
    pub fn with_others(&mut self, mut found: Vec<Fitted>) -> Result<Vec<Fitted>, Error> {
        let Some(best) = found.first().cloned() else { return Ok(found) };
        let pass = self.pass;
        self.pass = &OTHERS[0];
        let mut others = Vec::new();
        for shape in shapes().filter(|shape| found.iter().all(|one| one.shape() != *shape)) {
            for start in Seen::as_fast(&best.parameters, shape) {
                others.push(self.judged(start)?);
            }
        }
        others = best_of_each_shape(others, self);
        self.through(&OTHERS, &mut others)?;
        self.pass = pass;
        found.extend(others);
        Ok(best_of_each_shape(found, self))
    }
}
