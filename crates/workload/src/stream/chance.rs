//! Random bits: a generator per stream, and probabilities as thresholds.

use ioscape_schema::chance::mix;
use rand_pcg::Pcg64Mcg;

/// The threshold of certainty, in units of 2^-32.
pub(super) const CERTAIN: u64 = 1 << 32;

/// Converts a fraction to a threshold for 32 random bits.
pub(super) fn threshold(fraction: f64) -> u64 {
    (fraction.clamp(0.0, 1.0) * CERTAIN as f64).round() as u64
}

/// Returns the generator of stream `process`, distinct from those of all other streams and seeds.
pub(crate) fn generator(seed: u64, process: u32) -> Pcg64Mcg {
    let high = mix(mix(seed) ^ u64::from(process));
    let low = mix(high ^ seed);
    Pcg64Mcg::new(u128::from(high) << 64 | u128::from(low))
}
