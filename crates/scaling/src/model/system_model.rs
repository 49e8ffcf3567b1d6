//! The model of one system, as users ask for it: levels of the hierarchy, the paper's product, or
//! by default both.

use super::hierarchy::HierarchyModel;
use super::input::{ModelInput, Observation, base, observations};
use super::kind::{OtherKind, differences};
use super::pairing::{ModelMiss, correlation};
use super::predict::{Estimate, ModelError, Predict};
use super::product::ProductModel;
use super::stack::StackedModel;
use crate::judge::policy::is_of_file_cache;
use ioscape_schema::{
    BorderOperation, Evaluation, Op, Parameter, Prediction, Purpose, Workload, WritePolicy,
};

/// Which model predicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelKind {
    /// Levels and product, each weighted by how well it predicted what it had not seen.
    #[default]
    Default,
    /// Levels of the storage hierarchy with separate reads and writes, corrected by a Gaussian process.
    Levels,
    /// The paper's product of single-parameter shapes.
    Product,
}

ioscape_schema::words!(ModelKind, "model", Default => "default", Levels => "levels",
    Product => "product");

#[derive(Clone, Debug)]
enum Kind {
    Stacked(Box<StackedModel>),
    Hierarchy(Box<HierarchyModel>),
    Product(ProductModel),
}

/// A model of one system, made from its evaluation.
#[derive(Clone, Debug)]
pub struct Model {
    kind: Kind,
    target: String,
    base: Workload,
    /// The number of clients evaluated together: the throughput is their sum, `process_num` that of
    /// each.
    pub(super) clients: f64,
    /// The name and the largest `unique_bytes` of each region.
    regions: Vec<(String, f64)>,
    /// The least and the greatest measured value of each parameter, in [`Parameter::ALL`]'s order,
    /// on the parameter's scale.
    measured: [[f64; 2]; 5],
    /// Its error at each observation.
    misses: Vec<ModelMiss>,
    /// Whether every write was found to complete in storage.
    writes_through: bool,
    /// Writes to a small set that each wait for storage, beside an evaluation whose writes do not.
    pub(super) synchronous: Option<Observation>,
    /// Whether the first border of reads, and of writes, is surely one of the file cache.
    of_file_cache: [bool; 2],
}

/// Mean sizes off the measured ones by up to this, on the logarithm, are not told from them: a few
/// short requests among pages of 4 KiB put the mean just below 4 KiB.
pub(super) const SIZES_ALIKE: f64 = 0.1;

/// A measured range of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measured {
    /// The least and the greatest value, on the parameter's scale.
    pub(super) range: [f64; 2],
    /// The region from which on, and the operation with which, that was the range; absent where it
    /// is that of all measurements.
    pub(super) among: Option<(usize, Op)>,
}

/// The least and the greatest of some values; infinite and the wrong way round without any.
fn span(values: impl Iterator<Item = f64>) -> [f64; 2] {
    values.fold([f64::INFINITY, f64::NEG_INFINITY], |[l, h], v| [l.min(v), h.max(v)])
}

impl Model {
    /// The default model; where the structure of an evaluation cannot be fitted, the product.
    ///
    /// # Errors
    /// [`ModelError::Empty`] when the evaluation holds no region with a measured throughput.
    pub fn new(evaluation: &Evaluation) -> Result<Self, ModelError> {
        Self::started(evaluation, 0)
    }

    /// The default model, with the starts of its fit drawn by `start_seed`; 0 for the usual ones.
    /// How far two such models differ shows how firmly the observations determine it.
    ///
    /// # Errors
    /// [`ModelError::Empty`] when the evaluation holds no region with a measured throughput.
    pub fn started(evaluation: &Evaluation, start_seed: u64) -> Result<Self, ModelError> {
        let product = ProductModel::new(evaluation)?;
        let kind = match sound_levels(evaluation, start_seed) {
            Some(levels) => {
                let observations = observations(evaluation);
                let both = StackedModel::new(levels, product, evaluation, &observations);
                Kind::Stacked(Box::new(both))
            }
            None => Kind::Product(product),
        };
        Self::with_kind(evaluation, kind)
    }

