//! What requests had of the processor.

/// How long requests had it, and waited for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Computed {
    /// Nanoseconds for which they had it.
    pub busy_ns: u64,
    /// Nanoseconds for which they waited until others had left it.
    pub delayed_ns: u64,
}

impl Computed {
    /// What came since `before`.
    pub fn since(self, before: Self) -> Self {
        Self {
            busy_ns: self.busy_ns - before.busy_ns,
            delayed_ns: self.delayed_ns - before.delayed_ns,
        }
    }
}
