//! Faults on mapped files, from the kernel's own events in a private instance of tracefs.
//!
//! A load or store on a page that is already mapped leaves no trace anywhere. On any other page, it
//! is a fault. That shows the file and the page, but not whether it is a load or a store. If the
//! page is in the file cache, the kernel maps it together with its neighbours (64 KiB by default)
//! and reports only the range.

use crate::namespace::is_outermost;
use crate::record::Instance;
use ioscape_machine::clock::monotonic_ns;
use ioscape_machine::thread::builder;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::ops::RangeInclusive;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// A page of a file is needed, whether or not it is in the cache (`mm/filemap.c`; Linux 6.11).
const WANTED: &str = "mm_filemap_fault";
/// Cached pages around a fault are mapped: before the event above, instead of it, or after the page
/// has arrived.
const AROUND: &str = "mm_filemap_map_pages";
/// Buffer of each processor in KiB, for the events between two readings.
const BUFFER_KIB: &str = "4096";
const LOOK: Duration = Duration::from_millis(20);
/// A thread whose next event comes later did not wait for its page: it was cached, and stored to.
const WAIT_MOST_NS: u64 = 1_000_000_000;

/// So many faults of a process are of what programs map as they start, such as their locale.
const START_FAULTS: u64 = 64;

/// What is known of faults on mapped files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MappedUse {
    /// Whether the kernel reported faults.
    pub is_watched: bool,
    /// Pages whose place is known. Each counts as a call of its own that reads it.
    pub pages: u64,
    /// Faults on pages in the file cache, whose place is known only to within the range that was
    /// mapped at once.
    pub unplaced: u64,
    /// Those of them after the first 64 of their process, which are of what programs map as they
    /// start.
    pub unplaced_later: u64,
    /// Faults on none of the files that the command mapped by calls: on its program, or on files
    /// whose file system gives them other numbers than the kernel's events do.
    pub unmatched: u64,
    /// Events that did not fit into the kernel's buffers.
    pub lost: u64,
    /// Bytes that processes may have used, after the first 4 MiB of each, which are of what programs
    /// map as they start: the pages that they had at their ends, and all that they unmapped before.
    pub bytes_later: u64,
}

impl MappedUse {
    /// Counts a fault at an unknown place; `own` is the number of those of its process so far.
    pub(super) fn add_unplaced(&mut self, own: &mut u64) {
        *own += 1;
        self.unplaced += 1;
        self.unplaced_later += u64::from(*own > START_FAULTS);
    }

    /// Whether faults on the mapped files were seen, as far as there were any.
    pub fn is_seen(&self) -> bool {
        self.is_watched && (self.pages + self.unplaced > 0 || self.unmatched == 0)
    }
}

/// Device and inode number of a file.
pub(super) type Inode = (u32, u32, u64);

/// A page fault on a mapped file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) thread: i32,
    /// Time on the monotonic clock.
    pub(super) at_ns: u64,
    /// When its page had come from storage; `at_ns` if it did not wait for that.
    pub(super) ended_ns: u64,
    pub(super) file: Inode,
    /// Offset of the page; absent where only a range is known.
    pub(super) offset: Option<u64>,
}

/// The faults of a process and of everything that it starts, as they occur.
pub(super) struct Faults {
    found: Receiver<Fault>,
    done: Arc<AtomicBool>,
    /// Returns the number of lost events; `None` if there were no events at all.
    gatherer: Option<JoinHandle<Option<u64>>>,
}

impl Faults {
    /// Watches thread `tid` and its children. Returns `None` where that is not allowed, where the
    /// kernel has no such events, or where its thread numbers differ from those here, so that the
    /// faults could not be attributed.
    pub(super) fn of(tid: i32) -> Option<Self> {
        if !is_outermost() {
            return None;
        }
        let instance = Instance::new().ok()?;
        let set = |name: &str, value: &str| instance.write(name, value).ok();
        set("trace_clock", "mono")?;
        set("buffer_size_kb", BUFFER_KIB)?;
        set("options/event-fork", "1")?;
        set("set_event_pid", &tid.to_string())?;
        for event in [AROUND, WANTED] {
            set(&format!("events/filemap/{event}/enable"), "1")?;
        }
        let pipe = instance.folder().join("trace_pipe");
        let pipe = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(pipe).ok()?;
        let (to, found) = channel();
        let done = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&done);
        let gathering = move || gather(&instance, pipe, &flag, &to);
        let gatherer = builder().ok()?.spawn(gathering).ok()?;
        Some(Self { found, done, gatherer: Some(gatherer) })
    }

    /// A fault that has arrived meanwhile.
    pub(super) fn next(&self) -> Option<Fault> {
        self.found.try_recv().ok()
    }

    /// Waits for all remaining events, which [`Faults::next`] then returns. Returns the number of
    /// lost events, or `None` if no event was seen at all.
    pub(super) fn end(&mut self) -> Option<u64> {
        self.done.store(true, Ordering::Relaxed);
        self.gatherer.take()?.join().ok()?
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
    }
}

