//! Prints how far each model's predictions are off on made-up systems: `cargo run --release -p ioscape-scaling --example prediction_table`.

#[path = "../tests/made_up/mod.rs"]
mod made_up;

use ioscape_scaling::model::{
    OrthogonalModel, Predict, SinglePointModel, Validated, orthogonal_sample, random_workloads,
    validate,
};
use ioscape_schema::{Validation, Workload};
use made_up::evaluation::{BOUNDS, Meter, distinct_points, evaluate};
use std::io::Write;

/// Unseen workloads per system and seed.
const WORKLOADS: usize = 100;

fn validation(
    system: &made_up::System,
    noise: f64,
    seed: u64,
    extra: usize,
) -> (Validation, usize) {
    let evaluation = evaluate(system, noise, seed, extra);
    let mut meter = Meter::new(system, noise, seed + 1000);
    let base = Workload::default();
    let sample: Vec<_> =
        orthogonal_sample(&BOUNDS, &base).iter().map(|w| meter.measure(w)).collect();
    let orthogonal = OrthogonalModel::new(&BOUNDS, &sample).expect("a whole sample");
    let single = SinglePointModel::new(&meter.measure(&base)).expect("a throughput");
    let validated: Vec<Validated> = random_workloads(&BOUNDS, &base, WORKLOADS, seed + 77)
        .iter()
        .map(|w| Validated { measurement: meter.measure(w), repeated: Some(meter.measure(w)) })
        .collect();
    let rivals: [(&str, &dyn Predict); 2] =
        [("orthogonal", &orthogonal), ("single_point", &single)];
    let validation = validate(&evaluation, &rivals, &validated).expect("a model");
    (validation, distinct_points(&evaluation))
}

fn main() -> std::io::Result<()> {
    let extra = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(12);
    let seeds = std::env::args().nth(2).and_then(|a| a.parse().ok()).unwrap_or(3u64);
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "| system | noise | points | repeat | model | median | p75 | p90 | off borders | coverage |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|---|")?;
    for system in made_up::systems() {
        for noise in [0.0, 0.05] {
            let all: Vec<_> =
                (0..seeds).map(|seed| validation(&system, noise, seed, extra)).collect();
            let mean = |f: &dyn Fn(&Validation) -> f64| {
                100.0 * all.iter().map(|(v, _)| f(v)).sum::<f64>() / all.len() as f64
            };
            for name in ["default", "product", "orthogonal", "single_point"] {
                let repeat = mean(&|v| v.repeatability_error.unwrap_or(0.0));
                writeln!(
                    out,
                    "| {} | {} % | {} | {:.1} | {} | {:.1} | {:.1} | {:.1} | {:.1} | {:.0} |",
                    system.name,
                    noise * 100.0,
                    if name == "orthogonal" { 162 } else { all[0].1 },
                    repeat,
                    name,
                    mean(&|v| v.models[name].median_error),
                    mean(&|v| v.models[name].p75_error),
                    mean(&|v| v.models[name].p90_error),
                    mean(&|v| v.models[name].enhanced_median_error.unwrap_or(f64::NAN)),
                    mean(&|v| v.models[name].interval90_coverage.unwrap_or(f64::NAN)),
                )?;
            }
        }
    }
    Ok(())
}
