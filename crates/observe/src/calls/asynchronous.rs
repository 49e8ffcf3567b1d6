//! A process's requests in flight that complete later, and where its memory holds them.

use super::in_flight::{InFlight, Submitted};
use super::ring::Ring;
use std::collections::{HashMap, HashSet};

/// `IORING_ENTER_REGISTERED_RING`: the descriptor is an index that the thread registered.
const REGISTERED_RING: u64 = 1 << 4;
/// `IORING_REGISTER_USE_REGISTERED_RING`: the same for `io_uring_register(2)`, as a bit of its
/// command.
const BY_NUMBER: u64 = 1 << 31;

/// A process's asynchronous requests, and the rings that they are on.
#[derive(Debug, Default)]
pub(super) struct Asynchronous {
    pub(super) aio: InFlight,
    /// Rings, with their requests in flight, by descriptor.
    pub(super) rings: HashMap<i32, (Ring, InFlight)>,
    /// Descriptors of rings, by the thread and the index under which it registered them.
    pub(super) registered: HashMap<(i32, u64), i32>,
    /// The requests that each thread submits in its present call.
    pub(super) submitting: HashMap<i32, Vec<Submitted>>,
    /// Requests that open a file, by the descriptor of their ring and their key.
    pub(super) opening: HashSet<(i32, u64)>,
}

/// A child has none of its parent's requests in flight, but the same rings.
impl Clone for Asynchronous {
    fn clone(&self) -> Self {
        let inherited = |(fd, (ring, _)): (&i32, &(Ring, InFlight))| {
            (*fd, (ring.inherited(), InFlight::default()))
        };
        let rings = self.rings.iter().map(inherited).collect();
        Self { rings, registered: self.registered.clone(), ..Self::default() }
    }
}

impl Asynchronous {
    /// Whether `fd` is a ring.
    pub(super) fn is_ring(&self, fd: i32) -> bool {
        self.rings.contains_key(&fd)
    }

    /// Whether the thread is about to submit requests to counted files.
    pub(super) fn is_submitting(&self, tid: i32) -> bool {
        let own = self.submitting.get(&tid);
        own.is_some_and(|all| all.iter().any(|one| one.moved.is_some()))
    }

    /// The descriptor of the ring that a call of `io_uring_enter` uses.
    pub(super) fn ring_of(&self, tid: i32, arguments: &[u64; 6]) -> i32 {
        self.ring(tid, arguments[0], arguments[3] & REGISTERED_RING != 0)
    }

    /// The descriptor of the ring that a call of `io_uring_register` uses, and its command.
    pub(super) fn registration(&self, tid: i32, arguments: &[u64; 6]) -> (i32, u64) {
        let command = arguments[1] & u64::from(u32::MAX);
        (self.ring(tid, arguments[0], command & BY_NUMBER != 0), command & !BY_NUMBER)
    }

    fn ring(&self, tid: i32, number: u64, is_registered: bool) -> i32 {
        match is_registered {
            false => number as i32,
            true => self.registered.get(&(tid, number)).copied().unwrap_or(-1),
        }
    }

    /// The byte after the last one of file number `file` that requests in flight will write,
    /// including those that threads other than `tid` are submitting.
    pub(super) fn writes_until(&self, tid: i32, file: u32) -> u64 {
        let queues = self.rings.values().map(|(_, queue)| queue).chain([&self.aio]);
        let in_flight = queues.map(|queue| queue.writes_until(file));
        let others = self.submitting.iter().filter(|(thread, _)| **thread != tid);
        let others = others.flat_map(|(_, all)| all.iter().map(move |one| one.writes_until(file)));
        in_flight.chain(others).max().unwrap_or(0)
    }
}
