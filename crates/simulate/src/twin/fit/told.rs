//! What the measurements determine about a fitted drive, and what they leave open.

use super::search::{Ended, Fitted, Looked, Search, beside, far, scaled, writes};
use crate::Error;
use ioscape_schema::statistics::sort_by_number;

/// Relative error of a throughput whose times are whole nanoseconds.
pub const WHOLE_NS: f64 = 1e-4;
/// A time or rate counts as determined if it is known to within this factor with 95 % certainty
/// (the second factor if all measurements are exact).
const TOLD: f64 = 1.5;
const TOLD_EXACTLY: f64 = 1.02;
/// Largest residual that counts as explained, in multiples of its uncertainty.
const STUCK: f64 = 5.0;
/// Candidates whose scores differ by less explain the measurements equally well: one is at most e^3
/// = 20 times as likely as the other.
const ALIKE: f64 = 6.0;
/// The numbers that reads do not determine on a drive with one channel. Pages pass the channel and
/// then the link, and large reads show only the slower of the two, so the two may be exchanged
/// while the command time makes up for the difference.
const BESIDE_ONE_CHANNEL: [&str; 3] =
    ["flash.channel_bytes_per_s", "controller.command_ms", "controller.link_bytes_per_s"];

impl Search<'_> {
    /// Completes the best drive with what the measurements determine, and why the search ended with
    /// it.
    pub fn told(&self, best: Option<Fitted>, looked: Looked) -> Result<Fitted, Error> {
        let best = best.ok_or_else(|| Error::Configuration("no shape was tried".to_owned()))?;
        let untold = self.untold(&best, self.is_exact)?;
        let is_explained = match self.is_exact {
            true => self.explains(&best)?,
            false => [false, true].iter().all(|w| self.unexplained(&best.residuals, *w) == 0.0),
        };
        let ended = if is_explained { Ended::Explained } else { Ended::Tried };
        Ok(Fitted { looked, untold, ended, simulated: self.trials.simulated.get(), ..best })
    }

    /// Divides the other shapes that were fitted to all measurements into those as likely as the
    /// best and those less likely.
    pub fn looked(&self, found: &[Fitted]) -> Looked {
        let mut scores: Vec<(f64, [u32; 3])> =
            found.iter().map(|one| (self.score(one), one.shape())).collect();
        sort_by_number(&mut scores, |one| one.0);
        let least = scores.first().map_or(0.0, |(score, _)| *score);
        let (alike, others): (Vec<_>, Vec<_>) =
            scores.into_iter().skip(1).partition(|(score, _)| *score < least + ALIKE);
        let [as_good, farther] =
            [alike, others].map(|some| some.into_iter().map(|(_, shape)| shape).collect());
        Looked::Near { as_good, farther }
    }

    /// The possible shapes if all measurements are exact, from these drives, the best first: a
    /// drive that explains them to the last nanosecond is the only one.
    pub fn alike(&self, found: &[Fitted]) -> Result<Looked, Error> {
        let Some(best) = found.first() else { return Ok(Looked::Everywhere) };
        if explains_exactly(best) || !self.explains(best)? {
            return Ok(Looked::Everywhere);
        }
        let mut as_good = Vec::new();
        for one in found.iter().filter(|one| one.shape() != best.shape()) {
            if !as_good.contains(&one.shape()) && self.explains(one)? {
                as_good.push(one.shape());
            }
        }
        Ok(Looked::Alike { as_good })
    }

    /// Whether a drive explains exact measurements, except for discontinuous effects.
    pub fn explains(&self, one: &Fitted) -> Result<bool, Error> {
        let open = beside(&self.known_exactly(), &self.ways(one, TOLD_EXACTLY.ln())?.rough());
        Ok(!is_stuck(&one.residuals, &open))
    }

    /// The times and rates that the measurements do not determine, from the change of the residuals
    /// with each.
    pub fn untold(&self, of: &Fitted, is_exact: bool) -> Result<Vec<&'static str>, Error> {
        let factor: f64 = if is_exact { TOLD_EXACTLY } else { TOLD };
        let ways = self.ways(of, factor.ln())?;
        let all = self.moved(&of.parameters);
        if is_exact && !explains_exactly(of) {
            // The true drive may be another one, however sensitive the residuals are to these
            // numbers.
            return Ok(all.map(|moved| moved.name).collect());
        }
        let open = if is_exact {
            self.open_beside(&of.residuals, beside(&self.known_exactly(), &ways.rough()))
        } else {
            self.open(&of.residuals)
        };
        let has_one = of.parameters.flash.channels == 1;
        let is_open = |name: &str, known: f64| {
            known > factor.ln() || has_one && BESIDE_ONE_CHANNEL.contains(&name)
        };
        let untold = all.zip(ways.known_to(&open)).filter(|(one, known)| is_open(one.name, *known));
        Ok(untold.map(|(moved, _)| moved.name).collect())
    }

    /// The uncertainty of each residual if all measurements are exact: `open` (which includes
    /// roughness), combined with the remaining unexplained error of all workloads of its kind,
    /// reads or writes.
    fn open_beside(&self, residuals: &[f64], open: Vec<f64>) -> Vec<f64> {
        let stuck = [false, true].map(|kind| {
            let all = residuals
                .iter()
                .zip(&open)
                .zip(&self.trials.measured)
                .filter(|(_, m)| writes(m) == kind);
            let more: Vec<f64> =
                all.map(|((r, open), _)| (r.abs() - 2.0 * open).max(0.0)).collect();
            far(&more)
        });
        self.trials
            .measured
            .iter()
            .zip(open)
            .map(|(m, open)| open.hypot(stuck[usize::from(writes(m))]))
            .collect()
    }
}

/// Whether a drive fails to explain exact measurements, so that it cannot be the right one.
fn is_stuck(residuals: &[f64], open: &[f64]) -> bool {
    scaled(residuals, open).iter().any(|z| z.abs() > STUCK)
}

/// Whether a drive explains exact measurements except for rounding to whole nanoseconds.
pub fn explains_exactly(one: &Fitted) -> bool {
    one.residuals.iter().all(|r| r.abs() < WHOLE_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_more_than_whole_nanoseconds_is_not_explained_exactly() {
        let drive = crate::ssd::find("generic-ssd").expect("it is shipped");
        let explains =
            |residuals: &[f64]| explains_exactly(&Fitted::new(drive.clone(), residuals.to_vec()));
        assert!(explains(&[9e-5, -9e-5]));
        assert!(!explains(&[0.0, -2e-4]) && !explains(&[2e-4, 0.0]));
    }
}
