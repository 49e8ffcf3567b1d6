//! Which measurement would tell most about the number of levels.

use super::Posterior;
use super::ends::{LevelEnd, OPERATIONS};
use super::law::{Fit, Observed};
use crate::statistics::median_error;
use ioscape_schema::BorderOperation;
use ioscape_schema::statistics::sort_by_number;

/// A point measured once that is off the law by more standard deviations than this is measured
/// again.
const SUSPECT: f64 = 2.5;
/// Number of rounds at which a point is no longer suspect.
const CONFIRMED: usize = 3;
/// Nothing more is asked once the most probable number has this probability.
const DECIDED: f64 = 0.998;
/// Least expected gain, in log odds, that is worth a measurement.
const GAIN_LEAST: f64 = 0.03;
/// A measurement that promises less than this share of the best one is left out.
const WORTH: f64 = 0.25;
/// Measurements made before the posterior is asked again.
const AT_ONCE: usize = 4;
/// Neighbouring sets closer than this, in log bytes, leave no room for one between.
const NARROW: f64 = 0.04;

/// A measurement that would help to tell the number of levels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Telling {
    /// The requests on whose curve it lies.
    pub operation: BorderOperation,
    /// The set, in bytes.
    pub unique_bytes: f64,
}

/// What is expected of a measurement.
#[derive(Clone, Copy, Debug)]
struct Gain {
    /// Log odds between the rivals.
    expected: f64,
    /// Whether the rivals with more levels predict this set to be slower than the one with fewer
    /// does.
    is_slower: bool,
    telling: Telling,
}

/// What one more round adds to the precision of a point's median; rounds while its cache was
/// filling do not count.
fn precision_gained(point: &Observed) -> f64 {
    if point.filling {
        return precision_of_one(point);
    }
    let precision = |rounds| (point.scatter * median_error(rounds)).hypot(super::LAW).powi(-2);
    (precision(point.rounds + 1) - precision(point.rounds)).max(0.0)
}

/// Precision of a point measured once, as noisy as this one.
fn precision_of_one(point: &Observed) -> f64 {
    (point.scatter.powi(2) + super::LAW.powi(2)).recip()
}

impl Posterior {
    /// Returns the size, in ln(bytes), below which sets can be measured with a full cache. It is
    /// infinite unless some sets were still being read in and none as large ever was in.
    fn reach(&self) -> f64 {
        let all = || self.curves.points.iter().flatten();
        let filling = all().filter(|p| p.filling).map(|p| p.log_set);
        let least = filling.fold(f64::INFINITY, f64::min);
        let comes_in = all().any(|p| !p.filling && p.log_set >= least);
        if comes_in { f64::INFINITY } else { least }
    }

    /// Returns points that were not repeated enough to be believed, the largest departures first.
    ///
    /// They depart from the law of the most probable number of levels or of one fewer, or waited
    /// where memory ought to have served them.
    fn suspects(&self) -> Vec<Telling> {
        let Some((_, best)) = self.ranked().first().copied() else { return Vec::new() };
        let fewer = self.counts.iter().find(|(_, h)| h.ends.len() + 1 == best.ends.len());
        let laws = [Some(best), fewer.map(|(_, h)| h)];
        let mut found: Vec<(f64, Telling)> = Vec::new();
        for operation in OPERATIONS {
            let fits: Vec<Fit> = laws
                .into_iter()
                .flatten()
                .map(|law| self.curves.fit(operation, &law.ends, None))
                .collect();
            let own = best.ends.iter().find(|end| end.of.has(operation));
            let first = own.map_or(f64::INFINITY, |end| end.log_bytes);
            let few = |p: &&Observed| p.rounds < CONFIRMED && !p.filling;
            for point in self.curves.of(operation).iter().filter(few) {
                let departs = fits.iter().map(|fit| departure(fit, point)).fold(0.0, f64::max);
                // Where memory ought to have served it, it had nothing to wait for.
                let has_waited = point.waited && point.log_set < first;
                if has_waited || departs > SUSPECT * point.rounds as f64 {
                    found.push((departs, Telling { operation, unique_bytes: point.log_set.exp() }));
                }
            }
        }
        first(found)
    }

