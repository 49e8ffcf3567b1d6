//! What a part of a recording adds to those before it, on its way to the decoder.

use crate::read::{Input, Source};
use std::sync::{Arc, Mutex, PoisonError};

/// What a part adds to those before it.
pub struct Part {
    /// The pages of each CPU since the part before.
    pub cpus: Vec<Source>,
    /// Events from this time on, on the events' clock, are left for the next part; all are taken of the last one.
    pub until_ns: Option<u64>,
    /// Events that the kernel could not keep during the part, by CPU.
    pub lost_by_cpu: Vec<u64>,
    /// What to add to the events' clock to have nanoseconds since 1970, where it is another than in the part before.
    pub unix_offset_ns: Option<i64>,
}

/// The pages of each CPU, and what else there is to a part.
type Waiting = (Vec<Input>, Part);

/// A part that is about to begin.
#[derive(Clone, Default)]
pub(crate) struct NextPart(Arc<Mutex<Option<Waiting>>>);

impl NextPart {
    /// Takes it, once.
    pub fn take(&self) -> Option<Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Gives it to the decoder.
    pub fn set(&self, inputs: Vec<Input>, part: Part) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((inputs, part));
    }
}
