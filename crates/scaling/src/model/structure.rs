//! The structural model with given borders: its shape, the prior knowledge about it, and how well
//! it explains the observations.

use super::candidates::{Borders, Guess, SAME_FALL};
use super::fit::{Prior, fit, occam};
use super::input::Observation;
use super::parameters::{BorderParameters, Layout, LevelParameters};
use nalgebra::DVector;

/// Noise assumed while the structure is fitted, in ln(throughput).
const FIT_SD: f64 = 0.05;
/// Width in ln(bytes) of a sharp overflow.
pub(super) const NARROW: f64 = 0.03;
/// Prior power by which the share of reads that caches serve falls with writes: practically none,
/// known within this many e-folds.
const DROPPING: f64 = 1e-4;
const DROPPING_SD: f64 = 3.0;
/// Prior additional cost of a byte in memory, relative to the processors' own caches, known within
/// this many e-folds.
const BEYOND: f64 = 0.2;
const BEYOND_SD: f64 = 1.5;
/// Prior size of these caches in bytes, known within this many e-folds.
const PROCESSOR_BYTES: f64 = 33_554_432.0;
const PROCESSOR_BYTES_SD: f64 = 1.0;

/// Share of a set in the file cache from which on it counts as entirely there.
const WHOLE: f64 = 0.97;

/// Which of these borders of reads is the end of the file cache, whose pages the kernel counts. It
/// is the first border of storage that is not below a set that was entirely in the file cache, or
/// the last where all are.
fn file_cache(borders: &[Guess], observations: &[Observation]) -> Option<usize> {
    let whole = observations.iter().filter(|o| o.resident.is_some_and(|share| share >= WHOLE));
    let whole = whole.map(|o| o.place.unique_bytes.ln()).fold(f64::NEG_INFINITY, f64::max);
    let storage = || borders.iter().enumerate().filter(|(_, one)| !one.in_memory);
    let beyond = storage().find(|(_, one)| one.at + SAME_FALL > whole);
    beyond.or_else(|| storage().next_back()).map(|(level, _)| level)
}

/// Seconds per byte and request size of the observation that shows an operation's level best.
fn typical(observations: &[Observation], reads: bool, from: f64, to: f64) -> Option<(f64, f64)> {
    let fraction =
        |o: &Observation| if reads { o.place.read_frac } else { 1.0 - o.place.read_frac };
    let middle = if to.is_finite() { (from.max(to - 3.0) + to) / 2.0 } else { f64::INFINITY };
    let score = |o: &Observation| {
        let at = o.place.unique_bytes.ln();
        let outside = (from - at).max(at - to).max(0.0);
        let off = if middle.is_finite() { (at - middle).abs() } else { -at };
        outside * 100.0 + (1.0 - fraction(o)) * 20.0 + off
    };
    let best = observations.iter().min_by(|a, b| score(a).total_cmp(&score(b)))?;
    Some(((-best.log_throughput).exp(), best.place.size_mean))
}

/// The structural model, fitted: its shape, knowledge and most probable parameters.
#[derive(Clone, Debug)]
pub(super) struct Structure {
    pub(super) layout: Layout,
    pub(super) prior: Prior,
    pub(super) theta: DVector<f64>,
    /// Which parameters are onsets, and how far each may be off.
    pub(super) onsets: Vec<(usize, f64)>,
    /// How badly it fits, per observation; about 1 or less when errors are as small as [`FIT_SD`].
    pub(super) misfit: f64,
    /// Minus twice the log evidence, up to a constant.
    pub(super) improbable: f64,
}

