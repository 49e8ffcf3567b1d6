//! Which borders of `unique_bytes` reads and writes may have, before the structural model is
//! fitted.

use super::input::Observation;
use ioscape_schema::statistics::sort_by_number;
use ioscape_schema::{BorderOperation, Evaluation, Point, Region};

/// The most borders per operation; further ones are noise.
const BORDERS_MAX: usize = 4;
/// The most places at which an undetected border is tried.
const PLACES_MAX: usize = 10;
/// What is known of a border before the fit, in ln(bytes).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Guess {
    /// Its place.
    pub(super) at: f64,
    /// The standard deviation of its place.
    pub(super) sd: f64,
    /// The shift of the border with half reads, as the mixed curve suggests.
    pub(super) mixed: f64,
    /// Whether the level behind it is still memory, as behind the end of a processor's cache.
    pub(super) in_memory: bool,
}

/// Distance in ln(bytes), a factor of 1.5, up to which two borders of an operation may be the same
/// fall seen twice.
pub(super) const SAME_FALL: f64 = 0.405;

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
            Guess { at: b.unique_bytes.ln(), sd, mixed: 0.0, in_memory: b.in_memory }
        })
        .collect();
    sort_by_number(&mut found, |one| one.at);
    found.dedup_by(|b, a| {
        let is_one = b.at - a.at < 0.1;
        a.in_memory &= b.in_memory || !is_one;
        is_one
    });
    end_memory(&mut found, SAME_FALL);
    found.truncate(BORDERS_MAX);
    found
}

/// Marks as storage every border from a distance of `before`, in ln(bytes), below the first border
/// of storage on: memory has ended there.
fn end_memory(borders: &mut [Guess], before: f64) {
    let first = borders.iter().find(|one| !one.in_memory).map(|one| one.at);
    for one in borders {
        one.in_memory &= first.is_none_or(|at| one.at < at - before);
    }
}

/// The throughput with the largest (`reads`) or the smallest share of reads on a region's curve.
fn pure(region: &Region, reads: bool) -> Option<f64> {
    let curve = region.curves.read_frac.iter().filter(|p| p.throughput() > 0.0);
    let order = |a: &&Point, b: &&Point| a.value.total_cmp(&b.value);
    let point = if reads { curve.max_by(order) } else { curve.min_by(order) };
    point.map(Point::throughput)
}

/// Whether the pure operation becomes slower across a border; true unless a measurement contradicts
/// it.
fn crosses(evaluation: &Evaluation, at: f64, reads: bool) -> bool {
    let middle = |region: &Region| (region.focal.unique_bytes as f64).max(1.0).ln();
    let before = evaluation.regions.iter().rfind(|r| middle(r) < at);
    let behind = evaluation.regions.iter().find(|r| middle(r) >= at);
    match (before.and_then(|r| pure(r, reads)), behind.and_then(|r| pure(r, reads))) {
        (Some(before), Some(behind)) => before > 1.4 * behind,
        _ => true,
    }
}

