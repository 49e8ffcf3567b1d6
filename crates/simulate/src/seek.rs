//! Seek curves: the published forms, and how each becomes a table of nanoseconds by distance before
//! a run.
//!
//! Floating point ends here: a run only looks up integers in that table.

use serde::{Deserialize, Serialize};

/// A seek curve as published; times in milliseconds, distances in cylinders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "form", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SeekCurve {
    /// The two-part curve of HP Labs (Ruemmler & Wilkes, "An introduction to disk drive modeling", IEEE Computer 1994):
    /// `a + b·√d` below the divider, `c + e·d` from it on; `short` holds measured times of the first distances.
    TwoPart {
        /// First distance of the linear part.
        divider: u32,
        /// Constant of the short part.
        a: f64,
        /// Factor of the root.
        b: f64,
        /// Constant of the long part.
        c: f64,
        /// Factor of the distance.
        e: f64,
        /// Times of distances 1, 2, …, which override the curve.
        #[serde(default)]
        short: Vec<f64>,
    },
    /// Measured points `[distance, milliseconds]`, joined by straight lines. The last line
    /// continues, but not below 0: if the last two points fall, their slope may be measurement
    /// noise, which is no reason to refuse the table.
    Table {
        /// At least one point, distances rising.
        points: Vec<(u32, f64)>,
    },
    /// Lee's curve through three brochure figures: `a·√(d-1) + b·(d-1) + c` (Lee and Katz, "An analytic performance
    /// model of disk arrays", SIGMETRICS 1993).
    ThreePoints {
        /// One cylinder.
        single: f64,
        /// Mean over random pairs of cylinders.
        average: f64,
        /// Across the whole disk.
        full: f64,
    },
    /// The same time for every distance but 0.
    Constant {
        /// The time.
        time: f64,
    },
}

/// Nanoseconds in a millisecond.
pub(crate) const MS: f64 = 1e6;

/// A time in milliseconds as whole nanoseconds, not below 0.
pub fn nanoseconds(milliseconds: f64) -> u64 {
    libm::round(milliseconds.max(0.0) * MS) as u64
}

impl SeekCurve {
    /// Returns the times of all distances from 0 (no time) to `cylinders` - 1.
    ///
    /// # Errors
    /// Says which number is negative, not finite or out of order, or that a seek takes less than no
    /// time or over four seconds.
    pub fn table(&self, cylinders: u32) -> Result<Vec<u32>, String> {
        self.check()?;
        let lee = self.lee(cylinders);
        let table = (0..cylinders).map(|d| {
            let ms = if d == 0 { 0.0 } else { self.at(d, lee) };
            if ms < 0.0 {
                return Err(format!(
                    "the curve through single, average and full falls below 0 on {cylinders} cylinders ({ms:.3} ms for a seek of {d}): correct them, or give points (form = \"table\")"
                ));
            }
            u32::try_from(nanoseconds(ms))
                .map_err(|_| format!("a seek of {d} cylinders takes over four seconds"))
        });
        table.collect()
    }

    fn at(&self, d: u32, lee: (f64, f64)) -> f64 {
        let distance = f64::from(d);
        match self {
            Self::TwoPart { divider, a, b, c, e, short } => {
                if let Some(&time) = short.get(d as usize - 1) {
                    time
                } else if d < *divider {
                    a + b * libm::sqrt(distance)
                } else {
                    c + e * distance
                }
            }
            Self::Table { points } => between(points, distance),
            Self::ThreePoints { single, .. } => {
                lee.0 * libm::sqrt(distance - 1.0) + lee.1 * (distance - 1.0) + single
            }
            Self::Constant { time } => *time,
        }
    }

    /// Lee's two factors for a disk with `cylinders` cylinders.
    fn lee(&self, cylinders: u32) -> (f64, f64) {
        let Self::ThreePoints { single, average, full } = self else { return (0.0, 0.0) };
        let n = f64::from(cylinders.max(3));
        let root = (-10.0 * single + 15.0 * average - 5.0 * full) / (3.0 * libm::sqrt(n));
        let linear = (7.0 * single - 15.0 * average + 8.0 * full) / (3.0 * n);
        (root, linear)
    }

