//! How far off predictions are on real systems; run only by name, because each takes a quarter of
//! an hour on a quiet machine.

use super::Checks;
use crate::check::{Check, between, evaluation};
use crate::lab::storage::FileSystem;
use crate::lab::{Lab, Up};
use ioscape_schema::{ErrorFigures, Validation};

/// A file system in a file, bypassing the host's file cache; it holds sets of 3 GiB.
fn in_a_file(lab: &Lab, kind: FileSystem) -> Result<Up<'_>, String> {
    let mut up = lab.up();
    let image = up.directory("w/p")?.join("image");
    lab.shell(&format!("truncate -s 8G '{}'", image.display()))?;
    let device = up.loop_device(&image)?;
    up.file_system("p", kind, &device)?;
    Ok(up)
}

/// A directory of the machine's own file system, with a file cache of 1 GiB.
pub fn here(lab: &Lab) -> Checks {
    let mut up = lab.up();
    up.directory("w/here")?;
    predicted(
        lab,
        "here",
        "w/here",
        "--memory 1G --points 82 --budget 10m",
        "--rounds 3 --orthogonal --budget 13m",
    )
}

/// ext4 in a file.
pub fn ext4(lab: &Lab) -> Checks {
    let _up = in_a_file(lab, FileSystem::Ext4)?;
    predicted(lab, "ext4", "mnt/p", "--memory 1G --points 82 --budget 4m", SHORT)
}

/// XFS in a file.
pub fn xfs(lab: &Lab) -> Checks {
    let _up = in_a_file(lab, FileSystem::Xfs)?;
    predicted(lab, "xfs", "mnt/p", "--memory 1G --points 82 --budget 4m", SHORT)
}

/// btrfs in a file.
pub fn btrfs(lab: &Lab) -> Checks {
    let _up = in_a_file(lab, FileSystem::Btrfs)?;
    predicted(lab, "btrfs", "mnt/p", "--memory 1G --points 82 --budget 4m", SHORT)
}

/// tmpfs.
pub fn tmpfs(lab: &Lab) -> Checks {
    let mut up = lab.up();
    up.tmpfs("p", 4096)?;
    predicted(lab, "tmpfs", "mnt/p", "--max-unique-bytes 1G --points 82 --budget 4m", SHORT)
}

/// sshfs over 1 Gbit/s with a client cache of 64 MiB.
pub fn network(lab: &Lab) -> Checks {
    let _up = super::network::sshfs(lab, "kernel_cache")?;
    let evaluate = "--memory 64M --max-unique-bytes 192M --points 82 --budget 4m";
    predicted(lab, "network", "mnt/ssh", evaluate, SHORT)
}

/// ext4 in a file with 512 MiB of memory: its predictions for 256 MiB and 1 GiB are measured there,
/// and compared with evaluations made there.
pub fn what_if_memory(lab: &Lab) -> Checks {
    let _up = in_a_file(lab, FileSystem::Ext4)?;
    let from = "results/what-if-512M.ioscape.json";
    let evaluate = "--points 82 --budget 4m";
    lab.command(&format!("evaluate mnt/p --json -o {from} --memory 512M {evaluate}"))?;
    let mut checks = Vec::new();
    for memory in ["256M", "1G"] {
        let own = format!("results/what-if-{memory}.ioscape.json");
        lab.command(&format!("evaluate mnt/p --json -o {own} --memory {memory} {evaluate}"))?;
        let exchange = format!("--what-if memory={memory} {SHORT}");
        let changed = validated(lab, &format!("what-if-{memory}"), from, "mnt/p", &exchange)?;
        let own = validated(lab, &format!("evaluated-{memory}"), &own, "mnt/p", SHORT)?;
        let error = |one: &Validation| one.errors.median_error;
        checks.push(between(
            &format!("{memory}: median error of the what-if"),
            0.0,
            0.5,
            Some(error(&changed)),
        ));
        for (name, errors) in &changed.models {
            checks.push(told(&format!("{memory}: what-if, {name}"), figures(errors)));
        }
        checks.push(told(&format!("{memory}: evaluated there"), figures(&own.errors)));
        let ratio = format!("{:.2}", error(&changed) / error(&own));
        checks.push(told(&format!("{memory}: one over the other"), ratio));
    }
    Ok(checks)
}

/// Measures unseen workloads on `target` and compares them with what `result` predicts.
fn validated(
    lab: &Lab,
    name: &str,
    result: &str,
    target: &str,
    options: &str,
) -> Result<Validation, String> {
    let workloads = std::env::var("IOSCAPE_WORKLOADS").unwrap_or_else(|_| "100".to_owned());
    let page = format!("results/validation-{name}.html");
    let document = lab.command(&format!(
        "validate {result} {target} --json --html {page} --seed 77 --workloads {workloads} {options}"
    ))?;
    let validation = document.validation().and_then(|run| run.validation.clone());
    validation.ok_or_else(|| "the result holds no validation".to_owned())
}

/// Enough time for a hundred workloads, twice.
const SHORT: &str = "--rounds 2 --budget 4m";

/// Evaluates, then measures unseen workloads and compares.
fn predicted(lab: &Lab, name: &str, target: &str, evaluate: &str, validate: &str) -> Checks {
    let result = format!("results/prediction-{name}.ioscape.json");
    let evaluated = lab.command(&format!("evaluate {target} --json -o {result} {evaluate}"))?;
    let found = evaluation(&evaluated)?;
    let cost = format!("{} points, {:.0} s", found.points_measured, found.elapsed_s);
    let validation = validated(lab, name, &result, target, validate)?;
    let mut checks = checks(&validation)?;
    checks.push(told("the evaluation", cost));
    Ok(checks)
}

fn told(what: &str, found: String) -> Check {
    Check { what: what.to_owned(), want: "(told)".to_owned(), found, holds: true }
}

/// A miss means a broken model, not one that is slightly off: the figures themselves are printed.
fn checks(validation: &Validation) -> Checks {
    let model = |name: &str| validation.models.get(name);
    let default = model("default").ok_or("the default model is missing")?;
    let mut checks = vec![
        between("median error", 0.0, 0.5, Some(default.median_error)),
        between("coverage of the 90 % interval", 0.5, 1.0, default.interval90_coverage),
    ];
    for name in ["default", "product", "orthogonal", "single_point"] {
        checks.extend(model(name).map(|errors| told(name, figures(errors))));
    }
    let repeated = percent(validation.repeatability_error);
    checks.push(told(
        "workloads; repeatability error",
        format!("{}; {repeated}", validation.workloads),
    ));
    Ok(checks)
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}

fn figures(errors: &ErrorFigures) -> String {
    format!(
        "median {:.1} % p75 {:.1} % p90 {:.1} % off borders {} coverage {}",
        100.0 * errors.median_error,
        100.0 * errors.p75_error,
        100.0 * errors.p90_error,
        percent(errors.enhanced_median_error),
        percent(errors.interval90_coverage),
    )
}
