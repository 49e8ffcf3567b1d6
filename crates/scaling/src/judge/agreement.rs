//! The findings of an evaluation in a form in which two can be compared, and how many pairs of evaluations agree.

use super::absence::is_absence_told;
use super::rivals::{is_count_told, told_border};
use ioscape_schema::units::Bytes;
use ioscape_schema::{BorderOperation, Difference, Evaluation, RegionFinding, is_uncertain};
use std::collections::BTreeSet;

/// The verdict that there is no effect, or one of less than a fifth.
const ALIKE: &str = "alike";

/// How the sentences say that something is not known.
const NOT_TOLD: &str = "cannot be told";

/// Mean sizes of requests within this factor are about the same.
const SIZES_ALIKE: u64 = 2;

/// One finding: what it is about, what is said, and the interval where it has one.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What it is about.
    pub name: String,
    /// What is concluded, in words: `more`, `write-cancelling`, `2`; the same words for the same conclusion.
    verdict: String,
    /// Bounds of the figure.
    bounds: Option<[f64; 2]>,
    /// Size and processes of the requests it holds for, where it names them: what is said of others does not contradict it.
    requests: Option<(u64, u32)>,
    /// The finding as a person reads it.
    shown: String,
}

/// How far the evaluations agree on one finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// What it is about.
    pub name: String,
    /// Pairs of evaluations with the same verdict and intervals that overlap, or without a verdict both.
    pub agreeing: usize,
    /// Pairs of these without a verdict: both say that they cannot tell, or nothing at all.
    pub withheld: usize,
    /// Pairs of which both claim something and the claims exclude each other.
    pub contradicting: usize,
    /// All pairs.
    pub pairs: usize,
    /// What each evaluation says.
    pub shown: Vec<String>,
}

/// All findings that an evaluation could have, those included that it withholds.
pub fn findings(evaluation: &Evaluation) -> Vec<Finding> {
    let found = &evaluation.findings;
    let mut all = vec![
        regions(evaluation),
        cache(evaluation, "cache for reads", BorderOperation::Read),
        cache(evaluation, "cache for writes", BorderOperation::Write),
    ];
    let policy = found.write_policy.map_or(NOT_TOLD.to_owned(), |p| format!("{p:?}"));
    all.push(Finding {
        name: "write policy".to_owned(),
        shown: policy.clone(),
        verdict: policy,
        bounds: None,
        requests: None,
    });
    let size = found.size_for_75_percent_bytes.iter();
    all.extend(size.map(|one| of_size(&format!("{}, size for 75 %", one.region), one)));
    for (what, list) in [
        ("sequential over random", &found.sequential_gain),
        ("several processes over one", &found.concurrency_gain),
    ] {
        all.extend(list.iter().map(|one| of_ratio(&format!("{}, {what}", one.region), one)));
    }
    all.extend(found.write_to_read_ratio.iter().map(|one| Finding {
        requests: requests(evaluation, one),
        ..of_ratio(&format!("{}, writes over reads", one.region), one)
    }));
    all
}

/// Size and processes of the requests that a finding of a region holds for.
fn requests(evaluation: &Evaluation, found: &RegionFinding) -> Option<(u64, u32)> {
    let focal = &evaluation.regions.iter().find(|region| region.name == found.region)?.focal;
    Some((focal.size_mean, focal.process_num))
}

fn regions(evaluation: &Evaluation) -> Finding {
    let verdict = if is_count_told(evaluation) {
        evaluation.regions.len().to_string()
    } else {
        NOT_TOLD.to_owned()
    };
    Finding {
        name: "number of regions".to_owned(),
        shown: verdict.clone(),
        verdict,
        bounds: None,
        requests: None,
    }
}

