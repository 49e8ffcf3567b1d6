//! The requests of a trace that a drive is fitted to, and those it is judged on.

use crate::Error;
use crate::drive::Drive;
use crate::fit::check_sector;
use crate::job::{Job, busiest, jobs};
use ioscape_schema::{Io, TraceInfo};

/// Fewest requests with measured times that a fit is based on.
const JOBS_LEAST: usize = 200;

/// The requests to one device in the order they were issued, cut into halves: to the one that is `asked` for, or else the busiest.
///
/// # Errors
/// Several devices are asked for, requests do not fit `drive`, or too few have measured times.
pub fn halves(
    rows: &[Io],
    info: &TraceInfo,
    asked: Option<&[u16]>,
    drive: &Drive,
) -> Result<[Vec<Job>; 2], Error> {
    let device = match asked {
        Some(devices) if devices.len() > 1 => {
            return Err(Error::Configuration(
                "--disk: a drive is fitted to one disk of the trace, so name one".to_owned(),
            ));
        }
        Some(devices) => devices.to_vec(),
        None => busiest(rows.iter().map(|io| io.device)).into_iter().collect(),
    };
    for &device in &device {
        check_sector(&info.devices, device, drive.into())?;
    }
    let mut first = jobs(rows, &device, drive)?;
    let measured = first.iter().filter(|job| job.io.is_timed()).count();
    if measured < JOBS_LEAST {
        return Err(Error::Configuration(format!(
            "{measured} of {} requests have measured times: a fit needs {JOBS_LEAST}; give a trace that has completions",
            first.len()
        )));
    }
    first.sort_by_key(|job| job.io.issued_ns);
    // Each half has as many that are measured.
    let mut timed = (0..first.len()).filter(|&at| first[at].io.is_timed());
    let middle = timed.nth(measured / 2).unwrap_or(first.len() / 2);
    let second = first.split_off(middle);
    Ok([first, second])
}
