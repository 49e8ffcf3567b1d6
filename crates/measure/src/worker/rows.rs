//! The measured requests of every stream, one by one, in shared words of their own, if requested.

use crate::worker::report::Report;
use ioscape_machine::cgroup::{available_memory, enclosing_limit};
use ioscape_machine::clock::{Clock, unix_ns};
use ioscape_schema::{Access, Io, IoFlags, IoType, Op, Request, Workload};
use std::sync::atomic::{AtomicU64, Ordering};

/// Words of a row: offset, length and operation, and the clock at issue and at completion.
pub(crate) const ROW_WORDS: usize = 4;

/// Set in the second word of a row for a write.
const WRITES: u64 = 1 << 32;

/// Words in the smallest page.
const PAGE_WORDS: usize = 512;

/// The rows of all streams take at most one part in this many of limited memory and of available
/// memory. While they are being sorted, more than four times as much is in use.
const LIMIT_PARTS: u64 = 32;
const AVAILABLE_PARTS: u64 = 16;

/// How many of `most` rows there is room for, if the workers have a memory limit of `own` bytes.
/// Also respects the limit that this program was started under.
pub(crate) fn that_fit(most: usize, own: Option<u64>) -> usize {
    if most == 0 {
        return 0;
    }
    within(most, own.into_iter().chain(enclosing_limit()).min(), available_memory())
}

/// Like [`that_fit`], given the tightest limit and the available memory, both in bytes.
fn within(most: usize, limit: Option<u64>, available: u64) -> usize {
    let of_limit = limit.map_or(u64::MAX, |limit| limit / LIMIT_PARTS);
    let room = of_limit.min(available / AVAILABLE_PARTS);
    most.min(usize::try_from(room).unwrap_or(usize::MAX) / (8 * ROW_WORDS))
}

/// Individual requests, and the wall-clock time at which their clock was 0.
#[derive(Debug, Default)]
pub struct KeptRows {
    /// The first requests, in the order of arrival.
    pub rows: Vec<Io>,
    /// The wall clock at time 0, in nanoseconds since 1970; absent where it is not known.
    pub began_unix_ns: Option<i64>,
}

/// What a stream does with each measured request apart from counting it.
pub(crate) trait Keep {
    /// Forgets everything: the measured part begins.
    fn clear(&mut self);

    /// Keeps a completed request, given the clock's readings at its issue and completion.
    fn keep(&mut self, request: &Request, issued: u64, completed: u64);
}

/// Keeps nothing, and leaves no trace in the hot loop.
impl Keep for () {
    #[inline]
    fn clear(&mut self) {}

    #[inline]
    fn keep(&mut self, _request: &Request, _issued: u64, _completed: u64) {}
}

/// The first requests of a stream, as many as its words can hold.
pub(crate) struct Rows<'a> {
    words: &'a [AtomicU64],
    at: usize,
}

impl<'a> Rows<'a> {
    /// Creates rows in `words`, and touches their memory now rather than during the measurement.
    pub(crate) fn new(words: &'a [AtomicU64]) -> Self {
        words.iter().step_by(PAGE_WORDS).for_each(|word| word.store(0, Ordering::Relaxed));
        Self { words, at: 0 }
    }
}

impl Keep for Rows<'_> {
    fn clear(&mut self) {
        self.at = 0;
    }

    #[inline]
    fn keep(&mut self, request: &Request, issued: u64, completed: u64) {
        let Some(row) = self.words.get(self.at..self.at + ROW_WORDS) else { return };
        let writes = if request.op == Op::Write { WRITES } else { 0 };
        let values = [request.offset, u64::from(request.len) | writes, issued, completed];
        row.iter().zip(values).for_each(|(word, value)| word.store(value, Ordering::Relaxed));
        self.at += ROW_WORDS;
    }
}

/// A row as a stream stored it.
struct Raw {
    process: u32,
    request: Request,
    issued: u64,
    completed: u64,
}

impl Raw {
    fn new(process: u32, words: &[AtomicU64]) -> Self {
        let word = |at: usize| words.get(at).map_or(0, |word| word.load(Ordering::Relaxed));
        let op = if word(1) & WRITES == 0 { Op::Read } else { Op::Write };
        let request = Request { op, offset: word(0), len: word(1) as u32 };
        Self { process, request, issued: word(2), completed: word(3) }
    }
}

