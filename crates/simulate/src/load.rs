//! The load on one device of a trace, and whether it was more than its drives complete.

use crate::job::SimulatedRequest;
use ioscape_schema::units::Count;

/// So few requests may come together by chance.
const ENOUGH: u64 = 1000;
/// A device is overloaded if its busiest drive is busy for at least this share of the time, and
/// what is left after the last arrival takes more of the time of all arrivals than chance may leave.
const BUSY: f64 = 0.99;
/// Least and greatest of those shares.
const LEFT: [f64; 2] = [0.01, 0.1];

/// The requests of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// The device.
    pub name: String,
    requests: u64,
    /// First and last arrival, and last completion.
    from_ns: u64,
    last_ns: u64,
    until_ns: u64,
}

impl Load {
    /// Counts a request that is done.
    #[inline]
    pub fn add(&mut self, row: &SimulatedRequest) {
        let is_first = self.requests == 0;
        self.from_ns = if is_first { row.came_ns } else { self.from_ns.min(row.came_ns) };
        self.last_ns = self.last_ns.max(row.came_ns);
        self.until_ns = self.until_ns.max(row.io.completed_ns);
        self.requests += 1;
    }

    /// From the first arrival to the last completion on all devices, in nanoseconds: neither a
    /// trace nor the part chosen of it need begin at 0.
    pub fn length_ns(all: &[Self]) -> u64 {
        let seen = all.iter().filter(|one| one.requests > 0);
        let from_ns = seen.clone().map(|one| one.from_ns).min().unwrap_or(0);
        seen.map(|one| one.until_ns).max().unwrap_or(0) - from_ns
    }

    /// Says that requests came faster than they were completed, where the busiest drive was busy
    /// for `busy_ns`.
    pub fn overload(&self, busy_ns: u64) -> Option<String> {
        let [arrivals_ns, all_ns, left_ns] = [
            self.last_ns - self.from_ns,
            self.until_ns - self.from_ns,
            self.until_ns.saturating_sub(self.last_ns),
        ]
        .map(|ns| ns as f64);
        // Four standard deviations of what random arrivals at exactly the drive's rate leave.
        let by_chance = 4.0 * (2.0 / self.requests as f64).sqrt();
        let is_overloaded = self.requests >= ENOUGH
            && arrivals_ns > 0.0
            && busy_ns as f64 >= BUSY * all_ns
            && left_ns >= by_chance.clamp(LEFT[0], LEFT[1]) * arrivals_ns;
        let rate = |ns: f64| Count(self.requests as f64 * 1e9 / ns);
        is_overloaded.then(|| {
            format!(
                "device {} got {} requests a second and completed {}: response times grow with the length of the trace, and are not those of the drive",
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

    /// Requests every `every_us`, one served at a time for 1 ms.
    fn overload(every_us: u64, requests: u64) -> Option<String> {
        let (mut load, mut free_ns) = (Load { name: "hot".to_owned(), ..Load::default() }, 0);
        for n in 0..requests {
            let came_ns = n * every_us * 1000;
            free_ns = came_ns.max(free_ns) + 1_000_000;
            let io = Io { completed_ns: free_ns, ..Io::default() };
            load.add(&SimulatedRequest { io, came_ns, ..SimulatedRequest::default() });
        }
        assert_eq!(Load::length_ns(&[Load::default(), load.clone()]), free_ns);
        load.overload(requests * 1_000_000)
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
    }
}
