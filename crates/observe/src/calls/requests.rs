//! Turns calls into requests: which file and which bytes, from the arguments at entry and the value
//! at exit.

use super::description::{Description, Shared};
use super::descriptors::Descriptors;
use super::files::{self, DIRECTORY, Files, Target, UNIDENTIFIED};
use super::losses::deleted;
use super::memory::read;
use super::numbers::{Call, WAITS};
use super::schedule::Turns;
use super::sink::CallSink;
use ioscape_schema::{Characterization, FileCall, FileKind, Op, Request};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A call between its entry and its exit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) call: Call,
    pub(super) arguments: [u64; 6],
    pub(super) issued_ns: u64,
    /// The schedule of its thread up to the beginning of the call.
    pub(super) before: Turns,
    /// The number of the file that loses its last name if the call succeeds.
    pub(super) deletes: Option<u32>,
}

/// How long a thread was held up, for lack of a processor or by the tracer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// Between the thread's previous request and this one.
    pub(super) before_ns: u64,
    /// During this request.
    pub(super) within_ns: u64,
}

/// The thread that makes a call.
pub(super) struct Caller<'a> {
    pub(super) tid: i32,
    pub(super) descriptors: &'a Shared<Descriptors>,
}

impl Caller<'_> {
    fn is_ring(&self, fd: i32) -> bool {
        self.descriptors.borrow().asynchronous.is_ring(fd)
    }
}

/// What a call moved, perhaps of two files; by whom and when is filled in later.
pub(super) type Pair = [Option<FileCall>; 2];

/// `RWF_DSYNC` and `RWF_SYNC` of `preadv2(2)`.
pub(super) const SYNCHRONOUS: u64 = 0x2 | 0x4;
/// `RWF_APPEND`.
pub(super) const APPEND: u64 = 0x10;

/// Ends of the paths of data files that belong to programs: glibc's locales, and Java's classes.
/// To read a little, programs map all of them: 200 MB on some systems.
const PROGRAMS: [&str; 3] = ["/locale-archive", "/lib/modules", ".jsa"];

/// The requests and state that calls add up to.
pub(super) struct Ledger<'a> {
    pub(super) files: Files,
    pub(super) elsewhere: BTreeMap<&'static str, u64>,
    pub(super) unseen_calls: u64,
    /// The counted file that the last call mapped, if it is no program as far as is known.
    pub(super) mapped: Option<u32>,
    pub(super) sink: &'a mut dyn CallSink,
}

impl<'a> Ledger<'a> {
    /// Returns a ledger in which nothing is counted yet.
    pub(super) fn new(files: Files, sink: &'a mut dyn CallSink) -> Self {
        Self { files, elsewhere: BTreeMap::new(), unseen_calls: 0, mapped: None, sink }
    }
}