/// Passes on the events of the instance until `done`, and those that are left then.
fn gather(
    instance: &Instance,
    mut pipe: File,
    done: &AtomicBool,
    to: &Sender<Fault>,
) -> Option<u64> {
    let (mut parser, mut lines) = (Parser::default(), Vec::new());
    loop {
        let is_last = done.load(Ordering::Relaxed);
        let mut chunk = [0; 1 << 16];
        while let Ok(count @ 1..) = pipe.read(&mut chunk) {
            lines.extend_from_slice(&chunk[..count]);
            let end = lines.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let whole: Vec<u8> = lines.drain(..end).collect();
            for line in String::from_utf8_lossy(&whole).lines() {
                hand_on(parser.line(line), to);
            }
        }
        hand_on(parser.unwaited(monotonic_ns()), to);
        if is_last {
            hand_on(parser.rest(), to);
            let lost = instance.lost().unwrap_or_default().iter().sum();
            return parser.has_seen.then_some(lost);
        }
        std::thread::sleep(LOOK);
    }
}

/// Passes faults on. Sending fails only after the tracer has failed.
fn hand_on(faults: impl IntoIterator<Item = Fault>, to: &Sender<Fault>) {
    for fault in faults {
        let _ = to.send(fault);
    }
}

/// The last event of a thread.
#[derive(Clone, Debug)]
enum Last {
    /// It needed this page, and may be waiting for storage. It then looks again: it needs the page
    /// once more, or has a range around it mapped.
    Wanted(Fault),
    /// The same of a fault that was handed on already.
    Known(Fault),
    /// It had this range mapped, and has not needed a page in it yet.
    Around(Fault, RangeInclusive<u64>),
}

/// Turns lines of the instance into faults.
#[derive(Debug, Default)]
struct Parser {
    last: HashMap<i32, Last>,
    has_seen: bool,
}

impl Parser {
    /// Takes a line; returns the fault that it completes.
    fn line(&mut self, line: &str) -> Option<Fault> {
        let (fault, range) = parse(line)?;
        self.has_seen = true;
        self.event(fault, range)
    }

    fn event(&mut self, fault: Fault, range: RangeInclusive<u64>) -> Option<Fault> {
        let before = self.last.remove(&fault.thread);
        if let Some(Last::Wanted(known) | Last::Known(known)) = before
            && known.file == fault.file
            && known.offset.is_some_and(|offset| range.contains(&offset))
        {
            if fault.offset.is_some() {
                self.last.insert(fault.thread, Last::Known(known));
            }
            let ended = Fault { ended_ns: fault.at_ns, ..known };
            return matches!(before, Some(Last::Wanted(_))).then_some(ended);
        }
        let is_wanted = fault.offset.is_some();
        let last = if is_wanted { Last::Wanted(fault) } else { Last::Around(fault, range.clone()) };
        self.last.insert(fault.thread, last);
        match before? {
            // The page is needed for which the range was mapped.
            Last::Around(known, around)
                if is_wanted && known.file == fault.file && around.contains(range.start()) =>
            {
                None
            }
            Last::Around(known, _) | Last::Wanted(known) => Some(known),
            Last::Known(_) => None,
        }
    }

    /// The faults whose threads, as of `now_ns`, have gone on without another event.
    fn unwaited(&mut self, now_ns: u64) -> Vec<Fault> {
        let hand_on = |last: &mut Last| match *last {
            Last::Wanted(fault) if fault.at_ns + WAIT_MOST_NS < now_ns => {
                *last = Last::Known(fault);
                Some(fault)
            }
            _ => None,
        };
        self.last.values_mut().filter_map(hand_on).collect()
    }

    /// The faults left at the end, which no later event can change.
    fn rest(&mut self) -> impl Iterator<Item = Fault> {
        self.last.drain().filter_map(|(_, last)| match last {
            Last::Around(fault, _) | Last::Wanted(fault) => Some(fault),
            Last::Known(_) => None,
        })
    }
}

/// Parses `fio-14280 [001] ..... 77117.484292: mm_filemap_fault: dev=254:0 ino=336001 ofs=819200`,
/// or the other event: the fault, and the offsets of the page or of the range.
fn parse(line: &str) -> Option<(Fault, RangeInclusive<u64>)> {
    let (head, event, rest) = [WANTED, AROUND].iter().find_map(|name| {
        let (head, rest) = line.split_once(&format!(": {name}: "))?;
        Some((head, *name, rest))
    })?;
    let mut head = head.rsplit(char::is_whitespace).filter(|word| !word.is_empty());
    let at_ns = nanoseconds(head.next()?)?;
    let thread = head.nth(2)?.rsplit('-').next()?.parse().ok()?;
    let mut words = rest.split_whitespace();
    let (major, minor) = words.next()?.strip_prefix("dev=")?.split_once(':')?;
    let inode = u64::from_str_radix(words.next()?.strip_prefix("ino=")?, 16).ok()?;
    let file = (major.parse().ok()?, minor.parse().ok()?, inode);
    let place = words.next()?.strip_prefix("ofs=")?;
    let fault = |offset| Fault { thread, at_ns, ended_ns: at_ns, file, offset };
    if event == WANTED {
        let offset = place.parse().ok()?;
        return Some((fault(Some(offset)), offset..=offset));
    }
    let (from, to) = place.split_once('-')?;
    Some((fault(None), from.parse().ok()?..=to.parse().ok()?))
}

