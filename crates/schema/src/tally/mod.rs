//! The one tally: live counters or rows of a run in, a [`Measurement`](crate::Measurement) out, with one rule for
//! throughput, its confidence interval, the end of the run, steadiness, bursts and response times.
//!
//! An engine keeps [`Counters`] of its own and hands them in at the end; a simulator hands in one row after the other
//! ([`RowTally`]). Neither can tell the results apart.

mod counters;
mod doubts;
mod interval;
mod rows;
mod slices;
mod stop;
mod total;

pub use counters::{Counters, DISTINCT_MAX, LONGEST_NS};
pub use doubts::{doubt_of_confidence, doubt_of_io_share, doubt_of_steadiness};
pub use interval::{
    Interval, STEADY_TOLERANCE, burst_ratio, interval, interval_of_requests, is_steady,
};
pub use rows::RowTally;
pub use slices::Slices;
pub use stop::{Looks, StopRule};
pub use total::Tally;

#[cfg(test)]
mod tests;
