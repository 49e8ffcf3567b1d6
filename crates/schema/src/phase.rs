//! The phases of an application: successive stretches in which its request mix stays the same.

use crate::Op;
use crate::advice::Advice;
use crate::range::{fraction, not_negative};
use serde::{Deserialize, Serialize};

/// Largest number of runs that a phase continues in turn: about as many files as a process has
/// open.
pub const RUNS_MOST: u32 = 64;

/// A stretch of an application's life, measured in bytes moved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Bytes that all processes together move in the phase, at least 1.
    pub bytes: u64,
    /// Duration in seconds, from its first request to the first of the next phase.
    #[serde(default, deserialize_with = "not_negative")]
    pub elapsed_s: f64,
    /// Fraction of its requests that are reads, 0 to 1.
    #[serde(deserialize_with = "fraction")]
    pub read_frac: f64,
    /// Fraction of requests of the other kind (read or write) than the same process's previous
    /// request, 0 to 1.
    #[serde(deserialize_with = "fraction")]
    pub change_frac: f64,
    /// Mean think time before a request of the same kind as the process's previous request.
    #[serde(default)]
    pub think_time_ns: u64,
    /// The same before a request of the other kind: a process works on what it read before it
    /// writes.
    #[serde(default)]
    pub change_think_time_ns: u64,
    /// The reads; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<PhaseRequests>,
    /// The writes; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<PhaseRequests>,
}

/// The requests of one kind in a phase. The fraction left by `turn_frac` and `jump_frac` continues
/// where the same process's previous request of this kind ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseRequests {
    /// Sizes in bytes, each with its fraction of the requests.
    pub sizes: Vec<(u64, f64)>,
    /// First byte of the part of the set that they access. The application's files lie in the set
    /// one after another, in order of first use.
    pub from_bytes: u64,
    /// Length of that part, at least 1.
    pub span_bytes: u64,
    /// Number of sequential runs that each process has open at the same time and continues in turn,
    /// 1 to 64.
    pub runs: u32,
    /// Fraction that continues the run whose turn is next, 0 to 1.
    #[serde(deserialize_with = "fraction")]
    pub turn_frac: f64,
    /// Fraction that jumps to another place, 0 to 1.
    #[serde(deserialize_with = "fraction")]
    pub jump_frac: f64,
    /// Fraction of the jumps whose first page was used before (for writes: was written before), 0
    /// to 1.
    #[serde(deserialize_with = "fraction")]
    pub again_frac: f64,
    /// The advice given to the kernel about most of them.
    #[serde(default, skip_serializing_if = "crate::absent::is_default")]
    pub advice: Advice,
    /// How concentrated the reuse is: pairs (bytes, fraction of the reusing requests that fall into
    /// them), each including the one before. Empty: everything used is reused equally.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "not_negative")]
    pub again: Vec<[f64; 2]>,
}

impl Phase {
    /// Returns the bytes that each of `process_num` processes moves in it, at least 1.
    pub fn bytes_of_each(&self, process_num: u32) -> u64 {
        (self.bytes / u64::from(process_num.max(1))).max(1)
    }

    /// Returns its requests of one kind.
    pub fn of(&self, op: Op) -> Option<&PhaseRequests> {
        match op {
            Op::Read => self.read.as_ref(),
            Op::Write => self.write.as_ref(),
        }
    }

    /// Iterates over its requests of both kinds, as far as it has them.
    pub fn kinds(&self) -> impl Iterator<Item = &PhaseRequests> {
        self.read.iter().chain(&self.write)
    }

    /// Checks that requests of at most `size_most` bytes can be drawn from it on a set of
    /// `set_bytes`.
    pub fn validate(&self, set_bytes: u64, size_most: u64) -> Result<(), &'static str> {
        if self.bytes == 0 || self.kinds().next().is_none() {
            return Err("a phase must move bytes and have reads or writes");
        }
        let fractions = [self.read_frac, self.change_frac];
        if fractions.iter().any(|one| !(0.0..=1.0).contains(one)) {
            return Err("read_frac and change_frac must be from 0 to 1");
        }
        let needs = |share: f64, kind: &Option<PhaseRequests>| share > 0.0 && kind.is_none();
        if needs(self.read_frac, &self.read) || needs(1.0 - self.read_frac, &self.write) {
            return Err("a phase with reads, or with writes, must say how they are");
        }
        self.kinds().try_for_each(|kind| kind.validate(set_bytes, size_most))
    }
}

impl PhaseRequests {
    /// Returns the largest size, in bytes; 0 without any.
    pub fn largest_size(&self) -> u64 {
        self.sizes.iter().map(|(size, _)| *size).max().unwrap_or(0)
    }

    fn validate(&self, set_bytes: u64, size_most: u64) -> Result<(), &'static str> {
        let shares: f64 = self.sizes.iter().map(|(_, share)| *share).sum();
        let is_share = |share: &f64| (0.0..=1.0).contains(share);
        if !self.sizes.iter().all(|(_, share)| is_share(share)) || (shares - 1.0).abs() > 1e-6 {
            return Err("the shares of a phase's sizes must be from 0 to 1 and add up to 1");
        }
        let most = set_bytes.min(size_most);
        if self.sizes.iter().any(|(size, _)| *size == 0 || *size > most) {
            return Err("a phase's sizes must be at least 1 byte, and within the set and 64 MiB");
        }
        let end = self.from_bytes.checked_add(self.span_bytes);
        if self.span_bytes == 0 || end.is_none_or(|end| end > set_bytes) {
            return Err("the part of the set that a phase goes to must lie within the set");
        }
        if !(1..=RUNS_MOST).contains(&self.runs) {
            return Err("a phase has 1 to 64 runs");
        }
        let fractions = [self.turn_frac, self.jump_frac, self.again_frac];
        if !fractions.iter().all(is_share) || self.turn_frac + self.jump_frac > 1.0 + 1e-9 {
            return Err(
                "turn_frac, jump_frac and again_frac must be from 0 to 1, the first two together too",
            );
        }
        if !self.again.iter().all(|[bytes, share]| *bytes >= 0.0 && is_share(share)) {
            return Err("the shares of what is used again must be from 0 to 1");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind() -> PhaseRequests {
        PhaseRequests {
            sizes: vec![(4096, 1.0)],
            from_bytes: 4096,
            span_bytes: 8192,
            runs: 1,
            ..PhaseRequests::default()
        }
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let good = Phase { bytes: 1, read_frac: 1.0, read: Some(kind()), ..Phase::default() };
        assert_eq!(good.validate(12_288, 8192), Ok(()));
        assert!(good.validate(12_287, 8192).is_err(), "it ends behind the set");
        let of = |read| Phase { read: Some(read), ..good.clone() };
        for bad in [
            Phase { bytes: 0, ..good.clone() },
            Phase { read: None, ..good.clone() },
            Phase { read_frac: 0.5, ..good.clone() },
            of(PhaseRequests { runs: 0, ..kind() }),
            of(PhaseRequests { sizes: vec![(4096, 0.5)], ..kind() }),
            of(PhaseRequests { sizes: vec![(1 << 20, 1.0)], ..kind() }),
            of(PhaseRequests { turn_frac: 0.6, jump_frac: 0.6, ..kind() }),
            of(PhaseRequests { from_bytes: u64::MAX, ..kind() }),
            of(PhaseRequests { again: vec![[1.0, 2.0]], ..kind() }),
        ] {
            assert!(bad.validate(12_288, 8192).is_err(), "{bad:?}");
        }
    }
}
