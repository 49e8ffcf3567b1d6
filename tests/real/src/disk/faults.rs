//! Faults of the simulated disk, which can be set while it runs.

/// A fault that a request meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// `EIO`.
    Io,
    /// `ENOSPC`.
    NoSpace,
}

/// What really happens to writes that are reported as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// One bit is changed.
    Corrupt,
    /// Nothing is stored.
    Drop,
    /// Everything is stored 1 MiB before its place.
    Misplace,
    /// Everything but the last 2 KiB is stored.
    Tear,
}

impl Lie {
    /// The lie with this name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "corrupt" => Self::Corrupt,
            "drop" => Self::Drop,
            "misplace" => Self::Misplace,
            "tear" => Self::Tear,
            _ => return None,
        })
    }

    /// Applies the lie to a write at `offset`: changes `data` to what is stored, and returns where.
    pub fn spoil(self, offset: u64, data: &mut Vec<u8>) -> u64 {
        match self {
            Self::Corrupt => {
                let middle = data.len() / 2;
                data[middle..].first_mut().into_iter().for_each(|byte| *byte ^= 16);
            }
            Self::Drop => data.clear(),
            Self::Misplace => return offset.saturating_sub(1 << 20),
            Self::Tear => data.truncate(data.len().saturating_sub(2048)),
        }
        offset
    }
}

/// Bytes from the first to the last, inclusive.
type Range = (u64, u64);

/// The faults that are set; initially none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// Bytes that cannot be read.
    pub unreadable: Option<Range>,
    /// Bytes that cannot be written.
    pub unwritable: Option<Range>,
    /// There is no space from this byte on.
    pub full_from: Option<u64>,
    /// Whether only half of a request is done if it exceeds 4 KiB.
    pub short: bool,
    /// Whether requests are not answered.
    pub hang: bool,
    /// Bytes that the disk falsely reports as written.
    pub lie: Option<(Lie, Range)>,
}

/// The largest request that is never shortened, in bytes.
const WHOLE_MOST: u64 = 4096;

impl Faults {
    /// The fault that a request meets.
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

    /// What really happens to a write.
    pub fn lie(&self, offset: u64, length: u64) -> Option<Lie> {
        let (lie, (first, last)) = self.lie?;
        (offset <= last && offset + length > first).then_some(lie)
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
    fn lies_change_what_is_stored_and_where() {
        let faults = Faults { lie: Some((Lie::Drop, (4096, 8191))), ..Faults::default() };
        assert_eq!([faults.lie(0, 4096), faults.lie(0, 4097)], [None, Some(Lie::Drop)]);
        for (name, offset, stored) in [
            ("corrupt", 4 << 20, 8192),
            ("drop", 4 << 20, 0),
            ("misplace", 3 << 20, 8192),
            ("tear", 4 << 20, 6144),
        ] {
            let mut data = vec![7; 8192];
            assert_eq!(Lie::named(name).unwrap().spoil(4 << 20, &mut data), offset, "{name}");
            assert_eq!(data.len(), stored, "{name}");
            let changed = data.iter().filter(|byte| **byte != 7).count();
            assert_eq!(changed, usize::from(name == "corrupt"));
        }
        assert_eq!(Lie::named("truth"), None);
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
