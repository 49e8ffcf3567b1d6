//! Why a number of regions was stated wrongly or not at all: what the model of levels concluded,
//! and from what.

use super::world::World;
use ioscape_schema::{BorderOperation, Evaluation, LevelCount, Point};

/// The factor up to which a level slower than the one before it counts as mild.
const MILD: f64 = 2.0;
/// The kinds of requests whose levels are counted.
const OPERATIONS: [BorderOperation; 3] =
    [BorderOperation::Read, BorderOperation::Write, BorderOperation::Mixed];

/// Why a number is wrong, or withheld.
pub fn cause(world: &World, evaluation: &Evaluation, told: bool) -> &'static str {
    let (found, truth) = (evaluation.regions.len(), world.regions());
    match (told, found.cmp(&truth)) {
        (true, std::cmp::Ordering::Greater) => "wrong: one too many",
        (true, _) if world.mildest() < MILD => "wrong: a mild level lacks",
        (true, _) => "wrong: a plain level lacks",
        (false, _) => untold(world, evaluation),
    }
}

fn untold(world: &World, evaluation: &Evaluation) -> &'static str {
    let own = [BorderOperation::Read, BorderOperation::Write];
    let first = &evaluation.level_counts[0];
    let truth = world.regions();
    if evaluation.has_sparse_curves() {
        "not told: few points"
    } else if own.iter().any(|&of| evaluation.fills_from(of).is_some()) {
        "not told: caches were filling"
    } else if first.probability >= LevelCount::SURE && first.regions as usize == truth {
        "not told: the borders found differ from the right number"
    } else if first.probability >= LevelCount::SURE {
        "not told: the borders found differ from a wrong number"
    } else if first.regions as usize == truth {
        let rival = evaluation.level_counts.get(1).map_or(0, |second| second.regions as usize);
        match rival > truth {
            true => "not told: right, but an extra level may hide",
            false => "not told: right, but one less may do",
        }
    } else {
        "not told: a wrong number is the most probable"
    }
}

/// The grounds of the number: probabilities with their borders, points and rounds of each curve,
/// and the time spent.
pub fn grounds(world: &World, evaluation: &Evaluation) -> String {
    let mib =
        |all: &[f64]| -> Vec<u64> { all.iter().map(|b| (b / super::world::MIB) as u64).collect() };
    let likely = evaluation.level_counts.iter().filter(|c| c.probability > 0.02);
    let counts: Vec<String> = likely
        .map(|c| {
            let (reads, writes) = (mib(&c.read_borders), mib(&c.write_borders));
            format!("{} {:.3} r{reads:?} w{writes:?}", c.regions, c.probability)
        })
        .collect();
    let curves = OPERATIONS.map(|operation| {
        let curve = evaluation.set_size_curve(operation);
        let rounds: usize = curve.iter().map(|p: &Point| p.rounds.len()).sum();
        format!("{}/{rounds}", curve.len())
    });
    format!(
        "{}; points/rounds {}; {:?}, {:.0} of {} s",
        counts.join(", "),
        curves.join(" "),
        world.counters,
        evaluation.elapsed_s,
        world.budget_s
    )
}
