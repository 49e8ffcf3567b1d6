//! Whether a trace fits a drive, and how a trace is made to fit.

use crate::error::Error;
use crate::extent::Extent;
use ioscape_schema::{Device, Io};

/// The name of a trace's device, or its number if it has none.
pub fn device_name(devices: &[Device], device: u16) -> String {
    let named = devices.get(usize::from(device)).map(|d| d.name.clone());
    named.filter(|n| !n.is_empty()).unwrap_or_else(|| device.to_string())
}

/// Refuses a device if neither its sectors nor the drive's are multiples of the other's.
///
/// # Errors
/// Names the device and both sector sizes.
pub fn check_sector(devices: &[Device], device: u16, drive: Extent<'_>) -> Result<(), Error> {
    let sector_bytes = devices.get(usize::from(device)).map_or(0, |d| d.sector_bytes);
    if !sector_bytes.is_multiple_of(drive.sector_bytes)
        && !drive.sector_bytes.is_multiple_of(sector_bytes)
    {
        return Err(Error::Configuration(format!(
            "device {} of the trace has sectors of {sector_bytes} bytes, {} of {}: choose a drive with sectors like the trace's",
            device_name(devices, device),
            drive.name,
            drive.sector_bytes
        )));
    }
    Ok(())
}

/// How rows are changed to fit the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fitting {
    /// Whether offsets beyond the drive wrap around to its beginning.
    pub wrap: bool,
    /// Factor by which the times between arrivals are multiplied.
    pub scale_time: Option<f64>,
}

impl Fitting {
    /// Moves a row to its scaled arrival time.
    #[inline]
    pub fn scale(&self, io: &mut Io) {
        if let Some(factor) = self.scale_time {
            // Times that are too large saturate, and are refused later.
            let moved = (io.queued_ns as f64 * factor) as u64;
            io.issued_ns = moved.saturating_add(io.issued_ns.saturating_sub(io.queued_ns));
            io.completed_ns = moved.saturating_add(io.completed_ns.saturating_sub(io.queued_ns));
            io.queued_ns = moved;
        }
    }

    /// Multiplies the duration of a row that was moved by the same factor. In a closed system only
    /// the time from a completion to the next arrival counts, and this makes it the recorded time
    /// multiplied by the factor.
    #[inline]
    pub fn stretch(&self, io: &mut Io) {
        if let Some(factor) = self.scale_time {
            let from = io.queued_ns;
            let scaled = |ns: u64| (ns.saturating_sub(from) as f64 * factor) as u64;
            io.issued_ns = from.saturating_add(scaled(io.issued_ns));
            io.completed_ns = from.saturating_add(scaled(io.completed_ns));
        }
    }

    /// Scales the issue time of a row that was moved and was recorded as issued at `issued_ns`. The
    /// order of issues stays, and so does the time at the disk.
    #[inline]
    pub fn reissue(&self, io: &mut Io, issued_ns: u64) {
        if let Some(factor) = self.scale_time {
            let physical_ns = io.physical_ns();
            io.issued_ns = (issued_ns as f64 * factor) as u64;
            io.completed_ns = io.issued_ns.saturating_add(physical_ns);
        }
    }

    /// Makes a row fit the drive; returns whether it was wrapped.
    #[inline]
    pub fn fit(&self, io: &mut Io, drive: Extent<'_>) -> bool {
        self.scale(io);
        // A flush has no place, whatever offset the trace gives it.
        if !self.wrap || io.request.len == 0 {
            return false;
        }
        let capacity = drive.bytes();
        let (offset, len) = (io.request.offset, u64::from(io.request.len));
        let beyond = offset.saturating_add(len) > capacity && len <= capacity;
        if beyond {
            io.request.offset = wrapped(offset, len, drive);
        }
        beyond
    }
}

/// Offsets wrap at a multiple of this many bytes, if the drive is that large. It does not depend on
/// the request's length, so requests to the same offset still go to the same place, and
/// page-aligned requests stay aligned.
const TURN: u64 = 4096;

/// The offset on the drive of a request that lies beyond it.
fn wrapped(offset: u64, len: u64, drive: Extent<'_>) -> u64 {
    let (sector, capacity) = (u64::from(drive.sector_bytes), drive.bytes());
    let whole = |bytes: u64| match bytes / TURN * TURN {
        0 => bytes,
        aligned => aligned,
    };
    let place = offset % whole(capacity) / sector * sector;
    match place + len <= capacity {
        true => place,
        false => whole(capacity - len) / sector * sector,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Op, Request};

    const DRIVE: Extent<'_> =
        Extent { name: "d", sector_bytes: 512, blocks: 100, discards: false, flushes: false };

    #[test]
    fn wrapped_requests_lie_on_the_drive_and_scaled_ones_keep_their_service_times() {
        let io = |offset: u64| Io {
            request: Request { op: Op::Read, offset, len: 4096 },
            queued_ns: 100,
            issued_ns: 110,
            completed_ns: 150,
            ..Io::default()
        };
        let mut rows: Vec<Io> = (0..500).map(|block| io(block * 512)).collect();
        let fitting = Fitting { wrap: true, scale_time: Some(2.0) };
        let wrapped = rows.iter_mut().filter_map(|io| fitting.fit(io, DRIVE).then_some(())).count();
        assert_eq!(wrapped, 500 - 93);
        assert!(rows.iter().all(|row| row.request.offset + 4096 <= 51_200));
        assert!(rows.iter().all(|row| row.request.offset.is_multiple_of(512)));
        let times = (rows[0].queued_ns, rows[0].issued_ns, rows[0].completed_ns);
        assert_eq!(times, (200, 210, 250));
    }

    /// On a drive whose capacity is no multiple of the page size.
    #[test]
    fn wrapped_requests_stay_aligned_and_those_to_one_place_go_to_one_place() {
        let drive = Extent { blocks: 8 * 1000 + 3, ..DRIVE };
        let fitting = Fitting { wrap: true, scale_time: None };
        let place = |offset: u64, len: u32| {
            let request = Request { op: Op::Write, offset, len };
            let mut io = Io { request, ..Io::default() };
            fitting.fit(&mut io, drive);
            io.request.offset
        };
        for turn in 1..30 {
            let offset = turn * 4_096_000 + 40_960;
            assert_eq!([4096, 65_536].map(|len| place(offset, len)), [40_960; 2]);
        }
        let end = place(2 * 4_096_000 - 4096, 65_536);
        assert!(end.is_multiple_of(4096) && end + 65_536 <= drive.bytes(), "{end}");
    }

    #[test]
    fn a_flush_is_beyond_no_drive() {
        let fitting = Fitting { wrap: true, scale_time: None };
        let request = Request { op: Op::Write, offset: 400_000_000_000, len: 0 };
        let mut flush = Io { request, ..Io::default() };
        assert!(!fitting.fit(&mut flush, DRIVE));
    }

    #[test]
    fn sectors_of_the_trace_and_the_drive_are_made_of_each_other() {
        let of = |sector_bytes| [Device { sector_bytes, ..Device::default() }];
        assert_eq!(check_sector(&of(4096), 0, DRIVE), Ok(()));
        let large = Extent { sector_bytes: 4096, ..DRIVE };
        assert_eq!(check_sector(&of(512), 0, large), Ok(()));
        let refused = check_sector(&of(520), 0, DRIVE).unwrap_err().to_string();
        assert!(refused.starts_with("device 0 of the trace has sectors of 520 bytes"), "{refused}");
    }
}
