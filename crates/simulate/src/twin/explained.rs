//! The rate limits that explain what was measured for long, and what is said of each direction.

use super::course::{is_bucket, says};
use crate::ssd::{Limit, Only};
use ioscape_schema::sustained::{CourseKind, Sustained};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Bounded, Measurement};

/// Rates that differ by less than this share are one limit's.
const SAME: f64 = 0.06;
/// Reads with so many times the credit that had come back to writes had one of their own: for how long it could come back is not always known.
const OWN: f64 = 1.5;

/// The directions, in the order in which they run.
const WHAT: [(Only, &str); 2] = [(Only::Writes, "writes"), (Only::Reads, "reads")];

/// What is said of a burst of reads that one limit with writes explains.
const CAME_BACK: &str = "their burst is the credit that had come back while small writes ran below the limit, or nothing ran: it is one limit of both";
/// What is said of a limit of reads that may be that of writes.
const OF_ONE_RATE: &str = "a drive gets no limit of reads alone: with one of writes beside it, both together would be too fast if they share one";
/// What is said of writes that a cache explains as well as a limit: a rest empties it, too, at the rate to which large ones fell, and what is behind it
/// takes longer for small ones.
const OF_CACHE: &str = "cannot be told: whether bytes of writes are limited, or a cache in front of something slower was filled: small ones came to fewer bytes, and reads are not known to hold the same rate; so a drive gets no limit of it";
/// How it begins that bytes of writes are limited.
const LIMIT_OF_WRITES: &str = "a limit of bytes, of writes: ";
/// How it ends that more had been moved before.
const LARGER: &str = "the credit may be larger by what they used of it";
/// What is said of reads that held one rate behind a burst of writes.
const HIDDEN: &str = "measured after the writes had used up their burst: one of reads that shares its credit does not show";
/// What is said of small requests that fell to a rate which is none of large ones.
const OF_SMALL_ALONE: &str =
    "a drive gets no limit of it: that takes large requests that fall to the same rate";

/// What was moved before the first course, and may have used up credit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// Bytes, at least.
    pub bytes: u64,
    /// Whether these are all, were all written, and without a pause.
    pub is_all: bool,
}

/// All that is said of what was measured, large and small requests in turn; of small ones only where not one rate held.
pub fn summary(measured: &[Measurement]) -> Vec<String> {
    let mut all = Vec::new();
    for (pair, (_, what)) in measured.chunks(2).zip(WHAT) {
        for (one, small) in pair.iter().zip(["", "small "]) {
            let is_said =
                |course: &&Sustained| small.is_empty() || course.kind != CourseKind::Steady;
            let course = one.sustained.as_deref().filter(is_said);
            let sentences = course.into_iter().flat_map(|course| &course.sentences);
            all.extend(sentences.map(|said| format!("{small}{what}: {said}")));
        }
    }
    all
}

/// The limits that explain writes, and reads, as far as they were measured; what is said of them is added to the sentences of their courses. Of
/// writes and of reads, `large_s` is when large ones began, and when the last of them ended, in seconds from when the first of what came before
/// began; nothing where that was not kept. The set may be the largest that there is room for.
pub fn conclude(
    measured: &mut [Measurement],
    before: Before,
    large_s: &[[f64; 2]],
    is_largest: bool,
) -> Vec<Limit> {
    let both = [Direction::of(measured, 0), Direction::of(measured, 1)];
    let sharing = Sharing::of(&both, large_s);
    let shared = sharing == Sharing::Shared;
    let since_s = large_s.first().map_or(0.0, |[begun_s, _]| *begun_s);
    let whole = both[0].and_then(|writes| Whole::of(&writes, before, since_s));
    // Where it is known, nothing that was used is missing.
    let before_bytes = if whole.is_some() { 0 } else { before.bytes };
    let (is_cached, is_open) = (is_cached(&both), sharing == Sharing::Open);
    let doubts = doubts(&both, is_open, is_cached, before_bytes, is_largest);
    let mut explained = WHAT.map(|(which, what)| {
        let one = both[usize::from(which == Only::Reads)];
        one.map_or((None, None), |one| match (shared, which) {
            (true, Only::Writes) => explained(&one, whole, None, "reads and writes together"),
            (true, Only::Reads) => (None, one.is_burst().then(|| CAME_BACK.to_owned())),
            (false, Only::Writes) if is_cached => (None, Some(OF_CACHE.to_owned())),
            (false, Only::Writes) => explained(&one, whole, Some(which), what),
            (false, Only::Reads) => explained(&one, None, Some(which), what),
        })
    });
    let is_small_alone: [bool; 2] = std::array::from_fn(|at| {
        let is_limited = shared || explained[at].0.is_some();
        both[at].is_some_and(|one| one.is_small_alone(is_limited))
    });
    let [writes, reads] = &mut explained;
    let may_be_one = is_open && writes.0.is_some() && is_one_rate(&both);
    if may_be_one && reads.0.take().is_some() {
        reads.1 = Some(OF_ONE_RATE.to_owned());
    }
    let mut limits = Vec::new();
    for ((at, (limit, said)), doubts) in explained.into_iter().enumerate().zip(doubts) {
        limits.extend(limit);
        if let Some(course) = course(measured, 2 * at) {
            course.sentences.extend(said.into_iter().chain(doubts));
        }
        if let Some(course) = course(measured, 2 * at + 1).filter(|_| is_small_alone[at]) {
            course.sentences.push(OF_SMALL_ALONE.to_owned());
        }
    }
    limits
}

