//! From an evaluation to the structural model's shape: how many levels each operation has, and what is known beforehand.

use super::candidates::{Borders, Guess, candidates, with_one_more};
use super::fit::{Prior, fit, occam};
use super::input::Observation;
use super::parameters::{BorderParameters, Layout, LevelParameters};
use ioscape_schema::Evaluation;
use nalgebra::DVector;
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64Mcg;

/// Noise assumed while the structure is fitted, on log throughput.
const FIT_SD: f64 = 0.05;
/// Width of an overflow in ln(bytes) that is sharp, and of one that is not.
const NARROW: f64 = 0.03;
const WIDE: f64 = 0.4;
/// Power by which the share of reads that caches serve falls with writes, before anything is known: as good as none, by so many e-folds at most.
const DROPPING: f64 = 1e-4;
const DROPPING_SD: f64 = 3.0;
/// Powers with which a fit may start: pages are dropped one by one, and whole files are.
const DROPPING_STARTS: [f64; 2] = [0.5, 4.0];
/// What a byte costs more in memory than in the processors' own caches, before anything is known, by so many e-folds; and where fits may start.
const BEYOND: f64 = 0.2;
const BEYOND_SD: f64 = 1.5;
const BEYOND_START: f64 = 3.0;
/// Size of these caches, before anything is known, by so many e-folds.
const PROCESSOR_BYTES: f64 = 33_554_432.0;
const PROCESSOR_BYTES_SD: f64 = 1.0;
/// How far from the usual ones other starts lie, in standard deviations of what is known beforehand.
const ELSEWHERE: f64 = 0.5;
/// Misfit per observation up to which a structure is taken as found.
const MISFIT_MAX: f64 = 3.0;
/// Gain in twice the log evidence that a border must bring to be accepted although no curve showed it (Kass and Raftery, "Bayes
/// Factors", J. Am. Stat. Assoc. 90, 1995: from 10 on the evidence is very strong).
const EVIDENCE_MIN: f64 = 10.0;
/// Most borders that are added in this way.
const ADDED_MAX: usize = 1;

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
    misfit: f64,
    /// Minus twice the log evidence, up to a constant.
    improbable: f64,
}

/// Prior knowledge of one level; `is_memory` where it is the first of several.
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

/// Where fits start: share kept (logit), width of the overflow, and how much of the hinted shift of the mixed border is taken.
fn starts(guesses: &[(BorderParameters<usize>, Guess)]) -> Vec<(f64, f64, f64)> {
    let mut starts = vec![(2.0, NARROW, 0.0)];
    if !guesses.is_empty() {
        starts.extend([(-2.0, NARROW, 0.0), (1.0, WIDE, 0.0)]);
    }
    if guesses.iter().any(|(_, guess)| guess.mixed != 0.0) {
        starts.push((2.0, NARROW, 1.0));
    }
    starts
}

/// Further starts: what the other starts found best, with an effect that shows nowhere near its absence.
fn further(layout: &Layout, found: &DVector<f64>) -> Vec<DVector<f64>> {
    let with = |parameter: usize, value: f64| {
        let mut start = found.clone();
        start[parameter] = value;
        start
    };
    let dropping = layout.mix().ln_dropping;
    let is_cached = layout.levels[0] > 1;
    let powers = DROPPING_STARTS.iter().filter(|_| is_cached);
    let beyond = with(layout.processors().ln_beyond, BEYOND_START.ln());
    powers.map(|power| with(dropping, power.ln())).chain([beyond]).collect()
}

