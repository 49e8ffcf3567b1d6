//! Fast division by a fixed number, such as the number of dies or the pages of a block.

/// Divides by a fixed number. If that is a power of two, as it mostly is, a shift replaces the
/// division, which takes many times as long.
#[derive(Clone, Copy, Debug)]
pub struct Divisor {
    by: u32,
    /// The exponent, if `by` is a power of two.
    shift: Option<u32>,
}

impl Divisor {
    /// Divides by `by`; zero counts as one.
    pub fn new(by: u32) -> Self {
        let by = by.max(1);
        Self { by, shift: by.is_power_of_two().then(|| by.trailing_zeros()) }
    }

    /// Returns the quotient and the remainder.
    #[inline]
    pub fn split(self, number: u32) -> [u32; 2] {
        match self.shift {
            Some(shift) => [number >> shift, number & (self.by - 1)],
            None => [number / self.by, number % self.by],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_divide_as_divisions_do() {
        for by in [1, 2, 3, 8, 12, 1 << 31] {
            for number in [0, 1, 7, 8, 1000, u32::MAX] {
                assert_eq!(Divisor::new(by).split(number), [number / by, number % by]);
            }
        }
    }
}
