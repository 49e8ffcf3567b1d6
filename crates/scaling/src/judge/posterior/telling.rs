//! Which measurement would tell most about the number of levels.

use super::Posterior;
use super::law::{Fit, Observed};
use super::search::{Hypothesis, OPERATIONS};
use ioscape_schema::BorderOperation;

/// Standard deviations from the law from which on a point measured once is measured again.
const SUSPECT: f64 = 2.5;
/// Rounds from which on a point is no longer suspect.
const CONFIRMED: usize = 3;
/// Probability of the most probable number from which on nothing more is asked.
const DECIDED: f64 = 0.99;
/// Least expected gain, in log odds, that is worth a measurement.
const GAIN_LEAST: f64 = 0.1;
/// Measurements made before the posterior is asked again.
const AT_ONCE: usize = 4;
/// Neighbouring sets closer than this, in log bytes, leave no room for one between.
const NARROW: f64 = 0.04;

/// A measurement that would tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Telling {
    /// Whose curve it lies on.
    pub operation: BorderOperation,
    /// The set, in bytes.
    pub unique_bytes: f64,
}

/// What one more round adds to the precision of a point's mean.
fn precision_gained(point: &Observed) -> f64 {
    let variance = |rounds: f64| point.scatter.powi(2) / rounds + super::LAW.powi(2);
    let rounds = point.rounds as f64;
    variance(rounds + 1.0).recip() - variance(rounds.max(1.0)).recip()
}

impl Posterior {
    /// Points that depart from the law of the most probable number of levels, or would from that of one less, and were not
    /// repeated enough to be believed; those that depart most come first.
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
            for point in self.curves.of(operation).iter().filter(|p| p.rounds < CONFIRMED) {
                let departs = fits.iter().map(|fit| departure(fit, point)).fold(0.0, f64::max);
                if departs > SUSPECT * point.rounds as f64 {
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
        let tells = OPERATIONS.into_iter().flat_map(|of| self.gains(of, one, other));
        first(tells.filter(|(gain, _)| *gain >= GAIN_LEAST).collect())
    }

    /// Expected gains of measurements of one curve: its points again, and sets between them.
    fn gains(
        &self,
        operation: BorderOperation,
        first: &Hypothesis,
        second: &Hypothesis,
    ) -> Vec<(f64, Telling)> {
        let laws = [first, second].map(|h| self.curves.fit(operation, &h.ends, None));
        let apart = |log_set: f64| laws[0].log_time(log_set) - laws[1].log_time(log_set);
        let points = self.curves.of(operation);
        let gain = |log_set: f64, precision: f64| {
            let telling = Telling { operation, unique_bytes: log_set.exp() };
            (0.5 * apart(log_set).powi(2) * precision, telling)
        };
        let again = points.iter().map(|p| gain(p.log_set, precision_gained(p)));
        let between = points.windows(2).filter(|w| w[1].log_set - w[0].log_set > NARROW).map(|w| {
            let middle = 0.5 * (w[0].log_set + w[1].log_set);
            gain(middle, (w[0].scatter.powi(2) + super::LAW.powi(2)).recip())
        });
        again.chain(between).collect()
    }

    /// The next measurements to make; none when nothing is in doubt or nothing would tell.
    pub(crate) fn telling(&self) -> Vec<Telling> {
        let suspects = self.suspects();
        if suspects.is_empty() { self.between_rivals() } else { suspects }
    }
}

/// The first few, those of largest score first.
fn first(mut found: Vec<(f64, Telling)>) -> Vec<Telling> {
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().take(AT_ONCE).map(|f| f.1).collect()
}

/// Distance of a point from a law, in standard deviations.
fn departure(fit: &Fit, point: &Observed) -> f64 {
    ((point.log_time - fit.log_time(point.log_set)) / point.sigma).abs()
}
