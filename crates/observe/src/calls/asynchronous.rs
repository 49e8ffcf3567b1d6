//! What a process has in flight of requests that complete later, and where its memory says so.

use super::in_flight::{InFlight, Submitted};
use super::ring::Ring;
use std::collections::HashMap;

/// `IORING_ENTER_REGISTERED_RING`: the descriptor is a number that the thread registered.
const REGISTERED_RING: u64 = 1 << 4;

/// What a process has in flight, and where it says so.
#[derive(Debug, Default)]
pub(super) struct Asynchronous {
    pub(super) aio: InFlight,
    /// By descriptor.
    pub(super) rings: HashMap<i32, (Ring, InFlight)>,
    /// Descriptors of rings by the thread and the number it registered them under.
    pub(super) registered: HashMap<(i32, u64), i32>,
    /// What each thread is submitting in the call it is in.
    pub(super) submitting: HashMap<i32, Vec<Submitted>>,
}

/// A child has none of its parent's requests in flight.
impl Clone for Asynchronous {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Asynchronous {
    /// Whether `fd` is a ring.
    pub(super) fn is_ring(&self, fd: i32) -> bool {
        self.rings.contains_key(&fd)
    }

    /// Whether the thread is about to submit requests to files that count.
    pub(super) fn is_submitting(&self, tid: i32) -> bool {
        let own = self.submitting.get(&tid);
        own.is_some_and(|all| all.iter().any(|one| one.moved.is_some()))
    }

    /// The descriptor of the ring that a call is about.
    pub(super) fn ring_of(&self, tid: i32, arguments: &[u64; 6]) -> i32 {
        match arguments[3] & REGISTERED_RING {
            0 => arguments[0] as i32,
            _ => self.registered.get(&(tid, arguments[0])).copied().unwrap_or(-1),
        }
    }
}
