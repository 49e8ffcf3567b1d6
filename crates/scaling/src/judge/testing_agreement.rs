//! For tests that repeat evaluations: findings in a form in which two evaluations can be compared,
//! and how many pairs of evaluations agree.

use super::absence::is_absence_told;
use super::curve::best_of_several;
use super::rivals::told_border;
use ioscape_schema::units::Bytes;
use ioscape_schema::{
    Access, BorderOperation, Difference, Evaluation, Region, RegionFinding, is_uncertain,
};

/// The verdict of no effect, or of one of less than a fifth.
const ALIKE: &str = "alike";

/// The verdict, in the sentences' words, that something is not known.
const NOT_TOLD: &str = "cannot be told";

/// Sets, and mean request sizes, within this factor count as about the same.
const SIZES_ALIKE: f64 = 1.5;

/// One finding: its subject, its verdict, and its interval if it has one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    /// Words put before the name to tell which evaluation it belongs to, if several shared a
    /// budget; otherwise empty.
    part: String,
    /// The subject, without the region.
    what: String,
    /// The region in which it holds, if it is about one.
    region: Option<Place>,
    /// The number of regions seen, even if the verdict withholds it; only in the finding on that
    /// number.
    regions: Option<usize>,
    /// The conclusion in words, such as `more`, `write-cancelling` or `2`; equal conclusions have
    /// equal words.
    verdict: String,
    /// Bounds of the figure.
    bounds: Option<[f64; 2]>,
    /// The requests it holds for, if it names them; findings on other requests do not contradict
    /// it.
    requests: Option<Requests>,
    /// The finding as a person reads it.
    shown: String,
}

impl Finding {
    /// Marks the finding as that of one of several evaluations that shared a budget; `part`
    /// precedes its name.
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

    /// Whether both are the same region, whatever their numbers: each was measured in a set that
    /// lies within the other.
    fn is_same(&self, other: &Self) -> bool {
        self.has(other.focal) && other.has(self.focal)
    }

    /// Whether at least one was measured in a set that lies within the other.
    fn touches(&self, other: &Self) -> bool {
        self.has(other.focal) || other.has(self.focal)
    }

    fn has(&self, set: f64) -> bool {
        (self.from..=self.to).contains(&set)
    }
}

/// How far the evaluations agree on one finding.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agreement {
    /// The subject of the finding.
    pub name: String,
    /// Pairs of evaluations that have the same verdict and overlapping intervals, or that both have
    /// no verdict.
    pub agreeing: usize,
    /// Agreeing pairs without a verdict: both say that they cannot tell, or say nothing.
    pub withheld: usize,
    /// Pairs in which both make a claim and the claims exclude each other.
    pub contradicting: usize,
    /// Pairs in which one makes a claim that the other withholds although their intervals overlap:
    /// both measured the same, one less precisely.
    pub withholding: usize,
    /// All pairs that could agree. If one evaluation found fewer regions, a region it lacks makes
    /// no pair; only the numbers of regions do.
    pub pairs: usize,
    /// Pairs in which at least one evaluation makes a claim.
    pub telling: usize,
    /// What each evaluation says.
    pub shown: Vec<String>,
}

impl Agreement {
    /// Returns the number of pairs that agree on a claim that both make.
    pub fn told(&self) -> usize {
        self.agreeing - self.withheld
    }

    /// Counts what two evaluations say about one subject.
    fn add(&mut self, pair: [Option<&Finding>; 2]) {
        let [one, other] = pair;
        let claims = pair.map(|f| f.is_some_and(|f| f.verdict != NOT_TOLD));
        let overlap = overlap(one, other);
        // A small effect that one is sure of does not contradict "less than a fifth, if at all".
        let same = one.map(|f| &f.verdict) == other.map(|f| &f.verdict)
            || pair.iter().flatten().any(|f| f.verdict == ALIKE);
        // A withheld verdict agrees with another one, whatever the intervals, and with silence. But
        // two evaluations that see different numbers of regions do not agree on that number.
        let seen = |f: Option<&Finding>| f.and_then(|f| f.regions);
        let withhold = claims == [false; 2] && seen(one) == seen(other);
        let agree = withhold || (claims == [true; 2] && same && overlap);
        let excludes = claims == [true; 2] && !agree && is_of_same(one, other);
        let have_bounds = pair.iter().all(|f| f.is_some_and(|f| f.bounds.is_some()));
        let is_as_close = claims[0] == claims[1] || !have_bounds;
        self.pairs += 1;
        self.telling += usize::from(claims != [false; 2]);
        self.agreeing += usize::from(agree);
        self.withheld += usize::from(withhold);
        self.contradicting += usize::from(excludes);
        self.withholding += usize::from(!is_as_close && overlap);
    }
}