    /// Levels of the hierarchy alone; where the structure of an evaluation cannot be fitted, the product.
    ///
    /// # Errors
    /// [`ModelError::Empty`] when the evaluation holds no region with a measured throughput.
    pub fn levels(evaluation: &Evaluation) -> Result<Self, ModelError> {
        let product = ProductModel::new(evaluation)?;
        let kind = match sound_levels(evaluation, 0) {
            Some(levels) => Kind::Hierarchy(Box::new(levels)),
            None => Kind::Product(product),
        };
        Self::with_kind(evaluation, kind)
    }

    /// The paper's product of single-parameter shapes.
    ///
    /// # Errors
    /// [`ModelError::Empty`] when the evaluation holds no region with a measured throughput.
    pub fn product(evaluation: &Evaluation) -> Result<Self, ModelError> {
        Self::with_kind(evaluation, Kind::Product(ProductModel::new(evaluation)?))
    }

    /// The model of the given kind.
    ///
    /// # Errors
    /// [`ModelError::Empty`] when the evaluation holds no region with a measured throughput.
    pub fn of_kind(kind: ModelKind, evaluation: &Evaluation) -> Result<Self, ModelError> {
        match kind {
            ModelKind::Default => Self::new(evaluation),
            ModelKind::Levels => Self::levels(evaluation),
            ModelKind::Product => Self::product(evaluation),
        }
    }

    fn with_kind(evaluation: &Evaluation, kind: Kind) -> Result<Self, ModelError> {
        let empty = || ModelError::Empty { target: evaluation.target.clone() };
        let base = base(evaluation).ok_or_else(empty)?.clone();
        let observations = observations(evaluation);
        let measured = Parameter::ALL
            .map(|parameter| span(observations.iter().map(|o| o.place.scaled(parameter))));
        let errors: Vec<f64> = match &kind {
            Kind::Stacked(model) => model.errors().collect(),
            Kind::Hierarchy(model) => model.errors().collect(),
            Kind::Product(_) => ProductModel::left_out(evaluation, &observations),
        };
        let miss = |(o, error): (&Observation, f64)| ModelMiss {
            place: o.place,
            measured: o.log_throughput,
            error,
        };
        let misses = observations.iter().zip(errors).map(miss).collect();
        let regions =
            evaluation.regions.iter().map(|r| (r.name.clone(), r.unique_bytes[1])).collect();
        let first = evaluation.unique_bytes_curve.first();
        let clients = first.map_or(1.0, |point| point.measurement.client_count());
        let target = evaluation.target.clone();
        let writes_through = evaluation.findings.write_policy == Some(WritePolicy::WriteThrough);
        let synchronous = evaluation.last(&Purpose::SynchronousWrites).and_then(Observation::of);
        let of_file_cache = [BorderOperation::Read, BorderOperation::Write]
            .map(|operation| is_of_file_cache(evaluation, operation));
        Ok(Self {
            kind,
            target,
            base,
            clients,
            regions,
            measured,
            misses,
            writes_through,
            synchronous,
            of_file_cache,
        })
    }

    /// Its kind.
    pub fn kind(&self) -> ModelKind {
        match self.kind {
            Kind::Stacked(_) => ModelKind::Default,
            Kind::Hierarchy(_) => ModelKind::Levels,
            Kind::Product(_) => ModelKind::Product,
        }
    }

    /// This model without the product.
    pub(super) fn of_levels(&self) -> Option<Self> {
        let kind = Kind::Hierarchy(Box::new(self.hierarchy()?.clone()));
        Some(Self { kind, ..self.clone() })
    }

    /// The least and the greatest measured value of `parameter`.
    pub fn measured(&self, parameter: Parameter) -> [f64; 2] {
        let index = Parameter::ALL.iter().position(|one| *one == parameter);
        let span = index.and_then(|index| self.measured.get(index)).copied().unwrap_or([0.0; 2]);
        span.map(|end| if parameter.is_logarithmic() { end.exp() } else { end })
    }

    /// Whether some parameter of `workload` lies outside the measured range. Sizes, sequential
    /// requests and processes must have been measured with its operations on sets like its own.
    pub fn extrapolates(&self, workload: &Workload) -> bool {
        self.outside(workload, workload.unique_bytes as f64) > 0.0
    }

