//! Rate limits in front of a drive, like those of virtual disks: so much per second, with unused
//! capacity saved as credit.

use crate::seek::nanoseconds;
use ioscape_schema::units::{Bytes, Rate};
use serde::{Deserialize, Serialize};

/// The kind of requests that a limit applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Only {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
}

/// A rate limit in a parameter file, on operations or on bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Operations per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations_per_s: Option<f64>,
    /// Bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_s: Option<f64>,
    /// The requests that it applies to; absent: reads and writes together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<Only>,
    /// Most operations or bytes that are saved while fewer arrive; these may then pass at any rate.
    #[serde(default)]
    pub credit: f64,
}

/// The state of a limit: the time at which its credit would be whole again if nothing more arrived
/// (the virtual scheduling of ATM's generic cell rate algorithm, ITU-T I.371).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    of_bytes: bool,
    only: Option<Only>,
    /// Time per operation or byte, in 2^-20 ns.
    each: u64,
    credit_ns: u64,
    full_ns: u64,
}

impl Limit {
    /// Returns the limit's initial state, with all of its credit.
    ///
    /// # Errors
    /// Not exactly one rate is given, or a number is out of range.
    pub fn bucket(&self) -> Result<Bucket, String> {
        let (of_bytes, rate) = match (self.operations_per_s, self.bytes_per_s) {
            (Some(rate), None) => (false, rate),
            (None, Some(rate)) => (true, rate),
            _ => return Err("limit: give one of operations_per_s and bytes_per_s".into()),
        };
        if !(1.0..=1e13).contains(&rate) {
            return Err(format!("limit: {rate} a second is not between 1 and 1e13"));
        }
        if !(0.0..=86400.0).contains(&(self.credit / rate)) {
            return Err(format!("limit: a credit of {} is not between 0 and a day's", self.credit));
        }
        let each = libm::round(1e9 * f64::from(1 << 20) / rate) as u64;
        let credit_ns = nanoseconds(self.credit / rate * 1e3);
        Ok(Bucket { of_bytes, only: self.only, each, credit_ns, full_ns: 0 })
    }

    /// Warns in a sentence that the credit affects rates measured on a rested drive; `None` if the
    /// limit saves none.
    pub fn doubt_of_rest(&self) -> Option<String> {
        let [credit, rate] = match (self.bytes_per_s, self.operations_per_s) {
            (Some(rate), _) => [Bytes(self.credit).to_string(), Rate(rate).to_string()],
            (None, rate) => {
                let rate = rate?;
                [format!("{:.0} requests", self.credit), format!("{rate:.0} requests a second")]
            }
        };
        let of = match self.only {
            Some(Only::Reads) => " for reads",
            Some(Only::Writes) => " for writes",
            None => "",
        };
        (self.credit > 0.0).then(|| {
            format!(
                "the drive has a credit of {credit}{of}: every point begins with all of it, so rates of storage beyond {rate} are those of a rested drive"
            )
        })
    }
}

impl Bucket {
    /// Whether it lets either reads or writes pass.
    pub fn is_partial(&self) -> bool {
        self.only.is_some()
    }

    /// When a request of `bytes` bytes that arrives at `now_ns` may proceed.
    pub fn admit(&mut self, now_ns: u64, bytes: u64, write: bool) -> u64 {
        if self.only.is_some_and(|only| (only == Only::Writes) != write) {
            return now_ns;
        }
        let units = if self.of_bytes { bytes } else { 1 };
        let goes = now_ns.max(self.full_ns.saturating_sub(self.credit_ns));
        let cost_ns = (u128::from(units) * u128::from(self.each)) >> 20;
        self.full_ns = self.full_ns.max(goes) + cost_ns as u64;
        goes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_go_at_the_rate_once_the_credit_is_used_up() {
        let limit =
            Limit { operations_per_s: Some(1000.0), bytes_per_s: None, only: None, credit: 3.0 };
        let mut bucket = limit.bucket().unwrap();
        let times: Vec<u64> = (0..6).map(|_| bucket.admit(0, 1 << 20, true) / 1000).collect();
        assert_eq!(times, [0, 0, 0, 0, 1000, 2000]);
        // Idle time saves no more than the credit.
        let times: Vec<u64> = (0..5).map(|_| bucket.admit(1 << 40, 1, false) - (1 << 40)).collect();
        assert_eq!(times, [0, 0, 0, 0, 1_000_000]);
    }

    #[test]
    fn bytes_are_limited_by_their_number_and_a_limit_has_one_rate() {
        let bytes =
            Limit { operations_per_s: None, bytes_per_s: Some(1e6), only: None, credit: 0.0 };
        let mut bucket = bytes.bucket().unwrap();
        assert_eq!([bucket.admit(0, 4000, true), bucket.admit(0, 1, false)], [0, 4_000_000]);
        let mut writes = Limit { only: Some(Only::Writes), ..bytes }.bucket().unwrap();
        let times = [true, false, true].map(|write| writes.admit(0, 4000, write));
        assert_eq!(times, [0, 0, 4_000_000], "reads pass it");
        let both = Limit { operations_per_s: Some(1.0), ..bytes };
        assert!(both.bucket().unwrap_err().contains("one of"));
        assert!(Limit { credit: -1.0, ..bytes }.bucket().unwrap_err().contains("credit"));
    }

    #[test]
    fn a_credit_is_said_in_the_unit_that_is_limited() {
        let operations = Some(3000.0);
        let limit =
            Limit { operations_per_s: operations, bytes_per_s: None, only: None, credit: 5.4e6 };
        let said = limit.doubt_of_rest().expect("a credit");
        assert!(said.contains("credit of 5400000 requests:"), "{said}");
        assert!(said.contains("rates of storage beyond 3000 requests a second"), "{said}");
        let bytes = Limit { operations_per_s: None, bytes_per_s: Some(2e7), ..limit };
        let said = Limit { only: Some(Only::Writes), credit: 1048576.0, ..bytes }.doubt_of_rest();
        let said = said.expect("a credit");
        assert!(said.contains("1 MiB for writes:") && said.contains("beyond 20 MB/s"), "{said}");
        assert_eq!(Limit { credit: 0.0, ..bytes }.doubt_of_rest(), None);
    }
}
