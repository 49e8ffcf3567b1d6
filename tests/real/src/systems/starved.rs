//! The operating-system micro-benchmarks on a machine that starves them: a number is right, or a
//! reason is given instead.

use super::Checks;
use crate::check::{Check, between, equal, named};
use crate::lab::memory::Group;
use crate::lab::{Lab, Up};
use ioscape_schema::{Document, OsBenchmark, OsResults, WarningKind};

/// The fraction by which numbers may differ.
const NEAR: f64 = 0.05;

/// Memory of the group that a hog fills, how much of it the hog holds, and how much it reads
/// repeatedly, in MiB.
const GROUP_MIB: u32 = 1024;
const HELD_MIB: u32 = 900;
const READ_MIB: u32 = 192;

/// How often this group's memory must run out, at least, to count as short.
const RAN_OUT_LEAST: f64 = 100.0;

/// The least share of all starvations' numbers that a run without load must have too: with fewer,
/// the machine was not quiet, and nothing is shown.
const COMPARED_LEAST: f64 = 0.5;

/// More memory than the micro-benchmarks use.
const LIMITS_NOTHING_MIB: u32 = 1 << 20;

/// A way in which a machine starves a program.
struct Starvation {
    name: &'static str,
    /// Starts the starvation.
    begin: fn(&mut Up<'_>) -> Result<Starved, String>,
}

/// A starvation in effect.
struct Starved {
    /// Shell code to run before the command, in its process.
    line: String,
    /// The group whose memory must be short.
    short: Option<Group>,
}

impl Starved {
    fn of(line: impl Into<String>) -> Self {
        Self { line: line.into(), short: None }
    }
}

const ALL: [Starvation; 6] = [
    Starvation { name: "a busy loop on every processor, and a low priority", begin: busy_loops },
    Starvation { name: "a quota of a fifth of a processor", begin: quota },
    Starvation { name: "a group short of memory", begin: memory_hog },
    Starvation { name: "a single processor", begin: one_processor },
    Starvation { name: "stopped and let go on ten times a second", begin: stops },
    Starvation { name: "a program that writes to the same disk", begin: writer },
];

fn busy_loops(up: &mut Up<'_>) -> Result<Starved, String> {
    let loops = "for _ in $(seq $(nproc)); do while :; do :; done & done; wait";
    up.beside("busy-loops", &["bash", "-c", loops])?;
    Ok(Starved::of("renice -n 19 $BASHPID >/dev/null"))
}

fn quota(up: &mut Up<'_>) -> Result<Starved, String> {
    Ok(Starved::of(up.quota_group("starved", 20)?.join()))
}

/// A hog that holds most of a group's memory, and reads a file through the rest. It uses hardly any
/// CPU time, so that only memory is short. It is the first to be killed.
fn memory_hog(up: &mut Up<'_>) -> Result<Starved, String> {
    let group = up.memory_group("hog", GROUP_MIB)?;
    let hog = format!(
        "{}; echo 1000 > /proc/self/oom_score_adj; truncate -s {READ_MIB}M w/hog; \
         (head -c {HELD_MIB}M /dev/zero; while :; do cat w/hog >/dev/null; sleep 1; done) | tail -c {HELD_MIB}M >/dev/null",
        group.join()
    );
    up.beside("memory-hog", &["bash", "-c", &hog])?;
    up.wait_for("memory-hog", || group.used_mib().is_some_and(|used| used >= HELD_MIB))?;
    Ok(Starved { line: group.join(), short: Some(group) })
}

fn one_processor(_: &mut Up<'_>) -> Result<Starved, String> {
    Ok(Starved::of("taskset -cp $(($(nproc) - 1)) $BASHPID >/dev/null"))
}

/// All processes of the run alternately receive `SIGSTOP` and `SIGCONT`; a group without a limit
/// lists them.
fn stops(up: &mut Up<'_>) -> Result<Starved, String> {
    let group = up.memory_group("stopped", LIMITS_NOTHING_MIB)?;
    let members = group.members();
    let turns = format!(
        "while :; do for signal in STOP CONT; do kill -$signal $(cat '{members}') 2>/dev/null; sleep 0.05; done; done"
    );
    up.beside("stops", &["bash", "-c", &turns])?;
    Ok(Starved::of(group.join()))
}

/// A program that uses the disk and hardly any CPU time.
fn writer(up: &mut Up<'_>) -> Result<Starved, String> {
    let writes =
        "while :; do dd if=/dev/zero of=w/written bs=1M count=100 conv=fsync status=none; done";
    up.beside("writer", &["bash", "-c", writes])?;
    Ok(Starved::of(":"))
}

/// Each starvation against the unloaded machine, measured before, between and after them: what
/// varies from run to run without load is not a starved run's fault.
pub fn os(lab: &Lab) -> Checks {
    let mut quiet = vec![run(lab, "quiet-1", ":")?];
    let (mut starved, mut all) = (Vec::new(), Vec::new());
    for (one, number) in ALL.iter().zip(1..) {
        let mut up = lab.up();
        let under = (one.begin)(&mut up)?;
        let before = under.short.as_ref().and_then(Group::ran_out);
        starved.push((one.name, run(lab, &format!("starved-{number}"), &under.line)?));
        if let Some(group) = &under.short {
            let times = group.ran_out().zip(before).map(|(after, before)| after - before);
            let what = format!("{}: times that its memory ran out", one.name);
            all.push(between(&what, RAN_OUT_LEAST, f64::INFINITY, times));
        }
        drop(up);
        if number == ALL.len() / 2 {
            quiet.push(run(lab, "quiet-2", ":")?);
        }
    }
    quiet.push(run(lab, "quiet-3", ":")?);
    let quiet: Vec<&OsResults> = quiet.iter().map(results).collect::<Result<_, _>>()?;
    all.extend(quiet.iter().zip(1..).map(|(one, number)| with_numbers(one, number)));
    let mut counts = [0, 0];
    for (name, document) in &starved {
        let found = compared(name, &quiet, results(document)?);
        counts = [counts[0] + found.compared, counts[1] + found.numbers];
        all.extend(found.checks);
    }
    let share = counts[0] as f64 / counts[1].max(1) as f64;
    all.push(between(
        "share of starved numbers that were compared",
        COMPARED_LEAST,
        1.0,
        Some(share),
    ));
    Ok(all)
}

/// How many cases of an unloaded run have a number.
fn with_numbers(quiet: &OsResults, number: u32) -> Check {
    let count = quiet.benchmarks.iter().filter(|one| one.value.is_some()).count();
    let share = count as f64 / quiet.benchmarks.len().max(1) as f64;
    let what = format!("share of cases with a number while nothing starves, run {number}");
    between(&what, 0.8, 1.0, Some(share))
}

/// A quick run of a process that first ran a line of shell, stored under a name.
fn run(lab: &Lab, name: &str, line: &str) -> Result<Document, String> {
    let binary = lab.binary();
    let text = lab.shell(&format!("( {line}; exec '{binary}' os --quick --dir w --json )"))?;
    let kept = lab.path(&format!("results/os-{name}.ioscape.json"));
    std::fs::write(&kept, &text).map_err(|e| format!("{}: {e}", kept.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("the result cannot be read: {e}"))
}

fn results(document: &Document) -> Result<&OsResults, String> {
    document.os().ok_or_else(|| "the result holds no micro-benchmarks".to_owned())
}

/// Checks a number against those of the unloaded runs, of which there must be at least one. A
/// warning that its interval is wide is no excuse: under load there should be no such number.
/// Returns `Ok` if it is right; if it is off, `Err` with its ratio to the first of them.
fn judged(value: f64, known: &[f64]) -> Result<(), f64> {
    let low = known.iter().copied().fold(f64::INFINITY, f64::min);
    let high = known.iter().copied().fold(0.0, f64::max);
    let near = (low * (1.0 - NEAR)..=high * (1.0 + NEAR)).contains(&value);
    if near { Ok(()) } else { Err(value / known[0]) }
}

/// A starved run compared with the unloaded ones.
struct Compared {
    checks: Vec<Check>,
    /// The number of its numbers, and of those that an unloaded run has too.
    numbers: usize,
    compared: usize,
}

/// A case's number in an unloaded run, unless the run itself says that something disturbed it.
fn known(quiet: &OsResults, one: &OsBenchmark) -> Option<f64> {
    let same = quiet.find(&one.name, &one.case, one.place)?;
    let is_disturbed = same.warnings.iter().any(|w| w.kind == WarningKind::Contaminated);
    same.value.filter(|_| !is_disturbed)
}

/// Lists numbers that are off, and cases with neither a number nor a reason. Numbers that no
/// unloaded run has are named but not judged: with nothing to compare, they are neither right nor
/// wrong.
fn compared(name: &str, quiet: &[&OsResults], starved: &OsResults) -> Compared {
    let (mut off, mut unknown, mut silent) = (Vec::new(), Vec::new(), Vec::new());
    let mut numbers = 0;
    for one in &starved.benchmarks {
        let case = format!("{} {}", one.name, one.case);
        let Some(value) = one.value else {
            let told = one.not_measured.as_ref().is_some_and(|why| !why.is_empty());
            silent.extend((!told).then_some(case));
            continue;
        };
        numbers += 1;
        let known: Vec<f64> = quiet.iter().filter_map(|quiet| known(quiet, one)).collect();
        if known.is_empty() {
            unknown.push(case);
        } else if let Err(ratio) = judged(value, &known) {
            off.push(format!("{case} {ratio:.3}"));
        }
    }
    let compared = numbers - unknown.len();
    let of = format!("of {compared} numbers that a run without load has as well");
    let checks = vec![
        equal(&format!("{name}: off, {of}"), "", &off.join(", ")),
        named(&format!("{name}: in no run without load, so not compared"), &unknown.join(", ")),
        equal(&format!("{name}: cases without a number or a reason"), "", &silent.join(", ")),
    ];
    Compared { checks, numbers, compared }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Warning;

    fn one(case: &str, value: f64) -> OsBenchmark {
        OsBenchmark {
            name: "x".into(),
            case: case.into(),
            value: Some(value),
            ..OsBenchmark::default()
        }
    }

    fn found(starved: OsBenchmark) -> Vec<String> {
        let of = |benchmarks| OsResults { benchmarks, ..OsResults::default() };
        let (first, last) = (of(vec![one("a", 100.0)]), of(vec![one("a", 98.0)]));
        let checks = compared("s", &[&first, &last], &of(vec![starved]));
        // A number without a counterpart is named, but is no miss.
        let told = |check: &Check| !check.holds || check.what.contains("not compared");
        checks
            .checks
            .into_iter()
            .filter(|check| told(check) && !check.found.is_empty())
            .map(|check| check.found)
            .collect()
    }

    #[test]
    fn a_number_is_near_or_absent_with_a_reason() {
        assert!(found(one("a", 104.0)).is_empty() && found(one("a", 94.0)).is_empty());
        assert_eq!(found(one("a", 106.0)), ["x a 1.060"]);
        assert_eq!(found(one("b", 100.0)), ["x b"], "nothing to compare with");
        let absent = |why: Option<&str>| OsBenchmark {
            value: None,
            not_measured: why.map(str::to_owned),
            ..one("a", 0.0)
        };
        assert!(found(absent(Some("busy"))).is_empty());
        assert_eq!(found(absent(None)), ["x a"]);
    }

    #[test]
    fn a_disturbed_run_without_load_is_none() {
        let disturbed = |value| OsBenchmark {
            warnings: vec![Warning::new(WarningKind::Contaminated, "slow")],
            ..one("a", value)
        };
        let of = |benchmarks| OsResults { benchmarks, ..OsResults::default() };
        let judge = |quiet: Vec<OsBenchmark>| {
            let quiet = of(quiet);
            let found = compared("s", &[&quiet], &of(vec![one("a", 100.0)]));
            (found.compared, found.numbers, found.checks.iter().all(|check| check.holds))
        };
        assert_eq!(judge(vec![one("a", 130.0)]), (1, 1, false));
        assert_eq!(judge(vec![disturbed(130.0)]), (0, 1, true));
    }

    #[test]
    fn a_wide_interval_is_no_excuse() {
        let warnings = vec![Warning::new(WarningKind::NotConfident, "wide")];
        let wide = OsBenchmark { ci95: Some([99.0, 130.0]), warnings, ..one("a", 115.0) };
        assert_eq!(found(wide), ["x a 1.150"]);
    }
}
