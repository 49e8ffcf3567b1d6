//! Micro-benchmark results next to the paper's, for all renderers.
//!
//! They become rows of its tables and points of its Figure 1.

mod ranking;
mod scaling;
pub mod side;
mod tables;

pub use ranking::{ranking, sentence, unranked};
pub use scaling::{is_scaling, scaling, scaling_sentence, scaling_table};
pub use tables::tables;

use crate::figures::region_class;
use crate::plot::{Axis, Chart, Drawn, Mark, Scale, Series, Shape, Unit};
use crate::text::{fine_ratio, inert, percent, whole_percent};
use ioscape_schema::os::paper;
use ioscape_schema::statistics::sort_by_number;
use ioscape_schema::units::{Count, Nanos, Rate};
use ioscape_schema::{Locality, MabProof, OsBenchmark, OsResults, OsRule, OsUnit};

/// The name of this machine in the paper's tables.
pub const THIS: &str = "this machine";

/// The name and results of a system.
pub type NamedResults<'a> = (&'a str, &'a OsResults);

/// A value in its unit.
pub fn shown(unit: OsUnit, value: f64) -> String {
    match unit {
        OsUnit::Nanos => Nanos(value).to_string(),
        OsUnit::BytesPerS => Rate(value).to_string(),
        OsUnit::PerS => format!("{}/s", Count(value)),
    }
}

/// The value of a case, or "not measured".
pub fn value(one: &OsBenchmark) -> String {
    one.value.map_or_else(|| "not measured".to_owned(), |value| shown(one.unit, value))
}

/// The interval of a case; empty without one.
pub fn interval(one: &OsBenchmark) -> String {
    one.ci95.map_or_else(String::new, |ends| {
        let [low, high] = ends.map(|end| shown(one.unit, end));
        format!("{low} to {high}")
    })
}

/// The name of a rule in the result file.
pub fn rule(rule: OsRule) -> &'static str {
    match rule {
        OsRule::CleanQuartile => "clean_quartile",
        OsRule::Quartile => "quartile",
        OsRule::Mean => "mean",
        OsRule::Single => "single",
    }
}

/// The case, and the place of its files unless that is this machine.
pub fn case(one: &OsBenchmark) -> String {
    match one.place {
        Some(Locality::Remote) => format!("{}, remote", one.case),
        _ => one.case.clone(),
    }
}

/// A relative speed: two decimals, or two significant digits if it is small.
pub fn speed(value: f64) -> String {
    fine_ratio(value)
}

/// The share of batches that other activity left undisturbed; empty if the kernel does not report
/// it.
pub fn clean(one: &OsBenchmark) -> String {
    one.contamination.clean_frac.map_or_else(String::new, whole_percent)
}

/// The headline figures in words, one per entry.
pub fn headlines(results: &OsResults) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    if let Some(mips) = results.dhrystone_mips {
        let text = format!("{mips:.0} (Dhrystone 2.1, VAX-11/780 = 1)");
        all.push(("integer rating, MIPS", text));
    }
    if let Some(mips) = results.mips.filter(|_| results.mips_given) {
        all.push(("rating given, MIPS", format!("{mips}")));
    }
    if let Some(mean) = results.geometric_mean_mips_relative {
        let of = made_of(results).map_or_else(String::new, |made| format!(", {made}"));
        let text = format!("{} of what the rating predicts (geometric mean{of})", speed(mean));
        all.push(("MIPS-relative speed", text));
    }
    if let Some(mean) = results.geometric_mean_with_bcopy {
        all.push(("the same with bcopy", speed(mean)));
    }
    if results.remote_penalty.is_some() {
        all.push(("remote penalty", penalty(results)));
    }
    all
}

/// The number of speeds in a mean, if they are not the paper's.
fn number_of_speeds(results: &OsResults) -> Option<String> {
    let has_remote = results.in_mean().any(|one| one.place == Some(Locality::Remote));
    match results.in_mean().count() {
        _ if !has_remote && results.missing_in_mean().is_empty() => None,
        1 => Some("of one speed".to_owned()),
        number => Some(format!("of {number} speeds")),
    }
}