/// Returns all findings that an evaluation could have, including those that it withholds.
pub fn findings(evaluation: &Evaluation) -> Vec<Finding> {
    let found = &evaluation.findings;
    let mut all = vec![regions(evaluation)];
    all.extend(of_file_cache(evaluation));
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

/// Returns the findings on the file cache.
///
/// Direct requests and synchronous writes bypass it, so the evaluation does not ask about it. Then
/// only a claim made all the same counts as a finding: silence of two evaluations is no agreement.
fn of_file_cache(evaluation: &Evaluation) -> impl Iterator<Item = Finding> {
    let policy = evaluation.findings.write_policy;
    let policy = policy.map_or(NOT_TOLD.to_owned(), |policy| format!("{policy:?}"));
    let policy = Finding {
        what: "write policy".to_owned(),
        shown: policy.clone(),
        verdict: policy,
        ..Finding::default()
    };
    let access = evaluation.access();
    let (reads, writes) = (access.reads_cached(), access == Access::Buffered);
    let all = [
        (reads, cache(evaluation, "cache for reads", BorderOperation::Read)),
        (writes, cache(evaluation, "cache for writes", BorderOperation::Write)),
        (writes, policy),
    ];
    let is_one = |(is_asked, one): &(bool, Finding)| *is_asked || one.verdict != NOT_TOLD;
    all.into_iter().filter(is_one).map(|(_, one)| one)
}

/// The requests for which a region's finding holds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Requests {
    unique_bytes: u64,
    size_mean: u64,
    processes: u32,
}

