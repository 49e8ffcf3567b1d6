//! The operating-system micro-benchmarks on a machine that starves them: a number is right, or there is none and a reason.

use super::Checks;
use crate::check::{Check, between, equal};
use crate::lab::{Lab, Up};
use ioscape_schema::{Document, OsBenchmark, OsResults};

/// The benchmarks that are tried: all but the long ones.
const ONLY: &str = "dhrystone,compiler,getpid,cswitch,select,bcopy,open-close,create-delete,mab,page-fault,process,thread-switch,signal,socket,stat,rename";

/// How a machine starves a program.
struct Starvation {
    name: &'static str,
    /// Puts what starves on the machine; gives shell to run before the command, in its process.
    begin: fn(&mut Up<'_>) -> Result<String, String>,
}

const ALL: [Starvation; 4] = [
    Starvation { name: "a busy loop on every processor, and a low priority", begin: busy_loops },
    Starvation { name: "a quota of a fifth of a processor", begin: quota },
    Starvation { name: "a program that fills memory again and again", begin: memory_hog },
    Starvation { name: ONE_PROCESSOR, begin: one_processor },
];

const ONE_PROCESSOR: &str = "a single processor";

fn busy_loops(up: &mut Up<'_>) -> Result<String, String> {
    let loops = "for _ in $(seq $(nproc)); do while :; do :; done & done; wait";
    up.beside("busy-loops", &["bash", "-c", loops])?;
    Ok("renice -n 19 $BASHPID >/dev/null".to_owned())
}

fn quota(up: &mut Up<'_>) -> Result<String, String> {
    Ok(up.quota_group("starved", 20)?.join())
}

fn memory_hog(up: &mut Up<'_>) -> Result<String, String> {
    // Every read fills 256 MiB.
    up.beside("memory-hog", &["dd", "if=/dev/zero", "of=/dev/null", "bs=256M"])?;
    Ok(":".to_owned())
}

fn one_processor(_: &mut Up<'_>) -> Result<String, String> {
    Ok("taskset -cp $(($(nproc) - 1)) $BASHPID >/dev/null".to_owned())
}

/// Each starvation against the machine as it is.
pub fn os(lab: &Lab) -> Checks {
    let first = run(lab, ":")?;
    let quiet = results(&first)?;
    let count = quiet.benchmarks.iter().filter(|one| one.value.is_some()).count();
    let mut all = vec![between(
        "share of cases with a number while nothing starves",
        0.8,
        1.0,
        Some(count as f64 / quiet.benchmarks.len() as f64),
    )];
    let mut starved = Vec::new();
    for one in &ALL {
        let mut up = lab.up();
        let line = (one.begin)(&mut up)?;
        starved.push((one.name, run(lab, &line)?));
        drop(up);
    }
    // What varies from run to run without any load is no fault of a starved one.
    let last = run(lab, ":")?;
    let twice = [quiet, results(&last)?];
    for (name, document) in &starved {
        let mut found = results(document)?.clone();
        if *name == ONE_PROCESSOR {
            // What the scheduler spreads over processors is another thing on one.
            found.benchmarks.retain(|one| one.name != "mab");
        }
        all.extend(compared(name, twice, &found));
    }
    Ok(all)
}

/// A quick run of a process that ran a line of shell first.
fn run(lab: &Lab, line: &str) -> Result<Document, String> {
    let binary = lab.binary();
    let text =
        lab.shell(&format!("( {line}; exec '{binary}' os --quick --only {ONLY} --dir w --json )"))?;
    serde_json::from_str(&text).map_err(|e| format!("the result cannot be read: {e}"))
}

fn results(document: &Document) -> Result<&OsResults, String> {
    document.os().ok_or_else(|| "the result holds no micro-benchmarks".to_owned())
}

/// The smallest and the largest that a case may be: its value, or the ends of its interval.
fn ends(one: &OsBenchmark) -> Option<[f64; 2]> {
    one.ci95.or(one.value.map(|value| [value; 2]))
}

/// Numbers that are off, and cases with neither a number nor a reason. A number is off if its interval and those of the runs without load
/// are more than 5 % apart.
fn compared(name: &str, quiet: [&OsResults; 2], starved: &OsResults) -> Vec<Check> {
    let (mut off, mut silent) = (Vec::new(), Vec::new());
    for one in &starved.benchmarks {
        let case = format!("{} {}", one.name, one.case);
        let Some(value) = one.value else {
            let told = one.not_measured.as_ref().is_some_and(|why| !why.is_empty());
            silent.extend((!told).then_some(case));
            continue;
        };
        let same = |quiet: &&OsResults| quiet.find(&one.name, &one.case, one.place).cloned();
        let same: Vec<OsBenchmark> = quiet.iter().filter_map(same).collect();
        let known: Vec<[f64; 2]> = same.iter().filter_map(ends).collect();
        let low = known.iter().map(|ends| ends[0]).fold(f64::INFINITY, f64::min);
        let high = known.iter().map(|ends| ends[1]).fold(0.0, f64::max);
        let Some([least, most]) = ends(one).filter(|_| !known.is_empty()) else { continue };
        if least > high * 1.05 || most < low * 0.95 {
            let first = same.iter().find_map(|one| one.value).unwrap_or(f64::NAN);
            off.push(format!("{case} {:.3}", value / first));
        }
    }
    vec![
        equal(&format!("{name}: numbers more than 5 % off"), "", &off.join(", ")),
        equal(&format!("{name}: cases without a number or a reason"), "", &silent.join(", ")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_off_and_a_silent_case_are_found() {
        let one = |case: &str, value, why: Option<&str>| OsBenchmark {
            name: "x".into(),
            case: case.into(),
            value,
            not_measured: why.map(str::to_owned),
            ..OsBenchmark::default()
        };
        let of = |benchmarks| OsResults { benchmarks, ..OsResults::default() };
        let quiet = of(["a", "b", "c"].map(|case| one(case, Some(100.0), None)).into());
        let later =
            of(vec![OsBenchmark { ci95: Some([96.0, 100.5]), ..one("a", Some(99.0), None) }]);
        let twice = [&quiet, &later];
        let held = of(vec![one("a", Some(104.0), None), one("b", None, Some("busy"))]);
        assert!(compared("s", twice, &held).iter().all(|check| check.holds));
        let wrong = of(vec![one("a", Some(106.0), None), one("b", None, None)]);
        let found: Vec<String> =
            compared("s", twice, &wrong).into_iter().map(|check| check.found).collect();
        assert_eq!(found, ["x a 1.060", "x b"]);
        let wide = OsBenchmark { ci95: Some([104.0, 120.0]), ..one("a", Some(110.0), None) };
        assert!(compared("s", twice, &of(vec![wide])).iter().all(|check| check.holds));
    }
}
