//! Decides whose cache ends at a border that several clients found: the clients' own, or one behind
//! them.

use super::measured::number;
use crate::text::NONE;
use ioscape_schema::{Border, BorderOperation, Evaluation, LevelCount, Measurement, Point};

/// A set counts as cached by the clients if at least this share is in their caches.
const STAYS: f64 = 0.9;
/// A fall deeper by this factor than the clients' own misses explain has another cause.
const DEEPER: f64 = 1.5;
/// The smallest set beyond a border that can decide, relative to it: a cache as large as the border
/// holds 0.8 of such a set.
const BEHIND: f64 = 1.25;

/// The owner of the cache that ends at a border.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The clients: throughput falls where the set outgrows their caches, which hold as much as the
    /// border.
    Clients,
    /// A machine behind the clients, such as the server: their caches play no part, or their misses
    /// explain less than the fall.
    Behind,
    /// The residency that the clients' kernels reported does not tell.
    Untold,
}

impl Whose {
    /// The owner of the cache that ends at `border`.
    ///
    /// `None` for an evaluation by one machine, and for a border within memory.
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

    /// The wording in tables.
    pub fn words(self) -> &'static str {
        match self {
            Self::Clients => "the clients' own",
            Self::Behind => "behind the clients",
            Self::Untold => "cannot be told",
        }
    }

    /// The remark after a border's size in a figure.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Clients => " (clients)",
            Self::Behind => " (behind them)",
            Self::Untold => "",
        }
    }
}

/// The owner of the cache that ends at a border, as worded in tables.
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
    // Random reads slow down in proportion to their misses, if a miss always costs the same.
    let is_deeper = border.ratio > DEEPER * (1.0 - least) / (1.0 - before);
    (border.operation == BorderOperation::Read && is_deeper).then_some(Whose::Behind)
}

/// The size of the set, and the share of it in the clients' caches after an undisturbed run.
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
