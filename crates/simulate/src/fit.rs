//! Whether a trace fits a drive, and how it is made to.

use crate::error::Error;
use crate::extent::Extent;
use ioscape_schema::{Device, Io};

/// The name of a device of a trace, or else its number.
pub fn device_name(devices: &[Device], device: u16) -> String {
    let named = devices.get(usize::from(device)).map(|d| d.name.clone());
    named.filter(|n| !n.is_empty()).unwrap_or_else(|| device.to_string())
}

/// Refuses a device whose sectors are not made of the drive's.
///
/// # Errors
/// The device and both sectors.
pub fn check_sector(devices: &[Device], device: u16, drive: Extent<'_>) -> Result<(), Error> {
    let sector_bytes = devices.get(usize::from(device)).map_or(0, |d| d.sector_bytes);
    if !sector_bytes.is_multiple_of(drive.sector_bytes) {
        return Err(Error::Configuration(format!(
            "device {} of the trace has sectors of {sector_bytes} bytes, {} of {}: choose a drive with sectors like the trace's",
            device_name(devices, device),
            drive.name,
            drive.sector_bytes
        )));
    }
    Ok(())
}

/// How rows are made such as the drive can take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fitting {
    /// Whether offsets beyond the drive go on from its beginning.
    pub wrap: bool,
    /// How many times as far apart arrivals are.
    pub scale_time: Option<f64>,
}

impl Fitting {
    /// Moves a row to the time at which it arrives.
    #[inline]
    pub fn scale(&self, io: &mut Io) {
        if let Some(factor) = self.scale_time {
            // What cannot be counted stays at the end of time, and is refused.
            let moved = (io.queued_ns as f64 * factor) as u64;
            io.issued_ns = moved.saturating_add(io.issued_ns.saturating_sub(io.queued_ns));
            io.completed_ns = moved.saturating_add(io.completed_ns.saturating_sub(io.queued_ns));
            io.queued_ns = moved;
        }
    }

    /// Has a row that was moved take as many times as long, too: in a closed system only the time from a completion to the next arrival
    /// counts, which then is the recorded one so many times.
    #[inline]
    pub fn stretch(&self, io: &mut Io) {
        if let Some(factor) = self.scale_time {
            let from = io.queued_ns;
            let scaled = |ns: u64| (ns.saturating_sub(from) as f64 * factor) as u64;
            io.issued_ns = from.saturating_add(scaled(io.issued_ns));
            io.completed_ns = from.saturating_add(scaled(io.completed_ns));
        }
    }

    /// Makes a row such as the drive can take; whether it was wrapped.
    #[inline]
    pub fn fit(&self, io: &mut Io, drive: Extent<'_>) -> bool {
        self.scale(io);
        // A flush lies nowhere, whatever stands for its place in the trace.
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

/// What offsets are wrapped to multiples of, in bytes, where the drive is as large: of requests of any length, so that those to one place go to
/// one place still, and what was aligned to pages is so still.
const TURN: u64 = 4096;

/// The place on the drive of a request beyond it.
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

    /// A drive whose capacity is no multiple of what its requests are of.
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
    fn sectors_of_the_trace_are_made_of_the_drives() {
        let of = |sector_bytes| [Device { sector_bytes, ..Device::default() }];
        assert_eq!(check_sector(&of(4096), 0, DRIVE), Ok(()));
        let refused = check_sector(&of(520), 0, DRIVE).unwrap_err().to_string();
        assert!(refused.starts_with("device 0 of the trace has sectors of 520 bytes"), "{refused}");
    }
}
