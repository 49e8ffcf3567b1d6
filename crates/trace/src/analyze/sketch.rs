//! About how many distinct keys? A HyperLogLog sketch in a kibibyte.

use super::mix::mix;
use serde::{Deserialize, Serialize};

const BITS: u32 = 10;
const REGISTERS: usize = 1 << BITS;

/// Counts distinct keys with a standard error of 3.25 % (1.04 / sqrt 1024; Flajolet and others 2007).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sketch {
    #[serde(with = "super::long_arrays")]
    registers: Box<[u8; REGISTERS]>,
}

impl Default for Sketch {
    fn default() -> Self {
        Self { registers: Box::new([0; REGISTERS]) }
    }
}

impl Sketch {
    /// Counts a key.
    #[inline]
    pub fn add(&mut self, key: u64) {
        self.add_spread(mix(key));
    }

    /// Counts a key that is spread evenly over 64 bits already.
    #[inline]
    pub fn add_spread(&mut self, hash: u64) {
        let register = &mut self.registers[(hash >> (64 - BITS)) as usize];
        let rank = ((hash << BITS) | (1 << (BITS - 1))).leading_zeros() as u8 + 1;
        *register = (*register).max(rank);
    }

    /// Adds the keys of another.
    pub fn merge(&mut self, other: &Self) {
        let both = self.registers.iter_mut().zip(other.registers.iter());
        both.for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
    }

    /// The estimate.
    pub fn estimate(&self) -> f64 {
        let m = REGISTERS as f64;
        let sum: f64 = self.registers.iter().map(|&rank| (-f64::from(rank)).exp2()).sum();
        let raw = 0.7213 / (1.0 + 1.079 / m) * m * m / sum;
        let empty = self.registers.iter().filter(|&&rank| rank == 0).count() as f64;
        // Few keys leave registers empty, whose number is the better estimate (linear counting).
        if raw <= 2.5 * m && empty > 0.0 { m * (m / empty).ln() } else { raw }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_within_four_standard_errors() {
        for count in [1u64, 100, 2000, 5000, 1_000_000] {
            let mut sketch = Sketch::default();
            (0..count).chain(0..count / 2).for_each(|key| sketch.add(key));
            let error = (sketch.estimate() / count as f64 - 1.0).abs();
            assert!(error < 0.13, "{count}: {}", sketch.estimate());
        }
    }
}
