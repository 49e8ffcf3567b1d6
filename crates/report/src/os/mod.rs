//! The micro-benchmarks' results beside the paper's: rows of its tables and points of its Figure 1, for all renderers.

mod ranking;
mod scaling;
pub mod side;
mod tables;

pub use ranking::{ranking, sentence, unranked};
pub use scaling::{is_scaling, scaling, scaling_sentence, scaling_table};
pub use tables::tables;

use crate::figures::region_class;
use crate::plot::{Axis, Chart, Drawn, Mark, Scale, Series, Shape, Unit};
use crate::text::{inert, percent, whole_percent};
use ioscape_schema::os::paper;
use ioscape_schema::statistics::sort_by_number;
use ioscape_schema::units::{Count, Nanos, Rate};
use ioscape_schema::{Locality, MabProof, OsBenchmark, OsResults, OsRule, OsUnit};

/// What this machine is called in the paper's tables.
pub const THIS: &str = "this machine";

/// The results of a system by its name.
pub type NamedResults<'a> = (&'a str, &'a OsResults);

/// A value in its unit.
pub fn shown(unit: OsUnit, value: f64) -> String {
    match unit {
        OsUnit::Nanos => Nanos(value).to_string(),
        OsUnit::BytesPerS => Rate(value).to_string(),
        OsUnit::PerS => format!("{}/s", Count(value)),
    }
}

/// The value of a case, or that it was not measured.
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

/// The case, and where its files are when that is not on this machine.
pub fn case(one: &OsBenchmark) -> String {
    match one.place {
        Some(Locality::Remote) => format!("{}, remote", one.case),
        _ => one.case.clone(),
    }
}

/// A relative speed with two digits that count.
pub fn speed(value: f64) -> String {
    match value {
        0.1.. => format!("{value:.2}"),
        0.01.. => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

/// Share of batches that others left alone; empty where the kernel does not report it.
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
        let of = match results.in_geometric_mean {
            7 => String::new(),
            1 => ", of one speed".to_owned(),
            number => format!(", of {number} speeds"),
        };
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

/// The remote penalty with its interval; or that it cannot be told, where that holds none at all or there is no interval.
fn penalty(results: &OsResults) -> String {
    let ends = results.remote_penalty_ci95().map(|ends| ends.map(percent));
    match (sure_penalty(results), ends) {
        (Some(penalty), Some([low, high])) => format!("{} ({low} to {high})", percent(penalty)),
        (_, Some([low, high])) => format!("cannot be told ({low} to {high})"),
        (_, None) => "cannot be told: the times have no intervals".to_owned(),
    }
}

/// The remote penalty, where its interval excludes that there is none.
fn sure_penalty(results: &OsResults) -> Option<f64> {
    let [low, high] = results.remote_penalty_ci95()?;
    results.remote_penalty.filter(|_| low > 0.0 || high < 0.0)
}

/// What the Modified Andrew Benchmark compiled, and whether that was all of it.
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

/// The same with several systems, each a point of its own by its name; `None` where none is rated.
pub fn figure1_of(systems: &[NamedResults<'_>]) -> Option<Chart> {
    let rated = |(name, results): &NamedResults<'_>| {
        let (mips, mean) = results.mips.zip(results.geometric_mean_mips_relative)?;
        Some((inert(name).into_owned(), mips, mean))
    };
    let rated: Vec<(String, f64, f64)> = systems.iter().filter_map(rated).collect();
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
    for (index, (name, mips, mean)) in rated.into_iter().enumerate() {
        let here = Mark::plain(mips, mean, format!("{name}: {mips:.0} MIPS, {}", speed(mean)));
        let (class, shape) = match index {
            0 => ("write".to_owned(), Shape::Diamond),
            _ => (region_class(index), Shape::nth(index + 1)),
        };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use ioscape_schema::Contamination;

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

    #[test]
    fn figure_1_has_eleven_points() {
        let mut results = sample::os_results();
        let chart = figure1(&results).unwrap();
        assert_eq!(chart.series.iter().map(|series| series.marks.len()).sum::<usize>(), 11);
        let both = figure1_of(&[("here", &results), ("there", &results)]).unwrap();
        let names: Vec<&str> = both.series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names[1..], ["here", "there"]);
        assert!(both.series[2].marks[0].title.starts_with("there: "));
        assert!(both.series[1].shape != both.series[2].shape);
        results.mips = None;
        assert!(figure1(&results).is_none());
    }
}
