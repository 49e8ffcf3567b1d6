//! Where noise leaves many shapes alike: drives of all other shapes than those that the search ended with, which may explain the measurements as well.

use super::candidates::{best_of_each_shape, shapes};
use super::moved::Part;
use super::search::{Fitted, Pass, Search};
use super::seen::Seen;
use crate::Error;

/// All other shapes as they come, the nearest of them brought nearer.
const OTHERS: [Pass; 3] = [
    Pass { part: Part::All, kept: 12, rounds: 2, open_least: 0.01, is_rough: true },
    Pass { part: Part::All, kept: 6, rounds: 4, open_least: 0.01, is_rough: true },
    Pass { part: Part::All, kept: 4, rounds: 5, open_least: 0.01, is_rough: false },
];

impl Search<'_> {
    /// These, and the nearest drives of other shapes; the best first. Each other shape begins with what the best of these is as fast as.
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
