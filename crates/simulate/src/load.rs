//! The load on one device of a trace, and whether it was more than its drives complete.

use crate::command::Stretch;
use crate::job::SimulatedRequest;
use ioscape_schema::Op;
use ioscape_schema::units::{Count, Nanos};

/// So few requests may come together by chance.
const ENOUGH: u64 = 1000;
/// A device is overloaded if what is left after the last arrival takes more of the time of the arrivals since its drive
/// last had no command than chance may leave, and at least this share.
const LEFT: f64 = 0.01;
/// In a smaller share of the time of all arrivals, requests may have come as a burst that others follow.
const LASTING: f64 = 0.1;
/// Requests wait for half of what is left in the end, on average, if that grew all the time. If they wait for a smaller
/// share, it may have come in a burst.
const GROWN: f64 = 0.125;

/// The requests of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// The device.
    pub name: String,
    requests: u64,
    /// The sum of their response times.
    responses_ns: u128,
    /// First and last arrival.
    first_ns: u64,
    last_ns: u64,
    /// Last completion.
    until_ns: u64,
    /// Where the farthest request ends, in bytes from the beginning.
    pub end_bytes: u64,
    /// Whether any request writes data or discards them; a flush does neither.
    pub writes: bool,
}

impl Load {
    /// Counts a request that is done.
    #[inline]
    pub fn add(&mut self, row: &SimulatedRequest) {
        let is_first = self.requests == 0;
        self.first_ns = if is_first { row.came_ns } else { self.first_ns.min(row.came_ns) };
        self.responses_ns += u128::from(row.io.completed_ns.saturating_sub(row.came_ns));
        self.last_ns = self.last_ns.max(row.came_ns);
        self.until_ns = self.until_ns.max(row.io.completed_ns);
        self.requests += 1;
        let request = row.io.request;
        self.end_bytes = self.end_bytes.max(request.offset + u64::from(request.len));
        self.writes |= request.op == Op::Write && request.len > 0;
    }

    /// From the first arrival to the last completion on all devices, in nanoseconds: neither a
    /// trace nor the part chosen of it need begin at 0.
    pub fn length_ns(all: &[Self]) -> u64 {
        let seen = all.iter().filter(|one| one.requests > 0);
        let from_ns = seen.clone().map(|one| one.first_ns).min().unwrap_or(0);
        seen.map(|one| one.until_ns).max().unwrap_or(0) - from_ns
    }

    /// Says that requests came faster than they were completed, given when its `drives` last had a command throughout.
    /// Only that time counts, of the drive that ends last, as a trace may begin with a quiet night, and a drive with
    /// credit that is saved up.
    pub fn overload(&self, drives: &[Stretch]) -> Option<String> {
        let Stretch { from_ns, until_ns, commands } =
            *drives.iter().max_by_key(|drive| drive.until_ns)?;
        let [all_arrivals_ns, arrivals_ns, all_ns, left_ns] = [
            self.last_ns - self.first_ns,
            self.last_ns.saturating_sub(from_ns),
            until_ns - from_ns,
            until_ns.saturating_sub(self.last_ns),
        ]
        .map(|ns| ns as f64);
        // Four standard deviations of what random arrivals at exactly the drive's rate leave.
        let by_chance = 4.0 * (2.0 / commands as f64).sqrt();
        let is_overloaded = commands >= ENOUGH
            && arrivals_ns > 0.0
            && arrivals_ns >= LASTING * all_arrivals_ns
            && left_ns >= by_chance.max(LEFT) * arrivals_ns
            && self.responses_ns as f64 >= GROWN * left_ns * commands as f64;
        let rate = |ns: f64| Count(commands as f64 * 1e9 / ns);
        let which = if drives.len() > 1 { "a drive of " } else { "" };
        let since = match from_ns.saturating_sub(self.first_ns) as f64 {
            ns if ns < LEFT * all_arrivals_ns => String::new(),
            ns => format!(", beginning {} after its first", Nanos(ns)),
        };
        is_overloaded.then(|| {
            format!(
                "{which}device {} got {} requests a second and completed {}{since}: response times grow with the length of the trace, and are not those of the drive",
                self.name,
                rate(arrivals_ns),
                rate(all_ns)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Io;

    /// Requests every `every_us`, one served at a time for 1 ms; before them `quiet` requests, one every 10 ms.
    fn after(quiet: u64, every_us: u64, requests: u64) -> Option<String> {
        let (mut load, mut drive) = (hot(), Stretch::default());
        for n in 0..quiet + requests {
            let came_ns = n.min(quiet) * 10_000_000 + n.saturating_sub(quiet) * every_us * 1000;
            if came_ns > drive.until_ns {
                drive = Stretch { from_ns: came_ns, until_ns: came_ns, commands: 0 };
            }
            drive.until_ns += 1_000_000;
            drive.commands += 1;
            add(&mut load, came_ns, drive.until_ns);
        }
        assert_eq!(Load::length_ns(&[Load::default(), load.clone()]), drive.until_ns);
        load.overload(&[drive])
    }

    fn hot() -> Load {
        Load { name: "hot".to_owned(), ..Load::default() }
    }

    fn add(load: &mut Load, came_ns: u64, completed_ns: u64) {
        let io = Io { completed_ns, ..Io::default() };
        load.add(&SimulatedRequest { io, came_ns, ..SimulatedRequest::default() });
    }

    fn overload(every_us: u64, requests: u64) -> Option<String> {
        after(0, every_us, requests)
    }

    /// Guards against 33 s as the response time of a drive that takes 1 ms.
    #[test]
    fn requests_faster_than_the_drive_are_an_overload() {
        let said = overload(833, 5000).expect("1,200 a second on 1,000");
        assert!(said.starts_with("device hot got 1.2k requests a second and"), "{said}");
        assert_eq!(overload(1001, 5000), None);
        assert!(overload(952, 60_000).is_some(), "5 % more than it completes, 3 s in the end");
        assert_eq!(overload(952, 2000), None, "so few may be left by chance");
        assert_eq!(overload(1, 50), None, "a burst");
        assert_eq!(overload(850, 1000), None, "18 % of a thousand may be left by chance");
    }

    /// Guards against 67 s as the response time of a cloud disk whose credit lasted a third of the trace.
    #[test]
    fn an_overload_that_begins_late_is_told() {
        let said = after(1000, 800, 5000).expect("it is idle for 9 of the first 10 s");
        assert!(said.contains("got 1.25k requests a second"), "{said}");
        assert!(said.contains(", beginning 10 s after its first: "), "{said}");
        assert_eq!(after(60_000, 800, 5000), None, "4 of 604 s");
        assert_eq!(after(1000, 1001, 5000), None);
    }

    /// Guards against an overload by the last sync on a solid-state drive that has a command all the time.
    #[test]
    fn a_burst_after_a_time_in_which_requests_did_not_wait_is_none() {
        let mut load = hot();
        (0..10_000).for_each(|n| add(&mut load, n * 1_000_000, (n + 2) * 1_000_000));
        (0..2000).for_each(|n| add(&mut load, 10_000_000_000, 10_000_000_000 + n * 500_000));
        let drive = Stretch { from_ns: 0, until_ns: 11_000_000_000, commands: 12_000 };
        assert_eq!(load.overload(&[drive]), None);
        load.responses_ns *= 2;
        assert!(load.overload(&[drive]).is_some());
    }
}