    fn check(&self) -> Result<(), String> {
        let numbers: Vec<f64> = match self {
            Self::TwoPart { a, b, c, e, short, .. } => {
                [*a, *b, *c, *e].into_iter().chain(short.iter().copied()).collect()
            }
            Self::Table { points } => {
                if points.is_empty()
                    || points[0].0 == 0
                    || points.windows(2).any(|w| w[0].0 >= w[1].0)
                {
                    return Err("the points of a seek table need rising distances from 1".into());
                }
                points.iter().map(|p| p.1).collect()
            }
            Self::ThreePoints { single, average, full } => vec![*single, *average, *full],
            Self::Constant { time } => vec![*time],
        };
        if let Some(wrong) = numbers.iter().find(|n| !n.is_finite() || **n < 0.0) {
            return Err(format!("{wrong} is no seek time"));
        }
        match self {
            Self::ThreePoints { single, average, full } if single > average || average > full => {
                Err(format!(
                    "single ({single} ms), average ({average} ms) and full ({full} ms) must not decrease: were two of them swapped?"
                ))
            }
            _ => Ok(()),
        }
    }
}

/// For each distance, the least time of that distance and all longer ones.
pub fn least_from(table: &[u32]) -> Vec<u32> {
    let mut least = table.to_vec();
    for at in (1..least.len()).rev() {
        least[at - 1] = least[at - 1].min(least[at]);
    }
    least
}

/// Interpolates between the points on both sides of `distance`, or extends the last line.
fn between(points: &[(u32, f64)], distance: f64) -> f64 {
    let after = points.partition_point(|p| f64::from(p.0) < distance);
    let (low, high) = match (points.len(), after) {
        (1, _) => return points[0].1,
        (_, 0) => return points[0].1,
        (len, at) if at == len => (points[len - 2], points[len - 1]),
        (_, at) => (points[at - 1], points[at]),
    };
    let (x0, x1) = (f64::from(low.0), f64::from(high.0));
    (low.1 + (high.1 - low.1) * (distance - x0) / (x1 - x0)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_part_curve_of_the_97560_meets_at_its_divider() {
        let curve =
            SeekCurve::TwoPart { divider: 383, a: 3.24, b: 0.4, c: 8.0, e: 0.008, short: vec![] };
        let table = curve.table(1962).unwrap();
        assert_eq!((table[0], table[1], table[1000]), (0, 3_640_000, 16_000_000));
        assert!(table[383].abs_diff(table[382]) < 20_000);
    }

    #[test]
    fn tables_run_through_their_points_and_measured_short_seeks_win() {
        let curve = SeekCurve::Table { points: vec![(1, 1.0), (11, 2.0), (21, 2.5)] };
        let table = curve.table(32).unwrap();
        assert_eq!((table[6], table[21], table[31]), (1_500_000, 2_500_000, 3_000_000));
        let curve =
            SeekCurve::TwoPart { divider: 9, a: 1.0, b: 1.0, c: 0.0, e: 1.0, short: vec![7.0] };
        assert_eq!(curve.table(5).unwrap()[1..3], [7_000_000, 2_414_214]);
    }

    #[test]
    fn lee_keeps_its_three_figures() {
        let curve = SeekCurve::ThreePoints { single: 2.0, average: 12.0, full: 25.0 };
        let table = curve.table(2000).unwrap();
        assert_eq!(table[1], 2_000_000);
        assert!(table[1999].abs_diff(25_000_000) < 200_000, "{}", table[1999]);
        // The mean over random pairs: distance d has probability 2(N-d)/N².
        let mean: f64 = (1..2000u64)
            .map(|d| 2.0 * (2000 - d) as f64 / 4e6 * f64::from(table[d as usize]))
            .sum();
        assert!((mean / 12e6 - 1.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn impossible_curves_are_refused() {
        for wrong in [
            SeekCurve::Constant { time: -1.0 },
            SeekCurve::Constant { time: f64::NAN },
            SeekCurve::Constant { time: 1e9 },
            SeekCurve::Table { points: vec![] },
            SeekCurve::Table { points: vec![(3, 1.0), (3, 2.0)] },
        ] {
            assert!(wrong.table(10).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn three_figures_with_a_seek_below_no_time_between_them_are_refused() {
        let curve = |single, average, full| SeekCurve::ThreePoints { single, average, full };
        assert!(curve(0.9, 8.5, 18.0).table(320_000).is_ok());
        assert!(curve(18.0, 18.0, 18.0).table(320_000).is_ok());
        for (single, average, full) in [(1.0, 18.0, 8.5), (8.5, 1.0, 18.0), (18.0, 8.0, 1.0)] {
            let refused = curve(single, average, full).table(1000).unwrap_err();
            assert!(refused.ends_with("were two of them swapped?"), "{refused}");
        }
        let refused = curve(0.5, 4.0, 15.0).table(320_000).unwrap_err();
        assert!(refused.starts_with("the curve through single, average and full"), "{refused}");
    }
}
