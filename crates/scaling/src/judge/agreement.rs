//! The findings of an evaluation in a form in which two can be compared, and how many pairs of evaluations agree.

use super::absence::is_absence_told;
use super::curve::best;
use super::rivals::told_border;
use ioscape_schema::units::Bytes;
use ioscape_schema::{
    BorderOperation, Difference, Evaluation, Region, RegionFinding, is_uncertain,
};

/// The verdict that there is no effect, or one of less than a fifth.
const ALIKE: &str = "alike";

/// How the sentences say that something is not known.
const NOT_TOLD: &str = "cannot be told";

/// Sets, and mean sizes of requests, within this factor are about the same.
const SIZES_ALIKE: f64 = 1.5;

/// One finding: what it is about, what is said, and the interval where it has one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    /// The evaluation it is of, where a budget was divided among several; in words that precede the name, empty if there is one only.
    part: String,
    /// What it is about, without the region.
    what: String,
    /// The region that it holds in.
    region: Option<Place>,
    /// Of the number of regions: how many there are, whether that is told or not.
    regions: Option<usize>,
    /// What is concluded, in words: `more`, `write-cancelling`, `2`; the same words for the same conclusion.
    verdict: String,
    /// Bounds of the figure.
    bounds: Option<[f64; 2]>,
    /// The requests it holds for, where it names them: what is said of others does not contradict it.
    requests: Option<Requests>,
    /// The finding as a person reads it.
    shown: String,
}

impl Finding {
    /// The same as that of one of several evaluations among which a budget was divided, by the words that precede its name.
    #[must_use]
    pub fn of_part(self, part: &str) -> Self {
        Self { part: part.to_owned(), ..self }
    }
}

/// The sets of a region, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    from: f64,
    to: f64,
    /// The set in which the other parameters were measured.
    focal: f64,
}

impl Place {
    fn of(region: &Region) -> Self {
        let [from, to] = region.unique_bytes;
        Self { from, to, focal: region.focal.unique_bytes as f64 }
    }

    /// Whether two evaluations mean the same by it, whatever number they give it: each of them measured in a set that the other counts among
    /// its own.
    fn is_same(&self, other: &Self) -> bool {
        let has = |one: &Self, set: f64| (one.from..=one.to).contains(&set);
        has(self, other.focal) && has(other, self.focal)
    }
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
    /// Pairs of which one claims what the other withholds, with intervals that overlap: they measured the same, one of them not as closely.
    pub withholding: usize,
    /// All pairs that could agree: of a region that one of two evaluations lacks since it found fewer, their numbers of regions alone are a pair.
    pub pairs: usize,
    /// What each evaluation says.
    pub shown: Vec<String>,
}

impl Agreement {
    /// Pairs that agree in what both of them tell.
    pub fn told(&self) -> usize {
        self.agreeing - self.withheld
    }
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
        what: "write policy".to_owned(),
        shown: policy.clone(),
        verdict: policy,
        ..Finding::default()
    });
    let within = |what: &str, one: &RegionFinding, said: Finding| {
        let region = evaluation.regions.iter().find(|region| region.name == one.region);
        let what = match region {
            Some(_) => what.to_owned(),
            None => format!("{}, {what}", one.region),
        };
        Finding { what, region: region.map(Place::of), ..said }
    };
    let size = found.size_for_75_percent_bytes.iter();
    all.extend(size.map(|one| within("size for 75 %", one, of_size(one))));
    for (what, list, requests) in [
        (
            "sequential over random",
            &found.sequential_gain,
            focal_requests as fn(&Region) -> Requests,
        ),
        ("several processes over one", &found.concurrency_gain, requests_of_most),
        ("writes over reads", &found.write_to_read_ratio, focal_requests),
    ] {
        let region = |one: &RegionFinding| evaluation.regions.iter().find(|r| r.name == one.region);
        all.extend(list.iter().map(|one| Finding {
            requests: region(one).map(requests),
            ..within(what, one, of_ratio(one))
        }));
    }
    all
}

/// The requests that a finding of a region holds for.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Requests {
    unique_bytes: u64,
    size_mean: u64,
    processes: u32,
}

impl Requests {
    /// Whether what holds for these should hold for the others.
    fn are_alike(self, other: Self) -> bool {
        let near = |a: u64, b: u64| a.max(b) as f64 <= SIZES_ALIKE * a.min(b) as f64;
        near(self.unique_bytes, other.unique_bytes)
            && near(self.size_mean, other.size_mean)
            && self.processes == other.processes
    }
}

fn focal_requests(region: &Region) -> Requests {
    let focal = &region.focal;
    let (unique_bytes, size_mean) = (focal.unique_bytes, focal.size_mean);
    Requests { unique_bytes, size_mean, processes: focal.process_num }
}