fn cache(evaluation: &Evaluation, name: &str, operation: BorderOperation) -> Finding {
    let found = told_border(evaluation, operation);
    let verdict = match found {
        Some(_) => "border",
        None if is_absence_told(evaluation, operation) => "no border",
        None => NOT_TOLD,
    };
    let shown = found.map_or(verdict.to_owned(), |one| {
        format!("{} ({} to {})", Bytes(one.value), Bytes(one.low), Bytes(one.high))
    });
    Finding {
        name: name.to_owned(),
        verdict: verdict.to_owned(),
        bounds: found.map(|one| [one.low, one.high]),
        requests: None,
        shown,
    }
}

fn of_size(name: &str, found: &RegionFinding) -> Finding {
    Finding {
        name: name.to_owned(),
        verdict: if is_uncertain(found.low, found.high) { NOT_TOLD } else { "known" }.to_owned(),
        bounds: Some([found.low, found.high]),
        requests: None,
        shown: format!("{} to {}", Bytes(found.low), Bytes(found.high)),
    }
}

fn of_ratio(name: &str, found: &RegionFinding) -> Finding {
    let verdict = match found.difference() {
        Difference::More => "more",
        Difference::Less => "less",
        Difference::Alike => ALIKE,
        Difference::Unknown => NOT_TOLD,
    };
    Finding {
        name: name.to_owned(),
        verdict: verdict.to_owned(),
        bounds: Some([found.low, found.high]),
        requests: None,
        shown: format!("{:.2} to {:.2}", found.low, found.high),
    }
}

/// How far every two of the evaluations agree, finding by finding.
pub fn agreement(all: &[Vec<Finding>]) -> Vec<Agreement> {
    let mut seen = BTreeSet::new();
    let named = all.iter().flatten().map(|finding| &finding.name);
    let names: Vec<&String> = named.filter(|name| seen.insert((*name).clone())).collect();
    names.into_iter().map(|name| of_one(name, all)).collect()
}

fn of_one(name: &str, all: &[Vec<Finding>]) -> Agreement {
    let of = |findings: &Vec<Finding>| findings.iter().find(|f| f.name == name).cloned();
    let said: Vec<Option<Finding>> = all.iter().map(of).collect();
    let (mut agreeing, mut withheld, mut contradicting, mut pairs) = (0, 0, 0, 0);
    for (index, one) in said.iter().enumerate() {
        for other in &said[index + 1..] {
            pairs += 1;
            let claims = [one, other].map(|f| f.as_ref().is_some_and(|f| f.verdict != NOT_TOLD));
            let overlap = overlap(one.as_ref(), other.as_ref());
            let is_slight = |f: &Option<Finding>| f.as_ref().is_some_and(|f| f.verdict == ALIKE);
            // A small effect that one is sure of does not contradict one of less than a fifth, if any.
            let same = one.as_ref().map(|f| &f.verdict) == other.as_ref().map(|f| &f.verdict)
                || [one, other].into_iter().any(is_slight);
            // What cannot be told is not contradicted by another interval, nor by saying nothing.
            let withhold = claims == [false; 2];
            let agree = withhold || (claims == [true; 2] && same && overlap);
            agreeing += usize::from(agree);
            withheld += usize::from(withhold);
            let excludes =
                claims == [true; 2] && !agree && is_of_same(one.as_ref(), other.as_ref());
            contradicting += usize::from(excludes);
        }
    }
    let shown = said.iter().map(|f| f.as_ref().map_or("-".to_owned(), |f| f.shown.clone()));
    let shown = shown.collect();
    Agreement { name: name.to_owned(), agreeing, withheld, contradicting, pairs, shown }
}

/// Whether both hold for about the same requests, as far as they name them.
fn is_of_same(one: Option<&Finding>, other: Option<&Finding>) -> bool {
    let [one, other] = [one, other].map(|finding| finding.and_then(|f| f.requests));
    one.zip(other).is_none_or(|((size, processes), (other_size, other_processes))| {
        let is_near = size.max(other_size) <= SIZES_ALIKE * size.min(other_size);
        is_near && processes == other_processes
    })
}

