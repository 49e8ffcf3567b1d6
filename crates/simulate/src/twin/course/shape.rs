//! Whether parts with one level each explain a course much better than any smooth curve.

use super::phase::Phase;
use ioscape_schema::statistics::mean;
use nalgebra::{DMatrix, DVector};

/// Least number of steps times the logarithm of the ratio of squared distances (curve over levels)
/// for levels to explain more. It is as strict as 10 for independent steps, if one step in four is
/// independent.
const GAIN_LEAST: f64 = 40.0;
/// Time constants of flattening (exponential) curves, as shares of the course.
const FLATTENING: [f64; 10] = [0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.25, 0.4, 0.7, 1.5];
/// Squared relative distance of a step that counts as zero.
const NONE: f64 = 1e-8;

/// Whether a rate changed abruptly from part to part rather than gradually.
pub fn has_steps(parts: &[Phase], rates: &[f64]) -> bool {
    let mut levels = vec![f64::NAN; rates.len()];
    for part in parts {
        levels[part.steps.clone()].fill(part.level.mean.max(f64::MIN_POSITIVE));
    }
    let in_doubt = |at: usize| {
        let mut disturbed = parts.iter().flat_map(|part| &part.disturbed);
        disturbed.any(|steps| steps.contains(&at)) || levels[at].is_nan()
    };
    let places: Vec<usize> = (0..rates.len()).filter(|&at| !in_doubt(at)).collect();
    let by_levels = squares(places.iter().map(|&at| rates[at] / levels[at] - 1.0));
    let of = |basis: &dyn Fn(f64) -> Vec<f64>| curve(basis, &places, rates, &levels);
    let parabola = of(&|x| vec![1.0, x, x * x]);
    let flattening = FLATTENING.map(|within| of(&|x| vec![1.0, (-x / within).exp()]));
    let by_curve = flattening.into_iter().fold(parabola, f64::min);
    let none = NONE * places.len() as f64;
    places.len() as f64 * ((by_curve + none) / (by_levels + none)).ln() > GAIN_LEAST
}

fn squares(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum()
}

/// The squared distances, relative to the levels, from the best-fitting linear combination of the
/// basis curves.
fn curve(basis: &dyn Fn(f64) -> Vec<f64>, places: &[usize], rates: &[f64], levels: &[f64]) -> f64 {
    let rows: Vec<Vec<f64>> =
        places.iter().map(|&at| basis(at as f64 / rates.len() as f64)).collect();
    let width = rows.first().map_or(0, Vec::len);
    // Columns of similar size keep the normal equations well conditioned.
    let size = mean(rates);
    let scaled = DMatrix::from_fn(rows.len(), width, |i, j| rows[i][j] * size / levels[places[i]]);
    let wanted = DVector::from_fn(rows.len(), |i, _| rates[places[i]] / levels[places[i]]);
    let normal = scaled.transpose() * &scaled;
    let Some(found) = normal.cholesky().map(|n| n.solve(&(scaled.transpose() * &wanted))) else {
        return f64::INFINITY;
    };
    squares((&scaled * found - wanted).iter().copied())
}

#[cfg(test)]
mod tests {
    use super::super::phase::phases;
    use super::*;

    #[test]
    fn a_step_is_told_from_a_slope_and_from_a_curve_that_flattens() {
        let wobble = |i: usize| 1.0 + 0.1 * ((i * 7919 % 97) as f64 / 48.0 - 1.0);
        let made = |at: &dyn Fn(f64) -> f64| -> Vec<f64> {
            (0..150).map(|i| 1e8 * at(i as f64 / 150.0) * wobble(i)).collect()
        };
        let step = made(&|x| if x < 0.4 { 2.0 } else { 1.0 });
        assert!(has_steps(&phases(&step), &step));
        for curve in [made(&|x| 2.0 - x), made(&|x| 1.0 + 3.0 * (-x / 0.1).exp())] {
            assert!(!has_steps(&phases(&curve), &curve));
        }
    }
}
