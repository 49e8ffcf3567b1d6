//! The paper's model: the throughput at the focal vector times the shape of every parameter, region by region.

use super::input::{ModelInput, Observation, observations};
use super::pchip::Pchip;
use super::predict::{Estimate, ModelError};
use ioscape_schema::statistics::sort_by_number;
use ioscape_schema::{Evaluation, Parameter, Point, Region};

/// Half width of the 90 % interval of ln(throughput) when no point lies off the curves: the paper's
/// errors, doubled.
const HALF_WIDTH: f64 = 0.5;

/// One parameter's curve, relative to the focal value.
#[derive(Clone, Debug)]
struct Shape {
    parameter: Parameter,
    curve: Pchip,
    focal: ModelInput,
}

impl Shape {
    /// The shape of one curve. Over the share of reads the time per byte is smooth (linear, where
    /// operations do not interfere); over all other parameters ln(throughput) is.
    fn new(parameter: Parameter, observations: &[Observation], focal: ModelInput) -> Self {
        let ordinate = |log: f64| if parameter == Parameter::ReadFrac { (-log).exp() } else { log };
        let points =
            observations.iter().map(|o| (o.place.scaled(parameter), ordinate(o.log_throughput)));
        Self { parameter, curve: Pchip::through(points), focal }
    }

    /// ln(throughput) on the curve; `None` without points.
    fn log_throughput(&self, place: &ModelInput) -> Option<f64> {
        let ordinate = self.curve.at(place.scaled(self.parameter))?;
        Some(if self.parameter == Parameter::ReadFrac { -ordinate.ln() } else { ordinate })
    }

    /// ln of the throughput over that at the focal value; 0 for a curve without points.
    fn log_ratio(&self, place: &ModelInput) -> f64 {
        let here = self.log_throughput(place);
        let ratio = here.and_then(|here| Some(here - self.log_throughput(&self.focal)?));
        ratio.filter(|ratio| ratio.is_finite()).unwrap_or(0.0)
    }
}

#[derive(Clone, Debug)]
struct Shapes {
    /// The largest `unique_bytes` for which the region answers.
    to: f64,
    /// ln(throughput) at the focal vector.
    focal: f64,
    shapes: Vec<Shape>,
}

/// The observations at `points`, except at the place `without`.
fn usable(points: &[Point], without: Option<&ModelInput>) -> Vec<Observation> {
    let all = points.iter().filter_map(|point| Observation::of(&point.measurement));
    all.filter(|o| without.is_none_or(|place| !place.same(&o.place))).collect()
}

impl Shapes {
    fn new(evaluation: &Evaluation, region: &Region, without: Option<&ModelInput>) -> Option<Self> {
        let focal = ModelInput::of(&region.focal);
        let [from, to] = region.unique_bytes;
        let mut across = usable(&evaluation.unique_bytes_curve, without);
        across.retain(|o| (from..=to).contains(&o.place.unique_bytes));
        let shapes: Vec<Shape> = Parameter::ALL
            .into_iter()
            .map(|parameter| match region.curves.get(parameter) {
                Some(points) => Shape::new(parameter, &usable(points, without), focal),
                None => Shape::new(parameter, &across, focal),
            })
            .collect();
        let (last, first) = (shapes[1..].iter(), shapes[..1].iter());
        let focal = last.chain(first).find_map(|shape| shape.log_throughput(&focal))?;
        Some(Self { to, focal, shapes })
    }
}

/// Throughput(X, Y, ...) = Throughput(focal) · f_X(X) · f_Y(Y) · ... (self-scaling paper, section
/// 9), in the region of the workload's `unique_bytes`, with shape-preserving interpolation.
#[derive(Clone, Debug)]
pub struct ProductModel {
    regions: Vec<Shapes>,
    half_width: f64,
}

impl ProductModel {
    /// The model of `evaluation`.
    ///
    /// # Errors
    /// [`ModelError::Empty`] when no region has a measured throughput.
    pub fn new(evaluation: &Evaluation) -> Result<Self, ModelError> {
        let regions = Self::regions(evaluation, None);
        if regions.is_empty() {
            return Err(ModelError::Empty { target: evaluation.target.clone() });
        }
        let mut model = Self { regions, half_width: HALF_WIDTH };
        model.half_width = model.calibrated(&observations(evaluation));
        Ok(model)
    }

    fn regions(evaluation: &Evaluation, without: Option<&ModelInput>) -> Vec<Shapes> {
        let shapes = |region| Shapes::new(evaluation, region, without);
        let mut regions: Vec<Shapes> = evaluation.regions.iter().filter_map(shapes).collect();
        sort_by_number(&mut regions, |one| one.to);
        regions
    }

    /// The error of each observation when predicted by the model of all others, as ln(throughput).
    pub(super) fn left_out(evaluation: &Evaluation, observations: &[Observation]) -> Vec<f64> {
        let error = |o: &Observation| {
            let regions = Self::regions(evaluation, Some(&o.place));
            let model = Self { regions, half_width: HALF_WIDTH };
            o.log_throughput - model.log_throughput(&o.place)
        };
        observations.iter().map(error).collect()
    }

    /// The 90th percentile of the errors at points that no curve of the model passes through.
    fn calibrated(&self, observations: &[Observation]) -> f64 {
        let errors =
            observations.iter().map(|o| (o.log_throughput - self.log_throughput(&o.place)).abs());
        let mut errors: Vec<f64> = errors.filter(|error| *error > 1e-6).collect();
        errors.sort_by(f64::total_cmp);
        let rank = ((errors.len() + 1) as f64 * 0.9).ceil() as usize;
        if errors.len() < 5 { HALF_WIDTH } else { errors[rank.min(errors.len()) - 1] }
    }

    fn log_throughput(&self, place: &ModelInput) -> f64 {
        let holds = |shapes: &&Shapes| place.unique_bytes <= shapes.to;
        let region = self.regions.iter().find(holds).or(self.regions.last());
        region.map_or(0.0, |r| r.focal + r.shapes.iter().map(|s| s.log_ratio(place)).sum::<f64>())
    }

    pub(super) fn estimate(&self, place: &ModelInput) -> Estimate {
        Estimate { log_throughput: self.log_throughput(place), half_width: self.half_width }
    }
}
