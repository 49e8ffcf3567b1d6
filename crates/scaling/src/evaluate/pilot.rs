//! The pilot: a coarse sweep of set sizes, then of request sizes and processes, which sets the
//! focal vector.

use super::axis::Axis;
use super::exploration::{Exploration, Need, Refusal};
use super::probe::Probe;
use super::rounds;
use super::sweep::{Refine, Sweep};
use crate::judge::borders::{Gate, borders};
use crate::judge::focal::{focal_size, half_way, half_way_processes};
use crate::judge::points::PointId;
use crate::judge::regions::{focal_unique_bytes, regions};
use crate::judge::segment::Sample;
use crate::phase::Phase;
use ioscape_schema::statistics::geometric_mean;
use ioscape_schema::units::Bytes;
use ioscape_schema::{BorderOperation, CurveKey, Parameter, Workload};

/// Share of the budget at which the pilot stops growing the set.
const PILOT_MOST: f64 = 0.4;
/// The most provisional regions in which focal sweeps are made.
const LEVELS_MOST: usize = 3;
/// The focal request size stays within this share of the smallest region's focal set.
const SIZE_SHARE: f64 = 1.0 / 16.0;
/// Standard deviation assumed for ln(throughput) before repetitions or references show how far they
/// differ; and the factor by which a few of these may understate it.
const NOISE: f64 = 0.1;
const FEW: f64 = 1.5;
/// Fractions of the way, in log bytes, to a set that would take too long, at which smaller sets are
/// tried instead.
const NEARER: [f64; 3] = [0.75, 0.5, 0.25];
/// Least factor between two sets of the pilot.
const FURTHER: f64 = 1.3;

/// The latest set, and the costs of it and the one before.
#[derive(Clone, Copy, Default)]
struct Reached {
    /// The latest set, in bytes.
    unique_bytes: f64,
    /// Seconds for a round of each set, the earlier one first.
    costs_s: (f64, f64),
}

impl Reached {
    /// The seconds to expect for a set at the fraction `part` of the way to the next one of the
    /// grid: costs that grow with the set are expected to go on growing.
    fn expected_s(&self, part: f64) -> f64 {
        let (before, last) = self.costs_s;
        last * (last / before.max(1e-3)).clamp(1.0, 4.0).powf(part)
    }
}

/// Sweeps `unique_bytes` with the papers' nominal mix, ascending so that the file only grows.
pub(crate) fn pilot<P: Probe>(exploration: &mut Exploration<'_, P>) -> Result<(), P::Error> {
    exploration.begin(Phase::Pilot);
    let axis = Axis::new(&exploration.options, Parameter::UniqueBytes, 0);
    let count = axis.steps(4.0).len().min(exploration.allotment.points(Phase::Pilot));
    let mut reached = Reached::default();
    for (index, value) in axis.grid(count.saturating_sub(2)).into_iter().enumerate() {
        if next(exploration, &mut reached, value, index >= 2)? {
            continue;
        }
        // A set that outgrows the file cache shows more than anything that follows, and even a
        // smaller one may outgrow it.
        let way = (value / reached.unique_bytes.max(1.0)).ln();
        let smaller = NEARER.map(|part| axis.round(reached.unique_bytes * (way * part).exp()));
        for nearer in smaller.into_iter().filter(|_| index >= 2) {
            // Finding out how much room there is would fill it up for other users again.
            if exploration.refusal() == Refusal::Room {
                break;
            }
            let is_further = nearer > FURTHER * reached.unique_bytes;
            if is_further && next_to(exploration, &mut reached, nearer, value)? {
                break;
            }
        }
        limit_set(exploration, value);
        break;
    }
    let ids: Vec<PointId> = exploration.state.evidence.ids(CurveKey::Pilot);
    rounds::repair_for_good(exploration, &ids, Need::Ordinary).map(|_| ())
}

/// Measures the next set of the grid; `false` when that would take too long, provided that the
/// costs of two sets are known.
fn next<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    reached: &mut Reached,
    value: f64,
    is_known: bool,
) -> Result<bool, P::Error> {
    if is_known {
        return next_to(exploration, reached, value, value);
    }
    let expected_s = exploration.usual_cost_s();
    measure(exploration, reached, value, expected_s)
}

/// Measures a set on the way to `grid`, the grid's next set; `false` when that would take too long.
fn next_to<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    reached: &mut Reached,
    value: f64,
    grid: f64,
) -> Result<bool, P::Error> {
    let part = (value / reached.unique_bytes).ln() / (grid / reached.unique_bytes).ln();
    let expected_s = reached.expected_s(part);
    // Laying out is paid once and counted separately.
    let whole_s = exploration.layout_s(value as u64) + expected_s;
    if exploration.spent_s() + whole_s > PILOT_MOST * exploration.options.budget_s {
        return Ok(false);
    }
    measure(exploration, reached, value, expected_s)
}

