//! A few values side by side: what is counted of them is counted in one loop over them, its sums in the processor's registers.

/// Rows that pass through one step before the next takes them: a part of what a processor's first cache holds.
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
    /// Adds a value if it is one: no branch on that, for nobody can guess it. To be called at most [`STRIDE`] times.
    #[inline]
    pub fn push_if(&mut self, is_one: bool, value: u64) {
        self.values[self.len] = value;
        self.len += usize::from(is_one);
    }

    /// Adds a value. To be called at most [`STRIDE`] times.
    #[inline]
    pub fn push(&mut self, value: u64) {
        self.push_if(true, value);
    }

    /// The values.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.values[..self.len].iter().copied()
    }
}