impl Requests {
    /// Whether what holds for these requests should hold for `other`.
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

/// Returns the requests of the comparison of one process with several: as many as were fastest.
fn requests_of_most(region: &Region) -> Requests {
    let best = best_of_several(&region.curves.process_num);
    let processes = best.map_or(1, |point| point.value as u32);
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

/// The subject that findings of several evaluations share, including their region.
#[derive(Clone, Debug, PartialEq)]
struct Subject {
    part: String,
    what: String,
    /// The region, with the bounds given by the first evaluation that has it.
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

    /// Whether a finding is of the same evaluation and region, or of no region if this has none.
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

    /// Returns this subject with the region as `findings` have it; `None` if they lack it.
    fn as_in(&self, findings: &[Finding]) -> Option<Self> {
        let found = findings.iter().find(|finding| self.is_within(finding))?;
        Some(Self { region: found.region, ..self.clone() })
    }

    /// Returns this subject as each of two evaluations has it, paired with the other's counterpart
    /// of that.
    ///
    /// Being the same region is not transitive. Two evaluations may share a region that is not this
    /// subject's, and both may match this subject without matching each other.
    fn as_in_each(&self, [one, other]: [&[Finding]; 2]) -> Vec<[Option<Self>; 2]> {
        let first = self.as_in(one).map(|own| {
            let others = own.as_in(other);
            [Some(own), others]
        });
        let second = self.as_in(other).map(|own| [own.as_in(one), Some(own)]);
        first.into_iter().chain(second).collect()
    }

    /// Whether the disagreement about this region, which `own` has and `other` lacks, is counted
    /// elsewhere: under a region of the same sets that `other` has and `own` lacks.
    fn is_told_by(&self, other: &[Finding], own: &[Finding]) -> bool {
        let is_here = |finding: &&Finding| {
            let touch = self.region.zip(finding.region).is_some_and(|(one, it)| one.touches(&it));
            (&self.part, &self.what) == (&finding.part, &finding.what) && touch
        };
        let is_lacking = |subject: &Self| subject.as_in(own).is_none();
        let mut instead = other.iter().filter(is_here).map(Self::of).filter(is_lacking);
        instead.any(|subject| subject.rank(other) < self.rank(own))
    }

    /// Returns a key that orders the subjects of one disagreement; the least is counted, whatever
    /// the order of the evaluations. A claim comes first, then a withheld verdict, then silence;
    /// among equals, the lowest region.
    fn rank(&self, findings: &[Finding]) -> (bool, bool, [f64; 3]) {
        let found = findings.iter().find(|finding| self.is_of(finding));
        let is_told = found.is_some_and(|finding| finding.verdict != NOT_TOLD);
        let place = self.region.map_or([0.0; 3], |Place { from, to, focal }| [from, to, focal]);
        (!is_told, found.is_none(), place)
    }

    /// Whether two evaluations can agree here; `have` says which of them has the region. One that
    /// found fewer regions differs in their number, not in every finding of the region it lacks.
    fn concerns(&self, have: [bool; 2], [one, other]: [&[Finding]; 2]) -> bool {
        let number = |all: &[Finding]| {
            all.iter().filter(|f| f.part == self.part).find_map(|finding| finding.regions)
        };
        match have {
            [true, true] => true,
            [false, false] => false,
            _ => number(one) == number(other),
        }
    }
}

/// The comparisons made so far: each subject as the first of two evaluations has it, with the
/// indices of both. Two pairs of three evaluations may share a region that the third pair does not,
/// so a finding may belong to two subjects.
#[derive(Default)]
struct Compared(Vec<(Subject, [usize; 2])>);

impl Compared {
    /// Returns what two evaluations say of a subject; empty if they cannot agree on it, or if it
    /// was compared under another subject.
    fn pairs<'a>(
        &mut self,
        subject: &Subject,
        all: &'a [Vec<Finding>],
        [one, other]: [usize; 2],
    ) -> Vec<[Option<&'a Finding>; 2]> {
        let said: [&'a [Finding]; 2] = [&all[one], &all[other]];
        let sides = [[one, other], [other, one]];
        let each = subject.as_in_each(said).into_iter();
        let each = each.filter(|own| subject.concerns(own.each_ref().map(Option::is_some), said));
        each.filter_map(|own| self.pair(own, said, sides)).collect()
    }

    /// Returns what two evaluations say of a subject as each has it; `None` if that is counted
    /// elsewhere.
    fn pair<'a>(
        &mut self,
        own: [Option<Subject>; 2],
        said: [&'a [Finding]; 2],
        sides: [[usize; 2]; 2],
    ) -> Option<[Option<&'a Finding>; 2]> {
        let is_known = |own: &Subject, side: [usize; 2]| {
            self.0.iter().any(|(subject, at)| subject == own && *at == side)
        };
        let mut each = own.iter().zip(sides);
        if each.any(|(own, side)| own.as_ref().is_some_and(|own| is_known(own, side))) {
            return None;
        }
        // A region that only one has and a region that only the other has, of the same sets, are
        // one disagreement.
        let is_told_elsewhere = match &own {
            [Some(own), None] => own.is_told_by(said[1], said[0]),
            [None, Some(own)] => own.is_told_by(said[0], said[1]),
            _ => false,
        };
        if is_told_elsewhere {
            return None;
        }
        let find = |n: usize| said[n].iter().find(|f| own[n].as_ref().is_some_and(|s| s.is_of(f)));
        let found = [0, 1].map(find);
        self.0.extend(own.into_iter().zip(sides).filter_map(|(own, side)| Some((own?, side))));
        Some(found)
    }
}

/// Returns how far each pair of evaluations agrees, finding by finding. Regions match by their
/// sets, not by their numbers.
pub fn agreement(all: &[Vec<Finding>]) -> Vec<Agreement> {
    let mut subjects: Vec<Subject> = Vec::new();
    for finding in all.iter().flatten() {
        if !subjects.iter().any(|subject| subject.is_of(finding)) {
            subjects.push(Subject::of(finding));
        }
    }
    let mut compared = Compared::default();
    subjects.iter().map(|subject| of_one(subject, all, &mut compared)).collect()
}

fn of_one(subject: &Subject, all: &[Vec<Finding>], compared: &mut Compared) -> Agreement {
    let shown = |findings: &Vec<Finding>| {
        let found = findings.iter().find(|finding| subject.is_of(finding));
        found.map_or("-".to_owned(), |finding| finding.shown.clone())
    };
    let shown = all.iter().map(shown).collect();
    let mut counted = Agreement { name: subject.name(), shown, ..Agreement::default() };
    for one in 0..all.len() {
        for other in one + 1..all.len() {
            let pairs = compared.pairs(subject, all, [one, other]);
            pairs.into_iter().for_each(|pair| counted.add(pair));
        }
    }
    counted
}

/// Whether both hold for about the same requests, as far as they name them.
fn is_of_same(one: Option<&Finding>, other: Option<&Finding>) -> bool {
    let [one, other] = [one, other].map(|finding| finding.and_then(|f| f.requests));
    one.zip(other).is_none_or(|(one, other)| one.are_alike(other))
}

/// Whether the intervals of both overlap; true if either has none.
fn overlap(one: Option<&Finding>, other: Option<&Finding>) -> bool {
    match (one.and_then(|f| f.bounds), other.and_then(|f| f.bounds)) {
        (Some(a), Some(b)) => a[0] <= b[1] && b[0] <= a[1],
        _ => true,
    }
}

#[cfg(test)]
#[path = "testing_agreement_tests.rs"]
mod tests;
