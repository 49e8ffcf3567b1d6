//! Requests that a call submits and that complete later: those of `io_submit(2)` and of rings of `io_uring(7)`.
//!
//! They are read from the program's memory while it stands at the call, and their completions at its later calls: one that
//! the program finds by itself in the ring's memory is seen at its next call. Rows come in the order of submission.

use super::aio::{self, Asked, Control};
use super::asynchronous::Asynchronous;
use super::files::{self, Target};
use super::in_flight::{InFlight, Submitted};
use super::memory::read;
use super::numbers::Call;
use super::requests::{Caller, Ledger, Pending, advance};
use super::ring::Ring;
use ioscape_schema::Op;

/// `RWF_DSYNC` and `RWF_SYNC` of `preadv2(2)`.
const SYNCHRONOUS: u32 = 0x2 | 0x4;

/// Commands of `io_uring_register(2)`.
const REGISTER_FILES: u64 = 2;
const UPDATE_FILES: u64 = 6;
const REGISTER_RINGS: u64 = 20;

impl Ledger<'_> {
    /// At the entry of a call: what stands in memory to be taken, if it submits anything.
    pub(super) fn about_to_submit(&mut self, caller: &Caller<'_>, pending: &Pending) {
        let (tid, arguments) = (caller.tid, &pending.arguments);
        let controls = match pending.call {
            Call::Submit => aio::submitted(tid, arguments[1], arguments[2]),
            Call::RingEnter => self.about_to_enter(caller, arguments),
            _ => return,
        };
        let all = controls.iter().map(|one| self.submission(caller, one)).collect();
        caller.descriptors.borrow_mut().asynchronous.submitting.insert(tid, all);
    }

    /// What stands in a ring to be taken.
    fn about_to_enter(&mut self, caller: &Caller<'_>, arguments: &[u64; 6]) -> Vec<Control> {
        let descriptors = caller.descriptors.borrow();
        let own = &descriptors.asynchronous;
        let Some((ring, _)) = own.rings.get(&own.ring_of(caller.tid, arguments)) else {
            return Vec::new();
        };
        let Some(found) = ring.submitted(caller.tid, arguments[1]) else {
            self.unseen_calls += 1;
            return Vec::new();
        };
        let by_number = |number: i32| ring.files.get(number as usize).copied();
        let fixed = |one: Control| match one.is_fixed_file {
            true => Control { fd: by_number(one.fd).unwrap_or(-1), ..one },
            false => one,
        };
        found.into_iter().map(fixed).collect()
    }

    fn submission(&mut self, caller: &Caller<'_>, one: &Control) -> Submitted {
        let op = match one.asked {
            Asked::Read => Op::Read,
            Asked::Write | Asked::Sync => Op::Write,
            Asked::Other => return Submitted { key: one.key, moved: None },
        };
        let target = self.description(caller, one.fd).borrow().target;
        if let Target::Elsewhere(what) = target {
            *self.elsewhere.entry(what).or_default() += 1;
        }
        let (tid, fd) = (caller.tid, one.fd);
        let mut moved = self.moved(caller, fd, op, one.len, |description| {
            let appends = op == Op::Write && description.appends;
            match (one.asked, one.offset) {
                (Asked::Sync, _) => 0,
                (_, place) if appends => files::size(tid, fd).unwrap_or(place),
                (_, u64::MAX) => advance(description, tid, fd, one.len, false),
                (_, place) => place,
            }
        });
        if let Some(moved) = &mut moved {
            moved.is_synchronous |= one.flags & SYNCHRONOUS != 0;
        }
        Submitted { key: one.key, moved }
    }

    /// At the exit of such a call: the first `value` requests were taken, by thread number `process`.
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
                queue.submit(one.key, moved, process, pending.issued_ns);
            }
        }
    }

    /// At the exit of a call of which completions, or a ring, may stand in memory.
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
        for (key, value) in found {
            queue.complete(key, Some(value), now_ns);
        }
        while let Some(row) = queue.next() {
            self.sink.call(&row);
        }
    }

    /// A ring was made, or a part of it mapped, or files registered with it.
    fn prepare_ring(&mut self, caller: &Caller<'_>, pending: &Pending, value: u64) {
        let arguments = pending.arguments;
        let (tid, fd) = (caller.tid, arguments[0] as i32);
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
            _ if arguments[1] == REGISTER_RINGS => {
                for at in (0..arguments[3].min(64)).map(|one| arguments[2] + 16 * one) {
                    let Some(one) = read(tid, at, 16) else { return };
                    if let (Some(number), Some(ring)) = (one.word32(0), one.word64(8)) {
                        own.registered.insert((tid, u64::from(number)), ring as i32);
                    }
                }
            }
            _ => {
                if let Some((ring, _)) = own.rings.get_mut(&fd) {
                    register_files(tid, ring, &arguments);
                }
            }
        }
    }

    /// The process of these descriptors is gone: what it had in flight is done.
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

/// `io_uring_register(_, command, list, count)` of files.
fn register_files(tid: i32, ring: &mut Ring, [_, command, list, count, ..]: &[u64; 6]) {
    let count = (*count).min(1 << 16) as usize;
    let (first, list) = match *command {
        REGISTER_FILES => (0, Some(*list)),
        UPDATE_FILES => match read(tid, *list, 16) {
            Some(update) => (update.word32(0).unwrap_or(0) as usize, update.word64(8)),
            None => return,
        },
        _ => return,
    };
    let Some(numbers) = list.and_then(|list| read(tid, list, 4 * count)) else { return };
    ring.files.resize(ring.files.len().max(first.saturating_add(count)).min(1 << 20), -1);
    for (at, file) in ring.files.iter_mut().skip(first).take(count).enumerate() {
        *file = numbers.word32(4 * at).map_or(-1, |fd| fd as i32);
    }
}
