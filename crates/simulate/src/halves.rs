//! Splits a trace into the requests that a drive is fitted to and those that it is judged on.

use crate::Error;
use crate::alone::{forget_queued, forget_together};
use crate::drive::Drive;
use crate::fit::check_sector;
use crate::job::{Job, busiest, jobs};
use ioscape_schema::{Io, TraceInfo};

/// Least number of requests with measured times that a fit needs.
const JOBS_LEAST: usize = 200;

/// Returns the requests to one device, in order of issue, cut into halves. The device is the one
/// `asked` for, or else the busiest. Recorded times that may include queueing count as not
/// measured.
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
    // A fit cannot model queueing, neither in the disk nor before it.
    let queued = forget_queued(&mut first, None);
    first.sort_by_key(|job| job.io.issued_ns);
    let together = forget_together(&mut first);
    let measured = first.iter().filter(|job| job.io.is_timed()).count();
    if measured < JOBS_LEAST {
        return Err(too_few([measured, first.len()], [queued, together]));
    }
    // Both halves have the same number of measured requests.
    let mut timed = (0..first.len()).filter(|&at| first[at].io.is_timed());
    let middle = timed.nth(measured / 2).unwrap_or(first.len() / 2);
    let second = first.split_off(middle);
    Ok([first, second])
}

/// Says how few of all requests have measured times, and how many were left out because they
/// include queueing before the disk or may include it there.
fn too_few([measured, all]: [usize; 2], [queued, together]: [u64; 2]) -> Error {
    let why = match [queued, together] {
        [0, 0] => "give a trace that has completions".to_owned(),
        [0, together] => format!(
            "{together} more were at the disk together, so their times may include its queue (NCQ); record one request at a time"
        ),
        [queued, _] => format!(
            "{queued} more include a queue: these requests met others, and none was issued later than it arrived; give a trace that tells when requests were issued, or record one request at a time"
        ),
    };
    Error::Configuration(format!(
        "{measured} of {all} requests have measured times: a fit needs {JOBS_LEAST}; {why}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{io, simple};
    use ioscape_schema::Op;

    #[test]
    fn a_fit_takes_no_times_that_include_a_queue() {
        let drive = simple();
        let of = |every_ns: u64, issued_after_ns: u64| {
            let row = |n: u64| {
                let at = n * every_ns;
                let issued_ns = at + issued_after_ns;
                Io { issued_ns, completed_ns: issued_ns + 20, ..io(Op::Read, 0, 512, at) }
            };
            let rows: Vec<Io> = (0..400).map(row).collect();
            halves(&rows, &TraceInfo::default(), None, &drive).map(|[first, _]| first.len())
        };
        assert_eq!(of(20, 0), Ok(200));
        assert_eq!(of(20, 5), Ok(200));
        for (issued_after_ns, why) in [(0, "400 more include"), (5, "400 more were at the disk")] {
            let refused = of(19, issued_after_ns).unwrap_err().to_string();
            assert!(refused.contains("0 of 400") && refused.contains(why), "{refused}");
        }
    }
}
