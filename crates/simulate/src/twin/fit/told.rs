//! What the measurements tell of a drive that was fitted to them, and what they leave open.

use super::search::{Ended, Fitted, Looked, Search, beside, far, scaled, writes};
use crate::Error;
use ioscape_schema::statistics::sort_by_number;

/// A time or rate is told if it is known to within this factor with 95 % certainty; where all was measured exactly, to within that.
const TOLD: f64 = 1.5;
const TOLD_EXACTLY: f64 = 1.02;
/// A residual of more times what is left open is not explained.
const STUCK: f64 = 5.0;
/// A candidate whose score is worse by less explains as much: one is at most e^3 = 20 times as likely as the other.
const ALIKE: f64 = 6.0;
/// What reads do not tell of a drive with one channel: pages go over it and over the link one after the other, and whichever is the slower alone shows in large
/// reads, so that the two may be exchanged and the command makes up for the rest.
const BESIDE_ONE_CHANNEL: [&str; 3] =
    ["flash.channel_bytes_per_s", "controller.command_ms", "controller.link_bytes_per_s"];

impl Search<'_> {
    /// The best drive with what the measurements tell of it, and why the search ended with it.
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

    /// Which shapes are as likely as the best, of drives that were fitted to all that was measured, and which are not.
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

    /// Whether a drive explains what was measured exactly.
    pub fn explains(&self, one: &Fitted) -> Result<bool, Error> {
        let open = beside(&self.known_exactly(), &self.ways(one, TOLD_EXACTLY.ln())?.rough());
        Ok(!is_stuck(&one.residuals, &open))
    }

    /// Times and rates that the measurements do not tell, by how the residuals change with them.
    pub fn untold(&self, of: &Fitted, is_exact: bool) -> Result<Vec<&'static str>, Error> {
        let factor: f64 = if is_exact { TOLD_EXACTLY } else { TOLD };
        let ways = self.ways(of, factor.ln())?;
        let all = self.moved(&of.parameters);
        let open = if is_exact {
            let open = beside(&self.known_exactly(), &ways.rough());
            if is_stuck(&of.residuals, &open) {
                return Ok(all.map(|moved| moved.name).collect());
            }
            self.open_beside(&of.residuals, open)
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

    /// What is left open where all was measured exactly: `open`, what is rough, and how far the others of its kind, reads or what writes, are from all that.
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

/// Whether a drive does not explain what was measured exactly: it is not the right one, whatever its numbers change.
fn is_stuck(residuals: &[f64], open: &[f64]) -> bool {
    scaled(residuals, open).iter().any(|z| z.abs() > STUCK)
}
