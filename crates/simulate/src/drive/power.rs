//! What a drive takes from the power supply.

use serde::{Deserialize, Serialize};

/// What a drive takes from the power supply, in watts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Power {
    /// While it has a command, and while a disk writes its buffer by itself.
    pub active_w: f64,
    /// Otherwise; also while a solid-state drive programs and collects garbage behind writes that it has reported.
    pub idle_w: f64,
}

impl Power {
    /// Refuses what no drive takes.
    ///
    /// # Errors
    /// The key and its value.
    pub fn check(&self) -> Result<(), String> {
        for (key, watts) in [("power.active_w", self.active_w), ("power.idle_w", self.idle_w)] {
            if !(0.0..=1e6).contains(&watts) {
                return Err(format!("{key}: {watts} W is not between 0 and 1e6"));
            }
        }
        Ok(())
    }

    /// Energy in joules of a drive that was active for a part of a time, both in nanoseconds.
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
