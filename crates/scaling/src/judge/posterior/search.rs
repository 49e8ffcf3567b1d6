//! The most probable ends of levels for every number of levels, and how probable each number is.

use super::super::borders::SAME_BORDER;
use super::alike::alike;
use super::decline::{Decline, alike_declines};
use super::ends::{Curves, LevelEnd, OPERATIONS, Requests};
use super::hypothesis::{EndBounds, Hypothesis};
use super::law::{ENDS_MOST, End, Fit, Observed, Slowdown};
use super::overflow::Overflow;
use super::place::{Bounds, Places};
use super::prior::{MOST, Prior};
use ioscape_schema::BorderOperation;
use ioscape_schema::statistics::sort_by_number;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Two ends are at least this factor apart; closer ones make no region.
const APART: f64 = 1.5;
/// An end of writes alone may lie this close to the end of memory, as a factor: so may a dirty-page
/// limit, and residency tells the two apart.
const BESIDE: f64 = 1.04;
/// Least change of log time between neighbouring sets at which an end is tried between them,
/// however close they are.
const CLIFF: f64 = 0.7;
/// Steps of the search for a position, as factors.
const STEPS: [f64; 6] = [1.6, 1.25, 1.1, 1.04, 1.015, 1.005];
/// How many of [`STEPS`] are tried before the finer ones.
pub(super) const COARSE: usize = 3;
/// The last steps. Where sets a few percent beyond its end miss a much faster level, its place is
/// known to within a thousandth. No number of ends may gain from how close the search came to it.
const FINEST: [f64; 3] = [1.0017, 1.0006, 1.0002];
/// The likelihood of one end is summed over this factor to either side.
pub(super) const REACH: f64 = 2.2;
/// No end is reported more precisely than this, in ln(bytes). Misses take longer the farther apart
/// they lie, so the law is off in the same way in all sets, and more sets do not help.
const GRAIN: f64 = 0.01;
/// A kind of overflow this much less probable than the best is left out.
const UNLIKELY: f64 = 0.02;
/// Most ways to add an end that are kept.
const WAYS: usize = 24;
/// An end has no single place unless that is more probable than all places together by this factor,
/// as a logarithm.
const ANYWHERE: f64 = 1.0;
/// Log evidence by which one law must exceed another to be far more probable.
const STUCK: f64 = 1.0;
/// A hypothesis this much less probable than the best moves no bounds of 95 %.
const RIVAL: f64 = 0.025;
/// The search stops at a number of ends that is less probable than the best one by this factor, as a logarithm.
const HOPELESS: f64 = 9.0;

/// What one curve says of some ends of levels.
#[derive(Clone)]
pub(super) struct Said {
    pub(super) log_evidence: f64,
    slowdowns: Vec<Slowdown>,
    decline: Decline,
}

/// Ends of one curve: the bits of their places, their kinds (the [first one](Overflow::first_alike)
/// that acts alike), and whether their sizes vary.
type Key = Vec<(u64, u8, bool)>;

/// What a curve says of ends, by their [`Key`].
type Known = BTreeMap<Key, Rc<Said>>;

pub(super) struct Search<'a> {
    pub(super) curves: &'a Curves,
    pub(super) prior: Prior,
    /// Kinds of overflow that are tried for a new end.
    kinds: &'a [Overflow],
    /// Steps of the search for a position, as factors.
    pub(super) steps: &'a [f64],
    /// The last, finest steps.
    pub(super) finest: &'a [f64],
    /// Sets closer than this, in log bytes, have no place for a new end between them.
    close: f64,
    known: [RefCell<Known>; 3],
    /// The latest law of each curve for each number of its ends: the next one asked for lies
    /// nearby.
    latest: RefCell<[[Option<Fit>; ENDS_MOST + 1]; 3]>,
}

impl<'a> Search<'a> {
    fn new(curves: &'a Curves, range: [f64; 2]) -> Self {
        let kinds = &[Overflow::Random, Overflow::Thrash];
        Self {
            curves,
            prior: Prior::new(curves.held, curves.limit, range),
            kinds,
            steps: &STEPS,
            finest: &FINEST,
            close: 0.15,
            known: Default::default(),
            latest: Default::default(),
        }
    }

    /// Creates a rougher search.
    fn roughly(curves: &'a Curves, range: [f64; 2]) -> Self {
        let kinds = &[Overflow::Random];
        Self {
            kinds,
            steps: &STEPS[..COARSE],
            finest: &[],
            close: 0.25,
            ..Self::new(curves, range)
        }
    }

