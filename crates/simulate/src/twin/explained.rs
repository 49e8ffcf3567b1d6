//! The rate limits that explain the long runs, and the report on each direction (writes, reads).

use super::course::{is_bucket, says};
use crate::ssd::{Limit, Only};
use ioscape_schema::sustained::{CourseKind, Sustained};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Bounded, Measurement};

/// Rates that differ by less than this share count as the same limit.
const SAME: f64 = 0.06;
/// Reads have their own credit if their burst exceeds the recovered credit by this factor: the recovery time may be inexact.
const OWN: f64 = 1.5;

/// The directions, in the order in which they run.
const WHAT: [(Only, &str); 2] = [(Only::Writes, "writes"), (Only::Reads, "reads")];

/// The report on a burst of reads that a limit shared with writes explains.
const CAME_BACK: &str = "their burst is the credit that had come back while small writes ran below the limit, or nothing ran: it is one limit of both";
/// The report on a limit of reads that may be the same as that of writes.
const OF_ONE_RATE: &str = "a drive gets no limit of reads alone: with one of writes beside it, both together would be too fast if they share one";
/// Writes that a cache explains as well: a rest empties it at the last rate, and the storage behind it is slower for small ones.
const OF_CACHE: &str = "cannot be told: whether bytes of writes are limited, or a cache in front of something slower was filled: small ones came to fewer bytes, and reads are not known to hold the same rate; so a drive gets no limit of it";
/// The beginning of the report that bytes of writes are limited.
const LIMIT_OF_WRITES: &str = "a limit of bytes, of writes: ";
/// The end of the report that bytes had been moved before.
const LARGER: &str = "the credit may be larger by what they used of it";
/// The report on reads that held one rate after a burst of writes.
const HIDDEN: &str = "measured after the writes had used up their burst: one of reads that shares its credit does not show";
/// The same after small writes alone had one, as where a limit counts operations.
const HIDDEN_BY_SMALL: &str = "measured after small writes had used up their burst: one of reads that shares its credit does not show";
/// The report on small requests that fell to a rate that large ones do not show.
const OF_SMALL_ALONE: &str =
    "a drive gets no limit of it: that takes large requests that fall to the same rate";

/// The transfers before the first course, which may have used up credit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// Least number of bytes moved.
    pub bytes: u64,
    /// Whether exactly these bytes were moved, all of them written without a pause.
    pub is_all: bool,
}

/// The report on all long runs, large and small requests in turn; small ones only if their rate did not hold.
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

/// Finds the limits that explain writes and reads, as far as measured, and adds the report on them to the courses' sentences. For
/// writes and for reads, `large_s` is when large requests began and when the last of them ended, in seconds since the transfers
/// in `before` began; empty if that was not kept. `is_largest` says that there is no room for a larger set.
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
    // If the whole credit is known, it already includes what was used before.
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

/// Corrects a kept report on a limit of writes that a cache explains as well.
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

/// The course of the `at`-th measurement.
fn course(measured: &mut [Measurement], at: usize) -> Option<&mut Sustained> {
    measured.get_mut(at)?.sustained.as_deref_mut()
}

/// The rate that held at the end, if the course tells it.
pub fn last(course: &Sustained) -> Option<Bounded> {
    let is_told = course.kind != CourseKind::CannotBeTold;
    course.phases.last().filter(|_| is_told).map(|phase| phase.bytes_per_s)
}

/// The long runs of one direction: large requests, and small ones unless they were cut off.
#[derive(Clone, Copy)]
struct Direction<'a> {
    large: &'a Measurement,
    small: Option<&'a Measurement>,
}

impl<'a> Direction<'a> {
    /// The `at`-th direction, from measurements of large and small requests in turn.
    fn of(measured: &'a [Measurement], at: usize) -> Option<Self> {
        let large = measured.get(2 * at)?;
        Some(Self { large, small: measured.get(2 * at + 1) })
    }

    /// The kind of the large requests' course, if they have one.
    fn kind(&self) -> Option<CourseKind> {
        self.large.sustained.as_deref().map(|course| course.kind)
    }

    /// Whether large requests show a burst that ended.
    fn is_burst(&self) -> bool {
        self.kind() == Some(CourseKind::Burst)
    }

    /// The last rate of large requests, in bytes per second, if known.
    fn last(&self) -> Option<Bounded> {
        last(self.large.sustained.as_deref()?)
    }

    /// The last rate of small requests, in bytes per second, if known.
    fn last_of_small(&self) -> Option<Bounded> {
        last(self.small?.sustained.as_deref()?)
    }

    /// The last rates of large and of small requests, and that of large requests at the small ones' IOPS, all in bytes per
    /// second.
    fn lasts(&self) -> Option<[Bounded; 3]> {
        let small = self.last_of_small()?;
        let sizes = [self.large, self.small?].map(|one| one.workload.size_mean as f64);
        let [value, low, high] =
            [small.value, small.low, small.high].map(|bytes| bytes * sizes[0] / sizes[1]);
        Some([self.last()?, small, Bounded { value, low, high }])
    }

