//! A drive's power consumption.

use serde::{Deserialize, Serialize};

/// A drive's power consumption, in watts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Power {
    /// While the drive has a command, and while a disk writes back its buffer on its own.
    pub active_w: f64,
    /// Otherwise; also while a solid-state drive programs and collects garbage after it has
    /// reported the writes.
    pub idle_w: f64,
}

impl Power {
    /// Rejects values that no drive has.
    ///
    /// # Errors
    /// A value is out of range; names its key and the value.
    pub fn check(&self) -> Result<(), String> {
        for (key, watts) in [("power.active_w", self.active_w), ("power.idle_w", self.idle_w)] {
            if !(0.0..=1e6).contains(&watts) {
                return Err(format!("{key}: {watts} W is not between 0 and 1e6"));
            }
        }
        Ok(())
    }

    /// The energy in joules of a drive that was active for `active_ns` of `of_ns` nanoseconds.
    pub fn energy_j(&self, active_ns: u64, of_ns: u64) -> f64 {
        let idle_ns = of_ns.saturating_sub(active_ns) as f64;
        (self.active_w * active_ns as f64 + self.idle_w * idle_ns) / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_drive_takes_more() {
        let power = Power { active_w: 8.0, idle_w: 5.0 };
        assert_eq!(power.energy_j(250_000_000, 1_000_000_000), 0.25 * 8.0 + 0.75 * 5.0);
    }
}