    /// Returns the highest peak for each number of ends, found by adding one end after another or
    /// from the given starts.
    fn peaks(&self, starts: &[(f64, Vec<LevelEnd>)]) -> Vec<(f64, Vec<LevelEnd>)> {
        let mut peaks: Vec<(f64, Vec<LevelEnd>)> = vec![(self.score(&[]), Vec::new())];
        let mut best = peaks[0].0;
        while peaks.len() <= MOST {
            let (_, found) = self.grown(&peaks[peaks.len() - 1].1);
            let mut all: Vec<Vec<LevelEnd>> = found.into_iter().take(2).map(|f| f.1).collect();
            all.extend(starts.get(peaks.len()).map(|s| s.1.clone()));
            let Some(next) = self.best(all) else { break };
            let is_hopeless = next.0 < best - HOPELESS;
            best = best.max(next.0);
            peaks.push(next);
            if is_hopeless && peaks.len() > 2 {
                break;
            }
        }
        peaks
    }

    fn key(&self, index: usize, ends: &[LevelEnd]) -> Key {
        let of = self.curves.requested(index);
        let own = ends.iter().filter(|e| e.of.has(OPERATIONS[index])).map(LevelEnd::end);
        own.map(|e: End| (e.log_bytes.to_bits(), e.overflow.first_alike(of) as u8, e.varies))
            .collect()
    }

    /// Returns what one curve says of these ends, cached since the same ends recur again and again.
    pub(super) fn curve(&self, index: usize, ends: &[LevelEnd]) -> Rc<Said> {
        let key = self.key(index, ends);
        if let Some(known) = self.known[index].borrow().get(&key) {
            return Rc::clone(known);
        }
        let near = self.latest.borrow_mut()[index][key.len()].take();
        let fit = self.curves.fit(OPERATIONS[index], ends, near.as_ref());
        self.keep(index, key, fit)
    }

    fn keep(&self, index: usize, key: Key, fit: Fit) -> Rc<Said> {
        let Fit { log_evidence, decline, .. } = fit;
        let said = Rc::new(Said { log_evidence, slowdowns: fit.slowdowns.clone(), decline });
        self.latest.borrow_mut()[index][key.len()] = Some(fit);
        self.known[index].borrow_mut().insert(key, Rc::clone(&said));
        said
    }

    /// Fits the laws of these ends without those of ends nearby, and returns whether any is far
    /// more probable.
    ///
    /// If so, it forgets what that curve was thought to say: each law had begun at one that took
    /// some points for disturbed, and stayed there.
    pub(super) fn begin_anew(&self, ends: &[LevelEnd]) -> bool {
        let is_better = |index: usize| {
            let known = self.curve(index, ends).log_evidence;
            let fit = self.curves.fit(OPERATIONS[index], ends, None);
            let is_better = fit.log_evidence > known + STUCK;
            if is_better {
                self.known[index].borrow_mut().clear();
                self.keep(index, self.key(index, ends), fit);
            }
            is_better
        };
        (0..OPERATIONS.len()).filter(|&index| is_better(index)).count() > 0
    }

    pub(super) fn is_allowed(&self, ends: &[LevelEnd]) -> bool {
        let [low, high] = self.prior.range;
        let within = |e: &LevelEnd| (low..=high).contains(&e.log_bytes);
        let are_apart = |pair: &[LevelEnd]| {
            let apart = pair[1].log_bytes - pair[0].log_bytes;
            let least = if self.are_of_two([pair[0], pair[1]]) { BESIDE } else { APART };
            apart >= least.ln()
        };
        ends.iter().all(within) && ends.windows(2).all(are_apart)
    }

    /// Whether one of two ends is the end of memory, and the other one is for writes alone.
    fn are_of_two(&self, pair: [LevelEnd; 2]) -> bool {
        let [first, second] = pair.map(|end| end.of == Requests::Writes);
        first != second && self.prior.held_at(&pair[usize::from(first)]).is_some()
    }

    /// Returns these ends with `new` inserted at index `at`. If `new` is the end of memory, any end
    /// too close to it becomes one of writes, by which the mixes saw it.
    fn with(&self, ends: &[LevelEnd], at: usize, new: LevelEnd) -> Vec<LevelEnd> {
        let mut with = ends.to_vec();
        if self.prior.held_at(&new).is_some() {
            let is_near = |e: &&mut LevelEnd| (e.log_bytes - new.log_bytes).abs() < APART.ln();
            with.iter_mut().filter(is_near).for_each(|end| end.of = Requests::Writes);
        }
        with.insert(at, new);
        with
    }