    /// The credit in bytes, if the drive behaves as a token bucket.
    fn credit(&self) -> Option<Bounded> {
        let large = self.large.sustained.as_deref()?;
        let is_one = is_bucket(large.recovered_bytes_per_s?, last(large)?)?;
        large.credit_bytes.filter(|_| is_one)
    }

    /// Whether small requests are as large as large ones, as on a set that holds only one request.
    fn is_of_one_size(&self) -> bool {
        self.small.is_some_and(|small| small.workload.size_mean == self.large.workload.size_mean)
    }

    /// What is limited: the quantity, bytes or operations, of which small and large requests reached the same rate. If small
    /// requests reached more operations but fewer bytes, operations did not limit the large ones, whatever else limits the small
    /// ones.
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

    /// Whether a filled cache explains the course as well as a limit of bytes does: small requests reached another byte rate.
    fn may_be_cached(&self) -> bool {
        let is_other = |[large, small, _]: [Bounded; 3]| !is_same(large, small);
        let is_limited = self.credit().is_some() && self.unit() == Some(Unit::Bytes);
        is_limited && self.lasts().is_some_and(is_other)
    }

    /// The bytes of credit that came back in `between_s` seconds in which only small requests ran, as far as they ran below the
    /// limit; if that time is unknown, in their run time.
    fn saved(&self, between_s: Option<f64>) -> Option<Bounded> {
        let course = self.small?.sustained.as_deref()?;
        let ([last, small, as_large], unit) = (self.lasts()?, self.unit()?);
        let each = if unit == Unit::Bytes { 1.0 } else { as_large.value / small.value };
        let moved = each * says::moved(course);
        let between_s = between_s.unwrap_or(0.0).max(says::length_s(course));
        let left = |rate: f64| (rate * between_s - moved).max(0.0);
        Some(Bounded { value: left(last.value), low: left(last.low), high: left(last.high) })
    }

    /// Whether small requests show a burst that ended.
    fn is_burst_of_small(&self) -> bool {
        let small = self.small.and_then(|small| small.sustained.as_deref());
        small.is_some_and(|course| course.kind == CourseKind::Burst)
    }

    /// Whether small requests fell to a rate that large ones do not explain; `is_limited` says that these have a known limit.
    fn is_small_alone(&self, is_limited: bool) -> bool {
        let is_one = |[large, small, as_large]: [Bounded; 3]| {
            is_same(large, small) || is_same(large, as_large)
        };
        self.is_burst_of_small() && !(is_limited && self.lasts().is_some_and(is_one))
    }

    /// Whether a kept report already says this: kept runs do not record how long the drive was idle.
    fn is_said(&self, words: &str) -> bool {
        let course = self.large.sustained.as_deref();
        course.is_some_and(|course| course.sentences.iter().any(|said| said.contains(words)))
    }

    /// The report on what steady rates leave open; `is_largest` says that there is no room for a larger set.
    fn beyond(&self, is_largest: bool) -> Vec<String> {
        let steady = |one: &'a Measurement| {
            let course = one.sustained.as_deref()?;
            (course.kind == CourseKind::Steady).then_some((course, one.workload.size_mean))
        };
        let Some(large) = steady(self.large) else { return Vec::new() };
        let small = self.small.and_then(steady).filter(|_| !self.is_of_one_size());
        let set_bytes = self.large.workload.unique_bytes;
        let is_write = self.large.workload.read_frac == 0.0;
        let of_set = says::beyond_set(large.0, set_bytes, is_largest, is_write);
        vec![says::operations(large, small), of_set]
    }
}

/// The credit of a limit of bytes before earlier transfers used some of it.
#[derive(Clone, Copy)]
struct Whole {
    credit: Bounded,
    /// The part of it used up when the course began, in bytes.
    used: f64,
}

