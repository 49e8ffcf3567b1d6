//! Which rows of a trace are wanted.

use ioscape_schema::Io;

/// A choice of rows by time of arrival and device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// From this time on, from the beginning of the trace.
    pub from_ns: Option<u64>,
    /// Before this time.
    pub to_ns: Option<u64>,
    /// On these devices; `None` for all of them.
    pub devices: Option<Vec<u16>>,
}

impl Selection {
    /// Whether everything is chosen.
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a row is chosen.
    pub fn holds(&self, io: &Io) -> bool {
        self.from_ns.is_none_or(|from| io.queued_ns >= from)
            && self.to_ns.is_none_or(|to| io.queued_ns < to)
            && self.devices.as_ref().is_none_or(|devices| devices.contains(&io.device))
    }

    /// Leaves the chosen rows.
    pub fn keep(&self, rows: &mut Vec<Io>) {
        if !self.is_all() {
            rows.retain(|io| self.holds(io));
        }
    }
}
