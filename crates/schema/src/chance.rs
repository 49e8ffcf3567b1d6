//! Numbers that look random and depend only on what they are made from.

/// Spreads every bit of `key` over all 64: one step of SplitMix64 (Steele, Lea and Flood 2014).
#[inline]
pub fn mix(key: u64) -> u64 {
    let key = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let key = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let key = (key ^ (key >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ (key >> 31)
}
