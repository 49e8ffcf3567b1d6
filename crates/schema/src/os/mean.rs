//! What the geometric mean of MIPS-relative speeds is made of, and the means of the speeds that several results share.

use super::benchmark::{Locality, OsBenchmark};
use super::paper::TABLES;
use super::results::OsResults;
use crate::statistics::geometric_mean;
use std::collections::BTreeMap;

/// The benchmark that the mean leaves out, as the paper's Figure 1 does.
const LEFT_OUT: &str = "bcopy";

impl OsResults {
    /// The cases whose speeds the mean is made of, in the order measured.
    pub fn in_mean(&self) -> impl Iterator<Item = &OsBenchmark> {
        let all = self.benchmarks.iter();
        all.filter(|one| one.name != LEFT_OUT && one.mips_relative.is_some())
    }

    /// Names of the benchmarks of the paper's mean that have no speed here, or one on remote files alone.
    pub fn missing_in_mean(&self) -> Vec<&'static str> {
        let is_there = |name: &str| {
            self.in_mean().any(|one| one.name == name && one.place != Some(Locality::Remote))
        };
        let names = TABLES.iter().map(|table| table.name);
        names.filter(|name| *name != LEFT_OUT && !is_there(name)).collect()
    }
}

/// The benchmarks whose speeds all of these results have, and the geometric mean of these speeds of each; no means where they share none. `None` where all
/// have the same ones, so that their own means can be compared.
pub fn shared_means(all: &[&OsResults]) -> Option<(Vec<String>, Vec<f64>)> {
    let name = |one: &OsBenchmark| match one.place {
        Some(Locality::Remote) => format!("{} (remote)", one.name),
        _ => one.name.clone(),
    };
    let speeds = |results: &&OsResults| -> BTreeMap<String, f64> {
        results.in_mean().filter_map(|one| Some((name(one), one.mips_relative?))).collect()
    };
    let all: Vec<BTreeMap<String, f64>> = all.iter().map(speeds).collect();
    let (first, others) = all.split_first()?;
    if others.iter().all(|other| other.keys().eq(first.keys())) {
        return None;
    }
    let is_shared = |name: &&String| others.iter().all(|other| other.contains_key(*name));
    let shared: Vec<&String> = first.keys().filter(is_shared).collect();
    let mean = |speeds: &BTreeMap<String, f64>| {
        let values = shared.iter().filter_map(|name| speeds.get(*name).copied());
        geometric_mean(&values.collect::<Vec<f64>>())
    };
    let means = all.iter().filter_map(mean).collect();
    Some((shared.into_iter().cloned().collect(), means))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results whose main cases have these speeds.
    fn rated(speeds: &[(&str, f64)]) -> OsResults {
        let one = |(name, speed): &(&str, f64)| OsBenchmark {
            name: (*name).to_owned(),
            mips_relative: Some(*speed),
            ..OsBenchmark::default()
        };
        OsResults { benchmarks: speeds.iter().map(one).collect(), ..OsResults::default() }
    }

    #[test]
    fn what_the_mean_lacks_is_named() {
        let all = TABLES.map(|table| (table.name, 0.5));
        assert_eq!((rated(&all).missing_in_mean().len(), rated(&all).in_mean().count()), (0, 7));
        let without: Vec<(&str, f64)> =
            all.into_iter().filter(|(name, _)| !["read", "mab", "bcopy"].contains(name)).collect();
        let mut results = rated(&without);
        assert_eq!(results.missing_in_mean(), ["read", "mab"]);
        results.benchmarks[3].place = Some(Locality::Remote);
        assert_eq!(results.missing_in_mean(), ["read", "mab", "open-close"]);
    }

    #[test]
    fn means_of_other_benchmarks_are_compared_by_those_they_share() {
        let one = rated(&[("getpid", 0.2), ("read", 0.02), ("cswitch", 0.8), ("bcopy", 0.1)]);
        let other = rated(&[("getpid", 0.1), ("cswitch", 0.4), ("select", 0.9)]);
        let (names, means) = shared_means(&[&one, &other]).unwrap();
        assert_eq!(names, ["cswitch", "getpid"]);
        assert!((means[0] - 0.4).abs() < 1e-12 && (means[1] - 0.2).abs() < 1e-12, "{means:?}");
        assert_eq!(shared_means(&[&one, &one]), None);
        let apart = rated(&[("mab", 0.3)]);
        assert_eq!(shared_means(&[&one, &apart]), Some((Vec::new(), Vec::new())));
    }
}
