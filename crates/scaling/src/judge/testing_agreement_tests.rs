//! Tests of when two evaluations agree, with made-up evaluations and pairs from a real machine.

use super::*;
use crate::testing::{border, point};
use ioscape_schema::{Parameter, RegionCurves, Workload, WritePolicy};

fn evaluation(read: Option<[f64; 3]>, gain: [f64; 3]) -> Evaluation {
    let borders = read.map(|at| border(BorderOperation::Read, at, 10.0)).into_iter().collect();
    let regions = vec![region(1, [1.0, 1000.0], Workload::default())];
    let mut made = Evaluation { borders, regions, ..Evaluation::default() };
    made.findings.write_policy = Some(WritePolicy::WriteCancelling);
    made.findings.sequential_gain = vec![found(1, gain)];
    made
}

fn found(region: usize, [low, value, high]: [f64; 3]) -> RegionFinding {
    RegionFinding { region: format!("region {region}"), value, low, high }
}

/// A region whose other parameters were measured in its middle.
fn region(number: usize, unique_bytes: [f64; 2], focal: Workload) -> Region {
    let middle = (unique_bytes[0] * unique_bytes[1]).sqrt() as u64;
    let focal = Workload { unique_bytes: middle, ..focal };
    let (name, curves) = (format!("region {number}"), RegionCurves::default());
    Region { name, unique_bytes, focal, curves }
}

/// An evaluation whose regions have these ends; in the last one, sequential requests gain `gain`.
fn of_regions(ends: &[f64], gain: [f64; 3]) -> Evaluation {
    let mut made = evaluation(None, gain);
    let of = |(i, w): (usize, &[f64])| region(i + 1, [w[0], w[1]], Workload::default());
    made.regions = ends.windows(2).enumerate().map(of).collect();
    made.findings.sequential_gain = vec![found(ends.len() - 1, gain)];
    made
}

fn counted(all: &[Evaluation], name: &str) -> [usize; 3] {
    let all: Vec<Vec<Finding>> = all.iter().map(findings).collect();
    let found = agreement(&all).into_iter().find(|one| one.name == name).unwrap();
    [found.agreeing, found.contradicting, found.pairs]
}

#[test]
fn pairs_agree_by_verdict_and_interval() {
    let all = [
        evaluation(Some([90.0, 100.0, 110.0]), [1.3, 1.5, 1.7]),
        evaluation(Some([105.0, 120.0, 130.0]), [1.1, 1.4, 1.8]),
        evaluation(Some([125.0, 130.0, 140.0]), [0.8, 1.2, 1.6]),
        evaluation(None, [0.3, 0.5, 0.7]),
    ];
    // The first and the second overlap, as do the second and the third; the last has no border.
    assert_eq!(counted(&all, "cache for reads"), [2, 1, 6]);
    // The third withholds it, the last says the opposite of the first two.
    assert_eq!(counted(&all, "1 B to 1000 B, sequential over random"), [1, 2, 6]);
    assert_eq!(counted(&all, "write policy"), [6, 0, 6]);
    let all: Vec<Vec<Finding>> = all.iter().map(findings).collect();
    let withholding = |name| {
        let found = agreement(&all).into_iter().find(|one| one.name == name);
        found.map(|one| one.withholding)
    };
    let gain = "1 B to 1000 B, sequential over random";
    assert_eq!(withholding(gain), Some(2), "the third holds the first and the second");
    assert_eq!(withholding("cache for reads"), Some(0), "the last has no bounds");
}

#[test]
fn a_small_effect_agrees_with_one_of_less_than_a_fifth() {
    let all = [evaluation(None, [1.06, 1.1, 1.19]), evaluation(None, [0.95, 1.03, 1.1])];
    assert_eq!(counted(&all, "1 B to 1000 B, sequential over random"), [1, 0, 1]);
    let apart = [evaluation(None, [1.3, 1.4, 1.5]), evaluation(None, [0.95, 1.0, 1.1])];
    assert_eq!(counted(&apart, "1 B to 1000 B, sequential over random"), [0, 1, 1]);
}

