//! The log of an evaluation, asked by purpose.

use ioscape_schema::{Evaluation, Measurement};

/// Log entry of the probe that asks for synchronous writes in the cache.
pub(crate) const DSYNC: &str = "dsync";
/// Log entry of the points off the curves.
pub(crate) const INTERACTION: &str = "interaction";
/// Log entry of the probe that waits for a flush.
pub(crate) const FLUSH: &str = "flush";
/// Log entry of the fixed workload whose speed tells whether the machine itself has changed.
pub(crate) const REFERENCE: &str = "reference";

/// The last measurement the log holds for `purpose`.
pub(crate) fn logged<'a>(evaluation: &'a Evaluation, purpose: &str) -> Option<&'a Measurement> {
    evaluation.probes.iter().rev().find(|p| p.purpose == purpose).map(|p| &p.measurement)
}