/// Prior knowledge of one level; `is_memory` if it is the first of several.
fn add_level(
    prior: &mut Prior,
    level: LevelParameters<usize>,
    is_memory: bool,
    (seconds_per_byte, size): (f64, f64),
) {
    let half = seconds_per_byte / 2.0;
    for (parameter, mean, sd) in [
        (level.ln_overhead_s, (half * size).ln(), 2.0),
        (level.ln_byte_s, half.ln(), 2.0),
        (level.logit_saving, if is_memory { -3.0 } else { 0.0 }, 1.5),
        (level.ln_serial, 0.5f64.ln(), 1.0),
        (level.ln_sharpness, 1.7f64.ln(), 0.5),
        (level.overhead_growth, 0.0, 0.15),
        (level.byte_growth, 0.0, 0.15),
        (level.ln_interleaving, 0.3f64.ln(), 1.0),
    ] {
        prior.add(&[(parameter, 1.0)], mean, sd);
    }
}

/// Reads and writes at the same level of the hierarchy are alike, within these deviations.
fn tie(prior: &mut Prior, read: LevelParameters<usize>, write: LevelParameters<usize>) {
    let costs = [
        (read.ln_overhead_s, 1.0),
        (read.ln_byte_s, -1.0),
        (write.ln_overhead_s, -1.0),
        (write.ln_byte_s, 1.0),
    ];
    prior.add(&costs, 0.0, 0.7);
    for (read, write, sd) in [
        (read.logit_saving, write.logit_saving, 1.0),
        (read.ln_serial, write.ln_serial, 0.7),
        (read.ln_sharpness, write.ln_sharpness, 0.3),
        (read.overhead_growth, write.overhead_growth, 0.1),
        (read.byte_growth, write.byte_growth, 0.1),
        (read.ln_interleaving, write.ln_interleaving, 0.5),
    ] {
        prior.add(&[(read, 1.0), (write, -1.0)], 0.0, sd);
    }
}

fn knowledge(layout: &Layout, borders: &Borders, observations: &[Observation]) -> Prior {
    let mut prior = Prior::new(layout.len());
    for (operation, own) in borders.iter().enumerate() {
        for level in 0..=own.len() {
            let from = if level == 0 { 0.0 } else { own[level - 1].at };
            let to = own.get(level).map_or(f64::INFINITY, |guess| guess.at);
            let typical = typical(observations, operation == 0, from, to).unwrap_or((1.0, 1.0));
            let is_memory = level == 0 && !own.is_empty();
            add_level(&mut prior, layout.level(operation, level), is_memory, typical);
        }
        for (level, guess) in own.iter().enumerate() {
            let border = layout.border(operation, level);
            prior.add(&[(border.ln_onset, 1.0)], guess.at, guess.sd);
            prior.add(&[(border.logit_kept, 1.0)], 1.5, 2.0);
            prior.add(&[(border.ln_width, 1.0)], NARROW.ln(), 1.2);
            prior.add(&[(border.mixed_shift, 1.0)], 0.0, 0.1f64.max(guess.mixed.abs()));
        }
    }
    prior.add(&[(layout.advice().ln_cost, 1.0)], 0.0, 0.3);
    prior.add(&[(layout.advice().logit_kept, 1.0)], 0.0, 0.7);
    prior.add(&[(layout.advice().ln_waste, 1.0)], 0.1f64.ln(), 1.5);
    prior.add(&[(layout.mix().ln_dropping, 1.0)], DROPPING.ln(), DROPPING_SD);
    prior.add(&[(layout.processors().ln_beyond, 1.0)], BEYOND.ln(), BEYOND_SD);
    prior.add(&[(layout.processors().ln_bytes, 1.0)], PROCESSOR_BYTES.ln(), PROCESSOR_BYTES_SD);
    for write in 0..layout.levels[1] {
        let read = layout.read_level_of(write);
        tie(&mut prior, layout.level(0, read), layout.level(1, write));
    }
    prior
}

/// The shape with given borders, and the prior knowledge about it.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) layout: Layout,
    pub(super) prior: Prior,
    /// Its borders and their guessed places.
    pub(super) guesses: Vec<(BorderParameters<usize>, Guess)>,
}

