//! Prints how far each model's predictions are off on made-up systems.
//!
//! `cargo run --release -p ioscape-scaling --example prediction_table -- [POINTS [SEEDS [BUDGET [MOST [FIRST [WORLDS]]]]]]`: so many points off
//! the curves, so many seeds from FIRST on; with a budget in seconds, at 2 s a point, the evaluation explores by itself, borders and
//! points off the curves included, with at most MOST different workloads. A budget or MOST of 0 is none. With WORLDS, so many systems
//! drawn at random, from the one of number FIRST on, instead of the named ones.

#[path = "../tests/known/made_up/mod.rs"]
mod made_up;

use ioscape_scaling::model::orthogonal_sample;
use ioscape_schema::{ErrorFigures, Validation, Workload};
use made_up::evaluation::{BOUNDS, distinct_points, evaluate, explored, validation};
use std::io::Write;

/// The figures of a model; without levels the default is the product.
fn figures<'a>(validation: &'a Validation, name: &str) -> &'a ErrorFigures {
    validation.models.get(name).unwrap_or(&validation.models["default"])
}

fn rows(
    out: &mut impl Write,
    system: &made_up::System,
    noise: f64,
    all: &[(Validation, usize)],
) -> std::io::Result<()> {
    let mean = |f: &dyn Fn(&Validation) -> f64| {
        100.0 * all.iter().map(|(v, _)| f(v)).sum::<f64>() / all.len() as f64
    };
    for name in ["default", "levels", "product", "orthogonal", "single_point"] {
        let points = match name {
            "orthogonal" => orthogonal_sample(&BOUNDS, &Workload::default()).len(),
            "single_point" => 1,
            _ => all[0].1,
        };
        writeln!(
            out,
            "| {} | {} % | {points} | {:.1} | {name} | {:.1} | {:.1} | {:.1} | {:.1} | {:.0} |",
            system.name,
            noise * 100.0,
            mean(&|v| v.repeatability_error.unwrap_or(0.0)),
            mean(&|v| figures(v, name).median_error),
            mean(&|v| figures(v, name).p75_error),
            mean(&|v| figures(v, name).p90_error),
            mean(&|v| figures(v, name).enhanced_median_error.unwrap_or(f64::NAN)),
            mean(&|v| figures(v, name).interval90_coverage.unwrap_or(f64::NAN)),
        )?;
    }
    Ok(())
}

fn main() -> std::io::Result<()> {
    let given: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let extra = given.first().map_or(12, |extra| *extra as usize);
    let most = given.get(3).filter(|points| **points > 0).map(|points| *points as usize);
    let first = given.get(4).copied().unwrap_or(0);
    let seeds = given.get(1).copied().unwrap_or(3).max(1);
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "| system | noise | points | repeat | model | median | p75 | p90 | off borders | coverage |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|---|")?;
    let worlds = given.get(5).copied().unwrap_or(0);
    let systems: Vec<made_up::System> = match worlds {
        0 => made_up::systems(),
        _ => (first..first + worlds).map(made_up::random_system).collect(),
    };
    for system in systems {
        for noise in [0.0, 0.05] {
            let one = |seed: u64| {
                let evaluation = match given.get(2).filter(|budget| **budget > 0) {
                    Some(budget) => explored(&system, noise, seed, *budget as f64, most),
                    None => evaluate(&system, noise, seed, extra),
                };
                (validation(&system, &evaluation, noise, seed), distinct_points(&evaluation))
            };
            let all: Vec<(Validation, usize)> = (first..first + seeds).map(one).collect();
            rows(&mut out, &system, noise, &all)?;
        }
    }
    Ok(())
}
