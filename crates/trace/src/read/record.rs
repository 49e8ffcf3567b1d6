//! Numbers of binary records, lowest byte first; what lies behind the end is 0.

/// The `N` bytes from `at` on.
pub(crate) fn bytes<const N: usize>(record: &[u8], at: usize) -> [u8; N] {
    record.get(at..at + N).and_then(|b| b.try_into().ok()).unwrap_or([0; N])
}

/// The number of 16 bits at `at`.
pub(crate) fn half(record: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes(record, at))
}

/// The number of 32 bits at `at`.
pub(crate) fn word(record: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes(record, at))
}

/// The number of 64 bits at `at`.
pub(crate) fn long(record: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes(record, at))
}