/// Takes back what was said of a limit of writes before a cache was known to explain as much.
pub fn correct(measured: &mut [Measurement]) {
    let both = [Direction::of(measured, 0), Direction::of(measured, 1)];
    if !is_cached(&both) {
        return;
    }
    let of_sharing = whether("reads");
    if let Some(writes) = course(measured, 0) {
        let holds = |said: &String| !said.starts_with(&of_sharing) && !said.ends_with(LARGER);
        writes.sentences.retain(holds);
        for said in writes.sentences.iter_mut().filter(|said| said.starts_with(LIMIT_OF_WRITES)) {
            *said = OF_CACHE.to_owned();
        }
    }
    if let Some(reads) = course(measured, 2) {
        reads.sentences.retain(|said| said != HIDDEN);
    }
}

/// The course of the measurement at this place.
fn course(measured: &mut [Measurement], at: usize) -> Option<&mut Sustained> {
    measured.get_mut(at)?.sustained.as_deref_mut()
}

/// The rate that held at last.
pub fn last(course: &Sustained) -> Option<Bounded> {
    let is_told = course.kind != CourseKind::CannotBeTold;
    course.phases.last().filter(|_| is_told).map(|phase| phase.bytes_per_s)
}

/// One direction that ran for long: large requests, and small ones unless these were cut off.
#[derive(Clone, Copy)]
struct Direction<'a> {
    large: &'a Measurement,
    small: Option<&'a Measurement>,
}

impl<'a> Direction<'a> {
    /// That of this place, of measurements of large and small requests in turn.
    fn of(measured: &'a [Measurement], at: usize) -> Option<Self> {
        let large = measured.get(2 * at)?;
        Some(Self { large, small: measured.get(2 * at + 1) })
    }

    /// What large requests show, where they have a course.
    fn kind(&self) -> Option<CourseKind> {
        self.large.sustained.as_deref().map(|course| course.kind)
    }

    /// Whether large requests show a burst that ended.
    fn is_burst(&self) -> bool {
        self.kind() == Some(CourseKind::Burst)
    }

    /// The last rate of large requests, in bytes per second, where there is one.
    fn last(&self) -> Option<Bounded> {
        last(self.large.sustained.as_deref()?)
    }

    /// The last rate of small requests, in bytes per second, where there is one.
    fn last_of_small(&self) -> Option<Bounded> {
        last(self.small?.sustained.as_deref()?)
    }

    /// The last rates of large and of small requests, and what the latter would be if as many large ones were moved, in bytes per second.
    fn lasts(&self) -> Option<[Bounded; 3]> {
        let small = self.last_of_small()?;
        let sizes = [self.large, self.small?].map(|one| one.workload.size_mean as f64);
        let [value, low, high] =
            [small.value, small.low, small.high].map(|bytes| bytes * sizes[0] / sizes[1]);
        Some([self.last()?, small, Bounded { value, low, high }])
    }

    /// Bytes of credit, where the drive behaves as a token bucket.
    fn credit(&self) -> Option<Bounded> {
        let large = self.large.sustained.as_deref()?;
        let is_one = is_bucket(large.recovered_bytes_per_s?, last(large)?)?;
        large.credit_bytes.filter(|_| is_one)
    }

    /// Whether small requests are as large as large ones, as in a set that holds no more than one of them.
    fn is_of_one_size(&self) -> bool {
        self.small.is_some_and(|small| small.workload.size_mean == self.large.workload.size_mean)
    }

