//! About how many distinct keys? A HyperLogLog sketch in a kibibyte, or less while keys are few.

use ioscape_schema::chance::mix;
use serde::{Deserialize, Serialize};

const BITS: u32 = 10;
const REGISTERS: usize = 1 << BITS;

/// The most registers that are stored one by one.
const FEW: usize = 128;
/// Bits of a rank, which is at most 55; the register's number is above them.
const RANK_BITS: u32 = 6;

/// Counts distinct keys, standard error 3.25 % (1.04 / sqrt 1024; Flajolet and others 2007).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sketch(Registers);

/// The same registers in two forms; the number in use decides which.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Registers {
    /// The registers in use, in order: number and rank.
    Few(Vec<u16>),
    All(#[serde(with = "super::long_arrays")] Box<[u8; REGISTERS]>),
}

impl Default for Sketch {
    fn default() -> Self {
        Self(Registers::Few(Vec::new()))
    }
}

/// Returns a key's register, and its rank there.
#[inline]
fn ranked(hash: u64) -> (usize, u8) {
    let rank = ((hash << BITS) | (1 << (BITS - 1))).leading_zeros() as u8 + 1;
    ((hash >> (64 - BITS)) as usize, rank)
}

impl Sketch {
    /// Counts a key.
    #[inline]
    pub fn add(&mut self, key: u64) {
        self.add_spread(mix(key));
    }

    /// Counts a key that is already spread evenly over 64 bits; returns the memory that this took.
    #[inline]
    pub fn add_spread(&mut self, hash: u64) -> usize {
        let (register, rank) = ranked(hash);
        if let Registers::All(all) = &mut self.0 {
            all[register] = all[register].max(rank);
            return 0;
        }
        let before = self.bytes();
        self.raise(register, rank);
        self.bytes() - before
    }

    #[inline]
    fn raise(&mut self, register: usize, rank: u8) {
        match &mut self.0 {
            Registers::All(all) => all[register] = all[register].max(rank),
            Registers::Few(few) => {
                let number = |one: u16| usize::from(one >> RANK_BITS);
                let this = (register << RANK_BITS) as u16 | u16::from(rank);
                let at = few.partition_point(|&one| number(one) < register);
                match few.get_mut(at).filter(|one| number(**one) == register) {
                    Some(known) => *known = this.max(*known),
                    None => few.insert(at, this),
                }
                if few.len() > FEW {
                    self.0 = Registers::All(Box::new(self.registers()));
                }
            }
        }
    }

    fn registers(&self) -> [u8; REGISTERS] {
        let few = match &self.0 {
            Registers::All(all) => return **all,
            Registers::Few(few) => few,
        };
        let mut all = [0; REGISTERS];
        for one in few {
            all[usize::from(one >> RANK_BITS)] = (one & ((1 << RANK_BITS) - 1)) as u8;
        }
        all
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        match &self.0 {
            Registers::All(_) => REGISTERS,
            // The list's growth, not its capacity, which differs after a clone or read.
            Registers::Few(few) if few.is_empty() => 0,
            Registers::Few(few) => few.len().next_power_of_two().max(4) * size_of::<u16>(),
        }
    }

    /// Adds the keys of another sketch.
    pub fn merge(&mut self, other: &Self) {
        let used = other.registers().into_iter().enumerate().filter(|(_, rank)| *rank > 0);
        used.for_each(|(register, rank)| self.raise(register, rank));
    }

    /// The estimate.
    pub fn estimate(&self) -> f64 {
        let m = REGISTERS as f64;
        let registers = self.registers();
        let sum: f64 = registers.iter().map(|&rank| (-f64::from(rank)).exp2()).sum();
        let raw = 0.7213 / (1.0 + 1.079 / m) * m * m / sum;
        let empty = registers.iter().filter(|&&rank| rank == 0).count() as f64;
        // With few keys, the number of empty registers gives the better estimate (linear counting).
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

    #[test]
    fn few_keys_take_little_and_merge_into_what_all_give() {
        let of = |keys: std::ops::Range<u64>| {
            let mut sketch = Sketch::default();
            keys.for_each(|key| sketch.add(key));
            sketch
        };
        assert!(of(0..20).bytes() <= 64 && of(0..1000).bytes() == REGISTERS);
        for (cut, end) in [(0, 50), (3, 50), (100, 150), (100, 3000), (2900, 3000)] {
            let (mut early, whole) = (of(0..cut), of(0..end));
            early.merge(&of(cut..end));
            assert_eq!(early, whole, "cut at {cut} of {end}");
            let ranks = |sketch: &Sketch| sketch.registers();
            assert_eq!(ranks(&early).iter().filter(|rank| **rank > 0).count() > FEW, end > 130);
        }
    }
}