/// The rows of all streams in the order of arrival, from the first on, given the report and the
/// words of each stream.
///
/// If a stream's words had no room for all its requests, the rows of all streams end with the last
/// one that it kept. So the rows are everything that happened until then.
pub(crate) fn collect<'a>(
    streams: impl Iterator<Item = (&'a Report, &'a [AtomicU64])>,
    flags: IoFlags,
    clock: &Clock,
) -> KeptRows {
    let (mut raw, mut end) = (Vec::new(), u64::MAX);
    for (number, (report, words)) in (1..).zip(streams) {
        let measured = report.counters.iter().map(|c| c.ios).sum::<u64>();
        let rows = words.chunks_exact(ROW_WORDS).take(measured as usize);
        raw.extend(rows.map(|row| Raw::new(number, row)));
        if measured > (words.len() / ROW_WORDS) as u64 {
            let last = raw.last().filter(|row: &&Raw| row.process == number);
            end = end.min(last.map_or(0, |row| row.completed));
        }
    }
    raw.retain(|row| row.completed <= end);
    raw.sort_by_key(|row| (row.issued, row.process));
    let first = raw.first().map(|row| row.issued);
    let began_unix_ns = first.and_then(|at| unix_ns(clock.nanos_between(at, clock.raw())));
    let begin = first.unwrap_or(0);
    let row = |row: &Raw| {
        let issued_ns = clock.nanos_between(begin, row.issued);
        Io {
            request: row.request,
            process: row.process,
            queued_ns: issued_ns,
            issued_ns,
            completed_ns: issued_ns + clock.nanos_between(row.issued, row.completed),
            flags,
            io_type: IoType::UserData,
            ..Io::default()
        }
    };
    KeptRows { rows: raw.iter().map(row).collect(), began_unix_ns }
}

/// The flags of the rows: a process waits for its request if it has one in flight; with many, it
/// waits for none in particular.
pub(crate) fn flags(workload: &Workload) -> IoFlags {
    let waited = if workload.queue_depth == 1 { IoFlags::SYNC } else { IoFlags::ASYNC };
    waited | if workload.access == Access::Dsync { IoFlags::FUA } else { IoFlags::empty() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against rows that use up all the memory of a container of 128 MiB.
    #[test]
    fn rows_take_a_small_part_of_whatever_limits_the_memory() {
        const MOST: usize = 1 << 22;
        let (mib, gib) = (1 << 20, 1 << 30);
        assert_eq!(within(MOST, None, 64 * gib), MOST);
        assert_eq!(within(MOST, Some(128 * mib), 64 * gib), 131_072);
        assert_eq!(within(MOST, Some(512 * mib), 32 * mib), 65_536, "others have the rest");
        assert_eq!(within(10, Some(128 * mib), gib), 10);
        assert_eq!(that_fit(0, None), 0);
        assert!(that_fit(MOST, Some(128 * mib)) <= 131_072);
    }

    fn words(rows: usize) -> Vec<AtomicU64> {
        (0..rows * ROW_WORDS).map(|_| AtomicU64::new(7)).collect()
    }

    fn request(op: Op, offset: u64) -> Request {
        Request { op, offset, len: u32::MAX }
    }

    #[test]
    fn rows_survive_the_passage_in_the_order_of_arrival() {
        let clock = Clock::new();
        let (first, second) = (words(4), words(4));
        let (mut one, mut other) = (Rows::new(&first), Rows::new(&second));
        one.keep(&request(Op::Write, 1), 500, 900);
        one.clear();
        one.keep(&request(Op::Read, 1 << 40), 1_000_000, 3_000_000);
        one.keep(&request(Op::Write, 2), 5_000_000, 6_000_000);
        other.keep(&request(Op::Write, 3), 2_000_000, 9_000_000);
        let mut reports = [Report::new(), Report::new()];
        (reports[0].counters[0].ios, reports[0].counters[1].ios) = (1, 1);
        reports[1].counters[1].ios = 1;
        let streams = reports.iter().zip([&first[..], &second]);
        let rows = collect(streams, IoFlags::SYNC, &clock).rows;
        let told: Vec<_> = rows.iter().map(|io| (io.process, io.request.offset)).collect();
        assert_eq!(told, [(1, 1 << 40), (2, 3), (1, 2)]);
        assert_eq!((rows[0].request, rows[0].queued_ns), (request(Op::Read, 1 << 40), 0));
        assert_eq!(rows[1].physical_ns(), clock.nanos_between(0, 7_000_000));
        assert_eq!(rows[2].issued_ns, clock.nanos_between(0, 4_000_000));
        assert!(rows.iter().all(|io| io.flags == IoFlags::SYNC && io.moves_data()));
    }

    #[test]
    fn rows_end_for_all_where_one_stream_has_no_room_left() {
        let (first, second) = (words(2), words(2));
        let (mut one, mut other) = (Rows::new(&first), Rows::new(&second));
        for n in 0..5 {
            one.keep(&request(Op::Read, n), n * 100, n * 100 + 50);
        }
        other.keep(&request(Op::Read, 10), 20, 140);
        other.keep(&request(Op::Read, 11), 140, 300);
        let mut reports = [Report::new(), Report::new()];
        (reports[0].counters[0].ios, reports[1].counters[0].ios) = (5, 2);
        let streams = reports.iter().zip([&first[..], &second]);
        let rows = collect(streams, IoFlags::SYNC, &Clock::new()).rows;
        let told: Vec<_> = rows.iter().map(|io| io.request.offset).collect();
        assert_eq!(
            told,
            [0, 10, 1],
            "what completed after the last row of the full stream is left out"
        );
    }
}
