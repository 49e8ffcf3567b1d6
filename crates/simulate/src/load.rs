//! The load on one device of a trace, and whether it was more than its drives complete.

use crate::job::SimulatedRequest;
use ioscape_schema::Op;
use ioscape_schema::units::{Count, Nanos};

/// So few requests may come together by chance.
const ENOUGH: u64 = 1000;
/// A device is overloaded if its busiest drive was busy, from the first arrival of all on, for at least this share of
/// the time since the device last had no request, and what is left after the last arrival takes more of the time of
/// those arrivals than chance may leave.
const BUSY: f64 = 0.99;
/// Least of those shares.
const LEFT: f64 = 0.01;
/// In a smaller share of the time of all arrivals, requests may have come as a burst that others follow.
const LASTING: f64 = 0.1;

/// The requests of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// The device.
    pub name: String,
    /// Requests since it last had none, and before.
    requests: u64,
    before: u64,
    /// First arrival of all, first since it last had no request, and last.
    first_ns: u64,
    from_ns: u64,
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
        let is_first = self.all() == 0;
        self.first_ns = if is_first { row.came_ns } else { self.first_ns.min(row.came_ns) };
        if row.came_ns >= self.until_ns {
            self.before += std::mem::take(&mut self.requests);
            self.from_ns = row.came_ns;
        } else if row.came_ns < self.from_ns {
            // Another drive of an array was still at work on it.
            self.requests += std::mem::take(&mut self.before);
            self.from_ns = self.first_ns;
        }
        self.last_ns = self.last_ns.max(row.came_ns);
        self.until_ns = self.until_ns.max(row.io.completed_ns);
        self.requests += 1;
        let request = row.io.request;
        self.end_bytes = self.end_bytes.max(request.offset + u64::from(request.len));
        self.writes |= request.op == Op::Write && request.len > 0;
    }

    fn all(&self) -> u64 {
        self.before + self.requests
    }

    /// From the first arrival to the last completion on all devices, in nanoseconds: neither a
    /// trace nor the part chosen of it need begin at 0.
    pub fn length_ns(all: &[Self]) -> u64 {
        let seen = all.iter().filter(|one| one.all() > 0);
        let from_ns = seen.clone().map(|one| one.first_ns).min().unwrap_or(0);
        seen.map(|one| one.until_ns).max().unwrap_or(0) - from_ns
    }

    /// Says that requests came faster than they were completed, where the busiest drive was busy
    /// for `busy_ns` in all. Only the time since the device last had no request counts, as a trace may begin with a
    /// quiet night, and a drive with credit that is saved up.
    pub fn overload(&self, busy_ns: u64) -> Option<String> {
        let [all_arrivals_ns, arrivals_ns, all_ns, left_ns] = [
            self.last_ns - self.first_ns,
            self.last_ns - self.from_ns,
            self.until_ns - self.from_ns,
            self.until_ns.saturating_sub(self.last_ns),
        ]
        .map(|ns| ns as f64);
        // Four standard deviations of what random arrivals at exactly the drive's rate leave.
        let by_chance = 4.0 * (2.0 / self.requests as f64).sqrt();
        let is_overloaded = self.requests >= ENOUGH
            && arrivals_ns > 0.0
            && arrivals_ns >= LASTING * all_arrivals_ns
            && busy_ns as f64 >= BUSY * all_ns
            && left_ns >= by_chance.max(LEFT) * arrivals_ns;
        let rate = |ns: f64| Count(self.requests as f64 * 1e9 / ns);
        let since = match self.from_ns - self.first_ns {
            0 => String::new(),
            ns => format!(", beginning {} after its first", Nanos(ns as f64)),
        };
        is_overloaded.then(|| {
            format!(
                "device {} got {} requests a second and completed {}{since}: response times grow with the length of the trace, and are not those of the drive",
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
        let (mut load, mut free_ns) = (Load { name: "hot".to_owned(), ..Load::default() }, 0);
        for n in 0..quiet + requests {
            let came_ns = n.min(quiet) * 10_000_000 + n.saturating_sub(quiet) * every_us * 1000;
            free_ns = came_ns.max(free_ns) + 1_000_000;
            let io = Io { completed_ns: free_ns, ..Io::default() };
            load.add(&SimulatedRequest { io, came_ns, ..SimulatedRequest::default() });
        }
        assert_eq!(Load::length_ns(&[Load::default(), load.clone()]), free_ns);
        load.overload((quiet + requests) * 1_000_000)
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

    /// Guards against a late beginning because the other drives of an array are idle now and then.
    #[test]
    fn a_request_that_one_drive_of_an_array_still_has_is_in_flight() {
        let mut load = Load::default();
        let mut add = |came_ns, completed_ns| {
            let io = Io { completed_ns, ..Io::default() };
            load.add(&SimulatedRequest { io, came_ns, ..SimulatedRequest::default() });
        };
        add(0, 10);
        add(20, 30);
        add(5, 40);
        assert_eq!([load.from_ns, load.requests, load.before], [0, 3, 0]);
    }
}