/// Parses `77117.484292`, in seconds.
fn nanoseconds(text: &str) -> Option<u64> {
    let (seconds, micros) = text.split_once('.')?;
    let (seconds, micros): (u64, u64) = (seconds.parse().ok()?, micros.parse().ok()?);
    Some(seconds * 1_000_000_000 + micros * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(events: &[&str]) -> Vec<(i32, u64, Option<u64>)> {
        let mut parser = Parser::default();
        let lines = events.iter().map(|event| {
            let (thread, rest) = event.split_once(' ').expect("a thread");
            format!("  a - b [x]-{thread}   [001] ..... 77117.484292: {rest}")
        });
        let mut found: Vec<Fault> = lines.filter_map(|line| parser.line(&line)).collect();
        found.extend(parser.rest());
        found.iter().map(|fault| (fault.thread, fault.file.2, fault.offset)).collect()
    }

    #[test]
    fn a_page_that_is_read_is_one_fault_with_what_is_mapped_around_it() {
        let events = [
            "7 mm_filemap_map_pages: dev=254:0 ino=a1 ofs=0-65535",
            "7 mm_filemap_fault: dev=254:0 ino=a1 ofs=4096",
            "8 mm_filemap_map_pages: dev=254:0 ino=a1 ofs=0-65535",
            "7 mm_filemap_map_pages: dev=254:0 ino=a1 ofs=0-65535",
            "7 mm_filemap_map_pages: dev=254:0 ino=a2 ofs=0-65535",
            "7 mm_filemap_fault: dev=254:0 ino=a2 ofs=65536",
            "7 mm_filemap_fault: dev=254:0 ino=a2 ofs=65536",
            "# a comment",
        ];
        let known =
            [(7, 0xa1, Some(4096)), (7, 0xa2, None), (7, 0xa2, Some(65536)), (8, 0xa1, None)];
        assert_eq!(faults(&events), known, "of what is only mapped the place is not known");
    }

    /// Guards against a script of 200 copies that was said to be seen only in part: each `cp` has 15
    /// faults on its locale.
    #[test]
    fn what_each_program_maps_as_it_starts_is_no_unknown_part() {
        let mut seen = MappedUse::default();
        let mut process = |faults: u64| {
            let mut own = 0;
            (0..faults).for_each(|_| seen.add_unplaced(&mut own));
        };
        (0..200).for_each(|_| process(15));
        process(START_FAULTS + 7);
        assert_eq!((seen.unplaced, seen.unplaced_later), (3071, 7));
    }

    /// Guards against a wait for storage that counted as computing.
    #[test]
    fn a_fault_lasts_until_its_thread_has_the_page_unless_it_went_on_without_an_event() {
        let mut parser = Parser::default();
        let event =
            |seconds: &str, what: &str| format!("a-7 [0] .. {seconds}000: mm_filemap_{what}");
        let [needed, other] = [4096, 1 << 20].map(|at| format!("fault: dev=1:0 ino=a ofs={at}"));
        let around = "map_pages: dev=1:0 ino=a ofs=0-65535".to_owned();
        let lines =
            [("1.000", &needed), ("1.005", &around), ("2.000", &needed), ("2.007", &needed)];
        let later = [("2.008", &around), ("3.000", &needed), ("3.010", &other)];
        let lines = lines.into_iter().chain(later).map(|(seconds, what)| event(seconds, what));
        let mut found: Vec<Fault> = lines.filter_map(|line| parser.line(&line)).collect();
        assert!(parser.unwaited(3_500_000_000).is_empty());
        found.extend(parser.unwaited(4_100_000_000));
        let took_ms: Vec<u64> =
            found.iter().map(|one| (one.ended_ns - one.at_ns) / 1_000_000).collect();
        assert_eq!(took_ms, [5, 7, 0, 0]);
        assert_eq!(
            parser.line(&event("5.000", &around.replace("0-65535", "1048576-1114111"))),
            None
        );
        assert_eq!(parser.rest().count(), 0);
    }

    #[test]
    fn mapped_files_are_unseen_where_no_fault_is() {
        let of = |is_watched, pages, unmatched| {
            MappedUse { is_watched, pages, unmatched, ..MappedUse::default() }.is_seen()
        };
        assert!(!of(false, 0, 0) && !of(true, 0, 9) && of(true, 1, 9) && of(true, 0, 0));
    }

    #[test]
    fn the_time_is_read() {
        let line = "sh-7 [000] d..1. 12.000034: mm_filemap_fault: dev=254:16 ino=ff ofs=8192";
        let (at_ns, file, offset) = (12_000_034_000, (254, 16, 255), Some(8192));
        let fault = Fault { thread: 7, at_ns, ended_ns: at_ns, file, offset };
        assert_eq!(parse(line), Some((fault, 8192..=8192)));
        assert_eq!(parse("sh-7 [000] d..1. 12.000034: other: dev=254:16"), None);
    }
}
