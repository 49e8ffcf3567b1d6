//! The evaluation of a made-up system, with points around its known borders and seeded noise.

use super::System;
use ioscape_scaling::model::{
    OrthogonalModel, Predict, SinglePointModel, Validated, next_points, orthogonal_sample,
    random_workloads, validate,
};
use ioscape_scaling::{Bounds, EvaluationOptions, Probe, ProbeRequest, explore};
use ioscape_schema::{
    Access, Advice, Border, BorderOperation, Evaluation, Measurement, Parameter, Point, Purpose,
    Region, RegionCurves, Stop, Validation, Workload,
};
use rand::SeedableRng;
use rand_distr::{Distribution, Normal};
use rand_pcg::Pcg64Mcg;

/// The space in which all made-up systems are evaluated.
pub const BOUNDS: Bounds = Bounds {
    unique_bytes: [1 << 20, 1 << 29],
    size_mean: [4 << 10, 1 << 20],
    process_num: [1, 16],
};

/// Measures a made-up system: its true throughput times lognormal noise of the given relative size.
pub struct Meter<'a> {
    system: &'a System,
    noise: f64,
    generator: Pcg64Mcg,
}

impl<'a> Meter<'a> {
    pub fn new(system: &'a System, noise: f64, seed: u64) -> Self {
        Self { system, noise, generator: Pcg64Mcg::seed_from_u64(seed) }
    }

    pub fn measure(&mut self, workload: &Workload) -> Measurement {
        let normal = Normal::new(0.0, self.noise).expect("a size of noise");
        let throughput =
            self.system.throughput(workload) * normal.sample(&mut self.generator).exp();
        measurement(workload, throughput)
    }

    fn point(&mut self, workload: &Workload, parameter: Parameter) -> Point {
        let measurement = self.measure(workload);
        let value = workload.get(parameter);
        Point { value, measurement, rounds: Vec::new(), spread: None }
    }

    fn curve(&mut self, focal: &Workload, parameter: Parameter, values: &[f64]) -> Vec<Point> {
        values.iter().map(|v| self.point(&focal.clone().with(parameter, *v), parameter)).collect()
    }
}

/// A measurement with that throughput; its other fields do not matter.
pub fn measurement(workload: &Workload, throughput: f64) -> Measurement {
    Measurement {
        ios: 1000,
        bytes: 1000 * workload.size_mean,
        elapsed_s: 1.0,
        throughput_bytes_per_s: throughput,
        throughput_ci95: [throughput * 0.99, throughput * 1.01],
        io_time_frac: 1.0,
        cost_s: 1.0,
        ..Measurement::empty(workload.clone(), Stop::Confident)
    }
}

/// Values of `unique_bytes`: `coarse` from end to end, and four about each border.
fn sets(coarse: usize, borders: &[f64]) -> Vec<f64> {
    let [low, high] = BOUNDS.unique_bytes.map(|b| b as f64);
    let mut values: Vec<f64> = (0..coarse)
        .map(|i| low * (high / low).powf(i as f64 / (coarse - 1) as f64))
        .filter(|v| borders.iter().all(|b| (v / b).ln().abs() > 0.25))
        .collect();
    for border in borders {
        values.extend(
            [0.96, 1.05, 1.25, 1.6].map(|share| border * share).iter().filter(|v| **v <= high),
        );
    }
    values.sort_by(f64::total_cmp);
    values.dedup_by(|b, a| *b / *a < 1.02);
    values
}

fn distinct(mut borders: Vec<f64>) -> Vec<f64> {
    borders.sort_by(f64::total_cmp);
    borders.dedup_by(|b, a| *b / *a < 1.25);
    borders
}

