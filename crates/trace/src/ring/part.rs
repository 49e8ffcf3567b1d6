//! What a part of a recording adds to those before it, on its way to the decoder.

use crate::read::{Input, Source};
use std::sync::{Arc, Mutex, PoisonError};

/// What a part adds to those before it.
#[derive(Default)]
pub struct Part {
    /// The pages of each CPU since the previous part.
    pub cpus: Vec<Source>,
    /// Events from this time on, on the events' clock, are left for the next part; the last part
    /// takes all events.
    pub until_ns: Option<u64>,
    /// When the recorder began to stop, on the events' clock. Requests that began later may lack
    /// their beginning: nothing was lost. Absent for all parts but the last.
    pub stopped_ns: Option<u64>,
    /// Events that the kernel could not keep during the part, by CPU.
    pub lost_by_cpu: Vec<u64>,
    /// What to add to the events' clock to get nanoseconds since 1970, if it differs from the
    /// previous part.
    pub unix_offset_ns: Option<i64>,
}

/// The pages of each CPU, and everything else of a part.
type Waiting = (Vec<Input>, Part);

/// A part that is about to begin.
#[derive(Clone, Default)]
pub(crate) struct NextPart(Arc<Mutex<Option<Waiting>>>);

impl NextPart {
    /// Takes the part, once.
    pub fn take(&self) -> Option<Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Hands the part to the decoder.
    pub fn set(&self, inputs: Vec<Input>, part: Part) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((inputs, part));
    }
}
