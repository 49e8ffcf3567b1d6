//! The measured requests of every stream one by one, in shared words of their own, when somebody asks for them.

use crate::worker::report::Report;
use ioscape_machine::cgroup::{available_memory, enclosing_limit};
use ioscape_machine::clock::Clock;
use ioscape_schema::{Access, Io, IoFlags, IoType, Op, Request, Workload};
use std::sync::atomic::{AtomicU64, Ordering};

/// Words of a row: offset, length and operation, the clock at issue and at completion.
pub(crate) const ROW_WORDS: usize = 4;

/// Set in the second word of a write.
const WRITES: u64 = 1 << 32;

/// Words of the smallest page.
const PAGE_WORDS: usize = 512;

/// The rows of all streams take at most these parts of a limited memory and of what is available: when they are put in order, more than four times as
/// much as that is in use.
const LIMIT_PARTS: u64 = 32;
const AVAILABLE_PARTS: u64 = 16;

/// How many of `most` rows there is room for, where the workers have a memory limit of `own` bytes, and in whatever limit this program was started.
pub(crate) fn that_fit(most: usize, own: Option<u64>) -> usize {
    if most == 0 {
        return 0;
    }
    within(most, own.into_iter().chain(enclosing_limit()).min(), available_memory())
}

/// The same in bytes of the tightest limit and of what is available.
fn within(most: usize, limit: Option<u64>, available: u64) -> usize {
    let of_limit = limit.map_or(u64::MAX, |limit| limit / LIMIT_PARTS);
    let room = of_limit.min(available / AVAILABLE_PARTS);
    most.min(usize::try_from(room).unwrap_or(usize::MAX) / (8 * ROW_WORDS))
}

/// What a stream does with each measured request besides counting it.
pub(crate) trait Keep {
    /// Forgets what was kept: the measured part begins.
    fn clear(&mut self);

    /// Keeps a completed request, given the clock's readings at its issue and completion.
    fn keep(&mut self, request: &Request, issued: u64, completed: u64);
}

/// Nothing is kept, and nothing is left of it in the hot loop.
impl Keep for () {
    #[inline]
    fn clear(&mut self) {}

    #[inline]
    fn keep(&mut self, _request: &Request, _issued: u64, _completed: u64) {}
}

/// The first requests of a stream, as many as its words hold.
pub(crate) struct Rows<'a> {
    words: &'a [AtomicU64],
    at: usize,
}

impl<'a> Rows<'a> {
    /// Rows in `words`, whose memory is taken now, not while requests are measured.
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

/// A row as a stream left it.
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

/// The rows of all streams in the order of arrival, from the first one on: given what each stream reports, and its words.
///
/// Where the words of a stream did not hold all its requests, the rows of all streams end with the last it kept, so that
/// the rows are all that happened until then.
pub(crate) fn collect<'a>(
    streams: impl Iterator<Item = (&'a Report, &'a [AtomicU64])>,
    flags: IoFlags,
    clock: &Clock,
) -> Vec<Io> {
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
    let begin = raw.first().map_or(0, |row| row.issued);
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
    raw.iter().map(row).collect()
}

/// A process waits for its one request; of many in flight it waits for none in particular.
pub(crate) fn flags(workload: &Workload) -> IoFlags {
    let waited = if workload.queue_depth == 1 { IoFlags::SYNC } else { IoFlags::ASYNC };
    waited | if workload.access == Access::Dsync { IoFlags::FUA } else { IoFlags::empty() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a container of 128 MiB the rows alone would have taken all of it.
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
        let rows = collect(streams, IoFlags::SYNC, &clock);
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
        let rows = collect(streams, IoFlags::SYNC, &Clock::new());
        let told: Vec<_> = rows.iter().map(|io| io.request.offset).collect();
        assert_eq!(
            told,
            [0, 10, 1],
            "what completed after the last row of the full stream is left out"
        );
    }
}
