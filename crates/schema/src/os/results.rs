//! All results of the operating-system micro-benchmarks, and their rating against the VAX-11/780.

use super::benchmark::{Locality, OsBenchmark};
use super::paper;
use crate::statistics::geometric_mean;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Dhrystones per second that count as one MIPS: the VAX-11/780 (Weicker's list, Dhrystone 1.1 and 2.1).
pub const DHRYSTONES_PER_MIPS: f64 = 1757.0;

/// Properties of the system that affect these numbers, as found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OsSystem {
    /// State of each known processor vulnerability and its mitigation.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub vulnerabilities: BTreeMap<String, String>,
    /// Settings by name: seccomp mode, frequency governor, clock source, transparent huge pages and the like.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// Data caches from the first level on, in bytes.
    #[serde(default)]
    pub caches_bytes: Vec<u64>,
    /// The processor that pinned benchmarks ran on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned_cpu: Option<u32>,
    /// The second processor, for benchmarks that use two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_cpu: Option<u32>,
}

/// Proof that the Modified Andrew Benchmark did all its work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MabProof {
    /// Number of files in the source tree.
    pub files: u32,
    /// Bytes of the source tree.
    pub bytes: u64,
    /// Number of source files compiled.
    pub compiles: u32,
    /// Hash of all objects, archives and the linked program.
    pub object_hash: String,
    /// Whether the hash is the known one, so that no work was skipped.
    pub whole: bool,
    /// The compiler: `built in`, or the command given.
    pub compiler: String,
    /// The program that every process of the run executed after its step. Absent if each step
    /// started `ioscape` itself, as up to version 0.1, which took most of the time.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub processes_end_in: String,
}

impl MabProof {
    /// Name of the benchmark it proves.
    pub const NAME: &'static str = "mab";

    /// The name of the built-in compiler.
    pub const BUILT_IN: &'static str = "built in";

    /// Returns whether the compiler is the built-in one.
    pub fn is_built_in(&self) -> bool {
        self.compiler == Self::BUILT_IN
    }

    /// Returns whether all of the known work was done by the built-in compiler, so that times can
    /// be compared with other results.
    pub fn is_known_work(&self) -> bool {
        self.whole && self.is_built_in()
    }

    /// Returns why the times do not count if the compiler produced wrong output; `None` if all the
    /// work was done.
    pub fn left_out(&self) -> Option<&'static str> {
        let why = "the compiled program is not the known one: work was left out, so that its time does not count";
        (!self.whole).then_some(why)
    }
}

/// Results of `ioscape os`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OsResults {
    /// Integer rating by Dhrystone 2.1, VAX-11/780 = 1; absent if not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dhrystone_mips: Option<f64>,
    /// The rating used for MIPS-relative speeds: `--mips`, otherwise Dhrystone's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mips: Option<f64>,
    /// Whether `mips` was given by the user.
    #[serde(default)]
    pub mips_given: bool,
    /// Geometric mean of all MIPS-relative speeds without bcopy, the value of the paper's Figure 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geometric_mean_mips_relative: Option<f64>,
    /// The same with bcopy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geometric_mean_with_bcopy: Option<f64>,
    /// Number of cases in the mean.
    #[serde(default)]
    pub in_geometric_mean: u32,
    /// Extra time of the Modified Andrew Benchmark on a remote file system, over the local time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_penalty: Option<f64>,
    /// Every case.
    pub benchmarks: Vec<OsBenchmark>,
    /// Properties of the system that affect the numbers.
    #[serde(default)]
    pub system: OsSystem,
    /// Proof of work of the Modified Andrew Benchmark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mab: Option<MabProof>,
    /// Total time, in seconds.
    #[serde(default, deserialize_with = "crate::range::not_negative")]
    pub elapsed_s: f64,
}

impl OsResults {
    /// Returns the case of a benchmark, at `place` if one is given.
    pub fn find(&self, name: &str, case: &str, place: Option<Locality>) -> Option<&OsBenchmark> {
        self.benchmarks.iter().find(|one| {
            one.name == name && one.case == case && (place.is_none() || one.place == place)
        })
    }

    /// Rates the machine by `given` MIPS or by Dhrystone.
    ///
    /// Fills every MIPS-relative speed, the geometric means and the remote penalty. The Modified
    /// Andrew Benchmark has no such speed if its work is not the paper's.
    pub fn rate(&mut self, given: Option<f64>) {
        let dhrystone = self.find("dhrystone", "2.1", None).and_then(|one| one.value);
        self.dhrystone_mips = dhrystone.map(|per_s| per_s / DHRYSTONES_PER_MIPS);
        self.mips = given.or(self.dhrystone_mips);
        self.mips_given = given.is_some();
        let is_other_work = self.mab.as_ref().is_some_and(|proof| !proof.is_known_work());
        for one in &mut self.benchmarks {
            let mips = self.mips.filter(|_| one.name != MabProof::NAME || !is_other_work);
            one.mips_relative = mips.and_then(|mips| paper::speed_of(one, mips));
        }
        let of = |bcopy: bool| -> Vec<f64> {
            let all = self.benchmarks.iter();
            all.filter(|one| bcopy || one.name != "bcopy").filter_map(|b| b.mips_relative).collect()
        };
        let (without, with) = (of(false), of(true));
        self.geometric_mean_mips_relative = geometric_mean(&without);
        self.geometric_mean_with_bcopy =
            if with.len() > without.len() { geometric_mean(&with) } else { None };
        self.in_geometric_mean = without.len() as u32;
        let total =
            |place| self.find(MabProof::NAME, "total", Some(place)).and_then(|one| one.value);
        self.remote_penalty =
            total(Locality::Local).zip(total(Locality::Remote)).map(|(near, far)| far / near - 1.0);
    }