/// The number of speeds in a mean, and which of the paper's it lacks.
fn made_of(results: &OsResults) -> Option<String> {
    let number = number_of_speeds(results)?;
    let remote = results.in_mean().filter(|one| one.place == Some(Locality::Remote)).count();
    let remote = if remote > 0 { format!(", {remote} remote") } else { String::new() };
    Some(match results.missing_in_mean() {
        missing if missing.is_empty() => format!("{number}{remote}"),
        missing => format!("{number}{remote}: without {}", missing.join(", ")),
    })
}

/// The remote penalty with its interval.
///
/// It cannot be told if the interval includes 0 or is missing.
fn penalty(results: &OsResults) -> String {
    let ends = results.remote_penalty_ci95().map(|ends| ends.map(percent));
    match (sure_penalty(results), ends) {
        (Some(penalty), Some([low, high])) => format!("{} ({low} to {high})", percent(penalty)),
        (_, Some([low, high])) => format!("cannot be told ({low} to {high})"),
        (_, None) => "cannot be told: the times have no intervals".to_owned(),
    }
}

/// The remote penalty, if its interval excludes 0.
fn sure_penalty(results: &OsResults) -> Option<f64> {
    let [low, high] = results.remote_penalty_ci95()?;
    results.remote_penalty.filter(|_| low > 0.0 || high < 0.0)
}

/// What the Modified Andrew Benchmark compiled, and whether the result is complete.
pub fn proof(proof: &MabProof) -> String {
    let state = match (proof.is_built_in(), proof.whole) {
        (true, true) => "correct",
        (true, false) => "wrong: this run does not count",
        (false, _) => "not checked, since the compiler is another one",
    };
    format!(
        "Modified Andrew Benchmark: {} files of {} bytes, {} compiled (compiler: {}); hash of all objects {}, {state}",
        proof.files, proof.bytes, proof.compiles, proof.compiler, proof.object_hash
    )
}

/// Figure 1 with this machine: relative speed of the operating system against the rating.
pub fn figure1(results: &OsResults) -> Option<Chart> {
    figure1_of(&[(THIS, results)])
}

/// Figure 1 with several systems, each a point under its name; `None` if none is rated.
///
/// The title of a point says so if its mean is not of the paper's speeds.
pub fn figure1_of(systems: &[NamedResults<'_>]) -> Option<Chart> {
    let rated = |(name, results): &NamedResults<'_>| {
        let (mips, mean) = results.mips.zip(results.geometric_mean_mips_relative)?;
        let name = inert(name);
        let of = made_of(results).map_or_else(String::new, |made| format!(", {made}"));
        let here = Mark::plain(mips, mean, format!("{name}: {mips:.0} MIPS, {}{of}", speed(mean)));
        let of = number_of_speeds(results).map_or_else(String::new, |of| format!(" ({of})"));
        Some((format!("{name}{of}"), here))
    };
    let rated: Vec<(String, Mark)> = systems.iter().filter_map(rated).collect();
    if rated.is_empty() {
        return None;
    }
    let past = paper::machines().into_iter().map(|one| {
        let title = format!("{} (1990): {} MIPS, {}", one.name, one.mips, one.figure1);
        Mark::plain(one.mips, one.figure1, title)
    });
    let mut past: Vec<Mark> = past.collect();
    sort_by_number(&mut past, |one| one.x);
    let series = |name: &str, class: &str, shape, marks| {
        Series::new(name, class, shape, Drawn::Points, marks)
    };
    let mut all = vec![series("ten machines of 1990", "read", Shape::Disc, past)];
    for (index, (name, here)) in rated.into_iter().enumerate() {
        let (class, shape) = look(index);
        all.push(series(&name, &class, shape, vec![here]));
    }
    let axis = |label: &str, of: fn(&Mark) -> f64| {
        let values = all.iter().flat_map(|one| &one.marks).map(of);
        Axis::fitted(label, Scale::Log10, Unit::Number, values)
    };
    let x = axis("integer rating, MIPS", |mark| mark.x);
    let y = axis("MIPS-relative speed of the operating system", |mark| mark.y);
    let label = "MIPS-relative speed of the operating system against the integer rating";
    Some(Chart::new(label, x, y, all))
}