/// Taken from two evaluations of one machine: writes were 2.1 to 3.1 times slower in requests of 48
/// KiB by one process, and 3.6 to 6.1 times in requests of 132 KiB by two, which wait for each
/// other when they write.
#[test]
fn what_holds_for_other_requests_is_no_contradiction() {
    let of = |size_mean, process_num, [low, high]: [f64; 2]| {
        let mut made = evaluation(None, [1.0, 1.0, 1.0]);
        let focal = Workload { size_mean, process_num, ..Workload::default() };
        made.regions = vec![region(1, [1.0, 1000.0], focal)];
        made.findings.write_to_read_ratio = vec![found(1, [low, low, high])];
        made
    };
    let name = "1 B to 1000 B, writes over reads";
    let other = [of(49152, 1, [0.32, 0.47]), of(135168, 2, [0.16, 0.28])];
    assert_eq!(counted(&other, name), [0, 0, 1]);
    let mut same = [of(49152, 1, [0.32, 0.47]), of(65536, 1, [0.16, 0.28])];
    assert_eq!(counted(&same, name), [0, 1, 1]);
    // Behind a cache of 13 MiB, sequential requests were 1.6 times slower in sets of 32 MiB, and 3 times in sets of 17 MiB.
    same[1].regions[0].focal.unique_bytes *= 2;
    assert_eq!(counted(&same, name), [0, 0, 1]);
}

/// On a device with one arm, a single process is fastest; it must not be compared with itself.
#[test]
fn one_process_is_compared_with_the_best_of_several() {
    let point = |(value, speed): (f64, f64)| point((Parameter::ProcessNum, value), speed, 1);
    let mut made = region(1, [1.0, 1000.0], Workload::default());
    made.curves.process_num = [(1.0, 100.0), (2.0, 25.0), (4.0, 20.0)].map(point).into();
    assert_eq!(requests_of_most(&made).processes, 2);
}

#[test]
fn what_is_not_asked_past_the_file_cache_is_no_agreement() {
    let about_the_cache = |read, policy, access| {
        let mut made = evaluation(read, [1.3, 1.5, 1.7]);
        (made.findings.write_policy, made.regions[0].focal.access) = (policy, access);
        let all = agreement(&[findings(&made), findings(&made)]).into_iter().map(|one| one.name);
        all.filter(|name| name.starts_with("cache") || name == "write policy").count()
    };
    let policy = Some(WritePolicy::WriteCancelling);
    assert_eq!(about_the_cache(None, policy, Access::Buffered), 3);
    assert_eq!(about_the_cache(None, None, Access::Buffered), 3, "withheld by both");
    assert_eq!(about_the_cache(None, None, Access::Direct), 0);
    assert_eq!(about_the_cache(None, None, Access::Dsync), 1, "reads use it");
    assert_eq!(about_the_cache(Some([90.0, 100.0, 110.0]), None, Access::Direct), 1);
}

#[test]
fn a_finding_that_only_one_evaluation_has_is_no_agreement() {
    const LARGE: [f64; 2] = [1_048_576.0, 1_073_741_824.0];
    let none = [1.0, 1.0, 1.0];
    let all = [of_regions(&[1.0, 1000.0], none), of_regions(&LARGE, none)];
    assert_eq!(counted(&all, "1 MiB to 1 GiB, sequential over random"), [0, 0, 1]);
    // But silence and "cannot be told" are the same.
    let all = [of_regions(&[1.0, 1000.0], none), of_regions(&LARGE, [0.5, 1.0, 2.0])];
    assert_eq!(counted(&all, "1 MiB to 1 GiB, sequential over random"), [1, 0, 1]);
}

