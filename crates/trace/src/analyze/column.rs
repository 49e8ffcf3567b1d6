//! A small batch of values, counted in one loop whose sums stay in the processor's registers.

/// Rows that pass through one step before the next step takes them: a fraction of a processor's
/// first-level cache.
pub const STRIDE: usize = 128;

/// Values of at most [`STRIDE`] rows.
#[derive(Debug)]
pub struct Column {
    values: [u64; STRIDE],
    len: usize,
}

impl Default for Column {
    fn default() -> Self {
        Self { values: [0; STRIDE], len: 0 }
    }
}

impl Column {
    /// Adds a value if `is_one`, without a branch, which cannot be predicted. Call it at most
    /// [`STRIDE`] times.
    #[inline]
    pub fn push_if(&mut self, is_one: bool, value: u64) {
        self.values[self.len] = value;
        self.len += usize::from(is_one);
    }

    /// Adds a value. Call it at most [`STRIDE`] times.
    #[inline]
    pub fn push(&mut self, value: u64) {
        self.push_if(true, value);
    }

    /// Returns the values.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.values[..self.len].iter().copied()
    }
}