    /// Returns the ends of the remote penalty, from the intervals of both times; `None` without
    /// these.
    pub fn remote_penalty_ci95(&self) -> Option<[f64; 2]> {
        self.remote_penalty?;
        let ends = |place| self.find(MabProof::NAME, "total", Some(place))?.ci95;
        let ([least, most], [low, high]) = (ends(Locality::Local)?, ends(Locality::Remote)?);
        Some([low / most - 1.0, high / least - 1.0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::OsUnit;

    fn case(name: &str, case: &str, value: f64, unit: OsUnit) -> OsBenchmark {
        let place =
            matches!(name, "mab" | "open-close" | "create-delete").then_some(Locality::Local);
        let (name, case) = (name.to_owned(), case.to_owned());
        OsBenchmark { name, case, place, value: Some(value), unit, ..OsBenchmark::default() }
    }

    /// The paper's DS5000 with Ultrix 3.1D, whose speeds are printed.
    fn ds5000() -> OsResults {
        let benchmarks = vec![
            case("getpid", "system call", 11e3, OsUnit::Nanos),
            case("getpid", "C library", 11e3, OsUnit::Nanos),
            case("cswitch", "same CPU", 0.18e6, OsUnit::Nanos),
            case("select", "10 full", 90e3, OsUnit::Nanos),
            case("bcopy", "memory", 12.6e6, OsUnit::BytesPerS),
            case("read", "file cache", 6.1e6, OsUnit::BytesPerS),
            case("mab", "total", 124e9, OsUnit::Nanos),
            case("open-close", "foo", 0.16e6, OsUnit::Nanos),
            case("create-delete", "no data", 50e6, OsUnit::Nanos),
        ];
        OsResults { benchmarks, ..OsResults::default() }
    }

    #[test]
    fn the_papers_own_machine_gets_the_papers_speeds() {
        let mut results = ds5000();
        results.rate(Some(18.0));
        let speeds: Vec<_> = results.benchmarks.iter().map(|one| one.mips_relative).collect();
        assert_eq!(speeds[1], None, "only one case of a benchmark counts");
        let printed = [0.94, 1.02, 1.01, 0.191, 0.13, 0.57, 0.91, 0.10];
        for (speed, printed) in speeds.iter().flatten().zip(printed) {
            assert!((speed - printed).abs() < 0.006, "{speed} {printed}");
        }
        assert_eq!((results.in_geometric_mean, results.mips_given), (7, true));
        let (without, with) =
            (results.geometric_mean_mips_relative, results.geometric_mean_with_bcopy);
        assert!(with.unwrap() < without.unwrap());
    }

    #[test]
    fn dhrystone_rates_when_nothing_is_given() {
        let mut results = ds5000();
        results.rate(None);
        assert_eq!((results.mips, results.geometric_mean_mips_relative), (None, None));
        results.benchmarks.push(case("dhrystone", "2.1", 1757.0 * 18.0, OsUnit::PerS));
        results.rate(None);
        assert_eq!(results.mips.map(f64::round), Some(18.0));
        assert!(results.geometric_mean_mips_relative.is_some() && !results.mips_given);
    }

    #[test]
    fn the_remote_penalty_needs_both_places() {
        let mut results = ds5000();
        results.rate(Some(18.0));
        assert_eq!(results.remote_penalty, None);
        let mut far = case("mab", "total", 186e9, OsUnit::Nanos);
        far.place = Some(Locality::Remote);
        results.benchmarks.push(far);
        results.rate(Some(18.0));
        assert_eq!(results.remote_penalty, Some(0.5));
        let far = results.find("mab", "total", Some(Locality::Remote)).unwrap();
        assert!((far.mips_relative.unwrap() - 0.46).abs() < 0.006, "against MVAX2 over NFS");
        assert_eq!(results.remote_penalty_ci95(), None, "without their intervals");
        for one in results.benchmarks.iter_mut().filter(|one| one.name == "mab") {
            let value = one.value.unwrap();
            one.ci95 = Some([value * 0.8, value * 1.2]);
        }
        let [low, high] = results.remote_penalty_ci95().unwrap();
        assert!(low.abs() < 1e-9 && (high - 1.25).abs() < 1e-9, "{low} to {high}");
    }

    #[test]
    fn only_the_known_work_has_a_speed() {
        let rated = |compiler: &str, whole| {
            let compiler = compiler.to_owned();
            let mab = Some(MabProof { compiler, whole, ..MabProof::default() });
            let mut results = OsResults { mab, ..ds5000() };
            results.rate(Some(18.0));
            let total = results.find("mab", "total", None).unwrap();
            (total.mips_relative.is_some(), results.in_geometric_mean)
        };
        assert_eq!(rated(MabProof::BUILT_IN, true), (true, 7));
        assert_eq!(rated(MabProof::BUILT_IN, false), (false, 6));
        assert_eq!(rated("gcc", true), (false, 6));
    }

    #[test]
    fn results_survive_the_round_trip() {
        let mut results = ds5000();
        results.rate(Some(18.0));
        let text = serde_json::to_string(&results).unwrap();
        assert!(text.contains("\"unit\":\"bytes/s\""), "{text}");
        assert_eq!(serde_json::from_str::<OsResults>(&text).unwrap(), results);
    }
}
