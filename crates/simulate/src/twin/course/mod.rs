//! Judges the course of a rate in a long run: one steady rate, a burst that ends, or that this
//! cannot be told.
//!
//! A burst that ends comes from a rate limit that saves up credit (a token bucket), or from a cache
//! that fills faster than it drains. The course alone does not tell which: a cache that always
//! drains at the last rate behaves as a token bucket. The credit that comes back in an idle rest
//! ([`recovered`]) shows whether the drive behaves as one.

mod credit;
mod phase;
pub mod says;
mod segments;
mod shape;

use credit::credit;
use ioscape_schema::sustained::{CourseKind, CoursePhase, Sustained};
use ioscape_schema::{Bounded, statistics};
pub use phase::DISTURBANCE;
use phase::{Level, Phase, Stillness, phases};
use says::Why;
use shape::has_steps;

/// Fewest steps of a course that can be judged.
const STEPS_LEAST: usize = 40;
/// Least share of the course, and fewest steps, for which the last rate must hold.
const LAST_LEAST: f64 = 0.25;
const LAST_STEPS: usize = 20;
/// Least share of the course for which the last rate must hold if the rate rose and fell before.
const LAST_OF_MANY: f64 = 0.5;
/// Fewest steps of a burst.
const BURST_STEPS: usize = 4;
/// A burst must end within this share of its length, or within [`END_STEPS`] steps.
const END: f64 = 0.2;
const END_STEPS: usize = 3;
/// A part may be a slope towards its neighbour if its drift may exceed this share of the drift on a
/// straight line through both.
const SLOPING: f64 = 0.5;
/// A part shorter than this share of its neighbour cannot be on a line with it.
const SHORT: f64 = 0.3;
/// Largest uncertainty of a burst's rate, as a share of the drop after it.
const BURST_KNOWN: f64 = 0.3;
/// Most parts of a course with a burst: the burst, the last rate, and a short part between them if
/// the drop takes longer than one step.
const PARTS_MOST: usize = 3;

/// Judges a course of equal steps of `step_s` seconds with these rates, in bytes per second.
pub fn judge(step_s: f64, rates: &[f64]) -> Sustained {
    let parts = phases(rates);
    let found = kind(&parts, rates);
    let kind = found.unwrap_or(CourseKind::CannotBeTold);
    let at = |step: usize| step as f64 * step_s;
    let part = |part: &Phase| CoursePhase {
        from_s: at(part.steps.start),
        until_s: at(part.steps.end),
        bytes_per_s: part.level.bounded(),
    };
    let disturbed = parts.iter().flat_map(|part| &part.disturbed);
    let mut told = Sustained {
        step_s,
        bytes_per_s: rates.to_vec(),
        kind,
        phases: parts.iter().map(part).collect(),
        disturbed_s: disturbed.map(|steps| [at(steps.start), at(steps.end)]).collect(),
        credit_bytes: None,
        burst_bytes: None,
        recovered_bytes_per_s: None,
        sentences: Vec::new(),
    };
    if let (CourseKind::Burst, [.., before, last]) = (kind, &parts[..]) {
        let until = [before.steps.end, last.steps.start];
        told.credit_bytes = Some(credit(step_s, rates, last));
        told.burst_bytes = Some(burst(step_s, rates, until));
    }
    told.sentences = says::sentences(&told, found.err());
    told
}

/// Withdraws the verdict on a course: other processes used the processors while it ran and may have
/// set its rates.
pub fn withhold(told: &mut Sustained) {
    told.kind = CourseKind::CannotBeTold;
    (told.credit_bytes, told.burst_bytes, told.recovered_bytes_per_s) = (None, None, None);
    told.sentences = says::sentences(told, Some(Why::Load));
}