    /// What is limited: that of which small and large requests came to as many a second. Where more small ones were moved than large ones, and
    /// yet fewer bytes, operations are not what limited the large ones, whatever else limits the small ones.
    fn unit(&self) -> Option<Unit> {
        let [large, small, as_large] = self.lasts()?;
        let is_more = as_large.low > (1.0 + SAME) * large.high && small.high < large.low;
        match [is_same(large, small), is_same(large, as_large)] {
            [true, false] => Some(Unit::Bytes),
            [false, true] => Some(Unit::Operations),
            [false, false] if is_more => Some(Unit::Bytes),
            _ => None,
        }
    }

    /// Whether a cache that was filled explains it as well as a limit of bytes: small requests came to fewer.
    fn may_be_cached(&self) -> bool {
        let is_other = |[large, small, _]: [Bounded; 3]| !is_same(large, small);
        let is_limited = self.credit().is_some() && self.unit() == Some(Unit::Bytes);
        is_limited && self.lasts().is_some_and(is_other)
    }

    /// Bytes of its credit that came back in so many seconds in which small requests ran and nothing else, as far as these were slower than what
    /// is limited allows; in the time for which they ran, where that is not known.
    fn saved(&self, between_s: Option<f64>) -> Option<Bounded> {
        let course = self.small?.sustained.as_deref()?;
        let ([last, small, as_large], unit) = (self.lasts()?, self.unit()?);
        let each = if unit == Unit::Bytes { 1.0 } else { as_large.value / small.value };
        let moved = each * says::moved(course);
        let between_s = between_s.unwrap_or(0.0).max(says::length_s(course));
        let left = |rate: f64| (rate * between_s - moved).max(0.0);
        Some(Bounded { value: left(last.value), low: left(last.low), high: left(last.high) })
    }

    /// Whether small requests fell to a rate that large ones do not explain, of which a limit is known if `is_limited`.
    fn is_small_alone(&self, is_limited: bool) -> bool {
        let small = self.small.and_then(|small| small.sustained.as_deref());
        let is_burst = small.is_some_and(|course| course.kind == CourseKind::Burst);
        let is_one = |[large, small, as_large]: [Bounded; 3]| {
            is_same(large, small) || is_same(large, as_large)
        };
        is_burst && !(is_limited && self.lasts().is_some_and(is_one))
    }

    /// Whether this was said of it before, as of what was kept: how long the drive was idle is not kept.
    fn is_said(&self, words: &str) -> bool {
        let course = self.large.sustained.as_deref();
        course.is_some_and(|course| course.sentences.iter().any(|said| said.contains(words)))
    }

    /// What rates that held leave open, on a set that may be the largest that there is room for.
    fn beyond(&self, is_largest: bool) -> Vec<String> {
        let steady = |one: &'a Measurement| {
            let course = one.sustained.as_deref()?;
            (course.kind == CourseKind::Steady).then_some((course, one.workload.size_mean))
        };
        let Some(large) = steady(self.large) else { return Vec::new() };
        let small = self.small.and_then(steady).filter(|_| !self.is_of_one_size());
        let set_bytes = self.large.workload.unique_bytes;
        let is_write = self.large.workload.read_frac == 0.0;
        let of_set = says::beyond_set(large.0, set_bytes, is_largest).filter(|_| is_write);
        [says::operations(large, small)].into_iter().chain(of_set).collect()
    }
}

/// The credit of a limit of bytes before the first of what was moved before used some of it.
#[derive(Clone, Copy)]
struct Whole {
    credit: Bounded,
    /// What was missing of it when the course began, in bytes.
    used: f64,
}

impl Whole {
    /// That of writes, `since_s` seconds after the first of what came before; `None` where it cannot be known.
    fn of(writes: &Direction<'_>, before: Before, since_s: f64) -> Option<Self> {
        let (left, rate) = (writes.credit()?, writes.last()?);
        // Had it been used up on the way, no more could be left than came back since.
        let was_never_empty = left.low > rate.high * since_s;
        if !before.is_all || !was_never_empty || writes.unit() != Some(Unit::Bytes) {
            return None;
        }
        let used = |rate: f64| (before.bytes as f64 - rate * since_s).max(0.0);
        let credit = Bounded {
            value: left.value + used(rate.value),
            low: left.low + used(rate.high),
            high: left.high + used(rate.low),
        };
        Some(Self { credit, used: used(rate.value) })
    }
}

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Bytes,
    Operations,
}

/// What reads have to do with the limit of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sharing {
    /// It is one of both.
    Shared,
    /// They have a credit of their own.
    Apart,
    /// Neither is sure.
    Open,
}

