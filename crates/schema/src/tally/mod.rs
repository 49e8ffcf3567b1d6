//! The common tally: live counters or rows of a run in, a [`Measurement`](crate::Measurement) out.
//!
//! One rule covers throughput, its confidence interval, the end of the run, steadiness, bursts and
//! response times.
//!
//! An engine keeps its own [`Counters`] and hands them in at the end. A simulator hands in one row
//! at a time ([`RowTally`]). The results cannot be told apart.

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
    Interval, STEADY_TOLERANCE, burst_ratio, correlation, ends_of, interval, interval_of_requests,
    is_steady, standard_error,
};
pub use rows::RowTally;
pub use slices::Slices;
pub use stop::{Looks, StopRule};
pub use total::Tally;

#[cfg(test)]
mod tests;