impl Ledger<'_> {
    /// Handles the entry of a call: what takes effect at once, and what to expect at its exit.
    pub(super) fn enter(
        &mut self,
        caller: &Caller<'_>,
        call: Call,
        arguments: [u64; 6],
        issued_ns: u64,
    ) -> Option<Pending> {
        let fd = arguments[0] as i32;
        let (before, deletes) =
            (Turns::default(), deleted(&self.files, caller.tid, call, &arguments));
        let pending = Some(Pending { call, arguments, issued_ns, before, deletes });
        match call {
            Call::Close => caller.descriptors.borrow_mut().remove(fd),
            Call::CloseRange => {
                let (first, last) = (arguments[0] as u32, arguments[1] as u32);
                caller.descriptors.borrow_mut().remove_range(first, last);
            }
            Call::Map if caller.is_ring(arguments[4] as i32) => return pending,
            Call::Map => self.map(caller, &arguments),
            Call::Open
            | Call::Submit
            | Call::Completions
            | Call::RingEnter
            | Call::RingSetup
            | Call::RingRegister
            | Call::Duplicate
            | Call::DuplicateTo
            | Call::Control
            | Call::Seek
            | Call::Advise
            | Call::SyncAll
            | Call::Unshare => return pending,
            Call::SyncMapping => {
                return pending.filter(|_| arguments[2] & libc::MS_SYNC as u64 != 0);
            }
            Call::SyncRange if arguments[3] & WAITS == 0 => {
                let target = self.description(caller, fd).borrow().target;
                if let Target::File(file) = target {
                    self.sink.write_back_begun(Some(file), issued_ns);
                }
            }
            Call::Unlink | Call::UnlinkAt | Call::Rename | Call::RenameAt | Call::RenameAt2 => {
                return pending.filter(|pending| pending.deletes.is_some());
            }
            Call::SendFile | Call::CopyRange | Call::Splice => {
                let other = arguments[if call == Call::SendFile { 1 } else { 2 }] as i32;
                let (one, other) = (self.counts(caller, fd), self.counts(caller, other));
                return pending.filter(|_| one || other);
            }
            _ => {
                let target = self.description(caller, fd).borrow().target;
                return match target {
                    Target::File(_) | UNIDENTIFIED => pending,
                    DIRECTORY if call == Call::Sync => {
                        pending.map(|pending| Pending { call: Call::SyncDirectory, ..pending })
                    }
                    Target::Elsewhere(what) => {
                        *self.elsewhere.entry(what).or_default() += 1;
                        None
                    }
                };
            }
        }
        None
    }

    /// Handles the exit of a call: the value says what was really done. Returns what was moved, to
    /// be posted.
    pub(super) fn leave(&mut self, caller: &Caller<'_>, pending: &Pending, value: i64) -> Pair {
        let fd = pending.arguments[0] as i32;
        let Ok(value) = u64::try_from(value) else { return [None, None] };
        match pending.call {
            Call::Open => self.open(caller, value as i32),
            Call::Truncate => self.cut(caller, fd, pending.arguments[1]),
            // The tracer separates the descriptors, and knows whether any process has the file
            // open.
            Call::Unshare
            | Call::Unlink
            | Call::UnlinkAt
            | Call::Rename
            | Call::RenameAt
            | Call::RenameAt2 => {}
            Call::Duplicate | Call::DuplicateTo => self.duplicate(caller, fd, value as i32),
            Call::Control => caller.descriptors.borrow_mut().refresh_flags(caller.tid, fd),
            Call::Seek => self.description(caller, fd).borrow_mut().position = value,
            Call::Advise => self.advise(caller, pending),
            Call::SendFile | Call::Splice => return self.copy(caller, pending, value),
            Call::CopyRange => {
                let copied = self.copy(caller, pending, value);
                let (other, untold) = (&mut self.elsewhere, &mut self.files.untold_copied);
                return super::clones::moved(caller.tid, &pending.arguments, copied, other, untold);
            }
            Call::SyncAll => {
                // `syncfs` writes one file system, but commands rarely write to two.
                self.sink.write_back_begun(None, pending.issued_ns);
                return [Some(sync_of_no_file()), None];
            }
            Call::SyncMapping | Call::SyncDirectory => return [Some(sync_of_no_file()), None],
            _ => return [self.transfer(caller, pending, value), None],
        }
        [None, None]
    }

    /// Passes on the rows of process number `process`. Two rows of one call share its time equally.
    pub(super) fn post(
        &mut self,
        process: u32,
        pending: &Pending,
        (completed_ns, held): (u64, Held),
        moved: Pair,
    ) {
        let rows = moved.iter().flatten().count().max(1) as u64;
        let each_ns = (completed_ns - pending.issued_ns) / rows;
        let (mut from_ns, mut held_before_ns) = (pending.issued_ns, held.before_ns);
        for one in moved.into_iter().flatten() {
            self.sink.call(&FileCall {
                process,
                issued_ns: from_ns,
                completed_ns: from_ns + each_ns,
                held_before_ns,
                held_within_ns: held.within_ns / rows,
                ..one
            });
            (from_ns, held_before_ns) = (from_ns + each_ns, 0);
        }
    }

    /// Handles a fault on a page of a mapped file; whether it is a read or a write is unknown.
    pub(super) fn fault(
        &mut self,
        (process, file): (u32, u32),
        offset: u64,
        [issued_ns, completed_ns]: [u64; 2],
    ) {
        let len = rustix::param::page_size() as u32;
        self.sink.call(&FileCall {
            process,
            file,
            request: Request { op: Op::Read, offset, len },
            issued_ns,
            completed_ns,
            ..FileCall::default()
        });
    }

    pub(super) fn description(&mut self, caller: &Caller<'_>, fd: i32) -> Shared<Description> {
        caller.descriptors.borrow_mut().get(&mut self.files, caller.tid, fd)
    }

    fn counts(&mut self, caller: &Caller<'_>, fd: i32) -> bool {
        matches!(self.description(caller, fd).borrow().target, Target::File(_) | UNIDENTIFIED)
    }

    /// The description behind `fd` after a call that succeeded, which is counted here if its file
    /// cannot be identified.
    fn used(&mut self, caller: &Caller<'_>, fd: i32) -> Shared<Description> {
        let description = self.description(caller, fd);
        if description.borrow().target == UNIDENTIFIED {
            *self.elsewhere.entry(Characterization::UNIDENTIFIED).or_default() += 1;
        }
        description
    }

    fn map(&mut self, caller: &Caller<'_>, arguments: &[u64; 6]) {
        let [_, length, protection, flags, fd, _] = *arguments;
        if (fd as i32) < 0 {
            return;
        }
        // The dynamic linker first maps a library whole, denying writes to it.
        let is_code =
            protection & libc::PROT_EXEC as u64 != 0 || flags & libc::MAP_DENYWRITE as u64 != 0;
        let target = self.description(caller, fd as i32).borrow().target;
        if let Target::File(number) = target
            && let Some(file) = self.files.file(number)
        {
            file.is_code |= is_code || PROGRAMS.iter().any(|end| file.path.ends_with(end));
            let mapped_bytes = file.mapped_bytes.saturating_add(length);
            file.mapped_bytes = if file.is_code { 0 } else { mapped_bytes };
            self.mapped = (!file.is_code).then_some(number);
        }
        // A mapping of a device has no pages of a file, and files in memory remain memory of the
        // process.
        let is_device = target == Target::Elsewhere("character device");
        let link = format!("/proc/{}/fd/{}", caller.tid, fd as i32);
        let is_cached = !is_code && !is_device && !files::is_in_memory(link);
        self.files.mappings += u64::from(is_cached);
    }

    fn open(&mut self, caller: &Caller<'_>, fd: i32) {
        caller.descriptors.borrow_mut().remove(fd);
        let target = self.description(caller, fd).borrow().target;
        if let Target::File(number) = target
            && let Some(file) = self.files.file(number)
        {
            file.opens += 1;
            // New files are empty too.
            let is_one = file.kind != FileKind::Others;
            if is_one && file.opens > 1 && files::size(caller.tid, fd) == Some(0) {
                self.sink.given_up(number, 0);
            }
        }
    }

    /// After `ftruncate`: the file behind `fd` ends at byte `len`.
    fn cut(&mut self, caller: &Caller<'_>, fd: i32, len: u64) {
        let target = self.description(caller, fd).borrow().target;
        if let Target::File(file) = target {
            self.sink.given_up(file, len);
        }
    }

    /// After `posix_fadvise`.
    fn advise(&mut self, caller: &Caller<'_>, pending: &Pending) {
        let [fd, from, len, advice, ..] = pending.arguments;
        let (fd, advice) = (fd as i32, advice as i32);
        let description = self.description(caller, fd);
        description.borrow_mut().take_advice(advice);
        let target = description.borrow().target;
        if let (Target::File(file), libc::POSIX_FADV_DONTNEED) = (target, advice) {
            let to = from.saturating_add(len);
            // The last page of a file counts as whole.
            let size = files::size(caller.tid, fd).filter(|size| len == 0 || to >= *size);
            let page = rustix::param::page_size() as u64;
            self.sink.dropped(file, from..size.map_or(to, |size| size.next_multiple_of(page)));
            self.sink.write_back_begun(Some(file), pending.issued_ns);
        }
    }

    fn duplicate(&mut self, caller: &Caller<'_>, original: i32, copy: i32) {
        let description = self.description(caller, original);
        caller.descriptors.borrow_mut().set(copy, description);
    }

    /// Handles ordinary reads and writes, and syncs, which move nothing.
    fn transfer(&mut self, caller: &Caller<'_>, pending: &Pending, value: u64) -> Option<FileCall> {
        let fd = pending.arguments[0] as i32;
        let op = match pending.call {
            Call::Read | Call::ReadAt | Call::ReadAtOrOn => Op::Read,
            _ => Op::Write,
        };
        if matches!(pending.call, Call::Sync | Call::SyncRange) {
            let is_write_back = pending.call == Call::SyncRange;
            let sync = moved_of(&self.used(caller, fd), op, 0, |_| 0)?;
            return Some(FileCall { is_write_back, ..sync });
        }
        if value == 0 {
            return None;
        }
        let place = pending.arguments[3];
        let has_place = match pending.call {
            Call::ReadAt | Call::WriteAt => true,
            Call::ReadAtOrOn | Call::WriteAtOrOn => place != u64::MAX,
            _ => false,
        };
        let flags = if pending.call == Call::WriteAtOrOn { pending.arguments[5] } else { 0 };
        let tid = caller.tid;
        let mut moved = moved_of(&self.used(caller, fd), op, value, |description| {
            let appends = op == Op::Write && (description.appends || flags & APPEND != 0);
            match (has_place, appends) {
                // Linux appends here too, whatever offset the call gives.
                (true, true) => files::size(tid, fd).map_or(place, |end| end.saturating_sub(value)),
                (true, false) => place,
                (false, appends) => advance(description, tid, fd, value, appends),
            }
        })?;
        moved.is_synchronous |= flags & SYNCHRONOUS != 0;
        Some(moved)
    }

    /// Handles the calls that copy from one descriptor to another.
    fn copy(&mut self, caller: &Caller<'_>, pending: &Pending, value: u64) -> Pair {
        if value == 0 {
            return [None, None];
        }
        let (from, to) = match (pending.call, pending.arguments) {
            (Call::SendFile, [to, from, place, ..]) => ((from, place), (to, 0)),
            (_, [from, from_place, to, to_place, ..]) => ((from, from_place), (to, to_place)),
        };
        [self.side(caller, from, Op::Read, value), self.side(caller, to, Op::Write, value)]
    }

    /// Handles one side of such a call. `pointer` is the address of its offset, 0 if it has none.
    fn side(
        &mut self,
        caller: &Caller<'_>,
        (fd, pointer): (u64, u64),
        op: Op,
        value: u64,
    ) -> Option<FileCall> {
        let (fd, tid) = (fd as i32, caller.tid);
        let given = (pointer != 0).then(|| read(tid, pointer, 8)?.word64(0)).flatten();
        moved_of(&self.used(caller, fd), op, value, |description| match given {
            // The kernel has already advanced it.
            Some(end) => end.saturating_sub(value),
            None => {
                let appends = op == Op::Write && description.appends;
                advance(description, tid, fd, value, appends)
            }
        })
    }
}