/// Where one process is compared with several: with as many as were fastest.
fn requests_of_most(region: &Region) -> Requests {
    let processes = best(&region.curves.process_num).map_or(1, |point| point.value as u32);
    Requests { processes, ..focal_requests(region) }
}

fn regions(evaluation: &Evaluation) -> Finding {
    let found = evaluation.regions.len();
    let is_told = !evaluation.level_counts.is_empty() && evaluation.count_doubt().is_none();
    let verdict = if is_told { found.to_string() } else { NOT_TOLD.to_owned() };
    let shown = match is_told {
        true => verdict.clone(),
        false => format!("{verdict}, {found} seen"),
    };
    let what = "number of regions".to_owned();
    Finding { what, shown, verdict, regions: Some(found), ..Finding::default() }
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
        what: name.to_owned(),
        verdict: verdict.to_owned(),
        bounds: found.map(|one| [one.low, one.high]),
        shown,
        ..Finding::default()
    }
}

fn of_size(found: &RegionFinding) -> Finding {
    Finding {
        verdict: if is_uncertain(found.low, found.high) { NOT_TOLD } else { "known" }.to_owned(),
        bounds: Some([found.low, found.high]),
        shown: format!("{} to {}", Bytes(found.low), Bytes(found.high)),
        ..Finding::default()
    }
}

fn of_ratio(found: &RegionFinding) -> Finding {
    let verdict = match found.difference() {
        Difference::More => "more",
        Difference::Less => "less",
        Difference::Alike => ALIKE,
        Difference::Unknown => NOT_TOLD,
    };
    Finding {
        verdict: verdict.to_owned(),
        bounds: Some([found.low, found.high]),
        shown: format!("{:.2} to {:.2}", found.low, found.high),
        ..Finding::default()
    }
}

/// What findings of several evaluations are about: the same, if in the same region.
#[derive(Clone, Debug, PartialEq)]
struct Subject {
    part: String,
    what: String,
    /// The region, as the first evaluation that has it has it.
    region: Option<Place>,
}

impl Subject {
    fn of(finding: &Finding) -> Self {
        let Finding { part, what, region, .. } = finding.clone();
        Self { part, what, region }
    }

    fn is_of(&self, finding: &Finding) -> bool {
        self.what == finding.what && self.is_within(finding)
    }

    /// Whether a finding is of the same region of the same evaluation, or of none as this is.
    fn is_within(&self, finding: &Finding) -> bool {
        let is_same = match (self.region, finding.region) {
            (Some(one), Some(other)) => one.is_same(&other),
            (one, other) => one.is_none() && other.is_none(),
        };
        self.part == finding.part && is_same
    }

    fn name(&self) -> String {
        let Self { part, what, region } = self;
        match region {
            Some(Place { from, to, .. }) => {
                format!("{part}{} to {}, {what}", Bytes(*from), Bytes(*to))
            }
            None => format!("{part}{what}"),
        }
    }

    /// Whether two evaluations can agree here: one that found fewer regions differs in their number, and not in every finding of the region it
    /// lacks.
    fn concerns(&self, [one, other]: [&[Finding]; 2]) -> bool {
        let has = |all: &[Finding]| all.iter().any(|finding| self.is_within(finding));
        let number = |all: &[Finding]| {
            all.iter().filter(|f| f.part == self.part).find_map(|finding| finding.regions)
        };
        match [has(one), has(other)] {
            [true, true] => true,
            [false, false] => false,
            _ => number(one) == number(other),
        }
    }
}

/// How far every two of the evaluations agree, finding by finding; regions are the same by the sets they are made of, not by their numbers.
pub fn agreement(all: &[Vec<Finding>]) -> Vec<Agreement> {
    let mut subjects: Vec<Subject> = Vec::new();
    for finding in all.iter().flatten() {
        if !subjects.iter().any(|subject| subject.is_of(finding)) {
            subjects.push(Subject::of(finding));
        }
    }
    subjects.iter().map(|subject| of_one(subject, all)).collect()
}