    /// The measured range that `parameter` of `place` exceeds where its set lies in `region`; of
    /// several the one it exceeds by most widths.
    pub(super) fn exceeded(
        &self,
        parameter: Parameter,
        place: &ModelInput,
        region: usize,
    ) -> Option<(f64, Measured)> {
        let (value, reads) = (place.scaled(parameter), place.read_frac);
        let alike = if parameter == Parameter::SizeMean { SIZES_ALIKE } else { 1e-9 };
        let asked = [(Op::Read, reads > 0.0), (Op::Write, reads < 1.0)];
        let ranges = asked.into_iter().filter(|(_, is_asked)| *is_asked).map(|(op, _)| {
            let measured = self.tells(parameter, region, op);
            let [low, high] = measured.range;
            let off = (low - value).max(value - high);
            (if off > alike { off / (high - low).max(1.0) } else { 0.0 }, measured)
        });
        ranges.filter(|(off, _)| *off > 0.0).max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// The measured range of `parameter` as far as it tells of an operation on sets of `region`.
    /// Memory tells nothing of how storage serves other sizes or more processes, nor do reads of
    /// writes.
    fn tells(&self, parameter: Parameter, region: usize, op: Op) -> Measured {
        let index = Parameter::ALL.iter().position(|one| *one == parameter);
        let all = Measured { range: index.map_or([0.0; 2], |at| self.measured[at]), among: None };
        if matches!(parameter, Parameter::UniqueBytes | Parameter::ReadFrac) {
            return all;
        }
        // Larger sets reach all the levels that those of the region do.
        let from = region.checked_sub(1).map_or(0.0, |before| self.regions[before].1);
        let of_op = |place: &ModelInput| match op {
            Op::Read => place.read_frac > 0.0,
            Op::Write => place.read_frac < 1.0,
        };
        let own = self.misses.iter().map(|miss| &miss.place);
        let own = own.filter(|place| place.unique_bytes > from && of_op(place));
        let range = span(own.map(|place| place.scaled(parameter)));
        match range[0] <= range[1] && range != all.range {
            true => Measured { range, among: Some((region, op)) },
            false => all,
        }
    }

    /// Whether the system was ever asked for workloads of this kind.
    ///
    /// # Errors
    /// Engine, access, advice, queue depth, think time, workers, alignment or size distribution
    /// differ from the measured ones.
    pub fn knows(&self, workload: &Workload) -> Result<(), OtherKind> {
        let differences = differences(workload, &self.base);
        match differences.is_empty() {
            true => Ok(()),
            false => Err(OtherKind { target: self.target.clone(), differences }),
        }
    }

    /// A workload with the engine, access and other settings for which the model holds.
    pub fn base(&self) -> &Workload {
        &self.base
    }

    /// How far this model and `other` err alike, 0 to 1: errors that they share cancel in the ratio
    /// of their predictions. It is 1 for a model and itself, and 0 where too few workloads were
    /// measured for both.
    pub fn error_correlation(&self, other: &Self) -> f64 {
        correlation(&self.misses, &other.misses)
    }

    /// Whether every write was found to complete in storage.
    pub(super) fn writes_through(&self) -> bool {
        self.writes_through
    }

    /// Whether the first border of reads, and of writes, is surely one of the file cache.
    pub(super) fn of_file_cache(&self) -> [bool; 2] {
        self.of_file_cache
    }

    /// What was evaluated, as the user named it.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The least and the greatest ln(`unique_bytes`) that was measured.
    pub(super) fn measured_sets(&self) -> [f64; 2] {
        self.measured[0]
    }

    pub(crate) fn hierarchy(&self) -> Option<&HierarchyModel> {
        match &self.kind {
            Kind::Stacked(model) => Some(&model.levels),
            Kind::Hierarchy(model) => Some(model),
            Kind::Product(_) => None,
        }
    }

    /// The levels with this model's own intervals.
    pub(super) fn calibrated_levels(&self) -> Option<&HierarchyModel> {
        match &self.kind {
            Kind::Stacked(model) => Some(model.calibrated()),
            _ => self.hierarchy(),
        }
    }

    /// The product's addition to the levels' ln(throughput) at `place`.
    pub(super) fn beyond_levels(&self, place: &ModelInput) -> f64 {
        match &self.kind {
            Kind::Stacked(model) => model.beyond_levels(place),
            Kind::Hierarchy(_) | Kind::Product(_) => 0.0,
        }
    }

    /// The `estimate` for `place`, moved `by` this much in ln(throughput) by the product.
    pub(super) fn moved(&self, estimate: Estimate, by: f64, place: &ModelInput) -> Estimate {
        self.calibrated_levels().map_or(estimate, |levels| levels.moved(estimate, by, place))
    }

    /// The position of the region for a set of this many bytes; 0 where there is none.
    pub(super) fn region_at(&self, unique_bytes: f64) -> usize {
        let found = self.regions.iter().position(|(_, to)| unique_bytes <= *to);
        found.unwrap_or(self.regions.len().saturating_sub(1))
    }

    /// The position of the region with this name; that of the first where there is none.
    pub(super) fn region_called(&self, name: &str) -> usize {
        self.regions.iter().position(|(own, _)| own == name).unwrap_or(0)
    }

    /// The name of the region at this position; empty where there is none.
    pub(super) fn region_name(&self, region: usize) -> &str {
        self.regions.get(region).map_or("", |(name, _)| name)
    }

    /// The name of the region for a set of this many bytes; empty where there is none.
    pub(super) fn region(&self, unique_bytes: f64) -> String {
        self.region_name(self.region_at(unique_bytes)).to_owned()
    }

    /// `place` moved to the nearest measured values.
    pub(super) fn clamped(&self, place: &ModelInput) -> ModelInput {
        let [set, size, reads, seq, processes] = self.measured;
        let log = |value: f64, [low, high]: [f64; 2]| value.ln().max(low).min(high).exp();
        ModelInput {
            unique_bytes: log(place.unique_bytes, set),
            size_mean: log(place.size_mean, size),
            read_frac: place.read_frac.max(reads[0]).min(reads[1]),
            seq_frac: place.seq_frac.max(seq[0]).min(seq[1]),
            process_num: log(place.process_num, processes),
            advised: place.advised,
        }
    }

    /// Largest mean request size that was measured, in bytes.
    pub(super) fn largest_size(&self) -> f64 {
        self.measured[1][1].exp()
    }

    /// How far `workload` lies outside what was measured of storage.
    pub(super) fn outside_in_storage(&self, workload: &Workload) -> f64 {
        self.outside(workload, self.measured[0][1].exp())
    }

    /// How far `workload` lies outside the measured ranges, where its set is served like one of
    /// `alike` bytes: the distance in the worst parameter, in widths of its range.
    pub(super) fn outside(&self, workload: &Workload, alike: f64) -> f64 {
        let (place, region) = (ModelInput::of(workload), self.region_at(alike));
        let exceeded = Parameter::ALL.into_iter().map(|one| self.exceeded(one, &place, region));
        exceeded.flatten().map(|(off, _)| off).fold(0.0, f64::max)
    }

    fn estimate(&self, workload: &Workload) -> Estimate {
        let place = ModelInput::of(workload);
        let mut estimate = match &self.kind {
            Kind::Stacked(model) => model.estimate(&place),
            Kind::Hierarchy(model) => model.estimate(&place),
            Kind::Product(model) => model.estimate(&place),
        };
        estimate.half_width += self.outside(workload, place.unique_bytes);
        estimate
    }
}

/// The model of levels, if it can be fitted and its predictions are finite everywhere.
fn sound_levels(evaluation: &Evaluation, start_seed: u64) -> Option<HierarchyModel> {
    let model = HierarchyModel::started(evaluation, start_seed)?;
    let finite = |place: &ModelInput| model.estimate(place).log_throughput.is_finite();
    observations(evaluation).iter().all(|o| finite(&o.place)).then_some(model)
}

impl Predict for Model {
    fn throughput(&self, workload: &Workload) -> f64 {
        self.estimate(workload).log_throughput.exp()
    }
}

/// Predicts one workload.
///
/// Throughput comes from the model, requests per second from the mean size, and the mean response
/// time from Little's law: `process_num · queue_depth` requests of each client are in flight, less
/// the time spent thinking.
///
/// # Errors
/// A workload of a kind that was never measured, as in [`Model::knows`].
pub fn predict(model: &Model, workload: &Workload) -> Result<Prediction, OtherKind> {
    model.knows(workload)?;
    let extrapolated = model.extrapolates(workload);
    Ok(Prediction { extrapolated, ..prediction(model, workload, model.estimate(workload)) })
}

/// The prediction that follows from an estimate, given the measured ranges.
pub(super) fn prediction(model: &Model, workload: &Workload, estimate: Estimate) -> Prediction {
    let Estimate { log_throughput, half_width } = estimate;
    let throughput = log_throughput.exp();
    let iops = throughput / (workload.size_mean as f64).max(1.0);
    let of_each = f64::from(workload.process_num.max(1)) * f64::from(workload.queue_depth.max(1));
    let in_flight = of_each * model.clients;
    Prediction {
        name: None,
        system: model.target.clone(),
        workload: workload.clone(),
        throughput_bytes_per_s: throughput,
        interval90: [(log_throughput - half_width).exp(), (log_throughput + half_width).exp()],
        iops,
        response_time_ns: (in_flight / iops * 1e9 - workload.pause_ns()).max(0.0),
        region: model.region(workload.unique_bytes as f64),
        extrapolated: false,
        application: None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::extrapolation::extrapolations;
    use super::*;
    use crate::testing::{self, measurement};
    use ioscape_schema::{Point, Region, RegionCurves};

    /// Memory in which one to eight processes were measured; storage where only reads were, by more
    /// than one.
    fn model() -> Model {
        let point = |workload: Workload, rate: f64| {
            let value = f64::from(workload.process_num);
            let measurement = measurement(&workload, rate, 1.0, rate);
            Point { value, measurement, rounds: vec![rate], spread: None }
        };
        let region = |index: u32, processes: &[u32]| {
            let unique_bytes = 1 << (20 + 10 * index);
            let focal = Workload { unique_bytes, ..Workload::default() };
            let by = |&process_num| point(Workload { process_num, ..focal.clone() }, 1e9);
            let process_num = processes.iter().map(by).collect();
            let curves = RegionCurves { process_num, ..RegionCurves::default() };
            let end = focal.unique_bytes as f64 * 2.0;
            let name = format!("region {}", index + 1);
            Region { name, unique_bytes: [end / 4.0, end], focal, ..testing::region(curves) }
        };
        let all = Workload { unique_bytes: 1 << 31, process_num: 8, ..Workload::default() };
        let reads = Workload { read_frac: 1.0, ..all };
        let evaluation = Evaluation {
            regions: vec![region(0, &[1, 3, 8]), region(1, &[1])],
            extra: vec![point(reads, 1e8)],
            ..Evaluation::default()
        };
        Model::product(&evaluation).unwrap()
    }

    /// Guards against a narrow interval around a guess: how many writers storage serves at once was
    /// not measured.
    #[test]
    fn processes_in_memory_tell_nothing_of_storage_nor_reads_of_writes() {
        let model = model();
        let told = |unique_bytes, read_frac, process_num| {
            let asked = Workload { unique_bytes, read_frac, process_num, ..Workload::default() };
            predict(&model, &asked).unwrap()
        };
        let width = |one: &Prediction| (one.interval90[1] / one.interval90[0]).ln() / 2.0;
        let [memory, storage] = [1 << 20, 1 << 30];
        for known in [told(memory, 0.5, 8), told(storage, 1.0, 8), told(storage, 0.5, 1)] {
            assert!(!known.extrapolated, "{known:?}");
            let guess = told(storage, 0.5, 8);
            assert!((width(&guess) - width(&known) - 8f64.ln()).abs() < 1e-9, "{guess:?}");
        }
        let named = |name: &str, read_frac| Prediction {
            name: Some(name.to_owned()),
            ..told(storage, read_frac, 8)
        };
        let both = [named("mix", 0.5), named("reads", 1.0)];
        let warnings = extrapolations(&model, &both.each_ref());
        let told = "process_num of mix (8) lies outside what was measured with writes from region 2 on (only 1):";
        assert!(warnings.len() == 1 && warnings[0].message.starts_with(told), "{warnings:?}");
    }
}
