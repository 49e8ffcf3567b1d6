//! The operating-system micro-benchmarks on a machine that starves them: a number is right, or there is none and a reason.

use super::Checks;
use crate::check::{Check, between, equal};
use crate::lab::{Lab, Up};
use ioscape_schema::{Document, OsResults};

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
    Starvation { name: "a single processor", begin: one_processor },
];

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
    let quiet = run(lab, ":")?;
    let quiet = results(&quiet)?;
    let count = quiet.benchmarks.iter().filter(|one| one.value.is_some()).count();
    let mut all = vec![between(
        "share of cases with a number while nothing starves",
        0.8,
        1.0,
        Some(count as f64 / quiet.benchmarks.len() as f64),
    )];
    for one in &ALL {
        let mut up = lab.up();
        let line = (one.begin)(&mut up)?;
        let document = run(lab, &line)?;
        drop(up);
        all.extend(compared(one.name, quiet, results(&document)?));
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

/// Numbers that are off, and cases with neither a number nor a reason.
fn compared(name: &str, quiet: &OsResults, starved: &OsResults) -> Vec<Check> {
    let (mut off, mut silent) = (Vec::new(), Vec::new());
    for one in &starved.benchmarks {
        let case = format!("{} {}", one.name, one.case);
        let Some(value) = one.value else {
            let told = one.not_measured.as_ref().is_some_and(|why| !why.is_empty());
            silent.extend((!told).then_some(case));
            continue;
        };
        let same = quiet.find(&one.name, &one.case, one.place).and_then(|one| one.value);
        let ratio = same.map(|same| value / same);
        if ratio.is_some_and(|ratio| (ratio - 1.0).abs() > 0.05) {
            off.push(format!("{case} {:.3}", ratio.unwrap_or(f64::NAN)));
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
    use ioscape_schema::OsBenchmark;

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
        let held = of(vec![one("a", Some(104.0), None), one("b", None, Some("busy"))]);
        assert!(compared("s", &quiet, &held).iter().all(|check| check.holds));
        let wrong = of(vec![one("a", Some(106.0), None), one("b", None, None)]);
        let found: Vec<String> =
            compared("s", &quiet, &wrong).into_iter().map(|check| check.found).collect();
        assert_eq!(found, ["x a 1.060", "x b"]);
    }
}
