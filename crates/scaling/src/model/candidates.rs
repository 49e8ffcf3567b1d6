//! Which borders of `unique_bytes` reads and writes may each have, before the structural model is fitted.

use super::input::Observation;
use ioscape_schema::statistics::sort_by_number;
use ioscape_schema::{BorderOperation, Evaluation, Point, Region};

/// Most borders per operation: more are noise.
const BORDERS_MAX: usize = 4;
/// Most places at which a border that was not found is tried.
const PLACES_MAX: usize = 10;
/// What is known of a border before the fit, in ln(bytes).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Guess {
    /// Where.
    pub(super) at: f64,
    /// How far it may be off.
    pub(super) sd: f64,
    /// Shift of the border with half reads that the mixed curve hints at.
    pub(super) mixed: f64,
}

/// The borders of reads, then of writes, each in order.
pub(super) type Borders = [Vec<Guess>; 2];

fn guesses(evaluation: &Evaluation, operation: BorderOperation) -> Vec<Guess> {
    let mut found: Vec<Guess> = evaluation
        .borders
        .iter()
        .filter(|b| b.operation == operation && b.unique_bytes.is_finite() && b.unique_bytes > 1.0)
        .map(|b| {
            let gap = (b.high / b.low).ln().abs() / 3.3;
            let sd = if gap.is_finite() { gap.clamp(0.02, 0.3) } else { 0.1 };
            Guess { at: b.unique_bytes.ln(), sd, mixed: 0.0 }
        })
        .collect();
    sort_by_number(&mut found, |one| one.at);
    found.dedup_by(|b, a| b.at - a.at < 0.1);
    found.truncate(BORDERS_MAX);
    found
}

/// Throughput with the largest (`reads`) or smallest share of reads in a region's curve.
fn pure(region: &Region, reads: bool) -> Option<f64> {
    let curve = region.curves.read_frac.iter().filter(|p| p.throughput() > 0.0);
    let order = |a: &&Point, b: &&Point| a.value.total_cmp(&b.value);
    let point = if reads { curve.max_by(order) } else { curve.min_by(order) };
    point.map(Point::throughput)
}

/// Whether the pure operation becomes slower from before to behind a border; true where no measurement contradicts it.
fn crosses(evaluation: &Evaluation, at: f64, reads: bool) -> bool {
    let middle = |region: &Region| (region.focal.unique_bytes as f64).max(1.0).ln();
    let before = evaluation.regions.iter().rfind(|r| middle(r) < at);
    let behind = evaluation.regions.iter().find(|r| middle(r) >= at);
    match (before.and_then(|r| pure(r, reads)), behind.and_then(|r| pure(r, reads))) {
        (Some(before), Some(behind)) => before > 1.4 * behind,
        _ => true,
    }
}

/// Borders of reads and of writes: their own, or those of the mix where the pure operation was not searched.
fn found(evaluation: &Evaluation) -> Borders {
    let mixed = guesses(evaluation, BorderOperation::Mixed);
    let mut both = [
        (BorderOperation::Read, &evaluation.unique_bytes_read_curve),
        (BorderOperation::Write, &evaluation.unique_bytes_write_curve),
    ]
    .map(|(operation, curve)| {
        let own = guesses(evaluation, operation);
        if !own.is_empty() || curve.len() >= 3 {
            return own;
        }
        let reads = operation == BorderOperation::Read;
        mixed.iter().copied().filter(|guess| crosses(evaluation, guess.at, reads)).collect()
    });
    for guess in &mixed {
        let near = |other: &Guess| (other.at - guess.at).abs() < 0.25;
        if both.iter().flatten().any(near) {
            continue;
        }
        for own in &mut both {
            let by_distance = |a: &&mut Guess, b: &&mut Guess| {
                (a.at - guess.at).abs().total_cmp(&(b.at - guess.at).abs())
            };
            if let Some(nearest) = own.iter_mut().min_by(by_distance) {
                nearest.mixed = (guess.at - nearest.at).clamp(-1.1, 1.1);
            }
        }
    }
    both
}

/// Adds to `own` the borders of `others` that are near none of its own.
fn joined(own: &[Guess], others: &[Guess]) -> Vec<Guess> {
    let mut all = own.to_vec();
    for other in others {
        if all.iter().all(|guess| (guess.at - other.at).abs() > 0.25) {
            all.push(Guess { mixed: 0.0, ..*other });
        }
    }
    sort_by_number(&mut all, |one| one.at);
    all.truncate(BORDERS_MAX);
    all
}

/// Pairs of borders of reads and of writes to choose from, the likeliest first. A step that is small for one operation alone
/// escapes its curve; so each may also have the borders of the other.
pub(super) fn candidates(evaluation: &Evaluation) -> Vec<Borders> {
    let [reads, writes] = found(evaluation);
    let mixed = guesses(evaluation, BorderOperation::Mixed);
    let (more_reads, more_writes) =
        (joined(&reads, &joined(&writes, &mixed)), joined(&writes, &joined(&reads, &mixed)));
    let mut pairs = vec![[reads.clone(), writes.clone()]];
    for pair in
        [[reads, more_writes.clone()], [more_reads.clone(), writes], [more_reads, more_writes]]
    {
        let lengths = |pair: &Borders| [pair[0].len(), pair[1].len()];
        if pairs.iter().all(|other| lengths(other) != lengths(&pair)) {
            pairs.push(pair);
        }
    }
    pairs
}

/// `borders` with one more for one operation, at one of a few places between the measured sets.
pub(super) fn with_one_more(borders: &Borders, observations: &[Observation]) -> Vec<Borders> {
    let mut sets: Vec<f64> = observations.iter().map(|o| o.place.unique_bytes.ln()).collect();
    sets.sort_by(f64::total_cmp);
    sets.dedup_by(|b, a| *b - *a < 0.2);
    let between: Vec<Guess> = sets
        .windows(2)
        .map(|w| Guess {
            at: (w[0] + w[1]) / 2.0,
            sd: (w[1] - w[0]).clamp(0.05, 1.0) / 3.3,
            mixed: 0.0,
        })
        .collect();
    let stride = between.len().div_ceil(PLACES_MAX).max(1);
    let mut all = Vec::new();
    for guess in between.iter().step_by(stride) {
        for operation in 0..2 {
            let mut more = borders.clone();
            more[operation] = joined(&borders[operation], std::slice::from_ref(guess));
            if more[operation].len() > borders[operation].len() {
                all.push(more);
            }
        }
    }
    all
}
