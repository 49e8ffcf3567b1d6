//! Reads little-endian numbers of binary records; bytes beyond the end count as 0.

/// Returns the `N` bytes from `at` on.
pub(crate) fn bytes<const N: usize>(record: &[u8], at: usize) -> [u8; N] {
    record.get(at..at + N).and_then(|b| b.try_into().ok()).unwrap_or([0; N])
}

/// Returns the 16-bit number at `at`.
pub(crate) fn half(record: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes(record, at))
}

/// Returns the 32-bit number at `at`.
pub(crate) fn word(record: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes(record, at))
}

/// Returns the 64-bit number at `at`.
pub(crate) fn long(record: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes(record, at))
}