    pub(super) fn score(&self, ends: &[LevelEnd]) -> f64 {
        if !self.is_allowed(ends) {
            return f64::NEG_INFINITY;
        }
        let said: [Rc<Said>; 3] = std::array::from_fn(|i| self.curve(i, ends));
        let evidence: f64 = said.iter().map(|s| s.log_evidence).sum();
        let declines: [Decline; 3] = std::array::from_fn(|i| said[i].decline);
        let of_end = |end: usize| {
            let slowdown = |curve: usize| {
                let before = ends[..end].iter().filter(|e| e.of.has(OPERATIONS[curve]));
                said[curve].slowdowns.get(before.count()).copied()
            };
            alike(&(0..3).filter_map(slowdown).collect::<Vec<Slowdown>>())
        };
        let of_all = (0..ends.len()).filter(|&end| ends[end].of == Requests::All);
        evidence
            + alike_declines(&declines)
            + of_all.map(of_end).sum::<f64>()
            + self.prior.log(ends)
    }

    /// Returns the places worth trying: within each gap of the sets measured, and what memory
    /// holds.
    ///
    /// Each comes with the width of the interval that it stands for, in ln(bytes).
    fn places(&self) -> Vec<(f64, f64)> {
        let mut sets: Vec<f64> = self.curves.points.iter().flatten().map(|p| p.log_set).collect();
        sets.sort_by(f64::total_cmp);
        sets.dedup_by(|b, a| *b - *a < self.close);
        let held = |[mean, sd]: [f64; 2]| (mean, 2.5066 * sd);
        let mut places: Vec<(f64, f64)> = self.prior.held.into_iter().map(held).collect();
        for pair in sets.windows(2) {
            let parts = ((pair[1] - pair[0]) / 0.5).ceil().min(3.0);
            let width = (pair[1] - pair[0]) / parts;
            let at = |i: usize| (pair[0] + width * (i as f64 + 0.5), width);
            places.extend((0..parts as usize).map(at));
        }
        places.extend(self.cliffs());
        places
    }

    /// Returns the same within gaps that are skipped since their sets are close, if a curve falls
    /// off a cliff there.
    fn cliffs(&self) -> Vec<(f64, f64)> {
        let is_cliff = |pair: &&[Observed]| {
            pair[1].log_set - pair[0].log_set < self.close
                && pair[1].log_time - pair[0].log_time > CLIFF
        };
        let place = |pair: &[Observed]| {
            let [from, to] = [pair[0].log_set, pair[1].log_set];
            (0.5 * (from + to), to - from)
        };
        let curves = self.curves.points.iter();
        curves.flat_map(|points| points.windows(2).filter(is_cliff).map(place)).collect()
    }

    /// Returns the logarithm of the summed likelihood of all ways to add one end, and these ways
    /// with their scores, the best first.
    fn grown(&self, ends: &[LevelEnd]) -> (f64, Vec<(f64, Vec<LevelEnd>)>) {
        let mut found: Vec<(f64, Vec<LevelEnd>)> = Vec::new();
        let mut sum = 0.0;
        let mut most = f64::NEG_INFINITY;
        for (log_bytes, width) in self.places() {
            for &overflow in self.kinds {
                let new = LevelEnd { log_bytes, overflow, of: Requests::All };
                let at = ends.partition_point(|e| e.log_bytes < log_bytes);
                let mut with = self.with(ends, at, new);
                if !self.is_allowed(&with) {
                    continue;
                }
                for of in Requests::ALL {
                    with[at].of = of;
                    let score = self.score(&with);
                    if score > most {
                        sum *= (most - score).exp();
                        most = score;
                    }
                    sum += width * (score - most).exp();
                    found.push((score, with.clone()));
                }
            }
        }
        sort_by_number(&mut found, |one| -one.0);
        (most + f64::ln(sum), found)
    }

    /// Sums the likelihood of one end over its places and over the likely kinds, which are also
    /// returned.
    fn summed(&self, ends: &[LevelEnd], score: f64, i: usize) -> (Places, Vec<Overflow>) {
        let own = ends[i];
        let of_all = |at, kind| (self.score(&moved(ends, i, at, kind)) - score).exp();
        let is_likely =
            |&kind: &Overflow| kind == own.overflow || of_all(own.log_bytes, kind) >= UNLIKELY;
        let kinds: Vec<Overflow> = Overflow::ALL.into_iter().filter(is_likely).collect();
        let half = self.prior.held_at(&own).map_or(REACH.ln(), |sd| 4.0 * sd);
        let likelihood = |at| kinds.iter().map(|&kind| of_all(at, kind)).sum();
        (Places::new(own.log_bytes, half, likelihood), kinds)
    }

