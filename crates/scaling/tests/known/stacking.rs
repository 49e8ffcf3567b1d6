//! Two models as one, on systems drawn at random: the stack is never much worse than the better of its parts.

use crate::made_up::evaluation::{BOUNDS, Meter, evaluate};
use crate::made_up::random_system;
use crate::today;
use ioscape_scaling::model::{Validated, random_workloads, validate};
use ioscape_schema::Workload;

/// The numbers of the systems; the rule was tuned on others.
const WORLDS: std::ops::Range<u64> = 904..908;
/// How much worse the stack may be than the better part: a tenth, plus what 100 workloads cannot
/// distinguish.
const WORSE: f64 = 1.1;
const CHANCE: f64 = 0.006;

#[test]
#[allow(clippy::print_stdout, reason = "the figures stand in docs/prediction.md")]
fn a_stack_is_never_much_worse_than_the_better_of_its_parts() {
    for seed in today::seeds(WORLDS, 2) {
        let system = random_system(seed);
        let evaluation = evaluate(&system, 0.05, seed, 12);
        let mut meter = Meter::new(&system, 0.05, seed + 1000);
        let all = random_workloads(&BOUNDS, &Workload::default(), 100, seed + 77);
        let measured: Vec<Validated> = all
            .iter()
            .map(|w| Validated { measurement: meter.measure(w), repeated: Vec::new() })
            .collect();
        let found = validate(&evaluation, &[], &measured).unwrap().models;
        let [stack, levels, product] =
            ["default", "levels", "product"].map(|name| found[name].median_error);
        println!("{seed} {}: {stack:.3} of {levels:.3} and {product:.3}", system.name);
        assert!(stack <= WORSE * levels.min(product) + CHANCE, "{seed} {}", system.name);
    }
}
