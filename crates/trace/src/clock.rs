//! What the times of a trace count from.

use serde::{Deserialize, Serialize};

/// What the times of a part count from; only parts with the same clock can be put in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceClock {
    /// The beginning of the trace, whenever that was.
    #[default]
    Trace,
    /// 1970.
    Unix,
    /// A clock of the machine that recorded it.
    Machine,
}