/// Whether the intervals of both have a common point; without intervals there is nothing to compare.
fn overlap(one: Option<&Finding>, other: Option<&Finding>) -> bool {
    match (one.and_then(|f| f.bounds), other.and_then(|f| f.bounds)) {
        (Some(a), Some(b)) => a[0] <= b[1] && b[0] <= a[1],
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Border, Region, RegionCurves, Workload, WritePolicy};

    fn evaluation(read: Option<[f64; 3]>, gain: [f64; 3]) -> Evaluation {
        let mut made = Evaluation::default();
        let border = |[low, unique_bytes, high]: [f64; 3]| Border {
            operation: BorderOperation::Read,
            unique_bytes,
            low,
            high,
            ratio: 10.0,
            in_memory: false,
            slower: None,
        };
        made.borders = read.map(border).into_iter().collect();
        made.findings.write_policy = Some(WritePolicy::WriteCancelling);
        let [low, value, high] = gain;
        made.findings.sequential_gain =
            vec![RegionFinding { region: "region 1".into(), value, low, high }];
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
        // The first and the second overlap, the second and the third; the last has none.
        assert_eq!(counted(&all, "cache for reads"), [2, 1, 6]);
        // The third withholds it, the last says the opposite of the first two.
        assert_eq!(counted(&all, "region 1, sequential over random"), [1, 2, 6]);
        assert_eq!(counted(&all, "write policy"), [6, 0, 6]);
    }

    #[test]
    fn a_small_effect_agrees_with_one_of_less_than_a_fifth() {
        let all = [evaluation(None, [1.06, 1.1, 1.19]), evaluation(None, [0.95, 1.03, 1.1])];
        assert_eq!(counted(&all, "region 1, sequential over random"), [1, 0, 1]);
        let apart = [evaluation(None, [1.3, 1.4, 1.5]), evaluation(None, [0.95, 1.0, 1.1])];
        assert_eq!(counted(&apart, "region 1, sequential over random"), [0, 1, 1]);
    }

    /// Two evaluations of one machine: 2.1 to 3.1 times slower in requests of 48 KiB by one process, 3.6 to 6.1 in ones of 132 KiB by two, which wait
    /// for one another where they write.
    #[test]
    fn what_holds_for_other_requests_is_no_contradiction() {
        let of = |size_mean, process_num, [low, high]: [f64; 2]| {
            let mut made = evaluation(None, [1.0, 1.0, 1.0]);
            let focal = Workload { size_mean, process_num, ..Workload::default() };
            let name = "region 1".to_owned();
            let (unique_bytes, curves) = ([1e6, 1e9], RegionCurves::default());
            made.regions = vec![Region { name: name.clone(), unique_bytes, focal, curves }];
            made.findings.write_to_read_ratio =
                vec![RegionFinding { region: name, value: low, low, high }];
            made
        };
        let name = "region 1, writes over reads";
        let other = [of(49152, 1, [0.32, 0.47]), of(135168, 2, [0.16, 0.28])];
        assert_eq!(counted(&other, name), [0, 0, 1]);
        let same = [of(49152, 1, [0.32, 0.47]), of(65536, 1, [0.16, 0.28])];
        assert_eq!(counted(&same, name), [0, 1, 1]);
    }

    #[test]
    fn a_finding_that_only_one_evaluation_has_is_no_agreement() {
        let mut second = evaluation(None, [1.0, 1.0, 1.0]);
        second.findings.sequential_gain[0].region = "region 2".into();
        let all = [evaluation(None, [1.0, 1.0, 1.0]), second];
        assert_eq!(counted(&all, "region 2, sequential over random"), [0, 0, 1]);
        // But saying nothing, and that it cannot be told, is the same.
        let mut unsure = evaluation(None, [1.0, 1.0, 1.0]);
        unsure.findings.sequential_gain[0] =
            RegionFinding { region: "region 2".into(), value: 1.0, low: 0.5, high: 2.0 };
        let all = [evaluation(None, [1.0, 1.0, 1.0]), unsure];
        assert_eq!(counted(&all, "region 2, sequential over random"), [1, 0, 1]);
    }
}
