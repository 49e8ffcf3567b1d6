//! How what is simulated changes with each time and rate, both ways: what is rough in it tells nothing, and what shows one way only leaves the other open.

use nalgebra::DMatrix;

/// Second differences of independent errors have so many times their variance.
const DIFFERENCES: f64 = 6.0;
/// Standard deviations of 95 % certainty.
const SURE: f64 = 1.96;
/// Without any measurement a time or rate is known to a few orders of magnitude: so much, in the inverse square of its logarithm.
const BEFORE: f64 = 0.1;

/// Derivatives of residuals by the logarithm of each parameter that is moved.
pub struct Ways {
    /// From here to a step up, and from a step down to here.
    pub up: DMatrix<f64>,
    pub down: DMatrix<f64>,
    pub step: f64,
}

impl Ways {
    /// Over both steps.
    pub fn central(&self) -> DMatrix<f64> {
        (&self.up + &self.down) / 2.0
    }

    /// What shows both ways: the smaller of both, and nothing where they are of different signs.
    fn sure(&self) -> DMatrix<f64> {
        self.up.zip_map(&self.down, |up, down| {
            if up * down > 0.0 { up.signum() * up.abs().min(down.abs()) } else { 0.0 }
        })
    }

    /// The standard deviation of each residual about what is smooth in it: many requests in flight, or pages that come and go in whole numbers, change what
    /// a workload comes to by leaps.
    pub fn rough(&self) -> Vec<f64> {
        let bends = (&self.up - &self.down) * self.step;
        let of = |row: usize| {
            let squares = bends.row(row).norm_squared() / bends.ncols().max(1) as f64;
            (squares / DIFFERENCES).sqrt()
        };
        (0..bends.nrows()).map(of).collect()
    }

    /// To which logarithm each parameter is known with 95 % certainty where residuals leave so much open.
    pub fn known_to(&self, open: &[f64]) -> Vec<f64> {
        let slopes = per_open(self.sure(), open);
        let mut known = slopes.transpose() * &slopes;
        for at in 0..known.nrows() {
            known[(at, at)] += BEFORE;
        }
        let count = known.nrows();
        match known.try_inverse() {
            Some(inverse) => inverse.diagonal().iter().map(|v| SURE * v.max(0.0).sqrt()).collect(),
            None => vec![f64::INFINITY; count],
        }
    }
}

/// Derivatives of residuals in units of what each leaves open.
pub fn per_open(mut slopes: DMatrix<f64>, open: &[f64]) -> DMatrix<f64> {
    for (mut row, open) in slopes.row_iter_mut().zip(open) {
        row /= *open;
    }
    slopes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A residual that only the first parameter moves, and one that the second does one way or both.
    fn of(other_up: f64, other_down: f64) -> Ways {
        let one = |other| DMatrix::from_row_slice(2, 2, &[0.5, 0.0, 0.0, other]);
        Ways { up: one(other_up), down: one(other_down), step: 0.02 }
    }

    #[test]
    fn what_shows_one_way_only_is_not_known() {
        let open = [1e-4; 2];
        let known = |ways: Ways| ways.known_to(&open);
        assert!(known(of(0.5, 0.5)).iter().all(|known| *known < 0.001));
        for [up, down] in [[0.5, 0.0], [0.0, 0.5], [0.5, -0.5], [0.0, 0.0]] {
            let known = known(of(up, down));
            assert!(known[0] < 0.001 && known[1] > 1.0, "{up} {down}: {known:?}");
        }
    }

    #[test]
    fn what_bends_is_rough_and_what_is_straight_is_not() {
        assert_eq!(of(0.5, 0.5).rough(), [0.0, 0.0]);
        let [smooth, rough] = of(0.7, 0.1).rough()[..] else { panic!("two residuals") };
        let bend = 0.6 * 0.02;
        assert!(smooth == 0.0 && (rough - bend / 12f64.sqrt()).abs() < 1e-12, "{rough}");
    }
}