/// Guards against counting one more region as many disagreements. In a control group of 512 MiB,
/// one evaluation saw sets of 979 MiB and more as a third region; two others saw them as the upper
/// part of the second. So eight findings had different names.
#[test]
fn one_region_more_is_one_disagreement() {
    const MIB: f64 = 1_048_576.0;
    let mib =
        |ends: &[f64], gain| of_regions(&ends.iter().map(|e| e * MIB).collect::<Vec<f64>>(), gain);
    let three = mib(&[1.0, 499.0, 979.0, 2048.0], [1.4, 1.5, 1.6]);
    let two = || mib(&[1.0, 501.0, 2048.0], [1.5, 1.6, 1.7]);
    let last = "979 MiB to 2 GiB, sequential over random";
    for all in [[three.clone(), two(), two()], [two(), three.clone(), two()]] {
        let name = if all[0] == three { last } else { "501 MiB to 2 GiB, sequential over random" };
        assert_eq!(counted(&all, name), [3, 0, 3]);
        // None is sure of the number of regions, but the numbers they saw differ.
        assert_eq!(counted(&all, "number of regions"), [1, 0, 3]);
    }
    // A finding of the additional region alone makes no pair.
    let mut other = three.clone();
    other.findings.sequential_gain.push(found(2, [1.0, 1.0, 1.0]));
    assert_eq!(counted(&[other, two()], "499 MiB to 979 MiB, sequential over random"), [0, 0, 0]);
    let told = agreement(&[findings(&three), findings(&two())]);
    assert_eq!(told.iter().map(Agreement::told).sum::<usize>(), 2, "the gain, and the policy");
}

/// The third's region is not the first's, since its sets are too large; the second's is the same as
/// either.
#[test]
fn a_chain_of_regions_is_compared_pair_by_pair_and_each_once() {
    let more = [1.4, 1.5, 1.6];
    let all = [100.0, 200.0, 400.0].map(|border| of_regions(&[1.0, border, 1000.0], more));
    let all = all.each_ref().map(findings);
    let is_gain = |one: &Agreement| one.name.ends_with("sequential over random");
    let found: Vec<Agreement> = agreement(&all).into_iter().filter(is_gain).collect();
    let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
    let gain = "sequential over random";
    assert_eq!(names, [format!("100 B to 1000 B, {gain}"), format!("400 B to 1000 B, {gain}")]);
    let counts = [found[0].agreeing, found[0].pairs, found[1].pairs];
    assert_eq!(counts, [2, 3, 0], "each agrees with the next one");
}

/// Counts agreeing, telling and all pairs of findings on sequential requests in any region, with
/// the evaluations in this order.
fn of_gains(all: &[Evaluation; 3], order: [usize; 3]) -> [usize; 3] {
    let all = order.map(|at| findings(&all[at]));
    let is_gain = |one: &Agreement| one.name.ends_with("sequential over random");
    agreement(&all).into_iter().filter(is_gain).fold([0; 3], |[agreeing, telling, pairs], one| {
        [agreeing + one.agreeing, telling + one.telling, pairs + one.pairs]
    })
}

#[test]
fn the_order_of_the_evaluations_changes_no_count() {
    let (more, unknown) = ([1.4, 1.5, 1.6], [0.5, 1.0, 2.0]);
    let behind = |border, gain| of_regions(&[1.0, border, 1000.0], gain);
    // The second's region is the same as each other's, but these two are not the same.
    let chain = [behind(100.0, more), behind(200.0, more), behind(400.0, more)];
    // The last's claim on a region that the first lacks is counted; the first's withheld verdict on
    // a region that the last lacks is not.
    let silent = [behind(100.0, unknown), behind(200.0, more), behind(400.0, more)];
    // Neither of the first and the last was measured in a set of the other: two disagreements.
    let apart = [[1.0, 10.0], [2.0, 40.0], [8.0, 100.0]].map(|ends| of_regions(&ends, more));
    for (all, counts) in [(chain, [2, 3, 3]), (silent, [1, 3, 3]), (apart, [2, 4, 4])] {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            assert_eq!(of_gains(&all, order), counts, "{order:?}");
        }
    }
}

#[test]
fn pairs_in_which_one_tells_something_are_counted() {
    let unknown = || evaluation(None, [0.5, 1.0, 2.0]);
    let all = [evaluation(None, [1.3, 1.5, 1.7]), evaluation(None, [1.4, 1.5, 1.6])];
    let all = [&all[..], &[unknown(), unknown()]].concat();
    let all: Vec<Vec<Finding>> = all.iter().map(findings).collect();
    let name = "1 B to 1000 B, sequential over random";
    let found = agreement(&all).into_iter().find(|one| one.name == name).unwrap();
    // The last two agree by withholding the verdict.
    assert_eq!((found.agreeing, found.pairs), (2, 6));
    assert_eq!((found.told(), found.telling), (1, 5));
}