/// The kind of a course, or why it cannot be told.
fn kind(parts: &[Phase], rates: &[f64]) -> Result<CourseKind, Why> {
    let Some(last) = parts.last().filter(|_| rates.len() >= STEPS_LEAST) else {
        return Err(Why::TooShort);
    };
    if last.level.mean <= 0.0 {
        return Err(Why::Stalled);
    }
    let share = last.steps.len() as f64 / rates.len() as f64;
    if share < LAST_LEAST || last.steps.len() < LAST_STEPS {
        return Err(Why::ChangedLate);
    }
    match last.stillness(rates) {
        Stillness::Changing => return Err(Why::Changing),
        Stillness::Open => return Err(Why::Noisy),
        Stillness::Still => {}
    }
    let Some((_, earlier)) = parts.split_last().filter(|(_, earlier)| !earlier.is_empty()) else {
        return Ok(CourseKind::Steady);
    };
    let stepped = has_steps(parts, rates);
    if !stepped && slopes([last, &earlier[earlier.len() - 1], last], rates) {
        return Err(Why::Sloping);
    }
    let falls = |pair: &[Phase]| pair[0].level.mean > pair[1].level.mean;
    let falling = parts.windows(2).filter(|pair| falls(pair)).count();
    if falling == earlier.len() && is_burst(earlier, last, stepped, rates) {
        Ok(CourseKind::Burst)
    } else if falling == earlier.len() || falling == 0 || share >= LAST_OF_MANY {
        Ok(CourseKind::Settled)
    } else {
        Err(Why::UpAndDown)
    }
}

/// Whether a part may drift so much that the change between the parts `before` and `after` is a
/// slope rather than a step.
fn slopes([part, before, after]: [&Phase; 3], rates: &[f64]) -> bool {
    let lengths = [part, before, after].map(|part| part.steps.len() as f64);
    let step = after.level.mean - before.level.mean;
    let drift = part.drift(rates);
    let on_a_line = step.abs() * lengths[0] / (lengths[1] + lengths[2]);
    drift.mean * step.signum() + drift.half > SLOPING * on_a_line
}

/// Whether the falling rates before the last one are a single burst that ends abruptly.
fn is_burst(earlier: &[Phase], last: &Phase, stepped: bool, rates: &[f64]) -> bool {
    let first = &earlier[0];
    let next = earlier.get(1).unwrap_or(last);
    let ends_within = last.steps.start - first.steps.end;
    let most = ((END * first.steps.len() as f64) as usize).max(END_STEPS);
    earlier.len() < PARTS_MOST
        && first.steps.len() >= BURST_STEPS
        && ends_within <= most
        && first.stillness(rates) != Stillness::Changing
        && first.level.half <= BURST_KNOWN * (first.level.mean - last.level.mean)
        && (stepped || (!is_short(first, next) && !slopes([first, first, next], rates)))
}

/// Whether a part is too much shorter than another for both to be on one line.
fn is_short(part: &Phase, other: &Phase) -> bool {
    (part.steps.len() as f64) < SHORT * other.steps.len() as f64
}

/// The bytes of a burst that ends between two steps.
fn burst(step_s: f64, rates: &[f64], [from, until]: [usize; 2]) -> Bounded {
    let moved = |until: usize| rates[..until.min(rates.len())].iter().sum::<f64>() * step_s;
    let [low, high] = [moved(from.saturating_sub(1)), moved(until + 1)];
    Bounded { value: f64::midpoint(moved(from), moved(until)), low, high }
}

/// The credit that came back in `rest_s` seconds without a request, in bytes per second: the bytes
/// that the next course, in equal steps, moved beyond the `last` rate of the course before. `None`
/// if it does not fall to that rate again, so that more credit may have come back.
pub fn recovered(step_s: f64, rates: &[f64], last: Bounded, rest_s: f64) -> Option<Bounded> {
    let tail = &rates[rates.len() - rates.len() / 4..];
    let end = Level::of(tail);
    let is_back = (end.mean - last.value).abs() <= 0.1 * last.value + end.half;
    if rest_s <= 0.0 || tail.len() < 5 || !is_back {
        return None;
    }
    let over = |rate: f64| rates.iter().map(|one| (one - rate) * step_s).sum::<f64>();
    let noise = statistics::variance(tail).sqrt() * step_s * (rates.len() as f64).sqrt();
    let [value, low, high] =
        [over(last.value), over(last.high) - 2.0 * noise, over(last.low) + 2.0 * noise]
            .map(|bytes| bytes.max(0.0) / rest_s);
    Some(Bounded { value, low, high })
}

/// Whether the recovered credit shows a token bucket, which saves credit at the last rate. `None`
/// if that cannot be told.
pub fn is_bucket(recovered: Bounded, last: Bounded) -> Option<bool> {
    let [low, high] = [0.8 * last.low, 1.25 * last.high];
    let is_apart = recovered.high < low || recovered.low > high;
    let is_within = recovered.low >= 0.6 * last.value && recovered.high <= 1.6 * last.value;
    if is_apart { Some(false) } else { is_within.then_some(true) }
}

#[cfg(test)]
mod tests;