fn of_one(subject: &Subject, all: &[Vec<Finding>]) -> Agreement {
    let of = |findings: &Vec<Finding>| findings.iter().find(|f| subject.is_of(f)).cloned();
    let said: Vec<Option<Finding>> = all.iter().map(of).collect();
    let (mut agreeing, mut withheld, mut contradicting) = (0, 0, 0);
    let (mut withholding, mut pairs) = (0, 0);
    for (index, one) in said.iter().enumerate() {
        for (further, other) in said[index + 1..].iter().enumerate() {
            if !subject.concerns([&all[index], &all[index + 1 + further]]) {
                continue;
            }
            pairs += 1;
            let claims = [one, other].map(|f| f.as_ref().is_some_and(|f| f.verdict != NOT_TOLD));
            let overlap = overlap(one.as_ref(), other.as_ref());
            let is_slight = |f: &Option<Finding>| f.as_ref().is_some_and(|f| f.verdict == ALIKE);
            // A small effect that one is sure of does not contradict one of less than a fifth, if any.
            let same = one.as_ref().map(|f| &f.verdict) == other.as_ref().map(|f| &f.verdict)
                || [one, other].into_iter().any(is_slight);
            // What cannot be told is not contradicted by another interval, nor by saying nothing; but two that see other regions do not agree on
            // how many there are.
            let seen = |f: &Option<Finding>| f.as_ref().and_then(|f| f.regions);
            let withhold = claims == [false; 2] && seen(one) == seen(other);
            let agree = withhold || (claims == [true; 2] && same && overlap);
            agreeing += usize::from(agree);
            withheld += usize::from(withhold);
            let excludes =
                claims == [true; 2] && !agree && is_of_same(one.as_ref(), other.as_ref());
            contradicting += usize::from(excludes);
            let has_bounds = |f: &Option<Finding>| f.as_ref().is_some_and(|f| f.bounds.is_some());
            let is_as_close = claims[0] == claims[1] || ![one, other].into_iter().all(has_bounds);
            withholding += usize::from(!is_as_close && overlap);
        }
    }
    let shown = said.iter().map(|f| f.as_ref().map_or("-".to_owned(), |f| f.shown.clone()));
    let shown = shown.collect();
    let name = subject.name();
    Agreement { name, agreeing, withheld, contradicting, withholding, pairs, shown }
}

/// Whether both hold for about the same requests, as far as they name them.
fn is_of_same(one: Option<&Finding>, other: Option<&Finding>) -> bool {
    let [one, other] = [one, other].map(|finding| finding.and_then(|f| f.requests));
    one.zip(other).is_none_or(|(one, other)| one.are_alike(other))
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
    use ioscape_schema::{Border, RegionCurves, Workload, WritePolicy};

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
        made.regions = vec![region(1, [1.0, 1000.0], Workload::default())];
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

    /// One whose regions end at these, and in the last of which sequential requests gain as much.
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
        // The first and the second overlap, the second and the third; the last has none.
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

    /// Two evaluations of one machine: 2.1 to 3.1 times slower in requests of 48 KiB by one process, 3.6 to 6.1 in ones of 132 KiB by two, which wait
    /// for one another where they write.
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

    #[test]
    fn a_finding_that_only_one_evaluation_has_is_no_agreement() {
        const LARGE: [f64; 2] = [1_048_576.0, 1_073_741_824.0];
        let none = [1.0, 1.0, 1.0];
        let all = [of_regions(&[1.0, 1000.0], none), of_regions(&LARGE, none)];
        assert_eq!(counted(&all, "1 MiB to 1 GiB, sequential over random"), [0, 0, 1]);
        // But saying nothing, and that it cannot be told, is the same.
        let all = [of_regions(&[1.0, 1000.0], none), of_regions(&LARGE, [0.5, 1.0, 2.0])];
        assert_eq!(counted(&all, "1 MiB to 1 GiB, sequential over random"), [1, 0, 1]);
    }

    /// Of a control group of 512 MiB one evaluation saw sets of 979 MiB and more as a third region, two others as the upper part of the second: eight of
    /// their findings had other names.
    #[test]
    fn one_region_more_is_one_disagreement() {
        const MIB: f64 = 1_048_576.0;
        let mib = |ends: &[f64], gain| {
            of_regions(&ends.iter().map(|e| e * MIB).collect::<Vec<f64>>(), gain)
        };
        let three = mib(&[1.0, 499.0, 979.0, 2048.0], [1.4, 1.5, 1.6]);
        let two = || mib(&[1.0, 501.0, 2048.0], [1.5, 1.6, 1.7]);
        let last = "979 MiB to 2 GiB, sequential over random";
        for all in [[three.clone(), two(), two()], [two(), three.clone(), two()]] {
            let name =
                if all[0] == three { last } else { "501 MiB to 2 GiB, sequential over random" };
            assert_eq!(counted(&all, name), [3, 0, 3]);
            // None of these tells the number, but each names another that it saw.
            assert_eq!(counted(&all, "number of regions"), [1, 0, 3]);
        }
        // What only the additional region has is no pair of findings.
        let mut other = three.clone();
        other.findings.sequential_gain.push(found(2, [1.0, 1.0, 1.0]));
        assert_eq!(
            counted(&[other, two()], "499 MiB to 979 MiB, sequential over random"),
            [0, 0, 0]
        );
        let told = agreement(&[findings(&three), findings(&two())]);
        assert_eq!(told.iter().map(Agreement::told).sum::<usize>(), 2, "the gain, and the policy");
    }
}
