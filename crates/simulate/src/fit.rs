//! Whether a trace fits a drive, and how it is made to.

use crate::error::Error;
use crate::simulate::Extent;
use ioscape_schema::{Io, TraceInfo};

/// The name of a device of a trace, or else its number.
pub fn device_name(trace: &TraceInfo, device: u16) -> String {
    let named = trace.devices.get(usize::from(device)).map(|d| d.name.clone());
    named.filter(|n| !n.is_empty()).unwrap_or_else(|| device.to_string())
}

/// Refuses a trace whose sectors are not made of the drive's.
///
/// # Errors
/// The first such device.
pub fn check_sectors(trace: &TraceInfo, devices: &[u16], drive: Extent<'_>) -> Result<(), Error> {
    for &device in devices {
        let told = trace.devices.get(usize::from(device)).map_or(0, |d| d.sector_bytes);
        if told % drive.sector_bytes != 0 {
            return Err(Error::Configuration(format!(
                "device {} of the trace has sectors of {told} bytes, {} of {}: choose a drive with sectors like the trace's",
                device_name(trace, device),
                drive.name,
                drive.sector_bytes
            )));
        }
    }
    Ok(())
}

/// Makes the rows such as the drive can take: with `wrap` offsets beyond it go on from its beginning, with `scale_time`
/// arrivals are that many times as far apart. How many requests were wrapped.
pub fn fit(rows: &mut [Io], drive: Extent<'_>, wrap: bool, scale_time: Option<f64>) -> u64 {
    let (capacity, sector) =
        (drive.blocks * u64::from(drive.sector_bytes), u64::from(drive.sector_bytes));
    let mut wrapped = 0;
    for io in rows.iter_mut() {
        let (offset, len) = (io.request.offset, u64::from(io.request.len));
        if wrap && offset.saturating_add(len) > capacity && len <= capacity {
            io.request.offset = offset % (capacity - len + sector) / sector * sector;
            wrapped += 1;
        }
        if let Some(factor) = scale_time {
            let moved = (io.queued_ns as f64 * factor) as u64;
            io.issued_ns = moved + io.issued_ns.saturating_sub(io.queued_ns);
            io.completed_ns = moved + io.completed_ns.saturating_sub(io.queued_ns);
            io.queued_ns = moved;
        }
    }
    wrapped
}

/// How many requests of these devices the drive does nothing with, in words.
pub fn left_out(rows: &[Io], devices: &[u16], drive: Extent<'_>) -> Option<String> {
    if drive.has_flash {
        return None;
    }
    let idle = rows.iter().filter(|io| !io.moves_data() && devices.contains(&io.device));
    let (discards, flushes): (Vec<&Io>, Vec<&Io>) = idle.partition(|io| io.request.len > 0);
    (discards.len() + flushes.len() > 0).then(|| {
        format!(
            "{} discards and {} flushes (to {}, a disk without a volatile write cache, they are nothing to do)",
            discards.len(),
            flushes.len(),
            drive.name
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Device, Op, Request};

    const DRIVE: Extent<'_> =
        Extent { name: "d", sector_bytes: 512, blocks: 100, has_flash: false };

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
        let wrapped = fit(&mut rows, DRIVE, true, Some(2.0));
        assert_eq!(wrapped, 500 - 93);
        assert!(rows.iter().all(|row| row.request.offset + 4096 <= 51_200));
        assert!(rows.iter().all(|row| row.request.offset.is_multiple_of(512)));
        let times = (rows[0].queued_ns, rows[0].issued_ns, rows[0].completed_ns);
        assert_eq!(times, (200, 210, 250));
    }

    #[test]
    fn sectors_of_the_trace_are_made_of_the_drives() {
        let of = |sector_bytes| TraceInfo {
            devices: vec![Device { sector_bytes, ..Device::default() }],
            ..TraceInfo::default()
        };
        assert_eq!(check_sectors(&of(4096), &[0], DRIVE), Ok(()));
        let refused = check_sectors(&of(520), &[0], DRIVE).unwrap_err().to_string();
        assert!(refused.starts_with("device 0 of the trace has sectors of 520 bytes"), "{refused}");
    }
}
