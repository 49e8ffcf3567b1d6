//! How simulated throughputs change with each time and rate, upwards and downwards. Rough changes
//! tell nothing, and a change in one direction only leaves the other direction open.

use nalgebra::DMatrix;

/// Variance of second differences of independent errors, in multiples of the errors' variance.
const DIFFERENCES: f64 = 6.0;
/// Standard deviations of 95 % certainty.
const SURE: f64 = 1.96;
/// Prior knowledge of a time or rate, to within a few orders of magnitude: the inverse variance of
/// its logarithm.
const BEFORE: f64 = 0.1;

/// Derivatives of the residuals by the logarithm of each moved parameter.
pub struct Ways {
    /// From here to one step up, and from one step down to here.
    pub up: DMatrix<f64>,
    pub down: DMatrix<f64>,
    pub step: f64,
}

impl Ways {
    /// The central derivatives, over both steps.
    pub fn central(&self) -> DMatrix<f64> {
        (&self.up + &self.down) / 2.0
    }

    /// The derivatives that both directions confirm: the smaller of the two, or zero if their signs
    /// differ.
    fn sure(&self) -> DMatrix<f64> {
        self.up.zip_map(&self.down, |up, down| {
            if up * down > 0.0 { up.signum() * up.abs().min(down.abs()) } else { 0.0 }
        })
    }

    /// The roughness of each residual: its standard deviation around a smooth change. With many
    /// requests in flight, or because pages come in whole numbers, throughput changes in jumps.
    pub fn rough(&self) -> Vec<f64> {
        let bends = (&self.up - &self.down) * self.step;
        let of = |row: usize| {
            let squares = bends.row(row).norm_squared() / bends.ncols().max(1) as f64;
            (squares / DIFFERENCES).sqrt()
        };
        (0..bends.nrows()).map(of).collect()
    }

    /// The 95 % uncertainty of each parameter's logarithm, given the uncertainty `open` of each
    /// residual.
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

/// Derivatives of the residuals in units of each residual's uncertainty.
pub fn per_open(mut slopes: DMatrix<f64>, open: &[f64]) -> DMatrix<f64> {
    for (mut row, open) in slopes.row_iter_mut().zip(open) {
        row /= *open;
    }
    slopes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Derivatives of one residual that only the first parameter changes, and of one that the
    /// second changes in one direction or both.
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