/// The best fit from several starts with these borders.
fn with_borders(
    borders: &Borders,
    observations: &[Observation],
    start_seed: u64,
) -> Option<Structure> {
    let reference = observations.iter().map(|o| o.place.unique_bytes.ln()).sum::<f64>()
        / observations.len().max(1) as f64;
    let layout = Layout {
        levels: [borders[0].len() + 1, borders[1].len() + 1],
        reference_bytes: reference.exp(),
    };
    let prior = knowledge(&layout, borders, observations);
    let mean = prior.mean()?;
    let guesses: Vec<(BorderParameters<usize>, Guess)> = borders
        .iter()
        .enumerate()
        .flat_map(|(operation, own)| own.iter().enumerate().map(move |(k, g)| (operation, k, *g)))
        .map(|(operation, level, guess)| (layout.border(operation, level), guess))
        .collect();
    let mut best: Option<(DVector<f64>, f64)> = None;
    let root = prior.root()?;
    let mut generator = Pcg64Mcg::seed_from_u64(start_seed);
    for (kept, width, shift) in starts(&guesses) {
        let mut start = mean.clone();
        if start_seed > 0 {
            let normal = |_, _| -> f64 { StandardNormal.sample(&mut generator) };
            start += &root * DVector::from_fn(root.ncols(), normal) * ELSEWHERE;
        }
        for (border, guess) in &guesses {
            start[border.logit_kept] = kept;
            start[border.ln_width] = width.ln();
            start[border.mixed_shift] = shift * guess.mixed;
        }
        let found = fit(&layout, &prior, observations, &start, FIT_SD)?;
        if best.as_ref().is_none_or(|(_, objective)| found.1 < *objective) {
            best = Some(found);
        }
    }
    let (theta, objective) = best?;
    let onsets = guesses.iter().map(|(border, guess)| (border.ln_onset, guess.sd)).collect();
    let found = Structure {
        layout,
        prior,
        theta,
        onsets,
        misfit: f64::INFINITY,
        improbable: f64::INFINITY,
    };
    found.judged(objective, observations)
}

impl Structure {
    /// With how well it explains what was observed, of which minus twice the log posterior is `objective`; `None` where that is not finite.
    fn judged(self, objective: f64, observations: &[Observation]) -> Option<Self> {
        let occam = occam(&self.layout, &self.prior, observations, &self.theta, FIT_SD);
        let misfit = objective / observations.len() as f64;
        let improbable = objective + occam;
        improbable.is_finite().then_some(Self { misfit, improbable, ..self })
    }

    /// The same borders where a further start leads to a better fit.
    fn refined(self, observations: &[Observation]) -> Option<Self> {
        let mut objective = self.misfit * observations.len() as f64;
        let mut theta = self.theta.clone();
        for start in further(&self.layout, &self.theta) {
            let found = fit(&self.layout, &self.prior, observations, &start, FIT_SD)?;
            if found.1 < objective {
                (theta, objective) = found;
            }
        }
        Self { theta, ..self }.judged(objective, observations)
    }
}

/// The borders with the greatest evidence. Further starts are tried with these alone, since a fit takes long.
fn best(
    candidates: &[Borders],
    observations: &[Observation],
    start_seed: u64,
) -> Option<(Structure, Borders)> {
    let (found, borders) = candidates
        .iter()
        .filter_map(|borders| {
            Some((with_borders(borders, observations, start_seed)?, borders.clone()))
        })
        .min_by(|(a, _), (b, _)| a.improbable.total_cmp(&b.improbable))?;
    Some((found.refined(observations)?, borders))
}

/// The structural model of `evaluation`: of all candidate borders, those with the greatest evidence. Where even they
/// fit badly, further borders that no curve showed are tried, one at a time. With a `start_seed` other than 0 the fits start elsewhere.
/// `None` when no fit is finite.
pub(super) fn structure(
    evaluation: &Evaluation,
    observations: &[Observation],
    start_seed: u64,
) -> Option<Structure> {
    let (mut structure, mut borders) = best(&candidates(evaluation), observations, start_seed)?;
    for _ in 0..ADDED_MAX {
        if structure.misfit < MISFIT_MAX {
            break;
        }
        match best(&with_one_more(&borders, observations), observations, start_seed) {
            Some((better, more)) if better.improbable + EVIDENCE_MIN < structure.improbable => {
                (structure, borders) = (better, more);
            }
            _ => break,
        }
    }
    Some(structure)
}