/// The borders of reads and of writes: their own, or those of the mix where the pure operation was
/// not searched.
fn found(evaluation: &Evaluation) -> Borders {
    let mixed = guesses(evaluation, BorderOperation::Mixed);
    let mut both = [BorderOperation::Read, BorderOperation::Write].map(|operation| {
        let own = guesses(evaluation, operation);
        if !own.is_empty() || evaluation.set_size_curve(operation).len() >= 3 {
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

/// A border of other requests as a border of an operation that has the borders `own`: before one of
/// these that lies within memory, it does too.
fn among(own: &[Guess], other: &Guess) -> Guess {
    let is_before = own.iter().any(|one| one.in_memory && one.at > other.at);
    Guess { mixed: 0.0, in_memory: is_before || other.in_memory, ..*other }
}

/// Adds to `own` those of `others` that are not near any of its own.
fn joined(own: &[Guess], others: &[Guess]) -> Vec<Guess> {
    let mut all = own.to_vec();
    for other in others {
        if all.iter().all(|guess| (guess.at - other.at).abs() > 0.25) {
            all.push(among(own, other));
        }
    }
    sort_by_number(&mut all, |one| one.at);
    end_memory(&mut all, 0.0);
    all.truncate(BORDERS_MAX);
    all
}

/// Pairs of borders of reads and of writes to choose from, the likeliest first. A curve can miss a
/// step that is small for its operation; so each operation may also have the borders of the other.
pub(super) fn candidates(evaluation: &Evaluation) -> Vec<Borders> {
    let [reads, writes] = found(evaluation);
    let mixed = guesses(evaluation, BorderOperation::Mixed);
    let with_mixed = |others: &[Guess]| [others, &mixed[..]].concat();
    let (more_reads, more_writes) =
        (joined(&reads, &with_mixed(&writes)), joined(&writes, &with_mixed(&reads)));
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

/// `borders` with one more border for one operation, at one of a few places between the measured
/// sets.
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
            in_memory: false,
        })
        .collect();
    let stride = between.len().div_ceil(PLACES_MAX).max(1);
    let mut all = Vec::new();
    for guess in between.iter().step_by(stride) {
        for operation in 0..2 {
            let own = &borders[operation];
            let mut more = borders.clone();
            more[operation] = joined(own, &[*guess]);
            if more[operation].len() > own.len() {
                all.push(more);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, measurement};
    use ioscape_schema::{Border, Workload};

    const MIB: f64 = 1_048_576.0;

    /// A border at `mib` mebibytes.
    fn guess(mib: f64, in_memory: bool) -> Guess {
        Guess { at: (mib * MIB).ln(), sd: 0.1, mixed: 0.0, in_memory }
    }

    fn within(borders: &[Guess]) -> Vec<bool> {
        borders.iter().map(|one| one.in_memory).collect()
    }

    /// A border of these requests at `mib` mebibytes.
    fn border(operation: BorderOperation, mib: f64, in_memory: bool) -> Border {
        let place = [0.9, 1.0, 1.1].map(|times| times * mib * MIB);
        Border { in_memory, ..testing::border(operation, place, 2.0) }
    }

    /// Which of the borders of reads at the given mebibytes lie within memory.
    fn found_within(all: &[(f64, bool)]) -> Vec<bool> {
        let read = |&(mib, in_memory): &(f64, bool)| border(BorderOperation::Read, mib, in_memory);
        let borders = all.iter().map(read).collect();
        let evaluation = Evaluation { borders, ..Evaluation::default() };
        within(&guesses(&evaluation, BorderOperation::Read))
    }

    #[test]
    fn two_borders_that_are_told_as_one_lie_within_memory_if_both_do() {
        let found = |[first, second]: [bool; 2]| {
            found_within(&[(24.0, first), (25.0, second), (99.0, false)])
        };
        assert_eq!(found([true, true]), [true, false]);
        assert_eq!(found([true, false]), [false, false]);
        assert_eq!(found([false, true]), [false, false]);
    }

    #[test]
    fn no_border_lies_within_memory_behind_one_of_storage_or_where_the_same_fall_shows_storage() {
        assert_eq!(found_within(&[(1024.0, false), (1229.0, true)]), [false, false]);
        assert_eq!(found_within(&[(922.0, true), (1024.0, false)]), [false, false]);
        assert_eq!(found_within(&[(24.0, true), (1024.0, false)]), [true, false]);
    }

    /// Judged by the writes, which stayed in memory, the border of the mix lies within it; judged
    /// by the reads, storage begins there.
    #[test]
    fn what_a_border_of_the_mix_is_for_one_operation_it_need_not_be_for_the_other() {
        let borders = vec![
            border(BorderOperation::Read, 24.0, true),
            border(BorderOperation::Mixed, 500.0, false),
            border(BorderOperation::Write, 700.0, true),
        ];
        let evaluation = Evaluation { borders, ..Evaluation::default() };
        let pairs = candidates(&evaluation);
        let [reads, writes] = pairs.last().unwrap();
        assert_eq!(within(reads), [true, false, false]);
        assert_eq!(within(writes), [true, true, true]);
    }

    #[test]
    fn a_border_of_other_requests_lies_within_memory_as_far_as_an_operation_s_own_let_it() {
        let own = [guess(24.0, true), guess(512.0, false)];
        let others = [guess(8.0, false), guess(100.0, true)];
        assert_eq!(within(&joined(&own, &others)), [true, true, true, false]);
        let behind = [guess(2048.0, true)];
        assert_eq!(within(&joined(&own, &behind)), [true, false, false]);
        assert_eq!(within(&joined(&own[..1], &[guess(512.0, false)])), [true, false]);
    }

    #[test]
    fn a_border_that_no_curve_showed_is_of_storage_unless_one_within_memory_lies_behind_it() {
        let observation = |mib: u64| {
            let workload = Workload { unique_bytes: mib << 20, ..Workload::default() };
            Observation::of(&measurement(&workload, 1e9, 1.0, 1e9))
        };
        let observations: Vec<Observation> =
            [4, 16, 64, 256].into_iter().filter_map(observation).collect();
        let borders = [vec![guess(24.0, true)], vec![guess(100.0, false)]];
        let more = with_one_more(&borders, &observations);
        let of = |operation: usize| more.iter().map(move |pair| &pair[operation]);
        let longer = |operation| of(operation).filter(|own| own.len() > 1).map(|own| within(own));
        let reads: Vec<Vec<bool>> = longer(0).collect();
        assert_eq!(reads, [[true, true], [true, false], [true, false]]);
        assert!(longer(1).all(|own| own[..] == [false, false]));
    }
}