    /// Returns where one end lies for the requests of each curve.
    fn of_each(&self, ends: &[LevelEnd], i: usize) -> [Places; 3] {
        let (joint, kinds) = self.summed(ends, self.score(ends), i);
        let is_held = self.prior.held_at(&ends[i]).is_some();
        OPERATIONS.map(|of| match of {
            BorderOperation::Read if is_held => self.prior.held_places(),
            _ if !ends[i].of.has(of) => joint.clone(),
            _ => self.of_one(of, &joint, (ends, i), &kinds),
        })
    }

    /// Returns the 95 % bounds of one end of the most probable hypothesis, for the requests of each
    /// curve. Rivals with other ends may have this one at another place nearby, which counts in
    /// proportion to their probability.
    fn bounds(&self, best: &[LevelEnd], rivals: &[(f64, &[LevelEnd])], i: usize) -> EndBounds {
        let own = best[i];
        let nearest = |ends: &[LevelEnd]| {
            let away = |n: &usize| (ends[*n].log_bytes - own.log_bytes).abs();
            let near = (0..ends.len()).filter(|n| away(n) < SAME_BORDER.ln());
            near.min_by(|a, b| away(a).total_cmp(&away(b)))
        };
        let of_rival =
            |(share, ends): &(f64, &[LevelEnd])| Some((*share, self.of_each(ends, nearest(ends)?)));
        let all: Vec<(f64, [Places; 3])> = [(1.0, self.of_each(best, i))]
            .into_iter()
            .chain(rivals.iter().filter_map(of_rival))
            .collect();
        // What memory holds comes with its own bounds.
        let grain = if self.prior.held_at(&own).is_some() { 0.0 } else { GRAIN };
        std::array::from_fn(|curve| {
            let all: Vec<(f64, &Places)> =
                all.iter().map(|(share, each)| (*share, &each[curve])).collect();
            Places::mixed(&all).bounds(grain)
        })
    }

    /// Improves each number of ends, starting from those of the next number with one left out.
    fn pruned(&self, peaks: &mut [(f64, Vec<LevelEnd>)]) {
        for count in (1..peaks.len().saturating_sub(1)).rev() {
            let without = |i: usize| {
                let mut ends = peaks[count + 1].1.clone();
                ends.remove(i);
                ends
            };
            let mut starts: Vec<Vec<LevelEnd>> = (0..=count).map(without).collect();
            sort_by_number(&mut starts, |one| -self.score(one));
            starts.truncate(2);
            if let Some(better) = self.best(starts).filter(|b| b.0 > peaks[count].0) {
                peaks[count] = better;
            }
        }
    }

    /// Returns the probability that an end holds for reads, and that it holds for writes.
    fn shares(&self, ends: &[LevelEnd], i: usize) -> [f64; 2] {
        let score = |of: Requests| {
            let mut other = ends.to_vec();
            other[i].of = of;
            self.score(&other)
        };
        let scores = Requests::ALL.map(score);
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let [all, reads, writes] = scores.map(|s| (s - most).exp());
        [all + reads, all + writes].map(|part| part / (all + reads + writes))
    }

    /// Makes the hypothesis of ends not worth examining, if the peak is as wide as `volume`.
    fn hopeless(score: f64, ends: Vec<LevelEnd>, volume: f64) -> Hypothesis {
        let bounds = unbounded(&ends);
        let shares = vec![[0.0; 2]; ends.len()];
        let (ways, log_probability) = (Vec::new(), score + volume);
        Hypothesis { ends, bounds, shares, volume, ways, log_probability, is_hopeless: true }
    }

    fn hypothesis(&self, score: f64, ends: Vec<LevelEnd>) -> Hypothesis {
        let volume =
            (0..ends.len()).map(|i| self.summed(&ends, score, i).0.total().ln()).sum::<f64>();
        let bounds = unbounded(&ends);
        let shares = (0..ends.len()).map(|i| self.shares(&ends, i)).collect();
        let (ways, log_probability) = (Vec::new(), score + volume);
        Hypothesis { ends, bounds, shares, volume, ways, log_probability, is_hopeless: false }
    }
}

