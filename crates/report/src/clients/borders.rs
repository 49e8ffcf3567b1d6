//! Whose cache ends at a border that several clients found together: the clients' own, or one behind them.

use super::measured::number;
use crate::text::NONE;
use ioscape_schema::{Border, BorderOperation, Evaluation, LevelCount, Measurement, Point};

/// A set with at least this share in the clients' caches stays in them.
const STAYS: f64 = 0.9;
/// A fall this much deeper than the clients' own misses explain has another cause.
const DEEPER: f64 = 1.5;
/// The first set behind a border that tells: a cache as large as the border holds 0.8 of it.
const BEHIND: f64 = 1.25;

/// Where the cache is that ends at a border.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// In the clients: throughput falls where the set no longer stays in their caches, and what stays is as large as the border.
    Clients,
    /// Behind the clients, as in the server: their caches take no part, or their misses explain less than the fall.
    Behind,
    /// Neither follows from what the clients' kernels said.
    Untold,
}

impl Whose {
    /// Whose cache ends at `border`; `None` of an evaluation by one machine, and of a border within memory.
    pub fn of(evaluation: &Evaluation, border: &Border) -> Option<Self> {
        number(evaluation)?;
        if border.in_memory {
            return None;
        }
        if !evaluation.has_file_cache(border.operation) {
            return Some(Self::Behind);
        }
        Some(by_residency(evaluation, border).unwrap_or(Self::Untold))
    }

    /// The words in tables.
    pub fn words(self) -> &'static str {
        match self {
            Self::Clients => "the clients' own",
            Self::Behind => "behind the clients",
            Self::Untold => "cannot be told",
        }
    }

    /// What stands behind a border's size in a figure.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Clients => " (clients)",
            Self::Behind => " (behind them)",
            Self::Untold => "",
        }
    }
}

/// Whose cache ends at a border, in the words of a table.
pub fn whose_cache(evaluation: &Evaluation, border: &Border) -> &'static str {
    Whose::of(evaluation, border).map_or(NONE, Whose::words)
}

fn by_residency(evaluation: &Evaluation, border: &Border) -> Option<Whose> {
    let curve = match border.operation {
        BorderOperation::Read => &evaluation.unique_bytes_read_curve,
        BorderOperation::Write => &evaluation.unique_bytes_write_curve,
        BorderOperation::Mixed => &evaluation.unique_bytes_curve,
    };
    let told: Vec<(f64, f64)> = curve.iter().filter_map(resident).collect();
    let far = border.high.max(border.unique_bytes * BEHIND);
    let (_, before) = told.iter().rev().find(|(size, _)| *size <= border.low)?;
    let (size, after) = told.iter().find(|(size, _)| *size >= far)?;
    if *before >= STAYS {
        let is_as_large = LevelCount::is_within(after * size, [border.low, border.high]);
        return (*after < STAYS && is_as_large).then_some(Whose::Clients);
    }
    let least = told.iter().filter(|(size, _)| *size >= far).map(|one| one.1).fold(1.0, f64::min);
    // Random reads are as fast as their misses are rare, if what the misses meet stays the same.
    let is_deeper = border.ratio > DEEPER * (1.0 - least) / (1.0 - before);
    (border.operation == BorderOperation::Read && is_deeper).then_some(Whose::Behind)
}

/// Size of the set, and the share of it that the clients' caches held after an undisturbed run.
fn resident(point: &Point) -> Option<(f64, f64)> {
    let Measurement { disturbed, witness, resident_frac, .. } = &point.measurement;
    let share = witness.resident_frac.map(|[_, after]| after).or(*resident_frac);
    share.filter(|_| !disturbed).map(|share| (point.value, share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use ioscape_schema::Access;

    const MIB: f64 = 1024.0 * 1024.0;

    fn border(at: f64, ratio: f64) -> Border {
        let (low, high) = (at * 0.95 * MIB, at * 1.05 * MIB);
        let operation = BorderOperation::Read;
        Border {
            operation,
            unique_bytes: at * MIB,
            low,
            high,
            ratio,
            in_memory: false,
            slower: None,
        }
    }

    #[test]
    fn a_border_where_sets_leave_the_clients_is_theirs_and_a_deeper_fall_is_not() {
        let evaluation = sample::evaluation_by_clients();
        let whose = |at, ratio| Whose::of(&evaluation, &border(at, ratio));
        assert_eq!(whose(26.0, 5.0), Some(Whose::Clients));
        assert_eq!(whose(123.0, 480.0), Some(Whose::Behind));
        assert_eq!(whose(123.0, 1.4), Some(Whose::Untold), "more misses explain such a fall");
        assert_eq!(whose(8.0, 5.0), Some(Whose::Untold), "the clients hold more than that");
        let within = Border { in_memory: true, ..border(26.0, 5.0) };
        assert_eq!(Whose::of(&evaluation, &within), None);
    }

    #[test]
    fn without_the_clients_caches_it_is_behind_them_and_without_a_word_untold() {
        let mut evaluation = sample::evaluation_by_clients();
        for point in &mut evaluation.unique_bytes_read_curve {
            point.measurement.resident_frac = None;
        }
        assert_eq!(Whose::of(&evaluation, &border(26.0, 5.0)), Some(Whose::Untold));
        evaluation.regions[0].focal.access = Access::Direct;
        assert_eq!(Whose::of(&evaluation, &border(26.0, 5.0)), Some(Whose::Behind));
        assert_eq!(Whose::of(&sample::evaluation(), &border(26.0, 5.0)), None, "one machine");
    }
}