impl Sharing {
    /// That of writes and of reads whose large requests began and ended at these seconds, where that is known.
    fn of(both: &[Option<Direction<'_>>; 2], large_s: &[[f64; 2]]) -> Self {
        let [Some(write), Some(read)] = both else { return Self::Open };
        let between_s = match large_s {
            [[_, ended_s], [begun_s, _], ..] => Some(begun_s - ended_s),
            _ => None,
        };
        let saved = write.saved(between_s);
        if is_one_rate(both) && is_explained(write, read, saved) {
            Self::Shared
        } else if is_apart(write, read, saved) {
            Self::Apart
        } else {
            Self::Open
        }
    }
}

/// Whether reads fell to the rate to which writes had fallen.
fn is_one_rate(both: &[Option<Direction<'_>>; 2]) -> bool {
    let [write, read] = both.map(|one| one?.last());
    write.zip(read).is_some_and(|(write, read)| is_same(write, read))
}

/// Whether a cache that was filled explains writes as well as a limit of their bytes: reads are not known to hold the same rate.
fn is_cached(both: &[Option<Direction<'_>>; 2]) -> bool {
    both[0].is_some_and(|writes| writes.may_be_cached()) && !is_one_rate(both)
}

/// Whether a limit of writes explains reads that fell to its rate: they had no burst, or as large a one as had come back of the credit by then,
/// unless that may have been all of it.
fn is_explained(write: &Direction<'_>, read: &Direction<'_>, saved: Option<Bounded>) -> bool {
    let burst = read.large.sustained.as_deref().and_then(|course| course.credit_bytes);
    write.credit().is_some_and(|credit| {
        let is_left =
            |(burst, saved): (Bounded, Bounded)| saved.high < credit.low && is_same(burst, saved);
        !read.is_burst() || read.is_said(CAME_BACK) || burst.zip(saved).is_some_and(is_left)
    })
}

/// Whether reads had a credit of their own: more of it than had come back of that of writes when they began.
fn is_apart(write: &Direction<'_>, read: &Direction<'_>, saved: Option<Bounded>) -> bool {
    let own = write.credit().and(read.credit()).filter(|_| !write.is_said(&whether("reads")));
    own.zip(saved).is_some_and(|(own, saved)| own.low > OWN * saved.high)
}

/// What was used up before writes, and before reads, was measured, and what is not known of the other or beyond what was measured; whether the
/// other shares a limit `is_open`, writes are not known to have one where it `is_cached`, and the set may be the largest that there is room for.
fn doubts(
    both: &[Option<Direction<'_>>; 2],
    is_open: bool,
    is_cached: bool,
    before_bytes: u64,
    is_largest: bool,
) -> [Vec<String>; 2] {
    let [write, read] = *both;
    let kinds = both.map(|one| one?.kind());
    // A credit that may be none has no size to doubt, and reads share none.
    let is_burst = kinds[0] == Some(CourseKind::Burst) && !is_cached;
    let before = Bytes(before_bytes as f64);
    let moved = (is_burst && before_bytes > 0)
        .then(|| format!("at least {before} had been moved before: {LARGER}"));
    let ended = is_burst && kinds[1] == Some(CourseKind::Steady);
    let hidden = ended.then(|| HIDDEN.to_owned());
    let open_writes = may_share(write, read, "reads").filter(|_| is_open && !is_cached);
    let open_reads = may_share(read, write, "writes").filter(|_| is_open);
    let [beyond_writes, beyond_reads] =
        both.map(|one| one.map_or_else(Vec::new, |one| one.beyond(is_largest)));
    let of_writes = moved.into_iter().chain(open_writes).chain(beyond_writes);
    let of_reads = hidden.into_iter().chain(open_reads).chain(beyond_reads);
    [of_writes.collect(), of_reads.collect()]
}

/// That the others may share the limit of one direction, unless they held a higher rate.
fn may_share(
    one: Option<Direction<'_>>,
    other: Option<Direction<'_>>,
    others: &str,
) -> Option<String> {
    let limit = one.filter(|one| one.credit().is_some())?.last()?;
    let why = match other.and_then(|other| other.last()) {
        None => format!("the rate of {others} that holds is not known"),
        Some(held) if held.low > limit.high => return None,
        Some(held) => format!("they held {}, not surely more than it allows", says::rate(held)),
    };
    Some(format!("{}, since {why}", whether(others)))
}

/// How it begins that others may share a limit.
fn whether(others: &str) -> String {
    format!("cannot be told: whether {others} share the limit")
}

/// The limit that explains a direction, of all requests unless it is of `only` some, and what is said of it.
fn explained(
    one: &Direction<'_>,
    whole: Option<Whole>,
    only: Option<Only>,
    what: &str,
) -> (Option<Limit>, Option<String>) {
    let Some((credit, last)) = one.credit().zip(one.last()) else { return (None, None) };
    let large = one.large.workload.size_mean as f64;
    match one.unit() {
        Some(Unit::Bytes) => {
            let used = whole.map(|whole| whole.used).filter(|used| *used > 0.0);
            let used = used.map_or_else(String::new, |used| {
                format!(", of which {} had been used before, if it was whole then", Bytes(used))
            });
            let credit = whole.map_or(credit, |whole| whole.credit);
            let others = one.lasts().filter(|[large, small, _]| !is_same(*large, *small));
            let others = others.map_or_else(String::new, |[_, _, as_large]| {
                let each = as_large.value / large;
                format!("; small requests ran at {each:.0} a second, so it is not the number of requests that is limited, and something else held small ones")
            });
            let said = format!(
                "a limit of bytes, of {what}: {} with a credit of {}{used}{others}",
                says::rate(last),
                says::bytes(credit)
            );
            let bytes_per_s = Some(last.value);
            let limit = Limit { operations_per_s: None, bytes_per_s, only, credit: credit.value };
            (Some(limit), Some(said))
        }
        Some(Unit::Operations) => {
            let [rate, credit] = [last.value, credit.value].map(|bytes| bytes / large);
            let said = format!(
                "a limit of operations, of {what}: {rate:.0} a second with a credit of {credit:.0}"
            );
            let operations_per_s = Some(rate);
            (Some(Limit { operations_per_s, bytes_per_s: None, only, credit }), Some(said))
        }
        None => {
            let why = match one.last_of_small() {
                Some(_) if one.is_of_one_size() => {
                    "requests of one size do not tell; a larger set would (--unique-bytes)"
                }
                Some(_) => "small requests came to neither rate",
                None => "the rate of small requests that holds is not known",
            };
            let said = format!(
                "cannot be told: whether operations or bytes of {what} are limited; {why}; so a drive gets no limit of it"
            );
            (None, Some(said))
        }
    }
}

/// Whether two rates, or amounts of bytes, may be one.
fn is_same(a: Bounded, b: Bounded) -> bool {
    let near = (a.value - b.value).abs() <= SAME * a.value.max(b.value);
    near && a.low <= b.high * (1.0 + SAME / 2.0) && b.low <= a.high * (1.0 + SAME / 2.0)
}

#[cfg(test)]
mod tests {
    use super::super::course::judge;
    use super::*;
    use ioscape_schema::{Stop, Workload};

    /// Requests at one rate: so many of so many bytes.
    fn steady(count: f64, size_mean: u64, unique_bytes: u64, read_frac: f64) -> Measurement {
        let course = judge(0.1, &[count * size_mean as f64 / 4.0; 40]);
        let workload = Workload { unique_bytes, size_mean, read_frac, ..Workload::default() };
        Measurement {
            sustained: Some(Box::new(course)),
            ..Measurement::empty(workload, Stop::TimeCap)
        }
    }

    /// What is said of a direction whose rates held.
    fn said(unique_bytes: u64, is_largest: bool, read_frac: f64) -> String {
        let one = |count, size| steady(count, size, unique_bytes, read_frac);
        let mut measured = [one(1000.0, 256 << 10), one(5000.0, 4 << 10)];
        assert!(conclude(&mut measured, Before::default(), &[], is_largest).is_empty());
        summary(&measured).join("\n")
    }

    #[test]
    fn a_limit_of_operations_may_show_after_more_requests_than_there_were() {
        let said = said(1 << 30, false, 0.0);
        let words = "more than 1000 requests of 256 KiB, or 5000 requests of 4 KiB in a row";
        assert!(said.contains(words), "{said}");
        assert!(said.contains("a limit of bytes, or a cache, that shows only after"), "{said}");
    }

    #[test]
    fn a_rate_of_writes_that_held_on_a_set_does_not_speak_for_flash_beyond_it() {
        let small = said(64 << 20, false, 0.0);
        let words = "all of it to a set of 64 MiB: what shows only where more of a flash drive is";
        assert!(small.contains(words) && small.contains("--unique-bytes"), "{small}");
        assert!(!said(64 << 20, false, 1.0).contains("all of it"), "reads wear nothing out");
        assert!(!said(1 << 30, false, 0.0).contains("all of it"), "most of it was written once");
        let largest = said(64 << 20, true, 0.0);
        assert!(largest.contains("all of it to a set of 64 MiB, the largest"), "{largest}");
        assert!(!largest.contains("--unique-bytes"), "there is no larger one: {largest}");
    }
}
