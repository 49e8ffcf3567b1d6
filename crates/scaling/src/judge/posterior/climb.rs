//! Climbs from given ends of levels to the most probable ones nearby.

use super::ends::{LevelEnd, Requests};
use super::overflow::Overflow;
use super::search::{COARSE, Search};

impl Search<'_> {
    /// Takes `other` if it is more probable, and returns whether it is.
    fn improve(&self, (score, ends): &mut (f64, Vec<LevelEnd>), other: Vec<LevelEnd>) -> bool {
        let there = self.score(&other);
        let is_better = there > *score + 1e-6;
        if is_better {
            *ends = other;
            *score = there;
        }
        is_better
    }

    /// Tries other kinds of overflow at one end, and other requests for which it may hold.
    fn rename(&self, peak: &mut (f64, Vec<LevelEnd>), i: usize, of: &[Requests]) {
        for overflow in Overflow::ALL {
            for &of in of {
                let mut other = peak.1.clone();
                other[i] = LevelEnd { overflow, of, ..other[i] };
                self.improve(peak, other);
            }
        }
    }

    /// Moves one end up and down as long as that helps.
    fn shift(&self, peak: &mut (f64, Vec<LevelEnd>), i: usize, step: f64) {
        for by in [step.ln(), -step.ln()] {
            for _ in 0..3 {
                let mut other = peak.1.clone();
                other[i].log_bytes += by;
                if !self.improve(peak, other) {
                    break;
                }
            }
        }
    }

    /// Returns the most probable ends reached from these.
    pub(super) fn refined(&self, ends: Vec<LevelEnd>) -> (f64, Vec<LevelEnd>) {
        let peak = self.climbed(ends);
        if self.begin_anew(&peak.1) { self.climbed(peak.1) } else { peak }
    }

    /// Improves places, kinds and requests by large steps, then twice by small ones: another kind
    /// may be better where the small steps led.
    fn climbed(&self, ends: Vec<LevelEnd>) -> (f64, Vec<LevelEnd>) {
        let mut peak = (self.score(&ends), ends);
        let (coarse, fine) = self.steps.split_at(COARSE);
        for steps in [coarse, fine, fine] {
            for i in 0..peak.1.len() {
                self.rename(&mut peak, i, &Requests::ALL);
                steps.iter().for_each(|&step| self.shift(&mut peak, i, step));
            }
        }
        for i in 0..peak.1.len() {
            self.exchange(&mut peak, i);
            self.finest.iter().for_each(|&step| self.shift(&mut peak, i, step));
        }
        peak
    }

    /// Tries the other kinds that differ only for requests of several pages, each at its own place.
    fn exchange(&self, peak: &mut (f64, Vec<LevelEnd>), i: usize) {
        let own = peak.1[i].overflow;
        if !Overflow::BY_PAGES.contains(&own) {
            return;
        }
        for overflow in Overflow::BY_PAGES.into_iter().filter(|&other| other != own) {
            let mut ends = peak.1.clone();
            ends[i].overflow = overflow;
            let mut there = (self.score(&ends), ends);
            self.steps.iter().for_each(|&step| self.shift(&mut there, i, step));
            if there.0 > peak.0 {
                *peak = there;
            }
        }
    }

    /// Returns the most probable ends reached from any of these.
    pub(super) fn best(&self, starts: Vec<Vec<LevelEnd>>) -> Option<(f64, Vec<LevelEnd>)> {
        starts.into_iter().map(|s| self.refined(s)).max_by(|a, b| a.0.total_cmp(&b.0))
    }
}