/// An evaluation as the self-scaling benchmark would make it with perfect knowledge of the borders,
/// followed by `extra` points where the default model is least sure.
pub fn evaluate(system: &System, noise: f64, seed: u64, extra: usize) -> Evaluation {
    let mut meter = Meter::new(system, noise, seed);
    let own =
        [0, 1].map(|o: usize| -> Vec<f64> { system.caches[o].iter().map(|c| c.onset).collect() });
    let all = distinct(own.concat());
    let nominal = Workload { size_mean: 32 << 10, ..Workload::default() };
    let mix = |read_frac| Workload { read_frac, ..nominal.clone() };
    let pure = |read_frac| Workload { seq_frac: 0.0, advice: Advice::Random, ..mix(read_frac) };
    let mut evaluation = Evaluation {
        target: system.name.into(),
        unique_bytes_range: BOUNDS.unique_bytes.map(|b| b as f64),
        unique_bytes_curve: meter.curve(&mix(0.5), Parameter::UniqueBytes, &sets(7, &all)),
        unique_bytes_read_curve: meter.curve(&pure(1.0), Parameter::UniqueBytes, &sets(4, &own[0])),
        unique_bytes_write_curve: meter.curve(
            &pure(0.0),
            Parameter::UniqueBytes,
            &sets(4, &own[1]),
        ),
        ..Evaluation::default()
    };
    let operations = [(BorderOperation::Read, &own[0]), (BorderOperation::Write, &own[1])];
    for (operation, borders) in operations.into_iter().chain([(BorderOperation::Mixed, &all)]) {
        let near = |at: &f64| border(operation, [0.96, 1.01, 1.05].map(|times| at * times), 10.0);
        evaluation.borders.extend(borders.iter().map(near));
    }
    let ends = BOUNDS.unique_bytes.map(|b| b as f64);
    let edges: Vec<f64> = [vec![ends[0]], all, vec![ends[1]]].concat();
    evaluation.regions = edges
        .windows(2)
        .enumerate()
        .map(|(i, edge)| region(&mut meter, &nominal, i, [edge[0], edge[1]], i + 2 == edges.len()))
        .collect();
    add_extra(&mut evaluation, &mut meter, extra, seed);
    evaluation
}

/// The evaluation with writes to the first region that each wait for storage.
pub fn with_synchronous(mut evaluation: Evaluation, system: &System) -> Evaluation {
    let focal = evaluation.regions[0].focal.clone();
    let writes = Workload { read_frac: 0.0, access: Access::Dsync, ..focal };
    let measurement = measurement(&writes, system.written_through().throughput(&writes));
    let purpose = Purpose::SynchronousWrites;
    evaluation.probes.push(ioscape_schema::Probe { purpose, measurement });
    evaluation
}

/// A border of storage between these two sets.
pub fn border(
    operation: BorderOperation,
    [low, unique_bytes, high]: [f64; 3],
    ratio: f64,
) -> Border {
    let (in_memory, slower) = (false, None);
    Border { operation, unique_bytes, low, high, ratio, in_memory, slower }
}

/// The evaluation as one with this access.
pub fn of_access(mut evaluation: Evaluation, access: Access) -> Evaluation {
    let curves = evaluation.regions.iter_mut().flat_map(|region| {
        region.focal.access = access;
        let all = &mut region.curves;
        [&mut all.size_mean, &mut all.read_frac, &mut all.seq_frac, &mut all.process_num]
    });
    let across = [
        &mut evaluation.unique_bytes_curve,
        &mut evaluation.unique_bytes_read_curve,
        &mut evaluation.unique_bytes_write_curve,
        &mut evaluation.extra,
    ];
    for point in curves.chain(across).flatten() {
        point.measurement.workload.access = access;
    }
    evaluation
}

fn add_extra(evaluation: &mut Evaluation, meter: &mut Meter<'_>, count: usize, seed: u64) {
    for workload in next_points(evaluation, &BOUNDS, count, seed) {
        evaluation.extra.push(meter.point(&workload, Parameter::UniqueBytes));
    }
}

impl Probe for Meter<'_> {
    type Error = std::convert::Infallible;

    fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, Self::Error> {
        Ok(Measurement { cost_s: 2.0, ..Meter::measure(self, &request.workload) })
    }
}

