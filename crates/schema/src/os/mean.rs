//! The cases that form the geometric mean of MIPS-relative speeds, and means over the cases that
//! several results share.

use super::benchmark::{Locality, OsBenchmark};
use super::paper::TABLES;
use super::results::OsResults;
use crate::statistics::geometric_mean;
use std::collections::BTreeMap;

/// The benchmark excluded from the mean, as in the paper's Figure 1.
const LEFT_OUT: &str = "bcopy";

impl OsResults {
    /// Returns the cases that form the mean, in order of measurement.
    pub fn in_mean(&self) -> impl Iterator<Item = &OsBenchmark> {
        let all = self.benchmarks.iter();
        all.filter(|one| one.name != LEFT_OUT && one.mips_relative.is_some())
    }

    /// Returns the benchmarks of the paper's mean that have no speed here, or only one on remote
    /// files.
    pub fn missing_in_mean(&self) -> Vec<&'static str> {
        let is_there = |name: &str| {
            self.in_mean().any(|one| one.name == name && one.place != Some(Locality::Remote))
        };
        let names = TABLES.iter().map(|table| table.name);
        names.filter(|name| *name != LEFT_OUT && !is_there(name)).collect()
    }
}

/// Returns the benchmarks for which all results have a speed, and for each result the geometric
/// mean of these speeds.
///
/// There are no means if nothing is shared. `None` if all have the same benchmarks, so that their
/// own means can be compared.
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

    /// Results with these speeds of their main cases.
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
