//! The processor time of requests.

/// How long requests ran on the processor, and waited for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Computed {
    /// Nanoseconds for which requests ran on the processor.
    pub busy_ns: u64,
    /// Nanoseconds for which requests waited while others ran on it.
    pub delayed_ns: u64,
}

impl Computed {
    /// The times added since `before`.
    pub fn since(self, before: Self) -> Self {
        Self {
            busy_ns: self.busy_ns - before.busy_ns,
            delayed_ns: self.delayed_ns - before.delayed_ns,
        }
    }
}