/// An evaluation by the self-scaling benchmark itself, at 2 s a point.
pub fn explored(
    system: &System,
    noise: f64,
    seed: u64,
    budget_s: f64,
    points_max: Option<usize>,
) -> Evaluation {
    let options = EvaluationOptions {
        bounds: BOUNDS,
        base: Workload::default(),
        budget_s,
        seed,
        all_parameters: false,
        interactions: 24,
        points_max,
        typical_cost_s: 2.0,
        flush_interval_s: None,
        layout_bytes_per_s: None,
        level_counts: false,
    };
    let mut meter = Meter::new(system, noise, seed);
    let Ok(mut evaluation) = explore(&options, &mut meter);
    evaluation.target = system.name.into();
    evaluation
}

fn region(
    meter: &mut Meter<'_>,
    nominal: &Workload,
    i: usize,
    edge: [f64; 2],
    last: bool,
) -> Region {
    let middle =
        if last { edge[0] * (edge[1] / edge[0]).powf(0.7) } else { (edge[0] * edge[1]).sqrt() };
    let focal = nominal.clone().with(Parameter::UniqueBytes, middle);
    let sizes: Vec<f64> = [2.0, 4.0, 5.0, 6.0, 8.0, 10.0].map(|e: f64| 1024.0 * e.exp2()).into();
    let curves = RegionCurves {
        size_mean: meter.curve(&focal, Parameter::SizeMean, &sizes),
        read_frac: meter.curve(&focal, Parameter::ReadFrac, &[0.0, 0.25, 0.5, 0.75, 1.0]),
        seq_frac: meter.curve(&focal, Parameter::SeqFrac, &[0.0, 0.5, 1.0]),
        process_num: meter.curve(&focal, Parameter::ProcessNum, &[1.0, 2.0, 4.0, 16.0]),
        ..RegionCurves::default()
    };
    Region { name: format!("region {}", i + 1), unique_bytes: edge, focal, curves }
}

/// Distinct workloads that a model of the evaluation may see: points of all curves, extra points,
/// and all other probes.
pub fn distinct_points(evaluation: &Evaluation) -> usize {
    let curves = [
        &evaluation.unique_bytes_curve,
        &evaluation.unique_bytes_read_curve,
        &evaluation.unique_bytes_write_curve,
        &evaluation.extra,
    ];
    let regions = evaluation.regions.iter();
    let within = regions.flat_map(|r| Parameter::ALL.into_iter().filter_map(|p| r.curves.get(p)));
    let points = curves.into_iter().chain(within).flatten().map(|point| &point.measurement);
    let probes = evaluation.probes.iter().map(|probe| &probe.measurement);
    let mut seen: Vec<&Workload> = Vec::new();
    for measurement in points.chain(probes) {
        if !seen.contains(&&measurement.workload) {
            seen.push(&measurement.workload);
        }
    }
    seen.len()
}

/// The errors of all models on a hundred unseen workloads, each measured twice.
pub fn validation(system: &System, evaluation: &Evaluation, noise: f64, seed: u64) -> Validation {
    let mut meter = Meter::new(system, noise, seed + 1000);
    let base = Workload::default();
    let sample: Vec<_> =
        orthogonal_sample(&BOUNDS, &base).iter().map(|w| meter.measure(w)).collect();
    let orthogonal = OrthogonalModel::new(&BOUNDS, &sample).expect("a whole sample");
    let single = SinglePointModel::new(&meter.measure(&base)).expect("a throughput");
    let validated: Vec<Validated> = random_workloads(&BOUNDS, &base, 100, seed + 77)
        .iter()
        .map(|w| Validated { measurement: meter.measure(w), repeated: vec![meter.measure(w)] })
        .collect();
    let rivals: [(&str, &dyn Predict); 2] =
        [("orthogonal", &orthogonal), ("single_point", &single)];
    validate(evaluation, &rivals, &validated).expect("a model")
}