impl Shape {
    pub(super) fn new(borders: &Borders, observations: &[Observation], writers_wait: bool) -> Self {
        let reference = observations.iter().map(|o| o.place.unique_bytes.ln()).sum::<f64>()
            / observations.len().max(1) as f64;
        let layout = Layout {
            levels: [borders[0].len() + 1, borders[1].len() + 1],
            reference_bytes: reference.exp(),
            writers_wait,
            in_memory: borders.each_ref().map(|own| own.iter().map(|one| one.in_memory).collect()),
            file_cache: file_cache(&borders[0], observations),
        };
        let prior = knowledge(&layout, borders, observations);
        let each = borders.iter().enumerate().flat_map(|(operation, own)| {
            own.iter().enumerate().map(move |(level, guess)| (operation, level, *guess))
        });
        let guesses = each
            .map(|(operation, level, guess)| (layout.border(operation, level), guess))
            .collect();
        Self { layout, prior, guesses }
    }

    /// The structure with the parameters that the fit from `start` finds; `None` where that is
    /// numerically impossible.
    pub(super) fn fitted(
        &self,
        observations: &[Observation],
        start: &DVector<f64>,
    ) -> Option<Structure> {
        let (theta, objective) = fit(&self.layout, &self.prior, observations, start, FIT_SD)?;
        let onsets = self.guesses.iter().map(|(border, guess)| (border.ln_onset, guess.sd));
        let improbable = objective + occam(&self.layout, &self.prior, observations, &theta, FIT_SD);
        improbable.is_finite().then(|| Structure {
            layout: self.layout.clone(),
            prior: self.prior.clone(),
            theta,
            onsets: onsets.collect(),
            misfit: objective / observations.len() as f64,
            improbable,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::ModelInput;
    use super::*;
    use crate::testing::measurement;
    use ioscape_schema::Workload;

    const GIB: f64 = 1_073_741_824.0;

    fn guess(gib: f64, in_memory: bool) -> Guess {
        Guess { at: (gib * GIB).ln(), sd: 0.1, mixed: 0.0, in_memory }
    }

    fn observation(gib: u64, resident: f64) -> Observation {
        let workload = Workload { unique_bytes: gib << 30, ..Workload::default() };
        let found = Observation::of(&measurement(&workload, 1e9, 1.0, 1e9)).expect("plausible");
        Observation { resident: Some(resident), ..found }
    }

    #[test]
    fn the_file_cache_ends_at_the_first_border_behind_the_sets_that_it_held() {
        let all = [observation(1, 1.0), observation(2, 1.0), observation(8, 0.4)];
        let of = |borders: &[Guess]| file_cache(borders, &all);
        assert_eq!(of(&[guess(3.0, false), guess(12.0, false)]), Some(0), "a server's is behind");
        assert_eq!(of(&[guess(0.1, true), guess(3.0, false)]), Some(1));
        assert_eq!(of(&[guess(0.1, false), guess(3.0, false)]), Some(1), "two gibibytes were held");
        assert_eq!(of(&[guess(0.1, false), guess(0.2, false)]), Some(1));
        assert_eq!([of(&[guess(0.1, true)]), of(&[])], [None; 2]);
    }

    /// A client that holds 3 GiB of a set of 14, and its server 12. Guards against comparing the
    /// kernel's count with both, by which the server's cache would have to thrash.
    #[test]
    fn what_the_kernel_counts_is_held_against_the_file_cache_alone() {
        let held = |file_cache| {
            let layout = Layout { levels: [3, 1], file_cache, ..Layout::default() };
            let mut theta = vec![0.0; layout.len()];
            for (level, gib) in [(0, 3.0), (1, 12.0)] {
                let border = layout.border(0, level);
                theta[border.ln_onset] = f64::ln(gib * GIB);
                theta[border.logit_kept] = 100.0;
                theta[border.ln_width] = -5.0;
            }
            let reads = Workload { unique_bytes: 14 << 30, read_frac: 1.0, ..Workload::default() };
            layout.held_reads(&theta, &ModelInput::of(&reads))
        };
        for (file_cache, expected) in [(Some(0), 3.0 / 14.0), (Some(1), 12.0 / 14.0), (None, 1.0)] {
            let found = held(file_cache);
            assert!((found - expected).abs() < 1e-6, "{file_cache:?}: {found}");
        }
    }
}
