//! Requests that a call submits and that complete later: those of `io_submit(2)` and of
//! `io_uring(7)` rings.
//!
//! They are read from the program's memory while it is stopped at the call. Completions are read at
//! its later calls: one that the program finds by itself in the ring's memory is seen at its next
//! call. Rows come in the order of submission.

use super::aio::{self, Asked, Control};
use super::asynchronous::Asynchronous;
use super::files::{self, DIRECTORY, Target};
use super::in_flight::{InFlight, Submitted};
use super::memory::read;
use super::numbers::Call;
use super::registrations::{SKIP, registered};
use super::requests::{
    APPEND, Caller, Ledger, Pending, SYNCHRONOUS, advance, moved_of, sync_of_no_file,
};
use super::ring::{Fixed, Ring};
use ioscape_schema::{FileCall, Op};

/// `IORING_REGISTER_RING_FDS` of `io_uring_register(2)`.
const REGISTER_RINGS: u64 = 20;

impl Ledger<'_> {
    /// At the entry of a call, reads the requests in memory that it submits, if any.
    pub(super) fn about_to_submit(&mut self, caller: &Caller<'_>, pending: &Pending) {
        let (tid, arguments) = (caller.tid, &pending.arguments);
        let (ring, controls) = match pending.call {
            Call::Submit => (-1, aio::submitted(tid, arguments[1], arguments[2])),
            Call::RingEnter => {
                let ring = caller.descriptors.borrow().asynchronous.ring_of(tid, arguments);
                (ring, self.about_to_enter(caller, ring, arguments[1]))
            }
            _ => return,
        };
        let mut all = Vec::new();
        for one in &controls {
            let next = self.submission(caller, ring, one, &all);
            all.push(next);
        }
        caller.descriptors.borrow_mut().asynchronous.submitting.insert(tid, all);
    }

    /// The requests in a ring that a call is about to take, at most `count`.
    fn about_to_enter(&mut self, caller: &Caller<'_>, ring: i32, count: u64) -> Vec<Control> {
        let mut descriptors = caller.descriptors.borrow_mut();
        let Some((ring, _)) = descriptors.asynchronous.rings.get_mut(&ring) else {
            self.unseen_calls += u64::from(count > 0);
            return Vec::new();
        };
        ring.submitted(caller.tid, count).unwrap_or_else(|| {
            self.unseen_calls += 1;
            Vec::new()
        })
    }

    /// A request that is taken after those before it; `ring` is the ring that holds it, if any.
    fn submission(
        &mut self,
        caller: &Caller<'_>,
        ring: i32,
        one: &Control,
        before: &[Submitted],
    ) -> Submitted {
        let key = one.key;
        let op = match one.asked {
            Asked::Read => Op::Read,
            Asked::Write | Asked::Sync | Asked::WriteBack => Op::Write,
            Asked::Open | Asked::Close => {
                about_to_change(caller, ring, one);
                return Submitted { key, moved: None };
            }
            Asked::Other => return Submitted { key, moved: None },
        };
        let Some((description, fd)) = self.file_of(caller, ring, one) else {
            self.unseen_calls += 1;
            return Submitted { key, moved: None };
        };
        let target = description.borrow().target;
        if target == DIRECTORY && one.asked == Asked::Sync {
            return Submitted { key, moved: Some(sync_of_no_file()) };
        }
        if let Target::Elsewhere(what) = target {
            *self.elsewhere.entry(what).or_default() += 1;
        }
        let (tid, flags) = (caller.tid, u64::from(one.flags));
        let mut moved = moved_of(&description, op, one.len, |description| {
            let appends = op == Op::Write && (description.appends || flags & APPEND != 0);
            match (one.asked, one.offset) {
                (Asked::Sync | Asked::WriteBack, _) => 0,
                (_, place) if appends => end_of(caller, target, fd, before).unwrap_or(place),
                (_, u64::MAX) => advance(description, tid, fd, one.len, false),
                (_, place) => place,
            }
        });
        if let Some(moved) = &mut moved {
            moved.is_synchronous |= flags & SYNCHRONOUS != 0;
            moved.is_write_back = one.asked == Asked::WriteBack;
        }
        Submitted { key, moved }
    }

    /// The file of a request, with a descriptor of it, -1 if there is none any more. `None` if a
    /// ring's table of files holds it, and its registration was not seen.
    fn file_of(&mut self, caller: &Caller<'_>, ring: i32, one: &Control) -> Option<Fixed> {
        if !one.is_fixed_file {
            return Some((self.description(caller, one.fd), one.fd));
        }
        let descriptors = caller.descriptors.borrow();
        let (ring, _) = descriptors.asynchronous.rings.get(&ring)?;
        let at = usize::try_from(one.fd).ok()?;
        let (description, fd) = ring.files.get(at)?.clone()?;
        let fd = if descriptors.are_of(fd, &description) { fd } else { -1 };
        Some((description, fd))
    }

    /// At the exit of such a call, notes that thread number `process` submitted the first `value`
    /// requests.
    pub(super) fn submitted(
        &mut self,
        caller: &Caller<'_>,
        pending: &Pending,
        value: i64,
        process: u32,
    ) {
        let mut descriptors = caller.descriptors.borrow_mut();
        let own = &mut descriptors.asynchronous;
        let all = own.submitting.remove(&caller.tid).unwrap_or_default();
        let fd = own.ring_of(caller.tid, &pending.arguments);
        let queue = match pending.call {
            Call::Submit => Some(&mut own.aio),
            _ => own.rings.get_mut(&fd).map(|(_, queue)| queue),
        };
        let Some(queue) = queue else { return };
        for one in all.into_iter().take(usize::try_from(value).unwrap_or(0)) {
            if let Some(moved) = one.moved {
                queue.submit(one.key, FileCall { process, issued_ns: pending.issued_ns, ..moved });
            }
        }
    }

    /// At the exit of a call that may have left completions, or a ring, in memory.
    pub(super) fn left(&mut self, caller: &Caller<'_>, pending: &Pending, value: i64, now_ns: u64) {
        match pending.call {
            Call::Submit | Call::Completions | Call::RingEnter => {
                self.completed(caller, pending, value, now_ns);
            }
            _ => {
                if let Ok(value) = u64::try_from(value) {
                    self.prepare_ring(caller, pending, value);
                }
            }
        }
    }

    fn completed(&mut self, caller: &Caller<'_>, pending: &Pending, value: i64, now_ns: u64) {
        let mut descriptors = caller.descriptors.borrow_mut();
        let own = &mut descriptors.asynchronous;
        let tid = caller.tid;
        let fd = own.ring_of(tid, &pending.arguments);
        let (found, queue) = match pending.call {
            Call::Completions => {
                let count = u64::try_from(value).unwrap_or(0);
                (aio::completed(tid, count, pending.arguments[3]), &mut own.aio)
            }
            Call::Submit => (Vec::new(), &mut own.aio),
            _ => {
                let Some((ring, queue)) = own.rings.get_mut(&fd) else { return };
                (ring.completed(tid).unwrap_or_default(), queue)
            }
        };
        let is_ring = pending.call == Call::RingEnter;
        let mut opened = Vec::new();
        for (key, value) in found {
            queue.complete(key, Some(value), now_ns);
            if is_ring && own.opening.remove(&(fd, key)) {
                opened.extend(i32::try_from(value).ok());
            }
        }
        while let Some(row) = queue.next() {
            self.sink.call(&row);
        }
        for fd in opened {
            descriptors.remove(fd);
        }
    }

    /// Notes that a ring was created, that part of it was mapped, or that files were registered
    /// with it.
    fn prepare_ring(&mut self, caller: &Caller<'_>, pending: &Pending, value: u64) {
        let (tid, arguments) = (caller.tid, pending.arguments);
        let mut descriptors = caller.descriptors.borrow_mut();
        let own = &mut descriptors.asynchronous;
        match pending.call {
            Call::RingSetup => {
                match Ring::of(tid, arguments[1]) {
                    Some(ring) => drop(own.rings.insert(value as i32, (ring, InFlight::default()))),
                    None => self.unseen_calls += 1,
                }
                descriptors.remove(value as i32);
            }
            Call::Map => {
                if let Some((ring, _)) = own.rings.get_mut(&(arguments[4] as i32)) {
                    ring.map(arguments[5], value);
                }
            }
            _ if own.registration(tid, &arguments).1 == REGISTER_RINGS => {
                for at in (0..arguments[3].min(64)).map(|one| arguments[2] + 16 * one) {
                    let Some(one) = read(tid, at, 16) else { return };
                    if let (Some(number), Some(ring)) = (one.word32(0), one.word64(8)) {
                        own.registered.insert((tid, u64::from(number)), ring as i32);
                    }
                }
            }
            _ => {
                drop(descriptors);
                self.register_files(caller, &arguments, value);
            }
        }
    }

    /// Notes that files were registered with a ring.
    fn register_files(&mut self, caller: &Caller<'_>, arguments: &[u64; 6], value: u64) {
        let tid = caller.tid;
        let mut descriptors = caller.descriptors.borrow_mut();
        let (fd, command) = descriptors.asynchronous.registration(tid, arguments);
        let Some(found) = registered(tid, command, arguments, value) else { return };
        let file = |fd: i32| match fd {
            SKIP => None,
            ..0 => Some(None),
            fd => Some(Some((descriptors.get(&mut self.files, tid, fd), fd))),
        };
        let files: Vec<_> = found.descriptors.into_iter().map(file).collect();
        let Some((ring, _)) = descriptors.asynchronous.rings.get_mut(&fd) else { return };
        if found.is_new {
            ring.files.clear();
        }
        ring.register(found.first, files);
    }

    /// Notes that the process with these descriptors is gone: its requests in flight are done.
    pub(super) fn end(&mut self, own: &mut Asynchronous, now_ns: u64) {
        let rings = own.rings.values_mut().map(|(_, queue)| queue);
        for queue in rings.chain([&mut own.aio]) {
            queue.end(now_ns);
            while let Some(row) = queue.next() {
                self.sink.call(&row);
            }
        }
    }
}

/// Notes that a request of a ring is about to close a descriptor, or to open a file under a number
/// that will be known when it has completed.
fn about_to_change(caller: &Caller<'_>, ring: i32, one: &Control) {
    let mut descriptors = caller.descriptors.borrow_mut();
    let own = &mut descriptors.asynchronous;
    match (one.asked, one.is_fixed_file) {
        (_, true) => {
            if let Some((ring, _)) = own.rings.get_mut(&ring) {
                ring.forget(one.fd);
            }
        }
        (Asked::Open, false) => {
            own.opening.insert((ring, one.key));
        }
        (_, false) => descriptors.remove(one.fd),
    }
}

/// Where the end of a file will be once everything submitted is written. For appends, the kernel
/// reports only the present end.
fn end_of(caller: &Caller<'_>, target: Target, fd: i32, before: &[Submitted]) -> Option<u64> {
    let (Target::File(file), end) = (target, files::size(caller.tid, fd)?) else { return None };
    let descriptors = caller.descriptors.borrow();
    let in_flight = descriptors.asynchronous.writes_until(caller.tid, file);
    before.iter().map(|one| one.writes_until(file)).chain([in_flight, end]).max()
}