/// Measures a set whose run is expected to take `expected_s` seconds; `false` when there is no time
/// for it.
fn measure<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    reached: &mut Reached,
    value: f64,
    expected_s: f64,
) -> Result<bool, P::Error> {
    let workload = exploration.options.nominal(value as u64);
    let whole_s = exploration.layout_s(workload.unique_bytes) + expected_s;
    let purpose = CurveKey::Pilot.into();
    let point = exploration.point_at_cost(&purpose, &workload, Need::Essential, whole_s)?;
    let Some(id) = point else { return Ok(false) };
    exploration.state.evidence.put(CurveKey::Pilot, value, id);
    let costs_s = (reached.costs_s.1, exploration.whole_cost_s(id));
    *reached = Reached { unique_bytes: value, costs_s };
    Ok(true)
}

/// Gives up the sets that would take too long or have no room, and notes it.
fn limit_set<P: Probe>(exploration: &mut Exploration<'_, P>, left_out: f64) {
    let largest =
        exploration.state.evidence.throughputs(CurveKey::Pilot).last().map(|p| p.0 as u64);
    let [low, high] = &mut exploration.options.bounds.unique_bytes;
    *high = largest.unwrap_or(*low);
    let why = match exploration.refusal() {
        Refusal::Time | Refusal::Points => {
            "would have taken too much of the time budget; give a longer one to reach them"
        }
        Refusal::Room => {
            "have no room: the file system or a quota is full; free some space to reach them, or leave them out with --max-unique-bytes"
        }
    };
    let reason = format!("sets of {} and more {why}", Bytes(left_out));
    exploration.shorten(Phase::Pilot, reason);
}

/// Representative sets of the provisional regions: the pilot's points nearest to where a focal point would be.
fn levels<P: Probe>(exploration: &Exploration<'_, P>) -> Vec<u64> {
    let samples = exploration.state.evidence.samples(CurveKey::Pilot);
    let Some((first, last)) = samples.first().zip(samples.last()) else { return Vec::new() };
    let found = borders(&samples, &[], BorderOperation::Mixed, Gate::PILOT);
    let ranges = regions(&found, first.unique_bytes, last.unique_bytes);
    let nearest = |index: usize| {
        let wanted = focal_unique_bytes(&ranges, index).ln();
        let [low, high] = ranges[index];
        let within = samples.iter().filter(|s| (low..=high).contains(&s.unique_bytes));
        let distance = |s: &&Sample| (s.unique_bytes.ln() - wanted).abs();
        within.min_by(|a, b| distance(a).total_cmp(&distance(b))).map(|s| s.unique_bytes as u64)
    };
    let mut levels: Vec<u64> = (0..ranges.len()).filter_map(nearest).collect();
    while levels.len() > LEVELS_MOST {
        levels.remove(levels.len() / 2);
    }
    levels.dedup();
    levels
}

/// Finds the one focal request size and number of processes for all regions; only `unique_bytes`
/// will differ.
///
/// The returned workload has the focal mix; its `unique_bytes` is that of the smallest region.
pub(crate) fn focal<P: Probe>(exploration: &mut Exploration<'_, P>) -> Result<Workload, P::Error> {
    exploration.begin(Phase::Focal);
    let mut levels = levels(exploration);
    if levels.is_empty() {
        levels.push(exploration.options.bounds.unique_bytes[0]);
    }
    if exploration.allotment.is_short() {
        // Small requests to storage would take the time of its curves.
        levels.truncate(1);
    }
    let nominal = exploration.options.nominal(levels[0]);
    let step = exploration.allotment.size_step;
    let sizes = focal_sweeps(exploration, &levels, &nominal, Parameter::SizeMean, step)?;
    let sizes: Vec<f64> = sizes.iter().filter_map(|curve| half_way(curve)).collect();
    let size = geometric_mean(&sizes).unwrap_or(nominal.size_mean as f64);
    let axis = Axis::new(&exploration.options, Parameter::SizeMean, levels[0]);
    let most = (levels[0] as f64 * SIZE_SHARE / 4096.0).floor().max(1.0) * 4096.0;
    // At the usual request size, the pilot's points serve as those of the curve.
    let size = focal_size(size, nominal.size_mean as f64);
    let size = axis.round(axis.round(size).min(most).max(axis.round(4096.0)));
    let template = nominal.with(Parameter::SizeMean, size);
    let processes =
        focal_sweeps(exploration, &levels, &template, Parameter::ProcessNum, step.sqrt())?;
    let points = &exploration.state.evidence.points;
    let by_references = || points.reference_noise().map(|noise| noise * FEW);
    let noise = points.repeatability().or_else(by_references).unwrap_or(NOISE);
    let processes: Vec<f64> =
        processes.iter().map(|curve| half_way_processes(curve, noise)).collect();
    let axis = Axis::new(&exploration.options, Parameter::ProcessNum, levels[0]);
    let process_num = axis.round(geometric_mean(&processes).unwrap_or(axis.low));
    Ok(template.with(Parameter::ProcessNum, process_num))
}