/// The colour and symbol of a system; numbers count from 0.
///
/// Twelve systems look different from each other and from the machines of 1990.
fn look(index: usize) -> (String, Shape) {
    let class = match index % 4 {
        0 => "write".to_owned(),
        more => region_class(more - 1),
    };
    (class, [Shape::Diamond, Shape::Square, Shape::Triangle][index % 3])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use ioscape_schema::Contamination;
    use std::collections::BTreeSet;

    #[test]
    fn a_remote_penalty_has_an_interval_or_cannot_be_told() {
        let told = |ends: [Option<[f64; 2]>; 2]| {
            let places = [(Locality::Local, 400e6), (Locality::Remote, 500e6)];
            let one = |((place, value), ci95)| OsBenchmark {
                name: "mab".into(),
                case: "total".into(),
                place: Some(place),
                value: Some(value),
                ci95,
                ..OsBenchmark::default()
            };
            let benchmarks = places.into_iter().zip(ends).map(one).collect();
            let mut results = OsResults { benchmarks, ..OsResults::default() };
            results.rate(Some(100.0));
            let all = headlines(&results);
            all.into_iter().find(|(what, _)| *what == "remote penalty").unwrap().1
        };
        let near = Some([390e6, 410e6]);
        assert_eq!(told([near, Some([492e6, 507e6])]), "25 % (20 % to 30 %)");
        assert_eq!(told([near, Some([369e6, 546e6])]), "cannot be told (-10 % to 40 %)");
        assert_eq!(told([near, None]), "cannot be told: the times have no intervals");
    }

    #[test]
    fn batches_are_all_clean_only_where_all_are() {
        let told = |clean_frac| {
            let contamination = Contamination { clean_frac, ..Contamination::default() };
            clean(&OsBenchmark { contamination, ..OsBenchmark::default() })
        };
        let shares = [None, Some(0.934), Some(0.996), Some(1.0)].map(told);
        assert_eq!(shares, ["", "93 %", "99.6 %", "100 %"]);
    }

    /// Once, an `open` over a network and one that took half as long again were both shown as
    /// 0.0001.
    #[test]
    fn small_speeds_have_two_digits_as_well() {
        let shown = [0.70, 0.035, 0.0042, 0.000_148, 0.000_101, 0.000_045].map(speed);
        assert_eq!(shown, ["0.70", "0.035", "0.0042", "0.00015", "0.00010", "0.000045"]);
    }

    #[test]
    fn figure_1_has_eleven_points() {
        let mut results = sample::os_results();
        let chart = figure1(&results).unwrap();
        assert_eq!(chart.series.iter().map(|series| series.marks.len()).sum::<usize>(), 11);
        let both = figure1_of(&[("here", &results), ("there", &results)]).unwrap();
        let names: Vec<&str> = both.series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names[1..], ["here (of 3 speeds)", "there (of 3 speeds)"]);
        assert!(both.series[2].marks[0].title.starts_with("there: "));
        let lacks = "of 3 speeds, 1 remote: without select, read, mab, open-close, ";
        assert!(both.series[2].marks[0].title.contains(lacks), "{:?}", both.series[2].marks);
        assert!(both.series[1].shape != both.series[2].shape);
        results.mips = None;
        assert!(figure1(&results).is_none());
    }

    #[test]
    fn a_mean_of_the_papers_speeds_is_no_other() {
        let all = paper::TABLES.map(|table| OsBenchmark {
            name: table.name.into(),
            mips_relative: Some(0.5),
            ..OsBenchmark::default()
        });
        let mut results = OsResults { benchmarks: all.into(), ..OsResults::default() };
        assert_eq!(made_of(&results), None);
        results.benchmarks.retain(|one| one.name != "read");
        assert_eq!(made_of(&results).as_deref(), Some("of 6 speeds: without read"));
        results.benchmarks.truncate(1);
        assert!(made_of(&results).unwrap().starts_with("of one speed: without cswitch, "));
    }

    /// Once, the fourth system was a green disc, like the machines of 1990.
    #[test]
    fn no_system_of_figure_1_looks_like_another_one_or_like_the_past() {
        let results = sample::os_results();
        let chart = figure1_of(&[("x", &results); 12]).unwrap();
        let css = include_str!("../plot/chart.css");
        let looks = chart.series.iter().map(|one| {
            let colour = css.split(&format!("--{}: ", one.class)).nth(1).unwrap();
            format!("{} {:?}", &colour[..7], one.shape)
        });
        let looks: BTreeSet<String> = looks.collect();
        assert_eq!(looks.len(), 13, "{looks:?}");
    }
}