impl Whole {
    /// The writes' whole credit, `since_s` seconds after the earlier transfers began; `None` if it cannot be known.
    fn of(writes: &Direction<'_>, before: Before, since_s: f64) -> Option<Self> {
        let (left, rate) = (writes.credit()?, writes.last()?);
        // Had the credit ever been used up, no more could be left than came back since.
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

/// Whether reads share the limit of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sharing {
    /// Both share one limit.
    Shared,
    /// Reads have a credit of their own.
    Apart,
    /// Unknown.
    Open,
}

impl Sharing {
    /// Decides for writes and reads whose large requests began and ended at these seconds, if known.
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

/// Whether reads ended at the same rate as writes.
fn is_one_rate(both: &[Option<Direction<'_>>; 2]) -> bool {
    let [write, read] = both.map(|one| one?.last());
    write.zip(read).is_some_and(|(write, read)| is_same(write, read))
}

/// Whether a filled cache explains writes as well as a limit of their bytes: reads are not known to hold the same rate.
fn is_cached(both: &[Option<Direction<'_>>; 2]) -> bool {
    both[0].is_some_and(|writes| writes.may_be_cached()) && !is_one_rate(both)
}

/// Whether a limit of writes explains reads that ended at its rate: they had no burst, or one as large as the credit that had
/// come back by then, unless that may have been the whole credit.
fn is_explained(write: &Direction<'_>, read: &Direction<'_>, saved: Option<Bounded>) -> bool {
    let burst = read.large.sustained.as_deref().and_then(|course| course.credit_bytes);
    write.credit().is_some_and(|credit| {
        let is_left =
            |(burst, saved): (Bounded, Bounded)| saved.high < credit.low && is_same(burst, saved);
        !read.is_burst() || read.is_said(CAME_BACK) || burst.zip(saved).is_some_and(is_left)
    })
}

/// Whether reads had a credit of their own: more than had come back of the writes' credit when they began.
fn is_apart(write: &Direction<'_>, read: &Direction<'_>, saved: Option<Bounded>) -> bool {
    let own = write.credit().and(read.credit()).filter(|_| !write.is_said(&whether("reads")));
    own.zip(saved).is_some_and(|(own, saved)| own.low > OWN * saved.high)
}

/// The doubts about writes and about reads: credit used before, limits that the other direction may share (if `is_open`), and
/// what lies beyond the measurements. `is_cached`: writes may have a cache, not a limit. `is_largest`: no larger set fits.
fn doubts(
    both: &[Option<Direction<'_>>; 2],
    is_open: bool,
    is_cached: bool,
    before_bytes: u64,
    is_largest: bool,
) -> [Vec<String>; 2] {
    let [write, read] = *both;
    let kinds = both.map(|one| one?.kind());
    // If there may be no credit at all, its size and sharing are no question.
    let is_burst = kinds[0] == Some(CourseKind::Burst) && !is_cached;
    let before = Bytes(before_bytes as f64);
    let moved = (is_burst && before_bytes > 0)
        .then(|| format!("at least {before} had been moved before: {LARGER}"));
    let is_small_burst = write.is_some_and(|write| write.is_burst_of_small());
    let ended = match (is_burst, is_small_burst) {
        (true, _) => Some(HIDDEN),
        (false, true) => Some(HIDDEN_BY_SMALL),
        (false, false) => None,
    };
    let hidden = ended.filter(|_| kinds[1] == Some(CourseKind::Steady)).map(str::to_owned);
    let open_writes = may_share(write, read, "reads").filter(|_| is_open && !is_cached);
    let open_reads = may_share(read, write, "writes").filter(|_| is_open);
    let [beyond_writes, beyond_reads] =
        both.map(|one| one.map_or_else(Vec::new, |one| one.beyond(is_largest)));
    let of_writes = moved.into_iter().chain(open_writes).chain(beyond_writes);
    let of_reads = hidden.into_iter().chain(open_reads).chain(beyond_reads);
    [of_writes.collect(), of_reads.collect()]
}

/// Reports that the other direction may share this one's limit, unless it held a higher rate.
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

/// The beginning of the report that others may share a limit.
fn whether(others: &str) -> String {
    format!("cannot be told: whether {others} share the limit")
}

/// The limit that explains a direction, and the report on it; it applies to all requests unless `only` restricts it.
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

/// Whether two rates, or amounts of bytes, may be equal.
fn is_same(a: Bounded, b: Bounded) -> bool {
    let near = (a.value - b.value).abs() <= SAME * a.value.max(b.value);
    near && a.low <= b.high * (1.0 + SAME / 2.0) && b.low <= a.high * (1.0 + SAME / 2.0)
}

#[cfg(test)]
mod tests {
    use super::super::course::judge;
    use super::*;
    use ioscape_schema::{Stop, Workload};

    /// A measurement with a steady course that moves `count` requests of `size_mean` bytes.
    fn steady(count: f64, size_mean: u64, unique_bytes: u64, read_frac: f64) -> Measurement {
        let course = judge(0.1, &[count * size_mean as f64 / 4.0; 40]);
        let workload = Workload { unique_bytes, size_mean, read_frac, ..Workload::default() };
        Measurement {
            sustained: Some(Box::new(course)),
            ..Measurement::empty(workload, Stop::TimeCap)
        }
    }

    /// The report on a direction whose rates held.
    fn said(read_frac: f64) -> String {
        let one = |count, size| steady(count, size, 1 << 30, read_frac);
        let mut measured = [one(1000.0, 256 << 10), one(5000.0, 4 << 10)];
        assert!(conclude(&mut measured, Before::default(), &[], false).is_empty());
        summary(&measured).join("\n")
    }

    #[test]
    fn a_limit_of_operations_may_show_after_more_requests_than_there_were() {
        let [said, reads] = [0.0, 1.0].map(said);
        let words = "more than 1000 requests of 256 KiB, or 5000 requests of 4 KiB in a row";
        assert!(said.contains(words), "{said}");
        assert!(said.contains("a limit of bytes that shows only after"), "{said}");
        assert!(said.contains("not told: a cache that holds more than 250 MiB"), "{said}");
        assert!(reads.contains("all of it from a set of 1 GiB: a cache that holds it"), "{reads}");
    }
}