/// One coarse curve of `parameter` per level.
fn focal_sweeps<P: Probe>(
    exploration: &mut Exploration<'_, P>,
    levels: &[u64],
    template: &Workload,
    parameter: Parameter,
    step: f64,
) -> Result<Vec<Vec<(f64, f64)>>, P::Error> {
    let mut curves = Vec::new();
    for (level, &unique_bytes) in levels.iter().enumerate() {
        let key = CurveKey::Focal { level, parameter };
        let axis = Axis::new(&exploration.options, parameter, unique_bytes);
        let sweep = Sweep {
            key,
            axis,
            template: Workload { unique_bytes, ..template.clone() },
            refine: Refine::Never,
            points: usize::MAX,
            grid_need: Need::Ordinary,
        };
        exploration.sweep(&sweep, &axis.steps(step))?;
        curves.push(exploration.state.evidence.throughputs(key));
    }
    Ok(curves)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::Bounds;
    use crate::evaluate::options::EvaluationOptions;
    use crate::evaluate::options::tests::ten_minutes;
    use crate::evaluate::probe::ProbeRequest;
    use crate::evaluate::testing::Quota;
    use crate::testing::measurement;
    use ioscape_schema::{Clients, Measurement};

    /// Clients that lay their sets out at this many bytes per second, and then measure for one
    /// second in three.
    struct Growing {
        rate: f64,
        laid_out: u64,
    }

    impl Probe for Growing {
        type Error = u64;

        fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, u64> {
            let set = request.workload.unique_bytes;
            let layout_s = set.saturating_sub(self.laid_out) as f64 / self.rate;
            self.laid_out = self.laid_out.max(set);
            let clients = Some(Clients { windows: 1, ..Clients::default() });
            let measured = measurement(&request.workload, 1e8, 3.0 + layout_s, 1e8);
            Ok(Measurement { clients, ..measured })
        }
    }

    /// A probe that knows the largest set with room, and fails with a larger one.
    struct Known(u64);

    impl Probe for Known {
        type Error = u64;

        fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, u64> {
            Quota::new(self.0).measure(request)
        }

        fn refused_s(&mut self, workload: &Workload) -> Option<f64> {
            (workload.unique_bytes > self.0).then_some(0.0)
        }
    }

    /// Half an hour over sets up to 16 GiB.
    fn half_an_hour() -> EvaluationOptions {
        let unique_bytes = [1 << 20, 16 << 30];
        let bounds = Bounds { unique_bytes, ..ten_minutes().bounds };
        EvaluationOptions { bounds, budget_s: 1800.0, ..ten_minutes() }
    }

    /// Guards against leaving out clients' sets from the later curves because they took minutes to
    /// lay out and only seconds to measure.
    #[test]
    fn a_set_that_clients_laid_out_costs_what_its_run_does() {
        let mut probe = Growing { rate: 1e8, laid_out: 0 };
        let mut exploration = Exploration::new(&half_an_hour(), &mut probe);
        pilot(&mut exploration).unwrap();
        let [_, largest] = exploration.unique_bytes_range();
        assert_eq!(largest, (16u64 << 30) as f64);
        let again_s = exploration.similar_cost_s(&half_an_hour().nominal(largest as u64));
        assert!(again_s < 10.0, "{again_s}");
    }

    #[test]
    fn sets_that_clients_would_lay_out_for_too_long_are_foreseen() {
        let mut probe = Growing { rate: 1e7, laid_out: 0 };
        let mut exploration = Exploration::new(&half_an_hour(), &mut probe);
        pilot(&mut exploration).unwrap();
        let spent_s = exploration.spent_s();
        assert!(spent_s < PILOT_MOST * 1800.0, "{spent_s}");
    }

    /// Returns why the pilot ended at the sets for which `probe` has room, those of up to 5 GiB.
    fn shortened_at_five_gib(probe: &mut impl Probe<Error: std::fmt::Debug>) -> String {
        let mut exploration = Exploration::new(&half_an_hour(), probe);
        pilot(&mut exploration).unwrap();
        let [_, largest] = exploration.unique_bytes_range();
        assert!((1e9..=(5u64 << 30) as f64).contains(&largest), "{largest}");
        exploration.so_far().shortened[Phase::Pilot.name()].clone()
    }

    /// Guards against a quota on a home directory ending the evaluation, which lost everything
    /// measured with that access.
    #[test]
    fn a_set_that_has_no_room_is_left_out() {
        let why = shortened_at_five_gib(&mut Quota::new(5 << 30));
        assert!(why.contains("have no room") && why.contains("--max-unique-bytes"), "{why}");
    }

    /// Guards against filling a quota up again with the next access after an earlier one found it.
    #[test]
    fn a_set_that_is_known_to_have_no_room_is_not_asked_for() {
        let why = shortened_at_five_gib(&mut Known(5 << 30));
        assert!(why.contains("have no room"), "{why}");
    }

    #[test]
    fn a_target_with_no_room_for_the_smallest_set_is_a_failure() {
        let mut probe = Quota::new(1 << 10);
        let mut exploration = Exploration::new(&half_an_hour(), &mut probe);
        assert!(pilot(&mut exploration).is_err());
    }
}