/// No bounds yet: each end where it is.
fn unbounded(ends: &[LevelEnd]) -> Vec<EndBounds> {
    let at = |e: &LevelEnd| Bounds { low: e.log_bytes, at: e.log_bytes, high: e.log_bytes };
    ends.iter().map(|e| [at(e); 3]).collect()
}

/// The ends with one of them at another place, and of another kind.
pub(super) fn moved(
    ends: &[LevelEnd],
    i: usize,
    log_bytes: f64,
    overflow: Overflow,
) -> Vec<LevelEnd> {
    let mut moved = ends.to_vec();
    moved[i] = LevelEnd { log_bytes, overflow, ..moved[i] };
    moved
}

/// Keeps the first of these, and turns their scores into weights.
fn weighted(mut found: Vec<(f64, Vec<LevelEnd>)>) -> Vec<(f64, Vec<LevelEnd>)> {
    found.truncate(WAYS);
    let most = found.first().map_or(0.0, |f| f.0);
    found.iter_mut().for_each(|f| f.0 = (f.0 - most).exp());
    let sum: f64 = found.iter().map(|f| f.0).sum();
    found.iter_mut().for_each(|f| f.0 /= sum);
    found
}

/// Returns the most probable places for each number of ends; beyond a hopeless number, larger ones
/// are left out.
pub(crate) fn search(curves: &Curves, range: [f64; 2]) -> Vec<Hypothesis> {
    const { assert!(MOST <= ENDS_MOST) };
    // With blurred points, the peaks are so wide that one end after the other finds its place.
    let blurred = curves.blurred();
    let rough = Search::roughly(&blurred, range).peaks(&[]);
    let search = Search::new(curves, range);
    let mut peaks = search.peaks(&rough);
    search.pruned(&mut peaks);
    let best = peaks.iter().map(|p| p.0).fold(f64::NEG_INFINITY, f64::max);
    let most = peaks.iter().position(|p| p.0 >= best).unwrap_or_default();
    let mut found: Vec<Hypothesis> = Vec::new();
    for (count, mut peak) in peaks.into_iter().enumerate() {
        let likeliest = found.iter().map(|f| f.log_probability).fold(f64::NEG_INFINITY, f64::max);
        // The width of the peak is not known for ends that were not examined.
        let fewer =
            found.last().filter(|f| !f.is_hopeless && f.log_probability > likeliest - HOPELESS);
        let grown = fewer.map(|fewer| (search.grown(&fewer.ends), fewer.volume));
        // The hypothesis with one end fewer may have found a better place since.
        let regrown = grown.as_ref().and_then(|((_, all), _)| all.first());
        if let Some(first) = regrown.filter(|first| first.0 > peak.0) {
            peak = search.refined(first.1.clone());
        }
        let (score, ends) = peak;
        // One end more narrows a peak; one fewer widens it, by an amount not known in advance.
        let before = found.last().map_or(0.0, |f: &Hypothesis| f.volume);
        let mut own = match score < best - if count > most { HOPELESS } else { 3.0 * HOPELESS } {
            true => Search::hopeless(score, ends, before),
            false => search.hypothesis(score, ends),
        };
        // If a mild end may lie anywhere, no single place is probable, but all together may be.
        if let Some(((sum, all), volume)) = grown {
            let anywhere = sum + volume;
            if anywhere > own.log_probability - ANYWHERE {
                own.ways = weighted(all);
            }
            own.log_probability = own.log_probability.max(anywhere);
        }
        found.push(own);
    }
    bounded(&search, &mut found);
    found
}

/// Fills in the bounds of the ends of the most probable hypothesis; nothing uses those of the
/// others.
fn bounded(search: &Search<'_>, found: &mut [Hypothesis]) {
    let most = found.iter().map(|f| f.log_probability).fold(f64::NEG_INFINITY, f64::max);
    let share = |f: &Hypothesis| (f.log_probability - most).exp();
    let Some(first) = found.iter().position(|f| f.log_probability >= most && !f.is_hopeless) else {
        return;
    };
    let others = found.iter().enumerate().filter(|(n, f)| *n != first && !f.is_hopeless);
    let rivals: Vec<(f64, &[LevelEnd])> = others
        .map(|(_, f)| (share(f), f.ends.as_slice()))
        .filter(|(share, _)| *share >= RIVAL)
        .collect();
    let best = found[first].ends.as_slice();
    let bounds = (0..best.len()).map(|i| search.bounds(best, &rivals, i)).collect();
    found[first].bounds = bounds;
}