    /// The measurements in which the two most probable numbers of levels differ most.
    fn between_rivals(&self) -> Vec<Telling> {
        let ranked = self.ranked();
        let [(probability, one), (_, other), ..] = ranked[..] else { return Vec::new() };
        if *probability >= DECIDED {
            return Vec::new();
        }
        let (more, fewer) =
            if one.ends.len() > other.ends.len() { (one, other) } else { (other, one) };
        let own = [(1.0, more.ends.clone())];
        let rivals = if more.ways.is_empty() { &own[..] } else { &more.ways };
        let tells = OPERATIONS.into_iter().flat_map(|of| self.gains(of, &fewer.ends, rivals));
        both_sides(tells.filter(|gain| gain.expected >= GAIN_LEAST).collect())
    }

    /// Expected gains of measurements of one curve: its points again, and sets between them.
    fn gains(
        &self,
        operation: BorderOperation,
        ends: &[LevelEnd],
        rivals: &[(f64, Vec<LevelEnd>)],
    ) -> Vec<Gain> {
        let law = self.curves.fit(operation, ends, None);
        let other = |(weight, ends): &(f64, Vec<LevelEnd>)| {
            (*weight, self.curves.fit(operation, ends, Some(&law)))
        };
        let others: Vec<(f64, Fit)> = rivals.iter().map(other).collect();
        let points = self.curves.of(operation);
        let gain = |log_set: f64, precision: f64| {
            let at = law.log_time(log_set);
            let apart = |(weight, fit): &(f64, Fit)| (*weight, fit.log_time(log_set) - at);
            let apart: Vec<(f64, f64)> = others.iter().map(apart).collect();
            Gain {
                expected: 0.5 * precision * apart.iter().map(|(w, by)| w * by * by).sum::<f64>(),
                is_slower: apart.iter().map(|(w, by)| w * by).sum::<f64>() > 0.0,
                telling: Telling { operation, unique_bytes: log_set.exp() },
            }
        };
        let again = points.iter().map(|p| (p.log_set, precision_gained(p)));
        let between = points.windows(2).filter(|w| w[1].log_set - w[0].log_set > NARROW).map(|w| {
            let middle = 0.5 * (w[0].log_set + w[1].log_set);
            (middle, precision_of_one(&w[0]))
        });
        let reach = self.reach();
        let within = again.chain(between).filter(|(log_set, _)| *log_set < reach);
        within.map(|(log_set, precision)| gain(log_set, precision)).collect()
    }

    /// Returns the next measurements to make; empty if nothing is in doubt or nothing would tell.
    pub(crate) fn telling(&self) -> Vec<Telling> {
        let suspects = self.suspects();
        if suspects.is_empty() { self.between_rivals() } else { suspects }
    }
}

/// The first few, those of largest score first.
fn first(mut found: Vec<(f64, Telling)>) -> Vec<Telling> {
    sort_by_number(&mut found, |one| -one.0);
    found.into_iter().take(AT_ONCE).map(|f| f.1).collect()
}

/// Picks the first few in turn from both sides of what is in doubt, since a level shows only in the
/// difference; none that promises much less than the best.
fn both_sides(mut found: Vec<Gain>) -> Vec<Telling> {
    sort_by_number(&mut found, |one| -one.expected);
    let least = found.first().map_or(0.0, |best| WORTH * best.expected);
    found.retain(|gain| gain.expected >= least);
    let (slower, faster): (Vec<Gain>, Vec<Gain>) = found.iter().partition(|gain| gain.is_slower);
    let mut sides = [slower.into_iter(), faster.into_iter()];
    let mut chosen = Vec::new();
    while chosen.len() < AT_ONCE {
        let pair: Vec<Telling> =
            sides.iter_mut().filter_map(Iterator::next).map(|gain| gain.telling).collect();
        if pair.is_empty() {
            break;
        }
        chosen.extend(pair);
    }
    chosen
}

/// Distance of a point from a law, in standard deviations.
fn departure(fit: &Fit, point: &Observed) -> f64 {
    ((point.log_time - fit.log_time(point.log_set)) / point.sigma).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_what_is_in_doubt_are_measured_in_turn() {
        let gain = |expected: f64, is_slower| Gain {
            expected,
            is_slower,
            telling: Telling { operation: BorderOperation::Read, unique_bytes: expected },
        };
        let found =
            [(2.0, true), (1.9, true), (1.8, true), (1.0, false), (0.9, false), (0.1, false)];
        let chosen = both_sides(found.into_iter().map(|(e, side)| gain(e, side)).collect());
        let sets: Vec<f64> = chosen.iter().map(|t| t.unique_bytes).collect();
        assert_eq!(sets, [2.0, 1.0, 1.9, 0.9], "and the one of 0.1 promises too little");
        let one_side = both_sides(found[..3].iter().map(|&(e, side)| gain(e, side)).collect());
        assert_eq!(one_side.len(), 3);
    }
}