/// The bytes of a file that begin where `place` says, if the file counts.
pub(super) fn moved_of(
    description: &Shared<Description>,
    op: Op,
    len: u64,
    place: impl FnOnce(&mut Description) -> u64,
) -> Option<FileCall> {
    let mut description = description.borrow_mut();
    let Target::File(file) = description.target else { return None };
    let offset = place(&mut description);
    Some(FileCall {
        file,
        description: Some(description.number),
        request: Request { op, offset, len: u32::try_from(len).unwrap_or(u32::MAX) },
        is_synchronous: description.is_synchronous,
        is_direct: description.is_direct,
        advice: description.advice,
        ..FileCall::default()
    })
}

/// A wait for dirty pages of files that an address, a directory or a file system does not tell.
pub(super) fn sync_of_no_file() -> FileCall {
    let request = Request { op: Op::Write, ..Request::default() };
    FileCall { file: FileCall::NO_FILE, request, ..FileCall::default() }
}

/// Advances the position by `len` bytes and returns where they began.
pub(super) fn advance(
    description: &mut Description,
    tid: i32,
    fd: i32,
    len: u64,
    appends: bool,
) -> u64 {
    // The former end of the file is known only afterwards.
    let end = appends.then(|| files::position_and_flags(tid, fd)).flatten();
    let begin = end.map_or(description.position, |(end, _)| end.saturating_sub(len));
    description.position = begin.saturating_add(len);
    begin
}

/// The same descriptors for a new owner, independent from now on.
pub(super) fn parted(descriptors: &Shared<Descriptors>) -> Shared<Descriptors> {
    Rc::new(std::cell::RefCell::new(descriptors.borrow().clone()))
}

impl Pending {
    /// Whether the call submits requests, waits for them or prepares for that: its effects are in
    /// memory, not only in its value.
    pub(super) fn is_asynchronous(&self) -> bool {
        use Call::{Completions, Map, RingEnter, RingRegister, RingSetup, Submit};
        matches!(self.call, Submit | Completions | RingEnter | RingSetup | RingRegister | Map)
    }

    /// Whether the caller's descriptors are its own after this call.
    pub(super) fn parts_descriptors(&self) -> bool {
        self.call == Call::Unshare && self.arguments[0] & libc::CLONE_FILES as u64 != 0
    }
}

#[cfg(test)]
#[path = "requests_tests.rs"]
mod tests;
