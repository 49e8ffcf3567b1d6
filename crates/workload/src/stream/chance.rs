//! Random bits: a generator per stream, and probabilities as thresholds.

use rand_pcg::Pcg64Mcg;

/// The threshold of certainty, in units of 2^-32.
pub(super) const CERTAIN: u64 = 1 << 32;

/// Converts a fraction to a threshold for 32 random bits.
pub(super) fn threshold(fraction: f64) -> u64 {
    (fraction.clamp(0.0, 1.0) * CERTAIN as f64).round() as u64
}

/// One step of SplitMix64 (Steele, Lea and Flood 2014): spreads every bit of `value` over all 64.
pub(crate) fn mix(value: u64) -> u64 {
    let mut mixed = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Returns the generator of stream `process`, distinct from those of all other streams and seeds.
pub(crate) fn generator(seed: u64, process: u32) -> Pcg64Mcg {
    let high = mix(mix(seed) ^ u64::from(process));
    let low = mix(high ^ seed);
    Pcg64Mcg::new(u128::from(high) << 64 | u128::from(low))
}
