//! Two models as one: levels of the hierarchy and the paper's product, each trusted as far as it
//! predicts what it did not see.

use super::hierarchy::HierarchyModel;
use super::input::{ModelInput, Observation};
use super::predict::Estimate;
use super::product::ProductModel;
use ioscape_schema::Evaluation;

/// The number of steps in which the share of the product is tried.
const STEPS: u32 = 10;
/// The greatest error that counts, as ln(throughput): one wild point must not choose the model.
const ERROR_MOST: f64 = 1.0;

/// The mean of both models' ln(throughput), with weights from leave-one-out predictions (stacking: Breiman, "Stacked regressions",
/// Machine Learning 24, 1996).
#[derive(Clone, Debug)]
pub(super) struct StackedModel {
    pub(super) levels: HierarchyModel,
    /// The levels with intervals that hold for both models together.
    calibrated: HierarchyModel,
    product: ProductModel,
    /// Share of the product.
    share: f64,
    /// The error of each observation when predicted from the others.
    errors: Vec<f64>,
}

impl StackedModel {
    pub(super) fn new(
        levels: HierarchyModel,
        product: ProductModel,
        evaluation: &Evaluation,
        observations: &[Observation],
    ) -> Self {
        let products = ProductModel::left_out(evaluation, observations);
        let pairs: Vec<[f64; 3]> = levels
            .errors()
            .zip(products)
            .zip(levels.weights())
            .map(|((own, other), weight)| [own, other, weight])
            .collect();
        let share = share(&pairs);
        let errors: Vec<f64> = pairs.iter().map(|pair| stacked(pair, share)).collect();
        let calibrated = levels.clone().calibrated_on(observations, &errors);
        Self { levels, calibrated, product, share, errors }
    }

    /// The error of each observation when predicted from the others, in the observations' order.
    pub(super) fn errors(&self) -> impl Iterator<Item = f64> {
        self.errors.iter().copied()
    }

    /// The levels, with the intervals that hold for both models together.
    pub(super) fn calibrated(&self) -> &HierarchyModel {
        &self.calibrated
    }

    pub(super) fn estimate(&self, place: &ModelInput) -> Estimate {
        let levels = self.calibrated.estimate(place);
        self.calibrated.moved(levels, self.beyond(&levels, place), place)
    }

    /// The product's addition to the levels' ln(throughput) at `place`.
    pub(super) fn beyond_levels(&self, place: &ModelInput) -> f64 {
        if self.share == 0.0 { 0.0 } else { self.beyond(&self.calibrated.estimate(place), place) }
    }

    fn beyond(&self, levels: &Estimate, place: &ModelInput) -> f64 {
        self.share * (self.product.estimate(place).log_throughput - levels.log_throughput)
    }
}

/// The error of the mean of both, in which the second has this share.
fn stacked([own, other, _]: &[f64; 3], share: f64) -> f64 {
    if share > 0.0 { own + share * (other - own) } else { *own }
}

/// The share of the second model with the least mean error, from triples of both errors and the
/// weight; 0 where the gain could be chance (the rule of one standard error: Breiman et al.,
/// "Classification and Regression Trees", 1984, section 3.4).
fn share(pairs: &[[f64; 3]]) -> f64 {
    let pairs: Vec<&[f64; 3]> = pairs.iter().filter(|pair| pair[1].is_finite()).collect();
    let gains = |share: f64| -> Vec<f64> {
        let counted = |error: f64| error.abs().min(ERROR_MOST);
        let gain = |pair: &&[f64; 3]| pair[2] * (counted(pair[0]) - counted(stacked(pair, share)));
        pairs.iter().map(gain).collect()
    };
    let sum = |values: &[f64]| values.iter().sum::<f64>();
    let tried = (0..=STEPS).map(|step| f64::from(step) / f64::from(STEPS));
    let best = tried.max_by(|a, b| sum(&gains(*a)).total_cmp(&sum(&gains(*b)))).unwrap_or(0.0);
    let gains = gains(best);
    let mean = sum(&gains) / gains.len().max(1) as f64;
    let squares: f64 = gains.iter().map(|gain| (gain - mean).powi(2)).sum();
    if sum(&gains) > squares.sqrt() { best } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_better_model_is_trusted_and_chance_is_not() {
        let wave = |i: u32| (f64::from(i) * 1.7).sin();
        let pairs = |own: f64, other: f64| -> Vec<[f64; 3]> {
            (0..60).map(|i| [own * wave(i), other * wave(i + 7), 1.0]).collect()
        };
        assert_eq!(share(&pairs(0.1, 1.0)), 0.0);
        assert!(share(&pairs(0.8, 0.1)) > 0.8);
        assert!((0.2..0.8).contains(&share(&pairs(0.3, 0.3))), "independent errors cancel");
        assert_eq!(share(&[[0.1, 0.0, 1.0], [0.1, 0.3, 1.0], [0.1, 0.0, 1.0]]), 0.0);
        assert_eq!(share(&[]), 0.0);
        assert_eq!(share(&[[0.1, f64::NAN, 1.0]]), 0.0);
    }
}
