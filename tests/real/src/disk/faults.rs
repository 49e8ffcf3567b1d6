//! Faults of the simulated disk, set while it runs.

/// A fault that a request meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// `EIO`.
    Io,
    /// `ENOSPC`.
    NoSpace,
}

/// Bytes from the first to the last.
type Range = (u64, u64);

/// The faults that are set; none at first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// Bytes that cannot be read.
    pub unreadable: Option<Range>,
    /// Bytes that cannot be written.
    pub unwritable: Option<Range>,
    /// No space is left from this byte on.
    pub full_from: Option<u64>,
    /// Whether requests of more than 4 KiB are done in half.
    pub short: bool,
    /// Whether requests are not answered.
    pub hang: bool,
}

/// Largest request that is never shortened, in bytes.
const WHOLE_MOST: u64 = 4096;

impl Faults {
    /// What a request meets.
    pub fn meets(&self, write: bool, offset: u64, length: u64) -> Option<Fault> {
        let within = |range: Option<Range>| {
            range.is_some_and(|(first, last)| offset <= last && offset + length > first)
        };
        if write && self.full_from.is_some_and(|from| offset + length > from) {
            Some(Fault::NoSpace)
        } else if within(if write { self.unwritable } else { self.unreadable }) {
            Some(Fault::Io)
        } else {
            None
        }
    }

    /// How many bytes of a request are done.
    pub fn done(&self, length: u64) -> u64 {
        if self.short && length > WHOLE_MOST { (length / 2) & !511 } else { length }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_in_the_range_fail() {
        let faults = Faults { unreadable: Some((8192, 12287)), ..Faults::default() };
        let read = |offset, length| faults.meets(false, offset, length);
        assert_eq!(read(0, 8192), None);
        assert_eq!(read(0, 8193), Some(Fault::Io));
        assert_eq!(read(12287, 1), Some(Fault::Io));
        assert_eq!(read(12288, 4096), None);
        assert_eq!(faults.meets(true, 8192, 1), None);
    }

    #[test]
    fn a_full_disk_refuses_writes_alone() {
        let faults = Faults { full_from: Some(4096), ..Faults::default() };
        assert_eq!(faults.meets(true, 0, 4096), None);
        assert_eq!(faults.meets(true, 0, 4097), Some(Fault::NoSpace));
        assert_eq!(faults.meets(false, 8192, 4096), None);
    }

    #[test]
    fn short_requests_are_done_in_half() {
        let faults = Faults { short: true, ..Faults::default() };
        assert_eq!(faults.done(65536), 32768);
        assert_eq!(faults.done(5000), 2048);
        assert_eq!(faults.done(4096), 4096);
        assert_eq!(Faults::default().done(65536), 65536);
    }
}
