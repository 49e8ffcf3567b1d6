//! The clocks that a trace's times can count from.

use serde::{Deserialize, Serialize};

/// What the times of a part of a trace count from. Only parts with the same clock can be put in
/// order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceClock {
    /// The beginning of the trace, at an unknown date.
    #[default]
    Trace,
    /// The Unix epoch, 1970.
    Unix,
    /// A clock of the machine that recorded the trace.
    Machine,
}
